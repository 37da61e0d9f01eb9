"""The directory of a zip archive: read within limits, and members kept where an archive is written anew."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.io.archives.entries import (
    LOCAL_HEADER,
    STORED,
    DirectoryEnd,
    Entries,
    Fault,
    ReadBytes,
    damaged,
    find_end,
    read_entries,
)
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

#: Members of one fault that are told one by one; the rest is counted.
TOLD = 100
#: Local headers have at most so many bytes of extra fields.
_MOST_EXTRA = 0xFFFF
_PAGE = 65_536
#: Names that are compared together, and bytes of the longest folder of these.
_FEW, _LONG = 4096, 256
#: Members that are not found by their names.
_NO_KEYS = (Fault.FOLDER, Fault.NAME, Fault.REPLACED)
_REASONS = {
    Fault.REPLACED: (ErrorKind.FORMAT, "a later member has the same name and replaces it"),
    Fault.NAME: (ErrorKind.UNSAFE, "the name is not a key ('..', an empty part, a backslash or the like)"),
    Fault.ENCRYPTED: (ErrorKind.PROTOCOL, "the member is encrypted"),
    Fault.METHOD: (ErrorKind.PROTOCOL, "the member is packed by a method other than deflate, bzip2 and LZMA"),
    Fault.SIZES: (ErrorKind.FORMAT, "the sizes of the member contradict each other"),
    Fault.OUTSIDE: (ErrorKind.RANGE, "the member would be outside the archive's data"),
    Fault.GROWTH: (
        ErrorKind.BUDGET,
        f"the member would unpack to more than {LIMITS.zip_growth} times its size (zip_growth)",
    ),
    Fault.OVERLAP: (ErrorKind.UNSAFE, "the member shares bytes with another"),
    Fault.OTHER_NAME: (ErrorKind.FORMAT, "the directory and the local header name the member differently"),
}
_WARNINGS = (Fault.REPLACED, Fault.NAME)


@dataclass(frozen=True, slots=True)
class ZipMember:
    """One member that can be read.

    Attributes
    ----------
    start, stop
        Bytes of the archive that hold its local header and its data, and maybe what follows it.
    raw_name
        As the local header must have it.
    method
        One of `METHODS`.
    """

    name: str
    raw_name: bytes
    start: int
    stop: int
    method: int
    compressed: int
    size: int
    crc: int

    @property
    def is_packed(self) -> bool:
        """Whether only all of it can be unpacked: it is not stored as it is."""
        return self.method != STORED


class ZipDirectory:
    """The members of one archive; immutable, made by `read_directory`.

    Attributes
    ----------
    url
        Of the archive, for messages.
    size
        Bytes of the archive.
    """

    def __init__(self, url: str, size: int, end: DirectoryEnd, parts: Sequence[Entries]) -> None:
        self.url = url
        self.size = size
        self._counted = end.entries
        self._data_stop = end.start
        self._shift = end.shift
        self._names = b"".join(part.names for part in parts)
        self._name_stop = _compact(np.cumsum(_column(parts, "name_sizes", np.int64)))
        self._raw_names = _renumbered(parts)
        self._method = _column(parts, "method", np.uint16)
        self._crc = _column(parts, "crc", np.uint32)
        self._compressed = _compact(_column(parts, "compressed", np.int64))
        self._size = _compact(_column(parts, "size", np.int64))
        self._offset = _compact(_column(parts, "offset", np.int64))
        self._fault = _column(parts, "fault", np.uint8)
        hashes, self._order = self._index()
        #: Numbers of Python: looking for one among those of numpy takes four times as long.
        self._hashes = hashes.data
        self._starts = np.sort(self._offset[self._fault != Fault.SIZES], kind="stable")
        self._judge_places()

    def __len__(self) -> int:
        """Entries of the directory, unreadable ones and folders included."""
        return len(self._crc)

    # Names

    def _bytes_of(self, row: int) -> bytes:
        stops = self._name_stop
        return self._names[stops.item(row - 1) if row else 0 : stops.item(row)]

    def _names_of(self, rows: npt.NDArray[np.int64]) -> Iterator[bytes]:
        return chain.from_iterable(self._pages_of(rows))

    def _pages_of(self, rows: npt.NDArray[np.int64]) -> Iterator[list[bytes]]:
        names = self._names
        for start in range(0, len(rows), _PAGE):
            extents = self._extents_of(rows[start : start + _PAGE])
            yield [names[begin:end] for begin, end in zip(*(each.tolist() for each in extents), strict=True)]

    def _extents_of(self, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return where the names of some rows begin and end among all names."""
        stops = self._name_stop[rows].astype(np.int64)
        return np.where(rows > 0, self._name_stop[rows - 1], 0), stops

    def name(self, row: int) -> str:
        """Return the name of an entry."""
        return self._bytes_of(row).decode("utf-8", "replace")

    def _index(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
        """Return the sorted hashes of the names that are keys, and their rows; mark the replaced ones."""
        rows = np.flatnonzero((self._fault != Fault.NAME) & (self._fault != Fault.FOLDER))
        hashes = np.fromiter(map(hash, self._names_of(rows)), np.int64, len(rows))
        order = np.argsort(hashes)
        same = hashes[order[1:]] == hashes[order[:-1]]
        if same.any():
            # The later one of the same name counts.
            order = np.argsort(hashes, kind="stable")
        ordered = rows[order].astype(np.uint32)
        self._mark_replaced(same, ordered)
        return hashes[order], ordered

    def _mark_replaced(self, same: npt.NDArray[np.bool_], rows: npt.NDArray[np.uint32]) -> None:
        last: dict[bytes, int] = {}
        for at in np.flatnonzero(np.append(same, False) | np.insert(same, 0, False)).tolist():
            row = int(rows[at])
            name = self._bytes_of(row)
            if name in last:
                self._fault[last[name]] = Fault.REPLACED
            last[name] = row

    def find(self, name: str) -> int | None:
        """Return the row of a member; None where there is none of that name (a folder is no member)."""
        try:
            wanted = name.encode("utf-8")
        except UnicodeEncodeError:
            return None
        value = hash(wanted)
        at = bisect_right(self._hashes, value) - 1
        while at >= 0 and self._hashes[at] == value:
            row = self._order.item(at)
            if self._bytes_of(row) == wanted:
                return row
            at -= 1
        return None

    def find_all(self, names: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the rows of members, as `find` does of one; -1 where there is none of that name."""
        # No name of a member holds half of a surrogate pair.
        wanted = [name.encode("utf-8", "surrogatepass") for name in names]
        found = self._in_order(wanted)
        if found is not None:
            return found
        hashes = np.fromiter(map(hash, wanted), np.int64, len(wanted))
        at = np.searchsorted(np.asarray(self._hashes), hashes, "right") - 1
        rows = np.full(len(wanted), -1, np.int64)
        known = np.flatnonzero(at >= 0)
        known = known[np.asarray(self._hashes)[at[known]] == hashes[known]]
        rows[known] = self._order[at[known]]
        for number, name in zip(known.tolist(), self._names_of(rows[known]), strict=True):
            if name != wanted[number]:
                # Another one of the same hash.
                row = self.find(names[number])
                rows[number] = -1 if row is None else row
        return rows

    def _in_order(self, wanted: Sequence[bytes]) -> npt.NDArray[np.int64] | None:
        """Return the rows of members that follow one another in the directory; None where they do not."""
        first = self.find(wanted[0].decode("utf-8", "replace")) if wanted else None
        if first is None or first + len(wanted) > len(self):
            return None
        rows = np.arange(first, first + len(wanted))
        starts, stops = self._extents_of(rows)
        is_same = (
            np.array_equal(np.fromiter(map(len, wanted), np.int64, len(wanted)), stops - starts)
            and self._names[starts[0] : stops[-1]] == b"".join(wanted)
            and not np.isin(self._fault[rows], _NO_KEYS).any()
        )
        return rows if is_same else None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None

    def names(self) -> Iterator[str]:
        """Yield the names of members that are keys, each once, in the order of the directory."""
        for name in self._names_of(self._keys()):
            yield name.decode("utf-8")

    def names_but_chunks(self) -> Iterator[list[str]]:
        """Yield `names` some thousands at a time, without most of those that only chunks can have.

        These end in a digit, and follow on another of the same folder.
        """
        rows = self._keys()
        octets = np.frombuffer(self._names, np.uint8)
        for page in (rows[at : at + _FEW] for at in range(0, len(rows), _FEW)):
            starts, stops = self._extents_of(page)
            folders = _folder_sizes(octets, starts, stops)
            last = octets[stops - 1]
            is_chunk = (last >= ord("0")) & (last <= ord("9")) & (folders <= _LONG)
            is_chunk[0] = False
            is_chunk[1:] &= folders[1:] == folders[:-1]
            # What stands in their folders, and in those of the names before them.
            again = np.flatnonzero(is_chunk)
            ends = np.cumsum(folders[again])
            inside = np.arange(ends[-1] if len(ends) else 0) - np.repeat(
                ends - folders[again], folders[again]
            )
            of_each = (octets[np.repeat(starts[at], folders[again]) + inside] for at in (again, again - 1))
            other = np.flatnonzero(np.not_equal(*of_each))
            is_chunk[again[np.searchsorted(ends, other, "right")]] = False
            yield [name.decode("utf-8") for name in self._names_of(page[~is_chunk])]

    def _keys(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(~np.isin(self._fault, _NO_KEYS))

    # Members

    def _judge_places(self) -> None:
        """Mark members that reach out of the archive's data, or into each other's."""
        offset, compressed = self._offset.astype(np.int64), self._compressed.astype(np.int64)
        sizes = self._raw_name_sizes
        possible = ~np.isin(self._fault, (Fault.REPLACED, Fault.SIZES, Fault.OTHER_NAME))
        room = self._data_stop - offset - LOCAL_HEADER - sizes
        outside = possible & ((offset < self._shift) | (room < compressed))
        self._blame(np.flatnonzero(outside), Fault.OUTSIDE)
        rows = np.flatnonzero(possible & ~outside)
        if not len(rows):
            return
        rows = rows[np.argsort(offset[rows], kind="stable")]
        start = offset[rows]
        stop = start + LOCAL_HEADER + sizes[rows] + compressed[rows]
        reach = np.maximum.accumulate(stop)
        later = np.flatnonzero(start[1:] < reach[:-1])
        # The earlier one of each such pair is one whose end is beyond the start of the next.
        earlier = np.flatnonzero(stop[:-1] > start[1:])
        self._blame(rows[np.concatenate([later + 1, earlier])], Fault.OVERLAP)

    def _blame(self, rows: npt.NDArray[np.int64], fault: Fault) -> None:
        """Mark members that have no other fault."""
        self._fault[rows[self._fault[rows] == Fault.NONE]] = fault

    def error(self, row: int) -> RefbrowserError | None:
        """Return why the member at a row is not read; None where it is."""
        number = self._fault.item(row)
        if number == Fault.NONE:
            return None
        fault = Fault(number)
        kind, message = _REASONS.get(fault, (ErrorKind.FORMAT, "it is a folder"))
        return RefbrowserError(kind, message, Place(url=self.url, key=self.name(row)))

    def member(self, row: int) -> ZipMember:
        """Return the member at a row.

        Raises
        ------
        RefbrowserError
            It cannot be read: the kind tells why.
        """
        error = self.error(row)
        if error is not None:
            raise error
        name = self._bytes_of(row)
        return ZipMember(
            name.decode("utf-8"),
            self._raw_names.get(row, name),
            self._offset.item(row),
            self._stops.item(row),
            self._method.item(row),
            self._compressed.item(row),
            self._size.item(row),
            self._crc.item(row),
        )

    def members(self, rows: npt.NDArray[np.int64]) -> list[ZipMember]:
        """Return members that can be read (`is_readable`)."""
        numbers = (self._offset, self._stops, self._method, self._compressed, self._size, self._crc)
        raw_names = self._raw_names
        return [
            ZipMember(name.decode("utf-8"), raw_names.get(row, name), *each)
            for row, name, *each in zip(
                rows.tolist(),
                self._names_of(rows),
                *(column[rows].tolist() for column in numbers),
                strict=True,
            )
        ]

    def are_small(self, rows: npt.NDArray[np.int64], size: int, beside: int) -> npt.NDArray[np.bool_]:
        """Return which of some rows are members that can be read of at most `size` bytes, packed or not.

        Parameters
        ----------
        beside
            Bytes that a packed one may have more.
        """
        is_small = (self._size[rows] <= size) & (self._compressed[rows] <= size + beside)
        return is_small & self.is_readable(rows)

    def is_readable(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which of some rows are members that can be read."""
        return self._fault[rows] == Fault.NONE

    def extents(self, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return `start` and `stop` of members that can be read."""
        return self._offset[rows].astype(np.int64), self._stops[rows].astype(np.int64)

    @cached_property
    def _stops(self) -> npt.NDArray[Any]:
        """Where the bytes of each member end at the latest.

        How long the extra fields of its local header are that tells itself: what lies up to the next member
        holds them, and hardly more.
        """
        following = np.searchsorted(self._starts, self._offset, "right")
        limits = np.append(self._starts, self._starts.dtype.type(0)).astype(np.int64)
        limits[-1] = self._data_stop
        offset, compressed = self._offset.astype(np.int64), self._compressed.astype(np.int64)
        most = offset + (LOCAL_HEADER + _MOST_EXTRA) + self._raw_name_sizes + compressed
        return _compact(np.minimum(np.minimum(limits[following], most), self._data_stop))

    @property
    def _raw_name_sizes(self) -> npt.NDArray[np.int64]:
        stops = self._name_stop.astype(np.int64)
        sizes = stops.copy()
        sizes[1:] -= stops[:-1]
        for row, raw in self._raw_names.items():
            sizes[row] = len(raw)
        return sizes

    def size_of(self, row: int) -> int:
        """Return the bytes of a member, unpacked, as the directory says."""
        return int(self._size.item(row))

    def packed_size_of(self, row: int) -> int:
        """Return the bytes of a member in the archive, as the directory says."""
        return int(self._compressed.item(row))

    def method_of(self, row: int) -> int:
        """Return how a member is packed; of one that is not read, maybe none of `METHODS`."""
        return int(self._method.item(row))

    # What is wrong with it

    def findings(self) -> Iterator[Finding]:
        """Yield what is wrong with the archive: at most `TOLD` for each kind of fault, then their number."""
        if self._shift:
            yield Finding(
                severity=Severity.WARNING,
                kind=ErrorKind.FORMAT,
                message=f"{self._shift} bytes precede the archive",
                place=Place(url=self.url),
            )
        if len(self) != self._counted:
            message = f"the end of the archive counts {self._counted} members, its directory has {len(self)}"
            place = Place(url=self.url)
            yield Finding(severity=Severity.FAULT, kind=ErrorKind.FORMAT, message=message, place=place)
        for fault, (kind, message) in _REASONS.items():
            rows = np.flatnonzero(self._fault == fault)
            severity = Severity.WARNING if fault in _WARNINGS else Severity.FAULT
            for at, row in enumerate(rows[: TOLD + 1].tolist()):
                one = Finding(
                    severity=severity,
                    kind=kind,
                    message=message,
                    place=Place(url=self.url, key=self.name(row)),
                )
                yield one if at < TOLD else replace(one, count=len(rows) - TOLD)


def _folder_sizes(
    octets: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return how many bytes of each name are its folder, with the slash."""
    begin = int(starts[0])
    slashes = np.append(-1, np.flatnonzero(octets[begin : int(stops[-1])] == ord("/")) + begin)
    last = slashes[np.searchsorted(slashes, stops) - 1]
    return np.maximum(last + 1 - starts, 0)


def read_directory(
    read: ReadBytes,
    size: int,
    url: str,
    cancel: CancelToken | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    headers: ReadBytes | None = None,
) -> ZipDirectory:
    """Read the directory of an archive.

    Parameters
    ----------
    read
        Returns bytes of the archive; asked for its end once, then for what is left of the directory.
    size
        Bytes of the archive.
    url
        For messages.
    progress
        Called with the entries so far, and in all.
    headers
        Returns bytes of an archive of which reading them one by one is cheap: names are compared with those
        of the local headers, of at most `LIMITS.zip_compared` members.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: it is no zip archive or its directory is damaged; `E_BUDGET`: it has too many members.
    """
    kept: list[tuple[int, bytes]] = []

    def remembering(start: int, stop: int) -> bytes:
        for begin, data in kept:
            if begin <= start and stop <= begin + len(data):
                return data[start - begin : stop - begin]
        data = read(start, stop)
        if not kept:
            kept.append((start, data))
        return data

    end = find_end(remembering, size, url)
    _check_size(end.entries, "members", LIMITS.zip_members, "zip_members", url)
    _check_size(end.stop - end.start, "bytes", LIMITS.zip_directory, "zip_directory", url)
    parts, done = [], 0
    for part in read_entries(remembering, end, url, cancel):
        parts.append(part)
        done += len(part)
        _check_size(done, "members", LIMITS.zip_members, "zip_members", url)
        progress(done, end.entries)
    if headers is not None and done <= LIMITS.zip_compared:
        from refbrowser.io.archives.local_names import compared_names

        parts = compared_names(parts, headers, cancel)
        # Members of two names come twice.
        end = replace(end, entries=end.entries + sum(map(len, parts)) - done)
    return ZipDirectory(url, size, end, parts)


def _check_size(value: int, what: str, limit: int, name: str, url: str) -> None:
    if value > limit:
        message = f"the zip directory has {value} {what}, more than {limit} ({name})"
        raise RefbrowserError(ErrorKind.BUDGET, message, Place(url=quoted(url)[1:-1]))


def _column(parts: Sequence[Entries], name: str, kind: type[np.generic]) -> npt.NDArray[Any]:
    return np.concatenate([getattr(part, name) for part in parts] or [np.zeros(0, kind)])


def _compact(values: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Return numbers in 32 bits where they fit."""
    fits = not len(values) or (values.min() >= 0 and values.max() < 2**32)
    return values.astype(np.uint32) if fits else values


def _renumbered(parts: Sequence[Entries]) -> dict[int, bytes]:
    start = 0
    found: dict[int, bytes] = {}
    for part in parts:
        found |= {start + row: name for row, name in part.raw_names.items()}
        start += len(part)
    return found


_LENGTHS = struct.Struct("<HHH").unpack_from
_FIELD = struct.Struct("<HH").unpack_from
_MARK = b"PK\x01\x02"
_HEADER, _OFFSET = 46, 42
_FULL, _ZIP64 = 0xFFFFFFFF, 0x0001
_UTF8 = 0x0800


@dataclass(frozen=True, slots=True)
class KeptMember:
    """One member as it is stored.

    Attributes
    ----------
    entry
        Its bytes in the directory.
    start, stop
        Bytes of the archive from its local header to what follows it.
    """

    name: str
    entry: bytes
    start: int
    stop: int

    def entry_at(self, offset: int) -> bytes:
        """Return its entry in the directory of an archive where it begins at `offset`."""
        entry = bytearray(self.entry)
        (stated,) = struct.unpack_from("<L", entry, _OFFSET)
        if stated != _FULL:
            struct.pack_into("<L", entry, _OFFSET, offset)
            return bytes(entry)
        at = _wide_offset(self.entry)
        if at is None:
            raise ValueError("a missing offset")
        struct.pack_into("<Q", entry, at, offset)
        return bytes(entry)


def kept_members(read: ReadBytes, size: int, url: str) -> Iterator[KeptMember]:
    """Yield the members of an archive of `size` bytes, in the order in which they lie in it.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: its directory is damaged.
    """
    end = find_end(read, size, url)
    directory = read(end.start, end.stop)
    entries: list[tuple[int, bytes]] = []
    at = 0
    for _ in range(end.entries):
        if directory[at : at + 4] != _MARK or at + _HEADER > len(directory):
            raise damaged("an entry of the directory does not begin as it must", url, end.start + at)
        stop = at + _HEADER + sum(_LENGTHS(directory, at + 28))
        entry = directory[at:stop]
        entries.append((_offset(entry, url) + end.shift, entry))
        at = stop
    if directory[at : at + 4] == _MARK:
        raise damaged("the directory has more members than its end counts", url, end.start + at)
    entries.sort(key=lambda each: each[0])
    stops = [start for start, _ in entries[1:]] + [end.start]
    for (start, entry), stop in zip(entries, stops, strict=True):
        if not 0 <= start < stop:
            raise damaged("members of the archive overlap", url, start)
        yield KeptMember(_name(entry), entry, start, stop)


def _name(entry: bytes) -> str:
    (flags,) = struct.unpack_from("<H", entry, 8)
    raw = entry[_HEADER : _HEADER + _LENGTHS(entry, 28)[0]]
    return raw.decode("utf-8" if flags & _UTF8 else "cp437", "replace")


def _offset(entry: bytes, url: str) -> int:
    (stated,) = struct.unpack_from("<L", entry, _OFFSET)
    if stated != _FULL:
        return int(stated)
    at = _wide_offset(entry)
    if at is None:
        raise damaged("a member has no offset", url)
    return int(struct.unpack_from("<Q", entry, at)[0])


def _wide_offset(entry: bytes) -> int | None:
    """Return where the 64-bit offset of a member stands in its entry."""
    name, extra, _ = _LENGTHS(entry, 28)
    before = sum(8 for place in (20, 24) if struct.unpack_from("<L", entry, place)[0] == _FULL)
    at, stop = _HEADER + name, _HEADER + name + extra
    while at + 4 <= stop:
        kind, length = _FIELD(entry, at)
        if kind == _ZIP64:
            return at + 4 + before if before + 8 <= length and at + 4 + length <= stop else None
        at += 4 + length
    return None
