"""Which elements of an array are in a region, and how much each weighs: what statistics ask of a box."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from refbrowser.views.regions.cell_weights import CellWeights
from refbrowser.views.regions.region import (
    COMPARISONS,
    Both,
    Bounds,
    Condition,
    Either,
    Outside,
    Polygon,
    Region,
)
from refbrowser.views.regions.region_grid import Box, Floats, Mask, RegionGrid

_Value = TypeVar("_Value")
#: Masks of boxes that are kept: the same places come again at each time step.
_KEPT = 64


@dataclass(frozen=True, slots=True)
class BesideArray:
    """Another array on the same grid.

    Attributes
    ----------
    dimensions
        Which dimension of the array each of its own is, ascending.
    read
        Returns the numbers of ranges along its dimensions, and which of them could not be read.
    """

    dimensions: tuple[int, ...]
    read: Callable[[Box], tuple[Floats, Mask | None]]


@dataclass(slots=True, eq=False)
class RegionCells:
    """The elements of an array that are in a region; may be asked from several threads.

    Attributes
    ----------
    beside
        Other arrays that the region names, by path.
    weight
        None where all weigh the same.
    """

    grid: RegionGrid
    region: Region
    beside: Mapping[str, BesideArray] = field(default_factory=dict)
    weight: CellWeights | None = None
    _kept: dict[Hashable, Any] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def weights(self, box: Box) -> Floats | None:
        """Return the weights, an array that broadcasts to the box."""
        if self.weight is None:
            return None
        return self.grid.on_box(self.weight.dimensions, self.weight.of(box))

    def inside(self, box: Box, numbers: Floats, lost: Mask | None) -> tuple[Mask | None, Mask | None]:
        """Return which elements of a box count, and which are lost: see `Cells`."""
        if self.region == Both(()):
            return None, lost
        for path in self.beside:
            gone = self._beside(path, box)[1]
            if gone is not None:
                lost = gone if lost is None else lost | gone
        if lost is None:
            return self._of(self.region, box, numbers, None, False), None
        # What is not known counts where it may: its values may be whatever a condition asks for.
        either = (self._of(self.region, box, numbers, lost, answer) for answer in (True, False))
        return np.logical_or(*either), lost

    def _of(self, region: Region, box: Box, numbers: Floats, lost: Mask | None, answer: bool) -> Mask:
        if isinstance(region, Both | Either):
            join = np.logical_and if isinstance(region, Both) else np.logical_or
            parts = [self._of(part, box, numbers, lost, answer) for part in region.parts]
            result = parts[0]
            for part in parts[1:]:
                result = join(result, part)
            return result
        if isinstance(region, Outside):
            return ~self._of(region.part, box, numbers, lost, answer)
        if isinstance(region, Condition):
            return self._compared(region, box, numbers, lost, answer)
        return self._placed(region, box)

    def _compared(
        self, condition: Condition, box: Box, numbers: Floats, lost: Mask | None, answer: bool
    ) -> Mask:
        if condition.path:
            numbers = self._beside(condition.path, box)[0]
        with np.errstate(invalid="ignore"):
            holds = COMPARISONS[condition.sign](numbers, condition.number) & ~np.isnan(numbers)
        return holds if lost is None else np.where(lost, answer, holds)

    def _placed(self, region: Bounds | Polygon, box: Box) -> Mask:
        if isinstance(region, Bounds):
            dimensions, mask = self._once(region, lambda: self.grid.bounded(region))
            part = mask[tuple(slice(box[axis].start, box[axis].stop, box[axis].step) for axis in dimensions)]
            return self.grid.on_box(dimensions, part)
        places = self.grid.polygon_places(region)
        concerned = [(each,) if isinstance(each, int) else each.dimensions for each in places]
        key = region, tuple(box[axis] for axis in sorted({*concerned[0], *concerned[1]}))
        return self.grid.on_box(*self._once(key, lambda: self.grid.drawn(region, box)))

    def _beside(self, path: str, box: Box) -> tuple[Floats, Mask | None]:
        array = self.beside[path]
        ranges = tuple(box[axis] for axis in array.dimensions)

        def read() -> tuple[Floats, Mask | None]:
            numbers, gone = array.read(ranges)
            on_box = self.grid.on_box
            return on_box(array.dimensions, numbers), None if gone is None else on_box(array.dimensions, gone)

        return self._once((path, ranges), read)

    def _once(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """Return what was made for a key, or make it."""
        with self._lock:
            found = self._kept.pop(key, None)
            if found is not None:
                self._kept[key] = found
                return found
        made = make()
        with self._lock:
            self._kept[key] = made
            if len(self._kept) > _KEPT:
                del self._kept[next(iter(self._kept))]
        return made
