"""Fetching: every row gets its own bytes or its own error, once, and cancelling is prompt."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import WHOLE, Reading, cancelled_when, columns, pattern
from servers.http_server import Fault, HttpServer

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.origins import Origin, parse_storage_options
from refbrowser.io.plan import Link

DATA = pattern(300_000)


@pytest.fixture(scope="module")
def shared() -> Iterator[Reading]:
    with HttpServer({"/a": DATA, "/b": DATA[::-1], "/empty": b""}) as server, Fetcher() as fetcher:
        yield Reading(server, fetcher)


rows = st.tuples(
    st.sampled_from(["/a", "/b"]),
    st.integers(0, len(DATA)),
    st.one_of(st.integers(-1, 300), st.integers(0, len(DATA))),
).filter(lambda row: row[1] + row[2] <= len(DATA))


@settings(max_examples=examples(40))
@given(st.lists(rows, max_size=30))
def test_rows_over_http(shared: Reading, wanted: list[tuple[str, int, int]]) -> None:
    files = {"/a": DATA, "/b": DATA[::-1]}
    found = shared.fetch(wanted)
    for row, (path, offset, length) in enumerate(wanted):
        content = files[path]
        assert found[row] == (content if length < 0 else content[offset : offset + length])


@settings(max_examples=examples(40))
@given(wanted=st.lists(rows, max_size=30))
def test_rows_of_files(
    tmp_path_factory: pytest.TempPathFactory, shared: Reading, wanted: list[tuple[str, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("files")
    (folder / "a").write_bytes(DATA)
    (folder / "b").write_bytes(DATA[::-1])
    access = Access.for_document(folder / "doc.json")
    table = columns([(path[1:], offset, length) for path, offset, length in wanted])
    found: dict[int, bytes] = {}
    shared.fetcher.fetch(
        shared.fetcher.plan(table, access), access, lambda row, data: found.__setitem__(row, bytes(data))
    )
    for row, (path, offset, length) in enumerate(wanted):
        content = DATA if path == "/a" else DATA[::-1]
        assert found[row] == (content if length < 0 else content[offset : offset + length])


def test_each_url_has_the_link_of_its_server(fetcher: Fetcher) -> None:
    access = Access.for_document("https://here.example/doc.json")
    urls = {
        "https://one.example/a": "https://one.example",
        "https://one.example/b?c": "https://one.example",
        "HTTPS://One.example:443/b": "https://one.example",
        "http://one.example/a": "http://one.example",
        "https://one.example:8443/a": "https://one.example:8443",
        "cdmremote:https://one.example/a": "https://one.example",
        "s3://one.example/a": "s3://one.example",
        "zip://member::https://one.example/a.zip": "https://one.example",
        "zip://member::https://two.example/a.zip": "https://two.example",
        "beside.nc": "https://here.example",
        "file:///data/a": "",
        "ftp://one.example/a": "",
        "https://one example/a": "",
    }
    for order in (list(urls), list(urls)[::-1]):
        links = fetcher.links(order, access)
        assert [link.host for link in links] == [urls[url] for url in order]
        assert len({id(link) for link in links}) == len(set(urls.values()))


def test_counters(reading: Reading) -> None:
    reading.server.files["/a"] = DATA
    table = columns([(reading.url("/a"), i * 1000, 500) for i in range(100)])
    plan = reading.fetcher.plan(table, reading.access)
    counters = reading.fetcher.fetch(plan, reading.access, lambda row, data: None)
    assert counters.bytes == plan.useful_bytes + plan.wasted_bytes
    assert counters.requests == plan.request_count == reading.server.request_count
    assert counters.wasted == plan.wasted_bytes
    assert reading.fetcher.counters.bytes == counters.bytes


def test_an_empty_object_and_empty_ranges(reading: Reading) -> None:
    reading.server.files["/empty"] = b""
    assert reading.fetch([("/empty", *WHOLE), ("/empty", 0, 0), ("/nowhere", 5, 0)]) == {
        0: b"",
        1: b"",
        2: b"",
    }
    assert reading.server.request_count == 1


def test_one_connection_carries_many_requests(reading: Reading) -> None:
    reading.server.files["/a"] = DATA
    for _ in range(5):
        assert reading.one("/a", 10, 100) == DATA[10:110]
    assert reading.server.most_connections == 1


def test_connections_stay_within_the_limit(fetcher: Fetcher, limits: Callable[..., None]) -> None:
    assert Link().connections(64 << 20, 1000) > 12
    limits(connections_total=12)
    with HttpServer({"/a": pattern(20 << 20)}, latency=0.01) as server:
        table = [("/a", i * 200_000, 70_000) for i in range(100)]
        Reading(server, fetcher).fetch(table)
        assert 8 <= server.most_connections <= 12


def test_small_whole_objects_are_read_over_many_connections(fetcher: Fetcher) -> None:
    """Their sizes are known from the first answers only."""
    with HttpServer({f"/{i}": pattern(1000) for i in range(300)}, latency=0.03) as server:
        found = Reading(server, fetcher).fetch([(f"/{i}", *WHOLE) for i in range(300)])
        assert set(found.values()) == {pattern(1000)}
        assert server.most_connections >= 100


def test_what_comes_first_is_asked_for_first(fetcher: Fetcher, limits: Callable[..., None]) -> None:
    limits(connections_total=4)
    with HttpServer({"/a": pattern(20 << 20)}, latency=0.02, per_connection=5e6) as server:
        rows = [("/a", offset, 100_000) for offset in range(0, 20_000_000, 500_000)]
        order = np.random.default_rng(5).permutation(len(rows))
        Reading(server, fetcher).fetch([rows[i] for i in order])
        asked = [entry.range[0] // 500_000 for entry in server.requests if entry.range]
        wanted = {number: position for position, number in enumerate(order.tolist())}
        # Requests under way at the same time may change places.
        assert all(abs(wanted[number] - position) < 4 for position, number in enumerate(asked))


def test_a_fetch_of_higher_priority_overtakes(fetcher: Fetcher) -> None:
    with HttpServer(
        {"/a": pattern(20 << 20), "/b": DATA}, latency=0.02, per_connection=2e6, total=4e6
    ) as server:
        reading = Reading(server, fetcher)
        ends: dict[str, float] = {}

        def export() -> None:
            reading.fetch([("/a", i * 500_000, 100_000) for i in range(30)], priority=5)
            ends["export"] = time.monotonic()

        thread = threading.Thread(target=export)
        thread.start()
        time.sleep(0.1)
        reading.one("/b", 0, 1000, priority=0)
        ends["view"] = time.monotonic()
        thread.join()
        assert ends["view"] + 0.2 < ends["export"]


def test_rows_are_delivered_before_the_request_is_complete(fetcher: Fetcher) -> None:
    with HttpServer({"/a": DATA}) as server:
        server.faults["/a"] = Fault("drip", 100_000)
        reading = Reading(server, fetcher)
        times: list[float] = []
        table = columns([(server.url("/a"), i * 5_000, 5_000) for i in range(10)])
        plan = fetcher.plan(table, reading.access)
        assert plan.request_count == 1
        fetcher.fetch(plan, reading.access, lambda row, data: times.append(time.monotonic()))
        assert times[-1] - times[0] > 0.2
        assert len({round(moment, 2) for moment in times}) > 4


def test_cancelling_reaches_the_socket(fetcher: Fetcher) -> None:
    # Whole, it would take longer than the test may.
    with HttpServer({"/a": pattern(10 << 20)}, latency=0.01, per_connection=5e3) as server:
        reading = Reading(server, fetcher)
        token = cancelled_when(lambda: server.bytes_sent)
        delivered: list[int] = []
        table = columns([(server.url("/a"), i << 20, 1 << 20) for i in range(10)])
        with pytest.raises(Cancelled):
            fetcher.fetch(
                fetcher.plan(table, reading.access),
                reading.access,
                lambda row, data: delivered.append(row),
                cancel=token,
            )
        count = len(delivered)
        deadline = time.monotonic() + 60
        while server.connections and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.connections == 0
        assert len(delivered) == count < 10
        assert reading.one("/a", 0, 100) == server.files["/a"][:100]


def test_a_cancelled_token_reads_nothing(reading: Reading) -> None:
    reading.server.files["/a"] = DATA
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        reading.one("/a", 0, 100, cancel=token)
    assert reading.server.request_count == 0


def test_what_the_receiver_raises_ends_the_fetch(reading: Reading) -> None:
    reading.server.files["/a"] = DATA
    table = columns([(reading.url("/a"), i * 1000, 500) for i in range(100)])

    def deliver(row: int, data: object) -> None:
        raise KeyError(row)

    with pytest.raises(KeyError):
        reading.fetcher.fetch(reading.fetcher.plan(table, reading.access), reading.access, deliver)
    assert reading.one("/a", 0, 100) == DATA[:100]


def test_a_receiver_may_cancel(reading: Reading) -> None:
    reading.server.files["/a"] = DATA
    token = CancelToken()
    table = columns([(reading.url("/a"), i * 1000, 500) for i in range(100)])
    plan = reading.fetcher.plan(table, reading.access)
    seen: list[int] = []

    def deliver(row: int, data: object) -> None:
        seen.append(row)
        token.cancel()

    with pytest.raises(Cancelled):
        reading.fetcher.fetch(plan, reading.access, deliver, cancel=token)
    assert len(seen) == 1


def test_a_slow_receiver_is_not_flooded(fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refbrowser.io.access.task._ROOM", 1 << 20)
    with HttpServer({"/a": pattern(32 << 20)}) as server:
        reading = Reading(server, fetcher)
        table = columns([(server.url("/a"), i << 18, 1 << 18) for i in range(128)])
        plan = fetcher.plan(table, reading.access)
        most = 0

        def deliver(row: int, data: object) -> None:
            nonlocal most
            if row < 5:
                time.sleep(0.05)
                most = server.bytes_sent

        fetcher.fetch(plan, reading.access, deliver)
        assert most < 24 << 20
        assert fetcher.counters.bytes == 32 << 20


def test_rows_are_written_to_their_destination(reading: Reading, tmp_path: Path) -> None:
    reading.server.files["/a"] = DATA
    (tmp_path / "a").write_bytes(DATA)
    local = Access.for_document(tmp_path / "doc.json")
    for access, url in ((reading.access, reading.url("/a")), (local, "a")):
        target = np.zeros((3, 50_000), np.uint16)
        table = columns([(url, 0, 100_000), (url, 100_000, 100_000), (url, 200_000, 100_000)])
        delivered: dict[int, memoryview] = {}
        reading.fetcher.fetch(
            reading.fetcher.plan(table, access),
            access,
            lambda row, data, delivered=delivered: delivered.__setitem__(row, data),
            destination=lambda row, target=target: target[row].data,
        )
        assert all(np.shares_memory(np.frombuffer(data, np.uint8), target) for data in delivered.values())
        assert target.tobytes() == DATA


def test_errors_name_the_key_the_url_and_the_range(reading: Reading) -> None:
    reading.server.files["/a"] = DATA
    found = reading.fetch([("/a", 299_000, 2_000), ("/b", 7, 3)], key=lambda row: f"x/{row}")
    error = found[0]
    assert isinstance(error, RefbrowserError)
    assert error.kind == ErrorKind.RANGE
    place = error.place
    assert (place.key, place.url, place.start, place.stop) == ("x/0", reading.url("/a"), 299_000, 301_000)
    assert "300000 bytes" in str(error)
    missing = found[1]
    assert isinstance(missing, RefbrowserError)
    assert (missing.kind, missing.place.key, missing.place.start) == (ErrorKind.SOURCE, "x/1", 7)


def test_one_failure_costs_only_its_own_rows(reading: Reading) -> None:
    reading.server.files["/a"] = DATA
    found = reading.fetch([("/a", 0, 10), ("/missing", 0, 10), ("ftp://a/b", 0, 10), ("/a", 2**63 - 20, 100)])
    assert found[0] == DATA[:10]
    kinds = [error.kind for error in (found[1], found[2], found[3]) if isinstance(error, RefbrowserError)]
    assert kinds == [ErrorKind.SOURCE, ErrorKind.PROTOCOL, ErrorKind.RANGE]


def test_nothing_is_sent_without_permission(reading: Reading) -> None:
    reading.server.files["/a"] = DATA
    found = reading.fetch([("/a", 0, 10)], access=Access.for_document("doc.json"))
    assert isinstance(found[0], RefbrowserError)
    assert found[0].kind == ErrorKind.BLOCKED
    assert reading.server.request_count == 0
    assert reading.server.most_connections == 0


def test_the_address_is_checked_whatever_the_name_says(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A public name that leads to this machine is a private address all the same."""
    lookup = socket.getaddrinfo

    def rebound(host: bytes, port: int, *arguments: object, **named: object) -> object:
        return lookup("127.0.0.1" if host == b"data.example" else host, port, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", rebound)
    reading.server.files["/a"] = DATA
    url = f"http://data.example:{reading.server.port}/a"
    origin = Origin.parse(url)
    listed = Access.for_document("doc.json").allow([origin])
    with pytest.raises(RefbrowserError) as caught:
        reading.one(url, 0, 10, access=listed)
    assert caught.value.kind == ErrorKind.BLOCKED
    assert reading.server.most_connections == 0
    assert [want.kind for want in listed.wanted([])] == ["private"]
    assert reading.one(url, 0, 10, access=listed.allow([origin], private=True)) == DATA[:10]
    # A connection that another document may use is no way round the check.
    with pytest.raises(RefbrowserError):
        reading.one(url, 0, 10, access=listed)


def test_headers_of_the_user_go_to_their_origin_only(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    reading.server.files["/a"] = DATA
    with HttpServer({"/a": DATA}) as other:
        origins = [Origin.parse(reading.server.origin), Origin.parse(other.origin)]
        options = parse_storage_options([f"{reading.server.origin}:header.X-Token=MY_TOKEN"])
        access = Access.for_document("doc.json", origins, options)
        reading.server.faults["/moved"] = Fault("redirect", other.url("/a"))
        reading.fetch([("/a", 0, 10), (other.url("/a"), 0, 10), ("/moved", 0, 10)], access=access)
        assert {entry.headers.get("x-token") for entry in reading.server.requests} == {"secret"}
        assert {entry.headers.get("x-token") for entry in other.requests} == {None}


def test_closing_ends_what_is_being_fetched(server: HttpServer) -> None:
    server.files["/a"] = DATA
    server.faults["/a"] = Fault("silent")
    fetcher = Fetcher()
    threading.Timer(0.2, fetcher.close).start()
    with pytest.raises(Cancelled):
        Reading(server, fetcher).one("/a", 0, 10)


def test_a_failed_buffer_is_not_written_to_any_more(fetcher: Fetcher, limits: Callable[..., None]) -> None:
    """One of many requests for a large row fails: the others are cut off, and the row is an error."""
    limits(http_tries=1)
    with HttpServer({"/a": pattern(16 << 20)}, per_connection=2e6) as server:
        server.faults["/a"] = Fault("status", 403, times=1, after=3)
        reading = Reading(server, fetcher)
        target = np.zeros(16 << 20, np.uint8)
        found: list[object] = []
        table = columns([(server.url("/a"), 0, 16 << 20)])
        plan = fetcher.plan(table, reading.access)
        assert plan.request_count >= 64
        fetcher.fetch(
            plan, reading.access, lambda row, data: found.append(data), destination=lambda row: target.data
        )
        assert isinstance(found[0], RefbrowserError)
        assert "403" in found[0].message
        before = int(np.count_nonzero(target))
        time.sleep(0.1)
        assert int(np.count_nonzero(target)) == before
        assert len(found) == 1


def test_closing_leaves_no_threads(server: HttpServer, tmp_path: Path) -> None:
    before = set(threading.enumerate())
    server.files["/a"] = DATA
    (tmp_path / "a").write_bytes(DATA)
    with Fetcher() as fetcher:
        Reading(server, fetcher).one("/a")
        Reading(server, fetcher).one("a", access=Access.for_document(tmp_path / "doc.json"))
    deadline = time.monotonic() + 2
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert set(threading.enumerate()) - before == set()
