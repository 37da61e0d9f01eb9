"""Bytes that lie about their size, are cut off, go on, or are damaged: each an error, soon and cheap."""

import bz2
import gzip
import lzma
import struct
import time
import tracemalloc
import zlib
from itertools import product

import numcodecs
import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from refbrowser.errors import ErrorKind, RefbrowserError

SIZE = 4096
PLAIN = np.random.default_rng(1).integers(0, 4, SIZE, np.uint8).tobytes()
COMPRESSORS = [
    {"id": "zlib"},
    {"id": "gzip"},
    {"id": "zstd"},
    {"id": "lz4"},
    {"id": "blosc"},
    {"id": "blosc", "cname": "zstd", "shuffle": 0},
    {"id": "bz2"},
    {"id": "lzma"},
    {"id": "lzma", "format": 2},
]
CHECKED = [
    {"id": name} for name in ("crc32", "crc32c", "adler32", "fletcher32", "jenkins_lookup3", "zlib", "gzip")
]
CHECKED += [{"id": "bz2"}, {"id": "lzma"}]


def name(codec):
    return "-".join(str(value) for value in codec.values())


def fails(line, data):
    """Decode, which must fail with E_DECODE in under two seconds of CPU and 32 MiB."""
    began = time.thread_time()
    tracemalloc.start()
    try:
        with pytest.raises(RefbrowserError) as caught:
            line.decode(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.kind is ErrorKind.DECODE
    assert time.thread_time() - began < 2
    assert peak < 32 * 2**20


def encoded(codec, data):
    return bytes(numcodecs.compat.ensure_bytes(numcodecs.get_codec(dict(codec)).encode(data)))


@pytest.fixture
def chunk(pipeline):
    return lambda *codecs: pipeline("u1", list(codecs), (SIZE,))


@pytest.mark.slow
@looped("codec, size", product(COMPRESSORS, [0, 1, SIZE - 1, SIZE + 1, 2 * SIZE, 2**26]))
def test_another_size_than_declared(chunk, codec, size):
    if codec["id"] in ("bz2", "lzma"):
        size = min(size, 2**20)  # these are slow to write: the bombs below have more
    data = (
        encoded(codec, bytes(size))
        if size
        else encoded(codec, np.empty(0, np.uint8))
        if codec["id"] != "lz4"
        else b""
    )
    fails(chunk(codec), data)


@pytest.mark.parametrize("codec", COMPRESSORS, ids=name)
def test_cut_off(chunk, codec):
    data = encoded(codec, PLAIN)
    for stop in (0, 1, 3, 7, 12, 15, 17, len(data) // 2, len(data) - 5, len(data) - 1):
        fails(chunk(codec), data[:stop])


@looped("codec, tail", product(COMPRESSORS, [b"\0", b"\0" * 16, b"garbage at the end"]))
def test_something_follows(chunk, codec, tail):
    fails(chunk(codec), encoded(codec, PLAIN) + tail)


def test_something_follows_that_looks_like_the_end(chunk):
    size = struct.pack("<I", SIZE)
    fails(chunk({"id": "gzip"}), encoded({"id": "gzip"}, PLAIN) + b"\0\0\0\0" + size)
    frame = zstandard.ZstdCompressor(write_content_size=False).compress(PLAIN)
    assert chunk({"id": "zstd"}).decode(frame).tobytes() == PLAIN
    fails(chunk({"id": "zstd"}), frame + b"x")
    fails(chunk({"id": "zstd"}), frame + frame)


@pytest.mark.slow
@pytest.mark.parametrize("codec", COMPRESSORS, ids=name)
def test_large_chunks_too(pipeline, codec):
    size = 2**20
    plain = np.tile(np.frombuffer(PLAIN, np.uint8), size // SIZE)
    line = pipeline("u1", [codec], (size,))
    data = encoded(codec, plain)
    assert np.array_equal(line.decode(data), plain)
    fails(line, data[:-1])
    fails(line, data + b"x")
    fails(line, encoded(codec, plain[:-1]))
    fails(line, encoded(codec, np.append(plain, plain[:1])))


@pytest.mark.parametrize("codec", CHECKED, ids=name)
def test_every_changed_byte_is_found(chunk, codec):
    data = encoded(codec, PLAIN)
    step = max(1, len(data) // 40)
    for place in [*range(0, len(data), step), len(data) - 1]:
        damaged = bytearray(data)
        damaged[place] ^= 0x10
        try:
            values = chunk(codec).decode(bytes(damaged))
        except RefbrowserError as error:
            assert error.kind is ErrorKind.DECODE  # noqa: PT017 - some bytes of a header have no meaning
        else:
            assert values.tobytes() == PLAIN


@pytest.mark.parametrize("codec", COMPRESSORS, ids=name)
@given(damage=st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), min_size=1, max_size=8))
def test_random_damage_never_gives_another_size(pipeline, codec, damage):
    data = bytearray(encoded(codec, PLAIN))
    for place, change in damage:
        data[place % min(len(data), 64 if place % 2 else len(data))] ^= change
    try:
        values = pipeline("u1", [codec], (SIZE,)).decode(bytes(data))
    except RefbrowserError as error:
        assert error.kind is ErrorKind.DECODE  # noqa: PT017 - a few changes have no effect
    else:
        assert values.shape == (SIZE,)


def deflated(size, window):
    """Return zero bytes as zlib (window 15) or gzip (31) would write them: a block, said again and again."""
    step = 2**22
    line = zlib.compressobj(9, zlib.DEFLATED, window)
    head = line.compress(bytes(step)) + line.flush(zlib.Z_FULL_FLUSH)
    block = line.compress(bytes(step)) + line.flush(zlib.Z_FULL_FLUSH)
    # What ends a stream is a checksum of all: no reader comes as far.
    return head + block * (size // step - 1) + line.flush()


@pytest.mark.slow
@looped(
    "codec, bomb",
    [
        ("zlib", lambda: deflated(2**28, 15)),
        ("gzip", lambda: deflated(2**28, 31)),
        ("gzip", lambda: gzip.compress(bytes(2**16)) * 2000),
        ("bz2", lambda: bz2.compress(bytes(2**26))),
        ("bz2", lambda: bz2.compress(b"") * 5000),
        ("lzma", lambda: lzma.compress(bytes(2**26), preset=0)),
        ("zstd", lambda: zstandard.ZstdCompressor().compress(bytes(2**28))),
        ("zstd", lambda: zstandard.ZstdCompressor(write_content_size=False).compress(bytes(2**28))),
    ],
)
def test_bombs(chunk, codec, bomb):
    data = bomb()
    fails(chunk({"id": codec}), data)
    # Behind another codec the size is only bounded.
    fails(chunk({"id": "zlib"}, {"id": codec}), data)


@pytest.mark.parametrize("size", [0, SIZE - 1, SIZE + 1, 2**31 - 1, 2**32 - 1])
def test_sizes_announced_in_headers(chunk, size):
    fails(chunk({"id": "lz4"}), struct.pack("<I", size) + encoded({"id": "lz4"}, PLAIN)[4:])
    blosc = bytearray(encoded({"id": "blosc"}, PLAIN))
    blosc[4:8] = struct.pack("<I", size)
    fails(chunk({"id": "blosc"}), bytes(blosc))
    blosc = bytearray(encoded({"id": "blosc"}, PLAIN))
    blosc[12:16] = struct.pack("<I", size)
    fails(chunk({"id": "blosc"}), bytes(blosc))


@pytest.mark.parametrize("size", [0, 1, SIZE - 1, SIZE + 1])
def test_uncompressed_chunks_of_another_size(chunk, size):
    fails(chunk(), bytes(size))
    fails(chunk({"id": "shuffle", "elementsize": 4}), bytes(size))
    fails(chunk({"id": "base64"}), encoded({"id": "base64"}, bytes(size)))


def test_base64_that_is_not(chunk):
    good = encoded({"id": "base64"}, PLAIN)
    for bad in (good[:-1], b"\n" + good[1:], b"!" + good[1:], good + b"===="):
        fails(chunk({"id": "base64"}), bad)


def test_bits_that_do_not_fit(pipeline):
    line = pipeline("?", [{"id": "packbits"}], (10,))
    assert line.decode(b"\6\xff\xff").all()
    for bad in (
        b"",
        b"\6",
        b"\6\xff",
        b"\7\xff\xff",
        b"\5\xff\xff",
        b"\x08\xff\xff\xff",
        b"\xff\xff\xff",
        b"\6\xff\xff\xff",
        b"\x0e\xff\xff\xff",
    ):
        fails(line, bad)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\2\0",
        struct.pack("<I", 2**32 - 1),
        struct.pack("<I", 1) + struct.pack("<I", 0),
        struct.pack("<III", 10**8, 0, 0),
        struct.pack("<IIII", 3, 0, 0, 0),
        struct.pack("<III", 2, 2**31, 0),
        struct.pack("<III", 2, 2**32 - 1, 2**32 - 1),
        struct.pack("<III", 2, 1, 0),
        struct.pack("<III", 2, 0, 0) + b"x",
        struct.pack("<II", 2, 1) + b"\xff" + struct.pack("<I", 0),
    ],
)
def test_text_of_varying_length(pipeline, data):
    fails(pipeline("O", [{"id": "vlen-utf8"}], (2,)), data)
    if b"\xff" not in data[-5:-4]:
        fails(pipeline("O", [{"id": "vlen-bytes"}], (2,)), data)
        fails(pipeline("O", [{"id": "vlen-array", "dtype": "<i2"}], (2,)), data)


def test_arrays_of_half_elements(pipeline):
    fails(pipeline("O", [{"id": "vlen-array", "dtype": "<i2"}], (1,)), struct.pack("<II", 1, 3) + b"abc")


@given(st.binary(max_size=40))
def test_any_bytes_of_varying_length(pipeline, data):
    line = pipeline("O", [{"id": "vlen-bytes"}], (2,))
    try:
        values = line.decode(data)
    except RefbrowserError as error:
        assert error.kind is ErrorKind.DECODE  # noqa: PT017 - most are damaged, not all
    else:
        assert line.encode(values) == data


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "3",
        "[]",
        '["|O"]',
        '[1, 2, "|O", [3]]',
        '[1, "|O", [2]]',
        '[1, 2, "<i4", [2]]',
        '[1, 2, "|O", [-2]]',
        '[1, 2, "|O", "2"]',
        '[[1], "|O", [1, 2]]',
        '[1, 2, "|O", [1000000000000]]',
        '[1, 2, "|O", ' + "[" * 100_000,
        '[1, "|O", []]',
    ],
)
def test_json_that_does_not_fit(pipeline, text):
    fails(pipeline("O", [{"id": "json2"}], (2,)), text.encode())


