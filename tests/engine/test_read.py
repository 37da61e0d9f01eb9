"""Reading selections: every layout gives numpy's values, and a failed chunk is never shown as fill."""

from __future__ import annotations

import json
import threading
import time
import zlib
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from engine_arrays import array_node, stored
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.reading import chunks as read
from refbrowser.engine.reading.decoding import Rests
from refbrowser.engine.reading.parts import EndedPart, PartState
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.model.nodes import CodecSpec
from refbrowser.model.reference import ByteRange, Inline, WholeFile
from refbrowser.model.selection import Selection

ZLIB = (CodecSpec("zlib", {"level": 1}),)
SHARDS = (
    CodecSpec(
        "sharding_indexed",
        {
            "chunk_shape": [2, 3],
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip"}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
            "index_location": "end",
        },
    ),
)


def values_of(shape: tuple[int, ...], dtype: str = "<i4") -> np.ndarray:
    return np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


@st.composite
def cases(draw: st.DrawFn):
    rank = draw(st.integers(0, 3))
    shape = tuple(draw(st.integers(1, 9)) for _ in range(rank))
    chunks = tuple(draw(st.integers(1, 6)) for _ in range(rank))
    index = []
    for size in shape:
        if draw(st.booleans()):
            index.append(draw(st.integers(-size, size - 1)))
        else:
            bound = st.none() | st.integers(-size - 1, size + 1)
            step = draw(st.none() | st.integers(1, 4) | st.integers(-4, -1))
            index.append(slice(draw(bound), draw(bound), step))
    return shape, chunks, tuple(index)


@pytest.mark.slow
@given(cases(), st.sampled_from(["raw", "raw F", "zlib", "zlib F"]), st.booleans(), st.booleans(), st.data())
def test_any_selection_of_any_layout(tmp_path_factory, case, layout, cached, pooled, data) -> None:
    shape, chunks, index = case
    folder = tmp_path_factory.mktemp("read")
    access = Access.for_document(folder / "d.json")
    values = values_of(shape, ">i4")
    order = "F" if layout.endswith("F") else "C"
    codecs = ZLIB if layout.startswith("zlib") else ()
    node = array_node(shape, chunks, ">i4", codecs=codecs, order=order, fill_value=np.int32(-7))
    references = stored(values, chunks, folder / "d.bin", CodecPipeline.for_array(node).encode)
    gone = data.draw(st.sets(st.sampled_from(sorted(references))))
    for coords in gone:
        del references[coords]
        place = tuple(slice(at * side, (at + 1) * side) for at, side in zip(coords, chunks, strict=True))
        values[place] = -7
    node = array_node(shape, chunks, ">i4", references, codecs=codecs, order=order, fill_value=np.int32(-7))
    selection = Selection.from_index(index, shape)
    tiny = 0 if pooled else read.TINY
    with Session(threads=2, cache=None if cached else 0) as session, patch.object(read, "TINY", tiny):
        for _ in range(2):
            result = session.read(node, access, selection)
            assert result.dtype == values.dtype
            np.testing.assert_array_equal(result, values[index])


@pytest.fixture
def raw_array(tmp_path: Path):
    values = values_of((40, 50))
    references = stored(values, (40, 50), tmp_path / "raw.bin", lambda chunk: chunk.tobytes())
    return values, array_node((40, 50), (40, 50), "<i4", references)


def test_an_uncompressed_chunk_is_read_in_part(raw_array, session: Session, access: Access) -> None:
    values, node = raw_array
    for text, useful in [("3:5", 400), ("3,10:20", 40), (":,7", 160), ("::2,::5", 800)]:
        selection = Selection.from_text(text, node.shape)
        plan = session.plan(node, access, selection)
        assert plan.useful_bytes == useful, text
        assert sum(stop - start for _, start, stop in plan.requests) == useful + plan.wasted_bytes
        before = session.fetcher.counters.bytes
        session.cache.clear()
        np.testing.assert_array_equal(session.read(node, access, selection), values[eval(f"np.s_[{text}]")])
        assert session.fetcher.counters.bytes - before <= useful + plan.wasted_bytes


