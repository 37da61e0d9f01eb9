"""What knows GRIB, in the process of `worker`: it imports nothing of ours.

Messages are found by their lengths, none of which is trusted, and the fields of those of edition 2 by their
sections; eccodes is given one field at a time.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import eccodes
import numpy as np

_FAILURES = (
    OSError, RuntimeError, ValueError, LookupError, TypeError, MemoryError, ArithmeticError, AttributeError,
    eccodes.CodesInternalError,
)  # fmt: skip
#: Bytes in which the beginning of a message is looked for at a time.
_BLOCK = 1 << 16
#: Bytes that are read where a head is wanted; at most where heads are as near to each other as `_NEAR`.
_WINDOW, _WIDEST, _NEAR = 1 << 12, 1 << 20, 1 << 14
_END = b"7777"
#: Bytes of a message that is decoded, and of a section that says something of it, at most.
_LARGEST, _LARGEST_HEAD = 256 << 20, 16 << 20
#: Edition 1: which sections there are, beginnings of the data, lengths that are told in units of bytes.
_GRID, _BITMAP, _MORE_FLAGS, _HEAD_OF_DATA, _LARGE, _UNIT = 0x80, 0x40, 0x10, 64, 0x800000, 120
#: Fields of one message, and things that are wrong and told one by one.
_FIELDS, _NAMED = 100_000, 100
#: Fields that others are compared with; sections that are kept once for all that have them, if they are long.
_SEEN, _SEEN_SECTIONS, _SHORT = 100_000, 4096, 64
#: Kinds of grids without points that have places, or whose places no message tells.
_PLACELESS = (
    "sh", "rotated_sh", "stretched_sh", "stretched_rotated_sh", "lambert_bf", "unstructured_grid", "unknown",
)  # fmt: skip
#: Grids whose rows have one latitude each and whose columns one longitude.
_REGULAR = ("regular_ll", "regular_gg", "mercator")
_MISSING = 9.0e36
#: Arrays of the places of points: no quantity is called so, as the codec of references tells them by it.
_PLACES = ("latitude", "longitude")
#: Dimensions beside those of the grid, in their order.
_AXES = ("number", "time", "step", "level")
#: What eccodes looks for in long tables.
_SOUGHT = ("shortName", "paramId", "name", "units", "cfName", "cfVarName")
#: Units of steps that are always as long.
_FIXED = (0, 1, 2, 10, 11, 12, 13)
#: Surfaces that have the same names at every level, alone: of pressure, of models.
_LEVELS, _NO_SURFACE = (100, 105), 255
#: Of templates of products: steps, members and ends of intervals, as bytes of section 4.
_UNNAMED = {
    0: ((18, 22),),
    1: ((18, 22), (35, 36)),
    8: ((18, 22), (34, 41)),
    11: ((18, 22), (35, 36), (37, 44)),
    12: ((18, 22), (36, 43)),
}
_COPIED = (
    "shortName", "paramId", "typeOfLevel", "stepType", "gridType", "edition", "centre", "dataType",
    "packingType",
)  # fmt: skip


class GribField(NamedTuple):
    """A field: where its message is, and its number there; of others than the first where each section is."""

    offset: int
    length: int
    number: int
    sections: dict[int, tuple[int, int]]


#: The first bytes of a message of edition 2 (as 0), and its sections without data, by their numbers.
Heads = dict[int, bytes]


class GribKnown(NamedTuple):
    """What eccodes tells of a field: what array it is of, and where in it; `unit` is that of its step."""

    which: tuple[Any, ...]
    name: str
    said: dict[str, Any]
    number: Any
    start: int | None
    step: float | None
    level: Any
    unit: Any


class GribBytes:
    """The bytes of a file, by windows: small ones where what is wanted lies far apart."""

    def __init__(self, place: Any) -> None:
        self._file: Any = io.FileIO(place) if isinstance(place, str) else place
        self.size: int = self._file.seek(0, io.SEEK_END)
        self._window, self._at, self._next = b"", 0, _WINDOW

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes; those behind them are read with them, as the head of a message follows an end."""
        if length > self.size - offset:
            raise ValueError("the file ends early")
        end = self._at + len(self._window)
        if not self._at <= offset <= offset + length <= end:
            is_near = 0 <= offset - self._at <= len(self._window) + _NEAR
            self._next = min(2 * self._next, _WIDEST) if is_near else _WINDOW
            self._window = self.alone(offset, min(max(length, self._next), self.size - offset))
            self._at = offset
        return self._window[offset - self._at : offset - self._at + length]

    def alone(self, offset: int, length: int) -> bytes:
        """Return bytes, and keep none."""
        if length > self.size - offset:
            raise ValueError("the file ends early")
        if not isinstance(self._file, io.FileIO):
            found: bytes = self._file.fetched(offset, length)
            return found
        self._file.seek(offset)
        data = bytearray(length)
        room, at = memoryview(data), 0
        while at < length:
            count = self._file.readinto(room[at:])
            if not count:
                raise ValueError("the file ends early")
            at += count
        return bytes(data)


