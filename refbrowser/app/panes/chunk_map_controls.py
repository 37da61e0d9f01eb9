"""What is around the chunk map: its patterns, what it is coloured by, which slice, legend and foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QIcon, QImage, QPainter, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QSpinBox, QToolButton, QWidget

from refbrowser.app.plot.legends import state_colors
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.rows import FlowLayout
from refbrowser.app.widgets.small_widgets import combo_box, plain_label, tool_button
from refbrowser.views.chunks.chunk_facts import COLOURINGS, class_text
from refbrowser.views.chunks.chunk_pixels import TILE
from refbrowser.views.plot.picture import ChunkState
from refbrowser.views.plot.slicing import SliceState
from refbrowser.views.words import one_line
from refbrowser.words import count_text, plural

if TYPE_CHECKING:
    from refbrowser.views.chunks.chunk_colouring import ColouredMap, MapClass


#: A mark that is drawn in cells that are large enough.
GLYPHS = {
    "read": "✓",
    "inline": "i",
    "derived": "≡",
    "missing": "∅",
    "pending": "…",
    "faulty": "!",
    "failed": "!",
    "stale": "≠",
    "changed": "Δ",
    "added": "+",
    "removed": "−",
    "overlap": "!",
    "requested": "▔",
    "used": "▁",
    "undecided": "?",
    "sound": "✓",
    "warned": "?",
    "fault": "!",
    "moved": "→",
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
    if entry.style in ("warned", "fault"):
        return _look_of_finding(entry)
    simple = {
        "nothing": (colors.surface, colors.surface, ""),
        "plain": ("#333b47" if dark else "#e6ebf1", colors.muted, ""),
        "unseen": ("#2b3038" if dark else "#eef0f3", "#454d59" if dark else "#cfd5dd", "dots"),
        "asked": ("#35577a" if dark else "#a9cbec", colors.accent, ""),
        "sound": (colors.good, "#3f8f5c" if dark else "#66b487", ""),
        "range": ("#35577a" if dark else "#a9cbec", colors.accent, ""),
        "read": ("#69b1f5" if dark else "#1d6fba", colors.surface, ""),
        "whole": ("#2f6f69" if dark else "#8fd0c8", "#4b9a92" if dark else "#57aaa0", "lines"),
        "inline": ("#55702f" if dark else "#c3dc94", "#7f9d50" if dark else "#92b35c", "bars"),
        "derived": ("#4d4474" if dark else "#c9c1ea", "#8577bd" if dark else "#8e7fcf", "bricks"),
        "faulty": (colors.warning_soft, colors.warning, "cross"),
        "stale": ("#6d2f52" if dark else "#f6c3dc", "#8f4c72" if dark else "#e79fc6", "back"),
        "changed": (colors.changed, "#8a5cb4" if dark else "#a877cf", "diagonal"),
        "added": (colors.good, "#3f8f5c" if dark else "#66b487", "grid"),
        "removed": (colors.fault_soft, colors.fault, "lines"),
        "others": ("#5f6f86" if dark else "#9aacc1", colors.muted, ""),
        "gap": ("#252b34" if dark else "#eef1f5", colors.muted, ""),
        "header": ("#3b4350" if dark else "#d5dbe3", colors.muted, "lines"),
        "tail": ("#3b4350" if dark else "#d5dbe3", colors.muted, "dots"),
        "undecided": (colors.warning_soft, colors.warning, "diagonal"),
        "overlap": (colors.fault_soft, colors.fault, "cross"),
        "past": (colors.surface, colors.fault, "diagonal"),
        "requested": (colors.surface, colors.accent, ""),
        "used": (colors.surface, colors.changed, ""),
        "moved": (colors.warning_soft, "#b98a2e" if dark else "#cfa24a", "bars"),
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


def _look_of_finding(entry: MapClass) -> tuple[QColor, QColor, str]:
    """Return the look of what an audit found: the pattern tells faults and warnings apart, too."""
    colors = theme.colors()
    is_fault = entry.style == "fault"
    patterns = ("cross", "grid") if is_fault else ("diagonal", "lines")
    ground, mark = (colors.fault_soft, colors.fault) if is_fault else (colors.warning_soft, colors.warning)
    return QColor(ground), QColor(mark), patterns[entry.number % len(patterns)]


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
    elif pattern == "back":
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(mark, 1.6))
        for shift in (-side, 0.0, side):
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
        "stale": colors.stale,
        "changed": colors.changed,
        "added": colors.good,
        "removed": colors.fault,
        "warned": colors.warning,
        "fault": colors.fault,
        "moved": colors.warning,
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


#: What is a line above or below others, by name.
_LINES = ("requested", "used")


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
        if entry.style in _LINES:
            high = height - 5 if entry.style == "used" else 2
            painter.fillRect(QRectF(2, high, width - 4, 3), look_of(entry)[1])
        else:
            painter.drawText(QRectF(0, 0, width, height), Qt.AlignmentFlag.AlignCenter, glyph)
    painter.end()
    return picture


_LARGEST = 2**31 - 1
_LONGEST_NAME = 20
#: Dimensions that get a field; an array has seldom more.
_FIELDS_MOST = 32


@dataclass(frozen=True, slots=True)
class _Field:
    box: QWidget
    label: QLabel
    field: QSpinBox


class MapControls(QWidget):
    """One line of choices, wrapped where it is narrow.

    Signals
    -------
    byChosen(str)
        Another column of the values is to be the colour.
    downChosen(object), acrossChosen(int)
        A dimension was chosen for an axis; None for down: one dimension, wrapped.
    indexChanged(int, int)
        Another chunk along a dimension that is not on an axis.
    innerChosen(bool)
        The inner chunks of shards are to be seen, or the shards.
    """

    byChosen = Signal(str)
    downChosen = Signal(object)
    acrossChosen = Signal(int)
    indexChanged = Signal(int, int)
    innerChosen = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._state: SliceState | None = None
        self.by = combo_box("chunkMapColour", "Colour chunks by")
        for name, title in COLOURINGS.items():
            self.by.addItem(title, name)
        self.down = combo_box("chunkMapDown", "Dimension that runs down")
        self.across = combo_box("chunkMapAcross", "Dimension that runs across")
        self.by.activated.connect(lambda _at: self.byChosen.emit(self.by.currentData()))
        self.down.activated.connect(lambda _at: self._choose_down())
        self.across.activated.connect(lambda _at: self.acrossChosen.emit(self.across.currentData()))
        self.wrapped = plain_label("", role="muted", wrap=False)
        self.wrapped.setObjectName("chunkMapWrapped")
        self._flow = FlowLayout(self, spacing=theme.MEDIUM)
        self._axes = [_labelled("Down", self.down), _labelled("Across", self.across)]
        self._made: list[_Field] = []
        self._fields: dict[int, _Field] = {}
        self._by_box = _labelled("Colour by", self.by)
        self.level = combo_box("chunkMapLevel", "What is mapped of shards")
        self.level.setToolTip("Inner chunks are known once the index of their shard is read")
        for title, is_inner in (("shards", False), ("inner chunks", True)):
            self.level.addItem(title, is_inner)
        self.level.activated.connect(lambda _at: self.innerChosen.emit(self.level.currentData()))
        self._level_box = _labelled("Level", self.level)
        self._level_box.hide()
        for part in (self._level_box, self._by_box, *self._axes, self.wrapped):
            self._flow.addWidget(part)

    def set_slice(self, state: SliceState | None, columns: int = 1) -> None:
        """Show the slice of a chunk grid; fields are made anew only for other dimensions.

        One dimension alone is wrapped into rows of `columns` chunks.
        """
        same = self._state is not None and state is not None and _form(self._state) == _form(state)
        self._state = state
        if not same:
            self._make_choices()
            self._make_fields()
        self.wrapped.setText("" if state is None else _wrapped(state, columns))
        self.wrapped.setVisible(bool(self.wrapped.text()))
        if state is None:
            return
        self.across.setCurrentIndex(self.across.findData(state.x))
        self.down.setCurrentIndex(0 if state.y is None else self.down.findData(state.y))
        for dimension, made in self._fields.items():
            made.field.blockSignals(True)
            made.field.setValue(min(state.indices[dimension], _LARGEST))
            made.field.blockSignals(False)

    def offer_inner(self, offered: bool) -> None:
        """Let inner chunks be chosen where there are shards."""
        self._level_box.setVisible(offered)

    def hide_by(self) -> None:
        """Offer no other colours."""
        self._by_box.hide()

    def set_by(self, by: str) -> None:
        """Show what the colour says."""
        self.by.setCurrentIndex(self.by.findData(by))

    def field(self, dimension: int) -> QSpinBox:
        """Return the field of a dimension that is not on an axis."""
        return self._fields[dimension].field

    def _make_choices(self) -> None:
        state = self._state
        long = [] if state is None else [axis for axis, count in enumerate(state.shape) if count > 1]
        for combo in (self.down, self.across):
            combo.clear()
        self.down.addItem("wrapped", None)
        for axis in long:
            assert state is not None
            for combo in (self.down, self.across):
                combo.addItem(_shortened(state.names[axis]), axis)
        for box in self._axes:
            box.setVisible(len(long) > 1)

    def _make_fields(self) -> None:
        """Name a field for each dimension beside the axes; the fields of other arrays are used again."""
        state = self._state
        others = [] if state is None else [axis for axis in state.sliders if state.shape[axis] > 1]
        others = others[:_FIELDS_MOST]
        while len(self._made) < len(others):
            self._made.append(self._make_field())
        self._fields = dict(zip(others, self._made, strict=False))
        for number, made in enumerate(self._made):
            made.box.setVisible(number < len(others))
            made.field.setObjectName(f"chunkMapIndex{number}")
        for dimension, made in self._fields.items():
            assert state is not None
            name, last = state.names[dimension], min(state.shape[dimension] - 1, _LARGEST)
            made.label.setText(_shortened(name))
            made.field.setObjectName(f"chunkMapIndex_{name}")
            made.field.setAccessibleName(f"Chunk along {one_line(name)}, 0 to {last}")
            made.field.setToolTip(theme.plain_tooltip(f"Chunk along {name}, 0 to {last}"))
            made.field.blockSignals(True)
            made.field.setRange(0, last)
            made.field.blockSignals(False)
        self.updateGeometry()

    def _make_field(self) -> _Field:
        field = QSpinBox()
        field.setKeyboardTracking(False)
        field.valueChanged.connect(lambda value: self._change_index(field, value))
        box = _labelled("", field)
        self._flow.addWidget(box)
        label = box.findChild(QLabel)
        assert label is not None
        return _Field(box, label, field)

    def _change_index(self, field: QSpinBox, value: int) -> None:
        for dimension, made in self._fields.items():
            if made.field is field:
                self.indexChanged.emit(dimension, value)
                return

    def _choose_down(self) -> None:
        self.downChosen.emit(self.down.currentData())


def _form(state: SliceState) -> tuple[object, ...]:
    return (state.shape, state.names, state.axes)


def _shortened(name: str) -> str:
    shown = one_line(name)
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 1]}…"


def _wrapped(state: SliceState, columns: int) -> str:
    """Return how the only dimension of a map runs; empty where that is plain."""
    if not state.shape or state.y is not None or state.shape[state.x] < 2:
        return ""
    name = _shortened(state.names[state.x])
    if state.shape[state.x] <= columns:
        return f"Across: {name}"
    return f"{name}, {count_text(columns)} chunks in a row"


def _labelled(text: str, control: QWidget) -> QWidget:
    box = QWidget()
    label: QLabel = plain_label(text, role="muted", wrap=False)
    label.setBuddy(control)
    layout = QHBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(theme.SMALL)
    layout.addWidget(label)
    layout.addWidget(control)
    return box


#: Entries that are shown; of more, those with most chunks.
ENTRIES_MOST = 12
#: Lines that they take at most under the map; beside it they have its height.
LINES_MOST = 2
_UNLIMITED = 16777215
_GAP = 2
_LOW = "QToolButton { padding: 0 5px 0 1px; }"


class LegendEntry(NamedTuple):
    """One entry of a legend.

    Attributes
    ----------
    number
        What `SwatchLegend.wanted` tells.
    look
        How it is painted.
    text, tip
        Its words, and those of its tool tip.
    name, accessible
        Of its button.
    """

    number: int
    look: MapClass
    text: str
    tip: str
    name: str
    accessible: str


class SwatchLegend(QWidget):
    """One button for each class that is in a picture.

    Signals
    -------
    wanted(int)
        The next place of a class (its number) is wanted.
    """

    wanted = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"{name}Legend")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._flow = FlowLayout(self, spacing=_GAP)
        self._buttons: list[QToolButton] = []
        self._more = plain_label("", role="muted", wrap=False)
        self._more.setObjectName(f"{name}More")
        self._more.setContentsMargins(theme.SMALL, 0, theme.SMALL, 0)
        self._flow.addWidget(self._more)
        self._entries: tuple[LegendEntry, ...] = ()
        self._note = ""
        self._used = self._present = 0
        self._beside = False
        self._lines_most = LINES_MOST

    def set_lines(self, most: int) -> None:
        """Take at most so many lines under the picture."""
        if most != self._lines_most:
            self._lines_most = most
            self._fit()

    def set_beside(self, beside: bool) -> None:
        """Stand as a column beside the map, where it is low, or as lines under it."""
        if beside != self._beside:
            self._beside = beside
            self._flow.setSpacing(0 if beside else _GAP)
            fixed, ignored = QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored
            self.setSizePolicy(*((fixed, ignored) if beside else (ignored, fixed)))
            self.setMinimumSize(0, 0)
            self.setMaximumSize(_UNLIMITED, _UNLIMITED)
            self._fit()

    def set_entries(self, entries: Sequence[LegendEntry], present: int, note: str = "") -> None:
        """Show entries, of so many that there are; `note` is said beside them."""
        self._entries, self._present, self._note = tuple(entries), present, note
        while len(self._buttons) < len(entries):
            self._add_button()
        self._used = len(entries)
        for button, entry in zip(self._buttons, entries, strict=False):
            button.setObjectName(entry.name)
            button.setProperty("class", entry.number)
            button.setIcon(QIcon(swatch(entry.look, self.devicePixelRatioF())))
            button.setText(entry.text)
            button.setAccessibleName(entry.accessible)
            button.setToolTip(theme.plain_tooltip(entry.tip))
        self._fit()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.set_entries(self._entries, self._present, self._note)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show as many entries as fit, with the note behind them where there is room for it."""
        kept, note = self._used, "" if self._beside else self._note
        if self._beside:
            # First of all: it may call this method again.
            self.setFixedWidth(max((each.sizeHint().width() for each in self._buttons[:kept]), default=0))
        line = max(part.sizeHint().height() for part in (*self._buttons, self._more)) + self._flow.spacing()
        most = max(1, self.height() // line) if self._beside else self._lines_most
        while True:
            hidden = self._present - kept
            words = [f"and {hidden} more"] if hidden > 0 else []
            self._more.setText("   ".join([*words, note] if note else words))
            parts = [*self._buttons[:kept], *([self._more] if self._more.text() else [])]
            lines = self._lines([part.sizeHint().width() for part in parts])
            if lines <= most or not kept:
                break
            kept -= 1
        for place, button in enumerate(self._buttons):
            button.setVisible(place < kept)
        self._more.setVisible(bool(self._more.text()))
        if not self._beside:
            self.setFixedHeight(lines * line)

    def _lines(self, widths: list[int]) -> int:
        """Return how many lines parts of these widths need."""
        lines, x = 1, 0
        for width in widths:
            if x and x + width > self.width():
                lines, x = lines + 1, 0
            x += width + self._flow.spacing()
        return lines

    def texts(self) -> list[str]:
        """Return the entries that are shown."""
        return [button.text() for button in self._buttons if not button.isHidden()]

    def note(self) -> str:
        """Return what is said beside the entries."""
        return self._more.text()

    def _add_button(self) -> None:
        button = QToolButton(self)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setIconSize(QSize(20, 14))
        button.setAutoRaise(True)
        button.setStyleSheet(_LOW)
        button.clicked.connect(lambda _checked=False: self.wanted.emit(button.property("class")))
        place = len(self._buttons)
        self._buttons.append(button)
        # Before the words at the end.
        self._flow.insert(place, button)


class MapLegend(SwatchLegend):
    """One button for each class that is on the chunk map."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("chunkMap", parent)

    def set_map(self, shown: ColouredMap | None, note: str = "") -> None:
        """Explain a map; `note` is said beside the entries."""
        entries = [] if shown is None else [_entry(*each, shown) for each in _shown_entries(shown)]
        present = 0 if shown is None else sum(1 for each in shown.legend[1:] if each.count)
        self.set_entries(entries, present, note)


def _entry(number: int, entry: MapClass, shown: ColouredMap) -> LegendEntry:
    text, count = class_text(entry, shown.by), count_text(entry.count)
    chunks = plural(entry.count, "chunk")
    whole = entry.label if entry.style == "url" else text
    return LegendEntry(
        number,
        entry,
        f"{text}  {count}",
        f"{whole}: {count} {chunks}. Click to go to the next one.",
        f"chunkMapLegend_{entry.style}{entry.number if entry.total > 1 else ''}",
        f"{text}: {count} {chunks}; go to the next one",
    )


def _shown_entries(shown: ColouredMap) -> list[tuple[int, MapClass]]:
    """Return the classes to be shown with their numbers: those of most chunks, in the order of the legend."""
    present = [(number, entry) for number, entry in enumerate(shown.legend) if number and entry.count]
    if len(present) <= ENTRIES_MOST:
        return present
    kept = sorted(present, key=lambda each: (each[1].style != "url", each[1].count), reverse=True)[
        :ENTRIES_MOST
    ]
    return sorted(kept)


#: Buttons in a line of text: as high as it.
_LOW_FOOT = "QToolButton { padding: 1px 5px; }"


class MapFoot(QWidget):
    """One line: words to the left, buttons that are there when they can be used, counts.

    Signals
    -------
    fitAsked()
        The whole map is to be seen.
    changesAsked(bool)
        The chunks that edits changed are to be seen, or no longer.
    """

    fitAsked = Signal()
    changesAsked = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.readout = ElidedLabel("chunkMapReadout", role="muted")
        self.readout.setMargin(theme.SMALL)
        self.readout.setFont(theme.mono_font(-0.5))
        self.fit = _button("chunkMapFit", "See all chunks", "See all chunks (R)")
        self.fit.setText("Fit")
        self.fit.clicked.connect(lambda _checked=False: self.fitAsked.emit())
        self.changes = _button("chunkMapChanges", "", "")
        self.changes.setCheckable(True)
        self.changes.clicked.connect(self.changesAsked)
        self.counts = plain_label("", role="muted", wrap=False)
        self.counts.setObjectName("chunkMapCounts")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self.readout, 1)
        for part in (self.fit, self.changes, self.counts):
            layout.addWidget(part)
        self.set_zoomed(False)
        self.set_changed(0)
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.fit.setIcon(icons.icon("retry"))

    def set_zoomed(self, zoomed: bool) -> None:
        """Offer to see the whole map, where a part of it is seen."""
        self.fit.setVisible(zoomed)

    def set_changed(self, count: int) -> None:
        """Tell how many chunks edits changed."""
        number, chunks = count_text(count), plural(count, "chunk")
        self.changes.setText(f"{GLYPHS['changed']} {number} changed")
        self.changes.setAccessibleName(f"Show the {number} {chunks} changed since the document was saved")
        self.changes.setToolTip(self.changes.accessibleName())
        self.changes.setVisible(bool(count))

    def set_showing_changes(self, on: bool) -> None:
        """Show whether the map is coloured by changes."""
        self.changes.setChecked(on)


def _button(name: str, title: str, tip: str) -> QToolButton:
    button = tool_button(name, tip)
    button.setAccessibleName(title)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setStyleSheet(_LOW_FOOT)
    return button