def test_a_chunk_of_many_gigabytes_is_read_by_ranges(
    tmp_path: Path, session: Session, access: Access
) -> None:
    path = tmp_path / "huge.bin"
    with path.open("wb") as stream:
        stream.truncate(3 * 2**33)
        stream.seek(2 * 2**33 + 8 * 12345)
        stream.write(np.arange(5, dtype="<f8").tobytes())
    shape = (3, 2**30)
    node = array_node(shape, shape, "<f8", {(0, 0): ByteRange("huge.bin", 0, 3 * 2**33)})
    read = session.read(node, access, Selection.from_text("2,12345:12350", shape))
    assert read.tolist() == [0, 1, 2, 3, 4]
    assert session.fetcher.counters.bytes == 40
    whole = array_node(shape, shape, "<f8", {(0, 0): WholeFile("huge.bin")})
    assert session.read(whole, access, Selection.from_text("2,12346", shape)) == 1


@pytest.fixture
def packed_array(tmp_path: Path):
    values = values_of((40, 50))
    node = array_node((40, 50), (40, 50), "<i4", codecs=ZLIB)
    references = stored(values, (40, 50), tmp_path / "packed.bin", CodecPipeline.for_array(node).encode)
    return values, array_node((40, 50), (40, 50), "<i4", references, codecs=ZLIB)


def test_the_cache_is_used_and_permission_is_asked_first(
    packed_array, session: Session, access: Access
) -> None:
    values, node = packed_array
    whole = Selection.whole(node.shape)
    session.read(node, access, whole)
    read = session.fetcher.counters.bytes
    np.testing.assert_array_equal(session.read(node, access, whole), values)
    np.testing.assert_array_equal(session.read(node, access, Selection.from_text("3", node.shape)), values[3])
    assert session.fetcher.counters.bytes == read, "a part comes out of the chunk that is kept"
    other = Access(str(Path(access.base) / "elsewhere"), False, memory=access.memory)
    node.manifest.references[0, 0] = ByteRange(
        str(Path(access.base) / "packed.bin"), *_extent(node.manifest.references[0, 0])
    )
    with pytest.raises(RefbrowserError) as caught:
        session.read(node, other, whole)
    assert caught.value.kind is ErrorKind.BLOCKED


def test_no_second_copy_is_kept_of_uncompressed_bytes_of_a_local_file(
    raw_array, session: Session, access: Access
) -> None:
    values, node = raw_array
    whole = Selection.whole(node.shape)
    for _ in range(2):
        np.testing.assert_array_equal(session.read(node, access, whole), values)
    assert session.fetcher.counters.bytes == 2 * values.nbytes
    assert session.cache.size == 0


def _extent(reference: ByteRange) -> tuple[int, int]:
    return reference.offset, reference.length


def test_another_opening_of_the_document_does_not_share_the_cache(
    packed_array, session: Session, access: Access
) -> None:
    _, node = packed_array
    session.read(node, access, Selection.whole(node.shape))
    before = session.fetcher.counters.bytes
    session.read(node, Access.for_document(Path(access.base) / "d.json"), Selection.whole(node.shape))
    assert session.fetcher.counters.bytes > before