class GribVariable:
    """Fields that are one array."""

    def __init__(self, known: GribKnown, heads: Heads) -> None:
        self.name = known.name
        self.grid = known.which[-1]
        self.attributes = dict(known.said)
        #: Those of its first field.
        self.heads = heads
        self.places: dict[tuple[Any, ...], GribField] = {}
        self.axes: list[list[Any]] = []
        self.shape: tuple[int, ...] = ()


class GribReader:
    """Reads one file."""

    def open(self, place: Any) -> dict[str, Any]:
        """Open a file: its path, or an object that reads it."""
        self._bytes = GribBytes(place)
        self._size = self._bytes.size
        self._problems: list[str] = []
        #: Why a message was lost of which nobody knows where it belongs; empty while none was.
        self._lost = ""
        self._variables: dict[str, GribVariable] = {}
        self._grids: dict[str, GribVariable] = {}
        self._count = 0
        self._seen: dict[Any, GribKnown] = {}
        self._same: dict[bytes, bytes] = {}
        self._names: dict[Any, tuple[Any, ...]] = {}
        return {}

    def do_describe(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the arrays of the file, with coordinates."""
        yield from self._gather(request["objects"], request["skipped"])
        coordinates: dict[tuple[str, tuple[Any, ...]], str] = {}
        used: dict[str, int] = {}
        for path, variable in self._variables.items():
            group = path.rpartition("/")[0]
            names = []
            said = dict(variable.attributes)
            for axis, values in zip(_AXES, variable.axes, strict=True):
                if len(values) == 1:
                    if values[0] is not None:
                        said[axis] = _text_of_time(values[0]) if axis == "time" else values[0]
                    continue
                name = said["typeOfLevel"] if axis == "level" else axis
                key = f"{group}/{name}", tuple(values)
                if key not in coordinates:
                    used[key[0]] = used.get(key[0], 0) + 1
                    number = used[key[0]]
                    coordinates[key] = key[0] if number == 1 else f"{key[0]}_{number}"
                    yield _coordinate(coordinates[key], axis, values)
                names.append(coordinates[key].rpartition("/")[2])
            told = {
                "array": path,
                "shape": variable.shape,
                "dimensions": [*names, *_dimensions(variable.grid)],
                "attributes": said,
                "sides": [1] * len(names) + list(variable.grid[1]),
                "columns": variable.grid[3],
                "why": self._why_not_referenced(variable),
            }
            yield told, *_stored(variable)
        for group, variable in self._grids.items():
            if variable.attributes.get("gridType", "unknown") in _PLACELESS:
                continue
            yield from self._coordinates_of(group, variable, request["skipped"])
        yield {"messages": self._count, "problems": self._problems[:_NAMED]}

    def do_read(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the values of a box of an array."""
        for _ in self._gather(request["objects"], request["skipped"]):
            pass
        path, box = request["path"], [slice(*each) for each in request["box"]]
        group, _, name = path.rpartition("/")
        if path not in self._variables:
            if name not in _PLACES:
                raise KeyError(path)
            values = _decoded(_message_without_data(self._grids[group].heads), f"{name}s")
            yield {}, np.ascontiguousarray(values[tuple(box)])
            return
        variable = self._variables[path]
        own = len(variable.grid[1])
        outer = box[: len(box) - own]
        asked: list[range] = []
        left = list(outer)
        for values in variable.axes:
            asked.append(range(1) if len(values) == 1 else range(left[0].start, left.pop(0).stop))
        made = np.full([each.stop - each.start for each in box], np.nan)
        flat = made.reshape(-1, *made.shape[len(outer) :])
        for row, key in enumerate(np.ndindex(*map(len, asked))):
            at = tuple(
                values[each[index]] for values, each, index in zip(variable.axes, asked, key, strict=True)
            )
            found = variable.places.get(at)
            if found is None and self._lost:
                # It may be what was lost: that is not the same as none that was ever there.
                raise ValueError(f"no message that is whole gives this part, and one was lost: {self._lost}")
            if found is not None:
                flat[row] = _decoded(self._message(found), "values")[tuple(box[len(outer) :])]
        yield {}, made

    def _why_not_referenced(self, variable: GribVariable) -> str:
        """Return why the codec of references does not read an array; empty where it does."""
        if any(each.number for each in variable.places.values()):
            return "some of its fields stand behind others in one message, and only the first is read there"
        if self._lost and len(variable.places) < np.prod([len(each) for each in variable.axes], dtype=float):
            return f"what is missing of it may be what was lost: {self._lost}"
        return ""

    # Messages

    def _gather(self, most: int, skipped: list[int]) -> Iterator[Any]:
        """Find all fields, and put them together to arrays; tell which message is about to be looked into."""
        if self._variables or self._count:
            return
        variables: dict[tuple[Any, ...], GribVariable] = {}
        again = 0
        for found, heads in self._fields(most):
            if found.offset in skipped:
                if not found.number:
                    self._loss(f"the message at byte {found.offset} cannot be read: eccodes ends by it")
                continue
            for number, each in heads.items():
                # Most messages have the same grid, of many kilobytes at times.
                if len(each) > _SHORT and len(self._same) < _SEEN_SECTIONS:
                    heads[number] = self._same.setdefault(each, each)
            key, start = _alike(heads), _start(heads)
            known = self._seen.get(key)
            if known is None:
                yield {"reads": found.offset}
                try:
                    known = self._looked_into(heads)
                except _FAILURES as error:
                    self._loss(f"the message at byte {found.offset} cannot be read: {error}")
                    continue
                is_alike = start is not None and start == known.start and known.unit in _FIXED
                if is_alike and len(self._seen) < _SEEN:
                    self._seen[key] = known
                start = known.start
            if known.which not in variables:
                variables[known.which] = GribVariable(known, heads)
            at = known.number, start, known.step, known.level
            places = variables[known.which].places
            again += at in places
            places[at] = found
        if again:
            self._problem(f"{again} of its messages are there again: the last one of each counts")
        grids = list(dict.fromkeys(each.grid for each in variables.values()))
        for (_, level, kind, *_), variable in variables.items():
            group = "" if len(grids) == 1 else f"/grid_{grids.index(variable.grid) + 1}"
            self._grids.setdefault(group, variable)
            name = variable.name
            if not name.isidentifier() or name in _PLACES:
                name = f"param{variable.attributes['paramId']}"
            others = [each for each in variables.values() if each.name == variable.name]
            others = [each for each in others if each.grid == variable.grid]
            if len({each.attributes["typeOfLevel"] for each in others}) > 1:
                name = f"{name}_{level}"
            if len({each.attributes["stepType"] for each in others}) > 1:
                name = f"{name}_{kind}"
            path = f"{group}/{name}"
            while path in self._variables:
                path = f"{path}_{variable.attributes['paramId']}"
            variable.axes = [
                sorted({at[axis] for at in variable.places}, key=lambda value: (value is None, value))
                for axis in range(len(_AXES))
            ]
            outer = [len(values) for values in variable.axes if len(values) > 1]
            variable.shape = (*outer, *variable.grid[1])
            self._variables[path] = variable

    def _looked_into(self, heads: Heads) -> GribKnown:
        """Return what eccodes tells of a field."""
        handle = eccodes.codes_new_from_message(_message_without_data(heads))
        try:
            return _known(handle, self._names, _named_alike(heads))
        finally:
            eccodes.codes_release(handle)

    def _coordinates_of(self, group: str, variable: GribVariable, skipped: list[int]) -> Iterator[Any]:
        """Yield the places of the points of a grid: one for each row and column where that tells all."""
        grid = variable.grid
        found = min(variable.places.values(), key=lambda field: field.number)
        is_plain = len(grid[1]) == 2 and grid[2]
        if is_plain:
            if ~found.offset in skipped:
                self._problem("the places of the points of its grid cannot be computed: eccodes ends by it")
                return
            yield {"reads": ~found.offset}
        for name, axis, units in (("latitude", 0, "degrees_north"), ("longitude", 1, "degrees_east")):
            told = {"coordinate": f"{group}/{name}", "attributes": {"units": units, "standard_name": name}}
            if is_plain:
                try:
                    values = _decoded(_message_without_data(variable.heads), f"{name}s")
                except _FAILURES as error:
                    self._problem(f"the {name}s of its grid cannot be computed: {error}")
                    continue
                line = np.ascontiguousarray(values[:, 0] if axis == 0 else values[0])
                yield told | {"dimensions": [name], "dtype": "<f8"}, line
            else:
                why = "" if not found.number else "the message that tells them has other fields before them"
                stored = {"why": why, "columns": grid[3]}
                place = np.array([0] * len(grid[1]) + [found.offset, found.length], np.int64)
                yield (
                    told | stored | {"dimensions": _dimensions(grid), "shape": list(grid[1])},
                    place,
                    np.zeros(1, np.uint32),
                )

    # Bytes

    def _problem(self, message: str) -> None:
        self._problems.append(message[:500])

    def _loss(self, message: str) -> None:
        self._lost = self._lost or message[:200]
        self._problem(message)

    def _fields(self, most: int) -> Iterator[tuple[GribField, Heads]]:
        """Yield each field with what is read of its message: no data."""
        at = 0
        while at + 16 <= self._size:
            first = self._bytes.read(at, 16)
            if first[:4] != b"GRIB":
                block = self._bytes.read(at, min(_BLOCK, self._size - at))
                found = block.find(b"GRIB")
                at += found if found >= 0 else max(len(block) - 3, 1)
                continue
            edition = first[7]
            length = int.from_bytes(first[8:16] if edition == 2 else first[4:7], "big")
            if edition == 1 and length & _LARGE:
                length = self._length_of_large(at, length)
            if edition not in (1, 2) or length < 20:
                at += 4
                continue
            if at + length > self._size:
                self._loss(
                    f"the message at byte {at} was cut: {self._size - at} of its {length} bytes are there"
                )
                at += 4
                continue
            fields: list[tuple[GribField, Heads]] = []
            try:
                fields += (self._of_edition_1 if edition == 1 else self._of_sections)(at, length)
            except ValueError as error:
                wrong = str(error)
            else:
                wrong = ""
            # With the end comes the head of the message behind it.
            if self._bytes.read(at + length - 4, 4) != _END:
                self._loss(f"the message at byte {at} has no end where its length says")
                at += 4
                continue
            self._count += 1
            if self._count > most:
                self._loss(f"only the first {most} messages are shown")
                return
            if wrong:
                self._loss(f"the message at byte {at} cannot be read: {wrong}")
            yield from fields
            at += length
        if b"GRIB" in self._bytes.read(at, max(self._size - at, 0)):
            self._loss(f"the message at byte {at} was cut")

    def _length_of_large(self, at: int, said: int) -> int:
        """Return the length of a message of edition 1 that may be too long for the bytes that tell it.

        As ECMWF writes them the length is one of 120 bytes, and that of the data tells how many are too many.
        """
        try:
            first = self._bytes.read(at + 8, 8)
            behind = at + 8 + int.from_bytes(first[:3], "big")
            for flag in (_GRID, _BITMAP):
                if first[7] & flag:
                    behind += int.from_bytes(self._bytes.read(behind, 3), "big")
            over = int.from_bytes(self._bytes.read(behind, 3), "big")
        except ValueError:
            return said
        return said if over >= _UNIT else (said & ~_LARGE) * _UNIT - over + len(_END)

    def _of_edition_1(self, offset: int, length: int) -> Iterator[tuple[GribField, Heads]]:
        """Yield the field of a message of edition 1."""
        at, end = offset + 8, offset + length - 4
        flags = self._bytes.read(at, 8)[7]
        kinds = [1, *([2] if flags & _GRID else ()), *([3] if flags & _BITMAP else ()), 4]
        heads: Heads = {}
        for kind in kinds:
            size = end - at if kind == 4 else int.from_bytes(self._bytes.read(at, 3), "big")
            if size < (28 if kind == 1 else 11 if kind == 4 else 6) or at + size > end:
                raise ValueError(f"section {kind} at byte {at} does not lie in it")
            if kind != 3:
                heads[kind] = self._bytes.read(at, min(size, _HEAD_OF_DATA) if kind == 4 else size)
            at += size
        yield GribField(offset, length, 0, {}), heads

    def _of_sections(self, offset: int, length: int) -> Iterator[tuple[GribField, Heads]]:
        """Yield the fields of a message of edition 2: some sections are told once for several."""
        at, end, number = offset + 16, offset + length - 4, 0
        known: dict[int, tuple[int, int]] = {}
        heads: Heads = {0: self._bytes.read(offset, 8)}
        bitmap: tuple[int, int] | None = None
        while at < end:
            size = int.from_bytes((head := self._bytes.read(at, 6))[:4], "big")
            kind = head[4]
            if size < 5 or at + size > end or not 1 <= kind <= 7:
                raise ValueError(f"section {kind} at byte {at} does not lie in it")
            known[kind] = at, size
            if kind < 6:
                if size > _LARGEST_HEAD:
                    raise ValueError(f"section {kind} has more than {_LARGEST_HEAD} bytes")
                heads[kind] = self._bytes.read(at, size)
            elif kind == 6 and head[5] == 0:
                bitmap = at, size
            elif kind == 6 and head[5] == 254 and bitmap is not None:
                # The bits are those of the field before.
                known[6] = bitmap
            elif kind == 7:
                if not {1, 3, 4, 5, 6} <= set(known):
                    raise ValueError("a section is missing")
                if number >= _FIELDS:
                    raise ValueError(f"it has more than {_FIELDS} fields")
                # That of the first one is the message.
                yield GribField(offset, length, number, dict(known) if number else {}), dict(heads)
                number += 1
            at += size

    def _message(self, found: GribField) -> bytes:
        """Return a field as a message of its own."""
        if not found.number:
            if found.length > _LARGEST:
                raise ValueError(f"it has more than {_LARGEST} bytes")
            return self._bytes.alone(found.offset, found.length)
        if sum(size for _, size in found.sections.values()) > _LARGEST:
            raise ValueError(f"it has more than {_LARGEST} bytes")
        parts = [self._bytes.alone(*found.sections[number]) for number in sorted(found.sections)]
        return _message_of(parts, self._bytes.read(found.offset, 8))


#: As the process calls it.
Reader = GribReader


def _message_of(sections: list[bytes], first: bytes) -> bytes:
    """Return a message of edition 2 of its sections, and the first bytes of one like it."""
    body = b"".join(sections)
    return first[:8] + (16 + len(body) + len(_END)).to_bytes(8, "big") + body + _END


def _decoded(message: bytes, key: str) -> Any:
    """Return the values of a field, or the places of its points, in rows; NaN where there is none."""
    handle = eccodes.codes_new_from_message(message)
    try:
        eccodes.codes_set(handle, "missingValue", _MISSING)
        values = eccodes.codes_get_array(handle, key).astype(np.float64)
        if key == "values":
            values[values == _MISSING] = np.nan
        return _in_rows(handle, values)
    finally:
        eccodes.codes_release(handle)


def _message_without_data(heads: Heads) -> bytes:
    """Return a message that says of itself what one does of which the heads are."""
    if 0 in heads:
        # No bits that say which values are there, and no values.
        empty = b"\0\0\0\6\6\xff", b"\0\0\0\5\7"
        return _message_of([*(heads[number] for number in sorted(heads) if number), *empty], heads[0])
    product = heads[1][:7] + bytes([heads[1][7] & ~_BITMAP]) + heads[1][8:]
    data = len(heads[4]).to_bytes(3, "big") + heads[4][3:]
    body = product + heads.get(2, b"") + data
    return b"GRIB" + (8 + len(body) + len(_END)).to_bytes(3, "big") + b"\1" + body + _END


def _known(handle: int, names: dict[Any, tuple[Any, ...]], named: Any) -> GribKnown:
    """Return what eccodes tells of a field.

    Parameters
    ----------
    names
        What is looked for in long tables, by what decides it: finding it takes longer than all else.
    named
        What decides it of this field.
    """

    def get(name: str, otherwise: Any = None) -> Any:
        try:
            return eccodes.codes_get(handle, name)
        except eccodes.CodesInternalError:
            return otherwise

    if named not in names:
        names[named] = tuple(map(get, _SOUGHT))
    sought = dict(zip(_SOUGHT, names[named], strict=True))
    copied = {name: sought[name] if name in sought else get(name) for name in _COPIED}
    said = {name: value for name, value in copied.items() if value is not None}
    for name in ("shortName", "typeOfLevel", "stepType"):
        said.setdefault(name, "unknown")
    said.setdefault("paramId", 0)
    for name, key in (("long_name", "name"), ("units", "units"), ("standard_name", "cfName")):
        if sought[key] not in (None, "unknown", "undef"):
            said[name] = sought[key]
    called = sought["cfVarName"]
    called = called if called not in (None, "unknown", "undef") else said["shortName"]
    rows, columns = get("Nj"), get("Ni")
    points = int(eccodes.codes_get(handle, "numberOfDataPoints"))
    is_grid = all(isinstance(each, int) and 0 < each < 2**31 for each in (rows, columns))
    shape = (rows, columns) if is_grid and rows * columns == points else (points,)
    if points < 1:
        raise ValueError("its grid has no points")
    is_by_columns = bool(get("jPointsAreConsecutive", 0)) and len(shape) > 1
    grid = (get("md5GridSection", ""), shape, said.get("gridType") in _REGULAR, is_by_columns)
    start = _seconds(get("dataDate"), get("dataTime"))
    end = _seconds(get("validityDate"), get("validityTime"))
    step = (end - start) / 3600 if start is not None and end is not None else None
    which = (said["shortName"], said["typeOfLevel"], said["stepType"], said["paramId"], grid)
    unit = get("indicatorOfUnitOfTimeRange")
    return GribKnown(which, called, said, get("number"), start, step, get("level"), unit)


def _start(heads: Heads) -> int | None:
    """Return the reference time of a field in seconds since 1970; None where it is none."""
    first = heads[1]
    try:
        if 0 in heads:
            year, rest = int.from_bytes(first[12:14], "big"), first[14:18]
        else:
            year, rest = 100 * (first[24] - 1) + first[12], first[13:17]
        month, day, hour, minute = rest
        return int(datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp())
    except (ValueError, IndexError, TypeError, OverflowError):
        return None


def _alike(heads: Heads) -> tuple[bytes, ...]:
    """Return what is the same of fields that differ in reference time and values only."""
    first = heads[1]
    if 0 in heads:
        packing = heads[5][9:11]
        return heads[0][6:7], first[:12] + first[19:], heads.get(2, b""), heads[3], heads[4], packing
    flags = heads[4][3:4]
    more = heads[4][13:14] if flags[0] & _MORE_FLAGS else b""
    return first[:12] + first[17:24] + first[25:], heads.get(2, b""), flags + more


def _named_alike(heads: Heads) -> tuple[bytes, ...]:
    """Return what is the same of fields that have one name: they may differ in step and member too."""
    alike = list(_alike(heads))
    if 0 not in heads:
        alike[0] = alike[0][:13] + alike[0][15:]
        return tuple(alike)
    product = bytearray(heads[4])
    unnamed = _UNNAMED.get(int.from_bytes(product[7:9], "big"), ())
    if unnamed and product[22] in _LEVELS and product[28] == _NO_SURFACE:
        unnamed = (*unnamed, (23, 28))
    for start, stop in unnamed:
        product[start:stop] = bytes(len(product[start:stop]))
    alike[4] = bytes(product)
    return tuple(alike)


def _seconds(date: Any, time: Any) -> int | None:
    """Return seconds since 1970 of a date as 20200131 and a time as 1830; None where it is none."""
    try:
        day = datetime.strptime(f"{int(date):08d}", "%Y%m%d").replace(tzinfo=UTC)
        return int(day.timestamp()) + int(time) // 100 * 3600 + int(time) % 100 * 60
    except (TypeError, ValueError, OverflowError):
        return None


def _stored(variable: GribVariable) -> tuple[Any, ...]:
    """Return where the messages of an array are, as columns: coordinates, offsets, lengths, masks."""
    numbers = [{value: number for number, value in enumerate(each)} for each in variable.axes]
    outer = [axis for axis, values in enumerate(variable.axes) if len(values) > 1]
    coords = np.zeros((len(variable.places), len(variable.shape)), np.int64)
    for row, at in enumerate(variable.places):
        coords[row, : len(outer)] = [numbers[axis][at[axis]] for axis in outer]
    places = variable.places.values()
    offsets, lengths = ([each[part] for each in places] for part in (0, 1))
    return (
        coords,
        np.array(offsets, np.int64),
        np.array(lengths, np.int64),
        np.zeros(len(variable.places), np.uint32),
    )


def _text_of_time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M")


def _in_rows(handle: int, values: Any) -> Any:
    """Return the values of the points of a grid in rows, where it has any."""

    def get(name: str) -> Any:
        try:
            return eccodes.codes_get(handle, name)
        except eccodes.CodesInternalError:
            return 0

    rows, columns = get("Nj"), get("Ni")
    if not (isinstance(rows, int) and isinstance(columns, int)) or rows * columns != len(values):
        return values
    if not get("jPointsAreConsecutive"):
        return values.reshape(rows, columns)
    return values.reshape(columns, rows).T


def _dimensions(grid: Any) -> list[str]:
    if len(grid[1]) == 1:
        return ["values"]
    return ["latitude", "longitude"] if grid[2] else ["y", "x"]


def _coordinate(path: str, axis: str, values: list[Any]) -> Any:
    """Return a coordinate beside those of the grid."""
    dtype = "<i8" if axis in ("time", "number") else "<f8"
    said = {
        "time": {"units": "seconds since 1970-01-01", "standard_name": "time"},
        "step": {"units": "hours"},
    }
    told = {"coordinate": path, "dimensions": [path.rpartition("/")[2]], "dtype": dtype}
    numbers = [-1 if value is None else value for value in values]
    return told | {"attributes": said.get(axis, {})}, np.array(numbers, dtype)


def _load_tables() -> None:
    """Have eccodes load its tables, once for all files: the process that is copied for each has them."""
    for sample in ("regular_ll_pl_grib2", "regular_ll_pl_grib1"):
        handle = eccodes.codes_grib_new_from_samples(sample)
        _known(handle, {}, None)
        for key in ("values", "latitudes"):
            eccodes.codes_get_array(handle, key)
        eccodes.codes_release(handle)


_load_tables()
