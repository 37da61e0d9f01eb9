"""The sheet that commits: to which branch, what changes, what is at odds with others, with which message."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

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
from refbrowser.words import counted_spaced

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.references.document.document import Document
    from refbrowser.references.merging.merge import Conflict
    from refbrowser.views.side_lines import Lines
    from refbrowser.wings.icechunk.changing.committing import CommitOrder, Committed
    from refbrowser.wings.icechunk.changing.edited_snapshot import EditedSnapshot

#: Changes and conflicts that are listed.
LISTED = 5_000
#: What is typed is looked at after a pause, in milliseconds.
_PAUSE = 400
_SIDES = {Choice.OURS: "yours", Choice.THEIRS: "theirs"}
_ABOUT = (
    "The edits become a commit on the newest snapshot of the branch. What others have committed meanwhile "
    "is kept; if both of you changed the same place, choose a side."
)


class CommitSheet(QDialog):
    """Commits the edits of a repository that is open.

    Signals
    -------
    told(str)
        What was done; the new snapshot is being opened then.
    """

    told = Signal(str)

    def __init__(self, document: OpenDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("commitSheet")
        self.setWindowTitle(f"Commit to {one_line(document.title)}")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        resize_within_screen(self, 900, 620)
        self.document, self.tasks = document, document.tasks
        self.found: Committed | None = None
        self._state: Document | None = None
        #: Whose value conflicts take, by their places; the others are not settled.
        self._settled: dict[str, Choice] = {}
        self._looking, self._writing = Latest(self, "commit"), Latest(self, "commit text")
        self._committing = Latest(self, "commit edits")
        self._pause = one_shot(self, _PAUSE, self.look)
        self._build()
        document.documentChanged.connect(self._document_changed)
        document.destroyed.connect(self.reject)
        self.message.setFocus()
        self.look()

    def owner(self, what: str) -> str:
        """Return the name of its work of one kind."""
        return f"{what} {id(self)}"

    # Parts

    def _build(self) -> None:
        heading = plain_label(self.windowTitle())
        heading.setFont(theme.heading_font())
        self._summary = plain_label("")
        self._summary.setObjectName("commitSummary")
        self._start = push_button("Commit", "commitStartButton", self.start)
        self._start.setDefault(True)
        self._start.setToolTip("Make the commit; earlier snapshots stay as they are")
        cancel = push_button("Cancel", "commitCancelButton", self.reject)
        foot = QHBoxLayout()
        foot.setSpacing(theme.MEDIUM)
        foot.addWidget(self._summary, 1)
        foot.addWidget(cancel)
        foot.addWidget(self._start)
        split = QSplitter(Qt.Orientation.Vertical)
        split.setObjectName("commitSplit")
        split.setChildrenCollapsible(False)
        split.addWidget(self._make_changes())
        split.addWidget(self._make_conflicts())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.LARGE, theme.HUGE, theme.LARGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(heading)
        layout.addWidget(plain_label(_ABOUT, role="muted"))
        layout.addLayout(self._make_fields())
        layout.addWidget(split, 1)
        layout.addLayout(foot)

    def _make_fields(self) -> QFormLayout:
        self.branch = QComboBox()
        self.branch.setObjectName("commitBranch")
        self.branch.setAccessibleName("The branch to commit to")
        self.branch.setEditable(True)
        self.branch.setToolTip("A name that is new makes a branch, which starts at what is open")
        edited = self._edited()
        self.branch.addItems([] if edited is None else edited.branches)
        self.branch.editTextChanged.connect(lambda _text: self._changed())
        self.message = QLineEdit()
        self.message.setObjectName("commitMessage")
        self.message.setAccessibleName("The commit message")
        self.message.setToolTip("It appears in the history of the branch")
        self.steps = QCheckBox("A commit for each &step, called as in the history of edits")
        self.steps.setObjectName("commitSteps")
        self.steps.toggled.connect(lambda is_on: self.message.setEnabled(not is_on))
        self.steps.setVisible(edited is not None and len(edited.edits) > 1)
        form = QFormLayout()
        form.setHorizontalSpacing(theme.LARGE)
        form.setVerticalSpacing(theme.MEDIUM)
        form.addRow("&Branch", self.branch)
        form.addRow("&Message", self.message)
        form.addRow("", self.steps)
        return form

    def _make_changes(self) -> QTreeWidget:
        self.changes = _tree("commitChanges", "What changes", ["What changes"])
        self.changes.setRootIsDecorated(True)
        return self.changes

    def _make_conflicts(self) -> QWidget:
        self.rows = _tree("commitConflicts", "Conflicts with what others committed", ["Conflict", "Takes"])
        self.rows.header().setStretchLastSection(False)
        self.rows.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.rows.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.rows.currentItemChanged.connect(lambda _row, _before: self._show())
        self.texts = SideTexts("commit", ["Before", "Yours", "Theirs"])
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.MEDIUM)
        for choice, name in _SIDES.items():
            take = push_button(f"Take {name}", f"commitTake{name.title()}", partial(self.take, choice))
            buttons.addWidget(take)
        buttons.addStretch(1)
        for choice, name in _SIDES.items():
            take_all = partial(self.take_all, choice)
            buttons.addWidget(push_button(f"All {name}", f"commitTakeAll{name.title()}", take_all))
        right = QWidget()
        beside = QVBoxLayout(right)
        beside.setContentsMargins(theme.MEDIUM, 0, 0, 0)
        beside.setSpacing(theme.MEDIUM)
        beside.addWidget(self.texts, 1)
        beside.addLayout(buttons)
        self._conflicts = QSplitter(Qt.Orientation.Horizontal)
        self._conflicts.setObjectName("commitConflictSplit")
        self._conflicts.setChildrenCollapsible(False)
        self._conflicts.addWidget(self.rows)
        self._conflicts.addWidget(right)
        self._conflicts.setStretchFactor(1, 1)
        self._conflicts.hide()
        return self._conflicts

    # Looking

    def summary(self) -> str:
        """Return what would be committed, or why nothing can be."""
        return self._summary.text()

    def _say(self, text: str, role: str = "") -> None:
        self._summary.setProperty("role", role)
        self._summary.style().unpolish(self._summary)
        self._summary.style().polish(self._summary)
        self._summary.setText(one_line(text))

    def _edited(self) -> EditedSnapshot | None:
        from refbrowser.references.edits.edits import Compound
        from refbrowser.wings.icechunk.changing.edited_snapshot import EditedSnapshot

        dataset, history = self.document.dataset, self.document.history
        if dataset is None or history is None:
            return None
        first, last = history.saved_position, history.position
        if first is None or first >= last:
            # It was undone beyond what is committed: one step leads from there to here.
            return EditedSnapshot(dataset, (history.saved, history.document), (Compound("Undo"),))
        edits = [step.edit for step in history.steps[first:last]]
        return EditedSnapshot(dataset, history.states[first : last + 1], edits)

    def _order(self) -> CommitOrder:
        from refbrowser.wings.icechunk.changing.committing import CommitOrder

        return CommitOrder(
            branch=self.branch.currentText().strip(),
            message=self.message.text().strip(),
            settled=dict(self._settled),
        )

    def _changed(self) -> None:
        self._forget()
        self._pause.start()

    def _document_changed(self) -> None:
        if self.document.document is not self._state:
            self._forget()
            self.look()

    def _forget(self) -> None:
        self._looking.cancel()
        self.found = None
        self._settled = {}
        self._update()

    def look(self) -> None:
        """Find what would be committed now, and what is at odds with others."""
        self._pause.stop()
        edited, order = self._edited(), self._order()
        if edited is None:
            return
        self._state = self.document.document

        def work(control: TaskControl) -> Committed:
            return edited.looked_at(order, control)

        self._say("Looking at what others have committed…")
        self._looking.run(self, f"Look at {self.document.title}", work, self._looked, self._failed)
        self._update()

    def _looked(self, found: Committed) -> None:
        from refbrowser.wings.icechunk.changing.merged_changes import place_of

        self.found = found
        self._show_changes(found)
        self.rows.clear()
        for number, conflict in enumerate(found.conflicts[:LISTED]):
            row = _row([place_of(conflict), ""])
            row.setData(0, Qt.ItemDataRole.UserRole, number)
            row.setToolTip(0, theme.plain_tooltip(place_of(conflict)))
            self.rows.addTopLevelItem(row)
            self._show_choice(row)
        self._conflicts.setVisible(bool(found.conflicts))
        first = self.rows.topLevelItem(0)
        if first is not None:
            self.rows.setCurrentItem(first)
        self._say_left()
        self._update()

    def _show_changes(self, found: Committed) -> None:
        self.message.setPlaceholderText(one_line(found.message))
        self.changes.clear()
        above: dict[str, QTreeWidgetItem] = {}
        for number, (path, line) in enumerate(found.changes.lines()):
            if number >= LISTED:
                break
            if path not in above:
                above[path] = _row([path])
                self.changes.addTopLevelItem(above[path])
            row = _row([line])
            row.setToolTip(0, theme.plain_tooltip(line))
            above[path].addChild(row)
        self.changes.expandAll()

    def _left(self) -> int:
        """Return how many conflicts are not settled."""
        return 0 if self.found is None else len(self.found.conflicts) - len(self._settled)

    def _say_left(self) -> None:
        found = self.found
        if found is None:
            return
        merged = "Others have committed since: their changes are kept. " if found.is_merged else ""
        if self._left():
            self._say(f"{merged}{counted_spaced(self._left(), 'conflict')} to settle.", "warning")
        elif found.changes.is_empty:
            self._say(f"{merged}Nothing to commit: the branch has these changes already.")
        else:
            count = sum(1 for _ in found.changes.lines())
            self._say(f"{merged}{counted_spaced(count, 'change')}.")

    def _failed(self, error: BaseException) -> None:
        self._say(error_text(error), "fault")
        self._update()

    def _update(self) -> None:
        found = self.found
        can = found is not None and not (found.changes.is_empty and not found.conflicts)
        self._start.setEnabled(can and not self._left() and not self._committing.is_running)

    # Settling

    def conflict(self) -> Conflict | None:
        """Return the conflict that is looked at."""
        row: QTreeWidgetItem | None = self.rows.currentItem()
        if row is None or self.found is None:
            return None
        return self.found.conflicts[int(row.data(0, Qt.ItemDataRole.UserRole))]

    def take(self, choice: Choice) -> None:
        """Settle the conflict that is looked at, and go to the next one."""
        row = self.rows.currentItem()
        if row is None:
            return
        self._settle(row, choice)
        self._look_at_settled()
        below = self.rows.itemBelow(row)
        if below is not None:
            self.rows.setCurrentItem(below)

    def take_all(self, choice: Choice) -> None:
        """Settle all conflicts alike."""
        for number in range(self.rows.topLevelItemCount()):
            row = self.rows.topLevelItem(number)
            assert row is not None
            self._settle(row, choice)
        self._look_at_settled()

    def _look_at_settled(self) -> None:
        """Show what changes with the sides that were taken."""
        edited, order = self._edited(), self._order()
        if edited is None:
            return

        def work(control: TaskControl) -> Committed:
            return edited.looked_at(order, control)

        self._looking.run(self, f"Look at {self.document.title}", work, self._show_changes, self._failed)

    def _settle(self, row: QTreeWidgetItem, choice: Choice) -> None:
        from refbrowser.wings.icechunk.changing.merged_changes import place_of

        if self.found is None:
            return
        conflict = self.found.conflicts[int(row.data(0, Qt.ItemDataRole.UserRole))]
        self._settled[place_of(conflict)] = choice
        self._show_choice(row)
        self._say_left()
        self._update()

    def _show_choice(self, row: QTreeWidgetItem) -> None:
        from refbrowser.wings.icechunk.changing.merged_changes import place_of

        assert self.found is not None
        conflict = self.found.conflicts[int(row.data(0, Qt.ItemDataRole.UserRole))]
        choice = self._settled.get(place_of(conflict))
        row.setText(1, "?" if choice is None else _SIDES[choice])
        row.setToolTip(1, "Not settled" if choice is None else "")

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

    # Carrying it out

    def start(self) -> None:
        """Make the commit."""
        edited, order, by_step = self._edited(), self._order(), self.steps.isChecked()
        if edited is None or not self._start.isEnabled():
            return

        def work(control: TaskControl) -> list[Committed]:
            return edited.committed_steps(order, control) if by_step else [edited.committed(order, control)]

        title = f"Commit to {self.document.title}"
        self._say("Committing…")
        self._committing.run(self, title, work, self._committed, self._failed)
        self._update()

    def _committed(self, made: list[Committed]) -> None:
        if not made or not made[-1].snapshot:
            # Others were faster once more.
            if made:
                self._settled = {}
                self._looked(made[-1])
            else:
                self.look()
            return
        document, last = self.document, made[-1]
        document.documentChanged.disconnect(self._document_changed)
        words = counted_spaced(len(made), "commit")
        self.accept()
        document.count_from(document.document, document.identity)
        document.choose("tag", None)
        document.choose("snapshot", None)
        document.choose("branch", last.branch)
        self.told.emit(f"{words} to {last.branch}: snapshot {last.snapshot} is open now")
        document.reload_as_allowed()
        # Who asked for it before closing closes now.
        document.saved.emit(document.path)


def _tree(name: str, accessible_name: str, titles: list[str]) -> QTreeWidget:
    tree = QTreeWidget()
    tree.setObjectName(name)
    tree.setAccessibleName(accessible_name)
    tree.setRootIsDecorated(False)
    tree.setUniformRowHeights(True)
    tree.setHeaderLabels(titles)
    return tree


def _row(texts: list[str]) -> ThemedItem:
    row = ThemedItem([one_line(text) for text in texts])
    row.setSizeHint(0, QSize(0, theme.ROW))
    return row
