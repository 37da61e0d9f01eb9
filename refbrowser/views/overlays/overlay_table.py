"""The overlays: one table."""

from __future__ import annotations

from collections.abc import Iterable

from refbrowser.views.maps.earth_grids import may_lie_on_earth
from refbrowser.views.overlays.arrows import components_among
from refbrowser.views.overlays.composite import Composite, proposed
from refbrowser.views.overlays.overlay import Overlay
from refbrowser.views.plot.drawn_slice import DrawnSlice

_LINES = "refbrowser.app.plot.maps.drawn_lines"
_MARKS = "refbrowser.app.plot.overlays"


def _has_lines(drawn: DrawnSlice) -> bool:
    """Whether there are values between which lines run: no flags, no colours of bands."""
    return drawn.shown.flags is None and drawn.state.bands is None


def _has_bands(drawn: DrawnSlice) -> bool:
    return drawn.state.bands is None and proposed(drawn, Composite()) is not None


def _has_components(drawn: DrawnSlice) -> bool:
    return bool(components_among([drawn.shown.node, *drawn.others]))


#: In the order of the menu.
OVERLAYS: tuple[Overlay, ...] = (
    Overlay(
        name="coastlines",
        text="Coastlines",
        tip="The coasts of land and islands",
        suits=may_lie_on_earth,
        drawn_by=f"{_LINES}:Coastlines",
        begins_on=True,
    ),
    Overlay(
        name="borders",
        text="Borders",
        tip="The borders of countries",
        suits=may_lie_on_earth,
        drawn_by=f"{_LINES}:Borders",
    ),
    Overlay(
        name="graticule",
        text="Meridians and parallels",
        tip="Lines of round longitudes and latitudes",
        suits=may_lie_on_earth,
        drawn_by=f"{_LINES}:Graticule",
    ),
    Overlay(
        name="composite",
        text="Three bands as colours",
        tip="Red, green and blue of three indices of a dimension, or of three arrays on this grid",
        suits=_has_bands,
        drawn_by=f"{_MARKS}.composite_overlay:DrawnComposite",
        is_of_array=True,
    ),
    Overlay(
        name="contours",
        text="Contours",
        tip="Lines of equal values, of this array or of others on its grid",
        suits=_has_lines,
        drawn_by=f"{_MARKS}.contour_overlay:DrawnContours",
    ),
    Overlay(
        name="arrows",
        text="Arrows",
        tip="Arrows of two components, such as those of wind",
        suits=_has_components,
        drawn_by=f"{_MARKS}.arrow_overlay:DrawnArrows",
    ),
)


def of_array(names: Iterable[str]) -> frozenset[str]:
    """Return which of these overlays are chosen for one array alone."""
    return frozenset(overlay.name for overlay in OVERLAYS if overlay.is_of_array).intersection(names)


def suited(drawn: DrawnSlice) -> tuple[Overlay, ...]:
    """Return the overlays that can be drawn over a slice; none over a line."""
    if len(drawn.state.axes) != 2:
        return ()
    return tuple(overlay for overlay in OVERLAYS if overlay.suits(drawn))
