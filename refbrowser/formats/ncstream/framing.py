"""Where the parts of a message begin and end (wire notes, sections 1 and 4)."""

from __future__ import annotations

from typing import NamedTuple

from google.protobuf.message import DecodeError

from refbrowser.formats.ncstream import magics
from refbrowser.formats.ncstream.faults import FaultCode, FramingError
from refbrowser.formats.ncstream.schema import STRUCTURE_DATA
from refbrowser.formats.ncstream.varints import LONGEST, VarintError, read_varint
from refbrowser.formats.ncstream.window import Window
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

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


def block(window: Window, offset: int, what: str, limit: int | None = LIMITS.stream_message) -> Span:
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
            if length > LIMITS.stream_message:
                message = f"an object of {length} bytes is larger than {LIMITS.stream_message}"
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
    raise FramingError(FaultCode.BAD_MAGIC, f"{magic.hex()} stands between the rows of a sequence")


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
