"""Damaged files of Awkward 0: bytes that flipped, files that were cut, schemas with anything anywhere."""

from __future__ import annotations

import contextlib
import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from awkward0_constructs import CONSTRUCTS
from awkward0_encoder import zipped
from awkward0_values import read_values
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.errors import RefbrowserError


def some_members(step: int) -> dict[str, bytes]:
    members: dict[str, bytes] = {}
    for number, construct in enumerate(CONSTRUCTS[::step]):
        encoder = construct.encoder(f"c{number:03}")
        members |= encoder.members(construct.make(encoder))
    return members


ARCHIVE = zipped(some_members(12))


def use(path: Path) -> None:
    """Open a file and read every array; errors may come, of our kinds only."""
    with contextlib.suppress(RefbrowserError), refbrowser.open(path) as dataset:
        for array in dataset.arrays.values():
            repr(array)
            with contextlib.suppress(RefbrowserError):
                if array.shape[:1] < (10_000,):
                    read_values(array)
        for finding in (*dataset.document.findings, *dataset.hierarchy.findings):
            str(finding)


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(
    flips=st.lists(st.tuples(st.integers(0, len(ARCHIVE) - 1), st.integers(1, 255)), max_size=12),
    stop=st.one_of(st.just(len(ARCHIVE)), st.integers(0, len(ARCHIVE))),
)
def test_flipped_and_cut_archives(flips: list[tuple[int, int]], stop: int) -> None:
    data = bytearray(ARCHIVE)
    for position, change in flips:
        data[position] ^= change
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.awkd")
        path.write_bytes(data[:stop])
        use(path)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a JSON value."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in items:
        found += places(each, (*path, name))
    return found


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a JSON value with another value at a path."""
    made = copy.deepcopy(value)
    target = made
    for name in path[:-1]:
        target = target[name]
    target[path[-1]] = new
    return made


STRANGE = (
    None, True, -1, 0, 3, 2**31, 2**63, 2**64, 1e308, "", "x", "os", [], {}, [[]], {"ref": 0}, {"ref": 1},
    {"json": -1}, {"json": 2**62}, {"json": "utf-7"}, {"dtype": "object"}, {"dtype": "uint8"},
    {"dtype": "datetime64"}, {"list": []}, {"pairs": [["x", {"ref": 0}]]}, {"python": "Ti4="},
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(data=st.data())
def test_schemas_with_anything_anywhere(data: st.DataObject) -> None:
    construct = data.draw(st.sampled_from(CONSTRUCTS))
    encoder = construct.encoder("one")
    document = encoder.document(construct.make(encoder))
    for _ in range(data.draw(st.integers(1, 3))):
        spot = data.draw(st.sampled_from(places(document)))
        new = data.draw(st.one_of(st.sampled_from(STRANGE), st.just(copy.deepcopy(document["schema"]))))
        document = changed(document, spot, new)
        if not isinstance(document.get("schema"), dict):
            break
    members = {**encoder.blobs, "one.json": json.dumps(document).encode()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.awkd")
        path.write_bytes(zipped(members))
        use(path)
