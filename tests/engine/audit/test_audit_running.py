"""Audits over servers, with permissions, going on after a kill, and by other processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damaged_sets import CHUNKS, DAMAGES, FILES, DamagedSet, sound
from servers.http_server import Fault, HttpServer
from servers.object_servers import ObjectServer

import refbrowser
from refbrowser.engine.audit.audit_journal import AuditJournal
from refbrowser.engine.audit.audit_plan import AuditPlan, AuditRequest, Level, plan_audit, spread
from refbrowser.engine.audit.audit_tasks import FileState, Outcome, TaskAnswer
from refbrowser.errors import RefbrowserError
from refbrowser.io.files.permissions import state_folder
from refbrowser.limits import LIMITS


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[DamagedSet, HttpServer]]:
    """A sound set whose files a server has."""
    with HttpServer(root=tmp_path / "files") as server:
        made = sound(tmp_path / "files", server.url("/"))
        made.folder = tmp_path
        yield made, server


def audited(made: DamagedSet, server: HttpServer, level: str = "stat", **more: Any) -> Any:
    return refbrowser.audit(made.write(), level=level, allow=[server.origin], **more)


# Servers


def test_a_sound_set_of_a_server(served: tuple[DamagedSet, HttpServer]) -> None:
    made, server = served
    assert audited(made, server).groups == []
    assert {each.method for each in server.requests} == {"HEAD"}
    assert len(server.requests) == FILES
    assert audited(made, server, "full").groups == []


#: Behaviour of a server for one file, and what is found at which level.
BEHAVIOURS: dict[str, tuple[Fault, str, str, bool]] = {
    "gone": (Fault("status", value=404), "stat", "url-dead", True),
    "for ever": (Fault("status", value=410), "stat", "url-dead", True),
    "credentials": (Fault("status", value=401), "stat", "url-credentials", True),
    "forbidden": (Fault("status", value=403), "stat", "url-credentials", True),
    "moved": (Fault("redirect", value="/f3.bin"), "stat", "url-moved", False),
    # Neither gone nor behind credentials: nobody knows why.
    "out of order": (Fault("status", value=418), "stat", "url-unreachable", True),
    "shorter": (Fault("total", value=100), "full", "range-past-end", True),
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_what_servers_do(name: str, served: tuple[DamagedSet, HttpServer]) -> None:
    made, server = served
    fault, level, code, is_fault = BEHAVIOURS[name]
    server.faults["/f3.bin" if name != "moved" else "/f2.bin"] = fault
    result = audited(made, server, level)
    counts = result.counts()
    assert set(counts) == {code}, counts
    assert counts[code] in (2 * CHUNKS, CHUNKS * 2)
    assert (result.faults > 0) is is_fault
    (group,) = result.groups
    assert group.url.endswith("/f3.bin" if name != "moved" else "/f2.bin")
    place = group.findings[0].place
    assert place.key is not None
    assert place.line is not None


def test_a_file_that_moved_is_taken_over(served: tuple[DamagedSet, HttpServer]) -> None:
    made, server = served
    server.faults["/f2.bin"] = Fault("redirect", value="/f3.bin")
    path = made.write()
    with refbrowser.open(path, allow=[server.origin]) as dataset:
        (group,) = refbrowser.audit(dataset, level="stat").groups
        changed = dataset.document.apply(group.fix(dataset.document))
        assert refbrowser.expand(changed)["raw/2.0"][0] == server.url("/f3.bin")


def test_a_server_that_answers_no_heads_is_asked_for_a_byte(served: tuple[DamagedSet, HttpServer]) -> None:
    made, server = served
    for file in range(FILES):
        server.faults[f"/f{file}.bin"] = Fault("status", value=405, times=1)
    assert audited(made, server).groups == []
    assert [each.range for each in server.requests if each.method == "GET"] == [(0, 0)] * FILES


@pytest.mark.parametrize("said", ["none", ""])
def test_a_server_without_ranges(said: str, served: tuple[DamagedSet, HttpServer]) -> None:
    made, server = served
    for file in range(FILES):
        server.faults[f"/f{file}.bin"] = Fault("ignore_ranges", value=said)
    result = audited(made, server, "sample")
    # They are small: read whole, which costs more.
    assert result.faults == 0
    assert result.counts() == {"url-no-ranges": 2 * FILES * CHUNKS}
    assert set(result.states.values()) == {"url-no-ranges"}


def test_a_large_file_of_a_server_without_ranges(served: tuple[DamagedSet, HttpServer]) -> None:
    made, server = served
    server.faults["/f2.bin"] = server.faults["/f3.bin"] = Fault("ignore_ranges", value="none")
    # It can be read whole for each range up to this size, no further.
    os.truncate(made.folder / "files/f3.bin", LIMITS.http_cut + 1)
    small, large = audited(made, server).groups[::-1]
    assert (small.code, large.code) == ("url-no-ranges", "url-no-ranges")
    assert (small.url, large.url) == (server.url("/f2.bin"), server.url("/f3.bin"))
    assert (small.is_fault, large.is_fault) == (False, True)
    assert (small.count, large.count) == (2 * CHUNKS, 2 * CHUNKS)
    # The server said so: no byte is asked for.
    assert {each.method for each in server.requests} == {"HEAD"}


def test_a_file_that_changes_meanwhile(served: tuple[DamagedSet, HttpServer]) -> None:
    made, server = served
    # After it was asked about: another size, time and tag.
    server.faults["/f3.bin"] = Fault("redirect", value="/f3-new.bin", after=1)
    (made.folder / "files/f3-new.bin").write_bytes((made.folder / "files/f3.bin").read_bytes() + b"more")
    result = audited(made, server, "full")
    (group,) = result.groups
    assert group.code == "identity-changed"
    assert group.is_fault
    assert group.count == 2 * CHUNKS


def test_a_mirrored_file(served: tuple[DamagedSet, HttpServer]) -> None:
    made, server = served
    server.faults["/f3.bin"] = Fault("etag", value='"other"', after=1)
    result = audited(made, server, "full")
    assert result.counts() == {"identity-varies": 1}
    assert result.faults == 0


def test_a_busy_server_is_waited_for(served: tuple[DamagedSet, HttpServer]) -> None:
    made, server = served
    server.faults["/f3.bin"] = Fault("status", value=503, times=1, headers={"Retry-After": "0"})
    assert audited(made, server, "sample").groups == []


def test_what_is_not_allowed_is_not_asked(served: tuple[DamagedSet, HttpServer]) -> None:
    made, server = served
    result = refbrowser.audit(made.write(), level="full")
    assert server.requests == []
    assert result.groups == []
    (blocked,) = result.blocked
    assert (blocked.urls, blocked.references) == (FILES, 2 * FILES * CHUNKS)
    assert server.origin in blocked.advice
    assert result.exit_code() == 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["s3", "gs", "abfs"])
def test_an_object_store(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: ObjectServer = request.getfixturevalue(f"{kind}_server")
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    bucket = store.new_bucket()
    made = sound(tmp_path, f"{bucket}/")
    objects = {f"f{file}.bin": (tmp_path / f"f{file}.bin").read_bytes() for file in range(FILES) if file != 4}
    objects["f2.bin"] = objects["f2.bin"][:-1]
    store.put_all(bucket, objects)
    how: dict[str, Any] = {"allow": [bucket], "storage_options": store.settings(bucket)}
    path = made.write()
    with refbrowser.open(path, **how) as dataset:
        found = refbrowser.audit(dataset, level="sample")
    counts = {"url-dead": 2 * CHUNKS, "range-past-end": 1}
    assert found.counts() == counts, [each.message for each in found.findings][:3]
    refbrowser.lock(path, **how)
    store.put(f"{bucket}/f3.bin", bytes(reversed(objects["f3.bin"])))
    with refbrowser.open(path, stale="allow", **how) as dataset:
        locked = refbrowser.audit(dataset, level="stat", lock=True)
    stale = {each.place.url for each in locked.findings if each.code == "stale-file"}
    assert stale == {f"{bucket}/f3.bin"}
    # What was not there when the lock was written is in no lock.
    others = {code: count for code, count in locked.counts().items() if code != "stale-file"}
    assert others == {**counts, "file-not-locked": 2 * CHUNKS}


# Plans


def test_the_cost_is_told_before(served: tuple[DamagedSet, HttpServer]) -> None:
    made, server = served
    with refbrowser.open(made.write(), allow=[server.origin]) as dataset:
        costs = [plan_audit(dataset, AuditRequest(level)).cost for level in Level]
        assert server.requests == []
    assert [each.urls for each in costs] == [0, FILES, FILES, FILES]
    assert [each.chunks for each in costs] == [0, 0, 20, 2 * FILES * CHUNKS]
    assert costs[3].size == sum(
        (made.folder / f"files/f{file}.bin").stat().st_size - 64 for file in range(FILES)
    )
    assert costs[1].requests == FILES
    assert 0 < costs[1].seconds <= costs[2].seconds <= costs[3].seconds


def test_a_sample_is_spread_over_ends_and_files() -> None:
    url = np.repeat(np.arange(20, dtype=np.int32), 50)
    chosen = spread(url, 10)
    assert len(chosen) == len(set(chosen.tolist())) == 10
    assert {0, 999} <= set(chosen.tolist())
    assert len({int(url[row]) for row in chosen}) >= 8
    # Not always the first chunk of a file.
    assert len({row % 50 for row in chosen.tolist()}) >= 3
    assert spread(url, 1).tolist() == [0]
    assert spread(url[:3], 10).tolist() == [0, 1, 2]
    assert len(spread(np.zeros(1000, np.int32), 10)) == 10


def test_arrays_that_are_asked_for(tmp_path: Path) -> None:
    made = sound(tmp_path)
    DAMAGES["bytes that do not decode"].make(made)
    path = made.write()
    assert refbrowser.audit(path, level="full", arrays="/raw").counts() == {}
    assert refbrowser.audit(path, level="full", arrays=["packed"]).counts() == {"undecodable": 1}
    with pytest.raises(RefbrowserError, match="no array 'none'"):
        refbrowser.audit(path, arrays=["none"])
    with pytest.raises(RefbrowserError, match="not a level"):
        refbrowser.audit(path, level="all")


def test_files_are_compared_with_the_lock(tmp_path: Path) -> None:
    path = sound(tmp_path).write()
    with pytest.raises(RefbrowserError, match="no usable lock"):
        refbrowser.audit(path, lock=True)
    refbrowser.lock(path)
    assert refbrowser.audit(path, lock=True).counts() == {}
    replaced = tmp_path / "f3.bin"
    data = bytearray(replaced.read_bytes())
    data[0] ^= 1
    replaced.write_bytes(data)
    gone = tmp_path / "f4.bin"
    gone.unlink()
    told: list[AuditPlan] = []
    result = refbrowser.audit(path, lock=True, told=told.append)
    assert told[0].cost.requests >= len(told[0].locked) > 2
    assert result.counts().keys() >= {"stale-file", "file-gone"}
    assert result.exit_code([]) == 2
    (stale,) = [group for group in result.groups if group.code == "stale-file"]
    assert replaced.name in stale.url
    # Its chunks are marked, and no others.
    marks = [result.marks.of(each).get("stale-file", ()) for each in result.marks.paths]
    assert sum(map(len, marks)) == stale.count > 0
    # Asking for the state of files meets the lock, too; each way the file is told once.
    for more in ({}, {"lock": True}):
        counts = refbrowser.audit(path, level="stat", **more).counts()
        assert counts["stale-file"] == stale.count
        assert "url-unreachable" not in counts
    # A file that is not there is told once.
    assert refbrowser.audit(path, level="stat", lock=True).counts().keys() >= {"stale-file", "url-dead"}
    assert "file-gone" not in refbrowser.audit(path, level="stat", lock=True).counts()
    # That its chunks cannot be read is not told besides.
    assert refbrowser.audit(path, level="full").counts() == counts


# Stores and other formats


def test_stores_and_streams(tmp_path: Path) -> None:
    made = sound(tmp_path)
    for format, name in (("zarr-v2", "store"), ("ncstream", "s.ncs"), ("refs-parquet", "s.parq")):
        refbrowser.export(made.write(), tmp_path / name, format=format)
        result = refbrowser.audit(tmp_path / name, level="full")
        assert result.faults == 0, (format, result.counts())
        assert result.chunks > 0, format
    (tmp_path / "store/packed/3.1").write_bytes(b"\0\0\0")
    (tmp_path / "store/packed/3.2").write_bytes(bytes(50))
    counts = refbrowser.audit(tmp_path / "store", level="full").counts()
    # Of the one its length tells, of the other its bytes.
    assert counts == {"length-undecodable": 1, "undecodable": 1}


# Going on


def test_answers_are_the_same_after_a_journal() -> None:
    outcome = Outcome("undecodable", "fault", "E_DECODE", "…", "", "/a", (1, 2), "u", 0, 4)
    answer = TaskAnswer((FileState("u", 4, "e", None, ranges=True),), (outcome,), 3, 1, 40, 2)
    assert TaskAnswer.from_json(json.loads(json.dumps(answer.to_json()))) == answer


KILLED = """
import os, sys
import refbrowser
from refbrowser.engine.audit import audit_journal, audit_tasks
audit_tasks._TOGETHER = 4
added = audit_journal.AuditJournal.add
def add(self, number, answer):
    added(self, number, answer)
    if len(os.environ["AFTER"]) and number + 1 >= int(os.environ["AFTER"]):
        os.kill(os.getpid(), 9)
