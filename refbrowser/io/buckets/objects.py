"""Reading from object stores (s3, gs, abfs): each answer verified, tried again as over HTTP (safety, 6)."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.access.segment import Segment, oversize, short_object
from refbrowser.io.access.task import Attempt, FetchEvent, Pace
from refbrowser.io.buckets.bucket import Turns, wait_before
from refbrowser.io.buckets.bucket_calls import BucketCalls, Coming, Got, calls_of
from refbrowser.io.buckets.bucket_errors import Failure, failure_of
from refbrowser.io.origins import ConnectionSettings, Origin
from refbrowser.io.plan import LinkModels
from refbrowser.limits import LIMITS

#: Held while rows are delivered: a segment belongs to one thread at a time.
_settling = threading.Lock()
#: Seconds after which a thread that waits for an answer looks whether it is still wanted.
_LOOK = 0.1


class _Host:
    """What is known of one bucket: how it did lately."""

    def __init__(self) -> None:
        self.failures = 0
        self.reason = ""
        self.open_until = 0.0
        self.turns = Turns()
        #: Its requests, and the settings of the connection by which they are made.
        self._calls: tuple[ConnectionSettings, BucketCalls] | None = None

    def calls(self, origin: Origin, settings: ConnectionSettings) -> BucketCalls:
        """Return its requests; documents may have settings of their own for it."""
        known = self._calls
        if known is None or known[0] != settings:
            known = self._calls = settings, calls_of(origin, settings)
        return known[1]


class ObjectReader:
    """Reads requests of segments; may be used from any thread.

    Parameters
    ----------
    observer
        Called with what the status bar should tell.
    """

    def __init__(self, models: LinkModels, observer: Callable[[FetchEvent], None] | None) -> None:
        self._models = models
        self._observer = observer
        self._lock = threading.Lock()
        self._hosts: dict[Origin, _Host] = {}

    def read(self, segment: Segment, index: int) -> None:
        """Read one request of a segment (or a whole object) and deliver its rows; failures are delivered too.

        Pieces of a segment may be read by several threads at once.
        """
        segment.task.wait_for_room()
        if not _is_wanted(segment):
            return
        try:
            got = self._read(segment, index)
        except RefbrowserError as error:
            with _settling:
                segment.fail(error)
            return
        if got is None:
            return
        with _settling:
            if not _is_wanted(segment):
                return
            if not segment.requests:
                segment.filled(memoryview(got.data))
                return
            first, last = segment.requests[index]
            try:
                segment.allocate()[first:last] = got.data
            except RefbrowserError as error:
                segment.fail(error)
                return
            segment.arrived(index, len(got.data))

    def _read(self, segment: Segment, index: int) -> Got | None:
        """Return the bytes of a request after as many tries as it may have; None where nobody waits any more.

        Raises
        ------
        RefbrowserError
            It cannot be read.
        """
        task, origin, url = segment.task, segment.location.origin, segment.location.url
        settings = task.access.connection(origin)
        host = self._host(origin)
        export = task.options.export
        tries = LIMITS.http_tries_export if export else LIMITS.http_tries
        start, stop = _bounds(segment, index)
        if stop is None:
            stop = task.options.beginning
        size = 0 if stop is None else stop - start
        total = LIMITS.http_total_export if export else LIMITS.http_total
        deadline = time.monotonic() + total + size / LIMITS.http_total_rate
        number = 0
        while True:
            number += 1
            began = time.monotonic()
            try:
                with host.turns.one(task.pause) as waited:
                    if waited is None:
                        return None
                    began, deadline = began + waited, deadline + waited
                    if number == 1:
                        self._check_circuit(origin, host)
                    got = self._once(segment, start, stop, host, settings, deadline)
            except RefbrowserError as error:
                _tell(segment, start, stop, began, error=error.message)
                raise
            except Exception as error:  # the packages raise whatever their clients do
                failure = failure_of(error)
                self._throttle(origin, host, failure)
                pause = wait_before(number, failure.after)
                is_late = time.monotonic() + pause > deadline or pause > LIMITS.http_retry_after
                # Where others have opened the circuit meanwhile, this one gives up for its own reason.
                is_open = time.monotonic() + pause < host.open_until
                if not failure.retry or number >= tries or is_late or is_open:
                    _tell(segment, start, stop, began, error=failure.said)
                    if failure.retry:
                        self._failed(origin, host, failure)
                    raise self._error(failure, url, origin, settings, number) from error
                _tell(segment, start, stop, began, error=failure.said, wait=pause)
                if not task.pause(pause):
                    return None
                continue
            if got is not None:
                host.failures = 0
                _tell(segment, start, stop, began, got)
            return got

    def _once(
        self,
        segment: Segment,
        start: int,
        stop: int | None,
        host: _Host,
        settings: ConnectionSettings,
        deadline: float,
    ) -> Got | None:
        """Make a request; return what came, verified, or None where nobody waits for it any more."""
        task, location = segment.task, segment.location

        is_beginning = not segment.requests and stop is not None

        def check(first: int, last: int, total: int) -> None:
            nonlocal stop
            if is_beginning:
                # Of an object that may be shorter; Azure's client tells the range that was asked for.
                assert stop is not None
                stop, last = min(stop, total), min(last, total)
            if stop is None:
                limit = task.options.size_limit
                if total > limit:
                    raise oversize(total, limit, location.url)
            elif total < stop:
                raise short_object(location.url, total, start, stop)
            if first != start or last != (total if stop is None else stop):
                message = f"bytes {start} to {stop} were requested, the answer holds {first} to {last}"
                raise RefbrowserError(ErrorKind.SOURCE, message, Place(url=location.url))

        calls = host.calls(location.origin, settings)
        segment.sent()
        coming = Coming(check)
        future = asyncio.run_coroutine_threadsafe(calls.get(location.path, start, stop, coming), calls.loop)
        got = self._answer(segment, future, coming, deadline)
        if got is None:
            return None
        task.count(size=len(got.data))
        expected = (got.identity.total or 0) if stop is None else stop - start
        if len(got.data) != expected:
            raise ConnectionError(f"{expected} bytes were requested, {len(got.data)} arrived")
        task.access.memory.identities.confirm(location.url, got.identity)
        return got

    @staticmethod
    def _answer(segment: Segment, future: Future[Got], coming: Coming, deadline: float) -> Got | None:
        pace = Pace()
        while True:
            try:
                return future.result(_LOOK)
            except TimeoutError:
                if future.done():
                    return future.result()
            if not _is_wanted(segment):
                future.cancel()
                return None
            now = time.monotonic()
            if now > deadline:
                future.cancel()
                raise TimeoutError("the request took too long in all")
            if pace.is_slow(coming.received, now):
                future.cancel()
                raise TimeoutError("the answer comes too slowly")

    # What is known of a bucket

    def _host(self, origin: Origin) -> _Host:
        with self._lock:
            return self._hosts.setdefault(origin, _Host())

    def _check_circuit(self, origin: Origin, host: _Host) -> None:
        left = host.open_until - time.monotonic()
        if left > 0:
            failed = f"{origin} failed {LIMITS.circuit_failures} times in a row"
            message = f"{failed} and is not contacted for {left:.0f} s; the last time: {host.reason}"
            raise RefbrowserError(ErrorKind.SOURCE, message)

    def _throttle(self, origin: Origin, host: _Host, failure: Failure) -> None:
        if not failure.throttles:
            return
        host.turns.throttle(failure.after)
        self._models.of(str(origin)).throttle()
        self._report("throttled", origin, f"{origin} asked for fewer requests")

    def _failed(self, origin: Origin, host: _Host, failure: Failure) -> None:
        with self._lock:
            host.reason = failure.said
            host.failures += 1
            if host.failures < LIMITS.circuit_failures:
                return
            host.failures = 0
            host.open_until = time.monotonic() + LIMITS.circuit_open
        self._report("circuit", origin, f"{origin} is not contacted for {LIMITS.circuit_open:g} s")

    def _report(self, kind: str, origin: Origin, message: str) -> None:
        if self._observer is not None:
            self._observer(FetchEvent(kind, origin, message))

    @staticmethod
    def _error(
        failure: Failure, url: str, origin: Origin, settings: ConnectionSettings, number: int
    ) -> RefbrowserError:
        if failure.retry and failure.after is not None and failure.after > LIMITS.http_retry_after:
            message = f"the store answered {failure.status} and asks to wait {failure.after:.0f} s"
            return RefbrowserError(ErrorKind.SOURCE, message, Place(url=url))
        return failure.error("read", url, origin, settings, number)


def _bounds(segment: Segment, index: int) -> tuple[int, int | None]:
    """Return the bytes of the object that a request asks for; up to None: all."""
    if not segment.requests:
        return 0, None
    first, last = segment.requests[index]
    return segment.start + first, segment.start + last


def _tell(
    segment: Segment,
    start: int,
    stop: int | None,
    began: float,
    got: Got | None = None,
    *,
    error: str = "",
    wait: float | None = None,
) -> None:
    """Tell the witness of the fetch, if there is one, how a try ended."""
    witness = segment.task.options.witness
    if witness is None:
        return
    attempt = Attempt(
        url=segment.location.url,
        start=start,
        stop=stop,
        answer="" if got is None else f"an object of {got.identity.total} bytes",
        received=0 if got is None else len(got.data),
        error=error,
        wait=wait,
        seconds=time.monotonic() - began,
    )
    witness(attempt)


def _is_wanted(segment: Segment) -> bool:
    return segment.task.live and not segment.settled
