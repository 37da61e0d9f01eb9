"""Random hierarchies: written by the operations, read by them, by refbrowser.open and by another reader."""

import tempfile
import zipfile
from pathlib import Path

import independent_reader
import numpy as np
import pytest
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from independent_reader import fill_value

import refbrowser
from refbrowser import zarr_draft
from refbrowser.errors import ErrorKind
from refbrowser.wings.zarr_draft.reading.data_types import CORE, DATETIME

NAMES = st.text("abAB01-_.", min_size=1, max_size=6).filter(lambda name: name.strip("."))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
ATTRIBUTES = st.dictionaries(
    st.text(max_size=4).filter(lambda name: name != "_ARRAY_DIMENSIONS"), JSON, max_size=3
)
CODECS = st.lists(st.sampled_from(["gzip", "zlib", "bz2", "lzma", "crc32"]), max_size=3)
TIMES = st.sampled_from(["<M8[s]", ">m8[ms]"]).map(
    lambda name: {"extension": DATETIME, "type": name, "fallback": f"{name[0]}i8"}
)
TYPES = st.sampled_from(sorted(CORE)) | TIMES
FLOATS = st.sampled_from(["NaN", "Infinity", "-Infinity", 0, -2, 0.5])


def dtype_of(kind):
    return np.dtype(kind if isinstance(kind, str) else kind["type"])


def fills(kind):
    dtype = dtype_of(kind)
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind in "iumM":
        limits = np.iinfo(dtype if dtype.kind in "iu" else "i8")
        return st.integers(int(limits.min) + 1, int(limits.max))
    return FLOATS if dtype.kind == "f" else st.lists(FLOATS, min_size=2, max_size=2)


@st.composite
def arrays(draw):
    """Return the arguments of an array, and what is stored in it: indices with values."""
    shape = draw(st.lists(st.integers(0, 5), max_size=3))
    kind = draw(TYPES)
    made = {
        "shape": shape,
        "data_type": kind,
        "chunk_shape": [draw(st.integers(1, 4)) for _ in shape],
        "separator": draw(st.sampled_from([None, ".", "/", "-", "_"])),
        "memory_layout": draw(st.sampled_from("CF")),
        "codecs": draw(CODECS),
        "fill_value": draw(st.none() | fills(kind)),
        "attributes": draw(ATTRIBUTES),
    }
    steps = []
    for _ in range(draw(st.integers(0, 3))):
        index = tuple(
            draw(st.integers(-size, size - 1) if size and draw(st.booleans()) else st.slices(size))
            for size in shape
        )
        count = np.empty(shape, "u1")[index].size
        raw = draw(st.binary(min_size=count, max_size=count))
        steps.append((index, np.frombuffer(raw, "u1")))
    return made, steps


@st.composite
def hierarchies(draw):
    """Return groups and arrays by path, without clashes."""
    nodes = {}
    for _ in range(draw(st.integers(1, 5))):
        path = "/" + "/".join(draw(st.lists(NAMES, min_size=1, max_size=3)))
        nodes[path] = draw(arrays()) if draw(st.booleans()) else draw(ATTRIBUTES)
    if draw(st.booleans()):
        nodes["/"] = draw(ATTRIBUTES)
    return nodes


def write(hierarchy, nodes):
    """Create what can be; return the values of arrays and the attributes of all by path."""
    values, attributes = {}, {}
    for path, node in nodes.items():
        try:
            if isinstance(node, dict):
                hierarchy.create_group(path, node)
                attributes[path] = node
                continue
            array = hierarchy.create_array(path, **node[0])
        except refbrowser.RefbrowserError as error:
            if error.kind is not ErrorKind.USAGE:
                raise
            continue  # It clashes with another.
        dtype = dtype_of(node[0]["data_type"])
        model = np.full(node[0]["shape"], fill_value(node[0]["fill_value"], dtype), dtype)
        for index, raw in node[1]:
            stored = raw.astype("i8").view("M8[s]" if dtype.kind == "M" else "i8").astype(dtype)
            model[index] = stored.reshape(model[index].shape)
            array[index] = stored.reshape(array[index].shape)
        values[path], attributes[path] = model, node[0]["attributes"]
    return values, attributes


