"""What a service answers over HTTP: bounded, with clear errors, never with a file that a request names."""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import resource
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import pytest
from deep import examples
from documents_of_values import CUBE, ValueDocument
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.wings.ncstream.serving import client_places, offered_state
from refbrowser.wings.ncstream.serving import http as serving_http
from refbrowser.wings.ncstream.serving import offered_state as serving_data
from refbrowser.wings.ncstream.serving.service import LOGGER, Service, is_loopback
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS
from refbrowser.wings.ncstream.verbs.serve_verb import _Incidents

ODD = "/cubetxs().,;:0123456789\\% é\0"


def _changed(**values: float) -> Any:
    return replace(STREAM_LIMITS, **values)


@pytest.fixture
def dataset(tmp_path: Path) -> Iterator[refbrowser.Dataset]:
    document = ValueDocument(tmp_path)
    document.add("cube", CUBE, ("t", "l", "y", "x"), (1, 3, 2, 2), title="a <b> & 'c' \x00")
    document.add("texts", np.array(["Ærø", "", "x"]))
    document.refs |= {
        "gone/.zarray": document.refs["cube/.zarray"],
        "gone/0.0.0.0": ["nowhere.bin", 0, 24],
        "away/.zarray": document.refs["cube/.zarray"],
        "away/0.0.0.0": ["http://example.invalid/x.bin", 0, 24],
    }
    path = tmp_path / "d&e.json"
    path.write_text(json.dumps(document.refs))
    with refbrowser.open(path) as opened:
        yield opened


@pytest.fixture
def service(dataset: refbrowser.Dataset) -> Iterator[Service]:
    with Service(dataset) as service:
        yield service


def port_of(service: Service) -> int:
    return int(service.url.split(":")[2].split("/")[0])


