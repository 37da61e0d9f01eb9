"""Buffers of nested rows: every codec, nothing more decoded than is wanted, read once, by range."""

from __future__ import annotations

import bz2
import lzma
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awkward0_encoder import lz4_block
from numcodecs import Blosc, Zstd

from refbrowser.engine.nested import buffers
from refbrowser.engine.nested import unpacked_blobs as long_blobs
from refbrowser.engine.nested.buffers import SessionBuffers
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.model.nested import Buffer, BufferPart
from refbrowser.model.reference import ByteRange, Inline, Missing, Reference, WholeFile

VALUES = np.arange(5000, dtype=">i4")
PACK = {
    "zlib": zlib.compress,
    "lzma": lzma.compress,
    "bz2": bz2.compress,
    "lz4": lz4_block,
    "zstd": Zstd().encode,
    "blosc": Blosc().encode,
}


@pytest.fixture
def reader(session: Session, access: Access) -> SessionBuffers:
    return SessionBuffers(session, access, CancelToken())


def buffer(reference: Reference, *codecs: str, **more: Any) -> Buffer:
    """Return a buffer of the values."""
    return Buffer(**{"reference": reference, "dtype": VALUES.dtype, "count": 5000, "codecs": codecs, **more})


def whole(of: Buffer) -> BufferPart:
    """Return all elements of a buffer."""
    return BufferPart(of, 0, of.count)


def one(reader: SessionBuffers, part: BufferPart) -> np.ndarray[Any, Any]:
    """Return the elements of one part.

    Raises
    ------
    RefbrowserError
        They cannot be read.
    """
    (answer,) = reader.read_all([part])
    if isinstance(answer, RefbrowserError):
        raise answer
    return answer


@pytest.mark.parametrize("codec", PACK)
@pytest.mark.parametrize("offset", [0, 7])
def test_codecs(reader: SessionBuffers, tmp_path: Path, codec: str, offset: int) -> None:
    packed = PACK[codec](b"x" * offset + VALUES.tobytes())
    (tmp_path / "blob").write_bytes(b"head" + packed)
    reference = ByteRange("blob", 4, len(packed))
    found = one(reader, BufferPart(buffer(reference, codec, offset=offset), 10, 4000))
    assert found.dtype == VALUES.dtype
    assert (found == VALUES[10:4000]).all()


@pytest.mark.parametrize("codec", PACK)
def test_codecs_of_more_than_the_elements(reader: SessionBuffers, codec: str) -> None:
    packed = PACK[codec](VALUES.tobytes() + b"tail" * 100)
    assert (one(reader, whole(buffer(Inline(packed), codec))) == VALUES).all()


@pytest.mark.parametrize("codec", PACK)
@pytest.mark.parametrize(
    "spoil", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"\0" * len(data)]
)
def test_codecs_of_damaged_bytes(reader: SessionBuffers, codec: str, spoil: Any) -> None:
    packed = spoil(bytes(PACK[codec](VALUES.tobytes())))
    with pytest.raises(RefbrowserError) as caught:
        one(reader, whole(buffer(Inline(packed), codec, name="12.raw")))
    assert caught.value.kind is ErrorKind.DECODE
    assert "12.raw" in caught.value.message


@pytest.mark.parametrize("codec", PACK)
def test_too_few_decoded_bytes(reader: SessionBuffers, codec: str) -> None:
    with pytest.raises(RefbrowserError) as caught:
        one(reader, whole(buffer(Inline(PACK[codec](VALUES[:10].tobytes())), codec)))
    assert caught.value.kind is ErrorKind.DECODE


def test_codecs_in_codecs(reader: SessionBuffers) -> None:
    packed = lzma.compress(zlib.compress(lz4_block(VALUES.tobytes())))
    assert (one(reader, whole(buffer(Inline(packed), "lzma", "zlib", "lz4"))) == VALUES).all()


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["zlib", "lzma", "bz2"])
def test_bombs_are_decoded_as_far_as_is_wanted(reader: SessionBuffers, codec: str) -> None:
    bomb = PACK[codec](b"\0" * (64 << 20))
    tracemalloc.start()
    assert (one(reader, BufferPart(buffer(Inline(bomb), codec), 0, 10)) == 0).all()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 24 << 20


def test_huge_counts_are_refused_before_anything_is_decoded(reader: SessionBuffers) -> None:
    of = buffer(Inline(zlib.compress(b"\0")), "zlib", count=1 << 40)
    with pytest.raises(RefbrowserError) as caught:
        one(reader, BufferPart(of, 0, 10))
    assert caught.value.kind is ErrorKind.BUDGET


