"""Files that become an Icechunk repository, as the library and xarray read it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from monthly_files import Archive, days_of, values_of, write_archive

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.saving import chunk_sink
from refbrowser.wings.icechunk.writing.commit_options import CommitOptions

icechunk = pytest.importorskip("icechunk")
xarray = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

ARCHIVE = Archive(years=(2020, 2020), missing=(), era=())


def opened_by(lines: list[str]) -> dict[str, object]:
    """Run the lines that a report gives."""
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    return names


@pytest.fixture
def year(tmp_path: Path) -> list[Path]:
    return write_archive(tmp_path / "files", ARCHIVE)


@pytest.mark.slow
def test_files_become_one_commit(
    year: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "repository"
    asked = ["make", *map(str, year), "--concat", "time", "--to", "icechunk", "-o", str(target)]
    assert main([*asked, "--message", "the year", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["files"], told["sizes"]) == (12, {"time": 366})
    names = opened_by(told["opened_by"])
    days = np.concatenate([days_of(2020, month) for month in range(1, 13)])
    assert np.allclose(names["dataset"]["t2m"].values, values_of(days, ARCHIVE.shape), rtol=0, atol=1e-4)
    history = list(names["repository"].ancestry(branch="main"))
    assert [each.message for each in history][:-1] == ["the year"]
    kinds = {
        str(names["session"].chunk_type("/t2m", [day, 0, 0])).rpartition(".")[2] for day in (0, 200, 365)
    }
    assert {kind.upper() for kind in kinds} == {"VIRTUAL"}
    # What is there is not replaced, and the repository is as it was.
    assert main(asked) == 7
    assert "exists already" in capsys.readouterr().err
    again = icechunk.Repository.open(icechunk.local_filesystem_storage(str(target)))
    assert [each.id for each in again.ancestry(branch="main")] == [each.id for each in history]


@pytest.mark.slow
def test_a_file_becomes_a_repository(year: list[Path], tmp_path: Path) -> None:
    report = refbrowser.make(
        year[0], tmp_path / "january", format="icechunk", options=CommitOptions(branch="trial")
    )
    (made,) = report.made
    dataset = opened_by(list(made.opened_by))["dataset"]
    assert made.compared
    assert "'trial'" in "\n".join(made.opened_by)
    assert np.allclose(dataset["t2m"].values, values_of(days_of(2020, 1), ARCHIVE.shape), rtol=0, atol=1e-4)


def test_what_has_no_meaning_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["make", "x.nc", "-o", str(tmp_path / "x.icechunk")]
    for option, why in (("--relative", "only to references"), ("--lock", "for documents")):
        assert main([*asked, option]) != 0
        assert why in capsys.readouterr().err
    assert main(["make", "x.nc", "-o", str(tmp_path / "x.json"), "--message", "why"]) != 0
    assert "only to Icechunk" in capsys.readouterr().err
    with pytest.raises(RefbrowserError) as caught:
        refbrowser.make(tmp_path / "x.nc", tmp_path / "x", format="zarr-v3")
    assert caught.value.kind is ErrorKind.USAGE


@pytest.mark.slow
def test_an_era_becomes_native_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_sink, "_HELD", 1_000)
    archive = Archive(years=(2019, 2020), missing=(), era=(2019,))
    files = write_archive(tmp_path / "files", archive)
    target = tmp_path / "repository"
    report = refbrowser.combine(files, target, concat="time", format="icechunk", reencode=True)
    (own,) = report.own
    assert (own.chunks, own.of, own.rounded) == (365, 731, 0)
    names = opened_by(list(report.opened_by))
    days = np.concatenate([days_of(year, month) for year in (2019, 2020) for month in range(1, 13)])
    assert np.allclose(names["dataset"]["t2m"].values, values_of(days, archive.shape), rtol=0, atol=1e-4)
    found = [str(names["session"].chunk_type("/t2m", [day, 0, 0])) for day in (0, 364, 365)]
    kinds = [each.rpartition(".")[2].upper() for each in found]
    assert kinds[2] == "VIRTUAL"
    assert "VIRTUAL" not in kinds[:2]
    # Where they were until then is gone, and no part of the repository.
    assert sorted(each.name for each in tmp_path.iterdir()) == ["files", "repository"]


@pytest.mark.slow
def test_groups_of_eras_are_opened_as_a_tree(tmp_path: Path) -> None:
    files = write_archive(tmp_path / "files", Archive(years=(2019, 2020), missing=(), era=(2019,)))
    report = refbrowser.combine(
        files, tmp_path / "repository", concat="time", format="icechunk", split="eras"
    )
    (tree,) = (each for name, each in opened_by(list(report.opened_by)).items() if name == "tree")
    assert [tree[era].sizes["time"] for era in tree.groups[1:]] == [365, 366]
