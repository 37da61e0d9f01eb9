"""The sheet "Fold into rules": what folding a document comes to, before it is done as one step."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QPlainTextEdit,
    QProgressBar,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import (
    ThemedItem,
    plain_label,
    push_button,
    resize_within_screen,
    show_progress,
)
from refbrowser.engine.jobs import JobStatus
from refbrowser.exporting.saving.folded_writing import FoldRequest
from refbrowser.formats.option_fields import declared
from refbrowser.tools.fold.report import (
    dimensions_text,
    kept_text,
    notes_of,
    progress_of,
    proof_of,
    reason_text,
    references_of,
    rule_text,
    summary_of,
)
from refbrowser.views.speed import Speed
from refbrowser.views.words import one_line
from refbrowser.words import count_text, size_text

if TYPE_CHECKING:
    from refbrowser.references.document.fold import Folding

_RULES = declared(FoldRequest)["rules"]
_ABOUT = (
    "Separate references are replaced by templates and gen rules where that is shorter. "
    "The document keeps its meaning; Undo restores its text byte for byte."
)
#: Where a line keeps what is shown of it below the list.
_WHOLE = Qt.ItemDataRole.UserRole
#: Rules that are listed.
_LISTED = 500
_COLUMNS = ("Rules, templates and what stays", "Keys", "Size before", "Size after")


class FoldSheet(QDialog):
    """Folds in the background, shows what is found, and makes it one edit when that is wanted."""

    def __init__(self, document: OpenDocument, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("foldSheet")
        self.setWindowTitle("Fold into rules")
        self.setModal(True)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        resize_within_screen(self, 960, 660)
        self._document = document
        self._folding: Folding | None = None
        self._work = Latest(self, "fold")
        self._speed = Speed()
        self._build()
        self._list.setFocus()
        self.rejected.connect(self._work.cancel)
        document.destroyed.connect(self.reject)
        document.documentChanged.connect(self._fold)
        self._fold()

    # Parts

    def _build(self) -> None:
        heading = plain_label(f"{one_line(self._document.name)}: fold into rules")
        heading.setFont(theme.heading_font())
        self._rules = QCheckBox(_RULES.label)
        self._rules.setObjectName("foldRules")
        self._rules.setAccessibleName(_RULES.title)
        self._rules.setToolTip(_RULES.tip)
        self._rules.setChecked(True)
        self._rules.toggled.connect(lambda _on: self._fold())
        self._summary = plain_label()
        self._summary.setObjectName("foldSummary")
        bold = self._summary.font()
        bold.setBold(True)
        self._summary.setFont(bold)
        self._proof = plain_label(role="muted")
        self._proof.setObjectName("foldProof")
        self._bar = QProgressBar()
        self._bar.setObjectName("foldProgress")
        self._bar.setAccessibleName("Folding")
        self._bar.setRange(0, 0)
        self._bar.setTextVisible(False)
        self._list = self._make_list()
        self._whole = QPlainTextEdit()
        self._whole.setObjectName("foldWhole")
        self._whole.setAccessibleName("The whole of the chosen line")
        self._whole.setPlaceholderText("Choose a line to see the whole rule, template or keys.")
        self._whole.setReadOnly(True)
        self._whole.setTabChangesFocus(True)
        self._whole.setFont(theme.mono_font())
        self._list.currentItemChanged.connect(lambda row, _before: self._show_whole(row))
        self._notes = QFrame()
        self._notes.setObjectName("card")
        self._notes_text = plain_label(role="warning")
        self._notes_text.setObjectName("foldNotes")
        inside = QVBoxLayout(self._notes)
        inside.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.LARGE, theme.MEDIUM)
        inside.addWidget(self._notes_text)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(plain_label(_ABOUT, role="muted"))
        layout.addWidget(self._rules, 0, Qt.AlignmentFlag.AlignLeft)
        for part in (self._bar, self._summary, self._proof):
            layout.addWidget(part)
        layout.addWidget(self._list, 3)
        layout.addWidget(self._whole, 2)
        layout.addWidget(self._notes)
        layout.addLayout(self._make_buttons())

    def _make_list(self) -> QTreeWidget:
        view = QTreeWidget()
        view.setObjectName("foldList")
        view.setAccessibleName("Rules, templates and what stays")
        view.setUniformRowHeights(True)
        view.setHeaderLabels(list(_COLUMNS))
        view.header().setStretchLastSection(False)
        view.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for section in range(1, len(_COLUMNS)):
            view.header().resizeSection(section, 130)
            header = view.headerItem()
            header.setTextAlignment(section, Qt.AlignmentFlag.AlignRight)
        return view

    def _make_buttons(self) -> QHBoxLayout:
        self._close = push_button("Cancel", "foldCloseButton", self.reject)
        self._apply = push_button("Fold", "foldApplyButton", self.apply)
        self._apply.setDefault(True)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        line.addStretch(1)
        for button in (self._close, self._apply):
            line.addWidget(button)
        return line

    # Folding

    def _fold(self) -> None:
        """Fold the document as it is now, in the background."""
        state, rules = self._document.document, self._rules.isChecked()
        self._folding = None
        self._list.clear()
        self._whole.clear()
        self._apply.setEnabled(False)
        if state is None:
            return
        self._bar.show()
        self._notes.hide()
        self._proof.clear()
        self._summary.setText("Reading…")
        show_progress(self._bar, 0, None)

        def fold(control: TaskControl) -> Folding:
            from refbrowser.app.controller.work import folding_of

            return folding_of(state, control, rules=rules)

        title = "Fold into rules" if rules else "Fold into templates"
        self._work.run(self._document, title, fold, self._show, self._failed, followed=self._follow)

    def _follow(self, status: JobStatus) -> None:
        """Show how far it is."""
        if not status.state.finished and status.note:
            self._speed.take(status, time.monotonic())
            show_progress(self._bar, status.done, status.total)
            self._summary.setText(f"{status.note[:1].upper()}{status.note[1:]}…")
            self._proof.setText(progress_of(status, self._speed))

    def _failed(self, error: BaseException) -> None:
        self._bar.hide()
        self._summary.setText(f"This document cannot be folded. {error_text(error)}")

    def _show(self, folding: Folding) -> None:
        self._folding = folding
        self._bar.hide()
        self._summary.setText(summary_of(folding))
        self._proof.setText(f"{references_of(folding)} {proof_of(folding)}".strip())
        notes = notes_of(folding)
        self._notes_text.setText("\n".join(notes))
        self._notes.setVisible(bool(notes))
        self._apply.setEnabled(folding.is_smaller)
        self._list_rules(folding)
        self._list_templates(folding)
        if folding.kept:
            kept = self._part("Stays in refs", sum(each.count for each in folding.kept))
        for each in folding.kept:
            row = self._row(kept, reason_text(each), kept_text(each))
            row.setText(1, count_text(each.count))
        first = self._list.topLevelItem(0)
        if first is not None:
            self._list.setCurrentItem(first.child(0) or first)

    def _list_rules(self, folding: Folding) -> None:
        if not folding.rules:
            return
        part = self._part("Gen rules", folding.folded)
        part.setText(2, size_text(sum(rule.size_before for rule in folding.rules)))
        part.setText(3, f"{size_text(sum(rule.size for rule in folding.rules))}")
        for rule in folding.rules[:_LISTED]:
            text = f"{rule.fields['key']}   {dimensions_text(rule)}"
            row = self._row(part, text, rule_text(rule))
            row.setFont(0, theme.mono_font())
            for column, words in (
                (1, count_text(rule.keys)), (2, size_text(rule.size_before)), (3, size_text(rule.size)),
            ):  # fmt: skip
                row.setText(column, words)
        if len(folding.rules) > _LISTED:
            self._row(part, f"and {count_text(len(folding.rules) - _LISTED)} more", "").color(0, "muted")

    def _list_templates(self, folding: Folding) -> None:
        if not folding.templates:
            return
        part = self._part("Templates", None)
        for name, text in folding.templates.items():
            self._row(part, f"{{{{{name}}}}}   {text}", text).setFont(0, theme.mono_font())

    def _part(self, title: str, count: int | None) -> QTreeWidgetItem:
        row = ThemedItem([title, "" if count is None else count_text(count)])
        font = row.font(0)
        font.setBold(True)
        row.setFont(0, font)
        self._add(row, None)
        row.setExpanded(True)
        return row

    def _row(self, part: QTreeWidgetItem, text: str, whole: str) -> ThemedItem:
        row = ThemedItem([one_line(text)])
        row.setData(0, _WHOLE, whole)
        row.setToolTip(0, theme.plain_tooltip(text))
        self._add(row, part)
        return row

    def _add(self, row: QTreeWidgetItem, part: QTreeWidgetItem | None) -> None:
        row.setSizeHint(0, QSize(0, theme.ROW))
        for column in range(1, len(_COLUMNS)):
            row.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if part is None:
            self._list.addTopLevelItem(row)
        else:
            part.addChild(row)

    def _show_whole(self, row: QTreeWidgetItem | None) -> None:
        self._whole.setPlainText("" if row is None else str(row.data(0, _WHOLE) or ""))

    def apply(self) -> None:
        """Make what is shown one step of the history."""
        from refbrowser.references.document.fold import FoldReferences

        folding, document = self._folding, self._document
        if folding is None or not folding.is_smaller:
            return
        edit = FoldReferences(rules=self._rules.isChecked())
        document.documentChanged.disconnect(self._fold)
        self.accept()
        document.take_step(edit, folding.after)
