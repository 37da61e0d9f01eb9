"""An archive that sends people to log in elsewhere, as NASA's do: it, the place of the login, a third host.

All are on loopback, with ports of their own, and note what each request brought with it.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

NAME, PASSWORD, TOKEN = "someone", "p4ss-w0rd", "t0ken-of-someone"
SECRETS = (PASSWORD, TOKEN, base64.b64encode(f"{NAME}:{PASSWORD}".encode()).decode())


@dataclass
class Asked:
    """One request as it came."""

    path: str
    authorization: str | None
    cookie: str | None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Callable[[Any], None]) -> None:
        asked: list[Asked] = []
        self.asked = asked

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                headers = self.headers
                asked.append(Asked(self.path, headers.get("Authorization"), headers.get("Cookie")))
                answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


def send(to: Any, status: int, body: bytes = b"", **headers: str) -> None:
    """Send an answer; names of headers have ``_`` for ``-``."""
    to.send_response(status)
    for name, value in headers.items():
        to.send_header(name.replace("_", "-"), value)
    to.send_header("Content-Length", str(len(body)))
    to.end_headers()
    to.wfile.write(body)


def send_part(to: Any, data: bytes) -> None:
    """Send the range that is asked for."""
    said = to.headers.get("Range")
    if said is None:
        send(to, 200, data)
        return
    first, _, last = said.removeprefix("bytes=").partition("-")
    start, stop = int(first), min(int(last or len(data) - 1) + 1, len(data))
    send(to, 206, data[start:stop], Content_Range=f"bytes {start}-{stop - 1}/{len(data)}")


@dataclass
class Archive:
    """The three, while it is entered.

    Attributes
    ----------
    files
        Of the archive, by path.
    sessions
        Cookies that are good.
    leads_to
        Where the login leads to in place of the archive; empty: back.
    page
        The login ends with a page.
    is_early
        A cookie is given with the way to the login, which the archive wants back.
    moved
        Paths of the archive that lead to the third host for whoever is logged in.
    lasts
        How long credentials for a bucket last.
    """

    files: dict[str, bytes]
    sessions: set[str] = field(default_factory=set)
    leads_to: str = ""
    page: bool = False
    is_early: bool = False
    moved: set[str] = field(default_factory=set)
    lasts: timedelta = timedelta(hours=1)
    key: tuple[str, str] = ("", "")

    def __enter__(self) -> Self:
        self.data, self.login, self.third = map(_Server, (self._data, self._login, self._third))
        self._threads = [threading.Thread(target=each.serve_forever, args=(0.02,)) for each in self._servers]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._servers:
            each.shutdown()
            each.server_close()
        for thread in self._threads:
            thread.join()

    @property
    def _servers(self) -> tuple[_Server, ...]:
        return self.data, self.login, self.third

    def netrc(self, path: Path, password: str = PASSWORD) -> Path:
        """Write a netrc file."""
        path.write_text(f"machine 127.0.0.1 login {NAME} password {password}\ndefault login a password b\n")
        path.chmod(0o600)
        return path

    def _data(self, to: Any) -> None:
        path, _, query = to.path.partition("?")
        said = dict(each.split("=", 1) for each in (to.headers.get("Cookie") or "").split("; ") if each)
        if path == "/login" and query == "code=good" and (not self.is_early or said.get("state") == "7"):
            number = f"s{len(self.sessions) + 1}-{id(to)}"
            self.sessions.add(number)
            dated = "Wed, 01 Jan 2031 00:00:00 GMT"
            to.send_response(302)
            to.send_header("Set-Cookie", f"session={number}; Path=/; Expires={dated}; HttpOnly")
            to.send_header("Set-Cookie", "other=1; Secure")
            to.send_header("Location", "/data.bin")
            to.send_header("Content-Length", "0")
            to.end_headers()
            return
        is_known = (
            to.headers.get("Authorization") == f"Bearer {TOKEN}" or said.get("session") in self.sessions
        )
        if not is_known:
            place = f"{self.login.origin}/oauth/authorize?client_id=x"
            if self.is_early and path != "/auth":
                send(to, 302, Location="/auth", Set_Cookie="state=7")
            else:
                send(to, 302, b"to the login", Location=place)
        elif path == "/s3credentials":
            until = datetime.now(UTC) + self.lasts
            names = ("accessKeyId", "secretAccessKey", "sessionToken", "expiration")
            values = (*self.key, "temporary", str(until.replace(microsecond=0)))
            send(to, 200, json.dumps(dict(zip(names, values, strict=True))).encode())
        elif path in self.moved:
            send(to, 307, Location=f"{self.third.origin}{path}?signature=abc")
        elif path in self.files:
            send_part(to, self.files[path])
        else:
            send(to, 404)

    def _login(self, to: Any) -> None:
        said = base64.b64encode(f"{NAME}:{PASSWORD}".encode()).decode()
        if to.headers.get("Authorization") != f"Basic {said}":
            send(to, 401, b"who are you?")
        elif self.page:
            send(to, 200, b"<html>approve the application")
        else:
            send(to, 302, Location=self.leads_to or f"{self.data.origin}/login?code=good")

    def _third(self, to: Any) -> None:
        send_part(to, self.files.get(to.path.partition("?")[0], b""))
