"""What other software read of an export: each comparison with what was expected and what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import plain_label, push_button
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.exporting.check import CheckItem, CheckReport

#: Comparisons that are listed at most.
LISTED = 2_000
_RESULT, _NAME, _WHAT, _EXPECTED, _FOUND, _PROGRAM = range(6)
_TITLES = ["Result", "Name", "Compared", "Expected", "Found", "Read with"]


class CheckTable(QWidget):
    """A line that sums up, and a row for each comparison; differences come first.

    Signals
    -------
    left()
        The user wants to see what was there before.
    """

    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._report: CheckReport | None = None
        self.sum = plain_label("")
        self.sum.setObjectName("exportCheckSum")
        self._only = QCheckBox("&Differences only")
        self._only.setObjectName("exportCheckOnly")
        self._only.setAccessibleName("Differences only")
        self._only.toggled.connect(lambda _on: self._fill())
        self.table = _Table()
        self.table.setObjectName("exportCheckTable")
        self.table.setAccessibleName("Read by other software")
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.setHeaderLabels(_TITLES)
        self.table.header().setSectionResizeMode(_FOUND, QHeaderView.ResizeMode.Stretch)
        self.table.header().setStretchLastSection(False)
        for section, width in ((_RESULT, 84), (_NAME, 120), (_WHAT, 92), (_EXPECTED, 130), (_PROGRAM, 96)):
            self.table.header().resizeSection(section, width)
        back = push_button("Back to the arrays", "exportCheckBackButton", self.left.emit, flat=True)
        head = QHBoxLayout()
        head.setSpacing(theme.LARGE)
        head.addWidget(self.sum, 1)
        head.addWidget(self._only, 0, Qt.AlignmentFlag.AlignVCenter)
        head.addWidget(back, 0, Qt.AlignmentFlag.AlignVCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(head)
        layout.addWidget(self.table, 1)

    def show_report(self, report: CheckReport) -> None:
        """Show what was compared."""
        self._report = report
        self.sum.setText(sum_text(report))
        differs = not report.is_equal
        self._only.setEnabled(differs)
        self._only.setChecked(differs)
        self._fill()

    def _fill(self) -> None:
        self.table.clear()
        report = self._report
        if report is None:
            return
        only = self._only.isChecked()
        shown = [item for item in report.items if not (only and item.is_equal)]
        shown.sort(key=lambda item: item.is_equal)
        self.table.addTopLevelItems([_row(item) for item in shown[:LISTED]])
        if len(shown) > LISTED:
            self.table.addTopLevelItem(QTreeWidgetItem(["…", f"{count_text(len(shown) - LISTED)} more"]))


def sum_text(report: CheckReport) -> str:
    """Return the whole report in a few lines."""
    programs = " and ".join(f"{each.name} {each.version}" for each in report.programs)
    bad, count = sum(not item.is_equal for item in report.items), len(report.items)
    if not count:
        lines = ["Nothing was compared."]
    elif bad:
        lines = [f"✕ {count_text(bad)} of {count_text(count)} comparisons differ."]
    else:
        lines = [f"✓ All {count_text(count)} comparisons are equal."]
    if programs:
        lines[0] += f" Read with {one_line(programs)}."
    return "\n".join([*lines, *(one_line(note) for note in report.notes[:6])])


def _row(item: CheckItem) -> QTreeWidgetItem:
    result = "✓ equal" if item.is_equal else "✕ differs"
    what = item.what if item.scope == "whole" else f"{item.what} ({item.scope})"
    texts = [result, item.path, what, item.expected, item.found, item.program]
    row = QTreeWidgetItem([one_line(text) for text in texts])
    for column, text in enumerate(texts):
        row.setToolTip(column, theme.plain_tooltip(text))
    row.setSizeHint(_RESULT, QSize(0, theme.ROW))
    return row


class _Table(QTreeWidget):
    """Rows that can be copied, with tabs between the cells."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            rows = ["\t".join(item.text(column) for column in range(6)) for item in self.selectedItems()]
            QGuiApplication.clipboard().setText("\n".join(rows))
            return
        super().keyPressEvent(event)
