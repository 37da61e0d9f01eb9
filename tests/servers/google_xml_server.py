"""Buckets of Google by their XML interface, in memory.

It is the one that Icechunk's library uses; the emulator of the other tests has the JSON one only.
"""

from __future__ import annotations

import hashlib
import re
import threading
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class GoogleXmlServer:
    """One service.

    Attributes
    ----------
    endpoint
        Its address.
    objects
        Bytes and generation by ``bucket/key``.
    """

    def __init__(self) -> None:
        self.objects: dict[str, tuple[bytes, int]] = {}
        self._lock, self._generation = threading.Lock(), 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def put(self, name: str, data: bytes, expected: str | None) -> int | None:
        """Put an object where its generation is the one that is expected; return the new one."""
        with self._lock:
            if expected is not None and str(self.objects.get(name, (b"", 0))[1]) != expected:
                return None
            self._generation += 1
            self.objects[name] = data, self._generation
            return self._generation

    def listing(self, bucket: str, prefix: str) -> bytes:
        """Return the keys of a bucket that begin so."""
        found = [
            f"<Contents><Key>{escape(name.removeprefix(bucket + '/'))}</Key><Size>{len(data)}</Size>"
            "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            for name, (data, _) in sorted(self.objects.items())
            if name.startswith(f"{bucket}/{prefix}")
        ]
        return f"<ListBucketResult>{''.join(found)}</ListBucketResult>".encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            @property
            def name(self) -> str:
                return unquote(urlsplit(self.path).path).strip("/")

            def answer(self, status: int, data: bytes = b"", **headers: Any) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), str(value))
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            def do_PUT(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                made = service.put(self.name, data, self.headers.get("x-goog-if-generation-match"))
                if made is None:
                    return self.answer(412, b"<Error><Code>PreconditionFailed</Code></Error>")
                return self.answer(200, ETag=f'"{hashlib.md5(data).hexdigest()}"', x_goog_generation=made)

            def do_GET(self) -> None:
                bucket, _, key = self.name.partition("/")
                if not key:
                    prefix = parse_qs(urlsplit(self.path).query).get("prefix", [""])[0]
                    return self.answer(200, service.listing(bucket, prefix))
                if self.name not in service.objects:
                    return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
                data, generation = service.objects[self.name]
                facts = {
                    "ETag": f'"{hashlib.md5(data).hexdigest()}"',
                    "Last_Modified": formatdate(usegmt=True),
                    "x_goog_generation": generation,
                }
                asked = re.match(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
                if asked is None:
                    return self.answer(200, data, **facts)
                first, last = int(asked[1]), min(int(asked[2]), len(data) - 1)
                told = f"bytes {first}-{last}/{len(data)}"
                return self.answer(206, data[first : last + 1], Content_Range=told, **facts)

            do_HEAD = do_GET

            def log_message(self, *arguments: object) -> None:
                """Print nothing."""

        return Handler
