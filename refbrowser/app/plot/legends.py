"""How chunks that show no values look, in the picture and in legends: of states, and of flags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from pyqtgraph import GraphicsObject
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QIcon, QPainter, QPen, QPixmap, QTransform
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStyleOptionGraphicsItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.plot.colours.colour_maps import Table
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import plain_label
from refbrowser.model.cf import Flag, FlagSet
from refbrowser.views.numbers import value_text
from refbrowser.views.plot.colouring import OTHER, boxes_of
from refbrowser.views.plot.interpretation import flag_title
from refbrowser.views.plot.picture import STALE_NAME, ChunkState, Picture
from refbrowser.words import count_text

_TILE = 10

#: In the order of the legend: what a person calls each state.
STATE_NAMES = {
    ChunkState.PENDING: "still loading",
    ChunkState.MISSING: "missing chunk",
    ChunkState.FILLED: "not stored: fill value",
    ChunkState.FAILED: "could not be read",
}


def state_colors(state: ChunkState) -> tuple[QColor, QColor]:
    """Return the ground and the mark of a state."""
    colors = theme.colors()
    if state is ChunkState.PENDING:
        return QColor(colors.surface), QColor(colors.border)
    if state in (ChunkState.MISSING, ChunkState.FILLED):
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
    # Values are seen through the marks.
    tile.fill(Qt.GlobalColor.transparent if state is ChunkState.FILLED else ground)
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(mark, 1.2))
    if state is ChunkState.PENDING:
        for shift in (-_TILE, 0, _TILE):
            painter.drawLine(QPointF(shift, _TILE), QPointF(shift + _TILE, 0))
    elif state in (ChunkState.MISSING, ChunkState.FILLED):
        painter.setBrush(mark)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(QPointF(_TILE / 2, _TILE / 2), 1.2, 1.2)
    else:
        painter.drawLine(QPointF(0, 0), QPointF(_TILE, _TILE))
        painter.drawLine(QPointF(0, _TILE), QPointF(_TILE, 0))
    painter.end()
    return QBrush(tile)


def stale_brush() -> QBrush:
    """Return the pattern that is laid over values of stale files: lines down to the right."""
    side = 2 * _TILE
    tile = QPixmap(QSize(side, side))
    tile.fill(Qt.GlobalColor.transparent)
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    # Seen on dark values and on light ones, and far apart: the values are to be seen between.
    for color, width in ((QColor(theme.colors().surface), 2.6), (QColor(theme.colors().stale), 1.4)):
        painter.setPen(QPen(color, width))
        for shift in (-side, 0, side):
            painter.drawLine(QPointF(shift, 0), QPointF(shift + side, side))
    painter.end()
    return QBrush(tile)


def stale_swatch(width: int = 22, height: int = 14) -> QPixmap:
    """Return a sample of that for the legend."""
    picture = QPixmap(width, height)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(stale_brush())
    painter.setPen(QPen(QColor(theme.colors().stale), 1))
    painter.drawRoundedRect(QRectF(0.5, 0.5, width - 1, height - 1), 2, 2)
    painter.end()
    return picture


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


_SHOWN = (ChunkState.PENDING, ChunkState.MISSING, ChunkState.FAILED, ChunkState.FILLED)
#: A glyph is drawn in failed cells at least this large, in pixels, and in at most so many.
_GLYPH_CELL, _GLYPHS_MOST = 24.0, 200


class ChunkStateItem(GraphicsObject):
    """Chunks that did not come, of an image, or of a line as bands over the whole height."""

    def __init__(self) -> None:
        super().__init__()
        self._picture: Picture | None = None
        self._edges: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None
        self._seen = (-1, 0)
        self._boxes: dict[ChunkState, npt.NDArray[np.int64]] = {}
        self._brushes = {state: state_brush(state) for state in _SHOWN}
        self._stale = np.zeros((0, 4), np.int64)
        self._stale_brush = stale_brush()
        #: How many times as large patterns and marks are as on the screen: in figures of many pixels.
        self.magnification = 1.0
        self.setZValue(10)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self._brushes = {state: state_brush(state) for state in _SHOWN}
        self._stale_brush = stale_brush()
        self.update()

    def set_picture(
        self, picture: Picture | None, edges: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None
    ) -> None:
        """Show the chunks of a picture; `edges` are their borders in the view, vertical axis first."""
        self.prepareGeometryChange()
        self._picture, self._edges = picture, edges
        self._seen = (-1, 0)
        self.refresh()

    def refresh(self) -> None:
        """Look at the states again."""
        picture = self._picture
        if picture is None:
            self._boxes = {}
            self._stale = np.zeros((0, 4), np.int64)
        elif (picture.arrived, picture.stale_turns) == self._seen:
            return
        else:
            self._seen = picture.arrived, picture.stale_turns
            states = self._cells(picture.states)
            self._boxes = {state: boxes_of(states == state) for state in _SHOWN}
            self._stale = boxes_of(self._cells(picture.stale_done))
        self.update()

    def _cells(self, of_chunks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what is known of chunks as rows and columns of the view; a line is one of these."""
        assert self._edges is not None
        vertical, horizontal = self._edges
        return of_chunks.reshape(len(vertical) - 1, len(horizontal) - 1)

    def boxes(self, state: ChunkState) -> npt.NDArray[np.int64]:
        """Return the boxes of cells that are drawn for a state, shape (n, 4)."""
        return self._boxes.get(state, np.zeros((0, 4), np.int64))

    def boundingRect(self) -> QRectF:
        if self._edges is None:
            return QRectF()
        vertical, horizontal = self._edges
        if not len(vertical) or not len(horizontal):
            return QRectF()
        return QRectF(
            QPointF(float(horizontal.min()), float(vertical.min())),
            QPointF(float(horizontal.max()), float(vertical.max())),
        )

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        is_any = len(self._stale) or any(len(boxes) for boxes in self._boxes.values())
        if self._edges is None or not is_any:
            return
        transform = painter.transform()
        clip = transform.mapRect(option.exposedRect)
        vertical, horizontal = self._edges
        y = transform.m22() * vertical + transform.dy()
        x = transform.m11() * horizontal + transform.dx()
        painter.save()
        painter.resetTransform()
        painter.setPen(Qt.PenStyle.NoPen)
        for state, boxes in self._boxes.items():
            if not len(boxes):
                continue
            rects = _device_rects(boxes, y, x, clip)
            painter.setBrush(self._magnified(self._brushes[state]))
            painter.drawRects(rects)
            if state is ChunkState.FAILED:
                self._draw_glyphs(painter, y, x, clip)
        if len(self._stale):
            # Over the values, which are seen through it.
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._magnified(self._stale_brush))
            painter.drawRects(_device_rects(self._stale, y, x, clip))
        painter.restore()

    def _magnified(self, brush: QBrush) -> QBrush:
        larger = QBrush(brush)
        larger.setTransform(QTransform.fromScale(self.magnification, self.magnification))
        return larger

    def _draw_glyphs(self, painter: QPainter, y: Any, x: Any, clip: QRectF) -> None:
        assert self._picture is not None
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        states = self._cells(self._picture.states)
        y = np.clip(y, clip.top(), clip.bottom())
        x = np.clip(x, clip.left(), clip.right())
        for row, column in np.argwhere(states == ChunkState.FAILED)[:_GLYPHS_MOST]:
            cell = QRectF(QPointF(x[column], y[row]), QPointF(x[column + 1], y[row + 1])).normalized()
            if min(cell.width(), cell.height()) >= _GLYPH_CELL:
                largest = 26.0 * self.magnification
                draw_glyph(painter, cell.center(), min(largest, min(cell.width(), cell.height()) * 0.6))


