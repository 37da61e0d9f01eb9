"""Carrying out the tasks of an export, some at a time, within its memory; objects that are encoded anew.

Where the chunks of an export lie across those of its source, the source is read once, in boxes of whole
chunks. What such a box has for each block is written uncompressed, its bytes together, into a file of that
block; the block is then made from its file alone. Where in the file the bytes of a box stand follows from the
sides of the boxes, so that they are written in any order and by any thread.
"""

from __future__ import annotations

import os
import shutil
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from refbrowser.engine.compute import Compute
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.reading.decoding import MemoryBudget
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.blocks import (
    BlockPlan,
    BlockReader,
    BlockState,
    Box,
    Values,
    element_size,
    object_box,
    overlap,
    part_of,
    read_cuts,
    within,
)
from refbrowser.exporting.chunks import ArrayExport, Away, Coords, ExportRun, ExportTask, Sink
from refbrowser.exporting.copied_objects import copy_task
from refbrowser.exporting.exporter import coding
from refbrowser.exporting.objects import Assembled, Assembly, values_digest
from refbrowser.exporting.request import Tally
from refbrowser.io.cancel import CancelToken
from refbrowser.io.files.own_names import fresh_folder
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


#: Memory that encoding a unit takes, in units: its elements put in order, and its bytes.
_TIMES = 2


