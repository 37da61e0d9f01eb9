"""What follows edits and readings off the thread: findings, changed rows, journal, confirmed members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.engine.findings.listed_finding import FindingList, ListedFinding
from refbrowser.engine.jobs import Priority
from refbrowser.views.words import one_line
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from refbrowser.app.controller.document_audit import DocumentAudit
    from refbrowser.app.controller.document_files import DocumentStore
    from refbrowser.app.controller.edited_document import EditedDocument
    from refbrowser.engine.journal import JournalWriter, Keepable, Recovery
    from refbrowser.errors import RefbrowserError
    from refbrowser.io.archives.directory import ZipMember
    from refbrowser.references.document.document import Document
    from refbrowser.views.changed_rows import ChangedRows, Difference


#: Failed chunks are looked for after this pause, in milliseconds: they come in crowds.
PAUSE = 300


class DocumentFindings(QObject):
    """Follows one `OpenDocument`.

    Signals
    -------
    changed()
        `found` is another one.
    """

    changed = Signal()

    def __init__(self, document: EditedDocument, store: DocumentStore, audit: DocumentAudit) -> None:
        super().__init__(document)
        self._document, self._audit = document, audit
        self._turns, self._is_audited = 0, False
        self.found = FindingList()
        self._latest = Latest(self, "problems")
        self._pause = one_shot(self, PAUSE, self._look_at_reads)
        # What may be read changes with it alone: `wants` are new by then.
        document.hierarchyChanged.connect(self.look_again)
        store.listed.connect(self.look_again)
        audit.settled.connect(self._look_if_audited)
        document.openFailed.connect(lambda _error: self._take_error())
        document.readsTurned.connect(self._reads_turned)

    def look_again(self) -> None:
        """Look for findings; nothing is read for it."""
        dataset, wants = self._document.dataset, self._document.wants
        if dataset is None:
            return
        groups = self._audit.asked_groups()
        self._is_audited = bool(groups)

        def find(control: TaskControl) -> tuple[FindingList, int]:
            from refbrowser.engine.findings.collected_findings import collect, failures_of, turns_of

            turns, failures = turns_of(dataset), failures_of(dataset)

            def cancelled() -> bool:
                return control.token.cancelled

            audited = (finding for group in groups for finding in group.findings)
            found = collect(
                dataset.document, dataset.hierarchy, wants, failures, cancelled, dataset.access, audited
            )
            control.check()
            return found, turns

        title = f"Check for problems of {self._document.title}"
        self._latest.run(self._document, title, find, self._take, priority=Priority.STATISTICS)

    def _take(self, answer: tuple[FindingList, int]) -> None:
        self.found, self._turns = answer
        self.changed.emit()

    def _look_if_audited(self) -> None:
        """Look again where an audit tells what findings do not, or did."""
        if self._is_audited or self._audit.asked_groups():
            self.look_again()

    def _take_error(self) -> None:
        """Take over why the document could not be opened: that is its one fault."""
        from refbrowser.engine.findings.listed_finding import finding_of_opening
        from refbrowser.errors import RefbrowserError

        error = self._document.error
        if self._document.is_open or not isinstance(error, RefbrowserError):
            return
        self.found = FindingList.of([finding_of_opening(error)])
        self.changed.emit()

    def _reads_turned(self) -> None:
        if self._document.dataset is not None and not self._pause.isActive():
            self._pause.start()

    def _look_at_reads(self) -> None:
        from refbrowser.engine.findings.collected_findings import turns_of

        dataset = self._document.dataset
        if dataset is not None and turns_of(dataset) != self._turns:
            self._turns = turns_of(dataset)
            self.look_again()

    def fix(self, finding: ListedFinding) -> bool:
        """Make the edit that repairs a finding one step of the history; whether it could be made."""
        edit = None if finding.fix is None else finding.fix.edit
        return edit is not None and self._document.apply(edit)


class DocumentChanges(QObject):
    """What differs in one `OpenDocument`; that of the state before until the new one is looked through.

    Signals
    -------
    changed()
        `rows` are other ones.
    """

    changed = Signal()

    def __init__(self, document: EditedDocument) -> None:
        super().__init__(document)
        self._document = document
        self._state: Document | None = None
        self.rows: ChangedRows | None = None
        self._latest = Latest(self, "changes")
        document.savedChanged.connect(self._nothing_left)

    @property
    def is_known(self) -> bool:
        """Whether `rows` belong to the document as it is now."""
        return self.rows is not None and self._state is self._document.document

    def count_below(self, path: str) -> int | None:
        """Return how many keys at or below a path differ; 0 where it is not counted, None where none does."""
        return None if self.rows is None else self.rows.below.get(path.strip("/"))

    def look(self, difference: Difference | None) -> None:
        """Look for the rows that differ; None where nothing does."""
        if difference is None:
            self._nothing_left()
            return

        def find(control: TaskControl) -> ChangedRows:
            from refbrowser.views.changed_rows import changed_rows
            from refbrowser.views.editing.preview import Pace

            return changed_rows(difference, Pace(control.check))

        def found(rows: ChangedRows) -> None:
            self.rows, self._state = rows, difference.document
            self.changed.emit()

        title = f"Look for what changed in {self._document.title}"
        self._latest.run(self._document, title, find, found, priority=Priority.STATISTICS)

    def _nothing_left(self) -> None:
        if self._document.is_dirty:
            return
        # Also where nothing was found yet: an answer for the edit that was undone would stay.
        self._latest.cancel()
        if self.rows is not None:
            self.rows = self._state = None
            self.changed.emit()


class DocumentJournal(QObject):
    """The journal of one `OpenDocument`: follows its edits, undo, redo and saves.

    Signals
    -------
    recoveriesChanged()
        `recoveries`, newest first, are other ones.
    typedRestored(object)
        What was typed and not applied is to be put back, as it was kept.
    failed(object)
        Edits cannot be kept any more until the next save: the exception.
    """

    recoveriesChanged = Signal()
    typedRestored = Signal(object)
    failed = Signal(object)

    def __init__(self, document: EditedDocument) -> None:
        super().__init__(document)
        self._document = document
        self._writer: JournalWriter | None = None
        self._replaced: Path | None = None
        self._typed: tuple[Keepable, ...] = ()
        self.recoveries: tuple[Recovery, ...] = ()
        self._search = Latest(self, "recovery")
        document.documentChanged.connect(self._follow)
        document.saved.connect(lambda _path: self._saved())

    def search(self) -> None:
        """Look for what lost processes left; the document was just read or saved."""
        path, document = self._document.path, self._document.saved_document
        if document is None or self._document.is_new:
            return

        def find(control: TaskControl) -> tuple[Recovery, ...]:
            from refbrowser.engine.journal import find_recoveries

            return find_recoveries(path, document, control.token)

        def found(recoveries: tuple[Recovery, ...]) -> None:
            if recoveries != self.recoveries:
                self.recoveries = recoveries
                self.recoveriesChanged.emit()

        self._search.run(self._document, f"Recover unsaved edits of {self._document.title}", find, found)

    def can_restore(self, recovery: Recovery) -> bool:
        """Tell whether the edits fit the document as it was opened or last saved."""
        return recovery.history is not None

    def restore(self, recovery: Recovery) -> None:
        """Make the edits again, so that undo works through them; the file is not written.

        Other edits that were made since stay: those of the lost process follow them as one step. Where that
        cannot be, the document tells why, and what was left stays on offer.
        """
        if recovery.history is None:
            return
        # After a save, until what fits it is looked for again, the history is that of the state before.
        if not self._document.is_pending and recovery.history.saved is self._document.saved_document:
            self._forget(recovery)
            self._replaced = recovery.path
            self._document.go_on_with(recovery.history)
            self.typedRestored.emit(recovery.typed)
            return
        edits = recovery.history.edits_made()
        if edits:
            from refbrowser.references.edits.edits import Compound

            count = len(edits)
            step = Compound(f"Restore {counted_plain(count, 'edit')}", edits)
            self._document.apply_later(step, lambda: self._restored_beside(recovery))
        else:
            self._restored_beside(recovery)

    def _restored_beside(self, recovery: Recovery) -> None:
        """Put back what was typed; from now on all is kept in the journal of this process."""
        self._forget(recovery)
        self.typedRestored.emit(recovery.typed)
        self._replaced = recovery.path
        self._follow()

    def discard(self, recovery: Recovery) -> None:
        """Give the edits up."""
        from refbrowser.io.files.journal import remove_journal

        def remove(_control: TaskControl) -> None:
            remove_journal(recovery.path)

        self._forget(recovery)
        # Not as work of the document, which ends when that is closed.
        self._document.tasks.run(f"discard {recovery.path.name}", "Discard unsaved edits", remove)

    def flush(self) -> None:
        """Have everything on the disk as soon as may be."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Remove the journal; what was found of lost processes stays."""
        if self._writer is not None:
            self._writer.close()

    def _forget(self, recovery: Recovery) -> None:
        self.recoveries = tuple(other for other in self.recoveries if other is not recovery)
        self.recoveriesChanged.emit()

    def _follow(self) -> None:
        history = self._document.history
        # What is in no file has no state that edits could be made to again.
        if (
            history is None
            or self._document.is_new
            or (self._writer is None and not history.is_dirty and not self._typed)
        ):
            return
        if self._writer is None:
            from refbrowser.engine.journal import JournalWriter

            self._writer = JournalWriter(self.failed.emit)
        replaced, self._replaced = self._replaced, None
        self._writer.follow(self._document.path, history, replaced)

    def keep_typed(self, typed: Sequence[Keepable]) -> None:
        """Keep what is typed and not applied."""
        self._typed = tuple(typed)
        if self._writer is None:
            self._follow()
        if self._writer is not None:
            self._writer.type(self._typed)

    def _saved(self) -> None:
        self._follow()
        if self.recoveries:
            # They were made to the state before: whether they fit this one too is looked at.
            self.search()


