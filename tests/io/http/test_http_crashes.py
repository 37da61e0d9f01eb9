"""An exception that nothing expects on the I/O thread ends the request it belongs to, and no other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from reading import Reading, pattern
from servers.http_server import Fault, HttpServer

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.http import host as http_host
from refbrowser.io.http import host as http_redirects
from refbrowser.io.http import request as http_request

DATA = pattern(200_000)
#: Far apart, so that each is a request of its own.
ROWS = [("/bad", 1000, 500), ("/good", 1000, 500), ("/good", 150_000, 500)]


@pytest.fixture
def served() -> Iterator[Reading]:
    files = {"/bad": DATA, "/good": DATA, "/slow": DATA}
    with HttpServer(files, latency=0.02) as server, Fetcher() as fetcher:
        yield Reading(server, fetcher)


def crash(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, is_bad: Callable[..., bool]) -> None:
    """Have a method raise for what `is_bad`."""
    real = getattr(owner, name)

    def broken(self: Any, *arguments: Any) -> Any:
        if is_bad(self, *arguments):
            raise LookupError("nobody expects this")
        return real(self, *arguments)

    monkeypatch.setattr(owner, name, broken)


def of_request(request: http_request.HttpRequest, *_: Any) -> bool:
    return "/bad" in request.segment.location.url


def of_argument(_: Any, request: http_request.HttpRequest, *__: Any) -> bool:
    return of_request(request)


PLACES = {
    "head": (http_request.HttpRequest, "on_head", of_request),
    "bytes": (http_request.HttpRequest, "on_bytes", of_request),
    "done": (http_request.HttpRequest, "on_done", of_request),
    "begin": (http_request.HttpRequest, "begin", of_request),
    "sending": (http_host.HttpHost, "_send", of_argument),
    "connecting": (http_host.HttpHost, "_connect", of_argument),
    "idle connection": (http_host.HttpHost, "_usable", of_argument),
    "success": (http_host.HttpHost, "succeeded", of_argument),
    "redirect": (http_redirects.Redirects, "target", lambda _, location, __: "/bad" in location.url),
}
AFTER_ALL_BYTES = ("done", "success")


@pytest.mark.parametrize("place", PLACES)
def test_one_request_ends(served: Reading, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    crash(monkeypatch, *PLACES[place])
    served.server.faults["/slow"] = Fault("drip", 400_000)
    slow: dict[int, Any] = {}
    other = threading.Thread(target=lambda: slow.update(served.fetch([("/slow", 0, 150_000)])))
    other.start()
    found = served.fetch(ROWS)
    if place in AFTER_ALL_BYTES:
        assert found[0] == DATA[1000:1500]
    else:
        assert isinstance(found[0], RefbrowserError)
        assert found[0].kind is ErrorKind.SOURCE
        assert "nobody expects this" in found[0].message
        assert found[0].place.start == 1000
    assert (found[1], found[2]) == (DATA[1000:1500], DATA[150_000:150_500])
    other.join()
    assert slow == {0: DATA[:150_000]}
    assert served.one("/good", 5, 10) == DATA[5:15]


def test_after_a_failure(served: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    served.server.faults["/bad"] = Fault("reset", 100)
    crash(monkeypatch, http_request.HttpRequest, "on_failed", of_request)
    found = served.fetch(ROWS)
    assert isinstance(found[0], RefbrowserError)
    assert (found[1], found[2]) == (DATA[1000:1500], DATA[150_000:150_500])


def test_before_another_try(served: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    served.server.faults["/bad"] = Fault("status", 503, times=1)
    crash(
        monkeypatch, http_host.HttpHost, "add", lambda _, request, rank: of_request(request) and request.tries
    )
    found = served.fetch(ROWS)
    assert isinstance(found[0], RefbrowserError)
    assert (found[1], found[2]) == (DATA[1000:1500], DATA[150_000:150_500])


def test_while_time_is_watched(
    served: Reading, monkeypatch: pytest.MonkeyPatch, limits: Callable[..., None]
) -> None:
    served.server.faults["/bad"] = Fault("silent")
    real = http_host._overdue

    def broken(request: http_request.HttpRequest, *rest: Any) -> Any:
        if of_request(request):
            raise LookupError("nobody expects this")
        return real(request, *rest)

    monkeypatch.setattr(http_host, "_overdue", broken)
    found = served.fetch(ROWS)
    assert isinstance(found[0], RefbrowserError)
    assert (found[1], found[2]) == (DATA[1000:1500], DATA[150_000:150_500])


def test_those_that_wait_for_the_same_object(served: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    served.server.faults["/good"] = Fault("ignore_ranges")
    crash(monkeypatch, http_request.HttpRequest, "cut", lambda request, _: request.bounds[0] == 1000)
    found = served.fetch(ROWS[1:])
    assert isinstance(found[0], RefbrowserError)
    assert found[1] == DATA[150_000:150_500]


def test_a_segment_that_cannot_even_fail_ends_its_fetch(
    served: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash(monkeypatch, http_request.HttpRequest, "on_head", of_request)
    crash(monkeypatch, http_host.HttpHost, "fail", of_argument)
    with pytest.raises(LookupError):
        served.fetch(ROWS)
    assert served.one("/good", 5, 10) == DATA[5:15]
