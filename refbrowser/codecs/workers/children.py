"""Processes of libraries: how they are started, asked and ended.

Loading a library takes longer than most files take to be read. Where the system can (Linux), a process that
has loaded it, and has never seen a file, is kept; each file gets a copy of that.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refbrowser.codecs.workers.confinement import clean_environment
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    import subprocess

_WORKER = Path(__file__).with_name("worker.py")
#: The longest line of an answer, in bytes.
_LINE = 64 * 1024 * 1024
#: How long the end of processes is waited for, in seconds.
_PATIENCE = 2
#: Threads of libraries of numbers would be lost in copies.
_ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Child:
    """A process, as lines and bytes go to it and come from it.

    Parameters
    ----------
    requests, answers
        What leads to it, and comes from it.
    kill
        Has it end at once; may be called more than once, and from any thread.
    forget
        Gives back what the system keeps of it, once it was killed.
    """

    def __init__(
        self, requests: Any, answers: Any, kill: Callable[[], None], forget: Callable[[], None]
    ) -> None:
        self._requests = requests
        self._answers = answers
        self._kill = kill
        self._forget = forget
        self._lock = threading.Lock()
        self._ended = False
        #: Whether it has opened its file, and whether it was told to end.
        self.is_open = self.was_killed = False
        #: What it may open: a file, or a folder. It cannot be told of another.
        self.opens = ""

    def kill(self) -> None:
        """Have it end at once, from any thread."""
        self.was_killed = True
        self._kill()

    def send(self, line: dict[str, Any], data: bytes | memoryview = b"") -> None:
        """Send a line, and bytes behind it."""
        said = {**line, "bytes": len(data)} if len(data) else line
        self._requests.write(json.dumps(said).encode() + b"\n")
        if len(data):
            self._requests.write(data)
        self._requests.flush()

    def receive(self, room: memoryview | int | None = None) -> tuple[dict[str, Any], memoryview]:
        """Return the next line and the bytes behind it.

        Parameters
        ----------
        room
            Is given the bytes, or tells how many there are at most; as many as a library may have when None.

        Raises
        ------
        OSError, EOFError, ValueError
            It is gone, or says what is none.
        """
        line = self._answers.readline(_LINE)
        if not line.endswith(b"\n"):
            raise EOFError
        answer = json.loads(line)
        if not isinstance(answer, dict):
            raise ValueError("an invalid answer")
        size = int(answer.get("bytes", 0))
        given = room if isinstance(room, memoryview) else None
        most = LIMITS.library_memory if room is None else room if isinstance(room, int) else len(room)
        if not 0 <= size <= most:
            raise ValueError(f"more than {most} bytes")
        data, at = memoryview(bytearray(size)) if given is None else given[:size], 0
        while at < size:
            count = self._answers.readinto(data[at:])
            if not count:
                raise EOFError
            at += count
        return answer, data

    def end(self) -> None:
        """End it."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
        self.kill()
        for stream in (self._requests, self._answers):
            with contextlib.suppress(OSError, ValueError):
                stream.close()
        self._forget()


def start_child(script: Path) -> Child:
    """Start a process that knows a library.

    Raises
    ------
    OSError
        It cannot be started.
    """
    if sys.platform == "linux" and hasattr(os, "pidfd_open"):
        return _NURSERIES.child(script)
    return start_alone(script)


def prepare_child(script: Path) -> None:
    """Begin to load a library, so that a process that knows it is there as soon as it is wanted.

    Raises
    ------
    OSError
        No process can be started.
    """
    if sys.platform == "linux" and hasattr(os, "pidfd_open"):
        _NURSERIES.prepare(script)


def start_alone(script: Path) -> Child:
    """Start a process that is no copy; raises as `start_child` does."""
    process = _popen([str(script)])

    def forget() -> None:
        process.wait()

    return Child(process.stdin, process.stdout, process.kill, forget)


def _popen(arguments: list[str], **options: Any) -> subprocess.Popen[bytes]:
    import subprocess  # Hardly anyone needs it, and every start would load it.

    return subprocess.Popen(
        [sys.executable, "-P", str(_WORKER), *arguments],
        env=clean_environment() | _ALONE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        **options,
    )


class _Nursery:
    """A process that has loaded a library and makes copies of itself; it never reads a file."""

    def __init__(self, script: Path) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = _popen(
                [str(script), str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
            )

    def child(self) -> Child:
        """Return a copy."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [b"+"], [theirs.fileno()])
            # It may be loading the library yet.
            ours.settimeout(LIMITS.library_time)
            answers = ours.makefile("rb", 1 << 16)
            told = json.loads(answers.readline(100) or b"0")
            ours.settimeout(None)
            if not told:
                raise OSError("the library's process has ended")
            handle = os.pidfd_open(told)
        except (OSError, ValueError):
            ours.close()
            raise
        requests = ours.makefile("wb")
        ours.close()

        def kill() -> None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)

        return Child(requests, answers, kill, lambda: os.close(handle))

    def end(self) -> None:
        """End it, and its copies with it."""
        import subprocess

        self._control.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


class _Nurseries:
    """One for each library that was wanted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Path, _Nursery] = {}

    def child(self, script: Path) -> Child:
        """Return a process that knows a library."""
        with self._lock:
            known = self._known.get(script)
            if known is not None:
                with contextlib.suppress(OSError, ValueError):
                    return known.child()
                known.end()
            self._known[script] = _Nursery(script)
            return self._known[script].child()

    def prepare(self, script: Path) -> None:
        """Begin to load a library, unless that was done."""
        with self._lock:
            if script not in self._known:
                self._known[script] = _Nursery(script)

    def forget(self) -> None:
        """Leave all to the process of which this one is a copy."""
        self._lock, self._known = threading.Lock(), {}

    def end(self) -> None:
        """End all."""
        with self._lock:
            known, self._known = list(self._known.values()), {}
        for each in known:
            each.end()


class Watchman:
    """Ends what takes too long: one thread for all, as starting one costs more than most questions."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Have no thread, and watch nothing: in a copy of this process too."""
        self._changed = threading.Condition()
        self._watched: dict[object, tuple[float, Callable[[], object]]] = {}
        self._wakes: float | None = None

    def begin(self, work: object, seconds: float, end: Callable[[], object]) -> None:
        """Have `end` called after so many seconds, unless the work stops before."""
        until = time.monotonic() + max(seconds, 0)
        with self._changed:
            self._watched[work] = until, end
            if self._wakes is None:
                self._wakes = until
                threading.Thread(target=self._run, name="watching libraries", daemon=True).start()
            elif until < self._wakes:
                self._changed.notify()

    def stop(self, work: object) -> bool:
        """Watch work no more; tell whether its time was over, and its end was called."""
        with self._changed:
            return self._watched.pop(work, None) is None

    def _run(self) -> None:
        with self._changed:
            while self._watched:
                now = time.monotonic()
                for work, (until, end) in list(self._watched.items()):
                    if until <= now:
                        del self._watched[work]
                        end()
                # Nobody wakes it for what begins meanwhile and ends later.
                self._wakes = min((until for until, _ in self._watched.values()), default=now)
                self._changed.wait(max(self._wakes - now, 0))
            self._wakes = None


WATCHMAN = Watchman()
_NURSERIES = _Nurseries()
atexit.register(_NURSERIES.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_NURSERIES.forget)
    os.register_at_fork(after_in_child=WATCHMAN.forget)
