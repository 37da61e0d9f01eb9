"""The range plan: which requests a set of references needs, by the model of the link to their host."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

#: Fewer connections than this are never worth opening.
LEAST_CONNECTIONS = 8
#: Connections that fill a link: the rates of connections that share it look as if it took more.
MOST_STREAMS = 16
_SAMPLES = 32
_FIRST_BYTES = 128
#: No object has bytes beyond this one.
_MOST_STOP = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Link:
    """What reading from one host costs.

    Attributes
    ----------
    host
        Names the link; references with equal links are planned together.
    latency
        Seconds from a request to the first byte of its answer.
    per_connection, total
        Bytes per second of one connection, and of all of them.
    request_cost
        Seconds of this program's CPU per request.
    most
        Connections that may be open at once.
    block
        Bytes of the smallest and largest request that splitting makes.
    blocks
        Requests that a large read is split into, at least.
    gap
        Bytes between two ranges that are read over at most; None for what takes the least time.
    """

    host: str = ""
    latency: float = 0.03
    per_connection: float = 50e6
    total: float = 200e6
    request_cost: float = 0.0002
    most: int = LIMITS.connections_per_host
    block: tuple[int, int] = (64 << 10, 8 << 20)
    blocks: int = 64
    gap: int | None = None

    @property
    def is_measured(self) -> bool:
        """Whether anything of it was learned from requests: else it is what a link is taken for at first."""
        first = Link()
        return (self.latency, self.per_connection, self.total) != (
            first.latency,
            first.per_connection,
            first.total,
        )

    def connections(self, size: float, requests: float) -> int:
        """Return how many connections `requests` for `size` bytes should use (Little's law)."""
        mean = max(size / max(requests, 1), 1)
        streams = min(self.total / self.per_connection, MOST_STREAMS)
        needed = 1.25 * (self.latency * self.total / mean + streams)
        return int(min(max(needed, LEAST_CONNECTIONS), self.most))

    def time(self, size: float, requests: float) -> float:
        """Return the seconds that `requests` for `size` bytes in all should take."""
        connections = self.connections(size, requests)
        streams = (requests * self.latency + size / self.per_connection) / connections
        return self.latency + max(size / self.total, streams, requests * self.request_cost)

    def block_size(self, size: int) -> int:
        """Return the bytes of one request when `size` bytes are read."""
        smallest, largest = self.block
        return min(max(size // self.blocks, smallest), largest)


#: Local files: gaps are never read, neighbours are, and nothing is gained by many requests.
LOCAL = Link("", latency=0, request_cost=0, per_connection=2e9, total=2e9, block=(4 << 20, 4 << 20), blocks=1)


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """What is tried in the place of what the model of a link says; None is what it says.

    Attributes
    ----------
    gap
        Bytes between two ranges that are read over at most.
    block
        Bytes of one request, about.
    connections
        Connections that are used at most.
    """

    gap: int | None = None
    block: int | None = None
    connections: int | None = None

    def link(self, link: Link) -> Link:
        """Return a link by which is planned so."""
        if self == AUTOMATIC:
            return link
        block, blocks = (link.block, link.blocks) if self.block is None else ((self.block, self.block), 1)
        most = link.most if self.connections is None else self.connections
        return replace(link, block=block, blocks=blocks, most=most, gap=self.gap)


#: What the program does.
AUTOMATIC = PlanChoice()


class LinkModel:
    """Learns the link to one host; starts from 30 ms, 50 MB/s and 200 MB/s. Safe to use from any thread."""

    def __init__(self, host: str, most: int = LIMITS.connections_per_host) -> None:
        self._lock = threading.Lock()
        self._start = Link(host, most=most)
        self._first_bytes: deque[float] = deque(maxlen=_FIRST_BYTES)
        self._rates: deque[float] = deque(maxlen=_SAMPLES)
        self._totals: deque[float] = deque(maxlen=_SAMPLES)
        self._most = most
        self._is_throttled = False
        self._link = self._start

    @property
    def link(self) -> Link:
        """The link as it is known now."""
        return self._link

    def saw_first_byte(self, seconds: float) -> None:
        """Note the time from a request to the first byte of its answer."""
        with self._lock:
            self._first_bytes.append(seconds)

    def saw_body(self, size: int, seconds: float) -> None:
        """Note how fast one connection brought `size` bytes.

        What came in no time had waited in the buffers of this machine, and tells nothing.
        """
        if size >= 64 << 10 and seconds >= 0.01:
            with self._lock:
                self._rates.append(size / seconds)

    def saw_total(self, size: int, seconds: float) -> None:
        """Note how fast all connections together brought `size` bytes while requests were waiting."""
        if seconds > 0:
            with self._lock:
                self._totals.append(size / seconds)

    def throttle(self) -> None:
        """Use few connections from now on: the host asked for less."""
        with self._lock:
            self._is_throttled = True
        self.update()

    def set_most(self, most: int) -> None:
        """Use at most so many connections from now on."""
        with self._lock:
            self._most = most
        self.update()

    def update(self) -> Link:
        """Recompute the link from what was seen, and return it.

        The lowest tenth of the first bytes leaves out the time spent waiting behind other requests, the
        highest of the rates the connections that shared the link.
        """
        with self._lock:
            start = self._start
            latency = _quantile(self._first_bytes, 0.1, start.latency)
            rate = _quantile(self._rates, 0.9, start.per_connection)
            total = _quantile(self._totals, 0.9, start.total)
            most = min(self._most, LIMITS.connections_throttled) if self._is_throttled else self._most
            self._link = Link(start.host, latency, rate, max(total, rate), start.request_cost, most)
            return self._link


class LinkModels:
    """The models of all hosts, shared by all who read from them. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._models: dict[str, LinkModel] = {}
        self._most = LIMITS.connections_per_host

    def set_most(self, most: int) -> None:
        """Use at most so many connections to each host from now on."""
        with self._lock:
            self._most = most
            models = list(self._models.values())
        for model in models:
            model.set_most(most)

    def of(self, host: str) -> LinkModel:
        """Return the model of the link to one host."""
        with self._lock:
            model = self._models.get(host)
            if model is None:
                model = self._models[host] = LinkModel(host, self._most)
            return model


def _quantile(samples: deque[float], share: float, default: float) -> float:
    if len(samples) < 3:
        return default
    ordered = sorted(samples)
    return ordered[int(share * (len(ordered) - 1))]


Ints = npt.NDArray[np.int64]

#: Never read more than this many useless bytes for each useful one, whatever the model says.
MOST_WASTE = 4.0
#: Requests that one range is split into, at most: a length may be anything that a file says.
MOST_SHARES = 1 << 12
#: Requests that are made values of together.
_AT_A_TIME = 16_384
#: The stop of a request that goes to the end of an object of unknown size.
TO_THE_END = -1


class Request(NamedTuple):
    """Bytes `start` to `stop` (not included; None is the end of the object) of one URL."""

    url: str
    start: int
    stop: int | None


@dataclass(frozen=True, slots=True, eq=False)
class RangePlan:
    """The requests for a set of references, and which of their bytes belong to which row.

    A *segment* is a run of bytes that is held in one buffer, read by one request or by several that touch,
    and holds whole rows. Rows without a segment need no bytes from anywhere (missing, inline, faulty, empty).

    Attributes
    ----------
    urls
        The URLs of the columns planned.
    segment_url, segment_start, segment_stop
        One entry per segment; the stop is -1 for a whole file.
    requests_of, request_start, request_stop
        Segment `s` is read by the requests `requests_of[s]` to `requests_of[s + 1]`.
    rows_of, rows
        Segment `s` holds `rows[rows_of[s] : rows_of[s + 1]]`, ordered by their first byte.
    cut_start, cut_length
        For each entry of `rows`: where its bytes begin in the segment, and how many there are (-1: all).
    empty
        Rows of no bytes.
    faults
        Row to error for ranges that no object can have.
    useful_bytes
        Distinct bytes that rows need, without whole files.
    wasted_bytes
        Bytes that are requested beside those.
    links
        The link of each URL by which it was planned.
    """

    urls: tuple[str, ...]
    segment_url: Ints
    segment_start: Ints
    segment_stop: Ints
    requests_of: Ints
    request_start: Ints
    request_stop: Ints
    rows_of: Ints
    rows: Ints
    cut_start: Ints
    cut_length: Ints
    empty: Ints
    faults: dict[int, RefbrowserError]
    useful_bytes: int
    wasted_bytes: int
    links: tuple[Link, ...]

    @property
    def segments(self) -> int:
        """Number of segments."""
        return len(self.segment_start)

    @property
    def request_count(self) -> int:
        """Number of requests."""
        return len(self.request_start)

    @property
    def request_url(self) -> Ints:
        """For each request the position of its URL in `urls`."""
        return np.repeat(self.segment_url, np.diff(self.requests_of))

    @property
    def unknown_sizes(self) -> int:
        """Number of requests for whole files, whose sizes are not known."""
        return int((self.request_stop == TO_THE_END).sum())

    @property
    def seconds(self) -> float:
        """Seconds that it should take by the models of the links, which are used at the same time.

        What whole files of unknown size hold is not counted.
        """
        url = self.request_url
        size = np.where(self.request_stop == TO_THE_END, 0, self.request_stop - self.request_start)
        numbers: dict[int, int] = {}
        links = [numbers.setdefault(id(link), len(numbers)) for link in self.links]
        host = np.array(links, np.int64)[url]
        sizes = np.bincount(host, size.astype(np.float64), len(numbers)).tolist()
        counts = np.bincount(host, minlength=len(numbers)).tolist()
        by_number = {number: link for link, number in zip(self.links, links, strict=True)}
        times = (
            by_number[number].time(sizes[number], counts[number])
            for number in range(len(numbers))
            if counts[number]
        )
        return max(times, default=0.0)

    def requests(self) -> list[Request]:
        """Return the requests as values, by URL and first byte."""
        return list(self.each_request())

    def each_request(self) -> Iterator[Request]:
        """Yield the requests, as `requests` lists them."""
        numbers = self.request_url
        for first in range(0, len(numbers), _AT_A_TIME):
            some = slice(first, first + _AT_A_TIME)
            starts, stops = self.request_start[some].tolist(), self.request_stop[some].tolist()
            for url, start, stop in zip(numbers[some].tolist(), starts, stops, strict=True):
                yield Request(self.urls[url], start, None if stop == TO_THE_END else stop)


def plan_ranges(columns: ReferenceColumns, links: Sequence[Link]) -> RangePlan:
    """Plan the reading of all rows of `columns`.

    Parameters
    ----------
    columns
        References in any order; only ranges and whole files cause requests.
    links
        The link of each of `columns.urls`; equal links are one host.
    """
    if len(columns) == 1 and columns.kind[0] == ReferenceKind.RANGE and columns.length[0] > 0:
        only = _only_range(columns, links)
        if only is not None:
            return only
    ranges, empty, faults = _readable_ranges(columns)
    order = _sorted(columns.url[ranges], columns.offset[ranges])
    rows = ranges if order is None else ranges[order]
    url, start = columns.url[rows].astype(np.int64), columns.offset[rows]
    stop = start + columns.length[rows]
    reach = _running_stop(url, stop)
    same = np.zeros(len(rows), bool)
    same[1:] = url[1:] == url[:-1]
    gap = np.zeros(len(rows), np.int64)
    gap[1:] = np.where(same[1:], start[1:] - reach[:-1], 0)
    fresh = reach - start + np.minimum(gap, 0)
    fresh[1:] = np.where(same[1:], reach[1:] - np.maximum(start[1:], reach[:-1]), fresh[1:])
    opens, block = _segment_starts(url, start, same, gap, fresh, links)

    first = np.flatnonzero(opens)
    segment_start = start[first]
    last = np.append(first[1:], len(rows)) - 1 if len(first) else first
    segment_stop = reach[last]
    shares, request_start, request_stop = _split(segment_start, segment_stop, block[first])
    useful = int(fresh.sum())
    whole = _whole_files(columns)
    segments = len(first)
    number = np.cumsum(opens) - 1
    return RangePlan(
        urls=columns.urls,
        segment_url=np.concatenate([url[first], whole.url]),
        segment_start=np.concatenate([segment_start, np.zeros(len(whole.url), np.int64)]),
        segment_stop=np.concatenate([segment_stop, np.full(len(whole.url), TO_THE_END)]),
        requests_of=_bounds(np.concatenate([shares, np.ones(len(whole.url), np.int64)])),
        request_start=np.concatenate([request_start, np.zeros(len(whole.url), np.int64)]),
        request_stop=np.concatenate([request_stop, np.full(len(whole.url), TO_THE_END)]),
        rows_of=_bounds(np.concatenate([np.bincount(number, minlength=segments), whole.counts])),
        rows=np.concatenate([rows, whole.rows]),
        cut_start=np.concatenate([start - segment_start[number], np.zeros(len(whole.rows), np.int64)]),
        cut_length=np.concatenate([columns.length[rows], np.full(len(whole.rows), -1)]),
        empty=empty,
        faults=faults,
        useful_bytes=useful,
        wasted_bytes=int((segment_stop - segment_start).sum()) - useful,
        links=tuple(links),
    )


def _only_range(columns: ReferenceColumns, links: Sequence[Link]) -> RangePlan | None:
    """Return the plan of one range, where it takes one request: a small slice waits for nothing else."""
    number, start, size = columns.url.item(0), columns.offset.item(0), columns.length.item(0)
    if start < 0 or size > links[number].block_size(size) or size > _MOST_STOP - start:
        return None
    zero, one, none = np.zeros(1, np.int64), np.arange(2), np.zeros(0, np.int64)
    begin, stop = np.array([start]), np.array([start + size])
    return RangePlan(
        urls=columns.urls,
        segment_url=np.array([number]),
        segment_start=begin,
        segment_stop=stop,
        requests_of=one,
        request_start=begin,
        request_stop=stop,
        rows_of=one,
        rows=zero,
        cut_start=zero,
        cut_length=np.array([size]),
        empty=none,
        faults={},
        useful_bytes=size,
        wasted_bytes=0,
        links=tuple(links),
    )


class _WholeFiles(NamedTuple):
    url: Ints
    counts: Ints
    rows: Ints


def _whole_files(columns: ReferenceColumns) -> _WholeFiles:
    rows = np.flatnonzero(columns.kind == ReferenceKind.WHOLE)
    urls = columns.url[rows].astype(np.int64)
    if not len(rows):
        return _WholeFiles(urls, urls, rows)
    order = np.argsort(urls, kind="stable")
    ordered = urls[order]
    # Not `np.unique`, which imports masked arrays: that takes as long as a request.
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return _WholeFiles(ordered[first], np.diff(np.append(first, len(ordered))), rows[order])


def _readable_ranges(columns: ReferenceColumns) -> tuple[Ints, Ints, dict[int, RefbrowserError]]:
    rows = np.flatnonzero(columns.kind == ReferenceKind.RANGE)
    offset, length = columns.offset[rows], columns.length[rows]
    good = (offset >= 0) & (length >= 0) & (length <= _MOST_STOP - np.maximum(offset, 0))
    faults = {}
    for row in rows[~good].tolist():
        start, size = int(columns.offset[row]), int(columns.length[row])
        place = Place(url=columns.urls[columns.url[row]], start=start, stop=start + size)
        faults[row] = RefbrowserError(ErrorKind.RANGE, "the range is beyond the end of any object", place)
    return rows[good & (length > 0)], rows[good & (length == 0)], faults


def _sorted(url: npt.NDArray[np.int32], start: Ints) -> Ints | None:
    """Return the order by (url, start), or None where the rows are in it already."""
    later = (url[1:] > url[:-1]) | ((url[1:] == url[:-1]) & (start[1:] >= start[:-1]))
    if later.all():
        return None
    bits = int(start.max()).bit_length()
    if bits + int(url.max()).bit_length() < 63:
        return np.argsort((url.astype(np.int64) << bits) | start)
    return np.lexsort((start, url))


def _running_stop(url: Ints, stop: Ints) -> Ints:
    """Return the furthest byte that any row up to this one reaches in its object."""
    falls = np.flatnonzero((stop[1:] < stop[:-1]) & (url[1:] == url[:-1]))
    if not len(falls):
        return stop
    reach = stop.copy()
    for one in set(url[falls].tolist()):
        first, last = np.searchsorted(url, one), np.searchsorted(url, one, "right")
        np.maximum.accumulate(reach[first:last], out=reach[first:last])
    return reach


def _segment_starts(
    url: Ints, start: Ints, same: npt.NDArray[np.bool_], gap: Ints, fresh: Ints, links: Sequence[Link]
) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Return which rows open a segment, and the block size of each row's host."""
    opens = ~same
    block = np.ones(len(url), np.int64)
    if not len(url):
        return opens, block
    hosts: dict[Link, int] = {}
    host_of_url = np.array([hosts.setdefault(link, len(hosts)) for link in links], np.int64)
    host = host_of_url[url]
    for link, number in hosts.items():
        mine = slice(None) if len(hosts) == 1 else host == number
        gaps = gap[mine][same[mine]]
        useful = int(fresh[mine].sum())
        if not useful:
            continue
        streams = int((~same[mine]).sum())
        widest, size = _best_gap(gaps[gaps > 0], useful, streams, link)
        opens[mine] |= same[mine] & (gap[mine] > widest)
        block[mine] = link.block_size(size)
    _cut_at_rows(opens, start, gap, block)
    return opens, block


def _best_gap(gaps: Ints, useful: int, streams: int, link: Link) -> tuple[int, int]:
    """Return the widest gap to read over, and the bytes that are then read."""
    if link.gap is not None:
        return link.gap, useful + int(gaps[gaps <= link.gap].sum())
    if not len(gaps) or link.latency == 0:
        return 0, useful
    ordered = np.sort(gaps)
    wasted = np.concatenate([[0], np.cumsum(ordered, dtype=np.float64)])
    least = min(link.blocks, useful // link.block[0] + 1)
    best = (link.time(useful, max(streams + len(ordered), least)), 0, useful)
    top = int(ordered[-1])
    for width in [*(1 << power for power in range(top.bit_length())), top]:
        bridged = int(np.searchsorted(ordered, width, "right"))
        waste = float(wasted[bridged])
        if waste > MOST_WASTE * useful:
            break
        requests = max(streams + len(ordered) - bridged, least)
        seconds = link.time(useful + waste, requests)
        if seconds < best[0] - 1e-9:
            best = (seconds, width, useful + int(waste))
    return best[1], best[2]


def _cut_at_rows(opens: npt.NDArray[np.bool_], start: Ints, gap: Ints, block: Ints) -> None:
    """Open a segment too where a merged run passes a multiple of the block size, between two rows."""
    if not len(opens):
        return
    run = np.maximum.accumulate(np.where(opens, np.arange(len(opens)), 0))
    place = (start - start[run]) // block
    passes = np.zeros(len(opens), bool)
    passes[1:] = place[1:] > place[:-1]
    # A row that begins inside the one before opens no buffer of its own: its bytes would be read twice.
    opens |= passes & (gap >= 0)
    # Unless a chain of such rows is so long that no memory would hold it.
    far = (start - start[run]) // LIMITS.chunk_size
    opens[1:] |= far[1:] > far[:-1]


def _split(start: Ints, stop: Ints, block: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the number of requests per segment and their bounds, nearly equal and at least a block each."""
    size = stop - start
    shares = np.clip(size // block, 1, MOST_SHARES)
    segment = np.repeat(np.arange(len(start)), shares)
    which = np.arange(len(segment)) - np.repeat(_bounds(shares)[:-1], shares)
    each, extra = size // shares, size % shares
    begin = start[segment] + which * each[segment] + np.minimum(which, extra[segment])
    end = begin + each[segment] + (which < extra[segment])
    return shares, begin, end


def _bounds(counts: Ints) -> Ints:
    bounds = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=bounds[1:])
    return bounds
