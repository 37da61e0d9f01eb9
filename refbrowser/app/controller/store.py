"""What an opened document knows of the store that it was made from: its flavour, and what is listed in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.shell.tasks import Priority, TaskControl

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.saving.store import StoreChange, StoreWritten
    from refbrowser.io.identity import FileIdentity
    from refbrowser.model.listing import StoreListing


class DocumentStore(QObject):
    """Follows one `OpenDocument`; of one that is no store nothing is known here.

    Attributes
    ----------
    flavour
        Whose rules the user wants the metadata to follow, a value of `Flavour`; empty to find it out.
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

    def __init__(self, document: OpenDocument, flavour: str) -> None:
        super().__init__(document)
        self._document = document
        self._path: str | None = None
        self.flavour = flavour
        self.listing: StoreListing | None = None
        self.is_written = False
        self.written: StoreWritten | None = None
        self.ours: Mapping[str, FileIdentity] = {}
        document.hierarchyChanged.connect(self._list)

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
        from refbrowser.exporting.saving.store import PartlyWrittenError

        history = self._document.history
        if history is not None and isinstance(error, PartlyWrittenError) and error.ours:
            self.ours = error.ours
            history.mark_gone()

    def watched_path(self) -> str | None:
        """Return the path of the file whose changes are of interest; None where there is none."""
        from refbrowser.app.controller.store_files import watched_file

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
            from refbrowser.exporting.saving.store import store_change

            return store_change(state, saved, ours)

        owner, title = document.owner("prospect"), f"Look at what saving {document.title} means"
        document.tasks.run(owner, title, look, done, failed)

    def open_as(self, flavour: str) -> None:
        """Read the store by the rules of another flavour; edits are lost."""
        self.flavour = flavour
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
            from refbrowser.engine.audit import list_store

            return dataset, list_store(dataset, control)

        def done(answer: tuple[Dataset, StoreListing | None]) -> None:
            if answer[1] is not None:
                self.listing = answer[1]
                self.listed.emit()

        title = f"List {document.title}"
        owner = document.owner("listing")
        document.tasks.run(owner, title, list_it, done, lambda _error: None, priority=Priority.STATISTICS)
