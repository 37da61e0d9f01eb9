"""The operations of the protocol, over every kind of store."""

import json
import zlib

import numpy as np
import pytest
from draft_documents import CODEC, URI, array_json, group_json

from refbrowser import zarr_draft
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.wings.zarr_draft.protocol.draft_stores import Store
from refbrowser.wings.zarr_draft.reading.data_types import CORE, DATETIME

GROUP, ARRAY, IMPLIED = zarr_draft.NodeKind.GROUP, zarr_draft.NodeKind.ARRAY, zarr_draft.NodeKind.IMPLIED
SMALL = {"shape": (4,), "data_type": "<i2", "chunk_shape": (3,)}


class Counting(zarr_draft.MemoryStore):
    """A store that notes what it is asked."""

    def __init__(self, values=None):
        super().__init__(values)
        self.asked = []

    def get(self, key):
        self.asked.append(("get", key))
        return super().get(key)

    def set(self, key, value):
        self.asked.append(("set", key))
        super().set(key, value)

    def delete(self, key):
        self.asked.append(("delete", key))
        super().delete(key)

    def list(self):
        self.asked.append(("list", ""))
        return super().list()

    def of(self, name):
        return [key for what, key in self.asked if what == name]


class Plain(Store):
    """A store that cannot list."""

    def __init__(self):
        self.values = {}

    def get(self, key):
        return self.values.get(key)

    def set(self, key, value):
        self.values[key] = value

    def delete(self, key):
        self.values.pop(key, None)


@pytest.fixture(params=["memory", "folder", "zip"])
def hierarchy(request, tmp_path):
    stores = {
        "memory": zarr_draft.MemoryStore,
        "folder": lambda: zarr_draft.FolderStore(tmp_path / "store"),
        "zip": lambda: zarr_draft.ZipStore(tmp_path / "store.zip"),
    }
    return zarr_draft.DraftHierarchy(stores[request.param]())


def refused(kind, function, *arguments, **more):
    with pytest.raises(RefbrowserError) as caught:
        function(*arguments, **more)
    assert caught.value.kind is kind
    return caught.value


# Create


def test_the_documents_that_are_written(hierarchy):
    hierarchy.create_group("/foo/bar", {"spam": "ham", "eggs": 42})
    hierarchy.create_array(
        "/foo/baz",
        shape=[10000, 1000],
        data_type="<f8",
        chunk_shape=[1000, 100],
        fill_value="NaN",
        attributes={"foo": 42},
    )
    assert hierarchy.store.list() == {"meta/foo/bar.group.json", "meta/foo/baz.array.json"}
    assert json.loads(hierarchy.store.get("meta/foo/bar.group.json")) == {
        "zarr_format": URI,
        "extensions": [],
        "attributes": {"spam": "ham", "eggs": 42},
    }
    assert json.loads(hierarchy.store.get("meta/foo/baz.array.json")) == {
        "zarr_format": URI,
        "shape": [10000, 1000],
        "data_type": "<f8",
        "chunk_grid": {"type": "regular", "chunk_shape": [1000, 100]},
        "chunk_memory_layout": "C",
        "chunk_codecs": [{"codec": f"{CODEC}gzip", "level": 1}],
        "fill_value": "NaN",
        "extensions": [],
        "attributes": {"foo": 42},
    }


def test_the_example_of_the_text(hierarchy):
    hierarchy.create_group("/foo/bar")
    hierarchy.create_array("/foo/baz/qux", **SMALL)
    assert hierarchy.children("/") == {"foo": IMPLIED}
    assert hierarchy.children("/foo") == {"bar": GROUP, "baz": IMPLIED}
    assert hierarchy.children("/foo/baz") == {"qux": ARRAY}
    assert hierarchy.children("/foo/bar") == {}
    assert hierarchy.nodes() == {
        "/": IMPLIED,
        "/foo": IMPLIED,
        "/foo/bar": GROUP,
        "/foo/baz": IMPLIED,
        "/foo/baz/qux": ARRAY,
    }


def test_the_root(hierarchy):
    assert not hierarchy.exists("/")
    assert hierarchy.nodes() == {}
    hierarchy.create_group("/", {"t": 1})
    assert hierarchy.store.list() == {"root.group.json"}
    assert hierarchy.kind("/") is GROUP
    assert hierarchy.nodes() == {"/": GROUP}
    assert hierarchy.children() == {}
    refused(ErrorKind.USAGE, hierarchy.create_array, "/", **SMALL)


