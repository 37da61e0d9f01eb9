"""What a fetch tells of its tries, to whoever wants to explain it."""

from __future__ import annotations

from pathlib import Path

import pytest
from servers.http_server import Fault, HttpServer

from refbrowser.engine.reading.fetching import fetch_rows
from refbrowser.io.access.access import Access
from refbrowser.io.access.task import Attempt
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.origins import Origin
from refbrowser.model.reference import ByteRange, Reference, WholeFile, columns_of

DATA = bytes(range(256)) * 8


def attempts(access: Access, reference: Reference) -> list[Attempt]:
    """Read one reference and return what was told before its bytes or its error came."""
    seen: list[Attempt] = []
    before: list[Attempt] = []
    with Fetcher() as fetcher:
        fetch_rows(
            fetcher,
            columns_of([reference]),
            access,
            lambda row, data: before.extend(seen),
            witness=seen.append,
        )
    return before


@pytest.fixture
def server():
    with HttpServer({"/a.bin": DATA}) as server:
        yield server


@pytest.fixture
def web(server: HttpServer, tmp_path: Path) -> Access:
    return Access.for_document(tmp_path / "d.json", [Origin.parse(server.origin)])


def test_a_range_from_a_server(server: HttpServer, web: Access) -> None:
    (told,) = attempts(web, ByteRange(server.url("/a.bin"), 8, 100))
    assert (told.start, told.stop, told.received) == (8, 108, 100)
    assert told.answer.startswith("HTTP/1.1 206 ")
    assert told.fields["content-range"] == f"bytes 8-107/{len(DATA)}"
    assert told.error == ""
    assert told.wait is None
    assert told.seconds > 0


def test_a_whole_object(server: HttpServer, web: Access) -> None:
    (told,) = attempts(web, WholeFile(server.url("/a.bin")))
    assert (told.start, told.stop, told.received) == (0, None, len(DATA))
    assert told.answer.startswith("HTTP/1.1 200 ")


def test_each_try_is_told_with_its_wait(server: HttpServer, web: Access) -> None:
    server.faults["/a.bin"] = Fault("status", value=503, times=2)
    *failed, last = attempts(web, ByteRange(server.url("/a.bin"), 8, 100))
    assert len(failed) == 2
    for told in failed:
        assert "503" in told.answer
        assert "503" in told.error
        assert told.wait is not None
    assert last.error == ""


def test_a_refusal_is_told_once(server: HttpServer, web: Access) -> None:
    server.faults["/a.bin"] = Fault("status", value=404)
    (told,) = attempts(web, ByteRange(server.url("/a.bin"), 8, 100))
    assert told.answer.startswith("HTTP/1.1 404 ")
    assert told.wait is None
    assert told.received == 0


def test_a_redirect_tells_where(server: HttpServer, web: Access) -> None:
    server.files["/b.bin"] = DATA
    server.faults["/a.bin"] = Fault("redirect", value=server.url("/b.bin"))
    first, second = attempts(web, ByteRange(server.url("/a.bin"), 8, 100))
    assert first.fields["location"] == server.url("/b.bin")
    assert second.url == server.url("/b.bin")


def test_no_secret_of_the_answer_is_told(server: HttpServer, web: Access) -> None:
    server.faults["/a.bin"] = Fault("status", value=404, headers={"Set-Cookie": "secret"})
    (told,) = attempts(web, ByteRange(server.url("/a.bin"), 8, 100))
    assert "set-cookie" not in told.fields


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(DATA)
    access = Access.for_document(tmp_path / "d.json")
    (told,) = attempts(access, ByteRange("a.bin", 8, 100))
    assert told.url == str(tmp_path / "a.bin")
    assert (told.start, told.stop, told.received) == (8, 108, 100)
    assert f"a file of {len(DATA)} bytes, modified 20" in told.answer


def test_a_file_that_is_too_short_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(DATA)
    access = Access.for_document(tmp_path / "d.json")
    told = attempts(access, ByteRange("a.bin", 2000, 100))[0]
    assert "the range ends at 2100" in told.error
    assert "2048 bytes" in told.answer
    (told,) = attempts(access, WholeFile("none.bin"))
    assert told.error == "there is no such file"
    assert told.answer == ""
