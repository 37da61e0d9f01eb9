"""One connection of HTTP/1.1: a state machine over received bytes, body bytes straight into their buffer."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

from refbrowser.io.http_body import ChunkedDecoder, FixedSink, Sink
from refbrowser.io.http_head import AttemptError, Head, parse_head
from refbrowser.limits import LIMITS

_SCRATCH = 16 << 10
#: A body that nobody wants is read to keep the connection, if it is at most this long.
_DISCARD = 64 << 10


class Exchange(Protocol):
    """The user of a connection for one request; called on the loop's thread."""

    def on_head(self, head: Head) -> Sink | None:
        """Return where the body goes, or None when it is not wanted; raises `AttemptError`."""
        ...

    def on_bytes(self, count: int) -> None:
        """Take note of more bytes of the body in the sink."""
        ...

    def on_done(self) -> None:
        """Take note that the body is complete; the connection is free or closed."""
        ...

    def on_failed(self, error: AttemptError, answered: bool) -> None:
        """Take the failure (the connection is closed); `answered` tells if a byte had come."""
        ...

    def on_crashed(self, error: Exception) -> None:
        """Take an exception that nothing expected; raises none. The connection may be closed."""
        ...


class Connection(asyncio.BufferedProtocol):
    """Carries one exchange after another.

    Attributes
    ----------
    sent_at, active_at
        Times of the last request and of the last received byte (`time.monotonic`).
    private
        The address connected to is not public; the dialer says so.
    in_body
        The head of the current answer is complete.
    """

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.private = False
        self.sent_at = self.active_at = time.monotonic()
        self.in_body = False
        self.answered = False
        self.exchanges = 0
        self._exchange: Exchange | None = None
        self._scratch = memoryview(bytearray(_SCRATCH))
        self._filled = 0
        self._sink: Sink | None = None
        self._room: memoryview | None = None
        self._chunked: ChunkedDecoder | None = None
        self._discard = 0
        self._until_close = False
        self._keep = True
        self._taken = 0
        self._taken_since = self.sent_at

    @property
    def usable(self) -> bool:
        """Whether another exchange may begin."""
        return self._exchange is None and self.transport is not None and not self.transport.is_closing()

    def begin(self, exchange: Exchange, request: bytes) -> None:
        """Send a request; its answer goes to `exchange`."""
        assert self.transport is not None
        self._exchange = exchange
        self.exchanges += 1
        self.in_body = self.answered = self._until_close = False
        self._filled = 0
        self.sent_at = self.active_at = self._taken_since = time.monotonic()
        self._taken = 0
        self.transport.write(request)

    def is_slow(self, now: float) -> bool:
        """Tell whether fewer bytes came than the slowest accepted rate, over its whole time."""
        seconds = now - self._taken_since
        if seconds < LIMITS.http_slow_window:
            return False
        slow = self._taken < LIMITS.http_slow_rate * seconds
        self._taken, self._taken_since = 0, now
        return slow

    def close(self) -> None:
        """Close at once; the current exchange is not told."""
        self._exchange = None
        if self.transport is not None:
            self.transport.abort()

    def fail(self, error: AttemptError) -> None:
        """Close at once, and tell the current exchange why."""
        exchange, answered = self._exchange, self.answered
        self.close()
        if exchange is not None:
            try:
                exchange.on_failed(error, answered)
            except Exception as unexpected:  # noqa: BLE001 - the loop would give it to every request
                exchange.on_crashed(unexpected)

    # asyncio.BufferedProtocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = transport  # type: ignore[assignment] # always a stream

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where the next bytes go: the body's own buffer once its head is known."""
        if self._room is not None:
            return self._room
        if self._filled == len(self._scratch):
            self._scratch = memoryview(bytearray(self._scratch.tobytes() + bytes(len(self._scratch))))
        return self._scratch[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        """Take `nbytes` that were received."""
        exchange = self._exchange
        if exchange is None:
            # Nothing was asked for: whatever this is, the connection cannot be trusted any more.
            self.close()
            return
        try:
            self._take(exchange, nbytes)
        except AttemptError as error:
            self.fail(error)
        except Exception as error:  # noqa: BLE001 - the loop would give it to every request
            self._crash(exchange, error)

    def _take(self, exchange: Exchange, nbytes: int) -> None:
        self.active_at = time.monotonic()
        self.answered = True
        self._taken += nbytes
        if self._room is not None:
            assert isinstance(self._sink, FixedSink)
            self._sink.received += nbytes
            self._room = self._room[nbytes:]
            exchange.on_bytes(nbytes)
            if not len(self._room):
                self._finish()
        else:
            self._filled += nbytes
            self._take_scratch()

    def _crash(self, exchange: Exchange, error: Exception) -> None:
        # By now it may carry the exchange of another request, which nothing is wrong with.
        if self._exchange is exchange or self._exchange is None:
            self.close()
        exchange.on_crashed(error)

    def eof_received(self) -> bool:
        """Close this side too: nothing more can come."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the exchange, unless the end of the connection is the end of the body."""
        exchange = self._exchange
        if exchange is None:
            return
        try:
            self._lost(exchange, exc)
        except Exception as error:  # noqa: BLE001 - the loop would give it to every request
            self._crash(exchange, error)

    def _lost(self, exchange: Exchange, exc: Exception | None) -> None:
        if exc is None and self._until_close and self.in_body:
            self._keep = False
            self._finish()
            return
        self._exchange = None
        if self.in_body:
            message = "the connection closed in the middle of the body"
        else:
            message = (
                "the connection closed before an answer" if exc is None else f"the connection broke ({exc})"
            )
        exchange.on_failed(AttemptError(message, retry=True), self.answered)

    # The answer

    def _take_scratch(self) -> None:
        if self.in_body:
            data, self._filled = self._scratch[: self._filled], 0
            self._take_body(data)
            return
        while not self.in_body:
            received = self._scratch[: self._filled].tobytes()
            end = received.find(b"\r\n\r\n")
            if (self._filled if end < 0 else end) > LIMITS.http_headers:
                raise AttemptError(f"the answer's headers are longer than {LIMITS.http_headers} bytes")
            if end < 0:
                return
            head = parse_head(received[:end])
            rest = received[end + 4 :]
            self._filled = 0
            if 100 <= head.status < 200:
                if head.status == 101:
                    raise AttemptError("the server switched protocols")
                self._scratch[: len(rest)] = rest
                self._filled = len(rest)
                continue
            self._begin_body(head)
            self._take_body(memoryview(rest))

    def _begin_body(self, head: Head) -> None:
        assert self._exchange is not None
        self.in_body = True
        self._keep = head.keep_alive
        self._sink = self._exchange.on_head(head)
        self._chunked = None
        bodiless = head.status in (204, 304)
        if self._sink is None:
            self._discard = 0 if bodiless else head.length if head.length is not None else _DISCARD + 1
            if self._discard > _DISCARD:
                self._discard, self._keep = 0, False
            return
        if head.chunked:
            self._chunked = ChunkedDecoder(self._sink)
        elif isinstance(self._sink, FixedSink):
            # Without a length nothing tells where the next answer would begin.
            self._keep = self._keep and head.length is not None
        else:
            self._until_close, self._keep = True, False

    def _take_body(self, data: memoryview) -> None:
        exchange, sink = self._exchange, self._sink
        assert exchange is not None
        if sink is None:
            self._discard -= len(data)
            if self._discard <= 0:
                self._keep = self._keep and self._discard == 0
                self._finish()
            return
        before = sink.received
        if self._chunked is not None:
            self._chunked.feed(data)
        elif isinstance(sink, FixedSink) and len(data) > len(sink.room):
            # The body is what was announced; what follows it belongs to no answer.
            self._keep = False
            sink.write(data[: len(sink.room)])
        else:
            sink.write(data)
        if sink.received > before:
            exchange.on_bytes(sink.received - before)
        if self._chunked is not None:
            if self._chunked.done:
                if isinstance(sink, FixedSink) and not sink.full:
                    raise AttemptError("the body is shorter than was announced", retry=True)
                self._finish()
        elif sink.full:
            self._finish()
        elif isinstance(sink, FixedSink):
            self._room = sink.room

    def _finish(self) -> None:
        exchange = self._exchange
        assert exchange is not None
        self._exchange = self._sink = self._room = self._chunked = None
        self._filled = 0
        if not self._keep and self.transport is not None:
            self.transport.abort()
        exchange.on_done()