def test_a_root_array(hierarchy):
    hierarchy.create_array("/", **SMALL)[:] = range(4)
    assert hierarchy.store.list() == {"root.array.json", "data/0", "data/1"}
    assert hierarchy["/"][...].tolist() == [0, 1, 2, 3]
    refused(ErrorKind.USAGE, hierarchy.create_group, "/a")
    hierarchy.delete("/")
    assert hierarchy.store.list() == frozenset()


@pytest.mark.parametrize("create", ["create_group", "create_array"])
def test_what_cannot_be_created(hierarchy, create):
    more = SMALL if create == "create_array" else {}
    hierarchy.create_array("/a", **SMALL)
    hierarchy.create_group("/g")
    hierarchy.create_group("/h/i")
    before = hierarchy.store.list()
    for path in ("/a", "/g", "/a/below", "/A", "/G", "/H/x", "/H", "/h/I", "/g/..", "/b c", "//x", "/g/"):
        refused(ErrorKind.USAGE, getattr(hierarchy, create), path, **more)
    assert hierarchy.store.list() == before


def test_an_implied_group_gets_a_document_and_no_array(hierarchy):
    hierarchy.create_group("/g/h")
    refused(ErrorKind.USAGE, hierarchy.create_array, "/g", **SMALL)
    hierarchy.create_group("/g", {"x": 1})
    assert hierarchy.kind("/g") is GROUP
    assert hierarchy.metadata("/g")["attributes"] == {"x": 1}


@pytest.mark.parametrize("name", sorted(CORE))
def test_types(name):
    hierarchy = zarr_draft.DraftHierarchy(zarr_draft.MemoryStore())
    array = hierarchy.create_array("/a", shape=(3,), data_type=name, chunk_shape=(2,))
    array[:2] = [1, 0]
    assert hierarchy.metadata("/a")["data_type"] == name
    assert hierarchy["/a"][...].tolist() == np.array([1, 0, 0], name).tolist()
    assert hierarchy["/a"].dtype == np.dtype(name)


@pytest.mark.parametrize(
    "name", [">u2", ">u8", "S5", "U3", object, [("a", "i4")], "f16", "M8[10s]", "M8", "x"]
)
def test_types_that_are_never_written(name):
    hierarchy = zarr_draft.DraftHierarchy(zarr_draft.MemoryStore())
    refused(ErrorKind.META, hierarchy.create_array, "/a", shape=(3,), data_type=name, chunk_shape=(2,))
    assert hierarchy.store.list() == frozenset()


def test_dates():
    hierarchy = zarr_draft.DraftHierarchy(zarr_draft.MemoryStore())
    array = hierarchy.create_array(
        "/t", shape=(3,), data_type=np.dtype("M8[s]"), chunk_shape=(2,), fill_value=60
    )
    array[0] = np.datetime64("2019-05-01T00:00:01")
    assert hierarchy.metadata("/t")["data_type"] == {
        "extension": DATETIME,
        "type": "<M8[s]",
        "fallback": "<i8",
    }
    assert hierarchy["/t"][...].astype(str).tolist() == [
        "2019-05-01T00:00:01",
        "1970-01-01T00:01:00",
        "1970-01-01T00:01:00",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": (-1,)},
        {"chunk_shape": (0,)},
        {"chunk_shape": (1, 2)},
        {"separator": ""},
        {"memory_layout": "K"},
        {"fill_value": 1.5},
        {"fill_value": 2**20},
        {"fill_value": float("nan")},
        {"attributes": {"x": float("inf")}},
        {"attributes": {"x": b"bytes"}},
        {"codecs": [{"codec": "gzip"}]},
        {"extensions": [{"extension": "http://example.org/x", "must_understand": True}]},
    ],
)
def test_documents_that_are_never_written(changes):
    store = zarr_draft.MemoryStore()
    more = {**SMALL, **changes}
    with pytest.raises(RefbrowserError):
        zarr_draft.DraftHierarchy(store).create_array("/a", **more)
    assert store.list() == frozenset()


# Elements


def test_where_an_element_is():
    # The notes' example for the text's open place: chunk shape (5, 20, 400), element (7, 45, 1000).
    store = zarr_draft.MemoryStore()
    array = zarr_draft.DraftHierarchy(store).create_array(
        "/a", shape=(10, 200, 3000), data_type="u1", chunk_shape=(5, 20, 400), codecs=[]
    )
    array[7, 45, 1000] = 9
    (key,) = (key for key in store.list() if key.startswith("data/"))
    assert key == "data/a/1.2.2"
    chunk = np.frombuffer(store.get(key), "u1").reshape(5, 20, 400)
    assert np.argwhere(chunk).tolist() == [[2, 5, 200]]


