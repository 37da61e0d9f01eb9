"""Carrying out the tasks of an export, some at a time, within its memory; objects that are encoded anew."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from itertools import islice, product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy.typing as npt

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.reading.decoding import MemoryBudget
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.blocks import BlockReader, BlockState, Box, element_size, overlap, part_of, within
from refbrowser.exporting.chunks import ArrayExport, Coords, ExportRun, ExportTask, Sink
from refbrowser.exporting.copying import copy_task
from refbrowser.exporting.exporter import coding
from refbrowser.exporting.objects import Assembled, Assembly, values_digest
from refbrowser.exporting.request import Tally
from refbrowser.exporting.spool import Spool
from refbrowser.io.cancel import CancelToken
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


#: Tasks that run at once: while one waits for bytes, others decode and write.
WORKERS = 4

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
) -> None:
    """Run all tasks of an export, a few at a time; the first failure ends them.

    Parameters
    ----------
    spool
        A folder for what is needed meanwhile; made, and removed at the end.

    Raises
    ------
    RefbrowserError
        Something cannot be read or written.
    Cancelled
        The export was cancelled.
    """
    memory = MemoryBudget(LIMITS.export_memory)
    shutil.rmtree(spool, ignore_errors=True)
    spool.mkdir(exist_ok=True)
    try:
        with coding(dataset, control) as (session, token):
            access = dataset.access
            run = ExportRun(session, access, sink, token, memory, spool, tally=tally, skip_bad=skip_bad)
            _Progress(arrays, tally, control).follow(run)
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

    def follow(self, run: ExportRun) -> None:
        """Run everything."""
        plain = [array for array in self.arrays if not array.plan.spooled]
        self._tasks(run, plain)
        for array in self.arrays:
            if array.plan.spooled:
                self._fill(run, array)
                self._tasks(run, [array])
                array.spool = None

    def _tasks(self, run: ExportRun, arrays: list[ArrayExport]) -> None:
        by_path = {array.layout.target.path: array for array in arrays}

        def work(task: ExportTask) -> None:
            array = by_path[task.array]
            run.token.check()
            carry = encode_task if array.layout.copied is None else copy_task
            carry(run, array, task.number)

        tasks = (task for array in arrays for task in array.tasks())
        for task in _in_threads(work, tasks, run.token):
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
        self.control.progress(self.done, self.total, read_bytes=tally.read_bytes, requests=tally.requests)


def _in_threads(
    function: Callable[[Item], None], items: Iterable[Item], token: CancelToken
) -> Iterator[Item]:
    """Run a function for each item in `WORKERS` threads; yields the items as they are done."""
    waiting = iter(items)
    with ThreadPoolExecutor(WORKERS, "export") as pool:
        running: dict[Future[None], Item] = {}
        try:
            while True:
                for item in islice(waiting, WORKERS - len(running)):
                    running[pool.submit(function, item)] = item
                if not running:
                    return
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    item = running.pop(future)
                    future.result()
                    yield item
        except BaseException:
            token.cancel()
            raise
