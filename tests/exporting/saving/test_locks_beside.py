"""The lock beside a document: renewed with it, taken along, and told of a file by any path to it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import RefbrowserError
from refbrowser.io.fetching.lock_format import read_lock


def write(path: Path, begin: int) -> None:
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createVariable("time", "i4", ("time",))[:] = np.arange(2) + begin
        # Not one-dimensional: such values of files that are combined stand in the document.
        file.createDimension("x", 1)
        file.createVariable("v", "f4", ("time", "x"))[:] = (np.arange(2) + 10 * begin)[:, None]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    for number in range(2):
        write(tmp_path / "data" / f"{number}.nc", 2 * number)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def values(document: str) -> Any:
    with refbrowser.open(document, allow=["data"]) as dataset:
        return dataset["/v"][:, 0].tolist()


def locked(document: str) -> set[str]:
    return {*read_lock(f"{document}.lock.json")[0].entries}


def replaced(path: Path) -> None:
    write(path, 50)
    os.utime(path, (2e9, 2e9))


def test_make_again_renews_the_lock(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["make", "data/0.nc", "-o", "a.json", "--lock"]) == 0
    replaced(folder / "data" / "0.nc")
    with pytest.raises(RefbrowserError, match="not the one that was locked"):
        values("a.json")
    capfd.readouterr()
    assert main(["make", "data/0.nc", "-o", "a.json", "--force"]) == 0
    assert "lock beside it was renewed" in capfd.readouterr().out
    assert values("a.json") == [500, 501]
    assert main(["audit", "a.json", "--lock"]) == 0


@pytest.mark.slow
def test_combining_again_renews_the_lock(folder: Path) -> None:
    make = ["make", "data/*.nc", "-o", "all.json", "--concat", "time", "--force"]
    assert main([*make, "--lock"]) == 0
    replaced(folder / "data" / "1.nc")
    with pytest.raises(RefbrowserError, match="not the one that was locked"):
        values("all.json")
    assert main(make) == 0
    assert values("all.json") == [0, 1, 500, 501]
    # Where there is no lock none is made.
    (folder / "all.json.lock.json").unlink()
    assert main(make) == 0
    assert not (folder / "all.json.lock.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "spelled",
    [
        "linked.nc",
        "{folder}/data/../data/1.nc",
        *(pytest.param(each, marks=pytest.mark.long) for each in ("data/1.nc", "./data/../data/1.nc")),
    ],
)
def test_any_path_to_a_file_accepts_it(folder: Path, spelled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "linked.nc").symlink_to(folder / "data" / "1.nc")
    for how in ([], ["--absolute"]):
        make = ["make", "data/*.nc", "-o", "all.json", "--concat", "time", "--force", "--lock", *how]
        assert main(make) == 0
        write(folder / "data" / "1.nc", 4)
        os.utime(folder / "data" / "1.nc", (2e9, 2e9))
        assert main(["lock", "all.json", "--update", spelled.format(folder=folder)]) == 0
        assert values("all.json") == [0, 1, 40, 41]
        write(folder / "data" / "1.nc", 2)
    # From elsewhere the path from the current folder counts, and the one from the document.
    (folder / "away").mkdir()
    monkeypatch.chdir(folder / "away")
    for name in ("../data/1.nc", "data/1.nc"):
        assert main(["lock", "../all.json", "--update", name]) == 0


def test_accept_of_another_file_is_refused(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["make", "data/0.nc", "-o", "a.json", "--lock"]) == 0
    assert main(["lock", "a.json", "--update", "data/1.nc"]) == 2
    assert "does not refer to 'data/1.nc'" in capfd.readouterr().err


@pytest.mark.slow
def test_move_takes_the_lock_along(folder: Path) -> None:
    assert main(["make", "data/*.nc", "-o", "all.json", "--concat", "time", "--lock"]) == 0
    before = read_lock("all.json.lock.json")[0].entries
    # The sequence of the manual: names that are relative to the document go to a bucket.
    assert main(["move", "all.json", ".", "gs://era5/data", "-o", "moved.json"]) == 0
    after = read_lock("moved.json.lock.json")[0].entries
    assert {*after} == {f"gs://era5/data/data/{number}.nc" for number in range(2)}
    for url, entry in before.items():
        copy = after[f"gs://era5/data/{url}"]
        assert (copy.size, copy.head, copy.tail) == (entry.size, entry.head, entry.tail)
        assert copy.modified is None
        assert entry.modified is not None
    # Files that are copied with their document are those of the lock.
    os.rename("data", "copied")
    assert main(["move", "all.json", "data", "copied", "-o", "all.json", "--force"]) == 0
    assert locked("all.json") == {"copied/0.nc", "copied/1.nc"}
    assert values("all.json") == [0, 1, 20, 21]
    replaced(folder / "copied" / "1.nc")
    with pytest.raises(RefbrowserError, match="not the one that was locked"):
        values("all.json")


def test_append_takes_the_lock_along(folder: Path) -> None:
    assert main(["make", "data/0.nc", "-o", "some.json", "--lock"]) == 0
    entry = read_lock("some.json.lock.json")[0].entries["data/0.nc"]
    (folder / "out").mkdir()
    assert main(["append", "some.json", "data/1.nc", "--along", "time", "-o", "out/all.json"]) == 0
    found = read_lock("out/all.json.lock.json")[0].entries
    first = next(url for url in found if url.endswith("0.nc"))
    assert (found[first].size, found[first].modified) == (entry.size, entry.modified)
    assert len(found) == 2
    assert locked("some.json") == {"data/0.nc"}
    assert values("out/all.json") == [0, 1, 20, 21]
    assert main(["append", "some.json", "data/1.nc", "--along", "time"]) == 0
    assert len(locked("some.json")) == 2
    replaced(folder / "data" / "1.nc")
    for name in ("some.json", "out/all.json"):
        with pytest.raises(RefbrowserError, match="not the one that was locked"):
            values(name)
