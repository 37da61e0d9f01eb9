"""Keeping the unsaved edits of a document in a journal, and finding those that a lost process left."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.files.journal import (
    JournalFile,
    abandoned_journals,
    read_head,
    read_journal,
    remove_journal,
)
from refbrowser.io.origins import scheme_of
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.references.content.content import DocumentContent
from refbrowser.references.document.document import Document
from refbrowser.references.document.history import History
from refbrowser.references.document.journal import Operation, Recorder, replayed

logger = logging.getLogger(__name__)

#: Operations are written after this long, in seconds, or when there are so many.
WITHIN = 2.0
AT_ONCE = 20
#: The operation that keeps what is typed and not applied: the last one counts.
TYPED = "typed"
#: Bytes of typing after which the journal is begun again.
TYPED_SIZE = 1 << 20
#: The end of a document waits so long for its journal to be removed, in seconds.
CLOSING = 1.0

_VERSION = 1


def state_hash(document: DocumentContent, cancel: CancelToken | None = None) -> str:
    """Return the SHA-256 of a document's text: the bytes of its file, where that is not packed.

    The text of a store is made anew whenever it is opened: of such it is that of its metadata, by key. So it
    is where references are read later than metadata: no edit of an attribute waits for them.
    """
    found = hashlib.sha256()
    has_metadata_alone = document.store is not None or document.refs.at_hand is not document.refs
    for chunk in _metadata_lines(document) if has_metadata_alone else document.to_chunks():
        if cancel is not None:
            cancel.check()
        found.update(chunk)
    return found.hexdigest()


def _metadata_lines(document: DocumentContent) -> Iterator[bytes]:
    """Yield what a store says of its nodes, whatever its spacing, in an order that does not depend on how."""
    refs = document.refs.at_hand
    slots = {refs.key_of(slot): slot for slot in map(refs.slot, range(len(refs)))}
    for key in sorted(filter(is_metadata_key, slots)):
        try:
            value = json.loads(document.view_at_hand.inline(slots[key]))
        except (RefbrowserError, ValueError, RecursionError, AssertionError):
            value = refs.value_text(slots[key]).decode("utf-8", "replace")
        yield json.dumps([key, value], sort_keys=True).encode()


class Keepable(Protocol):
    """What is typed and not applied, see `refbrowser.views.editing.typed_input`; it does not change."""

    def to_json(self) -> dict[str, Any]:
        """Return it as a value of JSON's types."""
        ...


