"""What decompressors of Awkward 0 make of a blob: no more than its elements take."""

from __future__ import annotations

from typing import Any

from refbrowser.codecs.base import Bytes, DecodeError, Room, as_bytes
from refbrowser.codecs.pipeline import FAULTS
from refbrowser.codecs.table import decoded_alone, decompressor
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.nested import Buffer


def unpacked(buffer: Buffer, data: memoryview) -> Bytes:
    """Return the decoded bytes of a buffer, up to the end of its elements.

    Raises
    ------
    RefbrowserError
        `E_DECODE`: they are damaged, or too few; `E_BUDGET`: too many for memory.
    """
    wanted = buffer.offset + buffer.nbytes
    if wanted > LIMITS.chunk_size:
        raise too_large(buffer)
    decoded = as_bytes(data)
    for name in buffer.codecs[:-1]:
        decoded = _decoded(buffer, name, decoded, Room(None, LIMITS.chunk_size))
    return _head(buffer, buffer.codecs[-1], decoded, wanted)


def too_large(buffer: Buffer) -> RefbrowserError:
    """Return the error that a blob cannot be decoded whole."""
    message = (
        f"{buffer.offset + buffer.nbytes} bytes can only be decoded together, "
        f"and {LIMITS.chunk_size} are at most"
    )
    return RefbrowserError(ErrorKind.BUDGET, message, buffer.place)


def damaged(buffer: Buffer, name: str, error: object) -> RefbrowserError:
    """Return the error that a decompressor cannot read a blob."""
    message = f"codec {quoted(name)} cannot decode blob {quoted(buffer.name)}: {quoted(error)}"
    return RefbrowserError(ErrorKind.DECODE, message, buffer.place)


def _decoded(buffer: Buffer, name: str, data: Bytes, room: Room) -> Bytes:
    try:
        return decoded_alone(name, data, room)
    except FAULTS as error:
        raise damaged(buffer, name, error) from None


def _head(buffer: Buffer, name: str, data: Bytes, wanted: int) -> Bytes:
    """Return the first bytes that a blob unpacks to; as a rule they are all of them."""
    try:
        return _decoded(buffer, name, data, Room.of(wanted))
    except RefbrowserError:
        # More may be packed than the elements take, which only some formats let us leave out.
        stream = decompressor(name)
        if stream is None:
            longer = _decoded(buffer, name, data, Room(None, LIMITS.chunk_size))
        else:
            longer = _streamed(buffer, stream, data, wanted)
    if len(longer) < wanted:
        message = f"{len(longer)} bytes where {wanted} are expected"
        raise damaged(buffer, name, DecodeError(message))
    return longer[:wanted]


def _streamed(buffer: Buffer, stream: Any, data: Bytes, wanted: int) -> Bytes:
    try:
        # To zlib no bytes at most means any number.
        return as_bytes(stream.decompress(data.data, max(wanted, 1)))
    except FAULTS as error:
        raise damaged(buffer, buffer.codecs[-1], error) from None
