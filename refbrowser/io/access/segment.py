"""A run of bytes of one object: its buffer, and the rows that are cut from it as bytes arrive."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from refbrowser.errors import AbsentError, ChangedError, ErrorKind, OversizeError, Place, RefbrowserError
from refbrowser.io.access.access import Location
from refbrowser.io.access.local_files import (
    failed,
    open_regular,
    opened,
    read_bytes,
    read_exactly,
    read_ranges,
)
from refbrowser.io.access.task import Attempt, FetchTask
from refbrowser.io.identity import FileIdentity
from refbrowser.io.plan import TO_THE_END, RangePlan

#: What is read of whole files before it is handed over: so many of them, bytes, or seconds that it took.
_FILES, _BYTES, _SECONDS = 64, 1 << 20, 0.02
#: Up to so many bytes are read by one call of the system.
_AT_ONCE = 256 << 10


class Runs:
    """The segments of a plan as lists: to take numbers out of arrays one by one takes longer."""

    def __init__(self, plan: RangePlan) -> None:
        self.urls: list[int] = plan.segment_url.tolist()
        self.starts: list[int] = plan.segment_start.tolist()
        self.stops: list[int] = plan.segment_stop.tolist()
        self.requests_of: list[int] = plan.requests_of.tolist()
        self.request_starts: list[int] = plan.request_start.tolist()
        self.request_stops: list[int] = plan.request_stop.tolist()
        self.rows_of: list[int] = plan.rows_of.tolist()
        self.rows: list[int] = plan.rows.tolist()
        self.cut_starts: list[int] = plan.cut_start.tolist()
        self.cut_stops: list[int] = (plan.cut_start + plan.cut_length).tolist()


class Segment:
    """A run of bytes of one object that is read into one buffer (or into its rows' destinations).

    Attributes
    ----------
    location
        Where it is read from.
    start, stop
        Bytes of the object; `stop` is None until the size of a whole file is known.
    requests
        Bounds of its requests, relative to `start`; empty for a whole file.
    ranges
        Offsets, relative to `start`, and sizes of the only bytes that are looked at; None: all are read.
    row_sizes
        Number of those of each row.
    read_size
        Number of bytes that are read of a file, None for a whole one.
    """

    __slots__ = (
        "_cursor",
        "_cuts",
        "_received",
        "_rows",
        "_sent",
        "_stops",
        "buffer",
        "location",
        "ranges",
        "read_size",
        "requests",
        "row_sizes",
        "settled",
        "start",
        "stop",
        "task",
    )

    def __init__(self, runs: Runs, number: int, location: Location, task: FetchTask) -> None:
        self.task = task
        self.location = location
        self.start, stop = runs.starts[number], runs.stops[number]
        self.stop = None if stop == TO_THE_END else stop
        requests = slice(runs.requests_of[number], runs.requests_of[number + 1])
        bounds = zip(runs.request_starts[requests], runs.request_stops[requests], strict=True)
        self.requests = [] if self.stop is None else [(a - self.start, b - self.start) for a, b in bounds]
        rows = slice(runs.rows_of[number], runs.rows_of[number + 1])
        self._rows = runs.rows[rows]
        self._cuts = runs.cut_starts[rows]
        self._stops = runs.cut_stops[rows]
        self._received = [0] * max(len(self.requests), 1)
        self._cursor = 0
        self._sent: float | None = None
        self.settled = False
        self.buffer: memoryview | None = None
        self.ranges: list[tuple[int, int]] | None = None
        self.row_sizes: list[int] = []
        self.read_size = self.size

    @property
    def size(self) -> int | None:
        """Number of bytes, None for a whole file before its answer."""
        return None if self.stop is None else self.stop - self.start

    def find_ranges(self) -> None:
        """Ask for the only bytes that need be read; every row must have such."""
        wanted = self.task.options.ranges
        if wanted is None or self.stop is None:
            return
        ranges: list[tuple[int, int]] = []
        row_sizes: list[int] = []
        for row, cut in zip(self._rows, self._cuts, strict=True):
            found = wanted(row)
            if found is None:
                return
            offsets, size = found
            ranges += [(cut + offset, size) for offset in offsets]
            row_sizes.append(len(offsets) * size)
        self.ranges, self.row_sizes, self.read_size = ranges, row_sizes, sum(row_sizes)

    def sent(self) -> None:
        """Note that a request for it is sent; the time of its rows counts from the first one."""
        self.task.count(requests=1)
        if self._sent is None:
            self._sent = time.monotonic()

    def allocate(self) -> memoryview:
        """Return the buffer of all bytes, made on the first call.

        Raises
        ------
        RefbrowserError
            `E_BUDGET`: there is no memory for it.
        """
        if self.buffer is None:
            assert self.stop is not None
            self.buffer = self._sole_destination() or room_for(self.stop - self.start)
        return self.buffer

    def scattered(self) -> list[memoryview] | None:
        """Return the destinations of the rows if they fill the segment exactly, else None."""
        wanted = self.task.options.destination
        if wanted is None or self._cuts != [0, *self._stops[:-1]] or self._stops[-1] != self.size:
            return None
        views = [wanted(row) for row in self._rows]
        return None if None in views else [_flat(view) for view in views if view is not None]

    def arrived(self, index: int, received: int) -> None:
        """Note that a request has brought its first `received` bytes, and deliver the rows now complete."""
        self._received[index] = received
        if self.settled:
            return
        prefix = 0
        for (first, last), count in zip(self.requests, self._received, strict=True):
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
        """Deliver all rows, whose bytes lie in `views`: their destinations, or what was read of them."""
        self._hand_over(self._rows, views)
        self._settle()

    def joined(self, data: memoryview) -> list[memoryview]:
        """Return what `ranges` gave of each row, from all of it joined."""
        stops = list(accumulate(self.row_sizes))
        return [data[stop - size : stop] for stop, size in zip(stops, self.row_sizes, strict=True)]

    def fail(self, error: RefbrowserError) -> None:
        """Deliver `error` to the rows that have not been delivered, each with its own range."""
        if self.settled:
            return
        for position in range(self._cursor, len(self._rows)):
            self.task.hand_over_error(self._rows[position], self._error(error, position))
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
        return error.at(place)

    def _sole_destination(self) -> memoryview | None:
        if self.task.options.destination is None or len(self._rows) != 1 or self._stops[0] != self.size:
            return None
        view = self.task.options.destination(self._rows[0])
        return None if view is None else _flat(view)

    def _deliver_up_to(self, prefix: int) -> None:
        buffer = self.buffer
        assert buffer is not None
        first = last = self._cursor
        stops = self._stops
        while last < len(stops) and stops[last] <= prefix:
            last += 1
        if last > first:
            bounds = zip(self._cuts[first:last], stops[first:last], strict=True)
            # All at once: taking the lock for each of many small rows takes longer than cutting them.
            self._hand_over(self._rows[first:last], [buffer[cut:stop] for cut, stop in bounds])
            self._cursor = last

    def _hand_over(self, rows: Sequence[int], parts: Sequence[memoryview]) -> None:
        if self.task.options.timed is not None and self._sent is not None:
            self.task.options.timed(rows, time.monotonic() - self._sent)
        self.task.hand_over(rows, parts)

    def _settle(self) -> None:
        self.settled = True
        self.buffer = None
        self.task.settle()


def _flat(view: memoryview) -> memoryview:
    return view if view.format == "B" and view.ndim == 1 else view.cast("B")


def room_for(size: int) -> memoryview:
    """Return a buffer of `size` bytes, whose number a file or a server gave.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: there is no memory for it.
    """
    try:
        return np.empty(size, np.uint8).data
    except MemoryError:
        raise RefbrowserError(ErrorKind.BUDGET, f"there is no memory for {size} bytes") from None


def oversize(size: int, limit: int, url: str) -> OversizeError:
    """Return the error for an object that is read whole and larger than `limit`."""
    message = f"an object of {size} bytes is larger than the {limit} that are read whole"
    return OversizeError(ErrorKind.BUDGET, message, Place(url=url))


def short_object(url: str, total: int, start: int, stop: int) -> RefbrowserError:
    """Return the error for a range that reaches past the end of its object."""
    message = f"the object has {total} bytes, the range ends at {stop}"
    return RefbrowserError(ErrorKind.RANGE, message, Place(url=url, start=start, stop=stop))


def read_segments(location: Location, segments: Sequence[Segment]) -> None:
    """Read segments of one file and deliver their rows; failures are delivered, not raised."""
    try:
        with open_regular(location.path) as (descriptor, identity):
            for segment in segments:
                segment.task.wait_for_room()
                if not segment.task.live:
                    return
                try:
                    _read_segment(descriptor, identity, segment)
                except RefbrowserError as error:
                    _fail(segment, error, identity)
                except OSError as error:
                    _fail(segment, failed(error, location.path), identity)
    except RefbrowserError as error:
        is_lost = isinstance(error, AbsentError) and segments[0].task.access.is_lost
        for segment in segments:
            _fail(segment, _lost(error) if is_lost else error, None)


#: A file that is read whole, and the rows that are all of it.
WholeFile = tuple[Location, list[int]]


def read_files(files: deque[WholeFile], task: FetchTask) -> int:
    """Read some files of `files` whole, and deliver their rows; failures are delivered, not raised.

    What came of them is handed over together: for many small files that takes as long as reading them.

    Returns
    -------
    int
        How many were taken.
    """
    began = time.monotonic()
    done: list[tuple[int, memoryview | RefbrowserError]] = []
    taken = size = requests = 0
    is_absent = False
    seconds = began
    while taken < _FILES and size < _BYTES and seconds - began < _SECONDS and task.live:
        try:
            location, rows = files.popleft()
        except IndexError:
            break
        taken += 1
        data = _whole_file(location, task)
        before, seconds = seconds, time.monotonic()
        if isinstance(data, RefbrowserError):
            is_absent = is_absent or isinstance(data, AbsentError)
        else:
            size += len(data)
            requests += 1
            if task.options.timed is not None:
                task.options.timed(rows, seconds - before)
        done += [(row, data) for row in rows]
    if is_absent and task.access.is_lost:
        done = [(row, _lost(data) if isinstance(data, AbsentError) else data) for row, data in done]
    task.hand_over_all(done, segments=taken, size=size, requests=requests)
    return taken


def _whole_file(location: Location, task: FetchTask) -> memoryview | RefbrowserError:
    """Return the bytes of a file, or why they could not be had."""
    path, received = location.path, 0
    identity: FileIdentity | None = None
    descriptor = -1
    try:
        descriptor, identity = opened(path)
        beginning = task.options.beginning
        size = identity.size if beginning is None else min(identity.size, beginning)
        task.access.memory.identities.confirm(location.url, identity.as_object())
        if size > task.options.size_limit:
            raise oversize(size, task.options.size_limit, location.url)
        if size <= _AT_ONCE:
            data = memoryview(read_bytes(descriptor, size, 0))
            received = len(data)
        # Some file systems give fewer bytes than there are, some at a time.
        if received < size:
            data = room_for(size)
            received = read_exactly(descriptor, [data], 0, task)
        if received != size and task.live:
            raise short_object(location.url, received, 0, size).at(Place(url=location.url))
        if FileIdentity.of(os.fstat(descriptor)) != identity:
            raise file_changed(location.url)
    except RefbrowserError as error:
        failure = error
    except OSError as error:
        failure = failed(error, path)
    else:
        _tell(task, location.url, (0, None), identity, received)
        return data
    finally:
        if descriptor >= 0:
            os.close(descriptor)
    _tell(task, location.url, (0, None), identity, received, failure.message)
    return failure


def _lost(error: RefbrowserError) -> RefbrowserError:
    """Return the error of a file that is not there of a store that is gone as well."""
    return RefbrowserError(error.kind, error.message, error.place, error.advice)


def file_changed(url: str) -> RefbrowserError:
    """Return the error of a file that changed while it was read."""
    return ChangedError(ErrorKind.SOURCE, "the file changed while it was read", Place(url=url))


def _fail(segment: Segment, error: RefbrowserError, identity: FileIdentity | None) -> None:
    _tell(segment.task, segment.location.url, (segment.start, segment.stop), identity, 0, error.message)
    segment.fail(error)


def _tell(
    task: FetchTask,
    url: str,
    bounds: tuple[int, int | None],
    identity: FileIdentity | None,
    received: int,
    error: str = "",
) -> None:
    """Tell the witness of the fetch, if there is one, what became of bytes of a file."""
    witness = task.options.witness
    if witness is None:
        return
    answer = ""
    if identity is not None:
        modified = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(identity.modified_ns // 10**9))
        answer = f"a file of {identity.size} bytes, modified {modified}"
    attempt = Attempt(
        url=url,
        start=bounds[0],
        stop=bounds[1],
        answer=answer,
        received=received,
        error=error,
    )
    witness(attempt)


def _read_segment(descriptor: int, identity: FileIdentity, segment: Segment) -> None:
    task, url = segment.task, segment.location.url
    buffer: memoryview | None = None
    task.access.memory.identities.confirm(url, identity.as_object())
    assert segment.stop is not None
    stop = segment.stop
    size = stop - segment.start
    if stop > identity.size:
        raise short_object(url, identity.size, segment.start, stop)
    if segment.ranges is not None:
        segment.sent()
        data = read_ranges(descriptor, segment.ranges, segment.start, task)
        views: list[memoryview] | None = segment.joined(data)
        count, size = len(data), sum(segment.row_sizes)
    else:
        views = segment.scattered()
        if views is None:
            buffer = segment.allocate()
        segment.sent()
        count = read_exactly(descriptor, views or [buffer], segment.start, task)  # type: ignore[list-item]
    task.count(size=count)
    if not task.live:
        return
    if count != size:
        raise short_object(url, segment.start + count, segment.start, stop)
    if FileIdentity.of(os.fstat(descriptor)) != identity:
        raise file_changed(url)
    _tell(task, url, (segment.start, segment.stop), identity, count)
    if views is not None:
        segment.delivered_into(views)
    elif buffer is not None:
        segment.filled(buffer)
