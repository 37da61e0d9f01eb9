"""Months whose chunks are the months: one array of 31, 28 and 31 days."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import zarr
from numcodecs import Base64
from rectilinear_stores import needs_zarr_with_edges

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.combining import file_positions
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.combine import combine, gather, plan_of
from refbrowser.limits import LIMITS

DAYS = [31, 28, 31, 30]
STARTS = [0, 31, 59, 90]


def values_of(number: int) -> np.ndarray:
    return np.random.default_rng(number).normal(size=(DAYS[number], 4, 3)).astype("f4")


def month(path: Path, number: int, chunk: tuple[int, ...] | None = None, **how: Any) -> Path:
    """Write one month; its chunk is the month where no other is given."""
    values = how.pop("values", values_of(number))
    with h5py.File(path, "w") as file:
        time = file.create_dataset("time", data=np.arange(len(values), dtype="f8") + STARTS[number])
        time.attrs["units"] = "days since 2001-01-01"
        time.make_scale("time")
        for name, size in (("y", 4), ("x", 3)):
            file.create_dataset(name, data=np.arange(size, dtype="f4")).make_scale(name)
        how = {"compression": "gzip", "shuffle": True, "fillvalue": np.float32(-999), **how}
        temp = file.create_dataset("t", data=values, chunks=chunk or values.shape, **how)
        temp.attrs["_FillValue"] = np.array([-999], "f4")
        for axis, name in enumerate(("time", "y", "x")):
            temp.dims[axis].attach_scale(file[name])
    return path


@pytest.fixture
def months(tmp_path: Path) -> list[Path]:
    return [month(tmp_path / f"m{number}.nc", number) for number in range(3)]


def combined(files: list[Path], target: Path, **more: Any) -> refbrowser.Dataset:
    sources = tuple(map(str, files))
    combine(Combination(sources=sources, target=str(target), concat=("time",), force=True, **more))
    return refbrowser.open(target, allow=[str(target.parent)])


YEAR = np.concatenate([values_of(number) for number in range(3)])


def planned(files: list[Path], **more: Any) -> Any:
    request = Combination(sources=tuple(map(str, files)), target="x.json", concat=("time",), **more)
    return plan_of(gather(request), request)


def test_months_are_one_array_of_unequal_chunks(months: list[Path], tmp_path: Path) -> None:
    year = combined(months, tmp_path / "year.json")
    assert year["t"].chunks == ((31, 28, 31), 4, 3)
    assert np.array_equal(year["t"][...], YEAR)
    assert np.array_equal(year["time"][...], np.arange(90))
    # Each chunk is that of its file.
    refs = json.loads((tmp_path / "year.json").read_text())["refs"]
    for number in range(3):
        url, offset, size = refs[f"t/c/{number}/0/0"]
        with h5py.File(tmp_path / url) as file:
            info = file["t"].id.get_chunk_info(0)
            assert (info.byte_offset, info.size) == (offset, size)


def test_what_the_metadata_says(months: list[Path], tmp_path: Path) -> None:
    combined(months, tmp_path / "year.json")
    refs = json.loads((tmp_path / "year.json").read_text())["refs"]
    told = json.loads(refs["t/zarr.json"])
    assert told["chunk_grid"] == {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[31, 28, 31], 4, 3]},
    }
    assert told["dimension_names"] == ["time", "y", "x"]
    assert [codec["name"] for codec in told["codecs"]] == ["bytes", "numcodecs.shuffle", "numcodecs.zlib"]
    # Version 3 has one metadata document for each node.
    assert not [key for key in refs if key.endswith((".zarray", ".zattrs", ".zgroup"))]


def test_it_is_told_and_blocks_nothing(months: list[Path]) -> None:
    plan = planned(months)
    assert plan.blocking == []
    (told,) = (each for each in plan.mismatches if each.kind == "chunks")
    assert told.message.startswith("/t: chunks have unequal sides, [31, 28, 31] along time: zarr-python")


def test_equal_chunks_that_meet_stay_regular(tmp_path: Path) -> None:
    files = [month(tmp_path / f"m{n}.nc", 0, (1, 4, 3), values=values_of(0)) for n in (0,)]
    year = combined([*files, month(tmp_path / "n.nc", 1, (1, 4, 3))], tmp_path / "year.json")
    assert year["t"].chunks == (1, 4, 3)
    assert year["t"].node.format == "zarr-v2"


def test_uncompressed_months_are_divided_as_before(tmp_path: Path) -> None:
    plain = {"compression": None, "shuffle": False}
    files = [month(tmp_path / f"m{number}.nc", number, **plain) for number in range(3)]
    year = combined(files, tmp_path / "year.json")
    assert year["t"].node.grid.is_regular
    assert np.array_equal(year["t"][...], YEAR)


def test_months_of_several_chunks(tmp_path: Path) -> None:
    sides = [(10, 2, 3), (14, 2, 3), (31, 2, 3)]
    files = [
        month(tmp_path / "a.nc", 0, sides[0], values=values_of(0)[:30]),
        month(tmp_path / "b.nc", 1, sides[1]),
        month(tmp_path / "c.nc", 2, sides[2]),
    ]
    year = combined(files, tmp_path / "year.json")
    assert year["t"].node.grid.spelling == [[[10, 3], [14, 2], 31], 2, 3]
    assert np.array_equal(year["t"][...], np.concatenate([values_of(0)[:30], values_of(1), values_of(2)]))


def test_the_last_month_may_end_within_a_chunk(tmp_path: Path) -> None:
    files = [month(tmp_path / "a.nc", 0), month(tmp_path / "b.nc", 1, (20, 4, 3), maxshape=(None, 4, 3))]
    year = combined(files, tmp_path / "year.json")
    assert year["t"].node.grid.spelling == [[31, [20, 2]], 4, 3]
    assert np.array_equal(year["t"][...], YEAR[:59])


def test_chunks_that_differ_along_other_dimensions_block(months: list[Path], tmp_path: Path) -> None:
    files = [months[0], month(tmp_path / "b.nc", 1, (28, 2, 3))]
    assert {each.kind for each in planned(files).blocking} >= {"chunks"}


def test_stores_of_zarr_v3_are_combined(months: list[Path], tmp_path: Path) -> None:
    stores = []
    for number, path in enumerate(months):
        stores.append(tmp_path / f"s{number}.zarr")
        refbrowser.export(path, stores[-1], format="zarr-v3", codec="zstd:1")
    year = combined(stores, tmp_path / "year.json")
    assert year["t"].chunks == ((31, 28, 31), 4, 3)
    assert np.array_equal(year["t"][...], YEAR)


def test_arrays_of_unequal_chunks_are_combined(months: list[Path], tmp_path: Path) -> None:
    stores = []
    for number, path in enumerate(months):
        stores.append(tmp_path / f"s{number}.zarr")
        edges = {"chunks": f"[20,{DAYS[number] - 20}],[1,3],*", "codec": "zstd:1"}
        refbrowser.export(path, stores[-1], format="zarr-v3", arrays=["/t"], **edges)
        refbrowser.export(path, tmp_path / "c.zarr", format="zarr-v3", arrays=["/time"], force=True)
        (tmp_path / "c.zarr" / "time").rename(stores[-1] / "time")
    year = combined(stores, tmp_path / "year.json")
    assert year["t"].chunks == ((20, 11, 20, 8, 20, 11), (1, 3), 3)
    assert np.array_equal(year["t"][...], YEAR)


def test_another_month_is_appended(months: list[Path], tmp_path: Path) -> None:
    stores = []
    for number, path in enumerate([*months, month(tmp_path / "m3.nc", 3)]):
        stores.append(tmp_path / f"s{number}.zarr")
        refbrowser.export(path, stores[-1], format="zarr-v3", codec="zstd:1")
    combined(stores[:3], tmp_path / "year.json")
    refbrowser.append(tmp_path / "year.json", [stores[3]])
    year = refbrowser.open(tmp_path / "year.json", allow=[str(tmp_path)])
    assert year["t"].chunks == ((31, 28, 31, 30), 4, 3)
    assert np.array_equal(year["t"][...], np.concatenate([YEAR, values_of(3)]))


def test_files_of_netcdf_are_appended_to_what_they_became(months: list[Path], tmp_path: Path) -> None:
    combined(months, tmp_path / "year.json")
    refbrowser.append(tmp_path / "year.json", [month(tmp_path / "m3.nc", 3)])
    year = refbrowser.open(tmp_path / "year.json", allow=[str(tmp_path)])
    assert year["t"].chunks == ((31, 28, 31, 30), 4, 3)
    assert np.array_equal(year["t"][...], np.concatenate([YEAR, values_of(3)]))
    assert np.array_equal(year["time"][...], np.arange(120))


def test_files_of_both_versions_are_combined(months: list[Path], tmp_path: Path) -> None:
    refbrowser.export(months[1], tmp_path / "feb.zarr", format="zarr-v3")
    year = combined([months[0], tmp_path / "feb.zarr", months[2]], tmp_path / "year.json")
    assert year["t"].chunks == ((31, 28, 31), 4, 3)
    assert np.array_equal(year["t"][...], YEAR)


def test_what_zarr_v3_has_no_words_for_is_named(tmp_path: Path) -> None:
    stores = []
    for number in range(2):
        stores.append(tmp_path / f"s{number}.zarr")
        group = zarr.create_group(stores[-1], zarr_format=2)
        time, values = np.arange(DAYS[number]) + STARTS[number], values_of(number)
        for name, data, codec in (("time", time, None), ("t", values, Base64())):
            array = group.create_array(
                name, shape=data.shape, chunks=data.shape, dtype=data.dtype, compressors=codec
            )
            array[...] = data
            array.attrs["_ARRAY_DIMENSIONS"] = ["time", "y", "x"][: data.ndim]
    with pytest.raises(RefbrowserError, match="no form in Zarr v3") as caught:
        combined(stores, tmp_path / "year.json")
    assert caught.value.kind is ErrorKind.META
    assert not (tmp_path / "year.json").exists()


def test_the_window_of_values_is_that_of_the_files(months: list[Path], tmp_path: Path) -> None:
    year = combined(months, tmp_path / "year.json")
    for index in (np.s_[30:32], np.s_[58, 2], np.s_[::13, ::2], np.s_[89:20:-7]):
        assert np.array_equal(year["t"][index], YEAR[index])


@pytest.fixture
def unfilled(tmp_path: Path) -> list[Path]:
    """Months that are stored in chunks of 31 days and 3 x 3 places."""
    chunks = {"chunk": (31, 3, 3), "maxshape": (None, 4, 3)}
    return [month(tmp_path / f"u{number}.nc", number, **chunks) for number in range(3)]


def test_chunks_that_a_month_does_not_fill_are_written_again(unfilled: list[Path], tmp_path: Path) -> None:
    year = combined(unfilled, tmp_path / "year.json")
    assert year["t"].node.grid.spelling == [[31, 28, 31], 3, 3]
    assert np.array_equal(year["t"][...], YEAR)
    refs = json.loads((tmp_path / "year.json").read_text())["refs"]
    held = [key for key, value in refs.items() if key.startswith("t/c/") and isinstance(value, str)]
    assert sorted(held) == ["t/c/1/0/0", "t/c/1/1/0"]


def test_what_is_written_again_is_told(unfilled: list[Path]) -> None:
    plan = planned(unfilled)
    assert plan.blocking == []
    (told,) = (each for each in plan.mismatches if each.kind == "file ends")
    # 28 days of two chunks of 9 numbers of 4 bytes.
    assert told.message == (
        "/t: the last chunks of files are not filled: they are written again into the document, "
        "2.02 kB of values"
    )


def test_more_than_a_document_holds_is_not_written_again(
    unfilled: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_positions, "LIMITS", replace(LIMITS, inlined_members=28 * 18 * 4 - 1))
    (blocking,) = planned(unfilled).blocking
    assert blocking.kind == "file ends"
    assert "do not meet at the ends of files" in blocking.message


def test_missing_chunks_stay_missing(tmp_path: Path) -> None:
    files = [month(tmp_path / f"m{number}.nc", number, (31, 4, 1)) for number in (0, 2)]
    files.insert(1, month(tmp_path / "m1.nc", 1))
    with h5py.File(files[1], "a") as file:
        del file["t"]
        parts = {"chunks": (31, 4, 1), "maxshape": (None, 4, 3), "compression": "gzip", "shuffle": True}
        temp = file.create_dataset("t", (28, 4, 3), "f4", fillvalue=np.float32(-999), **parts)
        temp.attrs["_FillValue"] = np.array([-999], "f4")
        temp[:, :, 1] = values_of(1)[:, :, 1]
        for axis, name in enumerate(("time", "y", "x")):
            temp.dims[axis].attach_scale(file[name])
    year = combined(files, tmp_path / "year.json")
    assert year["t"].node.manifest.stored() == 7
    assert np.array_equal(year["t"][31:59, :, 1], values_of(1)[:, :, 1])
    assert (year["t"][31:59, :, 0] == -999).all()


def test_what_was_written_again_becomes_chunks_of_a_store(unfilled: list[Path], tmp_path: Path) -> None:
    year = combined(unfilled, tmp_path / "year.json")
    report = refbrowser.export(year, tmp_path / "year.zarr", format="zarr-v3")
    assert report.copied == report.chunks
    assert np.array_equal(refbrowser.open(tmp_path / "year.zarr")["t"][...], YEAR)


@needs_zarr_with_edges
def test_others_read_the_same(months: list[Path], tmp_path: Path) -> None:
    import xarray

    year = combined(months, tmp_path / "year.json")
    refbrowser.export(year, tmp_path / "year.zarr", format="zarr-v3")
    with zarr.config.set({"array.rectilinear_chunks": True}):
        assert np.array_equal(zarr.open_group(tmp_path / "year.zarr", mode="r")["t"][...], YEAR)
        opened = xarray.open_zarr(tmp_path / "year.zarr", consolidated=False, chunks={})
        assert opened["t"].chunks == ((31, 28, 31), (4,), (3,))
        assert np.array_equal(opened["t"].values, YEAR)


@needs_zarr_with_edges
def test_icechunk_holds_the_references(months: list[Path], tmp_path: Path) -> None:
    icechunk = pytest.importorskip("icechunk")
    import xarray

    year = combined(months, tmp_path / "year.json")
    report = refbrowser.export(year, tmp_path / "year.ice", format="icechunk")
    assert report.read_bytes < YEAR.nbytes
    storage = icechunk.local_filesystem_storage(str(tmp_path / "year.ice"))
    allowed = icechunk.containers_credentials({f"file://{tmp_path}/": None})
    repository = icechunk.Repository.open(storage, authorize_virtual_chunk_access=allowed)
    store = repository.readonly_session("main").store
    with zarr.config.set({"array.rectilinear_chunks": True}):
        array = zarr.open_group(store, mode="r")["t"]
        assert array.metadata.to_dict()["chunk_grid"]["name"] == "rectilinear"
        assert np.array_equal(array[...], YEAR)
        assert np.array_equal(xarray.open_zarr(store, consolidated=False)["t"].values, YEAR)
    again = refbrowser.open(tmp_path / "year.ice", allow=[str(tmp_path)])["t"]
    assert again.chunks == ((31, 28, 31), 4, 3)
    assert np.array_equal(again[...], YEAR)
