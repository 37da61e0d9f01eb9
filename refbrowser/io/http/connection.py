"""Connections of HTTP/1.1 to addresses that were checked: made, written to, and what comes back."""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import socket
import ssl
import time
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import unquote, urlsplit

from refbrowser.errors import ErrorKind, quoted
from refbrowser.io.access.task import Pace
from refbrowser.io.http.answers import AttemptError, ChunkedDecoder, FixedSink, Head, Sink, parse_head
from refbrowser.io.origins import Origin, is_private
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
        self._is_head = False
        self._keep = True
        self._taken = 0
        self._pace = Pace()

    @property
    def usable(self) -> bool:
        """Whether another exchange may begin."""
        return self._exchange is None and self.transport is not None and not self.transport.is_closing()

    def begin(self, exchange: Exchange, request: bytes, *, is_head: bool = False) -> None:
        """Send a request; its answer goes to `exchange`, and has no body where the request `is_head`."""
        assert self.transport is not None
        self._exchange, self._is_head = exchange, is_head
        self.exchanges += 1
        self.in_body = self.answered = self._until_close = False
        self._filled = 0
        self.sent_at = self.active_at = time.monotonic()
        self._taken, self._pace = 0, Pace()
        self.transport.write(request)

    def is_slow(self, now: float) -> bool:
        """Tell whether fewer bytes came than the slowest accepted rate, over its whole time."""
        return self._pace.is_slow(self._taken, now)

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
        bodiless = self._is_head or head.status in (204, 304)
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


_NAMES_KEPT = 30.0


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy of the user's environment; `authorization` is the value of its header, if it needs one."""

    host: str
    port: int
    authorization: str | None


@dataclass(frozen=True, slots=True)
class Address:
    """One address of a host, as `getaddrinfo` gives it."""

    family: int
    sockaddr: tuple[str | int | bytes, ...]
    private: bool


def proxy_for(origin: Origin) -> Proxy | None:
    """Return the proxy that the system's settings name for an origin, or None.

    Raises
    ------
    AttemptError
        The settings name a proxy of a kind that is not supported.
    """
    from urllib.request import getproxies, proxy_bypass

    text = getproxies().get(origin.scheme)
    if not text or proxy_bypass(f"{origin.host}:{origin.port}") or proxy_bypass(origin.host):
        return None
    parts = urlsplit(text if "://" in text else f"http://{text}")
    if parts.scheme != "http" or not parts.hostname:
        raise AttemptError(f"the proxy {quoted(parts.hostname or text)} is not an http proxy")
    authorization = None
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = "Basic " + base64.b64encode(pair.encode()).decode("ascii")
    return Proxy(parts.hostname, parts.port or 80, authorization)


