"""An interrupted combination goes on: at whatever byte of its journal it ended, the document is the same."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import netCDF4
import numpy as np
import psutil
import pytest

from refbrowser.cli import main
from refbrowser.engine.jobs import JobControl
from refbrowser.exporting.combining import combine as combining
from refbrowser.exporting.combining import scan_journal
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.combine import combine, gather, plan_of
from refbrowser.exporting.combining.combined import combined_document
from refbrowser.exporting.combining.scan_journal import ScanJournal
from refbrowser.exporting.combining.scan_sources import ScanTask
from refbrowser.exporting.making.made_references import MakeRequest, make
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.files.permissions import state_folder

DAYS = 3


def day_file(path: Path, number: int, add: int = 0) -> None:
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createDimension("x", 4)
        file.history = f"file {number}"
        time_ = file.createVariable("time", "f8", ("time",))
        time_.units = "days since 2001-01-01"
        file.createVariable("x", "f4", ("x",))[:] = np.arange(4)
        values = file.createVariable("v", "i2", ("time", "x"))
        time_[:] = np.arange(DAYS) + number * DAYS
        values[:] = np.arange(DAYS * 4).reshape(DAYS, 4) + number + add


def journals() -> list[Path]:
    return sorted((state_folder() / "combining").glob("*"))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of files, and of documents that refer to some of them."""
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(6):
        day_file(folder / f"f{number}.nc", number)
    sources = tuple(str(folder / f"f{number}.nc") for number in range(4, 6))
    for each in make(MakeRequest(sources=sources, target=str(tmp_path / "refs"))).made:
        os.rename(each.target, folder / f"{os.path.basename(each.source)[:2]}.json")
        os.rename(each.source, folder / f"{os.path.basename(each.source)[:2]}.data")
        text = (folder / f"{os.path.basename(each.source)[:2]}.json").read_text()
        (folder / f"{os.path.basename(each.source)[:2]}.json").write_text(text.replace(".nc", ".data"))
    return folder


