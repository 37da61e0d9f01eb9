"""Connections over TLS and through proxies."""

from __future__ import annotations

import asyncio
import base64
import socket
from collections.abc import Callable, Iterator

import pytest
from reading import Reading, columns, pattern
from servers.http_server import HttpServer
from servers.tls_server import AUTHORITY, ProxyServer, TlsServer

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.http import connection
from refbrowser.io.http.answers import AttemptError
from refbrowser.io.http.connection import Address, Proxy, proxy_for
from refbrowser.io.origins import Origin

DATA = pattern(300_000)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for scheme in ("http", "https", "no", "all"):
        monkeypatch.delenv(f"{scheme}_proxy", raising=False)
        monkeypatch.delenv(f"{scheme}_PROXY".upper(), raising=False)


@pytest.fixture
def tls() -> Iterator[TlsServer]:
    with TlsServer(DATA) as server:
        yield server


def read(fetcher: Fetcher, url: str, offset: int = 1000, length: int = 100_000) -> bytes:
    access = Access.for_document("doc.json", [Origin.parse(url)])
    found: list[bytes] = []

    def deliver(row: int, data: memoryview | RefbrowserError) -> None:
        if isinstance(data, RefbrowserError):
            raise data
        found.append(bytes(data))

    fetcher.fetch(fetcher.plan(columns([(url, offset, length)]), access), access, deliver)
    return found[0]


def test_tls(tls: TlsServer, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))
    assert read(fetcher, f"https://localhost:{tls.port}/a") == DATA[1000:101_000]
    assert read(fetcher, f"https://localhost:{tls.port}/a", 0, 10) == DATA[:10]


def test_an_unknown_authority_is_refused(
    tls: TlsServer, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with pytest.raises(RefbrowserError) as caught:
        read(fetcher, f"https://localhost:{tls.port}/a")
    assert caught.value.kind == ErrorKind.SOURCE
    assert "certificate" in caught.value.message
    assert tls.requests == []


def test_a_certificate_of_another_name_is_refused(
    tls: TlsServer, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))
    with pytest.raises(RefbrowserError, match="certificate"):
        read(fetcher, f"https://127.0.0.1:{tls.port}/a")
    assert tls.requests == []


def test_a_server_without_tls(
    server: HttpServer, fetcher: Fetcher, limits: Callable[..., None], soon: None
) -> None:
    limits(http_connect=1.0, http_tries=2, http_wait_start=0.01)
    with pytest.raises(RefbrowserError) as caught:
        read(fetcher, f"https://localhost:{server.port}/a")
    assert caught.value.kind == ErrorKind.SOURCE


def test_http_through_a_proxy(server: HttpServer, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch) -> None:
    server.files["/a"] = DATA
    with ProxyServer() as proxy:
        monkeypatch.setenv("http_proxy", f"http://name:w%20rd@127.0.0.1:{proxy.port}")
        # The proxy looks the name up: it need not be known here, and its address is not looked at.
        url = f"http://data.example:{server.port}/a"
        assert read(fetcher, url, 0, 50_000) == DATA[:50_000]
        word = base64.b64encode(b"name:w rd").decode()
        assert proxy.requests == [f"GET {url} Basic {word}"]


def test_https_through_a_tunnel(tls: TlsServer, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))
    with ProxyServer() as proxy:
        monkeypatch.setenv("https_proxy", f"127.0.0.1:{proxy.port}")
        assert read(fetcher, f"https://localhost:{tls.port}/a") == DATA[1000:101_000]
        assert set(proxy.requests) == {f"CONNECT localhost:{tls.port}"}


def test_private_hosts_need_permission_behind_a_proxy_too(
    server: HttpServer, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProxyServer() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        origin = Origin.parse("http://169.254.169.254")
        reading = Reading(server, fetcher)
        with pytest.raises(RefbrowserError) as caught:
            reading.one("http://169.254.169.254/a", access=reading.access.allow([origin]))
        assert caught.value.kind == ErrorKind.BLOCKED
        assert proxy.requests == []


def test_which_proxy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    data, inner = Origin.parse("http://data.example:81"), Origin.parse("http://inner.example:81")
    assert proxy_for(data) is None
    monkeypatch.setenv("http_proxy", "http://proxy.example")
    monkeypatch.setenv("no_proxy", "inner.example")
    assert proxy_for(data) == Proxy("proxy.example", 80, None)
    assert proxy_for(inner) is None
    assert proxy_for(Origin.parse("https://data.example")) is None
    monkeypatch.setenv("http_proxy", "socks5://proxy.example:1080")
    with pytest.raises(AttemptError, match="http proxy"):
        proxy_for(data)


class Network:
    """Attempts to connect, of which the first ones come to no end, or fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *ends: OSError | str | None) -> None:
        self.ends = list(ends)
        self.tried: list[str] = []
        self.given_up = 0
        monkeypatch.setattr(connection, "_reach", self.reach)

    async def reach(self, address: Address) -> socket.socket:
        self.tried.append(str(address.sockaddr[0]))
        end = self.ends.pop(0)
        if isinstance(end, OSError):
            raise end
        if end is None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.given_up += 1
                raise
        return socket.socket()


def connect(*names: str) -> str:
    async def run() -> str:
        addresses = [Address(socket.AF_INET, (name, 1), private=False) for name in names]
        sock, address = await connection._connect(addresses, "host")
        sock.close()
        await asyncio.sleep(0)
        return str(address.sockaddr[0])

    return asyncio.run(run())


def test_an_attempt_that_is_lost_does_not_cost_the_whole_time(
    monkeypatch: pytest.MonkeyPatch, limits: Callable[..., None]
) -> None:
    limits(http_connect_again=0.01, http_connect=1000)
    network = Network(monkeypatch, None, "there")
    assert connect("a") == "a"
    assert (network.tried, network.given_up) == (["a", "a"], 1)


def test_addresses_are_tried_beside_each_other_and_failed_ones_not_again(
    monkeypatch: pytest.MonkeyPatch, limits: Callable[..., None]
) -> None:
    limits(http_connect_again=0.01, http_connect=1000)
    network = Network(monkeypatch, None, OSError("refused"), "there")
    assert connect("a", "b") == "a"
    assert network.tried == ["a", "b", "a"]
    Network(monkeypatch, OSError("refused"))
    with pytest.raises(OSError, match="refused"):
        connect("a")
