"""Indexes with places, masks and new axes are numpy's, and read only the chunks that they need."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refbrowser
from refbrowser.errors import RefbrowserError

VALUES = np.arange(4 * 6 * 5, dtype="<i4").reshape(4, 6, 5)


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


@st.composite
def indexes(draw: st.DrawFn) -> tuple[Any, ...]:
    items = [draw(_axis(size)) for size in VALUES.shape][: draw(st.integers(0, 3))]
    for extra in draw(st.sampled_from([(), (None,), (None, None), (Ellipsis,), (None, Ellipsis)])):
        items.insert(draw(st.integers(0, len(items))), extra)
    if Ellipsis in [each for each in items if each is Ellipsis] and draw(st.booleans()):
        at = next(at for at, each in enumerate(items) if each is Ellipsis)
        items[at + 1 :] = [each for each in items[at + 1 :] if each is None or isinstance(each, slice)]
    return tuple(items)


@pytest.mark.slow
@given(indexes())
def test_any_index_is_that_of_numpy(array: Any, index: tuple[Any, ...]) -> None:
    try:
        expected = VALUES[index]
    except IndexError:
        with pytest.raises(IndexError):
            array[index]
        return
    found = array[index]
    assert np.shape(found) == expected.shape
    np.testing.assert_array_equal(found, expected)


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
