"""Processes of this machine that run functions: one that dies over an item costs nothing but its start.

Each process is known to work on one item. What it worked on when it died is done again by another; an item
over which process after process dies is at fault itself.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from refbrowser.engine.workers.worker_process import read_message, write_message
from refbrowser.limits import ADJUSTABLE, LIMITS

if TYPE_CHECKING:
    import subprocess

_SCRIPT = Path(__file__).with_name("worker_process.py")
#: Processes that may die over one item.
_TRIES = 3
#: How long a process has to end by itself, in seconds.
_PATIENCE = 2.0


class Processes(Executor):
    """Runs functions in processes, each with a thread that gives it one item after another.

    Parameters
    ----------
    count
        How many processes there are.
    """

    def __init__(self, count: int) -> None:
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._all = [_Process() for _ in range(count)]
        for each in self._all:
            self._idle.put(each)
        self._threads = ThreadPoolExecutor(count, "processes")
        self._is_over = False
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
                    if self._is_over:
                        raise
                    process.start_again()
                    if not tries_left:
                        raise
        finally:
            self._idle.put(process)

    def memory(self) -> int | None:
        """Return how many bytes the processes use; None where the system does not tell."""
        sizes = [_resident(each.number) for each in self._all]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def kill(self) -> None:
        """End all processes, whatever they work on; what was given fails."""
        self._is_over = True
        for each in self._all:
            each.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes; what they work on is waited for, whatever is said."""
        self._threads.shutdown(cancel_futures=cancel_futures)
        for each in self._all:
            each.end()


class _Process:
    """One process, and the one that takes its place."""

    def __init__(self) -> None:
        # A process that is killed may be started again at that moment.
        self._lock = threading.Lock()
        self._was_killed = False
        self._start()

    def _start(self) -> None:
        import subprocess  # Hardly anyone needs it, and every start would load it.

        self._process: subprocess.Popen[bytes] = subprocess.Popen(
            [sys.executable, "-P", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        setting = {
            "path": [each or os.getcwd() for each in sys.path],
            "limits": {name: getattr(LIMITS, name) for name in ADJUSTABLE},
        }
        with suppress(OSError):  # One that is gone already is found so when it is asked.
            write_message(self._requests, pickle.dumps(setting))

    @property
    def number(self) -> int:
        """Number of the process."""
        return self._process.pid

    @property
    def _requests(self) -> Any:
        return self._process.stdin

    def start_again(self) -> None:
        """Start another in the place of one that has died."""
        with self._lock:
            if not self._was_killed:
                self._forget()
                self._start()

    def answer(self, work: tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]) -> Any:
        """Return what the process answers; raises what the function does, or `BrokenExecutor` if it dies."""
        request = pickle.dumps(work, pickle.HIGHEST_PROTOCOL)
        answers: Any = self._process.stdout
        try:
            write_message(self._requests, request)
            answer = read_message(answers)
        except (EOFError, OSError, ValueError) as error:
            raise BrokenExecutor("a process was killed from outside, or crashed on a file") from error
        # From our own process, which runs our own functions.
        is_well, found = pickle.loads(answer)
        if is_well:
            return found
        raise found

    def kill(self) -> None:
        """End the process at once; none takes its place."""
        with self._lock:
            self._was_killed = True
            self._process.kill()

    def end(self) -> None:
        """End the process, which has nothing to do, or has ended."""
        import subprocess

        with suppress(OSError):
            write_message(self._requests, b"")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        self._forget()

    def _forget(self) -> None:
        """Have the process end if it has not, and give back what the system keeps of it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def _resident(process: int) -> int | None:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
