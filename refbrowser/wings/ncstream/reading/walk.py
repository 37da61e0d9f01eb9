"""Walking a stream once, from message to message, into an index: past damage, and checked."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Severity, quoted
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.byte_sources import ByteSource, RemoteBytes
from refbrowser.wings.ncstream.reading import magics
from refbrowser.wings.ncstream.reading.bytes import Window
from refbrowser.wings.ncstream.reading.definition import (
    StreamDefinition,
    StreamType,
    StreamVariable,
    family_of,
    type_name,
)
from refbrowser.wings.ncstream.reading.message_reader import MessageReader, is_boundary, is_early
from refbrowser.wings.ncstream.reading.messages import (
    FaultCode,
    FramingError,
    MessageKind,
    MessageTable,
    Payload,
    StreamFault,
    StreamIndex,
    damaged,
)
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

#: Bytes that are searched at once: few at first, since what is sought is near where little is damaged.
_FIRST, _BLOCK = 1 << 16, 1 << 20
#: What a trial costs at least, in bytes that could be searched instead.
_TRIAL = 4096
_WANTED = (*sorted(magics.MESSAGES), magics.END)


class Recovery:
    """Searches a stream for messages; all searches together are bounded.

    Parameters
    ----------
    reader
        Tries what may be a message; it holds afterwards what it held before.
    """

    def __init__(
        self, source: ByteSource, window: Window, reader: MessageReader, token: CancelToken | None
    ) -> None:
        self._source = source
        self._window = window
        self._reader = reader
        self._token = token
        is_remote = isinstance(source, RemoteBytes)
        self._left = STREAM_LIMITS.stream_search_remote if is_remote else STREAM_LIMITS.stream_search

    def next_message(self, offset: int, limit: int | None = None) -> int | None:
        """Return where the first sound message at or behind `offset` begins; None where there is none.

        A magic may stand in data by chance: the message must parse, and another one or the end of the
        stream must follow it.

        Parameters
        ----------
        limit
            Bytes that are searched at most.
        """
        stop = self._window.size if limit is None else min(offset + limit, self._window.size)
        for candidate in self._candidates(offset, stop):
            if self._left <= 0:
                return None
            if self._end_of_message(candidate) is not None:
                return candidate
        return None

    def across(self, offset: int, position: int) -> int | None:
        """Return where a message begins that the one at `offset` has swallowed; None where none does.

        A length that is too large, or bytes that were lost, make a message reach into those behind it. One
        of them lies across the end of the first then, which data that look like messages do not.

        Parameters
        ----------
        position
            Where the message at `offset` ends, by its lengths.
        """
        # This is not to cost so much that nothing is left for what lies ahead.
        first = max(offset + 1, position - self._left // 16)
        for candidate in self._candidates(first, position):
            if self._left <= 0:
                return None
            end: int | None = candidate
            while end is not None and end < position:
                end = self._end_of_message(end)
            if end is not None and end > position:
                return candidate
        return None

    def _candidates(self, offset: int, stop: int) -> Iterator[int]:
        """Yield where magics stand, in order."""
        overlap = magics.LENGTH - 1
        start, block = offset, min(_FIRST, _BLOCK)
        while start < stop:
            if self._token is not None:
                self._token.check()
            self._left -= block
            if self._left <= 0:
                return
            data = bytes(self._source.read(start, min(block, stop - start) + overlap))
            for at in sorted(at for magic in _WANTED for at in _places(data, magic)):
                yield start + at
            start += block
            block = min(2 * block, _BLOCK)

    def _end_of_message(self, offset: int) -> int | None:
        """Return where the sound message at `offset` ends; None where there is none."""
        window, reader = self._window, self._reader
        state, before = reader.state(), window.spent
        try:
            stop = reader.message(offset)
            is_sound = (
                stop == window.size if reader.has_end else self._is_credible() and is_boundary(window, stop)
            )
            return stop if is_sound else None
        except FramingError:
            return None
        finally:
            reader.restore(state)
            self._left -= _TRIAL + window.spent - before

    def _is_credible(self) -> bool:
        """Return whether the message that was read last says what a message says."""
        row = self._reader.rows.last()
        if row.kind in (MessageKind.DATA, MessageKind.DATA_COLUMN):
            return row.data_type >= 0 and self._reader.facts.names[row.variable] != "/"
        return row.payload_length > 0


def _places(data: bytes, magic: bytes) -> Iterator[int]:
    at = data.find(magic)
    while at >= 0:
        yield at
        at = data.find(magic, at + 1)


Ints = npt.NDArray[np.int64]

#: Products beyond this do not fit 64 bits; no payload is so long.
_MOST = float(1 << 62)
#: Of no type that is known.
_NO_TYPE = -1
#: By the number of a type; the last one is reached by -1.
_FAMILY = np.array([*map(family_of, StreamType), _NO_TYPE])
_ITEM_SIZES = np.array([0 if each.dtype is None else each.dtype.itemsize for each in StreamType] + [0])


def check_data(table: MessageTable, definition: StreamDefinition) -> tuple[MessageTable, list[StreamFault]]:
    """Return the table with its column `fault` filled in, and the faults and warnings of its data.

    Each is compared with what all headers say together (wire notes, sections 3 and 8).
    """
    is_data = (table.kind == MessageKind.DATA) | (table.kind == MessageKind.DATA_COLUMN)
    rows = np.flatnonzero(is_data)
    if not len(rows):
        return table, []
    checks = _Checks(table, rows, definition)
    fault = table.fault.copy()
    fault[rows] = checks.faults()
    checked = replace(table, fault=fault)
    return checked, [*_listed(checked, rows, checks), *checks.warnings()]


class _Checks:
    """What the definitions say of the variables of some messages, as columns beside those."""

    def __init__(self, table: MessageTable, rows: Ints, definition: StreamDefinition) -> None:
        self.table = table
        self.rows = rows
        known = dict(definition.variables())
        self.variables = [known.get(name) for name in table.names]
        self._ranks = np.array([_rank(each) for each in self.variables], np.int64)
        types = [_NO_TYPE if each is None else each.type for each in self.variables]
        self._families = _FAMILY[np.array(types, np.int64)]
        self._variable = table.variable[rows]
        self._rank = np.maximum(table.rank[rows], 0).astype(np.int64)
        self.elements, self._is_inside = self._measured()

    def faults(self) -> npt.NDArray[np.uint8]:
        """Return the `FaultCode` of each message, the first that applies."""
        table, rows, variable = self.table, self.rows, self._variable
        expected = self._ranks[variable]
        has_section = self._families[variable] != StreamType.SEQUENCE
        conditions = [
            (table.fault[rows] == FaultCode.UNKNOWN_COMPRESSION, FaultCode.UNKNOWN_COMPRESSION),
            (expected < 0, FaultCode.UNKNOWN_VARIABLE),
            (_FAMILY[table.data_type[rows]] != self._families[variable], FaultCode.TYPE_MISMATCH),
            (has_section & (self._rank != expected), FaultCode.SECTION_RANK),
            (has_section & ~self._is_inside, FaultCode.SECTION_OUT_OF_RANGE),
            (~self._fits(), FaultCode.SIZE_MISMATCH),
        ]
        return np.select([each for each, _ in conditions], [code for _, code in conditions], 0).astype(
            np.uint8
        )

    def warnings(self) -> Iterator[StreamFault]:
        """Yield where an inflated size is announced that the section does not have."""
        table, rows = self.table, self.rows
        said = table.uncompressed[rows]
        is_deflated = table.deflated[rows] & (table.payload[rows] == Payload.REGULAR) & (said >= 0)
        # The field has 32 bits.
        expected = self.sizes() & 0xFFFFFFFF
        wrong = rows[is_deflated & (said != expected) & (self._ranks[self._variable] >= 0)].tolist()
        for number in wrong[: STREAM_LIMITS.stream_faults]:
            text = f"uncompressedSize is {table.uncompressed[number]}, which is not the size of the section"
            yield _fault(table, number, FaultCode.SIZE_MISMATCH, text, Severity.WARNING)

    def sizes(self) -> Ints:
        """Return the bytes that regular data of each section have; -1 where they are beyond 64 bits."""
        item_size = _ITEM_SIZES[self.table.data_type[self.rows]]
        is_small = (self.elements >= 0) & (self.elements.astype(float) * item_size < _MOST)
        return np.where(is_small, np.where(is_small, self.elements, 0) * item_size, -1)

    def _fits(self) -> npt.NDArray[np.bool_]:
        """Return whether payloads have the size of their sections, where that is told without their bytes."""
        table, rows = self.table, self.rows
        payload, is_plain = table.payload[rows], ~table.deflated[rows]
        is_wrong = (payload == Payload.REGULAR) & (table.payload_length[rows] != self.sizes())
        is_wrong |= (payload == Payload.VARIABLE) & (table.count[rows] != self.elements)
        return ~(is_wrong & is_plain)

    def _measured(self) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Return the elements of each section (-1: beyond 64 bits), and whether it lies in its variable."""
        table, rows, rank = self.table, self.rows, self._rank
        elements = np.ones(len(rows), np.int64)
        is_inside = np.ones(len(rows), np.bool_)
        ranged = np.flatnonzero(rank > 0)
        if not len(ranged):
            return elements, is_inside
        first = np.concatenate(([0], np.cumsum(rank[ranged])[:-1]))
        axis = np.arange(int(rank[ranged].sum())) - np.repeat(first, rank[ranged])
        at = np.repeat(table.section[rows[ranged]], rank[ranged]) + axis
        sizes = table.sizes[at]
        total = np.multiply.reduceat(sizes.astype(float), first)
        exact = np.multiply.reduceat(sizes, first)
        elements[ranged] = np.where(total < _MOST, exact, -1)
        # In floating point: what does not fit 64 bits is far outside.
        stop = table.starts[at] + (sizes - 1.0) * table.strides[at]
        of = np.repeat(self._variable[ranged], rank[ranged])
        outside = (sizes > 0) & ((stop >= self._lengths(of, axis)) | (table.starts[at] < 0))
        is_inside[ranged] = ~np.logical_or.reduceat(outside, first)
        return elements, is_inside

    def _lengths(self, variable: npt.NDArray[np.int32], axis: Ints) -> npt.NDArray[np.float64]:
        """Return the lengths of axes of variables; infinity for axes that there are not."""
        shapes = [() if each is None else each.shape for each in self.variables]
        first = np.concatenate(([0], np.cumsum([len(shape) for shape in shapes])))
        flat = np.array([float(length) for shape in shapes for length in shape] + [np.inf])
        at = first[variable] + axis
        return flat[np.where(at < first[variable + 1], at, len(flat) - 1)]


