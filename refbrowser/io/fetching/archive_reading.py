"""Reading archives through the fetcher, so that local files, http and object stores are alike.

A byte tells the size, then the end is read, and the directory where it is longer than the end. The bytes of
members are confirmed and unpacked: local header, method, CRC-32; bounded by the size that is announced.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.findings.finding import Finding
from refbrowser.io.access.access import Access
from refbrowser.io.access.local_files import open_regular, read_bytes
from refbrowser.io.archives.directory import ZipDirectory, ZipMember, read_directory
from refbrowser.io.archives.entries import LOCAL_HEADER, PackedError, ReadBytes, unpacked, unpacked_blocks
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.origins import local_path, scheme_of
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

#: Bytes between members of a local archive that are read together, and of all that are: cheaper than calls.
_GAP, _TOGETHER = 16 << 10, 4 << 20
_HEADER = struct.Struct("<4s5H3L2H")
_MARK = b"PK\x03\x04"
_ENCRYPTED = 0x2041
#: Sizes that stand behind the data, or in a field of zip64.
_ELSEWHERE = (0, 0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A member's bytes and where its data began in the archive."""

    data: memoryview
    data_start: int


def data_start(member: ZipMember, head: memoryview, url: str) -> int:
    """Return the byte of the archive at which a member's data begins, as its local header tells.

    Parameters
    ----------
    head
        What stands from `member.start` on: at least the header with its name.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: the header is not that of the member.
    """
    named = LOCAL_HEADER + len(member.raw_name)
    if len(head) < named:
        raise _wrong("the local header is cut short", member, url)
    mark, _, flags, method, _, _, _, compressed, _, name_size, extra_size = _HEADER.unpack_from(head)
    if mark != _MARK:
        raise _wrong("there is no local header where the directory points", member, url)
    if name_size != len(member.raw_name) or head[LOCAL_HEADER:named] != member.raw_name:
        raise _wrong("the local header has another name than the directory", member, url)
    if method != member.method or flags & _ENCRYPTED:
        raise _wrong("the local header names another compression than the directory", member, url)
    # Unpacking tells whether the other size is right.
    if compressed not in (*_ELSEWHERE, member.compressed):
        raise _wrong("the local header gives another size than the directory", member, url)
    start = member.start + named + extra_size
    if start + member.compressed > member.stop:
        raise _wrong("the member reaches into what follows it", member, url)
    return start


def unpack(member: ZipMember, slot: memoryview, url: str) -> Unpacked:
    """Return the bytes of a member, checked.

    Parameters
    ----------
    slot
        Bytes `member.start` to `member.stop` of the archive at `url`.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: header and directory disagree; `E_DECODE`: the data cannot be unpacked, or its length or
        CRC-32 is not the one in the directory.
    """
    start = data_start(member, slot, url)
    packed = slot[start - member.start :][: member.compressed]
    try:
        data = unpacked(member.method, packed, member.size)
    except PackedError as error:
        raise _wrong(str(error), member, url, ErrorKind.DECODE) from None
    if zlib.crc32(data) != member.crc:
        raise wrong_crc(member, url)
    return Unpacked(data, start)


def unpack_part(
    member: ZipMember, slot: memoryview, url: str, first: int, last: int, *, confirmed: bool
) -> Unpacked:
    """Return bytes `first` to `last` of a packed member; only they are held, whatever it unpacks to.

    Parameters
    ----------
    slot
        As of `unpack`.
    confirmed
        The CRC-32 of the member was found right before: what follows the part need not be unpacked.

    Raises
    ------
    RefbrowserError
        As `unpack`.
    """
    start = data_start(member, slot, url)
    packed = slot[start - member.start :][: member.compressed]
    part = bytearray()
    made = crc = 0
    try:
        for block in unpacked_blocks(member.method, packed, member.size):
            part += block[max(first - made, 0) : max(last - made, 0)]
            made += len(block)
            if confirmed and made >= last:
                return Unpacked(memoryview(part), start)
            crc = zlib.crc32(block, crc)
    except PackedError as error:
        raise _wrong(str(error), member, url, ErrorKind.DECODE) from None
    if crc != member.crc:
        raise wrong_crc(member, url)
    return Unpacked(memoryview(part), start)


