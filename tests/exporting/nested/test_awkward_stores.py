"""Nested arrays in Zarr and NCZarr: ``awkward.from_buffers`` restores them with what zarr-python reads."""

from __future__ import annotations

import json
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import zarr
from awkward import contents, index
from nested_datasets import HeldValues, nested_dataset, same
from zarr_versions import needs_types_of_zarr

import refbrowser
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.check import check_export
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.nested import store_part
from refbrowser.exporting.options import Sides, StoreOptions
from refbrowser.exporting.request import ArrayChoice, ExportRequest
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.model.nested import NestedFault, NestedRows

FORMATS = ("zarr-v2", "zarr-v3", "nczarr")


def exported(dataset, target: Path, format: str = "zarr-v3", arrays=None, control=None, **options):
    chosen = None if arrays is None else tuple(ArrayChoice.of(dataset, *each) for each in arrays)
    return run_export(dataset, ExportRequest(str(target), format, chosen, **options), control)


def restored(target: Path, name: str, mode: str = "r") -> ak.Array:
    """Return a nested array as zarr-python and awkward read it."""
    group = zarr.open_group(target, mode=mode)[name]
    buffers = {key: array[...] for key, array in group.arrays()}
    return ak.from_buffers(group.attrs["awkward_form"], group.attrs["awkward_length"], buffers)


def rows(count: int) -> ak.Array:
    return ak.Array(
        [
            {
                "x": n / 4,
                "y": [{"z": None if n % 2 else str(n), "w": [n] * (n % 4)} for _ in range(n % 3)],
                "u": n if n % 3 else f"text {n}",
                "b": bytes([n]),
                "t": np.datetime64(n, "ns"),
                "p": (n % 2 == 0, None if n % 5 else [n]),
            }
            for n in range(count)
        ]
    )


@pytest.fixture
def small_blocks(monkeypatch) -> None:
    """Read four rows at a time, and write chunks of five integers."""
    monkeypatch.setattr(store_part, "BLOCK_SIZE", 4 * 32)
    monkeypatch.setattr(store_part, "CHUNK_SIZE", 40)


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_awkward_restores_what_zarr_python_reads(tmp_path: Path, format: str, small_blocks) -> None:
    array = rows(18)
    report = exported(nested_dataset(tmp_path, {"a": array}, title="t"), tmp_path / "s", format)
    assert (report.arrays, report.losses, report.skipped) == (1, (), ())
    assert report.verified == report.chunks > 20
    assert same(restored(tmp_path / "s", "a"), array)
    group = zarr.open_group(tmp_path / "s", mode="r")
    assert (group.attrs["title"], group["a"].attrs["note"]) == ("t", "of a")
    assert group["a/node2-offsets"].chunks == (5,)
    assert not [each for each in (tmp_path / "s").iterdir() if "refbrowser" in each.name]


@pytest.mark.parametrize("format", [*FORMATS, "zarr-v3-draft"])
def test_our_reader_finds_the_buffers(tmp_path: Path, format: str, small_blocks) -> None:
    array = ak.Array([[1.5] * (n % 3) for n in range(12)])
    exported(nested_dataset(tmp_path, {"a": array}), tmp_path / "s", format)
    with refbrowser.open(tmp_path / "s") as dataset:
        assert dataset["/a/node0-offsets"][...].tolist() == np.cumsum([0, *ak.num(array)]).tolist()
        assert dataset["/a/node1-data"][...].tolist() == [1.5] * 12
        assert dataset["/a/node0-offsets"].dimensions == ("node0_bounds",)
        assert dataset["/a"].attrs["awkward_length"] == 12
        assert json.loads(dataset["/a"].attrs["awkward_form"])["class"] == "ListOffsetArray"


NUMBERS = {
    "complex": np.array([1 + 2j, -3j]),
    "half": np.array([0.5, 1.5], np.float16),
    "truth": np.array([True, False]),
    "times": np.array(["2020-01-01T01", "NaT"], "M8[h]"),
    "durations": np.array([1, 2], "m8[ms]"),
    "unsigned": np.array([0, 2**63], np.uint64),
}


