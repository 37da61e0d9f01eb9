"""Sets of chunks, held against sets of Python: by blocks, numbers, and counts along an axis."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.references.expectations.chunk_sets import (
    ChunkBlock,
    ChunkSet,
    Tally,
    UndecidedSetError,
    range_meet,
)

GRID = (7, 5, 4)
Coords = tuple[int, ...]


def _ranges(size: int) -> st.SearchStrategy[range]:
    made = st.builds(
        range, st.integers(0, size - 1), st.integers(1, size + 2), st.integers(1, 4)
    )  # fmt: skip
    return made.filter(bool)


BLOCKS = st.builds(ChunkBlock, st.tuples(*map(_ranges, GRID)))
NUMBERS = st.lists(st.integers(0, int(np.prod(GRID)) - 1), max_size=20)


def _made(blocks: list[ChunkBlock], numbers: list[int]) -> tuple[ChunkSet, set[Coords]]:
    inside = {at for block in blocks for at in product(*block.axes) if all(map(int.__lt__, at, GRID))}
    coords = np.stack(np.unravel_index(numbers, GRID), axis=1).tolist() if numbers else []
    return ChunkSet.of(GRID, blocks, np.array(numbers, np.int64)), inside | {tuple(at) for at in coords}


def _held(chunks: ChunkSet) -> list[Coords]:
    coords = np.stack(np.unravel_index(chunks.numbers, GRID), axis=1).tolist()
    return [at for block in chunks.blocks for at in product(*block.axes)] + [tuple(at) for at in coords]


@given(st.integers(0, 9), st.integers(0, 30), st.integers(1, 6), st.integers(0, 9), st.integers(1, 6))
def test_progressions_meet_as_their_sets_do(a: int, stop: int, step: int, b: int, other: int) -> None:
    one, its = range(a, stop, step), range(b, 28, other)
    assert set(range_meet(one, its)) == set(one) & set(its)


@given(st.lists(BLOCKS, max_size=4), NUMBERS)
def test_a_union_holds_each_chunk_once(blocks: list[ChunkBlock], numbers: list[int]) -> None:
    chunks, expected = _made(blocks, numbers)
    held = _held(chunks)
    assert len(held) == len(set(held)) == chunks.count
    assert set(held) == expected


@given(st.lists(BLOCKS, max_size=3), NUMBERS, st.lists(BLOCKS, max_size=3), NUMBERS)
def test_sets_meet(
    blocks: list[ChunkBlock], numbers: list[int], others: list[ChunkBlock], more: list[int]
) -> None:
    one, first = _made(blocks, numbers)
    other, second = _made(others, more)
    both = _held(one.meet(other))
    assert len(both) == len(set(both))
    assert set(both) == first & second


@given(st.lists(BLOCKS, max_size=4), NUMBERS, st.integers(0, 2))
def test_counts_along_an_axis(blocks: list[ChunkBlock], numbers: list[int], axis: int) -> None:
    chunks, expected = _made(blocks, numbers)
    counts = [sum(at[axis] == row for at in expected) for row in range(GRID[axis])]
    tally = chunks.tally(axis)
    assert tally.at(np.arange(GRID[axis])).tolist() == counts
    assert tally.total == len(expected)
    assert [count for first, last, count in tally.runs() for _ in range(first, last)] == [
        each for each in counts if each
    ]
    assert (np.diff(tally.counts) != 0).all()


@given(st.lists(BLOCKS, max_size=3), st.lists(BLOCKS, max_size=3), st.integers(0, 2))
def test_what_one_has_more(blocks: list[ChunkBlock], others: list[ChunkBlock], axis: int) -> None:
    one, first = _made(blocks, [])
    other, second = _made(others, [])
    more = one.tally(axis).less(one.meet(other).tally(axis))
    rows = np.arange(GRID[axis])
    assert more.at(rows).tolist() == [sum(at[axis] == row for at in first - second) for row in rows.tolist()]


def test_a_billion_chunks_are_a_few_numbers() -> None:
    grid = (1_000_000, 50, 40)
    expected = ChunkSet.whole(grid)
    there = ChunkSet.of(grid, [ChunkBlock((range(0, 500_000), range(50), range(40))),
                               ChunkBlock((range(500_744, 1_000_000), range(50), range(40)))])  # fmt: skip
    missing = expected.tally(0).less(expected.meet(there).tally(0))
    assert expected.count == 2 * 10**9
    assert [*missing.runs()] == [(500_000, 500_744, 2000)]
    assert missing.total == 744 * 2000
    assert len(missing.bounds) == 4


def test_what_takes_too_many_blocks_is_not_decided() -> None:
    whole = ChunkBlock((range(10**6),))
    with pytest.raises(UndecidedSetError):
        ChunkSet.of((10**6,), [ChunkBlock((range(0, 10**6, 999),)), whole])
    with pytest.raises(UndecidedSetError):
        ChunkSet.of((10**9,), [ChunkBlock((range(0, 10**9, 2),))]).tally(0)


def test_neighbours_that_have_alike_are_one_run() -> None:
    tally = Tally(np.array([0, 2, 4, 6]), np.array([1, 1, 0])).joined()
    assert (tally.bounds.tolist(), tally.counts.tolist()) == ([0, 4, 6], [1, 0])