def _rank(variable: StreamVariable | None) -> int:
    return -1 if variable is None else len(variable.shape)


def _listed(table: MessageTable, rows: Ints, checks: _Checks) -> Iterator[StreamFault]:
    """Yield the faults one by one; of what is more than the limit, how many there are."""
    faulty = rows[table.fault[rows] != 0].tolist()
    for number in faulty[: STREAM_LIMITS.stream_faults]:
        code = FaultCode(int(table.fault[number]))
        yield _fault(table, number, code, _TEXTS[code](checks, number))
    others = faulty[STREAM_LIMITS.stream_faults :]
    if others:
        code = FaultCode(int(table.fault[others[0]]))
        text = "the data of this message and of further ones cannot be used"
        yield replace(_fault(table, others[0], code, text), count=len(others))


def _fault(
    table: MessageTable, number: int, code: FaultCode, text: str, severity: Severity = Severity.FAULT
) -> StreamFault:
    return StreamFault(
        code=code.text,
        message=text,
        number=number,
        offset=int(table.offset[number]),
        severity=severity,
        path=table.names[table.variable[number]],
    )


def _rank_text(checks: _Checks, number: int) -> str:
    ranges = max(int(checks.table.rank[number]), 0)
    variable = checks.variables[checks.table.variable[number]]
    return f"the section has {ranges} ranges, the variable {_rank(variable)} dimensions"


