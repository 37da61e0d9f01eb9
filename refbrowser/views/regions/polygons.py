"""Which points lie within a polygon, on grids of rows and columns and anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Corners = Sequence[tuple[float, float]]


def sides_of(corners: Corners) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield the two ends of each side."""
    yield from pairwise([*corners, corners[0]])


def grid_within(across: Floats, upwards: Floats, corners: Corners) -> Mask:
    """Return which points of a grid lie within, shape (len(upwards), len(across)).

    Each side turns over all points of a row that lie to the right of where it crosses the row.
    """
    order = np.argsort(across, kind="stable")
    ascending = across[order]
    turns = np.zeros((len(upwards), len(across) + 1), np.int32)
    for (x0, y0), (x1, y1) in sides_of(corners):
        if y0 == y1:
            continue
        rows = np.flatnonzero((upwards >= min(y0, y1)) & (upwards < max(y0, y1)))
        crossings = x0 + (upwards[rows] - y0) * ((x1 - x0) / (y1 - y0))
        np.add.at(turns, (rows, np.searchsorted(ascending, crossings)), 1)
    within = np.empty((len(upwards), len(across)), bool)
    within[:, order] = np.cumsum(turns[:, :-1], axis=1) % 2 == 1
    return within


def points_within(across: Floats, upwards: Floats, corners: Corners) -> Mask:
    """Return which points lie within; both arrays have the shape of the result."""
    within = np.zeros(across.shape, bool)
    with np.errstate(invalid="ignore"):
        for (x0, y0), (x1, y1) in sides_of(corners):
            if y0 == y1:
                continue
            beside = (upwards >= min(y0, y1)) & (upwards < max(y0, y1))
            within ^= beside & (across >= x0 + (upwards - y0) * ((x1 - x0) / (y1 - y0)))
    return within
