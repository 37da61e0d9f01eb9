"""``refbrowser.write_values``: files of values are those that the command line writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import RefbrowserError
from refbrowser.tools.read import value_files


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return refbrowser.sample()


def test_values_are_those_of_the_array(sample: str) -> None:
    with refbrowser.open(sample) as dataset:
        values = dataset["/ocean/sst"][0, :3, :4]
        assert refbrowser.write_values(dataset, "/ocean/sst", "a.npy", (0, slice(3), slice(4))) == ()
        refbrowser.write_values(dataset, "/ocean/sst", "a.json", "time=2024-01,lat@0:3,lon@0:4")
        with pytest.raises(FileExistsError):
            refbrowser.write_values(dataset, "/ocean/sst", "a.npy")
        refbrowser.write_values(dataset, "/ocean/sst", "a.npy", 0, force=True)
        assert np.load("a.npy").shape == (180, 360)
        with pytest.raises(RefbrowserError, match="cannot be written as"):
            refbrowser.write_values(dataset, "/ocean/sst", "a.txt")
    assert json.loads(Path("a.json").read_text()) == [values.tolist()]


def test_progress_is_that_of_all_blocks(sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_files, "_BLOCK", 1)
    told: list[tuple[int, int | None]] = []
    refbrowser.write_values(
        sample,
        "/ocean/sst",
        "a.json",
        (slice(3), 0, 0),
        progress=lambda done, total, **_: told.append((done, total)),
    )
    assert told[-1] == (3, 3)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["npy", "json", "csv", "nc"])
def test_the_command_line_writes_the_same(sample: str, suffix: str) -> None:
    refbrowser.write_values(sample, "/ocean/sst", f"a.{suffix}", "0,0:9,0:4")
    assert main(["read", sample, "/ocean/sst", "--select", "0,0:9,0:4", "-o", f"b.{suffix}"]) == 0
    if suffix == "nc":
        assert refbrowser.diff("a.nc", "b.nc", values="all").is_equal
    else:
        assert Path(f"a.{suffix}").read_bytes() == Path(f"b.{suffix}").read_bytes()