def encode_task(run: ExportRun, array: ArrayExport, number: int) -> None:
    """Make the objects of a task.

    Raises
    ------
    RefbrowserError
        A chunk cannot be read or written.
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


def carry(run: ExportRun, array: ArrayExport, task: ExportTask) -> None:
    """Carry out a task; raises as `encode_task`."""
    work = encode_task if array.layout.copied is None else copy_task
    work(run, array, task.number)


def _read(array: ArrayExport, reader: BlockReader, box: Box) -> tuple[npt.NDArray[Any], BlockState]:
    if array.spool is not None:
        return array.spool.take(box)
    unit = array.coder_of(tuple(part.stop - part.start for part in box)).unit_shape
    values, state = reader.room(box), BlockState(box, unit)
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
        layout = self.array.layout
        queue = self.run.session.pool.queue(self.run.token)
        for at, whole in self._objects_in(box):
            coder = self.array.coder_of(layout.grid.stored_shape(at))
            pipeline = coder.unit_pipeline
            common = overlap(box, whole)
            assert common is not None
            for unit in _units(common, coder.unit_shape):
                inside = within(unit, box)
                place = tuple(part.start // side for part, side in zip(inside, coder.unit_shape, strict=True))
                error = state.error(place)
                if error is not None:
                    self.run.bad(error)
                elif state.stored(place) or not layout.keeps_missing:
                    self.stored.add(at)
                    number = _number(within(unit, whole), coder.unit_shape, coder.units)
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
        coder = self.array.coder_of(self.array.layout.grid.stored_shape(at))
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
                shard = self.shards[at] = self.run.assembly(coder)
            shard.add(number, data, digest)

    def _objects_in(self, box: Box) -> Iterator[tuple[Coords, Box]]:
        grid = self.array.layout.grid
        axes = [
            range(along.chunk_of(part.start), along.chunk_of(part.stop - 1) + 1)
            for part, along in zip(box, grid.dimensions, strict=True)
        ]
        for at in product(*axes):
            if at in self.objects:
                yield at, object_box(grid, at)


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


Item = TypeVar("Item")


def carry_out(
    dataset: Dataset,
    arrays: list[ArrayExport],
    sink: Sink,
    spool: Path,
    tally: Tally,
    control: JobControl,
    *,
    skip_bad: bool,
    away: Away | None = None,
) -> None:
    """Run all tasks of an export, a few at a time; the first failure ends them.

    Parameters
    ----------
    spool
        A folder for what is needed meanwhile; made, and removed at the end.
    away
        Carry out the tasks that need nothing but the source; this process does the others.

    Raises
    ------
    RefbrowserError
        Something cannot be read or written.
    """
    memory = MemoryBudget(LIMITS.export_memory)
    fresh_folder(spool)
    try:
        with coding(dataset, control) as (session, token):
            access = dataset.access
            run = ExportRun(session, access, sink, token, memory, spool, tally=tally, skip_bad=skip_bad)
            _Progress(arrays, tally, control).follow(run, away)
    finally:
        shutil.rmtree(spool, ignore_errors=True)


class _Progress:
    """Runs the tasks, and tells how far they are: in objects, which count twice where they are spooled."""

    def __init__(self, arrays: list[ArrayExport], tally: Tally, control: JobControl) -> None:
        self.arrays = arrays
        self.tally = tally
        self.control = control
        self.total = sum(array.layout.grid.size * (2 if array.plan.spooled else 1) for array in arrays)
        self.done = 0
        self.tasks, self.tasks_total = 0, sum(array.plan.tasks.size for array in arrays)

    def follow(self, run: ExportRun, away: Away | None) -> None:
        """Run everything."""
        plain = [array for array in self.arrays if not array.plan.spooled]
        if away is not None:
            self._away(run, away, [array for array in plain if array.is_direct])
            plain = [array for array in plain if not array.is_direct]
        self._tasks(run, plain)
        for array in self.arrays:
            if array.plan.spooled:
                self._fill(run, array)
                self._tasks(run, [array])
                array.spool = None

    def _away(self, run: ExportRun, away: Away, arrays: list[ArrayExport]) -> None:
        own = self.tasks_total - sum(array.plan.tasks.size for array in arrays)
        for count, batches, all_batches in away.make(arrays, run):
            self.tasks, self.tasks_total = batches, own + all_batches
            self._tell(count)

    def _tasks(self, run: ExportRun, arrays: list[ArrayExport]) -> None:
        by_path = {array.layout.target.path: array for array in arrays}

        def work(task: ExportTask) -> None:
            array = by_path[task.array]
            run.token.check()
            carry(run, array, task)

        tasks = (task for array in arrays for task in array.tasks())
        for task in _in_threads(work, tasks, run.token):
            self.tasks += 1
            self._tell(len(by_path[task.array].plan.coords(task.number)))

    def _fill(self, run: ExportRun, array: ArrayExport) -> None:
        """Fill the intermediate store of an array."""
        folder = run.spool / f"array-{self.arrays.index(array)}"
        folder.mkdir()
        numbers = [
            task.number
            for task in array.tasks()
            if not all(map(run.sink.has, array.keys(task.number).values()))
        ]
        reader = run.reader(array)
        assert isinstance(array.plan, BlockPlan)
        spool = array.spool = Spool(folder, reader, array.plan, array.coder.unit_shape, numbers)
        boxes = list(spool.boxes())
        size = element_size(array.layout.source)

        def work(box: Box) -> None:
            held = 2 * prod(part.stop - part.start for part in box) * size
            run.memory.acquire(held, run.token)
            try:
                spool.fill(box)
            finally:
                run.memory.release(held)

        objects, told = array.layout.grid.size, 0
        for number, _ in enumerate(_in_threads(work, boxes, run.token), 1):
            now = objects * number // len(boxes)
            self._tell(now - told)
            told = now
        self._tell(objects - told)
        run.read(reader.read_bytes, reader.requests)

    def _tell(self, count: int) -> None:
        self.done += count
        tally = self.tally
        self.control.progress(
            self.done,
            self.total,
            read_bytes=tally.read_bytes,
            requests=tally.requests,
            tasks=self.tasks,
            tasks_total=self.tasks_total,
        )


def _in_threads(
    function: Callable[[Item], None], items: Iterable[Item], token: CancelToken
) -> Iterator[Item]:
    """Run a function for each item in threads; yields the items as they are done."""
    with Compute().open() as threads, closing(threads.run(function, items, token)) as run:
        try:
            for item, outcome in run:
                if isinstance(outcome, BaseException):
                    raise outcome
                yield item
        except BaseException:
            token.cancel()
            raise


_FLAGS = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


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
        self,
        folder: Path,
        reader: BlockReader,
        plan: BlockPlan,
        unit: Coords,
        tasks: Iterable[int],
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
            _between(cuts, start, stop)
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


def _between(cuts: list[int], start: int, stop: int) -> list[slice]:
    """Return what lies of `start` to `stop` between cuts."""
    inside = cuts[bisect_right(cuts, start) : bisect_left(cuts, stop)]
    bounds = [start, *inside, stop]
    return [slice(*pair) for pair in pairwise(bounds)]
