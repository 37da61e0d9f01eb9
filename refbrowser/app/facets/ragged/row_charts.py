"""Over the list of ragged rows: a plot of the chosen row, or of all values, and how long rows are."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from refbrowser.app.facets.ragged.lengths_view import LengthsView
from refbrowser.app.plot.chart import LineChart, chart_line
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.parts import plain_label, tool_button
from refbrowser.views.nested.element_parts import (
    RowNumbers,
    all_numbers,
    length_bars,
    row_numbers,
    rows_come,
    shown_rows,
)
from refbrowser.views.numbers import value_text
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.words import count_text

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
            self.title.setText(f"Row {index}" if index else "No row")
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
        self.chart.set_lines([chart_line(drawn.places, drawn.numbers, states, accent, "o")])
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