def test_numbers_without_a_label(pipeline):
    fails(pipeline("<U1", [{"id": "categorize", "labels": ["a"]}], (2,)), b"\1\2")
    fails(pipeline("O", [{"id": "categorize", "labels": ["a"]}], (2,)), b"\1\2")
    fails(pipeline("O", [{"id": "categorize", "labels": ["a"]}], (2,)), b"\1")
    signed = {"id": "categorize", "labels": ["a"], "astype": "i1"}
    fails(pipeline("<U1", [signed], (2,)), b"\1\xff")
    fails(pipeline("O", [signed], (2,)), b"\1\xff")


def test_errors_name_the_codec_and_the_sizes(chunk):
    with pytest.raises(RefbrowserError, match=r"'zlib'.*ends early"):
        chunk({"id": "zlib"}).decode(encoded({"id": "zlib"}, PLAIN)[:-9])
    with pytest.raises(RefbrowserError, match=r"'zlib'.*more than 4096 bytes"):
        chunk({"id": "zlib"}).decode(encoded({"id": "zlib"}, bytes(5000)))
    with pytest.raises(RefbrowserError, match=r"12 bytes.*4096"):
        chunk().decode(bytes(12))


SHARD = {
    "chunk_shape": [SIZE // 4],
    "codecs": [{"name": "bytes"}, {"name": "zstd"}],
    "index_codecs": [{"name": "bytes"}, {"name": "crc32c"}],
}


@pytest.fixture
def shard(pipeline):
    return lambda **changes: pipeline(
        "u1", [{"name": "sharding_indexed", "configuration": SHARD | changes}], (SIZE,), version="zarr-v3"
    )


def with_index(line, data, row, entry):
    """The shard with another entry in its index, and the checksum that fits it."""
    layout = line.shard
    start, stop = layout.index_range(len(data))
    table = layout.index.decode(data[start:stop]).copy()
    table[row] = entry
    return data[:start] + layout.index.encode(table) + data[stop:]


@pytest.mark.parametrize("at", ["start", "end"])
def test_shards(shard, at):
    line = shard(index_location=at)
    data = line.encode(np.frombuffer(PLAIN, np.uint8))
    assert line.decode(data).tobytes() == PLAIN
    start, stop = line.shard.index_range(len(data))
    for place in range(start, stop):
        damaged = bytearray(data)
        damaged[place] ^= 1
        fails(line, bytes(damaged))
    for size in (0, 1, stop - start - 1, len(data) - 1):
        fails(line, data[:size])
    with pytest.raises(RefbrowserError, match="cannot hold the index"):
        line.shard.index_range(stop - start - 1)
    (offset, length) = line.shard.inner_ranges(data[start:stop], len(data))[1].tolist()
    entries = [(offset, length + 10**6), (len(data), 1), (2**63, 1), (1, 2**63), (2**64 - 2, 2**64 - 2)]
    entries += [
        (offset, 2**64 - 1),
        (2**64 - 1, length),
        (offset + 1, length),
        (offset, length - 1),
        (offset, 0),
    ]
    for entry in entries:
        fails(line, with_index(line, data, 1, entry))


def test_a_shard_that_names_one_chunk_again_and_again(shard):
    line = shard()
    data = line.encode(np.tile(np.frombuffer(PLAIN[: SIZE // 4], np.uint8), 4))
    start, stop = line.shard.index_range(len(data))
    first = line.shard.inner_ranges(data[start:stop], len(data))[0].tolist()
    for row in (1, 2, 3):
        data = with_index(line, data, row, first)
    assert line.decode(data).tobytes() == PLAIN[: SIZE // 4] * 4


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"chunk_shape": [3]}, ErrorKind.META),
        ({"chunk_shape": [SIZE * 2]}, ErrorKind.META),
        ({"chunk_shape": [0]}, ErrorKind.META),
        ({"chunk_shape": [4, 4]}, ErrorKind.META),
        ({"chunk_shape": None}, ErrorKind.META),
        ({"codecs": []}, ErrorKind.META),
        ({"codecs": None}, ErrorKind.META),
        ({"codecs": ["bytes", "grib"]}, ErrorKind.META),
        ({"index_codecs": ["bytes", "zstd"]}, ErrorKind.META),
        ({"index_codecs": ["crc32c"]}, ErrorKind.META),
        ({"index_location": "middle"}, ErrorKind.META),
    ],
)
def test_shards_that_cannot_be(shard, changes, kind):
    with pytest.raises(RefbrowserError) as caught:
        shard(**changes)
    assert caught.value.kind is kind


def test_every_side_of_a_shard_is_tiled(pipeline):
    configuration = SHARD | {"chunk_shape": [2, 3]}
    with pytest.raises(RefbrowserError, match="tiles the shard"):
        pipeline(
            "u1", [{"name": "sharding_indexed", "configuration": configuration}], (4, 4), version="zarr-v3"
        )


def test_shards_in_shards_in_shards(shard):
    inner = {"name": "sharding_indexed", "configuration": SHARD | {"chunk_shape": [4]}}
    assert shard(codecs=[inner]).shard.inner.shard is not None
    deeper = {"name": "sharding_indexed", "configuration": SHARD | {"chunk_shape": [8], "codecs": [inner]}}
    with pytest.raises(RefbrowserError) as caught:
        shard(codecs=[deeper])
    assert caught.value.kind is ErrorKind.BUDGET


def test_orders_of_codecs_that_are_not_supported(pipeline):
    transpose = {"name": "transpose", "configuration": {"order": [1, 0]}}
    wrong = [
        [{"name": "bytes"}, transpose],
        [{"name": "bytes"}, {"name": "bytes"}],
        [{"name": "zstd"}],
        [],
        [{"name": "bytes", "configuration": {"endian": "middle"}}],
        [{"name": "transpose", "configuration": {"order": [0, 0]}}, {"name": "bytes"}],
        [{"name": "vlen-utf8"}],
    ]
    for codecs in wrong:
        with pytest.raises(RefbrowserError) as caught:
            pipeline("<i4", codecs, (4, 4), version="zarr-v3")
        assert caught.value.kind is ErrorKind.META
