"""A compatible stream cut within its biggest variable, on the command line: what arrived is of use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stream_encoder as enc

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import ErrorKind
from refbrowser.wings.ncstream.reading.magics import DATA

SHAPE = (30, 20, 25)
VALUES = np.arange(np.prod(SHAPE), dtype=">f4").reshape(SHAPE)
#: Elements that arrive, and a part of one more.
ARRIVED = 19 * 500 + 7 * 25 + 11


@pytest.fixture
def cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Export a dataset as one message a variable, and copy the half of it."""
    dims = [enc.dimension(name, size) for name, size in zip("tyx", SHAPE, strict=True)]
    variables = [enc.variable("small", enc.FLOAT, dims[1:]), enc.variable("big", enc.FLOAT, dims)]
    messages = [enc.header(enc.group(dimensions=dims, variables=variables))]
    for name, values in (("small", VALUES[0]), ("big", VALUES)):
        body = enc.data_body(name, enc.FLOAT, enc.whole(values.shape), bigend=True)
        messages.append(enc.data(body, enc.regular(values.tobytes())))
    source, whole, target = tmp_path / "source.ncs", tmp_path / "whole.ncs", tmp_path / "cut.ncs"
    source.write_bytes(enc.stream(*messages))
    assert (
        main(["export", str(source), str(whole), "--to", "ncstream", "--stream-profile", "compatible"]) == 0
    )
    content = whole.read_bytes()
    assert content.count(DATA) == 2
    start = content.index(VALUES.tobytes())
    target.write_bytes(content[: start + 4 * ARRIVED + 2])
    capsys.readouterr()
    return target


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    """Return what a command writes as JSON."""
    assert main([*arguments, "--json"]) == code, capsys.readouterr().err
    return json.loads(capsys.readouterr().out or "null")


def test_what_arrived_is_read_and_the_rest_is_an_error(cut: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(cut)
    assert run(capsys, "read", path, "/big", "--select", "0:19,:,:") == VALUES[:19].tolist()
    assert run(capsys, "read", path, "/big", "--select", "19,7,0:11") == VALUES[19, 7, :11].tolist()
    assert run(capsys, "read", path, "/small") == VALUES[0].tolist()
    for select in ("19,7,11", "19,8,0", "29,19,24", "18:20,:,:"):
        assert main(["read", path, "/big", "--select", select, "--json"]) == ErrorKind.FORMAT.exit_code
        assert f"of which {ARRIVED} of 15000 elements arrived" in capsys.readouterr().err


def test_it_is_checked_explained_and_counted(cut: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(cut)
    assert main(["check", path]) != 0
    out = capsys.readouterr()
    assert f"of which {ARRIVED} of 15000 elements arrived" in out.out + out.err
    assert main(["explain", path, "--array", "/big", "--index", "19,7,10"]) == 0
    assert f"This element is {VALUES[19, 7, 10]:g}" in capsys.readouterr().out
    main(["explain", path, "--array", "/big", "--index", "19,7,11"])
    assert "did not arrive" in capsys.readouterr().out
    with refbrowser.open(path) as dataset:
        node = dataset["/big"].node
        assert node.assembled is not None
        # Nothing of it is the fill value of what was never sent.
        assert node.assembled.stored() == node.grid.size


def test_repair_keeps_the_whole_rows(cut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "repaired.ncs")
    report = run(capsys, "repair", str(cut), target)
    assert report["messages"] == 3
    (lost,) = report["lost"]
    assert lost["path"] == "/big"
    assert lost["reason"].endswith("kept: [0:19, 0:20, 0:25]")
    assert run(capsys, "read", target, "/big", "--select", "0:19,:,:") == VALUES[:19].tolist()
    assert main(["check", target]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [["zarr-v3"], ["ncstream"], ["ncstream", "--stream-profile", "compatible"]], ids=" ".join
)
def test_an_export_that_skips_what_is_bad_has_what_arrived(
    options: list[str], cut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "target")
    command = ["export", str(cut), target, "--to", *options]
    assert main(command) != 0
    assert main([*command, "--skip-bad", "--force"]) == 0
    assert "truncated" in capsys.readouterr().err
    with refbrowser.open(target) as dataset:
        found = dataset["/big"][...].reshape(-1)
        fill = dataset["/big"].node.fill_value
    wanted = VALUES.reshape(-1)
    # A tile is at most a sixtieth of the message.
    assert np.array_equal(found[: ARRIVED - 250], wanted[: ARRIVED - 250])
    assert set(found[ARRIVED - 250 :]) <= {*wanted[ARRIVED - 250 : ARRIVED].tolist(), float(fill)}
    assert (found[ARRIVED:] == fill).all()
