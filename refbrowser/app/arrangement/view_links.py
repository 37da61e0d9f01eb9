"""Keeps linked views in step: slice, levels, zoom, cursor and colour map, where they have them in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from PySide6.QtCore import QObject, Signal

from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.views.arrangement.linking import (
    ALL_LINKS,
    NOUNS,
    Link,
    matched_element,
    matched_extent,
    matched_slice,
)
from refbrowser.views.plot.colouring import quantity_of

if TYPE_CHECKING:
    from refbrowser.app.plot.drawing import Drawing
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.views.plot.slicing import SliceState

#: What the ends of levels are that another view has.
AS_LINKED = ("linked", "linked")


class Views(Protocol):
    """The views of one window.

    Attributes
    ----------
    active
        The one that commands act on.
    activeChanged, rearranged, closing
        Signals: another one is active; there are more or fewer, or they are elsewhere; one goes.
    """

    active: PlotPane
    activeChanged: Any
    rearranged: Any
    closing: Any

    def views(self) -> list[PlotPane]:
        """Return all of them."""
        ...

    def seen(self) -> list[PlotPane]:
        """Return those that are not behind others."""
        ...


class ViewLinks(QObject):
    """The links of the views of one window.

    What the user does in one view is carried to the others that are seen; those in tabs behind follow when
    they come to the front. Nothing is carried on from there: what a view took over is no news. Levels and
    colour map are those of the active view.

    Signals
    -------
    changed()
        Something else is linked.
    """

    changed = Signal()

    def __init__(self, area: Views, parent: QObject) -> None:
        super().__init__(parent)
        self._area = area
        self.is_on = False
        #: What is linked while links are on.
        self.chosen: frozenset[Link] = ALL_LINKS
        #: Whether what happens now was carried from another view.
        self._is_carrying = False
        #: The views that are in step: others follow one of these once they have something to show.
        self._in_step: set[PlotPane] = set()
        #: Those of them whose picture is still to come, which then takes zoom and colours.
        self._unfinished: set[PlotPane] = set()
        #: The slice of each view as it is known, and the array that it is of.
        self._known: dict[PlotPane, tuple[object, SliceState | None]] = {}
        #: What does not follow, by view, in words.
        self._apart: dict[PlotPane, dict[Link, str]] = {}
        self._join_soon = one_shot(self, 0, self._join)
        self._tell_soon = one_shot(self, 0, self._tell)
        area.closing.connect(self._forget)
        area.rearranged.connect(self._join_soon.start)
        area.activeChanged.connect(self._led_by)

    def watch(self, view: PlotPane) -> None:
        """Follow a view that was made."""
        view.viewChanged.connect(partial(self._slice_changed, view))
        view.canvas.viewMoved.connect(partial(self._view_moved, view))
        view.elementPointed.connect(partial(self._pointed, view))
        view.drawing().levelsChanged.connect(partial(self._levels_changed, view))
        view.optionsChanged.connect(partial(self._look_changed, view))
        view.settled.connect(partial(self._settled, view))

    # What is linked

    @property
    def linked(self) -> frozenset[Link]:
        """What is linked now."""
        return self.chosen if self.is_on else frozenset()

    def set_on(self, is_on: bool) -> None:
        """Link the views, or no longer."""
        self.is_on = is_on
        self._begin()

    def choose(self, link: Link, is_chosen: bool) -> None:
        """Link something more, or something less."""
        self.chosen = self.chosen | {link} if is_chosen else self.chosen - {link}
        self._begin()

    def set_linked(self, linked: frozenset[Link]) -> None:
        """Link just this; nothing leaves what is chosen for another time."""
        self.is_on = bool(linked)
        self.chosen = linked or self.chosen
        self._begin()

    def _begin(self) -> None:
        for view in self._area.views():
            if Link.LEVELS not in self.linked and view.drawing().keeper.ends == AS_LINKED:
                view.look().auto_levels()
            if Link.CURSOR not in self.linked:
                view.lead_cursor(None)
        self._known.clear()
        self._apart.clear()
        self._in_step.clear()
        self._unfinished.clear()
        self._join()
        self.changed.emit()

    def _seen(self) -> list[PlotPane]:
        return [view for view in self._area.seen() if view.array() is not None]

    def _join(self) -> None:
        """Let the views that are not in step follow one that is: the active one, where it is so."""
        self._join_soon.stop()
        seen, active = self._seen(), self._area.active
        if self.linked and seen:
            in_step = [view for view in seen if view in self._in_step]
            leader = active if active in (in_step or seen) else (in_step or seen)[0]
            self._known[leader] = _slice_of(leader)
            for view in seen:
                if view is not leader and (view not in in_step or view in self._unfinished):
                    self._carry_all(leader, view)
            self._in_step = {view for view in seen if not view.waits_for_coordinates()} | {leader}
            self._unfinished = {view for view in seen if view is not leader and not view.is_settled()}
        self._tell()

    def _carry_all(self, view: PlotPane, other: PlotPane) -> None:
        """Carry all that is linked; the slice of one in step may have moved since, by the user."""
        ways = {Link.ZOOM: self._carry_zoom, Link.LEVELS: self._carry_levels, Link.MAP: self._carry_map}
        if other not in self._in_step and not self._waits(view, other):
            ways = {Link.SELECTION: self._carry_slice, **ways}
        with self._carrying():
            for link, carry in ways.items():
                if link in self.linked:
                    carry(view, other)

    def _carry(self, view: PlotPane, carry: Callable[[PlotPane, PlotPane], object]) -> None:
        """Carry something from a view to all others that are seen."""
        with self._carrying():
            for other in self._seen():
                if other is not view:
                    carry(view, other)

    @contextmanager
    def _carrying(self) -> Iterator[None]:
        """Note that what happens meanwhile was carried from another view: it is no news."""
        self._is_carrying = True
        try:
            yield
        finally:
            self._is_carrying = False

    def _settled(self, view: PlotPane) -> None:
        if self.linked and not self._is_finished(view) and view in self._seen():
            self._join_soon.start()

    def _is_finished(self, view: PlotPane) -> bool:
        return view in self._in_step and view not in self._unfinished

    def _forget(self, view: PlotPane) -> None:
        self._known.pop(view, None)
        self._apart.pop(view, None)
        self._in_step.discard(view)
        self._unfinished.discard(view)

    # Slices

    def _slice_changed(self, view: PlotPane) -> None:
        if self._is_carrying or not self.linked or view.array() is None:
            return
        before, now = self._known.get(view), _slice_of(view)
        if before == now:
            # Coordinates came, or something else that is no move.
            return
        self._known[view] = now
        if before is None or before[0] != now[0]:
            # Another array, or other axes of it.
            self._in_step.discard(view)
        elif view in self._in_step and Link.SELECTION in self.linked:
            self._carry(view, self._carry_slice)

    def _carry_slice(self, view: PlotPane, other: PlotPane) -> None:
        shown, follows = view.slice_state(), other.slice_state()
        if shown is None or follows is None or other.waits_for_coordinates():
            return
        matched = matched_slice(shown, view.coordinates(), follows, other.coordinates())
        for dimension in follows.sliders:
            if matched.state.indices[dimension] != follows.indices[dimension]:
                other.set_index(dimension, matched.state.indices[dimension])
        self._known[other] = _slice_of(other)
        self._say_apart(other, Link.SELECTION, "; ".join(matched.unmatched))

    # The part that is seen

    def _view_moved(self, view: PlotPane) -> None:
        # Views are laid out anew, too, where nobody looks at another part of them.
        is_moved = view is self._area.active or view.canvas.underMouse()
        if self._is_carrying or Link.ZOOM not in self.linked or not is_moved or not self._is_finished(view):
            return
        self._carry(view, self._carry_zoom)

    def _carry_zoom(self, view: PlotPane, other: PlotPane) -> None:
        mine, theirs = view.drawing(), other.drawing()
        _draw_alike(view, other)
        found = _matched_view(mine, theirs)
        if found is not None:
            other.show_range(*found)
        is_known = found is not None or mine.base is None or theirs.base is None
        self._say_apart(other, Link.ZOOM, "" if is_known else "other axes")

    # The cursor

    def _pointed(self, view: PlotPane, index: tuple[int, ...] | None) -> None:
        if Link.CURSOR in self.linked:
            self._carry(view, lambda mine, other: self._carry_cursor(mine, other, index))

    def _carry_cursor(self, view: PlotPane, other: PlotPane, index: tuple[int, ...] | None = None) -> None:
        state, theirs = view.slice_state(), other.slice_state()
        if index is None or state is None or theirs is None:
            other.lead_cursor(None)
            return
        places = view.coordinates(), other.coordinates()
        other.lead_cursor(matched_element(index, state.names, places[0], theirs, places[1]))

    # Colours

    def _led_by(self, active: PlotPane) -> None:
        """Follow another view, and tell what does not fit this one."""
        if self._is_finished(active):
            self._look_changed(active)
        self._join_soon.start()

    def _levels_changed(self, view: PlotPane) -> None:
        if self._is_carrying or Link.LEVELS not in self.linked or not self._is_finished(view):
            return
        active = self._area.active
        if view is active:
            self._carry(active, self._carry_levels)
        elif self._is_finished(active):
            with self._carrying():
                self._carry_levels(active, view)

    def _carry_levels(self, view: PlotPane, other: PlotPane) -> None:
        mine, theirs = view.drawing(), other.drawing()
        levels = mine.keeper.levels
        if levels is None or mine.shown is None or theirs.shown is None:
            return
        if not (view.look().options.has_levels and other.look().options.has_levels):
            return
        if mine.shown.units != theirs.shown.units:
            self._say_apart(other, Link.LEVELS, "other units")
            return
        node, follows = view.array(), other.array()
        if node is not None and follows is not None and quantity_of(node) is not quantity_of(follows):
            # The levels of a temperature suit no difference of two.
            self._say_apart(other, Link.LEVELS, "another kind of quantity")
            return
        self._say_apart(other, Link.LEVELS, "")
        if other.look().options.can_log and other.look().options.log != view.look().options.log:
            other.look().set_log(view.look().options.log)
        if theirs.keeper.levels != levels:
            theirs.hold_levels(levels, AS_LINKED)

    def _look_changed(self, view: PlotPane) -> None:
        if not self._is_carrying and view is self._area.active and self._is_finished(view):
            for link, carry in (
                (Link.MAP, self._carry_map),
                (Link.LEVELS, self._carry_levels),
                (Link.ZOOM, self._carry_zoom),
            ):
                if link in self.linked:
                    self._carry(view, carry)

    def _carry_map(self, view: PlotPane, other: PlotPane) -> None:
        node, theirs = view.array(), other.array()
        if node is None or theirs is None:
            return
        if quantity_of(node) is not quantity_of(theirs):
            # A diverging map suits no depths.
            self._say_apart(other, Link.MAP, "another kind of quantity")
            return
        self._say_apart(other, Link.MAP, "")
        palette, own = view.drawing().palette, other.drawing().palette
        if palette.map_title != own.map_title:
            other.look().set_map(palette.map_title)
        if palette.reverse != own.reverse:
            other.look().set_reverse(palette.reverse)

    # What does not follow

    def _say_apart(self, view: PlotPane, link: Link, why: str) -> None:
        told = self._apart.setdefault(view, {})
        if told.get(link, "") != why:
            told[link] = why
            self._tell_soon.start()

    def _tell(self) -> None:
        """Say in each view what does not follow, and why, and what follows by position."""
        for view in self._area.views():
            view.set_link_note("" if view is self._area.active else self._note(view))

    def _note(self, view: PlotPane) -> str:
        why = self._apart.get(view, {})
        words = [f"{NOUNS[link]} ({why[link]})" for link in Link if link in self.linked and why.get(link)]
        notes = [f"Not linked: {', '.join(words)}"] if words else []
        by_position = self._by_position(view) if Link.SELECTION in self.linked else ()
        return "; ".join([*notes, *(f"{name} linked by position" for name in by_position)])

    def _by_position(self, view: PlotPane) -> tuple[str, ...]:
        """Return the dimensions of a view that follow those of the active one by position."""
        active = self._area.active
        shown, follows = active.slice_state(), view.slice_state()
        if shown is None or follows is None or self._waits(active, view):
            return ()
        return matched_slice(shown, active.coordinates(), follows, view.coordinates()).by_position

    @staticmethod
    def _waits(*views: PlotPane) -> bool:
        return any(view.waits_for_coordinates() for view in views)


def _slice_of(view: PlotPane) -> tuple[object, SliceState | None]:
    node, state = view.array(), view.slice_state()
    axes = None if state is None else (state.axes, state.shape, state.names)
    return (view.source(), None if node is None else node.path, axes), state


def _draw_alike(view: PlotPane, other: PlotPane) -> None:
    """Draw a map by the projection of another one, with the same in its middle; whatever is none stays."""
    wanted, has = view.look().options, other.look().options
    suited = {projection.name for projection in has.projections}
    if not wanted.projections or wanted.projection.name not in suited:
        return
    if wanted.projection != has.projection:
        other.look().set_projection(wanted.projection)
    middle = view.drawing().kind.middle
    if middle is not None and middle != other.drawing().kind.middle:
        other.look().set_projection(replace(wanted.projection, centre=middle))


def _matched_view(mine: Drawing, theirs: Drawing) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return what of one canvas corresponds to what is seen of another: across and upwards; None for none."""
    if mine.slice is None or theirs.slice is None or mine.base is None or theirs.base is None:
        return None
    seen, own = mine.canvas.view(), theirs.canvas.view()
    if not (_is_by_axes(mine) and _is_by_axes(theirs)):
        return (seen[0], seen[1]) if _is_same_earth(mine, theirs) else None
    spans = {
        mine.slice.names[axis]: span
        for axis, span in zip(mine.slice.axes, mine.kind.spans(seen), strict=False)
    }
    found, is_any = [], False
    for axis, (scale, extent) in zip(theirs.slice.axes, theirs.kind.spans(own), strict=False):
        span = spans.get(theirs.slice.names[axis])
        matched = None if span is None else matched_extent(*span, scale)
        is_any |= matched is not None
        found.append(matched or extent)
    if not is_any:
        return None
    if len(found) == 2:
        return found[1], found[0]
    return theirs.kind.turned(found[0], theirs.kind.turned(own[0], own[1])[1])


def _is_by_axes(drawing: Drawing) -> bool:
    """Whether positions on the canvas are those on the axes of the slice."""
    assert drawing.slice is not None
    if len(drawing.slice.axes) != 2:
        return True
    rows, columns = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    across, upwards = drawing.kind.where(rows, columns)
    return bool(np.array_equal(across, columns) and np.array_equal(upwards, rows))


def _is_same_earth(mine: Drawing, theirs: Drawing) -> bool:
    """Whether both draw the Earth alike: under the same projection."""
    longitudes, latitudes = np.array([0.0, 60.0, 120.0, -90.0]), np.array([0.0, 45.0, -30.0, 80.0])
    places = [drawing.kind.on_earth(longitudes, latitudes) for drawing in (mine, theirs)]
    if places[0] is None or places[1] is None:
        return False
    return all(np.allclose(one, other, equal_nan=True) for one, other in zip(*places, strict=True))
