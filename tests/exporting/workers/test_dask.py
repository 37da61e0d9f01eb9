"""Exports by a real Dask cluster, of processes: the same files, whoever dies meanwhile."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from deep import is_long
from test_work import SHARDS, STORES, files_of, make_store

import refbrowser
from refbrowser.engine import compute
from refbrowser.engine.compute import Compute
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.folder import RUN, partial_of
from refbrowser.exporting.journal import NAME
from refbrowser.exporting.request import ExportRequest
from refbrowser.exporting.workers import team
from refbrowser.io.cancel import Cancelled, CancelToken

# It is loaded by the worker that runs these tests, not by all that look for tests here.
pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Worker processes, which are started anew when they die: four where two of them are killed at once."""
    import distributed

    with distributed.LocalCluster(
        host="127.0.0.1",
        n_workers=4 if is_long() else 2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        silence_logs=60,
    ) as made:
        yield made


@pytest.fixture(scope="module")
def client(cluster: Any) -> Iterator[Any]:
    import distributed

    with distributed.Client(cluster, set_as_default=False) as made:
        yield made


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_store(tmp_path_factory.mktemp("source") / "s.zarr")


def after(tasks: int, act: Callable[[], object]) -> JobControl:
    """Return a control that does something once, when so many batches have ended."""
    done: list[object] = []

    def publish(changes: dict[str, Any]) -> None:
        if changes.get("tasks", 0) >= tasks and not done:
            done.append(act())

    return JobControl(publish=publish)


def _compare(client: Any, source: Path, folder: Path, killing: tuple[str, ...]) -> None:
    """Compare what this process, the cluster, and the cluster while two of four workers are killed, make."""

    def kill() -> None:
        for process in list(client.run(os.getpid).values())[:2]:
            os.kill(process, signal.SIGKILL)

    where = Compute.of(client)
    with refbrowser.open(source) as dataset:
        for format, options in [*((each, None) for each in STORES), ("zarr-v3", SHARDS)]:
            reports = {}
            runs: list[tuple[str, Compute, JobControl | None]] = [("here", Compute(), None)]
            if format in killing and (options is None or len(killing) > 1):
                runs.append(("killed", where, after(2, kill)))
            if len(killing) > 1 or len(runs) == 1:
                runs.append(("away", where, None))
            for name, made_by, control in runs:
                request = ExportRequest(str(folder / name), format, options=options, force=True)
                reports[name] = run_export(dataset, request, control, compute=made_by)
                assert files_of(folder / name) == files_of(folder / "here"), (format, name)
                one, other = (
                    replace(each, target="", requests=0) for each in (reports[name], reports["here"])
                )
                assert one == other
    # Nothing is kept for exports that are over.
    assert not any(client.processing().values())


@pytest.mark.long
def test_the_same_files_though_workers_die(client: Any, source: Path, tmp_path: Path) -> None:
    _compare(client, source, tmp_path, ("zarr-v3",))


class _Fatal:
    """An answer whose worker dies when it is asked for it, once."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        if not os.path.exists(self.mark):
            open(self.mark, "x").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return (str, (self.mark,))


@pytest.mark.slow
def test_an_answer_that_dies_with_its_worker_is_made_again(client: Any, tmp_path: Path) -> None:
    items = [str(tmp_path / "mark"), *map(str, range(20))]
    with (
        Compute.of(client).open() as executor,
        closing(executor.run(_answered, items, CancelToken())) as run,
    ):
        found = list(run)
    assert dict(found) == {item: item for item in items}


def _answered(item: str) -> Any:
    return _Fatal(item) if os.path.isabs(item) else item


@pytest.mark.long
def test_the_same_files_though_workers_die_in_every_format(
    client: Any, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team, "_LEAST", 4)
    _compare(client, source, tmp_path, STORES)


_CLIENT = """
import sys, refbrowser
from refbrowser.exporting.workers import team
team._LEAST = 1
with refbrowser.open(sys.argv[1]) as dataset:
    refbrowser.export(dataset, sys.argv[2], format="zarr-v2", client=sys.argv[3])
