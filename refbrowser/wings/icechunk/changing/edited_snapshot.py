"""The edits of an open snapshot that were not committed: what a commit of them would be, and the commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.references.document.document import Document
from refbrowser.references.edits.edits import Edit
from refbrowser.wings.icechunk.changing.change_set import ChangeSet
from refbrowser.wings.icechunk.changing.committing import (
    CommitOrder,
    Committed,
    commit_changes,
    commit_steps,
)
from refbrowser.wings.icechunk.changing.document_changes import document_changes
from refbrowser.wings.icechunk.changing.snapshot_tree import origin_of


@dataclass(frozen=True, slots=True, eq=False)
class EditedSnapshot:
    """A snapshot that is open, with its edits.

    Attributes
    ----------
    dataset
        As it is read; with edits or without.
    states
        The document as it was committed, and after each step since.
    edits
        The steps.
    """

    dataset: Dataset
    states: Sequence[Document]
    edits: Sequence[Edit]

    @property
    def branches(self) -> list[str]:
        """The branches of the repository, that which is open first; of none that are unknown."""
        origin = origin_of(self.states[0])
        kind, _, name = origin.chosen.partition(" ")
        known = sorted(origin.repository.branches, key=lambda each: (each != "main", each))
        return [name, *(each for each in known if each != name)] if kind == "branch" else known

    def looked_at(self, order: CommitOrder, control: JobControl) -> Committed:
        """Return what a commit of all edits would be now; nothing is written."""
        return self._commit(replace(order, dry_run=True), control)

    def committed(self, order: CommitOrder, control: JobControl) -> Committed:
        """Commit all edits as one commit."""
        return self._commit(order, control)

    def committed_steps(self, order: CommitOrder, control: JobControl) -> list[Committed]:
        """Commit each step as a commit of its own, called as the step is."""
        pairs = zip(self.states[:-1], self.states[1:], self.edits, strict=True)
        steps = [
            (document_changes(one, other, control.check, [edit]), edit.title) for one, other, edit in pairs
        ]
        return commit_steps(self._base(control), steps, order, control)

    def _commit(self, order: CommitOrder, control: JobControl) -> Committed:
        return commit_changes(self._base(control), self._changes(control), order, control)

    def _changes(self, control: JobControl) -> ChangeSet:
        return document_changes(self.states[0], self.states[-1], control.check, self.edits)

    def _base(self, control: JobControl) -> Dataset:
        return self.dataset.with_document(self.states[0], control)
