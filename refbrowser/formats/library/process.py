"""Files that libraries of others read, each in a process of its own, with limits of memory and time."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import threading
import time
import weakref
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from refbrowser.codecs.workers.children import WATCHMAN, Child, start_child
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.byte_sources import ByteSource
from refbrowser.io.files.kept_files import cache_folder, kept_name, read_kept, state_of, was_used, write_kept
from refbrowser.io.identity import FileIdentity, ObjectIdentity, identity_on_disk
from refbrowser.limits import LIMITS

#: What knows HDF5.
HDF5 = Path(__file__).with_name("hdf5_reader.py")
#: What knows HDF4.
HDF4 = Path(__file__).with_name("hdf4_reader.py")
#: What knows FITS.
FITS = Path(__file__).with_name("fits_reader.py")
#: What knows GRIB.
GRIB = Path(__file__).with_name("grib_reader.py")
#: What knows classic netCDF, where one of its libraries is installed.
NETCDF3 = Path(__file__).with_name("netcdf3_reader.py")
#: What knows TIFF.
TIFF = Path(__file__).with_name("tiff_reader.py")
#: Processes that are kept for the next question.
_KEPT = 4
#: The question for values.
_VALUES = "read"

#: Is given each answer, and the bytes behind it.
Take = Callable[[dict[str, Any], memoryview], None]


class LibraryFile:
    """One file, which a library reads in a process that is kept while questions come.

    A process that dies costs the question that it was asked; the next one starts another.

    Parameters
    ----------
    script
        What knows the library: a file that has a ``Reader`` (`worker`).
    called
        What is read, in words: ``HDF5``.
    url
        Absolute path with links resolved, or URL.
    source
        Its bytes, where it is not of this machine.
    identity
        State of a file of this machine, in which it must still be.
    """

    def __init__(
        self,
        script: Path,
        called: str,
        url: str,
        source: ByteSource | None = None,
        identity: FileIdentity | None = None,
    ) -> None:
        self.script = script
        self.called = called
        self.url = url
        self._source = source
        self.identity = identity
        #: Members that every question has.
        self.always: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._process: Child | None = None
        self._finalizer: weakref.finalize[Any, LibraryFile] | None = None
        self._chain: Chain | None = getattr(_THREAD, "chain", None)
        if self._chain is not None:
            self._chain.files.append(self)
            if self._chain.small and self.is_here:
                self.always["small"] = self._chain.small

    def ask(
        self, operation: str, request: Mapping[str, Any], take: Take, token: CancelToken | None = None
    ) -> None:
        """Have a question answered.

        Parameters
        ----------
        take
            Called with each answer, in this thread; what it raises ends the process.

        Raises
        ------
        RefbrowserError
            `E_FORMAT`: the library cannot read it, or has broken its process; `E_DECODE`: it cannot read
            values (``read``); `E_BUDGET`: it took too long; `E_RANGE`: the file was changed; or why its bytes
            cannot be read.
        """
        with self._lock:
            if self.identity is not None and identity_on_disk(self.url) != self.identity:
                self._end()
                message = "the file was changed since it was opened"
                raise RefbrowserError(ErrorKind.RANGE, message, self._place, "Open it again.")
            try:
                self._process = self._process or self._started()
            except (OSError, ValueError) as error:
                message = f"no process can be started to read {self.called}: {error}"
                raise RefbrowserError(ErrorKind.IO, message, self._place) from None
            process = self._process
            _RUNNING.use(self)
            try:
                if not process.is_open:
                    self._converse(process, self._first, lambda answer, data: None, token)
                    process.is_open = True
                self._converse(process, {**self.always, **request, "operation": operation}, take, token)
                if process.was_killed:
                    self._end()
            except _ToldError as told:
                # What is wrong with values says nothing of the format.
                kind = ErrorKind.DECODE if process.is_open and operation == _VALUES else ErrorKind.FORMAT
                if not process.is_open:
                    self._end()
                message = f"{self.called} cannot be read: {quoted(str(told))}"
                raise RefbrowserError(kind, message, self._place) from None
            except BaseException:
                self._end()
                raise

    def close(self) -> None:
        """End the process, when it has answered."""
        with self._lock:
            self._end()

    def hand_on(self) -> None:
        """Leave the process, where all went well with it, to a file that is read after this one."""
        with self._lock:
            process = self._process
            if process is None or not process.is_open or not self.is_here:
                self._end()
                return
            self._process = None
            if self._finalizer is not None:
                self._finalizer.detach()
            _SPARE.add(self.script, process)

    def close_idle(self) -> bool:
        """End the process where it has nothing to do; tell whether there is none now."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._end()
        finally:
            self._lock.release()
        return True

    @property
    def is_here(self) -> bool:
        """Whether it is a file of this machine."""
        return self._source is None

    @property
    def has_process(self) -> bool:
        """Whether a process is there to be asked."""
        return self._process is not None

    @property
    def _place(self) -> Place:
        return Place(url=self.url)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()

    def _started(self) -> Child:
        opens = self._opens
        started = self._chain.taken(self.script, opens) if self._chain is not None and self.is_here else None
        started = started or start_child(self.script)
        started.opens = opens
        self._finalizer = weakref.finalize(self, started.end)
        return started

    @property
    def _first(self) -> dict[str, Any]:
        """What a process is told first."""
        limits = {"memory": LIMITS.library_memory, "time": LIMITS.library_time}
        opens = {"opens": [self._opens] if self.is_here else []}
        return limits | opens | ({"path": self.url} if self._source is None else {"size": self._source.size})

    @property
    def _opens(self) -> str:
        """What a process may open: the file; the folder of files that are read one after another."""
        folder = os.path.dirname(self.url)
        home = os.path.join(os.path.realpath(os.path.expanduser("~")), "")
        return self.url if self._chain is None or home.startswith(os.path.join(folder, "")) else folder

    def _converse(
        self, process: Child, request: dict[str, Any], take: Take, token: CancelToken | None
    ) -> None:
        """Send a request and take its answers."""
        watch = _Watch(process, LIMITS.library_time)
        forget = token.on_cancel(process.kill) if token is not None else None
        try:
            process.send(request)
            while True:
                answer, data = process.receive()
                if "wants" in answer:
                    # The time that bytes take to come is not the library's.
                    with watch.resting():
                        self._give(process, *answer["wants"])
                elif "fault" in answer:
                    raise _ToldError(answer["fault"])
                elif "done" in answer:
                    return
                else:
                    take(answer, data)
        except (OSError, EOFError, ValueError) as error:
            if token is not None:
                token.check()
            if watch.is_over:
                message = f"{self.called} took more than {LIMITS.library_time:g} s (library_time)"
                raise RefbrowserError(ErrorKind.BUDGET, message, self._place) from None
            message = f"the process that reads {self.called} has died"
            raise RefbrowserError(ErrorKind.FORMAT, message, self._place) from error
        finally:
            watch.stop()
            if forget is not None:
                forget()

    def _give(self, process: Child, offset: int, length: int) -> None:
        """Give the process bytes of the file."""
        if self._source is None or not 0 <= length <= LIMITS.library_memory or offset < 0:
            raise ValueError("the process asks for bytes that it may not have")
        try:
            data = self._source.read(offset, length)
        except RefbrowserError as error:
            # Told to the library too it would be told again, as its own.
            process.send({"error": error.message})
            raise
        process.send({}, data)


