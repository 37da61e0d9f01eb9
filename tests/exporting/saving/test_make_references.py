"""References of many files: each document is proved, bad files are named, what is there is not made again."""

from __future__ import annotations

import concurrent.futures
import json
import os
from dataclasses import replace
from pathlib import Path

import netCDF4
import numpy as np
import pytest

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.compute import Compute
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.saving import making
from refbrowser.exporting.saving.making import MakeRequest, make, make_one, tasks_of
from refbrowser.exporting.targets.reference_options import ReferenceOptions


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(5):
        with netCDF4.Dataset(folder / f"f{number}.nc", "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", None)
            file.createDimension("x", 6)
            file.createVariable("v", "f4", ("time", "x"))[:] = np.arange(24).reshape(4, 6) + number
            file.createVariable("t", "f8", ("time",))[:] = np.arange(4)
            file.createVariable("n", "i2", ("x",))[:] = np.arange(6)
    return folder


def test_a_document_is_made_of_each_file(files: Path, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(f"{files}/f3.nc\n\n{files}/f[01].nc\n")
    for form in making.FORMS:
        out = tmp_path / form
        sources, options = (f"@{tmp_path}/list.txt", files / "f0.nc"), ReferenceOptions(inline=12)
        report = refbrowser.make(sources, out, format=form, options=options)
        assert sorted(os.path.basename(each.source) for each in report.made) == ["f0.nc", "f1.nc", "f3.nc"]
        for each in report.made:
            assert (each.arrays, each.references > 8, each.compared, each.unread) == (3, True, 5, 0)
            with refbrowser.open(each.target, allow=[str(files)]) as dataset:
                assert dataset["/v"][0, 0] == int(os.path.basename(each.source)[1])
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.make(files / "f0.nc", out, format=form)
        assert caught.value.kind is ErrorKind.IO


def test_bad_files_end_all_or_are_left_out(files: Path, tmp_path: Path) -> None:
    (files / "bad.nc").write_bytes(b"CDF\x01\0\0")
    request = MakeRequest(sources=(str(files / "*.nc"),), target=str(tmp_path / "out"))
    with pytest.raises(RefbrowserError) as caught:
        make(request)
    assert caught.value.kind is ErrorKind.FORMAT
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    report = make(MakeRequest(sources=request.sources, target=request.target, skip_bad=True, resume=True))
    assert [(os.path.basename(source), str(error.kind)) for source, error in report.left_out] == [
        ("bad.nc", "E_FORMAT")
    ]
    assert len(report.made) == 5
    assert sum(each.was_there for each in report.made) == len(before)
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    assert after.items() >= before.items()
    # A file that is newer than its document is looked at again.
    os.utime(files / "f1.nc", (2e9, 2e9))
    again = make(MakeRequest(sources=(str(files / "f?.nc"),), target=request.target, resume=True))
    assert [os.path.basename(each.source) for each in again.made if not each.was_there] == ["f1.nc"]


def test_references_to_other_values_are_no_document(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = making._is_same
    for form, name in (("refs-v1", "one.json"), ("refs-parquet", "one.parq")):
        request = MakeRequest(
            sources=(str(files / "f0.nc"),), target=str(tmp_path / "out" / name), format=form
        )
        (tmp_path / "out").mkdir(exist_ok=True)
        (task,) = tasks_of(request)
        with monkeypatch.context() as broken:
            broken.setattr(making, "_is_same", lambda found, expected: same(found, expected + 1))
            with pytest.raises(RefbrowserError, match="not those of the file"):
                make_one(task)
            assert not (tmp_path / "out").joinpath(name).exists()
        assert make_one(task).compared == 5
        before = _bytes_below(tmp_path / "out")
        with monkeypatch.context() as broken:
            broken.setattr(making, "_is_same", lambda found, expected: same(found, expected + 1))
            with pytest.raises(RefbrowserError, match="not those of the file"):
                make_one(replace(task, request=replace(request, force=True)))
        # The old document is there, and nothing else.
        assert _bytes_below(tmp_path / "out") == before


def _bytes_below(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_of_a_file_that_was_cut_what_is_not_there_is_told(files: Path, tmp_path: Path) -> None:
    path = files / "f0.nc"
    path.write_bytes(path.read_bytes()[:-32])
    (made,) = make(MakeRequest(sources=(str(path),), target=str(tmp_path / "one.json"))).made
    assert (made.compared, made.unread) == (5, 2)
    assert any("the file ends" in each for each in made.losses)


def test_names_that_cannot_be_are_told_before_anything_is_made(files: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "f0.nc").write_bytes(b"")
    for sources in ((str(files / "f0.nc"), str(other / "f0.nc")), (str(files / "*.none"),)):
        with pytest.raises(RefbrowserError) as caught:
            make(MakeRequest(sources=sources, target=str(tmp_path / "out")))
        assert caught.value.kind is ErrorKind.USAGE
    assert not (tmp_path / "out").exists()


def test_others_do_the_work(files: Path, tmp_path: Path) -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        request = MakeRequest(sources=(str(files / "*.nc"),), target=str(tmp_path / "out"))
        assert len(make(request, compute=Compute.of(pool)).made) == 5


def test_the_command(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "bad.nc").write_bytes(b"CDF\x01\0\0")
    out = str(tmp_path / "out")
    assert main(["make", str(files / "*.nc"), "-o", out]) == 2
    assert "E_FORMAT" in capsys.readouterr().err
    assert main(["make", str(files / "*.nc"), "-o", out, "--skip-bad", "--force", "--relative"]) == 0
    told = capsys.readouterr()
    assert told.out.count("5 chunks compared with the file") == 5
    assert "left out" in told.out
    assert "warning[E_FORMAT]" in told.err
    text = json.loads((tmp_path / "out" / "f0.nc.refs.json").read_bytes())
    assert text["templates"] == {"u": "../data/f0.nc"}
    assert main(["make", str(files / "f0.nc"), "-o", out, "--resume", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["made"][0]["was_there"] is True
