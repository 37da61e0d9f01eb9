"""Dimensions and row numbers, small ones against lists and products, large ones by example."""

from __future__ import annotations

from itertools import product

import numpy as np
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from refbrowser.references.rules.dimensions import RowSpace, RuleDimension, parse_dimensions, range_length

steps = st.integers(-4, 4).filter(bool)
ranges = st.builds(range, st.integers(-9, 9), st.integers(-9, 9), steps)
lists = st.lists(st.integers(-5, 5), max_size=6).map(tuple)
dimensions = st.one_of(ranges, lists).map(lambda values: RuleDimension("i", values))


@given(ranges)
def test_length_of_a_range(values):
    assert range_length(values) == len(values)


@given(dimensions, st.integers(-12, 12))
def test_positions_of_a_value(dimension, value):
    values = list(dimension.values)
    assert dimension.length == len(values)
    last = max((place for place, each in enumerate(values) if each == value), default=None)
    assert dimension.last_index(value) == last
    if values:
        assert dimension.bounds == (min(values), max(values))
        assert dimension.last_indices(np.array([value])).tolist() == [-1 if last is None else last]
        assert dimension.take(np.arange(len(values))).tolist() == values
        assert dimension.has_repeats == (len(set(values)) != len(values))


@settings(max_examples=examples(100))
@given(st.lists(dimensions, min_size=1, max_size=3), st.data())
def test_rows_are_the_product(found, data):
    space = RowSpace(tuple(found))
    rows = list(product(*(dimension.values for dimension in found)))
    assert space.count == len(rows)
    assert [tuple(space.values(row)) for row in range(space.count)] == rows
    assert [space.row(space.indices(row)) for row in range(space.count)] == list(range(space.count))
    if rows:
        start = data.draw(st.integers(0, len(rows) - 1))
        stop = data.draw(st.integers(start, len(rows)))
        expected = [list(space.indices(row)) for row in range(start, stop)]
        assert np.array(space.index_window(start, stop)).T.tolist() == expected
        assert np.array(space.index_columns(np.arange(start, stop))).T.tolist() == expected


def test_defaults_and_long_ranges():
    found, faults = parse_dimensions(
        {"i": {"stop": 10**30}, "j": {"start": 5, "stop": -5, "step": -3, "note": "kept"}}
    )
    assert not faults
    assert found[0].length == 10**30
    assert found[0].last_index(10**29) == 10**29
    assert not found[0].fits_int64
    assert list(found[1].values) == [5, 2, -1, -4]
