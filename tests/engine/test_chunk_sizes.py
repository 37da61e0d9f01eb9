"""What is larger than any chunk of its array is refused by its size, before its bytes are read or made."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from collections.abc import Iterator
from concurrent.futures import thread
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import examples
from engine_arrays import array_node
from hypothesis import given, settings
from hypothesis import strategies as st
from servers.http_server import Fault, HttpServer

import refbrowser
from refbrowser.cli.program import main
from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.reading import chunks as read
from refbrowser.engine.reading import members
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.model.nodes import CodecSpec
from refbrowser.model.reference import ByteRange, Reference, WholeFile
from refbrowser.model.selection import Selection

MIB = 1 << 20
LARGE = 8 * MIB
#: What reading a refused chunk may take at most; modules that are imported for it count, but for those that
#: the first read imports.
LITTLE = 5 * MIB
_ = read, thread
CODECS = {
    "none": (),
    "zlib": (CodecSpec("zlib", {"level": 1}),),
    "gzip": (CodecSpec("gzip", {"level": 1}),),
    "zstd": (CodecSpec("zstd", {"level": 1}),),
    "lz4": (CodecSpec("lz4", {}),),
    "blosc": (CodecSpec("blosc", {"cname": "zstd"}),),
    "bz2": (CodecSpec("bz2", {"level": 1}),),
    "lzma": (CodecSpec("lzma", {}),),
    "shuffle and zlib": (CodecSpec("shuffle", {"elementsize": 4}), CodecSpec("zlib", {"level": 1})),
    "checksum": (CodecSpec("crc32", {}),),
}


def sharded(inner: int) -> tuple[CodecSpec, ...]:
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    shards = {"chunk_shape": [inner], "codecs": [little, {"name": "gzip"}], "index_codecs": [little]}
    return (CodecSpec("sharding_indexed", shards),)


@contextmanager
def taking_little() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < LITTLE
    finally:
        tracemalloc.stop()


def refused(session: Session, access: Access, reference: Reference, **options: Any) -> RefbrowserError:
    node = array_node((4,), (4,), references={(0,): reference}, **options)
    before = session.fetcher.counters.bytes
    with pytest.raises(RefbrowserError) as caught:
        session.read(node, access, Selection.whole((4,)))
    assert session.fetcher.counters.bytes - before < 200_000
    assert str(LARGE) in caught.value.message or "longer than" in caught.value.message
    return caught.value


def test_files_and_ranges_larger_than_any_chunk_are_not_read(tmp_path: Path, session: Session) -> None:
    with (tmp_path / "x").open("wb") as stream:
        stream.truncate(LARGE)
    access = Access.for_document(tmp_path / "d.json")
    for codecs in CODECS.values():
        for reference in (WholeFile("x"), ByteRange("x", 0, LARGE)):
            with taking_little():
                error = refused(session, access, reference, codecs=codecs)
            assert error.kind is ErrorKind.DECODE
            assert error.place.key == "a/0"
    error = refused(session, access, WholeFile("x"), codecs=sharded(2), format="zarr-v3")
    assert error.kind is ErrorKind.DECODE


def test_objects_of_servers_are_refused_by_what_is_announced_or_while_they_come(session: Session) -> None:
    with HttpServer({"/x": bytes(LARGE)}) as server:
        access = Access.for_document(server.url("/d.json"), allow=[server.origin])
        for fault in (None, Fault("chunked", 100_000), Fault("no_length")):
            server.faults.pop("/x", None)
            if fault is not None:
                server.faults["/x"] = fault
            error = refused(session, access, WholeFile(server.url("/x")), codecs=CODECS["zlib"])
            assert error.kind is ErrorKind.DECODE, fault


def test_a_shard_that_holds_what_others_replaced_is_read_by_its_index(
    tmp_path: Path, session: Session
) -> None:
    values = np.arange(4, dtype="<i4")
    inner = CodecPipeline.for_array(array_node((2,), (2,), codecs=(CodecSpec("gzip", {}),)))
    dead, chunks = bytes(LARGE), [inner.encode(values[:2]), inner.encode(values[2:])]
    index = np.array([[LARGE, len(chunks[0])], [LARGE + len(chunks[0]), len(chunks[1])]], "<u8")
    shard = dead + b"".join(chunks) + index.tobytes()
    (tmp_path / "x").write_bytes(shard)
    references = {(0,): ByteRange("x", 0, len(shard))}
    node = array_node((4,), (4,), references=references, codecs=sharded(2), format="zarr-v3")
    access = Access.for_document(tmp_path / "d.json")
    with taking_little():
        np.testing.assert_array_equal(session.read(node, access, Selection.whole((4,))), values)


@pytest.mark.parametrize("name", CODECS)
@given(data=st.binary(min_size=64, max_size=64), repeats=st.integers(1, 200), stored=st.booleans())
@settings(max_examples=examples(15), deadline=None)
def test_no_sound_chunk_is_larger(name: str, data: bytes, repeats: int, stored: bool) -> None:
    """Also where nothing shrinks: random bytes, and levels that only store."""
    plain = np.frombuffer(data * repeats, "u1")
    values = np.random.default_rng(0).integers(0, 256, plain.size, "u1") if stored else plain
    codecs = tuple(
        CodecSpec(
            each.name, {**each.configuration, **({"level": 0} if stored and each.name == "zlib" else {})}
        )
        for each in CODECS[name]
    )
    node = array_node((plain.size // 4,), (plain.size // 4,), codecs=codecs)
    pipeline = CodecPipeline.for_array(node)
    chunk = pipeline.encode(values.view("<i4"))
    assert len(chunk) <= pipeline.stored_most
    np.testing.assert_array_equal(pipeline.decode(chunk), values.view("<i4"))


def zipped(folder: Path, packed: int, data: bytes, compressor: Any) -> Path:
    path = folder / "s.zarr.zip"
    metadata = {
        "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "compressor": compressor,
        "filters": None, "order": "C", "fill_value": 0,
    }  # fmt: skip
    with zipfile.ZipFile(path, "w", packed) as archive:
        archive.writestr(".zgroup", '{"zarr_format": 2}')
        archive.writestr("a/.zarray", json.dumps(metadata))
        archive.writestr("a/0", data)
    return path


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("compressor", [None, {"id": "zlib", "level": 1}])
def test_members_of_archives_that_are_no_chunk_are_not_unpacked(
    tmp_path: Path, packed: int, compressor: Any
) -> None:
    path = zipped(tmp_path, packed, bytes(LARGE), compressor)
    with refbrowser.open(path) as dataset:
        with taking_little(), pytest.raises(RefbrowserError, match=str(LARGE)) as caught:
            dataset["a"][...]
        assert caught.value.kind is ErrorKind.DECODE


@pytest.mark.slow
@pytest.mark.parametrize("packed", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_small_part_of_a_large_member_is_held_alone_and_confirmed(
    tmp_path: Path, packed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, "BLOCK", MIB)
    data = np.arange(LARGE // 4, dtype="<i4") * 7 % 1013
    path = zipped(tmp_path, packed, data.tobytes(), None)
    part = [f"zip://a/0::{path.name}", 4 * 100_000, 16]
    metadata = zipfile.ZipFile(path).read("a/.zarray").decode()
    document = tmp_path / "d.json"
    refs = {".zgroup": '{"zarr_format": 2}', "a/.zarray": metadata, "a/0": part}
    document.write_text(json.dumps(refs))
    wanted = data[100_000:100_004]
    stored = zipfile.ZipFile(path).getinfo("a/0").compress_size
    for _ in range(2):
        with refbrowser.open(document) as dataset:
            tracemalloc.start()
            np.testing.assert_array_equal(dataset["a"][...], wanted)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            # LZMA keeps a dictionary as large as what it makes.
            assert peak < LITTLE + 2 * stored + (LARGE if packed == zipfile.ZIP_LZMA else 0)
    damaged = bytearray(path.read_bytes())
    at = damaged.rindex(b"PK\x01\x02")
    damaged[at + 16] ^= 1
    path.write_bytes(damaged)
    with refbrowser.open(document) as dataset, pytest.raises(RefbrowserError, match="CRC-32"):
        dataset["a"][...]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["explain", "zarr-v2", "ncstream"])
def test_what_explains_or_copies_chunks_reads_none_that_is_too_large(
    tmp_path: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "x").open("wb") as stream:
        stream.truncate(LARGE)
    metadata = {
        "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": ">f4", "filters": None, "order": "C",
        "compressor": {"id": "zlib", "level": 1}, "fill_value": 0,
    }  # fmt: skip
    path = tmp_path / "d.json"
    verb = {"explain": ["explain", str(path), "a/0"]}.get(
        target, ["export", str(path), "--codec", "keep", "--to", target]
    )
    for number, reference in enumerate((["x"], ["x", 0, LARGE])):
        refs = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(metadata), "a/0": reference}
        path.write_text(json.dumps(refs))
        arguments = verb if target == "explain" else [*verb, str(tmp_path / f"out{number}")]
        # Modules that are loaded for it are no part of it.
        path.write_text(json.dumps(refs | {"a/0": "abc"}))
        main(arguments)
        path.write_text(json.dumps(refs))
        capsys.readouterr()
        with taking_little():
            code = main(arguments)
        shown = capsys.readouterr()
        assert "its shape, type and codecs take" in shown.out + shown.err, reference
        assert code == (0 if target == "explain" else 2), shown
