"""The messages of a stream as columns: where each is, what it says of its data, what is wrong with it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.wings.ncstream.reading.definition import StreamDefinition


class FaultCode(IntEnum):
    """Faults as the messages of a table have them; the name with ``-`` for ``_`` is the code."""

    NONE = 0
    NOT_NCSTREAM = 1
    BAD_MAGIC = 2
    TRUNCATED = 3
    LENGTH_TOO_LARGE = 4
    BAD_VARINT = 5
    BAD_PROTOBUF = 6
    UNKNOWN_VARIABLE = 7
    UNKNOWN_DIMENSION = 8
    UNKNOWN_COMPRESSION = 9
    SECTION_RANK = 10
    SECTION_OUT_OF_RANGE = 11
    SIZE_MISMATCH = 12
    TYPE_MISMATCH = 13
    DEFLATE = 14
    STREAM_ERROR = 15
    UNSUPPORTED_MEMBER = 16
    UNSUPPORTED_SHAPE = 17
    # Warnings.
    NO_START = 18
    NO_END = 19
    TRAILING_BYTES = 20
    CRC32 = 21
    UNKNOWN_TYPE = 22

    @property
    def text(self) -> str:
        """The code as it is shown: ``bad-magic``."""
        return self.name.lower().replace("_", "-")


class FramingError(Exception):
    """The message at hand cannot be delimited or parsed.

    Parameters
    ----------
    stop
        Where the next message should be if the lengths so far are right; None where that is not known.
    length
        The length or count that does not fit into what is left; None for other errors.
    is_decided
        Whether `code` stands; else a length that does not fit is taken for that of a stream that was cut,
        unless messages follow.
    """

    def __init__(
        self,
        code: FaultCode,
        message: str,
        *,
        stop: int | None = None,
        length: int | None = None,
        is_decided: bool = True,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.stop = stop
        self.length = length
        self.is_decided = is_decided


@dataclass(frozen=True, slots=True)
class HeaderNote:
    """A fault or warning in what a header says; `path` is the variable or group that it is about."""

    code: FaultCode
    message: str
    path: str
    severity: Severity = Severity.FAULT


#: Takes what is found in a header.
Notes = Callable[[HeaderNote], None]


Ints = npt.NDArray[np.int64]


class MessageKind(IntEnum):
    """What a message is."""

    HEADER = 0
    DATA = 1
    #: MAGIC_DATA2, with a DataCol (CDM Remote since server 5.0).
    DATA_COLUMN = 2
    ERROR = 3
    #: Of a pointStream; listed with its fields, not read as values.
    POINT = 4
    #: Bytes between messages that are none; `fault_of` tells why.
    #: Of the message that the stream was cut off within, `MessageTable.cut`, some elements may be there.
    DAMAGED = 5


class Payload(IntEnum):
    """What stands behind the protobuf message."""

    NONE = 0
    REGULAR = 1
    VARIABLE = 2
    STRUCTURE = 3
    SEQUENCE = 4
    #: Within the message itself: DataCol.
    COLUMN = 5


class ByteOrder(IntEnum):
    """What the field `bigend` said."""

    ABSENT = -1
    LITTLE = 0
    BIG = 1


@dataclass(frozen=True, slots=True, eq=False)
class MessageTable:
    """All messages of a stream in their order, one row each.

    The number of a message is its row; the first one after START is 0.

    Attributes
    ----------
    kind
        `MessageKind`, uint8.
    offset, stop
        Bytes of the file from the magic to the end of the payload.
    variable
        Position in `names`, int32; -1 where the message is of none.
    names
        Full names as absolute paths without escapes (``/ocean/temp``), each once.
    payload
        `Payload`, uint8.
    payload_offset, payload_length
        Bytes behind the protobuf message and their count: of `REGULAR` the stored block without its length,
        of `STRUCTURE` the StructureData, of `VARIABLE` and `SEQUENCE` all of it with counts and lengths; of
        `COLUMN` the DataCol; of messages without data the protobuf message itself. Of the message that the
        stream was cut off within: the whole elements that arrived, without the count of objects.
    count
        Objects of `VARIABLE`, rows of `SEQUENCE`, else -1. Of the message that the stream was cut off within:
        how many elements arrived, the first ones in row-major order; -1 where they cannot be told.
    data_type
        `DataType` that the message names, int8; -1 where none.
    byte_order
        `ByteOrder`, int8.
    version
        Field `version` of Data, int32.
    deflated
        Whether a `REGULAR` payload is a zlib stream. Where it is set for `VARIABLE`, the payload is a zlib
        stream of the lengths and objects, and their `count` is not known (one writer sends that).
    uncompressed
        Field `uncompressedSize`, -1 where absent.
    crc32
        Field 7 as the grammar has it, -1 where absent.
    fault
        `FaultCode` of messages whose data cannot be used, uint8; 0 for sound ones.
    rank
        Ranges of the section, int16; -1 where it has no section.
    section
        First row of its ranges in `starts`, `sizes`, `strides`.
    starts, sizes, strides
        The ranges of all sections. A range for a vlen dimension is left out of them.
    checkpoints
        Of `VARIABLE` and `SEQUENCE` rows: ``(first object, its file offset)`` of every so many objects,
        shape (n, 2), so that a part is read without the rest; by message number.
    """

    kind: npt.NDArray[np.uint8]
    offset: Ints
    stop: Ints
    variable: npt.NDArray[np.int32]
    names: tuple[str, ...]
    payload: npt.NDArray[np.uint8]
    payload_offset: Ints
    payload_length: Ints
    count: Ints
    data_type: npt.NDArray[np.int8]
    byte_order: npt.NDArray[np.int8]
    version: npt.NDArray[np.int32]
    deflated: npt.NDArray[np.bool_]
    uncompressed: Ints
    crc32: Ints
    fault: npt.NDArray[np.uint8]
    rank: npt.NDArray[np.int16]
    section: Ints
    starts: Ints
    sizes: Ints
    strides: Ints
    checkpoints: dict[int, Ints]

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def cut(self) -> int | None:
        """Number of the message that the stream was cut off within, where it is known what it gives."""
        last = len(self) - 1
        if last < 0 or self.kind[last] != MessageKind.DAMAGED or self.fault[last] != FaultCode.TRUNCATED:
            return None
        return last if self.count[last] >= 0 else None

    def ranges(self, row: int) -> tuple[range, ...] | None:
        """Return the section of a message, one range an axis; None where it has none."""
        rank, first = int(self.rank[row]), int(self.section[row])
        if rank < 0:
            return None
        return tuple(
            range(
                int(self.starts[at]),
                int(self.starts[at]) + int(self.sizes[at]) * int(self.strides[at]),
                int(self.strides[at]),
            )
            for at in range(first, first + rank)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFault:
    """A fault or warning of a stream (wire notes, section 8).

    Attributes
    ----------
    code
        ``truncated``, ``bad-magic``, ``crc32``...
    message
        In words.
    number
        Of the message, the first after START being 0.
    offset
        Byte of its magic.
    path
        The variable or group that it is about.
    count
        How many messages share it where only the first is told.
    """

    code: str
    message: str
    number: int
    offset: int
    severity: Severity = Severity.FAULT
    path: str | None = None
    count: int = 1

    def finding(self, url: str, stop: int | None = None) -> Finding:
        """Return it as a finding about the stream at `url`; `stop` is where the message ends."""
        text = f"{self.code}: {self.message} (message {self.number})"
        place = Place(url=url, start=self.offset, stop=stop, path=self.path)
        return Finding(
            severity=self.severity, kind=ErrorKind.FORMAT, message=text, place=place, count=self.count
        )

    def error(self, url: str, stop: int | None = None) -> RefbrowserError:
        """Return it as the error of what it makes unreadable."""
        return self.finding(url, stop).error()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamIndex:
    """A stream that was walked once.

    Attributes
    ----------
    url
        Where it is, canonical.
    size
        Bytes of the file when it was walked; `walked` of them are whole messages (with START and END).
    table
        The messages.
    definition
        What the headers say, those of all messages together.
    headers
        Message number and definition after it, of each header: what the dataset was then. Of
        very many headers some are left out.
    faults
        Faults and warnings in order of their place.
    has_start, has_end
        Whether START and END stand in it.
    tail
        CRC-32 of the bytes before `walked`, without END: tells whether a file that has grown is the same.
    """

    url: str
    size: int
    walked: int
    table: MessageTable
    definition: StreamDefinition
    headers: tuple[tuple[int, StreamDefinition], ...] = ()
    faults: tuple[StreamFault, ...] = ()
    has_start: bool = True
    has_end: bool = True
    tail: int = 0

    def of_variable(self, path: str) -> npt.NDArray[np.int64]:
        """Return the numbers of the data messages of a variable, ascending."""
        if path not in self.table.names:
            return np.zeros(0, np.int64)
        return np.flatnonzero(self.table.variable == self.table.names.index(path))

    def finding(self, fault: StreamFault) -> Finding:
        """Return a fault or warning of the stream as a finding, with the bytes of its message."""
        is_listed = fault.number < len(self.table)
        return fault.finding(self.url, int(self.table.stop[fault.number]) if is_listed else None)

    def error_of(self, number: int) -> RefbrowserError:
        """Return why what a damaged message may have held is lost.

        Parameters
        ----------
        number
            Of the message; the one behind the last stands for what is not listed.
        """
        is_listed = number < len(self.table)
        fault = self.fault_of(number) if is_listed else None
        if fault is None:
            # What the sender says, and that there are more messages: only so many are kept.
            offset = int(self.table.offset[number]) if is_listed else self.walked
            unknown = StreamFault(
                code=FaultCode.STREAM_ERROR.text, message="not given", number=number, offset=offset
            )
            faults = (each for each in self.faults if each.number == number)
            fault = next((each for each in faults if each.severity is Severity.FAULT), unknown)
        return self.finding(fault).error()

    def fault_of(self, number: int) -> StreamFault | None:
        """Return why the data of a message cannot be used; None where they can."""
        code = int(self.table.fault[number])
        if not code:
            return None
        text = FaultCode(code).text
        for fault in self.faults:
            if fault.number == number and fault.code == text:
                return fault
        # Only so many are listed one by one.
        variable = int(self.table.variable[number])
        path = self.table.names[variable] if variable >= 0 else None
        offset = int(self.table.offset[number])
        return StreamFault(
            code=text, message="the data cannot be used", number=number, offset=offset, path=path
        )


_TYPES: dict[str, Any] = {
    "kind": np.uint8,
    "offset": np.int64,
    "stop": np.int64,
    "variable": np.int32,
    "payload": np.uint8,
    "payload_offset": np.int64,
    "payload_length": np.int64,
    "count": np.int64,
    "data_type": np.int8,
    "byte_order": np.int8,
    "version": np.int32,
    "deflated": np.bool_,
    "uncompressed": np.int64,
    "crc32": np.int64,
    "fault": np.uint8,
    "rank": np.int16,
    "section": np.int64,
}
_WIDTH = len(_TYPES)
_FAULT = list(_TYPES).index("fault")
#: Columns that are places in the file.
_PLACES = [list(_TYPES).index(name) for name in ("offset", "stop", "payload_offset")]


class Row(NamedTuple):
    """One message, in the order of the columns."""

    kind: int
    offset: int
    stop: int
    variable: int = -1
    payload: int = Payload.NONE
    payload_offset: int = 0
    payload_length: int = 0
    objects: int = -1
    data_type: int = -1
    byte_order: int = -1
    version: int = 0
    deflated: int = False
    uncompressed: int = -1
    crc32: int = -1
    fault: int = 0
    rank: int = -1
    section: int = 0


class Rows:
    """Rows of messages, and the ranges of their sections.

    Attributes
    ----------
    ranges
        Start, size and stride of each range, one after the other.
    checkpoints
        By message number.
    """

    def __init__(self) -> None:
        self._values = array("q")
        self.ranges = array("q")
        self.checkpoints: dict[int, tuple[tuple[int, int], ...]] = {}
        self._old_checkpoints: dict[int, Any] = {}

    @classmethod
    def of(cls, table: MessageTable, count: int) -> Rows:
        """Return the first `count` rows of a table, to go on from."""
        rows = cls()
        columns = [getattr(table, name)[:count].astype(np.int64) for name in _TYPES]
        # What definitions say of the data is asked again.
        found = columns[_FAULT]
        found[(table.kind[:count] != MessageKind.DAMAGED) & (found != FaultCode.UNKNOWN_COMPRESSION)] = 0
        add_numbers(rows._values, np.stack(columns, axis=1))
        used = int(np.max(table.section[:count] + np.maximum(table.rank[:count], 0), initial=0))
        ranges = [column[:used] for column in (table.starts, table.sizes, table.strides)]
        add_numbers(rows.ranges, np.stack(ranges, axis=1).astype(np.int64))
        rows._old_checkpoints = {
            number: marks for number, marks in table.checkpoints.items() if number < count
        }
        return rows

    def __len__(self) -> int:
        return len(self._values) // _WIDTH

    def add(self, row: Iterable[int]) -> None:
        """Add a `Row`, or the same as a plain tuple."""
        self._values.extend(row)

    def add_many(self, **columns: npt.NDArray[Any]) -> None:
        """Add rows by their columns."""
        more = np.empty((len(columns["offset"]), _WIDTH), np.int64)
        for at, name in enumerate(_TYPES):
            more[:, at] = columns[name]
        add_numbers(self._values, more)

    def repeat(self, count: int) -> None:
        """Add the last row so many times more, of messages of the same length that follow each other."""
        last = np.array(self._values[-_WIDTH:], np.int64)
        step = np.zeros(_WIDTH, np.int64)
        step[_PLACES] = self.last().stop - self.last().offset
        more = last + np.arange(1, count + 1)[:, None] * step
        add_numbers(self._values, more.astype(np.int64))

    def last(self) -> Row:
        """Return the row that was added last."""
        return Row(*self._values[-_WIDTH:])

    def cut(self, count: int, ranges: int) -> None:
        """Keep the first `count` rows and so many numbers of `ranges`."""
        del self._values[count * _WIDTH :]
        del self.ranges[ranges:]
        for marks in (self.checkpoints, self._old_checkpoints):
            for number in [each for each in marks if each >= count]:
                del marks[number]

    def table(self, names: tuple[str, ...]) -> MessageTable:
        """Return the rows as a table."""
        # Views: each column is copied below.
        values = np.asarray(self._values).reshape(-1, _WIDTH)
        ranges = np.asarray(self.ranges).reshape(-1, 3)
        columns: dict[str, Any] = {
            name: values[:, at].astype(kind) for at, (name, kind) in enumerate(_TYPES.items())
        }
        checkpoints = {
            number: np.array(marks, np.int64).reshape(-1, 2) for number, marks in self.checkpoints.items()
        }
        return MessageTable(
            **columns,
            names=names,
            starts=ranges[:, 0].copy(),
            sizes=ranges[:, 1].copy(),
            strides=ranges[:, 2].copy(),
            checkpoints=self._old_checkpoints | checkpoints,
        )


def add_numbers(to: array[int], more: npt.NDArray[np.int64]) -> None:
    """Add the numbers of an array, in C order, to those of another."""
    to.frombytes(np.ascontiguousarray(more).reshape(-1).view(np.uint8).data)


def damaged(offset: int, stop: int, fault: int, facts: Row | None) -> Row:
    """Return the row of bytes that are no sound message; `facts` is what could be told of it."""
    known = Row(0, 0, 0) if facts is None else facts
    return known._replace(kind=MessageKind.DAMAGED, offset=offset, stop=stop, fault=fault)
