"""Where a plot of nested values is drawn: as bars, or as points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from refbrowser.app.facets.nested.bars_chart import BarsChart
from refbrowser.app.facets.nested.chart_choice import ChartKind
from refbrowser.app.facets.nested.points_chart import PointsChart
from refbrowser.app.widgets.parts import hint_label
from refbrowser.views.nested.nested_numbers import FieldChoice, FieldNumbers, dates_of, paired, spread_in_rows
from refbrowser.views.nested.nested_tally import NO_BARS, Collected, FieldTally
from refbrowser.views.numbers import DateScale, value_text
from refbrowser.views.words import count_text

_NO_VALUES = "There are no numbers in these rows."
_NO_LISTS = "There are no lists in these rows."


class ChartStage(QStackedWidget):
    """Draws one of the kinds of plots.

    Signals
    -------
    said(str)
        What is under the pointer, or at the keyboard's cursor.
    """

    said = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("nestedStage")
        self.setMinimumHeight(90)
        self.bars, self.points, self.hint = BarsChart(), PointsChart(), hint_label("")
        for widget in (self.hint, self.bars, self.points):
            self.addWidget(widget)
        self._pair: tuple[FieldNumbers, FieldNumbers] | None = None
        self._names: tuple[str, str] = ("", "")
        #: Whether what is across are the rows alone.
        self._is_by_row = False
        self._dates: tuple[DateScale | None, DateScale | None] = (None, None)
        self.bars.pointed.connect(self.said)
        self.points.pointed.connect(self._say_point)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.bars.restyle()
        self.points.restyle()

    def clear(self) -> None:
        """Show nothing."""
        self._say("")
        self._pair = None
        self.bars.set_bars(NO_BARS, "", "")
        self.points.set_points(np.zeros(0), np.zeros(0), ("", ""))

    def show(  # type: ignore[override]
        self, kind: ChartKind, fields: Sequence[FieldChoice], found: Collected, level: int, is_log: bool
    ) -> None:
        """Draw a plot of what was read.

        Raises
        ------
        RefbrowserError
            The values of two fields do not belong together.
        """
        self.said.emit("")
        if kind is ChartKind.FIELDS:
            self._show_pair(fields, found)
        elif kind is ChartKind.INDEX:
            self._show_rows(fields[0], found.fields[0])
        elif kind is ChartKind.LENGTHS:
            self._show_lengths(fields[0], found.sums[0], level, is_log)
        else:
            self._show_histogram(fields[0], found.sums[0], is_log)

    def _say(self, text: str) -> None:
        self.hint.setText(text)
        self.setCurrentWidget(self.hint)

    def _show_histogram(self, field: FieldChoice, found: FieldTally, is_log: bool) -> None:
        bars = found.numbers.bars()
        if not bars.total:
            self._say(_NO_VALUES)
            return
        self.bars.setAccessibleName(f"How often values of {field.title} occur")
        self.bars.set_log(is_log)
        self.bars.set_bars(bars, field.title, "values", dates_of(field.kind))
        self.setCurrentWidget(self.bars)

    def _show_lengths(self, field: FieldChoice, found: FieldTally, level: int, is_log: bool) -> None:
        bars = found.lengths[level].bars() if level < len(found.lengths) else NO_BARS
        if not bars.total:
            self._say(_NO_LISTS)
            return
        self.bars.setAccessibleName(f"How long the lists of {field.title} are")
        self.bars.set_log(is_log)
        self.bars.set_bars(bars, f"length of a list of {field.title}", "lists")
        self.setCurrentWidget(self.bars)

    def _show_rows(self, field: FieldChoice, found: FieldNumbers) -> None:
        rows = replace(found, numbers=spread_in_rows(found))
        name = "row, with its values in order" if field.lists else "row"
        self._show_points((rows, found), (name, field.title), (None, dates_of(field.kind)), not field.lists)
        self._is_by_row = True

    def _show_pair(self, fields: Sequence[FieldChoice], found: Collected) -> None:
        upwards, across = fields[0], fields[-1]
        pair = paired(found.fields[-1], found.fields[0])
        dates = dates_of(across.kind), dates_of(upwards.kind)
        self._show_points(pair, (across.title, upwards.title), dates, joined=False)
        self._is_by_row = False

    def _show_points(
        self,
        pair: tuple[FieldNumbers, FieldNumbers],
        names: tuple[str, str],
        dates: tuple[DateScale | None, DateScale | None],
        joined: bool,
    ) -> None:
        across, upwards = pair
        if not np.any(np.isfinite(across.numbers) & np.isfinite(upwards.numbers)):
            self._say(_NO_VALUES)
            return
        self._pair, self._names, self._dates = pair, names, dates
        self.points.set_points(across.numbers, upwards.numbers, names, dates, joined)
        self.setCurrentWidget(self.points)

    def _say_point(self, number: int | None) -> None:
        if number is None or self._pair is None:
            self.said.emit("")
            return
        parts = [f"row {count_text(int(self._pair[1].rows[number]))}"]
        shown = list(zip(self._names, self._pair, self._dates, strict=True))
        for name, field, dates in shown[1:] if self._is_by_row else shown:
            value = float(field.numbers[number])
            parts.append(f"{name} {value_text(value) if dates is None else dates.text(value)}")
        self.said.emit("   ".join(parts))
