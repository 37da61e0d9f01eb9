"""Where the bytes of an answer's body go, and the chunked transfer coding."""

from __future__ import annotations

import re

import numpy as np

from refbrowser.errors import ErrorKind
from refbrowser.io.http_head import AttemptError

_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")
_LINE_LIMIT = 1024


class FixedSink:
    """A body of known size, received straight into `view`."""

    def __init__(self, view: memoryview) -> None:
        self.view = view
        self.received = 0

    @property
    def room(self) -> memoryview:
        """The part of the buffer that is still to be filled."""
        return self.view[self.received :]

    @property
    def full(self) -> bool:
        """Whether all bytes are here."""
        return self.received == len(self.view)

    def write(self, data: memoryview) -> None:
        """Take bytes that were received elsewhere."""
        if len(data) > len(self.view) - self.received:
            raise AttemptError("the body is longer than was asked for")
        self.view[self.received : self.received + len(data)] = data
        self.received += len(data)


class GrowingSink:
    """A body whose size only its end tells, of at most `limit` bytes."""

    full = False

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = np.empty(min(limit, 1 << 16), np.uint8)
        self.received = 0

    def write(self, data: memoryview) -> None:
        """Take bytes."""
        end = self.received + len(data)
        if end > self._limit:
            message = f"the body is longer than {self._limit} bytes"
            raise AttemptError(message, ErrorKind.BUDGET, oversize=True)
        if end > len(self._buffer):
            grown = np.empty(min(max(end, 2 * len(self._buffer)), self._limit), np.uint8)
            grown[: self.received] = self._buffer[: self.received]
            self._buffer = grown
        self._buffer[self.received : end] = data
        self.received = end

    @property
    def view(self) -> memoryview:
        """The bytes received."""
        return self._buffer.data[: self.received]


Sink = FixedSink | GrowingSink


class ChunkedDecoder:
    """Takes the chunked transfer coding off; feed it until `done`."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._left = 0
        self._line = bytearray()
        self._state = "size"
        self.done = False

    def feed(self, data: memoryview) -> None:
        """Take received bytes.

        Raises
        ------
        AttemptError
            The coding is malformed, or the body too long.
        """
        while data:
            if self.done:
                raise AttemptError("the server sends more than the body")
            if self._state == "data":
                part = data[: self._left]
                self._sink.write(part)
                self._left -= len(part)
                data = data[len(part) :]
                if not self._left:
                    self._state = "end"
            else:
                data = self._feed_line(data)

    def _feed_line(self, data: memoryview) -> memoryview:
        window = bytes(data[: _LINE_LIMIT + 1])
        end = window.find(b"\n")
        taken = window if end < 0 else window[: end + 1]
        self._line += taken
        if len(self._line) > _LINE_LIMIT:
            raise AttemptError("malformed chunked body")
        if end >= 0:
            line = bytes(self._line).removesuffix(b"\n").removesuffix(b"\r")
            self._line.clear()
            self._take_line(line)
        return data[len(taken) :]

    def _take_line(self, line: bytes) -> None:
        if self._state == "size":
            match = _SIZE_LINE.fullmatch(line)
            if match is None:
                raise AttemptError("malformed chunked body")
            self._left = int(match[1], 16)
            self._state = "data" if self._left else "trailer"
        elif self._state == "end":
            if line:
                raise AttemptError("malformed chunked body")
            self._state = "size"
        elif not line:
            self.done = True