def _device_rects(boxes: npt.NDArray[np.int64], y: Any, x: Any, clip: QRectF) -> list[QRectF]:
    top, bottom = y[boxes[:, 0]], y[boxes[:, 1]]
    left, right = x[boxes[:, 2]], x[boxes[:, 3]]
    top, bottom = np.minimum(top, bottom), np.maximum(top, bottom)
    left, right = np.minimum(left, right), np.maximum(left, right)
    # What is far outside is cut, so that no coordinate overflows the painter.
    top, bottom = np.maximum(top, clip.top() - 2), np.minimum(bottom, clip.bottom() + 2)
    left, right = np.maximum(left, clip.left() - 2), np.minimum(right, clip.right() + 2)
    seen = (bottom > top) & (right > left)
    return [
        QRectF(QPointF(a, b), QPointF(c, d))
        for a, b, c, d in zip(
            left[seen].tolist(), top[seen].tolist(), right[seen].tolist(), bottom[seen].tolist(), strict=True
        )
    ]


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


class StateLegend(QWidget):
    """A sample, a name and a count for each state that is in the picture; hidden when all is well."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chunkStateLegend")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        self._entries: dict[ChunkState, tuple[QLabel, QLabel]] = {}
        for state in STATE_NAMES:
            sample, text = QLabel(), plain_label("", role="muted", wrap=False)
            text.setObjectName(f"legend_{state.name.lower()}")
            self._entries[state] = (sample, text)
            layout.addWidget(sample)
            text.setContentsMargins(0, 0, theme.LARGE, 0)
            layout.addWidget(text)
        self._stale = QLabel(), plain_label("", role="warning", wrap=False)
        self._stale[1].setObjectName("legend_stale")
        self._stale[1].setContentsMargins(0, 0, theme.LARGE, 0)
        for part in self._stale:
            layout.addWidget(part)
        self.note = plain_label("", role="muted", wrap=False)
        self.note.setObjectName("plotNote")
        layout.addWidget(self.note)
        layout.addStretch(1)
        self.retry = QToolButton()
        self.retry.setObjectName("plotRetryButton")
        self.retry.setText("Read again")
        self.retry.setAccessibleName("Read again")
        layout.addWidget(self.retry)
        self.restyle()
        self.set_picture(None, "")

    def restyle(self) -> None:
        """Take the colours of the theme."""
        for state, (sample, _text) in self._entries.items():
            sample.setPixmap(swatch(state))
        self._stale[0].setPixmap(stale_swatch())

    def set_picture(self, picture: Picture | None, note: str) -> None:
        """Count the states of a picture's chunks; `note` is said beside them."""
        counts = {state: 0 if picture is None else picture.count(state) for state in STATE_NAMES}
        for state, (sample, text) in self._entries.items():
            count = counts[state]
            sample.setVisible(count > 0)
            text.setVisible(count > 0)
            text.setText(f"{STATE_NAMES[state]} ({count_text(count)})")
        stale = 0 if picture is None else int(np.count_nonzero(picture.stale_done))
        self._stale[1].setText(f"{STALE_NAME} ({count_text(stale)})")
        for part in self._stale:
            part.setVisible(stale > 0)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        incomplete = counts[ChunkState.FAILED] > 0 or counts[ChunkState.PENDING] > 0
        self.retry.setVisible(incomplete and picture is not None and picture.finished)
        self.setVisible(bool(note) or any(counts.values()) or stale > 0)

    def shown_states(self) -> set[ChunkState]:
        """Return the states that are explained now."""
        return {state for state, (sample, _text) in self._entries.items() if not sample.isHidden()}


