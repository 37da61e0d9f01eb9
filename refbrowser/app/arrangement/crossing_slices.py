"""Three orthogonal slices of one array: crossing lines in each move the slices of the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pyqtgraph import InfiniteLine, mkPen
from PySide6.QtCore import QObject, Qt, Signal

from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.views.arrangement.orthogonal import is_orthogonal, orthogonal_slices
from refbrowser.views.maps.projections import INDEX

if TYPE_CHECKING:
    from refbrowser.app.plot.plot_pane import PlotPane

#: Above the picture and what is drawn over it.
_DEPTH = 18


class CrossLines(QObject):
    """Two lines in one view that cross in an element, and are dragged.

    Signals
    -------
    moved(int, int)
        They are dragged to an element: its row and column.
    """

    moved = Signal(int, int)

    def __init__(self, view: PlotPane) -> None:
        super().__init__(view)
        self._view = view
        self.element: tuple[int, int] | None = None
        #: Dark lines under the light ones, so that they are seen on every colour.
        self._under = tuple(InfiniteLine(angle=angle, pen=mkPen("#0008", width=3)) for angle in (90, 0))
        pen = mkPen("w", width=1.5, style=Qt.PenStyle.DashLine)
        self.lines = tuple(InfiniteLine(angle=angle, movable=True, pen=pen) for angle in (90, 0))
        for line, shape in zip(
            self.lines, (Qt.CursorShape.SplitHCursor, Qt.CursorShape.SplitVCursor), strict=True
        ):
            line.setHoverPen(mkPen("w", width=3))
            line.setCursor(shape)
            line.sigDragged.connect(self._dragged)
        for depth, line in enumerate((*self._under, *self.lines)):
            line.setZValue(_DEPTH + depth / 10)
            view.canvas.box.addItem(line, ignoreBounds=True)

    def show_at(self, element: tuple[int, int]) -> None:
        """Let them cross in an element: its row and column."""
        self.element = element
        place = self._view.drawing().kind.place(element, None)
        for lines in (self._under, self.lines):
            for line, position in zip(lines, place or (0.0, 0.0), strict=True):
                # On a globe it may be at the other side.
                line.setVisible(place is not None)
                line.setPos(position)

    def take_away(self) -> None:
        """Remove them from the view."""
        for line in (*self._under, *self.lines):
            self._view.canvas.box.removeItem(line)
        self.deleteLater()

    def _dragged(self, _line: object) -> None:
        across, upwards = self.lines[0].value(), self.lines[1].value()
        element = self._view.drawing().kind.element_at(across, upwards)
        if element is not None and len(element) == 2:
            self.moved.emit(*element)


class CrossingSlices(QObject):
    """Keeps three views at slices through one element.

    Signals
    -------
    changed()
        There are such views from now on, or no longer.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.views: tuple[PlotPane, ...] = ()
        self._lines: dict[PlotPane, CrossLines] = {}
        self._index: list[int] = []
        self._is_carrying = False
        #: Once the coordinates of all are there: axes may turn round.
        self._place_soon = one_shot(self, 0, self._place)

    def watch(self, view: PlotPane) -> None:
        """Follow a view that was made, where it is one of the three."""
        view.viewChanged.connect(partial(self._view_changed, view))
        view.settled.connect(self._place_soon.start)
        view.elementChosen.connect(partial(self._chosen, view))
        view.canvas.cursorMoved.connect(partial(self._cursor_moved, view))

    @property
    def is_on(self) -> bool:
        """Whether there are such views."""
        return bool(self.views)

    def begin(self, first: PlotPane, others: tuple[PlotPane, PlotPane]) -> None:
        """Show the slices across that of a view in two others, through its cursor or its middle."""
        state, plot, source = first.slice_state(), first.state(), first.source()
        assert state is not None
        assert plot is not None
        assert source is not None
        kept = first.kept_element()
        slices = orthogonal_slices(
            state, first.stepped(), kept if kept is not None and len(kept) == 2 else None
        )
        grid = replace(plot, view=None, projection=INDEX, in_colour=None, profile=False, series=False)
        for view, each in zip(others, slices[1:], strict=True):
            view.restore(source, replace(grid, selection=each.text(), axes=each.axes))
        self.take((first, *others), list(slices[0].indices))

    def take(self, views: tuple[PlotPane, ...], index: list[int] | None = None) -> None:
        """Let three views that show such slices cross; those that do not yet cross as soon as they do."""
        self.end()
        self.views, self._index = views, index or []
        self._place()
        self.changed.emit()

    def end(self) -> None:
        """Let the views go their own ways."""
        if not self.views:
            return
        for lines in self._lines.values():
            lines.take_away()
        for view in self.views:
            view.begin_cursor_at(None)
        self.views, self._lines, self._index = (), {}, []
        self.changed.emit()

    def forget(self, view: PlotPane) -> None:
        """End where one of the views is closed."""
        if view in self.views:
            self.end()

    # What moves them

    def _view_changed(self, view: PlotPane) -> None:
        if self._is_carrying or view not in self.views:
            return
        if not self._are_crossing():
            if self._lines:
                self._follow_array(view)
            return
        state = view.slice_state()
        assert state is not None
        if not self._index:
            self._place()
            return
        moved = {axis: state.indices[axis] for axis in state.sliders}
        self._move(view, moved)

    def _chosen(self, view: PlotPane, index: tuple[int, ...] | None) -> None:
        if view in self.views and index is not None and len(index) == len(self._index):
            self._move(None, dict(enumerate(index)))

    def _cursor_moved(self, view: PlotPane, _across: int, _upwards: int) -> None:
        self._chosen(view, view.element())

    def _dragged(self, view: PlotPane, row: int, column: int) -> None:
        state = view.slice_state()
        if state is not None and len(state.axes) == 2:
            self._move(None, dict(zip(state.axes, (row, column), strict=True)))

    def _move(self, by: PlotPane | None, moved: dict[int, int]) -> None:
        """Take indices along some dimensions; `by` has them already."""
        for axis, index in moved.items():
            self._index[axis] = index
        self._carry(lambda view: self._set(view) if view is not by else None)
        self._place()

    def _set(self, view: PlotPane) -> None:
        state = view.slice_state()
        for axis in () if state is None else state.sliders:
            if state is not None and state.indices[axis] != self._index[axis]:
                view.set_index(axis, self._index[axis])

    def _follow_array(self, view: PlotPane) -> None:
        """Show another array of the same dimensions in all of them, or end where it has others."""
        source, plot, state = view.source(), view.state(), view.slice_state()
        others = [other for other in self.views if other is not view]
        before = others[0].slice_state()
        if source is None or plot is None or state is None or before is None:
            # It may be another one in a moment: a plot is cleared first.
            return
        if (state.shape, state.names) != (before.shape, before.names):
            self.end()
            return

        def follow(other: PlotPane) -> None:
            shown = other.state()
            if (
                other is not view
                and shown is not None
                and (other.source(), shown.node) != (source, plot.node)
            ):
                other.restore(source, replace(shown, path=plot.path, node=plot.node, levels=None, view=None))

        self._carry(follow)

    def _carry(self, work: Callable[[PlotPane], object]) -> None:
        self._is_carrying = True
        try:
            for view in self.views:
                work(view)
        finally:
            self._is_carrying = False

    # The lines

    def _are_crossing(self) -> bool:
        states = tuple(view.slice_state() for view in self.views)
        known = tuple(state for state in states if state is not None)
        nodes = {(view.source(), getattr(view.array(), "path", None)) for view in self.views}
        return len(known) == 3 and len(nodes) == 1 and is_orthogonal(known)

    def _place(self) -> None:
        """Let the lines of each view cross at the slices of the others."""
        self._place_soon.stop()
        if not self._are_crossing():
            return
        if len(self._index) != len(self.views[0].slice_state().shape):  # type: ignore[union-attr]
            self._index = self._found_index()
        for view in self.views:
            state = view.slice_state()
            assert state is not None
            if not state.is_parallel(view.drawing().slice):
                # Its picture comes first.
                continue
            if view not in self._lines:
                self._lines[view] = CrossLines(view)
                self._lines[view].moved.connect(partial(self._dragged, view))
            element = self._index[state.axes[0]], self._index[state.axes[1]]
            self._lines[view].show_at(element)
            view.begin_cursor_at(element)

    def _found_index(self) -> list[int]:
        """Return the element that views which were restored show: of each dimension where it is a slider."""
        found: dict[int, int] = {}
        for view in self.views:
            state = view.slice_state()
            assert state is not None
            found |= {axis: state.indices[axis] for axis in state.sliders}
        return [found[axis] for axis in sorted(found)]
