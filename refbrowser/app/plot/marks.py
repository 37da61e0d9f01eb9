"""How several lines are told apart: a colour and a marker for each."""

from __future__ import annotations

from typing import NamedTuple

from pyqtgraph import mkBrush, mkPen
from pyqtgraph.graphicsItems.ScatterPlotItem import drawSymbol
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPixmap

from refbrowser.app.widgets import theme


class Mark(NamedTuple):
    """The look of one line; the symbol is one of the plotting library."""

    name: str
    symbol: str
    light: str
    dark: str

    @property
    def color(self) -> str:
        """The colour on the ground in force."""
        return self.dark if theme.colors().dark else self.light


#: Colours that are told apart with any kind of colour vision, too.
MARKS = (
    Mark("circle", "o", "#0b62a8", "#69b1f5"),
    Mark("square", "s", "#b84a00", "#ff9d5c"),
    Mark("triangle", "t1", "#00734f", "#4fd6a5"),
    Mark("diamond", "d", "#9a3587", "#ec9bdc"),
    Mark("star", "star", "#7a5c00", "#f0d264"),
    Mark("cross", "+", "#50555f", "#c9d0db"),
)


def mark_pixmap(mark: Mark, size: int = 16, ratio: float = 2.0) -> QPixmap:
    """Return a mark as a picture of `size` device independent pixels, with a piece of its line."""
    picture = QPixmap(round(size * ratio * 1.5), round(size * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    middle = size / 2
    painter.setPen(mkPen(mark.color, width=1.6))
    painter.drawLine(QPointF(0, middle), QPointF(size * 1.5, middle))
    painter.translate(size * 0.75, middle)
    drawSymbol(painter, mark.symbol, size * 0.55, mkPen(mark.color), mkBrush(mark.color))
    painter.end()
    return picture
