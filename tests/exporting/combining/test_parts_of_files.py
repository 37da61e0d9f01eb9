"""Parts of files, other names and smaller chunks: no data is touched, values are xarray's."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from daily_documents import EPOCH, add, days_of, document, values_of
from hypothesis import given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.combining.combination import ChunkCut, Combination, DimensionRange
from refbrowser.exporting.combining.combine import combine, gather, plan_of


def request_of(files: list[Path], target: Path | str = "x.json", **more: Any) -> Combination:
    return Combination(sources=tuple(map(str, files)), target=str(target), force=True, **more)


def planned(files: list[Path], **more: Any) -> Any:
    request = request_of(files, **more)
    return plan_of(gather(request), request)


def made(files: list[Path], target: Path, **more: Any) -> refbrowser.Dataset:
    combine(request_of(files, target, **more))
    return refbrowser.open(target, allow=[str(target.parent)])


@pytest.fixture
def quarters(tmp_path: Path) -> list[Path]:
    """Return two files of 20 days each, in chunks of 5 days."""
    return [
        document(tmp_path / f"q{number}.json", days_of(first, 20), chunk=5)
        for number, first in enumerate(("2016-01-01", "2016-01-21"))
    ]


# A part


def test_a_part_begins_where_a_chunk_does(quarters: list[Path], tmp_path: Path) -> None:
    part = made(quarters, tmp_path / "p.json", concat=("time",), select=("time=2016-01-11:2016-01-30",))
    days = days_of("2016-01-11", 20)
    assert part["time"][...].tolist() == days.tolist()
    assert np.array_equal(part["t"][...], values_of(days, "f4"))
    assert len([each for each in json.loads((tmp_path / "p.json").read_text())["refs"] if "t/" in each]) == 6


def test_it_may_end_within_a_chunk(quarters: list[Path], tmp_path: Path) -> None:
    part = made(quarters, tmp_path / "p.json", concat=("time",), select=("time=2016-01-11:2016-01-29",))
    assert np.array_equal(part["t"][...], values_of(days_of("2016-01-11", 19), "f4"))


def test_where_it_begins_within_one_the_borders_are_named(quarters: list[Path]) -> None:
    (told,) = planned(quarters, concat=("time",), select=("time=2016-01-13:",)).blocking
    assert told.message == (
        "/t: the part begins within a chunk, at time 2016-01-13 in q0.json; the nearest borders are "
        "2016-01-11 and 2016-01-16"
    )
    (told,) = planned(quarters[:1], select=("x@1:",)).blocking
    assert told.message.endswith("at x [1] in q0.json; the nearest borders are [0] and [3]")


def test_files_of_which_nothing_is_taken_are_told(quarters: list[Path]) -> None:
    plan = planned(quarters, concat=("time",), select=("time@25:",))
    assert plan.left_out == [(str(quarters[0]), "not selected")]
    assert [axis.size for axis in plan.axes] == [15]


def test_a_document_has_a_part_of_its_own(quarters: list[Path], tmp_path: Path) -> None:
    made(quarters, tmp_path / "all.json", concat=("time",))
    part = made([tmp_path / "all.json"], tmp_path / "p.json", select=("time=2016-01-26:2016-01",))
    assert np.array_equal(part["t"][...], values_of(days_of("2016-01-26", 6), "f4"))
    assert part["time"].shape == (6,)


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("time=2019:", "nothing is taken"),
        ("y@0:1", "no array of the files has the dimension 'y'"),
        ("x=1:2", "no coordinate says"),
        ("time=0.5:", "is not a date"),
        ("time", "not of the form DIM=FROM:TO"),
        ("time=:", "not of the form DIM=FROM:TO"),
        ("time=2016-02-31:", "not a date"),
    ],
)
def test_what_cannot_be_taken_is_a_mistake_of_usage(quarters: list[Path], select: str, message: str) -> None:
    with pytest.raises(RefbrowserError, match=message) as caught:
        planned(quarters, concat=("time",), select=(select,))
    assert caught.value.kind is ErrorKind.USAGE


def test_values_and_positions_along_other_dimensions(tmp_path: Path) -> None:
    refs: dict[str, Any] = {".zgroup": {"zarr_format": 2}}
    add(refs, "lat", np.linspace(50, 41, 10), (10,), dims=("lat",))
    add(refs, "t", np.arange(20, dtype="<f4").reshape(10, 2), (2, 2), dims=("lat", "x"))
    (tmp_path / "a.json").write_text(json.dumps({"version": 1, "refs": refs}))
    for select in ("lat=43:48", "lat@2:8", "lat@2:-2"):
        part = made([tmp_path / "a.json"], tmp_path / "p.json", select=(select,))
        assert part["lat"][...].tolist() == [48, 47, 46, 45, 44, 43]
        assert part["t"][...].tolist() == np.arange(20).reshape(10, 2)[2:8].tolist()


def test_words_of_ranges() -> None:
    parse = DimensionRange.parse
    assert parse("time=2016") == DimensionRange("time", "2016", "2016")
    assert parse("time=2016-01-01T06:2016") == DimensionRange("time", "2016-01-01T06", "2016")
    assert parse("x@-5:").positions == slice(-5, None)
    assert parse("lat=-5.5:1e3") == DimensionRange("lat", "-5.5", "1e3")
    assert ChunkCut.parse("t:time=1") == ChunkCut("t", "time", 1)
    for text in ("time", "time=0", "time=x", "=1"):
        with pytest.raises(RefbrowserError):
            ChunkCut.parse(text)


# Holes within files


def test_a_hole_within_a_file_stays_one(tmp_path: Path) -> None:
    days = np.concatenate([days_of("2016-01-01", 5), days_of("2016-01-10", 5)])
    file = document(tmp_path / "a.json", days, chunk=5)
    found = made([file], tmp_path / "all.json", axis=("time=::1D",))
    # Chunks of five days do not meet again after four days without any: they get unequal sides.
    assert found["t"].chunks == ((5, 4, 5), 3)
    assert found["time"][...].tolist() == days_of("2016-01-01", 14).tolist()
    assert np.array_equal(found["t"][...][[*range(5), *range(9, 14)]], values_of(days, "f4"))
    assert np.isnan(found["t"][5:9]).all()


def test_a_hole_within_a_chunk_is_refused(tmp_path: Path) -> None:
    days = np.concatenate([days_of("2016-01-01", 3), days_of("2016-01-10", 5)])
    (told,) = planned([document(tmp_path / "a.json", days, chunk=4)], axis=("time=::1D",)).blocking
    assert told.message == (
        "/t: what follows a hole begins within a chunk, at time 2016-01-10 in a.json; the nearest borders "
        "are 2016-01-01 and 2016-01-11"
    )


def test_ends_of_parts_that_are_not_filled_are_those_of_the_files(tmp_path: Path) -> None:
    files = [
        document(tmp_path / f"{number}.json", days_of(first, 10), chunk=4)
        for number, first in enumerate(("2016-01-01", "2016-01-11"))
    ]
    part = made(files, tmp_path / "p.json", concat=("time",), select=("time=2016-01-05:",))
    assert part["t"].chunks == ((4, 2, 4, 4, 2), 3)
    assert np.array_equal(part["t"][...], values_of(days_of("2016-01-05", 16), "f4"))


# Other names


def test_arrays_and_dimensions_get_other_names(tmp_path: Path) -> None:
    how = {"t": {"dtype": "<f4", "coordinates": "time", "cell_methods": "time: mean"}}
    file = document(tmp_path / "a.json", days_of("2016-01-01", 3), variables=how)
    found = made([file], tmp_path / "b.json", rename=("time=day", "t=tas", "x=place"))
    assert sorted(found.arrays) == ["/day", "/tas"]
    assert found["tas"].node.dimensions == ("day", "place")
    assert (found["tas"].attrs["coordinates"], found["tas"].attrs["cell_methods"]) == ("day", "day: mean")
    assert np.array_equal(found["tas"][...], values_of(days_of("2016-01-01", 3), "f4"))
    # Other options name them as the files do.
    found = made([file], tmp_path / "b.json", rename=("t=tas",), set_attr=("t:units=K",), concat=("time",))
    assert found["tas"].attrs["units"] == "K"


@pytest.mark.parametrize("v3", [False, True])
def test_the_chunks_of_those_are_the_same(tmp_path: Path, v3: bool) -> None:
    file = document(tmp_path / "a.json", days_of("2016-01-01", 3), v3=v3)
    before = json.loads(file.read_text())["refs"]
    made([file], tmp_path / "b.json", rename=("t=tas",))
    after = json.loads((tmp_path / "b.json").read_text())["refs"]
    chunks = {
        key.replace("tas/", "t/"): value for key, value in after.items() if "tas/" in key and ".z" not in key
    }
    chunks.pop("t/zarr.json", None)
    assert chunks == {key: before[key] for key in chunks}
    assert len(chunks) == 3


@pytest.mark.parametrize(
    ("rename", "message"),
    [
        ("tt=a", "there is no array or dimension 'tt'"),
        ("t=time", "would be called '/time'"),
        ("t=a/b", "not of the form"),
        ("t=.zarray", "not of the form"),
        ("t", "not of the form"),
    ],
)
def test_wrong_names(quarters: list[Path], rename: str, message: str) -> None:
    with pytest.raises(RefbrowserError, match=message) as caught:
        planned(quarters, concat=("time",), rename=(rename,))
    assert caught.value.kind is ErrorKind.USAGE


def test_two_names_may_be_exchanged(tmp_path: Path) -> None:
    how = {"t": {"dtype": "<f4"}, "p": {"dtype": "<i2"}}
    file = document(tmp_path / "a.json", days_of("2016-01-01", 3), variables=how)
    found = made([file], tmp_path / "b.json", rename=("t=p", "p=t"))
    assert (found["p"].dtype, found["t"].dtype) == (np.dtype("f4"), np.dtype("i2"))


# Smaller chunks


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """Return a netCDF file whose arrays lie in it in one piece."""
    with netCDF4.Dataset(tmp_path / "plain.nc", "w", format="NETCDF3_CLASSIC") as file:
        for name, size in (("time", 12), ("y", 4), ("x", 3)):
            file.createDimension(name, size)
        time = file.createVariable("time", "i4", ("time",))
        time.units = "days since 2016-01-01"
        time[:] = np.arange(12)
        file.createVariable("t", "f4", ("time", "y", "x"))[:] = np.arange(144).reshape(12, 4, 3)
        file.createVariable("m", "f4", ("y", "time"))[:] = np.arange(48).reshape(4, 12)
    return tmp_path / "plain.nc"


def test_a_chunk_that_is_not_compressed_becomes_many_ranges(plain: Path, tmp_path: Path) -> None:
    found = made([plain], tmp_path / "cut.json", subchunk=("time=3",))
    assert (found["t"].chunks, found["m"].chunks) == ((3, 4, 3), (4, 12))
    assert np.array_equal(found["t"][...], np.arange(144).reshape(12, 4, 3))
    refs = json.loads((tmp_path / "cut.json").read_text())["refs"]
    offsets = [refs[f"t/{number}.0.0"][1] for number in range(4)]
    assert np.diff(offsets).tolist() == [3 * 4 * 3 * 4] * 3
    assert {refs[f"t/{number}.0.0"][2] for number in range(4)} == {144}


def test_a_single_file_is_cut_from_the_command_line(plain: Path, tmp_path: Path) -> None:
    target = tmp_path / "cut.json"
    assert (
        main(["make", str(plain), "-o", str(target), "--subchunk", "t:time=3", "--select", "y@1:,x@:2"]) == 2
    )
    assert main(["make", str(plain), "-o", str(target), "--subchunk", "t:time=3"]) == 0
    with refbrowser.open(target, allow=[str(tmp_path)]) as found:
        assert found["t"].chunks == (3, 4, 3)


def test_which_stay_as_they_are_is_told(plain: Path) -> None:
    plan = planned([plain], subchunk=("time=1",))
    assert [each.message for each in plan.mismatches if each.kind == "chunks"] == [
        "/m: chunks stay as they are: time is not the outermost dimension of its chunks"
    ]


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ("m:time=1", "/m: time is not the outermost dimension"),
        ("t:time=5", "/t: chunks of 12 are no multiple of 5"),
        ("z=1", "no array of the files has the dimension 'z'"),
    ],
)
def test_what_cannot_be_cut_is_refused_with_the_cause(plain: Path, chunks: str, message: str) -> None:
    with pytest.raises(RefbrowserError, match=message) as caught:
        planned([plain], subchunk=(chunks,))
    assert caught.value.kind is ErrorKind.USAGE


def test_compressed_chunks_are_not_cut(quarters: list[Path]) -> None:
    with pytest.raises(RefbrowserError, match="/t: its chunks are compressed"):
        planned(quarters, concat=("time",), subchunk=("time=1",))


def test_a_part_of_what_is_cut_may_begin_anywhere(plain: Path, tmp_path: Path) -> None:
    found = made(
        [plain],
        tmp_path / "cut.json",
        subchunk=("time=1",),
        select=("time=2016-01-06:",),
        leave_out_var=("m",),
    )
    assert np.array_equal(found["t"][...], np.arange(144).reshape(12, 4, 3)[5:])


# As xarray has it


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_parts_are_those_of_xarray(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    xarray = pytest.importorskip("xarray")
    folder = tmp_path_factory.mktemp("parts")
    draw = data.draw
    packed, v3, side = draw(st.booleans()), draw(st.booleans()), draw(st.sampled_from([1, 2, 3, 6]))
    how = {"t": {"dtype": "<f4", "packed": packed, "fill": "NaN"}, "n": {"dtype": "<i2", "packed": packed}}
    files, day = [], 5844
    for number in range(draw(st.integers(1, 3))):
        length = 6 * draw(st.integers(1, 3))
        days = np.arange(day, day + length)
        files.append(document(folder / f"f{number}.json", days, variables=how, v3=v3, chunk=side))
        day += length
    first = draw(st.integers(5844, day - 1))
    last = draw(st.integers(first, day - 1))
    begin, end = (EPOCH + timedelta(days=each) for each in (first, last))
    cut = ("time=1",) if draw(st.booleans()) and not packed and side > 1 else ()
    request = request_of(
        files,
        folder / "p.json",
        concat=("time",),
        select=(f"time={begin}:{end}",),
        subchunk=cut,
        rename=("t=tas",),
    )
    if plan_of(gather(request), request).blocking:
        assert (first - 5844) % (1 if cut else side)
        return
    combine(request)
    datasets = [xarray.open_dataset(each, engine="refbrowser").load() for each in files]
    expected = xarray.concat(datasets, "time").sel(time=slice(str(begin), str(end))).rename(t="tas")
    with xarray.open_dataset(folder / "p.json", engine="refbrowser") as found:
        assert found.equals(expected)
