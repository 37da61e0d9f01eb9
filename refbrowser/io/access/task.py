"""One running fetch: its tries, and rows that go from the threads that read to the thread that asked."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from refbrowser.errors import RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import Cancelled
from refbrowser.io.origins import Origin
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from concurrent.futures import Executor


#: Header fields of an answer that tell about the bytes; others, which may be secrets, are not passed on.
TELLING_FIELDS = (
    "content-range",
    "content-length",
    "content-type",
    "content-encoding",
    "accept-ranges",
    "last-modified",
    "etag",
    "server",
    "date",
    "retry-after",
    "location",
)


class Attempt(NamedTuple):
    """One try to read bytes of an object.

    Attributes
    ----------
    url
        Where it was sent, canonical.
    start, stop
        The bytes that were asked for; `stop` None: the whole object.
    answer
        The status line of a server, or what the file is; empty where nothing answered.
    fields
        Those of `TELLING_FIELDS` that the answer has.
    received
        Bytes that came.
    error
        Why it failed; empty where it did not.
    wait
        Seconds until the next try; None where there is none.
    seconds
        From the question to the end of the answer.
    """

    url: str
    start: int = 0
    stop: int | None = None
    answer: str = ""
    fields: Mapping[str, str] = MappingProxyType({})
    received: int = 0
    error: str = ""
    wait: float | None = None
    seconds: float = 0.0


#: Called with each try when it has ended, on the thread that reads.
Witness = Callable[[Attempt], None]


def telling(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the header fields that are passed on."""
    return {name: fields[name] for name in TELLING_FIELDS if name in fields}


@dataclass(frozen=True, slots=True)
class FetchEvent:
    """Something that happened to a host.

    `kind` is ``throttled`` (the host asked for less) or ``circuit`` (the host is left alone for a while).
    """

    kind: str
    origin: Origin
    message: str


class Pace:
    """Tells answers that come too slowly: slower than the slowest accepted rate, over its whole time."""

    __slots__ = ("_received", "_since")

    def __init__(self) -> None:
        self._since, self._received = time.monotonic(), 0

    def is_slow(self, received: int, now: float) -> bool:
        """Tell whether too few bytes came lately, where so many have come in all."""
        seconds = now - self._since
        if seconds < LIMITS.http_slow_window:
            return False
        slow = received - self._received < LIMITS.http_slow_rate * seconds
        self._since, self._received = now, received
        return slow


#: Called with a row of the plan, and its bytes or why they could not be had.
Deliver = Callable[[int, "memoryview | RefbrowserError"], None]
#: Called with a row of the plan; returns where its bytes should be written, of exactly their length, or None.
Destination = Callable[[int], "memoryview | None"]
#: Called with a row of the plan; returns where the only bytes of it lie that are looked at, by their offsets
#: within the row in ascending order, and the number of bytes at each of them (fewer in all than the row has);
#: None for all bytes of the row.
RangesOf = Callable[[int], "tuple[list[int], int] | None"]
#: Called with a row of the plan; returns the key that messages name.
RowKey = Callable[[int], str]
#: Called with rows whose bytes have come, and the seconds since their request was sent.
Timed = Callable[[Sequence[int], float], None]

#: Bytes that were read and not taken yet; more are not asked for beyond this.
_ROOM = 64 << 20


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


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """How a fetch reads; see `Fetcher.fetch`.

    `beginning`: of whole objects only so many bytes from their begin on, fewer where there are no more.
    `is_aside`: by threads that wait for no room of other fetches.
    """

    destination: Destination | None = None
    ranges: RangesOf | None = None
    export: bool = False
    priority: int = 0
    size_limit: int = LIMITS.chunk_size
    progress: Callable[[int, int | None], None] | None = None
    witness: Witness | None = None
    timed: Timed | None = None
    heads: bool = False
    beginning: int | None = None
    is_aside: bool = False

    def pool(self, name: str) -> str:
        """Return the name of the threads that read, by what they read."""
        return f"{name} aside" if self.is_aside else name


