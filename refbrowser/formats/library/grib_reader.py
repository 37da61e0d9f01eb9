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
_END = b"7777"
#: Bytes of sections without data that are read of a field, at most.
_LARGEST = 256 << 20
#: Fields of one message, and things that are wrong and told one by one.
_FIELDS, _NAMED = 100_000, 100
#: Grids whose rows have one latitude each and whose columns one longitude.
_REGULAR = ("regular_ll", "regular_gg", "mercator")
_MISSING = 9.0e36
#: Dimensions beside those of the grid, in their order.
_AXES = ("number", "time", "step", "level")
_COPIED = (
    "shortName", "paramId", "typeOfLevel", "stepType", "gridType", "edition", "centre", "dataType",
    "packingType",
)  # fmt: skip


class GribField(NamedTuple):
    """A field: where its message is, and its number there; of edition 2 where each of its sections is."""

    offset: int
    length: int
    edition: int
    number: int
    sections: dict[int, tuple[int, int]]


class GribVariable:
    """Fields that are one array."""

    def __init__(self, name: str, grid: Any, attributes: dict[str, Any]) -> None:
        self.name = name
        self.grid = grid
        self.attributes = attributes
        self.places: dict[tuple[Any, ...], GribField] = {}
        self.axes: list[list[Any]] = []
        self.shape: tuple[int, ...] = ()


