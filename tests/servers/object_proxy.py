"""What stands between the program and an object store in tests: it forwards requests, or fails as told."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

#: Given method, path with query, and how often both came before: ``""``, a status as ``"503"``, ``"reset"``
#: before the store hears of it, ``"lost"`` after that, or ``"cut"`` in the middle of the answer's body.
Faults = Callable[[str, str, int], str]


class ObjectProxy:
    """A proxy that is told its faults.

    Attributes
    ----------
    seen
        Method and path of every request.
    ranges
        The range that each request asks for, ``bytes=0-1048575``; empty where it asks for none.
    told
        Headers that are added to each answer.
    sent
        Bytes of all answers' bodies.
    """

    def __init__(self, endpoint: str) -> None:
        self.behind = urlsplit(endpoint).netloc
        self.faults: Faults = lambda method, path, before: ""
        self.seen: list[tuple[str, str]] = []
        self.ranges: list[str] = []
        self.told: dict[str, str] = {}
        self.sent = 0
        self.lock = threading.Lock()

    def fault(self, method: str, path: str, asked: str) -> str:
        """Note a request, and return what is to become of it."""
        with self.lock:
            self.ranges.append(asked)
            before = self.seen.count((method, path))
            self.seen.append((method, path))
        return self.faults(method, path, before)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: ObjectProxy

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def handle(self) -> None:
        """Answer a connection, until one end closes it."""
        with suppress(ConnectionError):
            super().handle()

    def _forward(self) -> None:
        body = self._body()
        asked = self.headers.get("Range") or self.headers.get("x-ms-range") or ""
        fault = self.proxy.fault(self.command, self.path, asked)
        if fault == "reset":
            self.close_connection = True
            return
        if fault.isdigit():
            self._answer(int(fault), {"Content-Type": "application/xml"}, _SLOW_DOWN)
            return
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN}
        connection = http.client.HTTPConnection(self.proxy.behind, timeout=20)
        try:
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        with self.proxy.lock:
            self.proxy.sent += len(data)
        if fault == "lost":
            self.close_connection = True
            return
        told = {name: value for name, value in answer.getheaders() if name.lower() not in _OWN}
        if self.command == "HEAD":
            told["Content-Length"] = answer.getheader("Content-Length") or "0"
        self._answer(answer.status, told | self.proxy.told, data, cut=fault == "cut")

    def _answer(self, status: int, headers: dict[str, str], body: bytes, *, cut: bool = False) -> None:
        self.send_response_only(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.close_connection = True

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _forward

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


_OWN = frozenset({"host", "connection", "transfer-encoding", "content-length"})
_SLOW_DOWN = b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Slow down</Message></Error>"


@contextmanager
def object_proxy(endpoint: str) -> Iterator[tuple[ObjectProxy, str]]:
    """Run a proxy before an object store; gives it and its own endpoint."""
    proxy = ObjectProxy(endpoint)
    handler = type("Handler", (_Handler,), {"proxy": proxy})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield proxy, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
