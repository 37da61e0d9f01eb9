"""Watches the files of all opened documents for changes by others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.io.watch import FileWatcher

if TYPE_CHECKING:
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument


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
