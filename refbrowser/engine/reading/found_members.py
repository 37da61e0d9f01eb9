"""Which references are members of zip archives, where those lie, and whether they are confirmed.

What fetches and inflates them is in `members`: few documents refer to archives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.access.access import LINK, ZIP, Access, chained_url, is_chained, split_chained
from refbrowser.io.archives.known_archives import Confirm
from refbrowser.io.identity import ObjectIdentity
from refbrowser.io.origins import local_path
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange, ReferenceColumns, ReferenceKind

if TYPE_CHECKING:
    from refbrowser.io.archives.directory import ZipDirectory, ZipMember

#: Members up to this size are read whole: one request brings header and data, and the data are confirmed.
SMALL = 64 * 1024
#: Members that are looked for together.
_PAGE = 16_384


def member_rows(columns: ReferenceColumns) -> npt.NDArray[np.int64]:
    """Return the rows that are members of archives, or parts of such."""
    # One more for rows without a URL, whose number is -1.
    chained = np.array([*(url.startswith(ZIP) for url in columns.urls), False])
    if not chained.any():
        return np.zeros(0, np.int64)
    wanted = chained[columns.url]
    wanted &= (columns.kind == ReferenceKind.RANGE) | (columns.kind == ReferenceKind.WHOLE)
    return np.flatnonzero(wanted)


def with_members(columns: ReferenceColumns, access: Access) -> ReferenceColumns:
    """Return columns in which ranges of archives without a directory are parts of their members.

    So they are confirmed as those are.
    """
    archives = access.memory.archives
    if not archives.has_rescued:
        return columns
    url, offset = columns.url.copy(), columns.offset.copy()
    numbers: dict[str, int] = {}
    places = [_place(each, access) for each in columns.urls]
    for row in np.flatnonzero(columns.kind == ReferenceKind.RANGE).tolist():
        archive, start = places[url[row]], int(offset[row])
        found = (
            None if archive is None else archives.member_at(archive, start, start + int(columns.length[row]))
        )
        if found is not None and archive is not None:
            name = chained_url(found[0], archive)
            url[row] = numbers.setdefault(name, len(columns.urls) + len(numbers))
            offset[row] = found[1]
    return replace(columns, url=url, offset=offset, urls=(*columns.urls, *numbers))


def _place(url: str, access: Access) -> str | None:
    try:
        return access.locate(url).url
    except RefbrowserError:
        return None


@dataclass(frozen=True, slots=True)
class Found:
    """A member that a URL names.

    Attributes
    ----------
    archive
        Canonical URL of the archive.
    row
        Of its directory.
    """

    archive: str
    row: int
    member: ZipMember


def find_member(url: str, directory: ZipDirectory, access: Access) -> Found:
    """Return the member that a URL names; its size is known from then on.

    Raises
    ------
    AbsentError
        The archive has no such member.
    RefbrowserError
        The member cannot be read.
    """
    name = split_chained(url).member
    row = directory.find(name)
    if row is None:
        raise AbsentError(ErrorKind.SOURCE, f"the archive has no member {quoted(name)}", Place(url=url))
    member = directory.member(row)
    identity = ObjectIdentity(member.size, f"{member.crc:08x}")
    access.memory.identities.confirm(chained_url(name, directory.url), identity)
    return Found(directory.url, row, member)


def is_confirmed(found: Found, access: Access) -> bool:
    """Tell whether the CRC-32 of a member was found right."""
    memory = access.memory
    return memory.archives.is_confirmed(found.archive, found.row, memory.identities.known(found.archive))


def is_far(archive: str, member: ZipMember) -> bool:
    """Tell whether a member is of a server, and too large to be read for a part of it."""
    return local_path(archive) is None and member.size > LIMITS.zip_confirmed_remote


def known_ranges(columns: ReferenceColumns, access: Access) -> ReferenceColumns:
    """Return columns with members as the ranges of their archives that would be read, where those are known.

    Nothing is read: members of archives whose directory was not read stay as they are, and so do members
    that cannot be read. One that is not there is a missing row.
    """
    columns = with_members(columns, access)
    rows = member_rows(columns)
    if not len(rows):
        return columns
    urls: dict[str, int] = {}
    kind, url = columns.kind.copy(), columns.url.copy()
    offset, length = columns.offset.copy(), columns.length.copy()
    whole = rows[kind[rows] == ReferenceKind.WHOLE]
    for first in range(0, len(whole), _PAGE):
        page = whole[first : first + _PAGE]
        for archive, (of_archive, names) in members_of(columns, page).items():
            directory = _known_directory(archive, access)
            if directory is None:
                continue
            members, places = directory.find_all(names), np.array(of_archive, np.int64)
            kind[places[members < 0]] = ReferenceKind.MISSING
            there = members >= 0
            there[there] = directory.is_readable(members[there])
            start, stop = directory.extents(members[there])
            places = places[there]
            kind[places] = ReferenceKind.RANGE
            url[places] = len(columns.urls) + urls.setdefault(directory.url, len(urls))
            offset[places], length[places] = start, stop - start
    for row in rows[columns.kind[rows] == ReferenceKind.RANGE].tolist():
        try:
            found = _known_range(columns.urls[url[row]], (int(offset[row]), int(length[row])), access)
        except AbsentError:
            kind[row] = ReferenceKind.MISSING
            continue
        except RefbrowserError:
            continue
        if found is not None:
            kind[row] = ReferenceKind.RANGE
            url[row] = len(columns.urls) + urls.setdefault(found.url, len(urls))
            offset[row], length[row] = found.offset, found.length
    return replace(columns, kind=kind, url=url, offset=offset, length=length, urls=(*columns.urls, *urls))


def members_of(
    columns: ReferenceColumns, rows: npt.NDArray[np.int64]
) -> dict[str, tuple[list[int], list[str]]]:
    """Return rows and the names of the members that they are, by archive; without those that can be none."""
    urls = [columns.urls[number] for number in columns.url[rows].tolist()]
    if not urls:
        return {}
    archive = urls[0].partition(LINK)[2]
    names = _of_one(urls, archive) if archive and not is_chained(archive) else None
    if names is not None and max(map(len, names)) <= LIMITS.key_length:
        return {archive: (rows.tolist(), names)}
    found: dict[str, tuple[list[int], list[str]]] = {}
    for row, url in zip(rows.tolist(), urls, strict=True):
        member, _, archive = url[len(ZIP) :].partition(LINK)
        if not member or not archive or is_chained(archive) or len(member) > LIMITS.key_length:
            continue
        if archive not in found:
            found[archive] = [], []
        numbers, names = found[archive]
        numbers.append(row)
        names.append(member)
    return found


def _of_one(urls: list[str], archive: str) -> list[str] | None:
    """Return the names of members where all are of one archive and plain, as most are."""
    tail = LINK + archive
    # One text is taken apart in a tenth of the time.
    text = "\n".join(urls)
    if not (text.startswith(ZIP) and text.endswith(tail)) or text.count("\n") >= len(urls):
        return None
    names = text[len(ZIP) : -len(tail)].split(f"{tail}\n{ZIP}")
    # Nothing that ends a name stands in one.
    is_plain = len(names) == len(urls) and all(names) and LINK not in f"{':'.join(names)}:"
    return names if is_plain else None


def _known_directory(archive: str, access: Access) -> ZipDirectory | None:
    try:
        return access.memory.archives.known(access.locate(archive).url)
    except RefbrowserError:
        return None


def _known_range(url: str, part: tuple[int, int], access: Access) -> ByteRange | None:
    archives = access.memory.archives
    archive = access.locate(split_chained(url).archive).url
    directory = archives.known(archive)
    if directory is None:
        return None
    found = find_member(url, directory, access)
    member = found.member
    if member.is_packed or member.size <= SMALL or _takes_all(found, access):
        return ByteRange(archive, member.start, member.stop - member.start)
    start = archives.data_start(archive, found.row)
    # How long the extra fields of the header are is seen when it is read: most have none.
    from refbrowser.io.archives.entries import LOCAL_HEADER

    begin = member.start + LOCAL_HEADER + len(member.raw_name) if start is None else start
    return ByteRange(archive, begin + part[0], part[1])


def _takes_all(found: Found, access: Access) -> bool:
    """Tell whether all of a stored member is read when a part of it is."""
    if access.confirm is Confirm.LATER or is_confirmed(found, access):
        return False
    return access.confirm is Confirm.ALWAYS or not is_far(found.archive, found.member)
