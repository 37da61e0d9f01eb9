"""Indexes with places, masks and new axes are numpy's, and read only the chunks that they need."""

from __future__ import annotations

import json
import pickle
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rectilinear_stores import write_rectilinear

import refbrowser
from refbrowser.engine import array_protocol
from refbrowser.errors import RefbrowserError
from refbrowser.model.selection import Selection

VALUES = np.arange(4 * 6 * 5, dtype="<i4").reshape(4, 6, 5)
FILL = -7
#: The same, where a chunk of 3, 4 and 2 is missing.
OF_BLOCKS = VALUES.copy()
OF_BLOCKS[3:, :4, 2:4] = FILL


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("indexed")
    (folder / "data.bin").write_bytes(VALUES.tobytes())
    zarray = {
        "zarr_format": 2, "shape": [4, 6, 5], "chunks": [1, 6, 5], "dtype": "<i4",
        "compressor": None, "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}', "g/.zgroup": '{"zarr_format": 2}'}
    refs["g/a/.zarray"] = json.dumps(zarray)
    refs["g/a/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["z", "y", "x"], "flags": [1, 2]})
    refs |= {f"g/a/{i}.0.0": ["data.bin", i * 120, 120] for i in range(4)}
    path = folder / "d.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


@pytest.fixture(scope="module")
def array(document: Path) -> Any:
    with refbrowser.open(document) as dataset:
        yield dataset.array("g/a")


def _store_of_blocks(folder: Path, order: str) -> Path:
    """Write chunks that reach over the array's edges, compressed, one of them missing."""
    metadata = {
        "zarr_format": 2, "shape": [4, 6, 5], "chunks": [3, 4, 2], "dtype": "<i4", "order": order,
        "compressor": {"id": "zlib", "level": 1}, "filters": None, "fill_value": FILL,
    }  # fmt: skip
    folder.mkdir()
    (folder / ".zarray").write_text(json.dumps(metadata))
    padded = np.pad(OF_BLOCKS, ((0, 2), (0, 2), (0, 1)))
    for at in np.ndindex(2, 2, 3):
        if at != (1, 0, 1):
            part = tuple(slice(n * side, (n + 1) * side) for n, side in zip(at, (3, 4, 2), strict=True))
            chunk = padded[part]
            (folder / ".".join(map(str, at))).write_bytes(zlib.compress(chunk.tobytes(order)))
    return folder


@pytest.fixture(scope="module")
def kinds(document: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Arrays of the same shape, divided and stored in other ways, with their values."""
    folder = tmp_path_factory.mktemp("kinds")
    edges = write_rectilinear(folder / "edges", VALUES, [[1, 3], [2, 1, 3], [4, 1]], compressed=True)
    stores = {
        "rows": (document, "g/a", VALUES),
        "blocks": (_store_of_blocks(folder / "blocks", "C"), "/", OF_BLOCKS),
        "columns": (_store_of_blocks(folder / "columns", "F"), "/", OF_BLOCKS),
        "edges": (edges, "/", VALUES),
    }
    with ExitStack() as stack:
        yield {
            name: (stack.enter_context(refbrowser.open(path)).array(inside), values)
            for name, (path, inside, values) in stores.items()
        }


def _axis(size: int) -> st.SearchStrategy[Any]:
    place = st.integers(-size, size - 1)
    return st.one_of(
        place,
        st.slices(size),
        st.lists(place, max_size=3),
        st.lists(place, min_size=2, max_size=2).map(np.array),
        st.lists(place, min_size=2, max_size=2).map(lambda each: np.array(each)[:, None]),
        st.lists(st.booleans(), min_size=size, max_size=size).map(np.array),
    )


def _outer(size: int) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.integers(-size, size - 1),
        st.slices(size),
        st.lists(st.integers(-size, size - 1), min_size=1, max_size=3),
        st.lists(st.booleans(), min_size=size, max_size=size).map(np.array),
    )


@st.composite
def indexes(draw: st.DrawFn) -> tuple[Any, ...]:
    items = [draw(_axis(size)) for size in VALUES.shape][: draw(st.integers(0, 3))]
    for extra in draw(st.sampled_from([(), (None,), (None, None), (Ellipsis,), (None, Ellipsis)])):
        items.insert(draw(st.integers(0, len(items))), extra)
    if Ellipsis in [each for each in items if each is Ellipsis] and draw(st.booleans()):
        at = next(at for at, each in enumerate(items) if each is Ellipsis)
        items[at + 1 :] = [each for each in items[at + 1 :] if each is None or isinstance(each, slice)]
    return tuple(items)


KINDS = ("rows", "blocks", "columns", "edges")


@pytest.mark.slow
@given(st.sampled_from(KINDS), indexes())
@settings(max_examples=300)
def test_any_index_is_that_of_numpy(kinds: Any, kind: str, index: tuple[Any, ...]) -> None:
    array, values = kinds[kind]
    try:
        expected = values[index]
    except IndexError:
        with pytest.raises(IndexError):
            array[index]
        return
    found = array[index]
    assert np.shape(found) == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@given(st.sampled_from(KINDS), st.tuples(*map(_outer, VALUES.shape)))
def test_outer_indexes_take_each_axis_for_itself(kinds: Any, kind: str, index: tuple[Any, ...]) -> None:
    array, values = kinds[kind]
    places = [np.arange(size)[each] for size, each in zip(values.shape, index, strict=True)]
    expected = values[np.ix_(*map(np.atleast_1d, places))]
    kept = tuple(slice(None) if each.ndim else 0 for each in places)
    np.testing.assert_array_equal(array.oindex[index], expected[kept])


@contextmanager
def reads_of(array: Any) -> Iterator[list[Selection]]:
    """Give the selections that are read of an array."""
    read: list[Selection] = []

    def values(self: Any, selection: Selection) -> Any:
        read.append(selection)
        return self.read(selection)

    with patch.object(type(array), "_values", values):
        yield read


@pytest.mark.parametrize("kind", KINDS)
def test_loops_yield_rows_and_read_each_chunk_once(kinds: Any, kind: str) -> None:
    array, values = kinds[kind]
    with reads_of(array) as read:
        rows = list(array)
    np.testing.assert_array_equal(np.stack(rows), values)
    starts = [selection.axes[0].start for selection in read]
    assert starts == {"rows": [0, 1, 2, 3], "blocks": [0, 3], "columns": [0, 3], "edges": [0, 1]}[kind]


def test_loops_take_no_more_memory_than_a_block(kinds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    array, values = kinds["blocks"]
    monkeypatch.setattr(array_protocol, "BLOCK", 2 * 120)
    with reads_of(array) as read:
        np.testing.assert_array_equal(np.stack(list(array)), values)
    assert [(each.axes[0].start, each.axes[0].stop) for each in read] == [(0, 2), (2, 3), (3, 4)]


def test_arrays_are_arrays_to_numpy(kinds: Any) -> None:
    array, values = kinds["edges"]
    assert (array.shape, array.ndim, array.size, array.nbytes, array.dtype, len(array)) == (
        (4, 6, 5), 3, 120, 480, np.dtype("<i4"), 4,
    )  # fmt: skip
    assert array.chunks == ((1, 3), (2, 1, 3), (4, 1))
    assert np.asarray(array).dtype == values.dtype
    assert np.asarray(array, "f8").dtype == np.float64
    np.testing.assert_array_equal(np.array(array, dtype="i2"), values.astype("i2"))
    assert int(np.sum(array)) == values.sum()
    np.testing.assert_array_equal(values + np.asarray(array), 2 * values)
    with pytest.raises(ValueError, match="a copy"):
        array.__array__(copy=False)


def test_an_array_without_dimensions_has_no_length_and_is_true(tmp_path: Path) -> None:
    metadata = {"zarr_format": 2, "shape": [], "chunks": [], "dtype": "<f8", "order": "C", "fill_value": 2.5}
    metadata |= {"compressor": None, "filters": None}
    with refbrowser.open({"version": 1, "refs": {"a/.zarray": json.dumps(metadata)}}) as dataset:
        array = dataset.array("a")
        assert (array.ndim, array.size, array.nbytes, bool(array)) == (0, 1, 8, True)
        assert array[()] == array[...] == float(np.asarray(array)) == 2.5
        for ask in (len, list):
            with pytest.raises(TypeError, match="without dimensions"):
                ask(array)
        with pytest.raises(IndexError):
            array[0]


def test_points_outer_places_and_masks(array: Any) -> None:
    mask = VALUES % 7 == 0
    np.testing.assert_array_equal(array[mask], VALUES[mask])
    np.testing.assert_array_equal(array[mask[:, :, 0]], VALUES[mask[:, :, 0]])
    np.testing.assert_array_equal(array.oindex[[3, 0], :, [1, 1, 4]], VALUES[[3, 0]][:, :, [1, 1, 4]])
    rows = np.array([True, False, True, True])
    np.testing.assert_array_equal(array.oindex[rows, [2, 5]], VALUES[rows][:, [2, 5]])
    assert array.oindex[1, 2, 3] == VALUES[1, 2, 3]


@pytest.mark.parametrize(
    "index", [["a"], [0.5], True, (0, [True, False]), [7], (..., [0], ...), (0, 0, 0, None, [0])]
)
def test_what_is_no_index_is_told_before_anything_is_read(array: Any, index: Any) -> None:
    with pytest.raises(IndexError) as caught:
        array[index]
    assert isinstance(caught.value, RefbrowserError)
    assert caught.value.message


def test_only_the_chunks_of_the_places_are_read(document: Path) -> None:
    with refbrowser.open(document) as dataset:
        array = dataset.array("g/a")
        for index, rows in (([3, 1], {1, 3}), ((VALUES > 100), {3}), (([0, 2], [1, 3]), {0, 2})):
            log = dataset.session.chunk_log.of(dataset.access.memory, "/g/a", 3)
            before = log.position
            array[index]
            assert set(log.since(before).coords[:, 0].tolist()) == rows


def test_a_dataset_is_a_mapping_of_names(document: Path) -> None:
    with refbrowser.open(document) as dataset:
        assert (list(dataset), len(dataset), bool(dataset)) == (["g"], 1, True)
        group = dataset.group("g")
        assert list(group.keys()) == ["a"]
        assert [each.path for each in group.values()] == ["/g/a"]
        assert {name: each.path for name, each in dataset.items()} == {"g": "/g"}
        assert dataset.get("h") is None
        assert "a" in group
        assert 0 not in group
        assert dataset._ipython_key_completions_() == ["g", "g/a"]
        assert group._ipython_key_completions_() == ["a"]
        assert group["/g/a"].path == group["a"].path == "/g/a"
        array = dataset.array("g/a")
        assert (array.size, array.nbytes, array.astype("f4").dtype) == (120, 480, np.dtype("f4"))
        for name, meant in (("a", "/g/a"), ("/G/A", "/g/a"), ("h/a", "/g/a")):
            with pytest.raises(KeyError, match=f"did you mean {meant}"):
                dataset[name]
        with pytest.raises(KeyError, match="use array"):
            dataset.group("g/a")
        with pytest.raises(KeyError, match="use group"):
            dataset.array("g")


def test_attributes_are_read_only_and_edited_as_values(document: Path, tmp_path: Path) -> None:
    with refbrowser.open(document) as dataset:
        attrs = dataset.array("g/a").attrs
        for change in (
            lambda: attrs.__setitem__("x", 1),
            lambda: attrs.update(x=1),
            lambda: attrs.__delitem__("flags"),
            lambda: dataset.attrs.__setitem__("x", 1),
        ):
            with pytest.raises(TypeError, match="with_attributes"):
                change()
        attrs["flags"].append(3)
        assert attrs == {"_ARRAY_DIMENSIONS": ["z", "y", "x"], "flags": [1, 2]}
        edited = refbrowser.with_attributes(
            dataset, "/g/a", {"units": "K", "flags": None, "scale": np.float32(0.5), "gone": None}
        )
        assert edited["g/a"].attrs["units"] == "K"
        assert "units" not in attrs
        refbrowser.export(edited, tmp_path / "out.zarr", format="zarr-v3")
        with pytest.raises(KeyError):
            refbrowser.with_attributes(dataset, "/nothing", {"a": 1})
    with refbrowser.open(tmp_path / "out.zarr") as written:
        found = written["g/a"].attrs
        assert (found["units"], found["scale"], "flags" in found) == ("K", 0.5, False)


def test_what_was_closed_says_so(document: Path) -> None:
    dataset = refbrowser.open(document)
    array = dataset.array("g/a")
    dataset.close()
    for read in (
        lambda: array[0],
        lambda: array[[0]],
        lambda: array.oindex[[0]],
        lambda: np.asarray(array),
        lambda: array.masked(),
        lambda: dataset.read_key("g/a/0.0.0"),
        lambda: pickle.dumps(array),
    ):
        with pytest.raises(RefbrowserError, match="closed"):
            read()
    with pytest.raises(ValueError, match="closed"):
        array[0]


def test_datasets_groups_and_arrays_are_pickled(document: Path) -> None:
    with refbrowser.open(document) as dataset:
        sent = pickle.dumps((dataset, dataset["g"], dataset["g/a"]))
        data = pickle.dumps(dataset["g/a"])
    other, group, array = pickle.loads(sent)
    again = pickle.loads(data)
    assert group.dataset is array.dataset is again.dataset
    np.testing.assert_array_equal(array[...], VALUES)
    with other:
        np.testing.assert_array_equal(other["g/a"][1], VALUES[1])
    np.testing.assert_array_equal(again[[0, 3]], VALUES[[0, 3]])
    array.dataset.close()
    later = pickle.loads(data)
    np.testing.assert_array_equal(later[0], VALUES[0])
    later.dataset.close()


def test_dask_follows_the_chunks_and_reads_in_other_processes(document: Path) -> None:
    dask = pytest.importorskip("dask.array")
    with refbrowser.open(document) as dataset:
        array = dataset.array("g/a")
        lazy = array.to_dask()
        assert lazy.chunks == ((1, 1, 1, 1), (6,), (5,))
        assert array.to_dask(chunks=(2, 6, 5)).chunks[0] == (2, 2)
        assert int(lazy[[0, 3]].sum().compute(scheduler="synchronous")) == VALUES[[0, 3]].sum()
        sent = pickle.dumps(dask.from_array(array).sum())
    assert int(pickle.loads(sent).compute(scheduler="synchronous")) == VALUES.sum()


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_dask_computes_with_threads_and_with_processes(kinds: Any, scheduler: str) -> None:
    dask = pytest.importorskip("dask.array")
    array, values = kinds["edges"]
    lazy = dask.from_array(array, chunks=array.chunks)
    assert lazy.chunks == ((1, 3), (2, 1, 3), (4, 1))
    taken = lazy[::-1, [5, 0], 1:]
    found = taken.compute(scheduler=scheduler, num_workers=2)
    np.testing.assert_array_equal(found, values[::-1, [5, 0], 1:])


def test_dask_names_the_same_array_alike_and_others_otherwise(document: Path, kinds: Any) -> None:
    dask = pytest.importorskip("dask.array")
    with refbrowser.open(document) as one, refbrowser.open(document) as other:
        assert dask.from_array(one["g/a"]).name == dask.from_array(other["g/a"]).name
    assert dask.from_array(kinds["blocks"][0]).name != dask.from_array(kinds["columns"][0]).name


def test_no_credentials_are_in_a_pickle(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_MINE", "a-secret-value")
    settings = ["https://data.example.org:token=TOKEN_OF_MINE"]
    with refbrowser.open(document, allow=["https://data.example.org"], storage_options=settings) as dataset:
        data = pickle.dumps(dataset["g/a"])
        access = dataset.access
    assert b"a-secret-value" not in data
    array = pickle.loads(data)
    assert array.dataset.access.allowed == access.allowed
    assert array.dataset.access.settings == access.settings
    array.dataset.close()


def test_a_key_that_is_not_there_names_those_that_may_be_meant(tmp_path: Path) -> None:
    metadata = json.dumps({"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "order": "C"})
    refs = {".zgroup": '{"zarr_format": 2}', "temperature/.zarray": metadata, "temperature/0": "x"}
    (tmp_path / "a.json").write_text(json.dumps({"version": 1, "refs": refs}))
    with refbrowser.open(tmp_path / "a.json") as dataset:
        for key, meant in (("Temperatur/.zarray", "temperature/.zarray"), ("temprature/0", "temperature/0")):
            with pytest.raises(RefbrowserError, match="there is no key") as caught:
                dataset.read_key(key)
            assert meant in caught.value.advice
        with pytest.raises(RefbrowserError) as caught:
            dataset.read_key("nothing like it at all")
        assert caught.value.advice == ""
