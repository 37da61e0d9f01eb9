"""Stores that zarr-python writes read to the values that were written, and ours read with it."""

import itertools

import numcodecs
import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import MemoryStore
from zarr_metadata import built
from zarr_versions import needs_partial_shards, needs_types_of_zarr

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import filled
from refbrowser.formats.zarr.documents import METADATA_NAMES
from refbrowser.model.selection import Selection

pytestmark = pytest.mark.filterwarnings("ignore")


def contents(store):
    return {key: value.to_bytes() for key, value in store._store_dict.items()}


def tree_of(store):
    return built({k: v for k, v in contents(store).items() if k.rpartition("/")[2] in METADATA_NAMES})


def read(store, path):
    """Read a whole array with our metadata, grid and codecs."""
    node = tree_of(store).find(path)
    assert node.error is None
    assert node.unreadable is None, node.unreadable
    line = CodecPipeline.for_array(node)
    data = contents(store)
    result = np.empty(node.shape, node.dtype)
    whole = Selection.whole(node.shape)
    for part in node.grid.parts(whole):
        stored = data.get((f"{path}/" if path else "") + node.chunk_keys.encode(part.coords))
        chunk = filled(line.shape, node.dtype, node.fill_value) if stored is None else line.decode(stored)
        result[part.target] = chunk[part.inside]
    return node, result


def same(ours, values):
    assert ours.shape == values.shape
    if ours.dtype.hasobject or values.dtype.hasobject or values.dtype.kind == "T":
        assert ours.tolist() == np.asarray(values, object).tolist()
    else:
        assert ours.astype(values.dtype).tobytes() == values.tobytes()


V2_COMPRESSORS = [
    None,
    numcodecs.Zlib(3),
    numcodecs.GZip(2),
    numcodecs.Zstd(2),
    numcodecs.Blosc("lz4", 5, 1),
    numcodecs.Blosc("zstd", 5, 2),
    numcodecs.LZ4(),
    numcodecs.BZ2(2),
    numcodecs.LZMA(),
]
V2_TYPES = [
    "?",
    "i1",
    "<i2",
    ">i4",
    "<u8",
    "<f2",
    ">f8",
    "<c8",
    "S4",
    "<U3",
    ">U3",
    "V3",
    "<M8[ns]",
    "<m8[D]",
]


@pytest.mark.parametrize("compressor", V2_COMPRESSORS, ids=lambda codec: codec.codec_id if codec else "none")
@pytest.mark.parametrize("order", "CF")
def test_v2_compressors(compressor, order):
    store = MemoryStore()
    values = np.random.default_rng(0).integers(-99, 99, (7, 10)).astype("<i4")
    array = zarr.create_array(
        store, name="a", shape=(7, 10), chunks=(3, 4), dtype="<i4", zarr_format=2, order=order,
        compressors=compressor, filters=[numcodecs.Delta("<i4")], fill_value=-1,
    )  # fmt: skip
    array[:] = values
    node, ours = read(store, "a")
    same(ours, values)
    assert node.order == order


@needs_types_of_zarr
@pytest.mark.parametrize("separator", "./")
@pytest.mark.parametrize("dtype", V2_TYPES)
def test_v2_types(dtype, separator):
    store = MemoryStore()
    values = np.frombuffer(np.random.default_rng(0).bytes(5 * 4 * 16), np.uint8)[
        : 20 * np.dtype(dtype).itemsize
    ]
    values = np.arange(20).astype(dtype) if dtype[0] in "?<>i" else values.view(dtype)
    values = values.reshape(5, 4)
    array = zarr.create_array(
        store, name="g/a", shape=(5, 4), chunks=(2, 3), dtype=dtype, zarr_format=2,
        chunk_key_encoding={"name": "v2", "separator": separator}, attributes={"units": "m"},
    )  # fmt: skip
    array[:3] = values[:3]
    node, ours = read(store, "g/a")
    same(ours, array[:])
    assert node.dtype == np.dtype(dtype)
    assert node.attributes == {"units": "m"}


