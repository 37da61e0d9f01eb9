"""Sections in runs of C order."""

from __future__ import annotations

from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.wings.ncstream.serving.offered_state import blocks

axis = st.tuples(st.integers(1, 12), st.integers(0, 5), st.integers(1, 4), st.integers(1, 6))


@given(st.lists(axis, max_size=4), st.integers(1, 60))
def test_runs_are_the_section_in_its_order(axes: list[tuple[int, int, int, int]], most: int) -> None:
    section = tuple(range(start, start + (count - 1) * step + 1, step) for count, start, step, _ in axes)
    shape = tuple(taken[-1] + 1 for taken in section)
    values = np.arange(prod(shape)).reshape(shape)
    found = list(blocks(section, [side for *_, side in axes], most))
    assert all(prod(map(len, part)) <= most for part in found)
    flat = [values[np.ix_(*part)].ravel() for part in found]
    assert np.concatenate(flat).tolist() == values[np.ix_(*section)].ravel().tolist()


def test_runs_end_with_chunks_where_they_can() -> None:
    assert [part[0] for part in blocks((range(3, 40),), (10,), 15)] == [
        range(3, 10),
        range(10, 20),
        range(20, 30),
        range(30, 40),
    ]
    assert [len(part[0]) for part in blocks((range(0, 50),), (100,), 20)] == [20, 20, 10]
    assert list(blocks((range(4), range(9)), (2, 9), 20)) == [
        (range(0, 2), range(9)),
        (range(2, 4), range(9)),
    ]


def test_a_section_of_many_elements_is_not_listed() -> None:
    huge = (range(10**9), range(10**6), range(10**3))
    first = next(iter(blocks(huge, (1, 1000, 1000), 10**6)))
    assert first == (range(1), range(1000), range(1000))
