"""Combined values against xarray and kerchunk where these are right, else against single files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
import xarray
import zarr

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.combine import combine, gather, plan_of
from refbrowser.exporting.combining.plan import Plan
from refbrowser.exporting.targets.reference_options import ReferenceOptions

DAYS = [31, 28, 31]


def month(path: Path, number: int, form: str = "NETCDF3_CLASSIC", **other: Any) -> None:
    begin, days = sum(DAYS[:number]), DAYS[number]
    is_new = form == "NETCDF4"
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.createDimension("time", None if is_new else days)
        for name, size in (("y", 2), ("x", 3), ("two", 2)):
            file.createDimension(name, size)
        time = file.createVariable("time", "f8", ("time",))
        time.units, time.bounds = other.get("units", "days since 2001-01-01"), "time_bnds"
        times = np.arange(days) + begin - other.get("shift", 0)
        time[:] = times
        file.createVariable("time_bnds", "f8", ("time", "two"))[:] = np.stack([times, times + 1], 1)
        file.createVariable("y", "f4", ("y",))[:] = [1, 2]
        how = {"zlib": True, "chunksizes": (1, 2, 3)} if is_new else {}
        name = other.get("name", "t")
        values = file.createVariable(name, "i2", ("time", "y", "x"), fill_value=-999, **how)
        values.scale_factor = other.get("scale", 0.01)
        values.set_auto_scale(False)
        values[:] = np.arange(days * 6).reshape(days, 2, 3) + 1000 * number


@pytest.fixture(scope="module")
def months(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("months")
    for number in range(3):
        month(folder / f"m{number}.nc", number)
        month(folder / f"n{number}.nc", number, "NETCDF4")
    return folder


def request(folder: Path, pattern: str, **more: Any) -> Combination:
    more = {"target": str(folder / f"{pattern[0]}.json"), "concat": ("time",), "force": True, **more}
    # fsspec looks for relative names in the current folder.
    how = {"options": ReferenceOptions(absolute=True), **more}
    return Combination(sources=(str(folder / pattern),), **how)


def opened(path: object) -> Any:
    return xarray.open_dataset(str(path), engine="kerchunk", chunks=None).load()


@pytest.mark.slow
def test_months_are_one_year_as_xarray_has_it(months: Path) -> None:
    for pattern, form in (("m?.nc", "refs-v0"), ("n?.nc", "refs-v1")):
        report = combine(request(months, pattern, format=form))
        assert (report.files, report.sizes, report.unread) == (3, {"time": 90}, 0)
        assert report.compared == (16 if pattern[0] == "n" else 10)
        theirs = xarray.open_mfdataset(
            str(months / pattern), combine="nested", concat_dim="time", data_vars="minimal", coords="minimal"
        ).load()
        xarray.testing.assert_equal(opened(report.target), theirs)
        with refbrowser.open(report.target, allow=[str(months)]) as dataset:
            for number in range(3):
                with netCDF4.Dataset(months / pattern.replace("?", str(number))) as file:
                    file.set_auto_maskandscale(False)
                    part = slice(sum(DAYS[:number]), sum(DAYS[: number + 1]))
                    assert (dataset["/t"][part] == file["t"][:]).all()
            # Without codecs, records of any number of days meet in chunks of one.
            assert dataset["/t"].chunks == (1, 2, 3)
            assert dataset["/time"].chunks == (90,)


@pytest.mark.slow
def test_combined_references_are_folded(months: Path) -> None:
    plain = combine(request(months, "m?.nc", target=str(months / "plain.json")))
    folded = combine(request(months, "m?.nc", target=str(months / "folded.json"), fold=True))
    assert Path(folded.target).stat().st_size < Path(plain.target).stat().st_size
    with refbrowser.open(folded.target, allow=[str(months)]) as dataset:
        assert dataset.document.rules
        with refbrowser.open(plain.target, allow=[str(months)]) as other:
            assert (dataset["/t"][:] == other["/t"][:]).all()
    with pytest.raises(RefbrowserError):
        combine(request(months, "m?.nc", fold=True, format="refs-v0"))


@pytest.mark.slow
@pytest.mark.usefixtures("uncollected")
def test_another_scale_is_wrong_with_kerchunk_and_stops_here(months: Path, tmp_path: Path) -> None:
    from kerchunk.combine import MultiZarrToZarr
    from kerchunk.hdf import SingleHdf5ToZarr

    for number in range(3):
        month(tmp_path / f"n{number}.nc", number, "NETCDF4", scale=0.02 if number == 1 else 0.01)
    sources = [SingleHdf5ToZarr(str(path)).translate() for path in sorted(tmp_path.glob("n*.nc"))]
    theirs = MultiZarrToZarr(sources, concat_dims=["time"], identical_dims=["y"]).translate()
    (tmp_path / "theirs.json").write_text(json.dumps(theirs))
    with netCDF4.Dataset(tmp_path / "n1.nc") as file:
        right = np.asarray(file["t"][:])
    assert not np.allclose(opened(tmp_path / "theirs.json")["t"][31:59], right)
    found: list[Plan] = []
    with pytest.raises(RefbrowserError) as caught:
        combine(request(tmp_path, "n?.nc"), told=found.append)
    assert caught.value.kind is ErrorKind.META
    assert not (tmp_path / "n.json").exists()
    assert [(each.kind, each.files) for each in found[0].blocking] == [("scale", (str(tmp_path / "n1.nc"),))]
    # Taken as another array, each of them is right, and what no file gives is missing.
    (take_as,) = (each for each in found[0].blocking[0].remedies if each.kind == "take_as")
    report = combine(take_as.applied(request(tmp_path, "n?.nc")))
    ours = opened(report.target)
    assert np.allclose(ours["t_2"][31:59], right)
    assert np.isnan(ours["t"][31:59]).all()
    assert np.isnan(ours["t_2"][:31]).all()
    assert not np.isnan(ours["t"][59:]).any()


@pytest.mark.slow
def test_times_of_other_dates_are_counted_alike_and_in_units_that_are_asked_for(tmp_path: Path) -> None:
    for number in range(3):
        begin = sum(DAYS[:number])
        month(
            tmp_path / f"n{number}.nc", number, "NETCDF4",
            units=f"days since 2001-{number + 1:02}-01", shift=begin,
        )  # fmt: skip
    theirs = xarray.open_mfdataset(
        str(tmp_path / "n?.nc"), combine="nested", concat_dim="time", data_vars="minimal", coords="minimal"
    )
    for units in ("", "hours since 2001-01-01"):
        report = combine(request(tmp_path, "n?.nc", time_units=units, force=True))
        ours = opened(report.target)
        assert (ours["time"].values == theirs["time"].values).all()
    with refbrowser.open(report.target) as dataset:
        assert (dataset["/time_bnds"][:, 1] == np.arange(1, 91) * 24).all()
        assert dataset["/time"].attrs["units"] == "hours since 2001-01-01"


@pytest.mark.slow
def test_new_dimensions_merging_and_grids(tmp_path: Path) -> None:
    for number, name in enumerate(("t", "s")):
        for run in (1, 2):
            month(
                tmp_path / f"{name}_run{run}.nc",
                number,
                "NETCDF4",
                name=name,
                shift=31 * number,
                units="d since 2001-01-01",
            )
    sources = str(tmp_path / "t_*.nc")
    report = combine(
        Combination(sources=(sources,), target=str(tmp_path / "a.json"), new_dims=(r"run=name:run(\d)",))
    )
    with refbrowser.open(report.target, allow=[str(tmp_path)]) as dataset:
        assert dataset["/t"].dimensions == ("run", "time", "y", "x")
        assert dataset["/run"][:].tolist() == [1, 2]
        assert dataset["/t"].shape == (2, 31, 2, 3)
        assert (dataset["/t"][0] == dataset["/t"][1]).all()
        # Coordinates stay as they are.
        assert dataset["/time"].shape == (31,)
    # A grid of files: two runs by one month, and two arrays.
    (tmp_path / "s_run1.nc").unlink()
    grid = Combination(
        sources=(str(tmp_path / "[ts]_*.nc"),), target=str(tmp_path / "b.json"),
        concat=("time",), new_dims=(r"run=name:run(\d)",), merge=True,
    )  # fmt: skip
    plan = plan_of(gather(grid), grid)
    assert {axis.name: axis.size for axis in plan.axes} == {"run": 2, "time": 59}
    assert [each.kind for each in plan.blocking] == ["overlap"]
    lists = refbrowser.combine(sources, tmp_path / "c.json", new_dims="run=list:a,b")
    with refbrowser.open(lists.target, allow=[str(tmp_path)]) as dataset:
        assert dataset["/run"][:].tolist() == ["a", "b"]
    for wrong in ("run=name:(", "run=name:run", "run=other:x", "run", "run=list:"):
        with pytest.raises(RefbrowserError) as caught:
            gather(Combination(sources=(sources,), new_dims=(wrong,)))
        assert caught.value.kind is ErrorKind.USAGE


@pytest.mark.slow
def test_documents_are_combined_and_the_command_tells(
    months: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = refbrowser.make(sorted(map(str, months.glob("m?.nc"))), tmp_path / "made").made
    names = [each.target for each in made]
    out = str(tmp_path / "year.json")
    given = [*reversed(names), "-o", out, "--concat", "time", "--allow", str(months)]
    assert main(["make", *given]) == 2
    told = capsys.readouterr()
    assert "differs: time: files are not in the order of their coordinates" in told.err
    assert "--sort" in told.err
    assert not Path(out).exists()
    assert main(["make", *given, "--sort", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["files"], report["sizes"], report["compared"]) == (3, {"time": 90}, 10)
    with refbrowser.open(out, allow=[str(months)]) as dataset, netCDF4.Dataset(months / "m2.nc") as file:
        file.set_auto_maskandscale(False)
        assert (dataset["/t"][59:] == file["t"][:]).all()
    for given in (["--sort"], ["--concat", "time", "--accept", "scale"], ["--concat", "none"]):
        assert main(["make", *names, "-o", str(tmp_path / "no.json"), "--allow", str(months), *given]) == 2
    assert not (tmp_path / "no.json").exists()


def test_damaged_files_stop_and_are_left_out(tmp_path: Path) -> None:
    month(tmp_path / "m0.nc", 0)
    (tmp_path / "m1.nc").write_bytes(b"CDF\x01garbage")
    asked = request(tmp_path, "m?.nc")
    with pytest.raises(RefbrowserError, match="the file ends within it") as caught:
        gather(asked)
    assert caught.value.place.document == str(tmp_path / "m1.nc")
    for more, why in (({"skip_bad": True}, "the file ends within it"), ({"leave_out": ("m1*",)}, "left out")):
        changed = request(tmp_path, "m?.nc", **more)
        plan = plan_of(gather(changed), changed)
        assert [each.source for each in plan.files] == [str(tmp_path / "m0.nc")]
        ((source, told),) = plan.left_out
        assert source == str(tmp_path / "m1.nc")
        assert why in told


@pytest.mark.slow
def test_stores_of_both_versions_are_combined(tmp_path: Path) -> None:
    """Coordinates that are many are packed; who has the document already is told so at once."""
    import fsspec
    import zarr

    for version in (2, 3):
        for number in range(2):
            times = ("time", np.arange(600) + 600 * number)
            values = (("time", "x"), np.arange(1200.0).reshape(600, 2) + number)
            found = xarray.Dataset({"t": values}, coords={"time": times, "x": [1.0, 2.0]})
            found.chunk(time=300).to_zarr(
                tmp_path / f"{version}_{number}.zarr", zarr_format=version, consolidated=False
            )
        target = tmp_path / "out" / f"{version}.json"
        target.parent.mkdir(exist_ok=True)
        asked = Combination(
            sources=(str(tmp_path / f"{version}_*.zarr"),), target=str(target), concat=("time",)
        )
        assert combine(asked).unread == 0
        with pytest.raises(RefbrowserError, match="exists already"):
            combine(asked)
        files = fsspec.filesystem("reference", fo=str(target), asynchronous=True)
        store = zarr.storage.FsspecStore(files, read_only=True)
        ours = xarray.open_zarr(store, zarr_format=version, consolidated=False).load()
        assert ours["time"].values.tolist() == list(range(1200))
        assert (ours["t"].values[600:] == np.arange(1200.0).reshape(600, 2) + 1).all()


@pytest.mark.slow
def test_zeros_of_zarr_v3_are_times_like_others(tmp_path: Path) -> None:
    for number, day in enumerate((1, 3)):
        store = zarr.create_group(tmp_path / f"n{number}.zarr", zarr_format=3)
        units = {"units": f"days since 2001-01-0{day}"}
        for name, attributes in (("time", units), ("v", {})):
            made = store.create_array(
                name, shape=(2,), chunks=(2,), dtype="i4", dimension_names=["time"], attributes=attributes
            )
            made[...] = [0, 1]
    report = combine(request(tmp_path, "n?.zarr", time_units="hours since 2001-01-01"))
    with refbrowser.open(report.target, allow=[str(tmp_path)]) as dataset:
        assert dataset["/time"][:].tolist() == [0, 24, 48, 72]
