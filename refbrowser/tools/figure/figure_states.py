"""What a figure that was asked for shows, as the state of a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.loading import require
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.figures.film_plan import FilmLevels, FilmPlan, indices_of
from refbrowser.views.overlays.contours import Spacing
from refbrowser.views.overlays.marks import Marks
from refbrowser.views.plot.levels import Scale
from refbrowser.views.plot.slicing import dimension_names
from refbrowser.views.plot_states.plot_state import PlotState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from refbrowser.engine.dataset import Array
    from refbrowser.io.cancel import CancelToken
    from refbrowser.tools.figure.request import FigureRequest


def state_of(array: Array, select: str, asked: FigureRequest, token: CancelToken) -> PlotState:
    """Return what a plot is to show.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the selection does not fit the array, or there is no overlay of a name.
    """
    from refbrowser.views.overlays.overlay_table import OVERLAYS

    known = {overlay.name for overlay in OVERLAYS}
    for name in asked.overlays:
        if name not in known:
            message = f"there is no overlay {quoted(name)}"
            raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {', '.join(sorted(known))}")
    axes = _axes(array, asked)
    return PlotState(
        path=array.dataset.path,
        node=array.path,
        selection=_by_position(array, select, axes, token),
        axes=axes,
        decoded=not asked.raw,
        colour_map=asked.colour_map,
        reverse=asked.reverse,
        log=asked.log,
        levels=asked.levels,
        are_levels_set=asked.levels is not None,
        extremes=asked.extremes,
        scale=Scale(centre=asked.centre, steps=asked.steps).said(),
        overlays=_overlays(asked, known),
        marks=_marks(array, asked).said(),
        projection=_projection(asked.projection),
    )


def _overlays(asked: FigureRequest, known: Iterable[str]) -> dict[str, bool]:
    """Return what is drawn over it: what was asked for alone, and what has options of its own."""
    overlays = {name: name in asked.overlays for name in known} if asked.overlays else {}
    if asked.contours:
        overlays["contours"] = True
    if asked.arrows:
        overlays["arrows"] = True
    return overlays


def _marks(array: Array, asked: FigureRequest) -> Marks:
    """Return what lines and arrows are of."""
    for path in asked.arrows or ():
        if not isinstance(array.dataset.hierarchy.find(path), ArrayNode):
            raise RefbrowserError(ErrorKind.USAGE, f"there is no array {quoted(path)}")
    try:
        return Marks(spacing=Spacing.of(asked.contours), arrows=asked.arrows or ("", ""))
    except ValueError as error:
        raise RefbrowserError(ErrorKind.USAGE, f"{quoted(asked.contours)} are no contours: {error}") from None


def _axes(array: Array, asked: FigureRequest) -> tuple[int, ...]:
    """Return the dimensions that were asked for, upwards and across; none where the window chooses them."""
    names = dimension_names(array.node)
    for name in filter(None, (asked.y, asked.x)):
        if name not in names:
            message = f"there is no dimension {quoted(name)}"
            raise RefbrowserError(ErrorKind.USAGE, message, advice=f"there are {', '.join(names)}")
    if asked.y and (not asked.x or asked.x == asked.y):
        message = f"{quoted(asked.y)} is upwards, and nothing else across"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="give another dimension with --x")
    return tuple(names.index(name) for name in (asked.y, asked.x) if name)


def _projection(text: str) -> str:
    """Return the name of the projection that is called so, in the window or among its names."""
    from refbrowser.views.maps.projections import PROJECTIONS

    if not text:
        return ""
    wanted = text.strip().lower()
    found = next((row for row in PROJECTIONS if wanted in (row.name, row.text.lower())), None)
    if found is None:
        names = ", ".join(row.name for row in PROJECTIONS)
        message = f"there is no projection {quoted(text)}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {names}")
    if not found.is_plain:
        require("pyproj")
    return found.name


def plan_of(array: Array, asked: FigureRequest) -> FilmPlan:
    """Return the frames of a film along a dimension.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such dimension, or no such frames.
    """
    names = dimension_names(array.node)
    if asked.along not in names:
        message = f"there is no dimension {quoted(asked.along)}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"there are {', '.join(names)}")
    dimension = names.index(asked.along)
    indices = indices_of(asked.frames, array.shape[dimension])
    return FilmPlan(dimension, indices, asked.rate, FilmLevels(asked.levels_of))


def _by_position(array: Array, select: str, axes: Sequence[int], token: CancelToken) -> str:
    """Return a selection by position, of one by coordinates too.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it does not fit the array, or leaves out elements between others, which no plot does.
    """
    if not select.strip() and not axes:
        return ""
    from refbrowser.views.plot.named_selection import selection_of

    found = selection_of(array, select, token)
    texts = []
    for axis, (taken, size) in enumerate(zip(found.axes, array.shape, strict=True)):
        if len(taken) > 1 and taken.step != 1:
            message = f"{quoted(select)} has a step of {taken.step}: a figure draws all elements"
            raise RefbrowserError(ErrorKind.USAGE, message, advice="give START:STOP alone")
        if axis in found.dropped or (axes and axis not in axes):
            texts.append(str(taken.start))
        else:
            texts.append(":" if taken == range(size) else f"{taken.start}:{taken.stop}")
    return ",".join(texts)
