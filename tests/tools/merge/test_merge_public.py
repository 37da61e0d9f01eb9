"""``refbrowser.merge``: conflicts that are marked, and sides that are opened as `open` opens them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import refbrowser
from refbrowser.engine.opening import OpenRequest


@pytest.fixture
def sides(tmp_path: Path) -> list[Path]:
    """A base, and two documents that give one template another value."""
    paths = []
    for name, value in (("base", "x"), ("ours", "y"), ("theirs", "z")):
        path = tmp_path / f"{name}.json"
        lines = {"version": 1, "templates": {"u": value}, "refs": {".zgroup": '{"zarr_format":2}'}}
        path.write_text(json.dumps(lines, indent=1))
        paths.append(path)
    return paths


def test_both_sides_are_marked_where_conflicts_are_left(sides: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "merged.json"
    merged = refbrowser.merge(*sides, target, marks="the document")
    assert [conflict.pointer for conflict in merged.conflicts] == ["/templates/u"]
    lines = target.read_text().splitlines()
    assert "<<<<<<< the document (ours)" in lines
    parted = lines.index("=======")
    assert ('"y"' in lines[parted - 1], '"z"' in lines[parted + 1]) == (True, True)
    refbrowser.merge(*sides, target, marks="the document", favor="theirs", force=True)
    assert json.loads(target.read_text())["templates"] == {"u": "z"}
    refbrowser.merge(*sides, target, force=True)
    assert json.loads(target.read_text())["templates"] == {"u": "y"}


def test_a_side_may_say_how_it_is_opened(sides: list[Path]) -> None:
    base, ours, theirs = (OpenRequest(str(path)) for path in sides)
    assert len(refbrowser.merge(base, ours, theirs).conflicts) == 1