audit_journal.AuditJournal.add = add
refbrowser.audit(sys.argv[1], level="full", client=None)
"""


@pytest.mark.slow
def test_an_audit_that_was_killed_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sound(tmp_path)
    DAMAGES["bytes that do not decode"].make(made)
    path = made.write()
    environment = os.environ | {"AFTER": "5", "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", KILLED, os.fspath(path)], env=environment, check=False)
    assert ended.returncode == -signal.SIGKILL
    (journal,) = (state_folder() / "audits").iterdir()
    done = sum(b'"task"' in line for line in journal.read_bytes().splitlines())
    assert done >= 1
    # A torn line at its end is passed over.
    with journal.open("ab") as file:
        file.write(b"0123abcd {")
    monkeypatch.setattr("refbrowser.engine.audit.audit_tasks._TOGETHER", 4)
    carried: list[int] = []
    from refbrowser.engine.audit import audit_tasks

    kept = audit_tasks.carry_out

    def carry_out(dataset: Any, task: Any, token: Any) -> TaskAnswer:
        carried.append(task.number)
        return kept(dataset, task, token)

    monkeypatch.setattr(audit_tasks, "carry_out", carry_out)
    result = refbrowser.audit(path, level="full", resume=True)
    assert result.counts() == {"undecodable": 1}
    assert result.chunks == 2 * FILES * CHUNKS - 1
    assert len(carried) == 1 + 2 * FILES * CHUNKS // 4 - done
    # It is over: nothing is left of it.
    assert list((state_folder() / "audits").iterdir()) == []


def test_stale_journals_are_not_used(tmp_path: Path) -> None:
    made = sound(tmp_path)
    path = made.write()

    def known(level: Level = Level.STAT, **more: Any) -> dict[int, TaskAnswer]:
        with refbrowser.open(path) as dataset:
            plan = plan_audit(dataset, AuditRequest(level, **more))
            journal = AuditJournal(dataset, plan, resume=True)
            journal.close()
            return journal.known

    with refbrowser.open(path) as dataset:
        plan = plan_audit(dataset, AuditRequest(Level.STAT))
        journal = AuditJournal(dataset, plan, resume=False)
        journal.add(0, TaskAnswer(chunks=1))
        journal.close()
    assert known() == {0: TaskAnswer(chunks=1)}
    # Another level, another document, a journal of the day before.
    assert known(Level.SAMPLE) == {}
    os.utime(journal.path, (time.time() - 2 * 86400,) * 2)
    assert known() == {}
    made.refs["raw/0.0"] = ["f1.bin", 64, 400]
    made.write()
    assert known() == {}


# Others who work


@pytest.mark.slow
def test_processes_find_the_same(tmp_path: Path) -> None:
    made = sound(tmp_path)
    for name in ("bytes that do not decode", "values beyond the valid range", "a file that is gone"):
        DAMAGES[name].make(made)
    path = made.write()
    here = refbrowser.audit(path, level="full")
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        there = refbrowser.audit(path, level="full", client=pool)
    assert (
        there.counts()
        == here.counts()
        == {"undecodable": 1, "value-outside-range": 1, "url-dead": 2 * CHUNKS}
    )
    assert (there.urls, there.chunks) == (here.urls, here.chunks)
    for array in ("/raw", "/packed"):
        marks, others = here.array_marks(array), there.array_marks(array)
        assert marks is not None
        assert others is not None
        assert marks.codes == others.codes
        assert sorted(marks.coords.tolist()) == sorted(others.coords.tolist())
