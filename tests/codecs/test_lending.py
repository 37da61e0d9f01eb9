"""Codecs that installed packages have registered: told, allowed, and undone in a process of their own."""

from __future__ import annotations

import base64
import json
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lent_codecs import PACKAGE, VERSION, write_package
from specs_made import v3

import refbrowser
from refbrowser.cli.program import main
from refbrowser.codecs import lenders, lending, outside
from refbrowser.codecs.base import DecodeError, as_bytes
from refbrowser.codecs.workers import children
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.views.attributes import array_pairs

VALUES = np.arange(20, dtype="<i2").reshape(4, 5)
#: From array to array, to bytes, and on: with one of ours between them.
CHAIN = [v3("made.negated"), v3("transpose", order=[1, 0]), v3("made.backwards"), v3("made.flip", key=7)]
FLIPPED = [v3("bytes", endian="little"), v3("made.flip", key=7)]


@pytest.fixture(autouse=True)
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "packages"
    write_package(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    monkeypatch.setattr(outside, "_WORKERS", outside._Workers())
    # A process that was kept by other tests does not know the package.
    monkeypatch.setattr(children, "_NURSERIES", children._Nurseries())
    lenders.forget_packages()
    yield
    outside._WORKERS.end()
    children._NURSERIES.end()
    lenders.forget_packages()


def flipped(data: bytes, key: int = 7) -> bytes:
    return bytes(np.frombuffer(data, "u1") ^ key)


def array(codecs: list[Any], chunk: tuple[int, ...] = (4, 5)) -> str:
    return json.dumps(
        {
            "zarr_format": 3,
            "node_type": "array",
            "shape": [4, 5],
            "data_type": "int16",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
            "chunk_key_encoding": {"name": "default"},
            "fill_value": 5,
            "codecs": codecs,
            "attributes": {},
        }
    )


def document(codecs: list[Any], *chunks: bytes) -> dict[str, Any]:
    side = (4, 5 // (len(chunks) or 1))
    coded = {f"a/c/0/{at}": f"base64:{base64.b64encode(data).decode()}" for at, data in enumerate(chunks)}
    return {"a/zarr.json": array(codecs, side), **coded}


def chained() -> dict[str, Any]:
    stored = np.ascontiguousarray((-VALUES).T).reshape(-1)[::-1].tobytes()
    return document(CHAIN, flipped(stored))


def of_v2(codec: dict[str, Any], stored: bytes, order: str = "F") -> dict[str, Any]:
    metadata = {
        "zarr_format": 2,
        "shape": [4, 5],
        "chunks": [4, 5],
        "dtype": ">i2",
        "fill_value": 0,
        "order": order,
        "compressor": codec,
        "filters": None,
    }
    return {"a/.zarray": json.dumps(metadata), "a/0.0": f"base64:{base64.b64encode(stored).decode()}"}


def refusal(dataset: Dataset) -> RefbrowserError:
    with pytest.raises(RefbrowserError) as caught:
        dataset.array("/a")[...]
    return caught.value


def test_nothing_of_a_package_is_loaded_before_it_is_allowed() -> None:
    with refbrowser.open(chained()) as dataset:
        error = refusal(dataset)
        assert error.kind is ErrorKind.BLOCKED
        assert "installed package madecodecs 1.2" in error.message
        assert error.advice == "--allow-codec madecodecs"
        assert not outside._WORKERS._idle
        # Another package, and some of the codecs only, are not enough.
        for names in (["other"], ["made.flip"]):
            assert refusal(dataset.with_access(dataset.access.lending(names))).kind is ErrorKind.BLOCKED
    assert PACKAGE not in sys.modules


@pytest.mark.slow
def test_a_package_that_is_allowed_decodes_in_its_process() -> None:
    with refbrowser.open(chained(), allow_codecs=PACKAGE) as dataset:
        assert np.array_equal(dataset.array("/a")[...], VALUES)
        assert set(dataset.array("/a").node.lenders.values()) == {"madecodecs 1.2"}
        assert dict(array_pairs(dataset.array("/a").node))["Decoded by"] == "madecodecs 1.2"
        assert not dataset.hierarchy.findings
        again = pickle.loads(pickle.dumps(dataset))
        assert np.array_equal(again.array("/a")[1:3, 2], VALUES[1:3, 2])
        again.close()
    assert PACKAGE not in sys.modules


@pytest.mark.slow
def test_another_package_with_a_codec_of_the_same_name_is_not_loaded(tmp_path: Path) -> None:
    described = tmp_path / "packages" / "othercodecs-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: othercodecs\nVersion: 1\n")
    (described / "entry_points.txt").write_text("[numcodecs.codecs]\nmade.flip = othercodecs:Flip\n")
    (tmp_path / "packages" / "othercodecs.py").write_text("raise SystemExit('loaded')\n")
    lenders.forget_packages()
    with refbrowser.open(chained(), allow_codecs=PACKAGE) as dataset:
        assert np.array_equal(dataset.array("/a")[...], VALUES)


@pytest.mark.slow
def test_a_permission_is_given_after_opening() -> None:
    with refbrowser.open(chained()) as dataset:
        names = ["made.negated", "made.backwards", "made.flip"]
        allowed = dataset.with_access(dataset.access.lending(names))
        assert np.array_equal(allowed.array("/a")[...], VALUES)


@pytest.mark.slow
def test_shards_whose_chunks_are_lent_are_read_in_part(tmp_path: Path) -> None:
    index = [v3("bytes", endian="little")]
    sharding = v3("sharding_indexed", chunk_shape=[2, 5], codecs=FLIPPED, index_codecs=index)
    halves = [flipped(VALUES[:2].tobytes()), b"damaged"]
    table = np.array([0, 20, 20, 7], "<u8").tobytes()
    # Shards in files: those in a document are read whole.
    (tmp_path / "a" / "c" / "0").mkdir(parents=True)
    (tmp_path / "a" / "zarr.json").write_text(array([sharding]))
    (tmp_path / "a" / "c" / "0" / "0").write_bytes(b"".join(halves) + table)
    with refbrowser.open(tmp_path / "a", allow_codecs=[PACKAGE]) as opened:
        assert np.array_equal(opened.array("/")[:2], VALUES[:2])
        with pytest.raises(RefbrowserError, match=r"made\.flip"):
            opened.array("/")[...]


@pytest.mark.slow
def test_arrays_of_v2() -> None:
    stored = flipped(VALUES.astype(">i2").tobytes(order="F"), 3)
    with refbrowser.open(of_v2({"id": "made_flip", "key": 3}, stored), allow_codecs=PACKAGE) as dataset:
        assert np.array_equal(dataset.array("/a")[...], VALUES)
        assert dataset.array("/a")[...].dtype.str == ">i2"


@pytest.mark.slow
def test_the_limits_hold_for_what_is_lent() -> None:
    bombs = document([v3("bytes"), v3("made.hungry")], b"1")
    with refbrowser.open(bombs, allow_codecs=PACKAGE) as dataset:
        assert refusal(dataset).kind is ErrorKind.DECODE
    object.__setattr__(LIMITS, "outside_time", 2)
    try:
        with refbrowser.open(of_v2({"id": "made_endless"}, b"1"), allow_codecs=PACKAGE) as dataset:
            error = refusal(dataset)
    finally:
        object.__setattr__(LIMITS, "outside_time", 30)
    assert error.kind is ErrorKind.DECODE
    assert "2 s" in error.message


@pytest.mark.slow
def test_codecs_within_others_are_not_loaded_unless_they_are_allowed() -> None:
    nested = [v3("bytes"), v3("made.flip", inner={"name": "made.hungry"})]
    with refbrowser.open(document(nested, bytes(40)), allow_codecs=["made.flip"]) as dataset:
        assert refusal(dataset).kind is ErrorKind.BLOCKED


@pytest.mark.slow
@pytest.mark.parametrize("name", ["made_endless", "made.hungry"])
def test_the_process_has_no_codecs_but_those_it_was_given(name: str) -> None:
    made = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|u1", "fill_value": 0, "order": "C"}
    metadata = json.dumps({**made, "compressor": {"id": name}, "filters": None})
    request = {"operation": "decode", "metadata": metadata, "dtype": "|u1"}
    decoder = outside.Decoder(lending._SCRIPT, json.dumps([["made_flip", f"{PACKAGE} {VERSION}"]]))
    with pytest.raises(DecodeError, match=f"not available.*{name}"):
        outside.asked_of(decoder, request, as_bytes(bytes(4)), 4)


def test_only_numbers_are_decoded_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refbrowser.model.narrow_types.find_spec", lambda _: True)
    refs = {"a/zarr.json": array(FLIPPED).replace('"int16"', '"int4"').replace('"fill_value": 5, ', "")}
    with refbrowser.open(refs, allow_codecs=PACKAGE) as dataset:
        assert "on numbers only" in refusal(dataset).message
    text = array(FLIPPED).replace(
        '"int16"', '{"name": "null_terminated_bytes", "configuration": {"length_bytes": 2}}'
    )
    refs = {"a/zarr.json": text.replace('"fill_value": 5', '"fill_value": ""')}
    with refbrowser.open(refs, allow_codecs=PACKAGE) as dataset:
        assert "on numbers only" in refusal(dataset).message


@pytest.mark.slow
def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "set.json"
    path.write_text(json.dumps(chained()))
    assert main(["read", str(path), "/a", "--json"]) == 3
    assert "--allow-codec madecodecs" in capsys.readouterr().err
    allowed = ["--allow-codec", PACKAGE]
    assert main(["read", str(path), "/a", "--json", *allowed]) == 0
    assert json.loads(capsys.readouterr().out) == VALUES.tolist()
    assert main(["info", str(path), *allowed]) == 0
    assert "decoded by madecodecs 1.2" in capsys.readouterr().out
    assert main(["info", str(path), "--json", *allowed]) == 0
    told = json.loads(capsys.readouterr().out)["arrays"]["/a"]["decoded_by"]
    assert told == dict.fromkeys(("made.negated", "made.backwards", "made.flip"), "madecodecs 1.2")
    assert main(["explain", str(path), "a/c/0/0", *allowed]) == 0
    assert "madecodecs 1.2" in capsys.readouterr().out


@pytest.mark.slow
def test_a_setting_allows_codecs_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("REFBROWSER_CONFIG", raising=False)
    path = tmp_path / "set.json"
    path.write_text(json.dumps(chained()))
    read = ["read", str(path), "/a", "--json"]
    assert main(["config", "add", "allow-codec", "made.negated", "made.flip"]) == 0
    assert main(read) == 3
    assert main(["config", "add", "allow-codec", "made.backwards"]) == 0
    capsys.readouterr()
    assert main(read) == 0
    assert json.loads(capsys.readouterr().out) == VALUES.tolist()
    assert main(["config", "unset", "allow-codec"]) == 0
    assert main(read) == 3
    monkeypatch.setenv("REFBROWSER_ALLOW_CODEC", PACKAGE)
    assert main(read) == 0


@pytest.mark.slow
def test_exports_write_codecs_that_every_reader_has(tmp_path: Path) -> None:
    with refbrowser.open(chained(), allow_codecs=PACKAGE) as dataset:
        refbrowser.export(dataset, tmp_path / "out", format="zarr-v3")
    with refbrowser.open(tmp_path / "out") as written:
        assert np.array_equal(written.array("/a")[...], VALUES)
        assert not any(codec.name.startswith("made") for codec in written.array("/a").node.codecs)
