"""Charts of rows that have lengths of their own: how long they are, and the numbers of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from refbrowser.app.plot.axes.chart import LineChart, chart_line
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import plain_label, tool_button
from refbrowser.views.numbers import value_text
from refbrowser.views.plot.element_parts import (
    RowNumbers,
    all_numbers,
    length_bars,
    row_numbers,
    rows_come,
    shown_rows,
)
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import STALE_NAME, ChunkState, Picture
from refbrowser.words import count_text, counted_spaced

if TYPE_CHECKING:
    from refbrowser.views.plot.element_parts import Bar


#: What the height of a bar counts.
_UP = "rows"
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


def bar_words(bar: Bar) -> str:
    """Return what a bar says."""
    rows = counted_spaced(bar.count, "row")
    length = f"{bar.low}" if bar.low == bar.high else f"{bar.low} to {bar.high}"
    return f"length {length}: {rows}"


class LengthsView(QWidget):
    """Paints the histogram.

    Signals
    -------
    pointed(str)
        What the bar under the pointer, or the keyboard's cursor, says; empty for none.
    """

    pointed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("raggedLengths")
        self.setAccessibleName("Histogram of the lengths of rows")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(150, 90)
        self._bars: Sequence[Bar] = ()
        self._at: int | None = None
        self._of = ""

    def set_bars(self, bars: Sequence[Bar], of: str = "length of a row") -> None:
        """Show other bars; `of` says what they are of."""
        self._bars, self._at, self._of = tuple(bars), None, of
        most = max(self._bars, key=lambda bar: bar.count, default=None)
        self.setAccessibleDescription("" if most is None else f"Most frequent: {bar_words(most)}")
        self.update()

    def bars(self) -> Sequence[Bar]:
        """Return the bars shown."""
        return self._bars

    # Geometry and painting

    def _area(self) -> QRectF:
        line = self.fontMetrics().height()
        left = max(map(self.fontMetrics().horizontalAdvance, (self._top(), _UP))) + theme.MEDIUM
        whole = QRectF(self.rect())
        return whole.adjusted(left, line * 0.7, -theme.MEDIUM, -2 * line - theme.SMALL)

    def _top(self) -> str:
        return count_text(max((bar.count for bar in self._bars), default=0))

    def _rect(self, number: int) -> QRectF:
        area, bar = self._area(), self._bars[number]
        width = area.width() / len(self._bars)
        height = area.height() * bar.count / max(1, max(each.count for each in self._bars))
        # What is there is seen, however rare it is.
        height = max(height, 2.0) if bar.count else 0.0
        gap = min(2.0, width * 0.15)
        return QRectF(area.left() + number * width + gap / 2, area.bottom() - height, width - gap, height)

    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.colors()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colors.surface))
        if self._bars:
            self._paint_bars(painter)
        border = QColor(colors.accent if self.hasFocus() else colors.border)
        painter.setPen(QPen(border, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()

    def _paint_bars(self, painter: QPainter) -> None:
        colors, area = theme.colors(), self._area()
        for number in range(len(self._bars)):
            chosen = number == self._at
            painter.fillRect(self._rect(number), QColor(colors.text if chosen else colors.accent))
        painter.setPen(QPen(QColor(colors.muted), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        line = self.fontMetrics().height()
        below = QRectF(area.left(), area.bottom() + 2, area.width(), line)
        low, high = str(self._bars[0].low), str(self._bars[-1].high)
        if low == high:
            painter.drawText(below, Qt.AlignmentFlag.AlignHCenter, low)
        else:
            painter.drawText(below, Qt.AlignmentFlag.AlignLeft, low)
            painter.drawText(below, Qt.AlignmentFlag.AlignRight, high)
        painter.drawText(below.translated(0, line), Qt.AlignmentFlag.AlignHCenter, self._of)
        beside = QRectF(theme.SMALL, area.top() - line / 2, area.left() - theme.MEDIUM, line)
        for text in (self._top(), _UP):
            painter.drawText(beside, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
            beside.translate(0, line)

    # Events

    def _point(self, number: int | None) -> None:
        if number != self._at:
            self._at = number
            self.pointed.emit("" if number is None else bar_words(self._bars[number]))
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        area, place = self._area(), event.position()
        inside = bool(self._bars) and area.left() <= place.x() < area.right()
        number = int((place.x() - area.left()) / area.width() * len(self._bars)) if inside else None
        self._point(number)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._point(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None or not self._bars or event.modifiers():
            event.ignore()
            return
        first = 0 if step > 0 else len(self._bars) - 1
        self._point(first if self._at is None else max(0, min(len(self._bars) - 1, self._at + step)))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()


_POSITION = "position in the row"
_POSITIONS = "values of all rows, one after the other"


class RowCharts(QWidget):
    """Follows a picture of ragged rows, and which of them is chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("raggedCharts")
        self._picture: Picture | None = None
        self._shown: Interpretation | None = None
        self._row: int | None = None
        self._drawn: RowNumbers | None = None
        self.title = plain_label("", role="paneTitle", wrap=False)
        self.said = ElidedLabel("raggedReadout", role="muted")
        self.said.setMinimumWidth(1)
        self.one = tool_button("raggedRowButton", "Plot the chosen row", "Row")
        self.all = tool_button("raggedAllButton", "Plot the values of all rows", "All values")
        self._choice = QButtonGroup(self)
        for button in (self.one, self.all):
            button.setCheckable(True)
            self._choice.addButton(button)
        self.one.setChecked(True)
        self.chart = LineChart("raggedChart", "Values of the chosen row")
        self.lengths = LengthsView()
        self._lay_out()
        self._choice.buttonClicked.connect(lambda _button: self._draw())
        self.chart.pointed.connect(self._say)
        self.lengths.pointed.connect(self.said.set_text)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(theme.SMALL)
        for widget in (self.title, self.one, self.all):
            head.addWidget(widget)
        head.addWidget(self.said, 1)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setObjectName("raggedSplitter")
        split.setChildrenCollapsible(False)
        split.addWidget(self.chart)
        split.addWidget(self.lengths)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addLayout(head)
        layout.addWidget(split, 1)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.chart.restyle()
        self.lengths.update()
        self._draw()

    def set_picture(self, picture: Picture, decoded: bool) -> None:
        """Show the rows of another picture, with or without the CF conventions; the chosen row stays."""
        same = self._picture is not None and self._picture.node.path == picture.node.path
        self._picture, self._shown = picture, shown_rows(picture.node, decoded)
        if not same:
            self._row = 0 if len(picture.values) else None
        for widget in (self.chart, self.one, self.all):
            widget.setVisible(self._shown is not None)
        self.refresh()

    def set_row(self, row: int | None) -> None:
        """Choose a row by its number in the list."""
        if row is not None and row != self._row:
            self._row = row
            self._draw()

    def refresh(self) -> None:
        """More rows have come."""
        if self._picture is not None:
            rows = rows_come(self._picture)
            shape, axes = self._picture.node.shape, self._picture.plan.slice.axes
            listed = len(self._picture.values)
            first = f", first {count_text(listed)}" if axes and listed < shape[axes[0]] else ""
            self.lengths.set_bars(length_bars(_objects(rows)), f"length of a row{first}")
        self._draw()

    def clear(self) -> None:
        """Let go of everything."""
        self._picture = self._shown = self._drawn = self._row = None
        self.chart.set_lines([])
        self.lengths.set_bars(())

    def _draw(self) -> None:
        picture, shown = self._picture, self._shown
        if picture is None or shown is None:
            self.title.setText("")
            return
        if self.all.isChecked():
            rows = rows_come(picture)
            drawn = all_numbers(shown, rows)
            few = "" if drawn.rows == len(rows) else f" of {count_text(len(rows))}"
            self.title.setText(f"All values of {count_text(drawn.rows)}{few} rows")
        else:
            drawn = self._row_numbers(picture, shown)
            index = "" if self._row is None else str(picture.plan.ranges[0][self._row])
            stale = self._row is not None and picture.is_stale_at((self._row,))
            self.title.setText(f"Row {index}{f' ({STALE_NAME})' if stale else ''}" if index else "No row")
        self._show(drawn, shown)

    def _row_numbers(self, picture: Picture, shown: Interpretation) -> RowNumbers:
        row = None if self._row is None or self._row >= len(picture.values) else picture.values[self._row]
        if not isinstance(row, np.ndarray) or picture.state_at((self._row or 0,)) is ChunkState.PENDING:
            row = np.zeros(0, picture.node.type.inner.dtype)
        return row_numbers(shown, row)

    def _show(self, drawn: RowNumbers, shown: Interpretation) -> None:
        self._drawn = drawn
        whole = self.all.isChecked()
        self.chart.setAccessibleName("Values of all rows" if whole else "Values of the chosen row")
        self.chart.set_axis(None, _POSITIONS if whole else _POSITION, shown.dates)
        states = np.full(len(drawn.places), ChunkState.DONE, np.uint8)
        accent = theme.colors().accent
        # Where whole rows are stale the title says so.
        stale = np.zeros(len(drawn.places), bool)
        self.chart.set_lines([chart_line(drawn.places, drawn.numbers, states, accent, "o", stale)])
        self.said.set_text("no values" if not len(drawn.places) else "")

    def _say(self, place: float | None) -> None:
        drawn, shown = self._drawn, self._shown
        if place is None or drawn is None or shown is None or not len(drawn.places):
            self.said.set_text("")
            return
        at = int(np.clip(np.searchsorted(drawn.places, place - 0.5), 0, len(drawn.places) - 1))
        number = drawn.numbers[at]
        if np.isnan(number):
            self.said.set_text(f"position {int(drawn.places[at])}   no value")
            return
        text = shown.dates.text(float(number)) if shown.dates is not None else value_text(number)
        self.said.set_text(f"position {int(drawn.places[at])}   {text} {shown.units}".rstrip())


def _objects(rows: list[np.ndarray]) -> np.ndarray:
    found = np.empty(len(rows), object)
    found[:] = rows
    return found
