"""One picture in several resolutions: levels, axes, and where its elements lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from refbrowser.model.multiscales.axis_transform import AxisTransform, IndexMap
from refbrowser.model.multiscales.crs import Crs
from refbrowser.model.nodes import ArrayNode


class Direction(StrEnum):
    """Where the coordinates along an axis grow to."""

    EAST = "east"
    NORTH = "north"
    #: The rows and columns of an image, the first row at the top.
    DOWN = "down"
    RIGHT = "right"
    NONE = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a picture.

    Attributes
    ----------
    name
        Empty where the metadata gives none.
    units
        As the metadata spells them; empty where it gives none.
    labels
        What its elements are called, as channels are; empty where they are not.
    """

    name: str = ""
    units: str = ""
    direction: Direction = Direction.NONE
    labels: tuple[str, ...] = ()


#: Six numbers (a, b, c, d, e, f): ``x = a * column + b * row + c``, ``y = d * column + e * row + f``.
Affine = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Turned:
    """A grid that does not lie along the axes of its space.

    Attributes
    ----------
    rows, columns
        The dimensions of the array that the numbers of the row and of the column are along.
    affine
        From the row and the column of an element to its centre.
    """

    rows: int
    columns: int
    affine: Affine

    def at(self, index: Sequence[int]) -> tuple[float, float]:
        """Return x and y of the centre of an element, by its index along every dimension."""
        a, b, c, d, e, f = self.affine
        row, column = index[self.rows], index[self.columns]
        return a * column + b * row + c, d * column + e * row + f


@dataclass(frozen=True, slots=True)
class Level:
    """One resolution of a picture.

    Attributes
    ----------
    name
        As the metadata calls it.
    transforms
        One per dimension of the array; None where nothing is told, or what is told makes no sense.
    turned
        Where its elements are, where that is told and no transform of one dimension can say it.
    """

    name: str
    node: ArrayNode
    transforms: tuple[AxisTransform | None, ...]
    turned: Turned | None = None

    def __post_init__(self) -> None:
        # Products of numbers that are sound by themselves may be none.
        sound = tuple(each if each is not None and each.is_usable else None for each in self.transforms)
        object.__setattr__(self, "transforms", sound)


#: Elements of one level are at most so many times smaller than those of another.
_SMALLEST = 1e-9


@dataclass(frozen=True, slots=True)
class Multiscale:
    """A picture, in one resolution or more.

    Attributes
    ----------
    name
        Of the picture, for people.
    group
        Path of the group, or array, whose attributes describe it.
    convention
        Which convention does, for people.
    axes
        One per dimension of its arrays.
    levels
        The finest first; the arrays have equally many dimensions.
    crs
        What its coordinates are in; None where that is not told.
    shares_corner
        All levels begin at the same corner: how their elements lie to each other is told by steps alone.
    """

    name: str
    group: str
    convention: str
    axes: tuple[Axis, ...]
    levels: tuple[Level, ...]
    crs: Crs | None = None
    shares_corner: bool = False

    def number(self, path: str) -> int | None:
        """Return which level an array is, by its path; None where it is none."""
        return next((at for at, level in enumerate(self.levels) if level.node.path == path), None)

    def lies_elsewhere(self, number: int) -> int | None:
        """Return a dimension along which a level is told to lie outside of the finest; None where none is."""
        if self.shares_corner:
            return None
        first, level = self.levels[0], self.levels[number]
        for at, (one, other) in enumerate(zip(first.transforms, level.transforms, strict=True)):
            if one is None or other is None:
                continue
            if not IndexMap.between(one, other).overlaps(first.node.shape[at], level.node.shape[at]):
                return at
        return None

    def index_maps(self, here: int, there: int) -> tuple[IndexMap, ...]:
        """Return where the elements of one level are in another, for each dimension."""
        one, other = self.levels[here], self.levels[there]
        sizes = zip(one.node.shape, other.node.shape, strict=True)
        transforms = zip(one.transforms, other.transforms, strict=True)
        return tuple(self._map(*of, *size) for of, size in zip(transforms, sizes, strict=True))

    def _map(self, here: AxisTransform | None, there: AxisTransform | None, one: int, other: int) -> IndexMap:
        by_size = IndexMap.of_sizes(max(1, one), max(1, other))
        if here is None or there is None:
            return by_size
        if self.shares_corner:
            found = IndexMap.of_sizes(1 / here.step, 1 / there.step)
        else:
            found = IndexMap.between(here, there)
        # What lies nowhere near the other is not where it says; it is of the same picture.
        is_sound = _SMALLEST < abs(found.scale) < 1 / _SMALLEST and found.overlaps(one, other)
        return found if is_sound else by_size


def finest_first(levels: Sequence[Level]) -> tuple[Level, ...]:
    """Return levels by how many elements they have; those of equally many stay in their order."""
    return tuple(sorted(levels, key=lambda level: -prod(level.node.shape)))
