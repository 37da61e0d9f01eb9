"""The file of an opened document, or its store: saving it, what others do to it, what is listed in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import Priority, TaskControl
from refbrowser.errors import ErrorKind
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.controller.edited_document import EditedDocument
    from refbrowser.app.controller.work import OnDisk, Saved
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.saving.save import SaveOrder, StoreChange, StoreWritten
    from refbrowser.findings.finding import Finding
    from refbrowser.io.identity import FileIdentity
    from refbrowser.io.locks.lock import Stale
    from refbrowser.io.locks.lock_made import LockWritten
    from refbrowser.model.listing import StoreListing
    from refbrowser.references.content.origins import StoreOrigin
    from refbrowser.references.document.document import Document
    from refbrowser.references.edits.compare import Part


#: The option of opening that names it.
_FLAVOUR = "flavour"


class DocumentStore(QObject):
    """Follows one `OpenDocument`; of one that is no store nothing is known here.

    Attributes
    ----------
    listing
        What was found in the store, None before.
    is_written
        The user wants edits written into the store, as long as it is open.
    written
        What the last save wrote into the store; None where it wrote a file.
    ours
        What saves into the store that failed half-way wrote, by path, since it was opened or saved.

    Signals
    -------
    listed()
        `listing` is there: what is missing is known now.
    """

    listed = Signal()

    def __init__(self, document: EditedDocument, options: dict[str, Any]) -> None:
        super().__init__(document)
        self._document, self._options = document, options
        self._path: str | None = None
        self.listing: StoreListing | None = None
        self.is_written = False
        self.written: StoreWritten | None = None
        self.ours: Mapping[str, FileIdentity] = {}
        self._preview, self._listing = Latest(self, "preview"), Latest(self, "listing")
        document.hierarchyChanged.connect(self._list)

    @property
    def flavour(self) -> str:
        """Whose rules the user wants the metadata to follow, a value of `Flavour`; empty to find it out."""
        return str(self._options.get(_FLAVOUR, ""))

    @property
    def is_here(self) -> bool:
        """Whether the document is a store itself: not once its edits were saved as a file beside it."""
        return self._path is not None and self._path == self._document.path

    @property
    def is_folder(self) -> bool:
        """Whether the document is a store in a folder of this machine: no archive, no URL."""
        state = self._document.document
        store = None if state is None or not self.is_here else state.store
        return store is not None and store.container == "folder"

    def opened(self) -> None:
        """Take over that the document was read."""
        state = self._document.document
        is_store = state is not None and state.store is not None
        self._path = self._document.path if is_store else None
        self.listing = None
        self.ours = {}

    def not_saved(self, error: BaseException) -> None:
        """Take over what a save that failed has written: the store is not what was saved last any more."""
        from refbrowser.exporting.saving.save import PartlyWrittenError

        history = self._document.history
        if history is not None and isinstance(error, PartlyWrittenError) and error.ours:
            self.ours = error.ours
            history.mark_gone()

    def watched_path(self) -> str | None:
        """Return the path of the file whose changes are of interest; None where there is none."""
        from refbrowser.app.controller.work import watched_file

        state = self._document.document
        if not self.is_here or state is None or state.store is None:
            return self._document.path
        return watched_file(state.store)

    def look_at_change(
        self, done: Callable[[StoreChange], None], failed: Callable[[BaseException], None]
    ) -> None:
        """Tell what saving into the store would write, and what is in the way."""
        document = self._document
        state, saved, ours = document.document, document.saved_document, self.ours
        if state is None or saved is None:
            return

        def look(_control: TaskControl) -> StoreChange:
            from refbrowser.exporting.saving.save import store_change

            return store_change(state, saved, ours)

        self._preview.run(document, f"Look at what saving {document.title} means", look, done, failed)

    def open_as(self, flavour: str) -> None:
        """Read the store by the rules of another flavour; edits are lost."""
        if flavour:
            self._options[_FLAVOUR] = flavour
        else:
            self._options.pop(_FLAVOUR, None)
        if self._document.is_open:
            self._document.reload()
        else:
            self._document.open()

    def _list(self) -> None:
        """List the store, once, behind everything else."""
        document, dataset = self._document, self._document.dataset
        if self._path is None or self.listing is not None or dataset is None:
            return

        def list_it(control: TaskControl) -> tuple[Dataset, StoreListing | None]:
            from refbrowser.engine.store_listing import list_store

            return dataset, list_store(dataset, control)

        def done(answer: tuple[Dataset, StoreListing | None]) -> None:
            if answer[1] is not None:
                self.listing = answer[1]
                self.listed.emit()

        title = f"List {document.title}"
        self._listing.run(document, title, list_it, done, lambda _error: None, priority=Priority.STATISTICS)


class DocumentLock(QObject):
    """Follows one `OpenDocument`; what is stale was found when files were touched.

    Signals
    -------
    written(object)
        A `LockWritten`: what is held against the lock is held against that from now on.
    failed(object)
        Why the lock could not be written.
    staleChanged()
        An edit led away from stale files, or back to them.
    """

    written = Signal(object)
    failed = Signal(object)
    staleChanged = Signal()

    def __init__(self, document: EditedDocument) -> None:
        super().__init__(document)
        self._document = document
        self._latest = Latest(self, "lock")
        self._looking = Latest(self, "files of the lock")
        #: Stale files to which the document refers no more: they concern nobody.
        self._unused: frozenset[str] = frozenset()
        document.hierarchyChanged.connect(self._look_for_unused)

    @property
    def stale(self) -> tuple[Stale, ...]:
        """The files that were touched and are not those of the lock, in the order of being found."""
        return tuple(each for each in self._found() if each.url not in self._unused)

    def _found(self) -> Sequence[Stale]:
        """Return the stale files, also those that an edit led away from."""
        dataset = self._document.dataset
        locked = None if dataset is None else dataset.access.memory.locked
        return () if locked is None else tuple(locked.stale.values())

    def _look_for_unused(self) -> None:
        dataset, urls = self._document.dataset, frozenset(each.url for each in self._found())
        if dataset is None or not urls:
            return
        document = dataset.document

        def look(control: TaskControl) -> frozenset[str]:
            from refbrowser.engine.locking import files_of

            return urls.difference(files_of(document, control.check))

        title = f"Find which files {self._document.title} refers to"
        self._looking.run(
            self._document, title, look, self._take_unused, lambda _error: None, priority=Priority.STATISTICS
        )

    def _take_unused(self, unused: frozenset[str]) -> None:
        if unused != self._unused:
            self._unused = unused
            self.staleChanged.emit()

    def write(self) -> None:
        """Look at all files, and write the lock beside the document."""
        self._run(f"Write the lock of {self._document.title}", ())

    def accept(self, urls: Sequence[str]) -> None:
        """Take the new state of some files, as the document spells them, into the lock; nothing else."""
        self._run(f"Accept files of {self._document.title}", tuple(urls))

    def _run(self, title: str, accepted: tuple[str, ...]) -> None:
        dataset = self._document.dataset
        if dataset is None:
            return

        def work(control: TaskControl) -> LockWritten:
            from refbrowser.tools.lock.public import lock

            return lock(dataset, update=accepted, progress=control)

        self._latest.run(self._document, title, work, self.written.emit, self.failed.emit)


class DocumentSaving(QObject):
    """Writes one `OpenDocument`, whose signals `saved` and `saveFailed` tell the end.

    Attributes
    ----------
    is_running
        It is being written.

    Signals
    -------
    runningChanged()
        `is_running` is another one.
    """

    runningChanged = Signal()

    def __init__(self, document: EditedDocument, store: DocumentStore) -> None:
        super().__init__(document)
        self._document, self._store = document, store
        self.is_running = False

    def save(self, order: SaveOrder | None = None) -> None:
        """Write the document to its file, or as ordered, atomically, off the GUI thread.

        What was written is then the document, unless a copy is ordered or the document was edited meanwhile
        and what was written is not one of its states.
        """
        from refbrowser.exporting.saving.save import SaveOrder

        opened = self._document
        document, dataset, before = opened.document, opened.dataset, opened.identity
        saved = opened.saved_document
        if document is None or dataset is None or saved is None:
            return
        given = order or SaveOrder(opened.path)
        expected = None if given.overwrite or given.path != opened.path else before
        is_folder = document.from_parquet and given.path == opened.path and opened.can_save_in_place

        def write(control: TaskControl) -> Saved:
            from refbrowser.app.controller.work import save_document, save_into_folder

            if is_folder:
                return save_into_folder(saved, document, given.path, control)
            return save_document(document, dataset, given, expected, before, control)

        self._write(document, write, given.path, is_copy=given.is_copy)

    def save_into_store(self) -> None:
        """Write the metadata that changed into the store that was opened, off the GUI thread."""
        document, before = self._document.document, self._document.saved_document
        ours = self._store.ours
        if document is None or before is None:
            return

        def write(control: TaskControl) -> Saved:
            from refbrowser.app.controller.work import save_into_store

            return save_into_store(document, before, ours, control)

        self._write(document, write, self._document.path, is_copy=False)

    def _write(
        self, state: Document, write: Callable[[TaskControl], Saved], path: str, *, is_copy: bool
    ) -> None:
        opened = self._document
        if self.is_running:
            return
        self._set_running(True)

        def done(saved: Saved) -> None:
            self._set_running(False)
            self._store.written = saved.into
            if saved.into is not None:
                self._store.ours = {}
            if not is_copy:
                opened.take_saved(state, saved, path)
                opened.savedChanged.emit()
            opened.saved.emit(path)
            opened.saveLost.emit(saved.losses)

        def failed(error: BaseException) -> None:
            self._set_running(False)
            self._store.not_saved(error)
            opened.savedChanged.emit()
            opened.saveFailed.emit(error)

        opened.tasks.run(opened.owner("save"), f"Save {opened.title}", write, done, failed)

    def _set_running(self, is_running: bool) -> None:
        self.is_running = is_running
        self.runningChanged.emit()


class FileState(StrEnum):
    """What others did with the file."""

    SAME = "same"
    CHANGED = "changed"
    #: One that grows changed, and is being read again, unasked.
    FOLLOWED = "followed"
    GONE = "gone"


class FormatPart(QObject):
    """What is known of an opened document beside its references. The formats add theirs; this one is plain.

    Attributes
    ----------
    called, advice
        What another file would take the place of, and what to do instead.
    repairing
        Name of the action that writes what is sound; empty where that is an export in the same format.

    Signals
    -------
    changed()
        What it tells is something else now.
    failed(str, object)
        What could not be done, and the exception.
    """

    changed = Signal()
    failed = Signal(str, object)
    called = "the opened file"
    advice = "It is never changed: choose another name."
    repairing = ""

    def __init__(self, document: EditedDocument) -> None:
        super().__init__(document)
        self._document = document

    @property
    def subject(self) -> object:
        """What is told of: dismissed words stay away as long as it is the same."""
        return self._document

    @property
    def grows(self) -> bool:
        """Whether others may write more to a file of this kind while it is open: it is read again then."""
        return False

    @property
    def is_whole(self) -> bool:
        """Whether all that is in the file is shown."""
        return True

    def size_words(self) -> str:
        """Return how much there is in a file that grows."""
        return ""

    def damage_words(self, damage: Sequence[Finding]) -> tuple[str, str]:
        """Return what is damaged, empty for nothing; and the title of what saves the rest, or none."""
        # What may not be read is asked for above the tabs: that is no damage.
        damage = [each for each in damage if each.kind is not ErrorKind.BLOCKED]
        return (source_words(self._document.name, damage) if damage else ""), ""


def source_words(name: str, damage: Sequence[Finding]) -> str:
    """Return what is damaged in a source of any format."""
    more = f" Problems lists {count_text(len(damage) - 1)} more." if len(damage) > 1 else ""
    return f"{one_line(name)} is damaged: {one_line(damage[0].message)}.{more}"


class DocumentFile(QObject):
    """Follows the file of one `OpenDocument`.

    Attributes
    ----------
    follows
        A file that grows is read again, as long as there are no unsaved edits.
    has_grown
        It changed while it was open: what is at its end may be on its way.

    Signals
    -------
    changed()
        `state` is another one.
    failed(object)
        The file could not be read again: the exception. The document is as it was.
    followsChanged()
        The user wants `follows` so.

    Parameters
    ----------
    part
        Returns what the format of the document knows of it now.
    """

    changed = Signal()
    failed = Signal(object)
    followsChanged = Signal()

    def __init__(
        self,
        document: EditedDocument,
        store: DocumentStore,
        saving: DocumentSaving,
        part: Callable[[], FormatPart],
    ) -> None:
        super().__init__(document)
        self._document, self._kept, self._saving, self._part = document, store, saving, part
        self.state = FileState.SAME
        self.follows = True
        self.has_grown = False
        self._reading, self._comparing = Latest(self, "file"), Latest(self, "compare")
        document.reloadFailed.connect(self._not_read)

    @property
    def grows(self) -> bool:
        """Whether it is a local file that may grow while it is open."""
        return self._document.is_derived and self._part().grows

    def set_follows(self, follows: bool) -> None:
        """Read a file that grows again whenever it does, or tell only that it did."""
        self.follows = follows
        if follows and self.state is FileState.CHANGED:
            self._follow()
        self.followsChanged.emit()

    def _follow(self) -> None:
        """Read a file that grew again, or tell that it changed where that would lose edits."""
        # Nor while less than all of it is shown.
        if self.follows and not self._document.is_pending and self._part().is_whole:
            self._set(FileState.FOLLOWED)
            self._document.reload()
        else:
            self._set(FileState.CHANGED)

    def _not_read(self, _error: BaseException) -> None:
        if self.state is FileState.FOLLOWED:
            self._set(FileState.CHANGED)

    def noticed(self, identity: FileIdentity | None) -> None:
        """Take over that the file is another one, or gone; one with the same bytes is no news."""
        document, saved = self._document, self._document.saved_document
        if self._saving.is_running or saved is None or identity == document.identity:
            return
        if identity in self._kept.ours.values():
            document.take_identity(identity)
            return
        if identity is None:
            self._set(FileState.GONE)
            return
        if self.grows:
            self.has_grown = True
            # Its bytes are no text of the document.
            self._follow()
            return
        if self._document.is_derived:
            self._set(FileState.CHANGED)
            return
        path, dataset = document.path, document.dataset

        def look(control: TaskControl) -> bool:
            from refbrowser.app.controller.work import has_text_of

            return dataset is not None and has_text_of(path, saved, dataset, control)

        def looked(is_same: bool) -> None:
            if is_same and saved is document.saved_document:
                document.take_identity(identity)
            elif saved is document.saved_document:
                self._set(FileState.CHANGED)

        self._reading.run(document, f"Look at the new {document.title}", look, looked, self.failed.emit)

    def settled(self) -> None:
        """Note that document and file agree: it was read or saved."""
        self.has_grown = self.has_grown and self.grows
        self._set(FileState.SAME)

    def keep_mine(self) -> None:
        """Go on with the document as it is: its edits now count from what is in the file."""
        document = self._document
        if self.state is FileState.GONE:
            document.count_from(None, None)
            self._set(FileState.SAME)
            return

        def kept(found: OnDisk) -> None:
            document.count_from(found.document, found.identity)
            self._set(FileState.SAME)

        self._read(kept)

    def compare(
        self, done: Callable[[tuple[Part, ...]], None], failed: Callable[[BaseException], None]
    ) -> None:
        """Compare the document with its file; `done` gets the parts that differ."""
        document = self._document
        state, path, values = document.document, document.path, dict(document.template_values)
        dataset, store = document.dataset, self._store()
        if state is None or dataset is None:
            return
        shared = document.shared

        def compare(control: TaskControl) -> tuple[Part, ...]:
            from refbrowser.app.controller.work import as_written, read_on_disk
            from refbrowser.references.edits.compare import compared

            there = read_on_disk(path, values, store, shared, control).document
            here = state if store is not None else as_written(state, dataset, control)
            return compared(here, there, control.check)

        title = f"Compare {document.title} with its file"
        self._comparing.run(document, title, compare, done, failed)

    def _read(self, done: Callable[[OnDisk], None]) -> None:
        document = self._document
        path, values = document.path, dict(document.template_values)
        store, shared = self._store(), document.shared

        def read(control: TaskControl) -> OnDisk:
            from refbrowser.app.controller.work import read_on_disk

            return read_on_disk(path, values, store, shared, control)

        title = f"Read the new {document.title}"
        self._reading.run(document, title, read, done, self.failed.emit)

    def _store(self) -> StoreOrigin | None:
        state = self._document.document
        return state.store if state is not None and self._kept.is_here else None

    def _set(self, state: FileState) -> None:
        if state is not self.state:
            self.state = state
            self.changed.emit()