def _outside_text(checks: _Checks, number: int) -> str:
    ranges = checks.table.ranges(number) or ()
    variable = checks.variables[checks.table.variable[number]]
    shape = () if variable is None else variable.shape
    section = ", ".join(f"{each.start}:{each.stop}:{each.step}" for each in ranges)
    return f"the section {section} is outside the shape {shape}"


def _type_text(checks: _Checks, number: int) -> str:
    variable = checks.variables[checks.table.variable[number]]
    mine = type_name(int(checks.table.data_type[number]))
    return f"the data are {mine}, the variable is {'' if variable is None else type_name(variable.type)}"


def _size_text(checks: _Checks, number: int) -> str:
    table, at = checks.table, int(np.searchsorted(checks.rows, number))
    if table.payload[number] == Payload.VARIABLE:
        return f"{table.count[number]} objects for a section of {checks.elements[at]} elements"
    return f"{table.payload_length[number]} bytes for a section of {checks.sizes()[at]}"


def _variable_text(checks: _Checks, number: int) -> str:
    name = checks.table.names[checks.table.variable[number]]
    return f"no header defines {quoted(name)}"


_TEXTS: dict[FaultCode, Callable[[_Checks, int], str]] = {
    FaultCode.UNKNOWN_COMPRESSION: lambda checks, number: "the data are compressed in an unknown way",
    FaultCode.UNKNOWN_VARIABLE: _variable_text,
    FaultCode.TYPE_MISMATCH: _type_text,
    FaultCode.SECTION_RANK: _rank_text,
    FaultCode.SECTION_OUT_OF_RANGE: _outside_text,
    FaultCode.SIZE_MISMATCH: _size_text,
}


