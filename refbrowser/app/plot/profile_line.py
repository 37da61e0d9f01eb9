"""The line of a profile on the picture: two handles to drag, and a mark for the value that is pointed at."""

from __future__ import annotations

from pyqtgraph import PlotCurveItem, ScatterPlotItem, TargetItem, TextItem, mkBrush, mkPen
from PySide6.QtCore import QObject, QPointF, Qt, Signal
from PySide6.QtGui import QFont

from refbrowser.app.plot.box import PlotBox
from refbrowser.app.widgets import theme
from refbrowser.views.plot.profile import Element

NAMES = ("A", "B")
_SIZE = 15


class ProfileLine(QObject):
    """Items on the picture.

    Signals
    -------
    moved(int, object)
        A handle (0 or 1) was dragged to a position of the plot, a `QPointF`.
    """

    moved = Signal(int, object)

    def __init__(self, box: PlotBox, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._active: int | None = None
        #: A dark line under a light one is seen on every colour.
        self._lines = tuple(PlotCurveItem(antialias=True) for _ in range(2))
        self._mark = ScatterPlotItem(pxMode=True, symbol="o", size=9)
        self.handles = tuple(TargetItem(size=_SIZE, symbol="o", movable=True) for _ in NAMES)
        self._texts = tuple(TextItem(name, anchor=(0.5, 0.5)) for name in NAMES)
        items = (*self._lines, self._mark, *self.handles, *self._texts)
        for depth, item in enumerate(items):
            item.setZValue(22 + depth)
            box.addItem(item, ignoreBounds=True)
        for text in self._texts:
            # The handle below takes the pointer.
            text.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
            font = QFont()
            font.setPixelSize(10)
            font.setBold(True)
            text.setFont(font)
        for number, handle in enumerate(self.handles):
            handle.sigPositionChanged.connect(lambda item, number=number: self._dragged(number, item))
        self._items = items
        self.restyle()
        self.hide()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        accent = theme.colors().accent
        self._lines[0].setPen(mkPen("#10151d", width=4))
        self._lines[1].setPen(mkPen("#ffffff", width=1.6))
        self._mark.setPen(mkPen("#10151d", width=1.5))
        self._mark.setBrush(mkBrush("#ffffff"))
        for number, handle in enumerate(self.handles):
            active = number == self._active
            handle.setPen(mkPen(accent if active else "#10151d", width=3 if active else 1.5))
            handle.setHoverPen(mkPen(accent, width=3))
            handle.setBrush(mkBrush("#ffffff"))
            handle.setHoverBrush(mkBrush("#ffffff"))
        for text in self._texts:
            text.setColor("#10151d")

    def hide(self) -> None:
        """Take it away."""
        for item in self._items:
            item.hide()

    def show_between(self, start: Element, stop: Element) -> None:
        """Draw it between two elements (row, column)."""
        ends = [QPointF(column, row) for row, column in (start, stop)]
        for line in self._lines:
            line.setData([end.x() for end in ends], [end.y() for end in ends])
            line.show()
        for end, handle, text in zip(ends, self.handles, self._texts, strict=True):
            handle.blockSignals(True)
            handle.setPos(end)
            handle.blockSignals(False)
            text.setPos(end)
            handle.show()
            text.show()

    def set_active(self, number: int | None) -> None:
        """Mark the handle that keys move."""
        if number != self._active:
            self._active = number
            self.restyle()

    def set_mark(self, element: Element | None) -> None:
        """Mark an element, or none."""
        self._mark.setVisible(element is not None)
        if element is not None:
            self._mark.setData([float(element[1])], [float(element[0])])

    def _dragged(self, number: int, handle: TargetItem) -> None:
        position = handle.pos()
        self.moved.emit(number, QPointF(position.x(), position.y()))
