"""Files packed by Zstandard, in portions: frames that follow each other, cuts, damage."""

from __future__ import annotations

import pytest
import zstandard

from refbrowser.formats.compression import compress, decompress
from refbrowser.zstd import ZstdError, announced_size, compressed

TEXT = b"".join(b"%d," % number for number in range(100_000))


def unpacked(data: bytes, size: int) -> bytes:
    return b"".join(decompress("zstd", (data[at : at + size] for at in range(0, len(data), size))))


@pytest.mark.parametrize("size", [1 << 22, 5000])
def test_what_was_packed_comes_back(size: int) -> None:
    data = b"".join(compress("zstd", [TEXT[:1000], TEXT[1000:]]))
    assert zstandard.ZstdDecompressor().decompressobj().decompress(data) == TEXT
    assert unpacked(data, size) == TEXT


def test_frames_that_follow_each_other_are_one_file() -> None:
    packer = zstandard.ZstdCompressor()
    frames = [packer.compress(part) for part in (TEXT[:10], b"", TEXT[10:])]
    assert unpacked(b"".join(frames), 1 << 22) == TEXT
    assert unpacked(b"".join(frames), 7) == TEXT


def test_a_file_that_is_cut_or_damaged_is_told() -> None:
    data = compressed(TEXT, 3, checksum=True)
    with pytest.raises(ValueError, match="the file ends early"):
        unpacked(data[:-5], 1 << 22)
    with pytest.raises(ValueError, match=r"."):
        unpacked(data[:-1] + bytes([data[-1] ^ 1]), 1 << 22)
    with pytest.raises(ValueError, match=r"."):
        unpacked(data + b"more", 1 << 22)


def test_a_window_above_128_mib_is_refused() -> None:
    wide = zstandard.ZstdCompressionParameters(window_log=28, write_content_size=False)
    stream = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    with pytest.raises(ValueError, match=r"memory"):
        unpacked(stream.compress(TEXT) + stream.flush(), 1 << 22)


def test_a_frame_tells_its_size() -> None:
    assert announced_size(compressed(TEXT, 1)) == len(TEXT)
    # Not the same bytes where two versions of the library made them.
    assert zstandard.ZstdDecompressor().decompress(compressed(TEXT, 1)) == TEXT
    assert announced_size(zstandard.ZstdCompressor(write_content_size=False).compress(TEXT)) is None
    with pytest.raises(ZstdError):
        announced_size(b"no frame")