def same(one, other):
    one, other = np.asarray(one), np.asarray(other)
    return one.shape == other.shape and one.tobytes() == np.asarray(other, one.dtype).tobytes()


def keys_of(store):
    return {key: store.get(key) for key in store.list()}


def check_api(hierarchy, values, attributes):
    if hierarchy.nodes():
        assert hierarchy.describe().findings == ()
    for path, model in values.items():
        array = hierarchy[path]
        assert same(array[...], model)
        for index in [
            (),
            ...,
            *([0, -1, slice(None, None, -2), slice(1, 3)] if model.ndim and len(model) else []),
        ]:
            assert same(array[index], model[index])
    for path, wanted in attributes.items():
        assert hierarchy.metadata(path)["attributes"] == wanted


def check_other_reader(keys, values, attributes):
    found = independent_reader.nodes(keys)
    assert {path for path, kind in found.items() if kind == "array"} == set(values)
    for path, model in values.items():
        assert same(independent_reader.read(keys, path), model)
    for path, wanted in attributes.items():
        assert independent_reader.attributes(keys, path, found[path]) == wanted


def check_opened(path, values, attributes):
    with refbrowser.open(path) as dataset:
        assert set(dataset.arrays) == set(values)
        assert dataset.hierarchy.findings == ()
        for each, model in values.items():
            assert same(dataset[each][...], model)
        for each, wanted in attributes.items():
            assert dataset[each].attrs == wanted


@pytest.mark.slow
@given(hierarchies())
@settings(max_examples=examples(60))
def test_in_memory(nodes):
    hierarchy = zarr_draft.DraftHierarchy(zarr_draft.MemoryStore())
    values, attributes = write(hierarchy, nodes)
    check_api(hierarchy, values, attributes)
    check_other_reader(keys_of(hierarchy.store), values, attributes)
    assert set(hierarchy.nodes()) - {"/"} == set(independent_reader.nodes(keys_of(hierarchy.store))) - {"/"}


@pytest.mark.slow
@given(hierarchies())
@settings(max_examples=examples(20))
def test_in_a_folder(nodes):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "store")
        hierarchy = zarr_draft.DraftHierarchy(zarr_draft.FolderStore(root))
        values, attributes = write(hierarchy, nodes)
        check_api(hierarchy, values, attributes)
        keys = {
            path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
        }
        check_other_reader(keys, values, attributes)
        if keys:
            check_opened(root, values, attributes)


@pytest.mark.slow
@given(hierarchies())
@settings(max_examples=examples(20))
def test_in_a_zip_file(nodes):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "store.zip")
        with zarr_draft.ZipStore(path) as store:
            values, attributes = write(zarr_draft.DraftHierarchy(store), nodes)
        with zarr_draft.ZipStore(path) as store:
            check_api(zarr_draft.DraftHierarchy(store), values, attributes)
        if not path.exists():
            return
        with zipfile.ZipFile(path) as archive:
            check_other_reader({name: archive.read(name) for name in archive.namelist()}, values, attributes)
        check_opened(path, values, attributes)


@pytest.mark.slow
@given(hierarchies(), st.data())
@settings(max_examples=examples(30))
def test_deleting_takes_a_node_and_nothing_else(nodes, data):
    hierarchy = zarr_draft.DraftHierarchy(zarr_draft.MemoryStore())
    values, attributes = write(hierarchy, nodes)
    path = data.draw(st.sampled_from(sorted(hierarchy.nodes()) or ["/"]))
    if path not in hierarchy:
        return
    hierarchy.delete(path)
    below = f"{path}/".replace("//", "/")
    left = {each: model for each, model in values.items() if each != path and not each.startswith(below)}
    kept = {each: value for each, value in attributes.items() if each != path and not each.startswith(below)}
    check_api(hierarchy, left, kept)
    check_other_reader(keys_of(hierarchy.store), left, kept)
    assert not any(key.startswith(f"data{below}") for key in hierarchy.store.list())
