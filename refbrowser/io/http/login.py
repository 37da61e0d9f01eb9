"""Logging in where a server sends people to do so: name and password to that place alone, cookies back.

Archives such as those of NASA send whoever has no session to a place of its own (OAuth 2): with name and
password that sends back to the server, which gives a session as cookies. These are kept in memory, for the
origin that gave them and the documents whose settings name the login; nothing else is followed.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from dataclasses import dataclass, field
from urllib.parse import urljoin

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.credentials import basic
from refbrowser.io.http.answers import REDIRECTS, AttemptError, Head
from refbrowser.io.http.connection import Dialer, proxy_for
from refbrowser.io.origins import ConnectionSettings, Origin, SplitUrl, split_url
from refbrowser.limits import LIMITS

#: Repeated headers are joined by commas, which stand in dates too: a cookie begins with its name.
_BETWEEN = re.compile(r",\s*(?=[A-Za-z0-9!#$%&'*+.^_`|~\-]+=)")
_COOKIE = re.compile(r"\s*([A-Za-z0-9!#$%&'*+.^_`|~\-]+)=([^;,\s\"\\]*)")


@dataclass(eq=False, slots=True)
class _Session:
    """What a login gave.

    Attributes
    ----------
    made
        When (`time.monotonic`).
    cookies
        By name.
    """

    made: float = 0.0
    cookies: dict[str, str] = field(default_factory=dict, repr=False)

    def take(self, head: Head) -> None:
        """Take the cookies of an answer."""
        for text in _BETWEEN.split(head.fields.get("set-cookie", "")):
            found = _COOKIE.match(text)
            if found is not None and (found[1] in self.cookies or len(self.cookies) < LIMITS.login_cookies):
                self.cookies[found[1]] = found[2]

    @property
    def header(self) -> str:
        """Its cookies as a request sends them."""
        text = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return text if len(text) <= LIMITS.login_cookie else ""


_Key = tuple[Origin, str | None, str | None]


class Logins:
    """The sessions that logins gave; used on the loop's thread only."""

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer
        self._sessions: dict[_Key, _Session] = {}
        self._turns: dict[_Key, asyncio.Lock] = {}
        #: What was not accepted: asking again and again would have the user locked out.
        self._refused: set[tuple[_Key, bytes]] = set()
        #: What failed otherwise, and when: thousands of requests are not to try it one after the other.
        self._failed: dict[_Key, tuple[float, AttemptError]] = {}

    def cookies(self, origin: Origin, settings: ConnectionSettings) -> str:
        """Return the cookies of a request to an origin; empty where there is no session."""
        session = self._sessions.get(_key(origin, settings)) if settings.login is not None else None
        return "" if session is None else session.header

    @staticmethod
    def leads_to(settings: ConnectionSettings, target: str, base: str) -> bool:
        """Return whether a redirect leads to the login that settings name."""
        if settings.login is None:
            return False
        try:
            url = split_url(urljoin(base, target))
        except (RefbrowserError, ValueError):
            return False
        return url.scheme in ("http", "https") and url.origin == Origin.parse(settings.login)

    async def log_in(
        self, origin: Origin, settings: ConnectionSettings, at: SplitUrl, sent: float, *, private: bool
    ) -> None:
        """Get a session, where none was made after a request was sent.

        Parameters
        ----------
        at
            What was asked for, from where the origin led to the login: it may give a cookie with that.
        sent
            When the request was sent that it led away (`time.monotonic`).
        private
            Whether the origin may have a private address.

        Raises
        ------
        AttemptError
            It was not accepted, or leads elsewhere.
        RefbrowserError
            `E_USAGE`: there is no name and password.
        """
        key = _key(origin, settings)
        async with self._turns.setdefault(key, asyncio.Lock()), asyncio.timeout(LIMITS.http_total):
            session = self._sessions.get(key)
            if session is not None and session.made > sent:
                return
            at_last, error = self._failed.get(key, (-LIMITS.circuit_open, None))
            if error is not None and time.monotonic() - at_last < LIMITS.circuit_open:
                raise error
            self._sessions.pop(key, None)
            try:
                session = await self._session(origin, settings, at, private)
            except AttemptError as failed:
                if not failed.retry:
                    self._failed[key] = time.monotonic(), failed
                raise
            session.made = time.monotonic()
            self._sessions[key] = session

    async def _session(
        self, origin: Origin, settings: ConnectionSettings, at: SplitUrl, private: bool
    ) -> _Session:
        login = Origin.parse(settings.login or "")
        name = basic(login.host, settings.netrc or "")
        mark = _key(origin, settings), hashlib.sha256(name.encode()).digest()
        if mark in self._refused:
            raise _not_accepted(login)
        sessions = {login: _Session(), origin: _Session()}
        was_there = False
        for _ in range(LIMITS.login_hops):
            place = at.origin
            if place not in sessions:
                message = f"the login leads on to {place}, which is neither of the two"
                raise AttemptError(message, ErrorKind.UNSAFE)
            session = sessions[place]
            lines = f"Cookie: {session.header}\r\n" if session.cookies else ""
            if place == login:
                lines += f"Authorization: {name}\r\n"
            head = await self._ask(at, lines, private or place == login)
            session.take(head)
            target = head.fields.get("location", "") if head.status in REDIRECTS else ""
            leads = bool(target) and Logins.leads_to(settings, target, _text(at))
            was_there |= place == login
            if place == origin and session.cookies and was_there and not leads:
                # Where it leads now is what was asked for: that is for the request itself.
                return session
            if place == login and head.status in (401, 403):
                self._refused.add(mark)
                raise _not_accepted(login)
            if not target:
                raise _unfinished(login, head)
            at = _next(at, target)
        raise AttemptError(f"the login takes more than {LIMITS.login_hops} requests")

    async def _ask(self, at: SplitUrl, lines: str, private: bool) -> Head:
        """Return the head of an answer; its body is not read."""
        origin, target = at.origin, at.path
        proxy = proxy_for(origin)
        connection = await self._dialer.dial(origin, proxy, private)
        if proxy is not None and origin.scheme == "http":
            target = f"{origin}{target}"
            lines += f"Proxy-Authorization: {proxy.authorization}\r\n" if proxy.authorization else ""
        step = _Step()
        host = str(origin).partition("://")[2]
        common = f"Host: {host}\r\nUser-Agent: refbrowser\r\nAccept-Encoding: identity\r\n"
        try:
            connection.begin(step, f"GET {target} HTTP/1.1\r\n{common}{lines}\r\n".encode("latin-1"))
            async with asyncio.timeout(LIMITS.http_first_byte):
                return await step.answer
        except TimeoutError:
            raise AttemptError(f"{origin} does not answer the login", retry=True) from None
        finally:
            connection.close()


