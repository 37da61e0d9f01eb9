"""The documents that are opened in one window, and the one that is shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.controller.shared_session import SharedSession
from refbrowser.app.shell.tasks import Tasks

if TYPE_CHECKING:
    from refbrowser.io.origins import Origin
    from refbrowser.io.settings import ConnectionSettings


class Documents(QObject):
    """Opens and closes documents.

    Signals
    -------
    added(object), removed(object)
        An `OpenDocument` that is being opened, or that was closed.
    currentChanged(object)
        The `OpenDocument` that is shown, or None.
    """

    added = Signal(object)
    removed = Signal(object)
    currentChanged = Signal(object)

    def __init__(self, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._session = SharedSession()
        self._documents: list[OpenDocument] = []
        self.current: OpenDocument | None = None
        #: Returns the byte order that the user chose for a stream; empty for none.
        self.byte_order_of: Callable[[str], str] = lambda path: ""

    def all(self) -> list[OpenDocument]:
        """Return the documents in the order in which they were opened."""
        return list(self._documents)

    def open(
        self,
        path: str,
        template_values: Mapping[str, str] | None = None,
        allow: Sequence[str] = (),
        flavour: str = "",
    ) -> OpenDocument:
        """Open a document or a store, or go to it where it is open already (and its reading did not fail).

        `flavour` is a value of `Flavour`: whose rules the metadata of a store follows; found out when empty.
        """
        full = path if "://" in path else os.path.abspath(os.path.expanduser(path))
        for document in self._documents:
            if document.path == full:
                if flavour and flavour != document.store.flavour:
                    document.store.open_as(flavour)
                elif document.error is not None:
                    document.open()
                self.set_current(document)
                return document
        order = self.byte_order_of(full)
        shared = self._session
        document = OpenDocument(full, self._tasks, shared, template_values, allow, self, flavour, order)
        self._documents.append(document)
        self.added.emit(document)
        self.set_current(document)
        document.open()
        return document

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
    def settings(self) -> Mapping[Origin, ConnectionSettings]:
        """Connection settings in force, per origin."""
        return self._session.settings

    def use_settings(self, settings: Mapping[Origin, ConnectionSettings]) -> None:
        """Take connection settings over those that are in force, for all documents; they are never saved."""
        self._session.settings = {**self._session.settings, **settings}
        for document in self._documents:
            document.use_settings(self._session.settings)

    def tune(self, connections: int, cache: int) -> None:
        """Use at most so many connections to one host, and keep so many bytes of decoded chunks."""
        self._session.tune(connections, cache)

    def close_session(self) -> None:
        """Close connections and the decode pool; nothing can be read any more."""
        self._session.close()

    def set_current(self, document: OpenDocument | None) -> None:
        """Show another document."""
        if document is not self.current:
            self.current = document
            self.currentChanged.emit(document)


def split_target(text: str) -> tuple[str, str | None]:
    """Split ``PATH::/array`` of a command line at the last ``::/``; None where there is no array."""
    path, mark, array = text.rpartition("::/")
    return (path, f"/{array}") if mark and path else (text, None)
