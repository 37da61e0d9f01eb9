"""Which bytes of an uncompressed chunk a selection needs, and how they lie in the result.

A chunk without compressor and filters is its elements in memory order. A netCDF-3 file gives chunks of many
gigabytes, so a selection reads spans of it: ranges of the chunk that hold selected elements at regular
distances. All spans of one chunk are cut alike, so they are described by a few numbers, not by a list.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

#: A span longer than this is cut, so that parts of a large chunk arrive, and are dropped, one by one.
SPAN_LIMIT = 4 * 1024 * 1024
#: More spans than this in one chunk are joined over gaps, from FIRST_GAP bytes up to LAST_GAP.
SPAN_COUNT = 4096
FIRST_GAP = 256
LAST_GAP = 1024 * 1024
#: Bytes of a local file that are read over in the time that a call of the system takes.
PIECE_GAP = 16 * 1024


@dataclass(frozen=True, slots=True)
class RawSpans:
    """The spans of one chunk that a selection inside it needs.

    Axes are kept in memory order, the slowest first; `axes[i]` is the axis of the array that stands there.

    Attributes
    ----------
    counts
        Selected elements along each axis.
    strides
        Bytes between two selected elements along each axis.
    first
        Byte of the first selected element.
    split
        The axis (in memory order) along which spans are cut into groups of `group` elements; axes before it
        give a span for each element, axes after it lie within the span.
    itemsize
        Bytes of one element.
    """

    axes: tuple[int, ...]
    counts: tuple[int, ...]
    strides: tuple[int, ...]
    first: int
    split: int
    group: int
    itemsize: int

    @property
    def outer(self) -> tuple[int, ...]:
        """Spans along each axis up to and including the split one."""
        if not self.counts:
            return ()
        return (*self.counts[: self.split], -(-self.counts[self.split] // self.group))

    def __len__(self) -> int:
        return math.prod(self.outer)

    def _inner_counts(self, number: int) -> tuple[int, ...]:
        if not self.counts:
            return ()
        start = (number % self.outer[-1]) * self.group
        return (min(self.group, self.counts[self.split] - start), *self.counts[self.split + 1 :])

    def _length(self, inner_counts: tuple[int, ...]) -> int:
        inner_strides = self.strides[self.split :]
        reach = sum((count - 1) * stride for count, stride in zip(inner_counts, inner_strides, strict=True))
        return reach + self.itemsize

    def cost(self, span_cost: int) -> int:
        """Return about how many bytes are read, with `span_cost` more for each span."""
        return len(self) * (self.length(0) + span_cost)

    def ranges(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return offset within the chunk and length of every span, in bytes."""
        if not self.counts:
            return np.array([self.first], np.int64), np.array([self.itemsize], np.int64)
        offsets = np.array([self.first], np.int64)
        for axis, count in enumerate(self.outer):
            step = self.strides[axis] * (self.group if axis == self.split else 1)
            offsets = (offsets[:, None] + np.arange(count, dtype=np.int64) * step).ravel()
        lengths = np.full(len(offsets), self._length(self._inner_counts(0)), np.int64)
        lengths[self.outer[-1] - 1 :: self.outer[-1]] = self._length(self._inner_counts(self.outer[-1] - 1))
        return offsets, lengths

    def scatter(self, number: int, data: Any, dtype: np.dtype[Any], out: npt.NDArray[Any]) -> None:
        """Copy the elements of span `number` into `out`, which has the selection's shape.

        Parameters
        ----------
        data
            The bytes of the span, or those of its `pieces` joined.
        """
        inner_counts = self._inner_counts(number)
        inner_strides = self.strides[self.split :] if self.counts else ()
        if len(data) < self._length(inner_counts):
            inner_strides = self._piece_spans(inner_counts).joined_strides()
        values: npt.NDArray[Any] = np.ndarray(inner_counts, dtype, data, 0, inner_strides)
        np.copyto(self.target(number, out), values)

    def target(self, number: int, out: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the view of `out` that span `number` fills, its axes in memory order."""
        view = out.transpose(self.axes)
        if not self.counts:
            return view
        *single, block = np.unravel_index(number, self.outer)
        start = int(block) * self.group
        index: tuple[Any, ...] = (*map(int, single), slice(start, start + self.group), ...)
        return view[index]

    def pieces(self, number: int) -> tuple[list[int], int] | None:
        """Return where the elements of span `number` lie in it: offsets, and bytes at each of them.

        None where they lie so close that all of it is read at once.
        """
        found = self._piece_spans(self._inner_counts(number))
        if len(found) == 1 or found.group > 1:
            return None
        offsets, lengths = found.ranges()
        return offsets.tolist(), int(lengths[0])

    def _piece_spans(self, inner_counts: tuple[int, ...]) -> RawSpans:
        """Return the pieces of a span as spans of it."""
        strides = self.strides[self.split :] if self.counts else ()
        split, group = _split(inner_counts, strides, self.itemsize, PIECE_GAP)
        return RawSpans((), inner_counts, strides, 0, split, group, self.itemsize)

    def joined_strides(self) -> tuple[int, ...]:
        """Return the bytes between two selected elements along each axis where the spans are joined.

        Each is of one element of the axis at which they are cut.
        """
        step = self._length(self._inner_counts(0))
        outer = []
        for count in reversed(self.counts[: self.split + 1]):
            outer.append(step)
            step *= count
        return (*reversed(outer), *self.strides[self.split + 1 :])

    def is_dense(self, number: int) -> bool:
        """Whether span `number` holds selected elements only, in the order of `target`."""
        return self.length(number) == self.selected_bytes(number)

    def length(self, number: int) -> int:
        """Return the bytes of span `number`."""
        return self._length(self._inner_counts(number))

    def selected_bytes(self, number: int) -> int:
        """Return how many bytes of span `number` belong to selected elements."""
        return math.prod(self._inner_counts(number)) * self.itemsize


def raw_spans(
    chunk_shape: tuple[int, ...],
    itemsize: int,
    axes: tuple[int, ...],
    inside: tuple[slice, ...],
    span_cost: int = 0,
) -> RawSpans:
    """Return the spans of a chunk that hold the elements `inside`.

    Parameters
    ----------
    chunk_shape
        Elements of the whole chunk along each axis.
    itemsize
        Bytes of one element.
    axes
        The axes in the order in which they lie in memory, the slowest first.
    inside
        Slices with a positive step, none of them empty.
    span_cost
        Bytes that are read in the time that one more span takes: gaps are read over where that is faster.
    """
    strides, counts, first = [], [], 0
    stride = itemsize
    for axis in reversed(axes):
        start, stop, step = inside[axis].indices(chunk_shape[axis])
        counts.append(len(range(start, stop, step)))
        strides.append(step * stride)
        first += start * stride
        stride *= chunk_shape[axis]
    counts.reverse()
    strides.reverse()
    found: list[RawSpans] = []
    for gap in _gaps():
        split, group = _split(counts, strides, itemsize, gap)
        if found and (found[-1].split, found[-1].group) == (split, group):
            continue
        spans = RawSpans(axes, tuple(counts), tuple(strides), first, split, group, itemsize)
        found.append(spans)
        if len(spans) == 1 or (len(spans) <= SPAN_COUNT and not span_cost):
            break
    return min(found, key=lambda spans: (max(len(spans), SPAN_COUNT), spans.cost(span_cost)))


def _gaps() -> Iterator[int]:
    yield 0
    gap = FIRST_GAP
    while gap <= LAST_GAP:
        yield gap
        gap *= 4


def _split(counts: Sequence[int], strides: Sequence[int], itemsize: int, gap: int) -> tuple[int, int]:
    """Return the axis at which spans are cut and how many of its elements one span holds."""
    reach = itemsize
    for axis in reversed(range(len(counts))):
        if counts[axis] == 1:
            continue
        if strides[axis] - reach > gap:
            return axis, 1
        fitting = 1 + max(0, SPAN_LIMIT - reach) // strides[axis]
        if fitting < counts[axis]:
            return axis, fitting
        reach += (counts[axis] - 1) * strides[axis]
    return 0, counts[0] if counts else 1