def ask(
    service: Service, query: str, method: str = "GET", path: str | None = None, **headers: str
) -> tuple[int, bytes, Any]:
    """Send one request; returns status, body and headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port_of(service), timeout=30)
    target = "/" + service.url.split("/", 3)[3] if path is None else path
    connection.request(method, f"{target}?{query}" if query else target, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body, answer.headers


@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        ("", 400, b"no req="),
        ("req=nothing", 400, b"header, data, CDL, NcML and capabilities"),
        ("req=data", 400, b"no var="),
        ("req=data&var=/cube(0", 400, b"parenthesis"),
        ("req=data&var=/cube(0,0,0)", 400, b"3 dimensions"),
        ("req=data&var=/cube(0:2,:,:,:)", 400, b"not below 2"),
        ("req=data&var=/none", 404, b"no variable '/none'"),
        ("req=data&var=/etc/passwd", 404, b"no variable"),
        ("req=data&var=../d%26e.json", 404, b"no variable"),
        ("req=data&var=/cube&deflate=10", 400, b"deflate"),
        ("req=data&var=/cube&deflate=x", 400, b"deflate"),
        ("req=data&var=%ff", 400, b"UTF-8"),
        ("req=data&var=/away", 403, b"E_BLOCKED"),
        ("req=data&var=/gone", 502, b"E_"),
    ],
)
def test_errors_are_statuses_with_a_line_of_text(
    service: Service, query: str, status: int, told: bytes
) -> None:
    got, body, headers = ask(service, query)
    assert (got, headers["Content-Type"]) == (status, "text/plain; charset=utf-8")
    assert told in body
    assert body.count(b"\n") == 1


def test_only_its_own_address_is_answered(service: Service) -> None:
    for path in ("/etc/passwd", "/cdmremote/", "/cdmremote/other", "/../../etc/passwd", "/d&e.json", "//"):
        assert ask(service, "req=header", path=path)[0] == (200 if path == "//" else 404), path
    assert ask(service, "req=header", path="/")[0] == 200
    assert ask(service, "req=header", path="/cdmremote/" + quote("d&e.json", safe=""))[0] == 200
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert ask(service, "req=header", method)[0] in (405, 501)


def test_pages_of_other_sites_cannot_read_it_by_a_name_of_their_own(service: Service) -> None:
    assert ask(service, "req=header", Host="evil.example")[0] == 403
    assert ask(service, "req=header", Host="localhost:1")[0] == 200
    assert ask(service, "req=header", Host="[::1]:80")[0] == 200
    assert ask(service, "req=header", Host="a\tb")[0] == 403
    assert "Access-Control-Allow-Origin" not in ask(service, "req=header")[2]


def test_head_has_the_length_and_no_body(service: Service) -> None:
    status, body, headers = ask(service, "req=data&var=/cube", "HEAD")
    length = len(ask(service, "req=data&var=/cube")[1])
    assert (status, body, int(headers["Content-Length"])) == (200, b"", length)


def test_xml_holds_any_text(service: Service) -> None:
    ncml = ElementTree.fromstring(ask(service, "req=NCML")[1])
    space = "{http://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2}"
    cube = next(each for each in ncml.iter(f"{space}variable") if each.get("name") == "cube")
    title = next(each for each in cube if each.get("name") == "title")
    assert title.get("value") == "a <b> & 'c' \ufffd"
    assert ncml.get("location") == service.url
    capabilities = ElementTree.fromstring(ask(service, "req=Capabilities")[1])
    assert (capabilities.get("location"), capabilities[0].get("url")) == (service.url, service.url)


def test_large_answers_are_read_and_sent_in_blocks(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ask(service, "req=data&var=/cube(0:1,:,:,0:4:2)")[1]
    read = []
    monkeypatch.setattr(serving_data, "STREAM_LIMITS", _changed(serve_block=24))
    session = service._application._offered.dataset.session
    reading = session.read

    def counted(node: Any, access: Any, selection: Any, **options: Any) -> Any:
        read.append(selection.size)
        return reading(node, access, selection, **options)

    monkeypatch.setattr(session, "read", counted)
    assert ask(service, "req=data&var=/cube(0:1,:,:,0:4:2)")[1] == whole
    assert len(read) > 5
    assert max(read) <= 12
    assert sum(read) == 72


@pytest.mark.parametrize(
    ("limit", "query"),
    [
        ({"serve_answer": 239}, "req=data&var=/cube"),
        ({"serve_answer": 400}, "req=data&var=/cube;/cube"),
        ({"serve_objects": 2}, "req=data&var=/texts"),
        ({"serve_whole": 20}, "req=data&var=/texts"),
        ({"serve_whole": 100}, "req=data&var=/texts;/texts;/texts;/texts"),
        ({"serve_whole": 300}, "req=data&var=/cube;/cube;/cube&deflate=1"),
    ],
)
def test_answers_are_bounded(
    service: Service, monkeypatch: pytest.MonkeyPatch, limit: dict[str, int], query: str
) -> None:
    assert ask(service, query)[0] == 200
    for module in (serving_data, offered_state):
        monkeypatch.setattr(module, "STREAM_LIMITS", _changed(**limit))
    status, body, _ = ask(service, query)
    assert status == 413
    assert next(iter(limit)).encode() in body


def test_too_much_is_not_deflated_before_it_is_refused(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = []
    compress = serving_data.zlib.compress
    monkeypatch.setattr(serving_data.zlib, "compress", lambda *given: packed.append(1) or compress(*given))
    monkeypatch.setattr(offered_state, "STREAM_LIMITS", _changed(serve_answer=600))
    status, body, _ = ask(service, "req=data&var=/cube;/cube;/cube&deflate=1")
    assert (status, packed) == (413, [])
    assert b"serve_answer" in body


def test_what_cannot_be_read_later_ends_the_answer_short(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving_data, "STREAM_LIMITS", _changed(serve_block=24))
    session = service._application._offered.dataset.session
    reading, times = session.read, []

    def failing(*arguments: Any, **options: Any) -> Any:
        times.append(1)
        if len(times) > 2:
            raise RefbrowserError(ErrorKind.SOURCE, "gone")
        return reading(*arguments, **options)

    monkeypatch.setattr(session, "read", failing)
    with pytest.raises(http.client.IncompleteRead):
        ask(service, "req=data&var=/cube")


def test_requests_of_many_bytes_are_refused(service: Service) -> None:
    assert ask(service, "req=header&x=" + "y" * (LIMITS.url_length + 1))[0] == 414
    with socket.create_connection(("127.0.0.1", port_of(service))) as connection:
        connection.settimeout(30)
        sent = 0
        with contextlib.suppress(OSError):
            connection.sendall(b"GET / HTTP/1.0\r\n")
            for _ in range(200):
                connection.sendall(b"X: " + b"y" * 60_000 + b"\r\n")
                sent += 1
        # Some of it lies in buffers of the system.
        assert sent < 200


def test_a_client_that_says_nothing_is_left(
    dataset: refbrowser.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving_http, "STREAM_LIMITS", _changed(serve_head=0.3))
    with Service(dataset) as service, socket.create_connection(("127.0.0.1", port_of(service))) as connection:
        connection.settimeout(30)
        connection.sendall(b"GET / HT")
        assert connection.recv(100) == b""


def test_no_more_requests_are_worked_for_at_a_time_than_allowed(
    dataset: refbrowser.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (serving_http, client_places):
        monkeypatch.setattr(module, "STREAM_LIMITS", _changed(serve_requests=1, serve_queue=0.1))
    begun, go_on = threading.Event(), threading.Event()
    reading = dataset.session.read

    def held(*arguments: Any, **options: Any) -> Any:
        begun.set()
        assert go_on.wait(30)
        return reading(*arguments, **options)

    monkeypatch.setattr(dataset.session, "read", held)
    with Service(dataset) as service, ThreadPoolExecutor(1) as pool:
        first = pool.submit(ask, service, "req=data&var=/cube")
        assert begun.wait(30)
        status, body, headers = ask(service, "req=header")
        go_on.set()
        assert (status, body, headers["Retry-After"]) == (503, b"too many requests\n", "1")
        assert first.result()[0] == 200
        assert ask(service, "req=header")[0] == 200


def test_half_requests_and_answers_that_nobody_takes_have_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_places, "STREAM_LIMITS", _changed(serve_requests=1, serve_queue=30))
    document = ValueDocument(tmp_path)
    document.add("large", np.zeros((16, 1 << 20), "u1"), chunks=(1, 1 << 20))
    (tmp_path / "l.json").write_text(json.dumps(document.refs))
    requests = (b"GET / HT", b"GET /?req=data&var=/large HTTP/1.0\r\nHost: localhost\r\n\r\n")
    with (
        refbrowser.open(tmp_path / "l.json") as dataset,
        Service(dataset) as service,
        contextlib.ExitStack() as held,
    ):
        for request in requests:
            connection = held.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
            connection.settimeout(30)
            connection.connect(("127.0.0.1", port_of(service)))
            connection.sendall(request)
        # Its answer is on the way then.
        connection.recv(1)
        assert ask(service, "req=header")[0] == 200


class Wire:
    """A connection that does what it is told."""

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.is_open = True

    def settimeout(self, timeout: float) -> None:
        self.timeout = timeout

    def setsockopt(self, *_: Any) -> None: ...

    def shutdown(self, _: int) -> None:
        self.is_open = False

    def send(self, data: Any) -> int:
        return self.taken.pop(0)


class Clock:
    """Time that passes as it is asked for."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def monotonic(self) -> float:
        self.now += self.step
        return self.now


