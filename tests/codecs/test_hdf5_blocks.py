"""Filters of HDF5 that pack blocks: LZ4, and bitshuffle with each of its compressors."""

from __future__ import annotations

from typing import Any

import numcodecs
import numpy as np
import pytest

from refbrowser.codecs.base import DecodeError, Room, as_bytes
from refbrowser.codecs.makers import Elements
from refbrowser.codecs.registered import Hdf5Bitshuffle
from refbrowser.codecs.table import byte_codec
from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS

RNG = np.random.default_rng(3)
VALUES = (RNG.integers(0, 9, 3001) * 77).astype("<u4")
ANY = Elements(None, Room(None, LIMITS.chunk_size))


def codec(name: str, **settings: Any) -> Any:
    return byte_codec(name, settings, ANY)


def big(number: int, size: int) -> bytes:
    return number.to_bytes(size, "big")


def decoded(made: Any, data: bytes, size: int = VALUES.nbytes) -> bytes:
    return bytes(made.decode(as_bytes(data), Room.of(size), None))


def test_lz4_is_read_as_its_framing_is_told() -> None:
    data, block = VALUES.tobytes(), 5000
    noise = RNG.bytes(block)
    blocks = [noise, *(data[at : at + block] for at in range(0, len(data), block))]
    packed = [noise, *(numcodecs.LZ4().encode(each)[4:] for each in blocks[1:])]
    stored = big(block + len(data), 8) + big(block, 4)
    stored += b"".join(big(len(each), 4) + each for each in packed)
    made = codec("imagecodecs_lz4h5")
    assert decoded(made, stored, block + len(data)) == noise + data
    assert decoded(made, bytes(made.encode(as_bytes(data)))) == data
    for wrong in (stored[:11], stored[:-1], stored[:12], big(2**40, 8) + stored[8:], stored[:8] + bytes(4)):
        with pytest.raises((DecodeError, RuntimeError)):
            decoded(made, wrong, block + len(data))


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_bits_are_those_of_imagecodecs(size: int) -> None:
    imagecodecs = pytest.importorskip("imagecodecs")
    values = VALUES[: 8 * 300].astype(f"<u{size}")
    for block in (0, 64):
        stored = imagecodecs.bitshuffle_encode(values.tobytes(), itemsize=size, blocksize=block)
        made = codec("hdf5_bitshuffle", elementsize=size, blocksize=block)
        assert decoded(made, bytes(stored), values.nbytes) == values.tobytes()
        assert bytes(made.encode(as_bytes(values.tobytes()))) == bytes(stored)


@pytest.mark.parametrize("packing", ["none", "lz4", "zstd"])
@pytest.mark.parametrize("count", [0, 5, 8, 128, 3001])
def test_elements_at_the_end_are_kept(packing: str, count: int) -> None:
    data = VALUES[:count].tobytes()
    made = codec("hdf5_bitshuffle", elementsize=4, blocksize=64, compressor=packing)
    stored = bytes(made.encode(as_bytes(data)))
    assert decoded(made, stored, len(data)) == data
    assert stored.endswith(data[count // 8 * 32 :])
    for wrong in (stored[:-1], stored + b"x") if stored else (b"x",):
        with pytest.raises((DecodeError, RuntimeError)):
            decoded(made, wrong, len(data))


def test_a_damaged_header_is_no_block() -> None:
    made = codec("hdf5_bitshuffle", elementsize=4, compressor="lz4")
    stored = bytes(made.encode(as_bytes(VALUES.tobytes())))
    for head in (stored[:8] + bytes(4), stored[:8] + big(12, 4), big(3, 8) + stored[8:12]):
        with pytest.raises(DecodeError):
            made.decode(as_bytes(head + stored[12:]), Room(None, 10**6), None)
    with pytest.raises(RefbrowserError):
        codec("hdf5_bitshuffle", compressor="snappy")


def test_numcodecs_has_it_from_us() -> None:
    ours = Hdf5Bitshuffle(elementsize=4, compressor="lz4")
    settings = {name: value for name, value in ours.get_config().items() if name != "id"}
    again = Hdf5Bitshuffle.from_config(settings)
    assert again == ours
    target = np.empty_like(VALUES)
    ours.decode(ours.encode(VALUES), target)
    assert np.array_equal(target, VALUES)
    assert np.array_equal(again.decode(ours.encode(VALUES)).view("<u4"), VALUES)
