"""Rows of their own length: the values of one, those of all one after the other, how many are how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.element_parts import row_lengths
from refbrowser.views.interpretation import Interpretation
from refbrowser.views.picture import ChunkState, Picture

#: Bars of a histogram of lengths.
BARS_MOST = 48


@dataclass(frozen=True, slots=True)
class RowNumbers:
    """Values of rows as they are drawn.

    Attributes
    ----------
    places
        Position of each value: in its row, or among the values of all rows.
    numbers
        NaN where there is no value, and between two rows.
    rows
        How many rows they are of; fewer than there are where those have more values than a line holds.
    """

    places: npt.NDArray[np.float64]
    numbers: npt.NDArray[Any]
    rows: int


@dataclass(frozen=True, slots=True)
class Bar:
    """How many rows have a length from `low` to `high` (included)."""

    low: int
    high: int
    count: int


def shown_rows(node: ArrayNode, decoded: bool) -> Interpretation | None:
    """Return what the values of ragged rows mean; None where they are no numbers."""
    shown = Interpretation(replace(node, dtype=node.row_dtype, row_dtype=None, fill_value=None), decoded)
    return shown if shown.is_number else None


def rows_come(picture: Picture) -> list[npt.NDArray[Any]]:
    """Return the rows of a line as far as they have come, in order; what has not come is left out."""
    states = picture.element_states([np.arange(len(picture.values), dtype=np.int64)])
    known = (states == ChunkState.DONE) | (states == ChunkState.MISSING)
    return [row for row in picture.values[known] if isinstance(row, np.ndarray)]


def row_numbers(shown: Interpretation, row: npt.NDArray[Any]) -> RowNumbers:
    """Return the values of one row."""
    return RowNumbers(np.arange(len(row), dtype=np.float64), shown.numbers(_native(row)), 1)


def all_numbers(shown: Interpretation, rows: Sequence[npt.NDArray[Any]]) -> RowNumbers:
    """Return the values of rows one after the other, with a gap between two, as many as a line holds."""
    lengths = np.array([len(row) for row in rows], np.int64)
    kept = int(np.searchsorted(np.cumsum(lengths), LIMITS.view_points, side="right"))
    taken = [row for row in rows[:kept] if len(row)]
    if not taken:
        return RowNumbers(np.zeros(0), np.zeros(0), kept)
    numbers = shown.numbers(_native(np.concatenate(taken)))
    borders = np.cumsum([len(row) for row in taken])[:-1]
    places = np.arange(len(numbers), dtype=np.float64)
    gapped = np.insert(places, borders, places[borders] - 0.5)
    return RowNumbers(gapped, np.insert(numbers, borders, np.nan), kept)


def length_bars(rows: npt.NDArray[Any]) -> tuple[Bar, ...]:
    """Return how many rows are how long: a bar for each length, or for several where there are many."""
    lengths = row_lengths(rows)
    if not len(lengths):
        return ()
    low, high = int(lengths.min()), int(lengths.max())
    wide = max(1, ceil((high - low + 1) / BARS_MOST))
    counts = np.bincount((lengths - low) // wide)
    return tuple(
        Bar(low + at * wide, low + (at + 1) * wide - 1, count) for at, count in enumerate(counts.tolist())
    )


def _native(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values.astype(values.dtype.newbyteorder("="), copy=False)