def wrong_crc(member: ZipMember, url: str) -> RefbrowserError:
    """Return the error that the bytes of a member are not those that were written."""
    message = "the CRC-32 of the member is not the one in the directory"
    return _wrong(message, member, url, ErrorKind.DECODE)


def _wrong(message: str, member: ZipMember, url: str, kind: ErrorKind = ErrorKind.FORMAT) -> RefbrowserError:
    place = Place(key=member.name, url=url, start=member.start, stop=member.stop)
    return RefbrowserError(kind, message, place)


def read_archive(
    url: str, access: Access, fetcher: Fetcher, cancel: CancelToken | None = None, **options: Any
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
    """
    archives = access.memory.archives
    known = archives.known(url)
    if known is not None:
        return known
    with archives.turn(url, cancel):
        known = archives.known(url)
        if known is None:
            source = _Archive(url, access, fetcher, cancel, options)
            size = source.size()
            with _headers_of(url) as headers:
                known = read_directory(source.read, size, url, cancel, headers=headers)
            archives.learn_directory(known)
        return known


@contextmanager
def _headers_of(url: str) -> Iterator[ReadBytes | None]:
    """Yield what reads local headers of a file of this machine; None of others."""
    path = local_path(url)
    if path is None:
        yield None
        return
    with open_regular(os.path.realpath(path)) as (descriptor, _):
        yield lambda start, stop: read_bytes(descriptor, stop - start, start)


def rescue_archive(
    url: str, access: Access, fetcher: Fetcher, cancel: CancelToken | None = None
) -> tuple[Finding, ...]:
    """Make the directory of an archive from the headers of its members; returns what is lost.

    Raises
    ------
    RefbrowserError
        It may not be read, or cannot be read.
    """
    from refbrowser.io.archives.rescued_members import rescue  # Few archives are damaged.

    source = _Archive(url, access, fetcher, cancel, {})
    most = LIMITS.zip_rescue if scheme_of(url) is None else LIMITS.zip_rescue_remote
    found = rescue(source.read, source.size(), url, most, cancel)
    access.memory.archives.learn_directory(found.directory, found.data_starts)
    return found.findings


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

    ranges = _ranges(members) if local_path(directory.url) is not None else [[each] for each in members]
    alone: list[ZipMember] = []

    def take(position: int, data: memoryview | RefbrowserError) -> None:
        together = ranges[position]
        if isinstance(data, RefbrowserError) and len(together) > 1:
            # Which of them it is that cannot be read is not known.
            alone.extend(together)
            return
        for member in together:
            found[member.name] = _unpacked(member, data, member.start - together[0].start, directory.url)

    fetcher.fetch(fetcher.plan(_columns(ranges, directory.url), access), access, take, cancel=cancel)
    if alone:
        ranges = [[each] for each in alone]
        fetcher.fetch(fetcher.plan(_columns(ranges, directory.url), access), access, take, cancel=cancel)
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


def _ranges(members: Sequence[ZipMember]) -> list[list[ZipMember]]:
    """Return members in the order of the archive, those together that hardly anything lies between."""
    found: list[list[ZipMember]] = []
    start = stop = 0
    for member in sorted(members, key=lambda each: each.start):
        if found and member.start - stop <= _GAP and member.stop - start <= _TOGETHER:
            found[-1].append(member)
        else:
            found.append([member])
            start = stop = member.start
        stop = max(stop, member.stop)
    return found


def _columns(ranges: Sequence[Sequence[ZipMember]], url: str) -> ReferenceColumns:
    count = len(ranges)
    starts = [together[0].start for together in ranges]
    stops = [max([member.stop for member in together]) for together in ranges]
    return ReferenceColumns(
        kind=np.full(count, ReferenceKind.RANGE, np.uint8),
        url=np.zeros(count, np.int32),
        offset=np.array(starts, np.int64),
        length=np.array(stops, np.int64) - np.array(starts, np.int64),
        urls=(url,),
    )
