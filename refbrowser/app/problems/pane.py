"""The problems pane: every fault and warning of every opened document, and the way to its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
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

from refbrowser.app import icons, theme
from refbrowser.app.problems.model import DOCUMENT, LINE, MESSAGE, PLACE, SEVERITY, ProblemsModel, Row
from refbrowser.app.widgets import hint_label, plain_label, push_button, tool_button

if TYPE_CHECKING:
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument

NOTHING_OPEN = "Faults and warnings of opened documents appear here."
SOUND = "No problems found."
HIDDEN = "No problem fits the filter."
NO_FIX = "Fix"
_WIDTHS = {SEVERITY: 30, PLACE: 150, LINE: 56, DOCUMENT: 110}


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
        self.model = ProblemsModel(self)
        self._table = _Table()
        self._table.setModel(self.model)
        self._lay_out_columns()
        self._faults = _toggle("problemsFaults", "Show faults")
        self._warnings = _toggle("problemsWarnings", "Show warnings")
        self._filter = QLineEdit()
        self._filter.setObjectName("problemsFilter")
        self._filter.setAccessibleName("Filter problems")
        self._filter.setPlaceholderText("Filter problems")
        self._filter.setClearButtonEnabled(True)
        self._filter.textChanged.connect(lambda _text: self._apply_filter())
        for toggle in (self._faults, self._warnings):
            toggle.toggled.connect(lambda _on: self._apply_filter())
        self._shown = plain_label("", role="muted", wrap=False)
        self._shown.setObjectName("problemsShown")
        self._fix = push_button(NO_FIX, "problemsFixButton", self._fix_current)
        self._copy = push_button("Copy", "problemsCopyButton", self.copy)
        self._copy.setToolTip("Copy the selected problems as text; all of them where none is selected")
        self._again = push_button("Look again", "problemsLookAgainButton", self.look_again)
        self._again.setToolTip("Look for problems again; nothing is read for it (F7)")
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
        self._table.selectionModel().currentChanged.connect(lambda *_: self._show_fix())
        documents.added.connect(self._added)
        documents.removed.connect(lambda _document: self.refresh())
        self.setFocusProxy(self._table)
        self.refresh()

    def _build(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(theme.SMALL, theme.SMALL, theme.SMALL, 0)
        top.setSpacing(theme.MEDIUM)
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

    # What is shown

    def refresh(self) -> None:
        """Show the newest problems of all documents; the current one stays where it is still there."""
        current = self.current()
        documents = self._documents.all()
        rows = [Row(document, problem) for document in documents for problem in document.problems.found.items]
        self.model.set_rows(rows)
        self._keep(current)
        found = [document.problems.found for document in documents]
        faults, warnings = (sum(getattr(each, name) for each in found) for name in ("faults", "warnings"))
        self._faults.setText(f"Faults {theme.count_text(faults)}")
        self._warnings.setText(f"Warnings {theme.count_text(warnings)}")
        more = sum(each.more for each in found)
        self._more.setText(f"and {theme.count_text(more)} more, which are not listed" if more else "")
        self._more.setVisible(bool(more))
        self._table.setColumnHidden(DOCUMENT, len(documents) < 2)
        self._draw_icons()
        self._show_state()
        self.counted.emit(faults, warnings)

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
        count = self.model.rowCount()
        if not count:
            return
        at = self._table.currentIndex().row()
        start = at if at >= 0 else (-1 if step > 0 else 0)
        index = self.model.index((start + step) % count, MESSAGE)
        self._table.setCurrentIndex(index)
        self._go(index)

    def copy(self) -> None:
        """Put the selected problems on the clipboard as text; all that are shown where none is selected."""
        chosen = sorted({index.row() for index in self._table.selectionModel().selectedRows()})
        rows = [self.model.row(number) for number in chosen] if chosen else self.model.rows()
        lines = (f"{row.document.path}: {row.problem.text}" for row in rows if row is not None)
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
        shown, listed = self.model.rowCount(), self.model.listed
        hint = HIDDEN if listed else SOUND if self._documents.all() else NOTHING_OPEN
        self._hint.setText(hint)
        self._pages.setCurrentWidget(self._table if shown else self._hint)
        is_part = shown != listed
        self._shown.setText(f"{theme.count_text(shown)} of {theme.count_text(listed)}" if is_part else "")
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

    def _draw_icons(self) -> None:
        scheme = theme.colors()
        self._faults.setIcon(icons.icon("fault", scheme.fault))
        self._warnings.setIcon(icons.icon("warning", scheme.warning))

    def _go(self, index: QModelIndex) -> None:
        row = self.model.row(index.row())
        if row is not None:
            self.placeWanted.emit(*row)

    def _fix_current(self) -> None:
        row = self.current()
        if row is not None and row.problem.fix is not None:
            self.fixWanted.emit(*row)


class _Table(QTableView):
    """The table itself."""

    entered_return = Signal(QModelIndex)
    copyWanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("problemsView")
        self.setAccessibleName("Problems")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setIconSize(QSize(16, 16))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(theme.ROW)
        self.horizontalHeader().setHighlightSections(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.entered_return.emit(self.currentIndex())
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
