"""What streams in the window have done on worker threads. Imported inside tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.app.controller.work import DatasetState, Identity, Opened
from refbrowser.app.tasks import TaskControl
from refbrowser.formats.ncstream.byte_order import ORDERS, StreamOptions
from refbrowser.formats.ncstream.completed import StreamOrigin
from refbrowser.formats.ncstream.opening import document_of_stream
from refbrowser.references.history import History

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.access import Want
    from refbrowser.references.document import ReferenceDocument


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


def in_byte_order(document: ReferenceDocument, byte_order: str) -> ReferenceDocument:
    """Return a stream that was just opened as the user wants its numbers read; others as they are."""
    origin = document.derived
    chosen = next((order for order in ORDERS if order == byte_order), None)
    if not isinstance(origin, StreamOrigin) or chosen in (None, origin.options.byte_order):
        return document
    return document_of_stream(
        origin.index, replace(origin.options, byte_order=chosen), name=document.name or origin.path
    )