@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize("whole_file", [True, False])
def test_inner_chunks_of_shards_are_read_alone(
    tmp_path: Path, session: Session, access: Access, at_end: bool, whole_file: bool
) -> None:
    specs = json.loads(json.dumps(SHARDS[0].configuration)) | {"index_location": "end" if at_end else "start"}
    codecs = (CodecSpec("sharding_indexed", specs),)
    values = values_of((13, 20))
    values[0:2, 0:3] = 0
    bare = array_node((13, 20), (6, 9), codecs=codecs, format="zarr-v3", fill_value=np.int32(0))
    encode = CodecPipeline.for_array(bare).encode
    references = stored(values, (6, 9), tmp_path / "s.bin", encode)
    if whole_file:
        data = (tmp_path / "s.bin").read_bytes()
        for coords, reference in references.items():
            name = "s{}.{}.bin".format(*coords)
            (tmp_path / name).write_bytes(data[reference.offset :][: reference.length])
            references[coords] = WholeFile(name)
    node = array_node(
        (13, 20), (6, 9), references=references, codecs=codecs, format="zarr-v3", fill_value=np.int32(0)
    )
    for index in [np.s_[:], np.s_[2, 3], np.s_[5:8, 8:10], np.s_[::5, ::-7], np.s_[0:2, 0:3]]:
        selection = Selection.from_index(index, node.shape)
        np.testing.assert_array_equal(session.read(node, access, selection), values[index])
    session.cache.clear()
    before = session.fetcher.counters.bytes
    session.read(node, access, Selection.from_text("7,10", node.shape))
    small = session.fetcher.counters.bytes - before
    assert small < 300, "an index and one inner chunk"


def test_a_damaged_shard_index_is_an_error_of_that_shard(
    tmp_path: Path, session: Session, access: Access
) -> None:
    values = values_of((6, 18))
    bare = array_node((6, 18), (6, 9), codecs=SHARDS, format="zarr-v3", fill_value=np.int32(0))
    references = stored(values, (6, 9), tmp_path / "s.bin", CodecPipeline.for_array(bare).encode)
    data = bytearray((tmp_path / "s.bin").read_bytes())
    data[-3] ^= 1
    (tmp_path / "s.bin").write_bytes(data)
    node = array_node((6, 18), (6, 9), references=references, codecs=SHARDS, format="zarr-v3")
    pieces: list[EndedPart] = []
    out = np.zeros((5, 18), "<i4")
    session.read(node, access, Selection.from_text("0:5", node.shape), out=out, on_part=pieces.append)
    states = {piece.part.coords: piece.state for piece in pieces}
    assert states == {(0, 0): PartState.DONE, (0, 1): PartState.FAILED}
    np.testing.assert_array_equal(out[:, :9], values[:5, :9])


@pytest.fixture
def troubled(tmp_path: Path):
    """Nine chunks: one damaged, one cut short, one outside its file, one missing, one inline."""
    values = values_of((9, 4))
    references = stored(values, (1, 4), tmp_path / "t.bin", lambda chunk: zlib.compress(chunk.tobytes()))
    references[1, 0] = Inline(zlib.compress(values[1].tobytes()))
    references[2, 0] = Inline(b"not zlib at all")
    offset, length = _extent(references[3, 0])
    references[3, 0] = ByteRange("t.bin", offset, length - 3)
    references[4, 0] = ByteRange("t.bin", 10**6, 10)
    del references[5, 0]
    references[6, 0] = ByteRange("http://127.0.0.1:1/data", 0, 10)
    references[7, 0] = WholeFile("absent.bin")
    return values, array_node((9, 4), (1, 4), "<i4", references, codecs=ZLIB, fill_value=np.int32(-1))


def test_failed_chunks_are_told_and_the_rest_is_read(troubled, session: Session, access: Access) -> None:
    values, node = troubled
    pieces: dict[int, EndedPart] = {}
    out = np.full(node.shape, 99, "<i4")
    session.read(
        node,
        access,
        Selection.whole(node.shape),
        out=out,
        on_part=lambda piece: pieces.update({piece.part.coords[0]: piece}),
    )
    assert len(pieces) == 9
    failed = {row: piece.error for row, piece in pieces.items() if piece.state is PartState.FAILED}
    assert {row: str(error.kind) for row, error in failed.items()} == {
        2: "E_DECODE",
        3: "E_DECODE",
        4: "E_RANGE",
        6: "E_BLOCKED",
        7: "E_IO",
    }
    assert pieces[5].state is PartState.MISSING
    assert (out[5] == -1).all()
    for row in (0, 1, 8):
        np.testing.assert_array_equal(out[row], values[row])
    for row, error in failed.items():
        assert error.place.key == f"a/{row}.0"
        assert (error.place.url is None) == (row == 2)
    assert failed[4].place.start == 10**6
    assert failed[4].place.stop == 10**6 + 10


