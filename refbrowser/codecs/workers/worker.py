"""A process that reads a file, or decodes chunks, with a library of others: it imports nothing of ours.

It is started with the path of a script, whose ``Reader`` knows the library. Requests come from standard
input, answers go to standard output: each is a line of JSON, whose member ``bytes`` tells how many bytes
follow it. The first request tells how much memory there is, how long a question may take, which files may be
opened at all, and which file is read: its path, or its size where its bytes are asked for as they are needed;
where chunks are decoded, by which codec. Another one of that kind has another file read instead. A request
whose member ``each`` has many of its kind is answered as all of these are. The last answer to a request is
``{"done": true}`` or has a ``fault``.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import socket
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any, BinaryIO

#: Bytes that are asked for at once: one block after a jump, more while they follow each other.
BLOCK, LONGEST = 1024 * 1024, 8 * 1024 * 1024
#: Blocks that are kept, in bytes.
KEPT = 64 * 1024 * 1024


class Link:
    """What requests come by, and answers go by."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._requests = requests
        self._answers = answers

    def receive(self) -> tuple[dict[str, Any], bytes] | None:
        """Return the next line and the bytes behind it; None at the end."""
        line = self._requests.readline()
        if not line.endswith(b"\n"):
            return None
        found = json.loads(line)
        size = int(found.get("bytes", 0))
        data = self._requests.read(size) if size else b""
        return (found, data) if len(data) == size else None

    def send(self, answer: dict[str, Any], *buffers: Any) -> None:
        """Send a line, and bytes behind it."""
        # A view of nothing cannot be cast.
        parts = [memoryview(each).cast("B") for each in buffers if len(each)]
        size = sum(map(len, parts))
        line = json.dumps({**answer, "bytes": size} if size else answer)
        self._answers.write(line.encode() + b"\n")
        for each in parts:
            self._answers.write(each)
        self._answers.flush()

    def fetch(self, offset: int, length: int) -> bytes:
        """Return bytes of the file, which are asked for."""
        self.send({"wants": [offset, length]})
        answer = self.receive()
        if answer is None:
            raise SystemExit(1)
        if "error" in answer[0]:
            raise OSError(answer[0]["error"])
        return answer[1]


