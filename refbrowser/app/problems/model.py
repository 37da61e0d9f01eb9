"""Problems of all opened documents as rows, filtered by severity and text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor

from refbrowser.app import icons, theme
from refbrowser.app.plain_text import one_line
from refbrowser.app.titled_model import LEFT, RIGHT, ROOT, Index, TitledModel

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.engine.problems.problem import Problem

COLUMNS = ("", "Problem", "Place", "Line", "Document")
SEVERITY, MESSAGE, PLACE, LINE, DOCUMENT = range(5)


class Row(NamedTuple):
    """A problem and its document."""

    document: OpenDocument
    problem: Problem

    @property
    def identity(self) -> tuple[int, str]:
        """What stays the same when problems are looked for again."""
        return self.document.number, self.problem.text


class ProblemsModel(TitledModel):
    """One row per problem that the filter lets through: by document, faults first."""

    titles = COLUMNS

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: list[Row] = []
        self._rows: list[Row] = []
        self._faults, self._warnings, self._text = True, True, ""

    def set_rows(self, rows: list[Row]) -> None:
        """Show other problems."""
        self._all = rows
        self._filter()

    def set_filter(self, faults: bool, warnings: bool, text: str) -> None:
        """Show faults, warnings, and of those what holds a text."""
        self._faults, self._warnings, self._text = faults, warnings, text.strip().casefold()
        self._filter()

    def row(self, number: int) -> Row | None:
        """Return the problem in a row."""
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def rows(self) -> list[Row]:
        """Return the problems that are shown."""
        return list(self._rows)

    def find(self, identity: tuple[int, str]) -> int:
        """Return the row of a problem, or -1."""
        return next((at for at, row in enumerate(self._rows) if row.identity == identity), -1)

    @property
    def listed(self) -> int:
        """Number of problems before the filter."""
        return len(self._all)

    def _filter(self) -> None:
        self.beginResetModel()
        self._rows = [row for row in self._all if self._is_shown(row)]
        self.endResetModel()

    def _is_shown(self, row: Row) -> bool:
        if not (self._faults if row.problem.is_fault else self._warnings):
            return False
        return not self._text or self._text in f"{row.problem.text} {row.document.title}".casefold()

    # Qt's side

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def alignment(self, column: int) -> Qt.AlignmentFlag:
        """Put lines to the right, all else to the left."""
        return RIGHT if column == LINE else LEFT

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index.row())
        if row is None:
            return None
        problem = row.problem
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, index.column())
        if role == Qt.ItemDataRole.DecorationRole and index.column() == SEVERITY:
            scheme = theme.colors()
            name = "fault" if problem.is_fault else "warning"
            return icons.icon(name, scheme.fault if problem.is_fault else scheme.warning)
        if role == Qt.ItemDataRole.ToolTipRole:
            return theme.plain_tooltip(_tooltip(row))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            if index.column() == SEVERITY:
                return str(problem.severity)
            return _text(row, index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(index.column())
        if role == Qt.ItemDataRole.ForegroundRole and index.column() in (LINE, DOCUMENT):
            return QColor(theme.colors().muted)
        return None


def _text(row: Row, column: int) -> str:
    problem = row.problem
    if column == MESSAGE:
        times = f"  ×{theme.count_text(problem.count)}" if problem.count > 1 else ""
        advice = f"  {problem.advice}" if problem.advice else ""
        message = problem.message[:1].upper() + problem.message[1:]
        return one_line(f"{message}{times}.{advice}" if advice else f"{message}{times}")
    if column == PLACE:
        return one_line(problem.where)
    if column == LINE:
        return "" if problem.line is None else f"{problem.line}:{problem.place.column}"
    return one_line(row.document.title) if column == DOCUMENT else ""


def _tooltip(row: Row) -> str:
    problem = row.problem
    kind = f"{problem.severity} {problem.kind}"
    fix = "" if problem.fix is None else f"Fix: {problem.fix.title}"
    message = problem.message[:1].upper() + problem.message[1:]
    return "\n".join(part for part in (kind, message, problem.advice, str(problem.place), fix) if part)
