"""Archives of one document: directories read once, and members that were inflated kept for a while.

Archives are read through the fetcher, so local files, http and object stores are alike: a byte that tells the
size, the end, and the directory where it is longer than the end.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import local_path, scheme_of
from refbrowser.io.zip_directory import ZipDirectory, ZipMember, read_directory
from refbrowser.io.zip_member import unpack
from refbrowser.io.zip_rescue import rescue
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

if TYPE_CHECKING:
    from refbrowser.io.access import Access
    from refbrowser.io.fetch import Fetcher

#: Seconds after which a thread that waits for another to read the same directory looks whether it should.
_TURN = 0.1
#: Bytes between members of a local archive that are read together, and of all that are: cheaper than calls.
_GAP, _STRETCH = 16 << 10, 4 << 20


class ZipArchives:
    """What is known of archives, by their canonical URL; may be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reading: dict[str, threading.Lock] = {}
        self._directories: dict[str, ZipDirectory] = {}
        self._data_starts: dict[tuple[str, int], int] = {}
        self._inflated: OrderedDict[tuple[str, int], bytes] = OrderedDict()
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
        with self._lock:
            turn = self._reading.setdefault(url, threading.Lock())
        while not turn.acquire(timeout=_TURN):
            if cancel is not None:
                cancel.check()
        try:
            if url not in self._directories:
                source = _Archive(url, access, fetcher, cancel, options)
                self._directories[url] = read_directory(source.read, source.size(), url, cancel)
            return self._directories[url]
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
        source = _Archive(url, access, fetcher, cancel, {})
        most = LIMITS.zip_rescue if scheme_of(url) is None else LIMITS.zip_rescue_remote
        found = rescue(source.read, source.size(), url, most, cancel)
        self._directories[url] = found.directory
        self._data_starts |= {(url, row): start for row, start in enumerate(found.data_starts)}
        return found.findings

    def data_start(self, url: str, row: int) -> int | None:
        """Return where the data of a member begins, if its local header was read."""
        return self._data_starts.get((url, row))

    def learn_data_start(self, url: str, row: int, start: int) -> None:
        """Remember what a local header told."""
        self._data_starts[url, row] = start

    def inflated(self, url: str, row: int) -> bytes | None:
        """Return the bytes of a member that was inflated lately."""
        with self._lock:
            found = self._inflated.get((url, row))
            if found is not None:
                self._inflated.move_to_end((url, row))
            return found

    def keep_inflated(self, url: str, row: int, data: bytes) -> None:
        """Keep the bytes of a member for the next reading of a part of it."""
        if len(data) > LIMITS.zip_kept:
            return
        with self._lock:
            self._held += len(data) - len(self._inflated.pop((url, row), b""))
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