@pytest.mark.parametrize("layout", ["C", "F"])
def test_chunks_are_full_and_padded(layout):
    store = zarr_draft.MemoryStore()
    array = zarr_draft.DraftHierarchy(store).create_array(
        "/a",
        shape=(3, 4),
        data_type="<i2",
        chunk_shape=(2, 3),
        codecs=[],
        fill_value=7,
        separator="/",
        memory_layout=layout,
    )
    array[...] = np.arange(12).reshape(3, 4)
    assert len(store.get("data/a/1/1")) == 12
    edge = np.frombuffer(store.get("data/a/1/1"), "<i2").reshape(2, 3, order=layout)
    assert edge.tolist() == [[11, 7, 7], [7, 7, 7]]
    first = np.frombuffer(store.get("data/a/0/0"), "<i2").tolist()
    assert first == ([0, 1, 2, 4, 5, 6] if layout == "C" else [0, 4, 1, 5, 2, 6])


def test_what_storing_asks_of_the_store():
    store = Counting()
    array = zarr_draft.DraftHierarchy(store).create_array(
        "/a", shape=(5, 4), data_type="<i2", chunk_shape=(2, 2)
    )
    store.asked.clear()
    array[:, 2:] = 1
    # Chunks that are covered are not read, those at the edge neither.
    assert store.of("get") == []
    assert store.of("set") == ["data/a/0.1", "data/a/1.1", "data/a/2.1"]
    store.asked.clear()
    array[1:3, 2] = 2
    assert store.of("get") == store.of("set") == ["data/a/0.1", "data/a/1.1"]
    assert array[:, 2:].tolist() == [[1, 1], [2, 1], [2, 1], [1, 1], [1, 1]]
    store.asked.clear()
    assert array[4, 3] == 1
    assert store.asked == [("get", "data/a/2.1")]


def test_a_part_of_an_array_larger_than_any_memory():
    store = Counting()
    array = zarr_draft.DraftHierarchy(store).create_array(
        "/huge", shape=(10**12, 10**6), data_type="<f8", chunk_shape=(10, 10), fill_value="NaN"
    )
    array[10**12 - 1, 5:15:3] = [1, 2, 3, 4]
    assert array[-1, 5:15:3].tolist() == [1, 2, 3, 4]
    assert np.isnan(array[10**11 : 10**11 + 3, 7]).all()
    assert len([key for key in store.list() if key.startswith("data/")]) == 2


def test_values_are_broadcast_and_cast(hierarchy):
    array = hierarchy.create_array("/a", shape=(2, 3), data_type="<i2", chunk_shape=(2, 2))
    array[...] = 5
    array[1] = [1.9, 2.9, 3.9]
    array[:, ::-2] = [[10], [20]]
    assert array[...].tolist() == [[10, 5, 10], [20, 2, 20]]
    with pytest.raises(ValueError, match="broadcast"):
        array[...] = [1, 2]
    with pytest.raises(IndexError):
        array[2, 0] = 1
    with pytest.raises(IndexError):
        array[0, 0, 0]


def test_shapes_without_elements_and_without_dimensions(hierarchy):
    empty = hierarchy.create_array("/e", shape=(0, 3), data_type="<i2", chunk_shape=(2, 2))
    empty[...] = 1
    assert empty[...].shape == (0, 3)
    scalar = hierarchy.create_array("/s", shape=(), data_type="<i2", chunk_shape=(), fill_value=4)
    assert scalar[()] == 4
    scalar[...] = 6
    assert scalar[()] == 6
    assert "data/s/0" in hierarchy.store.list()


def test_codecs_in_their_order():
    store = zarr_draft.MemoryStore()
    array = zarr_draft.DraftHierarchy(store).create_array(
        "/a", **SMALL, codecs=[{"codec": f"{CODEC}zlib", "level": 9}, "crc32"]
    )
    array[:] = 3
    data = store.get("data/a/0")
    assert int.from_bytes(data[:4], "little") == zlib.crc32(data[4:])
    assert zlib.decompress(data[4:]) == b"\3\0" * 3
    store.set("data/a/0", bytes(4) + data[4:])
    error = refused(ErrorKind.DECODE, lambda: array[0])
    assert error.place.key == "data/a/0"
    # What cannot be read is not written over in part.
    before = store.get("data/a/0")
    refused(ErrorKind.DECODE, array.store, 0, 1)
    assert store.get("data/a/0") == before
    array[:] = 4
    assert array[...].tolist() == [4] * 4


