"""Archives read through the fetcher: in few requests, once, and never in the place of a member."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from reading import Reading
from servers.http_server import Fault, HttpServer
from zip_made import archive

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access, chained_url, split_chained, storage_url
from refbrowser.io.archives import known_archives
from refbrowser.io.archives.known_archives import ZipArchives
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.archive_reading import read_archive, read_members
from refbrowser.io.fetching.fetch import Fetcher

MEMBERS = [(f"temp/{number}", bytes([number]) * 100, number % 2 == 0) for number in range(40)]


@pytest.fixture
def archived(server: HttpServer) -> HttpServer:
    server.files["/x.zip"] = archive(MEMBERS)
    return server


def test_a_directory_is_read_once_in_two_requests(reading: Reading, archived: HttpServer) -> None:
    archives = reading.access.memory.archives
    url = archived.url("/x.zip")
    assert archives.known(url) is None
    found: list[object] = []

    def read() -> None:
        found.append(read_archive(url, reading.access, reading.fetcher))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(set(map(id, found))) == 1
    assert archives.known(url) is found[0]
    assert archived.request_count == 2


def test_members_are_read_together(reading: Reading, archived: HttpServer) -> None:
    url = archived.url("/x.zip")
    directory = read_archive(url, reading.access, reading.fetcher)
    names = [name for name, _, _ in MEMBERS]
    answers = read_members(directory, [*names, "absent"], reading.access, reading.fetcher)
    assert answers == {name: data for name, data, _ in MEMBERS}
    assert archived.request_count == 3
    small = read_members(directory, names, reading.access, reading.fetcher, size_limit=99)
    assert {answer.kind for answer in small.values() if isinstance(answer, RefbrowserError)} == {
        ErrorKind.BUDGET
    }


def test_a_failed_reading_is_tried_again(reading: Reading, archived: HttpServer, soon: None) -> None:
    url = archived.url("/x.zip")
    archived.faults["/x.zip"] = Fault("status", 403)
    with pytest.raises(RefbrowserError):
        read_archive(url, reading.access, reading.fetcher)
    archived.faults.clear()
    assert len(read_archive(url, reading.access, reading.fetcher)) == 40


def test_reading_a_directory_can_be_cancelled(reading: Reading, archived: HttpServer) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        read_archive(archived.url("/x.zip"), reading.access, reading.fetcher, token)


def test_an_archive_is_never_read_as_its_member(reading: Reading, archived: HttpServer) -> None:
    """Who has not found out where a member lies gets an error, not the first bytes of the archive."""
    url = chained_url("temp/1", archived.url("/x.zip"))
    found = reading.fetch([(url, 0, -1), (url, 0, 4)])
    assert [isinstance(answer, RefbrowserError) for answer in found.values()] == [True, True]
    assert archived.request_count == 0


def test_places_of_members_are_those_of_their_archive(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("a")
    access = Access.for_document(folder / "d.json")
    place = access.resolve("zip://temp/1::x.zip")
    assert (place.member, place.path, place.origin.folder) == ("temp/1", "", str(folder))
    assert place.url == f"zip://temp/1::{folder}/x.zip"
    with pytest.raises(RefbrowserError) as caught:
        access.resolve("zip://temp/1::http://host/x.zip")
    assert caught.value.kind is ErrorKind.BLOCKED
    remote = Access.for_document("http://host/d.json")
    assert remote.resolve("zip://a::x.zip").url == "zip://a::http://host/x.zip"
    with pytest.raises(RefbrowserError) as caught:
        remote.resolve("zip://a::/etc/x.zip")
    assert caught.value.kind is ErrorKind.UNSAFE


@pytest.mark.parametrize("url", ["zip://", "zip://a", "zip://::x.zip", "zip://a::", "zip://a::zip://b::c"])
def test_urls_that_name_no_member(url: str) -> None:
    with pytest.raises(RefbrowserError) as caught:
        split_chained(url)
    assert caught.value.kind is ErrorKind.PROTOCOL


def test_addresses_in_brackets_are_no_chain() -> None:
    url = "zip://a/b::http://[::1]:80/x.zip"
    assert split_chained(url) == ("a/b", "http://[::1]:80/x.zip")
    assert Access.for_document("http://host/d").locate(url).origin.host == "::1"
    assert storage_url("zip://a::/b/x.zip") == "/b/x.zip"
    assert storage_url("/b/x.zip") == "/b/x.zip"
    assert storage_url(url) == "http://[::1]:80/x.zip"


def test_inflated_members_are_kept_within_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_archives, "LIMITS", replace(known_archives.LIMITS, zip_kept=10))
    archives = ZipArchives()
    archives.keep_inflated("u", 0, b"1234")
    archives.keep_inflated("u", 1, b"12345")
    assert archives.inflated("u", 0) == b"1234"
    archives.keep_inflated("u", 2, b"12")
    assert [archives.inflated("u", row) is not None for row in range(3)] == [True, False, True]
    archives.keep_inflated("u", 3, b"12345678901")
    assert archives.inflated("u", 3) is None
    assert archives.inflated("u", 0) == b"1234"


def test_members_that_are_long_when_packed_are_not_read(tmp_path: Path) -> None:
    # A stream of empty blocks: far more bytes than it inflates to.
    packed = b"\0\0\0\xff\xff" * 2000 + b"\3\0"
    made = bytearray(archive([("a", b"", True)]))
    header, entry, end = 30 + len("a"), made.index(b"PK\1\2"), made.rindex(b"PK\5\6")
    made[18:22] = made[entry + 20 : entry + 24] = len(packed).to_bytes(4, "little")
    made[end + 16 : end + 20] = (header + len(packed)).to_bytes(4, "little")
    path = tmp_path / "x.zip"
    path.write_bytes(made[:header] + packed + made[entry:])
    access = Access.for_archive(path)
    with Fetcher() as fetcher:
        directory = read_archive(str(path), access, fetcher)
        assert read_members(directory, ["a"], access, fetcher) == {"a": b""}
        answer = read_members(directory, ["a"], access, fetcher, size_limit=len(packed) - 1)["a"]
        assert isinstance(answer, RefbrowserError)
        assert answer.kind is ErrorKind.BUDGET
    assert (directory.size_of(0), directory.packed_size_of(0)) == (0, len(packed))
