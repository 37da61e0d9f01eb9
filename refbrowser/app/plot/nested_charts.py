"""Charts of the numbers in nested values: which field, which chart, and the facts beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.plot.axes.charts import BarsChart, PointsChart
from refbrowser.app.plot.plot_cards import PlotCards
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import (
    hint_label,
    plain_label,
    push_button,
    show_progress,
    tool_button,
)
from refbrowser.errors import RefbrowserError
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.views.nested.nested_numbers import (
    FieldChoice,
    FieldNumbers,
    choices_of,
    dates_of,
    neighbours_of,
    paired,
    spread_in_rows,
)
from refbrowser.views.nested.nested_tally import (
    NO_BARS,
    UNASKED,
    Collected,
    FieldTally,
    collect,
    length_facts,
    memory_of,
    number_facts,
)
from refbrowser.views.numbers import DateScale, value_text
from refbrowser.views.words import one_line
from refbrowser.words import count_text, plural, size_text

if TYPE_CHECKING:
    from refbrowser.app.plot.reader import PlotSource
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.views.nested.nested_numbers import FieldChoice


def extent_words(found: Collected, are_points: bool) -> str:
    """Return which rows a plot is of; one of points may be of less than were counted."""
    if not found.of_rows:
        return "No rows"
    whole, rows = count_text(found.of_rows), found.point_rows if are_points else found.rows
    unit = plural(found.of_rows, "row")
    words = f"All {whole} {unit}" if rows == found.of_rows else f"First {count_text(rows)} of {whole} {unit}"
    if not found.is_complete and rows == found.rows:
        words = f"{words} (*)"
    return f"{words}; {count_text(found.skipped)} could not be read" if found.skipped else words


def facts_of(node: ArrayNode, choice: FieldChoice, found: Collected | None) -> list[Fact]:
    """Return what is told of a field."""
    values = node.rows
    decoded, stored = memory_of(values)
    facts = [("Rows", count_text(values.length)), ("Memory", size_text(decoded))]
    if stored is not None:
        facts.append(("Stored", size_text(stored)))
    if found is None:
        return facts
    field = found.sums[0]
    first = "" if found.is_complete else " *"
    told = [("Values", count_text(field.values)), ("Missing", count_text(field.missing))]
    if field.unreadable:
        told.append(("Unreadable", count_text(field.unreadable)))
    told += length_facts(field) + number_facts(choice, field)
    return facts + [(f"{title}{first}", text) for title, text in told]


Fact = tuple[str, str]


class FactsView(QWidget):
    """Facts below each other, or in two columns where there is little height."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("nestedFacts")
        self.setAccessibleName("Facts about the field")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._grid = QGridLayout()
        column.addLayout(self._grid)
        column.addStretch(1)
        self._grid.setHorizontalSpacing(theme.MEDIUM)
        self._grid.setVerticalSpacing(theme.SMALL)
        self._labels: list[tuple[QLabel, ElidedLabel]] = []
        self._facts: Sequence[Fact] = ()
        self._columns = 1

    def facts(self) -> dict[str, str]:
        """Return what is shown."""
        return dict(self._facts)

    def set_columns(self, columns: int) -> None:
        """Put the facts in so many columns."""
        if columns != self._columns:
            self._columns = columns
            self._place()

    def set_facts(self, facts: Sequence[Fact]) -> None:
        """Show other facts."""
        self._facts = tuple(facts)
        while len(self._labels) < len(facts):
            value = ElidedLabel("nestedFact")
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._labels.append((plain_label(role="muted", wrap=False), value))
        for (name, value), (title, text) in zip(self._labels, facts, strict=False):
            name.setText(title)
            value.set_text(text)
            value.setAccessibleName(f"{title}: {text}")
        self._place()

    def _place(self) -> None:
        for name, value in self._labels:
            self._grid.removeWidget(name)
            self._grid.removeWidget(value)
        per_column = -(-len(self._facts) // self._columns)
        for number, (name, value) in enumerate(self._labels):
            shown = number < len(self._facts)
            if shown:
                column, row = divmod(number, per_column)
                self._grid.addWidget(name, row, 2 * column)
                self._grid.addWidget(value, row, 2 * column + 1)
            name.setVisible(shown)
            value.setVisible(shown)
        for column in range(4):
            self._grid.setColumnStretch(column, column % 2 if column < 2 * self._columns else 0)


class ChartKind(IntEnum):
    """The kinds of plots, in the order in which they are offered."""

    HISTOGRAM = 0
    INDEX = 1
    LENGTHS = 2
    FIELDS = 3


_TITLES = {
    ChartKind.HISTOGRAM: "Histogram of values",
    ChartKind.INDEX: "Values by row",
    ChartKind.LENGTHS: "Lengths of lists",
    ChartKind.FIELDS: "Field against field",
}


class ChartChoice(QWidget):
    """The controls.

    Signals
    -------
    changed()
        Something else is to be plotted.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fields: list[FieldChoice] = []
        #: How many of them are of the array that is shown.
        self._own = 0
        self.kind = _combo("nestedChartCombo", "Kind of plot", 118)
        self.upwards = _combo("nestedFieldCombo", "Field to plot", 84)
        self.across = _combo("nestedAcrossCombo", "Field that it is plotted against", 84)
        self.levels = _combo("nestedLevelCombo", "Level of the lists", 70)
        self._against = plain_label("against", role="muted", wrap=False)
        self.log = tool_button(
            "nestedLogButton", "Show counts on a logarithmic axis, so that rare values are seen", "Log"
        )
        self.log.setCheckable(True)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        for widget in (self.kind, self.upwards, self._against, self.across, self.levels):
            layout.addWidget(widget)
        layout.addStretch(1)
        layout.addWidget(self.log)
        for combo in (self.kind, self.upwards, self.across, self.levels):
            combo.activated.connect(self._chosen)
        self.log.toggled.connect(lambda _on: self.changed.emit())

    # What is chosen

    def chart(self) -> ChartKind:
        """Return the kind of plot."""
        data = self.kind.currentData()
        return ChartKind.HISTOGRAM if data is None else ChartKind(data)

    def fields(self) -> tuple[FieldChoice, ...]:
        """Return the fields that are needed: the one upwards first."""
        chosen = [self.upwards.currentData()]
        if self.chart() is ChartKind.FIELDS:
            chosen.append(self.across.currentData())
        return tuple(self._fields[number] for number in chosen if number is not None)

    def level(self) -> int:
        """Return the level of lists whose lengths are plotted, 0 for the outermost one."""
        return max(0, self.levels.currentIndex())

    def is_log(self) -> bool:
        """Whether counts are on a logarithmic axis."""
        return self.log.isChecked()

    def choose(self, kind: ChartKind, upwards: str = "", across: str = "") -> None:
        """Choose a plot and its fields by their titles, as a user does."""
        self.kind.setCurrentIndex(self.kind.findData(int(kind)))
        self._offer_fields()
        for combo, title in ((self.upwards, upwards), (self.across, across)):
            if title:
                combo.setCurrentIndex(combo.findText(title))
        self._chosen()

    # What is offered

    def set_array(self, node: ArrayNode | None, hierarchy: Hierarchy | None) -> None:
        """Offer the fields of another array, and those beside it; what was chosen stays where it can."""
        before = self.chart()
        self._fields = [] if node is None or node.nested is None else choices_of(node)
        self._own = len(self._fields)
        numbers = sum(field.is_number for field in self._fields)
        beside = neighbours_of(hierarchy, node) if node is not None and numbers else []
        self._fields = [*self._fields, *beside]
        offered = {
            ChartKind.HISTOGRAM: numbers > 0,
            ChartKind.INDEX: numbers > 0,
            ChartKind.LENGTHS: any(field.lists for field in self._fields[: self._own]),
            ChartKind.FIELDS: numbers > 0 and numbers + len(beside) > 1,
        }
        self.kind.clear()
        for each, title in _TITLES.items():
            if offered[each]:
                self.kind.addItem(title, int(each))
        self.kind.setCurrentIndex(max(0, self.kind.findData(int(before))))
        self._offer_fields()

    def _offer_fields(self) -> None:
        lengths = self.chart() is ChartKind.LENGTHS
        numbers = [
            number
            for number, field in enumerate(self._fields)
            if (field.lists if lengths else field.is_number) or not self.kind.count()
        ]
        own = [number for number in numbers if number < self._own]
        _fill(self.upwards, self._fields, own, 0)
        _fill(self.across, self._fields, numbers, 1)
        self._show_controls()

    def _show_controls(self) -> None:
        kind, fields = self.chart(), self.fields()
        self.upwards.setVisible(self.upwards.count() > 1)
        for widget in (self._against, self.across):
            widget.setVisible(kind is ChartKind.FIELDS)
        lists = fields[0].lists if fields else 0
        if self.levels.count() != lists:
            self.levels.clear()
            self.levels.addItems([f"Level {level + 1}" for level in range(lists)])
        self.levels.setVisible(kind is ChartKind.LENGTHS and lists > 1)
        self.log.setVisible(kind in (ChartKind.HISTOGRAM, ChartKind.LENGTHS))

    def _chosen(self, _index: int = 0) -> None:
        self._offer_fields()
        self.changed.emit()


def _combo(name: str, title: str, width: int) -> QComboBox:
    combo = QComboBox()
    combo.setObjectName(name)
    combo.setAccessibleName(title)
    combo.setToolTip(title)
    combo.setMinimumWidth(width)
    combo.setMaximumWidth(2 * width)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return combo


def _fill(combo: QComboBox, fields: Sequence[FieldChoice], numbers: Sequence[int], at: int) -> None:
    """Offer fields by their numbers; the one that was chosen stays, else it is the `at`-th one."""
    before = combo.currentText()
    combo.clear()
    for number in numbers:
        combo.addItem(one_line(fields[number].title), number)
    found = combo.findText(before)
    combo.setCurrentIndex(found if found >= 0 else min(at, combo.count() - 1))


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


#: From this width on facts stand beside the plot, below it in less; and how wide they are there.
_WIDE, _FACTS = 420, 204
#: What Qt takes for no greatest width.
_ANY_WIDTH = 16_777_215


class ChartsPane(QWidget):
    """One plot of one field, or of two; `tools` are the controls that stand over it.

    Signals
    -------
    said(str)
        What is under the pointer.
    settled()
        Nothing is being read any more.
    trustReviewRequested()
        The user wants to review what the document may read.
    """

    said = Signal(str)
    settled = Signal()
    trustReviewRequested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("nestedCharts")
        self._reading = Latest(self, "nested charts")
        self._source: PlotSource | None = None
        self._node: ArrayNode | None = None
        self._is_shown = self._is_reading = self._everything = False
        #: What was read, and of which fields; or is being read.
        self._found: Collected | None = None
        self._asked: tuple[FieldChoice, ...] = ()
        self.tools = self.choice = ChartChoice()
        self.stage = ChartStage()
        self.cards = PlotCards("nestedCharts")
        self.facts = FactsView()
        self.extent = ElidedLabel("nestedExtent", role="muted")
        self.progress = QProgressBar()
        self.progress.setObjectName("nestedProgress")
        self.progress.setAccessibleName("Rows read")
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(90)
        self.all = push_button("Read all", "nestedReadAllButton", self.read_all)
        self.cancel = push_button("Cancel", "nestedCancelButton", self.cancel_read)
        self._lay_out()
        self.choice.changed.connect(self._choice_changed)
        self.stage.said.connect(self.said)
        self.cards.retryRequested.connect(self.read_again)
        self.cards.trustReviewRequested.connect(self.trustReviewRequested)

    # What is shown

    def set_array(self, source: PlotSource | None, node: ArrayNode | None) -> None:
        """Plot another array; the kind of plot stays, and the fields where it has them too."""
        self._stop()
        same = node is not None and self._node is not None and node.path == self._node.path
        self._source, self._node = source, node
        self._everything = self._everything and same
        self._asked, self._found = (), None
        self.choice.set_array(node, None if source is None else source.hierarchy)
        self.stage.clear()
        self._update()

    def set_shown(self, shown: bool) -> None:
        """Read only while somebody looks."""
        self._is_shown = shown
        self._update()

    def is_settled(self) -> bool:
        """Whether all that is to be plotted is read."""
        return not self._is_reading

    def focus_target(self) -> QWidget:
        """Return what takes the keyboard."""
        return self.choice.kind

    def found(self) -> Collected | None:
        """Return what was read."""
        return self._found

    def _choice_changed(self) -> None:
        self._everything = self._everything and self._asked == self.choice.fields()
        self._update()

    def _update(self) -> None:
        """Read what is to be plotted, unless it is there, and plot it."""
        if not self._is_shown or self._node is None or self._node.nested is None:
            return
        fields = self.choice.fields()
        if fields != self._asked:
            self.read_again()
        else:
            self._show()

    # Reading

    def read_again(self) -> None:
        """Read the fields that are chosen."""
        self._stop()
        source, node, fields = self._source, self._node, self.choice.fields()
        dataset = None if source is None else source.dataset
        if source is None or node is None or dataset is None or not fields:
            return
        self._asked, self._found, self._is_reading = fields, None, True
        most = None if self._everything else UNASKED

        def read(control: TaskControl) -> Collected:
            return collect(dataset, node, fields, control, control.send, most)

        title = f"Read {' and '.join(field.title for field in fields)} of {node.path}"
        self._pages.setCurrentWidget(self._plot_page)
        self._reading.run(source, title, read, self._done, self._failed, received=self._take)
        self._show()

    def read_all(self) -> None:
        """Read all rows."""
        self._everything = True
        self.read_again()

    def cancel_read(self) -> None:
        """Read no more; what has come stays."""
        self._stop()
        self._show()
        self.settled.emit()

    def _stop(self) -> None:
        self._is_reading = False
        self._reading.cancel()

    def _take(self, found: Collected) -> None:
        self._found = found
        self._show()

    def _done(self, found: Collected) -> None:
        self._is_reading = False
        self._take(found)
        self.settled.emit()

    def _failed(self, error: BaseException) -> None:
        self._is_reading = False
        if self._node is not None:
            self.cards.show_failure(self._node.path, error)
            self._pages.setCurrentWidget(self.cards)
        self._show_reading()
        self.settled.emit()

    # Showing

    def _show(self) -> None:
        node, fields = self._node, self._asked
        if node is None or not fields:
            return
        self.facts.set_facts(facts_of(node, fields[0], self._found))
        self._show_reading()
        if self._found is None:
            self.stage.clear()
            return
        try:
            self.stage.show(
                self.choice.chart(), fields, self._found, self.choice.level(), self.choice.is_log()
            )
            self._pages.setCurrentWidget(self._plot_page)
        except RefbrowserError as error:
            self.cards.show_hint(
                "These do not belong together", f"{error.message}; {error.advice}.".capitalize()
            )
            self._pages.setCurrentWidget(self.cards)

    def _show_reading(self) -> None:
        found, reading = self._found, self._is_reading
        nested = None if self._node is None else self._node.nested
        total = 0 if nested is None else nested.length
        self.progress.setVisible(reading)
        self.cancel.setVisible(reading)
        if found is None:
            self.extent.set_text("Reading…" if reading else "")
            self.progress.setRange(0, 0)
        else:
            are_points = self.choice.chart() in (ChartKind.INDEX, ChartKind.FIELDS)
            self.extent.set_text(extent_words(found, are_points))
            show_progress(self.progress, found.rows, total)
        more = found is not None and not found.is_complete and not self._everything
        self.all.setVisible(more and not reading)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.stage.restyle()

    # Assembly

    def _lay_out(self) -> None:
        foot = QHBoxLayout()
        foot.setSpacing(theme.MEDIUM)
        foot.addWidget(self.extent, 1)
        for widget in (self.progress, self.all, self.cancel):
            foot.addWidget(widget)
            widget.hide()
        self._plot_page = self.stage
        self._pages = QStackedWidget()
        for page in (self.stage, self.cards):
            self._pages.addWidget(page)
        # A card may be cut where there is little room; the pane must not grow for one that is not seen.
        self.cards.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.setSpacing(theme.LARGE)
        self._both.addWidget(self._pages, 1)
        # More facts than there is height for are scrolled, so that a plot keeps its room.
        self._beside = QScrollArea()
        self._beside.setObjectName("nestedFactsArea")
        self._beside.setAccessibleName("Facts about the field")
        self._beside.setFrameShape(QFrame.Shape.NoFrame)
        self._beside.setWidgetResizable(True)
        self._beside.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._beside.setWidget(self.facts)
        self._both.addWidget(self._beside)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(self._both, 1)
        layout.addLayout(foot)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = self.width() >= _WIDE
        direction = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        self._both.setDirection(direction)
        self.facts.set_columns(1 if is_wide else 2)
        self._beside.setMaximumWidth(_FACTS if is_wide else _ANY_WIDTH)
        self._beside.setMinimumWidth(_FACTS if is_wide else 0)
        self._both.setStretch(0, 1 if is_wide else 2)
        self._both.setStretch(1, 0 if is_wide else 1)