def test_an_unknown_codec_of_another_writer():
    uri = "http://example.org/codec"
    store = zarr_draft.MemoryStore(
        {"meta/a.array.json": json.dumps(array_json(chunk_codecs=[{"codec": uri}])).encode()}
    )
    store.set("data/a/0.0", b"?")
    array = zarr_draft.DraftHierarchy(store)["/a"]
    assert array[3, 5] == -1
    assert uri in refused(ErrorKind.META, lambda: array[0, 0]).message
    assert uri in refused(ErrorKind.META, array.store, (3, 5), 1).message


@pytest.mark.parametrize("key", ["data//0", "data/0"])
def test_both_keys_of_a_root_array(key):
    document = array_json(shape=[2], chunk_grid={"type": "regular", "chunk_shape": [2]})
    store = zarr_draft.MemoryStore({"root.array.json": json.dumps(document).encode(), key: b"\1\0\2\0"})
    array = zarr_draft.DraftHierarchy(store)["/"]
    assert array[...].tolist() == [1, 2]
    array[0] = 5
    assert store.get("data/0") == b"\5\0\2\0"


# Metadata


def test_attributes_are_replaced_and_all_else_stays():
    document = group_json(something_new=[1], attributes={"a": 1})
    store = zarr_draft.MemoryStore({"meta/g.group.json": json.dumps(document).encode()})
    hierarchy = zarr_draft.DraftHierarchy(store)
    hierarchy.set_attributes("/g", {"b": 2**60 + 1})
    assert hierarchy.metadata("/g") == {**document, "attributes": {"b": 2**60 + 1}}
    hierarchy.create_array("/i/a", **SMALL)
    hierarchy.set_attributes("/i", {"x": 1})
    assert hierarchy.kind("/i") is GROUP
    before = hierarchy.metadata("/i/a")
    hierarchy.set_attributes("/i/a", {"y": 1})
    assert hierarchy.metadata("/i/a") == {**before, "attributes": {"y": 1}}
    refused(ErrorKind.META, hierarchy.set_attributes, "/g", {"x": float("nan")})
    refused(ErrorKind.USAGE, hierarchy.set_attributes, "/nothing", {})


def test_broken_metadata_of_another_writer():
    store = zarr_draft.MemoryStore(
        {
            "meta/bad.array.json": b'{"shape": }',
            "meta/odd.array.json": json.dumps(array_json(data_type="<x9")).encode(),
            "meta/good.array.json": json.dumps(array_json()).encode(),
        }
    )
    hierarchy = zarr_draft.DraftHierarchy(store)
    error = refused(ErrorKind.JSON, hierarchy.array, "/bad")
    assert (error.place.line, error.place.column, error.place.key) == (1, 11, "meta/bad.array.json")
    refused(ErrorKind.META, hierarchy.array, "/odd")
    assert hierarchy["/good"][0, 0] == -1
    assert hierarchy.children("/") == {"bad": ARRAY, "good": ARRAY, "odd": ARRAY}
    tree = hierarchy.describe()
    assert tree.find("/bad").error.kind is ErrorKind.JSON
    assert tree.find("/odd").unreadable is not None
    assert tree.find("/good").error is None


# Discover


def test_children_of_what_is_not_there(hierarchy):
    refused(ErrorKind.USAGE, hierarchy.children, "/nothing")
    refused(ErrorKind.USAGE, hierarchy.array, "/nothing")
    refused(ErrorKind.USAGE, hierarchy.metadata, "/nothing")
    refused(ErrorKind.USAGE, hierarchy.delete, "/nothing")
    hierarchy.create_array("/a", **SMALL)
    refused(ErrorKind.USAGE, hierarchy.children, "/a")
    refused(ErrorKind.USAGE, hierarchy.array, "/")


def test_stray_keys_are_no_nodes():
    keys = ["meta/g/.array.json", "meta/x.json", "meta/a b.array.json", "meta/...group.json", "data/foo/0.0"]
    hierarchy = zarr_draft.DraftHierarchy(zarr_draft.MemoryStore(dict.fromkeys(keys, b"{}")))
    assert hierarchy.nodes() == {}
    assert hierarchy.children("/") == {"g": IMPLIED}


