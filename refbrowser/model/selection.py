"""Which elements of an array are wanted: numpy's basic indexing as a value."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}\Z")


class SelectionError(RefbrowserError, IndexError):
    """The index does not fit the array."""

    __str__ = RefbrowserError.__str__


def is_basic(index: Any) -> bool:
    """Tell whether an index selects a box: integers, slices and ``...`` (whether they fit or not)."""
    items = index if isinstance(index, tuple) else (index,)
    return not any(item is None or _is_chosen(item) for item in items)


def _is_chosen(item: Any) -> bool:
    """Tell whether an item gives places or a mask."""
    return isinstance(item, list | tuple | bool | np.bool_) or getattr(item, "ndim", 0) > 0


@dataclass(frozen=True, slots=True)
class Selection:
    """A box of an array: one range per axis, in ascending order.

    Attributes
    ----------
    axes
        The elements taken along each axis of the array; steps are positive.
    dropped
        Axes that were indexed with an integer and are not in the result.
    backwards
        Axes whose step was negative: the result holds them in descending order.
    """

    axes: tuple[range, ...]
    dropped: frozenset[int] = frozenset()
    backwards: frozenset[int] = frozenset()

    @classmethod
    def whole(cls, shape: tuple[int, ...]) -> Selection:
        """Return the selection of every element of an array of `shape`."""
        return cls(tuple(range(size) for size in shape))

    @classmethod
    def from_index(cls, index: Any, shape: tuple[int, ...]) -> Selection:
        """Return what numpy's basic indexing `array[index]` selects.

        Parameters
        ----------
        index
            An integer, slice or Ellipsis, or a tuple of them.
        shape
            Of the indexed array.

        Raises
        ------
        SelectionError
            `USAGE`: too many indices, an integer out of bounds, or another kind of index.
        """
        items = expanded(index if isinstance(index, tuple) else (index,), shape)
        axes: list[range] = []
        dropped, backwards = set(), set()
        for axis, (item, size) in enumerate(zip(items, shape, strict=True)):
            if isinstance(item, slice):
                taken = _sliced(item, size)
                if taken.step < 0:
                    backwards.add(axis)
                    taken = taken[::-1]
                axes.append(taken)
            else:
                position = _position(item, size, axis)
                axes.append(range(position, position + 1))
                dropped.add(axis)
        return cls(tuple(axes), frozenset(dropped), frozenset(backwards))

    @classmethod
    def from_text(cls, text: str, shape: tuple[int, ...]) -> Selection:
        """Return the selection written as in Python between the brackets, ``0,:,10:20:2``.

        Blanks are ignored; empty text selects everything.

        Raises
        ------
        RefbrowserError
            `USAGE`: the text is not integers, slices and ``...``, or does not fit `shape`.
        """
        if not text.strip():
            return cls.whole(shape)
        parts = [part.strip() for part in text.split(",")]
        if len(parts) > 1 and parts[-1] == "":
            parts.pop()
        return cls.from_index(tuple(_parsed(part, text) for part in parts), shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the result, without the dropped axes."""
        return tuple(len(taken) for axis, taken in enumerate(self.axes) if axis not in self.dropped)

    @property
    def box_shape(self) -> tuple[int, ...]:
        """Shape of the result with all axes kept: the frame of `ChunkPart.target`."""
        return tuple(len(taken) for taken in self.axes)

    def is_part(self, shape: tuple[int, ...]) -> bool:
        """Tell whether it has less than all along an axis that is in the result."""
        axes = enumerate(zip(self.axes, shape, strict=True))
        return any(len(taken) != size for axis, (taken, size) in axes if axis not in self.dropped)

    @property
    def size(self) -> int:
        """Number of elements selected."""
        size = 1
        for taken in self.axes:
            size *= len(taken)
        return size

    def of_axis(self, axis: int) -> Selection:
        """Return what is selected along one axis, of an array that has that axis alone."""
        return self.of_axes((axis,))

    def of_axes(self, axes: Sequence[int]) -> Selection:
        """Return what is selected along some axes, of an array that has just these, in this order."""
        return Selection(
            tuple(self.axes[axis] for axis in axes),
            frozenset(place for place, axis in enumerate(axes) if axis in self.dropped),
            frozenset(place for place, axis in enumerate(axes) if axis in self.backwards),
        )

    def box(self, result: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a view of `result` (of `shape`) with all axes kept and ascending.

        What is written at a part's `target` in the view lands at its place in the result.
        """
        view = np.expand_dims(result, tuple(sorted(self.dropped)))
        turned = [slice(None, None, -1 if axis in self.backwards else None) for axis in range(len(self.axes))]
        return view[(*turned, ...)]


def expanded(items: tuple[Any, ...], shape: tuple[int, ...]) -> list[Any]:
    """Return one index per axis: Ellipsis and what is not given become full slices."""
    dots = sum(item is Ellipsis for item in items)
    if dots > 1:
        raise _usage("an index can hold '...' only once")
    given = len(items) - dots
    if given > len(shape):
        raise _usage(f"too many indices: the array has {len(shape)} dimensions, the index {given}")
    at = next((place for place, item in enumerate(items) if item is Ellipsis), len(items))
    fill = [slice(None)] * (len(shape) - given)
    return [*items[:at], *fill, *items[at + 1 :]]


def _sliced(item: slice, size: int) -> range:
    try:
        return range(*item.indices(size))
    except (TypeError, ValueError) as error:
        raise _usage(f"{quoted(item)} is not a slice of integers: {error}") from None


def _position(item: Any, size: int, axis: int) -> int:
    if isinstance(item, bool | np.bool_):
        raise _usage("true and false are not indices")
    try:
        position = operator.index(item)
    except TypeError:
        raise _usage(
            f"{quoted(item)} is not an index: only integers, slices and '...' select elements"
        ) from None
    if not -size <= position < size:
        raise _usage(f"index {position} is out of bounds for dimension {axis} of size {size}")
    return position + size if position < 0 else position


def _parsed(part: str, text: str) -> Any:
    if part == "...":
        return Ellipsis
    numbers = [_number(item.strip(), text) for item in part.split(":")]
    if len(numbers) == 1 and numbers[0] is not None:
        return numbers[0]
    if len(numbers) in (2, 3):
        return slice(*numbers)
    raise _usage(f"{quoted(text)} is not a selection", "write for example 0,:,10:20:2")


def _number(item: str, text: str) -> int | None:
    if item == "":
        return None
    if not _INTEGER.match(item):
        raise _usage(f"{quoted(item)} in the selection {quoted(text)} is not an integer")
    return int(item)


def _usage(message: str, advice: str = "") -> SelectionError:
    return SelectionError(ErrorKind.USAGE, message, advice=advice)
