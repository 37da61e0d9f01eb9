from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.references.content.table import ReferenceTable
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, SetReference

KEYS = st.one_of(
    st.sampled_from(["a", "b/c"]).flatmap(
        lambda path: st.lists(st.integers(0, 3), min_size=1, max_size=3).flatmap(
            lambda coords: st.sampled_from([".", "/"]).map(lambda dot: f"{path}/{dot.join(map(str, coords))}")
        )
    ),
    st.sampled_from([".zgroup", "a/.zarray", "x", "a/01", "b/c/c/0/1"]),
)


def table_of(keys: list[str]) -> ReferenceTable:
    """Return a table whose entries, in that order, have their number as offset."""
    text = ", ".join(f'{json.dumps(key)}: ["u", {number}, 1]' for number, key in enumerate(keys))
    return ReferenceDocument.of(('{"version": 1, "refs": {' + text + "}}").encode()).refs.table


@pytest.mark.slow
@given(st.lists(KEYS, max_size=30))
def test_lookup_is_that_of_a_dict(keys: list[str]) -> None:
    table = table_of(keys)
    last = {key: row for row, key in enumerate(keys)}
    assert table.keys(range(len(keys))) == keys
    for key in {*keys, "a/3", "a/0.0", "b/c/2.2.2", "nothing", "a/00"}:
        assert table.find(key) == last.get(key)
        assert table.find_all(key) == [row for row, other in enumerate(keys) if other == key]
    assert table.duplicates.tolist() == [row for row, key in enumerate(keys) if last[key] != row]


@given(
    st.lists(KEYS, max_size=30),
    st.sampled_from([".", "/"]),
    st.integers(0, 3),
    st.sampled_from(["a/", "b/c/", ""]),
)
def test_chunks_are_found_as_their_keys_are(keys: list[str], separator: Any, ndim: int, prefix: str) -> None:
    table = table_of(keys)
    for encoding in (ChunkKeyEncoding("v2", separator), ChunkKeyEncoding("default", separator)):
        grid = (4,) * ndim
        coords = np.array(list(np.ndindex(grid)), np.int64).reshape(4**ndim, ndim)
        expected = [table.find(prefix + encoding.encode(tuple(row))) for row in coords.tolist()]
        rows = [-1 if row is None else row for row in expected]
        assert table.find_chunks(prefix, coords, encoding).tolist() == rows
        assert table.grid_rows(prefix, grid, encoding).tolist() == rows


def test_unsorted_keys_are_found_too() -> None:
    keys = [f"v{number % 3}/{number}.{number % 7}" for number in range(2000)]
    random.Random(1).shuffle(keys)
    table = table_of(keys)
    assert [table.find(key) for key in keys] == list(range(2000))
    assert not len(table.duplicates)


def test_coordinates_outside_of_the_grid_are_left_out() -> None:
    table = table_of(["a/0", "a/5", "a/1.1", "a/2"])
    assert table.grid_rows("a/", (3,), ChunkKeyEncoding()).tolist() == [0, -1, 3]
    assert table.find_chunks("a/", np.array([[-1], [10**18]]), ChunkKeyEncoding()).tolist() == [-1, -1]


@pytest.mark.slow
@pytest.mark.parametrize("count", [100_000])
def test_a_reference_is_held_in_forty_bytes(count: int) -> None:
    refs = {
        f"t/{row // 300}.{row % 300}": [f"s3://b/{row // 900}.nc", row * 2**20, 2**20] for row in range(count)
    }
    table = ReferenceDocument.of(json.dumps({"version": 1, "refs": refs}).encode()).refs.table
    assert table.find("t/5.5") == 1505
    assert table.held / count <= 40


def test_hashes_that_collide_do_not_mix_keys_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.references.content import table as module

    monkeypatch.setattr(module, "odd_code", lambda key: 7)
    table = table_of(["x", "y", "x", "z"])
    assert [table.find(key) for key in ("x", "y", "z", "w")] == [2, 1, 3, None]
    assert table.duplicates.tolist() == [0]


@given(st.lists(st.integers(0, 7), unique=True), st.lists(st.integers(0, 7), unique=True), st.integers(0, 3))
def test_rows_that_stand_and_slots_of_edits_are_all_entries(
    replaced: list[int], removed: list[int], more: int
) -> None:
    values = ["1", '["u", 0, 1]', f'["u", {2**70}, 1]', '["v"]'] * 2
    text = ", ".join(f'"k{row}": {value}' for row, value in enumerate(values))
    document = ReferenceDocument.of(('{"version": 1, "refs": {' + text + "}}").encode())
    for row in replaced:
        document = document.apply(SetReference(f"k{row}", ["w", row, 1]))
    for row in removed:
        document = document.apply(RemoveReference(f"k{row}"))
    for number in range(more):
        document = document.apply(SetReference(f"new{number}", ["n", 0, 1]))
    refs = document.refs
    slots = [*np.flatnonzero(refs.standing()).tolist(), *refs.edited_slots().tolist()]
    assert sorted(slots) == sorted(refs.slots(0, len(refs)))
    assert [refs.key_of(slot) for slot in refs.edited_slots().tolist()] == [
        *(f"k{row}" for row in replaced if row not in removed),
        *(f"new{number}" for number in range(more)),
    ]
    # Those whose numbers no column holds stand in none either.
    huge = [f"k{row}" for row in (2, 6) if row not in (*replaced, *removed)]
    beside = [refs.key_of(slot) for slot in refs.slots_beside_table()]
    assert beside == [*huge, *(refs.key_of(slot) for slot in refs.edited_slots().tolist())]
