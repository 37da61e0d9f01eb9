"""Codecs outside of the bundled set: decoded in a process of their own, with limits of memory and time.

Their libraries take sizes from the bytes that they decode; a bad chunk costs that process, not the program.
"""

from __future__ import annotations

import atexit
import json
import struct
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refbrowser.codecs.base import Bytes, DecodeError, DType, Room, as_bytes
from refbrowser.limits import LIMITS

_SCRIPT = Path(__file__).with_name("outside_worker.py")


@dataclass(frozen=True, slots=True)
class Outside:
    """One codec of a library that is not bundled.

    Attributes
    ----------
    configuration
        As numcodecs takes it, with its `id`.
    dtype
        Of the elements.
    """

    configuration: Mapping[str, Any]
    dtype: DType

    def encoded(self, room: Room) -> Room:
        """Return the room of the compressed bytes."""
        return room.compressed()

    def decode(self, data: Bytes, room: Room, out: Bytes | None) -> Bytes:
        """Return the decompressed bytes."""
        return as_bytes(_asked(self.configuration["id"], self._header(encodes=False), data, room.most))

    def encode(self, data: Bytes) -> Bytes:
        """Return the compressed bytes."""
        return as_bytes(_asked(self.configuration["id"], self._header(encodes=True), data, LIMITS.chunk_size))

    def _header(self, *, encodes: bool) -> bytes:
        request = {
            "codec": dict(self.configuration),
            "dtype": self.dtype.str,
            "encodes": encodes,
            "memory": LIMITS.decoding_memory,
        }
        return json.dumps(request).encode()


class _Worker:
    """One process, for one codec; it ends when its standard input does."""

    def __init__(self, codec: str) -> None:
        import subprocess  # Hardly anyone needs it, and every start would load it.

        self.codec = codec
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_SCRIPT), codec],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, header: bytes, data: Bytes, most: int) -> bytes:
        """Return the answer to a request, of at most `most` bytes.

        Raises
        ------
        DecodeError
            The codec failed, or made more.
        OSError, EOFError
            The process is gone.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(struct.pack("<IQ", len(header), len(data)) + header)
        stdin.write(data.data)
        stdin.flush()
        head = stdout.read(9)
        if len(head) < 9:
            raise EOFError
        size = int.from_bytes(head[1:], "little")
        if head[0] == 0 and size > most:
            raise OSError(f"more than {most} bytes")
        answer = stdout.read(size)
        if len(answer) < size:
            raise EOFError
        if head[0]:
            raise DecodeError(answer.decode("utf-8", "replace"))
        return answer

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue


class _Workers:
    """The processes that have nothing to do; each serves one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        atexit.register(self.end)

    def take(self, codec: str) -> _Worker:
        """Return a process for a codec that nobody uses."""
        with self._lock:
            for worker in self._idle:
                if worker.codec == codec:
                    self._idle.remove(worker)
                    return worker
        return _Worker(codec)

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


def _asked(codec: str, header: bytes, data: Bytes, most: int) -> bytes:
    """Return the answer of some process for a codec to a request.

    Raises
    ------
    DecodeError
        The codec failed, made more than `most` bytes, took too long, or broke the process.
    """
    worker = _WORKERS.take(codec)
    overdue = threading.Event()

    def stop() -> None:
        overdue.set()
        worker.end()

    timer = threading.Timer(LIMITS.outside_time, stop)
    timer.daemon = True
    timer.start()
    broken = False
    try:
        return worker.ask(header, data, most)
    except DecodeError:
        raise
    except (OSError, EOFError, ValueError) as error:
        broken = True
        if overdue.is_set():
            raise DecodeError(f"it took more than {LIMITS.outside_time:g} s") from None
        raise DecodeError(str(error) or "the process that decodes has died") from None
    finally:
        timer.cancel()
        # It may be ending the process right now: nobody else must be given that one.
        timer.join()
        if broken or overdue.is_set():
            worker.end()
        else:
            _WORKERS.give_back(worker)
