"""How the classes of a picture of messages look: a colour each, hatched where it was overwritten."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPen, QPixmap

from refbrowser.app.plot.legends import state_colors
from refbrowser.app.widgets import theme
from refbrowser.exporting.streams.supply_classes import SupplyClass, SupplyKind
from refbrowser.views.chunks.chunk_pixels import TILE
from refbrowser.views.plot.picture import ChunkState

#: Colours of single messages, told apart also by those who see no red or green, light and dark in turn.
_SINGLE = (
    "#4e79a7",
    "#f2b36d",
    "#3f8f5c",
    "#d7a6d9",
    "#8c564b",
    "#9fd4e0",
    "#c95f5f",
    "#c9d487",
    "#7a5ea8",
    "#f5d76e",
    "#2f7f86",
    "#f0a8a0",
)
#: The first and the last of many messages.
_SCALE_LIGHT, _SCALE_DARK = ("#e3edf6", "#123a63"), ("#24384d", "#c7e3ff")


def ground_of(entry: SupplyClass, dark: bool) -> QColor:
    """Return the colour of a class."""
    if entry.kind is SupplyKind.NEVER:
        return state_colors(ChunkState.MISSING)[0]
    if entry.kind is SupplyKind.UNDECIDED:
        return state_colors(ChunkState.PENDING)[0]
    if entry.kind is SupplyKind.LOST:
        return state_colors(ChunkState.FAILED)[0]
    if not entry.is_scale:
        return QColor(_SINGLE[entry.place % len(_SINGLE)])
    part = entry.place / max(1, entry.total - 1)
    first, last = (QColor(name) for name in (_SCALE_DARK if dark else _SCALE_LIGHT))
    mixed = [
        round(one + (other - one) * part)
        for one, other in zip(first.getRgb()[:3], last.getRgb()[:3], strict=True)  # type: ignore[index]
    ]
    return QColor(*mixed)


def ink_on(ground: QColor) -> QColor:
    """Return the colour of text on a ground: dark or light, whichever is read better."""
    bright = 0.299 * ground.redF() + 0.587 * ground.greenF() + 0.114 * ground.blueF()
    return QColor("#10151c" if bright > 0.52 else "#ffffff")


def _mark_of(entry: SupplyClass, dark: bool) -> QColor:
    if entry.kind is SupplyKind.NEVER:
        return state_colors(ChunkState.MISSING)[1]
    if entry.kind is SupplyKind.UNDECIDED:
        return state_colors(ChunkState.PENDING)[1]
    if entry.kind is SupplyKind.LOST:
        return state_colors(ChunkState.FAILED)[1]
    mark = ink_on(ground_of(entry, dark))
    mark.setAlpha(150)
    return mark


@lru_cache(maxsize=256)
def _tile(entry: SupplyClass, overwritten: bool, dark: bool) -> QImage:
    tile = QImage(TILE, TILE, QImage.Format.Format_RGB32)
    tile.fill(ground_of(entry, dark))
    painter = QPainter(tile)
    mark, side = _mark_of(entry, dark), float(TILE)
    if overwritten or entry.kind in (SupplyKind.UNDECIDED, SupplyKind.LOST):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(mark, 1.2))
        for shift in (-side, 0.0, side):
            painter.drawLine(QPointF(shift, side), QPointF(shift + side, 0))
    if entry.kind is SupplyKind.NEVER:
        painter.fillRect(QRectF(1, 1, 2, 2), mark)
        painter.fillRect(QRectF(5, 5, 2, 2), mark)
    painter.end()
    return tile


def tiles_of(legend: Sequence[SupplyClass], dark: bool) -> npt.NDArray[np.uint32]:
    """Return the patterns of all classes as colours, two a class: shape (2 n, TILE, TILE)."""
    found = np.zeros((2 * max(1, len(legend)), TILE, TILE), np.uint32)
    for at, entry in enumerate(legend):
        for overwritten in (False, True):
            # Held while its memory is copied.
            tile = _tile(_plain(entry), overwritten, dark)
            found[2 * at + overwritten] = np.frombuffer(tile.constBits(), np.uint32).reshape(TILE, TILE)
    return found


def _plain(entry: SupplyClass) -> SupplyClass:
    """Return a class without its counts, so that its pattern is drawn once."""
    return SupplyClass(entry.kind, place=entry.place, total=entry.total, is_scale=entry.is_scale)


def swatch(entry: SupplyClass, overwritten: bool, ratio: float, width: int = 20, height: int = 14) -> QPixmap:
    """Return a sample of a class for the legend."""
    picture = QPixmap(round(width * ratio), round(height * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(QBrush(_tile(_plain(entry), overwritten, theme.colors().dark)))
    painter.setPen(QPen(QColor(theme.colors().muted), 1))
    painter.drawRoundedRect(QRectF(0.5, 0.5, width - 1, height - 1), 2, 2)
    painter.end()
    return picture