def client(address: str = "192.0.2.1", held: int = 0) -> client_places.Client:
    made = client_places.Client(Wire(), address)  # type: ignore[arg-type]
    made.held = held
    return made


def test_a_client_must_take_its_answer_at_a_least_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    # One second passes for each portion.
    monkeypatch.setattr(client_places, "time", Clock(1))
    slow, fast = client(), client()
    fast.connection.taken = [STREAM_LIMITS.serve_rate] * 100  # type: ignore[attr-defined]
    fast.send(bytes(STREAM_LIMITS.serve_rate * 100))
    slow.connection.taken = [STREAM_LIMITS.serve_rate - 1] * 100  # type: ignore[attr-defined]
    with pytest.raises(TimeoutError, match="too slowly"):
        slow.send(bytes(STREAM_LIMITS.serve_rate * 100))
    assert 100 - len(slow.connection.taken) == STREAM_LIMITS.serve_send + 1  # type: ignore[attr-defined]


def test_one_address_cannot_have_all_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_places, "STREAM_LIMITS", _changed(serve_requests=4))
    there = client_places.Places()
    with contextlib.ExitStack() as working:
        for number in range(3):
            # All of one network of IPv6.
            working.enter_context(there.work(client(f"2001:db8::{number + 1}"), 30))
        with pytest.raises(client_places.BusyError), there.work(client("2001:db8::9"), 0):
            pass
        with there.work(client("2001:db8:0:1::9"), 30):
            pass
    with there.work(client("2001:db8::9"), 30):
        pass


