"""Regular files: opened without following links, read straight into their destination, and watched."""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.errors import AbsentError, ErrorKind, NotPermittedError, Place, RefbrowserError
from refbrowser.io.identity import FileIdentity, identity_on_disk

if TYPE_CHECKING:
    from refbrowser.io.access.task import FetchTask

#: Buffers of one system call; IOV_MAX is 1024 on Linux.
_GROUP = 512
#: Bytes of one system call, so that a cancelled task ends soon.
_PORTION = 16 << 20
#: Linux's RWF_DONTCACHE, which Python has no name for.
_PASSING = 0x80 if sys.platform == "linux" else 0
#: Smaller ranges come with their neighbours, and stay.
_ALONE = 256 << 10
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOINHERIT", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
)


@contextmanager
def open_regular(path: str) -> Iterator[tuple[int, FileIdentity]]:
    """Open a regular file for reading; yields its descriptor and identity.

    `path` has its links resolved: a link in its place is refused.

    Raises
    ------
    RefbrowserError
        `E_IO`: there is no such file or it cannot be read; `E_UNSAFE`: it is not a regular file.
    """
    try:
        descriptor, identity = opened(path)
    except OSError as error:
        raise failed(error, path) from error
    try:
        yield descriptor, identity
    finally:
        os.close(descriptor)


def opened(path: str) -> tuple[int, FileIdentity]:
    """Open a file as `open_regular` does; the caller closes the descriptor.

    Raises
    ------
    OSError
        There is no such file or it cannot be read.
    RefbrowserError
        `E_UNSAFE`: it is not a regular file.
    """
    # Looked at before opening as well: opening a device or a pipe can have effects.
    _check_regular(os.lstat(path), path)
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        _check_regular(status, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, FileIdentity.of(status)


def read_exactly(
    descriptor: int, buffers: Sequence[memoryview], offset: int, task: FetchTask | None = None
) -> int:
    """Fill `buffers` with the bytes from `offset` on; return how many there were (fewer at the end).

    Stops early when `task` is not live any more.
    """
    done = 0
    for first in range(0, len(buffers), _GROUP):
        group = list(buffers[first : first + _GROUP])
        while group and (task is None or task.live):
            portion = _portion(group)
            count = _read_into(descriptor, portion, offset + done)
            if not count:
                return done
            done += count
            group = _after(group, count)
    return done


def read_ranges(
    descriptor: int, ranges: Sequence[tuple[int, int]], offset: int, task: FetchTask
) -> memoryview:
    """Return the bytes of ranges, each its begin after `offset` and its size, joined; fewer at the end.

    Stops early when `task` is not live any more.
    """
    parts = []
    for start, size in ranges:
        if not task.live:
            break
        while size and (data := read_bytes(descriptor, size, offset + start)):
            parts.append(data)
            start, size = start + len(data), size - len(data)
    return memoryview(b"".join(parts))


def read_bytes(descriptor: int, size: int, offset: int) -> bytes:
    """Return up to `size` bytes from `offset` on, as one call of the system gives them."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, size, offset)
    # The descriptor belongs to one thread, so seeking is safe.
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)


def read_in_passing(descriptor: int, buffer: memoryview, offset: int) -> int:
    """Fill a buffer with bytes that are not needed again soon; return how many there were.

    What the system did not hold in memory before, it does not hold afterwards, where it knows how: copying
    what is larger than memory drives out nothing that is in use, and waits for no memory.
    """
    done = 0
    if _PASSING and len(buffer) >= _ALONE:
        try:
            while done < len(buffer):
                count = os.preadv(descriptor, [buffer[done : done + _PORTION]], offset + done, _PASSING)
                if not count:
                    break
                done += count
        except OSError:
            pass  # Neither every disk nor every system knows how; a fault shows again.
    return done + read_exactly(descriptor, [buffer[done:]], offset + done)


def _check_regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise RefbrowserError(ErrorKind.IO, "is a folder, not a file", Place(url=path))
    if not stat.S_ISREG(status.st_mode):
        raise RefbrowserError(ErrorKind.UNSAFE, "only regular files are read", Place(url=path))


def failed(error: OSError, path: str) -> RefbrowserError:
    """Return what a failed call of the system means for the file at `path`."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return AbsentError(ErrorKind.IO, "there is no such file", Place(url=path))
    reason = error.strerror or str(error)
    kind = NotPermittedError if isinstance(error, PermissionError) else RefbrowserError
    return kind(ErrorKind.IO, reason[:1].lower() + reason[1:], Place(url=path))


def _portion(buffers: list[memoryview]) -> list[memoryview]:
    return [buffers[0][:_PORTION]] if len(buffers[0]) > _PORTION else buffers


def _read_into(descriptor: int, buffers: list[memoryview], offset: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, buffers, offset)
    data = read_bytes(descriptor, len(buffers[0]), offset)
    buffers[0][: len(data)] = data
    return len(data)


def _after(buffers: list[memoryview], count: int) -> list[memoryview]:
    """Return what is left of `buffers` once their first `count` bytes are full."""
    for position, buffer in enumerate(buffers):
        if count < len(buffer):
            return [buffer[count:], *buffers[position + 1 :]]
        count -= len(buffer)
    return []


#: Seconds between two looks.
INTERVAL = 1.0
#: Seconds that the end waits for a look that is under way: a network disk may hang.
CLOSING = 0.5


@dataclass(slots=True)
class _Watched:
    path: str
    expected: FileIdentity | None
    seen: FileIdentity | None
    told: bool = False


class FileWatcher:
    """Looks at files by name, so that replaced ones are noticed too. Safe to use from any thread.

    A file counts as changed when two looks in a row find the same other state: nobody is writing it any more.

    Parameters
    ----------
    changed
        Called in the watcher's thread, once for each state, with the file's number and its new identity, None
        where it is gone.
    """

    def __init__(
        self, changed: Callable[[int, FileIdentity | None], object], interval: float = INTERVAL
    ) -> None:
        self._changed = changed
        self._interval = interval
        self._lock = threading.Lock()
        self._files: dict[int, _Watched] = {}
        self._wake = threading.Event()
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def watch(self, number: int, path: str, expected: FileIdentity) -> None:
        """Watch a file under a number of the caller's; `expected` is the state that is no news."""
        with self._lock:
            self._files[number] = _Watched(path, expected, expected)
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
                self._thread.start()

    def forget(self, number: int) -> None:
        """Watch a file no more."""
        with self._lock:
            self._files.pop(number, None)

    def close(self) -> None:
        """End the thread."""
        self._is_closed = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(CLOSING)

    def _run(self) -> None:
        while not self._wake.wait(self._interval):
            with self._lock:
                files = list(self._files.items())
            for number, file in files:
                self._look(number, file)

    def _look(self, number: int, file: _Watched) -> None:
        found = identity_on_disk(file.path)
        with self._lock:
            if self._files.get(number) is not file:
                return
            is_settled = found == file.seen
            if not is_settled:
                file.seen, file.told = found, False
            news = is_settled and found != file.expected and not file.told
            file.told = file.told or news
        if news:
            self._changed(number, found)
