"""Rows that are members of zip archives: fetched as ranges of their archive, confirmed and inflated.

A member is read from its local header to the next member, so that one request brings what confirms it. A part
of a stored member alone is read where it lies, once its header was; parts of packed ones are cut from all.

Only all bytes of a member have a CRC-32. So before a part is given all of the member is read, once: small
ones in the same request, large ones block by block. `Access.confirm` tells who gets parts before that (views,
which say so and confirm later), and whether large members of servers are read for a part of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.found_members import (
    SMALL,
    Found,
    find_member,
    is_confirmed,
    is_far,
    members_of,
)
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.io.access.access import Access, split_chained
from refbrowser.io.access.segment import oversize, short_object
from refbrowser.io.access.task import Counters, Deliver
from refbrowser.io.archives.directory import ZipDirectory, ZipMember
from refbrowser.io.archives.entries import LOCAL_HEADER
from refbrowser.io.archives.known_archives import Confirm, ZipArchives
from refbrowser.io.fetching.archive_reading import data_start, read_archive, unpack, unpack_part, wrong_crc
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.origins import local_path
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange, ReferenceColumns, ReferenceKind, columns_of

#: Fetches ranges of archives: columns, what to do with each row, and what the fetch was called with.
FetchRanges = Callable[[ReferenceColumns, Deliver, dict[str, Any]], Counters]

#: Bytes that are read with a member beside its data, at most.
MOST_BESIDE = 256 * 1024
#: Members up to this size that are to be confirmed are read whole, larger ones in blocks of so many bytes.
BLOCK = 16 * 1024 * 1024
#: What is wanted of a large packed member is held alone where it is no more than one part in so many.
PART = 8
#: Options of a fetch that belong to its rows.
_OF_ROWS = ("destination", "ranges", "timed")


@dataclass(slots=True)
class _Part:
    """A row: bytes `start` to `stop` of a member; None: all of it."""

    row: int
    start: int = 0
    stop: int | None = None


@dataclass(slots=True)
class _Wanted:
    """What is wanted of one member."""

    found: Found
    parts: list[_Part] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether what is wanted takes all of the member, or as good as all."""
        member = self.found.member
        return member.is_packed or member.size <= SMALL or any(part.stop is None for part in self.parts)

    @property
    def reach(self) -> tuple[int, int]:
        """The first byte that is wanted, and the one after the last."""
        stops = (self.found.member.size if part.stop is None else part.stop for part in self.parts)
        return min(part.start for part in self.parts), max(stops)

    @property
    def covers(self) -> bool:
        """Whether the parts are all of the member together."""
        reach = 0
        for start, stop in sorted((part.start, part.stop or 0) for part in self.parts):
            if start > reach:
                return False
            reach = max(reach, stop)
        return reach >= self.found.member.size


def fetch_members(
    fetcher: Fetcher,
    columns: ReferenceColumns,
    rows: npt.NDArray[np.int64],
    access: Access,
    deliver: Deliver,
    fetch: FetchRanges,
    options: dict[str, Any],
) -> Counters:
    """Read the rows of `columns` that are members of archives.

    Parameters
    ----------
    fetch
        Fetches ranges.
    options
        Of `Fetcher.fetch`; `size_limit` bounds members inflated, too.
    """
    job = _Members(fetcher, columns, access, deliver, fetch, options)
    counters, rest = job.read_small(rows)
    wanted = job.find(rest)
    counters.add(job.read(wanted))
    return counters


def _packed_most(size: int) -> int:
    """Return how many bytes are read of a member of `size`: no method adds an eighth."""
    return size + size // 8 + MOST_BESIDE


