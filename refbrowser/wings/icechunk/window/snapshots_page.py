"""The snapshots of the current Icechunk repository: its history, what changed, opening and comparing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QPlainTextEdit,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.compared_side import ComparedSide, ReadSide
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import ThemedItem, plain_label, push_button
from refbrowser.app.workspace.format_page import FormatPage
from refbrowser.views.words import one_line
from refbrowser.wings.icechunk.reading.opening import IcechunkOrigin, document_at
from refbrowser.wings.icechunk.views.snapshots import (
    compared_snapshot,
    named_snapshots,
    snapshot_history,
    snapshot_text,
)

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.references.document.document import Document
    from refbrowser.wings.icechunk.views.snapshots import SnapshotHistory

_ID = Qt.ItemDataRole.UserRole
_TITLES = ["Committed", "Message", "Branches and tags", "Snapshot"]
#: What chooses a snapshot when a repository is opened.
_WAYS = ("branch", "tag", "snapshot")
#: Characters of what a snapshot is compared with that have room, and of messages there.
_OTHER, _WORDS = 24, 50
#: Snapshots that were looked at, and can be chosen to be compared with.
_REMEMBERED = 20


class SnapshotsPane(QWidget):
    """The history of a branch or tag, and what the snapshot that is chosen in it changed.

    Signals
    -------
    nameChosen(str)
        The history of a branch or tag is wanted: the snapshot that it leads to.
    chosen(str)
        Another snapshot is looked at.
    openWanted(str, str)
        One is to be opened, as ``branch``, ``tag`` or ``snapshot`` of a name.
    compareWanted(str, str, str, str)
        One is to be compared: its identifier; with what: ``open``, ``before`` for the one before it, or
        ``snapshot``, the identifier of that, and what it is called.
    """

    nameChosen = Signal(str)
    chosen = Signal(str)
    openWanted = Signal(str, str)
    compareWanted = Signal(str, str, str, str)

    def __init__(self) -> None:
        super().__init__()
        self._names = QComboBox()
        self._names.setObjectName("snapshotNames")
        self._names.setAccessibleName("Branch or tag")
        self._names.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._names.activated.connect(self._name_chosen)
        self._open_name = push_button("Open", "snapshotOpenNameButton", self._want_name)
        self._open_name.setToolTip("Open the newest snapshot of this branch or tag in place of what is shown")
        top = QHBoxLayout()
        top.setSpacing(theme.MEDIUM)
        top.addWidget(plain_label("History of", wrap=False))
        top.addWidget(self._names)
        top.addWidget(self._open_name)
        top.addStretch(1)
        self.rows = QTreeWidget()
        self.rows.setObjectName("snapshotRows")
        self.rows.setAccessibleName("Snapshots, the newest first")
        self.rows.setRootIsDecorated(False)
        self.rows.setUniformRowHeights(True)
        self.rows.setHeaderLabels(_TITLES)
        self.rows.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for column, width in enumerate((200, 260, 160)):
            self.rows.header().resizeSection(column, width)
        self.rows.currentItemChanged.connect(lambda _row, _before: self._row_chosen())
        self.rows.itemActivated.connect(lambda _row, _column: self._want_row())
        self.changes = QPlainTextEdit()
        self.changes.setObjectName("snapshotChanges")
        self.changes.setAccessibleName("What the snapshot changed")
        self.changes.setReadOnly(True)
        self.changes.setTabChangesFocus(True)
        self.changes.setFont(theme.mono_font())
        self._note = plain_label("", role="muted")
        self._open = push_button("Open this snapshot", "snapshotOpenButton", self._want_row)
        self._compare = push_button("Compare…", "snapshotCompareButton", self._want_comparison)
        self._other = QComboBox()
        self._other.setObjectName("snapshotOther")
        self._other.setAccessibleName("Compare with")
        self._other.setToolTip(
            "Snapshots that you have looked at are at the end, also those of other branches"
        )
        self._other.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._other.setMinimumContentsLength(_OTHER)
        self._other.currentIndexChanged.connect(lambda _index: self._set_buttons())
        #: What the snapshots that were looked at are called, by identifier, the last one at the end.
        self._seen: dict[str, str] = {}
        self._named: list[tuple[str, str, str]] = []
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.MEDIUM)
        buttons.addWidget(plain_label("Compare it with", wrap=False))
        buttons.addWidget(self._other, 1)
        buttons.addWidget(self._compare)
        buttons.addWidget(self._open)
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(self.rows)
        split.addWidget(self.changes)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.LARGE, theme.LARGE, theme.LARGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(top)
        layout.addWidget(split, 1)
        layout.addWidget(self._note)
        layout.addLayout(buttons)
        self._row_chosen()

    def id(self) -> str:
        """Return the identifier of the snapshot that is chosen; empty where none is."""
        row = self.rows.currentItem()
        return "" if row is None else str(row.data(0, _ID))

    def ids(self) -> set[str]:
        """Return the identifiers of the snapshots that are listed."""
        rows = (self.rows.topLevelItem(row) for row in range(self.rows.topLevelItemCount()))
        return {str(row.data(0, _ID)) for row in rows if row is not None}

    def set_names(self, names: Sequence[tuple[str, str, str]], current: tuple[str, str], newest: str) -> None:
        """Show the branches and tags: kind, name, and snapshot of each.

        Parameters
        ----------
        current
            Kind and name of what is open.
        newest
            The snapshot whose history is listed.
        """
        before = self._names.currentData()
        self._names.clear()
        for kind, name, led in names:
            self._names.addItem(f"{kind} {one_line(name)}", (kind, name, led))
            if (kind, name) == current:
                self._names.setCurrentIndex(self._names.count() - 1)
        if current[0] == "snapshot":
            self._names.addItem(f"snapshot {current[1]}", ("snapshot", current[1], current[1]))
            self._names.setCurrentIndex(self._names.count() - 1)
        if before is not None and before[2] == newest:
            # Also where several names lead to it.
            self._names.setCurrentIndex(max(0, self._names.findText(f"{before[0]} {one_line(before[1])}")))
        self._named = [*names]
        self._seen.clear()
        self._set_others()

    def _set_others(self) -> None:
        """List what a snapshot can be compared with; what was chosen stays chosen."""
        before = self._other.currentData()
        self._other.blockSignals(True)
        self._other.clear()
        self._other.addItem("what is open", ("open", "", ""))
        self._other.addItem("the snapshot before it", ("before", "", "the snapshot before it"))
        for kind, name, led in self._named:
            words = f"{kind} {one_line(name)}"
            self._other.addItem(words, ("snapshot", led, words))
        for snapshot, words in reversed(self._seen.items()):
            if snapshot == self.id():
                continue
            self._other.addItem(words, ("snapshot", snapshot, f"snapshot {snapshot}"))
        found = [at for at in range(self._other.count()) if self._other.itemData(at) == before]
        self._other.setCurrentIndex(found[0] if found else 0)
        self._other.blockSignals(False)

    def set_history(self, history: SnapshotHistory) -> None:
        """Show snapshots."""
        self.rows.clear()
        for each in history.rows:
            texts = (each.committed, each.message, each.names, each.id)
            row = ThemedItem([one_line(text) for text in texts])
            row.setData(0, _ID, each.id)
            row.setSizeHint(0, QSize(0, theme.ROW))
            row.setToolTip(1, theme.plain_tooltip(each.message))
            row.setFont(3, theme.mono_font())
            if each.is_open:
                font = row.font(0)
                font.setBold(True)
                for column in range(3):
                    row.setFont(column, font)
                row.setToolTip(0, "This snapshot is open")
            self.rows.addTopLevelItem(row)
            if each.is_open:
                self.rows.setCurrentItem(row)
        first = self.rows.topLevelItem(0)
        if self.rows.currentItem() is None and first is not None:
            self.rows.setCurrentItem(first)
        self._note.setText(history.ended)
        self._note.setVisible(bool(history.ended))

    def set_changes(self, text: str) -> None:
        """Show what the chosen snapshot changed."""
        self.changes.setPlainText(text)

    def _name_chosen(self) -> None:
        data = self._names.currentData()
        if data is not None:
            self.nameChosen.emit(data[2])

    def _want_name(self) -> None:
        data = self._names.currentData()
        if data is not None:
            self.openWanted.emit(data[0], data[1])

    def _want_row(self) -> None:
        if self.id() and not self._is_open_chosen():
            self.openWanted.emit("snapshot", self.id())

    def _is_open_chosen(self) -> bool:
        row: QTreeWidgetItem | None = self.rows.currentItem()
        return row is not None and row.font(0).bold()

    def _want_comparison(self) -> None:
        way, name, words = self._other.currentData()
        self.compareWanted.emit(self.id(), way, name, words)

    def _row_chosen(self) -> None:
        row: QTreeWidgetItem | None = self.rows.currentItem()
        self.changes.clear()
        if row is not None:
            self._seen.pop(self.id(), None)
            self._seen[self.id()] = f"snapshot {self.id()}: {row.text(1)[:_WORDS]}"
            for old in [*self._seen][:-_REMEMBERED]:
                del self._seen[old]
            self._set_others()
            self.chosen.emit(self.id())
        self._set_buttons()

    def _set_buttons(self) -> None:
        other, is_open = self._other.currentData(), self._is_open_chosen()
        self._open.setEnabled(bool(self.id()) and not is_open)
        is_same = other is None or (is_open if other[0] == "open" else other[1] == self.id())
        self._compare.setEnabled(bool(self.id()) and not is_same)


class SnapshotsPage(FormatPage):
    """The snapshots of the current repository: between one window and its pane of them."""

    def __init__(self, workspace: Workspace) -> None:
        self._window = workspace
        self.pane = SnapshotsPane()
        super().__init__(workspace, self.pane)
        self._document: OpenDocument | None = None
        self._origin: IcechunkOrigin | None = None
        #: The snapshot whose history is listed.
        self._newest = ""
        self._history, self._changes = Latest(self, "snapshots"), Latest(self, "changes")
        self.pane.nameChosen.connect(self._show_history)
        self.pane.chosen.connect(self._show_changes)
        self.pane.openWanted.connect(self.open)
        self.pane.compareWanted.connect(self.compare)

    def set_document(self, document: OpenDocument | None) -> None:
        """Show the history of what is open of a repository."""
        state = None if document is None else document.document
        origin = None if state is None else state.made_from(IcechunkOrigin)
        is_same, self._document = document is self._document, document
        if origin is self._origin or origin is None:
            return
        self._origin = origin
        kind, _, name = origin.chosen.partition(" ")
        opened = origin.snapshot.facts.id
        # Of one that was opened from the list the list stays: what came after it is there to go back to.
        newest = self._newest if is_same and opened in self.pane.ids() else opened
        self.pane.set_names(named_snapshots(origin), (kind, name), newest)
        self._show_history(newest)

    def _show_history(self, snapshot: str) -> None:
        document, origin = self._document, self._origin
        if document is None or origin is None:
            return
        self._newest = snapshot

        def read(_control: TaskControl) -> SnapshotHistory:
            return snapshot_history(origin, snapshot)

        self._history.run(document, "Read the history of the repository", read, self.pane.set_history)

    def _show_changes(self, snapshot: str) -> None:
        document, origin = self._document, self._origin
        if document is None or origin is None:
            return

        def read(_control: TaskControl) -> str:
            return snapshot_text(origin, snapshot)

        def failed(error: BaseException) -> None:
            self.pane.set_changes(f"The changes cannot be shown. {error_text(error)}")

        title = "Read what a snapshot changed"
        self._changes.run(document, title, read, self.pane.set_changes, failed)

    def open(self, way: str, name: str) -> None:
        """Open a branch, tag or snapshot in place of what is shown; edits are asked about."""
        document = self._document
        if document is None:
            return

        def again() -> None:
            for each in _WAYS:
                document.choose(each, name if each == way else None)
            document.reload()

        if document.is_pending:
            self._window.questions.reload(document, again)
        else:
            again()

    def compare(self, snapshot: str, way: str, name: str, words: str) -> None:
        """Show what differs between a snapshot and another one, or what is open with its edits.

        The parameters are those of `SnapshotsPane.compareWanted`.
        """
        document, origin = self._document, self._origin
        if document is None or origin is None:
            return

        def there(control: TaskControl) -> Document:
            return document_at(origin, compared_snapshot(origin, snapshot, way, name), control.token)

        one = ReadSide(
            document, f"snapshot {snapshot}", lambda control: document_at(origin, snapshot, control.token)
        )
        if way == "open":
            self._window.compare(ComparedSide(document), one)
        else:
            self._window.compare(one, ReadSide(document, words, there))
