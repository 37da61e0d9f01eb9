"""Round trips, and the same results as numcodecs gives, for every codec of the table."""

import weakref
from dataclasses import replace
from importlib.util import find_spec

import numcodecs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from looped import looped

from refbrowser.codecs.pipeline import CodecPipeline, _known
from refbrowser.codecs.table import known_codecs
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, CodecSpec
from refbrowser.model.values import Chunks

INTEGERS = np.arange(-15, 15, dtype="<i4").reshape(6, 5)
FLOATS = np.linspace(-3, 5, 30, dtype="<f4").reshape(6, 5)

#: Codecs, an array, and whether what was lost must be looked for with a tolerance.
CASES = [
    ([{"id": "zlib", "level": 5}], INTEGERS),
    ([{"id": "zlib", "level": 0}], INTEGERS),
    ([{"id": "gzip", "level": 1}], INTEGERS),
    ([{"id": "zstd", "level": 3}], FLOATS),
    ([{"id": "zstd", "level": 3, "checksum": True}], FLOATS),
    ([{"id": "lz4", "acceleration": 1}], FLOATS),
    ([{"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}], FLOATS),
    ([{"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0}], INTEGERS),
    ([{"id": "blosc", "cname": "zlib", "clevel": 0, "shuffle": -1, "blocksize": 0}], INTEGERS),
    ([{"id": "bz2", "level": 5}], INTEGERS),
    ([{"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None}], INTEGERS),
    ([{"id": "lzma", "format": 2, "check": -1, "preset": 1, "filters": None}], INTEGERS),
    ([{"id": "lzma", "format": 3, "filters": [{"id": 33, "dict_size": 4096}]}], INTEGERS),
    ([{"id": "shuffle", "elementsize": 4}], INTEGERS),
    ([{"id": "shuffle", "elementsize": 4}, {"id": "zlib", "level": 5}], INTEGERS),
    ([{"id": "shuffle", "elementsize": 1}, {"id": "zlib", "level": 5}], INTEGERS.astype("i1")),
    ([{"id": "shuffle"}, {"id": "zlib"}, {"id": "fletcher32"}], FLOATS),
    ([{"id": "delta", "dtype": "<i4"}, {"id": "zstd"}], INTEGERS),
    ([{"id": "delta", "dtype": "<i4", "astype": "<i2"}, {"id": "blosc"}], INTEGERS),
    ([{"id": "delta", "dtype": ">i2"}], INTEGERS.astype(">i2")),
    ([{"id": "astype", "encode_dtype": "<i2", "decode_dtype": "<i4"}, {"id": "gzip"}], INTEGERS),
    ([{"id": "packbits"}], INTEGERS > 3),
    ([{"id": "packbits"}, {"id": "zlib"}], INTEGERS > 3),
    ([{"id": "crc32"}], INTEGERS),
    ([{"id": "crc32", "location": "end"}], INTEGERS),
    ([{"id": "crc32c"}], INTEGERS),
    ([{"id": "adler32"}], INTEGERS),
    ([{"id": "fletcher32"}], INTEGERS),
    ([{"id": "jenkins_lookup3"}], INTEGERS),
    ([{"id": "base64"}], INTEGERS),
    ([{"id": "zlib"}, {"id": "base64"}, {"id": "crc32"}], INTEGERS),
    (
        [{"id": "categorize", "labels": ["a", "bc"], "dtype": "<U2"}],
        np.array(["a", "bc", ""] * 10).reshape(6, 5),
    ),
]
LOSSY = [
    (
        [
            {"id": "fixedscaleoffset", "offset": -3, "scale": 1000, "dtype": "<f4", "astype": "<u2"},
            {"id": "zlib"},
        ],
        FLOATS,
        0.001,
    ),
    ([{"id": "quantize", "digits": 2, "dtype": "<f4", "astype": "<f2"}], FLOATS, 0.01),
    ([{"id": "bitround", "keepbits": 10}, {"id": "zstd"}], FLOATS, 0.01),
    ([{"id": "bitround", "keepbits": 10}], FLOATS.astype(">f8"), 0.01),
]
TEXTS = np.array(["", "é", "abc" * 30, "x", "\N{SNOWMAN}", "y"], object).reshape(2, 3)
OBJECTS = [
    ([{"id": "vlen-utf8"}], TEXTS),
    ([{"id": "vlen-utf8"}, {"id": "zstd"}, {"id": "crc32"}], TEXTS),
    ([{"id": "vlen-bytes"}, {"id": "zlib"}], np.array([b"", b"\0", b"abc"] * 2, object).reshape(2, 3)),
    ([{"id": "json2"}, {"id": "zlib"}], np.array([1, "a", None, 2.5, True, "é"], object).reshape(2, 3)),
    (
        [{"id": "categorize", "labels": ["", "é", "x"], "dtype": "|O"}],
        np.array(["é", "x"] * 3, object).reshape(2, 3),
    ),
]


def names(case):
    return "+".join(item["id"] for item in case) if isinstance(case, list) else ""


@looped("codecs, values, order", [(*case, order) for case in (*CASES, *OBJECTS) for order in "CF"])
def test_round_trip(pipeline, codecs, values, order):
    line = pipeline(values.dtype, codecs, values.shape, order)
    encoded = line.encode(values)
    decoded = line.decode(encoded)
    assert decoded.dtype == values.dtype
    assert np.array_equal(decoded, values)
    assert not line.is_raw
    target = np.zeros(values.shape, values.dtype)
    assert line.decode(encoded, target) is target
    assert np.array_equal(target, values)


@pytest.mark.parametrize(("codecs", "values", "tolerance"), LOSSY, ids=names)
def test_lossy_round_trip(pipeline, codecs, values, tolerance):
    line = pipeline(values.dtype, codecs, values.shape)
    decoded = line.decode(line.encode(values))
    assert decoded.dtype == values.dtype
    assert np.allclose(decoded, values, atol=tolerance)


# numcodecs rounds only floats of the machine's byte order.
@looped("codecs, values", [*CASES, *[case[:2] for case in LOSSY[:-1]]])
def test_what_numcodecs_writes_and_reads(pipeline, codecs, values):
    line = pipeline(values.dtype, codecs, values.shape)
    stored = values
    for codec in codecs:
        stored = numcodecs.get_codec(dict(codec)).encode(np.ascontiguousarray(stored))
    ours = line.decode(bytes(numcodecs.compat.ensure_bytes(stored)))

    def decoded_by_numcodecs(data):
        for codec in reversed(codecs):
            data = numcodecs.get_codec(dict(codec)).decode(data)
        return np.frombuffer(numcodecs.compat.ensure_bytes(data), values.dtype).reshape(values.shape)

    assert np.array_equal(ours, decoded_by_numcodecs(stored))
    assert np.array_equal(decoded_by_numcodecs(line.encode(values)), ours)


@pytest.mark.parametrize(("codecs", "values"), OBJECTS, ids=names)
def test_objects_as_numcodecs_writes_and_reads_them(pipeline, codecs, values):
    line = pipeline(values.dtype, codecs, values.shape)
    flat = values.reshape(-1)
    stored = flat
    for codec in codecs:
        stored = numcodecs.get_codec(dict(codec)).encode(stored)
    assert np.array_equal(line.decode(bytes(numcodecs.compat.ensure_bytes(stored))), values)
    data = line.encode(values)
    for codec in reversed(codecs):
        data = numcodecs.get_codec(dict(codec)).decode(data)
    assert np.array_equal(data, flat)


def test_arrays_of_varying_length(pipeline):
    values = np.empty(3, object)
    values[:] = [np.array([1, 2], "<i2"), np.array([], "<i2"), np.array([3], "<i2")]
    line = pipeline("O", [{"id": "vlen-array", "dtype": "<i2"}], (3,))
    stored = bytes(numcodecs.VLenArray("<i2").encode(values))
    assert line.encode(values) == stored
    for decoded, value in zip(line.decode(stored), values, strict=True):
        assert decoded.dtype == value.dtype
        assert np.array_equal(decoded, value)


@pytest.mark.slow
@given(
    hnp.arrays(
        st.sampled_from(["<i4", ">i2", "<f8", "S3", "<M8[s]", "?", [("a", ">i2"), ("b", "<f8")]]),
        hnp.array_shapes(min_dims=0, max_dims=3, max_side=6),
    ),
    st.sampled_from("CF"),
    st.lists(
        st.sampled_from(
            [
                {"id": "zlib"},
                {"id": "shuffle", "elementsize": 3},
                {"id": "fletcher32"},
                {"id": "zstd"},
                {"id": "bz2"},
            ]
        ),
        max_size=3,
    ),
)
def test_any_array_comes_back(pipeline, values, order, codecs):
    line = pipeline(values.dtype, codecs, values.shape, order)
    decoded = line.decode(line.encode(values))
    assert decoded.tobytes() == values.tobytes()
    assert decoded.shape == values.shape
    assert line.is_raw == (not codecs)


def test_raw_chunks_are_views(pipeline):
    line = pipeline(">i2", [], (2, 3), "F")
    data = np.arange(6, dtype=">i2").tobytes()
    decoded = line.decode(data)
    assert decoded.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert not decoded.flags.owndata
    assert line.is_raw
    assert line.decoded_size == 12


@pytest.mark.parametrize("codecs", [[{"id": "shuffle"}, {"id": "zlib"}], [{"id": "zstd"}], [{"id": "blosc"}]])
def test_decoding_writes_into_the_target(pipeline, codecs):
    values = np.arange(600, dtype="<i4").reshape(20, 30)
    line = pipeline("<i4", codecs, (20, 30))
    data = line.encode(values)
    whole = np.zeros((40, 30), "<i4")
    line.decode(data, whole[20:])
    assert np.array_equal(whole[20:], values)
    strided = np.zeros((20, 60), "<i4")
    line.decode(data, strided[:, ::2])
    assert np.array_equal(strided[:, ::2], values)
    other = np.zeros((20, 30), ">f8")
    line.decode(data, other)
    assert np.array_equal(other, values)


@pytest.mark.parametrize("size", [5, 11, 4096, 5 * 1024 * 1024 + 3])
@pytest.mark.parametrize("item_size", [2, 4, 12])
def test_shuffle_in_pieces(pipeline, size, item_size):
    data = np.random.default_rng(0).integers(0, 256, size, np.uint8)
    line = pipeline("u1", [{"id": "shuffle", "elementsize": item_size}], (size,))
    count = size // item_size
    planes = (
        data[: count * item_size].reshape(count, item_size).T.tobytes() + data[count * item_size :].tobytes()
    )
    assert line.encode(data) == planes
    assert np.array_equal(line.decode(planes), data)


def test_a_second_member_of_gzip_counts(pipeline):
    import gzip

    line = pipeline("u1", [{"id": "gzip"}], (6,))
    data = gzip.compress(b"abc") + gzip.compress(b"def")
    assert line.decode(data).tobytes() == b"abcdef"


def test_zstd_without_a_size_in_its_header(pipeline):
    import zstandard

    packer = zstandard.ZstdCompressor(write_content_size=False)
    line = pipeline("u1", [{"id": "zstd"}], (1000,))
    assert line.decode(packer.compress(b"a" * 1000)).tobytes() == b"a" * 1000
    for size in (999, 1001, 10**7):
        with pytest.raises(RefbrowserError) as caught:
            line.decode(packer.compress(b"a" * size))
        assert caught.value.kind is ErrorKind.DECODE


def test_the_table_is_what_it_is():
    assert set(known_codecs()) >= {item["id"] for codecs, *_ in [*CASES, *OBJECTS, *LOSSY] for item in codecs}
    assert "pickle" not in known_codecs()


@pytest.mark.parametrize(
    ("codec", "kind", "advice"),
    [
        ("FITSAscii", ErrorKind.META, "kerchunk"),
        ("imagecodecs_jpeg2k", ErrorKind.META, "imagecodecs"),
        ("imagecodecs_spng", ErrorKind.META, "imagecodecs"),
        ("pcodec", ErrorKind.META, "numcodecs[pcodec]"),
        ("numcodecs.zfpy", ErrorKind.META, "zfpy==1.0.1"),
        ("zfpy", ErrorKind.META, "zfpy==1.0.1"),
        ("hcc-dct", ErrorKind.META, "pip install healpix-compress brings it"),
        ("made_up", ErrorKind.META, "no installed package"),
        ("pickle", ErrorKind.UNSAFE, ""),
    ],
)
def test_unknown_codecs_say_who_brings_them(pipeline, monkeypatch, codec, kind, advice):
    # As where none of the packages that bring codecs is installed.
    monkeypatch.setattr("refbrowser.codecs.table.find_spec", lambda _: None)
    monkeypatch.setattr("refbrowser.codecs.table.lender_of", lambda *_: None)
    for version in ("zarr-v2", "zarr-v3"):
        with pytest.raises(RefbrowserError) as caught:
            pipeline("<i4", [{"id": codec}], version=version)
        assert caught.value.kind is kind
        assert advice in caught.value.advice
        assert codec.removeprefix("numcodecs.") in caught.value.message


def test_codecs_of_packages_that_are_not_installed_say_how_to_get_them(pipeline):
    if find_spec("pcodec") is not None:
        pytest.skip("the package is installed")
    with pytest.raises(RefbrowserError) as caught:
        pipeline("<i4", [{"id": "pcodec"}])
    assert caught.value.message == "codec 'pcodec' needs the package pcodec, which is not installed"
    assert caught.value.advice == "pip install 'numcodecs[pcodec]'"


def test_integers_are_not_rounded(pipeline):
    """As numcodecs decodes them; it was written by GDAL's tests."""
    line = pipeline("u1", [{"id": "bitround", "keepbits": 4}], (3,))
    values = np.array([1, 254, 255], "u1")
    assert line.decode(values.tobytes()).tolist() == values.tolist()
    assert line.encode(values) == values.tobytes()


@pytest.mark.parametrize(
    "codec",
    [
        {"id": "zlib", "level": 99},
        {"id": "zlib", "level": "5"},
        {"id": "delta", "dtype": "|O"},
        {"id": "delta", "dtype": ["<i4"]},
        {"id": "astype", "decode_dtype": "<i4"},
        {"id": "astype", "encode_dtype": "S3", "decode_dtype": "<i4"},
        {"id": "fixedscaleoffset", "offset": 0, "scale": 0, "dtype": "<f4"},
        {"id": "fixedscaleoffset", "offset": "1", "scale": 1, "dtype": "<f4"},
        {"id": "quantize", "digits": 1, "dtype": "<i4"},
        {"id": "bitround", "keepbits": 60},
        {"id": "lzma", "format": 3},
        {"id": "lzma", "format": 3, "filters": [{"id": 33, "dict_size": 2**32 - 1}]},
        {"id": "categorize", "labels": [1], "dtype": "<U2"},
        {"id": "categorize", "labels": ["a"], "dtype": "O"},
        {"id": "delta", "dtype": "<i8"},
        {"id": "blosc", "cname": "made_up"},
        {"id": "vlen-utf8"},
    ],
    ids=lambda codec: codec["id"],
)
def test_wrong_configurations_are_errors_of_metadata(pipeline, codec):
    with pytest.raises(RefbrowserError) as caught:
        pipeline("<i4", [codec], (3, 3))
    assert caught.value.kind is ErrorKind.META


def test_objects_need_a_codec_for_objects(pipeline):
    with pytest.raises(RefbrowserError) as caught:
        pipeline("O", [])
    assert caught.value.kind is ErrorKind.META
    with pytest.raises(RefbrowserError) as caught:
        pipeline("O", [{"id": "zlib"}])
    assert caught.value.kind is ErrorKind.META


def test_chunks_that_are_too_large_to_decode_whole(pipeline):
    side = LIMITS.chunk_size
    with pytest.raises(RefbrowserError) as caught:
        pipeline("u1", [{"id": "zlib"}], (side + 1,)).decode(b"\0")
    assert caught.value.kind is ErrorKind.BUDGET
    with pytest.raises(RefbrowserError) as caught:
        pipeline("u1", [{"id": "zlib"}], (side,)).decode(b"\0")
    assert caught.value.kind is ErrorKind.DECODE
    assert pipeline("u1", [], (10**15,)).is_raw


def test_only_so_many_codecs(pipeline):
    assert pipeline("u1", [{"id": "crc32"}] * LIMITS.filters).stages
    with pytest.raises(RefbrowserError) as caught:
        pipeline("u1", [{"id": "crc32"}] * (LIMITS.filters + 1))
    assert caught.value.kind is ErrorKind.BUDGET


def test_the_pipeline_of_an_array_is_made_once_and_kept_as_long_as_the_array() -> None:
    values = Chunks(grid=RegularChunkGrid((6, 5), (6, 5)), codecs=(CodecSpec("zlib", {}),))
    node = ArrayNode(path="/a", shape=(6, 5), type=DataType.of(np.dtype("<i4")), values=values)
    pipeline = CodecPipeline.for_array(node)
    assert CodecPipeline.for_array(node) is pipeline
    edited = replace(node, values=replace(values, codecs=()))
    assert CodecPipeline.for_array(edited).is_raw, "an edited array is another one"
    alive, count = weakref.ref(node), len(_known)
    del node
    assert alive() is None
    assert len(_known) == count - 1