class GribReader:
    """Reads one file."""

    def open(self, place: Any) -> dict[str, Any]:
        """Open a file: its path, or an object that reads it."""
        raw: Any = io.FileIO(place) if isinstance(place, str) else place
        self._file = io.BufferedReader(raw, 1 << 13)
        self._size = self._file.seek(0, io.SEEK_END)
        self._problems: list[str] = []
        #: Why a message was lost of which nobody knows where it belongs; empty while none was.
        self._lost = ""
        self._variables: dict[str, GribVariable] = {}
        self._grids: dict[str, GribField] = {}
        self._count = 0
        return {}

    def do_describe(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the arrays of the file, with coordinates."""
        self._gather(request["objects"])
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
                "columns": bool(variable.grid[3]),
                "why": self._why_not_referenced(variable),
            }
            yield told, *_stored(variable)
        for group in self._grids:
            yield from self._coordinates_of(group)
        yield {"messages": self._count, "problems": self._problems[:_NAMED]}

    def do_read(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the values of a box of an array."""
        self._gather(request.get("objects", 1 << 20))
        path, box = request["path"], [slice(*each) for each in request["box"]]
        group, _, name = path.rpartition("/")
        if path not in self._variables:
            if name not in ("latitude", "longitude"):
                raise KeyError(path)
            values = self._decoded(self._grids[group], f"{name}s")
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
                flat[row] = self._decoded(found, "values")[tuple(box[len(outer) :])]
        yield {}, made

    def _why_not_referenced(self, variable: GribVariable) -> str:
        """Return why the codec of references does not read an array; empty where it does."""
        if any(each.number for each in variable.places.values()):
            return "some of its fields stand behind others in one message, and only the first is read there"
        if self._lost and len(variable.places) < np.prod([len(each) for each in variable.axes], dtype=float):
            return f"what is missing of it may be what was lost: {self._lost}"
        return ""

    # Messages

    def _gather(self, most: int) -> None:
        """Find all fields, and put them together to arrays."""
        if self._variables or self._count:
            return
        variables: dict[tuple[Any, ...], GribVariable] = {}
        again = 0
        for found in self._fields(most):
            try:
                key, at, grid, said = self._known(found)
            except _FAILURES as error:
                self._loss(f"the message at byte {found.offset} cannot be read: {error}")
                continue
            name = said.pop("called")
            known = variables.setdefault(key, GribVariable(name, grid, said))
            again += at in known.places
            known.places[at] = found
        if again:
            self._problem(f"{again} of its messages are there again: the last one of each counts")
        grids = list(dict.fromkeys(each.grid for each in variables.values()))
        for (_, level, kind, *_), variable in variables.items():
            group = "" if len(grids) == 1 else f"/grid_{grids.index(variable.grid) + 1}"
            self._grids.setdefault(group, next(iter(variable.places.values())))
            name = variable.name if variable.name.isidentifier() else f"param{variable.attributes['paramId']}"
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

    def _known(self, found: GribField) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Return what array a field is of, where in it, its grid, and what is told of it."""
        handle = eccodes.codes_new_from_message(self._message(found, with_data=found.edition == 1))
        try:
            return _known(handle)
        finally:
            eccodes.codes_release(handle)

    def _decoded(self, found: GribField, key: str) -> Any:
        """Return the values of a field, or the places of its points, in rows; NaN where there is none."""
        handle = eccodes.codes_new_from_message(self._message(found, with_data=True))
        try:
            eccodes.codes_set(handle, "missingValue", _MISSING)
            values = eccodes.codes_get_array(handle, key).astype(np.float64)
            if key == "values":
                values[values == _MISSING] = np.nan
            return _in_rows(handle, values)
        finally:
            eccodes.codes_release(handle)

    def _coordinates_of(self, group: str) -> Iterator[Any]:
        """Yield the places of the points of a grid: one for each row and column where that tells all."""
        grid = next(each.grid for path, each in self._variables.items() if path.rpartition("/")[0] == group)
        for name, axis, units in (("latitude", 0, "degrees_north"), ("longitude", 1, "degrees_east")):
            told = {"coordinate": f"{group}/{name}", "attributes": {"units": units, "standard_name": name}}
            if len(grid[1]) == 2 and grid[2]:
                try:
                    values = self._decoded(self._grids[group], f"{name}s")
                except _FAILURES as error:
                    self._problem(f"the {name}s of its grid cannot be computed: {error}")
                    continue
                line = np.ascontiguousarray(values[:, 0] if axis == 0 else values[0])
                yield told | {"dimensions": [name], "dtype": "<f8"}, line
            else:
                found = self._grids[group]
                why = "" if not found.number else "the message that tells them has other fields before them"
                stored = {"why": why, "columns": bool(grid[3])}
                place = np.array([0] * len(grid[1]) + [found.offset, found.length], np.int64)
                yield (
                    told | stored | {"dimensions": _dimensions(grid), "shape": list(grid[1])},
                    place,
                    np.zeros(1, np.uint32),
                )

    # Bytes

    def _read(self, offset: int, length: int) -> bytes:
        self._file.seek(offset)
        data = self._file.read(length)
        if len(data) != length:
            raise ValueError("the file ends early")
        return data

    def _problem(self, message: str) -> None:
        self._problems.append(message[:500])

    def _loss(self, message: str) -> None:
        self._lost = self._lost or message[:200]
        self._problem(message)

    def _messages(self) -> Iterator[tuple[int, int, int]]:
        """Yield offset, length and edition of each message."""
        at = 0
        while at + 16 <= self._size:
            head = self._read(at, min(_BLOCK, self._size - at))
            found = head.find(b"GRIB")
            if found < 0:
                at += max(len(head) - 3, 1)
                continue
            at += found
            if at + 16 > self._size:
                self._loss(f"the message at byte {at} was cut")
                return
            first = self._read(at, 16)
            edition = first[7]
            length = int.from_bytes(first[8:16] if edition == 2 else first[4:7], "big")
            if edition not in (1, 2) or length < 20:
                at += 4
            elif at + length > self._size:
                self._loss(
                    f"the message at byte {at} was cut: {self._size - at} of its {length} bytes are there"
                )
                at += 4
            elif self._read(at + length - 4, 4) != _END:
                self._loss(f"the message at byte {at} has no end where its length says")
                at += 4
            else:
                yield at, length, edition
                at += length

    def _fields(self, most: int) -> Iterator[GribField]:
        for offset, length, edition in self._messages():
            self._count += 1
            if self._count > most:
                self._loss(f"only the first {most} messages are shown")
                return
            if edition == 1:
                yield GribField(offset, length, 1, 0, {})
                continue
            try:
                yield from self._of_sections(offset, length)
            except ValueError as error:
                self._loss(f"the message at byte {offset} cannot be read: {error}")

    def _of_sections(self, offset: int, length: int) -> Iterator[GribField]:
        """Yield the fields of a message of edition 2: some sections are told once for several."""
        at, end, number = offset + 16, offset + length - 4, 0
        known: dict[int, tuple[int, int]] = {}
        bitmap: tuple[int, int] | None = None
        while at < end:
            size = int.from_bytes((head := self._read(at, 6))[:4], "big")
            kind = head[4]
            if size < 5 or at + size > end or not 1 <= kind <= 7:
                raise ValueError(f"section {kind} at byte {at} does not lie in it")
            known[kind] = at, size
            if kind == 6 and head[5] == 0:
                bitmap = at, size
            elif kind == 6 and head[5] == 254 and bitmap is not None:
                # The bits are those of the field before.
                known[6] = bitmap
            elif kind == 7:
                if not {1, 3, 4, 5, 6} <= set(known):
                    raise ValueError("a section is missing")
                if number >= _FIELDS:
                    raise ValueError(f"it has more than {_FIELDS} fields")
                yield GribField(offset, length, 2, number, dict(known))
                number += 1
            at += size

    def _message(self, found: GribField, *, with_data: bool) -> bytes:
        """Return a field as a message of its own."""
        if found.edition == 1:
            if found.length > _LARGEST:
                raise ValueError(f"it has more than {_LARGEST} bytes")
            return self._read(found.offset, found.length)
        kept = {number: place for number, place in found.sections.items() if with_data or number < 7}
        if sum(size for _, size in kept.values()) > _LARGEST:
            raise ValueError(f"it has more than {_LARGEST} bytes")
        parts = [self._read(*kept[number]) for number in sorted(kept)]
        if not with_data:
            parts.append((5).to_bytes(4, "big") + b"\x07")
        body = b"".join(parts)
        head = self._read(found.offset, 8) + (16 + len(body) + 4).to_bytes(8, "big")
        return head + body + _END


#: As the process calls it.
Reader = GribReader


def _known(handle: int) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Return what array a field is of, where in it, its grid, and what is told of it."""

    def get(name: str, otherwise: Any = None) -> Any:
        try:
            return eccodes.codes_get(handle, name)
        except eccodes.CodesInternalError:
            return otherwise

    said = {name: value for name in _COPIED if (value := get(name)) is not None}
    for name in ("shortName", "typeOfLevel", "stepType"):
        said.setdefault(name, "unknown")
    said.setdefault("paramId", 0)
    for name, key in (("long_name", "name"), ("units", "units"), ("standard_name", "cfName")):
        value = get(key)
        if value not in (None, "unknown", "undef"):
            said[name] = value
    called = get("cfVarName")
    said["called"] = called if called not in (None, "unknown", "undef") else said["shortName"]
    rows, columns = get("Nj"), get("Ni")
    points = int(eccodes.codes_get(handle, "numberOfDataPoints"))
    is_grid = all(isinstance(each, int) and 0 < each < 2**31 for each in (rows, columns))
    shape = (rows, columns) if is_grid and rows * columns == points else (points,)
    if points < 1:
        raise ValueError("its grid has no points")
    columns = get("jPointsAreConsecutive", 0) and len(shape) > 1
    grid = (get("md5GridSection", ""), shape, said.get("gridType") in _REGULAR, columns)
    start = _seconds(get("dataDate"), get("dataTime"))
    end = _seconds(get("validityDate"), get("validityTime"))
    step = (end - start) / 3600 if start is not None and end is not None else None
    at = get("number"), start, step, get("level")
    which = (said["shortName"], said["typeOfLevel"], said["stepType"], said["paramId"], grid)
    return which, at, grid, said


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
        _known(handle)
        for key in ("values", "latitudes"):
            eccodes.codes_get_array(handle, key)
        eccodes.codes_release(handle)


_load_tables()
