"""The header of a classic netCDF file, read by ranges: as far as it can be read, it tells what is there.

The grammar is that of the netCDF users' guide, "File Format Specifications", for CDF-1, CDF-2 and CDF-5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.io.fetching.byte_sources import FIRST, ByteSource
from refbrowser.limits import LIMITS
from refbrowser.model.netcdf.types import AtomicType

#: What files begin with, by version.
MAGIC = {b"CDF\x01": 1, b"CDF\x02": 2, b"CDF\x05": 5}
#: Bytes that are read at a time, at most: each request brings four times as many as the last.
_MOST = 4 << 20
_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
#: Names and values fill whole units of so many bytes.
UNIT = 4
#: The number of records of files that were written without knowing it.
_STREAMING = {4: (1 << 32) - 1, 8: (1 << 64) - 1}
TYPES = {
    1: (AtomicType.BYTE, ">i1"),
    2: (AtomicType.CHAR, "S1"),
    3: (AtomicType.SHORT, ">i2"),
    4: (AtomicType.INT, ">i4"),
    5: (AtomicType.FLOAT, ">f4"),
    6: (AtomicType.DOUBLE, ">f8"),
    7: (AtomicType.UBYTE, ">u1"),
    8: (AtomicType.USHORT, ">u2"),
    9: (AtomicType.UINT, ">u4"),
    10: (AtomicType.INT64, ">i8"),
    11: (AtomicType.UINT64, ">u8"),
}


@dataclass(frozen=True, slots=True)
class ClassicAttribute:
    """An attribute: a text, or numbers."""

    type: AtomicType
    values: str | list[int] | list[float]


@dataclass(frozen=True, slots=True)
class ClassicVariable:
    """A variable as the header describes it.

    Attributes
    ----------
    dimensions
        Positions among those of the header.
    lengths
        Along each dimension; the number of records along that of records.
    is_record
        Whether each record holds a part of it.
    begin
        Where its data, or what the first record has of it, begins in the file.
    stored_size
        Bytes of its data as the header has them, which is right for less than 4 GiB.
    fault
        Why its data cannot be placed.
    """

    name: str
    type: AtomicType
    dtype: np.dtype[Any]
    dimensions: tuple[int, ...]
    lengths: tuple[int, ...]
    is_record: bool
    attributes: dict[str, ClassicAttribute]
    begin: int
    stored_size: int
    fault: RefbrowserError | None = None

    @property
    def size(self) -> int:
        """Bytes of its data: of a record variable, in one record."""
        if self.fault is not None:
            return self.stored_size
        return prod(self.lengths[1:] if self.is_record else self.lengths) * self.dtype.itemsize


@dataclass(slots=True)
class ClassicHeader:
    """What a header tells.

    Attributes
    ----------
    url
        Of the file.
    version
        1, 2 or 5.
    file_size
        Bytes of the file.
    records
        How many there are.
    is_streamed
        The header does not tell how many records there are: it is worked out from the size of the file.
    dimensions
        Name and length of each; 0 of that of records.
    size
        Bytes of the header as far as it was read.
    is_whole
        All of it was read: it is known how far records lie apart.
    record_size
        Bytes from one record to the next.
    findings
        What is wrong with it.
    """

    url: str
    version: int
    file_size: int
    records: int = 0
    is_streamed: bool = False
    dimensions: list[tuple[str, int]] = field(default_factory=list)
    attributes: dict[str, ClassicAttribute] = field(default_factory=dict)
    variables: list[ClassicVariable] = field(default_factory=list)
    size: int = 0
    is_whole: bool = True
    record_size: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def record_dimension(self) -> int | None:
        """The position of the dimension of records, the first one of no length; None where there is none."""
        return next((number for number, (_, length) in enumerate(self.dimensions) if not length), None)

    def with_fault(self, variable: ClassicVariable, message: str) -> ClassicVariable:
        """Return a variable whose data cannot be placed, and note it."""
        path = f"/{variable.name}"
        self.found(f"{quoted(variable.name)} cannot be read: {message}", path=path, kind=ErrorKind.META)
        fault = RefbrowserError(ErrorKind.META, message, Place(url=self.url, path=path))
        return replace(variable, fault=fault)

    def found(
        self, message: str, *, path: str | None = None, severity: Severity = Severity.FAULT, **more: Any
    ) -> None:
        """Note what is wrong."""
        place = Place(url=self.url, path=path, start=more.pop("at", None))
        kind = more.pop("kind", ErrorKind.FORMAT)
        self.findings.append(Finding(severity=severity, kind=kind, message=message, place=place, **more))


def padded(size: int) -> int:
    """Return the bytes that so many take with those that fill the last unit."""
    return -(-size // UNIT) * UNIT


def read_header(source: ByteSource, url: str, check: Callable[[], None] = lambda: None) -> ClassicHeader:
    """Read the header of a file.

    What cannot be read ends it: all before that is there, and a finding says what is wrong.

    Parameters
    ----------
    url
        Of the file, for messages.
    check
        Called now and then; ends the reading by raising.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: it is no classic netCDF file, or has not even the number of records; what the source
        raises where it cannot be read.
    """
    reader = _Reader(source, url, check)
    version = MAGIC.get(bytes(reader.take(4)))
    if version is None:
        raise RefbrowserError(ErrorKind.FORMAT, "the file is not classic netCDF", Place(url=url))
    reader.version = version
    header = ClassicHeader(url, version, source.size)
    records = reader.count()
    try:
        _read_lists(reader, header)
    except _HeaderError as error:
        header.is_whole = False
        message = f"the header cannot be read further: {error.message}"
        header.found(message, kind=error.kind, at=reader.at, is_anywhere=True)
    header.size = reader.at
    unlimited = [name for name, length in header.dimensions if not length]
    if len(unlimited) > 1:
        message = (
            f"it has {len(unlimited)} dimensions of records, {quoted(unlimited[0])} is treated as "
            "the only one"
        )
        header.found(message, severity=Severity.WARNING)
    _count_records(header, records, reader.word)
    return header


def _read_lists(reader: _Reader, header: ClassicHeader) -> None:
    """Read dimensions, attributes and variables, in the order of the file."""
    reader.each(_DIMENSIONS, lambda: header.dimensions.append((reader.name(), reader.length())))
    # What was read of a list stays where the rest of it cannot be.
    reader.attributes(header.attributes)
    reader.each(_VARIABLES, lambda: header.variables.append(_variable(reader, header)))


def _variable(reader: _Reader, header: ClassicHeader) -> ClassicVariable:
    name = reader.name()
    dimensions = tuple(reader.count() for _ in range(reader.items(reader.word)))
    attributes: dict[str, ClassicAttribute] = {}
    reader.attributes(attributes)
    number, stored_size = reader.integer(4), reader.count()
    begin = reader.integer(4 if header.version == 1 else 8)
    type, dtype = TYPES.get(number, TYPES[1])
    known = dimensions if all(each < len(header.dimensions) for each in dimensions) else ()
    lengths = tuple(header.dimensions[each][1] for each in known)
    is_record = lengths[:1] == (0,)
    found = ClassicVariable(
        name, type, np.dtype(dtype), known, lengths, is_record, attributes, begin, stored_size
    )
    fault = ""
    if number not in TYPES:
        fault = f"there is no type {number}"
    elif known != dimensions:
        fault = f"it has a dimension outside the {len(header.dimensions)} of the file"
        # Each record may hold a part of it or not.
        header.is_whole = False
    elif len(dimensions) > LIMITS.rank:
        fault = f"it has {len(dimensions)} dimensions, at most {LIMITS.rank} can be read (rank)"
    elif 0 in lengths[1:]:
        fault = "the record dimension is not its first"
    elif begin < 0:
        fault = f"its data begins {-begin} bytes before the file"
    return header.with_fault(found, fault) if fault else found


def _count_records(header: ClassicHeader, records: int, word: int) -> None:
    """Note how many records there are, and give that to the variables that have them."""
    size = _record_size(header.variables)
    held = [each for each in header.variables if each.is_record]
    header.is_streamed = records == _STREAMING[word]
    if header.is_streamed:
        begin = min((each.begin for each in held), default=0)
        records, rest = divmod(max(header.file_size - begin, 0), size) if size else (0, 0)
        last = max(held, key=lambda each: each.begin, default=None)
        # The last variable of the last record need not be filled.
        records += last is not None and rest > 0 and rest >= last.begin - begin + last.size
        if 0 < size < UNIT and records and header.file_size % UNIT == 0:
            doubtful = min((UNIT - 1) // size, records)
            message = f"of its {records} records the last {doubtful} may be only padding"
            header.found(message, severity=Severity.WARNING)
    header.records = records
    for number, each in enumerate(header.variables):
        if each.is_record and each.fault is None:
            each = replace(each, lengths=(records, *each.lengths[1:]))
            if not header.is_whole and records > 1:
                each = header.with_fault(each, "the spacing of its records is not known")
        if each.fault is None and prod(each.lengths) * each.dtype.itemsize > LIMITS.elements:
            each = header.with_fault(each, "it has more elements than an array can have")
        header.variables[number] = each
    header.record_size = _record_size(header.variables)


def _record_size(variables: Sequence[ClassicVariable]) -> int:
    sizes = [each.size for each in variables if each.is_record]
    # One variable alone is not padded ("Note on padding").
    return sizes[0] if len(sizes) == 1 else sum(map(padded, sizes))


class _HeaderError(Exception):
    """The header cannot be read further."""

    def __init__(self, message: str, kind: ErrorKind = ErrorKind.FORMAT) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind


class _Reader:
    """Reads the tokens of a header, one after the other.

    Attributes
    ----------
    at
        How far it was read, in bytes of the file.
    version
        Of the format, once it is known.
    """

    def __init__(self, source: ByteSource, url: str, check: Callable[[], None]) -> None:
        self._source = source
        self._url = url
        self._check = check
        self._data = bytearray()
        self._portion = FIRST
        self._entries = 0
        self.at = 0
        self.version = 1

    @property
    def word(self) -> int:
        """Bytes of a count."""
        return 8 if self.version == 5 else 4

    @property
    def left(self) -> int:
        """Bytes of the file behind what was read."""
        return self._source.size - self.at

    def take(self, count: int) -> memoryview:
        """Return the next bytes."""
        stop = self.at + count
        if stop > self._source.size:
            if self.at < 8:
                raise RefbrowserError(
                    ErrorKind.FORMAT, "the file ends within its first bytes", Place(url=self._url)
                )
            raise _HeaderError("the file ends within it")
        if stop > LIMITS.netcdf_header:
            message = f"it has more than {LIMITS.netcdf_header} bytes (netcdf_header)"
            raise _HeaderError(message, ErrorKind.BUDGET)
        while len(self._data) < stop:
            self._check()
            begin = len(self._data)
            wanted = max(stop - begin, min(self._portion, self._source.size - begin))
            self._data += self._source.read(begin, wanted)
            self._portion = min(4 * self._portion, _MOST)
            if len(self._data) < min(begin + wanted, stop):
                raise _HeaderError("the file became shorter")
        found = memoryview(bytes(self._data[self.at : stop]))
        self.at = stop
        return found

    def integer(self, size: int) -> int:
        """Return the next signed integer."""
        return int.from_bytes(self.take(size), "big", signed=True)

    def count(self) -> int:
        """Return the next count, which is never below 0."""
        return int.from_bytes(self.take(self.word), "big")

    def length(self) -> int:
        """Return the next length of a dimension."""
        count = self.count()
        if count > LIMITS.elements:
            raise _HeaderError(f"a dimension has a length of {count}")
        return count

    def items(self, size: int) -> int:
        """Return the next count of things, each of which takes so many bytes at least."""
        at, count = self.at, self.count()
        if count * size > self.left:
            raise _HeaderError(f"a count of {count} at byte {at} is more than the file can hold")
        return count

    def name(self) -> str:
        """Return the next name; some writers count NULs that end it, which other software cuts off."""
        return _text(self._filled(self.items(1))).partition("\0")[0]

    def each(self, tag: int, read: Callable[[], object]) -> None:
        """Read a list of things."""
        at, found = self.at, self.integer(4)
        count = self.items(2 * self.word)
        if found != tag and (found or count):
            raise _HeaderError(f"a list is expected at byte {at}")
        if tag == _VARIABLES and count > LIMITS.netcdf_variables:
            message = f"it has {count} variables, more than {LIMITS.netcdf_variables} (netcdf_variables)"
            raise _HeaderError(message, ErrorKind.BUDGET)
        self._entries += count
        if self._entries > LIMITS.netcdf_entries:
            message = f"it has more than {LIMITS.netcdf_entries} entries (netcdf_entries)"
            raise _HeaderError(message, ErrorKind.BUDGET)
        for _ in range(count):
            read()

    def attributes(self, found: dict[str, ClassicAttribute]) -> None:
        """Read a list of attributes."""

        def read() -> None:
            name = self.name()
            found[name] = self._attribute()

        self.each(_ATTRIBUTES, read)

    def _attribute(self) -> ClassicAttribute:
        at, number = self.at, self.integer(4)
        if number not in TYPES:
            raise _HeaderError(f"there is no type {number} (byte {at})")
        type, dtype = TYPES[number]
        itemsize = np.dtype(dtype).itemsize
        count = self.items(itemsize)
        data = self._filled(count * itemsize)
        if type is AtomicType.CHAR:
            return ClassicAttribute(type, _text(data).rstrip("\0"))
        values: list[Any] = np.frombuffer(data, dtype).tolist()
        return ClassicAttribute(type, values)

    def _filled(self, size: int) -> memoryview:
        """Return bytes behind which the last unit is filled."""
        data = self.take(size)
        self.take(min(padded(size) - size, self.left))
        return data


def _text(data: memoryview) -> str:
    """Return a text: old files have other letters than those of UTF-8."""
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        return str(data, "latin-1")