class Dialer:
    """Opens connections; used on the loop's thread only."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, int], tuple[float, list[Address]]] = {}
        self._looking: dict[tuple[str, int], asyncio.Task[list[Address]]] = {}
        self._context: ssl.SSLContext | None = None

    async def dial(self, origin: Origin, proxy: Proxy | None, allow_private: bool) -> Connection:
        """Connect to an origin, through `proxy` if there is one.

        The user's own settings name the proxy, so its address is not held against the rules for addresses.

        Raises
        ------
        AttemptError
            No connection; kind `E_BLOCKED` when only private addresses were found and none is allowed.
        """
        try:
            async with asyncio.timeout(LIMITS.http_connect):
                host, port = (proxy.host, proxy.port) if proxy else (origin.host, origin.port or 0)
                addresses = await self._addresses(host, port)
                if proxy is None and not allow_private:
                    addresses = _public(addresses, origin)
                sock, address = await _connect(addresses, host)
                connection = await self._start(sock, origin, proxy)
                connection.private = proxy is None and address.private
                return connection
        except TimeoutError:
            raise AttemptError(f"no connection within {LIMITS.http_connect:g} s", retry=True) from None
        except ssl.SSLCertVerificationError as error:
            reason = error.verify_message or "not trusted"
            raise AttemptError(f"the certificate of {origin} was refused: {reason}") from None
        except OSError as error:
            raise AttemptError(f"no connection to {origin}: {error.strerror or error}", retry=True) from None

    async def _start(self, sock: socket.socket, origin: Origin, proxy: Proxy | None) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            if proxy and origin.scheme == "https":
                await _tunnel(sock, origin, proxy)
            context = self._tls() if origin.scheme == "https" else None
            name = origin.host if context else None
            _, connection = await loop.create_connection(
                Connection, sock=sock, ssl=context, server_hostname=name
            )
        except BaseException:
            sock.close()
            raise
        return connection

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = ssl.create_default_context()
            self._context.set_alpn_protocols(["http/1.1"])
        return self._context

    async def _addresses(self, host: str, port: int) -> list[Address]:
        known = self._names.get((host, port))
        if known is not None and known[0] > time.monotonic():
            return known[1]
        looking = self._looking.get((host, port))
        if looking is None:
            # Connections are opened many at once: one looks for all of them.
            looking = asyncio.get_running_loop().create_task(self._look_up(host, port))
            self._looking[host, port] = looking
            looking.add_done_callback(lambda _: self._looking.pop((host, port)))
        return await asyncio.shield(looking)

    async def _look_up(self, host: str, port: int) -> list[Address]:
        # As bytes: for a text Python loads the tables of international names, which this one is none of.
        name = host.encode("ascii") if host.isascii() else host
        try:
            found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
        except OSError as error:
            temporary = error.errno == socket.EAI_AGAIN
            raise AttemptError(f"the host {quoted(host)} was not found", retry=temporary) from None
        addresses = [
            Address(
                family, tuple(sockaddr), is_private(ipaddress.ip_address(str(sockaddr[0]).partition("%")[0]))
            )
            for family, _, _, _, sockaddr in found
        ]
        self._names[host, port] = (time.monotonic() + _NAMES_KEPT, addresses)
        return addresses


def _public(addresses: list[Address], origin: Origin) -> list[Address]:
    public = [address for address in addresses if not address.private]
    if not public:
        message = f"{origin} is at a private address, which needs its own permission"
        raise AttemptError(message, ErrorKind.BLOCKED, advice=origin.how_to_allow)
    return public


async def _connect(addresses: list[Address], host: str) -> tuple[socket.socket, Address]:
    """Connect to the address that answers first: each is tried a while after the one before (RFC 8305, 5).

    Then those that have not answered are tried once more: a first packet that is lost, where the queue of a
    server is full, is sent again after 1, 3 and 7 s only, while another attempt may be answered at once.
    """
    failure = OSError(f"no address for {quoted(host)}")
    waiting = [*addresses, *addresses]
    trying: dict[asyncio.Task[socket.socket], Address] = {}
    try:
        while waiting or trying:
            if waiting:
                address = waiting.pop(0)
                trying[asyncio.create_task(_reach(address))] = address
            pause = LIMITS.http_connect_again if waiting else None
            done, _ = await asyncio.wait(trying, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                address = trying.pop(task)
                try:
                    return task.result(), address
                except OSError as error:
                    failure = error
                    waiting = [each for each in waiting if each != address]
        raise failure
    finally:
        for task in trying:
            task.add_done_callback(_dropped)
            task.cancel()


async def _reach(address: Address) -> socket.socket:
    sock = socket.socket(address.family, socket.SOCK_STREAM)
    sock.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(sock, address.sockaddr)
    except BaseException:
        sock.close()
        raise
    return sock


def _dropped(task: asyncio.Task[socket.socket]) -> None:
    """Close a connection that came after another one."""
    if not task.cancelled() and task.exception() is None:
        task.result().close()


async def _tunnel(sock: socket.socket, origin: Origin, proxy: Proxy) -> None:
    """Ask an http proxy for a tunnel to an https origin."""
    loop = asyncio.get_running_loop()
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    lines = [f"CONNECT {host}:{origin.port} HTTP/1.1", f"Host: {host}:{origin.port}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    await loop.sock_sendall(sock, "\r\n".join([*lines, "", ""]).encode("ascii"))
    received = b""
    # Byte by byte at the end would be exact; the server of TLS speaks second, so nothing can follow the head.
    while b"\r\n\r\n" not in received:
        part = await loop.sock_recv(sock, 4096)
        if not part or len(received) > LIMITS.http_headers:
            raise AttemptError("the proxy gave no answer", retry=True)
        received += part
    head = parse_head(received.partition(b"\r\n\r\n")[0])
    if head.status != 200:
        raise AttemptError(
            f"the proxy answered {head.status} {quoted(head.reason, 60)}", retry=head.status >= 500
        )
