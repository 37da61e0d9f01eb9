"""The bytes of a stream in memory, in files and on servers, of known size or not."""

import os

import pytest
import stream_encoder as enc
from servers.http_server import Fault, HttpServer
from test_stream_walk import HEADER, facts_of, tile, walked

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.byte_sources import LocalBytes, MemoryBytes, RemoteBytes
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.wings.ncstream.reading.walk import walk_stream

STREAM = enc.stream(HEADER, *(tile("v", row, 0, 250) for row in range(400)))


@pytest.fixture
def server():
    with HttpServer({"/a.ncs": STREAM}) as server:
        yield server


@pytest.fixture
def remote(server):
    with Fetcher() as fetcher:
        url = server.url("/a.ncs")
        yield lambda token=None: RemoteBytes(url, Access.for_document(url), fetcher, token)


def test_bytes_in_memory_and_in_files(tmp_path):
    path = tmp_path / "a.ncs"
    path.write_bytes(STREAM)
    with LocalBytes(path) as local:
        for source in (local, MemoryBytes(STREAM)):
            assert source.size == len(STREAM)
            assert bytes(source.read(5, 9)) == STREAM[5:14]
            assert bytes(source.read(len(STREAM) - 3, 100)) == STREAM[-3:]
            assert bytes(source.read(len(STREAM) + 3, 100)) == b""
        assert not local.has_changed()
        with path.open("ab") as file:
            file.write(b"more")
        assert local.has_changed()
        assert local.size == len(STREAM)


def test_what_is_no_regular_file_is_refused(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(RefbrowserError) as caught:
        LocalBytes(pipe)
    assert caught.value.kind is ErrorKind.UNSAFE


@pytest.mark.parametrize(
    "fault",
    [None, Fault("total", "*"), Fault("no_length"), Fault("chunked"), Fault("ignore_ranges")],
    ids=lambda fault: fault.kind if fault else "sound",
)
def test_a_stream_of_a_server_is_walked(fault, server, remote):
    if fault is not None:
        server.faults["/a.ncs"] = fault
    found = walk_stream(remote(), url="memory")
    assert facts_of(found) == facts_of(walked(STREAM))
    assert server.request_count < 12


def test_the_first_bytes_come_with_the_size(server):
    url = server.url("/a.ncs")
    with Fetcher() as fetcher:
        source = RemoteBytes(url, Access.for_document(url), fetcher, first=64)
        assert bytes(source.read(0, 64)) == STREAM[:64]
        assert (source.size, server.request_count) == (len(STREAM), 1)
        # Shorter than what was asked for: it is read whole.
        server.files["/b.ncs"] = STREAM[:40]
        source = RemoteBytes(
            server.url("/b.ncs"), Access.for_document(server.url("/b.ncs")), fetcher, first=64
        )
        assert (source.size, bytes(source.read(30, 64))) == (40, STREAM[30:40])
        assert server.request_count == 3


def test_large_payloads_of_a_server_are_jumped_over(server, remote):
    size = 6 << 20
    shape = [enc.dimension("n", size)]
    header = enc.header(enc.group(dimensions=shape, variables=[enc.variable("v", enc.BYTE, shape)]))
    message = enc.data(enc.data_body("v", enc.BYTE, enc.whole([size])), enc.regular(bytes(size)))
    server.files["/a.ncs"] = enc.stream(header, *[message] * 5)
    assert len(walk_stream(remote(), url="x").table) == 6
    assert server.bytes_sent < size


def test_a_server_that_fails_is_told(server, remote):
    server.faults["/a.ncs"] = Fault("status", 404)
    with pytest.raises(RefbrowserError) as caught:
        remote()
    assert caught.value.kind is ErrorKind.SOURCE
    assert caught.value.place.url == server.url("/a.ncs")


def test_an_object_that_changes_meanwhile_is_told(server, remote):
    source = remote()
    server.faults["/a.ncs"] = Fault("modified", "Thu, 02 Jan 2025 00:00:00 GMT")
    server.files["/a.ncs"] = STREAM[:-8] + b"12345678" * 2
    with pytest.raises(RefbrowserError) as caught:
        source.read(0, 10)
    assert caught.value.kind is ErrorKind.SOURCE


def test_reading_from_a_server_is_cancelled(remote):
    token = CancelToken()
    source = remote(token)
    token.cancel()
    with pytest.raises(Cancelled):
        source.read(0, 10)
