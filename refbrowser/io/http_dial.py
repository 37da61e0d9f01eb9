"""Making connections: names resolved and addresses checked, proxies, TLS (safety design, section 5)."""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import socket
import ssl
import time
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from refbrowser.errors import ErrorKind, quoted
from refbrowser.io.address import is_private
from refbrowser.io.http_connection import Connection
from refbrowser.io.http_head import AttemptError, parse_head
from refbrowser.io.origins import Origin
from refbrowser.limits import LIMITS

_NAMES_KEPT = 30.0


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy of the user's environment; `authorization` is the value of its header, if it needs one."""

    host: str
    port: int
    authorization: str | None


@dataclass(frozen=True, slots=True)
class Address:
    """One address of a host, as `getaddrinfo` gives it."""

    family: int
    sockaddr: tuple[str | int | bytes, ...]
    private: bool


def proxy_for(origin: Origin) -> Proxy | None:
    """Return the proxy that the system's settings name for an origin, or None.

    Raises
    ------
    AttemptError
        The settings name a proxy of a kind that is not supported.
    """
    from urllib.request import getproxies, proxy_bypass

    text = getproxies().get(origin.scheme)
    if not text or proxy_bypass(f"{origin.host}:{origin.port}") or proxy_bypass(origin.host):
        return None
    parts = urlsplit(text if "://" in text else f"http://{text}")
    if parts.scheme != "http" or not parts.hostname:
        raise AttemptError(f"the proxy {quoted(parts.hostname or text)} is not an http proxy")
    authorization = None
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = "Basic " + base64.b64encode(pair.encode()).decode("ascii")
    return Proxy(parts.hostname, parts.port or 80, authorization)


class Dialer:
    """Opens connections; used on the loop's thread only."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, int], tuple[float, list[Address]]] = {}
        self._context: ssl.SSLContext | None = None

    async def dial(self, origin: Origin, proxy: Proxy | None, allow_private: bool) -> Connection:
        """Connect to an origin, through `proxy` if there is one.

        The user's own settings name the proxy, so its address is not held against the rules for addresses.

        Raises
        ------
        AttemptError
            No connection; kind `E_BLOCKED` when only private addresses were found and none is allowed.
        """
        try:
            async with asyncio.timeout(LIMITS.http_connect):
                host, port = (proxy.host, proxy.port) if proxy else (origin.host, origin.port or 0)
                addresses = await self._addresses(host, port)
                if proxy is None and not allow_private:
                    addresses = _public(addresses, origin)
                sock, address = await _connect(addresses, host)
                connection = await self._start(sock, origin, proxy)
                connection.private = proxy is None and address.private
                return connection
        except TimeoutError:
            raise AttemptError(f"no connection within {LIMITS.http_connect:g} s", retry=True) from None
        except ssl.SSLCertVerificationError as error:
            reason = error.verify_message or "not trusted"
            raise AttemptError(f"the certificate of {origin} was refused: {reason}") from None
        except OSError as error:
            raise AttemptError(f"no connection to {origin}: {error.strerror or error}", retry=True) from None

    async def _start(self, sock: socket.socket, origin: Origin, proxy: Proxy | None) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            if proxy and origin.scheme == "https":
                await _tunnel(sock, origin, proxy)
            context = self._tls() if origin.scheme == "https" else None
            name = origin.host if context else None
            _, connection = await loop.create_connection(
                Connection, sock=sock, ssl=context, server_hostname=name
            )
        except BaseException:
            sock.close()
            raise
        return connection

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = ssl.create_default_context()
            self._context.set_alpn_protocols(["http/1.1"])
        return self._context

    async def _addresses(self, host: str, port: int) -> list[Address]:
        known = self._names.get((host, port))
        if known is not None and known[0] > time.monotonic():
            return known[1]
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            temporary = error.errno == socket.EAI_AGAIN
            raise AttemptError(f"the host {quoted(host)} was not found", retry=temporary) from None
        addresses = [
            Address(
                family, tuple(sockaddr), is_private(ipaddress.ip_address(str(sockaddr[0]).partition("%")[0]))
            )
            for family, _, _, _, sockaddr in found
        ]
        self._names[host, port] = (time.monotonic() + _NAMES_KEPT, addresses)
        return addresses


def _public(addresses: list[Address], origin: Origin) -> list[Address]:
    public = [address for address in addresses if not address.private]
    if not public:
        message = f"{origin} is at a private address, which needs its own permission"
        raise AttemptError(message, ErrorKind.BLOCKED, advice=f"allow it with --allow {origin}")
    return public


async def _connect(addresses: list[Address], host: str) -> tuple[socket.socket, Address]:
    """Connect to the first address that answers; each but the last gets an equal share of the time."""
    loop = asyncio.get_running_loop()
    share = LIMITS.http_connect / max(len(addresses), 1)
    failure: OSError = OSError(f"no address for {quoted(host)}")
    for address in addresses:
        sock = socket.socket(address.family, socket.SOCK_STREAM)
        sock.setblocking(False)
        try:
            async with asyncio.timeout(share):
                await loop.sock_connect(sock, address.sockaddr)
            return sock, address
        except TimeoutError:
            sock.close()
            failure = OSError("timed out")
        except OSError as error:
            sock.close()
            failure = error
        except BaseException:
            sock.close()
            raise
    raise failure


async def _tunnel(sock: socket.socket, origin: Origin, proxy: Proxy) -> None:
    """Ask an http proxy for a tunnel to an https origin."""
    loop = asyncio.get_running_loop()
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    lines = [f"CONNECT {host}:{origin.port} HTTP/1.1", f"Host: {host}:{origin.port}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    await loop.sock_sendall(sock, "\r\n".join([*lines, "", ""]).encode("ascii"))
    received = b""
    # Byte by byte at the end would be exact; the server of TLS speaks second, so nothing can follow the head.
    while b"\r\n\r\n" not in received:
        part = await loop.sock_recv(sock, 4096)
        if not part or len(received) > LIMITS.http_headers:
            raise AttemptError("the proxy gave no answer", retry=True)
        received += part
    head = parse_head(received.partition(b"\r\n\r\n")[0])
    if head.status != 200:
        raise AttemptError(
            f"the proxy answered {head.status} {quoted(head.reason, 60)}", retry=head.status >= 500
        )