@pytest.mark.parametrize("limit", ["serve_connections", "serve_held"])
def test_the_slowest_client_goes_where_there_are_too_many(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_places, "STREAM_LIMITS", _changed(**{limit: 9}))
    there = client_places.Places()
    others = [client(held=2) for _ in range(4)] + [client("192.0.2.2", held=2)]
    for number, each in enumerate(others):
        assert there.enter(each)
        each._moved = 10 * (number + 2)
        each._waited = 1.0

    def asked() -> bool:
        if limit == "serve_connections":
            return all(there.enter(client()) for _ in range(3))
        with contextlib.suppress(client_places.BusyError), there.work(client(), 0):
            return True
        return False

    # Nobody is waited for, so nobody is slow.
    assert not asked()
    with others[0]._waiting(), others[1]._waiting(), others[2]._waiting():
        others[1]._moved = 5
        assert [each.connection.is_open for each in others] == [True] * 5  # type: ignore[attr-defined]
        asked()
    is_open = [each.connection.is_open for each in others]  # type: ignore[attr-defined]
    assert is_open[1:2] == [False]
    assert is_open[3:] == [True, True]
    there.leave(others[1])
    assert limit == "serve_connections" or asked()


@pytest.mark.long
def test_honest_clients_are_answered_amid_slow_ones(tmp_path: Path) -> None:
    document = ValueDocument(tmp_path)
    document.add("large", np.zeros((160, 1 << 20), "u1"), chunks=(1, 1 << 20))
    document.add("small", np.arange(1000))
    (tmp_path / "l.json").write_text(json.dumps(document.refs))
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files[1], files[1]))
    try:
        with refbrowser.open(tmp_path / "l.json") as dataset, Service(dataset) as service:
            times = _times_amid(service, slow=200, half=300, honest=20)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, files)
    assert np.percentile(times, 99) < 2


def _times_amid(service: Service, slow: int, half: int, honest: int) -> list[float]:
    """Return the seconds that answers to honest clients take while others take and send next to nothing."""
    ended = threading.Event()
    large = b"GET /?req=data&var=/large HTTP/1.0\r\nHost: localhost\r\n\r\n"

    def attack(number: int) -> None:
        while not ended.is_set():
            with contextlib.suppress(OSError), socket.socket() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
                connection.settimeout(30)
                connection.connect(("127.0.0.1", port_of(service)))
                connection.sendall(large if number < slow else b"GET / HT")
                while not ended.wait(0.5):
                    if number >= slow:
                        connection.sendall(b"T")
                    elif not connection.recv(200):
                        break

    def answered(_: int) -> list[float]:
        found = []
        for _ in range(10):
            began = time.monotonic()
            assert ask(service, "req=data&var=/small")[0] == 200
            found.append(time.monotonic() - began)
        return found

    threads = [threading.Thread(target=attack, args=(number,)) for number in range(slow + half)]
    for thread in threads:
        thread.start()
    try:
        with ThreadPoolExecutor(honest) as pool:
            return [each for found in pool.map(answered, range(honest)) for each in found]
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def test_it_stops_while_an_answer_is_sent(dataset: refbrowser.Dataset) -> None:
    service = Service(dataset)
    service.start()
    address = ("127.0.0.1", port_of(service))
    begun = threading.Event()
    reading = dataset.session.read

    def slow(*arguments: Any, cancel: Any, **options: Any) -> Any:
        begun.set()
        ended = threading.Event()
        cancel.on_cancel(ended.set)
        assert ended.wait(30)
        cancel.check()
        return reading(*arguments, cancel=cancel, **options)

    dataset.session.read = slow  # type: ignore[method-assign]
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(ask(service, "req=data&var=/cube")))
    thread.start()
    assert begun.wait(30)
    service.stop()
    thread.join(30)
    assert answers[0][0] == 503
    assert (service.url, service.is_running) == ("", False)
    with pytest.raises(OSError):
        socket.create_connection(address, timeout=5).close()
    dataset.session.read = reading  # type: ignore[method-assign]
    with service:
        assert ask(service, "req=data&var=/cube")[0] == 200