def test_v2_structures():
    store = MemoryStore()
    dtype = np.dtype([("a", "<i4"), ("b", "S3"), ("c", "<f8")])
    values = np.array([(1, b"x", 2.5), (2, b"yz", -1)], dtype)
    array = zarr.create_array(store, name="a", shape=(3,), chunks=(2,), dtype=dtype, zarr_format=2)
    array[:2] = values
    node, ours = read(store, "a")
    assert node.dtype == dtype
    assert node.type.name == str(dtype)
    same(ours, array[:])


@pytest.mark.parametrize("version", [2, 3])
def test_text_of_varying_length(version):
    store = MemoryStore()
    array = zarr.create_array(store, name="a", shape=(5,), chunks=(2,), dtype=str, zarr_format=version)
    array[:4] = np.array(["a", "bé", "", "ccc"], object)
    node, ours = read(store, "a")
    assert node.type.name == "string"
    same(ours, array[:])


@needs_types_of_zarr
@pytest.mark.parametrize("version", [2, 3])
def test_bytes_of_varying_length(version):
    store = MemoryStore()
    from zarr.dtype import VariableLengthBytes

    dtype = VariableLengthBytes()
    array = zarr.create_array(store, name="a", shape=(5,), chunks=(2,), dtype=dtype, zarr_format=version)
    array[:4] = np.array([b"a", b"\0\xff", b"", b"ccc"], object)
    node, ours = read(store, "a")
    assert "bytes" in node.type.name
    same(ours, array[:])


V3_CODECS = [
    [BytesCodec()],
    [BytesCodec(endian="big")],
    [BytesCodec(), GzipCodec(level=3)],
    [BytesCodec(), ZstdCodec(level=3, checksum=True)],
    [BytesCodec(), BloscCodec(typesize=4, cname="lz4", shuffle="bitshuffle")],
    [BytesCodec(), Crc32cCodec()],
    [TransposeCodec(order=(1, 0)), BytesCodec(), ZstdCodec()],
    [TransposeCodec(order=(1, 0)), BytesCodec(endian="big"), Crc32cCodec()],
]
SHARDED = [
    ShardingCodec(chunk_shape=(2, 2)),
    ShardingCodec(chunk_shape=(3, 4), index_location="start", codecs=[BytesCodec(), GzipCodec()]),
    ShardingCodec(
        chunk_shape=(2, 4), index_codecs=[BytesCodec()], codecs=[TransposeCodec(order=(1, 0)), BytesCodec()]
    ),
    ShardingCodec(chunk_shape=(2, 4), codecs=[BytesCodec(endian="big"), ZstdCodec(), Crc32cCodec()]),
    ShardingCodec(chunk_shape=(6, 4), codecs=[ShardingCodec(chunk_shape=(3, 2)), Crc32cCodec()]),
]


def created(store, values, chunks, codecs, fill_value=-1):
    array = zarr.create(
        store=store, shape=values.shape, chunks=chunks, dtype=values.dtype, zarr_format=3, codecs=codecs,
        fill_value=fill_value, dimension_names=["y", "x"],
    )  # fmt: skip
    array[:] = values
    return array


@needs_partial_shards
@pytest.mark.parametrize(
    "codecs", [*V3_CODECS, *([shard] for shard in SHARDED)], ids=lambda codecs: type(codecs[0]).__name__
)
def test_v3_codecs(codecs):
    store = MemoryStore()
    values = np.full((13, 9), -1, "i4")
    values[5:, 2:] = np.random.default_rng(0).integers(-99, 99, (8, 7))
    created(store, values, (6, 8), codecs)
    node, ours = read(store, "")
    same(ours, values)
    assert node.dimensions == ("y", "x")
    assert node.chunk_keys.encode((1, 2)) == "c/1/2"
    assert (node.order == "F") == isinstance(codecs[0], TransposeCodec)


def test_a_transpose_of_three_dimensions():
    store = MemoryStore()
    values = np.arange(4 * 3 * 5, dtype="i2").reshape(4, 3, 5)
    array = zarr.create_array(
        store, shape=values.shape, chunks=(2, 3, 4), dtype="i2", filters=[TransposeCodec(order=(2, 0, 1))]
    )
    array[:] = values
    node, ours = read(store, "")
    same(ours, values)
    assert CodecPipeline.for_array(node).axes == (2, 0, 1)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_transposes_one_after_the_other(order):
    store = MemoryStore()
    values = np.arange(2 * 3 * 4, dtype="i2").reshape(2, 3, 4)
    filters = [TransposeCodec(order=order), TransposeCodec(order=(1, 2, 0))]
    array = zarr.create_array(store, shape=(2, 3, 4), chunks=(2, 3, 4), dtype="i2", filters=filters)
    array[:] = values
    same(read(store, "")[1], values)


