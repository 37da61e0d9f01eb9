"""Stores of the later drafts, in the layouts that the drafts have and that zarr-python 2 wrote."""

import gzip

import numpy as np
import pytest
from draft_documents import built_later, messages, opened, warnings_of

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.formats.store_rules import LATER_DRAFT
from refbrowser.model.nodes import CodecSpec

CORE = "https://purl.org/zarr/spec/protocol/core/3.0"
CODEC = "https://purl.org/zarr/spec/codec/"
#: As zarr-python 2.18 writes it.
ENTRY = {"extensions": [], "metadata_encoding": CORE, "metadata_key_suffix": ".json", "zarr_format": CORE}
GZIP = {"codec": f"{CODEC}gzip/1.0", "configuration": {"level": 1}}
VALUES = np.arange(24, dtype="<i4").reshape(4, 6)


def later_json(**changes):
    document = {
        "attributes": {},
        "chunk_grid": {"chunk_shape": [2, 3], "separator": "/", "type": "regular"},
        "chunk_memory_layout": "C",
        "compressor": GZIP,
        "data_type": "<i4",
        "extensions": [],
        "fill_value": 0,
        "shape": [4, 6],
    }
    return {name: value for name, value in (document | changes).items() if value is not Ellipsis}


def chunks_of(prefix, spelled, encode=lambda data: gzip.compress(data), order="C"):
    return {
        prefix + spelled.format(i, j): encode(VALUES[2 * i : 2 * i + 2, 3 * j : 3 * j + 3].tobytes(order))
        for i in range(2)
        for j in range(2)
    }


def store(document, chunks, **more):
    return {
        "zarr.json": ENTRY,
        "meta/root.group.json": {"attributes": {"t": 1}},
        "meta/root/g/a.array.json": document,
        **chunks,
        **more,
    }


def test_a_store_of_zarr_python_2(tmp_path):
    keys = store(later_json(), chunks_of("data/root/g/a/", "c{}/{}"))
    with opened(keys, tmp_path) as dataset:
        assert dataset.hierarchy.flavour == LATER_DRAFT
        assert dataset.hierarchy.findings == ()
        assert dataset.attrs == {"t": 1}
        node = dataset["/g/a"].node
        assert node.codecs == (CodecSpec("gzip", {"level": 1}),)
        assert node.key_prefix == "data/root/g/a/"
        assert np.array_equal(dataset["/g/a"][...], VALUES)
        assert dataset["/g/a"].node.manifest.key((1, 0)) == "data/root/g/a/c1/0"


def test_its_other_separator_and_layout(tmp_path):
    grid = {"chunk_shape": [2, 3], "separator": ".", "type": "regular"}
    document = later_json(chunk_grid=grid, chunk_memory_layout="F", compressor=..., dimension_separator=".")
    chunks = chunks_of("data/root/g/a/", "c{}.{}", lambda data: data, "F")
    with opened(store(document, chunks), tmp_path) as dataset:
        assert np.array_equal(dataset["/g/a"][...], VALUES)


def test_its_filters_are_no_attribute(tmp_path):
    delta = {"id": "delta", "dtype": "<i4", "astype": "<i4"}
    document = later_json(attributes={"filters": [delta], "units": "K"})

    def encode(data):
        values = np.frombuffer(data, "<i4")
        return gzip.compress(np.diff(values, prepend=values.dtype.type(0)).astype("<i4").tobytes())

    with opened(store(document, chunks_of("data/root/g/a/", "c{}/{}", encode)), tmp_path) as dataset:
        assert dataset["/g/a"].attrs == {"units": "K"}
        assert dataset["/g/a"].node.internal_attributes == {"filters": [delta]}
        assert np.array_equal(dataset["/g/a"][...], VALUES)


@pytest.mark.parametrize("value", [[], ["x"], [{"no": "id"}], "delta", {"id": "delta"}])
def test_an_attribute_that_is_named_like_its_filters(value):
    node = built_later(
        {"zarr.json": ENTRY, "meta/root/a.array.json": later_json(attributes={"filters": value})}
    )
    assert node.find("/a").attributes == {"filters": value}
    assert node.find("/a").unreadable is None


@pytest.mark.parametrize("key", ["c0", "c", "0"])
def test_chunks_without_coordinates(key, tmp_path):
    grid = {"chunk_shape": [], "separator": "/", "type": "regular"}
    document = later_json(shape=[], chunk_grid=grid, compressor=...)
    keys = {"zarr.json": ENTRY, "meta/root/z.array.json": document, f"data/root/z/{key}": b"\7\0\0\0"}
    with opened(keys, tmp_path) as dataset:
        assert dataset["/z"][()] == 7


def test_a_root_array(tmp_path):
    keys = {"zarr.json": ENTRY, "meta/root.array.json": later_json(), **chunks_of("data/root/", "c{}/{}")}
    with opened(keys, tmp_path) as dataset:
        assert np.array_equal(dataset["/"][...], VALUES)


def test_chunk_keys_of_june_2019(tmp_path):
    grid = {"chunk_shape": [2, 3], "type": "regular"}
    keys = store(later_json(chunk_grid=grid), chunks_of("data/root/g/a/", "{}.{}"))
    with opened(keys, tmp_path) as dataset:
        assert np.array_equal(dataset["/g/a"][...], VALUES)


def test_metadata_keys_without_a_suffix():
    entry = {**ENTRY, "metadata_key_suffix": ""}
    for first in ({"zarr.json": entry}, {}):
        tree = built_later(
            {**first, "meta/root.group": {"attributes": {}}, "meta/root/a.array": later_json()}
        )
        assert tree.find("/a").shape == (4, 6)
        assert tree.findings == ()