def test_parts_are_read_by_range(reader: SessionBuffers, tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(b"xy" + VALUES.tobytes())
    told: list[int] = []
    reader.told = lambda size, requests: told.append(size)
    assert (one(reader, BufferPart(buffer(WholeFile("blob"), offset=2), 100, 110)) == VALUES[100:110]).all()
    assert sum(told) == 40


def test_large_parts_come_in_pieces(
    reader: SessionBuffers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buffers, "MOST_ASKED", 1000)
    (tmp_path / "blob").write_bytes(VALUES.tobytes())
    assert (one(reader, BufferPart(buffer(WholeFile("blob")), 3, 4990)) == VALUES[3:4990]).all()


def test_what_was_read_is_not_read_again(reader: SessionBuffers, tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(zlib.compress(VALUES.tobytes()))
    (tmp_path / "plain").write_bytes(VALUES.tobytes())
    parts = [BufferPart(buffer(WholeFile("packed"), "zlib"), 0, 5), whole(buffer(WholeFile("plain")))]
    told: list[int] = []
    reader.told = lambda size, requests: told.append(size)
    reader.read_all(parts)
    assert sum(told) > 0
    told.clear()
    other = BufferPart(buffer(WholeFile("packed"), "zlib"), 90, 95)
    first, second = reader.read_all([other, parts[1]])
    assert (first == VALUES[90:95]).all()
    assert (second == VALUES).all()
    assert sum(told) == 0


def test_what_exports_read_is_not_kept(session: Session, access: Access, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(VALUES.tobytes())
    one(SessionBuffers(session, access, CancelToken(), export=True), whole(buffer(WholeFile("plain"))))
    assert len(session.cache) == 0


def test_each_part_fails_for_itself(reader: SessionBuffers, tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(VALUES.tobytes()[:100])
    (tmp_path / "good").write_bytes(VALUES.tobytes())
    answers = reader.read_all(
        [
            whole(buffer(WholeFile("short"))),
            whole(buffer(WholeFile("absent"))),
            whole(buffer(WholeFile("good"))),
            whole(buffer(ByteRange("good", 0, 50))),
            whole(buffer(Inline(b"abc"))),
            whole(buffer(Missing())),
            whole(buffer(WholeFile("good"), "zlib")),
        ]
    )
    kinds = [answer.kind if isinstance(answer, RefbrowserError) else None for answer in answers]
    assert kinds == [
        ErrorKind.RANGE,
        ErrorKind.IO,
        None,
        ErrorKind.RANGE,
        ErrorKind.RANGE,
        ErrorKind.SOURCE,
        ErrorKind.DECODE,
    ]


def test_elements_of_a_shape_and_of_no_size(reader: SessionBuffers) -> None:
    pairs = Buffer(Inline(np.arange(6.0).tobytes()), np.dtype(("<f8", (2,))), 3)
    assert one(reader, BufferPart(pairs, 1, 3)).tolist() == [[2.0, 3.0], [4.0, 5.0]]
    nothing = Buffer(Inline(b""), np.dtype("S0"), 3)
    assert one(reader, BufferPart(nothing, 0, 3)).tolist() == [b"", b"", b""]


def test_a_cancelled_read_ends(reader: SessionBuffers) -> None:
    reader.token.cancel()
    with pytest.raises(Cancelled):
        reader.read_all([whole(buffer(Inline(VALUES.tobytes())))])


@pytest.mark.parametrize("codec", ["zlib", "lzma", "bz2"])
def test_long_blobs_are_decoded_in_parts(
    reader: SessionBuffers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codec: str
) -> None:
    monkeypatch.setattr(long_blobs, "LONG", 1000)
    monkeypatch.setattr(long_blobs, "PIECE", 300)
    monkeypatch.setattr(long_blobs, "BLOCK", 512)
    monkeypatch.setattr(long_blobs, "APART", 4096)
    packed = PACK[codec](b"xy" + VALUES.tobytes())
    (tmp_path / "blob").write_bytes(packed)
    of = buffer(WholeFile("blob"), codec, offset=2, stored=len(packed))
    told: list[int] = []
    reader.told = lambda size, requests: told.append(size)
    for start, stop in ((0, 10), (10, 700), (4000, 5000), (3000, 3100), (0, 5000), (4999, 5000)):
        told.clear()
        assert (one(reader, BufferPart(of, start, stop)) == VALUES[start:stop]).all()
        if (start, stop) == (3000, 3100) and codec == "zlib":
            # From a state that was kept, not from the first byte.
            assert sum(told) < len(packed) / 2
    short = buffer(WholeFile("blob"), codec, count=6000, stored=len(packed))
    with pytest.raises(RefbrowserError, match="ends early"):
        one(reader, BufferPart(short, 5900, 6000))
    broken = buffer(ByteRange("blob", 40, len(packed) - 40), codec)
    with pytest.raises(RefbrowserError) as caught:
        one(reader, BufferPart(broken, 0, 10))
    assert caught.value.kind is ErrorKind.DECODE