class FetchTask:
    """State of one `Fetcher.fetch`: threads that read `hand_over` rows, the one that asked takes them.

    Attributes
    ----------
    on_room
        Called, on the thread that asked, when `is_congested` ends.
    """

    def __init__(self, access: Access, options: FetchOptions) -> None:
        self.access = access
        self.options = options
        self.counters = Counters()
        self.on_room: Callable[[], None] = lambda: None
        self._guard = threading.RLock()
        self._changed = threading.Condition(self._guard)
        self._rows: deque[tuple[int, memoryview | RefbrowserError]] = deque()
        self._work: deque[Callable[[], None]] = deque()
        self._held = 0
        self._congested = False
        self._pending = 0
        self._readers = 0
        self._live = True
        self._failure: BaseException | None = None
        #: The thread that takes the rows.
        self._taker: int | None = None

    @property
    def live(self) -> bool:
        """Whether rows are still wanted."""
        return self._live

    @property
    def is_congested(self) -> bool:
        """Whether so much waits to be taken that no more should be asked for."""
        return self._congested

    def expect(self, segments: int) -> None:
        """Set how many segments must be settled before the task is done."""
        self._pending = segments

    # Threads that read

    def hand_over(self, rows: Sequence[int], parts: Sequence[memoryview]) -> None:
        """Give the bytes of rows to the thread that asked."""
        size = sum(map(len, parts))
        with self._guard:
            self._held += size
            self._congested = self._held > _ROOM
            self._append(zip(rows, parts, strict=True))

    def hand_over_error(self, row: int, error: RefbrowserError) -> None:
        """Tell the thread that asked why a row could not be had."""
        with self._changed:
            self._append([(row, error)])

    def hand_over_all(
        self,
        rows: Sequence[tuple[int, memoryview | RefbrowserError]],
        segments: int,
        size: int,
        requests: int,
    ) -> None:
        """Give what whole segments brought, with how many they are, their bytes, and requests sent."""
        # Bytes that several rows have are taken several times.
        held = sum(len(data) for _, data in rows if not isinstance(data, RefbrowserError))
        with self._changed:
            self.counters.bytes += size
            self.counters.requests += requests
            self._held += held
            self._congested = self._held > _ROOM
            self._pending -= segments
            self._append(rows)
            if not self._pending:
                self._changed.notify_all()

    def _append(self, rows: Iterable[tuple[int, memoryview | RefbrowserError]]) -> None:
        was_empty = not self._rows
        self._rows.extend(rows)
        # What has no bytes is taken together at the end: threads that wake each other for each take longer.
        if was_empty and not self.options.heads:
            self._changed.notify_all()

    def settle(self) -> None:
        """Take note that one segment is read, or has failed."""
        with self._guard:
            self._pending -= 1
            if not self._pending:
                self._changed.notify_all()

    def count(self, size: int = 0, requests: int = 0) -> None:
        """Count bytes and requests."""
        with self._guard:
            self.counters.bytes += size
            self.counters.requests += requests

    def crash(self, error: BaseException) -> None:
        """End the task with an exception that nobody expected; `take_rows` raises it."""
        with self._changed:
            # What fails once nobody wants it fails for that: its threads may have ended.
            if self._live:
                self._failure = error
        self.stop()

    def read_in(self, pool: Executor, work: Callable[[], None]) -> None:
        """Run `work` in a pool, unless the task has ended by then."""
        pool.submit(self._read, work)

    def read_here(self, work: Callable[[], None]) -> None:
        """Run `work` on the thread that takes the rows, once it has taken those that came before."""
        self._work.append(work)

    def wait_for_room(self) -> None:
        """Wait while the task is congested; the thread that takes the rows makes room, and never waits."""
        if threading.get_ident() == self._taker:
            return
        with self._changed:
            self._changed.wait_for(lambda: not (self._live and self._congested))

    def pause(self, seconds: float) -> bool:
        """Wait, on a thread of `read_in`, unless the task ends meanwhile; tell whether it goes on."""
        with self._changed:
            return not self._changed.wait_for(lambda: not self._live, seconds)

    def _read(self, work: Callable[[], None]) -> None:
        with self._changed:
            if not self._live:
                return
            self._readers += 1
        try:
            work()
        except Exception as error:  # noqa: BLE001 - raised again by `take_rows`
            self.crash(error)
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    # The thread that asked

    def take_rows(self, deliver: Deliver, key: RowKey | None) -> None:
        """Deliver rows as they come, until every segment is settled.

        Raises
        ------
        Cancelled
            `stop` was called.
        """
        self._taker = threading.get_ident()
        while True:
            while self._work and not self._rows:
                self._read(self._work.popleft())
            with self._changed:
                self._changed.wait_for(lambda: self._rows or not self._pending or not self._live)
                if not self._live:
                    raise self._failure or Cancelled
                if not self._rows:
                    return
            taken = 0
            while self._rows and self._live:
                row, data = self._rows.popleft()
                if isinstance(data, RefbrowserError):
                    deliver(row, _with_key(data, row, key))
                else:
                    taken += len(data)
                    deliver(row, data)
                    # Not held while waiting for the next one.
                    del data
                if taken > _ROOM // 4:
                    break
            self._took(taken)

    def stop(self) -> None:
        """Want no more rows."""
        with self._changed:
            self._live = False
            self._changed.notify_all()

    def wait_for_readers(self) -> None:
        """Return when no work of `read_in` is running."""
        with self._changed:
            self._changed.wait_for(lambda: not self._readers)

    def _took(self, size: int) -> None:
        with self._changed:
            self._held -= size
            had_room = not self._congested
            self._congested = self._held > _ROOM
            if had_room or self._congested:
                return
            self._changed.notify_all()
        self.on_room()


def _with_key(error: RefbrowserError, row: int, key: RowKey | None) -> RefbrowserError:
    if key is None or error.place.key is not None:
        return error
    return error.at(replace(error.place, key=key(row)))