class JournalWriter:
    """Follows the history of one document and keeps on disk what is not saved of it.

    `follow` and `type` are for one thread; a thread of its own hashes and writes. The file is there only
    while the document differs from the saved state, or something is typed that is not applied.

    Parameters
    ----------
    failed
        Called in that thread when the journal cannot be kept any more: at most once between two saves.
    """

    def __init__(self, failed: Callable[[BaseException], object]) -> None:
        self._failed = failed
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._cancel = CancelToken()
        self._recorder: Recorder | None = None
        self._document = ""
        self._file: JournalFile | None = None
        self._obsolete: list[Path] = []
        self._written = 0
        self._is_dirty = False
        self._since: float | None = None
        self._is_urgent = False
        self._is_lost = False
        self._typed: tuple[Keepable, ...] = ()
        self._is_typed_written = True
        self._typed_size = 0

    def follow(self, document: str, history: History, replaces: Path | None = None) -> None:
        """Take over what was done since the last call, be it an edit, undo, redo, or a save.

        Parameters
        ----------
        document
            Path or URL under which the document is saved.
        replaces
            A journal of an earlier process, which is removed as soon as its edits are in this one.
        """
        with self._changed:
            recorder = self._recorder
            if recorder is None or document != self._document or not recorder.belongs_to(history) or replaces:
                self._begin(document, history)
            else:
                recorder.follow(history)
            if replaces is not None:
                self._obsolete.append(replaces)
                self._is_urgent = True
            self._is_dirty = history.is_dirty
            if self._typed:
                # Of the state that it is typed upon.
                self._is_typed_written = False
            self._wake()

    def type(self, typed: Sequence[Keepable]) -> None:
        """Take over what is typed in all editors, and not applied; after the first `follow`."""
        with self._changed:
            if typed or self._typed:
                self._typed, self._is_typed_written = tuple(typed), False
                self._wake()

    def _wake(self) -> None:
        if self._is_idle():
            self._since = None
        else:
            self._since = self._since or time.monotonic()
            self._start()
            self._changed.notify()

    @property
    def _is_needed(self) -> bool:
        """Whether there is something that is not saved."""
        return self._is_dirty or bool(self._typed)

    def flush(self) -> None:
        """Have everything written now rather than soon; does not wait for it."""
        with self._changed:
            self._is_urgent = True
            self._changed.notify()

    def close(self) -> None:
        """Remove the journal: its edits were saved, or given up."""
        with self._changed:
            self._cancel.cancel()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(CLOSING)

    def _begin(self, document: str, history: History) -> None:
        if self._file is not None:
            self._obsolete.append(self._file.path)
        self._file, self._written, self._is_lost = None, 0, False
        self._is_typed_written = not self._typed
        self._document, self._recorder = document, Recorder(history)

    def _start(self) -> None:
        if self._thread is None and not self._cancel.cancelled:
            self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
            self._thread.start()

    def _is_idle(self) -> bool:
        """Tell whether the disk holds what it should."""
        if self._obsolete:
            return False
        if not self._is_needed:
            return self._file is None
        if not self._is_typed_written:
            return False
        return self._recorder is None or self._written == len(self._recorder.operations)

    def _is_due(self) -> bool:
        if self._cancel.cancelled:
            return True
        if self._recorder is None or self._is_idle():
            return False
        waiting = len(self._recorder.operations) - self._written
        return self._is_urgent or not self._is_needed or waiting >= AT_ONCE or self._time_left() == 0

    def _time_left(self) -> float | None:
        return None if self._since is None else max(self._since + WITHIN - time.monotonic(), 0.0)

    def _run(self) -> None:
        while not self._cancel.cancelled:
            try:
                self._run_once()
            except Cancelled:
                break
            except Exception as error:
                # Whatever it is, it must be told: edits are not kept until the next save.
                logger.warning("the journal cannot be kept", exc_info=True)
                self._is_lost = True
                self._failed(error)
        if self._file is not None:
            self._file.remove()
        for path in self._obsolete:
            remove_journal(path)

    def _run_once(self) -> None:
        with self._changed:
            while not self._is_due():
                self._changed.wait(self._time_left())
            if self._cancel.cancelled or self._recorder is None:
                return
            self._since, self._is_urgent = None, False
            recorder, file, first = self._recorder, self._file, self._written
            typed = None if self._is_typed_written else self._typed
            if typed and self._typed_size > TYPED_SIZE and file is not None:
                # Each line of typing stands for those before it: begin again with the last one.
                self._obsolete.append(file.path)
                file, first = None, 0
            self._is_typed_written = True
            operations = recorder.operations[first:] if self._is_needed and not self._is_lost else []
            if not self._is_needed and file is not None:
                self._obsolete.append(file.path)
                file = self._file = None
            elif (operations or typed) and file is None and not self._is_lost:
                file = self._file = JournalFile(self._document)
            self._written = len(recorder.operations) if self._is_needed else 0
            document, gone = self._document, tuple(self._obsolete)
        if (operations or typed is not None) and file is not None and not self._is_lost:
            self._write(recorder, file, document, operations, typed)
        with self._changed:
            if self._is_lost and self._is_needed:
                # What could not be replaced is all that there is of these edits.
                return
            self._obsolete = [path for path in self._obsolete if path not in gone]
        for path in gone:
            remove_journal(path)

    def _write(
        self,
        recorder: Recorder,
        file: JournalFile,
        document: str,
        operations: Sequence[Operation],
        typed: tuple[Keepable, ...] | None,
    ) -> None:
        values = [operation.to_json() for operation in operations]
        if not file.size:
            state = state_hash(recorder.saved, self._cancel)
            values.insert(0, {"refbrowser_journal": _VERSION, "state": state, "document": document})
            self._typed_size = 0
        if typed is not None:
            line = {"op": TYPED, "typed": [each.to_json() for each in typed]}
            values.append(line)
            self._typed_size += len(json.dumps(line))
        file.append(values)


