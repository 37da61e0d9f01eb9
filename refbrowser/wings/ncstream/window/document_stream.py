"""Streams of messages in the window: what is known of one that is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.app.controller.document_files import FormatPart
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.formats.registry import STREAM
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.controller.work import Opened
    from refbrowser.findings.finding import Finding
    from refbrowser.wings.ncstream.reading.hierarchy import StreamOrigin
    from refbrowser.wings.ncstream.reading.messages import StreamFault, StreamIndex
    from refbrowser.wings.ncstream.reading.reading_options import Order, StreamReading


_CUT = "truncated"


class DocumentStream(FormatPart):
    """What is known of a stream that is open: its messages, and how they are read."""

    called = "the stream"
    advice = "Tools > Stream > Append writes edits of attributes to it."
    repairing = "repair_stream"
    _document: OpenDocument

    def __init__(self, document: OpenDocument) -> None:
        super().__init__(document)
        self._showing = Latest(self, "stream")

    @property
    def subject(self) -> object:
        """Its messages: of those that come later is told again."""
        return self.index or self._document

    @property
    def grows(self) -> bool:
        """Whether it is a stream itself, not a document made from one."""
        return self.origin is not None

    @property
    def is_whole(self) -> bool:
        """Whether all its messages count."""
        return self.last is None

    def size_words(self) -> str:
        """Return how many messages there are."""
        return "" if self.index is None else f"{count_text(len(self.index.table))} messages"

    def damage_words(self, damage: Sequence[Finding]) -> tuple[str, str]:
        """Return where the stream is damaged, or what repairs left out of it."""
        if self.index is None:
            return super().damage_words(damage)
        name = self._document.name
        words = damage_words(name, self.index, grows=self._document.file.has_grown)
        return (words, "Repair…") if words else (repaired_words(name, self.index), "")

    @property
    def origin(self) -> StreamOrigin | None:
        """The stream; None of a document that is none."""
        state = self._document.document
        # Answers of CDM Remote are no stream whose messages could be looked at.
        return state.origin if state is not None and state.format == STREAM.name else None  # type: ignore[return-value]

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
        self._document.choose("byte_order", byte_order)
        if origin.options.byte_order != byte_order:
            self._show(replace(origin.options, byte_order=byte_order), "Read in another byte order")

    def _show(self, options: StreamReading, title: str) -> None:
        document, dataset, origin = self._document, self._document.dataset, self.origin
        identity, wants = document.identity, document.wants
        if dataset is None or origin is None:
            return

        def show(control: TaskControl) -> Opened:
            from refbrowser.app.controller.work import DatasetState, Opened
            from refbrowser.references.document.history import History
            from refbrowser.wings.ncstream.reading.opening import document_of_stream

            # It is not walked again.
            described = document_of_stream(origin.index, options, name=dataset.path)
            shown = dataset.with_document(described, control)
            return Opened(History(described), DatasetState(shown, wants), identity)

        self._showing.run(document, title, show, document.take_opened, self._not_shown)

    def _not_shown(self, error: BaseException) -> None:
        self.failed.emit("The stream cannot be shown so", error)


def stream_of(document: OpenDocument | None) -> DocumentStream | None:
    """Return what is known of a stream; None of a document that was made from none."""
    part = None if document is None else document.part
    return part if isinstance(part, DocumentStream) and part.origin is not None else None


def damage_words(name: str, index: StreamIndex, *, grows: bool = False) -> str:
    """Return where a stream is damaged, in words; nothing where it is sound.

    Where it `grows` it may end within a message: the rest is on its way.
    """
    faults = [fault for fault in index.faults if fault.severity == "fault"]
    cut = next((fault for fault in faults if fault.code == _CUT), None)
    others = [fault for fault in faults if fault is not cut]
    cut = None if grows else cut
    parts = [f"{one_line(name)} ends at byte {count_text(index.size)}, {_where(cut)}."] if cut else []
    if others:
        count = counted_spaced(len(others), "fault")
        first = f"the first in message {others[0].number} at byte {count_text(others[0].offset)}"
        parts.append(f"{'It' if cut else one_line(name)} is damaged: {count}, {first}.")
    told = "Sound messages are shown; what may be lost is an error, never shown as empty."
    return " ".join([*parts, told]) if parts else ""


def repaired_words(name: str, index: StreamIndex) -> str:
    """Return what repairs have left out of a stream; nothing of one that was not repaired."""
    # Not before: a window without streams does without.
    from refbrowser.wings.ncstream.reading.sections import left_out

    lost = list(left_out(index.definition))
    if not lost:
        return ""
    first = lost[0]
    section = f" [{one_line(first.section)}]" if first.section else ""
    about = "any variable" if first.variable is None else f"{one_line(first.variable)}{section}"
    more = f" Problems lists {count_text(len(lost) - 1)} more." if len(lost) > 1 else ""
    told = f"What was lost of {about} is an error, never shown as empty."
    return f"{one_line(name)} was repaired. {told}{more}"


def _where(cut: StreamFault) -> str:
    if cut.number == 0:
        return "within its first message"
    return f"after message {cut.number - 1}, within the next one"