class AskedFile(io.RawIOBase):
    """A file whose bytes are asked for, by blocks that are kept."""

    def __init__(self, link: Link, size: int) -> None:
        self._link = link
        self._size = size
        self._at = 0
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self._held = 0
        self._next, self._run = -1, 1

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        """Return where the next byte is read."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read bytes from here on."""
        room = memoryview(buffer).cast("B")
        length = min(len(room), max(self._size - self._at, 0))
        room[:length] = self.bytes_at(self._at, length)
        self._at += length
        return length

    def bytes_at(self, offset: int, length: int) -> bytes:
        """Return bytes that lie in the file; many at once are not kept."""
        first, last = offset // BLOCK, (offset + max(length, 1) - 1) // BLOCK
        missing = [number for number in range(first, last + 1) if number not in self._blocks]
        if len(missing) * BLOCK > LONGEST:
            return self.fetched(offset, length)
        while missing:
            self._load(missing[0], missing[-1] - missing[0] + 1)
            missing = [number for number in missing if number not in self._blocks]
        data = b"".join(self._blocks[number] for number in range(first, last + 1))
        start = offset - first * BLOCK
        while self._held > KEPT:
            self._held -= len(self._blocks.popitem(last=False)[1])
        return data[start : start + length]

    def _load(self, first: int, count: int) -> None:
        """Ask for blocks, and for twice as many as last time where they follow those."""
        self._run = min(2 * self._run, LONGEST // BLOCK) if first == self._next else 1
        count = max(count, self._run)
        # What is known is not asked for again.
        count = next((number for number in range(count) if first + number in self._blocks), count)
        offset = first * BLOCK
        data = self.fetched(offset, min(count * BLOCK, self._size - offset))
        for at in range(0, len(data), BLOCK):
            number = first + at // BLOCK
            if number not in self._blocks:
                self._held += len(data[at : at + BLOCK])
            self._blocks[number] = data[at : at + BLOCK]
        self._next = first + count

    def fetched(self, offset: int, length: int) -> bytes:
        """Return bytes that lie in the file, asked for just so; they are not kept."""
        data = self._link.fetch(offset, length)
        if len(data) != length:
            raise OSError("the file ends early")
        return data


def main() -> None:
    """Answer requests until there are no more; or make copies of this process that do."""
    library = _loaded("library", sys.argv[1])
    if len(sys.argv) > 2:
        _make_copies(library, socket.socket(fileno=int(sys.argv[2])))
    else:
        answers = os.fdopen(os.dup(1), "wb")
        # What a library prints must not stand among the answers.
        os.dup2(2, 1)
        held = confinement()
        _serve(library, Link(sys.stdin.buffer, answers), partial(held.confine, held.libraries()))


def _loaded(name: str, path: str) -> Any:
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SystemExit(2)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _make_copies(library: Any, control: socket.socket) -> None:
    """Make a copy for each socket that comes; each answers what comes by its own."""
    os.dup2(2, 1)
    held, own_number = confinement(), os.getpid()
    confine = partial(held.confine, held.libraries())
    while True:
        message, sockets, _, _ = socket.recv_fds(control, 1, 1)
        _reap()
        if not message:
            # Whom copies work for is gone, or needs none of them: they end with this process.
            os._exit(0)
        if not os.fork():
            held.end_with_parent()
            if os.getppid() != own_number:
                os._exit(1)
            control.close()
            try:
                own = socket.socket(fileno=sockets[0])
                answers = own.makefile("wb")
                answers.write(b"%d\n" % os.getpid())
                answers.flush()
                _serve(library, Link(own.makefile("rb"), answers), confine)
            finally:
                os._exit(0)
        os.close(sockets[0])


def confinement() -> Any:
    """Return the module of what Linux holds a process to."""
    return _loaded("confinement", os.path.join(os.path.dirname(__file__), "confinement.py"))


def _reap() -> None:
    """Let copies that have ended be gone."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _serve(library: Any, link: Link, confine: Callable[[list[str]], None]) -> None:
    """Answer requests until there are no more; one that names a file has that read from then on."""
    reader: Any = None
    seconds = 0.0
    while (request := link.receive()) is not None:
        asked = {**request[0], "data": request[1]}
        seconds = float(asked.get("time", seconds))
        limit_time(seconds)
        if "operation" in asked:
            _answer(link, partial(_answers, reader, asked))
            continue
        if reader is None:
            limit_memory(int(asked["memory"]))
            limit_files()
            confine(asked["opens"])
        elif hasattr(reader, "close"):
            with contextlib.suppress(Exception):
                reader.close()
        reader = library.Reader()
        opened = asked["path"] if "path" in asked else AskedFile(link, int(asked["size"]))
        _answer(link, partial(_opening, reader, opened))


def _opening(reader: Any, opened: Any) -> Iterator[Any]:
    yield reader.open(opened)


def _answers(reader: Any, asked: dict[str, Any]) -> Iterator[Any]:
    """Yield the answers to a request, or to each of many of one kind."""
    work = getattr(reader, f"do_{asked['operation']}")
    for each in asked.get("each", ({},)):
        yield from work({**asked, **each})


def _answer(link: Link, work: Any) -> None:
    try:
        for answer in work():
            if isinstance(answer, tuple):
                link.send(*answer)
            elif answer:
                link.send(answer)
    except Exception as error:  # noqa: BLE001 - told to who asked
        link.send({"fault": f"{type(error).__name__}: {error}"[:500]})
    else:
        link.send({"done": True})


def limit_memory(size: int) -> None:
    """Let this process have no more than `size` bytes beside what it has."""
    try:
        import resource
    except ImportError:  # Windows has none.
        return
    try:
        with open("/proc/self/statm", "rb") as status:
            has = int(status.read().split()[0]) * resource.getpagesize()
    except OSError:  # Only Linux tells it so.
        return
    _lower(resource, resource.RLIMIT_AS, has + size)


def limit_time(seconds: float) -> None:
    """Let this process have so many seconds of a processor from now on, until the next call: it dies then.

    Who asks ends it after that time; where that one is gone, nobody else does.
    """
    try:
        import resource
    except ImportError:
        return
    if seconds:
        most = int(time.process_time() + seconds) + 2
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (most if hard < 0 else min(most, hard), hard))


def _lower(resource: Any, which: int, most: int) -> None:
    """Set a limit: one that holds already may be lower, as on clusters, and cannot be raised."""
    hard = resource.getrlimit(which)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, most))


def limit_files() -> None:
    """Let this process write no file."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
