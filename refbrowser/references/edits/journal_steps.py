"""What is done with a history as operations that can be kept, and a history made again from them.

The operations begin at the saved state: replayed on the same text they give the same states, so that undo and
redo work through them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.references.document.content import DocumentContent
from refbrowser.references.document.document import Edit, ReferenceDocument
from refbrowser.references.edits.edit_text import edit_from_json, edit_to_json
from refbrowser.references.edits.history import History, Revert, Step
from refbrowser.references.edits.text_patch import patch_between


class Kind(StrEnum):
    """What was done."""

    DO = "do"
    UNDO = "undo"
    REDO = "redo"
    REVERT = "revert"


@dataclass(frozen=True, slots=True)
class Passage:
    """The way from one state to another that is before the saved one, where no edit leads there."""

    before: DocumentContent
    after: DocumentContent
    title: str

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the state that it leads to."""
        return self.after


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that was done; `edit` belongs to `Kind.DO` alone."""

    kind: Kind
    edit: Edit | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as a value of JSON's types.

        Raises
        ------
        TypeError
            The edit has no such form.
        """
        edit = self.edit
        if isinstance(edit, Passage):
            edit = patch_between(edit.before, edit.after, edit.title)
        return {"op": self.kind.value} if edit is None else {"op": self.kind.value, **edit_to_json(edit)}

    @classmethod
    def from_json(cls, value: Any) -> Operation:
        """Return the operation that `to_json` gave this value of.

        Raises
        ------
        RefbrowserError
            `E_FORMAT`: it is not one.
        """
        match value:
            case {"op": "do", **members}:
                return cls(Kind.DO, edit_from_json(dict(members)))
            case {"op": "undo" | "redo" | "revert" as kind}:
                return cls(Kind(kind))
        raise RefbrowserError(ErrorKind.FORMAT, f"{quoted(str(value))} is not an operation")


class Recorder:
    """Follows a history, and tells what was done since the saved state as operations.

    Attributes
    ----------
    saved
        The state that they begin at.
    operations
        In the order in which they are to be replayed; only ever appended to.
    """

    def __init__(self, history: History) -> None:
        self.saved = history.saved
        self.operations: list[Operation] = []
        self._states: list[ReferenceDocument] = [history.saved]
        self._edits: list[Edit] = []
        self._at = 0
        self._position = history.position
        saved = next(
            (number for number, state in enumerate(history.states) if _same(state, self.saved)), None
        )
        if saved is not None and saved <= history.position:
            for step in history.steps[saved:]:
                self._do(step.edit, step.document)
            for _ in range(len(history.steps) - history.position):
                self._move(-1)
        elif not _same(history.document, self.saved):
            self._pass_to(history.document, "Edits before the saved state")

    def belongs_to(self, history: History) -> bool:
        """Tell whether the saved state is still the one that the operations begin at."""
        return _same(history.saved, self.saved)

    def follow(self, history: History) -> None:
        """Record an edit, or undo or redo of any number of steps; nothing where nothing was done."""
        document, start = history.document, self._position
        self._position = history.position
        moved = history.position - start
        if not moved and _same(document, self._states[self._at]):
            return
        if moved > 0:
            for step in history.steps[start : history.position]:
                self._forward(step)
        elif not all(self._go_to(state, -1) for state in self._way_back(history, start)):
            self._pass_to(document, "Go back before the saved state")

    @staticmethod
    def _way_back(history: History, start: int) -> list[ReferenceDocument]:
        """Return the states that undo goes through from `start`; the one of now where it did not move."""
        if history.position >= start:
            return [history.document]
        states = history.states[history.position : min(start, len(history.steps) + 1)]
        return [*reversed(states)] or [history.document]

    def _forward(self, step: Step) -> None:
        if not self._is_next(step.edit):
            self._do(step.edit, step.document)
        elif not self._go_to(step.document, 1):
            self._pass_to(step.document, "Go back before the saved state")

    def _is_next(self, edit: Edit) -> bool:
        return self._at < len(self._edits) and self._edits[self._at] is edit

    def _go_to(self, document: ReferenceDocument, first: int) -> bool:
        """Undo or redo where one of them leads to `document`."""
        for step in (first, -first):
            target = self._at + step
            if 0 <= target < len(self._states) and _same(self._states[target], document):
                self._move(step)
                return True
        return False

    def _move(self, step: int) -> None:
        self._at += step
        self.operations.append(Operation(Kind.REDO if step > 0 else Kind.UNDO))

    def _pass_to(self, document: ReferenceDocument, title: str) -> None:
        self._do(Passage(self._states[self._at], document, title), document)

    def _do(self, edit: Edit, document: ReferenceDocument) -> None:
        del self._states[self._at + 1 :], self._edits[self._at :]
        self._states.append(document)
        self._edits.append(edit)
        self._at += 1
        is_revert = isinstance(edit, Revert) and _same(document, self.saved)
        self.operations.append(Operation(Kind.REVERT) if is_revert else Operation(Kind.DO, edit))


def _same(one: DocumentContent, other: DocumentContent) -> bool:
    """Return whether two documents are one state, whatever values are given for their templates."""
    return one is other or (one.outer is other.outer and one.refs is other.refs)


def replayed(
    document: ReferenceDocument, operations: Iterable[Operation]
) -> tuple[History, RefbrowserError | None]:
    """Return the history that operations make of the saved document, up to the first that cannot be done."""
    history = History(document)
    for operation in operations:
        try:
            _replay(history, operation)
        except RefbrowserError as error:
            return history, error
    return history, None


def _replay(history: History, operation: Operation) -> None:
    if operation.kind is Kind.UNDO:
        history.undo()
    elif operation.kind is Kind.REDO:
        history.redo()
    elif operation.kind is Kind.REVERT:
        history.apply(Revert(history.saved))
    elif operation.edit is not None:
        history.apply(operation.edit)
