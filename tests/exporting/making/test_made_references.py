"""References of many files: each document is proved, bad files are named, what is there is not made again."""

from __future__ import annotations

import base64
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import psutil
import pytest
import tifffile
from astropy.io import fits

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.compute import Compute
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.making import made_references
from refbrowser.exporting.making.made_references import MakeRequest, MakeTask, make, make_one, tasks_of
from refbrowser.exporting.saving import reference_proof
from refbrowser.exporting.saving.reference_proof import is_same, proved
from refbrowser.exporting.targets.reference_options import ReferenceOptions
from refbrowser.formats.netcdf3 import opening
from refbrowser.io.cancel import CancelToken


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


@pytest.mark.slow
def test_a_document_is_made_of_each_file(files: Path, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(f"{files}/f3.nc\n\n{files}/f[01].nc\n")
    for form in made_references.FORMS:
        out = tmp_path / form
        sources, options = (f"@{tmp_path}/list.txt", files / "f0.nc"), ReferenceOptions(inline=12)
        report = refbrowser.make(sources, out, format=form, options=options)
        assert sorted(os.path.basename(each.source) for each in report.made) == ["f0.nc", "f1.nc", "f3.nc"]
        for each in report.made:
            assert (each.arrays, each.references > 8, each.compared, each.unread) == (3, True, 7, 0)
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
    same = reference_proof.is_same
    for form, name in (("refs-v1", "one.json"), ("refs-parquet", "one.parq")):
        request = MakeRequest(
            sources=(str(files / "f0.nc"),), target=str(tmp_path / "out" / name), format=form
        )
        (tmp_path / "out").mkdir(exist_ok=True)
        (task,) = tasks_of(request)
        with monkeypatch.context() as broken:
            broken.setattr(reference_proof, "is_same", lambda found, expected: same(found, expected + 1))
            with pytest.raises(RefbrowserError, match="differ from those of the file"):
                make_one(task)
            assert not (tmp_path / "out").joinpath(name).exists()
        assert make_one(task).compared == 7
        before = _bytes_below(tmp_path / "out")
        with monkeypatch.context() as broken:
            broken.setattr(reference_proof, "is_same", lambda found, expected: same(found, expected + 1))
            with pytest.raises(RefbrowserError, match="differ from those of the file"):
                make_one(replace(task, request=replace(request, force=True)))
        # The old document is there, and nothing else.
        assert _bytes_below(tmp_path / "out") == before


def _written_files(folder: Path) -> list[Path]:
    """Write files that libraries read too: with chunks at the edge, and some that are not stored."""
    values = np.arange(7 * 11, dtype="f4").reshape(7, 11)
    values[0, 0] = np.nan
    with netCDF4.Dataset(folder / "a.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createDimension("x", 11)
        file.createVariable("v", "f4", ("time", "x"))[:] = values
        file.createVariable("w", "f4", ("time", "x"))[:] = values
        file.createVariable("c", "S1", ("x",))[:] = np.array([*b"abcdefghijk"], "u1").view("S1")
        file.createVariable("s", "i4", ())[...] = 7
    with h5py.File(folder / "b.h5", "w") as file:
        array = file.create_dataset("v", (9, 11), "f4", chunks=(3, 4), compression="gzip", fillvalue=5)
        array[:7] = values
        file["w"] = values
    fits.ImageHDU(np.arange(77, dtype=">i2").reshape(7, 11)).writeto(folder / "c.fits")
    tifffile.imwrite(folder / "d.tif", values, tile=(16, 16), compression="zlib")
    return sorted(folder.iterdir())


def test_whole_chunks_are_compared_with_what_the_library_of_the_file_reads(tmp_path: Path) -> None:
    def not_wanted(*_: object) -> None:
        raise AssertionError("our own reader was asked")

    (tmp_path / "data").mkdir()
    for path in _written_files(tmp_path / "data"):
        out = tmp_path / f"{path.name}.json"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reference_proof, "_own", not_wanted)
            made = make_one(MakeTask(str(path), str(out), MakeRequest(sources=(), target=str(out))))
        assert (made.alone, made.unread) == (0, 0)
        document = json.loads(out.read_bytes())
        chunks = {key: each for key, each in document["refs"].items() if isinstance(each, list)}
        arrays = [key.rpartition("/")[0] for key in document["refs"] if key.endswith(".zarray")]
        assert made.compared >= len(arrays)
        for array in arrays:
            # The last byte of each array is in a chunk that is compared whole.
            key = max((key for key in chunks if key.startswith(f"{array}/")), default=None)
            if key is None:
                continue
            other = json.loads(out.read_bytes())
            _, start, length = other["refs"][key]
            data = bytearray(path.read_bytes()[start : start + length])
            data[-1] ^= 1
            other["refs"][key] = "base64:" + base64.b64encode(data).decode()
            (tmp_path / "other.json").write_text(json.dumps(other))
            with (
                refbrowser.open(path) as source,
                refbrowser.open(tmp_path / "other.json", allow=[str(path.parent)]) as references,
                pytest.raises(RefbrowserError, match=r"differ from those of the file|cannot be read"),
            ):
                proved(source, references, CancelToken())


def test_without_a_library_the_result_says_so(files: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "_LIBRARIES", ())
        (made,) = refbrowser.make(files / "f0.nc", tmp_path / "one.json").made
    assert (made.alone, made.with_what) == (7, "our own reader only")


def test_values_are_the_same_bit_for_bit_but_what_is_no_number() -> None:
    nans = np.array([0x7FC00000, 0xFFC00001], "u4").view("f4")
    for found, expected, same in (
        (np.array([0.0, nans[0]]), np.array([0.0, nans[0]]), True),
        (nans[:1], nans[1:], True),
        (np.array([0.0]), np.array([-0.0]), False),
        (np.array([np.nan, 1]), np.array([np.nan, 2]), False),
        (np.array([np.nan]), np.array([1.0]), False),
        (np.array([1, 2], ">i2"), np.array([1, 2], "<i2"), True),
        (np.array([1, 2]), np.array([[1, 2]]), False),
    ):
        assert is_same(found, expected) is same


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


def test_a_process_that_ends_leaves_no_file_out(files: Path, tmp_path: Path) -> None:
    class Ends(concurrent.futures.ThreadPoolExecutor):
        def submit(self, *_: object, **__: object) -> concurrent.futures.Future[None]:
            future: concurrent.futures.Future[None] = concurrent.futures.Future()
            future.set_exception(concurrent.futures.BrokenExecutor("it was killed"))
            return future

    request = MakeRequest(sources=(str(files / "*.nc"),), target=str(tmp_path / "out"), skip_bad=True)
    with pytest.raises(RefbrowserError, match="ended while it worked"), Ends(1) as pool:
        make(request, compute=Compute.of(pool))


@pytest.mark.slow
def test_the_command(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "bad.nc").write_bytes(b"CDF\x01\0\0")
    out = str(tmp_path / "out")
    assert main(["make", str(files / "*.nc"), "-o", out]) == 2
    assert "E_FORMAT" in capsys.readouterr().err
    assert main(["make", str(files / "*.nc"), "-o", out, "--skip-bad", "--force", "--relative"]) == 0
    told = capsys.readouterr()
    assert told.out.count("7 chunks compared with the file") == 5
    assert "left out" in told.out
    assert "warning[E_FORMAT]" in told.err
    text = json.loads((tmp_path / "out" / "f0.nc.refs.json").read_bytes())
    assert {value[0] for value in text["refs"].values() if isinstance(value, list)} == {"../data/f0.nc"}
    assert main(["make", str(files / "f0.nc"), "-o", out, "--resume", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["made"][0]["was_there"] is True


def test_the_command_tells_what_stands_in_the_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("v", data=np.arange(8.0), chunks=(4,), compression="lzf")
    assert main(["make", str(tmp_path / "a.h5"), "-o", str(tmp_path / "a.json")]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith("a.json: 1 array, 5 references; 2 chunks compared with the file")
    assert second == "  in the document, not referenced: /v: Zarr has no codec for its filter 'lzf'"


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are looked for as Linux tells them")
def test_who_is_killed_leaves_no_process_and_a_killed_worker_is_replaced(files: Path, tmp_path: Path) -> None:
    for number in range(5, 120):
        shutil.copyfile(files / "f0.nc", files / f"f{number}.nc")
    (files / "junk.nc").write_bytes(b"CDF\x01\0\0")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "refbrowser", "make", f"{files}/*.nc", "-o", str(out), "--skip-bad"]
    for is_worker in (False, True):
        before = len(list(out.glob("*.json"))) if out.exists() else 0
        with subprocess.Popen([*command, "--resume"], stderr=subprocess.PIPE) as process:
            started: list[psutil.Process] = []
            end = time.monotonic() + 60
            while time.monotonic() < end and len(list(out.glob("*.json"))) < before + 10:
                started = psutil.Process(process.pid).children(recursive=True)
                time.sleep(0.01)
            killed = started[0] if is_worker and started else psutil.Process(process.pid)
            killed.kill()
            said = process.communicate(timeout=60)[1]
        # Of the program nothing is left; what a worker was at is done by another one.
        assert (process.returncode == 0) is is_worker, said
        _, alive = psutil.wait_procs(started, 10)
        assert not alive
    done = subprocess.run([*command, "--resume", "--json"], capture_output=True, timeout=60, check=True)
    told = json.loads(done.stdout)
    assert (len(told["made"]), len(told["left_out"])) == (120, 1)
    assert sum(each["was_there"] for each in told["made"]) >= 20
    assert not [path for path in out.iterdir() if path.suffix != ".json"]