@dataclass(frozen=True, slots=True)
class Recovery:
    """Unsaved edits of a process that is gone.

    Attributes
    ----------
    path
        The journal.
    when
        Time of the last of them, in seconds since 1970.
    operations
        What was done.
    history
        The document's history with them; None where they were made to another state and do not all fit this.
    error
        Why not all of them can be done again, or read.
    typed
        What was typed and not applied, as `Keepable.to_json` gave it.
    is_moved
        They were made to another state of the document than this one.
    """

    path: Path
    when: float
    operations: tuple[Operation, ...]
    history: History | None = None
    error: Exception | None = None
    typed: tuple[Any, ...] = ()
    is_moved: bool = False

    @property
    def titles(self) -> list[str]:
        """What was done, in words; edits that were undone again are left out."""
        made: list[str] = []
        undone: list[str] = []
        for operation in self.operations:
            match operation.kind:
                case "undo" if made:
                    undone.append(made.pop())
                case "redo" if undone:
                    made.append(undone.pop())
                case "revert":
                    made.append("Revert to the saved state")
                    undone.clear()
                case "do" if operation.edit is not None:
                    made.append(operation.edit.title)
                    undone.clear()
        return made


def find_recoveries(path: str, document: Document, cancel: CancelToken) -> tuple[Recovery, ...]:
    """Return the unsaved edits that lost processes left of a document as it was just read, newest first.

    Journals that hold none are removed.
    """
    found = []
    journals = abandoned_journals(path)
    state = state_hash(document, cancel) if journals else ""
    for journal in journals:
        recovery = _read(journal, state, document)
        if recovery is None:
            remove_journal(journal)
        else:
            found.append(recovery)
    return tuple(found)


def _read(journal: Path, state: str, document: Document) -> Recovery | None:
    """Return what a journal holds, None where that is no unsaved edit."""
    try:
        content = read_journal(journal)
    except (RefbrowserError, OSError) as cause:
        return Recovery(journal, os.path.getmtime(journal), (), None, cause) if journal.exists() else None
    if not content.values:
        return None
    head, *values = content.values
    operations: list[Operation] = []
    error: Exception | None = None
    if content.is_damaged:
        error = RefbrowserError(ErrorKind.FORMAT, "the journal is damaged")
    typed: tuple[Any, ...] = ()
    for value in values:
        if isinstance(value, dict) and value.get("op") == TYPED and isinstance(value.get("typed"), list):
            typed = tuple(value["typed"])
            continue
        try:
            operations.append(Operation.from_json(value))
        except RefbrowserError as cause:
            error = cause
            break
    if not operations and not typed:
        return None
    recovery = Recovery(journal, content.modified, tuple(operations), None, error, typed)
    if not isinstance(head, dict) or head.get("refbrowser_journal") != _VERSION:
        return recovery
    is_moved = head.get("state") != state
    history, fault = replayed(document, operations)
    fitting = None if is_moved and (fault or error) else history
    return replace(recovery, history=fitting, error=fault or error, is_moved=is_moved)


@dataclass(frozen=True, slots=True)
class LostEdits:
    """A document of which a lost process left unsaved edits; `when` is the time of the last of them."""

    document: str
    when: float


def lost_documents() -> tuple[LostEdits, ...]:
    """Return the documents of which lost processes left unsaved edits, the newest first, each once.

    Those that are gone from this machine are left out.
    """
    found: dict[str, LostEdits] = {}
    for journal in abandoned_journals():
        read = read_head(journal)
        document = read[0].get("document") if read is not None and isinstance(read[0], dict) else None
        if read is None or not isinstance(document, str):
            continue
        if scheme_of(document) is not None or os.path.exists(document):
            found.setdefault(document, LostEdits(document, read[1]))
    return tuple(found.values())
