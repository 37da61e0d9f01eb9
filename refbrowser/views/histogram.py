"""How often values occur, on the scale of the colour bar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.views.levels import Levels, finite

BINS = 96


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts of a sample of values.

    Attributes
    ----------
    span
        The least and greatest value, on a linear or logarithmic scale.
    counts
        Of values in each of equally wide (on that scale) parts of `span`.
    """

    span: Levels
    counts: npt.NDArray[np.int64]

    @property
    def heights(self) -> npt.NDArray[np.float64]:
        """Heights from 0 to 1: roots of the counts, so that rare values are seen beside frequent ones."""
        most = self.counts.max() if len(self.counts) else 0
        return np.sqrt(self.counts / most) if most else np.zeros(len(self.counts))


def histogram(sample: npt.NDArray[Any], levels: Levels) -> Histogram | None:
    """Return how often values occur, on the scale of `levels`; None where there is none to count.

    The span holds the levels and the values, but at most three times as much as the levels on each side:
    one stray value must not press all others into one bar.
    """
    known = finite(sample)
    if levels.log:
        known = known[known > 0]
    if not len(known):
        return None
    low = min(levels.low, max(levels.value(-3.0), float(known.min())))
    high = max(levels.high, min(levels.value(4.0), float(known.max())))
    span = Levels(low, high, levels.log)
    if levels.log:
        places, ends = np.log(known), (np.log(span.low), np.log(span.high))
    else:
        places, ends = known, (span.low, span.high)
    counts, _edges = np.histogram(places, BINS, ends)
    return Histogram(span, counts)
