"""What is chosen of files that are combined, and what a document records for those that are added later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from test_combined_values import month

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.combining import combine as combining
from refbrowser.exporting.combining.combination import VALUES_FROM, is_safe

DATE = r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})"


@pytest.fixture
def months(tmp_path: Path) -> Path:
    for number in range(3):
        month(tmp_path / f"m{number}.nc", number)
        with netCDF4.Dataset(tmp_path / f"m{number}.nc", "a") as file:
            file.createVariable("rain", "f4", ("time", "y", "x"))[:] = number
            file.history = f"month {number}"
    return tmp_path


def arrays_of(path: object) -> set[str]:
    with refbrowser.open(str(path)) as dataset:
        return set(dataset.arrays)


def test_a_misspelt_dimension_is_told_after_the_first_files(
    months: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    scan = combining.scan

    def noted(task: Any) -> Any:
        looked.extend(task.sources)
        return scan(task)

    monkeypatch.setattr(combining, "scan", noted)
    message = r"the dimensions are 'time', 'two', 'y' and 'x'"
    with pytest.raises(RefbrowserError, match=message) as caught:
        refbrowser.combine(str(months / "m?.nc"), months / "a.json", concat="tyme")
    assert caught.value.advice == "did you mean 'time'?"
    assert len(looked) == 2
    # Where files need not have the same arrays a later one may have it.
    month(months / "m9.nc", 2, name="u")
    with netCDF4.Dataset(months / "m9.nc", "a") as file:
        file.createDimension("other", 4)
        file.createVariable("v", "f4", ("other",))[:] = np.arange(4)
    looked.clear()
    with pytest.raises(RefbrowserError, match="other"):
        refbrowser.combine(str(months / "m?.nc"), months / "a.json", concat=["tyme"], merge=True)
    assert len(looked) == 4


def test_arrays_are_chosen_with_their_coordinates(months: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files, out = str(months / "m[01].nc"), str(months / "a.json")
    assert main(["make", files, "-o", out, "--concat", "time", "--array", "t"]) == 0
    # The bounds of the coordinate belong to it; x has no coordinate.
    assert arrays_of(out) == {"/t", "/time", "/time_bnds", "/y"}
    one = str(months / "one.json")
    assert main(["make", str(months / "m0.nc"), "-o", one, "--array", "/rain"]) == 0
    assert arrays_of(one) == {"/rain", "/time", "/time_bnds", "/y"}
    with refbrowser.open(one) as dataset:
        assert dataset.array("/rain")[:].tolist() == np.zeros((31, 2, 3)).tolist()
    # What is added to it has the same arrays, and what is left out is told.
    capsys.readouterr()
    assert main(["append", out, str(months / "m2.nc")]) == 0
    assert "/rain" in capsys.readouterr().err
    assert arrays_of(out) == {"/t", "/time", "/time_bnds", "/y"}
    with refbrowser.open(out) as dataset:
        assert dataset.array("/t").shape == (90, 2, 3)
    capsys.readouterr()
    for sources, how in ((str(months / "m0.nc"), []), (files, ["--concat", "time"])):
        assert main(["make", sources, "-o", str(months / "b.json"), "--array", "tt", *how]) == 2
        assert "array 'tt'; there are /" in capsys.readouterr().err


def test_attributes_of_the_whole_dataset_are_set(months: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(months / "a.json")
    how = ["--concat", "time", "--set-attr", ":history=made of months", "--set-attr", "/:title=Rain"]
    assert main(["make", str(months / "m?.nc"), "-o", out, *how]) == 0
    assert "history" not in capsys.readouterr().err
    with refbrowser.open(out) as dataset:
        assert dict(dataset.attrs) == {"history": "made of months", "title": "Rain"}
    assert (
        main(["make", str(months / "m?.nc"), "-o", out, "--force", "--concat", "time", "--set-attr", "h=1"])
        == 2
    )
    assert ":title=Runs" in capsys.readouterr().err


def scenes(folder: Path, days: range) -> None:
    for day in days:
        with netCDF4.Dataset(folder / f"scene_2020010{day}.nc", "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("y", 2)
            file.createVariable("b", "f4", ("y",))[:] = day
            file.run = day


@pytest.mark.parametrize("source", [f"name:{DATE}", "attribute:run"])
def test_files_are_appended_as_the_document_records(tmp_path: Path, source: str) -> None:
    scenes(tmp_path, range(1, 5))
    out = tmp_path / "a.json"
    refbrowser.combine(str(tmp_path / "*[12].nc"), out, new_dims=f"time={source}")
    assert json.loads(json.loads(out.read_text())["refs"]["time/.zattrs"])[VALUES_FROM] == source
    refbrowser.append(out, tmp_path / "scene_20200103.nc")
    refbrowser.append(out, tmp_path / "scene_20200104.nc", along="time")
    with refbrowser.open(out) as dataset:
        assert dataset.array("/b")[:].tolist() == [[1, 1], [2, 2], [3, 3], [4, 4]]
        assert len(set(np.diff(dataset.array("/time")[:]).tolist())) == 1
        assert dataset.array("/time").attrs[VALUES_FROM] == source


def test_a_pattern_of_a_document_that_may_take_forever_is_not_used(tmp_path: Path) -> None:
    scenes(tmp_path, range(1, 4))
    out = tmp_path / "a.json"
    refbrowser.combine(str(tmp_path / "*[12].nc"), out, new_dims=r"time=name:(?:\w+)+_(\d+)")
    with pytest.raises(RefbrowserError, match="do not have the dimension 'time'") as caught:
        refbrowser.append(out, tmp_path / "scene_20200103.nc")
    assert r"--new-dim 'time=name:(?:\\w+)+_(\\d+)'" in caught.value.advice.replace("\\", "\\\\")
    for pattern in (DATE, r"run(\d+)", r"_(\d{8})\.nc$", r"([^_]+)_\d?"):
        assert is_safe(f"name:{pattern}")
    for pattern in (r"(a+)+$", r"(a|a)*b", r"(\d+)\1", r"a*a*a*a*b", "(?=a)", "x" * 300, r"(a{1,9}){1,9}"):
        assert not is_safe(f"name:{pattern}")
    assert is_safe("variable:time")
    assert not is_safe("list:1,2")
