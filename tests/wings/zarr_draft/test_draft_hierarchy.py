"""Nodes of a store of the draft of 2019: implied groups, clashes, roots, and their chunks."""

import json
import zipfile
import zlib

import numpy as np
import pytest
from draft_documents import (
    CODEC,
    array_json,
    built,
    document_of,
    group_json,
    gzipped,
    messages,
    opened,
    warnings_of,
)

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.formats.references import hierarchy_of, open_references
from refbrowser.formats.zarr.keys import ChunkKey, KeyClassifier, MetadataKey, StrayKey
from refbrowser.limits import LIMITS


def paths(tree):
    return [(type(node).__name__[0], node.path) for node in tree.walk()]


def test_groups_that_are_only_implied():
    # The example of the text, Discover children of a group.
    tree = built({"meta/foo/bar.group.json": group_json(), "meta/foo/bar/baz/qux.array.json": array_json()})
    assert paths(tree) == [
        ("G", "/"),
        ("G", "/foo"),
        ("G", "/foo/bar"),
        ("G", "/foo/bar/baz"),
        ("A", "/foo/bar/baz/qux"),
    ]
    assert tree.findings == ()
    assert tree.find("/foo").metadata_keys == ()
    assert tree.find("/foo/bar").metadata_keys == ("meta/foo/bar.group.json",)


def test_an_explicit_group_wins():
    for keys in (
        ("meta/g.group.json", "meta/g/a.array.json"),
        ("meta/g/a.array.json", "meta/g.group.json"),
    ):
        documents = {key: array_json() if "array" in key else group_json(attributes={"x": 1}) for key in keys}
        group = built(documents).find("/g")
        assert group.attributes == {"x": 1}
        assert list(group.arrays) == ["a"]


def test_names_that_look_like_keys():
    tree = built({"meta/im.array.json/x.array.json": array_json(), "meta/a.b.group.json": group_json()})
    assert paths(tree) == [("G", "/"), ("G", "/im.array.json"), ("A", "/im.array.json/x"), ("G", "/a.b")]
    assert tree.findings == ()
    assert built({"meta/x.array.json.array.json": array_json()}).find("/x.array.json").error is None


@pytest.mark.parametrize(
    "key",
    [
        "meta/foo/.array.json",
        "meta/../a.array.json",
        "meta/a b.array.json",
        "meta/...group.json",
        "meta/a\\b.array.json",
    ],
)
def test_stray_keys_are_reported_and_ignored(key):
    tree = built({key: array_json(), "meta/good.array.json": array_json()})
    assert paths(tree) == [("G", "/"), ("A", "/good")]
    assert [item.place.key for item in tree.findings] == [key]


def test_siblings_that_differ_in_case_only_are_shown_and_reported():
    tree = built({"meta/foo.array.json": array_json(), "meta/FOO/x.array.json": array_json()})
    assert tree.find("/foo").error is None
    assert tree.find("/FOO/x").error is None
    assert warnings_of(tree) == ["the names 'foo' and 'FOO' differ in case only"]
    assert built({"meta/a/x.array.json": array_json(), "meta/b/X.array.json": array_json()}).findings == ()


def test_an_array_and_a_group_of_one_path():
    tree = built({"meta/a.group.json": group_json(), "meta/a.array.json": array_json()})
    assert paths(tree) == [("G", "/"), ("A", "/a")]
    assert "same path" in warnings_of(tree)[0]


def test_an_array_with_children():
    tree = built({"meta/a.array.json": array_json(), "meta/a/b.array.json": array_json()})
    assert tree.find("/a").shape == (4, 6)
    assert tree.find("/a/b").shape == (4, 6)
    assert warnings_of(tree) == ["there are nodes below the array '/a'"]


def test_a_root_array():
    tree = built({"root.array.json": array_json()})
    assert tree.root.path == "/"
    assert tree.root.key_prefix == "data/"
    assert tree.findings == ()
    tree = built({"root.array.json": array_json(), "meta/a.array.json": array_json()})
    assert list(tree.root.arrays) == ["", "a"]
    assert warnings_of(tree)