def test_extensions_of_data_types():
    base = "https://zarr-specs.readthedocs.io/en/core-protocol-v3.0-dev/protocol/extensions/"
    latest = "https://zarr-specs.readthedocs.io/en/latest/extensions/data-types/"
    written = [
        (f"{base}complex-dtypes/v1.0.html", "<c16", [0.0, "NaN"]),
        (f"{latest}datetime/v1.0.html", "<M8[s]", 0),
        ("TODO: bytestring array protocol URL", "|S5", ""),
        ("TODO: unicode array protocol URL", "<U3", ""),
        ("TODO: structured array protocol URL", [["a", "<i4"], ["b", "<f8"]], "AAAAAAAAAAAAAAAA"),
    ]
    for extension, kind, fill in written:
        document = later_json(
            data_type={"extension": extension, "fallback": None, "type": kind}, fill_value=fill
        )
        tree = built_later({"zarr.json": ENTRY, "meta/root/a.array.json": document})
        assert tree.findings == (), kind
        assert tree.find("/a").unreadable is None


@pytest.mark.parametrize("name", [">u2", ">u4", ">u8", "bool", "i1", "u1", "<f2"])
def test_types_that_are_part_of_it_by_then(name):
    tree = built_later({"zarr.json": ENTRY, "meta/root/a.array.json": later_json(data_type=name)})
    assert tree.findings == ()
    assert tree.find("/a").dtype == np.dtype(name)


def test_documents_of_2022(tmp_path):
    document = later_json(
        data_type="int32",
        compressor=...,
        chunk_memory_layout=...,
        dimension_names=["y", "x"],
        codecs=[
            {"name": "transpose", "configuration": {"order": "F"}},
            {"name": "endian", "configuration": {"endian": "big"}},
            {"name": "gzip", "configuration": {"level": 1}},
        ],
    )

    def encode(data):
        return gzip.compress(np.frombuffer(data, "<i4").astype(">i4").tobytes())

    keys = store(document, chunks_of("data/root/g/a/", "c{}/{}", encode, "F"))
    with opened(keys, tmp_path) as dataset:
        assert dataset["/g/a"].dimensions == ("y", "x")
        assert np.array_equal(dataset["/g/a"][...], VALUES)
    document = later_json(compressor=..., codecs=[GZIP])
    with opened(store(document, chunks_of("data/root/g/a/", "c{}/{}")), tmp_path) as dataset:
        assert np.array_equal(dataset["/g/a"][...], VALUES)


def test_an_entry_document_that_closes_the_store():
    must = [{"extension": "http://example.org/x", "must_understand": True}]
    entries = [
        {**ENTRY, "extensions": must},
        {**ENTRY, "zarr_format": CORE.replace("3.0", "4.0")},
        {**ENTRY, "metadata_key_suffix": "/x"},
        "{not json",
    ]
    for entry in entries:
        tree = built_later({"zarr.json": entry, "meta/root/a.array.json": later_json()})
        assert tree.root.error.place.key == "zarr.json"
        assert list(tree.walk()) == [tree.root]
        assert messages(tree, Severity.FAULT)


def test_an_encoding_that_is_not_known_is_read_as_json():
    entry = {**ENTRY, "metadata_encoding": "http://example.org/xml"}
    tree = built_later({"zarr.json": entry, "meta/root/a.array.json": later_json()})
    assert tree.find("/a").unreadable is None
    assert "encoding" in warnings_of(tree)[0]


def test_one_broken_document_is_one_broken_node():
    tree = built_later(
        {
            "zarr.json": ENTRY,
            "meta/root/a.array.json": later_json(),
            "meta/root/b.array.json": "{",
            "meta/root/c.array.json": later_json(
                compressor={"codec": f"{CODEC}zlib/1.0", "configuration": 5}
            ),
            "meta/root/d.array.json": later_json(compressor={"codec": "http://example.org/x"}),
            "meta/root/e.array.json": later_json(codecs=5),
        }
    )
    assert tree.find("/a").unreadable is None
    assert tree.find("/b").error.kind is ErrorKind.JSON
    assert tree.find("/c").unreadable is not None
    assert tree.find("/d").unreadable is None
    assert tree.find("/e").unreadable is not None
    assert any("http://example.org/x" in message for message in warnings_of(tree))


@pytest.mark.parametrize(
    "codec",
    [
        {"name": "transpose", "configuration": {"order": 5}},
        {"name": "transpose", "configuration": {"order": [1, "x"]}},
        {"name": "transpose", "configuration": 5},
        {"name": "transpose"},
        {"name": "endian", "configuration": {"endian": "middle"}},
        {"name": 5},
        {"name": "gzip", "configuration": [1]},
        "gzip",
    ],
)
def test_codecs_of_2022_that_are_wrong(codec):
    document = later_json(compressor=..., chunk_memory_layout=..., codecs=[codec])
    tree = built_later({"zarr.json": ENTRY, "meta/root/a.array.json": document})
    assert tree.find("/a").shape == (4, 6)
    assert tree.find("/a").unreadable.kind is ErrorKind.META


def test_parts_of_its_arrays_are_no_references(tmp_path):
    keys = store(later_json(), chunks_of("data/root/g/a/", "c{}/{}"))
    with opened(keys, tmp_path) as dataset:
        with pytest.raises(RefbrowserError, match="Zarr v3 draft of 2020 cannot be written") as caught:
            refbrowser.export(dataset, tmp_path / "a.json", format="refs-v0", arrays={"/g/a": np.s_[:2]})
        assert caught.value.kind is ErrorKind.USAGE
        refbrowser.export(dataset, tmp_path / "b.json", format="refs-v0", arrays=["/g/a"])
    assert not (tmp_path / "a.json").exists()
