"""The list of findings: a row each, where it is, and a button for what repairs it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTableView, QVBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.findings_list import FindingsFilter, FindingsTable, severity_icon, show_fix
from refbrowser.app.widgets.small_widgets import hint_label, plain_label, push_button
from refbrowser.app.widgets.table_models import LEFT, RIGHT, ROOT, Index, TitledModel
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.engine.findings.listed_finding import ListedFinding


COLUMNS = ("", "Problem", "Place", "Line")
SEVERITY, MESSAGE, PLACE, LINE = range(4)
#: So many findings of one kind are listed below their heading at first; more are folded.
_UNFOLDED = 5
#: What differs between findings of one kind: what is quoted, and numbers.
_OWN_PARTS = re.compile(r"""(['"\u201c]).*?(?:\1|\u201d)|[\d.,_]*\d""")


class Row(NamedTuple):
    """A finding and its document."""

    document: OpenDocument
    finding: ListedFinding

    @property
    def identity(self) -> tuple[int, str]:
        """What stays the same when findings are looked for again."""
        return self.document.number, self.finding.text


@dataclass(frozen=True, slots=True)
class Heading:
    """A row over findings: over all of a document, or over several of one kind in it.

    Attributes
    ----------
    key
        What stays the same when findings are looked for again: the document's number, and the kind.
    """

    key: tuple[Any, ...]
    title: str
    rows: tuple[Row, ...]
    is_folded: bool

    @property
    def is_of_document(self) -> bool:
        """Whether it stands over all findings of a document."""
        return len(self.key) == 1

    @property
    def text(self) -> str:
        """The words of the row."""
        return f"{'▸' if self.is_folded else '▾'} {self.title}"


class FindingsModel(TitledModel):
    """One row per finding that the filter lets through, below a heading where several are of one kind.

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
        """Show other findings, those of each document below its name where that is wanted."""
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
        """Return the number of a finding's row, unfolded where it was folded."""
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
        """Return the finding in a row; None for a heading."""
        line = self._line(number)
        return line if isinstance(line, Row) else None

    def rows(self) -> list[Row]:
        """Return the findings that the filter lets through, folded ones too, in their order."""
        return list(self._rows)

    def rows_at(self, number: int) -> tuple[Row, ...]:
        """Return the finding in a row, or those below a heading."""
        line = self._line(number)
        if line is None:
            return ()
        return line.rows if isinstance(line, Heading) else (line,)

    def find(self, identity: tuple[int, str]) -> int:
        """Return the row of a finding, or -1 where it is not there or folded."""
        found = (
            at for at, line in enumerate(self._lines) if isinstance(line, Row) and line.identity == identity
        )
        return next(found, -1)

    def _line(self, number: int) -> Row | Heading | None:
        return self._lines[number] if 0 <= number < len(self._lines) else None

    @property
    def listed(self) -> int:
        """Number of findings before the filter."""
        return len(self._all)

    def _filter(self) -> None:
        self.beginResetModel()
        documents = _grouped((row.document.number, row) for row in self._all if self._is_shown(row))
        self._rows, self._lines = [], []
        for number, rows in documents.items():
            # Those of one kind stand together, where the first of them does.
            kinds = _grouped((_kind(row.finding), row) for row in rows)
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
        if not (self._faults if row.finding.is_fault else self._warnings):
            return False
        return not self._text or self._text in f"{row.finding.text} {row.document.title}".casefold()

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
        row, finding = line, line.finding
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, index.column())
        if role == Qt.ItemDataRole.DecorationRole and index.column() == SEVERITY:
            return severity_icon(finding.is_fault)
        if role == Qt.ItemDataRole.ToolTipRole:
            return theme.plain_tooltip(_tooltip(row))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            if index.column() == SEVERITY:
                return str(finding.severity)
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


def _kind(finding: ListedFinding) -> tuple[str, ...]:
    """Return what findings of one kind have in common."""
    return (finding.severity, finding.kind, _OWN_PARTS.sub("…", finding.message))


def _alike_title(rows: list[Row]) -> str:
    """Return the words over findings of one kind: what they have in common, or else what the first says."""
    first = rows[0].finding
    alike = all(row.finding.message == first.message for row in rows)
    message = first.message if alike else _kind(first)[-1]
    return f"{message[:1].upper()}{message[1:]}: {count_text(sum(row.finding.count for row in rows))}"


def _of_heading(heading: Heading, column: int, role: int) -> Any:
    if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) and column == MESSAGE:
        return heading.text
    if role == Qt.ItemDataRole.DecorationRole and column == SEVERITY and not heading.is_of_document:
        return severity_icon(heading.rows[0].finding.is_fault)
    if role == Qt.ItemDataRole.ToolTipRole:
        return theme.plain_tooltip(heading.title)
    if role == Qt.ItemDataRole.FontRole:
        font = QFont()
        font.setBold(True)
        return font
    return None


