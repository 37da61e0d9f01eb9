from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.references.content.chunk_codes import (
    MOST_DIMENSIONS,
    GroupColumn,
    grid_codes,
    group_of_chunks,
    join_key,
    pack,
    pack_many,
    split_key,
    unpack,
    unpack_many,
)

#: Bits of the first coordinate and of each other one, by number of dimensions: the first that the first
#: coordinate fits in counts.
SHARES = {
    1: [(60, 60)],
    2: [(30, 30)],
    3: [(19, 20), (20, 19), (21, 18), (22, 17), (23, 16), (24, 15), (25, 14)],
    4: [(14, 15), (16, 14), (18, 13), (20, 12), (22, 11), (24, 10), (26, 9)],
    5: [(11, 12), (14, 11), (17, 10), (20, 9), (23, 8), (26, 7)],
    6: [(9, 10), (13, 9), (17, 8), (21, 7), (25, 6)],
    7: [(11, 8), (16, 7), (21, 6), (26, 5)],
    8: [(10, 7), (16, 6), (22, 5), (28, 4)],
    9: [(11, 6), (18, 5), (25, 4)],
    10: [(5, 6), (13, 5), (21, 4), (29, 3)],
    11: [(9, 5), (18, 4), (27, 3)],
    12: [(4, 5), (14, 4), (24, 3), (34, 2)],
    13: [(11, 4), (22, 3), (33, 2)],
    14: [(7, 4), (19, 3), (31, 2)],
    15: [(3, 4), (16, 3), (29, 2)],
}


def fits(coords: tuple[int, ...]) -> bool:
    """Tell plainly whether coordinates are to be packed."""
    first, *others = coords
    for bits, further in SHARES[len(coords)]:
        if first < 2**bits:
            return all(other < 2**further for other in others)
    return False


@st.composite
def coordinates(draw: st.DrawFn, ndim: int | None = None) -> tuple[int, ...]:
    """Draw coordinates near those at which a share ends."""
    ndim = draw(st.integers(1, MOST_DIMENSIONS)) if ndim is None else ndim
    first, others = zip(*SHARES[ndim], strict=True)

    def near(bits: tuple[int, ...]) -> int:
        about = st.sampled_from([0, *(2**each for each in bits)])
        return max(0, draw(st.one_of(st.integers(0, 2 ** max(bits)), about.map(lambda at: at - 1), about)))

    few = draw(st.booleans())
    return near(first), *(draw(st.integers(0, 3)) if few else near(others) for _ in range(ndim - 1))


@given(coordinates())
def test_coordinates_come_back(coords: tuple[int, ...]) -> None:
    code = pack(coords)
    assert (code is not None) == fits(coords)
    many, fit = pack_many(np.array([coords], np.int64))
    assert fit.tolist() == [code is not None]
    if code is not None:
        assert unpack(code) == coords
        assert many.tolist() == [code]
        assert tuple(int(column[0]) for column in unpack_many(many, len(coords))) == coords


@pytest.mark.slow
@given(st.data(), st.integers(1, MOST_DIMENSIONS))
def test_many_are_packed_as_each_is(data: st.DataObject, ndim: int) -> None:
    rows = data.draw(st.lists(coordinates(ndim), min_size=1, max_size=9))
    axis, below = data.draw(st.integers(0, ndim - 1)), data.draw(st.integers(-(2**62), -1))
    array = np.array([*rows, rows[0]], np.int64)
    array[-1, axis] = below
    codes, fit = pack_many(array)
    assert fit.tolist() == [*map(fits, rows), False]
    assert [code for code, good in zip(codes.tolist(), fit, strict=True) if good] == [
        pack(each) for each in rows if fits(each)
    ]
    assert np.stack(unpack_many(codes[fit], ndim), axis=1).tolist() == array[fit].tolist()


@pytest.mark.slow
@given(st.data(), st.integers(1, MOST_DIMENSIONS))
def test_codes_sort_as_the_grid_does(data: st.DataObject, ndim: int) -> None:
    rows = data.draw(st.lists(coordinates(ndim).filter(fits), max_size=9))
    assert [unpack(code) for code in sorted(map(pack, rows))] == sorted(rows)  # type: ignore[type-var, arg-type]


@pytest.mark.slow
@given(st.data(), st.integers(1, MOST_DIMENSIONS))
def test_the_codes_of_a_grid_are_those_of_its_chunks(data: st.DataObject, ndim: int) -> None:
    leading = data.draw(coordinates(ndim))[: data.draw(st.integers(0, ndim))]
    sizes = st.lists(st.integers(0, 70), min_size=ndim - len(leading), max_size=ndim - len(leading))
    shape = tuple(data.draw(sizes.filter(lambda each: math.prod(each) < 2000)))
    chunks = [leading + each for each in itertools.product(*map(range, shape))]
    expected = [*map(pack, chunks)] if all(map(fits, chunks)) else []
    assert grid_codes(leading, shape).tolist() == expected


def test_a_grid_goes_on_where_the_first_coordinate_takes_more_bits() -> None:
    rows = np.stack(np.unravel_index(np.arange((2**19 + 5) * 2), (2**19 + 5, 1, 2)), axis=1)
    assert np.array_equal(grid_codes((), (2**19 + 5, 1, 2)), pack_many(rows)[0])


def test_as_many_records_as_a_document_may_have_fit() -> None:
    for ndim in range(1, MOST_DIMENSIONS + 1):
        assert pack((LIMITS.references, *[0] * (ndim - 1))) is not None
    # The figures of the longest axes: a hundred thousand files of fifty chunks.
    assert pack((100_000 * 50, 2**16 - 1, 2**16 - 1)) is not None
    assert pack((100_000 * 50, 100, 1000, 1000)) is not None


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