def request(folder: Path, **more: object) -> Combination:
    how = {
        "concat": ("time",),
        "sort": True,
        "target": str(folder.parent / "out.json"),
        "allow": (str(folder),),
    } | more
    sources = (str(folder / "*.nc"), str(folder / "*.json"))
    return Combination(sources=sources, **how)  # type: ignore[arg-type]


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the files that are looked at from now on."""
    found: list[str] = []
    scan = combining.scan

    def look(task: ScanTask) -> object:
        found.extend(map(os.path.basename, task.sources))
        return scan(task)

    monkeypatch.setattr(combining, "scan", look)
    return found


def kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, Path, bytes]:
    """Return the document of a run that was not interrupted, the name of its journal, and that."""
    with monkeypatch.context() as patch:
        patch.setattr(combining, "forget_scans", lambda target: None)
        combine(request(folder))
    (path,) = journals()
    return Path(request(folder).target).read_bytes(), path, path.read_bytes()


@pytest.mark.slow
def test_at_whatever_byte_it_ended_the_document_is_the_same(
    folder: Path, looked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, path, whole = kept(folder, monkeypatch)
    ends = [found.start() for found in re.finditer(rb"[0-9a-f]{8} \d+ \d+\n\{", whole)]
    ends += [at - 1 for at in ends if at]
    counts = set()
    resumed = request(folder, resume=True)

    def text() -> bytes:
        journal = ScanJournal(resumed.target, resumed.looking(), resume=True)
        plan = plan_of(gather(resumed, journal=journal), resumed)
        return b"".join(combined_document(plan).written().to_chunks())

    plain = text()
    for number, end in enumerate([*range(0, len(whole), len(whole) // 6), *ends, len(whole)]):
        for left in {whole[:end], whole[: end // 2] + whole[end // 2 + 1 : end]}:
            path.write_bytes(left)
            looked.clear()
            assert text() == plain
            assert len(journals()) == 1
            if left == whole[:end]:
                counts.add(len(looked))
                # Where it went on the journal is whole again.
                looked.clear()
                assert (text(), looked) == (plain, [])
        if number % 10 == 0:
            combine(resumed)
            assert Path(resumed.target).read_bytes() == expected
            assert journals() == []
    assert counts == set(range(7)), "it goes on after each number of files"


@pytest.mark.slow
def test_what_was_changed_is_looked_at_again(
    folder: Path, looked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path, whole = kept(folder, monkeypatch)
    day_file(folder / "f1.nc", 1, add=5)
    os.utime(folder / "f2.nc", ns=(1, 1))
    # What a document refers to counts as well.
    day_file(folder / "f5.data", 5)
    day_file(folder / "a.nc", 6)
    (folder / "f3.nc").unlink()
    assert path.read_bytes() == whole
    looked.clear()
    again = combine(request(folder, resume=True))
    assert sorted(looked) == ["a.nc", "f1.nc", "f2.nc", "f5.json"]
    assert (again.files, again.sizes) == (6, {"time": 6 * DAYS})
    found = Path(again.target).read_bytes()
    assert combine(request(folder, force=True)).files == 6
    assert Path(again.target).read_bytes() == found


@pytest.mark.slow
def test_who_looks_otherwise_or_begins_anew_looks_at_all(
    folder: Path, looked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path, whole = kept(folder, monkeypatch)
    for more in ({"resume": True, "inline_var": ("v",)}, {"force": True}):
        path.write_bytes(whole)
        looked.clear()
        combine(request(folder, **more))
        assert len(looked) == 6
        assert journals() == []
    # That of a process that is at it belongs to that.
    path.write_bytes(whole)
    monkeypatch.setattr(scan_journal, "_open", {path})
    looked.clear()
    combine(request(folder, resume=True))
    assert len(looked) == 6
    assert path.read_bytes() == whole


@pytest.mark.slow
def test_what_was_cancelled_or_cannot_be_combined_is_kept(
    folder: Path, looked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    token = CancelToken()

    def publish(changes: dict[str, object]) -> None:
        if len(looked) > 2:
            token.cancel()

    with pytest.raises(Cancelled):
        combine(request(folder), JobControl(token, publish))
    assert len(journals()) == 1
    before = len(looked)
    with netCDF4.Dataset(folder / "f3.nc", "a") as file:
        file["v"].scale_factor = 0.5
    out = request(folder).target
    command = [
        "make",
        *request(folder).sources,
        "-o",
        out,
        "--concat",
        "time",
        "--sort",
        "--allow",
        str(folder),
    ]
    assert main([*command, "--resume"]) == 2
    assert "scale_factor" in capsys.readouterr().err
    assert 6 <= len(looked) <= 6 + before
    looked.clear()
    assert main([*command, "--resume", "--leave-out", "odd"]) == 0
    assert looked == []
    assert "5 files as one" in capsys.readouterr().out
    assert journals() == []
    assert main(command) == 7
    assert "give --force" in capsys.readouterr().err


@pytest.mark.slow
def test_journals_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, path, whole = kept(folder, monkeypatch)
    for number in range(scan_journal._KEPT + 5):
        other = path.with_name(f"{number:040x}-{path.name.partition('-')[2]}")
        other.write_bytes(whole)
        os.utime(other, (number, number))
    combine(request(folder, resume=True))
    assert len(journals()) == scan_journal._KEPT
    assert not list(path.parent.glob(f"{0:040x}*"))
    for each in journals():
        each.unlink()
    monkeypatch.setattr(scan_journal, "LARGEST", 2_000)
    with monkeypatch.context() as patch:
        patch.setattr(combining, "forget_scans", lambda target: None)
        combine(request(folder, force=True))
    assert [0 < each.stat().st_size <= 2_000 for each in journals()] == [True]


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork") or (os.cpu_count() or 1) < 2, reason="it starts no processes")
def test_a_program_that_is_killed_goes_on_and_a_killed_worker_costs_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for number in range(48):
        day_file(data / f"f{number:03}.nc", number)
    state = tmp_path / "state" / "refbrowser" / "combining"
    variables = {**os.environ, "HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(tmp_path / "state")}
    out = tmp_path / "out.json"
    combine(Combination(sources=(f"{data}/*.nc",), target=str(out), concat=("time",)))
    texts = [out.read_bytes()]
    for what in ("worker", "program", "again"):
        command = [sys.executable, "-m", "refbrowser", "make", f"{data}/*.nc", "-o", str(out)]
        command += [
            "--concat",
            "time",
            "--dask",
            "local:2",
            "--json",
            "--resume" if what == "again" else "--force",
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables
        ) as process:
            end, killed = time.monotonic() + 60, what == "again"
            while not killed and time.monotonic() < end and process.poll() is None:
                if any(each.stat().st_size > 4_000 for each in state.glob("*")):
                    started = psutil.Process(process.pid).children()
                    (started[0] if what == "worker" else psutil.Process(process.pid)).kill()
                    killed = True
                time.sleep(0.002)
            told, said = process.communicate(timeout=60)
        assert killed
        if what == "program":
            assert process.returncode == -signal.SIGKILL
            assert len(list(state.glob("*"))) == 1
            continue
        assert process.returncode == 0, said
        assert json.loads(told)["files"] == 48
        assert not json.loads(told)["left_out"]
        texts.append(out.read_bytes())
        assert not list(state.glob("*"))
    assert texts[1:] == texts[:1] * 2
