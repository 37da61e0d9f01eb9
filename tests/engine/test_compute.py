"""Where long work runs: what a user writes of it, and that every executor gives each item's outcome once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor as PythonExecutor
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.engine import compute as module
from refbrowser.engine.compute import INLINE, MOST_PROCESSES, Compute, ComputeStatus, shared
from refbrowser.engine.workers.peers import check_versions, versions_here
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken


def test_what_is_written_of_where_work_runs() -> None:
    for text, address, processes in (
        ("", "", 0),
        ("local:3", "local:3", 3),
        (" local:007 ", "local:7", 7),
        ("tcp://node-1:8786", "tcp://node-1:8786", 0),
        ("tcp://10.0.0.1", "tcp://10.0.0.1:8786", 0),
        ("tls://[::1]:9000/", "tls://[::1]:9000", 0),
    ):
        found = Compute.parse(text)
        assert (found.address, found.processes, found.is_here) == (address, processes, not address)
        assert Compute.parse(found.address) == found == Compute.of(text)
    assert Compute.parse("local").processes > 0
    assert Compute.parse("tls://a", ca="a", cert="b", key="c").cert == "b"
    assert Compute.of(None) == Compute() == Compute.of(Compute())
    for wrong in ("local:0", f"local:{MOST_PROCESSES + 1}", "local:", "tcp://", "tcp://a:0", "tcp://a:65536"):
        with pytest.raises(RefbrowserError) as info:
            Compute.parse(wrong)
        assert info.value.kind is ErrorKind.USAGE
    for text in ("", "local", "tcp://a"):
        with pytest.raises(RefbrowserError, match="TLS"):
            Compute.parse(text, ca="a")
    with pytest.raises(RefbrowserError, match="'dict' is neither"):
        Compute.of({})


@given(st.text() | st.from_regex(r"(local|tcp|tls)(:|://)[a-z0-9.:\[\]/]*", fullmatch=True))
def test_nonsense_is_one_line(text: str) -> None:
    try:
        found = Compute.parse(text)
    except RefbrowserError as error:
        told = error
    else:
        assert Compute.parse(found.address) == found
        return
    assert told.kind is ErrorKind.USAGE
    assert "\n" not in str(told)


class _Client(ThreadPoolExecutor):
    """What of a client of Dask is used, over threads."""

    dashboard_link = "http://127.0.0.1:8787/status"
    workers = 2

    def submit(self, function: Any, *items: Any, key: str = "", pure: bool = True) -> Any:  # type: ignore[override]
        items = tuple(each.result() if isinstance(each, Future) else each for each in items)
        future: Any = super().submit(function, *items)
        future.status = "finished"
        future.add_done_callback(lambda ended: setattr(ended, "status", _status(ended)))
        return future

    @property
    def loop(self) -> Any:
        return self

    def add_callback(self, function: Any, told: Any) -> None:
        threading.Thread(target=lambda: asyncio.run(function(told))).start()

    async def gather(self, future: Any, asynchronous: bool) -> Any:
        assert asynchronous
        return await asyncio.wrap_future(future)

    def cancel(self, futures: list[Any]) -> None:
        for each in futures:
            each.cancel()

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        worker = {"nthreads": 1, "memory_limit": 1000, "metrics": {"memory": 10}}
        return {"workers": dict.fromkeys(range(self.workers), worker), "services": {"dashboard": 8787}}

    def run(self, function: Any, on_error: str) -> dict[str, Any]:
        return {"good": function(), "bad": ImportError("no refbrowser")}


def _status(future: Future[Any]) -> str:
    if future.cancelled():
        return "cancelled"
    return "error" if future.exception() else "finished"


@pytest.fixture(scope="module")
def executors() -> Iterator[list[Any]]:
    with ProcessPoolExecutor(2) as processes, ThreadPoolExecutor(2) as threads, _Client(2) as client:
        yield [None, processes, threads, client]


def test_each_item_comes_back_once_with_its_outcome(executors: list[Any]) -> None:
    for each in executors:
        with Compute.of(each).open() as executor:
            found = dict(executor.run(int, ["7", "x", *map(str, range(10, 40))], CancelToken()))
            status = executor.status()
        assert isinstance(found.pop("x"), ValueError)
        assert found == {str(number): number for number in (7, *range(10, 40))}
        assert status.threads >= 2
        assert executor.is_apart is (each is not None)


def test_few_items_are_under_way_and_the_rest_is_never_asked_for(executors: list[Any]) -> None:
    for each in executors:
        asked: list[int] = []

        def items(asked: list[int] = asked) -> Iterator[int]:
            for number in range(10**9):
                asked.append(number)
                yield number

        with Compute.of(each).open() as executor:
            with closing(executor.run(abs, items(), CancelToken())) as run:
                for _ in range(5):
                    next(run)
            assert len(asked) <= 5 + max(module.THREADS, module.AHEAD * executor.status().threads)


def test_a_cancelled_run_ends(executors: list[Any]) -> None:
    for each in executors:
        token = CancelToken()
        with Compute.of(each).open() as executor, closing(executor.run(abs, range(10**9), token)) as run:
            next(run)
            token.cancel()
            with pytest.raises(Cancelled):
                next(run)


def test_threads_have_ended_when_a_run_is_closed() -> None:
    begun, go = threading.Event(), threading.Event()
    ended: list[int] = []

    def work(item: int) -> None:
        if item:
            begun.set()
            go.wait(10)
        ended.append(item)

    with Compute().open() as executor:
        run = executor.run(work, [0, 1], CancelToken())
        next(run)
        begun.wait(10)
        threading.Timer(0.05, go.set).start()
        run.close()  # type: ignore[attr-defined]
        assert ended == [0, 1]


def test_what_is_shared_arrives(executors: list[Any]) -> None:
    small, large = b"small", bytes(range(256)) * (INLINE // 200)
    for each in executors[1:3]:
        with Compute.of(each).open() as executor:
            items = [executor.share(small), executor.share(large)]
            assert dict(executor.run(shared, items, CancelToken())) == dict(
                zip(items, (small, large), strict=True)
            )
        with pytest.raises(RefbrowserError, match="cannot read what the program shares"):
            shared(items[1])


def test_versions_that_differ_are_named() -> None:
    here = versions_here()
    assert set(here) == {"refbrowser", "numpy", "numcodecs"}
    check_versions("w", here, here)
    for name, version in here.items():
        with pytest.raises(RefbrowserError) as info:
            check_versions("worker 1", {**here, name: "0.0.1"}, here)
        assert info.value.kind is ErrorKind.SOURCE
        assert str(info.value) == f"worker 1 has {name} 0.0.1, this program has {name} {version}"
    with _Client(1) as client, Compute.of(client).open() as executor:
        assert executor.versions() == {"good": here, "bad": {}}
        assert executor.status() == ComputeStatus(2, 2, 20, 2000, client.dashboard_link)


def test_a_scheduler_without_workers_is_waited_for_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_WORKER", 0.0)
    with _Client(1) as client:
        client.workers = 0
        with pytest.raises(RefbrowserError, match="has no workers") as info, Compute.of(client).open():
            pass
    assert info.value.kind is ErrorKind.SOURCE


class _Broken(PythonExecutor):
    def submit(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("cannot schedule new futures after shutdown")


def test_an_executor_that_is_over_is_told() -> None:
    with Compute.of(_Broken()).open() as executor, pytest.raises(RefbrowserError) as info:
        list(executor.run(abs, [1], CancelToken()))
    assert info.value.kind is ErrorKind.SOURCE


@pytest.mark.slow
def test_an_address_where_nothing_answers_and_files_that_are_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(module, "CONNECTING", 0.3)
    (bad := tmp_path / "bad.pem").write_text("nothing")
    for address, path, kind, words in (
        ("tcp://127.0.0.1:1", "", ErrorKind.SOURCE, "no scheduler answered"),
        ("tls://127.0.0.1:1", "", ErrorKind.USAGE, "needs a file of the authority"),
        ("tls://127.0.0.1:1", "/no", ErrorKind.IO, "no such file"),
        ("tls://127.0.0.1:1", str(bad), ErrorKind.USAGE, "cannot be used"),
    ):
        compute = Compute.parse(address, ca=path, cert=path, key=path)
        with pytest.raises(RefbrowserError, match=words) as info, compute.open():
            pass
        assert info.value.kind is kind


@pytest.mark.slow
def test_dask_is_not_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys, refbrowser.api, refbrowser.tools.export.verb, refbrowser.exporting.tasks\n"
        "from refbrowser.engine.compute import Compute\n"
        "from refbrowser.io.cancel import CancelToken\n"
        "with Compute.of(None).open() as e: assert len(list(e.run(abs, [1], CancelToken()))) == 1\n"
        "print(sorted({'dask', 'distributed', 'tornado'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert found.stdout.strip() == "[]", found.stderr
