"""The chunk grid of an array, coloured by what a comparison found, with its axes and a cursor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from refbrowser.app.panes.chunk_map_controls import MapControls, MapLegend
from refbrowser.app.panes.chunk_map_view import Cell, ChunkMapView
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import hint_label

if TYPE_CHECKING:
    from refbrowser.app.tasks.latest import Work
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.views.chunks.chunk_colouring import ColouredMap
    from refbrowser.views.chunks.chunk_map import ChunkLayout
    from refbrowser.views.plot.slicing import SliceState

#: Makes a map of a layout, on a worker thread.
Paint = Callable[["ChunkLayout"], "ColouredMap"]
_STYLES = (QEvent.Type.StyleChange, QEvent.Type.PaletteChange)


class GridMap(QWidget):
    """Chunks of one array as cells.

    Signals
    -------
    pointed(object)
        Coordinates of the chunk that the cursor was moved to.
    """

    pointed = Signal(object)

    def __init__(self, work: Work, name: str, title: str, too_large: str) -> None:
        super().__init__()
        self._work = work
        self._paint: Paint | None = None
        self.layout_: ChunkLayout | None = None
        self._painting = Latest(self, name)
        self.controls = MapControls()
        # What the colour says is the same for all.
        self.controls.hide_by()
        self.view = ChunkMapView()
        self.view.setObjectName(name)
        self.view.setAccessibleName(title)
        self.legend = MapLegend()
        self.hint = hint_label(too_large)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SMALL)
        column.addWidget(self.controls)
        column.addWidget(self.view, 1)
        column.addWidget(self.hint, 1)
        column.addWidget(self.legend)
        self.controls.downChosen.connect(lambda axis: self._change(lambda state: state.with_y(axis)))
        self.controls.acrossChosen.connect(lambda axis: self._change(lambda state: state.with_x(axis)))
        self.controls.indexChanged.connect(
            lambda axis, index: self._change(lambda state: state.with_index(axis, index))
        )
        self.view.cursorMoved.connect(self._point)
        self.legend.wanted.connect(self.view.go_to_class)

    def show_large(self) -> None:
        """Say that the grid is too large to be drawn."""
        self.clear()
        self._show_parts(is_drawn=False)

    def _show_parts(self, *, is_drawn: bool) -> None:
        self.hint.setVisible(not is_drawn)
        for part in (self.controls, self.view, self.legend):
            part.setVisible(is_drawn)

    def show_layout(self, layout: ChunkLayout, paint: Paint) -> None:
        """Show a layout as `paint` colours it."""
        self.layout_, self._paint = layout, paint
        self._show_parts(is_drawn=True)
        self.controls.set_slice(layout.slice, layout.columns)
        self.view.set_layout(layout, same=self.view.layout_ == layout)

        def work(_control: TaskControl) -> ColouredMap:
            return paint(layout)

        self._painting.run(self._work, self.view.accessibleName(), work, self._painted)

    def _painted(self, found: ColouredMap) -> None:
        self.view.set_maps([found])
        self.legend.set_map(found)

    def place_cursor(self, coords: tuple[int, ...]) -> None:
        """Put the cursor on a chunk that is seen; nobody is told."""
        if self.layout_ is not None and (cell := self.layout_.cell_of(coords)) != self.view.cursor_item:
            blocked = self.view.blockSignals(True)
            self.view.place_cursor(cell)
            self.view.blockSignals(blocked)

    def clear(self) -> None:
        """Show nothing."""
        self._painting.cancel()
        self.layout_ = self._paint = None

    def _change(self, change: Callable[[SliceState], SliceState]) -> None:
        if self.layout_ is not None and self._paint is not None:
            self.show_layout(self.layout_.with_slice(change(self.layout_.slice)), self._paint)

    def _point(self, cell: Cell | None) -> None:
        coords = None if cell is None or self.layout_ is None else self.layout_.coords_at(*cell)
        if coords is not None:
            self.pointed.emit(coords)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in _STYLES and hasattr(self, "legend"):
            self.view.restyle()
            self.legend.restyle()
