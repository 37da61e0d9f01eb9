"""What becomes of files that are combined: all that is known before anything is written."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.file_positions import PlacedAxis
from refbrowser.exporting.combining.holes import Hole, HoleFill, has_holes, hole_fill
from refbrowser.exporting.combining.mismatches import Mismatch
from refbrowser.exporting.combining.own_chunks import LaidArray, OwnChunks
from refbrowser.exporting.combining.properties import (
    ArrayProperties,
    ScannedSource,
    bounds_of,
)
from refbrowser.exporting.combining.times import target_units, time_of
from refbrowser.model.cf import TimeUnits
from refbrowser.model.chunk_axes import ChunkAxis, RegularAxis
from refbrowser.model.grid import ChunkGrid, grid_of


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
    _coordinates: dict[str, ArrayOfFiles] | None = None

    @property
    def blocking(self) -> list[Mismatch]:
        """What stands against combining."""
        return [each for each in self.mismatches if each.is_blocking]

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


def blocked(plan: Plan) -> RefbrowserError:
    """Return the error of a plan with differences that stand against it."""
    found = plan.blocking
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    advice = f"{found[0].remedies[0].option}: {found[0].remedies[0].words}" if found[0].remedies else ""
    return RefbrowserError(
        ErrorKind.META, f"files cannot be combined as they are: {found[0].message}{more}", advice=advice
    )
