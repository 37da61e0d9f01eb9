"""Archives of one document: directories read once, and members that were inflated kept for a while.

Archives are read through the fetcher, so local files, http and object stores are alike: a byte that tells the
size, the end, and the directory where it is longer than the end.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import ObjectIdentity
from refbrowser.io.origins import local_path, scheme_of
from refbrowser.io.zip_methods import STORED
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

if TYPE_CHECKING:
    from refbrowser.io.access import Access
    from refbrowser.io.fetch import Fetcher
    from refbrowser.io.zip_directory import ZipDirectory, ZipMember

#: Seconds after which a thread that waits for another to read the same directory looks whether it should.
_TURN = 0.1
#: Bytes between members of a local archive that are read together, and of all that are: cheaper than calls.
_GAP, _STRETCH = 16 << 10, 4 << 20
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
    """What is known of archives, by their canonical URL; may be used from any thread."""

    def __init__(self) -> None:
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

    def directory(
        self, url: str, access: Access, fetcher: Fetcher, cancel: CancelToken | None = None, **options: Any
    ) -> ZipDirectory:
        """Return the directory of an archive; it is read where it is not known.

        Parameters
        ----------
        url
            Canonical (`Location.url`).
        options
            Of `Fetcher.fetch`.

        Raises
        ------
        RefbrowserError
            It may not be read, cannot be read, or is no archive.
        Cancelled
            `cancel` was cancelled.
        """
        known = self._directories.get(url)
        if known is not None:
            return known
        from refbrowser.io.zip_directory import read_directory  # Few documents refer to archives.

        with self.turn(url, cancel):
            if url not in self._directories:
                source = _Archive(url, access, fetcher, cancel, options)
                self._directories[url] = read_directory(source.read, source.size(), url, cancel)
            return self._directories[url]

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

    def rescue(
        self, url: str, access: Access, fetcher: Fetcher, cancel: CancelToken | None = None
    ) -> tuple[Finding, ...]:
        """Make the directory of an archive from the headers of its members; returns what is lost.

        Raises
        ------
        RefbrowserError
            It may not be read, or cannot be read.
        Cancelled
            `cancel` was cancelled.
        """
        from refbrowser.io.zip_rescue import rescue  # Few archives are damaged.

        source = _Archive(url, access, fetcher, cancel, {})
        most = LIMITS.zip_rescue if scheme_of(url) is None else LIMITS.zip_rescue_remote
        found = rescue(source.read, source.size(), url, most, cancel)
        self._directories[url] = found.directory
        self._data_starts |= {(url, row): start for row, start in enumerate(found.data_starts)}
        self._rescued[url] = found.data_starts
        return found.findings

    def member_at(self, url: str, start: int, stop: int) -> tuple[str, int] | None:
        """Return the stored member that bytes of an archive are of, and where they begin in its data.

        Only of archives whose directory was made by `rescue`: documents name their members by place.
        """
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
        """Whether any directory was made by `rescue`."""
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
            self._unconfirmed.pop((url, row), None)
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

    def learn_damage(self, url: str, row: int, error: RefbrowserError) -> None:
        """Remember that a member has another CRC-32 than its directory says."""
        with self._lock:
            self._damaged[url, row] = error
            self._unconfirmed.pop((url, row), None)

    @property
    def damaged(self) -> tuple[RefbrowserError, ...]:
        """Why members could not be confirmed, those that were tried so far."""
        with self._lock:
            return tuple(self._damaged.values())

    def note_unconfirmed(self, url: str, row: int, member: ZipMember) -> None:
        """Remember that parts of a member were given before all of it was read."""
        with self._lock:
            if (url, row) not in self._confirmed and (url, row) not in self._damaged:
                self._unconfirmed[url, row] = member

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


class _Archive:
    """The bytes of an archive, range by range."""

    def __init__(
        self,
        url: str,
        access: Access,
        fetcher: Fetcher,
        cancel: CancelToken | None,
        options: dict[str, Any],
    ) -> None:
        self._url = url
        self._access = access
        self._fetcher = fetcher
        self._cancel = cancel
        self._options = options

    def size(self) -> int:
        """Return the bytes of the archive: a request for any of it tells."""
        identities = self._access.memory.identities
        if identities.known(self._url) is None:
            self.read(0, 1)
        known = identities.known(self._url)
        if known is None or known.total is None:
            message = "the size of the archive is not known, so its directory cannot be found"
            raise RefbrowserError(ErrorKind.SOURCE, message, Place(url=self._url))
        return known.total

    def read(self, start: int, stop: int) -> bytes:
        """Return bytes of the archive."""
        columns = ReferenceColumns(
            kind=np.array([ReferenceKind.RANGE], np.uint8),
            url=np.zeros(1, np.int32),
            offset=np.array([start], np.int64),
            length=np.array([stop - start], np.int64),
            urls=(self._url,),
        )
        found: list[bytes | RefbrowserError] = []
        self._fetcher.fetch(
            self._fetcher.plan(columns, self._access),
            self._access,
            lambda _, data: found.append(data if isinstance(data, RefbrowserError) else bytes(data)),
            cancel=self._cancel,
            **self._options,
        )
        data = found[0]
        if isinstance(data, RefbrowserError):
            raise data
        return data


def read_members(
    directory: ZipDirectory,
    names: Sequence[str],
    access: Access,
    fetcher: Fetcher,
    cancel: CancelToken | None = None,
    size_limit: int = LIMITS.inline_value,
) -> dict[str, bytes | RefbrowserError]:
    """Return members of an archive that are read whole, or why they could not be; absent ones are left out.

    Parameters
    ----------
    size_limit
        Bytes of the largest member, unpacked.

    Raises
    ------
    Cancelled
        `cancel` was cancelled.
    """
    found: dict[str, bytes | RefbrowserError] = {}
    members: list[ZipMember] = []
    for name in dict.fromkeys(names):
        row = directory.find(name)
        if row is None:
            continue
        try:
            member = directory.member(row)
            size = max(member.size, member.compressed)
            if size > size_limit:
                message = f"a zip member of {size} bytes is larger than {size_limit}"
                raise RefbrowserError(ErrorKind.BUDGET, message, Place(url=directory.url, key=name))
            members.append(member)
        except RefbrowserError as error:
            found[name] = error

    stretches = _stretches(members) if local_path(directory.url) is not None else [[each] for each in members]
    alone: list[ZipMember] = []

    def take(position: int, data: memoryview | RefbrowserError) -> None:
        stretch = stretches[position]
        if isinstance(data, RefbrowserError) and len(stretch) > 1:
            # Which of them it is that cannot be read is not known.
            alone.extend(stretch)
            return
        for member in stretch:
            found[member.name] = _unpacked(member, data, member.start - stretch[0].start, directory.url)

    fetcher.fetch(fetcher.plan(_columns(stretches, directory.url), access), access, take, cancel=cancel)
    if alone:
        stretches = [[each] for each in alone]
        fetcher.fetch(fetcher.plan(_columns(stretches, directory.url), access), access, take, cancel=cancel)
    return found


def _unpacked(
    member: ZipMember, data: memoryview | RefbrowserError, start: int, url: str
) -> bytes | RefbrowserError:
    """Return a member that begins at `start` of what was read, or why it cannot be."""
    from refbrowser.io.zip_member import unpack  # Few documents refer to archives.

    if isinstance(data, RefbrowserError):
        return data
    try:
        return bytes(unpack(member, data[start : start + member.stop - member.start], url).data)
    except RefbrowserError as error:
        return error


def _stretches(members: Sequence[ZipMember]) -> list[list[ZipMember]]:
    """Return members in the order of the archive, those together that hardly anything lies between."""
    found: list[list[ZipMember]] = []
    start = stop = 0
    for member in sorted(members, key=lambda each: each.start):
        if found and member.start - stop <= _GAP and member.stop - start <= _STRETCH:
            found[-1].append(member)
        else:
            found.append([member])
            start = stop = member.start
        stop = max(stop, member.stop)
    return found


def _columns(stretches: Sequence[Sequence[ZipMember]], url: str) -> ReferenceColumns:
    count = len(stretches)
    starts = [stretch[0].start for stretch in stretches]
    stops = [max([member.stop for member in stretch]) for stretch in stretches]
    return ReferenceColumns(
        kind=np.full(count, ReferenceKind.RANGE, np.uint8),
        url=np.zeros(count, np.int32),
        offset=np.array(starts, np.int64),
        length=np.array(stops, np.int64) - np.array(starts, np.int64),
        urls=(url,),
    )
