"""Who of a service's clients may be worked for, and which one goes where there are too many."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

#: Seconds that a client may keep us waiting before it can be cut off in favour of others.
_PATIENCE = 0.25
#: How often one that waits for a place looks whether others have become slow, in seconds.
_LOOK = 0.05
#: Of all places and connections, what one address may have.
_SHARE = 0.75
#: Bytes that are sent at a time.
_SLICE = 64 * 1024
#: Closing drops what the client did not take: the system would keep it for minutes.
_DROP = struct.pack("ii", 1, 0) if socket.SOL_SOCKET != 0xFFFF else struct.pack("hh", 1, 0)


class BusyError(Exception):
    """No place became free in time, or the service has ended."""


class Client:
    """One connection: what it holds, and how fast its other side sends and takes.

    Attributes
    ----------
    owner
        Whom its places are counted for: an IPv4 address, or the network of an IPv6 address.
    held
        Bytes of its answer that are in memory.
    """

    def __init__(self, connection: socket.socket, address: str) -> None:
        self.connection = connection
        self.owner = owner_of(address)
        self.held = 0
        self._waited = 0.0
        self._moved = 0
        self._since: float | None = None

    def receive(self, buffer: memoryview, timeout: float) -> int:
        """Receive what comes next, as `socket.recv_into` does."""
        self.connection.settimeout(timeout)
        with self._waiting():
            count = self.connection.recv_into(buffer)
        self._moved += count
        return count

    def send(self, data: Any) -> None:
        """Send all of some bytes.

        Raises
        ------
        OSError
            The client is gone, or too slow: it takes nothing for `STREAM_LIMITS.serve_send`, or less than
            `STREAM_LIMITS.serve_rate` over its whole answer.
        """
        view = memoryview(data)
        self.connection.settimeout(STREAM_LIMITS.serve_send)
        while len(view):
            with self._waiting():
                count = self.connection.send(view[:_SLICE])
            view = view[count:]
            self._moved += count
            if (
                self._waited > STREAM_LIMITS.serve_send
                and self._moved < self._waited * STREAM_LIMITS.serve_rate
            ):
                raise TimeoutError("the client takes its answer too slowly")

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        began = self._since = time.monotonic()
        try:
            yield
        finally:
            self._since = None
            self._waited += time.monotonic() - began

    def slowness(self) -> float:
        """Return the seconds that a byte takes; 0 while the client does not keep us waiting."""
        since = self._since
        waited = self._waited + (time.monotonic() - since if since is not None else 0.0)
        return 0.0 if since is None or waited < _PATIENCE else waited / (self._moved + 1)

    def cut_off(self) -> None:
        """End the connection, from any thread."""
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DROP)
            self.connection.shutdown(socket.SHUT_RDWR)


class Places:
    """Places for work, connections, and memory of a service. Thread-safe.

    Only making an answer takes a place. Clients that are waited for, as requests arrive or answers leave,
    take a connection and the bytes being sent; where these run short, the slowest client is cut off.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clients: set[Client] = set()
        self._cut: set[Client] = set()
        self._working: Counter[str] = Counter()
        self._waiting: dict[Client, threading.Event] = {}
        self._has_ended = False

    def end(self) -> None:
        """Give no more places; whoever waits for one is told."""
        with self._lock:
            self._has_ended = True
            for event in self._waiting.values():
                event.set()

    def enter(self, client: Client) -> bool:
        """Count a connection; returns False where there are too many, and none that is slow."""
        with self._lock:
            own = [each for each in self._clients if each.owner == client.owner]
            if len(own) >= _share(STREAM_LIMITS.serve_connections):
                is_room = self._cut_slowest(own)
            else:
                has_room = len(self._clients) < STREAM_LIMITS.serve_connections
                is_room = has_room or self._cut_slowest(self._clients)
            if is_room:
                self._clients.add(client)
            return is_room

    def leave(self, client: Client) -> None:
        """Forget a connection that has ended."""
        with self._lock:
            self._clients.discard(client)
            self._cut.discard(client)
            self._give()

    def relieve(self) -> None:
        """Cut off the slowest client, if any is slow."""
        with self._lock:
            self._cut_slowest(self._clients)

    @contextlib.contextmanager
    def work(self, client: Client, patience: float | None) -> Iterator[None]:
        """Have a place, in turn; what the client's connection held before is sent.

        Parameters
        ----------
        patience
            Seconds after which it is given up; until the service ends when None.

        Raises
        ------
        BusyError
            There was none.
        """
        self._await_place(client, patience)
        try:
            yield
        finally:
            with self._lock:
                self._working[client.owner] -= 1
                self._give()

    def _await_place(self, client: Client, patience: float | None) -> None:
        event = threading.Event()
        until = None if patience is None else time.monotonic() + patience
        with self._lock:
            client.held = 0
            self._waiting[client] = event
            self._give()
        while not event.wait(_LOOK):
            with self._lock:
                if until is not None and time.monotonic() > until:
                    break
                self._give()
        with self._lock:
            # Who was given a place waits no more.
            if self._waiting.pop(client, None) is not None:
                raise BusyError

    def _give(self) -> None:
        """Give free places to those who wait, in turn; where memory is short, take it from the slowest."""
        while self._waiting and not self._has_ended and self._working.total() < STREAM_LIMITS.serve_requests:
            if not self._has_memory():
                return
            most = _share(STREAM_LIMITS.serve_requests)
            client = next((each for each in self._waiting if self._working[each.owner] < most), None)
            if client is None:
                return
            self._working[client.owner] += 1
            self._waiting.pop(client).set()

    def _has_memory(self) -> bool:
        """Return whether answers under way leave memory for one more; cut clients off until they will."""
        if sum(each.held for each in self._clients) < STREAM_LIMITS.serve_held:
            return True
        while sum(each.held for each in self._clients - self._cut) >= STREAM_LIMITS.serve_held:
            if not self._cut_slowest(each for each in self._clients if each.held):
                break
        return False

    def _cut_slowest(self, clients: Any) -> bool:
        slowest = max((each for each in clients if each not in self._cut), key=Client.slowness, default=None)
        if slowest is None or not slowest.slowness():
            return False
        self._cut.add(slowest)
        slowest.cut_off()
        return True


def owner_of(address: str) -> str:
    """Return whom an address belongs to: of IPv6 one client has a whole network."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))


def _share(all_there_are: int) -> int:
    return max(int(all_there_are * _SHARE), 1)
