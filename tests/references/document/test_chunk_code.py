from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.references.document.chunk_codes import (
    BITS,
    MOST_DIMENSIONS,
    GroupColumn,
    group_of_chunks,
    join_key,
    pack,
    pack_many,
    split_key,
    unpack,
    unpack_many,
)

COORDS = st.lists(st.integers(0, 2**20), min_size=1, max_size=MOST_DIMENSIONS).map(tuple)


@given(COORDS)
def test_coordinates_come_back(coords: tuple[int, ...]) -> None:
    code = pack(coords)
    fits = all(coord < 2 ** (BITS // len(coords)) for coord in coords)
    assert (code is not None) == fits
    if code is not None:
        assert unpack(code) == coords
        many, fit = pack_many(np.array([coords], np.int64))
        assert many.tolist() == [code]
        assert fit.all()
        assert tuple(int(column[0]) for column in unpack_many(many, len(coords))) == coords


def test_codes_sort_as_the_grid_does() -> None:
    coords = [(0, 0), (0, 1), (0, 10), (1, 0), (2, 9), (10, 0)]
    codes = [pack(each) for each in coords]
    assert codes == sorted(codes)  # type: ignore[type-var]


@given(st.text(alphabet="0123./ac\n", max_size=12))
def test_a_key_that_is_split_joins_to_itself(key: str) -> None:
    parts = split_key(key)
    if parts is None:
        return
    code = pack(parts[1])
    if code is not None:
        assert join_key(parts[0], code) == key


@pytest.mark.parametrize(
    ("key", "group", "coords"),
    [
        ("a/0.12", ("a/", "."), (0, 12)),
        ("a/12", ("a/", "/"), (12,)),
        ("a/c/0/12", ("a/c/", "/"), (0, 12)),
        ("0/1", ("", "/"), (0, 1)),
        ("0.1", ("", "."), (0, 1)),
        ("a/1/2.3", ("a/1/", "."), (2, 3)),
        ("2000/3/0", ("", "/"), (2000, 3, 0)),
    ],
)
def test_canonical_keys(key: str, group: tuple[str, str], coords: tuple[int, ...]) -> None:
    assert split_key(key) == (group, coords)


@pytest.mark.parametrize(
    "key", ["a/01", "a/-1", "a/1.", "a/.1", "a/1..2", "a/b", "", "a/", "a1.2", "a/1.2\n", "a/١"]
)
def test_keys_that_are_none(key: str) -> None:
    assert split_key(key) is None


def test_numbers_in_front_belong_to_the_coordinates() -> None:
    slash = ChunkKeyEncoding("v2", "/")
    assert group_of_chunks("2000/3/", 1, slash) == (("", "/"), (2000, 3))
    assert group_of_chunks("t/2000/", 2, slash) == (("t/", "/"), (2000,))
    assert group_of_chunks("t/2000/", 2, ChunkKeyEncoding()) == (("t/2000/", "."), ())
    assert group_of_chunks("t/", 2, ChunkKeyEncoding("default", "/")) == (("t/c/", "/"), ())
    assert group_of_chunks("t/", 0, ChunkKeyEncoding()) is None
    # Keys of the v3 drafts that are no canonical chunk keys are found as texts.
    assert group_of_chunks("data/root/t/", 2, ChunkKeyEncoding("draft", "/")) is None
    assert group_of_chunks("data/root/t/", 3, ChunkKeyEncoding("draft", ".")) is None
    assert group_of_chunks("data/t/", 2, ChunkKeyEncoding("v2", "-")) is None
    assert group_of_chunks("data/t/", 1, ChunkKeyEncoding("v2", "-")) == (("data/t/", "/"), ())


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 40)), min_size=1, max_size=9),
    st.integers(0, 2**32 - 1),
)
def test_runs_of_rows_say_the_same_as_each_row(runs: list[tuple[int, int]], seed: int) -> None:
    lengths = np.array([length for _, length in runs])
    numbers = np.array([number for number, _ in runs], np.int32)
    column = GroupColumn(np.cumsum(lengths) - lengths, numbers, int(lengths.sum()))
    rows = np.flatnonzero(np.random.default_rng(seed).random(column.count) < 0.5)
    counts, groups = column.runs_of(rows)
    assert (counts > 0).all()
    assert np.repeat(groups, counts).tolist() == np.repeat(numbers, lengths)[rows].tolist()