def test_the_root_document_of_june_2019():
    tree = built({"meta/root.group.json": group_json(attributes={"x": 1}), "meta/a.array.json": array_json()})
    assert paths(tree) == [("G", "/"), ("A", "/a")]
    assert tree.root.attributes == {"x": 1}
    assert "node named root" in warnings_of(tree)[0]
    tree = built({"meta/root.array.json": array_json()})
    assert tree.root.shape == (4, 6)
    assert warnings_of(tree)


@pytest.mark.parametrize(
    "more",
    [
        {"root.group.json": group_json()},
        {"meta/root/a.array.json": array_json()},
    ],
)
def test_a_group_named_root(more):
    tree = built({"meta/root.group.json": group_json(attributes={"x": 1}), **more})
    assert tree.root.attributes == {}
    assert tree.find("/root").attributes == {"x": 1}


def test_an_array_named_root():
    tree = built({"meta/root.array.json": array_json(), "meta/a.array.json": array_json()})
    assert tree.find("/root").shape == (4, 6)
    assert "named root" in warnings_of(tree)[0]


def test_nothing_and_too_deep():
    assert "no metadata" in warnings_of(built({}))[0]
    tree = built({"meta/" + "g/" * LIMITS.group_nesting + "a.array.json": array_json()})
    assert messages(tree, Severity.FAULT)


def test_metadata_that_is_not_allowed_yet_is_no_fault():
    blocked = RefbrowserError(ErrorKind.BLOCKED, "elsewhere")
    tree = built({"meta/a.array.json": blocked, "meta/b.group.json": blocked})
    assert tree.find("/a").error.kind is ErrorKind.BLOCKED
    assert tree.findings == ()


VALUES = np.arange(24, dtype="<i2").reshape(4, 6)


def chunks_of(prefix, encode=lambda chunk: chunk.tobytes(), separator="."):
    return {
        f"{prefix}{i}{separator}{j}": encode(VALUES[2 * i : 2 * i + 2, 3 * j : 3 * j + 3])
        for i in range(2)
        for j in range(2)
    }


@pytest.mark.parametrize("separator", [None, ".", "/", "-", "_"])
def test_separators(separator, tmp_path):
    grid = {"type": "regular", "chunk_shape": [2, 3], "separator": separator}
    if separator is None:
        del grid["separator"]
    keys = {"meta/g/a.array.json": array_json(chunk_grid=grid)}
    with opened(keys | chunks_of("data/g/a/", separator=separator or "."), tmp_path) as dataset:
        assert np.array_equal(dataset["/g/a"][...], VALUES)
        assert dataset.hierarchy.findings == ()


@pytest.mark.parametrize("prefix", ["data/", "data//"])
def test_chunks_of_a_root_array(prefix, tmp_path):
    with opened({"root.array.json": array_json()} | chunks_of(prefix), tmp_path) as dataset:
        assert np.array_equal(dataset["/"][...], VALUES)
        assert dataset["/"].node.manifest.stored() == 4
        assert dataset["/"].node.manifest.key((1, 0)) == f"{prefix}1.0"


@pytest.mark.parametrize("separator", [".", "/"])
@pytest.mark.parametrize("prefix", ["data/", "data//", "store/data//"])
def test_chunks_of_a_root_array_in_a_zip_file(prefix, separator, tmp_path):
    grid = {"type": "regular", "chunk_shape": [2, 3], "separator": separator}
    folder = prefix.partition("data/")[0]
    keys = {f"{folder}root.array.json": json.dumps(array_json(chunk_grid=grid)).encode()}
    with zipfile.ZipFile(tmp_path / "store.zip", "w") as archive:
        for key, data in (keys | chunks_of(prefix, separator=separator)).items():
            archive.writestr(key, data)
    with refbrowser.open(tmp_path / "store.zip") as dataset:
        assert np.array_equal(dataset["/"][...], VALUES)
        assert dataset.hierarchy.findings == ()


def test_the_usual_key_of_a_root_array_counts_first(tmp_path):
    keys = {"root.array.json": array_json()} | chunks_of("data/") | chunks_of("data//", lambda chunk: b"bad")
    with opened(keys, tmp_path) as dataset:
        assert np.array_equal(dataset["/"][...], VALUES)


def test_a_root_array_of_june_2019(tmp_path):
    keys = {"meta/root.array.json": array_json()}
    with opened(keys | chunks_of("data/root/"), tmp_path) as dataset:
        assert np.array_equal(dataset["/"][...], VALUES)


