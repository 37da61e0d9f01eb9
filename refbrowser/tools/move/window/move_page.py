"""The page "Files and locations": the tree of places, a new place for one, tried before it is done."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QProgressBar,
    QSplitter,
    QTabWidget,
    QTreeView,
    QTreeWidget,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.documents import Documents
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.rows import named
from refbrowser.app.widgets.small_widgets import (
    ThemedItem,
    one_shot,
    plain_label,
    push_button,
    resize_within_screen,
)
from refbrowser.formats.option_fields import declared
from refbrowser.tools.move.request import MoveRequest
from refbrowser.tools.move.window.place_form import PlaceForm
from refbrowser.tools.move.window.prefix_model import PrefixModel, name_of
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.engine.findings.file_probes import Probed
    from refbrowser.io.access.access import Want
    from refbrowser.references.document.document import Document
    from refbrowser.tools.move.report.move_preview import MovePreview
    from refbrowser.tools.move.report.places import Carried, Spelling
    from refbrowser.tools.move.report.prefix_tree import PrefixNode

_TEST = declared(MoveRequest)["is_tested"]
_ABOUT = (
    "Choose a host, bucket or folder, and enter the new place of its files. All URLs below it "
    "change as one step "
    "that Undo takes back, in whatever template, gen rule or reference they are written."
)
_HINT = "type the new place of these files, or choose a spelling under Write as"
_MOVED = "moved, as one step of the history"
#: What a move comes to is told after this pause in typing, in milliseconds.
PAUSE = 120
#: The tree is made anew so soon after what it is made of changed.
_SOON = 60
_CHANGES, _FOUND = 0, 1
#: Files up to which all of the tree is seen at once.
_EXPANDED = 40


#: Icon and colour of each verdict; the word stands beside it.
_VERDICTS = {
    "same": ("done", "good"),
    "there": ("done", "muted"),
    "differs": ("warning", "fault"),
    "not there": ("cancel", "fault"),
    "not allowed": ("lock", "warning"),
    "cannot be read": ("fault", "fault"),
}


class _Lines(QTreeWidget):
    """Rows of plain text."""

    def __init__(self, name: str, described: str, titles: Sequence[str], stretched: Sequence[int]) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(described)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHeaderLabels(list(titles))
        self.header().setStretchLastSection(False)
        for section in range(len(titles)):
            if section in stretched:
                self.header().setSectionResizeMode(section, QHeaderView.ResizeMode.Stretch)
            else:
                self.header().resizeSection(section, 130)

    def _row(self, texts: Sequence[str], mono: Sequence[int]) -> ThemedItem:
        row = ThemedItem([one_line(text) for text in texts])
        row.setSizeHint(0, QSize(0, theme.ROW))
        for column, text in enumerate(texts):
            row.setToolTip(column, theme.plain_tooltip(text))
        for column in mono:
            row.setFont(column, theme.mono_font())
        self.addTopLevelItem(row)
        return row


class _ChangesList(_Lines):
    """Texts of templates and rules that change, then some URLs; before and after."""

    def __init__(self) -> None:
        super().__init__("moveChanges", "What changes", ("What", "Before", "After"), (1, 2))

    def show_preview(self, preview: MovePreview) -> None:
        """Show what a move would change."""
        self.clear()
        for text in preview.texts:
            self._row([text.name, text.before, text.after], (1, 2)).color(2, "changed")
        more = preview.templates + preview.rules - len(preview.texts)
        if more:
            self._row([f"and {count_text(more)} more", "", ""], ()).color(0, "muted")
        for before, after in preview.examples:
            row = self._row(["URL", before, after], (1, 2))
            row.color(0, "muted")
            row.color(2, "changed")


class _ProbedList(_Lines):
    """What was found at some of the new places."""

    def __init__(self) -> None:
        titles = ("Found", "New place", "How")
        super().__init__("moveProbed", "What was found at the new places", titles, (1, 2))

    def show_probed(self, probed: Sequence[Probed]) -> None:
        """Show what was found, first what speaks against the move."""
        self.clear()
        for each in sorted(probed, key=lambda each: each.verdict.is_good):
            row = self._row([str(each.verdict), each.probe.after, each.words], (1,))
            icon, role = _VERDICTS[str(each.verdict)]
            row.mark(0, icon, role)
            row.color(0, role if role != "muted" else "text")


@dataclass(frozen=True, slots=True)
class _Places:
    """The tree of one state of a document.

    Attributes
    ----------
    document, said
        The state, and what its text says: values that the user gave for templates are never saved.
    """

    document: Document
    said: Document
    roots: tuple[PrefixNode, ...]


class MovePage(QDialog):
    """Shows where the files of one document lie, and moves what URLs begin with.

    Signals
    -------
    permissionWanted(object)
        The user is to be asked for these `Want`s; `test` goes on after it.
    prefixWanted(str)
        The user would rather replace text that begins so.
    """

    permissionWanted = Signal(object)
    prefixWanted = Signal(str)

    def __init__(self, document: OpenDocument, documents: Documents, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("movePage")
        self.setWindowTitle("Files and locations")
        self.setModal(True)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        resize_within_screen(self, 1040, 760)
        self._document, self._documents = document, documents
        self._places: _Places | None = None
        self._node: PrefixNode | None = None
        self._wanted = ""
        self._spellings: Sequence[Spelling] = ()
        self._preview: MovePreview | None = None
        self._carried: Carried | None = None
        #: The document after the last move, what was moved, and what is told of the place where it is.
        self._done: object = None
        self._taken_from = ""
        self._news: Mapping[str, str] = {}
        self._loading = Latest(self, "places")
        self._spelling = Latest(self, "spellings of a place")
        self._counting = Latest(self, "move")
        self._probing = Latest(self, "test of new places")
        self._pause = one_shot(self, PAUSE, self._count)
        self._soon = one_shot(self, _SOON, self._load)
        self._build()
        for changed in (
            *(document.documentChanged, document.hierarchyChanged, document.trustChanged),
            *(document.audit.statesChanged, document.lock.written),
        ):
            changed.connect(self._look_again)
        document.destroyed.connect(self.reject)
        self._load()

    def _look_again(self, *_news: object) -> None:
        self._soon.start()

    # Parts

    def _build(self) -> None:
        heading = plain_label(f"{one_line(self._document.name)}: files and locations")
        heading.setFont(theme.heading_font())
        self._tree = self._make_tree()
        self._bar = named(QProgressBar(), "moveProgress", "Working")
        self._bar.setRange(0, 0)
        self._bar.setTextVisible(False)
        self._form = PlaceForm()
        self._form.typed.connect(self._typed)
        self._outcome = self._form.outcome
        self._changes, self._probed = _ChangesList(), _ProbedList()
        self._tabs = named(QTabWidget(), "moveTabs", "What the move changes, and what was found")
        self._tabs.addTab(self._changes, "What changes")
        self._tabs.addTab(self._probed, "Test of the new place")
        lower = QWidget()
        column = QVBoxLayout(lower)
        column.setContentsMargins(0, theme.MEDIUM, 0, 0)
        column.setSpacing(theme.MEDIUM)
        column.addWidget(self._form)
        column.addWidget(self._tabs, 1)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self._tree)
        splitter.addWidget(lower)
        splitter.setSizes([260, 400])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(plain_label(_ABOUT, role="muted"))
        layout.addWidget(splitter, 1)
        layout.addWidget(self._bar)
        layout.addLayout(self._make_buttons())
        self._tree.setFocus()
        self._show_nothing()

    def _make_tree(self) -> QTreeView:
        self._model = PrefixModel(self)
        view = named(QTreeView(), "moveTree", "Places that URLs point to")
        view.setModel(self._model)
        view.setUniformRowHeights(True)
        view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setMinimumHeight(5 * theme.ROW)
        header = view.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for section, width in ((1, 80), (2, 120), (3, 100), (4, 310)):
            header.resizeSection(section, width)
        view.selectionModel().currentRowChanged.connect(self._chosen)
        # Return, or a double click: the keyboard goes where the other place is typed.
        view.activated.connect(lambda _index: self._form.focus_new())
        return view

    def _make_buttons(self) -> QHBoxLayout:
        self._text = push_button("Replace text instead…", "movePrefixButton", self._replace_text)
        self._text.setToolTip("Replace the prefix of URLs as text, also for chosen keys only")
        self._undo = push_button("&Undo the move", "moveUndoButton", self._take_back)
        self._test = push_button(_TEST.label, "moveTestButton", self.test)
        self._test.setToolTip(_TEST.tip)
        self._close = push_button("Close", "moveCloseButton", self.reject)
        self._apply = push_button("Move", "moveApplyButton", self.apply)
        self._apply.setDefault(True)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        for button in (self._text, self._undo):
            line.addWidget(button)
        line.addStretch(1)
        for button in (self._test, self._close, self._apply):
            line.addWidget(button)
        return line

    @property
    def place(self) -> str:
        """What the URLs of the chosen place begin with; empty where none is chosen."""
        return "" if self._node is None else self._node.prefix

    def look_at(self, prefix: str) -> None:
        """Choose a place, now or once the places are known."""
        self._wanted = prefix
        self._load()

    # The tree

    def _load(self) -> None:
        """Make the tree of the document as it is now, in the background."""
        state, dataset = self._document.document, self._document.dataset
        if state is None or dataset is None:
            return
        self._bar.show()
        asked = self._document.audit.states

        def load(control: TaskControl) -> _Places:
            from refbrowser.tools.move.moving import health_in, places_in

            said = state.with_template_values({}) if state.templates.values else state
            return _Places(state, said, places_in(said, control, health_in(dataset, asked)))

        self._loading.run(self._document, "Find the places of files", load, self._loaded, self._failed)

    def _failed(self, error: BaseException) -> None:
        self._bar.hide()
        self._outcome.show_fault(error_text(error))

    def _loaded(self, places: _Places) -> None:
        self._bar.setVisible(self._probing.is_running)
        before = self._wanted or self.place
        is_known = self._places is not None and self._places.document is places.document
        self._wanted = ""
        self._places = places
        self._model.set_roots(places.roots)
        if sum(root.files for root in places.roots) <= _EXPANDED:
            self._tree.expandAll()
        else:
            self._tree.expandToDepth(0)
        index = self._model.find(before)
        node = self._model.node(index)
        if is_known and self._node is not None and node is not None and node.prefix == self._node.prefix:
            # What reads found is news; what was typed and found stays.
            self._node = node
        self._tree.setCurrentIndex(index)
        if node is None:
            self._node = None
            self._show_nothing()
            self._outcome.show_warning("this document refers to no files")

    def _chosen(self, index: QModelIndex, _before: QModelIndex) -> None:
        node = self._model.node(index)
        if node is None or (self._node is not None and node is self._node):
            return
        self._node = node
        self._show_nothing()
        self._tabs.setCurrentIndex(_CHANGES)
        self._form.begin(node.prefix or name_of(node), node.prefix, self._free_name())
        self._typed()
        self._offer(())
        self._find_spellings(node)

    def _free_name(self) -> str:
        """Return a name that no template has."""
        state = self._document.document
        taken = {} if state is None else state.templates.texts
        return next(name for at in itertools.count(1) if (name := "u" if at == 1 else f"u{at}") not in taken)

    def _can_have_templates(self) -> bool:
        state = None if self._document is None else self._document.document
        is_place = self._node is not None and self._node.is_one_place
        return is_place and state is not None and state.version == 1 and not state.rules_are_made

    def _find_spellings(self, node: PrefixNode) -> None:
        access, settings = self._document.access, self._documents.settings
        base = "" if access is None else access.base

        def find(_control: TaskControl) -> Sequence[Spelling]:
            from refbrowser.tools.move.report.places import spellings

            return spellings(node, base, settings)

        self._spelling.run(self._document, "Find other spellings", find, self._offer)

    def _offer(self, found: Sequence[Spelling]) -> None:
        """Offer other ways to write the place, and the other places of the document."""
        self._spellings = found
        roots = () if self._places is None else self._places.roots
        self._form.offer(found, [root.prefix for root in roots if root.prefix])

    # What it comes to

    def _show_nothing(self) -> None:
        """Show that nothing is typed."""
        self._pause.stop()
        self._counting.cancel()
        self._probing.cancel()
        self._preview = self._carried = None
        self._bar.setVisible(self._loading.is_running)
        self._changes.clear()
        self._show_probed(())
        self._form.clear()
        self._form.allow(place=self._node is not None, template=self._can_have_templates())
        self._apply.setText("Move")
        for button in (self._apply, self._test):
            button.setEnabled(False)
        state = self._document.document
        self._undo.setVisible(self._done is not None and state is self._done and self._document.can_undo)

    def _typed(self) -> None:
        self._show_nothing()
        if self._node is None:
            return
        if self._form.new == self._node.prefix and self._form.template is None:
            self._outcome.show_result(self._news.get(self._node.prefix, _HINT))
        else:
            self._pause.start()

    def _count(self) -> None:
        """Find out what the move comes to, in the background."""
        places, node, access = self._places, self._node, self._document.access
        if places is None or node is None or access is None:
            return
        new, template = self._form.new, self._form.template
        if template == "":
            self._outcome.show_fault("Type a name for the template.")
            return

        def count(control: TaskControl) -> MovePreview:
            from refbrowser.tools.move.report.move_preview import move_preview

            return move_preview(
                places.document, access, places.roots, node, new, template or "", control.check
            )

        self._counting.run(self._document, "Find what a move changes", count, self._show, self._failed)

    def _show(self, preview: MovePreview) -> None:
        from refbrowser.tools.move.report.move_preview import summary_of
        from refbrowser.tools.move.report.places import carried_settings

        self._preview = preview
        self._changes.show_preview(preview)
        self._tabs.setCurrentIndex(_CHANGES)
        if preview.refusal:
            self._outcome.show_fault(preview.refusal)
            return
        if preview.edit is None or self._node is None:
            return
        self._outcome.show_result(summary_of(preview))
        self._form.warn([each.message for each in preview.warnings])
        new = self._form.new
        self._carried = carried_settings(self._node.prefix, new, self._documents.settings, self._needed(new))
        if self._carried is not None:
            self._form.carry.setText(
                f"Connect to {self._carried.origin} with {one_line(self._carried.words)}"
            )
            # Credentials go to another place only as the user says.
            self._form.carry.setChecked(not self._carried.is_asked)
            self._form.carry.show()
        self._apply.setEnabled(True)
        self._test.setEnabled(True)

    def _needed(self, new: str) -> Mapping[str, str]:
        """Return what connecting to a place needs that was offered as another spelling."""
        return next(
            (each.settings for each in self._spellings if each.settings and new.startswith(each.prefix)), {}
        )

    # The test

    def test(self) -> None:
        """Look at some of the new places, where that is allowed; else ask first."""
        preview = self._preview
        if preview is None or preview.edit is None:
            return
        wants = self._lacking(preview.wants)
        if wants:
            self.permissionWanted.emit(wants)
        else:
            self._run_test(preview)

    def _lacking(self, wants: Sequence[Want]) -> list[Want]:
        """Return what is not allowed yet, of what the user can be asked for now."""
        from refbrowser.io.access.access import Location

        access = self._document.access
        if access is None:
            return []
        origins = [want for want in wants if want.origin is not None]
        return [want for want in origins if not access.permits(Location("", want.origin, ""))]  # type: ignore[arg-type]

    def take_permission(self) -> None:
        """Go on with the test once the user was asked: it reads what is allowed."""
        if self._preview is not None and self._preview.edit is not None:
            self._run_test(self._preview)

    def _run_test(self, preview: MovePreview) -> None:
        places, access, shared = self._places, self._document.access, self._document.shared
        if places is None or access is None or preview.edit is None:
            return
        access = access if self._carried is None else self._with_carried(access)
        self._test.setEnabled(False)
        self._bar.show()
        self._tabs.setCurrentIndex(_FOUND)
        self._tabs.setTabText(_FOUND, "Test of the new place: looking…")
        document = places.said

        def look(control: TaskControl) -> list[Probed]:
            from refbrowser.tools.move.moving import tested

            return tested(document, preview, access, shared.get().fetcher, control)

        def failed(error: BaseException) -> None:
            self._show_probed(())
            self._failed(error)

        self._probing.run(self._document, "Test the new place", look, self._show_probed, failed)

    def _with_carried(self, access: Any) -> Any:
        """Return what may be read, with the settings that would go with the move."""
        from dataclasses import replace

        carried = self._carried
        if carried is None or not self._form.carry.isChecked():
            return access
        return replace(access, settings={**access.settings, carried.origin: carried.settings})

    def _show_probed(self, probed: Sequence[Probed]) -> None:
        self._bar.setVisible(self._loading.is_running)
        self._probed.show_probed(probed)
        bad = sum(not each.verdict.is_good for each in probed)
        title = "Test of the new place"
        if probed:
            found = (
                f"{count_text(bad)} of {len(probed)} not right"
                if bad
                else f"{len(probed)} of {len(probed)} good"
            )
            title = f"{title}: {found}"
        self._tabs.setTabText(_FOUND, title)
        self._apply.setText("Move anyway" if bad else "Move")
        self._test.setEnabled(self._preview is not None and self._preview.edit is not None)

    # Doing it

    def apply(self) -> None:
        """Make the move that is shown one step of the history, and let connection settings go with it."""
        preview, places = self._preview, self._places
        if preview is None or preview.edit is None or preview.after is None or places is None:
            return
        if self._document.document is not places.document:
            return  # It was edited meanwhile: the tree and what was counted follow.
        if self._carried is not None and self._form.carry.isChecked():
            self._documents.use_settings({self._carried.origin: self._carried.settings})
        self._wanted, self._done = self._form.new, preview.after
        self._news = {self._wanted: _MOVED}
        self._taken_from = "" if self._node is None else self._node.prefix
        self._node = None
        self._document.take_step(preview.edit, preview.after)
        self._show_nothing()
        self._tree.setFocus()

    def _take_back(self) -> None:
        if self._document.document is self._done:
            self._done, self._node, self._wanted = None, None, self._taken_from
            self._news = {self._wanted: "the move was taken back"}
            self._document.undo()
            self._show_nothing()

    def _replace_text(self) -> None:
        prefix = "" if self._node is None else self._node.prefix
        self.accept()
        self.prefixWanted.emit(prefix)
