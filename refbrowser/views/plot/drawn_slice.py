"""What is known of a slice that is drawn: what maps and overlays go by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.coordinates import Coordinate
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.reading import ElementCoordinate
from refbrowser.views.plot.slicing import SliceState


@dataclass(frozen=True, slots=True)
class DrawnSlice:
    """A slice as it is drawn.

    Attributes
    ----------
    shown
        What its elements mean.
    state
        The slice, with two axes.
    coordinates
        One for each dimension of the array, as far as they have come.
    auxiliary
        Coordinates of single elements, once they are read.
    others
        Other arrays that lie on its grid.
    mapping
        Attributes of the array's grid mapping; empty where it has none.
    """

    shown: Interpretation
    state: SliceState
    coordinates: Sequence[Coordinate]
    auxiliary: Sequence[ElementCoordinate] = ()
    others: Sequence[ArrayNode] = ()
    mapping: Mapping[str, Any] = field(default_factory=dict)
