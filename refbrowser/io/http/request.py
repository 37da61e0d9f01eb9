"""One range request through all its tries: verified, resumed, redirected, or served by another's bytes."""

from __future__ import annotations

import sys
import time
from typing import Protocol

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Location
from refbrowser.io.access.segment import Segment, room_for
from refbrowser.io.access.task import Attempt, telling
from refbrowser.io.http.answers import (
    REDIRECTS,
    AttemptError,
    Body,
    FixedSink,
    GrowingSink,
    Head,
    Sink,
    check_answer,
    check_beginning,
    identity_of,
)
from refbrowser.io.http.connection import Connection
from refbrowser.limits import LIMITS


class Queue(Protocol):
    """Where a request waits its turn, and what it tells of itself."""

    wholes: WholeObjects

    def pump(self) -> None:
        """Start what waits, where connections may be used."""

    def answered(self, request: HttpRequest, head: Head) -> None:
        """Note the head of an answer."""

    def received(self, count: int) -> None:
        """Count bytes."""

    def release(self, request: HttpRequest, connection: Connection) -> None:
        """Take a connection back."""

    def succeeded(self, request: HttpRequest, size: int, seconds: float) -> None:
        """Take note that a request is complete."""

    def failed(self, request: HttpRequest, error: AttemptError, free: bool = False) -> None:
        """Try again after a wait, or give up."""

    def redirected(self, request: HttpRequest) -> None:
        """Send a request to the next hop."""

    def fail(self, request: HttpRequest, error: AttemptError) -> None:
        """Give up."""

    def crashed(self, request: HttpRequest, error: Exception) -> None:
        """End a request on an exception that nothing expected."""

    def followers(self, request: HttpRequest) -> list[HttpRequest]:
        """Return the requests that waited for the object that this one was reading whole."""


