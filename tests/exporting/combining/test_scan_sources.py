"""Documents that are looked at by their text: what is found is what opening them finds, fault for fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refbrowser.errors import RefbrowserError
from refbrowser.exporting.combining import scan_sources
from refbrowser.exporting.combining.properties import ScannedSource, ScanSettings
from refbrowser.exporting.combining.scan_sources import ScanTask, scan

LOOKING = ScanSettings(dimensions=("time",))
ROWS = 6


def document(folder: Path, number: int, **members: Any) -> dict[str, Any]:
    """Return references: times and y in a file beside them, x in the document, data elsewhere."""
    refs: dict[str, Any] = {
        ".zgroup": '{"zarr_format":2}',
        ".zattrs": json.dumps({"history": f"made as number {number}", "scale": 0.1 + number}),
        "g/.zgroup": '{"zarr_format":2}',
    }
    data = b""
    for name, values in (
        ("time", np.arange(number * ROWS, (number + 1) * ROWS, dtype=">i4")),
        ("y", np.arange(3, dtype="<f4")),
        ("x", np.arange(2, dtype="<f8")),
    ):
        told = {"shape": values.shape, "chunks": [8], "dtype": values.dtype.str, "compressor": None}
        told |= {"zarr_format": 2, "filters": None, "fill_value": None, "order": "C"}
        refs[f"{name}/.zarray"] = json.dumps(told)
        refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": [name], "units": "days since 2000-01-01"})
        chunk = np.resize(values, 8).astype(values.dtype).tobytes()
        refs[f"{name}/0"] = [f"{number}.bin", len(data), len(chunk)]
        if name == "x":
            refs[f"{name}/0"] = "base64:" + __import__("base64").b64encode(chunk).decode()
        data += chunk
    (folder / f"{number}.bin").write_bytes(data)
    told = {"shape": [ROWS, 3, 2], "chunks": [1, 3, 2], "dtype": "<i2", "fill_value": -1, "zarr_format": 2}
    refs["t/.zarray"] = json.dumps(told | {"order": "C", "compressor": {"id": "zlib"}, "filters": None})
    refs["t/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["time", "y", "x"]})
    # Not in the order of the grid, one is missing, and they are of two files.
    for row in (3, 1, 0, 2, 5):
        refs[f"t/{row}.0.0"] = [f"s3://bucket/{number}{'ab'[row % 2]}.nc", 1000 + row, 80 + number]
    return {"version": 1, "refs": refs} | members


def ref(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(made: dict[str, Any]) -> None:
        made["refs"][key] = value

    return change


def moved(made: dict[str, Any]) -> None:
    made["refs"]["y/0"] = made["refs"].pop("y/0")


#: What a document may be otherwise in, and whether its text is still enough.
CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], bool]] = {
    "nothing": (lambda made: None, True),
    "other attributes of a group": (ref(".zattrs", '{"history": "é NOAA \\"x\\"", "scale": 1e-7}'), True),
    "another URL": (ref("t/1.0.0", ["https://host.example/x.nc", 0, 5]), True),
    "other bytes in the document": (ref("x/0", "base64:" + "AAAAAAAA8D8AAAAA" * 5 + "AAAAAA=="), True),
    "text of bytes": (ref("x/0", "\0" * 64), True),
    "other metadata": (ref("t/.zattrs", '{"_ARRAY_DIMENSIONS": ["time", "y", "x"], "a": 1}'), False),
    "another name of an attribute": (ref(".zattrs", '{"history": "x", "more": 1}'), False),
    "attributes that are no JSON": (ref(".zattrs", '{"history": NaN, "scale": 1}'), False),
    "an attribute twice": (ref(".zattrs", '{"history": 1, "history": 2, "scale": 1}'), False),
    "attributes that are none": (ref(".zattrs", "[]"), False),
    "a chunk more": (ref("t/4.0.0", ["s3://bucket/x.nc", 1, 2]), False),
    "another order": (moved, False),
    "a whole file": (ref("t/1.0.0", ["s3://bucket/x.nc"]), False),
    "bytes in place of a range": (ref("t/1.0.0", "base64:AAAA"), False),
    "a negative offset": (ref("t/1.0.0", ["s3://bucket/x.nc", -1, 2]), False),
    "a huge offset": (ref("t/1.0.0", ["s3://bucket/x.nc", 1 << 63, 2]), False),
    "a number that is none": (ref("t/1.0.0", ["s3://bucket/x.nc", 1.0, 2]), False),
    "a truth in place of a number": (ref("t/1.0.0", ["s3://bucket/x.nc", True, 2]), False),
    "no URL": (ref("t/1.0.0", [None, 1, 2]), False),
    "an empty URL": (ref("t/1.0.0", ["", 1, 2]), False),
    "half a character": (ref("t/1.0.0", ["\ud800", 1, 2]), False),
    "a template": (ref("t/1.0.0", ["{{u}}/x.nc", 1, 2]), False),
    "broken base64": (ref("x/0", "base64:A"), False),
    "a coordinate elsewhere": (ref("y/0", ["https://host.example/x.nc", 0, 32]), False),
    "a coordinate behind the end": (ref("y/0", ["1.bin", 100_000, 32]), False),
    "a coordinate that is too short": (ref("y/0", ["1.bin", 0, 31]), False),
    "templates": (lambda made: made.update(templates={"u": "x"}), False),
    "another version": (lambda made: made.update(version=2), False),
    "no version": (lambda made: made.pop("version"), False),
}


def told(found: ScannedSource | tuple[str, RefbrowserError]) -> Any:
    """Return what was found as plain values."""
    if isinstance(found, tuple):
        return found[0], str(found[1])
    chunks = found.chunks
    count = len(chunks.offset)
    numbers = [0] * count if chunks.url is None else chunks.url.tolist()
    held = set(chunks.inline)
    urls = [None if row in held else chunks.urls[number] for row, number in enumerate(numbers)]
    return (
        found.source, found.arrays, found.groups, found.digests, found.losses, urls, chunks.counts,
        chunks.offset.tolist(), chunks.length.tolist(), chunks.offset.dtype, chunks.inline,
        {number: each.tolist() for number, each in chunks.positions.items()},
        {path: (each.dtype.str, each.tolist()) for path, each in found.values.items()}, set(chunks.urls),
    )  # fmt: skip


@pytest.fixture
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_sources, "_kinds", {})
    monkeypatch.setattr(scan_sources, "_in_vain", 0)


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_known")
def test_what_the_text_tells_is_what_opening_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    whole = scan_sources.open_dataset
    monkeypatch.setattr(
        scan_sources, "open_dataset", lambda request: opened.append(request.path) or whole(request)
    )
    first, other = tmp_path / "0.json", str(tmp_path / "1.json")
    first.write_text(json.dumps(document(tmp_path, 0)))
    scan(ScanTask((str(first),), LOOKING))
    (known,) = scan_sources._kinds.items()
    for what, (change, is_enough) in CHANGES.items():
        made = document(tmp_path, 1)
        change(made)
        Path(other).write_text(json.dumps(made))
        scan_sources._kinds.clear()
        expected = told(*scan(ScanTask((other,), LOOKING)))
        scan_sources._kinds.clear()
        scan_sources._kinds[known[0]] = [known[1][-1]]
        opened.clear()
        assert told(*scan(ScanTask((other,), LOOKING))) == expected, what
        assert opened == ([] if is_enough else [other]), what


@pytest.mark.usefixtures("nothing_known")
def test_documents_of_few_kinds_are_opened_once_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    whole = scan_sources.open_dataset
    monkeypatch.setattr(
        scan_sources, "open_dataset", lambda request: opened.append(request.path) or whole(request)
    )
    sources = []
    for number in range(9):
        made = document(tmp_path, number)
        if number % 2:
            del made["refs"]["t/5.0.0"]
        sources.append(str(tmp_path / f"{number}.json"))
        Path(sources[-1]).write_text(json.dumps(made))
    found = scan(ScanTask(tuple(sources), LOOKING))
    assert [each.source for each in found if isinstance(each, ScannedSource)] == sources
    assert opened == sources[:2]


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_known")
def test_where_no_document_is_like_another_it_is_given_up(tmp_path: Path) -> None:
    sources = []
    for number in range(scan_sources._GIVEN_UP + 20):
        made = document(tmp_path, 0)
        made["refs"]["t/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["time", "y", "x"], "n": number})
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(made))
        sources.append(str(path))
    found = scan(ScanTask(tuple(sources), LOOKING))
    assert all(isinstance(each, ScannedSource) for each in found)
    # Of each task the rest is looked through a few times only, whatever is learned of each document.
    assert scan_sources._in_vain == scan_sources._GIVEN_UP
    assert sum(map(len, scan_sources._kinds.values())) <= scan_sources._OF_KEYS
