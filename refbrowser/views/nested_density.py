"""Points so many that they hide each other, as how many are in each cell of a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Density:
    """Points in cells.

    Attributes
    ----------
    counts
        Of the points in each cell, shape (across, upwards).
    """

    counts: npt.NDArray[np.int64]

    @property
    def shades(self) -> npt.NDArray[np.float64]:
        """From 0 (none) to 1 (most), by the logarithm of the counts: a single point is seen, too."""
        most = self.counts.max(initial=0)
        if not most:
            return np.zeros(self.counts.shape)
        least = 0.25 if most > 1 else 1.0
        shades = least + (1 - least) * np.log(np.maximum(self.counts, 1)) / max(np.log(float(most)), 1e-9)
        return np.where(self.counts > 0, shades, 0.0)


def density(
    across: npt.NDArray[Any],
    upwards: npt.NDArray[Any],
    view: tuple[tuple[float, float], tuple[float, float]],
    cells: tuple[int, int],
) -> Density:
    """Return how many points are in each cell of what is visible; NaN is nowhere."""
    (left, right), (low, high) = view
    inside = (across >= left) & (across < right) & (upwards >= low) & (upwards < high)
    x = ((across[inside] - left) * (cells[0] / (right - left))).astype(np.int64)
    y = ((upwards[inside] - low) * (cells[1] / (high - low))).astype(np.int64)
    flat = np.minimum(x, cells[0] - 1) * cells[1] + np.minimum(y, cells[1] - 1)
    counts = np.bincount(flat, minlength=cells[0] * cells[1])
    return Density(counts.reshape(cells))


def nearest(
    across: npt.NDArray[Any],
    upwards: npt.NDArray[Any],
    place: tuple[float, float],
    reach: tuple[float, float],
) -> int | None:
    """Return the point nearest to a place, None where none is within reach."""
    dx, dy = (across - place[0]) / reach[0], (upwards - place[1]) / reach[1]
    distances = dx * dx + dy * dy
    if not np.any(distances <= 1):
        return None
    return int(np.nanargmin(distances))
