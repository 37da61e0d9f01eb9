"""The model of a link to one host, and how it is learned from the requests themselves."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

from refbrowser.limits import LIMITS

#: Fewer connections than this are never worth opening.
LEAST_CONNECTIONS = 8
#: Connections that fill a link: the rates of connections that share it look as if it took more.
MOST_STREAMS = 16
_SAMPLES = 32
_FIRST_BYTES = 128


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
    """

    host: str = ""
    latency: float = 0.03
    per_connection: float = 50e6
    total: float = 200e6
    request_cost: float = 0.0002
    most: int = LIMITS.connections_per_host
    block: tuple[int, int] = (64 << 10, 8 << 20)
    blocks: int = 64

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
