"""The intermediate store of an export whose chunks lie across those of its source.

The source is read once, in boxes of whole chunks. What such a box has for each block is written uncompressed,
as one run of bytes, into a file of that block; the block is then made from its file alone. Where in the file
a run stands follows from the sides of the boxes, so that runs are written in any order and by any thread.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise, product
from math import prod
from pathlib import Path

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.blocks import (
    BlockPlan,
    BlockReader,
    BlockState,
    Box,
    Values,
    overlap,
    part_of,
    read_cuts,
    within,
)

_FLAGS = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

Coords = tuple[int, ...]


class Spool:
    """The intermediate store of one array.

    Parameters
    ----------
    folder
        Where its files lie.
    tasks
        Those that will be carried out: what only others need is not read.
    """

    def __init__(
        self, folder: Path, reader: BlockReader, plan: BlockPlan, unit: Coords, tasks: Iterable[int]
    ) -> None:
        self.folder = folder
        self.reader = reader
        shape = reader.layout.grid.shape
        self._shape = shape
        self._blocks = [
            _starts(size, side, inner)
            for size, side, inner in zip(shape, plan.task_sides, plan.sides, strict=True)
        ]
        self._reads = read_cuts(reader.layout, plan.sides)
        self._states = {
            self._coords(box): BlockState(box, unit) for task in tasks for box in plan.boxes(task)
        }

    def boxes(self) -> Iterator[Box]:
        """Yield the boxes that the source is read by; each is to be given to `fill`."""
        axes = [[slice(start, stop) for start, stop in pairwise(cuts)] for cuts in self._reads]
        for box in product(*axes):
            if any(coords in self._states for coords in self._blocks_in(box)):
                yield box

    def fill(self, box: Box) -> None:
        """Read a box of the source, and write what each block needs of it.

        Raises
        ------
        RefbrowserError
            `E_IO`: it cannot be written.
        Cancelled
            The export was cancelled.
        """
        needed = {
            coords: state
            for coords in self._blocks_in(box)
            if (state := self._states.get(coords)) is not None
        }
        values = self.reader.room(box)
        self.reader.read(box, values, list(needed.values()))
        for coords, state in needed.items():
            common = overlap(box, state.box)
            assert common is not None
            run = np.ascontiguousarray(part_of(values, within(common, box)))
            try:
                self._write(coords, self._offset(common, coords) * run.itemsize, run)
            except OSError as error:
                raise RefbrowserError(
                    ErrorKind.IO,
                    f"cannot write the intermediate store: {error.strerror or error}",
                    Place(path=str(self.folder)),
                ) from error

    def take(self, box: Box) -> tuple[Values, BlockState]:
        """Return the elements of a block, and what became of them; its file is removed."""
        coords = self._coords(box)
        values = self.reader.room(box)
        path = self._path(coords)
        axes = [
            _pieces(cuts, start, stop)
            for cuts, (start, stop) in zip(self._reads, self._extent(coords), strict=True)
        ]
        with path.open("rb") as stream:
            for run in product(*axes):
                shape = [part.stop - part.start for part in run]
                stream.seek(self._offset(run, coords) * values.itemsize)
                data = np.fromfile(stream, values.dtype, prod(shape))
                part_of(values, within(run, box))[...] = data.reshape(shape)
        path.unlink()
        return values, self._states[coords]

    def _write(self, coords: Coords, offset: int, run: Values) -> None:
        path = self._path(coords)
        descriptor = os.open(path, _FLAGS, 0o600)
        try:
            left = run.reshape(-1).view(np.uint8).data
            while left:
                done = os.pwrite(descriptor, left, offset)
                left, offset = left[done:], offset + done
        finally:
            os.close(descriptor)

    def _path(self, coords: Coords) -> Path:
        return self.folder / ("-".join(map(str, coords)) or "block")

    def _coords(self, box: Box) -> Coords:
        return tuple(bisect_left(starts, part.start) for starts, part in zip(self._blocks, box, strict=True))

    def _extent(self, coords: Coords) -> list[tuple[int, int]]:
        """Return the first element of a block and the one after its last within the array, by axis."""
        return [
            (starts[at], starts[at + 1] if at + 1 < len(starts) else size)
            for at, starts, size in zip(coords, self._blocks, self._shape, strict=True)
        ]

    def _blocks_in(self, box: Box) -> Iterator[Coords]:
        axes = [
            range(bisect_right(starts, part.start) - 1, bisect_left(starts, part.stop))
            for starts, part in zip(self._blocks, box, strict=True)
        ]
        yield from product(*axes)

    def _offset(self, run: Box, coords: Coords) -> int:
        """Return the element of a block's file at which a run stands.

        Runs are in C order, each in C order itself: before one stand those of the slabs before it along the
        first axis, then within its slab those before it along the second, and so on.
        """
        offset, across = 0, 1
        extents = self._extent(coords)
        for number, (part, (start, _)) in enumerate(zip(run, extents, strict=True)):
            rest = prod(stop - begin for begin, stop in extents[number + 1 :])
            offset += across * (part.start - start) * rest
            across *= part.stop - part.start
        return offset


def _starts(size: int, side: int, inner: int) -> list[int]:
    """Return the first element of each block along an axis: tasks of `side`, in blocks of `inner`."""
    return [at for start in range(0, size, side) for at in range(start, min(start + side, size), inner)]


def _pieces(cuts: list[int], start: int, stop: int) -> list[slice]:
    """Return the stretches of `start` to `stop` between cuts."""
    inside = cuts[bisect_right(cuts, start) : bisect_left(cuts, stop)]
    bounds = [start, *inside, stop]
    return [slice(*pair) for pair in pairwise(bounds)]
