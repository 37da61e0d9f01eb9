"""The sides of blocks of an array that is written in order, and the boxes that such blocks are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

Shape = tuple[int, ...]
Box = tuple[slice, ...]


def grown_sides(shape: Shape, unit: Shape, most: int) -> Shape:
    """Return a whole number of units along each axis, the last axes first, of at most `most` elements."""
    sides = [max(1, min(side, length)) for side, length in zip(unit, shape, strict=True)]
    for axis in range(len(sides) - 1, -1, -1):
        room = most // max(1, prod(sides))
        count = min(room, -(-shape[axis] // sides[axis]))
        if count > 1:
            sides[axis] = min(sides[axis] * count, shape[axis])
        if sides[axis] < shape[axis]:
            break
    return tuple(sides)


def run_sides(shape: Shape, unit: Shape, most: int) -> Shape:
    """Return the sides of blocks that hold runs of elements in C order, of at most `most` elements.

    Along the axis where they are cut they are a whole number of units, where that fits.
    """
    sides = [1] * len(shape)
    for axis in range(len(shape) - 1, -1, -1):
        room = max(1, most // max(1, prod(sides)))
        if shape[axis] <= room:
            sides[axis] = max(1, shape[axis])
            continue
        sides[axis] = room - room % unit[axis] if room >= unit[axis] else room
        break
    return tuple(sides)


def cut_sides(shape: Shape, most: int) -> Shape:
    """Return sides of at most `most` elements, cut along the slowest axes, into equal parts if it can be."""
    sides = list(shape)
    for axis in range(len(sides)):
        rest = prod(sides) // max(1, sides[axis])
        sides[axis] = _even(sides[axis], max(1, most // max(1, rest)))
    return tuple(sides)


def _even(length: int, most: int) -> int:
    """Return how long parts are: a divisor of the length, unless that were less than half of `most`."""
    if length <= most:
        return length
    parts = -(-length // most)
    for count in range(parts, 2 * parts):
        if length % count == 0:
            return length // count
    return most


def boxes(shape: Shape, sides: Shape) -> Iterator[Box]:
    """Yield the boxes that tile an array, in C order; one of an array without dimensions."""
    yield from boxes_within(tuple(slice(0, length) for length in shape), sides)


def boxes_within(outer: Box, sides: Shape) -> Iterator[Box]:
    """Yield the boxes that tile a box, which begins where one does."""
    axes = [
        [slice(at, min(at + side, part.stop)) for at in range(part.start, part.stop, side)]
        for part, side in zip(outer, sides, strict=True)
    ]
    yield from product(*axes)


def count_boxes(shape: Shape, sides: Shape) -> int:
    """Return how many boxes tile an array."""
    return prod(-(-length // side) for length, side in zip(shape, sides, strict=True))


def is_run(shape: Shape, sides: Sequence[int]) -> bool:
    """Tell whether blocks of these sides hold elements that follow each other in C order."""
    cut_axes = [axis for axis, (side, length) in enumerate(zip(sides, shape, strict=True)) if side < length]
    return not cut_axes or all(side == 1 for side in sides[: cut_axes[-1]])


def box_size(box: Box) -> int:
    """Return the number of elements of a box."""
    return prod(part.stop - part.start for part in box)