def test_another_state_is_offered_at_the_same_address(service: Service, tmp_path: Path) -> None:
    document = ValueDocument(tmp_path)
    document.add("other", np.arange(3))
    (tmp_path / "o.json").write_text(json.dumps(document.refs))
    url = service.url
    with refbrowser.open(tmp_path / "o.json") as other:
        service.offer(other)
        assert ask(service, "req=data&var=/other")[0] == 200
        assert ask(service, "req=data&var=/cube")[0] == 404
    assert service.url == url


def test_a_port_that_is_taken_is_told(dataset: refbrowser.Dataset, service: Service) -> None:
    with pytest.raises(RefbrowserError) as caught:
        Service(dataset, port=port_of(service)).start()
    assert caught.value.kind is ErrorKind.IO
    with pytest.raises(RefbrowserError):
        Service(dataset, "203.0.113.1").start()


def test_what_is_loopback() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.1.1", "example.org")))


@settings(max_examples=examples(80), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(ODD, max_size=24), st.sampled_from(["", "/cube(", "/texts;", "/cube"]))
def test_no_request_is_too_odd(service: Service, text: str, before: str) -> None:
    status, body, _ = ask(service, f"req=data&var={quote(before + text)}")
    assert status in (200, 400, 404)
    assert body.startswith(b"\xab\xec\xce\xba") == (status == 200)


def test_an_address_of_version_6(dataset: refbrowser.Dataset) -> None:
    try:
        service = Service(dataset, "::1")
        service.start()
    except RefbrowserError:
        pytest.skip("this machine has no such address")
    with service:
        assert service.url.startswith("http://[::1]:")
        with refbrowser.open(service.url) as remote:
            assert np.array_equal(remote["/cube"][...], CUBE)


def test_clients_are_not_told_where_a_file_is(service: Service, tmp_path: Path) -> None:
    for query in ("req=header", "req=cdl", "req=ncml", "req=capabilities", "req=data&var=/gone", "req=x"):
        assert str(tmp_path).encode() not in ask(service, query)[1], query
    assert b"d&e.json" in ask(service, "req=header")[1]


def test_internal_errors_are_told_in_a_line(
    dataset: refbrowser.Dataset, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*arguments: Any, **options: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(dataset.session, "read", broken)
    logger = logging.getLogger(LOGGER)
    handler = _Incidents(logging.WARNING)
    logger.addHandler(handler)
    try:
        with Service(dataset) as service:
            status, body, headers = ask(service, "req=data&var=/cube")
    finally:
        logger.removeHandler(handler)
    assert (status, body, headers["Content-Type"]) == (500, b"internal error\n", "text/plain")
    assert capfd.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_many_clients_at_once(service: Service) -> None:
    wanted = ask(service, "req=data&var=/cube(0:1,0:2,0,0:4)")
    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(lambda _: ask(service, "req=data&var=/cube(0:1,0:2,0,0:4)"), range(96)))
    assert {(status, body) for status, body, _ in answers} == {wanted[:2]}


@pytest.mark.long
def test_a_slow_client_is_waited_for_and_a_hung_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = ValueDocument(tmp_path)
    document.add("large", np.zeros((12, 1 << 20), "u1"), chunks=(1, 1 << 20))
    (tmp_path / "l.json").write_text(json.dumps(document.refs))
    monkeypatch.setattr(client_places, "STREAM_LIMITS", _changed(serve_send=1.5))
    with refbrowser.open(tmp_path / "l.json") as dataset, Service(dataset) as service:
        for pause in (0.02, 0.0):
            with socket.socket() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
                connection.settimeout(30)
                connection.connect(("127.0.0.1", port_of(service)))
                connection.sendall(b"GET /?req=data&var=/large HTTP/1.0\r\nHost: localhost\r\n\r\n")
                if not pause:
                    time.sleep(4)
                received = 0
                with contextlib.suppress(ConnectionResetError):
                    while data := connection.recv(1 << 16):
                        received += len(data)
                        time.sleep(pause)
            assert (received > 12 << 20) == bool(pause)
