"""Making objects by encoding their elements anew."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.exporting.block_reading import BlockReader, BlockState, overlap, part_of, within
from refbrowser.exporting.blocks import Box
from refbrowser.exporting.chunks import ArrayExport, Coords, ExportRun
from refbrowser.exporting.objects import Assembled, Assembly, values_digest

#: Memory that encoding a unit takes, in units: its elements put in order, and its bytes.
_TIMES = 2


def encode_task(run: ExportRun, array: ArrayExport, number: int) -> None:
    """Make the objects of a task.

    Raises
    ------
    RefbrowserError
        A chunk cannot be read or written.
    Cancelled
        The export was cancelled.
    """
    objects = run.open_objects(array, number)
    if not objects:
        return
    reader = run.reader(array)
    encoder = _Encoder(run, array, objects)
    run.memory.acquire(array.block_bytes, run.token)
    try:
        for box in array.plan.boxes(number):
            encoder.add(box, *_read(array, reader, box))
        encoder.finish()
    finally:
        encoder.close()
        run.memory.release(array.block_bytes)
        run.read(reader.read_bytes, reader.requests)


def _read(array: ArrayExport, reader: BlockReader, box: Box) -> tuple[npt.NDArray[Any], BlockState]:
    if array.spool is not None:
        return array.spool.take(box)
    values, state = reader.room(box), BlockState(box, array.coder.unit_shape)
    reader.read(box, values, [state])
    return values, state


class _Encoder:
    """Some objects being made of blocks."""

    def __init__(self, run: ExportRun, array: ArrayExport, objects: dict[Coords, str]) -> None:
        self.run = run
        self.array = array
        self.objects = objects
        self.shards: dict[Coords, Assembly] = {}
        self.stored: set[Coords] = set()
        self._lock = threading.Lock()

    def add(self, box: Box, values: npt.NDArray[Any], state: BlockState) -> None:
        """Encode the units of a block."""
        coder, layout = self.array.coder, self.array.layout
        pipeline = coder.unit_pipeline
        queue = self.run.session.pool.queue(self.run.token)
        for at, object_box in self._objects_in(box):
            common = overlap(box, object_box)
            assert common is not None
            for unit in _units(common, coder.unit_shape):
                inside = within(unit, box)
                place = tuple(part.start // side for part, side in zip(inside, coder.unit_shape, strict=True))
                error = state.error(place)
                if error is not None:
                    self.run.bad(error)
                elif state.stored(place) or not layout.keeps_missing:
                    self.stored.add(at)
                    number = _number(within(unit, object_box), coder.unit_shape, coder.units)
                    size = _TIMES * max(pipeline.decoded_size, 1)
                    queue.put(partial(self._encode, at, number, part_of(values, inside)), size)
        queue.join()

    def finish(self) -> None:
        """Give every object to the sink."""
        for at, key in self.objects.items():
            if at not in self.stored:
                self.run.missing()
            elif (shard := self.shards.pop(at, None)) is not None:
                self.run.put(self.array, key, shard.finish())

    def close(self) -> None:
        """Give up the objects that are not finished."""
        for shard in self.shards.values():
            shard.discard()

    def _encode(self, at: Coords, number: int, values: npt.NDArray[Any]) -> None:
        coder = self.array.coder
        try:
            values = self.array.layout.converted(values)
        except RefbrowserError as error:
            self.run.bad(error.at(replace(error.place, path=self.array.layout.source.path)))
            return
        data = coder.unit_pipeline.encode(values)
        digest = values_digest(values, coder.unit_pipeline.dtype)
        if coder.shard is None:
            self.run.put(self.array, self.objects[at], Assembled.of(data, digest))
            return
        with self._lock:
            shard = self.shards.get(at)
            if shard is None:
                shard = self.shards[at] = self.run.assembly(self.array)
            shard.add(number, data, digest)

    def _objects_in(self, box: Box) -> Iterator[tuple[Coords, Box]]:
        sides = self.array.layout.grid.chunk_shape
        axes = [
            range(part.start // side, -(-part.stop // side)) for part, side in zip(box, sides, strict=True)
        ]
        for at in product(*axes):
            if at in self.objects:
                yield (
                    at,
                    tuple(
                        slice(place * side, (place + 1) * side) for place, side in zip(at, sides, strict=True)
                    ),
                )


def _units(box: Box, sides: Coords) -> Iterator[Box]:
    """Yield the units of a box, which holds a whole number of them along each axis."""
    axes = [
        [slice(at, at + side) for at in range(part.start, part.stop, side)]
        for part, side in zip(box, sides, strict=True)
    ]
    yield from product(*axes)


def _number(box: Box, sides: Coords, units: Coords) -> int:
    """Return the number of a unit, given by its place in its object, in C order."""
    number = 0
    for part, side, count in zip(box, sides, units, strict=True):
        number = number * count + part.start // side
    return number