class HttpRequest:
    """One of the requests of a segment, sent to an HTTP server; lives on the loop's thread.

    Attributes
    ----------
    location
        Where it is sent: the segment's location, or what that was redirected to.
    is_shortcut
        It goes straight to where earlier requests were redirected.
    rank
        Priority, number of the task, place within it: lower goes first.
    tries, hops
        Tries that failed, and redirects followed.
    has_logged_in
        Its origin led to a login, which was made for it.
    asked
        Bytes of the object that the try under way asks for; up to None: all.
    """

    def __init__(self, segment: Segment, index: int, location: Location) -> None:
        self.segment = segment
        self.index = index
        self.location = location
        self.is_shortcut = location is not segment.location
        self.rank = (0, 0, 0)
        self.tries = 0
        self.hops = 0
        self.has_logged_in = False
        self.host: Queue | None = None
        self.connection: Connection | None = None
        self.deadline = 0.0
        self.redirect: str | None = None
        self.asked: tuple[int, int | None] = (0, None)
        self._received = 0
        self._sink: Sink | None = None
        self._body: Body | None = None
        self._error: AttemptError | None = None
        self._head_at = 0.0
        self._head: Head | None = None
        self._began = 0.0
        self._told = False
        #: Whether only the state of the object is asked for.
        self.is_head = segment.task.options.heads and not segment.requests
        #: Whether the whole object is asked for.
        self.is_whole = not segment.requests

    @property
    def is_of_any_size(self) -> bool:
        """Whether only its answer tells how many bytes it brings."""
        return self.is_whole and self.segment.task.options.beginning is None

    @property
    def wanted(self) -> bool:
        """Whether anybody still waits for it."""
        return self.segment.task.live and not self.segment.settled

    @property
    def size(self) -> int:
        """Bytes still to come; a guess for a whole object."""
        if self.is_whole:
            return 0 if self.is_head else self.segment.task.options.beginning or 1 << 20
        first, last = self.segment.requests[self.index]
        return last - first - self._received

    @property
    def sent_at(self) -> float:
        """When the try under way began (`time.monotonic`)."""
        return self._began

    @property
    def bounds(self) -> tuple[int, int | None]:
        """Bytes of the object that the next try asks for; up to None: all."""
        if self.is_whole:
            return 0, self.segment.task.options.beginning
        first, last = self.segment.requests[self.index]
        return self.segment.start + first + self._received, self.segment.start + last

    def begin(self, sharing: int) -> None:
        """Note the start of a try; the time allowed for all tries counts from the first one.

        Requests that share the link, `sharing` in all, may each take that much longer for their bytes.
        """
        if not self.deadline:
            task = self.segment.task
            allowed = LIMITS.http_total_export if task.options.export else LIMITS.http_total
            self.deadline = time.monotonic() + allowed + self.size * sharing / LIMITS.http_total_rate
        self.redirect = self._error = self._body = self._sink = self._head = None
        self.asked, self._began, self._told = self.bounds, time.monotonic(), False

    def tell(self, error: str = "", wait: float | None = None) -> None:
        """Tell the witness of the fetch, if there is one, how a try ended."""
        witness = self.segment.task.options.witness
        if witness is None or (self._told and not error):
            return
        self._told = True
        head, sink = self._head, self._sink
        attempt = Attempt(
            url=self.location.url,
            start=self.asked[0],
            stop=self.asked[1],
            answer="" if head is None else head.line,
            fields={} if head is None else telling(head.fields),
            received=0 if sink is None else sink.received,
            error=error,
            wait=wait,
            seconds=time.monotonic() - self._began if self._began else 0.0,
        )
        witness(attempt)

    # Exchange

    def on_head(self, head: Head) -> Sink | None:
        """Hold the answer against the request; see `Exchange`."""
        assert self.host is not None
        self._head_at = time.monotonic()
        self._head = head
        self.host.answered(self, head)
        if head.status in REDIRECTS and "location" in head.fields:
            self.redirect = head.fields["location"]
            return None
        start, stop = self.asked
        task = self.segment.task
        try:
            if self.is_whole and stop is not None:
                self._body = check_beginning(head, stop)
            else:
                limit = sys.maxsize if self.is_head else task.options.size_limit
                self._body = check_answer(head, start, stop, limit)
            identity = identity_of(head, self._body.total)
            task.access.memory.identities.confirm(self.segment.location.url, identity)
        except AttemptError as error:
            self._error = error
            return None
        except RefbrowserError as error:
            self._error = AttemptError(error.message, error.kind, advice=error.advice)
            return None
        if self.is_head:
            return None
        if not self._body.is_range and not self.is_whole and not self.host.wholes.lead(self):
            return None
        try:
            self._sink = self._make_sink(self._body)
        except RefbrowserError as error:
            self._error = AttemptError(error.message, error.kind, advice=error.advice)
        return self._sink

    def on_bytes(self, count: int) -> None:
        """Deliver what has become complete; see `Exchange`."""
        assert self.host is not None
        assert self._body is not None
        self.host.received(count)
        segment = self.segment
        segment.task.count(size=count)
        if self._body.is_range:
            self._received += count
            if not self.size:
                # Before its rows are delivered: nobody listens any more after the last one.
                self.tell()
            segment.arrived(self.index, self._received)
            return
        # Its size was not known when the time was set.
        self.deadline += count / LIMITS.http_total_rate
        if segment.task.options.progress is not None and self._sink is not None:
            segment.task.options.progress(self._sink.received, self._body.length)

    def on_done(self) -> None:
        """See `Exchange`."""
        host, connection = self.host, self.connection
        assert host is not None
        assert connection is not None
        host.release(self, connection)
        if self._error is not None:
            host.failed(self, self._error)
        elif self.redirect is not None:
            host.redirected(self)
        elif self.is_head:
            host.succeeded(self, 0, 0.0)
            self.segment.filled(memoryview(b""))
        elif self._sink is not None:
            host.succeeded(self, self._sink.received, time.monotonic() - self._head_at)
            if self._body is not None and not self._body.is_range:
                self._take_whole(self._sink.view)
        host.pump()

    def on_failed(self, error: AttemptError, answered: bool) -> None:
        """See `Exchange`."""
        host, connection = self.host, self.connection
        assert host is not None
        assert connection is not None
        stale = not answered and connection.exchanges > 1
        host.release(self, connection)
        # One that waits for the whole object has lost nothing but a connection.
        if not host.wholes.waits(self):
            host.failed(self, self._error or error, free=stale)
        host.pump()

    def on_crashed(self, error: Exception) -> None:
        """See `Exchange`."""
        assert self.host is not None
        self.host.crashed(self, error)

    def cut(self, whole: memoryview) -> None:
        """Take the bytes of this request from the whole object."""
        first, last = self.segment.requests[self.index]
        start = self.segment.start
        if start + last > len(whole):
            message = f"the object has {len(whole)} bytes, the range ends at {start + last}"
            assert self.host is not None
            self.host.fail(self, AttemptError(message, ErrorKind.RANGE))
            return
        try:
            self.segment.allocate()[first:last] = whole[start + first : start + last]
        except RefbrowserError as error:
            assert self.host is not None
            self.host.fail(self, AttemptError(error.message, error.kind))
            return
        self._received = last - first
        self.segment.arrived(self.index, self._received)

    def _make_sink(self, body: Body) -> Sink:
        if body.is_range:
            first, last = self.segment.requests[self.index]
            return FixedSink(self.segment.allocate()[first + self._received : last])
        if body.length is not None:
            return FixedSink(room_for(body.length))
        return GrowingSink(self.segment.task.options.size_limit if self.is_whole else LIMITS.http_cut)

    def _take_whole(self, whole: memoryview) -> None:
        assert self.host is not None
        if self.is_whole:
            self.segment.filled(whole)
            return
        for request in [self, *self.host.followers(self)]:
            try:
                request.cut(whole)
            except Exception as error:  # noqa: BLE001 - the others have lost nothing
                request.on_crashed(error)


#: What was checked for one document is not taken for another: the object may have changed in between.
_Key = tuple[int, str]


class WholeObjects:
    """Which objects of a host are being read whole, and the range requests that wait for them."""

    def __init__(self) -> None:
        self._waiting: dict[_Key, tuple[HttpRequest, list[HttpRequest]]] = {}

    def lead(self, request: HttpRequest) -> bool:
        """Make `request` the one that reads its object, unless another does: then it waits for that one."""
        leader, followers = self._waiting.setdefault(_key(request), (request, []))
        if leader is request:
            return True
        followers.append(request)
        return False

    def join(self, request: HttpRequest) -> bool:
        """Let `request` wait if its object is being read whole."""
        if request.is_whole or _key(request) not in self._waiting:
            return False
        return not self.lead(request)

    def waits(self, request: HttpRequest) -> bool:
        """Whether `request` waits for the bytes of another."""
        _, followers = self._waiting.get(_key(request), (None, []))
        return request in followers

    def finish(self, request: HttpRequest) -> list[HttpRequest]:
        """Return the requests that waited for `request`, which has ended one way or the other."""
        leader, followers = self._waiting.get(_key(request), (None, []))
        if leader is not request:
            return []
        del self._waiting[_key(request)]
        return [follower for follower in followers if follower.wanted]


def _key(request: HttpRequest) -> _Key:
    segment = request.segment
    return id(segment.task.access.memory), segment.location.url
