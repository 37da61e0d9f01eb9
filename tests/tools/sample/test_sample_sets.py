"""The sample in its forms: what is written is what others read, and the broken one has its five faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.io import netcdf_file

import refbrowser
from refbrowser.errors import RefbrowserError, TargetExistsError
from refbrowser.tools.sample.sets import SETS


def test_the_small_one_is_the_usual_one(tmp_path: Path) -> None:
    assert refbrowser.sample(tmp_path) == str(tmp_path / "sea_surface.json")
    with pytest.raises(TargetExistsError):
        refbrowser.sample(tmp_path)


def test_another_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefbrowserError, match="no sample 'huge'; there are: small, large, broken"):
        refbrowser.sample(tmp_path, which="huge")
    assert not list(tmp_path.iterdir())


def test_no_two_samples_are_in_each_others_way(tmp_path: Path) -> None:
    named = [name for each in SETS.values() for name in (each.document, each.folder)]
    assert len(set(named)) == 2 * len(SETS)


@pytest.mark.slow
def test_each_day_is_a_file_that_others_read(tmp_path: Path) -> None:
    year = refbrowser.open(refbrowser.sample(tmp_path, which="large"))
    monthly = refbrowser.open(refbrowser.sample(tmp_path))["/ocean/sst"]
    files = sorted((tmp_path / "days").iterdir())
    assert len(files) == len(year["/time"]) == 366
    for day in (0, 100, 365):
        with netcdf_file(files[day], mmap=False) as file:
            assert file.variables["time"][0] == year["/time"][day] == day
            np.testing.assert_array_equal(file.variables["sst"][0], year["/sst"][day])
            np.testing.assert_array_equal(file.variables["lat"][:], year["/lat"][:])
            assert file.variables["sst"].scale_factor == year["/sst"].attrs["scale_factor"]
    # The middle of a month is the field of that month; between two the values are in between.
    np.testing.assert_array_equal(year["/sst"][15], monthly[0])
    first, between, second = monthly[0], year["/sst"][30].astype(int), monthly[1]
    assert ((np.minimum(first, second) <= between) & (between <= np.maximum(first, second))).all()


@pytest.mark.slow
def test_the_broken_one_has_five_faults_and_no_others(tmp_path: Path) -> None:
    found = refbrowser.audit(refbrowser.sample(tmp_path, which="broken"), level="full")
    groups = {(group.code, group.url.rpartition("/")[2] if group.url else "") for group in found.groups}
    assert {each for each in groups if not each[0].startswith(("fsspec", "virtualizarr", "gdal"))} == {
        ("url-dead", ""),
        ("range-past-end", "ice_2024.dat"),
        ("range-past-end", "wind_2024-Q3.dat"),
        ("undecodable", "wind_2024-Q1.dat"),
        ("chunk-outside-grid", ""),
        ("missing-chunks", ""),
    }