class _Step:
    """One request of a login: see `Exchange`."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[Head] = asyncio.get_running_loop().create_future()

    def on_head(self, head: Head) -> None:
        """Take the head; nobody wants the body."""
        if not self.answer.done():
            self.answer.set_result(head)

    def on_bytes(self, count: int) -> None:
        """Nothing: there is no body."""

    def on_done(self) -> None:
        """Nothing: the head was taken."""

    def on_failed(self, error: AttemptError, answered: bool) -> None:
        """Tell who waits."""
        self.on_crashed(error)

    def on_crashed(self, error: Exception) -> None:
        """Tell who waits."""
        if not self.answer.done():
            self.answer.set_exception(error)


def _key(origin: Origin, settings: ConnectionSettings) -> _Key:
    return origin, settings.login, settings.netrc


def _text(at: SplitUrl) -> str:
    return f"{at.origin}{at.path}"


def _next(at: SplitUrl, target: str) -> SplitUrl:
    try:
        found = split_url(urljoin(_text(at), target))
    except (RefbrowserError, ValueError):
        raise AttemptError("the login leads to what is no URL", ErrorKind.UNSAFE) from None
    if found.scheme not in ("http", "https") or (at.scheme == "https" and found.scheme == "http"):
        raise AttemptError("the login leads from https to another protocol", ErrorKind.UNSAFE)
    return found


def _not_accepted(login: Origin) -> AttemptError:
    return AttemptError(f"{login} does not accept name and password", refused=True)


def _unfinished(login: Origin, head: Head) -> AttemptError:
    """Return the error of a login that ends with a page, which only people can answer."""
    advice = f"log in at {login} with a browser once: it may ask to approve the application"
    return AttemptError(f"the login ended with the answer {head.status}", refused=True, advice=advice)
