"""What is known of the archives of one document: directories, members that were confirmed or unpacked."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import ObjectIdentity
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from refbrowser.io.archives.directory import ZipDirectory, ZipMember

#: Seconds after which a thread that waits for another to read the same directory looks whether it should.
_TURN = 0.1
#: Members whose CRC-32 was found right that are remembered, over all documents.
_REMEMBERED = 65_536


class Confirm(Enum):
    """When the CRC-32 of a member is compared of which only a part is wanted: it takes all of the member."""

    #: Before the part is given, whatever the size.
    ALWAYS = auto()
    #: Before the part is given; parts of large members of servers are given with a warning.
    BOUNDED = auto()
    #: The part is given at once, and the member noted (`ZipArchives.unconfirmed`).
    LATER = auto()


class _Confirmed:
    """Members whose CRC-32 was found right, by the state of their archive; of all documents."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[Any, ...], None] = OrderedDict()

    def add(self, key: tuple[Any, ...]) -> None:
        with self._lock:
            self._known[key] = None
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)

    def __contains__(self, key: tuple[Any, ...]) -> bool:
        return key in self._known


_CONFIRMED = _Confirmed()


class ZipArchives:
    """What is known of archives, by their canonical URL; may be used from any thread.

    Parameters
    ----------
    turned
        Called whenever `damaged` or `unconfirmed` is something else, from whatever thread found it out.
    """

    def __init__(self, turned: Callable[[], None] = lambda: None) -> None:
        self._turned = turned
        self._lock = threading.Lock()
        self._reading: dict[str | tuple[str, int], threading.Lock] = {}
        self._confirmed: set[tuple[str, int]] = set()
        self._damaged: dict[tuple[str, int], RefbrowserError] = {}
        self._unconfirmed: dict[tuple[str, int], ZipMember] = {}
        self._directories: dict[str, ZipDirectory] = {}
        self._data_starts: dict[tuple[str, int], int] = {}
        #: Where the data of the members of archives without a directory begin, in ascending order.
        self._rescued: dict[str, list[int]] = {}
        self._inflated: OrderedDict[tuple[str, int], memoryview] = OrderedDict()
        self._held = 0

    def known(self, url: str) -> ZipDirectory | None:
        """Return the directory of an archive if it was read."""
        return self._directories.get(url)

    def learn_directory(self, directory: ZipDirectory, data_starts: list[int] | None = None) -> None:
        """Remember the directory of an archive.

        Parameters
        ----------
        data_starts
            Of one that was made of the headers of the members: where their data begin, in ascending order.
        """
        url = directory.url
        self._directories[url] = directory
        if data_starts is not None:
            self._data_starts |= {(url, row): at for row, at in enumerate(data_starts)}
            self._rescued[url] = data_starts

    @contextmanager
    def turn(self, what: str | tuple[str, int], cancel: CancelToken | None) -> Iterator[None]:
        """Let one thread at a time read a directory, or confirm a member (URL and row).

        Raises
        ------
        Cancelled
            `cancel` was cancelled while another was reading.
        """
        with self._lock:
            turn = self._reading.setdefault(what, threading.Lock())
        while not turn.acquire(timeout=_TURN):
            if cancel is not None:
                cancel.check()
        try:
            yield
        finally:
            turn.release()

    def member_at(self, url: str, start: int, stop: int) -> tuple[str, int] | None:
        """Return the stored member that bytes of an archive are of, and where they begin in its data.

        Only of archives whose directory was made of what is left of them: documents name members by place.
        """
        from refbrowser.io.archives.entries import STORED  # Few documents refer to archives.

        starts = self._rescued.get(url)
        row = -1 if starts is None else bisect_right(starts, start) - 1
        if starts is None or row < 0:
            return None
        directory = self._directories[url]
        if directory.error(row) is not None or directory.method_of(row) != STORED:
            return None
        is_inside = stop <= starts[row] + directory.size_of(row)
        return (directory.name(row), start - starts[row]) if is_inside else None

    @property
    def has_rescued(self) -> bool:
        """Whether any directory was made of what is left of its archive."""
        return bool(self._rescued)

    def data_start(self, url: str, row: int) -> int | None:
        """Return where the data of a member begins, if its local header was read."""
        return self._data_starts.get((url, row))

    def learn_data_start(self, url: str, row: int, start: int) -> None:
        """Remember what a local header told."""
        self._data_starts[url, row] = start

    # Whether the bytes of members are those that were written

    def is_confirmed(self, url: str, row: int, identity: ObjectIdentity | None) -> bool:
        """Tell whether the CRC-32 of a member was found right, in this state of its archive.

        Parameters
        ----------
        identity
            Of the archive as this document knows it. One that tells no state but the size is that of the
            document alone.
        """
        if (url, row) in self._confirmed:
            return True
        key = self._key(url, row, identity)
        return key is not None and key in _CONFIRMED

    def learn_confirmed(self, url: str, row: int, identity: ObjectIdentity | None) -> None:
        """Remember that the CRC-32 of a member was found right."""
        with self._lock:
            self._confirmed.add((url, row))
            was_waiting = self._unconfirmed.pop((url, row), None) is not None
        if was_waiting:
            self._turned()
        key = self._key(url, row, identity)
        if key is not None:
            _CONFIRMED.add(key)

    def _key(self, url: str, row: int, identity: ObjectIdentity | None) -> tuple[Any, ...] | None:
        directory = self._directories.get(url)
        if identity is None or directory is None or (identity.etag or identity.modified) is None:
            return None
        return url, identity, directory.member(row)

    def damage(self, url: str, row: int) -> RefbrowserError | None:
        """Return why a member cannot be confirmed, where that was tried."""
        error = self._damaged.get((url, row))
        return None if error is None else error.at(error.place)

    def are_damaged(self, url: str, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which of some members cannot be confirmed, as far as that was tried."""
        with self._lock:
            known = [row for archive, row in self._damaged if archive == url]
        return np.isin(rows, known)

    def learn_damage(self, url: str, row: int, error: RefbrowserError) -> None:
        """Remember that a member has another CRC-32 than its directory says."""
        with self._lock:
            self._damaged[url, row] = error
            self._unconfirmed.pop((url, row), None)
        self._turned()

    @property
    def damaged(self) -> tuple[RefbrowserError, ...]:
        """Why members could not be confirmed, those that were tried so far."""
        with self._lock:
            return tuple(self._damaged.values())

    def note_unconfirmed(self, url: str, row: int, member: ZipMember) -> None:
        """Remember that parts of a member were given before all of it was read."""
        with self._lock:
            is_news = not any((url, row) in known for known in (self._confirmed, self._damaged))
            if is_news:
                self._unconfirmed[url, row] = member
        if is_news:
            self._turned()

    @property
    def unconfirmed(self) -> dict[tuple[str, int], ZipMember]:
        """Members of which parts were given before all of them was read, by archive and row."""
        with self._lock:
            return dict(self._unconfirmed)

    # Members that were unpacked

    def inflated(self, url: str, row: int) -> memoryview | None:
        """Return the bytes of a member that was inflated lately."""
        with self._lock:
            found = self._inflated.get((url, row))
            if found is not None:
                self._inflated.move_to_end((url, row))
            return found

    def keep_inflated(self, url: str, row: int, data: memoryview) -> None:
        """Keep the bytes of a member for the next reading of a part of it."""
        if len(data) > LIMITS.zip_kept:
            return
        with self._lock:
            self._held += len(data) - len(self._inflated.pop((url, row), memoryview(b"")))
            self._inflated[url, row] = data
            while self._held > LIMITS.zip_kept:
                self._held -= len(self._inflated.popitem(last=False)[1])