@pytest.mark.parametrize("row", [2, 3, 4, 6, 7])
def test_values_are_given_whole_or_not_at_all(troubled, session: Session, access: Access, row: int) -> None:
    _, node = troubled
    with pytest.raises(RefbrowserError) as caught:
        session.read(node, access, Selection.from_text(f"{row}:9", node.shape))
    assert caught.value.place.key is not None
    np.testing.assert_array_equal(
        session.read(node, access, Selection.from_text("8", node.shape)), troubled[0][8]
    )


@pytest.mark.parametrize("length", [639, 641, 0])
def test_an_uncompressed_chunk_of_the_wrong_size_is_an_error(
    tmp_path: Path, session: Session, access: Access, length: int
) -> None:
    (tmp_path / "r.bin").write_bytes(bytes(1000))
    node = array_node((10, 16), (10, 16), "<i4", {(0, 0): ByteRange("r.bin", 0, length)})
    for text in ["", "3:5"]:
        with pytest.raises(RefbrowserError) as caught:
            session.read(node, access, Selection.from_text(text, node.shape))
        assert caught.value.kind is ErrorKind.DECODE


@pytest.mark.parametrize("tiny", [0, read.TINY])
def test_values_are_written_before_a_piece_is_told(
    tmp_path: Path, session: Session, access: Access, monkeypatch: pytest.MonkeyPatch, tiny: int
) -> None:
    values = values_of((64, 64))
    references = stored(values, (8, 8), tmp_path / "p.bin", lambda chunk: zlib.compress(chunk.tobytes()))
    node = array_node((64, 64), (8, 8), "<i4", references, codecs=ZLIB)
    monkeypatch.setattr(read, "TINY", tiny)
    selection = Selection.from_index(np.s_[::-1, 3:60], node.shape)
    out = np.zeros(selection.shape, "<i4")
    wrong = []
    expected = selection.box(values[::-1, 3:60])

    def check(piece: EndedPart) -> None:
        if not np.array_equal(selection.box(out)[piece.part.target], expected[piece.part.target]):
            wrong.append(piece)

    session.read(node, access, selection, out=out, on_part=check)
    assert not wrong


def test_progress_counts_chunks_and_bytes(raw_array, session: Session, access: Access) -> None:
    _, node = raw_array
    told = []
    session.read(
        node,
        access,
        Selection.whole(node.shape),
        progress=lambda *counts, **more: told.append((counts, more)),
    )
    assert told[-1] == ((1, 1), {"read_bytes": 8000, "requests": 1})


def test_empty_selections_read_nothing(raw_array, session: Session, access: Access) -> None:
    _, node = raw_array
    assert session.read(node, access, Selection.from_text("5:5", node.shape)).shape == (0, 50)
    assert session.fetcher.counters.requests == 0


def test_an_array_of_text(session: Session, access: Access) -> None:
    import numcodecs

    data = numcodecs.VLenUTF8().encode(np.array(["a", "ß", ""], object))
    node = array_node(
        (5,), (3,), "O", {(0,): Inline(bytes(data))}, codecs=(CodecSpec("vlen-utf8"),), fill_value="x"
    )
    assert session.read(node, access, Selection.whole((5,))).tolist() == ["a", "ß", "", "x", "x"]


