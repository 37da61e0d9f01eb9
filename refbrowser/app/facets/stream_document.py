"""What an opened document knows of the stream that it was made from: its messages, and how they are read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.shell.tasks import TaskControl
from refbrowser.formats.registry import STREAM

if TYPE_CHECKING:
    from refbrowser.app.controller.edited_document import EditedDocument
    from refbrowser.app.controller.work import Opened
    from refbrowser.formats.ncstream.hierarchy import StreamOrigin
    from refbrowser.formats.ncstream.messages import StreamIndex
    from refbrowser.formats.ncstream.options import Order, StreamOptions


class DocumentStream(QObject):
    """Follows one `OpenDocument`; of one that is no stream nothing is known here.

    Parameters
    ----------
    byte_order
        What the user chose for this file, a value of `Order`; empty for the rule.

    Signals
    -------
    failed(object)
        The stream could not be shown as it was wanted: the exception.
    """

    failed = Signal(object)

    def __init__(self, document: EditedDocument, byte_order: str) -> None:
        super().__init__(document)
        self._document = document
        self.byte_order = byte_order

    @property
    def origin(self) -> StreamOrigin | None:
        """The stream; None of a document that is none."""
        state = self._document.document
        derived = None if state is None else state.derived
        # Answers of CDM Remote are no stream whose messages could be looked at.
        is_stream = derived is not None and derived.format == STREAM.name
        return derived if is_stream else None  # type: ignore[return-value]

    @property
    def index(self) -> StreamIndex | None:
        """All its messages."""
        origin = self.origin
        return None if origin is None else origin.index

    @property
    def last(self) -> int | None:
        """The last message that counts; None where all do."""
        origin = self.origin
        return None if origin is None else origin.options.until

    @property
    def why_fixed(self) -> str:
        """Why the stream cannot be shown otherwise now, for people; empty where it can."""
        document = self._document
        if document.is_pending:
            return "Save or undo the edits first: they would be lost"
        # Once its edits were saved as a document beside it, that is what is open.
        is_stream = "://" in document.path or (document.is_derived and self.origin is not None)
        return "" if is_stream else "Open the stream itself for that: this is a document made from it"

    def show_until(self, last: int | None) -> None:
        """Show the stream as it was after a message; all of it where None. The history begins anew."""
        origin = self.origin
        if origin is not None and origin.options.until != last and not self.why_fixed:
            self._show(replace(origin.options, until=last), "Show as it was after a message")

    def read_in(self, byte_order: Order | None) -> None:
        """Read its numbers in another byte order; None for the rule. The history begins anew."""
        origin = self.origin
        if origin is None or self.why_fixed:
            return
        self.byte_order = byte_order or ""
        if origin.options.byte_order != byte_order:
            self._show(replace(origin.options, byte_order=byte_order), "Read in another byte order")

    def _show(self, options: StreamOptions, title: str) -> None:
        document, dataset, origin = self._document, self._document.dataset, self.origin
        identity, wants = document.identity, document.wants
        if dataset is None or origin is None:
            return

        def show(control: TaskControl) -> Opened:
            from refbrowser.app.controller.work import DatasetState, Opened
            from refbrowser.formats.ncstream.opening import document_of_stream
            from refbrowser.references.edits.history import History

            # It is not walked again.
            described = document_of_stream(origin.index, options, name=dataset.path)
            shown = dataset.with_document(described, control)
            return Opened(History(described), DatasetState(shown, wants), identity)

        document.tasks.run(document.owner("stream"), title, show, document.take_opened, self.failed.emit)
