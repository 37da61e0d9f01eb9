"""The documents that are opened in one window, which is shown, their titles, and watching their files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.controller.shared_session import SharedSession
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.io.access.local_files import FileWatcher
from refbrowser.views.file_sets import FileSet, whole_path

if TYPE_CHECKING:
    from refbrowser.app.controller.work import Opened
    from refbrowser.io.origins import ConnectionSettings, Origin
    from refbrowser.views.compute_places import ComputeChoice


class Documents(QObject):
    """Opens and closes documents.

    Signals
    -------
    added(object), removed(object)
        An `OpenDocument` that is being opened, or that was closed.
    currentChanged(object)
        The `OpenDocument` that is shown, or None.
    reordered()
        The documents are in another order.
    setsChanged()
        There is another set of files, or one less.
    computeChanged()
        Exports run somewhere else.
    """

    added = Signal(object)
    removed = Signal(object)
    currentChanged = Signal(object)
    reordered = Signal()
    setsChanged = Signal()
    computeChanged = Signal()

    def __init__(self, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._session = SharedSession()
        self._documents: list[OpenDocument] = []
        self.current: OpenDocument | None = None
        #: Files that were opened together, in the order in which they were.
        self.sets: list[FileSet] = []
        #: Returns the options of opening that are kept for a path.
        self.kept_options: Callable[[str], Mapping[str, Any]] = lambda path: {}

    def all(self) -> list[OpenDocument]:
        """Return the documents in the order in which they were opened."""
        return list(self._documents)

    def open(
        self,
        path: str,
        template_values: Mapping[str, str] | None = None,
        allow: Sequence[str] = (),
        options: Mapping[str, Any] | None = None,
    ) -> OpenDocument:
        """Open a document or a store, or go to it where it is open already (and its reading did not fail).

        `options` are those of opening, by name.
        """
        flavour = str((options or {}).get("flavour", ""))
        full = whole_path(path)
        for document in self._documents:
            if document.path == full:
                if flavour and flavour != document.store.flavour:
                    document.store.open_as(flavour)
                elif document.error is not None:
                    document.open()
                self.set_current(document)
                return document
        kept, shared = self.kept_options(full), self._session
        document = OpenDocument(full, self._tasks, shared, template_values, allow, self, options, kept)
        self._documents.append(document)
        self.added.emit(document)
        self.set_current(document)
        document.open()
        return document

    def add_set(self, paths: Sequence[str]) -> FileSet:
        """Take files as one set, of which none is opened yet; the same files are the same set."""
        made = FileSet(paths)
        known = next((each for each in self.sets if each.paths == made.paths), None)
        if known is not None:
            return known
        self.sets.append(made)
        self.setsChanged.emit()
        return made

    def remove_set(self, files: FileSet) -> None:
        """Let go of a set; those of its files that are open stay open."""
        self.sets.remove(files)
        self.setsChanged.emit()

    def opened_of(self, files: FileSet) -> list[OpenDocument]:
        """Return the files of a set that are open."""
        return [document for document in self._documents if files.place(document.path) is not None]

    def add_made(self, path: str, opened: Opened) -> OpenDocument:
        """Show a document that was made here, and is in no file yet.

        `path` is proposed for it where no other one is there or open; else one with a number is.
        """
        stem, suffix = os.path.splitext(path)
        taken, number = {document.path for document in self._documents}, 1
        while path in taken or os.path.lexists(path):
            number += 1
            path = f"{stem}_{number}{suffix}"
        document = OpenDocument(path, self._tasks, self._session, parent=self)
        document.is_new = True
        self._documents.append(document)
        self.added.emit(document)
        self.set_current(document)
        document.take_opened(opened)
        return document

    def move(self, document: OpenDocument, place: int) -> None:
        """Put a document to a place in the order of all."""
        others = [each for each in self._documents if each is not document]
        others.insert(place, document)
        if others != self._documents:
            self._documents = others
            self.reordered.emit()

    def close(self, document: OpenDocument) -> None:
        """Close a document without a question."""
        place = self._documents.index(document)
        self._documents.remove(document)
        document.close()
        self.removed.emit(document)
        if document is self.current:
            others = self._documents
            self.set_current(others[min(place, len(others) - 1)] if others else None)
        document.deleteLater()

    @property
    def shared(self) -> SharedSession:
        """What all documents read with."""
        return self._session

    @property
    def settings(self) -> Mapping[Origin, ConnectionSettings]:
        """Connection settings in force, per origin."""
        return self._session.settings

    def use_settings(self, settings: Mapping[Origin, ConnectionSettings]) -> None:
        """Take connection settings over those that are in force, for all documents; they are never saved."""
        self._session.settings = {**self._session.settings, **settings}
        for document in self._documents:
            document.use_settings(self._session.settings)

    @property
    def compute(self) -> ComputeChoice:
        """Where exports run."""
        return self._session.compute

    def tune(self, connections: int, cache: int) -> None:
        """Use at most so many connections to one host, and keep so many bytes of decoded chunks."""
        self._session.tune(connections, cache)

    def compute_on(self, choice: ComputeChoice) -> None:
        """Let exports run somewhere else from now on."""
        self._session.compute = choice
        self.computeChanged.emit()

    def close_session(self) -> None:
        """Close connections and the decode pool; nothing can be read any more."""
        self._session.close()

    def set_current(self, document: OpenDocument | None) -> None:
        """Show another document."""
        if document is not self.current:
            self.current = document
            self.currentChanged.emit(document)


def distinctions(paths: Sequence[str]) -> list[str]:
    """Return for each path the shortest end of its folder that no other path of the same name has.

    Empty where the name is enough.
    """
    parts = [path.rstrip("/").replace("\\", "/").split("/") for path in paths]
    found = []
    for own in parts:
        others = [other for other in parts if other is not own and other[-1] == own[-1] and other != own]
        depth = 0
        while others and depth < len(own):
            depth += 1
            others = [other for other in others if other[-1 - depth :] == own[-1 - depth :]]
        found.append("/".join(own[-1 - depth : -1]) if depth else "")
    return found


class Titles(QObject):
    """Keeps the titles of all documents of a window distinct."""

    def __init__(self, documents: Documents) -> None:
        super().__init__(documents)
        self._documents = documents
        documents.added.connect(self._added)
        documents.removed.connect(lambda _document: self._update())

    def _added(self, document: OpenDocument) -> None:
        # A save under another name tells a new identity.
        document.identityChanged.connect(self._update)
        self._update()

    def _update(self) -> None:
        documents = self._documents.all()
        for document, distinction in zip(
            documents, distinctions([one.path for one in documents]), strict=True
        ):
            if document.distinction != distinction:
                document.distinction = distinction
                document.savedChanged.emit()


class DiskWatch(QObject):
    """Tells each document when its file is another one; a store's is its archive or the root's metadata."""

    _news = Signal(int, object)

    def __init__(self, documents: Documents) -> None:
        super().__init__(documents)
        self._documents = documents
        # From the watcher's thread to this one.
        self._watcher = FileWatcher(self._news.emit)
        self._news.connect(self._tell)
        documents.added.connect(self._added)
        documents.removed.connect(lambda document: self._watcher.forget(document.number))

    def close(self) -> None:
        """Watch nothing any more."""
        self._watcher.close()

    def _added(self, document: OpenDocument) -> None:
        document.identityChanged.connect(lambda: self._watch(document))

    def _watch(self, document: OpenDocument) -> None:
        from refbrowser.io.identity import FileIdentity

        state, path = document.document, document.store.watched_path()
        is_parquet = state is not None and state.from_parquet
        if isinstance(document.identity, FileIdentity) and path is not None and not is_parquet:
            self._watcher.watch(document.number, path, document.identity)
        else:
            self._watcher.forget(document.number)

    def _tell(self, number: int, identity: object) -> None:
        document = next((one for one in self._documents.all() if one.number == number), None)
        if document is not None:
            document.file.noticed(identity)  # type: ignore[arg-type]
