"""What the plot needs of an opened document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from refbrowser.app.shell.tasks import Tasks

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.model.nodes import Hierarchy


class PlotSource(Protocol):
    """An opened document whose arrays can be plotted.

    Attributes
    ----------
    tasks
        Runs reads off the GUI thread.
    dataset
        What reads; another one after an edit or a permission, None once the document is closed.
    hierarchyChanged
        Signal: `dataset` and `hierarchy` are others.
    """

    tasks: Tasks
    dataset: Dataset | None
    hierarchyChanged: Any

    @property
    def hierarchy(self) -> Hierarchy | None:
        """Groups and arrays."""
        ...

    def owner(self, what: str) -> str:
        """Return the owner name for tasks of this document."""
        ...
