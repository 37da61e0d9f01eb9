"""The colour bar: what a colour means, fields for the levels at its ends, and what these are."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QLocale, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QDoubleValidator,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QLineEdit, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from refbrowser.app.plot.colours.colour_maps import DEFAULT_MAP, Table, table
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import LineLabel
from refbrowser.views.numbers import DateScale, both_signs_ticks, log_ticks, stepped_text, value_text
from refbrowser.views.plot.colouring import COLOURS, step_places
from refbrowser.views.plot.coordinates import Coordinate
from refbrowser.views.plot.levels import BY_USER, EXTREMES, PERCENTILES, Histogram, Levels
from refbrowser.views.words import one_line

BAR, HISTOGRAM = 18, 46
WIDTH, NARROW_WIDTH = 108, 74
#: The height of the tips at the ends, beyond which values lie.
_TIP = 8
#: The pointer takes hold of a level from so far, in pixels.
_REACH = 7
#: Levels keep at least this part of the strip between them.
_LEAST = 0.01


class ColourStrip(QWidget):
    """The colours with ticks and the units; with a histogram the levels are handles that can be dragged.

    Signals
    -------
    levelsDragged(object)
        The user dragged the levels to these `Levels`.
    autoRequested()
        A double click asks for the levels of the data.
    """

    levelsDragged = Signal(object)
    autoRequested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("colourStrip")
        self.setAccessibleName("Colour bar")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self.levels: Levels | None = None
        #: Where one colour ends and the next begins; none where they run on.
        self.edges: tuple[float, ...] = ()
        self.title = ""
        self.scale = Coordinate(name="", size=0)
        self.colours: Table = table(DEFAULT_MAP)
        self.histogram: Histogram | None = None
        self.beyond = (0.0, 0.0)
        #: What is dragged, the levels and the part of the strip where that began.
        self._held: tuple[str, Levels, float] | None = None

    def set_histogram(self, histogram: Histogram | None) -> None:
        """Show how often values occur, or not; not while levels are dragged."""
        if self._held is None:
            self.histogram = histogram
            self.updateGeometry()
            self.update()

    def set_beyond(self, shares: tuple[float, float]) -> None:
        """Mark the ends beyond which values lie; `shares` are the parts of the values below and above."""
        if shares != self.beyond:
            self.beyond = shares
            self.setToolTip(beyond_words(*shares))
            self.update()

    @property
    def span(self) -> Levels | None:
        """The values at the lower and upper end of the strip."""
        if self.levels is None or self.histogram is None:
            return self.levels
        span = self.histogram.span
        if (span.log, bool(span.linear)) != (self.levels.log, bool(self.levels.linear)):
            return self.levels
        return self._around(span, self.levels)

    @staticmethod
    def _around(span: Levels, levels: Levels) -> Levels:
        return replace(span, low=min(span.low, levels.low), high=max(span.high, levels.high))

    def ticks(self) -> list[tuple[float, str]]:
        """Return the values that are marked, as (value, text)."""
        span = self.span
        if span is None:
            return []
        count = max(2, int(self.height() / (self.fontMetrics().height() * 2.4)))
        if self.edges:
            return self._edge_ticks(span)
        if span.log:
            return log_ticks(span.low, span.high, count)
        if span.linear:
            return self._apart(span, both_signs_ticks(span.low, span.high, span.linear, count))
        return self.scale.value_ticks(span.low, span.high, count)

    def _edge_ticks(self, span: Levels) -> list[tuple[float, str]]:
        """Return the edges of steps with their texts, as many as have room: the ends and zero first."""
        dates, widths = self.scale.dates, [high - low for low, high in pairwise(self.edges)]
        greatest, is_even = max(map(abs, self.edges)), math.isclose(min(widths), max(widths), rel_tol=1e-6)
        if dates is not None:
            texts = [dates.text(edge) for edge in self.edges]
        elif is_even:
            texts = [stepped_text(edge, min(widths), greatest) for edge in self.edges]
        else:
            texts = [value_text(float(edge)) for edge in self.edges]
        return self._apart(span, list(zip(self.edges, texts, strict=True)))

    def _apart(self, span: Levels, ticks: list[tuple[float, str]]) -> list[tuple[float, str]]:
        """Leave out ticks whose texts would lie over others: every second, third and so on stays."""
        least = self.fontMetrics().height() * 1.15
        heights = [self.height_of(span, value) for value, _text in ticks]
        for every in range(1, len(ticks)):
            kept = heights[::every]
            if all(below - above >= least for below, above in pairwise(kept)):
                return ticks[::every]
        return ticks[:1]

    def height_of(self, span: Levels, value: float) -> float:
        """Return how far from the top of the widget the colour of a value is, in pixels.

        Steps are of one height, however wide they are, unless a histogram stands beside them.
        """
        if self.edges and self.histogram is None:
            places = np.linspace(0, 1, len(self.edges))
            return self.handle_at(float(np.interp(value, self.edges, places)))
        return self.handle_at(span.part(value))

    def sizeHint(self) -> QSize:
        return QSize(WIDTH + (HISTOGRAM if self.histogram is not None else 0), 160)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizeHint().width(), 60)

    def beside(self, box: QRect) -> tuple[ColourStrip, int]:
        """Return a strip that shows the same, its colours as high as a box, and where its top is."""
        strip = ColourStrip()
        strip.levels, strip.title, strip.scale = self.levels, self.title, self.scale
        strip.colours, strip.histogram, strip.beyond = self.colours, self.histogram, self.beyond
        strip.edges = self.edges
        strip.setFont(self.font())
        strip.resize(self.width(), box.height() + 2 * _TIP + 2)
        return strip, box.top() - _TIP - 1

    def handle_at(self, part: float) -> float:
        """Return how far from the top of the widget a part of the strip is, in pixels."""
        return self.height() - 1 - _TIP - part * (self.height() - 2 - 2 * _TIP)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        self.draw(QPainter(self))

    def draw(self, painter: QPainter) -> None:
        """Draw it, its upper left corner at the origin: here, or in a figure."""
        colors = theme.colors()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        bar = QRectF(1, 1 + _TIP, BAR, self.height() - 2 - 2 * _TIP)
        span = self.span
        if span is None or self.levels is None:
            painter.setPen(QPen(QColor(colors.border)))
            painter.drawRect(bar)
            return
        painter.drawImage(bar, self._image(span, self.levels, max(2, int(bar.height()))))
        painter.setPen(QPen(QColor(colors.border)))
        painter.drawRect(bar)
        if self.histogram is not None:
            self._draw_histogram(painter, bar, span, self.levels)
        else:
            self._draw_beyond(painter, bar)
        right = self._draw_ticks(painter, bar, span)
        self._draw_title(painter, right)

    def _image(self, span: Levels, levels: Levels, height: int) -> QImage:
        """Return the colours from the upper end of the strip down."""
        low, high = span.part(levels.low), span.part(levels.high)
        parts = np.linspace(1, 0, height)
        if self.edges:
            steps = len(self.edges) - 1
            edges = [span.part(edge) for edge in self.edges]
            edges = edges if self.histogram is not None else np.linspace(0, 1, steps + 1).tolist()
            places = step_places(steps)[np.searchsorted(edges[1:-1], parts, "right")]
        else:
            places = np.clip((parts - low) / (high - low) * COLOURS, 0, COLOURS - 1).astype(int)
        column = self.colours[places]
        pixels = np.ascontiguousarray(column[:, None])
        return QImage(pixels.data, 1, height, 4, QImage.Format.Format_RGBA8888).copy()

    def _draw_beyond(self, painter: QPainter, bar: QRectF) -> None:
        """Draw a tip at each end beyond which values lie, in the colour that they have."""
        painter.setPen(QPen(QColor(theme.colors().muted)))
        ends = (bar.bottom(), _TIP - 1, 0), (bar.top(), 1 - _TIP, COLOURS - 1)
        for share, (edge, reach, place) in zip(self.beyond, ends, strict=True):
            if share > 0:
                painter.setBrush(QColor(*self.colours[place].tolist()))
                corners = (bar.left(), edge), (bar.right(), edge), (bar.center().x(), edge + reach)
                painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _draw_histogram(self, painter: QPainter, bar: QRectF, span: Levels, levels: Levels) -> None:
        assert self.histogram is not None
        colors, shown = theme.colors(), self.histogram
        low, high = span.part(shown.span.low), span.part(shown.span.high)
        heights = shown.heights
        edges = low + (high - low) * np.arange(len(heights) + 1) / len(heights)
        left = bar.right() + 2
        outline = QPolygonF([QPointF(left, self.handle_at(low))])
        for height, start, stop in zip(
            heights.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True
        ):
            x = left + height * (HISTOGRAM - 8)
            outline.append(QPointF(x, self.handle_at(start)))
            outline.append(QPointF(x, self.handle_at(stop)))
        outline.append(QPointF(left, self.handle_at(high)))
        painter.setPen(QPen(QColor(colors.muted), 0.8))
        fill = QColor(colors.muted)
        fill.setAlpha(90)
        painter.setBrush(fill)
        painter.drawPolygon(outline)
        for value in (levels.low, levels.high):
            y = self.handle_at(span.part(value))
            painter.setPen(QPen(QColor(colors.accent), 1.6))
            painter.drawLine(QPointF(bar.left(), y), QPointF(left + HISTOGRAM - 6, y))
            painter.setBrush(QColor(colors.accent))
            tip = left + HISTOGRAM - 4
            painter.drawPolygon(QPolygonF([QPointF(tip - 7, y), QPointF(tip, y - 4), QPointF(tip, y + 4)]))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _draw_ticks(self, painter: QPainter, bar: QRectF, span: Levels) -> float:
        metrics = self.fontMetrics()
        edge = bar.right() + (HISTOGRAM if self.histogram is not None else 0)
        right = edge
        painter.setPen(QColor(theme.colors().muted))
        for value, text in self.ticks():
            y = self.height_of(span, value)
            painter.drawLine(QPointF(edge + 1, y), QPointF(edge + 5, y))
            height = metrics.height()
            top = min(max(y - height / 2, 0.0), self.height() - height)
            width = metrics.horizontalAdvance(text)
            painter.drawText(QRectF(edge + 8, top, width + 2, height), Qt.AlignmentFlag.AlignLeft, text)
            right = max(right, edge + 8 + width)
        return right

    def _draw_title(self, painter: QPainter, left: float) -> None:
        if not self.title:
            return
        metrics = self.fontMetrics()
        painter.setPen(QColor(theme.colors().text))
        place = min(left + 4, self.width() - metrics.height() - 1)
        text = metrics.elidedText(self.title, Qt.TextElideMode.ElideRight, self.height() - 4)
        painter.translate(place, self.height())
        painter.rotate(-90)
        painter.drawText(QRectF(0, 0, self.height(), metrics.height()), Qt.AlignmentFlag.AlignCenter, text)

    # Dragging

    def _part_at(self, y: float) -> float:
        return (self.height() - 1 - _TIP - y) / max(1, self.height() - 2 - 2 * _TIP)

    def _hold_at(self, y: float) -> str:
        """Return what is taken hold of at a height: ``low``, ``high``, ``both``, or nothing."""
        span = self.span
        if self.histogram is None or span is None or self.levels is None:
            return ""
        low, high = (self.handle_at(span.part(end)) for end in (self.levels.low, self.levels.high))
        if min(abs(y - low), abs(y - high)) <= _REACH:
            return "low" if abs(y - low) < abs(y - high) else "high"
        return "both" if high < y < low else ""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        held = self._hold_at(event.position().y())
        if event.button() == Qt.MouseButton.LeftButton and held and self.levels is not None:
            self._held = (held, self.levels, self._part_at(event.position().y()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        y = event.position().y()
        if self._held is None:
            shapes = {"": Qt.CursorShape.ArrowCursor, "both": Qt.CursorShape.OpenHandCursor}
            self.setCursor(shapes.get(self._hold_at(y), Qt.CursorShape.SizeVerCursor))
        else:
            self._drag(self._part_at(y))

    def _drag(self, part: float) -> None:
        assert self._held is not None
        held, before, began = self._held
        # The scale of the histogram does not move under the pointer.
        span = before if self.histogram is None else self.histogram.span
        span = self._around(span, before)
        low, high = span.part(before.low), span.part(before.high)
        moved = part - began
        if held == "both":
            moved = max(-low, min(1 - high, moved))
            low, high = low + moved, high + moved
        elif held == "low":
            low = min(max(0.0, low + moved), high - _LEAST)
        else:
            high = max(min(1.0, high + moved), low + _LEAST)
        self.levelsDragged.emit(replace(before, low=span.value(low), high=span.value(high)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._held = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._held = None
        self.autoRequested.emit()


def beyond_words(below: float, above: float) -> str:
    """Return which parts of the values lie beyond the colours, in words; nothing where none does."""
    parts = [
        f"{_percent(share)} of the values lie {where}"
        for share, where in ((above, "above"), (below, "below"))
        if share > 0
    ]
    return f"{' and '.join(parts)}: in the colour of that end" if parts else ""


def _percent(share: float) -> str:
    return "less than 0.1 %" if share < 0.001 else f"about {share * 100:.2g} %"


_NAMES = ("Lower level of the colours", "Upper level of the colours")
#: A lower bar, in pixels, has no room for words over and under the fields, and for the button. What the ends
#: are is not told elsewhere; the button has a key and an action.
_LEAST_WITH_WORDS, _LEAST_WITH_AUTO = 165, 220
#: Nor has the bar of a plot that is narrower; and in one that is tiny the picture needs all room.
_NARROW, _TINY = 440, 270


class ColourBar(QWidget):
    """Strip, fields for both levels with what they are, and a button that takes others from the data.

    Signals
    -------
    levelsEdited(object)
        The user set these `Levels`.
    autoRequested()
        Levels are to follow the data again.
    extremesWanted(bool)
        The least and the greatest value are wanted as ends, or percentiles.
    """

    levelsEdited = Signal(object)
    autoRequested = Signal()
    extremesWanted = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("colourBar")
        self.setFixedWidth(WIDTH)
        self.shows_histogram = self._is_narrow = False
        self._is_wanted = self._has_room = True
        self.strip = ColourStrip()
        self.high_field = self._field("upperLevel", _NAMES[1])
        self.low_field = self._field("lowerLevel", _NAMES[0])
        self.high_words, self.low_words = (_words(name) for name in ("upperLevelIs", "lowerLevelIs"))
        self._ends, self._extremes = ("", ""), False
        self.auto = QPushButton()
        self.auto.setObjectName("autoLevelsButton")
        self.auto.setAutoDefault(False)
        self.auto.clicked.connect(self._auto_clicked)
        self.strip.levelsDragged.connect(self.levelsEdited)
        self.strip.autoRequested.connect(self.autoRequested)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SMALL, 0, theme.SMALL)
        layout.setSpacing(theme.SMALL + 2)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        for above, below in ((self.high_words, self.high_field), (self.low_field, self.low_words)):
            end = QVBoxLayout()
            end.setSpacing(1)
            end.addWidget(above)
            end.addWidget(below)
            layout.addLayout(end)
        layout.insertWidget(1, self.strip, 1)
        layout.addWidget(self.auto)
        self.setEnabled(False)
        self._write_ends()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_words(event.size().height())

    def _show_words(self, height: int) -> None:
        # The colours need what little room there is; the menu Data and tool tips have the rest too.
        self.auto.setVisible(height >= _LEAST_WITH_AUTO and not self._is_narrow)
        for words in (self.high_words, self.low_words):
            words.setVisible(height >= _LEAST_WITH_WORDS and not self._is_narrow)

    def minimumSizeHint(self) -> QSize:
        # Of what is never left out: fields and colours.
        fields = 2 * (self.high_field.minimumSizeHint().height() + theme.MEDIUM)
        return QSize(self.width(), fields + self.strip.minimumSizeHint().height())

    def set_levels(self, levels: Levels | None, edges: tuple[float, ...] = ()) -> None:
        """Show levels, and steps between them."""
        if (levels, edges) == (self.strip.levels, self.strip.edges):
            return
        self.strip.levels, self.strip.edges = levels, edges
        self._write_levels()
        self.setEnabled(levels is not None)
        self.strip.update()

    def set_ends(self, ends: tuple[str, str], shares: tuple[float, float], *, extremes: bool) -> None:
        """Say what the lower and the upper level are, and which parts of the values lie beyond them."""
        if (ends, extremes) != (self._ends, self._extremes):
            self._ends, self._extremes = ends, extremes
            self._write_ends()
        self.strip.set_beyond(shares)

    def set_table(self, colours: Table) -> None:
        """Show the colours of a map."""
        if colours is not self.strip.colours:
            self.strip.colours = colours
            self.strip.update()

    def show_histogram(self, shown: bool) -> None:
        """Make room for a histogram, or not."""
        self.shows_histogram = shown
        self._fix_width()
        if not shown:
            self.strip.set_histogram(None)

    def set_wanted(self, is_wanted: bool) -> None:
        """Show it, where there is room, or nothing: there are no levels."""
        self._is_wanted = is_wanted
        self.setVisible(is_wanted and self._has_room)

    def set_room(self, width: int) -> None:
        """Leave out what a plot of a width in pixels has no room for: words, or all of it."""
        self._is_narrow, self._has_room = width < _NARROW, width >= _TINY
        self._fix_width()
        self._show_words(self.height())
        self.set_wanted(self._is_wanted)

    def _fix_width(self) -> None:
        wide = NARROW_WIDTH if self._is_narrow else WIDTH
        self.setFixedWidth(wide + (HISTOGRAM if self.shows_histogram else 0))

    def set_histogram(self, histogram: Histogram | None) -> None:
        """Show how often values occur."""
        self.strip.set_histogram(histogram)

    def set_meaning(self, title: str, dates: DateScale | None) -> None:
        """Show the units beside the strip; `dates` where the numbers are times."""
        if (title, dates) == (self.strip.title, self.strip.scale.dates):
            return
        self.strip.title, self.strip.scale = title, Coordinate(name="value", size=0, dates=dates)
        self.strip.setAccessibleDescription(one_line(title))
        self.strip.update()

    def _write_levels(self) -> None:
        levels = self.strip.levels
        ends = (self.high_field, levels and levels.high), (self.low_field, levels and levels.low)
        for field, value in ends:
            if not field.hasFocus() or not field.isModified():
                field.setText("" if value is None else f"{value:.6g}")
                field.setCursorPosition(0)

    def _field(self, name: str, accessible: str) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName(name)
        field.setAccessibleName(accessible)
        field.setToolTip(accessible)
        validator = QDoubleValidator(field)
        validator.setLocale(QLocale.c())
        field.setValidator(validator)
        field.editingFinished.connect(self._edited)
        return field

    def _edited(self) -> None:
        if not (self.high_field.isModified() or self.low_field.isModified()):
            return
        self.high_field.setModified(False)
        self.low_field.setModified(False)
        try:
            levels = Levels(float(self.low_field.text()), float(self.high_field.text()))
        except ValueError:
            self._write_levels()
            return
        self.levelsEdited.emit(levels)

    def _write_ends(self) -> None:
        for words, field, end, name in zip(
            (self.low_words, self.high_words),
            (self.low_field, self.high_field),
            self._ends,
            _NAMES,
            strict=True,
        ):
            words.setText(end)
            field.setToolTip(f"{name}: {end}" if end else name)
        by_user = self._ends == BY_USER
        now, other = (EXTREMES, PERCENTILES) if self._extremes else (PERCENTILES, EXTREMES)
        low, high = now if by_user else other
        text = "Auto" if by_user else "2 to 98 %" if self._extremes else "Min to max"
        tip = f"Set the colour limits to {low} and {high} of the values shown"
        self.auto.setText(text)
        self.auto.setAccessibleName(tip)
        self.auto.setToolTip(tip if by_user else f"{tip} (M in the plot)")

    def _auto_clicked(self) -> None:
        if self._ends == BY_USER:
            self.autoRequested.emit()
        else:
            self.extremesWanted.emit(not self._extremes)


def _words(name: str) -> LineLabel:
    label = LineLabel()
    label.setObjectName(name)
    label.setProperty("role", "muted")
    return label
