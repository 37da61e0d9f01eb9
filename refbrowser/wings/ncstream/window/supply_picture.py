"""How the picture of what messages supplied looks: colours and patterns, the picture, its legend."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from pyqtgraph import GraphicsObject
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QIcon, QImage, QPainter, QPen, QPixmap, QTransform
from PySide6.QtWidgets import QSizePolicy, QStyleOptionGraphicsItem, QToolButton, QWidget

from refbrowser.app.plot.legends import state_colors
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.rows import FlowLayout
from refbrowser.views.chunks.chunk_pixels import TILE, painted
from refbrowser.views.plot.picture import ChunkState
from refbrowser.wings.ncstream.views.supply_classes import ColouredSupply, Label, SupplyClass, SupplyKind
from refbrowser.words import count_text

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


#: Free around the number of a message, in pixels.
_PAD = 3.0
#: Numbers that are drawn at most.
_NUMBERS_MOST = 120


class SupplyItem(GraphicsObject):
    """The elements of a slice in the patterns of their classes; large areas have their number."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: ColouredSupply | None = None
        self._labels: tuple[Label, ...] = ()
        self._patterns: npt.NDArray[np.uint32] = np.zeros((2, 1, 1), np.uint32)
        self._image: tuple[object, QImage, npt.NDArray[np.uint32], QPointF] | None = None

    def set_supply(self, shown: ColouredSupply | None, labels: tuple[Label, ...] = ()) -> None:
        """Show what supplied the elements of a slice, or nothing."""
        self.prepareGeometryChange()
        self._shown, self._labels = shown, labels
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self._image = None
        if self._shown is not None:
            self._patterns = tiles_of(self._shown.legend, theme.colors().dark)
        self.update()

    def boundingRect(self) -> QRectF:
        """Return what is covered, in indices along the axes: a cell is centred on its index."""
        if self._shown is None or not self._shown.classes.size:
            return QRectF()
        down, across = _both(self._shown.supply.ranges)
        return QRectF(
            QPointF(across.start - across.step / 2, down.start - down.step / 2),
            QPointF(across[-1] + across.step / 2, down[-1] + down.step / 2),
        )

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        shown = self._shown
        if shown is None or not shown.classes.size:
            return
        transform = QTransform(painter.transform())
        ratio = 1.0 if widget is None else widget.devicePixelRatioF()
        clip = transform.mapRect(self.boundingRect()).intersected(QRectF(painter.viewport()))
        if clip.isEmpty():
            return
        image, corner = self._image_for(shown, transform, clip, ratio)
        painter.save()
        painter.resetTransform()
        painter.drawImage(corner, image)
        self._draw_numbers(painter, shown, transform, clip)
        painter.restore()

    def _image_for(
        self, shown: ColouredSupply, transform: QTransform, clip: QRectF, ratio: float
    ) -> tuple[QImage, QPointF]:
        state = (*(getattr(transform, name)() for name in ("m11", "m22", "dx", "dy")), clip.getRect(), ratio)
        if self._image is not None and self._image[0] == state:
            return self._image[1], self._image[3]
        down, across = _both(shown.supply.ranges)
        left, top = np.floor(clip.left()), np.floor(clip.top())
        wide = int((np.ceil(clip.right()) - left) * ratio)
        high = int((np.ceil(clip.bottom()) - top) * ratio)
        columns = _cells((left + (np.arange(wide) + 0.5) / ratio - transform.dx()) / transform.m11(), across)
        rows = _cells((top + (np.arange(high) + 0.5) / ratio - transform.dy()) / transform.m22(), down)
        numbers = np.atleast_2d(shown.classes)[np.ix_(rows, columns)]
        pixels = painted(numbers, self._patterns)
        image = QImage(pixels.data, wide, high, wide * 4, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        corner = QPointF(left, top)
        # The image shares the memory of the array, which must live as long.
        self._image = (state, image, pixels, corner)
        return image, corner

    def _draw_numbers(
        self, painter: QPainter, shown: ColouredSupply, transform: QTransform, clip: QRectF
    ) -> None:
        """Draw the numbers of messages into what they supplied, where there is room."""
        measure, dark, drawn = QFontMetricsF(painter.font()), theme.colors().dark, 0
        down, across = _both(shown.supply.ranges)
        for label in self._labels:
            rows, columns = _both_slices(label.box)
            area = transform.mapRect(
                QRectF(
                    QPointF(across[columns.start] - across.step / 2, down[rows.start] - down.step / 2),
                    QPointF(across[columns.stop - 1] + across.step / 2, down[rows.stop - 1] + down.step / 2),
                )
            ).intersected(clip)
            text = str(label.number)
            room = measure.boundingRect(text).adjusted(-_PAD, -_PAD / 2, _PAD, _PAD / 2)
            if area.width() < room.width() or area.height() < room.height() or drawn == _NUMBERS_MOST:
                continue
            drawn += 1
            place = (label.centre[0] if len(label.centre) > 1 else 0, label.centre[-1])
            centre = transform.map(QPointF(across[place[1]], down[place[0]]))
            room.moveCenter(centre if clip.contains(centre) else area.center())
            number = int(np.atleast_2d(shown.classes)[place])
            ground = ground_of(shown.legend[number // 2], dark)
            # Between the lines of a pattern a text cannot be read.
            painter.fillRect(room, ground)
            painter.setPen(ink_on(ground))
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)


def _both(ranges: tuple[range, ...]) -> tuple[range, range]:
    """Return the indices down and across; those of a line are one row."""
    return (ranges[0], ranges[1]) if len(ranges) > 1 else (range(1), ranges[0])


def _both_slices(box: tuple[slice, ...]) -> tuple[slice, slice]:
    return (box[0], box[1]) if len(box) > 1 else (slice(0, 1, 1), box[0])


def _cells(places: npt.NDArray[np.float64], taken: range) -> npt.NDArray[np.int64]:
    """Return the positions in `taken` that are at places along an axis."""
    found = np.floor((places - taken.start) / taken.step + 0.5).astype(np.int64)
    return np.clip(found, 0, len(taken) - 1)


#: Entries for messages that are shown; of more, those with most elements.
ENTRIES_MOST = 8
#: Entries of a scale from the first message to the last.
OF_SCALE = 4
_LOW = "QToolButton { padding: 0 5px 0 1px; }"


class SupplyLegend(QWidget):
    """One button for each class that is in the picture.

    Signals
    -------
    wanted(int)
        A message (its number) is wanted.
    """

    wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messagesLegend")
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._flow = FlowLayout(self, spacing=2)
        self._buttons: list[QToolButton] = []
        self._shown: ColouredSupply | None = None

    def set_supply(self, shown: ColouredSupply | None) -> None:
        """Explain a picture, or nothing."""
        self._shown = shown
        entries = [] if shown is None else legend_entries(shown)
        while len(self._buttons) < len(entries):
            self._add_button()
        for at, button in enumerate(self._buttons):
            button.setVisible(at < len(entries))
            if at < len(entries):
                self._fill(button, *entries[at])
        self.updateGeometry()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.set_supply(self._shown)

    def texts(self) -> list[str]:
        """Return the entries that are shown."""
        return [button.text() for button in self._buttons if not button.isHidden()]

    def _add_button(self) -> None:
        button = QToolButton(self)
        button.setObjectName(f"messagesLegend_{len(self._buttons)}")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setIconSize(QSize(20, 14))
        button.setAutoRaise(True)
        button.setStyleSheet(_LOW)
        # The table leads to each message, too.
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(lambda _checked=False: self._wanted(button))
        self._buttons.append(button)
        self._flow.addWidget(button)

    def _wanted(self, button: QToolButton) -> None:
        number = button.property("message")
        if number is not None and number >= 0:
            self.wanted.emit(number)

    def _fill(self, button: QToolButton, entry: SupplyClass, hatched: bool, text: str) -> None:
        button.setProperty("message", -1 if hatched else entry.first)
        button.setIcon(QIcon(swatch(entry, hatched, self.devicePixelRatioF())))
        button.setText(text)
        is_message = entry.kind is SupplyKind.MESSAGE and not hatched
        button.setAccessibleName(f"{text}; go to the message" if is_message else text)
        button.setToolTip(theme.plain_tooltip("Click to go to the message" if is_message else text))


def legend_entries(shown: ColouredSupply) -> list[tuple[SupplyClass, bool, str]]:
    """Return what is explained: a class, whether its hatched pattern is meant, and the words."""
    messages = [each for each in shown.legend if each.kind is SupplyKind.MESSAGE]
    found = [(each, False, _name(each)) for each in _explained(messages)]
    overwritten = [each for each in messages if each.overwritten]
    if overwritten:
        count = count_text(sum(each.overwritten for each in overwritten))
        found.append((overwritten[0], True, f"replaced an earlier message  {count}"))
    words = {
        SupplyKind.NEVER: "never sent: fill value",
        SupplyKind.UNDECIDED: "not found out",
        SupplyKind.LOST: "lost: damaged or cut off",
    }
    found += [
        (each, False, f"{words[each.kind]}  {count_text(each.elements)}")
        for each in shown.legend
        if each.kind in words
    ]
    return found


def _explained(messages: list[SupplyClass]) -> list[SupplyClass]:
    """Return the classes of messages that have an entry: of a scale some, else those of most elements."""
    if any(each.is_scale for each in messages):
        last = len(messages) - 1
        return [messages[round(last * at / (OF_SCALE - 1))] for at in range(OF_SCALE)]
    kept = sorted(messages, key=lambda each: -each.elements)[:ENTRIES_MOST]
    return sorted(kept, key=lambda each: each.first)


def _name(entry: SupplyClass) -> str:
    if not entry.is_scale:
        return f"message {count_text(entry.first)}  {count_text(entry.elements)}"
    return f"messages {count_text(entry.first)} to {count_text(entry.last)}"