# Files that are read one after the other


class Chain:
    """Files that one thread reads, and the processes that they have from files before them.

    Attributes
    ----------
    small
        Bytes of a coordinate whose values are told with the description of a file; 0 for none.
    is_mixed
        Whether one of them was read by a process that had read others: what is wrong with it may be of those.
    """

    def __init__(self, small: int = 0) -> None:
        self.small = small
        self.files: list[LibraryFile] = []
        self.is_mixed = False

    def taken(self, script: Path, opens: str) -> Child | None:
        """Return a process that has read other files, and may open these; None where there is none."""
        found = _SPARE.take(script, opens)
        self.is_mixed |= found is not None
        return found


@contextmanager
def one_after_another(small: int = 0) -> Iterator[Chain]:
    """Have files that this thread opens in the block read by processes that have read others.

    Starting one takes longer than most files take. At the end the processes are there for those that follow;
    after an error they end.

    Parameters
    ----------
    small
        As `Chain` has it.
    """
    chain = _THREAD.chain = Chain(small)
    is_well = False
    try:
        yield chain
        is_well = True
    finally:
        _THREAD.chain = None
        # Files know their chain: what knows itself is freed late.
        files, chain.files = chain.files, []
        for each in files:
            if is_well:
                each.hand_on()
            else:
                each.close()


