"""Zstandard (RFC 8878): Python's own module, or what brings it to those before 3.14."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 14):
    from compression.zstd import (
        CompressionParameter,
        DecompressionParameter,
        ZstdCompressor,
        ZstdDecompressor,
        ZstdDict,
        ZstdError,
        get_frame_info,
    )
else:
    from backports.zstd import (
        CompressionParameter,
        DecompressionParameter,
        ZstdCompressor,
        ZstdDecompressor,
        ZstdDict,
        ZstdError,
        get_frame_info,
    )

__all__ = [
    "DecompressionParameter",
    "ZstdCompressor",
    "ZstdDecompressor",
    "ZstdDict",
    "ZstdError",
    "announced_size",
    "compressed",
]


def announced_size(frame: Any) -> int | None:
    """Return how many bytes a frame says that it holds; None where it says nothing.

    Raises
    ------
    ZstdError
        It does not begin like a frame.
    """
    size: int | None = get_frame_info(frame).decompressed_size
    return size


def compressed(data: Any, level: int, *, checksum: bool = False) -> bytes:
    """Return one frame that tells its size."""
    options: dict[int, int] = {
        CompressionParameter.compression_level: level,
        CompressionParameter.checksum_flag: checksum,
    }
    return ZstdCompressor(options=options).compress(data, ZstdCompressor.FLUSH_FRAME)
