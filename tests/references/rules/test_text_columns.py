"""Columns of texts against Python's own formatting."""

from __future__ import annotations

import numpy as np
import pytest
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from refbrowser.references.rules.text_columns import Digits, build, separable

numbers = st.one_of(
    st.integers(-20, 20),
    st.integers(990, 1010),
    st.integers(9990, 10010),
    st.integers(-(2**62), 2**62),
    st.sampled_from([0, 10**17, 10**18 - 1, 10**18, -(10**18)]),
)


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(
    st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20),
    st.sampled_from([0, 1, 3, 8, 25]),
    st.sampled_from(["", "é/", "a\n", "\u4e2d"]),
)
def test_digits(rows, width, text):
    first = np.array([row[0] for row in rows], dtype=np.int64)
    second = np.array([row[1] for row in rows], dtype=np.int64)
    column = build([text, Digits(first, width), ".", Digits(second), text], len(rows))
    expected = [
        f"{text}{one:0{width}d}.{two}{text}" if width else f"{text}{one}.{two}{text}" for one, two in rows
    ]
    assert column.texts == expected
    data = column.data.tobytes()
    spans = zip(column.offsets, column.offsets[1:], strict=False)
    assert [data[start : stop - 1].decode() for start, stop in spans] == expected


def test_no_rows_and_no_pieces():
    assert build([], 3).texts == ["", "", ""]
    assert build(["a", Digits(np.zeros(0, dtype=np.int64))], 0).texts == []


def test_texts_that_leave_no_separator_are_not_for_columns():
    assert separable("a\nb")
    assert not separable("a\0b")
