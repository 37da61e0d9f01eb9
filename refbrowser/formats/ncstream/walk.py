"""Walking a stream once, from message to message, into an index."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from google.protobuf.message import DecodeError

from refbrowser.errors import RefbrowserError, Severity, quoted
from refbrowser.formats.ncstream import magics
from refbrowser.formats.ncstream.bytes import ByteSource
from refbrowser.formats.ncstream.checks import check_data
from refbrowser.formats.ncstream.data_facts import DataFacts, Facts
from refbrowser.formats.ncstream.definition import StreamDefinition
from refbrowser.formats.ncstream.faults import FaultCode, FramingError, HeaderNote
from refbrowser.formats.ncstream.framing import Span, block, objects, sequence
from refbrowser.formats.ncstream.header_merge import merged
from refbrowser.formats.ncstream.messages import MessageKind, Payload, StreamFault, StreamIndex
from refbrowser.formats.ncstream.rows import Row, Rows, damaged
from refbrowser.formats.ncstream.schema import ERROR, text_of
from refbrowser.formats.ncstream.window import Window
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

#: Called with the bytes walked so far, and in all.
WalkProgress = Callable[[int, int], None]

#: Messages between two looks at the token.
_TURN = 255
#: Bytes before the end of the walk that tell whether a file that has grown is still the same.
_TAIL = 64 << 10


class _State(NamedTuple):
    """What a trial of a message may change."""

    rows: int
    ranges: int
    definition: StreamDefinition
    headers: int
    faults: int


def walk_stream(
    source: ByteSource,
    *,
    url: str,
    token: CancelToken | None = None,
    progress: WalkProgress | None = None,
    resume: StreamIndex | None = None,
    until: int | None = None,
    definition: StreamDefinition | None = None,
) -> StreamIndex:
    """Return the index of a stream; what is damaged in it is told by the index (NcStream grammar).

    Parameters
    ----------
    url
        Where it is, canonical; of the index and of errors.
    resume
        The index of the same stream when it was shorter: only what was added is read. Where the stream is
        another by now, all of it is.
    until
        Number of the last message that is read.
    definition
        What is known before the first header, as for the answers of CDM Remote to `req=data`.

    Raises
    ------
    RefbrowserError
        `E_FORMAT` (``not-ncstream``): there is no message in it; or it cannot be read.
    Cancelled
        `token` was cancelled.
    """
    walk = _Walk(source, url, token, progress, definition or StreamDefinition())
    if resume is not None:
        walk.go_on_from(resume)
    walk.run(until)
    return walk.index()


class _Walk:
    """One walk over a stream."""

    def __init__(
        self,
        source: ByteSource,
        url: str,
        token: CancelToken | None,
        progress: WalkProgress | None,
        definition: StreamDefinition,
    ) -> None:
        self._source = source
        self._url = url
        self._token = token
        self._progress = progress
        self._window = Window(source)
        self._rows = Rows()
        self._facts = DataFacts((), self._rows.ranges)
        self._definition = definition
        self._facts.define(definition)
        self._headers: list[tuple[int, StreamDefinition]] = []
        self._faults: list[StreamFault] = []
        self._position = 0
        self._has_start = self._has_end = False
        #: What could be told of the message at hand before it failed.
        self._known: Row | None = None
        self._searched = 0
        self._read = {
            magics.DATA: self._data,
            magics.HEADER: self._header,
            magics.DATA_COLUMN: self._column,
            magics.ERROR: self._error,
            **dict.fromkeys(magics.POINTS, self._point),
        }

    def go_on_from(self, index: StreamIndex) -> None:
        """Take over what an index holds, if its stream begins the one at hand."""
        raise NotImplementedError

    def run(self, until: int | None) -> None:
        """Read messages up to the end, or up to number `until`."""
        window = self._window
        if not self._position and window.bytes_at(0, magics.LENGTH) == magics.START:
            self._has_start = True
            self._position = magics.LENGTH
        last = LIMITS.stream_messages if until is None else until + 1
        while self._position < window.size and not self._has_end and len(self._rows) < last:
            if not len(self._rows) & _TURN:
                self._look()
            try:
                self._position = self._message(self._position)
            except FramingError as error:
                self._position = self._recover(error)

    def index(self) -> StreamIndex:
        """Return what was found."""
        self._look()
        table = self._rows.table(self._facts.names)
        table, faults = check_data(table, self._definition)
        return StreamIndex(
            url=self._url,
            size=self._window.size,
            walked=self._position,
            table=table,
            definition=self._definition,
            headers=tuple(self._headers),
            faults=tuple(sorted([*self._faults, *faults], key=lambda each: (each.offset, each.number))),
            has_start=self._has_start,
            has_end=self._has_end,
        )

    def _look(self) -> None:
        if self._token is not None:
            self._token.check()
        if self._progress is not None:
            self._progress(self._position, self._window.size)

    def _message(self, offset: int) -> int:
        """Read the message at `offset` into a row; return the offset behind it.

        Raises
        ------
        FramingError
            It is none, or not a whole one.
        """
        window = self._window
        at = window.load(offset, 64)
        magic = window.data[at : at + magics.LENGTH]
        self._known = None
        read = self._read.get(magic)
        if read is not None:
            return read(offset)
        if magic == magics.END:
            self._has_end = True
            return offset + magics.LENGTH
        if len(magic) < magics.LENGTH:
            raise FramingError(FaultCode.TRUNCATED, "the stream ends within a magic")
        if magic in magics.COVERAGES:
            raise FramingError(FaultCode.BAD_MAGIC, "messages of coverages are not supported")
        raise FramingError(FaultCode.BAD_MAGIC, f"no message begins with {magic.hex()}")

    def _body(self, offset: int, what: str) -> tuple[Span, bytes]:
        """Return where the protobuf message behind a magic is, and its bytes."""
        span = block(self._window, offset + magics.LENGTH, what)
        return span, self._window.bytes_at(span.start, span.stop - span.start)

    def _data(self, offset: int) -> int:
        span, message = self._body(offset, "a message about data")
        facts = self._facts.data(message)
        self._known = Row(MessageKind.DATA, offset, span.stop, *_around(facts, span.stop, 0, -1))
        deflated = facts.deflated
        if facts.payload == Payload.REGULAR:
            limit = LIMITS.stream_message if deflated else None
            part = block(self._window, span.stop, "a block", limit)
            start, stop, count = part.start, part.stop, -1
        elif facts.payload == Payload.STRUCTURE:
            # Practice says that it is deflated and sends it plain.
            part, deflated = block(self._window, span.stop, "the rows of a structure"), False
            start, stop, count = part.start, part.stop, -1
        else:
            find = objects if facts.payload == Payload.VARIABLE else sequence
            part = find(self._window, span.stop, self._token)
            start, stop, count, deflated = part.start, part.stop, part.objects, False
            if len(part.checkpoints) > 1:
                self._rows.checkpoints[len(self._rows)] = part.checkpoints
        self._rows.add(
            (
                MessageKind.DATA,
                offset,
                stop,
                facts.variable,
                facts.payload,
                start,
                stop - start,
                count,
                facts.data_type,
                facts.byte_order,
                facts.version,
                deflated,
                *facts[6:],
            )
        )
        return stop

    def _column(self, offset: int) -> int:
        span, message = self._body(offset, "a column of data")
        facts = self._facts.column(message)
        length = span.stop - span.start
        self._rows.add(
            Row(MessageKind.DATA_COLUMN, offset, span.stop, *_around(facts, span.start, length, -1))
        )
        return span.stop

    def _header(self, offset: int) -> int:
        span, message = self._body(offset, "a header")
        number = len(self._rows)

        def note(found: HeaderNote) -> None:
            self._fault(found.code, found.message, offset, found.severity, found.path)

        try:
            self._definition = merged(self._definition, message, note)
        except RefbrowserError as error:
            raise FramingError(FaultCode.BAD_PROTOBUF, error.message, span.stop) from None
        self._facts.define(self._definition)
        self._headers.append((number, self._definition))
        return self._add(MessageKind.HEADER, offset, span)

    def _error(self, offset: int) -> int:
        span, message = self._body(offset, "an error message")
        try:
            error = ERROR.FromString(message)
        except DecodeError:
            text = "the error message is no protobuf message"
            raise FramingError(FaultCode.BAD_PROTOBUF, text, span.stop) from None
        code = f" (code {error.code})" if error.HasField("code") else ""
        self._fault(FaultCode.STREAM_ERROR, f"the sender says {quoted(text_of(error.message))}{code}", offset)
        return self._add(MessageKind.ERROR, offset, span)

    def _point(self, offset: int) -> int:
        return self._add(MessageKind.POINT, offset, block(self._window, offset + magics.LENGTH, "a message"))

    def _add(self, kind: MessageKind, offset: int, span: Span) -> int:
        """Add the row of a message that has no data."""
        self._rows.add(
            Row(kind, offset, span.stop, payload_offset=span.start, payload_length=span.stop - span.start)
        )
        return span.stop

    def _fault(
        self,
        code: FaultCode,
        message: str,
        offset: int,
        severity: Severity = Severity.FAULT,
        path: str | None = None,
    ) -> None:
        if len(self._faults) < LIMITS.stream_faults:
            self._faults.append(
                StreamFault(
                    code=code.text,
                    message=message,
                    number=len(self._rows),
                    offset=offset,
                    severity=severity,
                    path=path,
                )
            )

    def _recover(self, error: FramingError) -> int:
        """Note that the message at the position is damaged; return where the next one begins."""
        offset = self._position
        self._fault(error.code, error.message, offset)
        self._rows.add(damaged(offset, self._window.size, error.code, self._known))
        return self._window.size


def _around(facts: Facts, start: int, length: int, count: int) -> tuple[int, ...]:
    """Return the columns of a row from `variable` on."""
    return (facts.variable, facts.payload, start, length, count, *facts[2:])
