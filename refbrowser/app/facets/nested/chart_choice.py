"""What is to be plotted of a nested array: the kind of plot, the field, what it is plotted against."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label, tool_button
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.views.nested.nested_numbers import FieldChoice, choices_of, neighbours_of
from refbrowser.views.words import one_line


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