def _text(row: Row, column: int) -> str:
    finding = row.finding
    if column == MESSAGE:
        times = f"  ×{count_text(finding.count)}" if finding.count > 1 else ""
        advice = f"  {finding.advice}" if finding.advice else ""
        message = finding.message[:1].upper() + finding.message[1:]
        return one_line(f"{message}{times}.{advice}" if advice else f"{message}{times}")
    if column == PLACE:
        return one_line(finding.where)
    return f"{finding.line}:{finding.place.column}" if column == LINE and finding.line is not None else ""


def _tooltip(row: Row) -> str:
    finding = row.finding
    kind = f"{finding.severity} {finding.kind}"
    fix = "" if finding.fix is None else f"Fix: {finding.fix.title}"
    message = finding.message[:1].upper() + finding.message[1:]
    return "\n".join(part for part in (kind, message, finding.advice, str(finding.place), fix) if part)


NOTHING_OPEN = "Faults and warnings of opened documents appear here."
SOUND = "No problems found."
HIDDEN = "No problem fits the filter."
NO_FIX = "Fix"
_WIDTHS = {SEVERITY: 30, PLACE: 150, LINE: 56}


class FindingsPane(QWidget):
    """The list with its filter, the fix of the selected finding, and counts.

    Signals
    -------
    placeWanted(object, object)
        The user wants to go to the place of a `ListedFinding` of an `OpenDocument`.
    fixWanted(object, object)
        The user wants to have it repaired.
    counted(int, int)
        Faults and warnings of all documents.
    """

    placeWanted = Signal(object, object)
    fixWanted = Signal(object, object)
    counted = Signal(int, int)

    def __init__(self, documents: Documents, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._documents = documents
        self._document: OpenDocument | None = None
        #: The row that shows its whole text, or -1.
        self._tall = -1
        self.model = FindingsModel(self)
        self._table = _Table(self.model)
        self._filter = FindingsFilter("problems", "Filter problems", "Filter")
        self._filter.typed.connect(self._apply_filter)
        self._filter.toggled.connect(self._apply_filter)
        self._shown = plain_label("", role="muted", wrap=False)
        self._shown.setObjectName("problemsShown")
        self._fix = push_button(NO_FIX, "problemsFixButton", self._fix_current)
        self._copy = push_button("Copy", "problemsCopyButton", self.copy)
        self._copy.setToolTip("Copy the selected problems as text, or all of them if none is selected")
        self._again = push_button("Check again", "problemsLookAgainButton", self.look_again)
        self._again.setToolTip("Check for problems again; nothing is read for it (F7)")
        self._hint = hint_label(NOTHING_OPEN)
        self._more = plain_label("", role="muted", wrap=False)
        self._more.setObjectName("problemsMore")
        self._more.setContentsMargins(theme.MEDIUM, 0, 0, theme.SMALL)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._hint)
        self._pages.addWidget(self._table)
        self._build()
        self._table.clicked.connect(self._go)
        self._table.entered_return.connect(self._go)
        self._table.copyWanted.connect(self.copy)
        self._table.turnWanted.connect(self._turn)
        self._table.released.connect(self._fit_current)
        self._table.horizontalHeader().sectionResized.connect(lambda *_: self._fit_current())
        self._table.selectionModel().currentChanged.connect(lambda *_: self._current_changed())
        self.model.modelReset.connect(self._span_headings)
        documents.added.connect(self._added)
        documents.removed.connect(lambda _document: self.refresh())
        self.setFocusProxy(self._table)
        self.refresh()

    def _build(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(theme.SMALL, theme.SMALL, theme.SMALL, 0)
        top.setSpacing(theme.SMALL)
        top.addWidget(self._filter, 1)
        top.addWidget(self._shown)
        for button in (self._fix, self._copy, self._again):
            top.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addLayout(top)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self._more)

    # What is shown

    def refresh(self) -> None:
        """Show the newest findings of all documents, in the order of the tree: a click moves none of them."""
        current = self.current()
        documents = self._documents.all()
        rows = [Row(document, finding) for document in documents for finding in document.findings.found.items]
        self.model.set_rows(rows, name_documents=len(documents) > 1)
        self._keep(current)
        found = [document.findings.found for document in documents]
        faults, warnings = (sum(getattr(each, name) for each in found) for name in ("faults", "warnings"))
        self._filter.set_counts(faults, warnings)
        more = sum(each.more for each in found)
        self._more.setText(f"and {count_text(more)} more, which are not listed" if more else "")
        self._more.setVisible(bool(more))
        self._filter.restyle()
        self._show_state()
        self.counted.emit(faults, warnings)

    def set_document(self, document: OpenDocument | None) -> None:
        """Put the findings of the document that is shown before those of others."""
        if document is not self._document:
            self._document = document
            self.refresh()

    @property
    def table(self) -> QTableView:
        """The table of findings."""
        return self._table

    def current(self) -> Row | None:
        """Return the selected finding."""
        return self.model.row(self._table.currentIndex().row())

    def look_again(self) -> None:
        """Look for the findings of all documents again."""
        for document in self._documents.all():
            document.findings.look_again()

    def step(self, step: int) -> None:
        """Go to the next finding (1) or the one before (-1), from the last one on to the first."""
        rows = self.model.rows()
        if not rows:
            return
        # From a heading the next one is the first below it.
        here = self.model.rows_at(self._table.currentIndex().row())
        at = rows.index(here[0]) - (step > 0 and self.current() is None) if here else -1 if step > 0 else 0
        index = self.model.index(self.model.show(rows[(at + step) % len(rows)]), MESSAGE)
        self._table.setCurrentIndex(index)
        self._go(index)

    def copy(self) -> None:
        """Put the selected findings on the clipboard as text; all that are shown where none is selected."""
        chosen = self._table.selected_rows()
        rows = (
            [row for number in chosen for row in self.model.rows_at(number)] if chosen else self.model.rows()
        )
        lines = dict.fromkeys(f"{row.document.path}: {row.finding.text}" for row in rows)
        QGuiApplication.clipboard().setText("\n".join(lines))

    # Reactions

    def _added(self, document: OpenDocument) -> None:
        document.findings.changed.connect(self.refresh)
        self.refresh()

    def _apply_filter(self) -> None:
        current = self.current()
        self.model.set_filter(*self._filter.chosen())
        self._keep(current)
        self._show_state()

    def _keep(self, current: Row | None) -> None:
        at = -1 if current is None else self.model.find(current.identity)
        if at >= 0:
            self._table.setCurrentIndex(self.model.index(at, MESSAGE))

    def _show_state(self) -> None:
        shown, listed = len(self.model.rows()), self.model.listed
        hint = HIDDEN if listed else SOUND if self._documents.all() else NOTHING_OPEN
        self._hint.setText(hint)
        self._pages.setCurrentWidget(self._table if shown else self._hint)
        is_part = shown != listed
        self._shown.setText(f"{count_text(shown)} of {count_text(listed)}" if is_part else "")
        self._copy.setEnabled(bool(shown))
        self._again.setEnabled(bool(self._documents.all()))
        self._show_fix()

    def _show_fix(self) -> None:
        row = self.current()
        fix = None if row is None else row.finding.fix
        self._fix.setEnabled(fix is not None)
        if fix is None:
            show_fix(self._fix, NO_FIX, "Select a problem that one click repairs")
        else:
            show_fix(self._fix, fix.title, fix.title)

    def _height_of(self, index: QModelIndex) -> int:
        """Return the height in which a finding's text is seen whole, if it is no higher than the table."""
        width = self._table.columnWidth(MESSAGE) - 2 * theme.MEDIUM
        metrics = self._table.fontMetrics()
        height = metrics.boundingRect(0, 0, width, 0, Qt.TextFlag.TextWordWrap, index.data()).height()
        needed = theme.ROW + (round(height / metrics.lineSpacing()) - 1) * metrics.lineSpacing()
        return max(theme.ROW, min(needed, self._table.viewport().height()))

    def _go(self, index: QModelIndex) -> None:
        row = self.model.row(index.row())
        if row is not None:
            self.placeWanted.emit(*row)
        else:
            self._turn(index)

    def _turn(self, index: QModelIndex) -> None:
        heading = self.model.heading(index.row())
        if heading is None:
            return
        self.model.turn(index.row())
        numbers = (number for number in range(self.model.rowCount()) if self._has_key(number, heading.key))
        self._table.setCurrentIndex(self.model.index(next(numbers, 0), MESSAGE))

    def _has_key(self, number: int, key: tuple[object, ...]) -> bool:
        heading = self.model.heading(number)
        return heading is not None and heading.key == key

    def _span_headings(self) -> None:
        if self._tall >= 0:
            self._table.setRowHeight(self._tall, theme.ROW)
        self._tall = -1
        self._table.clearSpans()
        for number in range(self.model.rowCount()):
            if self.model.heading(number) is not None:
                self._table.setSpan(number, MESSAGE, 1, LINE - MESSAGE + 1)

    def _current_changed(self) -> None:
        # While a button is down rows stay under the pointer: it would be let go over another one.
        if not self._table.is_pressed:
            self._fit_current()
        self._show_fix()

    def _fit_current(self) -> None:
        """Show the whole text of the current finding; the others have one line."""
        current = self._table.currentIndex()
        if self._tall >= 0:
            self._table.setRowHeight(self._tall, theme.ROW)
        self._tall = current.row()
        if self.model.row(current.row()) is not None:
            self._table.setRowHeight(current.row(), self._height_of(current.siblingAtColumn(MESSAGE)))

    def _fix_current(self) -> None:
        row = self.current()
        if row is not None and row.finding.fix is not None:
            self.fixWanted.emit(*row)


class _Table(FindingsTable):
    """The table itself."""

    entered_return = Signal(QModelIndex)
    turnWanted = Signal(QModelIndex)
    released = Signal()

    def __init__(self, model: FindingsModel) -> None:
        super().__init__("problemsView", "Problems", model, _WIDTHS, MESSAGE)
        self.is_pressed = False
        self.setWordWrap(True)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.is_pressed = True
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        self.is_pressed = False
        self.released.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.entered_return.emit(self.currentIndex())
        elif event.key() == Qt.Key.Key_Space and self.currentIndex().isValid():
            self.turnWanted.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)
