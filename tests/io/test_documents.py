"""Reading a document itself."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from reading import pattern
from servers.http_server import Fault, HttpServer

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching import fetch
from refbrowser.io.fetching.fetch import Fetcher, read_document
from refbrowser.io.identity import ObjectIdentity, identity_on_disk

DATA = pattern(300_000)


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "doc.json"
    path.write_bytes(DATA)
    calls: list[tuple[int, int | None]] = []
    document = read_document(path, Access.for_document(path), progress=lambda *call: calls.append(call))
    assert bytes(document.data) == DATA
    assert document.identity == identity_on_disk(path)
    assert calls == [(300_000, 300_000)]
    by_url = read_document(f"file://{path}", Access.for_document(f"file://{path}"))
    assert bytes(by_url.data) == DATA


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "doc.json"
    path.write_bytes(b"")
    assert bytes(read_document(path, Access.for_document(path)).data) == b""


def test_a_link_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "doc.json").write_bytes(b"{}")
    (tmp_path / "link.json").symlink_to(tmp_path / "deep" / "doc.json")
    access = Access.for_document(tmp_path / "link.json")
    assert bytes(read_document(tmp_path / "link.json", access).data) == b"{}"
    assert access.base == str(tmp_path / "deep")


@pytest.mark.parametrize(("name", "kind"), [("nowhere.json", ErrorKind.IO), (".", ErrorKind.IO)])
def test_what_is_no_file(tmp_path: Path, name: str, kind: ErrorKind) -> None:
    with pytest.raises(RefbrowserError) as caught:
        read_document(tmp_path / name, Access.for_document(tmp_path / name))
    assert caught.value.kind == kind


def test_too_large_a_document(tmp_path: Path, server: HttpServer) -> None:
    (tmp_path / "doc.json").write_bytes(DATA)
    server.files["/doc.json"] = DATA
    for source in (str(tmp_path / "doc.json"), server.url("/doc.json")):
        with pytest.raises(RefbrowserError) as caught:
            read_document(source, Access.for_document(source), size_limit=299_999)
        assert caught.value.kind == ErrorKind.BUDGET


def test_a_url(server: HttpServer, fetcher: Fetcher) -> None:
    server.files["/sets/doc.json?v=1"] = server.files["/sets/doc.json"] = DATA
    source = server.url("/sets/doc.json?v=1")
    calls: list[tuple[int, int | None]] = []
    access = Access.for_document(source)
    document = read_document(source, access, fetcher=fetcher, progress=lambda *call: calls.append(call))
    assert bytes(document.data) == DATA
    assert isinstance(document.identity, ObjectIdentity)
    assert document.identity.total == 300_000
    assert calls[-1] == (300_000, 300_000)
    assert [count for count, _ in calls] == sorted(count for count, _ in calls)
    assert bytes(read_document(source, Access.for_document(source)).data) == DATA


def test_a_url_of_unknown_size(server: HttpServer, fetcher: Fetcher) -> None:
    server.files["/doc.json"] = DATA
    server.faults["/doc.json"] = Fault("chunked", 5000)
    source = server.url("/doc.json")
    calls: list[tuple[int, int | None]] = []
    document = read_document(
        source, Access.for_document(source), fetcher=fetcher, progress=lambda *call: calls.append(call)
    )
    assert bytes(document.data) == DATA
    assert calls[-1] == (300_000, None)


def test_a_url_that_is_not_there(server: HttpServer, fetcher: Fetcher) -> None:
    source = server.url("/nowhere.json")
    with pytest.raises(RefbrowserError) as caught:
        read_document(source, Access.for_document(source), fetcher=fetcher)
    assert caught.value.kind == ErrorKind.SOURCE
    assert caught.value.place.url == source


def test_cancelling(server: HttpServer, fetcher: Fetcher) -> None:
    server.files["/doc.json"] = DATA
    server.faults["/doc.json"] = Fault("drip", 1000)
    source, token = server.url("/doc.json"), CancelToken()
    threading.Timer(0.1, token.cancel).start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        read_document(source, Access.for_document(source), fetcher=fetcher, cancel=token)
    assert time.monotonic() - began < 3


@pytest.mark.slow
def test_a_file_that_is_cut_short_later_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "doc.json"
    path.write_bytes(DATA)
    program = """
import os, sys
from refbrowser.io.access.access import Access
from refbrowser.io.fetching.fetch import read_document
data = read_document(sys.argv[1], Access.for_document(sys.argv[1])).data
os.truncate(sys.argv[1], 0)
sys.stdout.buffer.write(bytes(data))
"""
    # In a process of its own: reading beyond the end of a map kills the process.
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, DATA)


def test_a_file_that_is_cut_short_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "doc.json"
    path.write_bytes(DATA)
    real = fetch.read_exactly

    def cut_short(descriptor: int, *arguments: Any) -> int:
        os.truncate(path, 100)
        return real(descriptor, *arguments)

    monkeypatch.setattr(fetch, "read_exactly", cut_short)
    with pytest.raises(RefbrowserError) as caught:
        read_document(path, Access.for_document(path))
    assert caught.value.kind is ErrorKind.SOURCE
