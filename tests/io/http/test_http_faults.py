"""Servers that misbehave: the right bytes after another try, or an error; never wrong bytes."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Callable

import pytest
from reading import WHOLE, Reading, cancelled_when, columns, pattern
from servers.http_server import Fault, HttpServer

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.access.task import FetchEvent, Pace
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.origins import Origin

DATA = pattern(200_000)


@pytest.fixture(autouse=True)
def file(server: HttpServer, soon: None) -> None:
    server.files["/a"] = DATA


def refusal(
    reading: Reading, offset: int = 1000, length: int = 70_000, path: str = "/a", **options: object
) -> RefbrowserError:
    with pytest.raises(RefbrowserError) as caught:
        reading.one(path, offset, length, **options)
    return caught.value


RECOVERED = {
    "503 twice": Fault("status", 503, times=2),
    "429 twice": Fault("status", 429, times=2, headers={"Retry-After": "0"}),
    "500 once": Fault("status", 500, times=1),
    "408, then good": Fault("status", 408, times=1),
    "cut short twice": Fault("truncate", 30_000, times=2),
    "cut short before the body": Fault("truncate", 0, times=2),
    "reset in the middle": Fault("reset", 30_000, times=2),
    "closed without an answer": Fault("close", times=2),
    "no HTTP at first": Fault("garbage", times=1),
    "chunked": Fault("chunked", 777),
    "chunked in large parts": Fault("chunked", 65_536),
    "end of connection ends the body": Fault("no_length"),
    "an entity tag that varies": Fault("etag", '"other"', times=1),
    "more bytes than announced": Fault("extra", 10),
    "no total": Fault("total", "*"),
}  # fmt: skip


@pytest.mark.parametrize("fault", RECOVERED.values(), ids=RECOVERED.keys())
def test_recovered(reading: Reading, fault: Fault) -> None:
    fault.seen = 0
    reading.server.faults["/a"] = fault
    for _ in range(2):
        assert reading.one("/a", 1000, 70_000) == DATA[1000:71_000]


@pytest.mark.parametrize("kind", ["truncate", "reset"])
def test_a_broken_body_is_continued_where_it_broke(reading: Reading, kind: str) -> None:
    reading.server.faults["/a"] = Fault(kind, 30_000, times=1)
    assert reading.one("/a", 1000, 60_000) == DATA[1000:61_000]
    ranges = [entry.range for entry in reading.server.requests]
    assert ranges == [(1000, 60_999), (31_000, 60_999)]


@pytest.mark.parametrize("kind", ["chunked", "no_length", "truncate"])
def test_whole_objects(reading: Reading, kind: str) -> None:
    reading.server.faults["/a"] = Fault(kind, 50_000, times=1 if kind == "truncate" else None)
    assert reading.one("/a") == DATA
    assert reading.server.requests[0].range is None


REFUSED = {
    "another range": (Fault("shift", 1), ErrorKind.SOURCE, "were requested"),
    "a wrong range": (Fault("content_range", "bytes 0-69999/200000"), ErrorKind.SOURCE, "were requested"),
    "a malformed range": (Fault("content_range", "bytes 1000-70999"), ErrorKind.SOURCE, "Content-Range"),
    "another encoding": (Fault("encoding", "gzip"), ErrorKind.SOURCE, "gzip"),
    "not found": (Fault("status", 404), ErrorKind.SOURCE, "404"),
    "forbidden": (Fault("status", 403), ErrorKind.SOURCE, "403"),
    "multiple choices": (Fault("status", 300), ErrorKind.SOURCE, "300"),
    "no content": (Fault("status", 204), ErrorKind.SOURCE, "204"),
    "huge headers": (Fault("huge_headers", 100_000), ErrorKind.SOURCE, "65536"),
    "a long wait": (Fault("status", 503, headers={"Retry-After": "3600"}), ErrorKind.SOURCE, "3600 s"),
}  # fmt: skip


@pytest.mark.parametrize(("fault", "kind", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_at_once(reading: Reading, fault: Fault, kind: ErrorKind, words: str) -> None:
    fault.seen = 0
    reading.server.faults["/a"] = fault
    error = refusal(reading)
    assert error.kind == kind
    assert words in error.message
    assert (error.place.url, error.place.start, error.place.stop) == (reading.url("/a"), 1000, 71_000)
    assert reading.server.request_count == 1


@pytest.mark.parametrize(
    "fault", [Fault("status", 503), Fault("close"), Fault("truncate", 0)], ids=["503", "closed", "cut short"]
)
@pytest.mark.parametrize(("export", "tries"), [(False, 4), (True, 10)])
def test_given_up_after_all_tries(reading: Reading, fault: Fault, export: bool, tries: int) -> None:
    reading.server.faults["/a"] = fault
    error = refusal(reading, export=export)
    assert error.kind == ErrorKind.SOURCE
    assert f"after {tries} tries" in error.message
    assert reading.server.request_count == tries


def test_rows_before_a_break_are_good(reading: Reading) -> None:
    reading.server.faults["/a"] = Fault("truncate", 25_000)
    found = reading.fetch([("/a", i * 10_000, 10_000) for i in range(5)])
    good = [row for row, data in found.items() if isinstance(data, bytes)]
    assert good == list(range(len(good)))
    assert len(good) == 5
    for row in good:
        assert found[row] == DATA[row * 10_000 : (row + 1) * 10_000]


def test_a_range_past_the_end(reading: Reading) -> None:
    for offset in (199_000, 200_000, 500_000):
        error = refusal(reading, offset, 2_000)
        assert error.kind == ErrorKind.RANGE
        assert "200000 bytes" in error.message
    assert reading.server.request_count == 3


class TestIgnoredRanges:
    """A server that answers 200 with the whole object."""

    @pytest.fixture(autouse=True)
    def fault(self, server: HttpServer) -> None:
        server.faults["/a"] = Fault("ignore_ranges")

    def test_a_small_object_is_cut(self, reading: Reading) -> None:
        rows = [("/a", i * 20_000, 100) for i in range(10)]
        found = reading.fetch(rows)
        assert all(found[i] == DATA[i * 20_000 : i * 20_000 + 100] for i in range(10))

    def test_it_is_not_read_again_for_each_range(self, fetcher: Fetcher) -> None:
        data = pattern(8 << 20)
        with HttpServer({"/a": data}, latency=0.01) as server:
            server.faults["/a"] = Fault("ignore_ranges")
            rows = [("/a", i * 80_000, 70_000) for i in range(100)]
            found = Reading(server, fetcher).fetch(rows)
            assert all(found[i] == data[i * 80_000 : i * 80_000 + 70_000] for i in range(100))
            # Requests under way together find out together and one goes on to take the object; on a busy
            # machine some are answered only after that.
            assert fetcher.counters.bytes <= 8 * len(data)

    def test_a_large_object_is_refused(self, reading: Reading) -> None:
        reading.server.files["/a"] = bytes(9 << 20)
        error = refusal(reading)
        assert "ignores ranges" in error.message
        assert reading.server.bytes_sent < 9 << 20

    def test_the_whole_object_as_a_range_may_be_large(self, reading: Reading) -> None:
        data = reading.server.files["/a"] = pattern(9 << 20)
        table = columns([(reading.url("/a"), 0, len(data))])
        plan = reading.fetcher.plan(table, reading.access)
        assert plan.request_count > 1
        assert reading.one("/a") == data

    def test_a_range_past_the_end(self, reading: Reading) -> None:
        assert refusal(reading, 199_000, 2_000).kind == ErrorKind.RANGE


class TestChangedObjects:
    @pytest.mark.parametrize(
        "change",
        [
            lambda server: server.files.__setitem__("/a", DATA + b"more"),
            lambda server: server.files.__setitem__("/a", DATA[:-1]),
        ],
        ids=["longer", "shorter"],
    )
    def test_another_size(self, reading: Reading, change: Callable[[HttpServer], None]) -> None:
        assert reading.one("/a", 0, 100) == DATA[:100]
        change(reading.server)
        error = refusal(reading, 0, 100)
        assert error.kind == ErrorKind.SOURCE
        assert "changed" in error.message

    def test_in_the_middle_of_a_read(self, reading: Reading) -> None:
        """The second part of a broken body comes from another object: never glued together."""
        reading.server.faults["/a"] = Fault("truncate", 30_000, times=1)
        before = reading.server.files["/a"]

        class Swapping(dict[str, bytes]):
            def __getitem__(self, path: str) -> bytes:
                asked = len(reading.server.requests)
                return before if asked < 2 else before + b"changed"

        reading.server.files = Swapping({"/a": before})
        assert "changed" in refusal(reading).message

    def test_tag_and_time(self, reading: Reading) -> None:
        assert reading.one("/a", 0, 100) == DATA[:100]
        reading.server.faults["/a"] = Fault("modified", "Thu, 02 Jan 2025 00:00:00 GMT")
        assert reading.one("/a", 0, 100) == DATA[:100]
        assert reading.access.memory.identities.warnings == ()

    def test_a_tag_alone_is_a_warning(self, reading: Reading) -> None:
        assert reading.one("/a", 0, 100) == DATA[:100]
        reading.server.faults["/a"] = Fault("etag", '"other"')
        assert reading.one("/a", 0, 100) == DATA[:100]
        assert [finding.place.url for finding in reading.access.memory.identities.warnings] == [
            reading.url("/a")
        ]

    def test_opening_again_reads_the_new_state(self, reading: Reading) -> None:
        assert reading.one("/a", 0, 100) == DATA[:100]
        reading.server.files["/a"] = b"x" * 300
        again = Access.for_document("doc.json", [Origin.parse(reading.server.origin)])
        assert reading.one("/a", 0, 100, access=again) == b"x" * 100


class TestRedirects:
    def test_to_the_same_host(self, reading: Reading) -> None:
        reading.server.faults["/moved"] = Fault("redirect", "/a")
        assert reading.one("/moved", 1000, 5) == DATA[1000:1005]

    @pytest.mark.parametrize("target", ["http://user:word@127.0.0.1/", "http://a/b::c", "http://exa mple/"])
    def test_urls_that_are_refused_everywhere(self, reading: Reading, target: str) -> None:
        reading.server.faults["/moved"] = Fault("redirect", target)
        assert refusal(reading, path="/moved").kind in (ErrorKind.UNSAFE, ErrorKind.PROTOCOL)

    def test_a_loop(self, reading: Reading) -> None:
        reading.server.faults["/loop"] = Fault("redirect", "/loop")
        assert "5 redirects" in refusal(reading, path="/loop").message
        assert reading.server.request_count == 6

    def test_another_host_needs_permission(self, reading: Reading) -> None:
        with HttpServer({"/a": DATA}) as other:
            reading.server.faults["/moved"] = Fault("redirect", other.url("/a"))
            error = refusal(reading, path="/moved")
            assert error.kind == ErrorKind.BLOCKED
            assert f"--allow {other.origin}" in error.advice
            assert other.most_connections == 0
            assert Origin.parse(other.origin) in {want.origin for want in reading.access.wanted([])}
            allowed = reading.access.allow([Origin.parse(other.origin)], private=True)
            assert reading.one("/moved", 0, 9, access=allowed) == DATA[:9]

    @pytest.mark.parametrize(
        "target",
        [
            "http://169.254.169.254/latest/meta-data",
            "http://0x7f.1:1/",
            "http://[::ffff:127.0.0.1]:1/",
            "http://localhost:1/",
        ],
    )
    def test_private_addresses_are_not_followed(self, reading: Reading, target: str) -> None:
        reading.server.faults["/moved"] = Fault("redirect", target)
        assert refusal(reading, path="/moved").kind == ErrorKind.BLOCKED

    @pytest.mark.parametrize(
        "target",
        ["file:///etc/passwd", "ftp://a/b", "s3://bucket/key", "javascript:x", "//[bad"],
    )
    def test_other_protocols_are_refused(self, reading: Reading, target: str) -> None:
        reading.server.faults["/moved"] = Fault("redirect", target)
        assert refusal(reading, path="/moved").kind == ErrorKind.UNSAFE
        assert reading.server.request_count == 1

    def test_a_target_is_remembered_until_it_fails(self, reading: Reading) -> None:
        reading.server.faults["/moved"] = Fault("redirect", "/a")
        for _ in range(3):
            assert reading.one("/moved", 0, 5) == DATA[:5]
        assert [entry.path for entry in reading.server.requests] == ["/moved", "/a", "/a", "/a"]
        reading.server.files["/b"] = DATA
        reading.server.faults |= {"/moved": Fault("redirect", "/b"), "/a": Fault("status", 403)}
        assert reading.one("/moved", 0, 5) == DATA[:5]
        assert [entry.path for entry in reading.server.requests][4:] == ["/a", "/moved", "/b"]

    def test_a_remembered_target_is_no_permission(self, reading: Reading) -> None:
        with HttpServer({"/a": DATA}) as other:
            reading.server.faults["/moved"] = Fault("redirect", other.url("/a"))
            allowed = reading.access.allow([Origin.parse(other.origin)], private=True)
            assert reading.one("/moved", 0, 9, access=allowed) == DATA[:9]
            assert refusal(reading, path="/moved").kind == ErrorKind.BLOCKED


class TestSlowServers:
    def test_no_answer(self, reading: Reading, limits: Callable[..., None]) -> None:
        limits(http_first_byte=0.2, http_tries=2, http_wait_start=0.01)
        reading.server.faults["/a"] = Fault("silent")
        began = time.monotonic()
        assert "no answer" in refusal(reading).message
        assert time.monotonic() - began < 8
        assert reading.server.request_count == 2

    def test_a_stall_is_overcome(self, reading: Reading, limits: Callable[..., None]) -> None:
        limits(http_between_bytes=0.3)
        reading.server.faults["/a"] = Fault("stall", 30_000, times=1)
        assert reading.one("/a", 1000, 60_000) == DATA[1000:61_000]

    def test_a_drip_below_the_slowest_rate(self, reading: Reading, limits: Callable[..., None]) -> None:
        limits(http_slow_window=0.3, http_slow_rate=100_000, http_tries=1)
        reading.server.faults["/a"] = Fault("drip", 10_000)
        assert "slowly" in refusal(reading).message

    def test_the_total_time(self, reading: Reading, limits: Callable[..., None]) -> None:
        limits(http_total=0.3, http_total_rate=1e9, http_tries=1)
        reading.server.faults["/a"] = Fault("drip", 10_000)
        assert "too long" in refusal(reading).message

    def test_slow_is_what_is_slow_over_the_whole_time(self, limits: Callable[..., None]) -> None:
        limits(http_slow_window=10, http_slow_rate=1000)
        pace = Pace()
        began = pace._since
        assert not pace.is_slow(0, began + 9)
        assert not pace.is_slow(20_000, began + 20)
        # What came before does not count.
        assert not pace.is_slow(20_000, began + 29)
        assert pace.is_slow(29_000, began + 30)

    @pytest.mark.parametrize("kind", ["silent", "stall", "drip"])
    def test_cancelling_does_not_wait(self, reading: Reading, limits: Callable[..., None], kind: str) -> None:
        """Nothing else would end it in the time that the test has."""
        limits(http_first_byte=1000, http_between_bytes=1000, http_total=1000, http_slow_window=1000)
        reading.server.faults["/a"] = Fault(kind, 1000 if kind == "stall" else 100)
        with pytest.raises(Cancelled):
            reading.one("/a", 0, 70_000, cancel=cancelled_when(lambda: reading.server.requests))

    def test_cancelling_while_waiting_for_another_try(
        self, reading: Reading, limits: Callable[..., None]
    ) -> None:
        limits(http_wait_start=10, http_wait_most=10)
        reading.server.faults["/a"] = Fault("status", 503)
        token = CancelToken()
        threading.Timer(0.1, token.cancel).start()
        with pytest.raises(Cancelled):
            reading.one("/a", 0, 100, cancel=token)


def test_retry_after_is_kept(reading: Reading) -> None:
    reading.server.faults["/a"] = Fault("status", 429, times=1, headers={"Retry-After": "1"})
    began = time.monotonic()
    assert reading.one("/a", 0, 5) == DATA[:5]
    assert time.monotonic() - began > 0.9


def test_retry_after_is_meant_for_the_whole_host(fetcher: Fetcher) -> None:
    with HttpServer({"/a": pattern(20 << 20)}, latency=0.02) as server:
        server.faults["/a"] = Fault("status", 429, times=1, after=12, headers={"Retry-After": "1"})
        Reading(server, fetcher).fetch([("/a", i * 200_000, 70_000) for i in range(100)], priority=0)
        times = [entry.time for entry in server.requests]
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
        assert max(gaps) > 0.8


def test_a_host_that_asks_for_less_gets_few_connections(fetcher: Fetcher, events: list[FetchEvent]) -> None:
    with HttpServer({"/a": pattern(20 << 20)}, latency=0.02) as server:
        server.faults["/a"] = Fault("status", 503, times=1)
        reading = Reading(server, fetcher)
        reading.one("/a", 0, 5)
        server.clear()
        reading.fetch([("/a", i * 200_000, 70_000) for i in range(100)])
        assert server.most_connections <= 6
        assert [event.kind for event in events] == ["throttled"]


def test_a_failing_host_is_left_alone(
    reading: Reading, limits: Callable[..., None], events: list[FetchEvent]
) -> None:
    limits(http_wait_start=0.001, circuit_open=0.5, http_tries=2)
    reading.server.faults["/a"] = Fault("close", times=10)
    for _ in range(5):
        refusal(reading)
    assert reading.server.request_count == 10
    error = refusal(reading)
    assert reading.server.request_count == 10
    assert "not contacted" in error.message
    assert [event.kind for event in events] == ["circuit"]
    time.sleep(0.6)
    assert reading.one("/a", 0, 5) == DATA[:5]


def test_a_missing_file_does_not_open_the_circuit(reading: Reading) -> None:
    for _ in range(7):
        refusal(reading, path="/missing")
    assert reading.one("/a", 0, 5) == DATA[:5]


def test_a_connection_known_to_be_closed_is_not_used(reading: Reading, limits: Callable[..., None]) -> None:
    limits(http_first_byte=20)
    assert reading.one("/a", 0, 10) == DATA[:10]
    assert reading.fetcher._client is not None
    idle = reading.fetcher._client.host(Origin.parse(reading.server.origin))._idle
    # It is taken back after the bytes were handed over, and its end is noticed by a thread of its own.
    end = time.monotonic() + 10
    while not idle and time.monotonic() < end:
        time.sleep(0.001)
    (connection,) = idle
    for client in list(reading.server._clients):
        client.socket.shutdown(socket.SHUT_RDWR)
    while connection.usable and time.monotonic() < end:
        time.sleep(0.001)
    began = time.monotonic()
    # What is sent over it has no answer, and is not missed before the time for one is over.
    assert reading.one("/a", 10, 10) == DATA[10:20]
    assert time.monotonic() - began < 10


def test_a_connection_closed_while_idle_costs_no_try(reading: Reading, limits: Callable[..., None]) -> None:
    limits(http_tries=1)
    for _ in range(3):
        assert reading.one("/a", 0, 5) == DATA[:5]
        reading.server.faults["/a"] = Fault("close", times=1)


def test_nobody_listens(fetcher: Fetcher, limits: Callable[..., None]) -> None:
    limits(http_tries=2, http_wait_start=0.01)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    origin = Origin.parse(f"http://127.0.0.1:{port}")
    access = Access.for_document("doc.json", [origin])
    found: list[object] = []
    table = columns([(f"{origin}/a", 0, 5)])
    fetcher.fetch(fetcher.plan(table, access), access, lambda row, data: found.append(data))
    assert isinstance(found[0], RefbrowserError)
    assert found[0].kind == ErrorKind.SOURCE
    assert "no connection" in found[0].message


def test_too_large_whole_objects(reading: Reading) -> None:
    for kind in ("", "chunked", "no_length"):
        reading.server.faults["/a"] = Fault(kind, 1000)
        error = refusal(reading, *WHOLE, size_limit=100_000)
        assert "100000" in error.message
        assert reading.one("/a", *WHOLE, size_limit=len(DATA)) == DATA


def test_more_than_was_announced_ends_the_connection(reading: Reading) -> None:
    """Bytes after a body would be taken for the next answer."""
    reading.server.faults["/a"] = Fault("extra", 1000)
    for offset in (0, 10, 20):
        assert reading.one("/a", offset, 5) == DATA[offset : offset + 5]
