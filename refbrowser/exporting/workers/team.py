"""Those who work on an export beside the program that runs it: what they are given, and what they answer.

The program alone keeps the journal. Tasks go out in batches, so few that a scheduler never has many, whatever
the number of chunks; what was out when the program died is made again.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from refbrowser.exporting.blocks import TASK_BYTES, TASK_OBJECTS
from refbrowser.exporting.workers.worker import Answer, Batch, Span, work
from refbrowser.io.cancel import Cancelled

if TYPE_CHECKING:
    from refbrowser.engine.compute import Executor
    from refbrowser.exporting.chunks import ArrayExport, ExportRun
    from refbrowser.exporting.journal import Written
    from refbrowser.exporting.verify import JournalSink
    from refbrowser.exporting.workers.export_order import WorkOrder
    from refbrowser.io.cancel import CancelToken

#: Batches of one export, at most.
MOST_BATCHES = 10_000
#: Tasks that an export of many small objects is cut into: what is lost with a program or worker that dies
#: are those that are out, a few for each worker.
_CUT = 256
#: Small objects that a task makes at least: each task costs a scheduler as much as a few of them.
_LEAST = 16
#: Objects, and bytes of them, that are read again by one batch, where all are not too many for that.
_READ_AGAIN, _READ_BYTES = 256, TASK_BYTES


def task_objects(count: int) -> int:
    """Return how many objects a task makes at most, of so many in all."""
    return max(_LEAST, min(TASK_OBJECTS, count // _CUT))


class Part(NamedTuple):
    """How far a team is: objects that ended since it told last, batches that ended, and all of them."""

    objects: int
    batches: int
    all_batches: int


class Team:
    """Those who work on one export.

    Parameters
    ----------
    executor
        Runs what they are given.
    order
        What they are told, once each.
    """

    def __init__(self, executor: Executor, order: WorkOrder) -> None:
        self.executor = executor
        data = pickle.dumps(order, pickle.HIGHEST_PROTOCOL)
        self.digest = hashlib.sha256(data).hexdigest()
        self._order = executor.share(data)

    def make(self, arrays: list[ArrayExport], run: ExportRun) -> Iterator[Part]:
        """Have the objects of arrays made; yields how far it is.

        Raises
        ------
        RefbrowserError
            Something cannot be read or written, by whom ever; or nobody is left.
        """
        sink: Any = run.sink
        blocks = {array.layout.target.path: array for array in arrays}
        size = batch_size(arrays)
        total = -(-sum(array.plan.tasks.size for array in arrays) // size)
        left = sum(array.layout.grid.size for array in arrays)
        number = 0
        for batch, answer in self._answers(self._batches(arrays, size, sink, run), run.token):
            self._take(answer, sink, run)
            count = sum(_objects(blocks[span.array], span) for span in batch.spans)
            number, left = number + 1, left - count
            yield Part(count, number, total)
        # What is there of an earlier run went to nobody.
        yield Part(left, total, total)

    def different(self, entries: list[Written], token: CancelToken) -> Iterator[str]:
        """Have objects read again; yields the keys of those that are not what was written."""
        batches = (Batch(self.digest, entries=some) for some in gathered(entries))
        for _, answer in self._answers(batches, token):
            yield from answer.different

    def _answers(self, batches: Iterable[Batch], token: CancelToken) -> Iterator[tuple[Batch, Answer]]:
        items = ((self._order, batch) for batch in batches)
        with closing(self.executor.run(work, items, token)) as run:
            for (_, batch), answer in run:
                if isinstance(answer, BaseException):
                    if isinstance(answer, Cancelled):
                        token.check()
                    raise answer
                yield batch, answer

    def _batches(
        self, arrays: list[ArrayExport], size: int, sink: JournalSink, run: ExportRun
    ) -> Iterator[Batch]:
        """Yield the batches of what is not there yet; what is there of an earlier run is counted."""
        if not sink.goes_on:
            yield from (Batch(self.digest, spans) for spans in cut(arrays, size))
            return
        known: set[str] = set()
        spans: list[Span] = []
        for array, task in ((each, task) for each in arrays for task in each.tasks()):
            keys = set(array.keys(task.number).values())
            there = set(filter(sink.has, keys))
            if there == keys:
                run.there(len(keys))
                continue
            known |= there
            spans.append(Span(task.array, task.number, task.number + 1))
            if len(spans) == size:
                yield Batch(self.digest, tuple(spans), frozenset(known))
                spans.clear()
                known.clear()
        if spans:
            yield Batch(self.digest, tuple(spans), frozenset(known))

    @staticmethod
    def _take(answer: Answer, sink: JournalSink, run: ExportRun) -> None:
        for entry in answer.written:
            sink.journal.add(entry)
        run.tally.add(answer.tally)
        for finding in answer.warnings:
            run.access.memory.warn(finding)
        if answer.error is not None:
            raise answer.error


def batch_size(arrays: Iterable[ArrayExport]) -> int:
    """Return how many tasks go into a batch, so that there are not too many batches."""
    return max(1, -(-sum(array.plan.tasks.size for array in arrays) // MOST_BATCHES))


def cut(arrays: Iterable[ArrayExport], size: int) -> Iterator[tuple[Span, ...]]:
    """Yield the tasks of arrays, so many together."""
    spans: list[Span] = []
    room = size
    for array in arrays:
        at, count = 0, array.plan.tasks.size
        while at < count:
            taken = min(room, count - at)
            spans.append(Span(array.layout.target.path, at, at + taken))
            at, room = at + taken, room - taken
            if not room:
                yield tuple(spans)
                spans, room = [], size
    if spans:
        yield tuple(spans)


def gathered(entries: list[Written]) -> Iterator[tuple[Written, ...]]:
    """Yield objects, so many together that there are not too many batches, and each has some of them."""
    # Each batch but the last is full by one measure or the other.
    half = MOST_BATCHES // 2
    most = max(_READ_AGAIN, -(-len(entries) // half))
    size = max(_READ_BYTES, -(-sum(entry.size for entry in entries) // half))
    some: list[Written] = []
    held = 0
    for entry in entries:
        some.append(entry)
        held += entry.size
        if len(some) >= most or held >= size:
            yield tuple(some)
            some, held = [], 0
    if some:
        yield tuple(some)


def _objects(array: ArrayExport, span: Span) -> int:
    return sum(len(array.plan.coords(number)) for number in range(span.first, span.stop))
