"""Carrying out the tasks of an export, some at a time, within its memory."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from refbrowser.engine.decoding import DecodePool, MemoryBudget
from refbrowser.engine.jobs import JobControl
from refbrowser.exporting.blocks import Box, element_size
from refbrowser.exporting.chunks import ArrayExport, ExportRun, ExportTask, Sink
from refbrowser.exporting.copying import copy_task
from refbrowser.exporting.encoding import encode_task
from refbrowser.exporting.request import Tally
from refbrowser.exporting.spool import Spool
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

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
    inner = CancelToken()
    forget = control.token.on_cancel(inner.cancel)
    session = copy.copy(dataset.session)
    # Chunks being coded have a memory of their own, smaller than that of what is shown.
    session.pool = DecodePool(dataset.session.pool.threads, MemoryBudget(LIMITS.export_coding))
    memory = MemoryBudget(LIMITS.export_memory)
    shutil.rmtree(spool, ignore_errors=True)
    spool.mkdir(exist_ok=True)
    run = ExportRun(session, dataset.access, sink, inner, memory, spool, tally=tally, skip_bad=skip_bad)
    try:
        _Progress(arrays, tally, control).follow(run)
        control.check()
    finally:
        forget()
        session.pool.close()
        # What is still being written must not go to a file that is opened later under the same number.
        session.pool.join()
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