@needs_types_of_zarr
@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("format", FORMATS)
def test_numbers_of_any_type_come_back(tmp_path: Path, format: str, values: np.ndarray) -> None:
    array = ak.Array(contents.ListOffsetArray(index.Index64(np.array([0, 2])), contents.NumpyArray(values)))
    report = exported(nested_dataset(tmp_path, {"a": array}), tmp_path / "s", format)
    assert same(restored(tmp_path / "s", "a"), array)
    told = [loss.what for loss in report.losses]
    assert not [line for line in told if "Zarr V3 specification" not in line]


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_empty_arrays_come_back(tmp_path: Path, format: str) -> None:
    arrays = {"a": rows(3)[:0], "b": ak.Array([[]])[:0], "c": ak.Array([[], []]), "d": ak.Array([None])}
    exported(nested_dataset(tmp_path, arrays), tmp_path / "s", format)
    for name, array in arrays.items():
        assert same(restored(tmp_path / "s", name), array), name


def test_options_of_stores_hold_for_buffers(tmp_path: Path) -> None:
    array = ak.Array([[n] * 3 for n in range(40)])
    dataset = nested_dataset(tmp_path, {"a": array})
    options = StoreOptions(chunks=Sides.from_text("10"), shards=Sides.from_text("50"), codec="gzip:1")
    exported(dataset, tmp_path / "s", options=options)
    data = zarr.open_array(tmp_path / "s" / "a" / "node1-data", mode="r")
    assert (data.chunks, data.shards) == ((10,), (50,))
    assert same(restored(tmp_path / "s", "a"), array)
    exported(dataset, tmp_path / "s.zip", "zarr-v2", options=StoreOptions(container="zip"))
    store = zarr.storage.ZipStore(tmp_path / "s.zip", mode="r")
    group = zarr.open_group(store, mode="r")["a"]
    assert group["node0-offsets"][-1] == 120
    store.close()


@needs_types_of_zarr
def test_rows_and_fields_may_be_chosen(tmp_path: Path, small_blocks) -> None:
    array = rows(18)
    dataset = nested_dataset(tmp_path, {"a": array, "b": array.y})
    exported(dataset, tmp_path / "s", arrays=[("/a", "3:15:2")])
    assert same(restored(tmp_path / "s", "a"), array[3:15:2])
    assert list(zarr.open_group(tmp_path / "s", mode="r")) == ["a"]


def test_estimates_tell_of_the_intermediate_files(tmp_path: Path) -> None:
    dataset = nested_dataset(tmp_path, {"a": HeldValues(rows(10), row_bytes=100)})
    estimate = estimate_export(dataset, ExportRequest(str(tmp_path / "s"), "zarr-v3"))
    assert (estimate.source_bytes, estimate.target_bytes, estimate.spool_bytes) == (1000, 1000, 1000)


@pytest.mark.slow
def test_an_export_that_was_cancelled_goes_on(tmp_path: Path, small_blocks) -> None:
    array, token = rows(18), CancelToken()
    seen: list[int] = []

    def ending(start: int, stop: int) -> None:
        seen.append(start)
        if start >= 8:
            token.cancel()

    dataset = nested_dataset(tmp_path, {"a": HeldValues(array, seen=ending)})
    with pytest.raises(Cancelled):
        exported(dataset, tmp_path / "s", control=JobControl(token))
    assert (seen[0], seen[-1]) == (0, 8)
    assert not (tmp_path / "s").exists()
    report = exported(dataset, tmp_path / "s", resume=True)
    assert same(restored(tmp_path / "s", "a"), array)
    # Complete now: it is compared with the source.
    again = exported(dataset, tmp_path / "s", resume=True)
    assert again.verified == report.chunks
    other = nested_dataset(tmp_path, {"a": HeldValues(ak.concatenate([array[:-1], array[:1]]))})
    with pytest.raises(RefbrowserError, match="differ"):
        exported(other, tmp_path / "s", resume=True)


