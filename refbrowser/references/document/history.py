"""Undo and redo: every state is a whole immutable document, and all share their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from refbrowser.references.content.content import DocumentContent, Edit
from refbrowser.references.document.document import Document


@dataclass(frozen=True, slots=True)
class Step:
    """One edit that was made, and the document after it."""

    edit: Edit
    document: Document


@dataclass(frozen=True, slots=True)
class Revert:
    """The edit that goes back to the saved state, so that Undo brings the edits back."""

    saved: Document
    title: str = "Revert to the saved state"

    def apply(self, document: DocumentContent) -> DocumentContent:
        """Return the saved document."""
        return self.saved


class History:
    """The states of a document, where it stands among them, and which one is saved.

    Undoing everything gives back the document that was opened, and so its bytes. Not safe to share across
    threads; the documents are.
    """

    def __init__(self, document: Document) -> None:
        self._first = document
        self._steps: list[Step] = []
        self._at = 0
        self._saved = document
        self._saved_is_gone = False

    @property
    def document(self) -> Document:
        """The document as it is now."""
        return self._first if self._at == 0 else self._steps[self._at - 1].document

    @property
    def saved(self) -> Document:
        """The document as it was opened or last saved."""
        return self._saved

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to make again."""
        return self._at < len(self._steps)

    @property
    def is_dirty(self) -> bool:
        """Whether the document differs from the saved one, or what was saved is gone from the disk."""
        return self._saved_is_gone or self.document is not self._saved

    @property
    def entries(self) -> list[str]:
        """Titles of all steps, those to redo included."""
        return [step.edit.title for step in self._steps]

    @property
    def position(self) -> int:
        """How many of the steps are made."""
        return self._at

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, those to redo included."""
        return tuple(self._steps)

    @property
    def states(self) -> tuple[Document, ...]:
        """The document before all steps, and that after each."""
        return (self._first, *(step.document for step in self._steps))

    def edits_made(self) -> tuple[Edit, ...]:
        """Return the edits that lead from the first document to this one; those before a revert do not."""
        made = [step.edit for step in self._steps[: self._at]]
        reverted = [number for number, edit in enumerate(made, 1) if isinstance(edit, Revert)]
        return tuple(made[max(reverted, default=0) :])

    @property
    def pending(self) -> int:
        """How many steps lie between the saved document and this one; at least 1 when they differ."""
        number = self.saved_position
        between = self._at if number is None else abs(self._at - number)
        return max(between, 1) if self.is_dirty else 0

    @property
    def saved_position(self) -> int | None:
        """How many steps lead to the saved document; None where it is not among the states any more."""
        if self._saved_is_gone:
            return None
        return next((number for number, state in enumerate(self.states) if state is self._saved), None)

    def apply(self, edit: Edit) -> Document:
        """Make an edit; steps that were undone are forgotten.

        An edit that changes nothing makes no step.

        Raises
        ------
        RefbrowserError
            The edit cannot be made; nothing has changed.
        """
        changed = self.document.apply(edit)
        if changed is not self.document:
            self.take(edit, changed)
        return changed

    def take(self, edit: Edit, changed: Document) -> None:
        """Make a step of an edit of the document as it is now, whose result was made elsewhere."""
        del self._steps[self._at :]
        self._steps.append(Step(edit, changed))
        self._at += 1

    def undo(self) -> Document:
        """Go one step back; at the first state it stays there."""
        self._at = max(self._at - 1, 0)
        return self.document

    def redo(self) -> Document:
        """Make the next step again; at the last one it stays there."""
        self._at = min(self._at + 1, len(self._steps))
        return self.document

    def go_to(self, position: int) -> Document:
        """Go to the state after so many steps, however far it is; cut at the ends."""
        self._at = min(max(position, 0), len(self._steps))
        return self.document

    def mark_saved(self, document: Document | None = None) -> None:
        """Note which document is saved: that of one of the steps, the one of now, or what is on the disk."""
        self._saved = self.document if document is None else document
        self._saved_is_gone = False

    def mark_gone(self) -> None:
        """Note that what was saved is not on the disk any more: the document is to be saved again."""
        self._saved_is_gone = True

    def set_template_values(self, values: Mapping[str, str]) -> None:
        """Use other values for templates in every state: no step, since they are never saved."""
        given = {id(state): state.with_template_values(values) for state in (self._first, self._saved)}
        self._first = given[id(self._first)]
        for number, step in enumerate(self._steps):
            state = given.get(id(step.document)) or step.document.with_template_values(values)
            self._steps[number] = Step(step.edit, state)
        self._saved = given[id(self._saved)]
