"""A loopback HTTP/1.1 server with latency, limited bandwidth, a request log, and faults on demand.

In a test::

    with HttpServer({"/a.bin": data}, latency=0.03) as server:
        server.faults["/a.bin"] = Fault("status", value=503, times=2)
        ... server.url("/a.bin") ... server.requests

In a process of its own: ``with ServerProcess(folder, latency=0.03, per_connection=50e6, total=200e6)``, or
``python http_server.py --root FOLDER``, which prints ``{"port": n}``. ``/-/stats`` gives the counts of such a
server and ``/-/reset`` clears them.

One thread, one selector: bodies are sent as slices of buffers made beforehand, so the server costs little.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import json
import mmap
import os
import re
import selectors
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Seconds of credit that an idle link may save up.
BURST = 0.02
#: Never send less than this while more is to come.
LEAST = 16 << 10
MOST = 256 << 10
LAST_MODIFIED = "Wed, 01 Jan 2025 00:00:00 GMT"


@dataclass
class Fault:
    """A wrong behaviour of one path.

    `kind` is one of: ``ignore_ranges``, ``truncate`` (close after `value` bytes of the body), ``reset`` (the
    same, with a reset), ``stall`` (stop sending there), ``drip`` (`value` bytes a second), ``status`` (answer
    `value`), ``redirect`` (to `value`), ``content_range`` (send `value` as Content-Range), ``shift`` (send a
    range `value` bytes further), ``etag`` (another entity tag `value`), ``modified``, ``total`` (announce
    `value`), ``encoding``, ``huge_headers`` (`value` bytes), ``chunked``, ``no_length`` (the end of the
    connection ends the body), ``extra`` (`value` more bytes than announced), ``garbage`` (no HTTP), ``close``
    (no answer), ``silent`` (never answer).

    It holds for `times` requests (None: all) after the first `after` requests of the path.
    """

    kind: str
    value: Any = None
    times: int | None = None
    after: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    seen: int = 0

    def applies(self) -> bool:
        self.seen += 1
        return self.seen > self.after and (self.times is None or self.seen <= self.after + self.times)


@dataclass(frozen=True)
class Logged:
    """One request as it came."""

    method: str
    path: str
    range: tuple[int, int | None] | None
    headers: Mapping[str, str]
    time: float


class Answer:
    """What is sent for one request."""

    def __init__(self, head: bytes, body: memoryview, close: bool = False) -> None:
        self.head = head
        self.body = body
        self.position = 0
        self.close = close
        self.reset = False
        self.stop_at: int | None = None
        self.rate: float | None = None
        self.silent = False


class Client:
    """One connection."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.received = bytearray()
        self.answer: Answer | None = None
        self.tokens = 0.0
        self.refilled = 0.0


