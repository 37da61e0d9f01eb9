"""The snapshots of the current Icechunk repository: graph, changes, operations, manifests, what is unused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QPlainTextEdit,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.compared_side import ComparedSide, ReadSide
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import plain_label, push_button
from refbrowser.app.workspace.format_page import FormatPage
from refbrowser.views.words import one_line
from refbrowser.wings.icechunk.manifests.manifest_words import cost_lines
from refbrowser.wings.icechunk.manifests.manifests import costs_of
from refbrowser.wings.icechunk.reading.opening import IcechunkOrigin, document_at
from refbrowser.wings.icechunk.reading.operations import operations_log
from refbrowser.wings.icechunk.reading.snapshot_graph import SnapshotGraph, snapshot_graph
from refbrowser.wings.icechunk.reading.unused_objects import unused_objects
from refbrowser.wings.icechunk.views.history_words import operation_lines, unused_lines
from refbrowser.wings.icechunk.views.snapshots import compared_snapshot, named_snapshots, snapshot_text
from refbrowser.wings.icechunk.window.snapshot_rows import SnapshotRows

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.references.document.document import Document

#: What chooses a snapshot when a repository is opened.
_WAYS = ("branch", "tag", "snapshot")
#: Characters of what a snapshot is compared with that have room.
_OTHER = 24


class SnapshotsPane(QWidget):
    """The history of a repository as a graph, and what is told of it and of the snapshot that is chosen.

    Signals
    -------
    chosen(str)
        Another snapshot is looked at.
    openWanted(str, str)
        One is to be opened, as ``branch``, ``tag`` or ``snapshot`` of a name.
    compareWanted(str, str, str, str)
        One is to be compared: its identifier; with what: ``open``, ``before`` for the one before it, or
        ``snapshot``, the identifier of that, and what it is called.
    unusedWanted()
        What nothing uses is to be listed.
    """

    chosen = Signal(str)
    openWanted = Signal(str, str)
    compareWanted = Signal(str, str, str, str)
    unusedWanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._names = QComboBox()
        self._names.setObjectName("snapshotNames")
        self._names.setAccessibleName("Branch or tag")
        self._names.setToolTip("Choose the newest snapshot of a branch or tag")
        self._names.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._names.activated.connect(self._name_chosen)
        self._open_name = push_button("Open", "snapshotOpenNameButton", self._want_name)
        self._open_name.setToolTip("Open the newest snapshot of this branch or tag in place of what is shown")
        top = QHBoxLayout()
        top.setSpacing(theme.MEDIUM)
        top.addWidget(plain_label("Branch or tag", wrap=False))
        top.addWidget(self._names)
        top.addWidget(self._open_name)
        top.addStretch(1)
        self.rows = SnapshotRows()
        self.rows.rowChosen.connect(self._row_chosen)
        self.rows.itemActivated.connect(lambda _row, _column: self._want_row())
        self.changes = _text("snapshotChanges", "What the snapshot changed")
        self.operations = _text("snapshotOperations", "Operations on the repository")
        self.manifests = _text("snapshotManifests", "Manifests of the open snapshot")
        self.unused = _text("snapshotUnused", "Objects that nothing uses")
        self._list = push_button("List what nothing uses", "snapshotUnusedButton", self.unusedWanted.emit)
        self._list.setToolTip("List the repository and read all its manifests; nothing is deleted")
        self.tabs = QTabWidget()
        self.tabs.setObjectName("snapshotTabs")
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self.changes, "Changes")
        self.tabs.addTab(self.operations, "Operations")
        self.tabs.addTab(self.manifests, "Manifests")
        self.tabs.addTab(self._unused_tab(), "Unused objects")
        self._note = plain_label("", role="muted")
        self._open = push_button("Open this snapshot", "snapshotOpenButton", self._want_row)
        self._compare = push_button("Compare…", "snapshotCompareButton", self._want_comparison)
        self._other_label = plain_label("Compare it with", wrap=False)
        self._other = QComboBox()
        self._other.setObjectName("snapshotOther")
        self._other.setAccessibleName("Compare with")
        self._other.setToolTip("Or choose two snapshots, the second one with Ctrl")
        self._other.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._other.setMinimumContentsLength(_OTHER)
        self._other.currentIndexChanged.connect(lambda _index: self._set_buttons())
        room = self._other.sizePolicy()
        room.setRetainSizeWhenHidden(True)
        self._other.setSizePolicy(room)
        self._opened = ""
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.MEDIUM)
        buttons.addWidget(self._other_label)
        buttons.addWidget(self._other, 1)
        buttons.addWidget(self._compare)
        buttons.addWidget(self._open)
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(self.rows)
        split.addWidget(self.tabs)
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

    def _unused_tab(self) -> QWidget:
        tab = QWidget()
        layout = QVBoxLayout(tab)
        layout.setContentsMargins(0, theme.MEDIUM, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        row = QHBoxLayout()
        row.addWidget(self._list)
        row.addStretch(1)
        layout.addLayout(row)
        layout.addWidget(self.unused, 1)
        return tab

    def id(self) -> str:
        """Return the identifier of the snapshot that is chosen, the newest of several; empty for none."""
        chosen = self.rows.chosen()
        return chosen[0] if chosen else ""

    def set_names(self, names: Sequence[tuple[str, str, str]], current: tuple[str, str]) -> None:
        """Show the branches and tags: kind, name, and snapshot of each.

        Parameters
        ----------
        current
            Kind and name of what is open.
        """
        self._names.clear()
        before = self._other.currentData()
        self._other.blockSignals(True)
        self._other.clear()
        self._other.addItem("what is open", ("open", "", ""))
        self._other.addItem("the snapshot before it", ("before", "", "the snapshot before it"))
        for kind, name, led in names:
            words = f"{kind} {one_line(name)}"
            self._names.addItem(words, (kind, name, led))
            self._other.addItem(words, ("snapshot", led, words))
            if (kind, name) == current:
                self._names.setCurrentIndex(self._names.count() - 1)
        found = [at for at in range(self._other.count()) if self._other.itemData(at) == before]
        self._other.setCurrentIndex(found[0] if found else 0)
        self._other.blockSignals(False)

    def set_graph(self, graph: SnapshotGraph, opened: str) -> None:
        """Show snapshots, of which one is open; what was chosen stays chosen."""
        self._opened = opened
        self.rows.set_graph(graph, opened, self.id() or opened)
        ended = sorted(set(graph.ended.values()))
        notes = [f"Older snapshots cannot be read: {why}." for why in ended]
        if graph.is_cut:
            notes.append(f"There are more than the {len(graph.snapshots)} that are listed.")
        self._note.setText(" ".join(notes))
        self._note.setVisible(bool(notes))

    def _name_chosen(self) -> None:
        data = self._names.currentData()
        if data is not None:
            self.rows.choose(data[2])

    def _want_name(self) -> None:
        data = self._names.currentData()
        if data is not None:
            self.openWanted.emit(data[0], data[1])

    def _want_row(self) -> None:
        if self.id() and self.id() != self._opened:
            self.openWanted.emit("snapshot", self.id())

    def _want_comparison(self) -> None:
        chosen = self.rows.chosen()
        if len(chosen) == 2:
            newer, older = chosen
            self.compareWanted.emit(newer, "snapshot", older, f"snapshot {older}")
        else:
            way, name, words = self._other.currentData()
            self.compareWanted.emit(self.id(), way, name, words)

    def _row_chosen(self) -> None:
        self.changes.clear()
        if self.id():
            self.chosen.emit(self.id())
        self._set_buttons()

    def _set_buttons(self) -> None:
        chosen, other = self.rows.chosen(), self._other.currentData()
        is_open = self.id() == self._opened
        are_two = len(chosen) == 2
        self._open.setEnabled(len(chosen) == 1 and not is_open)
        self._other.setVisible(not are_two)
        self._other_label.setText(
            "Compare the two snapshots that are chosen" if are_two else "Compare it with"
        )
        is_same = other is None or (is_open if other[0] == "open" else other[1] == self.id())
        self._compare.setEnabled(are_two or (len(chosen) == 1 and not is_same))


def _text(name: str, title: str) -> QPlainTextEdit:
    """Return a text that is read only."""
    text = QPlainTextEdit()
    text.setObjectName(name)
    text.setAccessibleName(title)
    text.setReadOnly(True)
    text.setTabChangesFocus(True)
    text.setFont(theme.mono_font())
    return text


class SnapshotsPage(FormatPage):
    """The snapshots of the current repository: between one window and its pane of them."""

    def __init__(self, workspace: Workspace) -> None:
        self._window = workspace
        self.pane = SnapshotsPane()
        super().__init__(workspace, self.pane)
        self._document: OpenDocument | None = None
        self._origin: IcechunkOrigin | None = None
        self._graph, self._changes = Latest(self, "snapshots"), Latest(self, "changes")
        self._manifests, self._unused = Latest(self, "manifests"), Latest(self, "unused objects")
        self.pane.chosen.connect(self._show_changes)
        self.pane.openWanted.connect(self.open)
        self.pane.compareWanted.connect(self.compare)
        self.pane.unusedWanted.connect(self.list_unused)

    def set_document(self, document: OpenDocument | None) -> None:
        """Show the history of what is open of a repository."""
        state = None if document is None else document.document
        origin = None if state is None else state.made_from(IcechunkOrigin)
        self._document = document
        if origin is self._origin or origin is None:
            return
        if self._origin is None or self._origin.path != origin.path:
            self.pane.unused.clear()
        self._origin = origin
        kind, _, name = origin.chosen.partition(" ")
        self.pane.set_names(named_snapshots(origin), (kind, name))
        self._show_history(origin)
        self._show_manifests(origin)

    def _show_history(self, origin: IcechunkOrigin) -> None:
        document = self._document
        if document is None:
            return

        def read(_control: TaskControl) -> tuple[SnapshotGraph, str]:
            log = "\n".join(operation_lines(operations_log(origin.repository)))
            return snapshot_graph(origin.repository), log

        def show(found: tuple[SnapshotGraph, str]) -> None:
            self.pane.set_graph(found[0], origin.snapshot.facts.id)
            self.pane.operations.setPlainText(found[1])

        self._graph.run(document, "Read the history of the repository", read, show)

    def _show_manifests(self, origin: IcechunkOrigin) -> None:
        document = self._document
        if document is None or document.dataset is None:
            return
        hierarchy = document.dataset.hierarchy

        def read(_control: TaskControl) -> str:
            return "\n".join(cost_lines(costs_of(origin, hierarchy)))

        title = "Find what manifests cost"
        self._manifests.run(document, title, read, self.pane.manifests.setPlainText)

    def list_unused(self) -> None:
        """List what no branch and no tag needs: the repository is listed, and its manifests are read."""
        document, origin = self._document, self._origin
        if document is None or origin is None:
            return
        self.pane.unused.setPlainText("The repository is being listed.")

        def read(control: TaskControl) -> str:
            graph = snapshot_graph(origin.repository)
            return "\n".join(unused_lines(unused_objects(origin.repository, graph, control)))

        def failed(error: BaseException) -> None:
            self.pane.unused.setPlainText(f"They cannot be listed. {error_text(error)}")

        title = "List what nothing uses in the repository"
        self._unused.run(document, title, read, self.pane.unused.setPlainText, failed)

    def _show_changes(self, snapshot: str) -> None:
        document, origin = self._document, self._origin
        if document is None or origin is None:
            return

        def read(_control: TaskControl) -> str:
            return snapshot_text(origin, snapshot)

        def failed(error: BaseException) -> None:
            self.pane.changes.setPlainText(f"The changes cannot be shown. {error_text(error)}")

        title = "Read what a snapshot changed"
        self._changes.run(document, title, read, self.pane.changes.setPlainText, failed)

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
