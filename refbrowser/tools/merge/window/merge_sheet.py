"""The sheet that merges: of what, what is at odds with all three sides, and what each place takes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.edited_document import moved_on
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.side_texts import SideTexts
from refbrowser.app.widgets.small_widgets import (
    ThemedItem,
    one_shot,
    plain_label,
    push_button,
    resize_within_screen,
)
from refbrowser.references.merging.merge import Choice
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced

if TYPE_CHECKING:
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.references.document.document import Document
    from refbrowser.references.edits.edits import Edit
    from refbrowser.references.merging.merge import Conflict, Merged
    from refbrowser.tools.merge.window.merge_sides import MergeSides
    from refbrowser.views.side_lines import Lines

#: Conflicts that are listed.
LISTED = 5_000
#: What is typed is looked at after a pause, in milliseconds.
_PAUSE = 400
_KEYS = {Qt.Key.Key_1: Choice.BASE, Qt.Key.Key_2: Choice.OURS, Qt.Key.Key_3: Choice.THEIRS}
_NAMES = {Choice.BASE: "Base", Choice.OURS: "Ours", Choice.THEIRS: "Theirs"}


class MergeSheet(QDialog):
    """Merges another document into one that is open.

    Signals
    -------
    told(str)
        What was done.
    """

    told = Signal(str)

    def __init__(
        self,
        document: OpenDocument,
        documents: Documents,
        sides: MergeSides,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("mergeSheet")
        self.setWindowTitle(f"{sides.heading} {one_line(document.title)}")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        resize_within_screen(self, 1080, 680)
        self.document, self.tasks, self._documents = document, document.tasks, documents
        self.merged: Merged | None = None
        self._ours: Document | None = None
        #: Whose value each conflict takes, and the conflicts that the user settled: the others take ours.
        self._choices: list[Choice] = []
        self._settled: set[int] = set()
        self._looking, self._writing = Latest(self, "merge"), Latest(self, "merge text")
        self._applying = Latest(self, "merge edit")
        self._pause = one_shot(self, _PAUSE, self.look)
        self.sides = sides
        self._build()
        document.documentChanged.connect(self._document_changed)
        document.destroyed.connect(self.close)
        self.look()

    def owner(self, what: str) -> str:
        """Return the name of its work of one kind."""
        return f"{what} {id(self)}"

    # Parts

    def _build(self) -> None:
        heading = plain_label(self.windowTitle())
        heading.setFont(theme.heading_font())
        self.sides.changed.connect(self._changed)
        self._summary = plain_label("")
        self._summary.setObjectName("mergeSummary")
        self.rows = QTreeWidget()
        self.rows.setObjectName("mergeConflicts")
        self.rows.setAccessibleName("Conflicts; 1, 2 and 3 choose base, ours and theirs")
        self.rows.setRootIsDecorated(False)
        self.rows.setUniformRowHeights(True)
        self.rows.setHeaderLabels(["Changed by both", "Takes"])
        self.rows.header().setStretchLastSection(False)
        self.rows.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.rows.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.rows.currentItemChanged.connect(lambda _row, _before: self._show())
        self.rows.installEventFilter(self)
        self.texts = SideTexts("merge", ["Base", "Ours: this document", "Theirs"])
        right = QWidget()
        beside = QVBoxLayout(right)
        beside.setContentsMargins(theme.MEDIUM, 0, 0, 0)
        beside.setSpacing(theme.MEDIUM)
        beside.addWidget(self.texts, 1)
        beside.addLayout(self._make_choices())
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setObjectName("mergeSplit")
        split.setChildrenCollapsible(False)
        split.addWidget(self.rows)
        split.addWidget(right)
        split.setSizes([300, 740])
        split.setStretchFactor(1, 1)
        self._start = push_button(self.sides.action, "mergeStartButton", self.start)
        self._start.setToolTip("Make it one step of the history; nothing is written to the file yet")
        self._close = push_button("Cancel", "mergeCloseButton", self.close)
        foot = QHBoxLayout()
        foot.setSpacing(theme.MEDIUM)
        foot.addWidget(self._summary, 1)
        foot.addWidget(self._close)
        foot.addWidget(self._start)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.LARGE, theme.HUGE, theme.LARGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(heading)
        layout.addWidget(plain_label(self.sides.about, role="muted"))
        layout.addWidget(self.sides)
        layout.addWidget(split, 1)
        layout.addLayout(foot)

    def _make_choices(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        self._take = {
            choice: push_button(
                f"Take {name.lower()} ({number})", f"mergeTake{name}", partial(self.take, choice)
            )
            for number, (choice, name) in enumerate(_NAMES.items(), 1)
        }
        self._take_all = {
            choice: push_button(f"All {name.lower()}", f"mergeTakeAll{name}", partial(self.take_all, choice))
            for choice, name in _NAMES.items()
        }
        for button in self._take.values():
            line.addWidget(button)
        line.addStretch(1)
        for button in self._take_all.values():
            line.addWidget(button)
        return line

    # Looking

    def summary(self) -> str:
        """Return what would be done, or why nothing can be."""
        return self._summary.text()

    def _say(self, text: str, role: str = "") -> None:
        self._summary.setProperty("role", role)
        self._summary.style().unpolish(self._summary)
        self._summary.style().polish(self._summary)
        self._summary.setText(one_line(text))

    def _changed(self) -> None:
        self._forget()
        self._pause.start()

    def _document_changed(self) -> None:
        if self.document.document is not self._ours:
            self._forget()
            self.look()

    def _forget(self) -> None:
        self._looking.cancel()
        self.merged, self._ours, self._choices, self._settled = None, None, [], set()
        self.rows.clear()
        self._show()

    def look(self) -> None:
        """Merge what is chosen, and show what is at odds."""
        self._pause.stop()
        merging, ours = self.sides.merging(self._documents.settings), self.document.document
        if merging is None or ours is None:
            self._say("Choose the base, and the document whose changes are taken.")
            self._update()
            return
        self._ours = ours
        work = partial(merging, ours)
        self._say("Merging…")
        self._looking.run(self, f"Merge into {self.document.title}", work, self._looked, self._failed)
        self._update()

    def _looked(self, found: Merged) -> None:
        from refbrowser.tools.merge.merge_words import conflict_title

        self.merged = found
        self._choices, self._settled = [Choice.OURS] * len(found.conflicts), set()
        for number, conflict in enumerate(found.conflicts[:LISTED]):
            row = ThemedItem([one_line(conflict_title(conflict)), ""])
            row.setData(0, Qt.ItemDataRole.UserRole, number)
            row.setToolTip(0, theme.plain_tooltip(conflict_title(conflict)))
            row.setSizeHint(0, QSize(0, theme.ROW))
            self.rows.addTopLevelItem(row)
            self._show_choice(row, number)
        first = self.rows.topLevelItem(0)
        if first is not None:
            self.rows.setCurrentItem(first)
            self.rows.setFocus()
        self._say_left()
        self._update()

    def _say_left(self) -> None:
        """Say what would be done, and how many conflicts are left."""
        found = self.merged
        if found is None:
            return
        edits, conflicts, settled = len(found.edits), len(found.conflicts), len(self._settled)
        words = [f"{counted_spaced(edits, 'edit')} of this document"] if edits else []
        if settled < conflicts:
            left = conflicts - settled
            words.append(f"{counted_spaced(left, 'conflict')} to be settled")
        if settled:
            words.append(f"{counted_spaced(settled, 'conflict')} settled")
        texts = [each.message for each in found.warnings[:3]]
        warnings = "".join(f" {text[:1].upper()}{text[1:]}." for text in texts)
        self._say(f"{', '.join(words)}.{warnings}" if words else f"{self.sides.nothing}{warnings}")

    def _failed(self, error: BaseException) -> None:
        self._say(error_text(error), "fault")
        self._update()

    def _update(self) -> None:
        found = self.merged
        can = found is not None and bool(found.edits or found.conflicts) and not self._applying.is_running
        self._start.setEnabled(can)
        for button in (*self._take.values(), *self._take_all.values()):
            button.setEnabled(found is not None and bool(found.conflicts))

    # Settling

    def conflict(self) -> Conflict | None:
        """Return the conflict that is looked at."""
        number = self._number()
        return None if number is None or self.merged is None else self.merged.conflicts[number]

    def _number(self) -> int | None:
        row: QTreeWidgetItem | None = self.rows.currentItem()
        return None if row is None else int(row.data(0, Qt.ItemDataRole.UserRole))

    def choices(self) -> list[Choice]:
        """Return whose value each conflict takes."""
        return list(self._choices)

    def take(self, choice: Choice) -> None:
        """Settle the conflict that is looked at, and go to the next one."""
        number, row = self._number(), self.rows.currentItem()
        if number is None or row is None:
            return
        self._choices[number] = choice
        self._settled.add(number)
        self._show_choice(row, number)
        self._say_left()
        below = self.rows.itemBelow(row)
        if below is not None:
            self.rows.setCurrentItem(below)

    def take_all(self, choice: Choice) -> None:
        """Settle all conflicts alike."""
        self._choices = [choice] * len(self._choices)
        self._settled = set(range(len(self._choices)))
        for number in range(self.rows.topLevelItemCount()):
            row = self.rows.topLevelItem(number)
            assert row is not None
            self._show_choice(row, number)
        self._say_left()

    def _show_choice(self, row: QTreeWidgetItem, number: int) -> None:
        choice, is_settled = self._choices[number], number in self._settled
        row.setText(1, choice.value if is_settled else f"{choice.value}?")
        row.setToolTip(1, "" if is_settled else "Not settled: takes ours unless you choose another side")
        font = row.font(1)
        font.setBold(is_settled)
        row.setFont(1, font)

    def _show(self) -> None:
        conflict = self.conflict()
        if conflict is None:
            self._writing.cancel()
            self.texts.clear()
            return

        def work(_control: TaskControl) -> tuple[Lines, ...]:
            from refbrowser.tools.merge.merge_words import three_sides

            return three_sides(conflict)

        self._writing.run(self, "Compare the sides of a conflict", work, self.texts.set_lines)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.rows and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            choice = _KEYS.get(Qt.Key(event.key()))
            if choice is not None:
                self.take(choice)
                return True
        return super().eventFilter(watched, event)

    # Carrying it out

    def start(self) -> None:
        """Make the merge one step of the document's history."""
        found, ours, choices = self.merged, self._ours, list(self._choices)
        if found is None:
            return
        title = self.sides.title()

        def work(control: TaskControl) -> Edit:
            from refbrowser.tools.merge.merging import settled

            return settled(found, choices, title, control)

        def made(edit: Edit) -> None:
            if self.document.document is not ours:
                self._failed(moved_on(edit))
                return
            self.document.documentChanged.disconnect(self._document_changed)
            self.document.apply_later(edit, self._done)

        self._applying.run(self, title, work, made, self._failed)
        self._update()

    def _done(self) -> None:
        settled = len(self._settled)
        left = len(self._choices) - settled
        words = f", {counted_spaced(settled, 'conflict')} settled" if settled else ""
        words += f", {count_text(left)} left as ours" if left else ""
        self.told.emit(f"Merged{words}: Undo takes it back, Save writes it")
        self.close()
