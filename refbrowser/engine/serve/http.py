"""A small HTTP server on the standard library's WSGI: threads, and limits on what a client may hold."""

from __future__ import annotations

import io
import logging
import os
import socket
import threading
import time
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from wsgiref.simple_server import ServerHandler, WSGIRequestHandler, WSGIServer

from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import Cancelled
from refbrowser.limits import LIMITS

logger = logging.getLogger(__name__)

#: How often a server that waits looks whether it is to end, in seconds.
_LOOK = 0.05
#: Bytes that a client must take within `LIMITS.serve_send`.
_SLICE = 64 * 1024
#: Head of a request beside its first line.
_HEAD = 64 * 1024
_BUSY = b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\n\r\ntoo many requests\n"


class ThreadedServer(ThreadingMixIn, WSGIServer):
    """Answers each connection on a thread of its own, so many at a time as `LIMITS.serve_requests`.

    Parameters
    ----------
    host
        An address of this machine.
    port
        0 for any that is free.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    # Elsewhere it would let two programs have one port.
    allow_reuse_address = os.name == "posix"

    def __init__(self, host: str, port: int, application: Any) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._slots = threading.Semaphore(LIMITS.serve_requests)
        self._ended = threading.Event()
        super().__init__((host, port), _Handler)
        self.set_app(application)

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
        self.shutdown()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Hand a connection over once one of the others has ended; refuse it where that takes too long."""
        until = time.monotonic() + LIMITS.serve_queue
        while not self._slots.acquire(timeout=_LOOK):
            if self._ended.is_set() or time.monotonic() > until:
                self._refuse(request)
                return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._slots.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log what ended a connection; the program has no use for it otherwise."""
        logger.debug("connection of %s ended", client_address, exc_info=True)

    def _refuse(self, request: Any) -> None:
        try:
            request.settimeout(_LOOK)
            request.sendall(_BUSY)
            request.shutdown(socket.SHUT_WR)
            # What was not read would make the answer a reset.
            request.recv(LIMITS.url_length)
        except OSError:
            pass
        self.shutdown_request(request)


class _Handler(WSGIRequestHandler):
    """Reads one request within limits of size and time, and lets the application answer it."""

    timeout = LIMITS.serve_send
    disable_nagle_algorithm = True
    error_content_type = "text/plain"
    error_message_format = "%(code)d %(message)s\n"

    def setup(self) -> None:
        """Give the whole head of the request one time limit."""
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_Deadline(self.connection))

    def handle(self) -> None:
        """Answer one request."""
        self.raw_requestline = self.rfile.readline(LIMITS.url_length + 1)
        if len(self.raw_requestline) > LIMITS.url_length:
            self.requestline = self.request_version = self.command = ""
            self.send_error(414)
            return
        if not self.parse_request():
            return
        self.connection.settimeout(self.timeout)
        answer = _Answer(self.rfile, self.wfile, io.StringIO(), self.get_environ(), multithread=True)  # type: ignore[arg-type]
        answer.request_handler = self  # type: ignore[attr-defined]
        answer.run(self.server.get_app())  # type: ignore[attr-defined]

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

    def _write(self, data: bytes) -> None:
        # The time limit of a socket holds for all of what is sent at once: slow clients are no hung ones.
        view = memoryview(data)
        for start in range(0, len(view), _SLICE):
            self.stdout.write(view[start : start + _SLICE])

    def log_exception(self, exc_info: Any) -> None:
        """Log what the application raised."""
        expected = isinstance(exc_info[1], RefbrowserError | Cancelled | OSError)
        logger.log(logging.DEBUG if expected else logging.WARNING, "a request failed", exc_info=exc_info)


class _Deadline(io.RawIOBase):
    """The bytes of a socket, which must come within a time and not be more than a head may have."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._until = time.monotonic() + LIMITS.serve_head
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
        self._connection.settimeout(left)
        count = self._connection.recv_into(memoryview(buffer)[: max(self._left, 0)])
        self._left -= count
        return count
