"""Connections over TLS and through proxies."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

import pytest
from reading import Reading, columns, pattern
from servers.http_server import HttpServer
from servers.tls_server import AUTHORITY, ProxyServer, TlsServer

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access import Access
from refbrowser.io.fetch import Fetcher
from refbrowser.io.http.answers import AttemptError
from refbrowser.io.http.connection import Proxy, proxy_for
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
