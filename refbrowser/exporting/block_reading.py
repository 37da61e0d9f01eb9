"""Reading the blocks of an export: their elements, and which of their units are stored."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.sharding import filled
from refbrowser.engine.part_table import Parts, PartTable
from refbrowser.engine.pieces import Piece, PieceState, ReadOptions
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.blocks import Box, element_size, read_shape
from refbrowser.exporting.layout import ArrayLayout
from refbrowser.exporting.stored_form import reads_elements
from refbrowser.model.grid import ChunkPart
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access import Access
    from refbrowser.io.cancel import CancelToken

#: Bytes that are fetched and decoded before more is asked for.
BATCH_BYTES = 64 * 1024 * 1024

Values = npt.NDArray[Any]


class BlockState:
    """What became of the source under the units of a block: stored somewhere, missing, or failed."""

    def __init__(self, box: Box, unit: tuple[int, ...]) -> None:
        self.box = box
        self.unit = unit
        shape = [-(-(part.stop - part.start) // side) for part, side in zip(box, unit, strict=True)]
        self._stored = np.zeros(shape, bool)
        self._errors: list[tuple[Box, RefbrowserError]] = []
        self._lock = threading.Lock()

    def note(self, part: Box, state: PieceState, error: RefbrowserError | None) -> None:
        """Note the end of some elements, given within the block."""
        units = tuple(
            slice(taken.start // side, -(-taken.stop // side))
            for taken, side in zip(part, self.unit, strict=True)
        )
        if state is PieceState.DONE:
            self._stored[units] = True
        elif error is not None:
            with self._lock:
                self._errors.append((units, error))

    def stored(self, unit: tuple[int, ...]) -> bool:
        """Tell whether anything of a unit is stored."""
        return bool(self._stored[unit])

    def error(self, unit: tuple[int, ...]) -> RefbrowserError | None:
        """Return why elements of a unit could not be read."""
        for units, error in self._errors:
            if all(part.start <= at < part.stop for part, at in zip(units, unit, strict=True)):
                return error
        return None


class BlockReader:
    """Reads boxes of the elements that a layout takes of its source; used by several threads at once."""

    def __init__(self, session: Session, access: Access, layout: ArrayLayout, token: CancelToken) -> None:
        self.session = session
        self.access = access
        self.layout = layout
        self.token = token
        self._kept = layout.kept_axes
        self._batch = max(1, BATCH_BYTES // self._part_bytes())
        self._lock = threading.Lock()
        self.read_bytes = 0
        self.requests = 0

    def _part_bytes(self) -> int:
        """Return the bytes in memory that reading a part of a chunk takes."""
        source = self.layout.source
        if reads_elements(source):
            return 1024  # The wanted bytes only, straight to where they belong.
        return max(1, prod(read_shape(source)) * element_size(source))

    def room(self, box: Box) -> Values:
        """Return an array for a box, with the fill value where it lies over the array's edge.

        Axes that the source lacks have length 1: elements are spread along them when they are converted.
        """
        layout = self.layout
        source, shape = layout.source, layout.grid.shape
        assert source.dtype is not None
        kept = len(self._kept)
        sides = [part.stop - part.start if axis < kept else 1 for axis, part in enumerate(box)]
        values = np.empty(sides, source.dtype)
        for axis, (part, length) in enumerate(zip(box[:kept], shape, strict=False)):
            if part.stop > length:
                over = (slice(None),) * axis + (slice(max(0, length - part.start), None),)
                values[over] = filled((), source.dtype, source.fill_value)[()]
        return values

    def read(self, box: Box, values: Values, states: list[BlockState]) -> None:
        """Read the elements of a box that lie within the array.

        Parameters
        ----------
        values
            Of the box's shape; what lies over the edge is left as it is.
        states
            Of blocks that overlap the box: they are told of each part.

        Raises
        ------
        Cancelled
            The export was cancelled.
        """
        source, selection = self.layout.source, self._taken(box)
        assert source.grid is not None
        region = part_of(values, tuple(slice(0, len(selection.axes[axis])) for axis in self._kept))
        whole = region.reshape(selection.box_shape) if region.shape != selection.box_shape else region
        parts = PartTable(source.grid, selection)
        reader = self.session.read_parts(
            source,
            self.access,
            _batches(parts, self._batch),
            whole,
            ReadOptions(on_piece=lambda piece: self._tell(piece, box, states), token=self.token, export=True),
            total=len(parts),
        )
        with self._lock:
            self.read_bytes += reader.read_bytes
            self.requests += reader.requests

    def _taken(self, box: Box) -> Selection:
        axes = list(self.layout.selection.axes)
        for axis, part in zip(self._kept, box, strict=False):
            axes[axis] = axes[axis][part]
        return Selection(tuple(axes))

    def _tell(self, piece: Piece, box: Box, states: list[BlockState]) -> None:
        target = [piece.part.target[axis] for axis in self._kept]
        added = [slice(0, 1)] * (len(box) - len(target))
        ended = tuple(
            slice(part.start + taken.start, part.start + taken.stop)
            for part, taken in zip(box, [*target, *added], strict=True)
        )
        for state in states:
            common = overlap(ended, state.box)
            if common is not None:
                state.note(within(common, state.box), piece.state, piece.error)


def part_of(values: Values, box: Box) -> Values:
    """Return the view of a box of an array, which is an array for no dimensions too."""
    index: tuple[Any, ...] = (*box, ...)
    return values[index]


def overlap(one: Box, other: Box) -> Box | None:
    """Return the elements that two boxes share, None where there are none."""
    found = tuple(
        slice(max(mine.start, yours.start), min(mine.stop, yours.stop))
        for mine, yours in zip(one, other, strict=True)
    )
    return None if any(part.start >= part.stop for part in found) else found


def within(box: Box, frame: Box) -> Box:
    """Return a box by its place in another one."""
    return tuple(
        slice(part.start - outer.start, part.stop - outer.start)
        for part, outer in zip(box, frame, strict=True)
    )


class _Some:
    """Some of the parts of a table, numbered anew."""

    def __init__(self, parts: Parts, start: int, stop: int) -> None:
        self._parts = parts
        self._start, self._stop = start, stop

    def __len__(self) -> int:
        return self._stop - self._start

    def __getitem__(self, number: int) -> ChunkPart:
        return self._parts[self._start + number]

    def coords(self, start: int, stop: int) -> npt.NDArray[np.int64]:
        """Return the coordinates of the chunks from `start` to `stop`."""
        return self._parts.coords(self._start + start, self._start + stop)

    def all_whole(self, start: int, stop: int) -> bool:
        """Tell whether every part from `start` to `stop` is a whole chunk."""
        return self._parts.all_whole(self._start + start, self._start + stop)


def _batches(parts: Parts, count: int) -> Iterator[Parts]:
    for start in range(0, len(parts), count):
        yield _Some(parts, start, min(start + count, len(parts)))
