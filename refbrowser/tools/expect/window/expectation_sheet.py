"""The sheet "What should be there": in words or learned, held against the document, kept beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QPlainTextEdit,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import plain_label, push_button, resize_within_screen
from refbrowser.engine.audit.audit_plan import AuditRequest, Level
from refbrowser.errors import RefbrowserError
from refbrowser.references.expectations.expectation import Expectation
from refbrowser.tools.audit.report.expected_report import (
    PeriodTable,
    cell_about,
    cell_words,
    period_table,
    row_about,
    row_words,
)
from refbrowser.tools.expect.expectation_writing import (
    keep_expectation,
    kept_expectation,
    learned_expectation,
)
from refbrowser.views.words import one_line
from refbrowser.words import counted, plural

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.engine.expectations.expected_results import ExpectedResult

_ABOUT = (
    "A line for each axis of times. Learn writes down what is there now; Check compares the dataset with it; "
    "Save keeps it beside the document, where each audit finds it."
)
_EXAMPLE = "every month from 2015 to 2024-12\nevery 6 hours from 2020-01 until now - 5 days of t2m,msl"
_NOTHING = "Nothing is written here. Learn what is there, or write what should be: every month from 2015"
_LINES = 4
#: Columns that fit beside each other.
_FITTING = 12


class ExpectationSheet(QDialog):
    """What one document should hold, and what it has of that by variable and date."""

    def __init__(self, document: OpenDocument, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("expectationSheet")
        self.setWindowTitle("What should be there")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        resize_within_screen(self, 900, 600)
        self._document = document
        self._rules: Mapping[str, Any] | None = None
        self._table = PeriodTable()
        self._is_checking = False
        self._work = Latest(self, "expectation")
        self._build()
        self.rejected.connect(self._work.cancel)
        document.destroyed.connect(self.reject)
        document.audit.changed.connect(self._follow)
        self._follow()
        self._read()

    # Parts

    def _build(self) -> None:
        heading = plain_label(f"{one_line(self._document.name)}: what should be there")
        heading.setFont(theme.heading_font())
        self.words = QPlainTextEdit()
        self.words.setObjectName("expectationWords")
        self.words.setAccessibleName("What should be there, a line for each axis of times")
        self.words.setPlaceholderText(_EXAMPLE)
        self.words.setTabChangesFocus(True)
        self.words.setFont(theme.mono_font())
        self.words.setFixedHeight(self.words.fontMetrics().lineSpacing() * _LINES + 2 * theme.MEDIUM)
        self.words.textChanged.connect(self._edited)
        self.rules = QCheckBox()
        self.rules.setObjectName("expectationRules")
        self.rules.setVisible(False)
        self.gaps = QCheckBox("Only years and months with gaps")
        self.gaps.setObjectName("expectationGaps")
        self.gaps.setVisible(False)
        self.gaps.toggled.connect(lambda _on: self._choose_columns())
        self.summary = plain_label()
        self.summary.setObjectName("expectationSummary")
        self.table = self._make_table()
        self.detail = plain_label()
        self.detail.setObjectName("expectationDetail")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.MEDIUM)
        for part in (heading, plain_label(_ABOUT, role="muted"), self.words, self.rules, self.summary):
            layout.addWidget(part)
        layout.addWidget(self.gaps)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.detail)
        layout.addLayout(self._make_buttons())

    def _make_table(self) -> QTableWidget:
        table = QTableWidget()
        table.setObjectName("expectationTable")
        table.setAccessibleName("Variables by years or months")
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setTabKeyNavigation(False)
        table.setCornerButtonEnabled(False)
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.verticalHeader().setDefaultSectionSize(theme.ROW)
        table.verticalHeader().setHighlightSections(False)
        table.horizontalHeader().setHighlightSections(False)
        table.currentCellChanged.connect(lambda *_: self._tell())
        return table

    def _make_buttons(self) -> QHBoxLayout:
        self.learn_button = push_button("Learn", "expectationLearn", self.learn)
        self.learn_button.setToolTip(
            "Write down what is there now; gaps in regular times are told as missing"
        )
        self.check_button = push_button("Check", "expectationCheck", self.check)
        self.check_button.setToolTip("Compare the dataset with this: here, in Audit and on the chunk map")
        self.save_button = push_button("Save", "expectationSave", self.save)
        self.save_button.setToolTip("Write it beside the document: each audit of it finds it there")
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.MEDIUM)
        buttons.addWidget(self.learn_button)
        buttons.addStretch(1)
        close = push_button("Close", "expectationClose", self.reject)
        for button in (self.check_button, self.save_button, close):
            buttons.addWidget(button)
        return buttons

    # What is written

    def expectation(self) -> Expectation:
        """Return what is written.

        Raises
        ------
        RefbrowserError
            A line says nothing.
        """
        lines = [line for line in self.words.toPlainText().splitlines() if line.strip()]
        said = Expectation.parse(lines)
        return Expectation(said.axes, self._rules if self.rules.isChecked() else None)

    def set_expectation(self, expectation: Expectation) -> None:
        """Show another one."""
        self.words.setPlainText("\n".join(axis.text for axis in expectation.axes))
        self._rules = expectation.rules
        rules = expectation.rules or {}
        number = len(rules.get("gen", ())) + len(rules.get("refs", ()))
        self.rules.setText(f"and the chunks that {counted(number, 'rule')} of other arrays say")
        self.rules.setVisible(bool(number))
        self.rules.setChecked(bool(number))

    def _edited(self) -> None:
        try:
            expectation = self.expectation()
        except RefbrowserError as error:
            self._allow(is_good=False)
            self.summary.setText(error_text(error))
            return
        self._allow(is_good=bool(expectation))
        self.summary.setText("" if expectation else _NOTHING)

    def _allow(self, *, is_good: bool) -> None:
        self.check_button.setEnabled(is_good)
        self.save_button.setEnabled(is_good and "://" not in self._document.path)

    # What is done

    def _read(self) -> None:
        """Show what is kept beside the document."""
        dataset = self._document.dataset
        self._edited()
        if dataset is None:
            return

        def read(_control: TaskControl) -> Expectation:
            return kept_expectation(dataset)

        self.summary.setText("Reading what is kept beside the document…")
        self._run("Read what should be there", read, self._take_read)

    def _take_read(self, expectation: Expectation) -> None:
        if self.words.toPlainText().strip():
            # The user was faster.
            return
        self.set_expectation(expectation)
        self._edited()
        if expectation:
            self.check()

    def learn(self) -> None:
        """Write down what is there now, and check it."""
        dataset = self._document.dataset
        if dataset is None:
            return

        def learn(control: TaskControl) -> Expectation:
            return learned_expectation(dataset, control).expectation

        def take(expectation: Expectation) -> None:
            self.set_expectation(expectation)
            if expectation:
                self.check()
            else:
                self.summary.setText("Nothing could be learned: write what should be there.")

        self.summary.setText("Learning what is there…")
        self._run("Learn what is there", learn, take)

    def check(self) -> None:
        """Hold the document against what is written: here, in the page Audit, and on the chunk map."""
        said = json.dumps(self.expectation().to_json())
        self._is_checking = True
        self.summary.setText("Checking…")
        self._document.audit.start(AuditRequest(Level.SET, expect=(said,)))

    def save(self) -> None:
        """Keep it beside the document, and check it."""
        expectation, path = self.expectation(), self._document.path

        def save(_control: TaskControl) -> str:
            return keep_expectation(path, expectation)

        def saved(written: str) -> None:
            self.check()
            self.setWindowTitle(f"What should be there: kept in {one_line(written)}")

        self._run("Keep what should be there", save, saved)

    def _run(self, title: str, work: Any, take: Any) -> None:
        def failed(error: BaseException) -> None:
            self.summary.setText(error_text(error))

        self._work.run(self._document, f"{title}: {one_line(self._document.name)}", work, take, failed)

    # What is shown

    def _follow(self) -> None:
        """Show what the last audit found, once it ended."""
        audit = self._document.audit
        if audit.is_running:
            return
        if audit.error is not None and self._is_checking:
            self.summary.setText(error_text(audit.error))
        elif audit.result is not None and audit.result.expected:
            self._show(audit.result.expected)
        self._is_checking = False

    def _show(self, results: tuple[ExpectedResult, ...]) -> None:
        shown = self._table = period_table(results)
        lacking = sum(result.lacks for result in results)
        of, complete = counted(len(results), "variable"), len(results) - lacking
        words = f"{complete:,} of {of} {plural(len(results), 'has', 'have')} all that should be there."
        more = f" {counted(shown.left_out, 'further column')} without gaps." if shown.left_out else ""
        self.summary.setText(f"{words}{more}" if lacking or more else "All that should be there is there.")
        table = self.table
        table.blockSignals(True)
        table.setRowCount(len(shown.rows))
        table.setColumnCount(len(shown.columns) + 1)
        table.setVerticalHeaderLabels([one_line(result.subject) for result, _ in shown.rows])
        table.setHorizontalHeaderLabels(["There", *shown.columns])
        for row, (result, periods) in enumerate(shown.rows):
            table.setItem(row, 0, _item(row_words(result), row_about(result), is_good=not result.lacks))
            for column, period in enumerate(periods):
                is_good = None if period is None else not period.wrong
                item = _item(cell_words(period), cell_about(result, period), is_good=is_good)
                table.setItem(row, column + 1, item)
        table.resizeColumnsToContents()
        # Where they fit, all are seen; else what lacks something first.
        self.gaps.setVisible(len(shown.columns) > _FITTING)
        self.gaps.setChecked(len(shown.columns) > _FITTING and bool(lacking))
        self._choose_columns()
        first = next((row for row, (result, _) in enumerate(shown.rows) if result.lacks), 0)
        table.setCurrentCell(first, 0)
        table.blockSignals(False)
        self._tell()

    def _choose_columns(self) -> None:
        """Hide columns in which nothing is missing, where that is wanted."""
        for column in range(len(self._table.columns)):
            periods = (row[column] for _, row in self._table.rows)
            has_gap = any(period is not None and period.wrong for period in periods)
            self.table.setColumnHidden(column + 1, self.gaps.isChecked() and not has_gap)

    def _tell(self) -> None:
        item = self.table.currentItem()
        about = "" if item is None else str(item.data(Qt.ItemDataRole.AccessibleTextRole))
        self.detail.setText(one_line(about))


def _item(words: str, about: str, *, is_good: bool | None) -> QTableWidgetItem:
    """Return a cell; its mark and its colour say the same."""
    item = QTableWidgetItem(words)
    item.setData(Qt.ItemDataRole.AccessibleTextRole, about)
    item.setToolTip(theme.plain_tooltip(about))
    item.setTextAlignment(Qt.AlignmentFlag.AlignCenter)
    scheme = theme.colors()
    if is_good is False:
        item.setBackground(QBrush(QColor(scheme.fault_soft)))
        item.setForeground(QBrush(QColor(scheme.fault)))
    elif is_good:
        item.setForeground(QBrush(QColor(scheme.good)))
    return item
