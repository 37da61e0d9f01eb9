"""Processes of this machine: a killed one costs nothing, and the script of the caller never runs again."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from concurrent.futures import BrokenExecutor
from contextlib import closing
from pathlib import Path

import pytest
from process_work import (
    answers_once,
    ends_always,
    ends_at_first,
    eventually,
    leaves,
    limit,
    reachable,
    unsendable,
)

import refbrowser
from refbrowser.engine.compute import HERE, Compute
from refbrowser.engine.workers.processes import Processes
from refbrowser.exporting.making import made_references
from refbrowser.exporting.making.made_references import MakeRequest, make
from refbrowser.exporting.workers.file_processes import MANY, computing
from refbrowser.io.cancel import CancelToken
from refbrowser.io.processes import is_running
from refbrowser.limits import LIMITS, adjust


@pytest.mark.slow
def test_what_a_killed_process_was_at_is_done_again(tmp_path: Path) -> None:
    mark = str(tmp_path / "killed")
    sources = [str(tmp_path / str(number)) for number in range(2 * MANY)]
    with computing(HERE, sources) as chosen, chosen.open() as executor:
        assert chosen.processes > 1
        items = [(mark, number) for number in range(40)]
        found = {item[1]: answer for item, answer in executor.run(ends_at_first, items, CancelToken())}
    assert found == {number: number for number in range(40)}
    assert os.path.exists(mark)


@pytest.mark.long
def test_an_item_over_which_all_end_is_named_and_the_others_are_done() -> None:
    with Processes(2) as pool:
        futures = [pool.submit(ends_always, number) for number in range(8)]
        errors = {number: type(each.exception()) for number, each in enumerate(futures) if each.exception()}
        assert errors == {3: BrokenExecutor, 4: ValueError}
        assert [each.result() for each in futures if not each.exception()] == [0, 1, 2, 5, 6, 7]
        with pytest.raises(RuntimeError, match="cannot be sent"):
            pool.submit(unsendable, 1).result()
        assert pool.submit(ends_always, 9).result() == 9


_SCRIPT = """
import sys, threading
open("runs", "a").write("x")
sys.path.insert(0, sys.argv[1])
import refbrowser
threading.Thread(target=threading.Event().wait, daemon=True).start()
with refbrowser.open("0.json") as dataset:
    dataset["/t"][0]
refbrowser.combine("*.json", "all", format="refs-v0", concat="time", client="local:1")
with refbrowser.open("all") as dataset:
    refbrowser.export(dataset, "out.zarr", format="zarr-v2", client="local:1")
with refbrowser.open("out.zarr") as dataset:
    print(dataset["/t"][:].tolist() == [0, 1, 2])
"""
_LITTLE = """
import threading
open("runs", "a").write("x")
threading.Thread(target=threading.Event().wait, daemon=True).start()
from refbrowser.engine.workers.processes import Processes
with Processes(1) as pool:
    print(pool.submit(abs, -1).result() == 1)
"""


def _documents(folder: Path, count: int) -> None:
    """Write references of one value of ``t`` each."""
    array = {"shape": [1], "chunks": [1], "dtype": "<i4", "compressor": None, "filters": None, "order": "C"}
    for number in range(count):
        refs = {
            ".zgroup": '{"zarr_format": 2}',
            "t/.zarray": json.dumps({**array, "fill_value": None, "zarr_format": 2}),
            "t/.zattrs": '{"_ARRAY_DIMENSIONS": ["time"]}',
            "t/0": "base64:" + base64.b64encode(number.to_bytes(4, "little")).decode(),
        }
        (folder / f"{number}.json").write_text(json.dumps({"version": 1, "refs": refs}))


@pytest.mark.slow
@pytest.mark.parametrize("how", ["script", "stdin", "-c"])
def test_the_script_of_the_caller_runs_once_without_a_guard(how: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(_SCRIPT)
    _documents(tmp_path, 3 if how == "script" else 0)
    package = str(Path(refbrowser.__file__).parents[1])
    command = {"script": ["script.py", package], "stdin": ["-"], "-c": ["-c", _LITTLE]}[how]
    ended = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        input=_LITTLE,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("True\n", "", 0)
    assert (tmp_path / "runs").read_text() == "x"


@pytest.mark.slow
def test_processes_have_the_limits_of_the_program_and_its_modules(tmp_path: Path) -> None:
    (tmp_path / "found_only_there.py").write_text("import os\ndef where(): return os.getpid()\n")
    before = LIMITS.view_chunks
    sys.path.insert(0, str(tmp_path))
    adjust("view_chunks", 7)
    try:
        import found_only_there  # type: ignore[import-not-found]

        with Processes(1) as pool:
            assert pool.submit(found_only_there.where).result() != os.getpid()
            assert pool.submit(limit).result() == 7
            assert (pool.memory() or 1) > 0
    finally:
        adjust("view_chunks", before)
        sys.path.remove(str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "compute", [HERE, pytest.param(Compute.parse("local:2"), marks=pytest.mark.long)], ids=str
)
def test_work_that_nobody_wants_ends_with_its_processes(compute: Compute, tmp_path: Path) -> None:
    items = [str(tmp_path / "at")] * 2
    with (
        computing(compute, [str(tmp_path / str(number)) for number in range(2 * MANY)]) as chosen,
        chosen.open() as executor,
        closing(executor.run(answers_once, items, CancelToken())) as run,
    ):
        assert next(run)[1] == 1
    (process,) = (int(path.name) for path in (tmp_path / "at").iterdir())
    assert not is_running(process)


@pytest.mark.slow
def test_what_ended_processes_were_writing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _documents(tmp_path, 2 * MANY)
    monkeypatch.setattr(made_references, "make_one", leaves)
    with pytest.raises(ValueError, match="of the function"):
        make(MakeRequest(sources=(f"{tmp_path}/*.json",), target=str(tmp_path / "made")))
    assert os.listdir(tmp_path / "made") == ["mark"]


_KILLED = """
import sys
from refbrowser.engine.workers.processes import Processes
sys.path.insert(0, {tests!r})
from process_work import waits
with Processes(1) as pool:
    pool.submit(waits, {folder!r}).result()
"""


@pytest.mark.slow
def test_processes_end_with_a_program_that_is_killed(tmp_path: Path) -> None:
    code = _KILLED.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as program:
        assert eventually(lambda: list(tmp_path.iterdir()))
        program.kill()
    (process,) = (int(path.name) for path in tmp_path.iterdir())
    assert eventually(lambda: not is_running(process))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_nobody_else_can_reach_processes_of_this_machine() -> None:
    before = reachable()
    with Compute.parse("local:1").open() as executor:
        ((_, found),) = executor.run(reachable, [sys.platform], CancelToken())
        assert found == []
        assert reachable() == before
