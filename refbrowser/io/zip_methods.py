"""How the members of zip archives are packed, and their bytes unpacked within bounds (APPNOTE 4.4.5, 5.8)."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any

STORED, DEFLATED, BZIP2, LZMA = 0, 8, 12, 14
#: What the methods are called.
METHODS = {STORED: "stored", DEFLATED: "deflate", BZIP2: "bz2", LZMA: "lzma"}
#: What those are called that pack.
PACKED = frozenset(METHODS.values()) - {METHODS[STORED]}
#: No deflate stream grows by more.
MOST_GROWTH = 1032
#: Raw deflate, without a header of its own.
_RAW = -15
#: Before raw LZMA: two bytes of version, two that tell how long the properties are, and these.
_LZMA_HEAD, _LZMA_PROPERTIES = 4, 5
_LEAST_DICTIONARY = 4096
#: Packed bytes that are taken, and unpacked ones that are made, at a time.
_TAKEN, _MADE = 64 << 10, 1 << 20


class PackedError(ValueError):
    """Packed bytes are not what their method makes."""


def unpacked(method: int, packed: memoryview, size: int) -> memoryview:
    """Return the bytes that a method packed.

    Parameters
    ----------
    size
        As announced; not more than one byte beyond it is unpacked.

    Raises
    ------
    PackedError
        They cannot be unpacked, or are more or less than announced.
    """
    if method == STORED:
        return packed
    try:
        data = _UNPACKERS[method](packed, size)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, MemoryError) as error:
        raise PackedError(f"the member cannot be unpacked: {error}") from None
    _check_size(len(data), size)
    return data


def unpacked_blocks(method: int, packed: memoryview, size: int) -> Iterator[bytes]:
    """Yield the bytes that a method packed block by block, so that they need not be held.

    Raises
    ------
    PackedError
        They cannot be unpacked, or are more or less than announced: after the last block at the latest.
    """
    made = 0
    try:
        for block in _blocks(method, packed, size):
            made += len(block)
            if made > size:
                break
            yield block
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, MemoryError) as error:
        raise PackedError(f"the member cannot be unpacked: {error}") from None
    _check_size(made, size)


def _blocks(method: int, packed: memoryview, size: int) -> Iterator[bytes]:
    if method == DEFLATED:
        stream: Any = zlib.decompressobj(_RAW)
    elif method == BZIP2:
        stream = bz2.BZ2Decompressor()
    else:
        stream, packed = _lzma_stream(packed, size)
    for start in range(0, len(packed), _TAKEN):
        block = stream.decompress(packed[start : start + _TAKEN], _MADE)
        yield block
        # A full block: there may be more of what was given.
        while len(block) == _MADE and not stream.eof:
            block = stream.decompress(getattr(stream, "unconsumed_tail", b""), _MADE)
            yield block
        if stream.eof:
            return


def _check_size(found: int, size: int) -> None:
    if found != size:
        what = "more" if found > size else str(found)
        raise PackedError(f"the member has {what} bytes when unpacked, the directory says {size}")


def _inflated(packed: memoryview, size: int) -> memoryview:
    import deflate

    if size:
        try:
            plain = memoryview(deflate.deflate_decompress(packed, size))
        except deflate.DeflateError:
            plain = memoryview(b"")
        if len(plain) == size:
            return plain
    # Slower, but it tells what is wrong.
    return memoryview(zlib.decompressobj(_RAW).decompress(packed, size + 1))


def _from_bzip2(packed: memoryview, size: int) -> memoryview:
    return memoryview(bz2.BZ2Decompressor().decompress(packed, size + 1))


def _from_lzma(packed: memoryview, size: int) -> memoryview:
    stream, rest = _lzma_stream(packed, size)
    return memoryview(stream.decompress(rest, size + 1))


def _lzma_stream(packed: memoryview, size: int) -> tuple[lzma.LZMADecompressor, memoryview]:
    """Return what unpacks a member, and what follows its properties."""
    stop = _LZMA_HEAD + _LZMA_PROPERTIES
    head = bytes(packed[:stop])
    if len(head) < stop or int.from_bytes(head[2:4], "little") != _LZMA_PROPERTIES:
        raise PackedError("the properties of LZMA are not there")
    code, dictionary = head[_LZMA_HEAD], int.from_bytes(head[_LZMA_HEAD + 1 :], "little")
    rest, literal_context = divmod(code, 9)
    position, literal = divmod(rest, 5)
    if position > 4:
        raise PackedError("the properties of LZMA are out of bounds")
    # A dictionary larger than what is unpacked is never used, and would be allocated.
    filters = {
        "id": lzma.FILTER_LZMA1,
        "dict_size": max(_LEAST_DICTIONARY, min(dictionary, size)),
        "lc": literal_context,
        "lp": literal,
        "pb": position,
    }
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[filters]), packed[stop:]


_UNPACKERS: dict[int, Callable[[memoryview, int], memoryview]] = {
    DEFLATED: _inflated,
    BZIP2: _from_bzip2,
    LZMA: _from_lzma,
}