@pytest.mark.slow
def test_parts_that_cannot_be_read_become_options_where_that_is_wanted(tmp_path: Path, small_blocks) -> None:
    array = rows(18)

    def seen(start: int, stop: int) -> NestedRows | None:
        if start < 12:
            return None
        content = array[start:stop].layout
        parts = [content.content(name) for name in content.fields]
        missing = index.Index64(np.full(len(content), -1))
        parts[0] = contents.IndexedOptionArray(missing, parts[0])
        error = RefbrowserError(ErrorKind.DECODE, "blob 1 is damaged")
        return NestedRows(contents.RecordArray(parts, content.fields), (NestedFault("x", error),))

    dataset = nested_dataset(tmp_path, {"a": HeldValues(array, seen=seen)})
    with pytest.raises(RefbrowserError, match="blob 1 is damaged"):
        exported(dataset, tmp_path / "s")
    assert not (tmp_path / "s").exists()
    report = exported(dataset, tmp_path / "s", skip_bad=True)
    assert [error.message for error in report.skipped] == ["blob 1 is damaged"]
    found = restored(tmp_path / "s", "a")
    assert found.x.to_list() == [*array.x.to_list()[:12], *[None] * 6]
    assert same(found.y, array.y)


def test_rows_that_are_not_all_there_are_an_error(tmp_path: Path) -> None:
    array = rows(6)
    short = HeldValues(array, seen=lambda start, stop: NestedRows(array[:2].layout))
    with pytest.raises(RefbrowserError, match="2 rows were read where there are 6"):
        exported(nested_dataset(tmp_path, {"a": short}), tmp_path / "s")


@pytest.mark.slow
def test_a_store_is_exported_again_with_its_forms(tmp_path: Path) -> None:
    array = rows(7)
    exported(nested_dataset(tmp_path, {"a": array}), tmp_path / "s")
    with refbrowser.open(tmp_path / "s") as dataset:
        exported(dataset, tmp_path / "t", "zarr-v2")
    assert same(restored(tmp_path / "t", "a"), array)


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_the_real_files_of_awkward_0_are_restored(shared_data: Path, tmp_path: Path, format: str) -> None:
    expected = json.loads((shared_data / "awkward0" / "mini.hepmc.expected.json").read_text())
    with refbrowser.open(shared_data / "awkward0" / "mini.hepmc.awkd") as dataset:
        names = list(expected)[::4]
        report = exported(dataset, tmp_path / "s", format, arrays=[(f"/{name}",) for name in names])
        assert report.arrays == len(names)
    group = zarr.open_group(tmp_path / "s", mode="r")
    for name in names:
        facts = expected[name]
        if isinstance(group[name], zarr.Array):
            found = ak.Array(group[name][...].tolist())
            assert len(found) == facts["length"]
        else:
            found = restored(tmp_path / "s", name)
            assert str(found.type) == facts["type"]
        if "sum" in facts:
            flat = ak.to_numpy(ak.flatten(found, axis=None)).astype(float)
            assert np.sum(flat[np.isfinite(flat)]) == pytest.approx(facts["sum"], rel=1e-9)
        assert "awkward0_schema" not in group[name].attrs


@pytest.mark.long
def test_other_software_reads_the_buffers(tmp_path: Path) -> None:
    array = rows(9)
    request = ExportRequest(str(tmp_path / "s"), "nczarr")
    with nested_dataset(tmp_path, {"a": array}) as dataset:
        run_export(dataset, request)
        report = check_export(dataset, request)
        assert report.is_equal
        assert len([item for item in report.items if item.what == "values"]) >= 13
    # One number of one array differs: each array that does is asked for once more, by another process.
    other = ak.Array([*array.to_list()[:-1], array.to_list()[-1] | {"x": 7.5}])
    with nested_dataset(tmp_path, {"a": other}) as dataset:
        assert not check_export(dataset, request).is_equal
    assert sorted(each.name for each in tmp_path.iterdir()) == ["nothing.json", "s"]
