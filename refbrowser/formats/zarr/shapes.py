"""Shapes, chunks and dimensions of array metadata, checked; the dimensions of groups that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_axes import ChunkAxis, Ints, RegularAxis, axis_of
from refbrowser.model.grid import ChunkGrid, RegularChunkGrid, grid_of
from refbrowser.model.nodes import Dimension

_EDGES = "a positive integer, or a list of such integers and of pairs of an edge and how often it is repeated"


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


def parse_edges(shape: tuple[int, ...], configuration: Mapping[str, Any]) -> ChunkGrid:
    """Return the grid of unequal chunks (zarr-extensions, ``chunk-grids/rectilinear``).

    Raises
    ------
    RefbrowserError
        `META`: its edges are not what they should be, or do not cover the shape. `BUDGET`: they are longer
        than anything that is counted.
    """
    if configuration.get("kind") != "inline":
        raise wrong("kind", configuration.get("kind"), "'inline', the one of rectilinear grids that is known")
    told = configuration.get("chunk_shapes")
    if not isinstance(told, list) or len(told) != len(shape):
        raise wrong("chunk_shapes", told, f"a list with the edges along each of {len(shape)} dimensions")
    return grid_of([_axis(size, edges) for size, edges in zip(shape, told, strict=True)])


def _axis(size: int, edges: Any) -> ChunkAxis:
    if _is_count(edges):
        return RegularAxis(size, edges)
    if not isinstance(edges, list):
        raise wrong("chunk_shapes", edges, _EDGES)
    if all(type(edge) is int for edge in edges):
        return axis_of(size, _counts(edges))
    pairs = [edge if isinstance(edge, list) else [edge, 1] for edge in edges]
    for pair in pairs:
        if len(pair) != 2:
            raise wrong("a run of edges", pair, _EDGES)
    return axis_of(size, _counts([pair[0] for pair in pairs]), _counts([pair[1] for pair in pairs]))


def _counts(numbers: list[Any]) -> Ints:
    for number in numbers:
        if not _is_count(number):
            raise wrong("an edge of the chunks", number, _EDGES)
    return np.array(numbers, np.int64)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 < value <= LIMITS.elements


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


class Sides(NamedTuple):
    """The path, the names of dimensions and the shape of an array."""

    path: str
    dimensions: tuple[str | None, ...]
    shape: tuple[int, ...]


def dimensions_needed(
    arrays: Iterable[Sides], above: Mapping[str, Dimension], report: Callable[[Finding], None]
) -> dict[str, Dimension]:
    """Return the dimensions that the arrays of a group need and no group above has.

    Parameters
    ----------
    arrays
        Of the group.
    above
        The dimensions of the groups above it.
    report
        Is given a warning for each array that has another size for a dimension.
    """
    found: dict[str, Dimension] = {}
    for path, dimensions, shape in arrays:
        for name, size in zip(dimensions, shape, strict=False):
            if name is None:
                continue
            dimension = found.get(name)
            if dimension is None:
                if name not in above or above[name].size != size:
                    found[name] = Dimension(name, size)
            elif dimension.size != size:
                message = (
                    f"dimension {quoted(name)} of array {quoted(path)} has {size} elements, "
                    f"in another array of the group {dimension.size}"
                )
                place = Place(path=path)
                report(Finding(severity=Severity.WARNING, kind=ErrorKind.META, message=message, place=place))
    return found


def dimension_paths(
    sides: Sides, seen: Mapping[str, Dimension], paths: Mapping[str, str]
) -> tuple[str | None, ...]:
    """Return the full name of each dimension of an array that a group declares; None for others.

    Parameters
    ----------
    seen
        The dimensions of its group and of those above it: the nearest of each name.
    paths
        Their full names, ``/ocean/x``.
    """
    return tuple(
        [
            paths[name] if name is not None and name in seen and seen[name].size == size else None
            for name, size in zip(sides.dimensions, sides.shape, strict=False)
        ]
    )
