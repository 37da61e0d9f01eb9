"""Faults between object stores and us: fsspec's packages before a server that misbehaves."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from reading import cancelled_when, columns, pattern
from servers.http_server import Fault, HttpServer

from refbrowser.errors import AbsentError, ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.access.task import Attempt, FetchEvent
from refbrowser.io.cancel import Cancelled
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.origins import Origin, parse_storage_options

DATA = pattern(50_000)
#: Where each client asks for the object ``a`` of a bucket.
PATHS = {"s3": "/bucket/a", "gs": "/storage/v1/b/bucket/o/a?alt=media", "abfs": "/account/bucket/a"}


class Faulty:
    """A server that stands for one kind of store, and a document that may read from it."""

    def __init__(self, scheme: str, server: HttpServer, fetcher: Fetcher) -> None:
        self.scheme = scheme
        self.server = server
        self.path = PATHS[scheme]
        self.url = f"{scheme}://bucket/a"
        self.attempts: list[Attempt] = []
        self.fetcher = fetcher
        server.files[self.path] = DATA
        self.access = self.opened()

    def opened(self, *more: str) -> Access:
        """Return the access of a document that is opened anew, with more settings."""
        bucket = f"{self.scheme}://bucket"
        account = "/account" if self.scheme == "abfs" else ""
        options = [f"{bucket}:endpoint={self.server.origin}{account}", f"{bucket}:account=account"]
        options += [f"{bucket}:{setting}" for setting in more]
        return Access.for_document("d.json", [Origin.parse(bucket)], parse_storage_options(options))

    def read(self, start: int = 100, length: int = 1000, **options: Any) -> bytes | RefbrowserError:
        """Read a range, or all with a length of -1."""
        found: list[bytes | RefbrowserError] = []
        self.attempts.clear()

        def deliver(row: int, data: memoryview | RefbrowserError) -> None:
            found.append(data if isinstance(data, RefbrowserError) else bytes(data))

        plan = self.fetcher.plan(columns([(self.url, start, length)]), self.access)
        self.fetcher.fetch(plan, self.access, deliver, witness=self.attempts.append, **options)
        (one,) = found
        return one

    def faulty(self, fault: Fault, **options: Any) -> bytes | RefbrowserError:
        """Read a range while the server has a fault."""
        self.server.faults[self.path] = fault
        self.server.clear()
        try:
            return self.read(**options)
        finally:
            self.server.faults.clear()


@pytest.fixture(params=["s3", "gs", "abfs"])
def faulty(request: pytest.FixtureRequest, server: HttpServer, fetcher: Fetcher) -> Faulty:
    pytest.importorskip({"s3": "s3fs", "gs": "gcsfs", "abfs": "adlfs"}[request.param])
    return Faulty(request.param, server, fetcher)


#: Faults that pass: the next try brings the bytes.
PASSING = {
    "slow down": Fault("status", 503, times=2),
    "internal error": Fault("status", 500, times=2),
    "too many": Fault("status", 429, times=1),
    "reset": Fault("reset", 300, times=1),
    "truncated": Fault("truncate", 300, times=1),
    "no answer": Fault("close", times=1),
    "garbage": Fault("garbage", times=1),
}
AGAIN = ("close", "reset", "truncate")
#: Faults that another try does not mend: how many requests are made, and what is told.
LASTING = {
    "forbidden": (Fault("status", 403), 1, ErrorKind.SOURCE, "refuses to read"),
    "shifted": (Fault("shift", 7), 1, ErrorKind.SOURCE, ""),
    "other range": (Fault("content_range", "bytes 0-999/50000"), 1, ErrorKind.SOURCE, "were requested"),
    "no ranges": (Fault("ignore_ranges"), 1, ErrorKind.SOURCE, ""),
    "not there": (Fault("status", 404), 1, ErrorKind.SOURCE, "object does not exist"),
    "redirect": (Fault("redirect", "http://127.0.0.1:9/other"), 1, ErrorKind.SOURCE, ""),
    "long wait": (Fault("status", 503, headers={"Retry-After": "3600"}), 1, ErrorKind.SOURCE, "3600 s"),
}


@pytest.mark.slow
def test_what_passes_is_tried_again_and_brings_the_bytes(faulty: Faulty, soon: None) -> None:
    for name, fault in PASSING.items():
        kept = Fault(fault.kind, fault.value, fault.times)
        found = faulty.faulty(kept)
        assert found == DATA[100:1100], (name, found)
        # Some clients ask again themselves: on a connection that was closed, for the rest of a body.
        failed = [bool(each.error) for each in faulty.attempts]
        assert failed[-1] is False
        assert len(failed) == (fault.times or 0) + 1 or (fault.kind in AGAIN and len(failed) <= 2), name
    assert faulty.faulty(Fault("truncate", 300, times=1), start=0, length=-1) == DATA


def test_what_lasts_is_told_and_never_taken_for_bytes(faulty: Faulty, soon: None) -> None:
    for name, (fault, requests, kind, said) in LASTING.items():
        faulty.access = faulty.opened()
        error = faulty.faulty(Fault(fault.kind, fault.value, headers=fault.headers))
        assert isinstance(error, RefbrowserError), name
        # S3's client asks again where a bucket is, and its server says the same.
        asked = len(faulty.server.requests) - (name == "redirect" and faulty.scheme == "s3")
        assert (error.kind, asked) == (kind, requests), (name, error.message)
        assert said in error.message, (name, error.message)
        assert "\n" not in str(error)
        assert isinstance(error, AbsentError) is (name == "not there"), name
        assert error.place.url == faulty.url


def test_a_changed_object_is_told_while_a_range_is_read_again(faulty: Faulty, soon: None) -> None:
    assert faulty.read() == DATA[100:1100]
    for fault in (Fault("etag", '"other"'), Fault("total", 60_000)):
        error = faulty.faulty(fault)
        assert isinstance(error, RefbrowserError)
        assert "changed" in error.message, fault
        assert faulty.access.memory.identities.changed == {faulty.url}
        faulty.access = faulty.opened()
        assert faulty.read() == DATA[100:1100]


@pytest.mark.slow
def test_the_wait_that_a_store_asks_for_is_kept(faulty: Faulty, soon: None, events: list[FetchEvent]) -> None:
    began = time.monotonic()
    found = faulty.faulty(Fault("status", 503, times=1, headers={"Retry-After": "0.3"}))
    assert found == DATA[100:1100]
    assert time.monotonic() - began >= 0.3
    assert faulty.attempts[0].wait == pytest.approx(0.3)
    assert [each.kind for each in events] == ["throttled"]


def test_a_store_that_asked_for_less_gets_few_requests_at_once(
    faulty: Faulty, soon: None, limits: Callable[..., None]
) -> None:
    limits(http_wait_start=0.001, http_wait_most=0.002, connections_throttled=2)
    assert faulty.faulty(Fault("status", 503, times=1)) == DATA[100:1100]
    before, _, after = faulty.path.rpartition("/a")
    for number in range(8):
        faulty.server.files[f"{before}/a{number}{after}"] = DATA
    faulty.server.clear()
    faulty.server.latency = latency = 0.05
    rows = columns([(f"{faulty.url}{number}", number, 10) for number in range(8)])
    found: dict[int, Any] = {}
    faulty.fetcher.fetch(faulty.fetcher.plan(rows, faulty.access), faulty.access, found.__setitem__)
    assert [bytes(found[number]) for number in range(8)] == [DATA[at : at + 10] for at in range(8)]
    times = sorted(each.time for each in faulty.server.requests)
    assert all(late - early > 0.9 * latency for early, late in zip(times, times[2:], strict=False))


@pytest.mark.slow
def test_a_store_that_fails_again_and_again_is_left_alone(
    faulty: Faulty, limits: Callable[..., None], events: list[FetchEvent]
) -> None:
    limits(http_wait_start=0.001, http_wait_most=0.002, http_tries=2, circuit_failures=3)
    for _ in range(3):
        error = faulty.faulty(Fault("status", 500))
        assert isinstance(error, RefbrowserError)
        assert "(after 2 tries)" in error.message
    faulty.server.clear()
    error = faulty.read()
    assert isinstance(error, RefbrowserError)
    assert "not contacted" in error.message
    assert len(error.message.partition("the last time: ")[2]) > 5
    assert not faulty.server.requests
    assert [each.kind for each in events] == ["circuit"]


@pytest.mark.slow
def test_nobody_waits_longer_than_is_allowed(faulty: Faulty, limits: Callable[..., None]) -> None:
    """It never ends by itself, but by the limit that is named; no clock is read, machines are busy."""
    limits(http_total=0.3, http_total_rate=1 << 30)
    error = faulty.faulty(Fault("silent"))
    assert isinstance(error, RefbrowserError)
    assert "too long" in error.message
    # Bytes that come, but hardly.
    limits(http_total=1000, http_slow_window=0.25, http_slow_rate=100_000, http_tries=1)
    error = faulty.faulty(Fault("drip", 10_000), length=20_000)
    assert isinstance(error, RefbrowserError)
    assert "too slowly" in error.message
    limits(http_slow_rate=0)
    assert faulty.faulty(Fault("drip", 100_000), length=20_000) == DATA[100:20_100]
    with pytest.raises(Cancelled):
        faulty.faulty(Fault("silent"), cancel=cancelled_when(lambda: faulty.server.requests))


@pytest.mark.slow
def test_nothing_of_the_environment_is_sent_unless_it_is_told(
    faulty: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (
        ("ACCESS_KEY_ID", "AKIANAME"),
        ("SECRET_ACCESS_KEY", "secret"),
        ("SESSION_TOKEN", "t"),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "c2VjcmV0")
    assert faulty.read() == DATA[100:1100]
    (asked,) = faulty.server.requests
    assert not {"authorization", "x-amz-security-token", "x-amz-request-payer"} & asked.headers.keys()
    if faulty.scheme != "gs":
        faulty.server.clear()
        faulty.access = faulty.opened("anonymous=false", "requester_pays=true")
        assert faulty.read() == DATA[100:1100]
        (asked,) = faulty.server.requests
        assert "authorization" in asked.headers
        assert (asked.headers.get("x-amz-request-payer") == "requester") is (faulty.scheme == "s3")
