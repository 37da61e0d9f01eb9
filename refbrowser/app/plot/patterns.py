"""How chunks that show no values look: hatched, dotted or crossed, so that colour is never the only mark."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPixmap

from refbrowser.app.widgets import theme
from refbrowser.views.plot.picture import ChunkState

_TILE = 10

#: In the order of the legend: what a person calls each state.
STATE_NAMES = {
    ChunkState.PENDING: "not here yet",
    ChunkState.MISSING: "missing chunk",
    ChunkState.FAILED: "could not be read",
}


def state_colors(state: ChunkState) -> tuple[QColor, QColor]:
    """Return the ground and the mark of a state."""
    colors = theme.colors()
    if state is ChunkState.PENDING:
        return QColor(colors.surface), QColor(colors.border)
    if state is ChunkState.MISSING:
        return QColor("#4a525e" if colors.dark else "#c3c9d2"), QColor(
            "#5d6673" if colors.dark else "#aab2be"
        )
    return QColor("#6b2d2f" if colors.dark else "#f3b8b3"), QColor(colors.fault)


def ground_color() -> QColor:
    """Return the colour behind an image, which stands for elements without a value."""
    return QColor("#3d4551" if theme.colors().dark else "#d3d8df")


def state_brush(state: ChunkState) -> QBrush:
    """Return the pattern of a state; it is laid in device pixels, so zooming does not change it."""
    ground, mark = state_colors(state)
    tile = QPixmap(QSize(_TILE, _TILE))
    tile.fill(ground)
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(mark, 1.2))
    if state is ChunkState.PENDING:
        for shift in (-_TILE, 0, _TILE):
            painter.drawLine(QPointF(shift, _TILE), QPointF(shift + _TILE, 0))
    elif state is ChunkState.MISSING:
        painter.setBrush(mark)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(QPointF(_TILE / 2, _TILE / 2), 1.2, 1.2)
    else:
        painter.drawLine(QPointF(0, 0), QPointF(_TILE, _TILE))
        painter.drawLine(QPointF(0, _TILE), QPointF(_TILE, 0))
    painter.end()
    return QBrush(tile)


def draw_glyph(painter: QPainter, centre: QPointF, size: float) -> None:
    """Draw the mark of a failed chunk: an exclamation mark in a disc."""
    colors = theme.colors()
    painter.setPen(QPen(QColor(colors.surface), 1.5))
    painter.setBrush(QColor(colors.fault))
    painter.drawEllipse(centre, size / 2, size / 2)
    font = painter.font()
    font.setPixelSize(max(8, int(size * 0.7)))
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(QColor(colors.surface))
    painter.drawText(
        QRectF(centre.x() - size / 2, centre.y() - size / 2, size, size), Qt.AlignmentFlag.AlignCenter, "!"
    )


def swatch(state: ChunkState, width: int = 22, height: int = 14) -> QPixmap:
    """Return a sample of a state for the legend."""
    picture = QPixmap(width, height)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(state_brush(state))
    painter.setPen(QPen(QColor(theme.colors().muted), 1))
    painter.drawRoundedRect(QRectF(0.5, 0.5, width - 1, height - 1), 2, 2)
    if state is ChunkState.FAILED:
        draw_glyph(painter, QPointF(width / 2, height / 2), height - 3)
    painter.end()
    return picture
