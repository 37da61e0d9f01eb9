"""What an overlay is: what it suits, and what draws it over a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from refbrowser.views.plot.drawn_slice import DrawnSlice


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
    is_of_array
        What the user chose is for one array, not for those that are shown later.
    """

    name: str
    text: str
    tip: str
    suits: Callable[[DrawnSlice], bool]
    drawn_by: str
    begins_on: bool = False
    is_of_array: bool = False
