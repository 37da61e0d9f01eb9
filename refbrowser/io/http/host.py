"""The queue of requests of one host: its connections, tries, waits, circuit, and where redirects lead."""

from __future__ import annotations

import heapq
import itertools
import random
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Protocol
from urllib.parse import urljoin

from refbrowser.errors import AbsentError, ErrorKind, OversizeError, RefbrowserError, RefusedError, quoted
from refbrowser.io.access.access import Access, Location
from refbrowser.io.access.segment import Segment
from refbrowser.io.http.answers import THROTTLING, AttemptError, Head, retry_after
from refbrowser.io.http.connection import Connection, Dialer, Proxy, proxy_for
from refbrowser.io.http.login import Logins
from refbrowser.io.http.request import HttpRequest, WholeObjects
from refbrowser.io.origins import DEFAULT_PORTS, Origin, scheme_of, split_url
from refbrowser.io.plan import LinkModel
from refbrowser.limits import LIMITS

#: Signed addresses expire, and redirects change.
_KEPT = 60.0
_MOST = 10_000
#: Taken for the bytes of an object that is asked for whole, until so many answers have told their own.
_OBJECT, _ANSWERS = 256 << 10, 3
#: Answers of which the mean is taken then.
_SAMPLES = 32
#: Seconds after which what answers tell of the link is looked at again.
_LEARNING = 0.005


class Redirects:
    """The last target of each URL; used on the loop's thread only."""

    def __init__(self) -> None:
        self._targets: dict[str, tuple[float, Location]] = {}

    def keep(self, url: str, target: Location) -> None:
        """Remember where a good answer for `url` came from."""
        if len(self._targets) >= _MOST:
            self._targets.clear()
        self._targets[url] = (time.monotonic() + _KEPT, target)

    def forget(self, url: str) -> None:
        """Ask for `url` itself the next time."""
        self._targets.pop(url, None)

    def target(self, location: Location, access: Access) -> Location:
        """Return where to ask for `location`: a target that this document may read, or itself."""
        expires, target = self._targets.get(location.url, (0.0, location))
        return target if expires > time.monotonic() and access.permits(target) else location


def _as_utf8(text: str) -> str:
    """Return a header's text as most servers mean it where they break the rule that it be ASCII."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def next_hop(current: Location, target: str, access: Access) -> Location:
    """Return where a redirect leads, checked like a new URL.

    Raises
    ------
    AttemptError
        It leads to another protocol, or from https to http.
    RefbrowserError
        The errors of `Access.resolve`.
    """
    try:
        url = urljoin(current.url, _as_utf8(target))
    except ValueError:
        raise AttemptError(f"a redirect to {quoted(target)} is refused", ErrorKind.UNSAFE) from None
    scheme = scheme_of(url)
    if scheme not in DEFAULT_PORTS:
        raise AttemptError(f"a redirect to {quoted(url)} is refused", ErrorKind.UNSAFE)
    if current.scheme == "https" and scheme == "http":
        raise AttemptError("a redirect from https to http is refused", ErrorKind.UNSAFE)
    try:
        location = access.locate(url)
    except RefbrowserError as error:
        raise AttemptError(error.message, error.kind) from error
    if not access.permits(location):
        access.memory.meet(location.origin, private=False)
    access.check(location)
    return location


Rank = tuple[int, int, int, int]


class Client(Protocol):
    """What the queues of all hosts share."""

    dialer: Dialer
    redirects: Redirects
    logins: Logins

    def send(self, request: HttpRequest, location: Location) -> None:
        """Send a request on to another place."""

    def cut_off(self, segment: Segment) -> None:
        """Cut off the requests under way for a segment that has failed."""

    def may_open(self, host: HttpHost) -> bool:
        """Whether another connection may be opened."""

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine that opens a connection."""

    def later(self, seconds: float, function: Callable[..., None], *arguments: Any) -> None:
        """Call a function after some time."""

    def report(self, kind: str, origin: Origin, message: str) -> None:
        """Tell what happened to a host."""