@pytest.mark.parametrize("key", ["data/z/0", "data/z/", "data/z"])
def test_chunks_without_coordinates(key, tmp_path):
    grid = {"type": "regular", "chunk_shape": []}
    document = array_json(shape=[], chunk_grid=grid)
    with opened({"meta/z.array.json": document, key: b"\x07\0"}, tmp_path) as dataset:
        assert dataset["/z"][()] == 7
    with opened({"meta/z.array.json": document}, tmp_path) as dataset:
        assert dataset["/z"][()] == -1


def test_what_hangs_over_the_edge_is_ignored(tmp_path):
    document = array_json(shape=[3, 5])
    keys = {"meta/a.array.json": document} | chunks_of("data/a/")
    del keys["data/a/1.1"]
    with opened(keys, tmp_path) as dataset:
        wanted = VALUES[:3, :5].copy()
        wanted[2:, 3:] = -1
        assert np.array_equal(dataset["/a"][...], wanted)


def test_memory_layouts_and_codecs(tmp_path):
    def stored(chunk):
        data = gzipped(chunk, "F")
        return zlib.crc32(data).to_bytes(4, "little") + data

    codecs = [{"codec": f"{CODEC}gzip", "level": 3}, {"codec": f"{CODEC}crc32"}]
    document = array_json(chunk_memory_layout="F", chunk_codecs=codecs)
    with opened({"meta/a.array.json": document} | chunks_of("data/a/", stored), tmp_path) as dataset:
        assert np.array_equal(dataset["/a"][...], VALUES)


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"x" * 11, "11 bytes"), (b"x" * 13, "13 bytes"), (b"", "0 bytes")],
)
def test_chunks_of_another_size_are_named(data, words, tmp_path):
    keys = {"meta/a.array.json": array_json()} | chunks_of("data/a/")
    keys["data/a/0.1"] = data
    with opened(keys, tmp_path) as dataset:
        with pytest.raises(RefbrowserError) as caught:
            dataset["/a"][...]
        assert caught.value.kind is ErrorKind.DECODE
        assert caught.value.place.key == "data/a/0.1"
        assert words in caught.value.message
        assert "12" in caught.value.message
        assert np.array_equal(dataset["/a"][2:], VALUES[2:])


def test_a_chunk_that_decodes_to_more_is_stopped(tmp_path):
    document = array_json(chunk_codecs=[{"codec": f"{CODEC}gzip"}])
    keys = {"meta/a.array.json": document, "data/a/0.0": gzipped(np.zeros(10_000_000, "u1"))}
    with opened(keys, tmp_path) as dataset:
        with pytest.raises(RefbrowserError) as caught:
            dataset["/a"][0, 0]
        assert caught.value.kind is ErrorKind.DECODE


def test_an_unknown_codec_fails_where_a_chunk_is_stored(tmp_path):
    uri = f"{CODEC}fancy"
    document = array_json(chunk_codecs=[{"codec": uri}])
    with opened({"meta/a.array.json": document, "data/a/0.0": b"?"}, tmp_path) as dataset:
        assert dataset["/a"][3, 5] == -1
        with pytest.raises(RefbrowserError) as caught:
            dataset["/a"][0, 0]
        assert uri in caught.value.message
        assert caught.value.place.key == "data/a/0.0"


def test_elements_of_an_undefined_fill_value_are_zero_and_said_to_be_undefined(tmp_path):
    with opened({"meta/a.array.json": array_json(fill_value=None)}, tmp_path) as dataset:
        assert dataset["/a"].fill_value is None
        assert not dataset["/a"][...].any()


def test_roles_of_keys():
    document = open_references(
        document_of({"root.group.json": group_json(), "meta/g/a.array.json": array_json()})
    )
    classify = KeyClassifier(hierarchy_of(document)).classify
    assert classify("root.group.json") == MetadataKey("/")
    assert classify("meta/g/a.array.json") == MetadataKey("/g/a")
    found = classify("data/g/a/1.0")
    assert isinstance(found, ChunkKey)
    assert (found.node.path, found.coords) == ("/g/a", (1, 0))
    assert classify("data/g/a/9.9").node.path == "/g/a"
    assert classify("g/a/1.0") == StrayKey(None)
    assert classify("meta/g/.array.json") == StrayKey(None)
