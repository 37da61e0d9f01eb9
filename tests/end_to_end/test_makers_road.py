"""The makers' road: ten years of monthly files become one repository, which stays right.

One era is packed otherwise, there are leap years, and two months are missing. The repository is audited
against what should be there, mended, merged with what a colleague commits in between, and appended to;
icechunk's own library and xarray read it all the while.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from monthly_files import Archive, days_of, values_of, write_archive, write_month

from refbrowser.cli import main

icechunk = pytest.importorskip("icechunk")
xarray = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")
pytestmark = pytest.mark.slow

Run = Any


def opened_by_others(folder: Path, mode: str = "r") -> Any:
    """Return the repository as icechunk's library opens it."""
    places = {f"file://{folder}/data/": None}
    return icechunk.Repository.open(
        icechunk.local_filesystem_storage(str(folder / "repo")),
        authorize_virtual_chunk_access=icechunk.containers_credentials(places),
    )


def read_by_others(folder: Path) -> Any:
    """Return the dataset that xarray reads."""
    store = opened_by_others(folder).readonly_session("main").store
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return xarray.open_zarr(store, consolidated=False, zarr_format=3).load()


def check_values(dataset: Any, archive: Archive) -> None:
    """Check each month: its values, or that it is missing."""
    there = set(archive.months())
    first, last = archive.years
    for year in range(first, last + 1):
        for month in range(1, 13):
            found = dataset.t2m.sel(time=f"{year}-{month:02d}").values
            days = days_of(year, month)
            assert found.shape[0] == len(days), (year, month)
            if (year, month) in there:
                np.testing.assert_allclose(found, values_of(days, archive.shape), rtol=0, atol=1e-9)
            else:
                assert np.isnan(found).all(), (year, month)


def test_ten_years_become_one_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    archive = Archive()
    write_archive(tmp_path / "data", archive)

    def run(*arguments: str, code: int = 0) -> str:
        capsys.readouterr()
        assert main(list(arguments)) == code, capsys.readouterr()
        told = capsys.readouterr()
        return told.out + told.err

    axis = "time=2015-01-01:2024-12-31:1D"
    told = run(
        "make",
        "data/*.nc",
        "-o",
        "repo",
        "--to",
        "icechunk",
        "--concat",
        "time",
        "--axis",
        axis,
        "--reencode",
    )
    assert "730 of 3,653 chunks become own chunks" in told
    assert "2017-03-01 to 2017-03-31" in told
    check_values(read_by_others(tmp_path), archive)

    readers = json.loads(run("readers", "repo", "--json"))
    assert readers

    told = run("audit", "repo", "--expect", "every month from 2015 to 2024", code=2)
    assert "2 of 120 months missing: 2017-03, 2021-08" in told

    # A colleague commits while an attribute is mended.
    before = next(iter(opened_by_others(tmp_path).ancestry(branch="main"))).id
    session = opened_by_others(tmp_path).writable_session("main")
    import zarr

    zarr.open_group(session.store, mode="a").attrs["institution"] = "A colleague's"
    theirs = session.commit("institution")
    told = run(
        "commit",
        "repo",
        "--snapshot",
        before,
        "--to-branch",
        "main",
        "--set-attr",
        "t2m:standard_name=air_temperature",
        "-m",
        "units",
    )
    after = read_by_others(tmp_path)
    assert after.t2m.attrs["standard_name"] == "air_temperature"
    assert after.attrs["institution"] == "A colleague's"
    assert theirs in {each.id for each in opened_by_others(tmp_path).ancestry(branch="main")}
    check_values(after, archive)

    # The next month is appended.
    write_month(tmp_path / "data" / "t2m_2025-01.nc", 2025, 1, archive)
    run("append", "repo", "data/t2m_2025-01.nc", "-m", "January")
    longer = read_by_others(tmp_path)
    assert str(longer.time.values[-1])[:10] == "2025-01-31"
    check_values(longer, archive)
    np.testing.assert_allclose(
        longer.t2m.sel(time="2025-01"), values_of(days_of(2025, 1), archive.shape), rtol=0, atol=1e-9
    )
