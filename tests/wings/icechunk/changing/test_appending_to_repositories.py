"""Months that are added to a repository, as xarray reads them from there and from the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from monthly_files import Archive, write_month

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import RefbrowserError

icechunk = pytest.importorskip("icechunk")
xarray = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

from repositories_made import colleague_commits, library_dataset, library_repository, messages  # noqa: E402

pytestmark = pytest.mark.slow
ARCHIVE = Archive(years=(2015, 2015), missing=(), era=(2018,))


def month(folder: Path, year: int, number: int) -> Path:
    file = folder / f"t2m_{year}-{number:02d}.nc"
    write_month(file, year, number, ARCHIVE)
    return file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    files = [month(tmp_path, 2015, number) for number in (1, 2)]
    refbrowser.combine(files, tmp_path / "all.json", concat="time")
    refbrowser.export(tmp_path / "all.json", tmp_path / "r.icechunk", format="icechunk")
    return tmp_path / "r.icechunk"


def is_as_files(path: Path, months: list[int]) -> bool:
    files = [path.parent / f"t2m_2015-{number:02d}.nc" for number in months]
    with xarray.open_mfdataset(files, engine="netcdf4", combine="nested", concat_dim="time") as wanted:
        found = library_dataset(path)
        xarray.testing.assert_equal(found.load(), wanted[list(found)].load())
    return True


def test_the_next_months_are_added(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [month(path.parent, 2015, number) for number in (3, 4)]
    assert main(["append", str(path), *map(str, files)]) == 0
    assert "59 before, 120 now; snapshot" in capsys.readouterr().out
    assert is_as_files(path, [1, 2, 3, 4])
    assert messages(path)[0] == "Append t2m_2015-03.nc to t2m_2015-04.nc along time"
    session = library_repository(path).readonly_session("main")
    assert len(session.all_virtual_chunk_locations()) >= 120
    found = refbrowser.append(path, month(path.parent, 2015, 5), native=True, message="May")
    assert (found.before, found.after, messages(path)[0]) == (120, 151, "May")
    assert is_as_files(path, [1, 2, 3, 4, 5])
    session = library_repository(path).readonly_session("main")
    assert str(session.chunk_type("/t2m", (119, 0, 0))).endswith("VIRTUAL")
    assert not str(session.chunk_type("/t2m", (120, 0, 0))).endswith("VIRTUAL")


def test_what_differs_is_refused_as_for_documents(path: Path) -> None:
    known = messages(path)
    with pytest.raises(RefbrowserError, match="scale_factor"):
        refbrowser.append(path, month(path.parent, 2018, 1))
    with pytest.raises(RefbrowserError, match="repository itself"):
        refbrowser.append(path, month(path.parent, 2015, 3), path.parent / "other.json")
    with pytest.raises(RefbrowserError, match="no branch"):
        refbrowser.append(path, month(path.parent, 2015, 3), to_branch="nothing")
    with pytest.raises(RefbrowserError, match="Icechunk repositories"):
        refbrowser.append(path.parent / "all.json", month(path.parent, 2015, 3), native=True)
    assert messages(path) == known


def test_a_colleague_commits_meanwhile(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.wings.icechunk.changing import appending

    made = appending.document_changes

    def meanwhile(*arguments: object) -> object:
        colleague_commits(path, lambda group: group["t2m"].attrs.update({"units": "kelvin"}))
        return made(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(appending, "document_changes", meanwhile)
    refbrowser.append(path, month(path.parent, 2015, 3))
    assert library_dataset(path)["t2m"].attrs["units"] == "kelvin"
    assert messages(path)[:2] == ["Append t2m_2015-03.nc along time", "a colleague's"]
    assert library_dataset(path).sizes["time"] == 90


def test_a_month_that_comes_late_fills_its_hole(tmp_path: Path) -> None:
    files = {number: month(tmp_path, 2015, number) for number in range(1, 13)}
    last = month(tmp_path, 2016, 2)
    axis = "time=2015-01:2015-12:1D"
    early = [file for number, file in files.items() if number != 3]
    refbrowser.combine(early, tmp_path / "r.icechunk", format="icechunk", axis=axis)
    refbrowser.combine(early, tmp_path / "part.json", axis=axis)
    refbrowser.combine([*files.values()], tmp_path / "all.json", axis=axis)
    whole = opened(tmp_path / "all.json")
    known = messages(tmp_path / "r.icechunk")
    for path in (tmp_path / "r.icechunk", tmp_path / "part.json"):
        found = refbrowser.append(path, files[3])
        assert (found.before, found.after, found.references) == (365, 365, 31)
        xarray.testing.assert_identical(opened(path), whole)
    assert messages(tmp_path / "r.icechunk") == ["Fill 31 missing times with t2m_2015-03.nc", *known]
    datasets = [xarray.open_dataset(each, engine="netcdf4").load() for each in (*files.values(), last)]
    wanted = xarray.concat(datasets, "time", data_vars="minimal").reindex(
        time=xarray.date_range("2015-01-01", "2016-02-29")
    )
    for path in (tmp_path / "r.icechunk", tmp_path / "part.json"):
        refbrowser.append(path, last, axis="time=1D")
        assert bool(opened(path).t2m.isnull().sel(time="2016-01").all())
        xarray.testing.assert_equal(opened(path), wanted)
    found = library_dataset(tmp_path / "r.icechunk").load()
    xarray.testing.assert_equal(found, wanted[list(found)])


def opened(path: Path) -> Any:
    with xarray.open_dataset(path, engine="refbrowser", allow=[str(path.parent)]) as dataset:
        return dataset.load()
