"""What becomes of files that are combined: all that is known before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.combination import REENCODED, Combination
from refbrowser.exporting.combining.holes import Hole, HoleFill, has_holes, hole_fill
from refbrowser.exporting.combining.mismatches import MEANING, Mismatch
from refbrowser.exporting.combining.own_chunks import LaidArray, OwnChunks
from refbrowser.exporting.combining.placed_axis import PlacedAxis
from refbrowser.exporting.combining.properties import (
    ArrayProperties,
    ScannedSource,
    bounds_of,
)
from refbrowser.exporting.combining.stored_forms import stored_form
from refbrowser.exporting.combining.times import calendar_of, target_units, time_of
from refbrowser.model.cf import TimeUnits
from refbrowser.model.chunk_axes import ChunkAxis, RegularAxis
from refbrowser.model.grid import ChunkGrid, grid_of

#: Attributes that say what numbers mean, beside how they are stored.
_MEANING = ("units", "calendar", *(name for names in MEANING.values() for name in names))
#: Differences that set eras apart.
_SET_APART = (*REENCODED, "dimensions", "shape", "units", "calendar", *MEANING)


@dataclass(slots=True, eq=False)
class Plan:
    """What becomes of files: all that is known before anything is written.

    Attributes
    ----------
    request
        How they are combined.
    files
        Those that are.
    left_out
        Those that are not, with why.
    arrays, axes
        Of the result.
    mismatches
        What the files differ in, blocking differences first.
    holes
        Times of regular axes that no file has.
    own, own_size
        What became of chunks that are those of no file, once they are written; their bytes, about, before.
    below
        The path of the group that it becomes; empty for the root.
    parts, eras
        The plans of the groups that the files become, and why there are some; nothing for one group.
    """

    request: Combination
    files: list[ScannedSource]
    left_out: list[tuple[str, str]] = field(default_factory=list)
    arrays: list[ArrayOfFiles] = field(default_factory=list)
    axes: list[PlacedAxis] = field(default_factory=list)
    mismatches: list[Mismatch] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)
    own: list[OwnChunks] = field(default_factory=list)
    own_size: int = 0
    below: str = ""
    parts: list[Plan] = field(default_factory=list)
    eras: list[Era] = field(default_factory=list)
    _coordinates: dict[str, ArrayOfFiles] | None = None

    @property
    def blocking(self) -> list[Mismatch]:
        """What stands against combining."""
        return [each for each in self.mismatches if each.is_blocking]

    @property
    def filled(self) -> int:
        """How many coordinates of the document files lie at that they are added to; 0 of those at its end."""
        return sum(sum(axis.lengths[1:]) for axis in self.axes if axis.begins is not None)

    def dimensions(self, array: ArrayOfFiles) -> tuple[str, ...]:
        """Return the dimensions of an array of the result: new ones come first."""
        new = [axis.name for axis in self.axes if axis.is_new and array.role != "same"]
        return (*new, *array.first.dimensions)

    def units_of(
        self, array: ArrayOfFiles, number: int, told: ArrayProperties
    ) -> tuple[TimeUnits, TimeUnits] | None:
        """Return the units of times of a file, and those that all are written in; None of what is no time."""
        if array.role != "inlined":
            return None
        coordinate, own = array, time_of(told)
        if own is None and (found := self._coordinate(array.path)) is not None:
            at = found.at(number)
            if at is not None:
                coordinate, own = found, time_of(found.told[at])
        if own is None or self.request.accepts("units", coordinate.path):
            return None
        target = target_units(coordinate.first, self.request)
        return None if target is None else (own, target)

    def _coordinate(self, path: str) -> ArrayOfFiles | None:
        """Return the coordinate whose bounds are at a path."""
        if self._coordinates is None:
            by_path = {each.path: each for each in self.arrays}
            owners = bounds_of([each.first for each in self.arrays])
            self._coordinates = {path: by_path[owner] for path, owner in owners.items() if owner in by_path}
        return self._coordinates.get(path)

    def axes_of(self, array: ArrayOfFiles) -> list[PlacedAxis | None]:
        """Return along which axis each dimension of an array lies."""
        by_name = {axis.name: axis for axis in self.axes} if array.role != "same" else {}
        return [by_name.get(name) for name in self.dimensions(array)]

    def shape(self, array: ArrayOfFiles) -> tuple[int, ...]:
        """Return the shape of an array of the result."""
        axes = self.axes_of(array)
        own = (1,) * (len(axes) - len(array.first.shape)) + array.first.shape
        return tuple(side if axis is None else axis.size for side, axis in zip(own, axes, strict=True))

    def hole_fill(self, array: ArrayOfFiles) -> HoleFill | None:
        """Return what stands for the holes of an array; None where it has none, or values stand there."""
        return hole_fill(array, self.files, self.request) if has_holes(array, self.axes) else None

    def regular_axis(self, path: str) -> PlacedAxis | None:
        """Return the regular axis whose coordinate is at a path."""
        return next((each for each in self.axes if each.regular is not None and each.path == path), None)

    def grid(self, array: ArrayOfFiles) -> ChunkGrid:
        """Return the chunks of a placed array of the result."""
        axes, own = self.axes_of(array), array.first.grid.dimensions
        new = len(axes) - len(own)
        found: list[ChunkAxis] = [RegularAxis(size, 1) for size in self.shape(array)[:new]]
        divided = next((axis for axis in axes if axis is not None and not axis.is_new), None)
        for axis, mine, size in zip(axes[new:], own, self.shape(array)[new:], strict=True):
            if axis is None:
                found.append(mine)
            elif axis.name in array.edges:
                found.append(array.edges[axis.name])
            else:
                side = array.divided if array.divided and axis is divided else mine.largest
                found.append(RegularAxis(size, side))
        return grid_of(found)

    def laid(self, array: ArrayOfFiles) -> LaidArray:
        """Return where the files of a placed array lie in it."""
        axes = self.axes_of(array)
        begins = [None if axis is None else axis.starts for axis in axes]
        starts = [
            tuple(
                0 if axis is None or begin is None else begin[axis.of_file[number]]
                for axis, begin in zip(axes, begins, strict=True)
            )
            for number in array.files
        ]
        return LaidArray(array, self.grid(array), starts)


@dataclass(frozen=True, slots=True)
class Era:
    """Files that follow one another and are stored alike: a group of their own.

    Attributes
    ----------
    path
        Of the group: ``/era2_2018-01_2019-12``.
    files
        Their numbers.
    what
        What they have otherwise than other eras, in words.
    """

    path: str
    files: tuple[int, ...]
    what: tuple[str, ...] = ()


def eras_of(plan: Plan) -> list[Era]:
    """Return the files of a plan in eras: runs of files, as they lie, that store all arrays alike."""
    axis = next((each for each in plan.axes if not each.is_new), None)
    numbers = list(range(len(plan.files)))
    if axis is not None:
        numbers.sort(key=lambda number: axis.of_file[number])
    forms = _forms(plan)
    runs: list[list[int]] = []
    for number in numbers:
        if not runs or forms[runs[-1][-1]] != forms[number]:
            runs.append([])
        runs[-1].append(number)
    times = [_times(plan, axis, run) for run in runs]
    are_months = all(first[8:10] == "01" and last[8:10] >= "28" for first, last in times if first)
    end = 7 if are_months else 10
    found = []
    for at, (run, (first, last)) in enumerate(zip(runs, times, strict=True), 1):
        name = "_".join(filter(None, (f"era{at}", first[:end], last[:end])))
        found.append(Era(f"/{name}", tuple(run), tuple(_what(plan, plan.files[run[0]].source))))
    return found


def _forms(plan: Plan) -> list[tuple[Any, ...]]:
    """Return what is the same for files that store all arrays alike, file by file."""
    found: list[list[Any]] = [[] for _ in plan.files]
    known: dict[int, Any] = {}
    for array in plan.arrays:
        if array.role == "same":
            continue
        for number, told in zip(array.files, array.told, strict=True):
            if id(told) not in known:
                is_placed = array.role == "placed"
                known[id(told)] = array.path, _form(told, plan.request.concat) if is_placed else _sense(told)
            found[number].append(known[id(told)])
    return [tuple(each) for each in found]


def _form(told: ArrayProperties, along: Sequence[str]) -> tuple[Any, ...]:
    sides = zip(told.dimensions, told.shape, told.chunks, strict=True)
    # A file of one chunk says nothing of the length of others.
    own = tuple(size if name not in along else chunk if chunk < size else 0 for name, size, chunk in sides)
    return told.dimensions, own, told.attribute("units"), _sense(told), stored_form(told, along)


def _sense(told: ArrayProperties) -> tuple[tuple[str, str], ...]:
    """Return what numbers mean; times that count from other dates are counted alike."""
    gone = ("units", "calendar") if time_of(told) is not None else ()
    found = [(name, text) for name, text in told.attributes if name in _MEANING and name not in gone]
    return (*found, ("calendar", calendar_of(told)))


def _times(plan: Plan, axis: PlacedAxis | None, numbers: Sequence[int]) -> tuple[str, str]:
    """Return the first and the last time of files as ISO 8601; empty where there are none."""
    coordinate = (
        None if axis is None else next((each for each in plan.arrays if each.path == axis.path), None)
    )
    if axis is None or axis.values is None or coordinate is None:
        return "", ""
    units = target_units(coordinate.first, plan.request)
    parts = [axis.values[axis.of_file[number]] for number in numbers if axis.of_file[number] >= 0]
    ends = [end for each in parts if len(each) for end in (each.min(), each.max())]
    if units is None or not ends:
        return "", ""
    try:
        first, last = units.texts(np.array([min(ends), max(ends)]))
    except RefbrowserError:
        return "", ""
    return first, last


def _what(plan: Plan, source: str) -> Iterator[str]:
    """Yield the values that a file has where files differ in how they store an array."""
    for each in plan.mismatches:
        if each.odd and each.kind in _SET_APART:
            odd = next((value.value for value in each.odd if source in value.files), each.common)
            yield f"{each.path} {each.name} {odd}"


def blocked(plan: Plan) -> RefbrowserError:
    """Return the error of a plan with differences that stand against it."""
    found = plan.blocking
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    advice = f"{found[0].remedies[0].option}: {found[0].remedies[0].words}" if found[0].remedies else ""
    return RefbrowserError(
        ErrorKind.META, f"files cannot be combined as they are: {found[0].message}{more}", advice=advice
    )