#: What is confirmed sooner than this, in milliseconds, is not marked before.
PATIENCE = 300


class DocumentConfirming(QObject):
    """Follows the reads of one `OpenDocument`: views get parts at once, and all is confirmed after that.

    Large members of servers are confirmed when the user wants it (`confirm`).

    Signals
    -------
    changed()
        Other members wait to be confirmed.
    failed()
        A member has another checksum: what is shown of it is to be read again, and fails then.
    """

    changed = Signal()
    failed = Signal()

    def __init__(self, document: EditedDocument) -> None:
        super().__init__(document)
        self._document = document
        self.is_running = False
        self._waiting: tuple[ZipMember, ...] = ()
        self._given_up: set[tuple[str, int]] = set()
        self._latest = Latest(self, "confirm")
        self._soon = one_shot(self, PATIENCE, self._tell)
        document.readsTurned.connect(self._look)

    @property
    def waiting(self) -> tuple[ZipMember, ...]:
        """Members of which parts are shown that are not confirmed yet."""
        return self._waiting

    def confirm(self) -> None:
        """Confirm all members that wait, however large."""
        self._given_up.clear()
        self._run(far=True)

    def _unconfirmed(self) -> dict[tuple[str, int], ZipMember]:
        dataset = self._document.dataset
        return {} if dataset is None else dataset.access.memory.archives.unconfirmed

    def _look(self) -> None:
        unconfirmed = self._unconfirmed()
        if not unconfirmed:
            self._tell()
            return
        if tuple(unconfirmed.values()) != self._waiting and not self._soon.isActive():
            self._soon.start()
        if not self.is_running:
            from refbrowser.engine.reading.found_members import is_far

            new = [key for key, each in unconfirmed.items() if not is_far(key[0], each)]
            if not self._given_up.issuperset(new):
                self._run(far=False)

    def _tell(self) -> None:
        self._soon.stop()
        waiting = tuple(self._unconfirmed().values())
        if waiting != self._waiting:
            self._waiting = waiting
            self.changed.emit()

    def _run(self, *, far: bool) -> None:
        from refbrowser.engine.jobs import Priority

        document, dataset = self._document, self._document.dataset
        if dataset is None:
            return

        def work(control: TaskControl) -> list[RefbrowserError]:
            from refbrowser.engine.reading.fetching import confirm_later

            return confirm_later(dataset.session.fetcher, dataset.access, control.token, far=far)

        self.is_running = True
        self._latest.run(
            document,
            f"Compare checksums of {one_line(document.title)}",
            work,
            self._done,
            self._failed,
            priority=Priority.STATISTICS,
        )

    def _done(self, errors: list[RefbrowserError]) -> None:
        self.is_running = False
        self._given_up |= set(self._unconfirmed())
        self._tell()
        if errors and self._document.dataset is not None:
            # Parts of servers' members may be kept, which were good when they came.
            self._document.dataset.session.cache.clear()
            self.failed.emit()

    def _failed(self, _error: BaseException) -> None:
        self.is_running = False
        self._given_up |= set(self._unconfirmed())
        self._tell()
