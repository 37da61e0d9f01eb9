"""What an overlay is: what it suits, and what draws it over a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from refbrowser.views.plot.coordinates import Coordinate
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.reading import ElementCoordinate
from refbrowser.views.plot.slicing import SliceState


@dataclass(frozen=True, slots=True)
class DrawnSlice:
    """A slice as it is drawn: what overlays go by.

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
    """

    shown: Interpretation
    state: SliceState
    coordinates: Sequence[Coordinate]
    auxiliary: Sequence[ElementCoordinate] = ()


@dataclass(frozen=True, slots=True)
class Overlay:
    """Something that can be drawn over pictures, and be switched.

    Attributes
    ----------
    name
        No two share one.
    text
        Its entry in the menu.
    tip
        What it shows.
    suits
        Returns whether it can be drawn over a slice.
    drawn_by
        What draws it: ``module:class``, a `refbrowser.app.plot.drawing.DrawnOverlay`.
    begins_on
        Whether it is drawn before the user has chosen.
    """

    name: str
    text: str
    tip: str
    suits: Callable[[DrawnSlice], bool]
    drawn_by: str
    begins_on: bool = False
