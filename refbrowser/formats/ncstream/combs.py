"""Many small messages that follow each other in the file as they do along a dimension: read as one stretch.

What stands between their payloads is read, too, and left out: that costs less than so many stretches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Place
from refbrowser.formats.ncstream.dtypes import element_dtype_of
from refbrowser.formats.ncstream.layouts import Layout
from refbrowser.formats.ncstream.messages import StreamIndex
from refbrowser.formats.ncstream.payload_errors import size_mismatch
from refbrowser.model.reference import ByteRange
from refbrowser.model.source import SourcePiece

Ints = npt.NDArray[np.int64]
Slices = tuple[slice, ...]
#: Bytes that are read as one stretch, at most.
_LONGEST = 1 << 20
#: Bytes of a message beside its payload that never part a run.
_OVERHEAD = 256


@dataclass(frozen=True, eq=False)
class Combs:
    """The messages of one variable, for a layout that `is_fine`."""

    index: StreamIndex
    layout: Layout

    def runs(self, rows: Ints, taken: range) -> Iterator[Ints]:
        """Yield rows that are read together, of those that give any element `taken` of the first axis."""
        starts, side = self.layout.sections.starts[rows, 0], self._shape[0]
        first = taken.start + -(-np.maximum(starts - taken.start, 0) // taken.step) * taken.step
        rows = rows[(first < starts + side) & (first <= taken[-1])]
        if not len(rows):
            return
        starts, offsets = self.layout.sections.starts[rows, 0], self._offsets[rows]
        gaps = np.diff(offsets)
        breaks = (np.diff(starts) != side) | (gaps > 2 * self._size + _OVERHEAD) | (gaps <= 0)
        # Also where a stretch would be too long.
        breaks |= np.diff((offsets - offsets[0]) // _LONGEST) != 0
        yield from np.split(rows, np.flatnonzero(breaks) + 1)

    def section(self, run: Ints) -> tuple[range, ...]:
        """Return what a run gives."""
        start = int(self.layout.sections.starts[run[0], 0])
        return range(start, start + len(run) * self._shape[0]), *map(range, self._shape[1:])

    def piece(self, run: Ints, inside: Slices, target: Slices) -> SourcePiece:
        """Return some elements of a run as a piece."""
        offsets = self._offsets[run]
        start, stop = int(offsets[0]), int(offsets[-1]) + self._size
        numbers = self.layout.sections.numbers[run]
        many = len(run) > 1
        return SourcePiece(
            reference=ByteRange(self.index.url, start, stop - start),
            shape=(len(run) * self._shape[0], *self._shape[1:]),
            inside=inside,
            target=target,
            decode=partial(self._decode, offsets - start),
            name=f"messages {numbers[0]} to {numbers[-1]}" if many else f"message {numbers[0]}",
            place=Place(url=self.index.url, start=start, stop=stop, path=self.layout.path),
            how=("ncstream", self.layout.path, str(self.layout.dtype), len(run)),
        )

    def _decode(self, offsets: Ints, data: memoryview) -> npt.NDArray[Any]:
        if len(data) != int(offsets[-1]) + self._size:
            raise size_mismatch(len(data), int(offsets[-1]) + self._size)
        dtype = element_dtype_of(self.layout.variable, self.layout.order)
        pitch = np.diff(offsets)
        shape = (len(offsets) * self._shape[0], *self._shape[1:])
        if not len(pitch) or (pitch == pitch[0]).all():
            step = int(pitch[0]) if len(pitch) else self._size
            whole = np.ndarray((len(offsets), self._size), np.uint8, data, 0, (step, 1))
        else:
            whole = np.frombuffer(data, np.uint8)[offsets[:, None] + np.arange(self._size)]
        return np.ascontiguousarray(whole).reshape(-1).view(dtype).reshape(shape)

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        return tuple(self.layout.sections.sizes[0].tolist())

    @cached_property
    def _size(self) -> int:
        return prod(self._shape) * element_dtype_of(self.layout.variable).itemsize

    @cached_property
    def _offsets(self) -> Ints:
        return self.index.table.payload_offset[self.layout.sections.numbers]