class HttpServer:
    """Serves `files` (path to bytes) and the files below `root`; a context manager that runs a thread.

    Rates are bytes per second, None is unlimited; the latency holds for each request.
    """

    def __init__(
        self,
        files: Mapping[str, bytes] | None = None,
        *,
        root: str | os.PathLike[str] | None = None,
        latency: float = 0.0,
        per_connection: float | None = None,
        total: float | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.files: dict[str, bytes] = dict(files or {})
        self.root = None if root is None else Path(root)
        self.latency, self.per_connection, self.total = latency, per_connection, total
        self.faults: dict[str, Fault] = {}
        self.requests: list[Logged] = []
        self.bytes_sent = 0
        self.connections = 0
        self.most_connections = 0
        self._maps: dict[str, memoryview] = {}
        self._listener = socket.create_server((host, port), backlog=512)
        self._listener.setblocking(False)
        self.host, self.port = host, self._listener.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._waiting: list[tuple[float, int, Client]] = []
        self._serial = itertools.count()
        self._sending: deque[Client] = deque()
        self._clients: set[Client] = set()
        self._tokens = 0.0
        self._refilled = time.monotonic()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def origin(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def url(self, path: str) -> str:
        return f"{self.origin}{path}"

    @property
    def request_count(self) -> int:
        return len(self.requests)

    def clear(self) -> None:
        self.requests.clear()
        self.bytes_sent = 0
        self.most_connections = self.connections

    def __enter__(self) -> HttpServer:
        self._thread = threading.Thread(target=self.run, name="http-server", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        self._listener.close()
        self._selector.close()

    def run(self) -> None:
        """Serve until `stop`."""
        while not self._stopped.is_set():
            for key, _ in self._selector.select(self._pause()):
                if key.data is None:
                    self._accept()
                else:
                    self._receive(key.data)
            self._admit()
            self._send()
        for client in list(self._clients):
            self._close(client)

    # The loop

    def _pause(self) -> float:
        if self._sending:
            return 0.001
        if self._waiting:
            return min(max(self._waiting[0][0] - time.monotonic(), 0), 0.1)
        return 0.05

    def _accept(self) -> None:
        try:
            while True:
                sock, _ = self._listener.accept()
                sock.setblocking(False)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                client = Client(sock)
                self._clients.add(client)
                self.connections += 1
                self.most_connections = max(self.most_connections, self.connections)
                self._selector.register(sock, selectors.EVENT_READ, client)
        except BlockingIOError:
            pass

    def _receive(self, client: Client) -> None:
        try:
            data = client.socket.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close(client)
            return
        client.received += data
        if client.answer is None:
            self._take_request(client)

    def _take_request(self, client: Client) -> None:
        head, separator, rest = bytes(client.received).partition(b"\r\n\r\n")
        if not separator:
            return
        client.received[:] = rest
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        # Azure's clients have a name of their own for it.
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", headers.get("x-ms-range", headers.get("range", "")))
        wanted = None if match is None else (int(match[1]), int(match[2]) if match[2] else None)
        if not path.startswith("/-/"):
            self.requests.append(Logged(method, path, wanted, headers, time.monotonic()))
        client.answer = self._answer(path, wanted, head=method == "HEAD")
        heapq.heappush(self._waiting, (time.monotonic() + self.latency, next(self._serial), client))

    def _admit(self) -> None:
        now = time.monotonic()
        while self._waiting and self._waiting[0][0] <= now:
            client = heapq.heappop(self._waiting)[2]
            if client in self._clients and client.answer is not None and not client.answer.silent:
                client.refilled = now
                client.tokens = max(client.tokens, float(LEAST))
                self._sending.append(client)

    def _send(self) -> None:
        now = time.monotonic()
        if self.total is not None:
            self._tokens = min(self._tokens + self.total * (now - self._refilled), self.total * BURST)
        self._refilled = now
        progress = True
        while progress and self._sending:
            progress = False
            for _ in range(len(self._sending)):
                client = self._sending.popleft()
                if self.total is not None and self._tokens < LEAST:
                    self._sending.appendleft(client)
                    return
                moved, done = self._send_some(client, now)
                progress = progress or moved
                if not done:
                    self._sending.append(client)

    def _send_some(self, client: Client, now: float) -> tuple[bool, bool]:
        """Send a part of an answer; return whether anything was sent and whether nothing more is to come."""
        answer = client.answer
        if answer is None or client not in self._clients:
            return False, True
        size = min(len(answer.body) - answer.position, MOST)
        if answer.stop_at is not None:
            size = min(size, answer.stop_at - answer.position)
        rate = answer.rate or self.per_connection
        if rate is not None:
            client.tokens = min(client.tokens + rate * (now - client.refilled), max(rate * BURST, LEAST))
            client.refilled = now
            allowed = int(client.tokens)
            if allowed < min(size, LEAST if answer.rate is None else 1):
                return False, False
            size = min(size, allowed)
        if self.total is not None:
            size = min(size, max(int(self._tokens), 1))
        try:
            if answer.head:
                client.socket.sendall(answer.head)
                answer.head = b""
            part = answer.body[answer.position : answer.position + size]
            sent = client.socket.send(part) if size > 0 else 0
        except BlockingIOError:
            return False, False
        except OSError:
            self._close(client)
            return False, True
        answer.position += sent
        client.tokens -= sent
        self._tokens -= sent
        self.bytes_sent += sent
        return True, self._finish(client, answer)

    def _finish(self, client: Client, answer: Answer) -> bool:
        end = len(answer.body) if answer.stop_at is None else answer.stop_at
        if answer.position < end:
            return False
        if answer.reset:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._close(client)
        elif answer.close:
            self._close(client)
        elif answer.stop_at is None:
            client.answer = None
            if client.received:
                self._take_request(client)
        return True

    def _close(self, client: Client) -> None:
        if client in self._clients:
            self._clients.discard(client)
            self.connections -= 1
            self._selector.unregister(client.socket)
            client.socket.close()

    # Answers

    def _content(self, path: str) -> memoryview | None:
        # A service answers each query with something else.
        path = path if path in self.files else path.partition("?")[0]
        if path in self.files:
            return memoryview(self.files[path])
        if self.root is None:
            return None
        if path not in self._maps:
            file = self.root / path.lstrip("/")
            if ".." in path or not file.is_file():
                return None
            with file.open("rb") as opened:
                if file.stat().st_size == 0:
                    return memoryview(b"")
                self._maps[path] = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
        return self._maps[path]

    def _answer(self, path: str, wanted: tuple[int, int | None] | None, head: bool) -> Answer:
        if path.startswith("/-/"):
            return self._control(path)
        fault = self.faults.get(path)
        if fault is not None and not fault.applies():
            fault = None
        kind = "" if fault is None else fault.kind
        value = None if fault is None else fault.value
        if kind == "status":
            reasons = {429: "Too Many Requests", 503: "Service Unavailable", 404: "Not Found"}
            return _plain(f"{value} {reasons.get(value, 'Status')}", {} if fault is None else fault.headers)
        if kind == "redirect":
            return _plain("302 Found", {"Location": str(value)})
        if kind in ("close", "silent", "garbage"):
            answer = Answer(
                b"220 ready\r\n\r\n" if kind == "garbage" else b"", memoryview(b""), kind == "close"
            )
            answer.silent = kind == "silent"
            return answer
        content = self._content(path)
        if content is None:
            return _plain("404 Not Found", {})
        answer = self._file(path, content, None if kind == "ignore_ranges" else wanted, kind, value)
        if head:
            answer.body = memoryview(b"")
        return _spoiled(answer, kind, value)

    def _file(
        self, path: str, content: memoryview, wanted: tuple[int, int | None] | None, kind: str, value: Any
    ) -> Answer:
        total = len(content)
        headers = {"ETag": f'"{abs(hash(path)):x}-{total:x}"', "Last-Modified": LAST_MODIFIED}
        # What it says of ranges where it serves none; nothing where that is empty.
        said = value if kind == "ignore_ranges" and isinstance(value, str) else "bytes"
        headers |= {"Accept-Ranges": said} if said else {}
        status, body = "200 OK", content
        if wanted is not None:
            first = wanted[0]
            last = total - 1 if wanted[1] is None else min(wanted[1], total - 1)
            if first > last:
                return _plain("416 Range Not Satisfiable", {"Content-Range": f"bytes */{total}"})
            if kind == "shift":
                first, last = first + value, last + value
            status, body = "206 Partial Content", content[first : last + 1]
            shown = value if kind == "total" else total
            headers["Content-Range"] = f"bytes {first}-{last}/{shown}"
        length = len(body)
        if kind == "extra":
            body = memoryview(body.tobytes() + b"x" * value)
        names = {"content_range": "Content-Range", "etag": "ETag", "modified": "Last-Modified"}
        names |= {"encoding": "Content-Encoding"}
        if kind in names:
            headers[names[kind]] = value
        if kind == "huge_headers":
            headers["X-Filler"] = "x" * value
        if kind == "chunked":
            headers["Transfer-Encoding"] = "chunked"
            body = memoryview(_chunked(body.tobytes(), value or 1000))
        elif kind != "no_length":
            headers["Content-Length"] = str(length)
        return Answer(_head(status, headers), body, close=kind == "no_length")

    def _control(self, path: str) -> Answer:
        if path == "/-/reset":
            self.clear()
        stats = {
            "requests": self.request_count,
            "bytes": self.bytes_sent,
            "most_connections": self.most_connections,
            "cpu": time.process_time(),
        }
        body = json.dumps(stats).encode()
        return Answer(_head("200 OK", {"Content-Length": str(len(body))}), memoryview(body))


class ServerProcess:
    """An `HttpServer` of a folder in its own process; a context manager."""

    def __init__(self, root: str | os.PathLike[str], **options: float | None) -> None:
        self._command = [sys.executable, __file__, "--root", os.fspath(root)]
        for name, value in options.items():
            if value is not None:
                self._command += [f"--{name.replace('_', '-')}", str(value)]

    def __enter__(self) -> ServerProcess:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self.port = json.loads(self._process.stdout.readline())["port"]
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.terminate()
        self._process.communicate()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        return f"{self.origin}{path}"

    def stats(self) -> dict[str, float]:
        return self._ask("/-/stats")

    def reset(self) -> None:
        self._ask("/-/reset")

    def _ask(self, path: str) -> dict[str, float]:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(self.url(path), timeout=10) as answer:
            return json.load(answer)


def _head(status: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def _plain(status: str, headers: Mapping[str, str]) -> Answer:
    return Answer(_head(status, {**headers, "Content-Length": "0"}), memoryview(b""))


def _chunked(body: bytes, size: int) -> bytes:
    parts = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x;x=1\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\nX-Trailer: 1\r\n\r\n"


def _spoiled(answer: Answer, kind: str, value: Any) -> Answer:
    if kind in ("truncate", "reset", "stall"):
        answer.stop_at = min(value, len(answer.body))
        answer.close, answer.reset = kind != "stall", kind == "reset"
    if kind == "drip":
        answer.rate = value
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a folder on loopback with a limited link.")
    parser.add_argument("--root", required=True)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--per-connection", type=float)
    parser.add_argument("--total", type=float)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    server = HttpServer(
        root=options.root,
        latency=options.latency,
        per_connection=options.per_connection,
        total=options.total,
        port=options.port,
    )
    sys.stdout.write(json.dumps({"port": server.port}) + "\n")
    sys.stdout.flush()
    try:
        server.run()
    except KeyboardInterrupt:
        server.stop()


if __name__ == "__main__":
    main()