def test_all_nodes_take_one_listing_and_no_document():
    store = Counting()
    hierarchy = zarr_draft.DraftHierarchy(store)
    for name in "abc":
        hierarchy.create_array(f"/g/{name}", **SMALL)
    store.asked.clear()
    assert len(hierarchy.nodes()) == 5
    assert store.of("list") == [""]
    assert store.of("get") == ["root.group.json", "root.array.json"]


def test_a_store_that_cannot_list():
    hierarchy = zarr_draft.DraftHierarchy(Plain())
    array = hierarchy.create_array("/g/a", **SMALL)
    array[...] = 1
    assert hierarchy["g/a"][...].tolist() == [1] * 4
    assert hierarchy.exists("/g/a")
    assert not hierarchy.exists("/g")
    for ask in (hierarchy.children, hierarchy.nodes, hierarchy.describe):
        with pytest.raises(zarr_draft.ListingError):
            ask()
    hierarchy.delete("/g/a")
    assert hierarchy.store.values == {}


def test_exists(hierarchy):
    hierarchy.create_array("/foo/bar", **SMALL)
    assert "/foo/bar" in hierarchy
    assert "foo" in hierarchy
    assert "/" in hierarchy
    assert "/fo" not in hierarchy
    assert "/foo/bar/baz" not in hierarchy
    assert hierarchy.kind("/foo") is IMPLIED


# Delete


def test_a_name_that_begins_alike_stays(hierarchy):
    for path in ("/foo/a", "/foobar/a", "/foo-bar"):
        hierarchy.create_array(path, **SMALL)[...] = 1
    hierarchy.delete("/foo")
    assert hierarchy.nodes().keys() == {"/", "/foobar", "/foobar/a", "/foo-bar"}
    assert hierarchy["/foobar/a"][...].tolist() == [1] * 4
    hierarchy.delete("/foobar/a")
    assert hierarchy.store.list() == {"meta/foo-bar.array.json", "data/foo-bar/0", "data/foo-bar/1"}


def test_the_order_of_deleting():
    store = Counting()
    hierarchy = zarr_draft.DraftHierarchy(store)
    hierarchy.create_group("/g")
    hierarchy.create_group("/g/h")
    hierarchy.create_array("/g/h/a", **SMALL)[...] = 1
    store.asked.clear()
    hierarchy.delete("/g")
    assert store.of("delete") == [
        "meta/g/h.group.json",
        "meta/g/h/a.array.json",
        "data/g/h/a/0",
        "data/g/h/a/1",
        "meta/g.group.json",
    ]
    hierarchy.create_array("/a", **SMALL)[...] = 1
    store.asked.clear()
    hierarchy.delete("/a")
    assert store.of("delete")[:3] == ["meta/a.array.json", "data/a/0", "data/a/1"]
    assert store.list() == frozenset()


def test_an_array_with_nodes_below_it_takes_its_own_chunks_only():
    document = json.dumps(array_json(shape=[4], chunk_grid={"type": "regular", "chunk_shape": [2]})).encode()
    keys = dict.fromkeys(["data/a/0", "data/a/7", "data/a/b/0", "data/a/odd"], b"1234")
    store = zarr_draft.MemoryStore({"meta/a.array.json": document, "meta/a/b.array.json": document, **keys})
    zarr_draft.DraftHierarchy(store).delete("/a")
    assert store.list() == {"meta/a/b.array.json", "data/a/b/0", "data/a/odd"}


def test_groups_that_vanish_are_told_before(hierarchy):
    hierarchy.create_array("/a/b/c/d", **SMALL)
    hierarchy.create_group("/a/e")
    assert hierarchy.implied_by("/a/b/c/d") == ("/a/b/c", "/a/b")
    assert hierarchy.implied_by("/a/e") == ()
    hierarchy.create_group("/a/b")
    assert hierarchy.implied_by("/a/b/c/d") == ("/a/b/c",)
    hierarchy.delete("/a/b/c/d")
    assert hierarchy.kind("/a/b") is GROUP
    assert hierarchy.kind("/a/b/c") is None


def test_the_whole_hierarchy(hierarchy):
    hierarchy.create_group("/")
    hierarchy.create_array("/a", **SMALL)[...] = 1
    hierarchy.create_array("/g/b", **SMALL)[...] = 1
    hierarchy.delete("/")
    assert hierarchy.store.list() == frozenset()
