"""A small HTTP server on the standard library's WSGI: threads, and limits on what a client may hold."""

from __future__ import annotations

import io
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from wsgiref.simple_server import ServerHandler, WSGIRequestHandler, WSGIServer

from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import Cancelled
from refbrowser.limits import LIMITS
from refbrowser.wings.ncstream.serving.client_places import BusyError, Client, Places
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

logger = logging.getLogger(__name__)

#: How often a server that waits looks whether it is to end, in seconds.
_LOOK = 0.05
#: Small parts of an answer are made together up to so many bytes.
_TOGETHER = 64 * 1024
#: Head of a request beside its first line.
_HEAD = 64 * 1024
_TOO_MANY = b"too many requests\n"
_BUSY = b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\n\r\n" + _TOO_MANY


class ThreadedServer(ThreadingMixIn, WSGIServer):
    """Has a thread for each connection, and works for so many at a time as `STREAM_LIMITS.serve_requests`.

    Parameters
    ----------
    host
        An address of this machine.
    port
        0 for any that is free.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 512
    # Elsewhere it would let two programs have one port.
    allow_reuse_address = os.name == "posix"

    def __init__(self, host: str, port: int, application: Any) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.wsgi = application
        self.places = Places()
        self._clients: dict[socket.socket, Client] = {}
        self._ended = threading.Event()
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Bind the socket; the name of this machine is not asked for, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]
        self.setup_environ()

    def run(self) -> None:
        """Serve until `end`."""
        self.serve_forever(_LOOK)

    def end(self) -> None:
        """End serving; connections under way are cut off by whoever makes their answers."""
        self._ended.set()
        self.places.end()
        self.shutdown()
        self.server_close()

    def get_request(self) -> Any:
        """Accept a connection; where the system has no more of them, the slowest client goes."""
        try:
            return super().get_request()
        except OSError:
            self.places.relieve()
            # It would be tried again at once.
            self._ended.wait(_LOOK)
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        """Hand a connection over to a thread; refuse it where there are too many."""
        client = Client(request, str(client_address[0]))
        if not self.places.enter(client):
            self._refuse(request)
            return
        self._clients[request] = client
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._forget(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._forget(request)

    def client_of(self, request: socket.socket) -> Client:
        """Return the client at a connection that is being answered."""
        return self._clients[request]

    def _forget(self, request: socket.socket) -> None:
        self.places.leave(self._clients.pop(request))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log what ended a connection; the program has no use for it otherwise."""
        logger.debug("connection of %s ended", client_address, exc_info=True)

    def _refuse(self, request: Any) -> None:
        try:
            # Nobody is waited for here: others are waiting to be accepted.
            request.setblocking(False)
            request.send(_BUSY)
            # What was not read would make the answer a reset.
            request.recv(LIMITS.url_length)
        except OSError:
            pass
        self.shutdown_request(request)


class _Handler(WSGIRequestHandler):
    """Reads one request within limits of size and time, and lets the application answer it."""

    server: ThreadedServer
    disable_nagle_algorithm = True
    error_content_type = "text/plain"
    error_message_format = "%(code)d %(message)s\n"

    def setup(self) -> None:
        """Give the whole head of the request one time limit."""
        super().setup()
        self.rfile.close()
        self._client = self.server.client_of(self.request)
        self.rfile = io.BufferedReader(_Deadline(self._client))

    def handle(self) -> None:
        """Answer one request."""
        self.raw_requestline = self.rfile.readline(LIMITS.url_length + 1)
        if len(self.raw_requestline) > LIMITS.url_length:
            self.requestline = self.request_version = self.command = ""
            self.send_error(414)
            return
        if not self.parse_request():
            return
        # Errors in a head are answered by the standard library, without this.
        self.connection.settimeout(STREAM_LIMITS.serve_send)
        answer = _Answer(self.rfile, self.wfile, io.StringIO(), self.get_environ(), multithread=True)  # type: ignore[arg-type]
        answer.request_handler = self  # type: ignore[attr-defined]
        answer.client = self._client
        answer.run(self._blocks)

    def _blocks(self, environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        """Answer a request, as WSGI has it; what is made takes a place, what is sent does not."""
        places, client = self.server.places, self._client
        try:
            with places.work(client, STREAM_LIMITS.serve_queue):
                body = self.server.wsgi(environ, start_response)
                parts = iter(body)
                made = _made(parts)
        except BusyError:
            start_response("503 Service Unavailable", [("Content-Type", "text/plain"), ("Retry-After", "1")])
            yield _TOO_MANY
            return
        while made:
            client.held = getattr(body, "held", 0) + sum(map(len, made))
            yield from made
            with places.work(client, None):
                made = _made(parts)

    def address_string(self) -> str:
        """Return the address of the client; its name is not asked for."""
        return str(self.client_address[0])

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log a request."""
        logger.debug(format, *arguments)


class _Answer(ServerHandler):
    """Sends what the application answers; one that fails on the way ends the connection short."""

    server_software = "refbrowser"
    error_headers = [("Content-Type", "text/plain")]  # noqa: RUF012 - as in the standard library
    error_body = b"internal error\n"

    client: Client

    def _write(self, data: bytes) -> None:
        self.client.send(data)

    def log_exception(self, exc_info: Any) -> None:
        """Log what the application raised."""
        expected = isinstance(exc_info[1], RefbrowserError | Cancelled | BusyError | OSError)
        logger.log(logging.DEBUG if expected else logging.WARNING, "a request failed", exc_info=exc_info)


class _Deadline(io.RawIOBase):
    """The bytes of a socket, which must come within a time and not be more than a head may have."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._until = time.monotonic() + STREAM_LIMITS.serve_head
        self._left = LIMITS.url_length + _HEAD

    def readable(self) -> bool:
        """Return that it is for reading."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what comes next.

        Raises
        ------
        TimeoutError
            The time is over.
        """
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request took too long")
        count = self._client.receive(memoryview(buffer)[: max(self._left, 0)], left)
        self._left -= count
        return count


def _made(parts: Iterator[bytes]) -> list[bytes]:
    """Return the next parts of an answer, small ones together; none at its end."""
    found: list[bytes] = []
    size = 0
    try:
        for part in parts:
            found.append(part)
            size += len(part)
            if size >= _TOGETHER:
                break
    except (RefbrowserError, Cancelled):
        # What was made before is sent: the answer ends short then, as nothing follows.
        if not found:
            raise
    return found
