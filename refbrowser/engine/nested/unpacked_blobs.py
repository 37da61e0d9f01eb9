"""Decompressing buffers: no more than their elements take, long ones as they are asked for."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.base import Bytes, DecodeError, Room, as_bytes
from refbrowser.codecs.pipeline import FAULTS
from refbrowser.codecs.table import decoded_alone, decompressor
from refbrowser.engine.reading.resources import Resources
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.nested import Buffer
from refbrowser.model.reference import ByteRange, WholeFile


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


#: Decoded bytes from which on a blob is long.
LONG = 128 * 1024 * 1024
#: Stored bytes that are read together, decoded bytes that are made together.
PIECE = BLOCK = 4 * 1024 * 1024
#: Decoded bytes between two states of zlib that are kept.
APART = 64 * 1024 * 1024
#: Long blobs of one session whose states are kept.
KEPT = 8
#: Reads stored bytes of a blob: where they begin and how many there are.
Fetch = Callable[[int, int], bytes]


def is_long(buffer: Buffer) -> bool:
    """Tell whether a buffer is decoded in parts."""
    if buffer.offset + buffer.nbytes < LONG or len(buffer.codecs) != 1:
        return False
    return stored_range(buffer) is not None and decompressor(buffer.codecs[0]) is not None


def stored_range(buffer: Buffer) -> ByteRange | None:
    """Return where the stored bytes of a buffer are; None where their number is not known."""
    reference = buffer.reference
    if isinstance(reference, WholeFile) and buffer.stored is not None:
        return ByteRange(reference.url, 0, buffer.stored)
    return reference if isinstance(reference, ByteRange) else None


@dataclass(slots=True)
class _State:
    """How far a blob was decoded."""

    stream: Any
    made: int = 0
    taken: int = 0
    rest: bytes = b""

    def copy(self) -> _State:
        """Return a state that goes on from here by itself."""
        return _State(self.stream.copy(), self.made, self.taken, self.rest)


@dataclass(slots=True, eq=False)
class LongBlob:
    """One blob, and the states from which its decoding can go on."""

    buffer: Buffer
    size: int
    _now: _State | None = None
    _marks: list[_State] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self, start: int, stop: int, fetch: Fetch, token: CancelToken) -> npt.NDArray[np.uint8]:
        """Return decoded bytes.

        Raises
        ------
        RefbrowserError
            They cannot be read or decoded, or there are not so many.
        """
        out = np.empty(stop - start, np.uint8)
        with self._lock:
            state = self._state_before(start)
            # After an error it is not known how far it is.
            self._now = None
            while state.made < stop:
                token.check()
                self._mark(state)
                first = state.made
                data = np.frombuffer(self._more(state, fetch), np.uint8)
                low, high = max(start, first), min(stop, state.made)
                if low < high:
                    out[low - start : high - start] = data[low - first : high - first]
            self._now = state
        return out

    def _state_before(self, start: int) -> _State:
        known = [state.copy() for state in self._marks if state.made <= start][-1:]
        if self._now is not None and self._now.made <= start:
            known.append(self._now)
        return max(known, key=lambda state: state.made, default=_State(decompressor(self.buffer.codecs[0])))

    def _mark(self, state: _State) -> None:
        last = self._marks[-1].made if self._marks else 0
        if self.buffer.codecs[0] == "zlib" and state.made >= last + APART:
            self._marks.append(state.copy())

    def _more(self, state: _State, fetch: Fetch) -> bytes:
        """Decode the next bytes."""
        is_zlib = self.buffer.codecs[0] == "zlib"
        while True:
            given = state.rest
            if state.stream.eof or (not given and state.taken >= self.size and self._is_hungry(state)):
                raise damaged(self.buffer, self.buffer.codecs[0], "it ends early")
            if not given and self._is_hungry(state):
                given = fetch(state.taken, min(PIECE, self.size - state.taken))
                state.taken += len(given)
            try:
                data: bytes = state.stream.decompress(given, BLOCK)
            except FAULTS as error:
                raise damaged(self.buffer, self.buffer.codecs[0], error) from None
            state.rest = state.stream.unconsumed_tail if is_zlib else b""
            if data:
                state.made += len(data)
                return data

    def _is_hungry(self, state: _State) -> bool:
        """Tell whether nothing more comes without more bytes."""
        return self.buffer.codecs[0] == "zlib" or state.stream.needs_input


class LongBlobs:
    """The long blobs of a session that were read lately."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[Any, ...], LongBlob] = OrderedDict()

    def of(self, key: tuple[Any, ...], buffer: Buffer, size: int) -> LongBlob:
        """Return the blob that is known by a key."""
        with self._lock:
            blob = self._kept.setdefault(key, LongBlob(buffer, size))
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return blob


_OF_SESSION: weakref.WeakKeyDictionary[Resources, LongBlobs] = weakref.WeakKeyDictionary()
_LOCK = threading.Lock()


def long_blobs(resources: Resources) -> LongBlobs:
    """Return the long blobs of a session."""
    with _LOCK:
        return _OF_SESSION.setdefault(resources, LongBlobs())
