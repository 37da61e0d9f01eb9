"""What knows GRIB, in the process of `worker`: it imports nothing of ours.

Fields are put together to arrays by what their heads say; eccodes is given one field at a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from copy import copy
from datetime import UTC, datetime
from importlib.util import module_from_spec, spec_from_file_location
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import eccodes
import numpy as np

if TYPE_CHECKING:
    from refbrowser.formats.library.grib_fields import GribGrid, GribKnown
    from refbrowser.formats.library.grib_messages import GribField, Heads


def _beside(name: str) -> Any:
    """Return a module that lies beside this one and imports nothing of ours either."""
    spec = spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


messages, fields, indexed = _beside("grib_messages"), _beside("grib_fields"), _beside("grib_indexed")

_FAILURES = (
    OSError, RuntimeError, ValueError, LookupError, TypeError, MemoryError, ArithmeticError, AttributeError,
    eccodes.CodesInternalError,
)  # fmt: skip
#: Fields that others are compared with; sections that are kept once for all that have them, if they are long.
_SEEN, _SEEN_SECTIONS, _SHORT = 100_000, 4096, 64
#: Points of a grid whose places are computed at opening, to know whether they can be.
_TRIED = 1 << 20
#: Degrees by which the places of one row or column may differ.
_NEAR = 1e-6
#: Fields of coefficients, which have no points.
_COEFFICIENTS = ("sh", "rotated_sh", "stretched_sh", "stretched_rotated_sh", "lambert_bf")
#: Arrays of the places of points: no quantity is called so, as the codec of references tells them by it.
_PLACES = {"latitude": "degrees_north", "longitude": "degrees_east"}
#: Dimensions beside those of the grid, in their order.
_AXES = ("number", "percentile", "time", "step", "level")
#: Units of steps that are always as long.
_FIXED = (0, 1, 2, 10, 11, 12, 13)

#: Where a field is in its array, by `_AXES`.
Place = tuple[Any, ...]


class GribVariable:
    """Fields that are one array."""

    def __init__(self, known: GribKnown, heads: Heads, is_lost: bool = False) -> None:
        self.name = known.name
        self.grid = known.grid
        self.attributes = dict(known.said)
        if is_lost:
            # Nobody knows it where that is cut off.
            self.attributes.pop("packingType", None)
        #: Those of its first field, and whether the values of that are lost.
        self.heads, self.is_lost = heads, is_lost
        #: What may stand behind its name.
        self.labels = {"level": known.said["typeOfLevel"], "kind": known.said["stepType"]}
        self.labels |= {key: fields.label(key, value) for key, value in known.kind.items()}
        #: Each field with its place, and the number of those that are alike.
        self.fields: list[tuple[Place, GribField, int]] = []
        self.places: dict[Place, GribField] = {}
        self.axes: list[list[Any]] = []
        self.shape: tuple[int, ...] = ()

    def describe(self, known: GribKnown, heads: Heads) -> None:
        """Take what is told of it from its first field that is not lost."""
        self.attributes, self.heads, self.is_lost = dict(known.said), heads, False

    @property
    def lost(self) -> dict[Place, str]:
        """Why fields are lost, by place."""
        return {at: found.lost for at, found in self.places.items() if found.lost}

    @property
    def intact(self) -> dict[Place, GribField]:
        """The fields that are not lost, by place."""
        return {at: found for at, found in self.places.items() if not found.lost}

    def part(self, chosen: list[tuple[Place, GribField, int]], labels: dict[str, str]) -> GribVariable:
        """Return some of its fields as an array of their own."""
        part = copy(self)
        part.attributes, part.labels = dict(self.attributes), self.labels | labels
        part.fields, part.places = chosen, {}
        return part


class GribReader:
    """Reads one file."""

    def open(self, place: Any) -> dict[str, Any]:
        """Open a file: its path, or an object that reads it."""
        self._opened = place
        self._messages = messages.GribMessages(place)
        self._variables: dict[str, GribVariable] = {}
        self._grids: dict[str, GribVariable] = {}
        self._seen: dict[Any, GribKnown] = {}
        #: The numbers of what fields have in common that are alike, and the heads of one of these each.
        self._kinds: dict[Any, int] = {}
        self._heads: list[Heads] = []
        self._same: dict[bytes, bytes] = {}
        self._names: dict[Any, tuple[Any, ...]] = {}
        return {}

    def do_describe(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the arrays of the file, with coordinates: of all messages, or of those that an index lists."""
        yield from self._gather(request)
        regular = yield from self._places_told(request["skipped"])
        coordinates: dict[tuple[str, tuple[Any, ...]], str] = {}
        used: dict[str, int] = {}
        for path, variable in self._variables.items():
            group = path.rpartition("/")[0]
            names, lost = [], variable.lost
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
                "dimensions": [*names, *_dimensions(variable.grid, group in regular)],
                "attributes": said,
                "sides": [1] * len(names) + list(variable.grid.shape),
                "columns": variable.grid.by_columns,
                "why": self._why_not_referenced(variable),
                "lost": [[*each] for each in zip(_positions(variable, lost), lost.values(), strict=True)],
            }
            yield told, *_stored(variable)
        yield {"messages": self._messages.count, "problems": self._messages.problems}

    def do_read(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the values of a box of an array."""
        for _ in self._gather(request):
            pass
        path, box = request["path"], [slice(*each) for each in request["box"]]
        group, _, name = path.rpartition("/")
        if path not in self._variables:
            if name not in _PLACES:
                raise KeyError(path)
            yield {}, np.ascontiguousarray(self._points(self._grids[group], name)[tuple(box)])
            return
        variable = self._variables[path]
        own = len(variable.grid.shape)
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
            if found is None and self._messages.lost:
                # It may be what was lost: that is not the same as none that was ever there.
                why = self._messages.lost
                raise ValueError(f"no intact message gives this part, and one was lost: {why}")
            if found is not None:
                if found.lost:
                    raise ValueError(found.lost)
                message = self._messages.message(found)
                flat[row] = fields.decoded(message, variable.grid)[tuple(box[len(outer) :])]
        yield {}, made

    def do_compare(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell where messages are not what an index says, by what all of them say of themselves."""
        compared = messages.GribMessages(self._opened)
        indexed.IndexedMessages(compared, request["index"]).compare()
        yield {"problems": compared.problems}

    def _why_not_referenced(self, variable: GribVariable) -> str:
        """Return why the codec of references does not read an array; empty where it does."""
        if lost := [*variable.lost.values()]:
            more = f", and {len(lost) - 1} more of them" if len(lost) > 1 else ""
            return f"one of its messages is lost{more}: {lost[0]}"
        if any(each.number for each in variable.places.values()):
            return (
                "some of its fields share a message with others, and only the first of a message can "
                "be referenced"
            )
        if variable.grid.alternates:
            return "every second row of its fields runs the other way, which the references' codec ignores"
        lost = self._messages.lost
        if lost and len(variable.places) < np.prod([len(each) for each in variable.axes], dtype=float):
            return f"what is missing of it may have been lost: {lost}"
        return ""

    # Fields

    def _gather(self, request: dict[str, Any]) -> Iterator[Any]:
        """Find all fields, and put them together to arrays; tell which message is about to be looked into."""
        if self._variables or self._messages.count:
            return
        most, skipped, index = request["objects"], request["skipped"], request.get("index")
        listed = self._messages if index is None else indexed.IndexedMessages(self._messages, index)
        variables: dict[tuple[Any, ...], GribVariable] = {}
        for found, heads in listed.fields(most):
            if found.offset in skipped:
                if not found.number:
                    self._messages.loss(
                        f"the message at byte {found.offset} cannot be read: eccodes crashes on it"
                    )
                continue
            for number, each in heads.items():
                # Most messages have the same grid, of many kilobytes at times.
                if len(each) > _SHORT and len(self._same) < _SEEN_SECTIONS:
                    heads[number] = self._same.setdefault(each, each)
            key, start = messages.alike(heads), messages.start_of(heads)
            known = self._seen.get(key)
            if (number := self._kinds.setdefault(key, len(self._heads))) == len(self._heads):
                self._heads.append(heads)
            if known is None:
                yield {"reads": found.offset}
                try:
                    known = self._looked_into(heads)
                except _FAILURES as error:
                    why = f"the message at byte {found.offset} cannot be read: {error}"
                    self._messages.loss(found.lost or why)
                    continue
                is_alike = start is not None and start == known.start and known.unit in _FIXED
                if is_alike and len(self._seen) < _SEEN:
                    self._seen[key] = known
                start = known.start
            if known.which not in variables:
                variables[known.which] = GribVariable(known, heads, bool(found.lost))
            elif variables[known.which].is_lost and not found.lost:
                variables[known.which].describe(known, heads)
            at = known.number, known.percentile, start, known.step, known.level
            variables[known.which].fields.append((at, found, number))
        self._named([part for each in variables.values() for part in self._told_apart(each)])

    def _looked_into(self, heads: Heads) -> GribKnown:
        """Return what eccodes tells of a field."""
        handle = eccodes.codes_new_from_message(messages.message_without_data(heads))
        try:
            known: GribKnown = fields.known(handle, self._names, messages.named_alike(heads))
            return known
        finally:
            eccodes.codes_release(handle)

    def _told_apart(self, variable: GribVariable) -> Iterator[GribVariable]:
        """Yield an array as several, where fields that are not alike have one place in it.

        They are divided by the first of what eccodes tells that differs; what nothing tells apart is divided
        by the order in the file. Of fields that are alike in all the last one counts.
        """
        places: dict[Place, set[int]] = defaultdict(set)
        for at, _, number in variable.fields:
            places[at].add(number)
        left = [sorted(each) for each in places.values() if len(each) > 1]
        if not left:
            self._place(variable)
            yield variable
            return
        told = {number: self._telling(number) for number in sorted({each[2] for each in variable.fields})}
        keys: list[str] = []
        for key in dict.fromkeys(key for each in left for number in each for key in told[number]):
            divided = [_divided(each, key, told) for each in left]
            if any(len(each) > 1 for each in divided):
                keys.append(key)
                left = [part for each in divided for part in each if len(part) > 1]
        orders: dict[tuple[Place, int], int] = {}
        counts: dict[tuple[Place, Place], int] = defaultdict(int)
        parts = defaultdict(list)
        for at, found, number in variable.fields:
            values = tuple(told[number].get(key) for key in keys)
            if (at, number) not in orders:
                orders[at, number] = counts[at, values]
                counts[at, values] += 1
            parts[values, orders[at, number]].append((at, found, number))
        for (values, order), chosen in parts.items():
            said = dict(zip(keys, values, strict=True))
            labels = {key: fields.label(key, value) for key, value in said.items()}
            part = variable.part(chosen, labels | {"order": str(order + 1) if order else ""})
            part.attributes |= {key: value for key, value in said.items() if value is not None}
            self._place(part)
            yield part

    def _telling(self, number: int) -> dict[str, Any]:
        handle = eccodes.codes_new_from_message(messages.message_without_data(self._heads[number]))
        try:
            found: dict[str, Any] = fields.telling(handle)
            return found
        finally:
            eccodes.codes_release(handle)

    def _place(self, variable: GribVariable) -> None:
        """Give each field its place."""
        for at, found, _ in variable.fields:
            first = variable.places.get(at)
            if first is not None and found.lost:
                # Another one gives it, or it is lost already.
                continue
            if first is not None and not first.lost:
                self._messages.problem(
                    f"the message at byte {first.offset} is not shown: that at byte {found.offset} is of the "
                    f"same quantity ({variable.name}), time and level"
                )
            variable.places[at] = found
        variable.fields = []
        variable.axes = [
            sorted({at[axis] for at in variable.places}, key=lambda value: (value is None, value))
            for axis in range(len(_AXES))
        ]
        outer = [len(values) for values in variable.axes if len(values) > 1]
        variable.shape = (*outer, *variable.grid.shape)

    def _named(self, variables: list[GribVariable]) -> None:
        """Give each array its path: its name, and what tells it apart from others of that name."""
        grids = list(dict.fromkeys(each.grid for each in variables))
        alike: dict[tuple[Any, ...], list[GribVariable]] = defaultdict(list)
        for variable in variables:
            if variable.name in _PLACES:
                variable.name = f"param{variable.attributes['paramId']}"
            alike[variable.grid, variable.name].append(variable)
        for variable in variables:
            group = "" if len(grids) == 1 else f"/grid_{grids.index(variable.grid) + 1}"
            if not self._grids.setdefault(group, variable).intact:
                self._grids[group] = variable
            others = alike[variable.grid, variable.name]
            differing = {
                key: variable.labels.get(key, "")
                for key in dict.fromkeys(key for each in others for key in each.labels)
                if len({each.labels.get(key, "") for each in others}) > 1
            }
            path = "_".join([f"{group}/{variable.name}", *filter(None, differing.values())])
            if path in self._variables:
                path = f"{path}_{variable.attributes['paramId']}"
            number = 2
            while (free := path if number == 2 else f"{path}_{number}") in self._variables:
                number += 1
            self._variables[free] = variable

    # Places of points

    def _points(self, variable: GribVariable, name: str) -> Any:
        message = messages.message_without_data(variable.heads)
        return fields.points(message, variable.grid, name)

    def _places_told(self, skipped: list[int]) -> Generator[Any, None, list[str]]:
        """Tell the places of the points of all grids; return the groups where rows and columns tell them.

        Where they cannot be computed that is told once, and values stand without them.
        """
        regular: list[str] = []
        for group, variable in self._grids.items():
            first = _first(variable)
            grid = variable.grid
            if grid.kind in _COEFFICIENTS:
                continue
            if grid.is_regular:
                regular.append(group)
            elif prod(grid.shape) > _TRIED:
                yield from self._references_to_places(group, variable)
                continue
            problem = f"the latitudes and longitudes of its grid ({grid.kind}) cannot be computed: "
            if ~first.offset in skipped:
                self._messages.problem(f"{problem}eccodes crashes on it")
                continue
            yield {"reads": ~first.offset}
            try:
                found = [self._points(variable, name) for name in _PLACES]
            except _FAILURES as error:
                self._messages.problem(f"{problem}{error}")
                continue
            if not grid.is_regular:
                yield from self._references_to_places(group, variable)
                continue
            lines = found[0][:, 0], found[1][0]
            for (name, units), line in zip(_PLACES.items(), lines, strict=True):
                said = {"units": units, "standard_name": name}
                told = {"coordinate": f"{group}/{name}", "attributes": said, "dimensions": [name]}
                yield told | {"dtype": "<f8"}, np.ascontiguousarray(line)
        return regular

    def _references_to_places(self, group: str, variable: GribVariable) -> Iterator[Any]:
        """Yield places that the codec of references reads of a message."""
        grid = variable.grid
        found = _first(variable)
        why = "the message that holds them has other fields before them" if found.number else found.lost
        if any(grid.flips) or grid.alternates:
            why = (
                why or "they are stored in another order than the values, and the references' codec keeps it"
            )
        for name, units in _PLACES.items():
            told = {
                "coordinate": f"{group}/{name}",
                "attributes": {"units": units, "standard_name": name},
                "dimensions": _dimensions(grid, False),
                "shape": list(grid.shape),
                "columns": grid.by_columns and not grid.starts_south_west,
                "why": why,
            }
            place = np.array([0] * len(grid.shape) + [found.offset, found.length], np.int64)
            yield told, place, np.zeros(1, np.uint32)


#: As the process calls it.
Reader = GribReader


def _divided(numbers: list[int], key: str, told: dict[int, dict[str, Any]]) -> list[list[int]]:
    """Return groups of what has one value of a key each."""
    groups = defaultdict(list)
    for number in numbers:
        groups[told[number].get(key)].append(number)
    return list(groups.values())


def _first(variable: GribVariable) -> GribField:
    """Return a field that tells the places of the points of an array: of its message the first, if any is."""
    fields = (variable.intact or variable.places).values()
    return min(fields, key=lambda field: field.number)


def _positions(variable: GribVariable, places: Iterable[Place]) -> Iterator[list[int]]:
    """Yield where fields are in their array, beside the dimensions of the grid."""
    numbers = [{value: number for number, value in enumerate(each)} for each in variable.axes]
    outer = [axis for axis, values in enumerate(variable.axes) if len(values) > 1]
    for at in places:
        yield [numbers[axis][at[axis]] for axis in outer]


def _stored(variable: GribVariable) -> tuple[Any, ...]:
    """Return where the messages of an array are, as columns: coordinates, offsets, lengths, masks."""
    intact = variable.intact
    coords = np.zeros((len(intact), len(variable.shape)), np.int64)
    for row, at in enumerate(_positions(variable, intact)):
        coords[row, : len(at)] = at
    offsets, lengths = ([each[part] for each in intact.values()] for part in (0, 1))
    return (
        coords,
        np.array(offsets, np.int64),
        np.array(lengths, np.int64),
        np.zeros(len(intact), np.uint32),
    )


def _text_of_time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M")


def _dimensions(grid: GribGrid, is_regular: bool) -> list[str]:
    if len(grid.shape) == 1:
        return ["values"]
    return list(_PLACES) if is_regular else ["y", "x"]


def _coordinate(path: str, axis: str, values: list[Any]) -> Any:
    """Return a coordinate beside those of the grid."""
    dtype = "<i8" if axis in ("time", "number") else "<f8"
    said = {
        "time": {"units": "seconds since 1970-01-01", "standard_name": "time"},
        "step": {"units": "hours"},
        "percentile": {"units": "%"},
    }
    told = {"coordinate": path, "dimensions": [path.rpartition("/")[2]], "dtype": dtype}
    numbers = [-1 if value is None else value for value in values]
    return told | {"attributes": said.get(axis, {})}, np.array(numbers, dtype)


def _load_tables() -> None:
    """Have eccodes load its tables, once for all files: the process that is copied for each has them."""
    for sample in ("regular_ll_pl_grib2", "regular_ll_pl_grib1"):
        handle = eccodes.codes_grib_new_from_samples(sample)
        fields.known(handle, {}, None)
        for key in ("values", "latitudes"):
            eccodes.codes_get_array(handle, key)
        eccodes.codes_release(handle)


_load_tables()
