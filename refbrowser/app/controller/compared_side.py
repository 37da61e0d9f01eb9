"""One side of a comparison: a document that is open as it is now, as it was saved, or another state of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.tasks import TaskControl

if TYPE_CHECKING:
    from refbrowser.app.controller.documents import Documents
    from refbrowser.engine.dataset import Dataset
    from refbrowser.references.document.document import Document

    #: Returns a state of a document; off the window's thread, it may read.
    State = Callable[[TaskControl], Document]


@dataclass(frozen=True, slots=True)
class SideNow:
    """One side as it is now: a dataset, and the state of its document where that is not the newest."""

    dataset: Dataset
    state: State | None = None

    def taken(self, control: TaskControl) -> Dataset:
        """Return the dataset of that state."""
        if self.state is None:
            return self.dataset
        return self.dataset.with_document(self.state(control), control)


@dataclass(frozen=True, slots=True, eq=False)
class ComparedSide:
    """One side: a document that is open, as it is now."""

    document: OpenDocument

    @property
    def name(self) -> str:
        """What the side is called."""
        return self.document.title

    @property
    def obstacle(self) -> str:
        """Why nothing is ever taken over to this side; empty where something is."""
        return ""

    def now(self) -> SideNow | None:
        """Return what is compared; None while it is read, or between an edit and what follows from it."""
        dataset = self.document.dataset
        is_newest = dataset is not None and dataset.document is self.document.document
        return SideNow(dataset) if dataset is not None and is_newest else None


@dataclass(frozen=True, slots=True, eq=False)
class SavedSide(ComparedSide):
    """One side: a document that is open, as it was saved last."""

    @property
    def name(self) -> str:
        return f"{self.document.title}, as saved"

    @property
    def obstacle(self) -> str:
        return "the saved state stays as it is"

    def now(self) -> SideNow | None:
        dataset, saved = self.document.dataset, self.document.saved_document
        return None if dataset is None or saved is None else SideNow(dataset, lambda _control: saved)


@dataclass(frozen=True, slots=True, eq=False)
class ReadSide(ComparedSide):
    """One side: another state of a document that is open, which is read to be compared.

    Attributes
    ----------
    words
        What it is called.
    state
        Reads it.
    """

    words: str
    state: State

    @property
    def name(self) -> str:
        return self.words

    @property
    def obstacle(self) -> str:
        return f"{self.words} stays as it is"

    def now(self) -> SideNow | None:
        dataset = self.document.dataset
        return None if dataset is None else SideNow(dataset, self.state)


def other_sides(document: OpenDocument, documents: Documents) -> list[ComparedSide]:
    """Return the other documents that are open, as they are now."""
    return [ComparedSide(each) for each in documents.all() if each is not document]


def saved_sides(document: OpenDocument) -> list[ComparedSide]:
    """Return a document as it was saved last; nothing where that is what it is now."""
    return [SavedSide(document)] if document.is_dirty else []
