"""The sheet "Which software reads it": readers by arrays, the cause of each cell, and what helps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QPlainTextEdit,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import plain_label, push_button, resize_within_screen
from refbrowser.engine.readers.outcome import ReaderVerdict
from refbrowser.references.edits.edits import SetReference
from refbrowser.tools.readers.public import readers
from refbrowser.tools.readers.report.matrix_words import (
    MARKS,
    WORDS,
    GroupRun,
    cell_about,
    group_words,
    matrix_summary,
    needs_words,
    reader_rows,
)
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.engine.readers.matrix import Cell, Matrix
    from refbrowser.engine.readers.rules import Remedy

_ABOUT = (
    "A row for each reader, a column for arrays that need the same. Nothing is read for it. Select a cell to "
    "see the cause and what helps."
)
#: Characters of the title of a column.
_TITLE = 44


class ReadersSheet(QDialog):
    """Readers by arrays of one document, as it is after each edit.

    Signals
    -------
    exportWanted(object)
        The document is to be exported as a `Remedy` says.
    """

    exportWanted = Signal(object)

    def __init__(self, document: OpenDocument, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("readersSheet")
        self.setWindowTitle("Which software reads it")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        resize_within_screen(self, 960, 680)
        self._document = document
        self._matrix: Matrix | None = None
        self._rows: list[GroupRun] = []
        self._work = Latest(self, "readers")
        self._build()
        self.rejected.connect(self._work.cancel)
        document.destroyed.connect(self.reject)
        document.hierarchyChanged.connect(lambda _extent: self.look())
        self.look()

    # Parts

    def _build(self) -> None:
        heading = plain_label(f"{one_line(self._document.name)}: which software reads it")
        heading.setFont(theme.heading_font())
        self.summary = plain_label()
        self.summary.setObjectName("readersSummary")
        self.table = self._make_table()
        self.detail = QPlainTextEdit()
        self.detail.setObjectName("readersDetail")
        self.detail.setAccessibleName("Cause, source and remedy of the selected cell")
        self.detail.setReadOnly(True)
        self.detail.setTabChangesFocus(True)
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.setObjectName("readersSplitter")
        parts.setChildrenCollapsible(False)
        parts.addWidget(self.table)
        parts.addWidget(self.detail)
        parts.setStretchFactor(0, 3)
        parts.setStretchFactor(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(heading)
        layout.addWidget(plain_label(_ABOUT, role="muted"))
        layout.addWidget(self.summary)
        layout.addWidget(parts, 1)
        layout.addLayout(self._make_buttons())

    def _make_table(self) -> QTableWidget:
        table = QTableWidget()
        table.setObjectName("readersTable")
        table.setAccessibleName("Readers by arrays")
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setTabKeyNavigation(False)
        table.setCornerButtonEnabled(False)
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.verticalHeader().setMinimumSectionSize(theme.ROW)
        table.verticalHeader().setHighlightSections(False)
        table.horizontalHeader().setHighlightSections(False)
        table.horizontalHeader().setMinimumSectionSize(110)
        table.currentCellChanged.connect(lambda *_: self._tell())
        return table

    def _make_buttons(self) -> QHBoxLayout:
        self.export = push_button("Export so that it can be read…", "readersExport", self._export)
        self.export.setToolTip("Open the export with what this reader needs filled in")
        self.edit = push_button("Edit the document", "readersEdit", self._edit)
        self.close_button = push_button("Close", "readersClose", self.reject)
        self.remedy = ElidedLabel("readersRemedy", role="muted")
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.MEDIUM)
        buttons.addWidget(self.remedy, 1)
        for button in (self.edit, self.export, self.close_button):
            buttons.addWidget(button)
        return buttons

    # What is shown

    def look(self) -> None:
        """Work the table out anew, for the document as it is."""
        dataset = self._document.dataset
        if dataset is None:
            return

        def work(control: TaskControl) -> Matrix:
            return readers(dataset, progress=control)

        def failed(error: BaseException) -> None:
            self.summary.setText(error_text(error))

        title = f"Look which software reads {one_line(self._document.name)}"
        self._work.run(self._document, title, work, self._show, failed)

    def _show(self, matrix: Matrix) -> None:
        place = self.table.currentRow(), self.table.currentColumn()
        self._matrix, self._rows = matrix, reader_rows(matrix)
        self.summary.setText(matrix_summary(matrix))
        table = self.table
        table.blockSignals(True)
        table.setRowCount(len(self._rows))
        table.setColumnCount(len(matrix.groups))
        table.setVerticalHeaderLabels([row.label for row in self._rows])
        for column, group in enumerate(matrix.groups):
            title = QTableWidgetItem(_short(group_words(group)))
            title.setToolTip(theme.plain_tooltip(f"{group_words(group, 12)}\nNeeds: {needs_words(group)}"))
            table.setHorizontalHeaderItem(column, title)
        for number, row in enumerate(self._rows):
            for column, cell in enumerate(row.cells):
                table.setItem(number, column, self._item(row, column, cell))
        first = next(
            (number for number, row in enumerate(self._rows) if row.verdict is not ReaderVerdict.DECODES), 0
        )
        table.setCurrentCell(place[0] if place[0] >= 0 else first, max(place[1], 0))
        table.blockSignals(False)
        self._share_out()
        self._tell()

    def _item(self, row: GroupRun, column: int, cell: Cell) -> QTableWidgetItem:
        words = f"{MARKS[cell.verdict]} {WORDS[cell.verdict]}"
        item = QTableWidgetItem(words)
        ground, text = _colors(cell.verdict)
        item.setBackground(QBrush(QColor(ground)))
        item.setForeground(QBrush(QColor(text)))
        about = f"{row.label}, {self._column_words(column)}: {WORDS[cell.verdict]}"
        item.setData(Qt.ItemDataRole.AccessibleTextRole, about)
        return item

    def _column_words(self, column: int) -> str:
        return "" if self._matrix is None else group_words(self._matrix.groups[column])

    def _share_out(self) -> None:
        """Let columns fill the room, none of them narrower than its title."""
        header, table = self.table.horizontalHeader(), self.table
        is_few = table.columnCount() * header.minimumSectionSize() < table.width()
        mode = QHeaderView.ResizeMode.Stretch if is_few else QHeaderView.ResizeMode.ResizeToContents
        header.setSectionResizeMode(mode)

    def changeEvent(self, event: QEvent) -> None:
        """Take the colours of another theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._matrix is not None:
            self._show(self._matrix)

    # The selected cell

    def current_remedy(self) -> Remedy | None:
        """Return what makes the arrays of the selected cell readable; None where nothing is to be done."""
        cell = self._cell()
        return None if cell is None else cell.remedy

    def _cell(self) -> Cell | None:
        row, column = self.table.currentRow(), self.table.currentColumn()
        if not (0 <= row < len(self._rows) and 0 <= column < len(self._rows[row].cells)):
            return None
        return self._rows[row].cells[column]

    def _tell(self) -> None:
        cell, remedy, matrix = self._cell(), self.current_remedy(), self._matrix
        self.export.setEnabled(remedy is not None and bool(remedy.export))
        self.edit.setVisible(remedy is not None and bool(remedy.add))
        self.remedy.set_text("" if remedy is None else f"{remedy.words}.")
        if cell is None or matrix is None:
            self.detail.setPlainText("")
            return
        row, column = self._rows[self.table.currentRow()], self.table.currentColumn()
        lines = cell_about(row.label, matrix.groups[column], cell, matrix.document)
        self.detail.setPlainText("\n".join(map(one_line, lines)))

    def _export(self) -> None:
        remedy = self.current_remedy()
        if remedy is not None:
            self.exportWanted.emit(remedy)

    def _edit(self) -> None:
        """Add the keys that the remedy has, as one step each."""
        remedy = self.current_remedy()
        for key, value in {} if remedy is None else remedy.add.items():
            self._document.apply(SetReference(key, json.dumps(value)))


def _colors(verdict: ReaderVerdict) -> tuple[str, str]:
    """Return the ground and the text of a cell; the mark and the word in it say the same."""
    scheme = theme.colors()
    if verdict is ReaderVerdict.DECODES:
        return scheme.surface, scheme.good
    if verdict is ReaderVerdict.UNKNOWN:
        return scheme.raised, scheme.muted
    if verdict is ReaderVerdict.WRONG:
        return scheme.stale_soft, scheme.stale
    return (
        (scheme.warning_soft, scheme.warning)
        if verdict is ReaderVerdict.OPENS
        else (scheme.fault_soft, scheme.fault)
    )


def _short(text: str) -> str:
    return text if len(text) <= _TITLE else f"{text[: _TITLE - 1]}…"
