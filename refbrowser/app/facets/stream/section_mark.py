"""A frame around what the current message gave, which lights up for a moment when it is chosen."""

from __future__ import annotations

from pyqtgraph import ViewBox, mkPen
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import QGraphicsRectItem

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import one_shot

#: How long it lights up, in milliseconds.
FLASH = 450
#: Above images and lines, below the cross.
_DEPTH = 14


class SectionMark:
    """The frame in one plot."""

    def __init__(self, box: ViewBox) -> None:
        #: A dark line under a light one, so that it is seen on every colour.
        self._frames = tuple(QGraphicsRectItem() for _ in range(2))
        self._fill = QGraphicsRectItem()
        self._fill.setPen(mkPen(None))
        for item in (self._fill, *self._frames):
            item.setZValue(_DEPTH)
            item.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
            item.hide()
            box.addItem(item, ignoreBounds=True)
        self._dim = one_shot(box, FLASH, self._fill.hide)
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        colors = theme.colors()
        for frame, color, width in zip(self._frames, (colors.surface, colors.accent), (5, 2.5), strict=True):
            frame.setPen(mkPen(color, width=width))
        light = QColor(colors.accent)
        light.setAlpha(110)
        self._fill.setBrush(QBrush(light))

    def show_at(self, part: QRectF | None) -> None:
        """Frame a part of the plot, in its coordinates; nothing where it is None."""
        for item in self._frames:
            item.setVisible(part is not None)
            item.setRect(part or QRectF())
        self._fill.setRect(part or QRectF())
        if part is None:
            self._fill.hide()

    def part(self) -> QRectF | None:
        """Return the part that has the frame, or None."""
        return self._frames[0].rect() if self._frames[0].isVisible() else None

    def flash(self) -> None:
        """Light up what is framed."""
        if self.part() is not None:
            self._fill.show()
            self._dim.start()

    def is_lit(self) -> bool:
        """Whether it lights up now."""
        return self._fill.isVisible()
