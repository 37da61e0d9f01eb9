"""One running fetch: its segments' buffers, and the delivery of rows as their bytes arrive."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.access import Access, Location
from refbrowser.io.ranges import TO_THE_END, RangePlan
from refbrowser.limits import LIMITS

#: Called with a row of the plan, and its bytes or why they could not be had.
Deliver = Callable[[int, "memoryview | RefbrowserError"], None]
#: Called with a row of the plan; returns where its bytes should be written, of exactly their length, or None.
Destination = Callable[[int], "memoryview | None"]
#: Called with a row of the plan; returns the key that messages name.
RowKey = Callable[[int], str]


@dataclass(slots=True)
class Counters:
    """What was read: bytes of bodies, requests sent (tries count), and bytes that no row needed."""

    bytes: int = 0
    requests: int = 0
    wasted: int = 0

    def add(self, other: Counters) -> None:
        """Add another count to this one."""
        self.bytes += other.bytes
        self.requests += other.requests
        self.wasted += other.wasted


class FetchTask:
    """State of one `Fetcher.fetch`, shared by the threads that read for it.

    Rows are delivered one at a time, and none after `stop` or `finish`.
    """

    def __init__(
        self,
        access: Access,
        deliver: Deliver,
        *,
        destination: Destination | None = None,
        key: RowKey | None = None,
        export: bool = False,
        priority: int = 0,
        size_limit: int = LIMITS.chunk_size,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> None:
        self.access = access
        self.destination = destination
        self.export = export
        self.priority = priority
        self.size_limit = size_limit
        self.progress = progress
        self.counters = Counters()
        self.done = threading.Event()
        self.failure: BaseException | None = None
        self._deliver = deliver
        self._key = key
        # Reentrant, because a receiver may cancel its own task.
        self._lock = threading.RLock()
        self._idle = threading.Condition(self._lock)
        self._readers = 0
        self._live = True
        self._pending = 0

    @property
    def live(self) -> bool:
        """Whether rows are still wanted."""
        return self._live

    def expect(self, segments: int) -> None:
        """Set how many segments must be settled before the task is done."""
        self._pending = segments
        if not segments:
            self.done.set()

    def deliver(self, row: int, data: memoryview | RefbrowserError) -> None:
        """Hand one row over; an exception of the receiver ends the task."""
        if isinstance(data, RefbrowserError) and self._key is not None and data.place.key is None:
            place = replace(data.place, key=self._key(row))
            data = RefbrowserError(data.kind, data.message, place, data.advice)
        with self._lock:
            if not self._live:
                return
            try:
                self._deliver(row, data)
            except BaseException as error:  # noqa: BLE001 - raised again by `Fetcher.fetch`
                self.crash(error)

    def count(self, size: int = 0, requests: int = 0) -> None:
        """Count bytes and requests."""
        with self._lock:
            self.counters.bytes += size
            self.counters.requests += requests

    def settle(self) -> None:
        """One segment is read, or has failed."""
        with self._lock:
            self._pending -= 1
            if not self._pending:
                self.done.set()

    def crash(self, error: BaseException) -> None:
        """End the task with an exception that `Fetcher.fetch` raises."""
        with self._lock:
            self._live = False
            self.failure = error
        self.done.set()

    def read_in(self, pool: Executor, work: Callable[[], None]) -> None:
        """Run `work` in a pool, unless the task has ended by then."""
        pool.submit(self._read, work)

    def wait_for_readers(self) -> None:
        """Return when no work of `read_in` is running."""
        with self._idle:
            self._idle.wait_for(lambda: not self._readers)

    def _read(self, work: Callable[[], None]) -> None:
        with self._lock:
            if not self._live:
                return
            self._readers += 1
        try:
            work()
        except Exception as error:  # noqa: BLE001 - raised again by `Fetcher.fetch`
            self.crash(error)
        finally:
            with self._idle:
                self._readers -= 1
                self._idle.notify_all()

    def stop(self) -> None:
        """Deliver nothing from now on; returns when no delivery is under way."""
        with self._lock:
            self._live = False
        self.done.set()


class Segment:
    """A run of bytes of one object that is read into one buffer (or into its rows' destinations).

    Attributes
    ----------
    location
        Where it is read from.
    start, stop
        Bytes of the object; `stop` is None until the size of a whole file is known.
    pieces
        Bounds of its requests, relative to `start`; empty for a whole file.
    """

    __slots__ = (
        "_cursor",
        "_cuts",
        "_received",
        "_rows",
        "_stops",
        "buffer",
        "location",
        "pieces",
        "settled",
        "start",
        "stop",
        "task",
    )

    def __init__(self, plan: RangePlan, number: int, location: Location, task: FetchTask) -> None:
        self.task = task
        self.location = location
        self.start = int(plan.segment_start[number])
        stop = int(plan.segment_stop[number])
        self.stop = None if stop == TO_THE_END else stop
        requests = slice(int(plan.requests_of[number]), int(plan.requests_of[number + 1]))
        bounds = zip(plan.request_start[requests].tolist(), plan.request_stop[requests].tolist(), strict=True)
        self.pieces = [] if self.stop is None else [(a - self.start, b - self.start) for a, b in bounds]
        rows = slice(int(plan.rows_of[number]), int(plan.rows_of[number + 1]))
        self._rows: list[int] = plan.rows[rows].tolist()
        cuts, lengths = plan.cut_start[rows], plan.cut_length[rows]
        self._cuts: list[int] = cuts.tolist()
        self._stops: list[int] = (cuts + lengths).tolist()
        self._received = [0] * max(len(self.pieces), 1)
        self._cursor = 0
        self.settled = False
        self.buffer: memoryview | None = None

    @property
    def size(self) -> int | None:
        """Number of bytes, None for a whole file before its answer."""
        return None if self.stop is None else self.stop - self.start

    def allocate(self) -> memoryview:
        """Return the buffer of all bytes, made on the first call."""
        if self.buffer is None:
            assert self.stop is not None
            self.buffer = self._sole_destination() or np.empty(self.stop - self.start, np.uint8).data
        return self.buffer

    def scattered(self) -> list[memoryview] | None:
        """Return the destinations of the rows if they fill the segment exactly, else None."""
        wanted = self.task.destination
        if wanted is None or self._cuts != [0, *self._stops[:-1]] or self._stops[-1] != self.size:
            return None
        views = [wanted(row) for row in self._rows]
        return None if None in views else [_flat(view) for view in views if view is not None]

    def arrived(self, piece: int, received: int) -> None:
        """Note that a request has brought its first `received` bytes, and deliver the rows now complete."""
        self._received[piece] = received
        if self.settled:
            return
        prefix = 0
        for (first, last), count in zip(self.pieces, self._received, strict=True):
            prefix = first + count
            if prefix < last:
                break
        self._deliver_up_to(prefix)
        if self._cursor == len(self._rows):
            self._settle()

    def filled(self, data: memoryview) -> None:
        """Deliver all rows from `data`, the whole segment."""
        self.buffer = data
        self.stop = self.start + len(data)
        if self._stops and self._stops[-1] < 0 and self._cuts[-1] == 0:
            self._stops = [len(data)] * len(self._rows)
        self._deliver_up_to(len(data))
        self._settle()

    def delivered_into(self, views: Sequence[memoryview]) -> None:
        """Deliver all rows, whose bytes were written to their destinations."""
        for row, view in zip(self._rows, views, strict=True):
            self.task.deliver(row, view)
        self._settle()

    def fail(self, error: RefbrowserError) -> None:
        """Deliver `error` to the rows that have not been delivered, each with its own range."""
        if self.settled:
            return
        for position in range(self._cursor, len(self._rows)):
            self.task.deliver(self._rows[position], self._error(error, position))
        self._cursor = len(self._rows)
        self._settle()

    def _error(self, error: RefbrowserError, position: int) -> RefbrowserError:
        cut, stop = self._cuts[position], self._stops[position]
        place = replace(
            error.place,
            url=error.place.url or self.location.url,
            start=None if stop < 0 else self.start + cut,
            stop=None if stop < 0 else self.start + stop,
        )
        return RefbrowserError(error.kind, error.message, place, error.advice)

    def _sole_destination(self) -> memoryview | None:
        if self.task.destination is None or len(self._rows) != 1 or self._stops[0] != self.size:
            return None
        view = self.task.destination(self._rows[0])
        return None if view is None else _flat(view)

    def _deliver_up_to(self, prefix: int) -> None:
        buffer = self.buffer
        assert buffer is not None
        cursor, rows, cuts, stops = self._cursor, self._rows, self._cuts, self._stops
        while cursor < len(rows) and stops[cursor] <= prefix:
            self.task.deliver(rows[cursor], buffer[cuts[cursor] : stops[cursor]])
            cursor += 1
        self._cursor = cursor

    def _settle(self) -> None:
        self.settled = True
        self.buffer = None
        self.task.settle()


def _flat(view: memoryview) -> memoryview:
    return view if view.format == "B" and view.ndim == 1 else view.cast("B")


def short_object(url: str, total: int, start: int, stop: int) -> RefbrowserError:
    """Return the error for a range that reaches past the end of its object."""
    message = f"the object has {total} bytes, the range ends at {stop}"
    return RefbrowserError(ErrorKind.RANGE, message, Place(url=url, start=start, stop=stop))
