"""Codecs outside of the bundled set: decoded in a process of their own, with limits of memory and time.

Their libraries take sizes from the bytes that they decode; a bad chunk costs that process, not the program.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from refbrowser.codecs.base import Bytes, DecodeError, DType, Room, as_bytes
from refbrowser.codecs.workers.children import WATCHMAN, Child, start_child
from refbrowser.limits import LIMITS

#: What knows the codecs that numcodecs has of other packages, and those that have a script of their own.
_NUMCODECS = Path(__file__).with_name("workers") / "outside_worker.py"
_SCRIPTS = {"grib": Path(__file__).with_name("workers") / "grib_worker.py"}


class Decoder(NamedTuple):
    """What a process decodes with: the script that knows the library, and what that is told to open."""

    script: Path
    opens: str


@dataclass(frozen=True, slots=True)
class Outside:
    """One codec of a library that is not bundled.

    Attributes
    ----------
    configuration
        As numcodecs takes it, with its `id`.
    dtype
        Of the elements.
    shape
        Of a chunk, where the codec may have to be told; empty else.
    """

    configuration: Mapping[str, Any]
    dtype: DType
    shape: tuple[int, ...] = ()

    def encoded(self, room: Room) -> Room:
        """Return the room of the compressed bytes."""
        return room.compressed()

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the decompressed bytes."""
        if out is None:
            return as_bytes(self._asked("decode", data, room.most))
        made = self._asked("decode", data, out.data)
        return out if len(made) == len(out) else out[: len(made)]

    def encode(self, data: Bytes) -> Bytes:
        """Return the compressed bytes."""
        return as_bytes(self._asked("encode", data, LIMITS.chunk_size))

    def _asked(self, operation: str, data: Bytes, room: memoryview | int) -> memoryview:
        request = {
            "operation": operation,
            "codec": dict(self.configuration),
            "dtype": self.dtype.str,
            "shape": self.shape,
            "most": room if isinstance(room, int) else len(room),
        }
        name = self.configuration["id"]
        return asked_of(Decoder(_SCRIPTS.get(name, _NUMCODECS), name), request, data, room)


class _Worker:
    """One process, for one codec, or some that decode together."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self._child: Child = start_child(decoder.script)
        self._is_open = False

    def ask(self, request: dict[str, Any], data: Bytes, room: memoryview | int) -> memoryview:
        """Return the answer to a request, in `room` or of at most so many bytes.

        Raises
        ------
        DecodeError
            The codec failed.
        OSError, EOFError, ValueError
            The process is gone, or made more.
        """
        if not self._is_open:
            self._child.send(
                {
                    "memory": LIMITS.decoding_memory,
                    "time": LIMITS.outside_time,
                    "opens": [],
                    "path": self.decoder.opens,
                }
            )
            self._answer(0)
            self._is_open = True
        self._child.send(request, data.data)
        return self._answer(room)

    def _answer(self, room: memoryview | int) -> memoryview:
        found = memoryview(b"")
        while True:
            answer, data = self._child.receive(room)
            if "fault" in answer:
                raise DecodeError(answer["fault"])
            if "done" in answer:
                return found
            found, room = data, 0

    def end(self) -> None:
        """End the process."""
        self._child.end()


class _Workers:
    """The processes that have nothing to do; each serves one thread at a time."""

    def __init__(self) -> None:
        self.forget()
        atexit.register(self.end)

    def forget(self) -> None:
        """Leave all to the process of which this one is a copy."""
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []

    def take(self, decoder: Decoder) -> _Worker:
        """Return a process that nobody uses."""
        with self._lock:
            for worker in self._idle:
                if worker.decoder == decoder:
                    self._idle.remove(worker)
                    return worker
        return _Worker(decoder)

    def give_back(self, worker: _Worker) -> None:
        """Keep a process for the next request."""
        with self._lock:
            self._idle.append(worker)

    def end(self) -> None:
        """End all processes that have nothing to do."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()


_WORKERS = _Workers()


def asked_of(decoder: Decoder, request: dict[str, Any], data: Bytes, room: memoryview | int) -> memoryview:
    """Return the answer of some process to a request, in `room` or of at most so many bytes.

    Raises
    ------
    DecodeError
        The codec failed, made more bytes than there is room for, took too long, or broke the process.
    """
    try:
        worker = _WORKERS.take(decoder)
    except (OSError, ValueError) as error:
        raise DecodeError(f"no decoding process can be started: {error}") from None
    WATCHMAN.begin(worker, LIMITS.outside_time, worker.end)
    is_good = False
    try:
        answer = worker.ask(request, data, room)
        is_good = True
        return answer
    except DecodeError:
        is_good = True
        raise
    except (OSError, EOFError, ValueError) as error:
        if WATCHMAN.stop(worker):
            raise DecodeError(f"it took more than {LIMITS.outside_time:g} s") from None
        raise DecodeError(str(error) or "the process that decodes has died") from None
    finally:
        if WATCHMAN.stop(worker) or not is_good:
            worker.end()
        else:
            _WORKERS.give_back(worker)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WORKERS.forget)
