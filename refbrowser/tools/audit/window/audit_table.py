"""The findings of an audit as a table of lines that fold."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHeaderView

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.findings_list import FindingsTable, severity_icon
from refbrowser.app.widgets.table_models import LEFT, RIGHT, ROOT, Index, TitledModel
from refbrowser.tools.audit.report.audit_page import AuditLine, AuditPage
from refbrowser.words import count_text

COLUMNS = ("", "Places", "Finding", "Where")
SEVERITY, PLACES, FINDING, WHERE = range(4)
_WIDTHS = {SEVERITY: 30, PLACES: 58, WHERE: 200}
#: Width in pixels from which on there is a column for where findings are; below it the texts tell.
_WITH_WHERE = 520
_INDENT = "      "


class AuditModel(TitledModel):
    """One row for each line of a page."""

    titles = COLUMNS

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.page = AuditPage()
        #: Whether the text of a finding tells where it is, too.
        self.is_narrow = False

    def set_page(self, page: AuditPage) -> None:
        """Show other lines."""
        self.beginResetModel()
        self.page = page
        self.endResetModel()

    def line(self, number: int) -> AuditLine | None:
        """Return the line in a row."""
        lines = self.page.lines
        return lines[number] if 0 <= number < len(lines) else None

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self.page.lines)

    def alignment(self, column: int) -> Qt.AlignmentFlag:
        """Put counts to the right, all else to the left."""
        return RIGHT if column == PLACES else LEFT

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line = self.line(index.row())
        if line is None:
            return None
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(line, column, self.is_narrow)
        if role == Qt.ItemDataRole.DecorationRole and column == SEVERITY:
            return severity_icon(line.is_fault)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            if column == SEVERITY:
                return str(line.severity)
            return (
                f"level {line.depth + 1}: {line.text}"
                if column == FINDING
                else _text(line, column, self.is_narrow)
            )
        if role == Qt.ItemDataRole.ToolTipRole:
            return theme.plain_tooltip(f"{line.text}\n{line.where}".strip())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(column)
        if role == Qt.ItemDataRole.ForegroundRole and column in (WHERE, PLACES):
            return QColor(theme.colors().muted)
        if role == Qt.ItemDataRole.FontRole and line.depth == 0 and column == FINDING:
            font = QFont()
            font.setBold(True)
            return font
        return None


def _text(line: AuditLine, column: int, is_narrow: bool) -> str:
    if column == FINDING:
        # What does not fold stands under the words of what does.
        mark = line.mark or ("   " if line.depth == 0 else "")
        where = f" · {line.where}" if is_narrow and line.where and not line.depth else ""
        return f"{_INDENT * line.depth}{mark}{line.text}{where}"
    if column == WHERE:
        return line.where
    return count_text(line.count) if column == PLACES else ""


class AuditTable(FindingsTable):
    """The table itself.

    Signals
    -------
    chosen(object)
        A line was clicked, or Return was pressed on it.
    turnWanted(object)
        A line is to be folded or unfolded.
    explainWanted()
        The current line is to be explained.
    """

    chosen = Signal(object)
    turnWanted = Signal(object)
    explainWanted = Signal()

    def __init__(self) -> None:
        lines = AuditModel()
        super().__init__("auditView", "Findings of the audit", lines, _WIDTHS, FINDING)
        self.lines = lines
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.clicked.connect(self._clicked)

    def current(self) -> AuditLine | None:
        """Return the current line."""
        return self.lines.line(self.currentIndex().row())

    def selected(self) -> list[AuditLine]:
        """Return the selected lines, in their order."""
        return [line for line in map(self.lines.line, self.selected_rows()) if line is not None]

    def set_page(self, page: AuditPage) -> None:
        """Show other lines; the current one stays where it is among them."""
        current, top, row = self.current(), self.verticalScrollBar().value(), self.currentIndex().row()
        self.lines.set_page(page)
        at = -1 if current is None else page.find(current.key)
        if current is not None and at < 0:
            # It was repaired: the one that stands in its place is next.
            at = min(row, len(page.lines) - 1)
        if at >= 0:
            self.setCurrentIndex(self.lines.index(at, FINDING))
        self.verticalScrollBar().setValue(top)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = self.width() < _WITH_WHERE
        if is_narrow != self.isColumnHidden(WHERE):
            self.setColumnHidden(WHERE, is_narrow)
            self.lines.is_narrow = is_narrow
            self.viewport().update()

    def _clicked(self, index: QModelIndex) -> None:
        line = self.lines.line(index.row())
        if line is None:
            return
        if line.is_folded is not None:
            self.turnWanted.emit(line)
        else:
            self.chosen.emit(line)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        line, key = self.current(), event.key()
        turns = {Qt.Key.Key_Left: False, Qt.Key.Key_Right: True}
        if line is None:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit(line)
        elif (key == Qt.Key.Key_Space and line.is_folded is not None) or (
            key in turns and line.is_folded is turns[Qt.Key(key)]
        ):
            self.turnWanted.emit(line)
        elif key == Qt.Key.Key_E and not event.modifiers():
            self.explainWanted.emit()
        else:
            super().keyPressEvent(event)