#: Called with the bytes walked so far, and in all.
WalkProgress = Callable[[int, int], None]

#: Messages between two looks at the token, less one.
_TURN = 255
#: Bytes before the end of the walk that tell whether a file that has grown is still the same.
_TAIL = 64 << 10
#: A file that begins with no message is searched so far for one, before it is taken for no stream.
_PREAMBLE = 1 << 20
_OF_DATA = (MessageKind.DATA, MessageKind.DATA_COLUMN)
_OF_ENDS = ("no-start", "no-end", "trailing-bytes")


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
    """
    walk = _Walk(source, url, token, progress, definition or StreamDefinition())
    if resume is not None and begins_with(source, resume):
        walk.go_on_from(resume)
    walk.run(until)
    return walk.index()


def begins_with(source: ByteSource, index: StreamIndex) -> bool:
    """Return whether a stream, which may be longer by now, still begins as when it was walked."""
    end = _end_of(index)
    return source.size >= end and _tail(source, end) == index.tail


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
        self._reader = MessageReader(self._window, definition, token)
        self._recovery = Recovery(source, self._window, self._reader, token)
        self._position = 0
        self._has_start = False
        self._is_complete = False
        #: Where the message begins that the stream ends within; its size where there is none such.
        self._torn_at = self._window.size

    def go_on_from(self, index: StreamIndex) -> None:
        """Take over the messages of an index whose stream begins the one at hand."""
        self._position = _end_of(index)
        count = int(np.searchsorted(index.table.stop, self._position, side="right"))
        kept = [
            fault
            for fault in index.faults
            if fault.number < count
            and fault.code not in _OF_ENDS
            and (int(index.table.kind[fault.number]) not in _OF_DATA or is_early(fault))
        ]
        self._reader.take_over(index, count, kept)
        self._has_start = index.has_start

    def run(self, until: int | None) -> None:
        """Read messages up to the end, or up to number `until`."""
        if not self._position:
            self._begin()
        reader, size = self._reader, self._window.size
        last = (
            STREAM_LIMITS.stream_messages if until is None else min(until + 1, STREAM_LIMITS.stream_messages)
        )
        while self._position < size and not reader.has_end and len(reader.rows) < last:
            if not len(reader.rows) & _TURN:
                self._look()
            reader.history.thin()
            try:
                self._position = reader.message(self._position)
                self._position = reader.alike(self._position, last - len(reader.rows))
            except FramingError as error:
                self._position = self._recovered(error)
        self._is_complete = self._position >= size or reader.has_end
        self._look()
        if not self._is_complete and until is None:
            text = f"only the first {STREAM_LIMITS.stream_messages} messages are listed"
            reader.fault(FaultCode.LENGTH_TOO_LARGE, text, self._position)

    def index(self) -> StreamIndex:
        """Return what was found."""
        reader = self._reader
        table, of_data = check_data(reader.rows.table(reader.facts.names), reader.definition)
        # What no header defines at all is a fault.
        met = [each for each in reader.faults if not (is_early(each) and table.fault[each.number])]
        faults = [*met, *of_data, *self._of_ends(len(table))]
        walked = min(self._position, self._torn_at)
        found = StreamIndex(
            url=self._url,
            size=self._window.size,
            walked=walked,
            table=table,
            definition=reader.definition,
            headers=tuple(reader.history.headers),
            faults=tuple(sorted(faults, key=lambda each: (each.number, each.offset))),
            has_start=self._has_start,
            has_end=reader.has_end,
        )
        return replace(found, tail=_tail(self._source, _end_of(found)))

    def _begin(self) -> None:
        """Read START; where a stream begins with something else, see whether it is one."""
        first = self._window.bytes_at(0, magics.LENGTH)
        if first == magics.START:
            self._has_start = True
            self._position = magics.LENGTH
            return
        is_cut = bool(first) and any(magic.startswith(first) for magic in magics.FIRST)
        if not is_cut and self._recovery.next_message(0, _PREAMBLE) is None:
            text = "it has no ncstream message"
            if first in magics.COVERAGES:
                text = "it holds messages of coverages, which are not supported"
            code = FaultCode.NOT_NCSTREAM.text
            raise StreamFault(code=code, message=text, number=0, offset=0).error(self._url)

    def _look(self) -> None:
        if self._token is not None:
            self._token.check()
        if self._progress is not None:
            self._progress(self._position, self._window.size)

    def _recovered(self, error: FramingError) -> int:
        """Note that the message at the position is damaged; return where the next one begins."""
        # A search leaves its own there.
        offset, size, known = self._position, self._window.size, self._reader.known
        if (swallowed := self._swallowed()) is not None:
            return swallowed
        following: int | None = error.stop
        if following is None or not is_boundary(self._window, following):
            following = self._recovery.next_message(offset + 1)
        code = error.code
        if following is None or following == size:
            following, self._torn_at = size, offset
            if not error.is_decided:
                code = FaultCode.TRUNCATED
        message = error.message
        if known is not None and code is FaultCode.TRUNCATED and self._torn_at == offset:
            known, elements = self._reader.arrived(known)
            if known.objects >= 0:
                message = f"{message}, of which {known.objects} of {elements} elements arrived"
        path = None if known is None else self._reader.facts.names[known.variable]
        self._reader.fault(code, message, offset, path=path)
        self._reader.rows.add(damaged(offset, following, code, known))
        return following

    def _swallowed(self) -> int | None:
        """Take back the last message where it reaches into the one behind it; return where that begins."""
        rows = self._reader.rows
        last = rows.last() if len(rows) else None
        if last is None or last.kind not in _OF_DATA or last.stop != self._position:
            return None
        following = None
        if not is_boundary(self._window, last.stop):
            following = self._recovery.across(last.offset, last.stop)
        if following is None:
            return None
        rows.cut(len(rows) - 1, len(rows.ranges))
        code, path = FaultCode.LENGTH_TOO_LARGE, self._reader.facts.names[last.variable]
        text = f"it overlaps the message at byte {following}"
        self._reader.fault(code, text, last.offset, path=path)
        rows.add(damaged(last.offset, following, code, last))
        return following

    def _of_ends(self, count: int) -> list[StreamFault]:
        """Return what is to be said of how the stream begins and ends."""
        found = []
        if not self._has_start:
            found.append(_warning(FaultCode.NO_START, "the stream does not begin with START", 0, 0))
        if self._reader.has_end and self._position < self._window.size:
            text = f"{self._window.size - self._position} bytes follow the end of the stream"
            found.append(_warning(FaultCode.TRAILING_BYTES, text, count, self._position))
        is_torn = self._torn_at < self._window.size
        if self._is_complete and not self._reader.has_end and not is_torn:
            text = "the stream does not end with END"
            found.append(_warning(FaultCode.NO_END, text, count, self._position))
        return found


def _warning(code: FaultCode, message: str, number: int, offset: int) -> StreamFault:
    return StreamFault(
        code=code.text, message=message, number=number, offset=offset, severity=Severity.WARNING
    )


def _end_of(index: StreamIndex) -> int:
    """Return where the last whole message of an index ends, and so what is added to the stream begins."""
    return index.walked - magics.LENGTH if index.has_end else index.walked


def _tail(source: ByteSource, end: int) -> int:
    start = max(end - _TAIL, 0)
    return zlib.crc32(source.read(start, end - start))
