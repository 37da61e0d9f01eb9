"""The file of one opened document as others leave it: noticed, read again, compared, or passed over."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.shell.tasks import TaskControl

if TYPE_CHECKING:
    from collections.abc import Callable

    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.controller.work import OnDisk
    from refbrowser.io.identity import FileIdentity
    from refbrowser.references.document.content import DerivedOrigin, StoreOrigin
    from refbrowser.references.edits.compare import Part


class FileState(StrEnum):
    """What others did with the file."""

    SAME = "same"
    CHANGED = "changed"
    #: A stream that changed is being read again, unasked.
    FOLLOWED = "followed"
    GONE = "gone"


class DocumentFile(QObject):
    """Follows the file of one `OpenDocument`.

    Attributes
    ----------
    follows
        A stream of messages that grows is read again, as long as there are no unsaved edits.
    has_grown
        A stream changed while it was open: the message at its end may be on its way.

    Signals
    -------
    changed()
        `state` is another one.
    failed(object)
        The file could not be read again: the exception. The document is as it was.
    """

    changed = Signal()
    failed = Signal(object)

    def __init__(self, document: OpenDocument) -> None:
        super().__init__(document)
        self._document = document
        self.state = FileState.SAME
        self.follows = True
        self.has_grown = False
        #: What the document was made from, and the path at which that was opened.
        self._origin: DerivedOrigin | None = None
        self._opened = ""
        document.reloadFailed.connect(self._not_read)

    @property
    def is_stream(self) -> bool:
        """Whether it is a local file of messages, which may grow while it is open."""
        return self.is_derived and self._document.stream.origin is not None

    @property
    def is_derived(self) -> bool:
        """Whether it is a local file that tells more than references say: no document, never saved over."""
        state = self._document.document
        derived, path = None if state is None else state.derived, self._document.path
        if derived is not self._origin:
            self._origin, self._opened = derived, path
        # Not once its edits were saved as a document beside it.
        return derived is not None and "://" not in path and path == self._opened

    def set_follows(self, follows: bool) -> None:
        """Read a stream again whenever it grows, or tell only that it did."""
        self.follows = follows
        if follows and self.state is FileState.CHANGED:
            self._follow()

    def _follow(self) -> None:
        """Read a stream that changed again, or tell that it changed where that would lose edits."""
        # Nor while it is shown as it was after an earlier message.
        if self.follows and not self._document.is_pending and self._document.stream.last is None:
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
        if document.saving.is_running or saved is None or identity == document.identity:
            return
        if identity in document.store.ours.values():
            document.take_identity(identity)
            return
        if identity is None:
            self._set(FileState.GONE)
            return
        if self.is_stream:
            self.has_grown = True
            # Its bytes are no text of the document.
            self._follow()
            return
        if self.is_derived:
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

        owner = document.owner("file")
        document.tasks.run(owner, f"Look at the new {document.title}", look, looked, self.failed.emit)

    def settled(self) -> None:
        """Note that document and file agree: it was read or saved."""
        self.has_grown = self.has_grown and self.is_stream
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
        document.tasks.run(document.owner("compare"), title, compare, done, failed)

    def _read(self, done: Callable[[OnDisk], None]) -> None:
        document = self._document
        path, values = document.path, dict(document.template_values)
        store, shared = self._store(), document.shared

        def read(control: TaskControl) -> OnDisk:
            from refbrowser.app.controller.work import read_on_disk

            return read_on_disk(path, values, store, shared, control)

        title = f"Read the new {document.title}"
        document.tasks.run(document.owner("file"), title, read, done, self.failed.emit)

    def _store(self) -> StoreOrigin | None:
        state = self._document.document
        return state.store if state is not None and self._document.store.is_here else None

    def _set(self, state: FileState) -> None:
        if state is not self.state:
            self.state = state
            self.changed.emit()