"""


@pytest.mark.long
def test_a_program_that_is_killed_goes_on(
    client: Any, cluster: Any, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    command = [sys.executable, "-c", _CLIENT, str(source), str(target), cluster.scheduler_address]
    journal = partial_of(str(target)) / NAME
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as program:
        end = time.monotonic() + 60
        while program.poll() is None and time.monotonic() < end:
            if journal.is_file() and journal.read_bytes().count(b"\n") > 16:
                program.kill()
            time.sleep(0.01)
        program.kill()
        said = program.communicate()[0]
    assert program.returncode == -signal.SIGKILL, said
    assert not target.exists()
    with refbrowser.open(source) as dataset:
        whole = refbrowser.export(dataset, tmp_path / "whole", format="zarr-v2")
        report = refbrowser.export(dataset, target, format="zarr-v2", client=client, resume=True)
    assert report.chunks == whole.chunks
    assert 8 <= report.resumed < whole.chunks
    assert report.read_bytes < whole.read_bytes
    assert files_of(target) == files_of(tmp_path / "whole")
    assert not partial_of(str(target)).exists()


def _executing(dask_worker: Any) -> int:
    """Return how many tasks a worker is at."""
    return int(dask_worker.state.executing_count)


@pytest.mark.slow
def test_what_is_wrong_is_one_line_and_nothing_is_left(
    client: Any, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    def refused(words: str, where: Any = client) -> None:
        with pytest.raises(RefbrowserError, match=words) as info:
            refbrowser.export(dataset, tmp_path / "out", format="zarr-v2", client=where)
        assert info.value.kind.exit_code == 4
        assert "\n" not in str(info.value)
        assert not (tmp_path / "out").exists()

    here = shutil.copytree(source, tmp_path / "s.zarr")
    with refbrowser.open(here) as dataset:
        first = min(client.scheduler_info()["workers"])
        told = client.run(_pretend, "0.0.1", workers=[first])
        try:
            refused(f"worker '{first}' has numcodecs 0.0.1, this program has numcodecs {told[first]}")
        finally:
            client.run(_pretend, told[first], workers=[first])
        monkeypatch.setattr(compute, "FIRST_WORKER", 0.3)
        with distributed.LocalCluster(
            host="127.0.0.1", n_workers=0, dashboard_address="127.0.0.1:0", silence_logs=60
        ) as empty:
            refused("has no workers", empty.scheduler_address)
        assert [path.name for path in tmp_path.iterdir()] == ["s.zarr"]
        here.rename(tmp_path / "gone.zarr")
        refused("cannot read the source")
        token = CancelToken()
        (tmp_path / "gone.zarr").rename(here)
        control = JobControl(token, lambda changes: changes.get("tasks", 0) < 2 or token.cancel())
        monkeypatch.setattr(team, "_LEAST", 1)
        request = ExportRequest(str(tmp_path / "out"), "zarr-v2")
        with pytest.raises(Cancelled):
            run_export(dataset, request, control, compute=Compute.of(client))
        assert not list(partial_of(request.target).glob(f"{RUN}*"))
        end = time.monotonic() + 10
        # What the scheduler thinks of tasks that were cancelled just as they were begun is another matter.
        while any(client.run(_executing).values()) and time.monotonic() < end:
            time.sleep(0.05)
        assert not any(client.run(_executing).values())


def _pretend(version: str) -> str:
    import numcodecs

    before: str = numcodecs.__version__
    numcodecs.__version__ = version
    return before


_CLUSTER = """
import sys, distributed
if __name__ == "__main__":
    with distributed.LocalCluster(host="127.0.0.1", n_workers=2, dashboard_address="127.0.0.1:0") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.mark.long
@pytest.mark.long
def test_a_scheduler_that_is_killed_is_told_and_gone_on_without(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team, "_LEAST", 1)
    (script := tmp_path / "cluster.py").write_text(_CLUSTER)
    request = ExportRequest(str(tmp_path / "out"), "zarr-v2")
    with (
        refbrowser.open(source) as dataset,
        subprocess.Popen(
            [sys.executable, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as program,
    ):
        assert program.stdout is not None
        address = program.stdout.readline().decode().strip()
        begun = time.monotonic()
        with pytest.raises(RefbrowserError, match="does not answer any more") as info:
            run_export(dataset, request, after(5, program.kill), compute=Compute.parse(address))
        assert info.value.kind is ErrorKind.SOURCE
        assert time.monotonic() - begun < 40
        report = run_export(dataset, replace(request, resume=True))
        assert report.resumed >= 5