#: The list of flags is as wide as their names, within these.
_NARROWEST, _WIDEST = 108, 216
_SWATCH = 14


class FlagLegend(QWidget):
    """A colour, a meaning and a share for each flag.

    Signals
    -------
    flagChosen(object)
        The number of the only flag to colour, or None for all.
    """

    flagChosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("flagLegend")
        self._flags: FlagSet | None = None
        self._colours: Table | None = None
        self.heading = plain_label("Flags", role="muted", wrap=False)
        self.list = QListWidget()
        self.list.setObjectName("flagList")
        self.list.setAccessibleName("Flags and their meanings")
        self.list.setToolTip("Choose a flag to colour it alone")
        self.list.setIconSize(QSize(_SWATCH, _SWATCH))
        self.list.setWordWrap(True)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setSpacing(1)
        self.all = QPushButton("All flags")
        self.all.setObjectName("allFlagsButton")
        self.all.setToolTip("Colour all flags again")
        self.all.setEnabled(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SMALL, 0, theme.SMALL)
        layout.setSpacing(theme.SMALL + 2)
        layout.addWidget(self.heading)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.all)
        self.list.itemSelectionChanged.connect(self._selected)
        self.all.clicked.connect(self._all_clicked)

    def set_flags(self, flags: FlagSet | None, colours: Table) -> None:
        """Show other flags, or other colours of them."""
        if flags == self._flags and colours is self._colours:
            return
        anew = flags != self._flags
        self._flags, self._colours = flags, colours
        if anew:
            self._fill()
        for row in range(self.list.count()):
            position = row % OTHER if flags is not None and row < len(flags.flags) else OTHER
            self.list.item(row).setIcon(_swatch(colours[position].tolist()))

    def set_shares(self, shares: Sequence[float]) -> None:
        """Show in which part of the values each flag holds."""
        if self._flags is None:
            return
        for row, (flag, share) in enumerate(zip(self._flags.flags, shares, strict=True)):
            self.list.item(row).setText(f"{flag_title(flag)}  {_share_text(share)}")
        self._fit()

    def texts(self) -> list[str]:
        """Return what is listed."""
        return [self.list.item(row).text() for row in range(self.list.count())]

    def entries(self) -> list[tuple[list[int], str]]:
        """Return the colour, RGBA, and the words of each flag that is listed."""
        if self._flags is None or self._colours is None:
            return []
        count = len(self._flags.flags)
        return [(self._colours[row % OTHER].tolist(), text) for row, text in enumerate(self.texts()[:count])]

    def _fill(self) -> None:
        self.list.blockSignals(True)
        self.list.clear()
        flags = () if self._flags is None else self._flags.flags
        for flag in flags:
            item = QListWidgetItem(flag_title(flag))
            item.setToolTip(theme.plain_tooltip(f"{flag.meaning}\n{_condition(flag)}"))
            self.list.addItem(item)
        other = QListWidgetItem("none of these")
        other.setFlags(Qt.ItemFlag.ItemIsEnabled)
        self.list.addItem(other)
        self.list.blockSignals(False)
        several = self._flags is not None and not self._flags.exclusive
        self.heading.setText("Flags: the first that matches" if several else "Flags")
        self._fit()
        self.all.setEnabled(False)

    def _fit(self) -> None:
        """Take no more width than the names need: the map has the rest."""
        metrics = self.list.fontMetrics()
        wide = _SWATCH + theme.MEDIUM + max(map(metrics.horizontalAdvance, self.texts()), default=0)
        frame = 2 * self.list.frameWidth() + self.list.verticalScrollBar().sizeHint().width() + theme.MEDIUM
        heading = self.heading.sizeHint().width() if self._flags and not self._flags.exclusive else 0
        self.setFixedWidth(min(_WIDEST, max(_NARROWEST, wide + frame, heading)))

    def _selected(self) -> None:
        rows = [index.row() for index in self.list.selectedIndexes()]
        self.all.setEnabled(bool(rows))
        self.flagChosen.emit(rows[0] if rows else None)

    def _all_clicked(self) -> None:
        self.list.clearSelection()


def _condition(flag: Flag) -> str:
    if flag.mask is None:
        return f"value {value_text(flag.value)}"
    return f"mask {flag.mask:#x}" + ("" if flag.value is None else f", value {value_text(flag.value)}")


def _share_text(share: float) -> str:
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{share * 100:.3g} %"


def _swatch(rgba: Sequence[int]) -> QIcon:
    picture = QPixmap(_SWATCH * 2, _SWATCH * 2)
    picture.setDevicePixelRatio(2)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(QColor(*rgba))
    painter.setPen(QPen(QColor(theme.colors().muted), 0.8))
    painter.drawRoundedRect(1, 1, _SWATCH - 2, _SWATCH - 2, 2, 2)
    painter.end()
    icon = QIcon()
    # The same when chosen: a tinted sample would be another colour.
    for mode in (QIcon.Mode.Normal, QIcon.Mode.Selected):
        icon.addPixmap(picture, mode)
    return icon
