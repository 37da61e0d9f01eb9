"""Problems of all opened documents as rows, under headings by document and kind, and filtered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QFont

from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.table_models import LEFT, RIGHT, ROOT, Index, TitledModel
from refbrowser.views.words import count_text, one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.engine.problems.problem import Problem

COLUMNS = ("", "Problem", "Place", "Line")
SEVERITY, MESSAGE, PLACE, LINE = range(4)
#: So many problems of one kind are listed below their heading at first; more are folded.
_UNFOLDED = 5
#: What differs between problems of one kind: what is quoted, and numbers.
_OWN_PARTS = re.compile(r"""(['"\u201c]).*?(?:\1|\u201d)|[\d.,_]*\d""")


class Row(NamedTuple):
    """A problem and its document."""

    document: OpenDocument
    problem: Problem

    @property
    def identity(self) -> tuple[int, str]:
        """What stays the same when problems are looked for again."""
        return self.document.number, self.problem.text


@dataclass(frozen=True, slots=True)
class Heading:
    """A row over problems: over all of a document, or over several of one kind in it.

    Attributes
    ----------
    key
        What stays the same when problems are looked for again: the document's number, and the kind.
    """

    key: tuple[Any, ...]
    title: str
    rows: tuple[Row, ...]
    is_folded: bool

    @property
    def is_of_document(self) -> bool:
        """Whether it stands over all problems of a document."""
        return len(self.key) == 1

    @property
    def text(self) -> str:
        """The words of the row."""
        return f"{'▸' if self.is_folded else '▾'} {self.title}"


class ProblemsModel(TitledModel):
    """One row per problem that the filter lets through, below a heading where several are of one kind.

    Documents come in the order in which they are given, faults before warnings.
    """

    titles = COLUMNS

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: list[Row] = []
        self._names_documents = False
        self._rows: list[Row] = []
        self._lines: list[Row | Heading] = []
        #: Keys of headings that the user folded or unfolded, other than they were.
        self._turned: set[tuple[Any, ...]] = set()
        self._faults, self._warnings, self._text = True, True, ""

    def set_rows(self, rows: list[Row], *, name_documents: bool) -> None:
        """Show other problems, those of each document below its name where that is wanted."""
        self._all, self._names_documents = rows, name_documents
        self._filter()

    def turn(self, number: int) -> None:
        """Fold what is below a heading, or unfold it."""
        heading = self.heading(number)
        if heading is not None:
            self._turned ^= {heading.key}
            self._filter()

    def heading(self, number: int) -> Heading | None:
        """Return the heading in a row."""
        line = self._line(number)
        return line if isinstance(line, Heading) else None

    def show(self, row: Row) -> int:
        """Return the number of a problem's row, unfolded where it was folded."""
        for _ in range(2):  # its document, then its kind
            for number, line in enumerate(self._lines):
                if isinstance(line, Heading) and line.is_folded and row in line.rows:
                    self.turn(number)
                    break
        return self.find(row.identity)

    def set_filter(self, faults: bool, warnings: bool, text: str) -> None:
        """Show faults, warnings, and of those what holds a text."""
        self._faults, self._warnings, self._text = faults, warnings, text.strip().casefold()
        self._filter()

    def row(self, number: int) -> Row | None:
        """Return the problem in a row; None for a heading."""
        line = self._line(number)
        return line if isinstance(line, Row) else None

    def rows(self) -> list[Row]:
        """Return the problems that the filter lets through, folded ones too, in their order."""
        return list(self._rows)

    def rows_at(self, number: int) -> tuple[Row, ...]:
        """Return the problem in a row, or those below a heading."""
        line = self._line(number)
        if line is None:
            return ()
        return line.rows if isinstance(line, Heading) else (line,)

    def find(self, identity: tuple[int, str]) -> int:
        """Return the row of a problem, or -1 where it is not there or folded."""
        found = (
            at for at, line in enumerate(self._lines) if isinstance(line, Row) and line.identity == identity
        )
        return next(found, -1)

    def _line(self, number: int) -> Row | Heading | None:
        return self._lines[number] if 0 <= number < len(self._lines) else None

    @property
    def listed(self) -> int:
        """Number of problems before the filter."""
        return len(self._all)

    def _filter(self) -> None:
        self.beginResetModel()
        documents = _grouped((row.document.number, row) for row in self._all if self._is_shown(row))
        self._rows, self._lines = [], []
        for number, rows in documents.items():
            # Those of one kind stand together, where the first of them does.
            kinds = _grouped((_kind(row.problem), row) for row in rows)
            ordered = tuple(row for alike in kinds.values() for row in alike)
            self._rows += ordered
            if self._names_documents and self._add_heading((number,), rows[0].document.title, ordered):
                continue
            for kind, alike in kinds.items():
                several = len(alike) > 1
                if several and self._add_heading((number, *kind), _alike_title(alike), tuple(alike)):
                    continue
                self._lines += alike
        self.endResetModel()

    def _add_heading(self, key: tuple[Any, ...], title: str, rows: tuple[Row, ...]) -> bool:
        """Add a heading; return whether what is below it is folded."""
        is_many = len(key) > 1 and len(rows) > _UNFOLDED
        # What a filter finds is seen.
        is_folded = not self._text and is_many ^ (key in self._turned)
        title = title if len(key) > 1 else f"{title}: {len(rows)}"
        self._lines.append(Heading(key, one_line(title), rows, is_folded))
        return is_folded

    def _is_shown(self, row: Row) -> bool:
        if not (self._faults if row.problem.is_fault else self._warnings):
            return False
        return not self._text or self._text in f"{row.problem.text} {row.document.title}".casefold()

    # Qt's side

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._lines)

    def alignment(self, column: int) -> Qt.AlignmentFlag:
        """Put lines to the right, all else to the left."""
        return RIGHT if column == LINE else LEFT

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line = self._line(index.row())
        if line is None:
            return None
        if isinstance(line, Heading):
            return _of_heading(line, index.column(), role)
        row, problem = line, line.problem
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, index.column())
        if role == Qt.ItemDataRole.DecorationRole and index.column() == SEVERITY:
            return _severity_icon(problem)
        if role == Qt.ItemDataRole.ToolTipRole:
            return theme.plain_tooltip(_tooltip(row))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            if index.column() == SEVERITY:
                return str(problem.severity)
            return _text(row, index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(index.column())
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == LINE:
            return QColor(theme.colors().muted)
        return None


def _grouped(pairs: Iterator[tuple[Any, Row]]) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for key, row in pairs:
        groups.setdefault(key, []).append(row)
    return groups


def _kind(problem: Problem) -> tuple[str, ...]:
    """Return what problems of one kind have in common."""
    return (problem.severity, problem.kind, _OWN_PARTS.sub("…", problem.message))


def _alike_title(rows: list[Row]) -> str:
    """Return the words over problems of one kind: what they have in common, or else what the first says."""
    first = rows[0].problem
    alike = all(row.problem.message == first.message for row in rows)
    message = first.message if alike else _kind(first)[-1]
    return f"{message[:1].upper()}{message[1:]}: {count_text(sum(row.problem.count for row in rows))}"


def _severity_icon(problem: Problem) -> Any:
    scheme = theme.colors()
    name = "fault" if problem.is_fault else "warning"
    return icons.icon(name, scheme.fault if problem.is_fault else scheme.warning)


def _of_heading(heading: Heading, column: int, role: int) -> Any:
    if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) and column == MESSAGE:
        return heading.text
    if role == Qt.ItemDataRole.DecorationRole and column == SEVERITY and not heading.is_of_document:
        return _severity_icon(heading.rows[0].problem)
    if role == Qt.ItemDataRole.ToolTipRole:
        return theme.plain_tooltip(heading.title)
    if role == Qt.ItemDataRole.FontRole:
        font = QFont()
        font.setBold(True)
        return font
    return None


def _text(row: Row, column: int) -> str:
    problem = row.problem
    if column == MESSAGE:
        times = f"  ×{count_text(problem.count)}" if problem.count > 1 else ""
        advice = f"  {problem.advice}" if problem.advice else ""
        message = problem.message[:1].upper() + problem.message[1:]
        return one_line(f"{message}{times}.{advice}" if advice else f"{message}{times}")
    if column == PLACE:
        return one_line(problem.where)
    return f"{problem.line}:{problem.place.column}" if column == LINE and problem.line is not None else ""


def _tooltip(row: Row) -> str:
    problem = row.problem
    kind = f"{problem.severity} {problem.kind}"
    fix = "" if problem.fix is None else f"Fix: {problem.fix.title}"
    message = problem.message[:1].upper() + problem.message[1:]
    return "\n".join(part for part in (kind, message, problem.advice, str(problem.place), fix) if part)
