"""A section in runs that lie one behind the other in C order, each small enough to be held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

Ranges = tuple[range, ...]


def blocks(section: Ranges, chunk_shape: Sequence[int], most: int) -> Iterator[Ranges]:
    """Yield the parts of a section, in C order, of at most so many elements each (of one at least).

    Parameters
    ----------
    section
        Not empty along any axis.
    chunk_shape
        Of the array: where they fit, parts end where chunks do, so that each chunk is read once.
    """
    axis = _split_axis(section, most)
    if axis is None:
        yield section
        return
    inner = section[axis + 1 :]
    rows = max(most // prod(map(len, inner)), 1)
    for outer in _positions(section[:axis]):
        for run in _runs(section[axis], chunk_shape[axis], rows):
            yield (*outer, run, *inner)


def _split_axis(section: Ranges, most: int) -> int | None:
    """Return the first axis of which some rows are few enough; None where all of the section is."""
    if prod(map(len, section)) <= most:
        return None
    return next(axis for axis in range(len(section)) if prod(map(len, section[axis + 1 :])) <= most)


def _positions(section: Ranges) -> Iterator[Ranges]:
    """Like itertools.product, which would hold every axis in memory."""
    if not section:
        yield ()
        return
    for at in section[0]:
        for rest in _positions(section[1:]):
            yield (range(at, at + 1), *rest)


def _runs(taken: range, side: int, rows: int) -> Iterator[range]:
    start = 0
    while start < len(taken):
        stop = min(start + rows, len(taken))
        if stop < len(taken):
            # The first position that is not below the last edge of a chunk before `stop`.
            edge = taken[stop] // side * side
            aligned = -(-(edge - taken.start) // taken.step)
            stop = aligned if aligned > start else stop
        yield taken[start:stop]
        start = stop
