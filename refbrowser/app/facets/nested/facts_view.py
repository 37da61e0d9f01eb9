"""Names and values about a field, in columns."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.parts import plain_label

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
