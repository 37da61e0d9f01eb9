"""The problems pane: every fault and warning of every opened document, and the way to its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QStackedWidget,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.panes.problems.model import LINE, MESSAGE, PLACE, SEVERITY, ProblemsModel, Row
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.parts import hint_label, plain_label, push_button, tool_button
from refbrowser.views.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument

NOTHING_OPEN = "Faults and warnings of opened documents appear here."
SOUND = "No problems found."
HIDDEN = "No problem fits the filter."
NO_FIX = "Fix"
_WIDTHS = {SEVERITY: 30, PLACE: 150, LINE: 56}


class ProblemsPane(QWidget):
    """The list with its filter, the fix of the selected problem, and counts.

    Signals
    -------
    placeWanted(object, object)
        The user wants to go to the place of a `Problem` of an `OpenDocument`.
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
        self.model = ProblemsModel(self)
        self._table = _Table()
        self._table.setModel(self.model)
        self._lay_out_columns()
        self._faults = _toggle("problemsFaults", "Show faults")
        self._warnings = _toggle("problemsWarnings", "Show warnings")
        self._filter = QLineEdit()
        self._filter.setObjectName("problemsFilter")
        self._filter.setAccessibleName("Filter problems")
        self._filter.setPlaceholderText("Filter")
        self._filter.setClearButtonEnabled(True)
        self._filter.textChanged.connect(lambda _text: self._apply_filter())
        for toggle in (self._faults, self._warnings):
            toggle.toggled.connect(lambda _on: self._apply_filter())
        self._shown = plain_label("", role="muted", wrap=False)
        self._shown.setObjectName("problemsShown")
        self._fix = push_button(NO_FIX, "problemsFixButton", self._fix_current)
        self._copy = push_button("Copy", "problemsCopyButton", self.copy)
        self._copy.setToolTip("Copy the selected problems as text; all of them where none is selected")
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
        for toggle in (self._faults, self._warnings):
            top.addWidget(toggle)
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

    def _lay_out_columns(self) -> None:
        header = self._table.horizontalHeader()
        header.setMinimumSectionSize(24)
        header.setSectionResizeMode(MESSAGE, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(SEVERITY, QHeaderView.ResizeMode.Fixed)
        for section, width in _WIDTHS.items():
            header.resizeSection(section, width)
        header.sectionResized.connect(lambda *_: self._fit_current())

    # What is shown

    def refresh(self) -> None:
        """Show the newest problems of all documents, those of the current one first."""
        current = self.current()
        documents = sorted(self._documents.all(), key=lambda each: each is not self._document)
        rows = [Row(document, problem) for document in documents for problem in document.problems.found.items]
        self.model.set_rows(rows, name_documents=len(documents) > 1)
        self._keep(current)
        found = [document.problems.found for document in documents]
        faults, warnings = (sum(getattr(each, name) for each in found) for name in ("faults", "warnings"))
        self._faults.setText(f"Faults {count_text(faults)}")
        self._warnings.setText(f"Warnings {count_text(warnings)}")
        more = sum(each.more for each in found)
        self._more.setText(f"and {count_text(more)} more, which are not listed" if more else "")
        self._more.setVisible(bool(more))
        self._draw_icons()
        self._show_state()
        self.counted.emit(faults, warnings)

    def set_document(self, document: OpenDocument | None) -> None:
        """Put the problems of the document that is shown before those of others."""
        if document is not self._document:
            self._document = document
            self.refresh()

    @property
    def table(self) -> QTableView:
        """The table of problems."""
        return self._table

    def current(self) -> Row | None:
        """Return the selected problem."""
        return self.model.row(self._table.currentIndex().row())

    def look_again(self) -> None:
        """Look for the problems of all documents again."""
        for document in self._documents.all():
            document.problems.look_again()

    def step(self, step: int) -> None:
        """Go to the next problem (1) or the one before (-1), from the last one on to the first."""
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
        """Put the selected problems on the clipboard as text; all that are shown where none is selected."""
        chosen = sorted({index.row() for index in self._table.selectionModel().selectedRows()})
        rows = (
            [row for number in chosen for row in self.model.rows_at(number)] if chosen else self.model.rows()
        )
        lines = dict.fromkeys(f"{row.document.path}: {row.problem.text}" for row in rows)
        QGuiApplication.clipboard().setText("\n".join(lines))

    # Reactions

    def _added(self, document: OpenDocument) -> None:
        document.problems.changed.connect(self.refresh)
        self.refresh()

    def _apply_filter(self) -> None:
        current = self.current()
        self.model.set_filter(self._faults.isChecked(), self._warnings.isChecked(), self._filter.text())
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
        fix = None if row is None else row.problem.fix
        self._fix.setEnabled(fix is not None)
        metrics = self._fix.fontMetrics()
        title = NO_FIX if fix is None else fix.title
        self._fix.setText(metrics.elidedText(title, Qt.TextElideMode.ElideMiddle, 220).replace("&", "&&"))
        self._fix.setAccessibleName(title.rstrip("…"))
        self._fix.setToolTip(
            theme.plain_tooltip("Select a problem that one click repairs" if fix is None else title)
        )

    def _height_of(self, index: QModelIndex) -> int:
        """Return the height in which a problem's text is seen whole, if it is no higher than the table."""
        width = self._table.columnWidth(MESSAGE) - 2 * theme.MEDIUM
        metrics = self._table.fontMetrics()
        height = metrics.boundingRect(0, 0, width, 0, Qt.TextFlag.TextWordWrap, index.data()).height()
        needed = theme.ROW + (round(height / metrics.lineSpacing()) - 1) * metrics.lineSpacing()
        return max(theme.ROW, min(needed, self._table.viewport().height()))

    def _draw_icons(self) -> None:
        scheme = theme.colors()
        self._faults.setIcon(icons.icon("fault", scheme.fault))
        self._warnings.setIcon(icons.icon("warning", scheme.warning))

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
        """Show the whole text of the current problem; the others have one line."""
        current = self._table.currentIndex()
        if self._tall >= 0:
            self._table.setRowHeight(self._tall, theme.ROW)
        self._tall = current.row()
        if self.model.row(current.row()) is not None:
            self._table.setRowHeight(current.row(), self._height_of(current.siblingAtColumn(MESSAGE)))

    def _fix_current(self) -> None:
        row = self.current()
        if row is not None and row.problem.fix is not None:
            self.fixWanted.emit(*row)


class _Table(QTableView):
    """The table itself."""

    entered_return = Signal(QModelIndex)
    turnWanted = Signal(QModelIndex)
    released = Signal()
    copyWanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.is_pressed = False
        self.setObjectName("problemsView")
        self.setAccessibleName("Problems")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setShowGrid(False)
        self.setWordWrap(True)
        self.setTabKeyNavigation(False)
        self.setIconSize(QSize(16, 16))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(theme.ROW)
        self.horizontalHeader().setHighlightSections(False)

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
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copyWanted.emit()
        else:
            super().keyPressEvent(event)


def _toggle(name: str, words: str) -> QToolButton:
    button = tool_button(name, words)
    button.setCheckable(True)
    button.setChecked(True)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button
