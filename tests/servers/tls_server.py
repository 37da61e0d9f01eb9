"""Loopback servers for what the main test server does not do: TLS, and an http proxy."""

from __future__ import annotations

import re
import socket
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CERTIFICATES = Path(__file__).resolve().parent / "tls"
#: The authority that signed the server's certificate, which is for ``localhost`` only.
AUTHORITY = CERTIFICATES / "ca.pem"


class _Threaded:
    """A `ThreadingHTTPServer` in a thread; a context manager."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self.requests: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._server.owner = self  # type: ignore[attr-defined]
        self.port = self._server.server_address[1]

    def __enter__(self) -> _Threaded:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Quiet(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing."""

    @property
    def owner(self) -> _Threaded:
        return self.server.owner  # type: ignore[attr-defined]


class _Ranges(_Quiet):
    def do_GET(self) -> None:
        self.owner.requests.append(self.path)
        content: bytes = self.owner.content  # type: ignore[attr-defined]
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = (int(match[1]), int(match[2])) if match else (0, len(content) - 1)
        self.send_response(206 if match else 200)
        if match:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        self.wfile.write(content[first : last + 1])


class TlsServer(_Threaded):
    """Answers every path with `content`, over TLS."""

    def __init__(self, content: bytes) -> None:
        super().__init__(_Ranges)
        self.content = content
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATES / "server.pem")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)


class _Proxying(_Quiet):
    def do_CONNECT(self) -> None:
        self._note()
        host, _, port = self.path.rpartition(":")
        with socket.create_connection((host, int(port))) as other:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=_pump, args=(other.recv, self.connection.sendall))
            back.start()
            _pump(self.connection.recv, other.sendall)
            other.shutdown(socket.SHUT_RDWR)
            back.join()
        self.close_connection = True

    def do_GET(self) -> None:
        self._note()
        authority, _, path = self.path.removeprefix("http://").partition("/")
        with socket.create_connection(("127.0.0.1", int(authority.rpartition(":")[2]))) as other:
            range_line = f"Range: {self.headers['Range']}\r\n" if "Range" in self.headers else ""
            other.sendall(f"GET /{path} HTTP/1.1\r\nHost: {authority}\r\n{range_line}\r\n".encode())
            other.settimeout(0.2)
            _pump(other.recv, self.wfile.write)
        self.close_connection = True

    def _note(self) -> None:
        words = [self.command, self.path, self.headers.get("Proxy-Authorization") or ""]
        self.owner.requests.append(" ".join(words).strip())


def _pump(receive: Callable[[int], bytes], send: Callable[[bytes], object]) -> None:
    try:
        while data := receive(65536):
            send(data)
    except OSError:
        pass


class ProxyServer(_Threaded):
    """An http proxy that notes what it is asked for (a tunnel leads to this machine, whatever the name)."""

    def __init__(self) -> None:
        super().__init__(_Proxying)
