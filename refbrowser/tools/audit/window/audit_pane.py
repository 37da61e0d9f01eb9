"""The page Audit: what is to be looked at and what that costs, what was found, and all about one finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.findings_list import FindingsFilter, show_fix
from refbrowser.app.widgets.small_widgets import hint_label, one_shot, plain_label, push_button, scrolled
from refbrowser.engine.audit.audit_plan import AuditRequest
from refbrowser.errors import RefbrowserError
from refbrowser.tools.audit.report.audit_page import AuditPage, Order, PageChoice, about, copied, page_of
from refbrowser.tools.audit.window.audit_order import AuditOrder, flowing
from refbrowser.tools.audit.window.audit_table import AuditTable
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted

if TYPE_CHECKING:
    from refbrowser.app.controller.document_audit import AskedCost
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.engine.audit.audit_result import AuditResult
    from refbrowser.engine.findings.listed_finding import ListedFinding
    from refbrowser.findings.finding import Finding
    from refbrowser.tools.audit.report.audit_page import AuditLine

NOTHING_OPEN = (
    "What an audit of the document finds appears here: what is dead, cut short, shifted or missing."
)
NOT_YET = "Nothing has been checked yet. Choose how far to look, and press Start."
SOUND = "No findings."
SOUND_ALONE = (
    "Nothing is wrong in the document itself. Its files have not been checked yet: choose how far to look, "
    "and press Start."
)
HIDDEN = "No finding fits the filter."
_ORDERS = {Order.SEVERITY: "worst first", Order.COUNT: "most places first", Order.FILE: "by file"}
_TYPED = 150


class AuditPane(QWidget):
    """The page of one window; it is about the current document.

    Signals
    -------
    placeWanted(object, object)
        The user wants to go to the place of a `Finding` of an `OpenDocument`.
    mapWanted(object, object)
        The user wants to see it on the chunk map.
    explainWanted(object, object)
        The user wants to have it explained.
    fixWanted(object, object)
        The user wants a `Finding` to be repaired.
    fixAllWanted(object, str)
        All of one code are to be repaired.
    reportWanted(object)
        The user wants what was found as a file.
    permissionsWanted()
        The user wants to see what may be read.
    expectationWanted()
        The user wants to say what should be there.
    """

    placeWanted = Signal(object, object)
    mapWanted = Signal(object, object)
    explainWanted = Signal(object, object)
    fixWanted = Signal(object, object)
    fixAllWanted = Signal(object, str)
    reportWanted = Signal(object)
    permissionsWanted = Signal()
    expectationWanted = Signal()

    def __init__(self, documents: Documents, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("auditPane")
        self._document: OpenDocument | None = None
        self._choice = PageChoice()
        self._is_seen = False
        self._listing = Latest(self, "audit-lines")
        self.order = AuditOrder()
        self.table = AuditTable()
        self.filter = FindingsFilter("audit", "Filter findings", "Filter by kind, file, key or words")
        self.sorting = QComboBox()
        self.sorting.setObjectName("auditSorting")
        self.sorting.setAccessibleName("Order of the findings")
        for order, words in _ORDERS.items():
            self.sorting.addItem(words, order)
        self._typing = one_shot(self, _TYPED, self._choose)
        self.fix = push_button("Fix", "auditFixButton", self._fix)
        self.fix_all = push_button("Fix all of this kind", "auditFixAllButton", self._fix_all)
        self.explain = push_button("Explain", "auditExplainButton", self._explain)
        self.on_map = push_button("On the chunk map", "auditMapButton", self._show_on_map)
        self.copy_button = push_button("Copy", "auditCopyButton", self.copy)
        self.copy_button.setToolTip("Copy the selected lines as text, or all of them if none is selected")
        self.report = push_button("Report…", "auditReportButton", self._report)
        self.report.setToolTip("Save the findings as a page (HTML), as JSON or as a table (CSV)")
        self._stale = plain_label("", role="muted")
        self._stale.setObjectName("auditStale")
        self.about = AboutRows()
        self._title = plain_label("", role="paneTitle")
        self._title.setObjectName("auditAboutTitle")
        self._hint = hint_label(NOTHING_OPEN)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._hint)
        self._build()
        self._connect(documents)
        self.filter.restyle()
        self._show_line()
        self._show_page(AuditPage())

    # Building

    def _build(self) -> None:
        found = QHBoxLayout()
        found.setContentsMargins(theme.SMALL, 0, theme.SMALL, 0)
        found.setSpacing(theme.SMALL)
        found.addWidget(self.filter, 1)
        for box in (self.sorting, self.copy_button, self.report):
            found.addWidget(box)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setObjectName("auditSplitter")
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self.table)
        splitter.addWidget(self._make_about())
        splitter.setStretchFactor(0, 4)
        splitter.setStretchFactor(1, 3)
        splitter.setSizes([400, 300])
        self._pages.addWidget(splitter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self.order)
        layout.addLayout(found)
        layout.addWidget(self._pages, 1)
        # Below the list, which stays under the pointer when this comes.
        layout.addWidget(self._stale)

    def _make_about(self) -> QWidget:
        box = QWidget()
        buttons = flowing(self.fix, self.fix_all, self.on_map, self.explain)
        words = QWidget()
        inner = QVBoxLayout(words)
        inner.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, theme.SMALL)
        inner.setSpacing(theme.SMALL)
        inner.addWidget(self._title)
        inner.addWidget(self.about)
        inner.addStretch(1)
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, theme.SMALL)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(scrolled(words), 1)
        layout.addWidget(buttons)
        return box

    def _connect(self, documents: Documents) -> None:
        documents.currentChanged.connect(self.set_document)
        documents.computeChanged.connect(self._show_where)
        order, table = self.order, self.table
        order.requested.connect(self._ask)
        order.started.connect(self._start)
        order.cancelled.connect(self._cancel)
        order.permissionsWanted.connect(self.permissionsWanted)
        order.expectationWanted.connect(self.expectationWanted)
        table.chosen.connect(self._go)
        table.turnWanted.connect(self._turn)
        table.explainWanted.connect(self._explain)
        table.copyWanted.connect(self.copy)
        table.selectionModel().currentChanged.connect(lambda *_: self._show_line())
        self.filter.typed.connect(self._typing.start)
        self.filter.toggled.connect(self._choose)
        self.sorting.activated.connect(lambda _at: self._choose())
        self.setFocusProxy(table)

    # What is shown

    def set_document(self, document: OpenDocument | None) -> None:
        """Be about another document."""
        if document is self._document:
            return
        before = self._document
        if before is not None:
            before.audit.changed.disconnect(self._follow)
            before.audit.asked.disconnect(self._take_cost)
            for changed in (before.hierarchyChanged, before.trustChanged):
                changed.disconnect(self._ask_again)
        self._listing.cancel()
        self._document = document
        self._choice = replace(self._choice, turned=frozenset())
        self.order.reset()
        self._show_page(AuditPage())
        if document is not None:
            document.audit.changed.connect(self._follow)
            document.audit.asked.connect(self._take_cost)
            for changed in (document.hierarchyChanged, document.trustChanged):
                changed.connect(self._ask_again)
        self._follow()
        self._begin()

    def set_array(self, path: str | None) -> None:
        """Offer to look at the selected array alone."""
        self.order.set_array(path)

    def document(self) -> OpenDocument | None:
        """Return the document that the page is about."""
        return self._document

    def current(self) -> AuditLine | None:
        """Return the current line."""
        return self.table.current()

    def set_seen(self, is_seen: bool) -> None:
        """Take note whether the page is in sight: nothing is asked or listed for one that is not."""
        was_seen, self._is_seen = self._is_seen, is_seen
        if is_seen and not was_seen:
            self._begin()
            self._list()

    def _begin(self) -> None:
        """Tell the cost of what is chosen; of what costs nothing, begin with what it finds."""
        document = self._document
        if not self._is_seen or document is None or not document.is_open or document.dataset is None:
            return
        self.order.set_lock(document.dataset.access.memory.locked is not None)
        audit, state = document.audit, document.document
        if audit.result is None and not audit.is_running and state is not None and state.store is None:
            # Nothing is read for it. A store would have to be listed.
            audit.start(AuditRequest())
        self._ask(self.order.request())

    def _ask_again(self) -> None:
        if self._is_seen:
            self._begin()

    def _ask(self, request: AuditRequest) -> None:
        if self._document is not None:
            self._document.audit.ask(request)

    def _take_cost(self, asked: AskedCost | BaseException) -> None:
        if isinstance(asked, BaseException):
            message = asked.message if isinstance(asked, RefbrowserError) else str(asked)
            self.order.set_words(one_line(message))
        else:
            self.order.set_cost(asked)
            self._show_where()

    def _show_where(self) -> None:
        if self._document is not None:
            where = self._document.shared.compute.words
            self.order.start.setToolTip(f"Begin to look, {where} (Edit > Preferences > Compute)")

    def _follow(self) -> None:
        """Show how far the audit is, and what it found so far."""
        document = self._document
        audit = None if document is None else document.audit
        running = audit is not None and audit.is_running
        was_running = not self.order.cancel.isHidden()
        self.order.set_running(running, None if audit is None else audit.status)
        if was_running and not running:
            # An interrupted one left something to go on with.
            self._ask(self.order.request())
        if audit is not None and audit.error is not None and not running:
            self.order.set_words(one_line(f"The audit ended early: {audit.error}"))
        self._list()

    def _list(self) -> None:
        """Make the lines, off this thread: there may be thousands."""
        document = self._document
        result = None if document is None else document.audit.result
        if document is None or result is None or not self._is_seen:
            if result is None:
                self._show_page(AuditPage())
            return
        choice = self._choice

        def make(control: TaskControl) -> AuditPage:
            return page_of(result, choice, control.check)

        self._listing.run(document, document.tasks.PREPARING, make, self._show_page)

    def _choose(self) -> None:
        """Show what is chosen of the findings."""
        self._typing.stop()
        order = Order(self.sorting.currentData())
        self._choice = PageChoice(*self.filter.chosen(), order, self._choice.turned)
        self._list()

    def _turn(self, line: AuditLine) -> None:
        self._choice = replace(self._choice, turned=self._choice.turned ^ {line.key})
        self._list()

    def _show_page(self, page: AuditPage) -> None:
        self.table.set_page(page)
        result = None if self._document is None else self._document.audit.result
        self.filter.set_counts(page.faults, page.warnings)
        hint = NOTHING_OPEN if self._document is None else NOT_YET if result is None else _sound(result)
        self._hint.setText(HIDDEN if page.faults + page.warnings else hint)
        self._pages.setCurrentIndex(1 if page.lines else 0)
        self.copy_button.setEnabled(bool(page.lines))
        self.report.setEnabled(result is not None)
        self._stale.setText(_told_of(result))
        self._stale.setVisible(bool(self._stale.text()))
        if page.lines and self.table.current() is None:
            self.table.setCurrentIndex(self.table.lines.index(0, 1))
        self._show_line()

    def _show_line(self) -> None:
        line = self.table.current()
        rows = () if line is None else about(line)
        self._title.setText(rows[0][1] if rows else "")
        self.about.set_rows(rows[1:])
        has_key = line is not None and line.first is not None and line.first.place.key is not None
        self.explain.setEnabled(line is not None and line.first is not None)
        self.on_map.setEnabled(has_key)
        self._show_fixes(line)

    def _show_fixes(self, line: AuditLine | None) -> None:
        document = self._document
        finding = None if line is None else line.finding
        listed = None if document is None or finding is None else finding_of_line(document, line)
        fix = None if listed is None else listed.fix
        title = "Fix" if fix is None else fix.title
        show_fix(self.fix, title, title)
        self.fix.setVisible(fix is not None)
        count = 0 if line is None else self.table.lines.page.fixable.get(line.kind.code, 0)
        # One alone has a button already.
        self.fix_all.setVisible(count > (0 if fix is None or finding is None else finding.count))
        if count:
            every = "all " if count > 1 else ""
            self.fix_all.setText(f"Fix {every}{count_text(count)} of this kind")
            self.fix_all.setAccessibleName(self.fix_all.text())
            self.fix_all.setToolTip("One step that Undo takes back")

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.filter.restyle()
        self.table.viewport().update()

    # What is asked

    def _start(self, request: AuditRequest) -> None:
        if self._document is not None:
            # The button goes: the keyboard goes on with what is found.
            self.table.setFocus()
            self._document.audit.start(request)

    def _cancel(self) -> None:
        if self._document is not None:
            self._document.audit.cancel()

    def _go(self, line: AuditLine) -> None:
        if self._document is not None and line.first is not None:
            self.placeWanted.emit(self._document, line.first)

    def _explain(self) -> None:
        line = self.table.current()
        if self._document is not None and line is not None and line.first is not None:
            self.explainWanted.emit(self._document, line.first)

    def _show_on_map(self) -> None:
        line = self.table.current()
        if self._document is not None and line is not None and line.first is not None:
            self.mapWanted.emit(self._document, line.first)

    def _fix(self) -> None:
        line = self.table.current()
        if self._document is not None and line is not None and line.finding is not None:
            self.table.setFocus()
            self.fixWanted.emit(self._document, line.finding)

    def _fix_all(self) -> None:
        line = self.table.current()
        if self._document is not None and line is not None:
            self.table.setFocus()
            self.fixAllWanted.emit(self._document, line.kind.code)

    def _report(self) -> None:
        if self._document is not None:
            self.reportWanted.emit(self._document)

    def copy(self) -> None:
        """Put the selected lines on the clipboard as text; all that are shown where none is selected."""
        lines = self.table.selected() or self.table.lines.page.lines
        QGuiApplication.clipboard().setText(copied(lines))


#: Rows about a finding at most.
_ROWS = 6


class AboutRows(QWidget):
    """All about one finding: a heading and plain text in each row."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("auditAbout")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.MEDIUM)
        grid.setVerticalSpacing(theme.SMALL)
        grid.setColumnStretch(1, 1)
        self._rows = []
        for number in range(_ROWS):
            heading, text = plain_label("", role="muted", wrap=False), plain_label("")
            text.setObjectName(f"auditAbout{number}")
            grid.addWidget(heading, number, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(text, number, 1, Qt.AlignmentFlag.AlignTop)
            self._rows.append((heading, text))

    def set_rows(self, rows: Sequence[tuple[str, str]]) -> None:
        """Show other rows."""
        shown = [*rows[:_ROWS], *[("", "")] * (_ROWS - len(rows))]
        for (heading, text), (title, words) in zip(self._rows, shown, strict=True):
            heading.setText(title)
            text.setText(words)
            for label in (heading, text):
                label.setVisible(bool(words))

    def text(self) -> str:
        """Return what is shown, a line for each row."""
        return "\n".join(f"{heading.text()}: {text.text()}" for heading, text in self._rows if text.text())


def finding_of_line(document: OpenDocument, line: AuditLine | None) -> ListedFinding | None:
    """Return the place that a line stands for as a finding, with what one click does about it."""
    finding = None if line is None else line.first
    return None if finding is None else audited_finding(document, finding)


def audited_finding(document: OpenDocument, finding: Finding) -> ListedFinding:
    """Return a finding as lists have it, with the row of the tree that it belongs to, and its fix."""
    from refbrowser.tools.audit.report.audit_page import listed

    return listed(finding, document.hierarchy)


def _sound(result: AuditResult) -> str:
    """Return what it says that nothing was found."""
    return SOUND if result.level.asks else SOUND_ALONE


def _told_of(result: AuditResult | None) -> str:
    """Return what is to be known of a result beside its findings; mostly nothing."""
    if result is None:
        return ""
    words = []
    if result.is_edited:
        words.append(
            "The document has been edited since: findings that the edits fixed are left out. "
            "Start again to look at the "
            "new places."
        )
    if not result.is_complete:
        words.append("The audit did not finish: there may be more.")
    if result.blocked and result.level.asks:
        files = counted(sum(each.urls for each in result.blocked), "file")
        words.append(f"{files[:1].upper()}{files[1:]} not checked: that needs your permission.")
    return " ".join(words)
