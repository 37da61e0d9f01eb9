"""Regular files: opened without following links, read straight into their destination, and watched."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError
from refbrowser.io.access import Location
from refbrowser.io.atomic import identity_on_disk
from refbrowser.io.identity import FileIdentity
from refbrowser.io.segment import Segment, oversize, room_for, short_object
from refbrowser.io.task import Attempt, FetchTask

#: Buffers of one system call; IOV_MAX is 1024 on Linux.
_GROUP = 512
#: Bytes of one system call, so that a cancelled task ends soon.
_PORTION = 16 << 20
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
        # Looked at before opening as well: opening a device or a pipe can have effects.
        _check_regular(os.lstat(path), path)
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        raise _failed(error, path) from error
    try:
        status = os.fstat(descriptor)
        _check_regular(status, path)
        yield descriptor, FileIdentity.of(status)
    finally:
        os.close(descriptor)


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


def read_segments(location: Location, segments: Sequence[Segment]) -> None:
    """Read segments of one file and deliver their rows; failures are delivered, not raised."""
    try:
        with open_regular(location.path) as (descriptor, identity):
            for segment in segments:
                segment.task.wait_for_room()
                if not segment.task.live:
                    return
                try:
                    _read_segment(descriptor, identity, segment)
                except RefbrowserError as error:
                    _fail(segment, error, identity)
                except OSError as error:
                    _fail(segment, _failed(error, location.path), identity)
    except RefbrowserError as error:
        for segment in segments:
            _fail(segment, error, None)


def _fail(segment: Segment, error: RefbrowserError, identity: FileIdentity | None) -> None:
    _tell(segment, identity, 0, error.message)
    segment.fail(error)


def _tell(segment: Segment, identity: FileIdentity | None, received: int, error: str = "") -> None:
    """Tell the witness of the fetch, if there is one, what became of a segment."""
    witness = segment.task.options.witness
    if witness is None:
        return
    answer = ""
    if identity is not None:
        modified = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(identity.modified_ns // 10**9))
        answer = f"a file of {identity.size} bytes, modified {modified}"
    attempt = Attempt(
        url=segment.location.url,
        start=segment.start,
        stop=segment.stop,
        answer=answer,
        received=received,
        error=error,
    )
    witness(attempt)


def _read_segment(descriptor: int, identity: FileIdentity, segment: Segment) -> None:
    task, url = segment.task, segment.location.url
    task.access.memory.identities.confirm(url, identity.as_object())
    stop = identity.size if segment.stop is None else segment.stop
    size = stop - segment.start
    if stop > identity.size:
        raise short_object(url, identity.size, segment.start, stop)
    whole = segment.stop is None
    if whole and size > task.options.size_limit:
        raise oversize(size, task.options.size_limit, url)
    scattered = None if whole else segment.scattered()
    buffer = room_for(size) if whole else None if scattered else segment.allocate()
    views = scattered if scattered is not None else [buffer]
    segment.sent()
    count = read_exactly(descriptor, views, segment.start, task)  # type: ignore[arg-type]
    task.count(size=count)
    if not task.live:
        return
    if count != size:
        raise short_object(url, segment.start + count, segment.start, stop)
    if FileIdentity.of(os.fstat(descriptor)) != identity:
        raise RefbrowserError(ErrorKind.SOURCE, "the file changed while it was read", Place(url=url))
    _tell(segment, identity, count)
    if scattered is not None:
        segment.delivered_into(scattered)
    elif buffer is not None:
        segment.filled(buffer)


def _check_regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise RefbrowserError(ErrorKind.IO, "is a folder, not a file", Place(url=path))
    if not stat.S_ISREG(status.st_mode):
        raise RefbrowserError(ErrorKind.UNSAFE, "only regular files are read", Place(url=path))


def _failed(error: OSError, path: str) -> RefbrowserError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return AbsentError(ErrorKind.IO, "there is no such file", Place(url=path))
    reason = error.strerror or str(error)
    return RefbrowserError(ErrorKind.IO, reason[:1].lower() + reason[1:], Place(url=path))


def _portion(buffers: list[memoryview]) -> list[memoryview]:
    return [buffers[0][:_PORTION]] if len(buffers[0]) > _PORTION else buffers


def _read_into(descriptor: int, buffers: list[memoryview], offset: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, buffers, offset)
    # The descriptor belongs to one thread, so seeking is safe.
    os.lseek(descriptor, offset, os.SEEK_SET)
    data = os.read(descriptor, len(buffers[0]))
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
