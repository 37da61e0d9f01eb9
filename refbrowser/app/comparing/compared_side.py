"""One side of a comparison: a document that is open, as it is now or as it was saved last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.tasks import TaskControl

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.references.document.document import Document


@dataclass(frozen=True, slots=True)
class SideNow:
    """One side as it is now: a dataset, and the state of its document where that is not the newest."""

    dataset: Dataset
    state: Document | None = None

    def taken(self, control: TaskControl) -> Dataset:
        """Return the dataset of that state."""
        return self.dataset if self.state is None else self.dataset.with_document(self.state, control)


@dataclass(frozen=True, slots=True, eq=False)
class ComparedSide:
    """One side: a document that is open, as it is now or as it was saved last."""

    document: OpenDocument
    is_saved: bool = False

    @property
    def name(self) -> str:
        """What the side is called."""
        return f"{self.document.title}, as saved" if self.is_saved else self.document.title

    def now(self) -> SideNow | None:
        """Return what is compared; None while it is read, or between an edit and what follows from it."""
        document = self.document
        dataset, saved = document.dataset, document.saved_document
        if dataset is None or saved is None:
            return None
        if self.is_saved:
            return SideNow(dataset, saved)
        return SideNow(dataset) if dataset.document is document.document else None
