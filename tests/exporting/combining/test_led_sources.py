"""An NcML becomes the dataset that it puts together: the values are those that xarray puts together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError

HEAD = '<netcdf xmlns="http://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2">'
DAYS = 3


def write_days(folder: Path, **more: Any) -> list[xarray.Dataset]:
    """Write a file for each of three days."""
    made = []
    for day in range(DAYS):
        values = np.arange(8.0).reshape(2, 4) + 100 * day
        data = {"t": (("time", "x"), values), "other": ("x", np.arange(4.0))}
        times = ("time", np.array([2 * day, 2 * day + 1]), {"units": "hours since 2000-01-01"})
        dataset = xarray.Dataset(data, coords={"time": times, "x": np.arange(4)}, attrs={"title": "a day"})
        dataset.to_netcdf(folder / f"day_2000010{day + 1}.nc", **more)
        made.append(dataset)
    return made


def combined(folder: Path, within: str, *arguments: str) -> Path:
    (folder / "all.ncml").write_text(f"{HEAD}{within}</netcdf>")
    target = folder / "all.json"
    assert main(["make", str(folder / "all.ncml"), "-o", str(target), *arguments]) == 0
    return target


def listed(form: str = '<netcdf location="day_2000010{}.nc"/>') -> str:
    return "".join(form.format(day + 1) for day in range(DAYS))


@pytest.mark.slow
@pytest.mark.parametrize(
    "files",
    [listed(), '<scan location="." suffix=".nc" subdirs="false"/>', '<scan location="./" suffix=".nc"/>'],
)
def test_along_a_dimension_that_files_have(tmp_path: Path, files: str) -> None:
    days = write_days(tmp_path)
    target = combined(tmp_path, f'<aggregation dimName="time" type="joinExisting">{files}</aggregation>')
    expected = xarray.concat(days, "time", data_vars="minimal", coords="minimal", compat="override")
    with refbrowser.open(target) as dataset:
        for name in ("t", "other", "time", "x"):
            assert np.array_equal(dataset.array(f"/{name}")[...], expected[name]), name


@pytest.mark.slow
def test_along_a_new_dimension(tmp_path: Path) -> None:
    days = [day.isel(time=0, drop=True) for day in write_days(tmp_path)]
    for number, day in enumerate(days, 1):
        day.to_netcdf(tmp_path / f"day_2000010{number}.nc")
    files = "".join(f'<netcdf location="day_2000010{n}.nc" coordValue="{10 * n}"/>' for n in (1, 2, 3))
    target = combined(tmp_path, f'<aggregation dimName="run" type="joinNew">{files}</aggregation>')
    expected = xarray.concat(days, "run", data_vars="all", coords="minimal", compat="override")
    with refbrowser.open(target) as dataset:
        assert np.array_equal(dataset.array("/t")[...], expected["t"])
        assert dataset.array("/t").node.dimensions == ("run", "x")
        assert np.array_equal(dataset.array("/other")[...], expected["other"])
        assert dataset.array("/run")[...].tolist() == [10, 20, 30]


@pytest.mark.slow
def test_dates_in_the_names_of_files(tmp_path: Path) -> None:
    for number, day in enumerate(write_days(tmp_path), 1):
        day.isel(time=0, drop=True).to_netcdf(tmp_path / f"day_2000010{number}.nc")
    scan = '<scan location="." suffix=".nc" dateFormatMark="day_#yyyyMMdd"/>'
    target = combined(tmp_path, f'<aggregation dimName="date" type="joinNew">{scan}</aggregation>')
    with refbrowser.open(target) as dataset:
        seconds = dataset.array("/date")[...]
        times = np.datetime64("1970-01-01") + seconds.astype("m8[s]")
        assert times.astype("M8[D]").astype(str).tolist() == ["2000-01-01", "2000-01-02", "2000-01-03"]


@pytest.mark.slow
def test_a_union_and_attributes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = xarray.Dataset({"a": ("x", np.arange(4.0))}, coords={"x": np.arange(4)})
    second = xarray.Dataset({"b": ("x", np.arange(4.0) * 2)}, coords={"x": np.arange(4)})
    for name, each in (("a", first), ("b", second)):
        each.to_netcdf(tmp_path / f"{name}.nc")
    within = (
        '<attribute name="title" value="both"/><variable name="a"><attribute name="units" value="K"/>'
        '<attribute name="scale_factor" type="double" value="2"/></variable>'
        '<aggregation type="union"><netcdf location="a.nc"/><netcdf location="b.nc"/></aggregation>'
    )
    target = combined(tmp_path, within, "--set-attr", "b:units=m")
    said = capsys.readouterr().out
    assert "of the NcML: the attribute 'scale_factor' of /a is left as it is" in said
    expected = xarray.merge([first, second])
    with refbrowser.open(target) as dataset:
        for name in ("a", "b", "x"):
            assert np.array_equal(dataset.array(f"/{name}")[...], expected[name])
        assert dataset.hierarchy.root.attributes["title"] == "both"
        assert dataset.array("/a").node.attributes["units"] == "K"
        assert "scale_factor" not in dataset.array("/a").node.attributes
        assert dataset.array("/b").node.attributes["units"] == "m"


@pytest.mark.slow
def test_one_file_with_other_attributes_from_python(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["v"] = np.arange(3)
    (tmp_path / "a.ncml").write_text(
        HEAD.replace(">", ' location="a.h5">') + '<attribute name="n" type="int" value="3"/></netcdf>'
    )
    report = refbrowser.combine(tmp_path / "a.ncml", tmp_path / "a.json")
    assert report.files == 1
    with refbrowser.open(tmp_path / "a.json") as dataset:
        assert dataset.array("/v")[...].tolist() == [0, 1, 2]
        assert dataset.hierarchy.root.attributes["n"] == 3


def test_what_may_not_be_read_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["v"] = np.arange(3)
    (tmp_path / "own" / "link.h5").symlink_to(tmp_path / "secret.h5")
    aggregation = '<aggregation type="union">{}</aggregation></netcdf>'
    for files in (
        '<netcdf location="../secret.h5"/>',
        '<netcdf location="https://host.example/a.nc"/>',
        '<scan location=".." suffix=".h5"/>',
        '<scan location=".." suffix=".nothing"/>',
        '<scan location="." suffix=".h5"/>',
    ):
        (tmp_path / "own" / "a.ncml").write_text(HEAD + aggregation.format(files))
        with pytest.raises(RefbrowserError) as raised:
            refbrowser.combine(tmp_path / "own" / "a.ncml", tmp_path / "a.json")
        assert raised.value.kind is ErrorKind.BLOCKED, files
    (tmp_path / "own" / "a.ncml").write_text(HEAD + aggregation.format('<netcdf location="../secret.h5"/>'))
    report = refbrowser.combine(tmp_path / "own" / "a.ncml", tmp_path / "a.json", allow=[str(tmp_path)])
    assert report.files == 1


def test_one_that_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.ncml").write_text(f"{HEAD}</netcdf>")
    with pytest.raises(RefbrowserError, match="names no files"):
        refbrowser.combine(tmp_path / "a.ncml", tmp_path / "a.json")
