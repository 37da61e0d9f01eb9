"""Whole files packed with gzip or zstd, in portions of bounded size both ways."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Literal

Compression = Literal["gzip", "zstd"]

_MAGIC: tuple[tuple[bytes, Compression], ...] = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))
_PORTION = 4 * 1024 * 1024
_SLICE = 16 * 1024
_GZIP = 16 + zlib.MAX_WBITS


def find_compression(head: bytes) -> Compression | None:
    """Return how a file that begins with `head` is packed, or None."""
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    return None


def slices(data: memoryview, size: int = _PORTION) -> Iterator[bytes]:
    """Yield `data` in portions."""
    for start in range(0, len(data), size):
        yield bytes(data[start : start + size])


def decompress(kind: Compression, portions: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the unpacked bytes in portions of bounded size.

    Raises
    ------
    ValueError
        The bytes are not what `kind` packs, or end early.
    """
    return _gunzip(portions) if kind == "gzip" else _unzstd(portions)


def _gunzip(portions: Iterable[bytes]) -> Iterator[bytes]:
    stream = None
    for portion in portions:
        rest = portion
        while rest:
            if stream is None or stream.eof:
                rest = rest.lstrip(b"\0") if stream is not None else rest  # padding between members
                if not rest:
                    break
                stream = zlib.decompressobj(_GZIP)
            try:
                data = stream.decompress(rest, _PORTION)
            except zlib.error as error:
                raise ValueError(str(error)) from None
            if data:
                yield data
            rest = stream.unused_data if stream.eof else stream.unconsumed_tail
    if stream is None or not stream.eof:
        raise ValueError("the file ends early")


def _unzstd(portions: Iterable[bytes]) -> Iterator[bytes]:
    from refbrowser.zstd import DecompressionParameter, ZstdDecompressor, ZstdError

    options: dict[int, int] = {DecompressionParameter.window_log_max: 27}
    stream = None
    try:
        # What follows a frame is copied: of no more than a slice, as a file may have many frames.
        for rest in (part for portion in portions for part in slices(memoryview(portion), _SLICE)):
            while rest or (stream is not None and not stream.needs_input):
                if stream is None:
                    stream = ZstdDecompressor(options=options)
                if data := stream.decompress(rest, _PORTION):
                    yield data
                rest = stream.unused_data if stream.eof else b""
                if stream.eof:
                    stream = None
    except ZstdError as error:
        raise ValueError(str(error)) from None
    if stream is not None:
        raise ValueError("the file ends early")


def compress(kind: Compression, portions: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the packed bytes of a file; the same input gives the same output."""
    stream: Any
    if kind == "gzip":
        stream = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
    else:
        from refbrowser.zstd import ZstdCompressor

        stream = ZstdCompressor(9)
    for portion in portions:
        if data := stream.compress(portion):
            yield data
    yield stream.flush()