class HttpHost:
    """Queue and connections of one origin; used on the loop's thread only."""

    def __init__(self, client: Client, origin: Origin, model: LinkModel) -> None:
        self.origin = origin
        self.model = model
        self._client = client
        self._queue: list[tuple[Rank, HttpRequest]] = []
        self._serial = itertools.count()
        #: Bytes of the ranges that are queued, and objects whose sizes only their answers tell.
        self._backlog = self._objects = 0
        self._object_sizes: deque[int] = deque(maxlen=_SAMPLES)
        self._busy: dict[HttpRequest, Connection | None] = {}
        self._idle: list[Connection] = []
        self.wholes = WholeObjects()
        self._failures = 0
        self._open_until = 0.0
        self._quiet_until = 0.0
        self._window = (time.monotonic(), 0)
        self._learned_at = 0.0
        self._common = (
            f"Host: {str(origin).partition('://')[2]}\r\n"
            "User-Agent: refbrowser\r\n"
            "Accept-Encoding: identity\r\n"
        )
        self._proxy: tuple[Proxy | None] | None = None

    # Requests

    def add(self, request: HttpRequest, rank: tuple[int, int, int]) -> None:
        """Queue a request; lower ranks come first. `pump` starts it."""
        # Bytes of two answers at once would be counted twice.
        assert request.connection is None
        request.host, request.rank = self, rank
        if not self._queue and not self._busy:
            # Metadata tell nothing of chunks.
            self._object_sizes.clear()
        self._weigh(request, 1)
        heapq.heappush(self._queue, ((*rank, next(self._serial)), request))

    def pump(self) -> None:
        """Start queued requests while connections may be used."""
        while self._queue and self._may_use_more() and not self._is_quiet():
            request = self._queue[0][1]
            if request.segment.task.is_congested:
                # What comes first decides: `HttpClient.submit` has the queue pumped when there is room again.
                return
            try:
                if not self._start(request):
                    return
            except Exception as error:  # noqa: BLE001 - the loop would give it to every request
                self.crashed(request, error)

    def drop_unwanted(self) -> None:
        """Forget requests that nobody waits for any more; those under way are cut off."""
        self._keep_queued(lambda request: request.wanted)
        self._close_where(lambda request: not request.wanted)
        self.pump()

    def cut_off(self, segment: Segment) -> None:
        """End the requests under way for a segment."""
        self._close_where(lambda request: request.segment is segment)

    def fail(self, request: HttpRequest, error: AttemptError) -> None:
        """Deliver a failure to the rows that wait for the bytes of a request."""
        tries = f" (after {request.tries} tries)" if request.tries > 1 else ""
        segment = request.segment
        # First, so that nothing is written to a buffer whose rows have been told.
        if len(segment.requests) > 1:
            self._client.cut_off(segment)
        kinds = {AbsentError: error.absent, RefusedError: error.refused, OversizeError: error.oversize}
        kind = next((kind for kind, is_one in kinds.items() if is_one), RefbrowserError)
        segment.fail(kind(error.kind, error.message + tries, advice=error.advice))

    def crashed(self, request: HttpRequest, error: Exception) -> None:
        """End a request on an exception that nothing expected: it alone, whatever else is under way."""
        connection = self._busy.get(request)
        self._forget(request)
        try:
            self._keep_queued(lambda queued: queued is not request)
            if connection is not None:
                connection.close()
            self.disband(request)
            self.fail(request, unexpected(error))
        except Exception:  # noqa: BLE001 - those who wait for it must not wait for ever
            request.segment.task.crash(error)
        self._client.later(0, self.pump)

    def disband(self, request: HttpRequest) -> None:
        """Queue again what waited for the object that `request` was reading whole."""
        for follower in self.followers(request):
            self.add(follower, follower.rank)

    def followers(self, request: HttpRequest) -> list[HttpRequest]:
        """Return the requests that waited for the object that `request` was reading whole."""
        found = self.wholes.finish(request)
        for follower in found:
            connection = self._busy.get(follower)
            if connection is not None:
                # It may still be passing over its own answer, whose end must not be taken for the next one's.
                connection.close()
                self._forget(follower)
        return found

    # What happens to a request under way

    def answered(self, request: HttpRequest, head: Head) -> None:
        """Note the head of an answer."""
        connection = self._busy.get(request)
        if connection is not None:
            self.model.saw_first_byte(connection.active_at - connection.sent_at)
        if request.is_of_any_size and head.length is not None and not request.is_head:
            self._object_sizes.append(head.length)
        if head.status in THROTTLING:
            wait = retry_after(head) or 0.0
            if 0 < wait <= LIMITS.http_retry_after:
                # It was said to this request, but it is meant for all of them.
                self._quiet_until = max(self._quiet_until, time.monotonic() + wait)
                self._client.later(wait + 0.01, self.pump)
            self.model.throttle()
            self._client.report("throttled", self.origin, f"{self.origin} asked for fewer requests")

    def received(self, count: int) -> None:
        """Count bytes; while requests wait they tell what the whole link carries."""
        began, size = self._window
        size += count
        now = time.monotonic()
        if now - began > 0.1:
            if self._queue:
                self.model.saw_total(size, now - began)
            self._window = (now, 0)
        else:
            self._window = (began, size)

    def release(self, request: HttpRequest, connection: Connection) -> None:
        """Take a connection back."""
        self._forget(request)
        if connection.usable:
            self._give_back(connection)

    def succeeded(self, request: HttpRequest, size: int, seconds: float) -> None:
        """Take note that a request is complete."""
        self._failures = 0
        request.tell()
        if request.hops:
            self._client.redirects.keep(request.segment.location.url, request.location)
        self.model.saw_body(size, seconds)
        now = time.monotonic()
        if now - self._learned_at > _LEARNING:
            self._learned_at = now
            self.model.update()

    def failed(self, request: HttpRequest, error: AttemptError, free: bool = False) -> None:
        """Try again after a wait, or give up; `free` tries are not counted."""
        self.disband(request)
        if not request.wanted:
            return
        if error.kind == ErrorKind.BLOCKED:
            request.segment.task.access.memory.meet(self.origin, private=True)
        if request.is_shortcut and not error.retry:
            request.tell(error.message, 0.0)
            # The address that a redirect once gave may have expired.
            request.is_shortcut = False
            self._client.redirects.forget(request.segment.location.url)
            self._client.send(request, request.segment.location)
            return
        request.tries += 0 if free else 1
        allowed = LIMITS.http_tries_export if request.segment.task.options.export else LIMITS.http_tries
        wait = 0.0 if free else self._wait(request.tries, error.after)
        is_last = not error.retry or request.tries >= allowed or time.monotonic() + wait > request.deadline
        request.tell(error.message, None if is_last else wait)
        if is_last:
            self._give_up(request, error)
            return
        self._client.later(wait, self._again, request)

    def redirected(self, request: HttpRequest) -> None:
        """Check the next hop like a new URL, and send the request there."""
        request.hops += 1
        request.tell()
        settings = request.segment.task.access.connection(self.origin)
        is_login = Logins.leads_to(settings, request.redirect or "", request.location.url)
        if is_login and request.hops <= LIMITS.http_redirects:
            self._client.spawn(self._log_in(request))
            return
        try:
            if request.hops > LIMITS.http_redirects:
                raise AttemptError(f"more than {LIMITS.http_redirects} redirects")
            location = next_hop(request.location, request.redirect or "", request.segment.task.access)
        except (AttemptError, RefbrowserError) as error:
            self.fail(request, AttemptError(f"redirect: {error.message}", error.kind, advice=error.advice))
            return
        self._client.send(request, location)

    async def _log_in(self, request: HttpRequest) -> None:
        """Log in where the origin leads to, and ask again; once for each request."""
        try:
            if request.has_logged_in:
                raise AttemptError(f"{self.origin} asks for the login again and again", refused=True)
            request.has_logged_in = True
            access, first = request.segment.task.access, request.segment.location
            at = split_url((first if first.origin == self.origin else request.location).url)
            settings, private = access.connection(self.origin), access.permits_private(self.origin)
            await self._client.logins.log_in(self.origin, settings, at, request.sent_at, private=private)
        except AttemptError as error:
            self.failed(request, error)
        except RefbrowserError as error:
            self.fail(request, AttemptError(error.message, error.kind, advice=error.advice))
        except TimeoutError:
            self.failed(request, AttemptError("the login takes too long", retry=True))
        except Exception as error:  # noqa: BLE001 - nobody waits for the coroutine
            self.crashed(request, error)
        else:
            if request.wanted:
                self._client.send(request, request.segment.location)
        self.pump()

    def sweep(self, now: float) -> None:
        """Fail exchanges that take too long, and close connections that idle."""
        for request, connection in list(self._busy.items()):
            if connection is not None and request.connection is connection:
                try:
                    message = _overdue(request, connection, now)
                    if message:
                        connection.fail(AttemptError(message, retry=now < request.deadline))
                except Exception as error:  # noqa: BLE001 - the loop would give it to every request
                    self.crashed(request, error)
        for connection in self._idle[:]:
            if not connection.usable or now - connection.active_at > 20:
                self._idle.remove(connection)
                connection.close()

    def close_idle(self) -> bool:
        """Close one idle connection to make room for another host's; tell whether there was one."""
        while self._idle:
            connection = self._idle.pop(0)
            was_open = connection.usable
            connection.close()
            if was_open:
                return True
        return False

    def close(self) -> None:
        """Close all connections."""
        for connection in [*self._idle, *self._busy.values()]:
            if connection is not None:
                connection.close()
        self._idle.clear()
        self._busy.clear()
        self._queue.clear()

    @property
    def open_connections(self) -> int:
        """Connections that are open or being opened."""
        return len(self._busy) + len(self._idle)

    # Inside

    def _start(self, request: HttpRequest) -> bool:
        """Start the first request of the queue, or take it off; tell whether the next one may follow."""
        wanted = request.wanted
        connection = self._usable(request) if wanted else None
        if connection is None and wanted and not self._client.may_open(self):
            return False
        heapq.heappop(self._queue)
        self._weigh(request, -1)
        if not wanted or self.wholes.join(request) or not self._admitted(request):
            self._give_back(connection)
            return True
        request.begin(len(self._busy) + 1)
        self._busy[request] = connection
        if connection is None:
            self._client.spawn(self._dial(request))
        else:
            self._send(request, connection)
        return True

    def _keep_queued(self, wanted: Callable[[HttpRequest], bool]) -> None:
        self._queue = [entry for entry in self._queue if wanted(entry[1])]
        heapq.heapify(self._queue)
        self._backlog = self._objects = 0
        for _, request in self._queue:
            self._weigh(request, 1)

    def _weigh(self, request: HttpRequest, sign: int) -> None:
        if request.is_head:
            return
        if request.is_of_any_size:
            self._objects += sign
        else:
            self._backlog += sign * request.size

    def _may_use_more(self) -> bool:
        """Tell whether another connection would bring what is queued sooner."""
        busy, link, sizes = len(self._busy), self.model.link, self._object_sizes
        if busy >= link.most:
            return False
        mean = sum(sizes) / len(sizes) if len(sizes) >= _ANSWERS else _OBJECT
        return busy < link.connections(self._backlog + self._objects * mean, len(self._queue))

    def _is_quiet(self) -> bool:
        return time.monotonic() < self._quiet_until

    def _usable(self, request: HttpRequest) -> Connection | None:
        """Take the idle connection last used; none to an address that the request may not reach."""
        private = request.segment.task.access.permits_private(self.origin)
        for position in range(len(self._idle) - 1, -1, -1):
            connection = self._idle[position]
            if not connection.usable:
                del self._idle[position]
            elif private or not connection.private:
                return self._idle.pop(position)
        return None

    def _close_where(self, unwanted: Callable[[HttpRequest], bool]) -> None:
        for request, connection in list(self._busy.items()):
            if connection is not None and unwanted(request):
                connection.close()
                self._forget(request)
                self.disband(request)

    def _give_back(self, connection: Connection | None) -> None:
        if connection is not None:
            self._idle.append(connection)

    def _forget(self, request: HttpRequest) -> None:
        self._busy.pop(request, None)
        request.connection = None

    def _admitted(self, request: HttpRequest) -> bool:
        """Whether a request may be sent now; it is failed otherwise."""
        left = self._open_until - time.monotonic()
        if left <= 0:
            return True
        failed = f"{self.origin} failed {LIMITS.circuit_failures} times in a row"
        error = AttemptError(f"{failed} and is not contacted for {left:.0f} s")
        request.tell(error.message)
        self.fail(request, error)
        return False

    async def _dial(self, request: HttpRequest) -> None:
        try:
            await self._connect(request)
        except Exception as error:  # noqa: BLE001 - nobody waits for the coroutine
            self.crashed(request, error)

    async def _connect(self, request: HttpRequest) -> None:
        access = request.segment.task.access
        try:
            if self._proxy is None:
                self._proxy = (proxy_for(self.origin),)
            allowed = access.permits_private(self.origin)
            connection = await self._client.dialer.dial(self.origin, self._proxy[0], allowed)
        except AttemptError as error:
            self._forget(request)
            self.failed(request, error)
            self.pump()
            return
        if request.wanted:
            self._send(request, connection)
        else:
            self._forget(request)
            self._give_back(connection)
            self.pump()

    def _send(self, request: HttpRequest, connection: Connection) -> None:
        self._busy[request] = connection
        request.connection = connection
        start, stop = request.asked
        target = request.location.path
        proxy = self._proxy[0] if self._proxy else None
        lines = self._common
        if proxy is not None and self.origin.scheme == "http":
            target = f"{self.origin}{target}"
            if proxy.authorization:
                lines += f"Proxy-Authorization: {proxy.authorization}\r\n"
        if stop is not None:
            lines += f"Range: bytes={start}-{stop - 1}\r\n"
        try:
            settings = request.segment.task.access.connection(self.origin)
            for name, value in settings.header_values(self.origin).items():
                lines += f"{name}: {value}\r\n"
            if cookies := self._client.logins.cookies(self.origin, settings):
                lines += f"Cookie: {cookies}\r\n"
        except RefbrowserError as error:
            self.release(request, connection)
            self.fail(request, AttemptError(error.message, error.kind))
            return
        request.segment.sent()
        method = "HEAD" if request.is_head else "GET"
        text = f"{method} {target} HTTP/1.1\r\n{lines}\r\n"
        connection.begin(request, text.encode("latin-1"), is_head=request.is_head)

    def _again(self, request: HttpRequest) -> None:
        try:
            if request.wanted:
                self.add(request, request.rank)
        except Exception as error:  # noqa: BLE001 - the loop would give it to every request
            self.crashed(request, error)
        self.pump()

    def _give_up(self, request: HttpRequest, error: AttemptError) -> None:
        self.fail(request, error)
        if not error.retry:
            return
        self._failures += 1
        if self._failures >= LIMITS.circuit_failures:
            self._failures = 0
            self._open_until = time.monotonic() + LIMITS.circuit_open
            self._client.report(
                "circuit", self.origin, f"{self.origin} is not contacted for {LIMITS.circuit_open:g} s"
            )

    def _wait(self, tries: int, after: float | None) -> float:
        if after is not None:
            return after
        longest = min(LIMITS.http_wait_start * 2 ** (tries - 1), LIMITS.http_wait_most)
        return longest * random.uniform(0.5, 1)


def unexpected(error: Exception) -> AttemptError:
    """Return the failure of a request that an exception ended which nothing expected."""
    return AttemptError(f"internal error: {type(error).__name__}: {quoted(error)}")


def _overdue(request: HttpRequest, connection: Connection, now: float) -> str | None:
    """Return why an exchange has taken too long, or None."""
    if now > request.deadline:
        return "the request took too long in all"
    if not connection.answered:
        return (
            "no answer within the time allowed" if now - connection.sent_at > LIMITS.http_first_byte else None
        )
    if now - connection.active_at > LIMITS.http_between_bytes:
        return f"no more bytes for {LIMITS.http_between_bytes:g} s"
    return "the answer comes too slowly" if connection.is_slow(now) else None
