"""Ragged rows as they are drawn: one row, all of them, and how many are how long."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.limits import LIMITS
from refbrowser.model.data_type import DataType, RowType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import Chunks
from refbrowser.views.plot.element_parts import BARS_MOST, all_numbers, length_bars, row_numbers, shown_rows


def node(row_dtype: str, **attributes: object) -> ArrayNode:
    """Return an array of ragged rows."""
    return ArrayNode(
        path="/rows",
        shape=(3,),
        type=RowType(np.dtype(object), elements=DataType.of(np.dtype(row_dtype))),
        fill_value=np.zeros(0),
        values=Chunks(grid=RegularChunkGrid((3,), (3,))),
        attributes=attributes,
    )


def rows_of(*lengths: int) -> list[np.ndarray]:
    """Return rows of these lengths."""
    return [np.arange(length, dtype=">f4") for length in lengths]


def objects(rows: list[np.ndarray]) -> np.ndarray:
    """Return rows as elements of an array."""
    found = np.empty(len(rows), object)
    found[:] = rows
    return found


def test_values_of_one_row_are_decoded() -> None:
    shown = shown_rows(node(">i2", scale_factor=0.5, _FillValue=-1, units="m"), True)
    assert shown is not None
    drawn = row_numbers(shown, np.array([2, -1, 4], ">i2"))
    assert drawn.places.tolist() == [0, 1, 2]
    assert drawn.numbers[[0, 2]].tolist() == [1, 2]
    assert np.isnan(drawn.numbers[1])
    assert shown.units == "m"


def test_rows_of_texts_are_not_drawn() -> None:
    assert shown_rows(node("O"), True) is None


def test_all_values_have_gaps_between_rows() -> None:
    shown = shown_rows(node(">f4"), True)
    assert shown is not None
    drawn = all_numbers(shown, rows_of(2, 0, 3))
    assert drawn.rows == 3
    assert np.isnan(drawn.numbers).tolist() == [False, False, True, False, False, False]
    assert drawn.places.tolist() == [0, 1, 1.5, 2, 3, 4]
    assert (np.diff(drawn.places) > 0).all(), "the chart looks for places by halving"


def test_more_values_than_a_line_holds_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refbrowser.views.plot.element_parts.LIMITS", type(LIMITS)(view_points=5))
    shown = shown_rows(node(">f4"), True)
    assert shown is not None
    assert all_numbers(shown, rows_of(2, 3, 1)).rows == 2


@given(st.lists(st.integers(0, 300), max_size=60))
def test_each_row_is_in_one_bar(lengths: list[int]) -> None:
    bars = length_bars(objects(rows_of(*lengths)))
    assert len(bars) <= BARS_MOST
    assert sum(bar.count for bar in bars) == len(lengths)
    for bar in bars:
        assert bar.count == sum(bar.low <= length <= bar.high for length in lengths)
    assert all(before.high + 1 == after.low for before, after in itertools.pairwise(bars))
