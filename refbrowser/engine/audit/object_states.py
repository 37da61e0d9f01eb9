"""Size and state of many objects, asked for once each: of files, servers and object stores."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urljoin

import numpy as np

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError
from refbrowser.io.access.access import Access, Location
from refbrowser.io.access.local_files import failed
from refbrowser.io.access.task import Attempt
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.io.origins import DEFAULT_PORTS, Origin
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

#: Objects that are asked about by one fetch: what is known of each is held until it ends.
_TOGETHER = 20_000
#: Statuses of servers that answer no HEAD, though they may answer a range; signed URLs are for GET alone.
_NO_HEAD = frozenset({400, 401, 403, 405, 500, 501})
#: Files after which it is looked whether somebody still wants to know.
_LOOK = 256


@dataclass(frozen=True, slots=True)
class ObjectState:
    """What is known of one object.

    Attributes
    ----------
    url
        As it was asked for.
    identity
        Its size and marks of its state; None where it could not be asked.
    error
        Why not.
    status
        Of the last answer of a server; 0 where none answered, or none was asked.
    moved_to
        Where the server sent us on to; empty where it did not.
    ranges
        Whether ranges of it are served; None where nobody says.
    """

    url: str
    identity: ObjectIdentity | None = None
    error: RefbrowserError | None = None
    status: int = 0
    moved_to: str = ""
    ranges: bool | None = None


#: Called with the position of a URL, and what is known of its object.
Told = Callable[[int, ObjectState], None]


def stat_objects(
    fetcher: Fetcher,
    access: Access,
    urls: Sequence[str],
    told: Told,
    cancel: CancelToken | None = None,
    *,
    export: bool = False,
) -> None:
    """Ask for the size and state of objects; those of one server are asked about many at a time.

    Of files the system is asked, of servers by HEAD (by the first byte where they answer none), of object
    stores by the first byte, which tells the state that reads of them see. What may not be read is not asked
    about: its error is `E_BLOCKED`.

    Parameters
    ----------
    urls
        As references spell them.
    told
        Called for each once, in this thread.
    export
        Try longer.
    """
    asking = _Asking(fetcher, access, urls, told, cancel or CancelToken(), export)
    for start in range(0, len(urls), _TOGETHER):
        asking.some(range(start, min(start + _TOGETHER, len(urls))))


class _Asking:
    def __init__(
        self,
        fetcher: Fetcher,
        access: Access,
        urls: Sequence[str],
        told: Told,
        token: CancelToken,
        export: bool,
    ) -> None:
        self._fetcher, self._access, self._urls, self._told = fetcher, access, urls, told
        self._token, self._export = token, export
        #: Whether ranges are served, by the server that was asked.
        self._ranges: dict[Origin, bool | None] = {}

    def some(self, numbers: range) -> None:
        """Ask about some of the URLs."""
        servers: list[tuple[int, Location]] = []
        buckets: list[tuple[int, Location]] = []
        for count, number in enumerate(numbers):
            if count % _LOOK == 0:
                self._token.check()
            url = self._urls[number]
            try:
                location = self._access.resolve(url)
                if location.member:
                    raise RefbrowserError(ErrorKind.PROTOCOL, "a zip member is not a file", Place(url=url))
            except RefbrowserError as error:
                self._told(number, ObjectState(url, error=error))
                continue
            if location.scheme == "file":
                self._told(number, self._file(url, location))
            elif location.scheme in DEFAULT_PORTS:
                servers.append((number, location))
            else:
                buckets.append((number, location))
        self._by_head(servers)
        self._by_byte(buckets)

    def _file(self, url: str, location: Location) -> ObjectState:
        try:
            found = os.stat(location.path)
            if not stat.S_ISREG(found.st_mode):
                raise RefbrowserError(ErrorKind.UNSAFE, "it is not a regular file", Place(url=url))
            identity = FileIdentity.of(found).as_object()
            self._access.memory.identities.confirm(location.url, identity)
        except RefbrowserError as error:
            return ObjectState(url, error=error)
        except (OSError, ValueError) as error:
            finding = error if isinstance(error, OSError) else OSError(0, "it is not a file name")
            return ObjectState(url, error=failed(finding, location.path))
        return ObjectState(url, identity, ranges=True)

    def _by_head(self, asked: list[tuple[int, Location]]) -> None:
        """Ask servers by HEAD; those that answer none by the first byte."""
        if not asked:
            return
        refused: list[tuple[int, Location]] = []
        unknown: dict[Origin, tuple[int, Location]] = {}
        states: dict[int, ObjectState] = {}
        for number, location, state in self._fetched(asked, heads=True):
            if state.error is not None and state.status in _NO_HEAD:
                refused.append((number, location))
                continue
            states[number] = state
            if state.error is None and state.ranges is None and location.origin not in self._ranges:
                unknown.setdefault(location.origin, (number, location))
        for _, location, state in self._fetched(list(unknown.values()), heads=False):
            self._ranges[location.origin] = state.ranges
        places = dict(asked)
        for number, state in states.items():
            if state.ranges is None:
                state = replace(state, ranges=self._ranges.get(places[number].origin))
            self._told(number, state)
        self._by_byte(refused)

    def _by_byte(self, asked: list[tuple[int, Location]]) -> None:
        for number, _, state in self._fetched(asked, heads=False):
            self._told(number, state)

    def _fetched(
        self, asked: list[tuple[int, Location]], *, heads: bool
    ) -> Iterator[tuple[int, Location, ObjectState]]:
        """Ask, and yield what is known of each."""
        if not asked:
            return
        count = len(asked)
        columns = ReferenceColumns(
            kind=np.full(count, ReferenceKind.WHOLE if heads else ReferenceKind.RANGE, np.uint8),
            url=np.arange(count, dtype=np.int32),
            offset=np.zeros(count, np.int64),
            length=np.full(count, -1 if heads else 1, np.int64),
            urls=tuple(self._urls[number] for number, _ in asked),
        )
        last: dict[str, Attempt] = {}
        errors: dict[int, RefbrowserError] = {}

        def deliver(row: int, data: memoryview | RefbrowserError) -> None:
            if isinstance(data, RefbrowserError):
                errors[row] = data

        def note(attempt: Attempt) -> None:
            last[attempt.url] = attempt

        self._fetcher.fetch(
            self._fetcher.plan(columns, self._access),
            self._access,
            deliver,
            cancel=self._token,
            export=self._export,
            witness=note,
            heads=heads,
        )
        for row, (number, location) in enumerate(asked):
            yield number, location, self._state(location, self._urls[number], errors.get(row), last, heads)

    def _state(
        self,
        location: Location,
        url: str,
        error: RefbrowserError | None,
        last: Mapping[str, Attempt],
        heads: bool,
    ) -> ObjectState:
        attempt, moved = _followed(location.url, last)
        status = 0 if attempt is None else _status(attempt)
        identity = self._access.memory.identities.known(location.url)
        fields = {} if attempt is None else attempt.fields
        ranges: bool | None = None
        if heads:
            said = fields.get("accept-ranges", "").lower()
            ranges = True if said == "bytes" else False if said == "none" else None
        elif attempt is not None and status:
            ranges = status == 206 if status in (200, 206) else None
        if error is not None and error.kind is ErrorKind.RANGE and not heads:
            # There is no first byte: it is empty.
            error, identity = None, identity or ObjectIdentity(0)
        if error is not None and ranges is False and not isinstance(error, AbsentError):
            # It is there, and too large to be read whole.
            error = None
        return ObjectState(url, None if error is not None else identity, error, status, moved, ranges)


def _followed(url: str, last: Mapping[str, Attempt]) -> tuple[Attempt | None, str]:
    """Return the last try for a URL, and where it was sent on to."""
    at, seen = url, {url}
    while (attempt := last.get(at)) is not None and 300 <= _status(attempt) < 400:
        target = attempt.fields.get("location", "")
        try:
            following = urljoin(at, target)
        except ValueError:
            break
        if following in seen:
            break
        seen.add(following)
        at = following
    return last.get(at, last.get(url)), at if at != url else ""


def _status(attempt: Attempt) -> int:
    """Return the status of the answer of a server; 0 where none came."""
    parts = attempt.answer.split(" ", 2)
    return int(parts[1]) if len(parts) > 1 and parts[0].startswith("HTTP/") and parts[1].isdigit() else 0