NUMCODECS = [
    ("filters", {"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}}),
    ("filters", {"name": "numcodecs.delta", "configuration": {"dtype": "int32", "astype": "int16"}}),
    (
        "filters",
        {"name": "numcodecs.astype", "configuration": {"encode_dtype": "int16", "decode_dtype": "int32"}},
    ),
    ("compressors", {"name": "numcodecs.zlib", "configuration": {"level": 4}}),
    ("compressors", {"name": "numcodecs.bz2", "configuration": {"level": 4}}),
    ("compressors", {"name": "numcodecs.lz4", "configuration": {"acceleration": 4}}),
    ("compressors", {"name": "numcodecs.lzma", "configuration": {"preset": 4}}),
    ("compressors", {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}}),
    ("compressors", {"name": "numcodecs.zstd", "configuration": {"level": 4}}),
    ("compressors", {"name": "numcodecs.gzip", "configuration": {"level": 4}}),
    ("compressors", {"name": "numcodecs.blosc", "configuration": {"cname": "zstd", "shuffle": 1}}),
    ("compressors", {"name": "numcodecs.fletcher32", "configuration": {}}),
    ("compressors", {"name": "numcodecs.crc32", "configuration": {}}),
    ("compressors", {"name": "numcodecs.adler32", "configuration": {}}),
]


@pytest.mark.parametrize(
    ("role", "codec"), NUMCODECS, ids=lambda item: item["name"] if isinstance(item, dict) else ""
)
def test_codecs_of_numcodecs_in_v3(role, codec):
    store = MemoryStore()
    values = np.arange(-20, 22, dtype="i4").reshape(6, 7)
    array = zarr.create_array(store, shape=(6, 7), chunks=(4, 4), dtype="i4", fill_value=3, **{role: codec})
    array[:] = values
    same(read(store, "")[1], values)


def test_a_filter_before_big_endian_bytes():
    values = np.arange(-20, 22, dtype="<i4").reshape(6, 7)
    store = MemoryStore()
    filters = [{"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}}]
    zarr.create_array(
        store,
        shape=(6, 7),
        chunks=(6, 7),
        dtype="i4",
        filters=filters,
        serializer=BytesCodec(endian="big"),
        compressors=None,
    )
    node = tree_of(store).root
    line = CodecPipeline.for_array(node)
    stored = np.diff(values.reshape(-1), prepend=0).astype(">i4").tobytes()
    same(line.decode(stored), values)
    assert line.encode(values) == stored


def test_nested_shards_can_be_opened_one_by_one():
    store = MemoryStore()
    values = np.arange(12 * 8, dtype="i4").reshape(12, 8)
    created(
        store,
        values,
        (12, 8),
        [ShardingCodec(chunk_shape=(6, 4), codecs=[ShardingCodec(chunk_shape=(3, 2))])],
    )
    layout = CodecPipeline.for_array(tree_of(store).root).shard
    data = contents(store)["c/0/0"]
    for _ in range(2):
        start, stop = layout.index_range(len(data))
        (offset, length) = layout.inner_ranges(data[start:stop], len(data))[3]
        data, pipeline = data[offset : offset + length], layout.inner
        layout = pipeline.shard
    assert layout is None
    assert np.array_equal(pipeline.decode(data), values[9:12, 6:8])


@needs_partial_shards
@pytest.mark.parametrize("shard", SHARDED, ids=range(len(SHARDED)))
def test_inner_chunks_that_are_not_stored(shard):
    store = MemoryStore()
    values = np.full((6, 8), -1, "i4")
    values[0, 0] = 5
    created(store, values, (6, 8), [shard])
    line = CodecPipeline.for_array(tree_of(store).root)
    data = contents(store)["c/0/0"]
    layout = line.shard
    start, stop = layout.index_range(len(data))
    ranges = layout.inner_ranges(data[start:stop], len(data))
    assert len(ranges) == layout.grid.size
    assert (ranges[:, 0] >= 0).sum() == 1
    same(line.decode(data), values)


@pytest.mark.parametrize(
    "codecs", [*V3_CODECS, *([shard] for shard in SHARDED)], ids=range(len(V3_CODECS) + len(SHARDED))
)
def test_zarr_python_reads_what_we_encode(codecs):
    store = MemoryStore()
    values = np.random.default_rng(0).integers(-2, 1, (12, 8)).astype("i4")
    values[:6] = -1
    values[5, 7] = 0
    array = created(store, np.zeros((12, 8), "i4"), (6, 8), codecs)
    line = CodecPipeline.for_array(tree_of(store).root)
    make = default_buffer_prototype().buffer.from_bytes
    for row in range(2):
        store._store_dict[f"c/{row}/0"] = make(line.encode(values[row * 6 : row * 6 + 6]))
    assert np.array_equal(array[:], values)


@pytest.mark.slow
@given(
    hnp.arrays(
        st.sampled_from(["<i2", "<f8", "?", "<c16", "<M8[s]"]), hnp.array_shapes(max_dims=3, max_side=7)
    ),
    st.integers(1, 4),
    st.sampled_from([2, 3]),
    st.data(),
)
def test_any_array_and_any_selection(values, side, version, data):
    store = MemoryStore()
    array = zarr.create_array(
        store, shape=values.shape, chunks=(side,) * values.ndim, dtype=values.dtype, zarr_format=version
    )
    array[...] = values
    node, ours = read(store, "")
    same(ours, values)
    index = data.draw(hnp.basic_indices(values.shape, allow_newaxis=False))
    selection = Selection.from_index(index, values.shape)
    result = np.empty(selection.shape, node.dtype)
    line, stored = CodecPipeline.for_array(node), contents(store)
    for part in node.grid.parts(selection):
        chunk = stored.get(node.chunk_keys.encode(part.coords))
        chunk = filled(line.shape, node.dtype, node.fill_value) if chunk is None else line.decode(chunk)
        selection.box(result)[part.target] = chunk[part.inside]
    same(result, np.asarray(values[index]))


@needs_types_of_zarr
@pytest.mark.parametrize(
    ("version", "dtype", "fill"),
    [
        *((version, dtype, np.nan) for version in (2, 3) for dtype in ("<f4", "<f8", "<c8")),
        *((version, dtype, -np.inf) for version in (2, 3) for dtype in ("<f4", "<f8")),
        *((version, "<c8", 1 - 2j) for version in (2, 3)),
        *((version, "<U3", "é") for version in (2, 3)),
        *((version, "S3", b"ab") for version in (2, 3)),
        *((version, "<M8[s]", np.datetime64("NaT")) for version in (2, 3)),
        *((version, "<m8[ns]", np.timedelta64(3, "ns")) for version in (2, 3)),
        *((version, "?", True) for version in (2, 3)),
        (3, "V2", b"ab"),
        (3, "u1", 255),
    ],
)
def test_fill_values(version, dtype, fill):
    store = MemoryStore()
    array = zarr.create_array(
        store, shape=(2,), chunks=(2,), dtype=dtype, zarr_format=version, fill_value=fill
    )
    same(read(store, "")[1], array[:])


def test_the_root_of_a_store_and_consolidated_metadata():
    for version in (2, 3):
        store = MemoryStore()
        root = zarr.create_group(store, zarr_format=version, attributes={"title": "t"})
        root.create_array("g/a", shape=(2,), dtype="i2")
        root.create_array("b", shape=(2,), dtype="i2")
        zarr.consolidate_metadata(store, zarr_format=version)
        tree = tree_of(store)
        assert tree.findings == ()
        assert {node.path for node in tree.walk()} == {"/", "/g", "/g/a", "/b"}
        assert tree.root.attributes == {"title": "t"}
        only = {key: value for key, value in contents(store).items() if key in (".zmetadata", "zarr.json")}
        tree = built(only)
        assert {node.path for node in tree.walk()} == {"/", "/g", "/g/a", "/b"}
        assert tree.findings == ()
