"""Processes of this machine that work on files: one that ends over a file costs nothing but its start.

Each process is known to be at one item, a file or a few: what it was at when it ended another one does again.
An item over which process after process ends is at fault itself.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from typing import Any

from refbrowser.engine.compute import Compute
from refbrowser.formats.library.process import end_spare
from refbrowser.formats.registry import formats
from refbrowser.io.origins import local_path

#: Files that are worth starting a process for.
MANY = 20
#: Threads for local files: one works while others wait for a library or for the disk.
_THREADS = 2
#: Processes that may end over one item.
_TRIES = 3
#: Objects that are made before what nobody needs is looked for.
_UNCOLLECTED = 10_000
#: How long a process has to end by itself, in seconds.
_PATIENCE = 2.0
#: Threads that only wait.
_WAITING = {"MainThread", "interrupts"}
#: What is imported late, and here once for all processes that are copies of this one.
_NEEDED = (
    "refbrowser.engine.reading.reader",
    "refbrowser.exporting.streams.virtual",
    "refbrowser.formats.awkward0.opening",
    "refbrowser.formats.hierarchies",
    "refbrowser.formats.zarr.hierarchy",
    "refbrowser.formats.zarr.v2",
    "refbrowser.io.fetch",
)


@contextmanager
def computing(compute: Compute, sources: Sequence[str]) -> Iterator[Compute]:
    """Give where files are worked on: headers are parsed by Python, which one process does one at a time."""
    count = min(os.cpu_count() or 1, len(sources) // MANY)
    are_local = all(local_path(source) is not None for source in sources)
    if not compute.is_here or (count < 2 and not are_local):
        yield compute
        end_spare()
        return
    with ExitStack() as stack:
        stack.callback(end_spare)
        pool: Executor = ThreadPoolExecutor(_THREADS) if count < 2 else FileProcesses(count)
        stack.callback(pool.shutdown, wait=True, cancel_futures=True)
        yield replace(compute, given=pool)


class FileProcesses(Executor):
    """Runs functions in processes, each with a thread that gives it one item after another.

    Parameters
    ----------
    count
        How many processes there are.
    """

    def __init__(self, count: int) -> None:
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        way = _way_to_start()
        # All before the first thread: a copy of a process with threads may hold what one of them had taken.
        self._all = [_Process(way) for _ in range(count)]
        for each in self._all:
            self._idle.put(each)
        self._threads = ThreadPoolExecutor(count, "files")
        #: How many work at once, as executors of Python tell it.
        self._max_workers = count

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a function run in a process."""
        return self._threads.submit(self._carried_out, fn, args, kwargs)

    def _carried_out(self, function: Callable[..., Any], given: Sequence[Any], named: dict[str, Any]) -> Any:
        process = self._idle.get()
        try:
            for tries_left in reversed(range(_TRIES)):
                try:
                    return process.answer((function, given, named))
                except BrokenExecutor:
                    process.start_again()
                    if not tries_left:
                        raise
        finally:
            self._idle.put(process)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes; what they are at is waited for, whatever is said."""
        self._threads.shutdown(cancel_futures=cancel_futures)
        for each in self._all:
            each.end()


class _Process:
    """One process, and the one that takes its place."""

    def __init__(self, way: str) -> None:
        self._start(way)

    def _start(self, way: str) -> None:
        context: Any = multiprocessing.get_context(way)
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def start_again(self) -> None:
        """Start another one, anew: threads of this process may hold what a copy would need."""
        self.end()
        self._start("spawn")

    def answer(self, work: tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]) -> Any:
        """Return what the process answers; raises what the function does, or `BrokenExecutor` if it ends."""
        try:
            self._ours.send(work)
            wait([self._ours, self._process.sentinel])
            # It may have answered before it ended.
            if not self._ours.poll():
                raise EOFError
            is_well, found = self._ours.recv()
        except (EOFError, OSError) as error:
            raise BrokenExecutor("a process was ended from outside, or by what a file did to it") from error
        if is_well:
            return found
        raise found

    def end(self) -> None:
        """End the process, which has nothing to do, or has ended."""
        with suppress(OSError):
            self._ours.send(None)
        self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._ours.close()
        self._process.close()


def _serve(ours: Connection) -> None:
    """Answer what is asked, until nothing more is."""
    _begin()
    while True:
        try:
            work = ours.recv()
        except (EOFError, OSError):
            break
        if work is None:
            break
        function, given, named = work
        answer: tuple[bool, Any]
        try:
            answer = True, function(*given, **named)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its outcome
            answer = False, error
        try:
            ours.send(answer)
        except OSError:
            break
        except Exception as error:  # noqa: BLE001 - of what cannot be sent
            ours.send((False, RuntimeError(f"the answer cannot be sent: {error}")))
    end_spare()


def _begin() -> None:
    """Have this process end as soon as that is gone which started it, however it ended; and be no larger."""
    from multiprocessing import parent_process

    # Who presses Ctrl-C means the program, which ends this process when it is no longer needed.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A command that reads one file hardly collects; this process is its copy, and reads thousands.
    gc.set_threshold(_UNCOLLECTED, 10, 10)

    def end(parent: Any) -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=end, args=(parent_process(),), name="waiting", daemon=True).start()


def _way_to_start() -> str:
    """Return how processes are started: as copies of this one where no thread could hold what they need."""
    if sys.platform != "linux" or {each.name for each in threading.enumerate()} - _WAITING:
        return "spawn"
    for name in (*_NEEDED, *(each.opener.partition(":")[0] for each in formats() if each.is_data)):
        import_module(name)
    return "fork"