@pytest.fixture
def hand_overs(session: Session, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the tasks that the pool of the session is given."""
    sizes: list[int] = []
    acquire = session.pool.memory.acquire

    def counted(size: int, token: CancelToken) -> None:
        sizes.append(size)
        acquire(size, token)

    monkeypatch.setattr(session.pool.memory, "acquire", counted)
    return sizes


@pytest.mark.parametrize(("side", "expected"), [(32, 0), (33, 9)])
@pytest.mark.parametrize("inline", [False, True])
def test_tiny_chunks_are_decoded_without_a_hand_over(
    tmp_path: Path,
    session: Session,
    access: Access,
    hand_overs: list[int],
    monkeypatch: pytest.MonkeyPatch,
    side: int,
    expected: int,
    inline: bool,
) -> None:
    rests: list[int] = []
    here = threading.current_thread()
    monkeypatch.setattr(Rests, "after_work", lambda self: rests.append(threading.current_thread() is here))
    values = values_of((3 * side, 3 * side))
    path = tmp_path / "t.bin"
    references = stored(values, (side, side), path, lambda chunk: zlib.compress(chunk.tobytes()))
    if inline:
        data = path.read_bytes()
        for coords, (offset, length) in [(at, _extent(found)) for at, found in references.items()]:
            references[coords] = Inline(data[offset : offset + length])
    node = array_node(values.shape, (side, side), "<i4", references, codecs=ZLIB)
    np.testing.assert_array_equal(session.read(node, access, Selection.whole(node.shape)), values)
    assert len(hand_overs) == expected
    assert sum(rests) == 9 - expected, "each chunk that is decoded here may be followed by a rest"


def test_objects_are_decoded_in_the_pool_however_few(
    session: Session, access: Access, hand_overs: list[int]
) -> None:
    import numcodecs

    data = bytes(numcodecs.VLenUTF8().encode(np.array(["a" * 100], object)))
    node = array_node((1,), (1,), "O", {(0,): Inline(data)}, codecs=(CodecSpec("vlen-utf8"),), fill_value="")
    assert session.read(node, access, Selection.whole((1,))).tolist() == ["a" * 100]
    assert len(hand_overs) == 1


@pytest.mark.parametrize("inline", [False, True])
def test_no_tiny_chunk_is_decoded_after_a_cancel(
    tmp_path: Path, session: Session, access: Access, monkeypatch: pytest.MonkeyPatch, inline: bool
) -> None:
    values = values_of((500, 4))
    path = tmp_path / "c.bin"
    references = stored(values, (1, 4), path, lambda chunk: zlib.compress(chunk.tobytes()))
    if inline:
        references = {(row, 0): Inline(zlib.compress(values[row].tobytes())) for row in range(500)}
    node = array_node(values.shape, (1, 4), "<i4", references, codecs=ZLIB)
    decode, decoded = CodecPipeline.decode, []

    def counted(self: CodecPipeline, *arguments: object, **named: object) -> np.ndarray:
        decoded.append(self)
        return decode(self, *arguments, **named)

    monkeypatch.setattr(CodecPipeline, "decode", counted)
    token = CancelToken()
    with pytest.raises(Cancelled):
        session.read(
            node, access, Selection.whole(node.shape), on_part=lambda piece: token.cancel(), cancel=token
        )
    assert len(decoded) == 1


@pytest.mark.slow
def test_a_cancelled_read_ends_soon(tmp_path: Path, session: Session, access: Access) -> None:
    values = values_of((2000, 2048))
    references = stored(values, (1, 2048), tmp_path / "c.bin", lambda chunk: zlib.compress(chunk.tobytes()))
    node = array_node(values.shape, (1, 2048), "<i4", references, codecs=ZLIB)
    token = CancelToken()
    stopped: list[float] = []
    told = threading.Event()

    def slow(piece: EndedPart) -> None:
        told.set()
        time.sleep(0.01)

    def cancel() -> None:
        told.wait(5)
        stopped.append(time.monotonic())
        token.cancel()

    threading.Thread(target=cancel).start()
    with pytest.raises(Cancelled):
        session.read(node, access, Selection.whole(node.shape), on_part=slow, cancel=token)
    assert time.monotonic() - stopped[0] < 3
    assert session.read(node, access, Selection.from_text("0", node.shape)).tolist() == values[0].tolist()
