"""Which level of a multiscale image a pane shows, and what is seen of coarser ones behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Signal

from refbrowser.app.plot.drawing import Drawing
from refbrowser.app.plot.reader import PictureLoader, PlotSource
from refbrowser.model.multiscales.axis_transform import IndexMap, element_at
from refbrowser.model.multiscales.conventions import multiscale_of
from refbrowser.model.multiscales.multiscale import Direction
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.model.selection import Selection
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import Picture
from refbrowser.views.plot.plan import plan_view, widened
from refbrowser.views.plot.reading import bands_with, roles_of
from refbrowser.views.plot.resolution import (
    Backdrop,
    LevelView,
    TurnedPlace,
    level_node,
    level_roles,
    level_titles,
    may_stay,
    sufficient_level,
    turned_places,
)
from refbrowser.views.plot.slicing import first_slice

if TYPE_CHECKING:
    from refbrowser.app.plot.canvas import View
    from refbrowser.model.multiscales.multiscale import Multiscale
    from refbrowser.views.plot.bands import Bands
    from refbrowser.views.plot.coordinates import AxisRole
    from refbrowser.views.plot.slicing import SliceState


class Resolution:
    """Chooses the level, and keeps the picture of a coarser one while a part of a finer one is shown.

    Parameters
    ----------
    room
        Returns how large a picture can be, in pixels of the screen, before any is shown.

    Attributes
    ----------
    levels, level
        The image that the array of the pane is a level of, and which; None where it is none.
    is_fixed
        The user chose the level; else the one that fills the view is shown.
    """

    def __init__(self, drawing: Drawing, room: Callable[[], QSize]) -> None:
        self._drawing, self._room = drawing, room
        self._backdrop: Picture | None = None
        #: Returns elements (row, column) of what is drawn that are to be read although they are not in sight.
        self.beside: Callable[[], Sequence[tuple[int, int]]] = tuple
        self.levels: Multiscale | None = None
        self.level = 0
        self.is_fixed = False

    def forget(self) -> None:
        """Let go of the image."""
        self.levels = self._backdrop = None
        self.level, self.is_fixed = 0, False

    @property
    def name(self) -> str:
        """What the image is called; empty where there are no levels."""
        return self.levels.name if self.levels is not None and self.has_levels else ""

    @property
    def has_levels(self) -> bool:
        """Whether there is more than one level."""
        return self.levels is not None and len(self.levels.levels) > 1

    @property
    def is_photograph(self) -> bool:
        """Whether it is an image that has proportions of its own, and is no map."""
        return self.levels is not None and any(axis.direction is Direction.DOWN for axis in self.levels.axes)

    @property
    def turned_places(self) -> tuple[TurnedPlace, ...]:
        """Where each element is in space, where axes cannot tell it."""
        return () if self.levels is None else turned_places(self.levels, self.level)

    @property
    def titles(self) -> tuple[str, ...]:
        """What the levels are called; nothing where there is but one."""
        return level_titles(self.levels) if self.levels is not None and self.has_levels else ()

    def begin(self, hierarchy: Hierarchy, node: ArrayNode, *, is_part: bool = False) -> ArrayNode:
        """Return the array to show where one is selected.

        Of the finest level of an image that is the level that fills the room; another one stays, and so does
        that of which a part is to be seen.
        """
        found = multiscale_of(hierarchy, node)
        self.forget()
        if found is None:
            return node
        self.levels = found
        self.level = found.number(node.path) or 0
        self.is_fixed = self.level > 0 or (is_part and self.has_levels)
        if self.has_levels and not self.is_fixed and 0 not in node.shape:
            state = first_slice(level_node(found, 0), level_roles(found))
            room = self._room()
            sides = (room.height(), room.width())[-len(state.axes) :]
            # In its own proportions, which most images have; whether that was right is seen afterwards.
            needed = max(
                state.shape[axis] / max(1, side) for axis, side in zip(state.axes, sides, strict=True)
            )
            view = LevelView(found, 0, state)
            self.level = sufficient_level(view, [needed] * len(state.axes), self._fits)
        return level_node(found, self.level)

    def moved(self, selection: Selection) -> Selection:
        """Return a selection of the finest level as one of the level that is shown, where that is another."""
        if self.levels is None or not self.level or self.is_fixed:
            return selection
        finest = self.levels.levels[0].node
        state = first_slice(finest, level_roles(self.levels))
        return LevelView(self.levels, 0, state).selection(selection, self.level)

    def follow(self, hierarchy: Hierarchy, node: ArrayNode) -> ArrayNode | None:
        """Return the array to show in the place of one after an edit; None where it is to be chosen again."""
        found, before = multiscale_of(hierarchy, node), self.levels
        if found is None and before is None:
            return node
        number = None if found is None else found.number(node.path)
        if found is None or before is None or number is None or len(found.levels) != len(before.levels):
            return None
        self.levels, self.level = found, number
        return level_node(found, number)

    def roles(self, beside: tuple[ArrayNode | None, ...]) -> tuple[AxisRole, ...]:
        """Return what the coordinates of an array are: arrays beside it, or what its image tells."""
        roles = roles_of(beside)
        if self.levels is None:
            return roles
        return tuple(
            role if array is not None else other
            for role, array, other in zip(roles, beside, level_roles(self.levels), strict=True)
        )

    def bands(self, node: ArrayNode, beside: tuple[ArrayNode | None, ...]) -> Bands | None:
        """Return the bands of an array; channels with other names than those of colours are no sure ones."""
        bands = bands_with(node, beside)
        labels = () if bands is None or self.levels is None else self.levels.axes[bands.dimension].labels
        if bands is None or not any(labels):
            return bands
        return replace(bands.called(labels), is_sure=bands.names_colours(labels))

    def view_of(self, state: SliceState | None) -> LevelView | None:
        """Return a slice as one of the level that is shown; None where there is none."""
        return None if self.levels is None or state is None else LevelView(self.levels, self.level, state)

    def turn_to(self, number: int, state: SliceState) -> tuple[ArrayNode, SliceState]:
        """Show another level: returns its array, and the same slice of it."""
        assert self.levels is not None
        moved = LevelView(self.levels, self.level, state).on(number).state
        self.level = number
        return level_node(self.levels, number), moved

    def wanted(self) -> int | None:
        """Return the level that fills the view as it is; None where it is shown, or the user chose one."""
        drawing, seen = self._drawing, self._seen()
        if self.is_fixed or seen is None or seen.number != self.level or seen.state.y is None:
            return None
        view = drawing.canvas.view()
        # The rows are upwards, the columns across.
        ends = [span for _scale, span in drawing.kind.spans(view)]
        pixels = view[2][::-1]
        if len(ends) != len(pixels):
            return None
        density = [abs(high - low) / max(1, size) for (low, high), size in zip(ends, pixels, strict=True)]
        if may_stay(seen, density) and self._fits(seen):
            return None
        number = sufficient_level(seen, density, self._fits)
        return None if number == self.level else number

    def window(self, state: SliceState) -> list[range] | None:
        """Return the part of a slice that is to be read: what is visible, with a margin; None for all."""
        seen = self._seen()
        if seen is None or seen.window is None or seen.state.axes != state.axes:
            return None
        window = seen.on(self.level).window
        return widened(window, state) if window is not None and all(map(len, window)) else None

    def take(self, picture: Picture, *, decoded: bool) -> Turn | None:
        """Prepare for a picture that is shown next, behind which a coarser one may be seen.

        Returns where elements of the level that is on the screen are in it; None where it is of the same.
        """
        seen, base = self._seen(), self._drawing.base
        self._drawing.backdrop = None
        number = None if self.levels is None else self.levels.number(picture.node.path)
        if self.levels is None or number is None or seen is None or base is None:
            self._backdrop = None
            return None
        if seen.number > number and _is_whole(base) and base.has_data:
            self._backdrop = base
        shown = LevelView(self.levels, number, picture.plan.slice)
        self._drawing.backdrop = self._behind(shown, picture, decoded)
        is_same = seen.number == number or seen.state.axes != shown.state.axes
        return None if is_same or shown.state.y is None else Turn(*shown.maps(seen.number))

    def _behind(self, shown: LevelView, picture: Picture, decoded: bool) -> Backdrop | None:
        """Return what is seen where a part of a finer level leaves room; None for nothing."""
        behind = self._backdrop
        if behind is None or _is_whole(picture):
            return None
        number = shown.multiscale.number(behind.node.path)
        is_coarser = number is not None and number > shown.number
        if number is None or not is_coarser or shown.on(number).state != behind.plan.slice:
            self._backdrop = None
            return None
        return Backdrop(behind, Interpretation(behind.node, decoded), *shown.maps(number))

    def _seen(self) -> LevelView | None:
        """Return what is on the screen; None where that is no level."""
        levels, base, drawing = self.levels, self._drawing.base, self._drawing
        number = None if levels is None or base is None else levels.number(base.node.path)
        if levels is None or base is None or number is None or not self.has_levels:
            return None
        window = None if drawing.sees_whole() else self._needed(drawing.visible_window())
        return LevelView(levels, number, base.plan.slice, window)

    def _needed(self, window: Sequence[range]) -> tuple[range, ...]:
        """Return what is visible, and the elements that are needed beside it."""
        for element in self.beside():
            window = [
                range(min(part.start, at), max(part.stop, at + 1))
                for part, at in zip(window, element, strict=True)
            ]
        return tuple(window)

    def _fits(self, view: LevelView) -> bool:
        """Whether what is seen of a level may be read, all of it, without a question."""
        window = None if view.window is None else widened(view.window, view.state)
        node = level_node(view.multiscale, view.number)
        if node.error is not None or node.unreadable is not None or not node.has_grid:
            return False
        if 0 in node.shape or (window is not None and not all(map(len, window))):
            return False
        plan = plan_view(node, view.state, window)
        return not plan.too_large and not plan.is_sampled


@dataclass(frozen=True, slots=True)
class Turn:
    """Where the elements of the level before are along the axes of another one.

    Attributes
    ----------
    rows, columns
        Along the axes of the slice, as positions in the plot.
    """

    rows: IndexMap
    columns: IndexMap

    def view(self, view: View) -> View:
        """Return a view of the one as that of the other."""
        (left, right), (low, high), size = view
        across = self.columns.position(left), self.columns.position(right)
        return across, (self.rows.position(low), self.rows.position(high)), size

    def place(self, place: Sequence[float]) -> tuple[float, float]:
        """Return where a place (row, column) of the former is in the other."""
        return self.rows.position(place[0]), self.columns.position(place[1])


def element_of(place: Sequence[float], state: SliceState) -> tuple[int, ...]:
    """Return the element of a slice that holds a place, which is one position per axis."""
    return tuple(element_at(at, state.shape[axis]) for at, axis in zip(place, state.axes, strict=True))


def _is_whole(picture: Picture) -> bool:
    state = picture.plan.slice
    return all(
        len(taken) * taken.step >= state.shape[axis]
        for taken, axis in zip(picture.plan.ranges, state.axes, strict=True)
    )


class Refiner(QObject):
    """Keeps a second picture, of the visible part, over the first one.

    Signals
    -------
    changed()
        Another picture of a part is shown, or none.
    ended()
        It is read.
    """

    changed = Signal()
    ended = Signal()

    def __init__(self, drawing: Drawing, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._drawing = drawing
        self._loader = PictureLoader("plot-detail", self)
        self._loader.shown.connect(self._shown)
        self._loader.filled.connect(drawing.draw)
        self._loader.ended.connect(self._ended)

    @property
    def is_reading(self) -> bool:
        """Whether anything is still to come."""
        return self._loader.is_reading

    def picture_for(self, base: Picture) -> Picture | None:
        """Return the picture of a part of what `base` shows, or None."""
        found = self._loader.current
        return found if found is not None and _same_slice(found, base) else None

    def refine(self, document: PlotSource, base: Picture) -> None:
        """Read the visible part where that shows more than `base` does and needs no question."""
        window = self._drawing.visible_window()
        if not all(len(part) for part in window):
            return
        plan = plan_view(base.node, base.plan.slice, window)
        enough = base.plan.covers(window) and not plan.finer_than(base.plan)
        if enough or plan.too_large:
            self.drop()
            return
        now = self.picture_for(base)
        if now is None or not now.plan.covers(window) or plan.finer_than(now.plan):
            wide = plan_view(base.node, base.plan.slice, widened(window, base.plan.slice))
            self._loader.request(document, base.node, plan if wide.too_large else wide)

    def drop(self) -> None:
        """Show no detail."""
        had = self._loader.current is not None
        self._loader.clear()
        if had:
            self.changed.emit()

    def _shown(self, picture: Picture) -> None:
        base = self._drawing.base
        if base is not None and _same_slice(picture, base):
            self.changed.emit()

    def _ended(self, _picture: Picture) -> None:
        self.ended.emit()


def _same_slice(detail: Picture, base: Picture) -> bool:
    return detail.node is base.node and detail.plan.slice == base.plan.slice
