"""A document with its history: what it is, what it may read, and every edit of it."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QObject, Signal

from refbrowser.app.controller.shared_session import SharedSession
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl, Tasks
from refbrowser.references.document.extent import EVERYTHING, extent_of

if TYPE_CHECKING:
    from refbrowser.app.controller.work import DatasetState, Identity, Opened, Saved
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access, News, Want
    from refbrowser.io.origins import ConnectionSettings, Origin
    from refbrowser.model.nodes import Hierarchy
    from refbrowser.references.content.content import Edit
    from refbrowser.references.content.origins import DocumentOrigin
    from refbrowser.references.document.document import Document
    from refbrowser.references.document.history import History
    from refbrowser.views.changed_rows import Difference

_numbers = itertools.count(1)
#: States of a document whose datasets are kept.
STATES_KEPT = 4


def moved_on(edit: Edit) -> Exception:
    """Return the error for an edit that was made of a state that is not the document's any more."""
    from refbrowser.errors import ErrorKind, RefbrowserError

    message = f"the document changed meanwhile: {edit.title}"
    return RefbrowserError(ErrorKind.USAGE, message, advice="Nothing was applied; try again.")


class EditedDocument(QObject):
    """A document in the window, edited. Lives on the GUI thread; values it hands out are immutable.

    `history` and `document` are None until the document is read (`is_open`); `dataset` follows each edit a
    little later (`hierarchyChanged`), because it is made off the GUI thread.

    Signals
    -------
    documentChanged()
        `document` is another one: it was read, edited, undone, redone or reverted.
    hierarchyChanged(object)
        `dataset` is another one, and agrees with `document`: the `Extent` of what may be another in it.
    trustChanged()
        `access` or `wants` is another one.
    savedChanged()
        `is_dirty`, `pending_count`, `path` or `saved_document` changed.
    identityChanged()
        `identity`, the state of the file that is no news, or `path` is another one.
    firstRows(object)
        Rows of a large document that is still being read (`FirstRows`).
    differenceChanged(object)
        The document was saved, and is what it was: only what differs from the saved state (`is_row_changed`,
        `saved_document`) is something else, in that `Extent`. Other saves tell by `hierarchyChanged`.
    sizeAsked(object)
        The reading waits for the answer to a `reading.SizeQuestion`.
    progressChanged(object, object)
        Bytes read so far, and in all (or None), while the document is read.
    stageChanged(str)
        What is done after all was read.
    openFailed(object)
        The document could not be read: the exception.
    editFailed(object), saveFailed(object)
        An edit could not be made, a save failed; the document is as it was.
    saved(str)
        The document was written to this path.
    saveLost(object)
        What others cannot read of what was just written: `Loss`es, none or more.
    reloaded(), reloadFailed(object)
        The document was read again, or could not be: the exception; it is as it was.
    readsTurned()
        Reads turned something up: a chunk that failed, a member of an archive, a stale file.
    """

    documentChanged = Signal()
    hierarchyChanged = Signal(object)
    trustChanged = Signal()
    savedChanged = Signal()
    identityChanged = Signal()
    differenceChanged = Signal(object)
    firstRows = Signal(object)
    sizeAsked = Signal(object)
    progressChanged = Signal(object, object)
    stageChanged = Signal(str)
    openFailed = Signal(object)
    editFailed = Signal(object)
    saveFailed = Signal(object)
    saved = Signal(str)
    saveLost = Signal(object)
    reloaded = Signal()
    reloadFailed = Signal(object)
    readsTurned = Signal()

    def __init__(
        self,
        path: str,
        tasks: Tasks,
        session: SharedSession | None = None,
        template_values: Mapping[str, str] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.number = next(_numbers)
        self.path, self.tasks = path, tasks
        self.template_values = dict(template_values or {})
        self.shared = session or SharedSession()
        self.identity: Identity | None = None
        self.distinction = ""
        self._rebuilding = Latest(self, "hierarchy")
        #: What followed from the states that were shown last: undo and redo go back to them.
        self._known: OrderedDict[Document, DatasetState] = OrderedDict()
        self._all = Latest(self, "all references")
        self.history: History | None = None
        self.dataset: Dataset | None = None
        self.access: Access | None = None
        self.wants: tuple[Want, ...] = ()
        self.error: BaseException | None = None
        self._difference: Difference | None = None
        self.draft_count = 0
        #: It was made here, and is in no file yet: `path` is the name that is proposed for it.
        self.is_new = False
        #: What the document was made from, and the path at which that was opened.
        self._origin: DocumentOrigin | None = None
        self._opened = ""
        #: What its reads turn up is told here.
        self._news: News | None = None

    # What it is

    @property
    def title(self) -> str:
        """What a tab or a root of the tree calls the document: its name, and what tells it from others."""
        return f"{self.name} ({self.distinction})" if self.distinction else self.name

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rstrip("/").rsplit("/", 1)[-1] or self.path

    @property
    def can_save_in_place(self) -> bool:
        """Whether Save has a place to write to."""
        raise NotImplementedError

    @property
    def is_open(self) -> bool:
        """Whether the document is read."""
        return self.history is not None

    def refers_to(self, name: str) -> bool:
        """Return whether the document has references to a file of this name."""
        return self.document is not None and not self.document.is_made and self.document.mentions(name)

    @property
    def is_derived(self) -> bool:
        """Whether it is a local file that tells more than references say: no document, never saved over."""
        state = self.document
        origin = None if state is None or state.has_keys else state.origin
        if origin is not self._origin:
            self._origin, self._opened = origin, self.path
        # Not once its edits were saved as a document beside it.
        return origin is not None and "://" not in self.path and self.path == self._opened

    @property
    def document(self) -> Document | None:
        """The document with every edit made so far."""
        return None if self.history is None else self.history.document

    @property
    def saved_document(self) -> Document | None:
        """The document as it was read or last saved: what Revert goes back to."""
        return None if self.history is None else self.history.saved

    @property
    def hierarchy(self) -> Hierarchy | None:
        """Groups and arrays of `dataset`."""
        return None if self.dataset is None else self.dataset.hierarchy

    @property
    def session(self) -> Session | None:
        """What reads chunks for `dataset`."""
        return None if self.dataset is None else self.dataset.session

    @property
    def is_dirty(self) -> bool:
        """Whether there are edits that were not saved."""
        return self.history is not None and self.history.is_dirty

    @property
    def is_pending(self) -> bool:
        """Whether there are edits that were not saved, or that were typed and not applied."""
        return self.is_dirty or self.draft_count > 0

    def set_draft_count(self, count: int) -> None:
        """Take over how many edits are typed in editors and not applied."""
        self.draft_count = count
        self.savedChanged.emit()

    @property
    def pending_count(self) -> int:
        """How many steps lie between the saved state and this one."""
        return 0 if self.history is None else self.history.pending

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to undo."""
        return self.history is not None and self.history.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is an edit to make again."""
        return self.history is not None and self.history.can_redo

    def is_row_changed(self, row: int) -> bool:
        """Tell whether a row of the Version 0 view differs from the saved state; known soon after an edit."""
        known = self._difference
        # Right after an edit it is that of the state before, which may have other rows.
        return known is not None and known.document is self.document and known.changed(row)

    def owner(self, what: str) -> str:
        """Return the owner name for tasks of this document, for example ``plot:3``."""
        return f"{what}:{self.number}"

    def take_identity(self, identity: Identity | None) -> None:
        """Note the state of the file that is no news from now on."""
        self.identity = identity
        self.identityChanged.emit()

    def set_template_values(self, values: Mapping[str, str]) -> None:
        """Use these values for templates; they are never saved."""
        self.template_values = dict(values)
        if self.history is not None:
            self.history.set_template_values(self.template_values)
            self._edited()

    # Editing

    def apply(self, edit: Edit) -> bool:
        """Make one edit (of `references.edits`) one step of the history.

        Returns whether it could be made; where not, `editFailed` tells why.
        """
        from refbrowser.errors import RefbrowserError

        if self.history is None:
            return False
        try:
            self.history.apply(edit)
        except RefbrowserError as error:
            self.editFailed.emit(error)
            return False
        self._edited()
        return True

    def apply_later(self, edit: Edit, done: Callable[[], object] = lambda: None) -> None:
        """Make an edit of many entries one step of the history, off the GUI thread.

        `done` is called when it is made; where it cannot be made, `editFailed` tells why.
        """
        before, history = self.document, self.history
        if before is None or history is None:
            return

        def make(_control: TaskControl) -> Document:
            from refbrowser.app.controller.work import edited

            return edited(before, edit)

        def made(changed: Document) -> None:
            if self.history is not history or self.document is not before:
                self.editFailed.emit(moved_on(edit))
                return
            if changed is not before:
                self.take_step(edit, changed)
            done()

        self.tasks.run(self.owner("edit"), edit.title, make, made, self.editFailed.emit)

    def take_step(self, edit: Edit, changed: Document) -> None:
        """Make a step of an edit of the document as it is now, whose result was made off the GUI thread."""
        if self.history is not None:
            self.history.take(edit, changed)
            self._edited()

    def undo(self) -> None:
        """Take back the last edit."""
        if self.history is not None and self.history.can_undo:
            self.history.undo()
            self._edited()

    def redo(self) -> None:
        """Make the last undone edit again."""
        if self.history is not None and self.history.can_redo:
            self.history.redo()
            self._edited()

    def go_to(self, position: int) -> None:
        """Go to the state after so many steps of the history, however far it is, at once."""
        if self.history is not None and position != self.history.position:
            self.history.go_to(position)
            self._edited()

    def count_from(self, document: Document | None, identity: Identity | None) -> None:
        """Count pending edits from what is in the file now; None where there is nothing that can be read."""
        if self.history is None:
            return
        if document is None:
            self.history.mark_gone()
        else:
            self.history.mark_saved(document)
        self.take_identity(identity)
        self._edited()

    def revert(self) -> None:
        """Go back to the saved state; it can be undone as one step."""
        from refbrowser.references.document.history import Revert

        if self.history is not None and self.history.is_dirty:
            self.history.apply(Revert(self.history.saved))
            self._edited()

    def go_on_with(self, history: History) -> None:
        """Take a history that was made again from a journal; undo works through it."""
        if self.template_values:
            history.set_template_values(self.template_values)
        self.history = history
        self._edited()

    def _edited(self) -> None:
        self.documentChanged.emit()
        self.savedChanged.emit()
        self._rebuild()

    def read_all(self, failed: Callable[[BaseException], object]) -> None:
        """Read the references that were left until arrays are touched; `hierarchyChanged` tells the end.

        Where they cannot be read, `failed` is called with the exception.
        """
        document = self.document
        if document is None:
            return
        title = f"Read all references of {self.title}"

        def done(_none: object) -> None:
            self._known.clear()
            self._rebuild()

        self._all.run(self, title, lambda _control: document.read_all(), done, failed)

    @property
    def is_reading_all(self) -> bool:
        """Whether the references that were left are being read."""
        return self._all.is_running

    def _forget_difference(self) -> bool:
        """Take note that the document was saved as it is; whether that is all that there is to follow."""
        state, before = self.document, self._difference
        if self.dataset is None or state is not self.saved_document or state is not self.dataset.document:
            return False
        self._difference = None
        self.differenceChanged.emit(EVERYTHING if before is None else extent_of(before.saved, state))
        return True

    def _rebuild(self) -> None:
        document, saved, dataset = self.document, self.saved_document, self.dataset
        if document is None or saved is None or dataset is None:
            return
        known = self._known.get(document)

        def build(control: TaskControl) -> DatasetState:
            from refbrowser.app.controller.work import rebuilt

            return rebuilt(dataset, document, saved, control, known)

        self._rebuilding.run(self, f"Read the structure of {self.title}", build, self._rebuilt)

    def _rebuilt(self, state: DatasetState) -> None:
        self._take(state)
        self.hierarchyChanged.emit(state.extent)
        self.trustChanged.emit()

    # Trust

    def allow(self, wants: Iterable[Want], *, always: bool = False) -> None:
        """Let this document read from more, or be decoded by more; with `always` also in later runs."""
        access, dataset, identity, path = self.access, self.dataset, self.identity, self.path
        chosen = [want for want in wants if not want.is_pattern]
        if access is None or dataset is None or not chosen:
            return
        hosts = [want.origin for want in chosen if want.origin is not None and want.kind != "private"]
        private = [want.origin for want in chosen if want.origin is not None and want.kind == "private"]
        packages = [want.package for want in chosen if want.package]
        granted = access.allow(hosts).allow(private, private=True).lending(packages)
        self._read_as(granted)
        if always and identity is not None:

            def keep(_control: TaskControl) -> None:
                from refbrowser.app.controller.work import keep_permission

                keep_permission(path, identity, granted)

            self.tasks.run(self.owner("permission"), "Remember the permission", keep)

    def read_from(self, origins: Iterable[Origin]) -> None:
        """Let this document read from what the user named for it, until it is closed."""
        if self.access is not None and not self.access.allowed.issuperset(named := frozenset(origins)):
            self._read_as(self.access.allow(named))

    def _read_as(self, access: Access) -> None:
        if self.dataset is not None:
            self.access, self.dataset = access, self.dataset.with_access(access)
            self._rebuild()

    def use_settings(self, settings: Mapping[Origin, ConnectionSettings]) -> None:
        """Read with other connection settings, as the user gave them."""
        if self.access is None or self.dataset is None:
            return
        self._read_as(replace(self.access, settings=settings))

    def _take(self, state: DatasetState) -> None:
        """Go on with what follows from the newest state."""
        self.dataset, self.access = state.dataset, state.dataset.access
        self.wants, self._difference = state.wants, state.difference
        self._known[state.dataset.document] = replace(state, difference=None)
        self._known.move_to_end(state.dataset.document)
        if len(self._known) > STATES_KEPT:
            self._known.popitem(last=False)
        self._follow_reads()

    def _follow_reads(self) -> None:
        """Be told what reads turn up, by what remembers it now; nothing once the document is closed."""
        news = None if self.access is None else self.access.memory.news
        if news is not self._news:
            if self._news is not None:
                self._news.leave(self._reads_turned)
            if news is not None:
                news.follow(self._reads_turned)
            self._news = news

    def _reads_turned(self) -> None:
        # On a thread that may be late: the window may be closed by now.
        if shiboken6.isValid(self):
            self.readsTurned.emit()

    # What is done with all of it

    def open(self) -> None:
        """Start to read the document; `documentChanged` or `openFailed` tells the end."""
        raise NotImplementedError

    def reload(self) -> None:
        """Read the document again; its history begins anew. `reloaded` or `reloadFailed` tells the end."""
        raise NotImplementedError

    def take_opened(self, opened: Opened) -> None:
        """Show what was read, or is to be seen in its place; the history begins anew."""
        raise NotImplementedError

    def take_saved(self, document: Document, saved: Saved, path: str) -> None:
        """Go on with what was written of a state of the document."""
        raise NotImplementedError
