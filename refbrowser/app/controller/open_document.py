"""One opened document: its history, its dataset, what it may read, and saving it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from refbrowser.app.controller.journaling import DocumentJournal
from refbrowser.app.controller.shared_session import SharedSession
from refbrowser.app.tasks import Priority, TaskControl, Tasks

if TYPE_CHECKING:
    from refbrowser.app.controller.changes import Difference
    from refbrowser.app.controller.reading import FirstRows, SizeQuestion
    from refbrowser.app.controller.work import DatasetState, Identity, Opened, Problems
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.session import Session
    from refbrowser.io.access import Access, Want
    from refbrowser.io.origins import Origin
    from refbrowser.io.settings import ConnectionSettings
    from refbrowser.model.nodes import Hierarchy
    from refbrowser.references.document import ReferenceDocument
    from refbrowser.references.history import History

_numbers = itertools.count(1)


class OpenDocument(QObject):
    """A document in the window. Lives on the GUI thread; values it hands out are immutable.

    `history` and `document` are None until the document is read (`is_open`); `dataset` follows each edit a
    little later (`hierarchyChanged`), because it is made off the GUI thread.

    Signals
    -------
    documentChanged()
        `document` is another one: it was read, edited, undone, redone or reverted.
    hierarchyChanged()
        `dataset` is another one, and agrees with `document`.
    trustChanged()
        `access` or `wants` is another one.
    savedChanged()
        `is_dirty`, `pending_count`, `path` or `saved_document` changed.
    problemsChanged()
        Another search for faults of templates and rules has ended.
    firstRows(object)
        Rows of a large document that is still being read (`reading.FirstRows`).
    sizeAsked(object)
        The reading waits for the answer to a `reading.SizeQuestion`.
    progressChanged(object, object)
        Bytes read so far, and in all (or None), while the document is read.
    openFailed(object)
        The document could not be read: the exception.
    editFailed(object), saveFailed(object)
        An edit could not be made, a save failed; the document is as it was.
    saved(str)
        The document was written to this path.
    """

    documentChanged = Signal()
    hierarchyChanged = Signal()
    trustChanged = Signal()
    savedChanged = Signal()
    problemsChanged = Signal()
    firstRows = Signal(object)
    sizeAsked = Signal(object)
    progressChanged = Signal(object, object)
    openFailed = Signal(object)
    editFailed = Signal(object)
    saveFailed = Signal(object)
    saved = Signal(str)

    def __init__(
        self,
        path: str,
        tasks: Tasks,
        session: SharedSession | None = None,
        template_values: Mapping[str, str] | None = None,
        allow: Sequence[str] = (),
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.number = next(_numbers)
        self.path = path
        self.tasks = tasks
        self.template_values = dict(template_values or {})
        self._allow = tuple(allow)
        self._shared = session or SharedSession()
        self._identity: Identity | None = None
        self.history: History | None = None
        self.dataset: Dataset | None = None
        self.access: Access | None = None
        self.wants: tuple[Want, ...] = ()
        self.problems: Problems = {}
        self.error: BaseException | None = None
        self._difference: Difference | None = None
        self.is_saving = False
        self.draft_count = 0
        self.journal = DocumentJournal(self)

    # What it is

    @property
    def title(self) -> str:
        """The last part of the path, as a tab or a root of the tree calls the document."""
        return self.path.rstrip("/").rsplit("/", 1)[-1] or self.path

    @property
    def is_open(self) -> bool:
        """Whether the document is read."""
        return self.history is not None

    @property
    def can_save_in_place(self) -> bool:
        """Whether Save has a file to write to: not for what came by URL or as a folder."""
        return "://" not in self.path and not Path(self.path).is_dir()

    @property
    def document(self) -> ReferenceDocument | None:
        """The document with every edit made so far."""
        return None if self.history is None else self.history.document

    @property
    def saved_document(self) -> ReferenceDocument | None:
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

    def problem_at(self, kind: str, place: str | int) -> str:
        """Return the first fault of a template (by name) or rule (by number); nothing where it is sound."""
        return self.problems.get((kind, place), "")

    def is_row_changed(self, row: int) -> bool:
        """Tell whether a row of the Version 0 view differs from the saved state; known soon after an edit."""
        known = self._difference
        # Right after an edit it is that of the state before, which may have other rows.
        return known is not None and known.document is self.document and known.changed(row)

    def owner(self, what: str) -> str:
        """Return the owner name for tasks of this document, for example ``plot:3``."""
        return f"{what}:{self.number}"

    # Opening

    def open(self) -> None:
        """Start to read the document; `documentChanged` or `openFailed` tells the end."""
        path, values, allow, shared = self.path, dict(self.template_values), self._allow, self._shared

        def read(control: TaskControl) -> Opened:
            from refbrowser.app.controller.work import open_document

            return open_document(path, values, allow, shared, control)

        self.error = None
        self.tasks.run(
            self.owner("open"),
            f"Open {self.title}",
            read,
            self._opened,
            self._open_failed,
            received=self._reading,
        )

    def cancel_open(self) -> None:
        """Stop reading the document."""
        from refbrowser.io.cancel import Cancelled

        self.tasks.cancel_owner(self.owner("open"))
        self._open_failed(Cancelled())

    def _reading(self, news: tuple[int, int | None] | FirstRows | SizeQuestion) -> None:
        from refbrowser.app.controller.reading import SizeQuestion

        if isinstance(news, tuple):
            self.progressChanged.emit(*news)
        elif isinstance(news, SizeQuestion):
            self.sizeAsked.emit(news)
        else:
            self.firstRows.emit(news)

    def _opened(self, opened: Opened) -> None:
        self.history = opened.history
        self._identity = opened.identity
        self._take(opened.state)
        self.documentChanged.emit()
        self.hierarchyChanged.emit()
        self.savedChanged.emit()
        self.trustChanged.emit()
        self.journal.search()

    def _open_failed(self, error: BaseException) -> None:
        self.error = error
        self.openFailed.emit(error)

    def set_template_values(self, values: Mapping[str, str]) -> None:
        """Use these values for templates; they are never saved."""
        self.template_values = dict(values)
        if self.history is not None:
            self.history.set_template_values(self.template_values)
            self._edited()

    # Editing

    def apply(self, edit: Any) -> bool:
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

    def revert(self) -> None:
        """Go back to the saved state; it can be undone as one step."""
        from refbrowser.references.history import Revert

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

    def _rebuild(self) -> None:
        document, saved, dataset = self.document, self.saved_document, self.dataset
        if document is None or saved is None or dataset is None:
            return

        def build(control: TaskControl) -> DatasetState:
            from refbrowser.app.controller.work import rebuilt

            return rebuilt(dataset, document, saved, control)

        self.tasks.run(self.owner("hierarchy"), f"Read the structure of {self.title}", build, self._rebuilt)

    def _rebuilt(self, state: DatasetState) -> None:
        self._take(state)
        self.hierarchyChanged.emit()
        self.trustChanged.emit()

    def _take(self, state: DatasetState) -> None:
        self.dataset, self.access = state.dataset, state.dataset.access
        self.wants, self._difference = state.wants, state.difference
        self._find_problems(state.dataset.document)

    def _find_problems(self, document: ReferenceDocument) -> None:
        def find(control: TaskControl) -> Problems:
            from refbrowser.app.controller.work import problems_of

            return problems_of(document, control)

        def found(problems: Problems) -> None:
            self.problems = problems
            self.problemsChanged.emit()

        owner, title = self.owner("problems"), f"Look for faults in {self.title}"
        self.tasks.run(owner, title, find, found, priority=Priority.STATISTICS)

    # Trust

    def allow(self, wants: Iterable[Want], *, always: bool = False) -> None:
        """Let this document read from more origins, as the user said; with `always` also in later runs."""
        access, dataset, identity, path = self.access, self.dataset, self._identity, self.path
        chosen = [want for want in wants if want.origin is not None]
        if access is None or dataset is None or not chosen:
            return
        hosts = [want.origin for want in chosen if want.origin is not None and want.kind != "private"]
        private = [want.origin for want in chosen if want.origin is not None and want.kind == "private"]
        self.access = access.allow(hosts).allow(private, private=True)
        self.dataset = dataset.with_access(self.access)
        self._rebuild()
        if always and identity is not None:
            granted = self.access

            def keep(_control: TaskControl) -> None:
                from refbrowser.app.controller.work import keep_permission

                keep_permission(path, identity, granted)

            self.tasks.run(self.owner("permission"), "Remember the permission", keep)

    def use_settings(self, settings: Mapping[Origin, ConnectionSettings]) -> None:
        """Read with other connection settings, as the user gave them."""
        if self.access is None or self.dataset is None:
            return
        self.access = replace(self.access, settings=settings)
        self.dataset = self.dataset.with_access(self.access)
        self._rebuild()

    # Saving

    def save(self, path: str | None = None, version: int | None = None, *, overwrite: bool = False) -> None:
        """Write the document (in its own version, or as Version 0 or 1), atomically, off the GUI thread.

        `saved` or `saveFailed` tells the end. Saving under another path or in its own version makes the
        document the saved one; saving a Version 1 document as Version 0 writes a copy beside it.
        """
        document = self.document
        if document is None or self.is_saving:
            return
        target = self.path if path is None else path
        self.is_saving = True
        copy = version is not None and version != document.version

        expected = None if overwrite or target != self.path else self._identity
        before = self._identity

        def write(control: TaskControl) -> Identity:
            from refbrowser.app.controller.work import save_document

            return save_document(document, target, version, expected, before, control)

        def done(identity: Identity) -> None:
            self.is_saving = False
            if not copy and self.history is not None:
                self.history.mark_saved(document)
                self.path, self._identity = target, identity
                self._rebuild()
            self.savedChanged.emit()
            self.saved.emit(target)

        def failed(error: BaseException) -> None:
            self.is_saving = False
            self.savedChanged.emit()
            self.saveFailed.emit(error)

        self.tasks.run(self.owner("save"), f"Save {self.title}", write, done, failed)

    def close(self) -> None:
        """Cancel everything that runs for this document and let go of its data."""
        self.tasks.cancel_owners(lambda owner: owner.endswith(self.owner("")))
        self.journal.close()
        self.history = self.dataset = self.access = None
        self.wants = ()
