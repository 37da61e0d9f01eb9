"""How the classes of a chunk map look: colour, pattern and glyph, so that colour is never the only mark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPen, QPixmap

from refbrowser.app.plot.legends import state_colors
from refbrowser.app.widgets import theme
from refbrowser.views.chunks.chunk_pixels import TILE
from refbrowser.views.plot.picture import ChunkState

if TYPE_CHECKING:
    from refbrowser.views.chunks.chunk_colouring import MapClass

#: A mark that is drawn in cells that are large enough.
GLYPHS = {
    "read": "✓",
    "inline": "i",
    "derived": "≡",
    "missing": "∅",
    "pending": "…",
    "faulty": "!",
    "failed": "!",
    "changed": "Δ",
    "added": "+",
    "removed": "−",
}
#: Colours of URLs in their order; patterns change when all were used.
_URLS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#edc948", "#76b7b2", "#ff9da7", "#9c755f")
_URL_PATTERNS = ("", "diagonal", "lines")
_SCALE_LIGHT, _SCALE_DARK = ("#fde8d2", "#7d3206"), ("#4b3120", "#ffe0b8")


def _mixed(ends: tuple[str, str], part: float) -> QColor:
    low, high = QColor(ends[0]), QColor(ends[1])
    starts, ends_ = (low.red(), low.green(), low.blue()), (high.red(), high.green(), high.blue())
    mixed = [round(one + (other - one) * part) for one, other in zip(starts, ends_, strict=True)]
    return QColor(*mixed)


def look_of(entry: MapClass) -> tuple[QColor, QColor, str]:
    """Return ground, mark and pattern of a class."""
    colors = theme.colors()
    dark = colors.dark
    if entry.style == "scale":
        part = entry.number / max(1, entry.total - 1)
        return _mixed(_SCALE_DARK if dark else _SCALE_LIGHT, part), QColor(colors.text), ""
    if entry.style == "url":
        ground = QColor(_URLS[entry.number % len(_URLS)])
        mark = ground.lighter(150) if dark else ground.darker(150)
        return ground, mark, _URL_PATTERNS[entry.number // len(_URLS) % len(_URL_PATTERNS)]
    simple = {
        "nothing": (colors.surface, colors.surface, ""),
        "plain": ("#333b47" if dark else "#e6ebf1", colors.muted, ""),
        "range": ("#35577a" if dark else "#a9cbec", colors.accent, ""),
        "read": ("#69b1f5" if dark else "#1d6fba", colors.surface, ""),
        "whole": ("#2f6f69" if dark else "#8fd0c8", "#4b9a92" if dark else "#57aaa0", "lines"),
        "inline": ("#55702f" if dark else "#c3dc94", "#7f9d50" if dark else "#92b35c", "bars"),
        "derived": ("#4d4474" if dark else "#c9c1ea", "#8577bd" if dark else "#8e7fcf", "bricks"),
        "faulty": (colors.warning_soft, colors.warning, "cross"),
        "changed": (colors.changed, "#8a5cb4" if dark else "#a877cf", "diagonal"),
        "added": (colors.good, "#3f8f5c" if dark else "#66b487", "grid"),
        "removed": (colors.fault_soft, colors.fault, "lines"),
    }
    if entry.style in simple:
        ground_name, mark_name, pattern = simple[entry.style]
        return QColor(ground_name), QColor(mark_name), pattern
    state, pattern = {
        "pending": (ChunkState.PENDING, "diagonal"),
        "failed": (ChunkState.FAILED, "cross"),
    }.get(entry.style, (ChunkState.MISSING, "dots"))
    ground, mark = state_colors(state)
    return ground, mark, pattern


def _tile(entry: MapClass) -> QImage:
    ground, mark, pattern = look_of(entry)
    tile = QImage(TILE, TILE, QImage.Format.Format_RGB32)
    tile.fill(ground)
    painter = QPainter(tile)
    side = float(TILE)
    if pattern in ("diagonal", "cross"):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(mark, 1.2))
        for shift in (-side, 0.0, side):
            painter.drawLine(QPointF(shift, side), QPointF(shift + side, 0))
            if pattern == "cross":
                painter.drawLine(QPointF(shift, 0), QPointF(shift + side, side))
    elif pattern == "dots":
        painter.fillRect(QRectF(1, 1, 2, 2), mark)
        painter.fillRect(QRectF(5, 5, 2, 2), mark)
    if pattern in ("lines", "grid"):
        painter.fillRect(QRectF(0, 2, side, 1), mark)
        painter.fillRect(QRectF(0, 6, side, 1), mark)
    if pattern in ("bars", "grid"):
        painter.fillRect(QRectF(2, 0, 1, side), mark)
        painter.fillRect(QRectF(6, 0, 1, side), mark)
    if pattern == "bricks":
        for top, left in ((0, 0), (4, 4)):
            painter.fillRect(QRectF(0, top + 3, side, 1), mark)
            painter.fillRect(QRectF((left + 3) % side, top, 1, 3), mark)
    painter.end()
    return tile


def tiles(legend: Sequence[MapClass]) -> npt.NDArray[np.uint32]:
    """Return the patterns of classes as colours, shape (n, TILE, TILE)."""
    found = np.zeros((len(legend), TILE, TILE), np.uint32)
    for number, entry in enumerate(legend):
        # Held while its memory is copied.
        tile = _tile(entry)
        found[number] = np.frombuffer(tile.constBits(), np.uint32).reshape(TILE, TILE)
    return found


def mark_colours(legend: Sequence[MapClass]) -> npt.NDArray[np.uint32]:
    """Return what single pixels of classes that should not be missed are painted in; 0 for the others."""
    colors = theme.colors()
    strong = {
        "missing": colors.muted,
        "faulty": colors.warning,
        "failed": colors.fault,
        "changed": colors.changed,
        "added": colors.good,
        "removed": colors.fault,
    }
    found = np.zeros(256, np.uint32)
    for number, entry in enumerate(legend):
        if entry.style in strong:
            found[number] = QColor(strong[entry.style]).rgb()
    return found


def ink_on(entry: MapClass) -> QColor:
    """Return the colour of text on a class: dark or light, whichever is read better."""
    ground = look_of(entry)[0]
    bright = 0.299 * ground.redF() + 0.587 * ground.greenF() + 0.114 * ground.blueF()
    return QColor("#10151c" if bright > 0.52 else "#ffffff")


def swatch(entry: MapClass, ratio: float, width: int = 20, height: int = 14) -> QPixmap:
    """Return a sample of a class for the legend."""
    picture = QPixmap(round(width * ratio), round(height * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(QBrush(_tile(entry)))
    painter.setPen(QPen(QColor(theme.colors().muted), 1))
    painter.drawRoundedRect(QRectF(0.5, 0.5, width - 1, height - 1), 2, 2)
    glyph = GLYPHS.get(entry.style)
    if glyph:
        font = painter.font()
        font.setPixelSize(height - 3)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(ink_on(entry))
        painter.drawText(QRectF(0, 0, width, height), Qt.AlignmentFlag.AlignCenter, glyph)
    painter.end()
    return picture
