"""Reading one message of a stream after the other: its framing, what of it has arrived, its row."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from refbrowser.errors import RefbrowserError, Severity, quoted
from refbrowser.io.cancel import CancelToken
from refbrowser.wings.ncstream.reading import magics
from refbrowser.wings.ncstream.reading.bytes import LONGEST, VarintError, Window, read_varint
from refbrowser.wings.ncstream.reading.data_messages import DataFacts, Facts, Runs, item_size, parsed
from refbrowser.wings.ncstream.reading.definition import StreamDefinition
from refbrowser.wings.ncstream.reading.descriptor import ERROR, POINT_CLASSES, STRUCTURE_DATA, text_of
from refbrowser.wings.ncstream.reading.headers import HeaderHistory, HeaderSequence, parts_of
from refbrowser.wings.ncstream.reading.messages import (
    FaultCode,
    FramingError,
    HeaderNote,
    MessageKind,
    Payload,
    Row,
    Rows,
    StreamFault,
    StreamIndex,
)
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

#: Objects between two checkpoints.
STEP = 4096
#: What an object costs, in bytes that could be looked at instead.
_COST = 16


class Span(NamedTuple):
    """A part of a message: file offsets, and how many objects it has."""

    start: int
    stop: int
    objects: int = -1
    #: Number and offset of every `STEP`-th object.
    checkpoints: tuple[tuple[int, int], ...] = ()


def block(window: Window, offset: int, what: str, limit: int | None = STREAM_LIMITS.stream_message) -> Span:
    """Return the bytes behind the length at `offset`.

    Parameters
    ----------
    what
        Names it in messages.
    limit
        Most bytes of it; None where only the file bounds it.

    Raises
    ------
    FramingError
        The length is none, or larger than the limit or what is left.
    """
    length, start = window.varint(offset)
    if limit is not None and length > limit:
        raise FramingError(FaultCode.LENGTH_TOO_LARGE, f"{what} of {length} bytes is larger than {limit}")
    stop = start + length
    if stop > window.size:
        raise _too_large(f"{what} of {length} bytes", window.size - start, length)
    return Span(start, stop)


def objects(window: Window, offset: int, token: CancelToken | None) -> Span:
    """Return where the objects of a vlenData at `offset` are: a count, then each with its length.

    Raises
    ------
    FramingError
        They do not fit into what is left.
    """
    count, at = window.varint(offset)
    if count > window.size - at:
        raise _too_large(f"{count} objects", window.size - at, count)
    marks = []
    done = 0
    while done < count:
        marks.append((done, at))
        if token is not None:
            token.check()
        many = min(STEP, count - done)
        at = _skipped(window, at, many)
        done += many
    return Span(offset, at, count, tuple(marks))


def arrived_objects(window: Window, offset: int, count: int) -> Span:
    """Return where those of `count` objects are that lie whole before the end of the stream."""
    marks = []
    done, at, many = 0, offset, STEP
    while many and done < count:
        try:
            behind = _skipped(window, at, min(many, count - done))
        except FramingError:
            # The stream ends among these: it is sought by halves.
            many //= 2
            continue
        if many == STEP:
            marks.append((done, at))
        done += min(many, count - done)
        at = behind
    return Span(offset, at, done, tuple(marks))


def _skipped(window: Window, offset: int, many: int) -> int:
    """Return the offset behind `many` objects, each a length and so many bytes."""
    length = 0
    while many:
        at = start = window.load(offset, LONGEST)
        data, before = window.data, many
        end = len(data)
        try:
            # While lengths lie whole in memory; those at the end of the file may be shorter than `LONGEST`.
            while many and at < end:
                length = data[at]
                if length < 0x80:
                    at += length + 1
                else:
                    length, behind = read_varint(data, at)
                    at = behind + length
                many -= 1
        except VarintError as error:
            if at == start:
                code = FaultCode.BAD_VARINT if end - at >= LONGEST else FaultCode.TRUNCATED
                raise FramingError(code, f"the length of an object: {error}") from None
        offset = window.base + at
        window.spent += _COST * (before - many)
        if offset > window.size or (many and offset == window.size):
            if length > STREAM_LIMITS.stream_message:
                message = f"an object of {length} bytes is larger than {STREAM_LIMITS.stream_message}"
                raise FramingError(FaultCode.LENGTH_TOO_LARGE, message)
            raise _too_large(f"an object of {length} bytes", window.size - offset + length, None)
    return offset


def deflated_objects(window: Window, offset: int) -> Span | None:
    """Return the zlib stream of lengths and objects that one writer sends for vlenData; None for plain ones.

    It is told from a count by the mark of zlib behind it, and by the message that follows it.
    """
    try:
        part = block(window, offset, "deflated objects")
    except FramingError:
        return None
    mark = window.bytes_at(part.start, 2)
    is_zlib = part.stop - part.start > 2 and mark[0] & 0x0F == 8 and int.from_bytes(mark, "big") % 31 == 0
    return part if is_zlib and is_boundary(window, part.stop) else None


def _too_large(what: str, left: int, length: int | None) -> FramingError:
    """Return the error for what does not fit: its length is wrong, or the stream was cut."""
    message = f"{what}, with {max(left, 0)} bytes left"
    return FramingError(FaultCode.LENGTH_TOO_LARGE, message, length=length, is_decided=False)


def sequence(window: Window, offset: int, token: CancelToken | None) -> Span:
    """Return where the StructureData of a seqData at `offset` are, up to and with its end mark.

    Raises
    ------
    FramingError
        Something else stands between them, or they do not fit into what is left.
    """
    at, blocks, count = offset, 0, 0
    marks = []
    while (magic := window.bytes_at(at, magics.LENGTH)) == magics.VDATA:
        if blocks % STEP == 0:
            marks.append((count, at))
            if token is not None:
                token.check()
        rows = block(window, at + magics.LENGTH, "a row of a sequence")
        count += _row_count(window.bytes_at(rows.start, rows.stop - rows.start))
        at = rows.stop
        blocks += 1
    if magic == magics.VEND:
        return Span(offset, at + magics.LENGTH, count, tuple(marks))
    if len(magic) < magics.LENGTH:
        raise FramingError(FaultCode.TRUNCATED, "the stream ends within a sequence")
    raise FramingError(FaultCode.BAD_MAGIC, f"{magic.hex()} is found between the rows of a sequence")


def _row_count(data: bytes) -> int:
    """Return how many rows a StructureData says that it has, never more than it has bytes."""
    try:
        rows = STRUCTURE_DATA.FromString(data).nrows
    except DecodeError:
        return 1
    return min(int(rows), max(len(data), 1))


def is_boundary(window: Window, offset: int) -> bool:
    """Return whether a message begins, or the stream ends, at `offset`."""
    if offset == window.size:
        return True
    magic = window.bytes_at(offset, magics.LENGTH)
    return magic in magics.MESSAGES or magic == magics.END


class ArrivedBox(NamedTuple):
    """Elements of a section that follow each other in row-major order and fill a box.

    Attributes
    ----------
    first
        Number of the first one.
    section
        The box.
    """

    first: int
    section: tuple[range, ...]


def arrived_part(window: Window, cut: Row, elements: int) -> Span:
    """Return the whole elements that arrived of a message, and how many; -1 where that cannot be told.

    Parameters
    ----------
    cut
        Its payload begins at `payload_offset`, with its length or count.
    elements
        That its section has.
    """
    nothing = Span(cut.payload_offset, cut.payload_offset, 0)
    if cut.payload == Payload.SEQUENCE:
        return nothing._replace(objects=-1)
    if cut.fault or cut.deflated:
        return nothing
    try:
        said, start = window.varint(cut.payload_offset)
    except FramingError:
        return nothing
    size = item_size(cut.data_type)
    if cut.payload == Payload.VARIABLE and said == elements:
        return arrived_objects(window, start, said)
    if cut.payload == Payload.REGULAR and size and said == elements * size:
        count = (window.size - start) // size
        return Span(start, start + count * size, count)
    return nothing


def arrived_boxes(section: tuple[range, ...], arrived: int) -> list[ArrivedBox]:
    """Return the first elements of a section as boxes: whole outer rows, then ever smaller parts of one."""
    shape = tuple(map(len, section))
    if not shape or not arrived:
        return []
    found, first = [], 0
    place: list[range] = []
    for axis, each in enumerate(section):
        inner = prod(shape[axis + 1 :])
        count, arrived = divmod(arrived, inner)
        if count:
            found.append(ArrivedBox(first, (*place, each[:count], *section[axis + 1 :])))
        first += count * inner
        place.append(each[count : count + 1])
        if not arrived:
            break
    return found


def lost_sections(section: tuple[range, ...], arrived: int) -> list[tuple[range, ...]]:
    """Return all but the first elements of a section as boxes, in order."""
    if not section:
        return [()]
    found: list[tuple[range, ...]] = []
    place: list[range] = []
    for axis, each in enumerate(section):
        inner = prod(map(len, section[axis + 1 :]))
        count, arrived = divmod(arrived, inner)
        behind = count + (arrived > 0)
        if behind < len(each):
            found.append((*place, each[behind:], *section[axis + 1 :]))
        place.append(each[count : count + 1])
        if not arrived:
            break
    return found[::-1]


#: Bytes that the first look at a message needs.
_FIRST = 64
_HEADER_COST = 15
#: Bytes of headers that are compared at once.
_AT_ONCE = 1 << 18
#: What each part of the definition that a header extends costs, in bytes that could be looked at instead.
_PART_COST = 64


class ReaderState(NamedTuple):
    """What a reader holds at a moment, to go back to."""

    rows: int
    ranges: int
    definition: StreamDefinition
    headers: int
    faults: int
    names: int
    merged: int


class MessageReader:
    """Reads messages at offsets that are given to it.

    Parameters
    ----------
    window
        The bytes.
    definition
        What is known before the first header.
    token
        Looked at within long messages.

    Attributes
    ----------
    rows
        The messages so far.
    facts
        The variables that they are of.
    history
        Number of each header, and the definition after it.
    faults
        Faults and warnings so far.
    has_end
        Whether END was read.
    known
        What could be told of the message that failed last.
    """

    def __init__(self, window: Window, definition: StreamDefinition, token: CancelToken | None) -> None:
        self.rows = Rows()
        self.facts = DataFacts((), self.rows.ranges)
        self.facts.define(definition)
        self._headers = HeaderSequence(definition)
        self.history = HeaderHistory()
        #: Parts of definitions that were looked at for all headers so far.
        self._merged = 0
        self.faults: list[StreamFault] = []
        self.has_end = False
        self.known: Row | None = None
        self._window = window
        self._token = token
        self._runs = Runs(window, self.rows, self.facts)
        #: The whole of the last message, where that is a header which can come again and changes nothing.
        self._again = b""
        #: Variables of which data came before any header that defines them.
        self._early: set[str] = set()
        self._read = {
            magics.DATA: self._data,
            magics.HEADER: self._header,
            magics.DATA_COLUMN: self._column,
            magics.ERROR: self._error,
            **dict.fromkeys(magics.POINTS, self._point),
        }

    @property
    def definition(self) -> StreamDefinition:
        """What the headers so far say."""
        return self._headers.definition

    def state(self) -> ReaderState:
        """Return what to give to `restore`."""
        lengths = len(self.rows), len(self.rows.ranges)
        others = len(self.history), len(self.faults), len(self.facts), self._merged
        return ReaderState(*lengths, self.definition, *others)

    def restore(self, state: ReaderState) -> None:
        """Forget all that was read since `state`."""
        self.rows.cut(state.rows, state.ranges)
        self.history.cut(state.headers)
        del self.faults[state.faults :]
        self.facts.forget(state.names)
        self._runs.forget()
        self.has_end = False
        self._merged = state.merged
        self._again = b""
        self._early = {fault.path for fault in self.faults if is_early(fault) and fault.path is not None}
        if self.definition is not state.definition:
            self._headers = HeaderSequence(state.definition)
            self.facts.define(state.definition)

    def take_over(self, index: StreamIndex, count: int, faults: Iterable[StreamFault]) -> None:
        """Begin with the first `count` messages of an index, and with some of its faults."""
        self.rows = Rows.of(index.table, count)
        self.history = HeaderHistory(tuple(each for each in index.headers if each[0] < count))
        self._headers = HeaderSequence(index.definition)
        self.faults = list(faults)
        self._early = {fault.path for fault in self.faults if is_early(fault) and fault.path is not None}
        self.facts = DataFacts(index.table.names, self.rows.ranges)
        self.facts.define(self.definition)
        self._runs = Runs(self._window, self.rows, self.facts)

    def message(self, offset: int) -> int:
        """Read the message at `offset` into a row; return the offset behind it.

        Raises
        ------
        FramingError
            It is none, or not a whole one.
        """
        window = self._window
        at = window.load(offset, _FIRST)
        magic = window.data[at : at + magics.LENGTH]
        self.known, self._again = None, b""
        read = self._read.get(magic)
        if read is not None:
            return read(offset)
        if magic == magics.END:
            self.has_end = True
            return offset + magics.LENGTH
        if len(magic) < magics.LENGTH:
            raise FramingError(FaultCode.TRUNCATED, "the stream ends within a magic")
        if magic in magics.COVERAGES:
            raise FramingError(FaultCode.BAD_MAGIC, "messages of coverages are not supported")
        raise FramingError(FaultCode.BAD_MAGIC, f"no message begins with {magic.hex()}")

    def arrived(self, cut: Row) -> tuple[Row, int]:
        """Return the row of a message that the stream ends within, with what arrived of its data.

        Also returns how many elements its section has.
        """
        elements = self._elements(cut.section, cut.rank)
        part = arrived_part(self._window, cut, elements)
        if len(part.checkpoints) > 1:
            self.rows.checkpoints[len(self.rows)] = part.checkpoints
        length = part.stop - part.start
        return cut._replace(payload_offset=part.start, payload_length=length, objects=part.objects), elements

    def alike(self, offset: int, most: int) -> int:
        """Read at most `most` messages that look like those before; return where they end."""
        return self._same_headers(offset, most) if self._again else self._runs.read(offset, most)

    def _same_headers(self, offset: int, most: int) -> int:
        """Read headers that are the last one again, many at once."""
        one = np.frombuffer(self._again, np.uint8)
        size, count = len(one), 0
        while count < most:
            many = min(most - count, max(_AT_ONCE // size, 1))
            data = self._window.bytes_at(offset + count * size, many * size)
            found = np.frombuffer(data, np.uint8)[: len(data) // size * size].reshape(-1, size)
            agree = (found == one).all(axis=1)
            same = len(agree) if agree.all() else int(np.argmin(agree))
            count += same
            if same < many:
                break
        self.rows.repeat(count)
        return offset + count * size

    def fault(
        self,
        code: FaultCode,
        message: str,
        offset: int,
        severity: Severity = Severity.FAULT,
        path: str | None = None,
    ) -> None:
        """Note a fault or warning of the message that is read next; only so many are kept."""
        if len(self.faults) < STREAM_LIMITS.stream_faults:
            number = len(self.rows)
            self.faults.append(
                StreamFault(
                    code=code.text,
                    message=message,
                    number=number,
                    offset=offset,
                    severity=severity,
                    path=path,
                )
            )

    def _body(self, offset: int, what: str) -> tuple[Span, bytes]:
        """Return where the protobuf message behind a magic is, and its bytes."""
        span = block(self._window, offset + magics.LENGTH, what)
        return span, self._window.bytes_at(span.start, span.stop - span.start)

    def _data(self, offset: int) -> int:
        span, message = self._body(offset, "a message about data")
        facts = self.facts.data(message)
        try:
            part, is_deflated = self._payload(facts, span.stop)
        except FramingError as error:
            self.known = _row(MessageKind.DATA, offset, Span(span.stop, span.stop), facts)
            raise self._judged(error, facts) from None
        row = _row(MessageKind.DATA, offset, part, facts)
        self._note_early(facts, offset)
        self.rows.add(row if is_deflated == facts.deflated else row._replace(deflated=is_deflated))
        if facts.payload != Payload.SEQUENCE:
            self._runs.meet(message, facts.payload)
        if len(part.checkpoints) > 1:
            self.rows.checkpoints[len(self.rows) - 1] = part.checkpoints
        return part.stop

    def _payload(self, facts: Facts, offset: int) -> tuple[Span, bool]:
        """Return where the data part is, and whether it is deflated (wire notes, section 4)."""
        window = self._window
        if facts.payload == Payload.REGULAR:
            limit = STREAM_LIMITS.stream_message if facts.deflated else None
            return block(window, offset, "a block of data", limit), facts.deflated
        if facts.payload == Payload.STRUCTURE:
            # Practice says that it is deflated and sends it plain.
            return block(window, offset, "rows of a structure"), False
        if facts.payload == Payload.SEQUENCE:
            return sequence(window, offset, self._token), False
        packed = deflated_objects(window, offset) if facts.deflated else None
        return (objects(window, offset, self._token), False) if packed is None else (packed, True)

    def _judged(self, error: FramingError, facts: Facts) -> FramingError:
        """Return the error of a payload that does not fit, decided by what its section explains."""
        if error.is_decided or error.length is None:
            return error
        elements = self._elements(facts.section, facts.rank)
        expected = elements
        if facts.payload == Payload.REGULAR:
            expected = elements * item_size(facts.data_type)
        elif facts.payload != Payload.VARIABLE:
            return error
        if facts.deflated and facts.payload == Payload.REGULAR:
            # Deflating makes nothing longer than this.
            is_right = None if error.length <= expected + expected // 1000 + 64 else False
        else:
            is_right = error.length == expected
        if is_right is None:
            return error
        code = FaultCode.TRUNCATED if is_right else FaultCode.LENGTH_TOO_LARGE
        return FramingError(code, error.message)

    def _elements(self, section: int, rank: int) -> int:
        elements = 1
        for at in range(section, section + max(rank, 0)):
            elements *= self.rows.ranges[3 * at + 1]
        return elements

    def _column(self, offset: int) -> int:
        span, message = self._body(offset, "a column of data")
        facts = self.facts.column(message)
        self._note_early(facts, offset)
        self.rows.add(_row(MessageKind.DATA_COLUMN, offset, span, facts))
        return span.stop

    def _note_early(self, facts: Facts, offset: int) -> None:
        """Warn of the first data of a variable that no header so far defines; a later one may."""
        path = self.facts.names[facts.variable] if self.facts.is_undefined(facts.variable) else None
        if path is not None and path not in self._early:
            self._early.add(path)
            text = "its data come before any header that defines it"
            self.fault(FaultCode.UNKNOWN_VARIABLE, text, offset, Severity.WARNING, path)

    def _header(self, offset: int) -> int:
        span, message = self._body(offset, "a header")
        window, number = self._window, len(self.rows)
        # Each value becomes an object: a search must not do that again and again.
        before = parts_of(self.definition)
        window.spent += _HEADER_COST * len(message) + _PART_COST * before
        self._merged += before
        if self._merged > STREAM_LIMITS.stream_headers:
            text = f"the headers so far extend each other by more than {STREAM_LIMITS.stream_headers} parts"
            raise FramingError(FaultCode.LENGTH_TOO_LARGE, text, stop=span.stop)
        if self._token is not None:
            self._token.check()

        def note(found: HeaderNote) -> None:
            self.fault(found.code, found.message, offset, found.severity, found.path)

        try:
            self._headers.add(message, note)
        except RefbrowserError as error:
            raise FramingError(FaultCode.BAD_PROTOBUF, error.message, stop=span.stop) from None
        self.facts.define(self.definition)
        self._runs.forget()
        self.history.add(number, self.definition)
        if self._headers.is_settled:
            self._again = window.bytes_at(offset, span.stop - offset)
        return self._add(MessageKind.HEADER, offset, span)

    def _error(self, offset: int) -> int:
        span, message = self._body(offset, "an error message")
        error = parsed(ERROR, message, span.stop)
        code = f" (code {error.code})" if error.HasField("code") else ""
        self.fault(
            FaultCode.STREAM_ERROR, f"the sender reports {quoted(text_of(error.message))}{code}", offset
        )
        return self._add(MessageKind.ERROR, offset, span)

    def _point(self, offset: int) -> int:
        span, message = self._body(offset, "a message of points")
        parsed(POINT_CLASSES[self._window.bytes_at(offset, magics.LENGTH)], message, span.stop)
        return self._add(MessageKind.POINT, offset, span)

    def _add(self, kind: MessageKind, offset: int, span: Span) -> int:
        """Add the row of a message that has no data."""
        self.rows.add(
            Row(kind, offset, span.stop, payload_offset=span.start, payload_length=span.stop - span.start)
        )
        return span.stop


def is_early(fault: StreamFault) -> bool:
    """Tell whether it is the warning of data that come before their header."""
    return fault.code == FaultCode.UNKNOWN_VARIABLE.text and fault.severity is Severity.WARNING


def _row(kind: MessageKind, offset: int, part: Span, facts: Facts) -> Row:
    start, stop, count, _ = part
    return Row(
        kind,
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
        facts.deflated,
        facts.uncompressed,
        facts.crc32,
        facts.fault,
        facts.rank,
        facts.section,
    )
