"""One opened document: read, kept in step with its file and with what is known of it, saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from refbrowser.app.controller.document_audit import DocumentAudit
from refbrowser.app.controller.document_files import (
    DocumentFile,
    DocumentLock,
    DocumentSaving,
    DocumentStore,
    FormatPart,
)
from refbrowser.app.controller.edited_document import EditedDocument
from refbrowser.app.controller.followers import DocumentChanges, DocumentFindings, DocumentJournal
from refbrowser.app.controller.shared_session import SharedSession
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl, Tasks
from refbrowser.formats.registry import facet, format_of
from refbrowser.references.document.extent import EVERYTHING

if TYPE_CHECKING:
    from refbrowser.app.controller.document_reading import SizeQuestion
    from refbrowser.app.controller.work import DatasetState, Opened, Saved
    from refbrowser.formats.format import Format
    from refbrowser.io.access.access import Access, Want
    from refbrowser.references.document.document import Document
    from refbrowser.views.changed_rows import ChangedRows
    from refbrowser.views.references import FirstRows


class OpenDocument(EditedDocument):
    """An edited document with its file or store, its journal, its findings, and what its format adds.

    Attributes
    ----------
    options
        Options of opening that were said when it was opened, by name.
    kept
        Those that were chosen since, or are kept for its path: they count where its format has them.
    part
        What its format knows of it; another one where it was read again as another format.

    Signals
    -------
    partChanged()
        What `part` tells is something else now.
    partFailed(str, object)
        What its format could not do, and the exception.
    """

    partChanged = Signal()
    partFailed = Signal(str, object)

    def __init__(
        self,
        path: str,
        tasks: Tasks,
        session: SharedSession | None = None,
        template_values: Mapping[str, str] | None = None,
        allow: Sequence[str] = (),
        parent: QObject | None = None,
        options: Mapping[str, Any] | None = None,
        kept: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(path, tasks, session, template_values, parent)
        self._allow = tuple(allow)
        self._opening = Latest(self, "open")
        self.options, self.kept = dict(options or {}), dict(kept or {})
        self.store = DocumentStore(self, self.options)
        self.saving = DocumentSaving(self, self.store)
        self.part = FormatPart(self)
        self._format: Format | None = None
        self.journal = DocumentJournal(self)
        self.audit = DocumentAudit(self)
        self.findings = DocumentFindings(self, self.store, self.audit)
        self.changes = DocumentChanges(self)
        self.lock = DocumentLock(self)
        self.file = DocumentFile(self, self.store, self.saving, lambda: self.part)

    @property
    def can_save_in_place(self) -> bool:
        """Whether Save has a place to write to: not for stores, streams and the like, URLs, what is new.

        Of folders the parquet form of references has one, as long as the document has no rules.
        """
        is_made = self.is_new or self.store.is_here or self.is_derived
        if "://" in self.path or is_made:
            return False
        state = self.document
        if state is not None and state.from_parquet and state.version == 0:
            return True
        return not Path(self.path).is_dir()

    @property
    def can_compare(self) -> bool:
        """Whether there is one file that the document can be compared with."""
        return self.can_save_in_place and not Path(self.path).is_dir()

    def finding_at(self, kind: str, place: str | int) -> str:
        """Return the first finding of a row of the tree itself; nothing where it is sound."""
        finding = self.findings.found.first_at((kind, place))
        return "" if finding is None else finding.message

    @property
    def is_store(self) -> bool:
        """Whether what is shown is a store itself, not references to one."""
        return self.store.is_here

    @property
    def is_data(self) -> bool:
        """Whether it is a file of data, of which references can be made."""
        format = None if self.document is None else format_of(self.document)
        return format is not None and format.is_data

    @property
    def changed_rows(self) -> ChangedRows | None:
        """What differs from the saved state; None where nothing does, or it is not known."""
        return self.changes.rows

    def open(self) -> None:
        """Start to read the document; `documentChanged` or `openFailed` tells the end."""
        self.error = None
        self._read(f"Open {self.title}", self.take_opened, self._open_failed)

    def allow(self, wants: Iterable[Want], *, always: bool = False) -> None:
        """Let this document read from more; it is opened again where it then tells more."""
        super().allow(wants, always=always)
        document, access = self.document, self.access
        if document is not None and access is not None and document.lacking and not self.is_pending:
            self._allow = (*self._allow, *map(str, sorted(access.allowed)))
            self.reload()

    def reload(self) -> None:
        """Read the document again; its history begins anew. `reloaded` or `reloadFailed` tells the end."""
        self._reload(None)

    def reload_as_allowed(self) -> None:
        """Do as `reload` where this program wrote what is read: what the user allowed for it still counts."""
        self._reload(self.access)

    def _reload(self, granted: Access | None) -> None:
        def again(opened: Opened) -> None:
            self.take_opened(opened)
            self.reloaded.emit()

        self._read(f"Reload {self.title}", again, self.reloadFailed.emit, granted)

    def _read(
        self,
        title: str,
        done: Callable[[Opened], None],
        failed: Callable[[BaseException], None],
        granted: Access | None = None,
    ) -> None:
        path, values, allow, shared = self.path, dict(self.template_values), self._allow, self.shared
        options, kept = dict(self.options), dict(self.kept)

        def read(control: TaskControl) -> Opened:
            from refbrowser.app.controller.work import as_allowed, open_document

            opened = open_document(path, values, allow, options, kept, shared, control)
            return opened if granted is None else as_allowed(opened, granted)

        self._opening.run(self, title, read, done, failed, received=self._reading)

    def open_text(self, text: bytes, failed: Callable[[BaseException], object]) -> None:
        """Open a text as the document, in place of what its file has: saving writes it there."""
        path, values, allow, shared = self.path, dict(self.template_values), self._allow, self.shared

        def read(control: TaskControl) -> Opened:
            from refbrowser.app.controller.work import opened_text

            return opened_text(path, text, values, allow, shared, control)

        self._opening.run(self, f"Open the text of {self.title}", read, self._take_text, failed)

    def open_mended(self, failed: Callable[[BaseException], object]) -> None:
        """Open what the file certainly means, where it is almost JSON: saving writes that there."""
        path, values, allow, shared = self.path, dict(self.template_values), self._allow, self.shared

        def read(control: TaskControl) -> Opened:
            from refbrowser.app.controller.work import opened_mended

            return opened_mended(path, values, allow, shared, control)

        self._opening.run(self, f"Mend the text of {self.title}", read, self._take_text, failed)

    def _take_text(self, opened: Opened) -> None:
        self.error = None
        self.take_opened(opened)

    def choose(self, name: str, value: Any) -> None:
        """Choose an option of opening for when it is read again; None for what is usual."""
        for chosen in (self.options, self.kept):
            chosen.pop(name, None)
        if value is not None:
            self.kept[name] = value

    def cancel_open(self) -> None:
        """Stop reading the document."""
        from refbrowser.io.cancel import Cancelled

        self._opening.cancel()
        self._open_failed(Cancelled())

    def _reading(self, news: tuple[int, int | None] | str | FirstRows | SizeQuestion) -> None:
        from refbrowser.app.controller.document_reading import SizeQuestion

        if isinstance(news, tuple):
            self.progressChanged.emit(*news)
        elif isinstance(news, str):
            self.stageChanged.emit(news)
        elif isinstance(news, SizeQuestion):
            self.sizeAsked.emit(news)
        else:
            self.firstRows.emit(news)

    def take_opened(self, opened: Opened) -> None:
        """Show what was read, or is to be seen in its place; the history begins anew."""
        self.history = opened.history
        self._known.clear()
        self._take_part(opened.history.document)
        self.store.opened()
        self.take_identity(opened.identity)
        self.file.settled()
        self._take(opened.state)
        self.documentChanged.emit()
        self.hierarchyChanged.emit(EVERYTHING)
        self.savedChanged.emit()
        self.trustChanged.emit()
        self.journal.search()

    def _take_part(self, document: Document) -> None:
        """Let the format of what was read tell what it knows; what fails costs that alone."""
        format, before = format_of(document), self.part
        if format is self._format:
            return
        self._format, self.part = format, FormatPart(self)
        try:
            make = facet(document, "document")
            self.part = self.part if make is None else make(self)
        except Exception as error:  # noqa: BLE001 - it may not be ours: what it raises is told
            self.partFailed.emit(f"What {format.title if format else ''} adds is missing", error)
        self.part.changed.connect(self.partChanged)
        self.part.failed.connect(self.partFailed)
        before.deleteLater()

    def _open_failed(self, error: BaseException) -> None:
        self.error = error
        self.openFailed.emit(error)

    def _take(self, state: DatasetState) -> None:
        super()._take(state)
        self.changes.look(state.difference)

    def take_saved(self, document: Document, saved: Saved, path: str) -> None:
        """Go on with what was written of a state of the document; `saving` calls it."""
        history, written = self.history, saved.written
        if history is None or written.document is None:
            return
        if written.edit is not None:
            if history.document is not document:
                return
            history.take(written.edit, written.document)
        history.mark_saved(written.document)
        is_moved = self.is_new or path != self.path or saved.access is not None
        self.is_new = False
        if saved.access is not None and self.dataset is not None:
            self.access = saved.access
            self.dataset = self.dataset.moved(path, saved.access)
            self._follow_reads()
        if path != self.path:
            # It is a reference document from now on.
            self.options.clear()
            self.kept.clear()
        self.path = path
        self.take_identity(written.identity)
        self.file.settled()
        if written.edit is not None:
            self.documentChanged.emit()
        if is_moved or not self._forget_difference():
            self._rebuild()

    def close(self) -> None:
        """Cancel everything that runs for this document and let go of its data."""
        self.tasks.cancel_owners(lambda owner: owner.endswith(self.owner("")))
        self.journal.close()
        self.history = self.dataset = self.access = None
        self._follow_reads()
        self.wants = ()
        self._known.clear()