class _Spare:
    """Processes whose files have been read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: list[tuple[Path, Child]] = []

    def add(self, script: Path, child: Child) -> None:
        """Add one; that which has waited longest ends where there are too many."""
        with self._lock:
            self._known.append((script, child))
            over = self._known.pop(0) if len(self._known) > _KEPT else None
        if over is not None:
            over[1].end()

    def take(self, script: Path, opens: str) -> Child | None:
        """Return one that may open a file or folder; None where there is none."""
        with self._lock:
            known = enumerate(self._known)
            at = next((at for at, (of, child) in known if of == script and child.opens == opens), None)
            if at is None:
                return None
            child = self._known.pop(at)[1]
        child.is_open = False
        return child

    def end(self) -> None:
        """End all."""
        with self._lock:
            known, self._known = self._known, []
        for _, child in known:
            child.end()

    def forget(self) -> None:
        """Leave all to the process of which this one is a copy."""
        self._lock, self._known = threading.Lock(), []


_THREAD = threading.local()
_SPARE = _Spare()
end_spare = _SPARE.end
atexit.register(_SPARE.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SPARE.forget)


_LOCK = threading.Lock()
#: The file that one format has looked into and found not to be its own.
_LEFT: list[LibraryFile] = []


def library_file(
    script: Path,
    called: str,
    url: str,
    source: ByteSource | None = None,
    identity: FileIdentity | None = None,
) -> LibraryFile:
    """Return a file as `LibraryFile` does: that which was left for others, where it is the same."""
    with _LOCK:
        left, _LEFT[:] = list(_LEFT), []
    for each in left:
        if (each.script, each.url, each.identity) == (script, url, identity) and source is None:
            return each
        each.close()
    return LibraryFile(script, called, url, source, identity)


def leave(file: LibraryFile) -> None:
    """Leave a file for the next format that asks for it."""
    with _LOCK:
        _LEFT.append(file)


class _ToldError(Exception):
    """What the library says that is wrong."""


class _Watch:
    """Ends a process that takes too long, unless its time does not count."""

    def __init__(self, process: Child, seconds: float) -> None:
        self._process = process
        self._left = seconds
        self.is_over = False
        self._begin()

    def _begin(self) -> None:
        self._until = time.monotonic() + max(self._left, 0)
        WATCHMAN.begin(self, self._left, self._end)

    def _end(self) -> None:
        self.is_over = True
        self._process.kill()

    def stop(self) -> None:
        """Let it be; it may be at ending the process right now."""
        WATCHMAN.stop(self)

    def resting(self) -> _Watch:
        """Return what lets time not count."""
        return self

    def __enter__(self) -> None:
        self.stop()
        self._left = self._until - time.monotonic()

    def __exit__(self, *exception: object) -> None:
        self._begin()


class _Running:
    """The files that have a process: those that were asked last keep it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: OrderedDict[int, weakref.ref[LibraryFile]] = OrderedDict()

    def use(self, file: LibraryFile) -> None:
        """Note that a file is asked; others may lose their processes."""
        with self._lock:
            self._files[id(file)] = weakref.ref(file)
            self._files.move_to_end(id(file))
            older = [key for key in self._files if key != id(file)][: max(len(self._files) - _KEPT, 0)]
            found = [(key, self._files[key]()) for key in older]
            for key, each in found:
                if each is None or each.close_idle():
                    del self._files[key]


_RUNNING = _Running()


# What was answered in other runs

_SUFFIX = ".answers"
#: Counted up where libraries are asked for something else.
_MARK = b"refbrowser answers 4\n"
#: Looks into files that take less are done again, in seconds.
_WORTH = 1.0
_WRONG = (OSError, ValueError, KeyError, TypeError, IndexError, zlib.error, RefbrowserError)


def ask_once(
    file: LibraryFile,
    operation: str,
    request: Mapping[str, Any],
    take: Take,
    identity: FileIdentity | ObjectIdentity | None,
    token: CancelToken | None = None,
) -> None:
    """Have a question answered as `LibraryFile.ask` does, or by what was answered in another run.

    Parameters
    ----------
    identity
        State of the file; where it tells nothing, nothing is kept.
    """
    path = cache_folder("files") / kept_name(file.url, _SUFFIX)
    state = state_of(identity)
    known = None if state is None else _loaded(path, [file.url, state, operation, request])
    if known is not None:
        for answer, data in known:
            take(answer, data)
        return
    answers: list[tuple[dict[str, Any], memoryview]] = []

    def gather(answer: dict[str, Any], data: memoryview) -> None:
        answers.append((answer, data))
        take(answer, data)

    start = time.monotonic()
    file.ask(operation, request, gather, token)
    if state is not None and (not file.is_here or time.monotonic() - start >= _WORTH):
        with contextlib.suppress(*_WRONG):
            _keep(path, [file.url, state, operation, request], answers)


def _keep(path: Any, asked: list[Any], answers: list[tuple[dict[str, Any], memoryview]]) -> None:
    line = json.dumps([asked, [[answer, len(data)] for answer, data in answers]]).encode()
    if len(line) + sum(len(data) for _, data in answers) > LIMITS.library_kept:
        return
    packed = zlib.compress(line + b"\n" + b"".join(data for _, data in answers), 1)
    write_kept(path, _MARK, packed, LIMITS.library_cache)


def _loaded(path: Any, asked: list[Any]) -> list[tuple[dict[str, Any], memoryview]] | None:
    """Return what was answered to the same question of the same file; None where nothing is kept."""
    try:
        unpacker = zlib.decompressobj()
        body = read_kept(path, _MARK, LIMITS.library_kept)
        data = unpacker.decompress(body, 2 * LIMITS.library_kept)
        at = data.index(b"\n") + 1
        known, told = json.loads(data[:at])
        if known != json.loads(json.dumps(asked)) or not unpacker.eof:
            return None
        room, answers = memoryview(data), []
        for answer, size in told:
            answers.append((answer, room[at : at + size]))
            at += size
        if at != len(data):
            return None
    except _WRONG:
        return None
    was_used(path)
    return answers
