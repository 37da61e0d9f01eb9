"""The table of a document's templates: name, text, and how often each is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFont
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.table_models import ROOT, Index, TitledModel
from refbrowser.views.words import one_line
from refbrowser.words import count_text

COLUMNS = ("Name", "Text", "Uses")
#: The table is as high as its rows, within these.
LEAST_ROWS, MOST_ROWS = 2, 8


@dataclass(frozen=True, slots=True)
class TemplateRow:
    """One template as the table shows it.

    Attributes
    ----------
    name
        The document's name of it; also of a value that only the user gave.
    text
        What is edited or in the document; the given value where there is one.
    is_given
        Whether the user gave a value, which is used instead and never saved.
    fault
        Why the template cannot be used.
    """

    name: str
    text: str
    is_given: bool = False
    is_pending: bool = False
    fault: str = ""


class _TemplatesModel(TitledModel):
    titles = COLUMNS

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: list[TemplateRow] = []
        self.uses: Mapping[str, int] | None = None

    def show_rows(self, rows: list[TemplateRow]) -> None:
        """Show other rows; rows of the same names are changed in place, so that the current one stays."""
        if [row.name for row in rows] == [row.name for row in self.rows]:
            changed = [number for number, row in enumerate(rows) if row != self.rows[number]]
            self.rows = rows
            for number in changed:
                self.dataChanged.emit(self.index(number, 0), self.index(number, 2))
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def show_uses(self, uses: Mapping[str, int] | None) -> None:
        """Show how often each template is used; None while that is not known."""
        self.uses = uses
        if self.rows:
            self.dataChanged.emit(self.index(0, 2), self.index(len(self.rows) - 1, 2))

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self.rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == Qt.ItemDataRole.FontRole:
            return _font(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole and column == 2:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ForegroundRole:
            return _brush(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return theme.plain_tooltip(row.fault or (row.text if column == 1 else row.name))
        return None

    def _text(self, row: TemplateRow, column: int) -> str:
        if column == 0:
            return f"{'✕ ' if row.fault else ''}{one_line(row.name)}{' *' if row.is_pending else ''}"
        if column == 1:
            return f"{one_line(row.text)}  (given, not saved)" if row.is_given else one_line(row.text)
        return "…" if self.uses is None else count_text(self.uses.get(row.name, 0))


def _font(row: TemplateRow, column: int) -> QFont | None:
    if column == 2:
        return None
    font = theme.mono_font()
    font.setBold(row.is_pending)
    font.setItalic(row.is_given and column == 1)
    return font


def _brush(row: TemplateRow, column: int) -> QBrush | None:
    scheme = theme.colors()
    if row.fault:
        return QBrush(QColor(scheme.fault))
    return QBrush(QColor(scheme.muted)) if column == 2 else None


class TemplatesTable(QTableView):
    """The templates in document order.

    Signals
    -------
    chosen(object)
        The name of the template that became current, or None.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("templatesTable")
        self.setAccessibleName("Templates of the document")
        self._model = _TemplatesModel(self)
        self.setModel(self._model)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 8)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(0, 90)
        header.resizeSection(2, 64)
        self.selectionModel().currentRowChanged.connect(lambda _new, _old: self.chosen.emit(self.current()))

    def current(self) -> str | None:
        """Return the name of the current template."""
        row = self.currentIndex().row()
        return self._model.rows[row].name if 0 <= row < len(self._model.rows) else None

    def choose(self, name: str | None) -> None:
        """Make a template current; where it is not there, none is."""
        names = [row.name for row in self._model.rows]
        if name in names:
            self.setCurrentIndex(self._model.index(names.index(name), 0))
        else:
            self.setCurrentIndex(QModelIndex())

    def show_rows(self, rows: list[TemplateRow]) -> None:
        """Show other templates; the current one stays where it is still there."""
        name = self.current()
        self._model.show_rows(rows)
        shown = max(LEAST_ROWS, min(len(rows), MOST_ROWS)) + 1
        self.setFixedHeight(self.verticalHeader().defaultSectionSize() * shown + 8)
        if self.current() != name:
            self.choose(name)

    def uses(self, name: str) -> int | None:
        """Return how often a template is used; None while that is counted."""
        return None if self._model.uses is None else self._model.uses.get(name, 0)

    def show_uses(self, uses: Mapping[str, int] | None) -> None:
        """Show how often each is used; None while that is counted."""
        self._model.show_uses(uses)
