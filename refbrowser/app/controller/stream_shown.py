"""An opened stream as other options show it. Imported inside tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.controller.work import DatasetState, Identity, Opened
from refbrowser.app.shell.tasks import TaskControl
from refbrowser.formats.ncstream.opening import StreamOrigin, document_of_stream
from refbrowser.formats.ncstream.options import StreamOptions
from refbrowser.references.edits.history import History

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.access import Want


def shown_with(
    dataset: Dataset,
    options: StreamOptions,
    wants: tuple[Want, ...],
    identity: Identity | None,
    control: TaskControl,
) -> Opened:
    """Return an opened stream as other options show it; it is not walked again.

    Raises
    ------
    RefbrowserError
        It cannot be described.
    Cancelled
        The task was cancelled.
    """
    origin = dataset.document.derived
    assert isinstance(origin, StreamOrigin)
    document = document_of_stream(origin.index, options, name=dataset.path)
    shown = dataset.with_document(document, control)
    return Opened(History(document), DatasetState(shown, wants), identity)
