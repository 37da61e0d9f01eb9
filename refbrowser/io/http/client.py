"""The thread that reads over HTTP: a loop with a queue for each host."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Location
from refbrowser.io.access.segment import Segment
from refbrowser.io.access.task import FetchEvent, FetchTask
from refbrowser.io.http.connection import Dialer
from refbrowser.io.http.host import HttpHost, Redirects, unexpected
from refbrowser.io.http.login import Logins
from refbrowser.io.http.request import HttpRequest
from refbrowser.io.origins import Origin
from refbrowser.io.plan import LinkModels
from refbrowser.limits import LIMITS

_SWEEP = 0.1


class HttpClient:
    """Reads segments over HTTP; its methods may be called from any thread where not said otherwise."""

    def __init__(self, models: LinkModels, observer: Callable[[FetchEvent], None] | None) -> None:
        self.dialer = Dialer()
        self._models = models
        self._observer = observer
        self._lock = threading.Lock()
        self._hosts: dict[Origin, HttpHost] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self.redirects = Redirects()
        self.logins = Logins(self.dialer)
        self._serial = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()
        self._sweeping = False
        self._running: weakref.WeakSet[FetchTask] = weakref.WeakSet()

    def submit(self, task: FetchTask, segments: Sequence[tuple[int, Segment]]) -> None:
        """Read segments, each with its rank within the task (lower first)."""
        loop = self._running_loop()
        task.on_room = lambda: _call(loop, self._pump)
        loop.call_soon_threadsafe(self._add, task, segments)

    def drop_stopped(self) -> None:
        """Stop reading for tasks that were stopped; returns when nothing more is written to their buffers."""
        loop, thread = self._loop, self._thread
        if thread is None or threading.current_thread() is thread:
            return
        dropped = threading.Event()

        def drop() -> None:
            try:
                for host in list(self._hosts.values()):
                    host.drop_unwanted()
            finally:
                dropped.set()

        if loop is not None:
            _call(loop, drop)
        # Where the client is being closed, the thread's end is the end of all writing.
        while thread.is_alive() and not dropped.wait(0.05):
            pass

    def close(self) -> None:
        """Close all connections and end the thread."""
        with self._lock:
            loop, self._loop = self._loop, None
            thread = self._thread
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(self._shut, loop)
            thread.join(2)

    # On the loop's thread

    def host(self, origin: Origin) -> HttpHost:
        """Return the queue of an origin."""
        host = self._hosts.get(origin)
        if host is None:
            host = self._hosts[origin] = HttpHost(self, origin, self._models.of(str(origin)))
        return host

    def cut_off(self, segment: Segment) -> None:
        """Cut off the requests under way for a segment that has failed."""
        for host in list(self._hosts.values()):
            host.cut_off(segment)
        self.later(0, self._pump)

    def send(self, request: HttpRequest, location: Location) -> None:
        """Send a request on to another place."""
        request.location = location
        host = self.host(location.origin)
        host.add(request, request.rank)
        host.pump()

    def may_open(self, host: HttpHost) -> bool:
        """Whether another connection may be opened; closes an idle one elsewhere for it."""
        if sum(other.open_connections for other in self._hosts.values()) < LIMITS.connections_total:
            return True
        return any(other.close_idle() for other in self._hosts.values() if other is not host)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine that opens a connection; connections are looked after as long as there are any."""
        if not self._sweeping:
            self._sweeping = True
            self.later(_SWEEP, self._sweep)
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def later(self, seconds: float, function: Callable[..., None], *arguments: Any) -> None:
        """Call a function after some time."""
        asyncio.get_running_loop().call_later(seconds, function, *arguments)

    def report(self, kind: str, origin: Origin, message: str) -> None:
        """Tell the observer."""
        if self._observer is not None:
            self._observer(FetchEvent(kind, origin, message))

    def _add(self, task: FetchTask, segments: Sequence[tuple[int, Segment]]) -> None:
        if not task.live:
            return
        self._running.add(task)
        number = next(self._serial)
        hosts = set()
        for rank, segment in segments:
            try:
                location = self.redirects.target(segment.location, task.access)
                host = self.host(location.origin)
                hosts.add(host)
                for index in range(max(len(segment.requests), 1)):
                    request = HttpRequest(segment, index, location)
                    host.add(request, (task.options.priority, number, rank))
            except Exception as error:  # noqa: BLE001 - the loop would give it to every request
                segment.fail(RefbrowserError(ErrorKind.SOURCE, unexpected(error).message))
        for host in hosts:
            host.pump()

    def _pump(self) -> None:
        for host in list(self._hosts.values()):
            host.pump()

    def _sweep(self) -> None:
        now = time.monotonic()
        try:
            for host in list(self._hosts.values()):
                host.sweep(now)
            self._pump()
        finally:
            # Whatever happens: nothing else ends a request that takes too long.
            self._sweeping = any(host.open_connections for host in self._hosts.values())
            if self._sweeping:
                self.later(_SWEEP, self._sweep)

    def _crash(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """End all tasks on an exception that belongs to no request: waiting for ever would be worse.

        What the loop tells of a connection ends that connection only: its request is told by itself.
        """
        if not context.keys().isdisjoint(("transport", "protocol", "task", "future")):
            return
        error = context.get("exception") or RuntimeError(context["message"])
        for task in list(self._running):
            task.crash(error)

    def _shut(self, loop: asyncio.AbstractEventLoop) -> None:
        for host in self._hosts.values():
            host.close()
        for task in self._tasks:
            task.cancel()
        # Once more round the loop, so that transports and cancelled tasks are finished.
        loop.call_later(0.01, loop.stop)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = self._loop = asyncio.SelectorEventLoop()
                loop.set_exception_handler(self._crash)
                self._thread = threading.Thread(target=_run, args=(loop,), name="http", daemon=True)
                self._thread.start()
            return self._loop


def _call(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    """Call a function on a loop's thread, if the loop was not closed in the meantime."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()