class _Members:
    def __init__(
        self,
        fetcher: Fetcher,
        columns: ReferenceColumns,
        access: Access,
        deliver: Deliver,
        fetch: FetchRanges,
        options: dict[str, Any],
    ) -> None:
        self._fetcher = fetcher
        self._columns = columns
        self._access = access
        self._deliver = deliver
        self._fetch = fetch
        self._options = {name: value for name, value in options.items() if name not in _OF_ROWS}
        self._timed = options.get("timed")
        self._destination = options.get("destination")
        self._size_limit: int = options["size_limit"]
        # A member comes with its header and what follows it.
        self._options["size_limit"] = _packed_most(LIMITS.chunk_size)
        self._directories: dict[str, ZipDirectory | RefbrowserError] = {}

    @property
    def _archives(self) -> ZipArchives:
        return self._access.memory.archives

    # Small members, as there are very many of: none is a value of its own before its bytes are here

    def read_small(self, rows: npt.NDArray[np.int64]) -> tuple[Counters, list[int]]:
        """Read rows that are all of a small member, and return the others."""
        counters = Counters()
        is_read = np.zeros(len(self._columns), bool)
        whole = rows[self._columns.kind[rows] == ReferenceKind.WHOLE]
        for archive, (of_archive, names) in members_of(self._columns, whole).items():
            directory = self._directory(archive)
            if isinstance(directory, RefbrowserError):
                continue
            found = directory.find_all(names)
            places, found = np.array(of_archive, np.int64)[found >= 0], found[found >= 0]
            small = directory.are_small(found, min(SMALL, self._size_limit), MOST_BESIDE)
            small &= ~self._archives.are_damaged(directory.url, found)
            places, found = places[small], found[small]
            is_read[places] = True
            if len(found):
                counters.add(self._read_slots(directory, places.tolist(), found))
        return counters, rows[~is_read[rows]].tolist()

    def _read_slots(self, directory: ZipDirectory, rows: list[int], found: npt.NDArray[np.int64]) -> Counters:
        members = directory.members(found)
        numbers = found.tolist()

        def deliver(position: int, data: memoryview | RefbrowserError) -> None:
            try:
                if isinstance(data, RefbrowserError):
                    raise data
                unpacked = unpack(members[position], data, directory.url).data
            except RefbrowserError as error:
                if not isinstance(data, RefbrowserError):
                    self._archives.learn_damage(directory.url, numbers[position], error)
                self._deliver(rows[position], error)
            else:
                self._deliver(rows[position], unpacked)

        start, stop = directory.extents(found)
        count = len(found)
        slots = ReferenceColumns(
            np.full(count, ReferenceKind.RANGE, np.uint8),
            np.zeros(count, np.int32),
            start,
            stop - start,
            (directory.url,),
        )
        return self._fetch(slots, deliver, self._with_times([[row] for row in rows]))

    # What is wanted

    def find(self, rows: Iterable[int]) -> list[_Wanted]:
        """Return the members that rows are of; rows of which there is none are delivered why."""
        wanted: dict[int, _Wanted | RefbrowserError] = {}
        for row in rows:
            number = int(self._columns.url[row])
            if number not in wanted:
                wanted[number] = self._find(self._columns.urls[number])
            one = wanted[number]
            if isinstance(one, RefbrowserError):
                self._deliver(row, one)
                continue
            try:
                one.parts.append(self._part(row, one.found.member))
            except RefbrowserError as error:
                self._deliver(row, error)
        return [one for one in wanted.values() if isinstance(one, _Wanted) and one.parts]

    def _find(self, url: str) -> _Wanted | RefbrowserError:
        try:
            archive = split_chained(url).archive
            directory = self._directory(archive)
            if isinstance(directory, RefbrowserError):
                return directory
            return _Wanted(find_member(url, directory, self._access))
        except RefbrowserError as error:
            return error

    def _directory(self, archive: str) -> ZipDirectory | RefbrowserError:
        known = self._directories.get(archive)
        if known is None:
            known = self._directories[archive] = self._read_directory(archive)
        return known

    def _read_directory(self, archive: str) -> ZipDirectory | RefbrowserError:
        try:
            location = self._access.resolve(archive)
            options = {name: self._options[name] for name in ("export", "priority") if name in self._options}
            cancel = self._options.get("cancel")
            return read_archive(location.url, self._access, self._fetcher, cancel, **options)
        except RefbrowserError as error:
            return error

    def _part(self, row: int, member: ZipMember) -> _Part:
        url = self._columns.urls[self._columns.url[row]]
        is_whole = self._columns.kind[row] == ReferenceKind.WHOLE
        start = 0 if is_whole else int(self._columns.offset[row])
        stop = member.size if is_whole else start + int(self._columns.length[row])
        if stop - start > self._size_limit:
            raise oversize(stop - start, self._size_limit, url)
        if member.is_packed and member.size > LIMITS.chunk_size:
            raise oversize(member.size, LIMITS.chunk_size, url)
        if member.is_packed and member.compressed > _packed_most(member.size):
            raise oversize(member.compressed, _packed_most(member.size), url)
        if start < 0 or stop < start or stop > member.size:
            raise short_object(url, member.size, start, stop)
        return _Part(row) if is_whole else _Part(row, start, stop)

    # Reading

    def read(self, wanted: list[_Wanted]) -> Counters:
        """Read what is wanted: whole members, and parts of stored ones once it is known where they lie."""
        counters = Counters()
        wanted = [one for one in wanted if not self._is_damaged(one) and not self._is_kept(one)]
        whole, held, alone, parts = list[_Wanted](), list[_Wanted](), list[_Wanted](), list[_Wanted]()
        for one in wanted:
            if one.is_whole:
                whole.append(one)
            elif not self._is_to_confirm(one):
                parts.append(one)
            elif one.found.member.size <= min(BLOCK, self._size_limit):
                whole.append(one)
            elif one.covers and one.found.member.size <= LIMITS.zip_kept:
                held.append(one)
            else:
                alone.append(one)
        counters.add(self._read(whole, self._take_whole, self._slot))
        unknown = [one for one in (*held, *alone, *parts) if self._start_of(one) is None]
        counters.add(self._read(unknown, self._take_head, self._head))
        for one in alone:
            if one.parts:
                counters.add(self._confirm(one))
        counters.add(self._read_ranges([*alone, *parts], self._deliver))
        for one in held:
            counters.add(self._read_held(one))
        return counters

    def _is_damaged(self, one: _Wanted) -> bool:
        """Deliver why a member cannot be confirmed, where that is known."""
        error = self._archives.damage(one.found.archive, one.found.row)
        if error is None:
            return False
        self._refuse(one, error)
        return True

    def _is_to_confirm(self, one: _Wanted) -> bool:
        """Tell whether all of a member is to be read before a part is given; note it where that is left."""
        found, confirm = one.found, self._access.confirm
        if is_confirmed(found, self._access) or all(part.start == part.stop for part in one.parts):
            return False
        if confirm is Confirm.LATER:
            self._archives.note_unconfirmed(found.archive, found.row, found.member)
            return False
        if confirm is Confirm.BOUNDED and not one.covers and is_far(found.archive, found.member):
            self._archives.note_unconfirmed(found.archive, found.row, found.member)
            self._access.memory.warn(_unconfirmed(found))
            return False
        return True

    def _refuse(self, one: _Wanted, error: RefbrowserError) -> None:
        for part in one.parts:
            self._deliver(part.row, error)
        one.parts.clear()

    def _is_kept(self, one: _Wanted) -> bool:
        """Deliver a member that was inflated lately."""
        data = self._archives.inflated(one.found.archive, one.found.row)
        if data is None:
            return False
        self._cut(one, data)
        return True

    def _start_of(self, one: _Wanted) -> int | None:
        return self._archives.data_start(one.found.archive, one.found.row)

    @staticmethod
    def _slot(one: _Wanted) -> ByteRange:
        member = one.found.member
        return ByteRange(one.found.archive, member.start, member.stop - member.start)

    @staticmethod
    def _head(one: _Wanted) -> ByteRange:
        member = one.found.member
        return ByteRange(one.found.archive, member.start, LOCAL_HEADER + len(member.raw_name))

    def _read(
        self,
        wanted: list[_Wanted],
        take: Callable[[_Wanted, memoryview], None],
        range_of: Callable[[_Wanted], ByteRange],
    ) -> Counters:
        if not wanted:
            return Counters()

        def deliver(position: int, data: memoryview | RefbrowserError) -> None:
            one = wanted[position]
            try:
                if isinstance(data, RefbrowserError):
                    raise data
                take(one, data)
            except RefbrowserError as error:
                self._refuse(one, error)

        owners = [[part.row for part in one.parts] for one in wanted]
        return self._fetch(columns_of(map(range_of, wanted)), deliver, self._with_times(owners))

    def _with_times(self, owners: list[list[int]]) -> dict[str, Any]:
        timed = self._timed
        if timed is None:
            return dict(self._options)
        return {
            **self._options,
            "timed": lambda rows, took: timed([own for row in rows for own in owners[row]], took),
        }

    def _take_whole(self, one: _Wanted, slot: memoryview) -> None:
        found, member = one.found, one.found.member
        # Small ones are read whole each time: to remember each of a million takes longer than to confirm it.
        is_small = member.size <= SMALL
        confirmed = not is_small and is_confirmed(found, self._access)
        first, last = one.reach
        # Of a large member a small part alone is held; the next such part is had without what follows it.
        is_part = member.is_packed and member.size > BLOCK
        is_part &= (last if confirmed else last - first) * PART <= member.size
        try:
            if is_part:
                unpacked = unpack_part(member, slot, found.archive, first, last, confirmed=confirmed)
            else:
                unpacked = unpack(member, slot, found.archive)
        except RefbrowserError as error:
            self._archives.learn_damage(found.archive, found.row, error)
            raise
        self._archives.learn_data_start(found.archive, found.row, unpacked.data_start)
        if not is_small:
            self._learn(found)
        if is_part:
            self._cut(one, unpacked.data, first)
            return
        # Stored members of this machine are in the system's memory.
        costs = member.is_packed or local_path(found.archive) is None
        if costs and not is_small and any(part.stop is not None for part in one.parts):
            # A view of what was fetched would keep all of that.
            kept = unpacked.data if member.is_packed else memoryview(bytes(unpacked.data))
            self._archives.keep_inflated(found.archive, found.row, kept.toreadonly())
        self._cut(one, unpacked.data)

    def _learn(self, found: Found) -> None:
        identity = self._access.memory.identities.known(found.archive)
        self._archives.learn_confirmed(found.archive, found.row, identity)

    def _take_head(self, one: _Wanted, head: memoryview) -> None:
        found = one.found
        start = data_start(found.member, head, found.archive)
        self._archives.learn_data_start(found.archive, found.row, start)

    def _cut(self, one: _Wanted, data: memoryview, first: int = 0) -> None:
        """Deliver the parts of a member from its bytes, which begin with byte `first`."""
        for part in one.parts:
            stop = None if part.stop is None else part.stop - first
            self._deliver(part.row, data[part.start - first : stop])

    def _read_ranges(self, wanted: Sequence[_Wanted], deliver: Deliver) -> Counters:
        """Read parts of stored members where they lie in the archive."""
        ranges = [(one, part) for one in wanted for part in one.parts]
        if not ranges:
            return Counters()
        references = []
        for one, part in ranges:
            base = self._start_of(one)
            assert base is not None
            assert part.stop is not None
            references.append(ByteRange(one.found.archive, base + part.start, part.stop - part.start))
        rows = [part.row for _, part in ranges]
        options = self._with_times([[row] for row in rows])
        destination = self._destination
        if destination is not None:
            options["destination"] = lambda position: destination(rows[position])
        return self._fetch(
            columns_of(references), lambda position, data: deliver(rows[position], data), options
        )

    # Confirming

    def _read_held(self, one: _Wanted) -> Counters:
        """Read parts that are all of a member together; they are given once its CRC-32 was found right."""
        data: dict[int, memoryview] = {}
        failed: list[RefbrowserError] = []

        def hold(row: int, found: memoryview | RefbrowserError) -> None:
            if isinstance(found, RefbrowserError):
                failed.append(found)
            else:
                data[row] = found

        counters = self._read_ranges([one], hold)
        if failed:
            # Without it there is nothing to compare the other parts with.
            self._refuse(one, failed[0])
        crc = reach = 0
        for part in sorted(one.parts, key=lambda part: part.start):
            crc = zlib.crc32(data[part.row][max(reach - part.start, 0) :], crc)
            reach = max(reach, part.stop or 0)
        if one.parts:
            try:
                self._judge(one.found, crc)
            except RefbrowserError as error:
                self._refuse(one, error)
        for part in one.parts:
            self._deliver(part.row, data[part.row])
        return counters

    def _confirm(self, one: _Wanted) -> Counters:
        """Read all of a stored member to confirm it; where that fails its rows are delivered why."""
        found, counters = one.found, Counters()
        start, cancel = self._start_of(one), self._options.get("cancel")
        assert start is not None
        try:
            with self._archives.turn((found.archive, found.row), cancel):
                if is_confirmed(found, self._access):
                    return counters
                error = self._archives.damage(found.archive, found.row)
                if error is not None:
                    raise error
                crc = 0
                for at in range(0, found.member.size, BLOCK):
                    block = ByteRange(found.archive, start + at, min(BLOCK, found.member.size - at))
                    came: list[memoryview | RefbrowserError] = []
                    counters.add(
                        self._fetch(columns_of([block]), lambda _, data: came.append(data), self._options)  # noqa: B023
                    )
                    if isinstance(came[0], RefbrowserError):
                        raise came[0]
                    crc = zlib.crc32(came[0], crc)
                self._judge(found, crc)
        except RefbrowserError as error:
            self._refuse(one, error)
        return counters

    def _judge(self, found: Found, crc: int) -> None:
        """Remember whether the CRC-32 of a member is that of the directory.

        Raises
        ------
        RefbrowserError
            `E_DECODE`: it is not.
        """
        if crc != found.member.crc:
            error = wrong_crc(found.member, found.archive)
            self._archives.learn_damage(found.archive, found.row, error)
            raise error
        self._learn(found)


def _unconfirmed(found: Found) -> Finding:
    member = found.member
    return Finding(
        severity=Severity.WARNING,
        kind=ErrorKind.SOURCE,
        message=f"part of member {quoted(member.name)} was read and is not confirmed: "
        f"the checksum covers all of its {member.size} bytes",
        place=Place(url=found.archive, key=member.name),
        advice="`refbrowser check` reads and confirms all of it; so do exports",
    )
