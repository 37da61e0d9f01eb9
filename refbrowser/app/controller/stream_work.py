"""What streams in the window have done on worker threads. Imported inside tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from refbrowser.app.controller.work import DatasetState, Identity, Opened
from refbrowser.app.tasks import TaskControl
from refbrowser.engine.jobs import JobControl
from refbrowser.formats.ncstream.byte_order import ORDERS, StreamOptions
from refbrowser.references.history import History

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
    # With the library of protocol buffers behind it: other documents do without.
    from refbrowser.formats.ncstream.opening import StreamOrigin, document_of_stream

    origin = dataset.document.derived
    assert isinstance(origin, StreamOrigin)
    document = document_of_stream(origin.index, options, name=dataset.path)
    shown = dataset.with_document(document, control)
    return Opened(History(document), DatasetState(shown, wants), identity)


def options_of(byte_order: str) -> StreamOptions:
    """Return how a stream is read for which the user chose a byte order; empty for the rule."""
    return StreamOptions(byte_order=next((order for order in ORDERS if order == byte_order), None))


class StreamControl(JobControl):
    """Tells how far the walk through a stream is, in the list of jobs and where the document will be."""

    def __init__(self, control: TaskControl) -> None:
        super().__init__(control.token)
        self._control = control

    def progress(self, done: int, total: int | None = None, **facts: Any) -> None:
        self._control.send((done, total))
        self._control.progress(done, total, **facts)
