"""Shapes, chunks and dimension names of array metadata, checked."""

from __future__ import annotations

from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.grid import RegularChunkGrid


def parse_shape(value: Any) -> tuple[int, ...]:
    """Return the shape in metadata.

    Raises
    ------
    RefbrowserError
        `META`: not a list of integers of at least 0. `BUDGET`: more or longer dimensions than the limits.
    """
    if not isinstance(value, list) or not all(type(size) is int and size >= 0 for size in value):
        raise wrong("shape", value, "a list of integers of at least 0")
    if len(value) > LIMITS.rank:
        raise RefbrowserError(
            ErrorKind.BUDGET, f"the array has {len(value)} dimensions; at most {LIMITS.rank} are read"
        )
    # Their product may be anything: parts of an array are counted, never all of it.
    if any(size > LIMITS.elements for size in value):
        raise RefbrowserError(ErrorKind.BUDGET, "a dimension has more than 2^63 - 1 elements")
    return tuple(value)


def parse_grid(shape: tuple[int, ...], value: Any) -> RegularChunkGrid:
    """Return the grid of chunks of shape `value`; a side of 0 along an empty dimension counts as 1.

    Raises
    ------
    RefbrowserError
        `META`: the chunks do not fit the shape.
    """
    fits = isinstance(value, list) and len(value) == len(shape)
    if not fits or not all(type(side) is int and 0 <= side <= LIMITS.elements for side in value):
        raise wrong("chunks", value, f"a list of {len(shape)} positive integers")
    sides = [side or (1 if size == 0 else 0) for side, size in zip(value, shape, strict=True)]
    return RegularChunkGrid(shape, tuple(sides))


def parse_dimension_names(value: Any, ndim: int) -> tuple[str | None, ...]:
    """Return the name of each dimension; None where it has none.

    Raises
    ------
    RefbrowserError
        `META`: not a list of `ndim` texts or nulls.
    """
    if value is None:
        return (None,) * ndim
    if not isinstance(value, list) or not all(isinstance(name, str | None) for name in value):
        raise wrong("dimension names", value, "a list of texts")
    if len(value) != ndim:
        raise RefbrowserError(ErrorKind.META, f"there are {len(value)} dimension names for {ndim} dimensions")
    return tuple(value)


def wrong(name: str, value: Any, wanted: str) -> RefbrowserError:
    """Return the error that a member of the metadata is not what is `wanted`."""
    return RefbrowserError(ErrorKind.META, f"{name} is {quoted(value)}, not {wanted}")
