"""What a worker does: it opens the order once, makes whole objects of batches of tasks, and reads them again.

What comes back are counts, digests and errors, never data. A batch that is carried out twice, as after a
worker was taken for dead, writes the same objects again, each in one step.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from refbrowser.engine.compute import shared
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.reading.decoding import MemoryBudget
from refbrowser.engine.workers.peers import worker_name
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.buffers import Buffers
from refbrowser.exporting.chunks import ArrayExport, ExportRun, ExportTask
from refbrowser.exporting.exporter import coding, target_of
from refbrowser.exporting.journal import Written
from refbrowser.exporting.objects import Assembled
from refbrowser.exporting.request import Tally
from refbrowser.exporting.tasks import carry
from refbrowser.exporting.verify import is_good, written_to
from refbrowser.exporting.workers.export_order import WorkOrder
from refbrowser.findings.finding import Finding
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: Orders that a process keeps open; another export of the same process closes the oldest.
KEPT = 2


@dataclass(frozen=True, slots=True)
class Span:
    """Some tasks of one array, the first and the one after the last by number."""

    array: str
    first: int
    stop: int


@dataclass(frozen=True, slots=True)
class Batch:
    """What a worker is given at once.

    Attributes
    ----------
    digest
        SHA-256 of the order.
    spans
        Tasks to be carried out.
    known
        Keys of their objects that are there already.
    entries
        Objects to be read again.
    """

    digest: str
    spans: tuple[Span, ...] = ()
    known: frozenset[str] = frozenset()
    entries: tuple[Written, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a batch.

    Attributes
    ----------
    written
        The objects that are in the target now.
    different
        Keys of objects that are not what was written.
    tally
        Counts of this batch.
    warnings
        What was found to be odd since the process told last.
    error
        What ended it early.
    """

    written: tuple[Written, ...] = ()
    different: tuple[str, ...] = ()
    tally: Tally = field(default_factory=Tally)
    warnings: tuple[Finding, ...] = ()
    error: RefbrowserError | None = None


def work(item: tuple[Any, Batch]) -> Answer:
    """Carry out a batch of an order.

    Parameters
    ----------
    item
        What stands for the bytes of the order, and the batch.

    Raises
    ------
    RefbrowserError
        The order cannot be opened here.
    """
    order, batch = item
    with _KEPT.used(batch.digest, order) as opened:
        if batch.entries:
            return Answer(different=tuple(opened.different(batch.entries)))
        return opened.made(batch)


class _Sink:
    """Writes objects and takes note of them, for one batch."""

    def __init__(self, place: Any, known: frozenset[str]) -> None:
        self.place = place
        self.known = known
        self.written: list[Written] = []

    def has(self, key: str) -> bool:
        """Tell whether an object is there already."""
        return key in self.known

    def put(self, array: ArrayExport, key: str, made: Assembled) -> None:
        """Write an object and note it."""
        self.written.append(written_to(self.place, array, key, made))


class _Opened:
    """An order that is open in this process."""

    def __init__(self, order: WorkOrder) -> None:
        self.order = order
        self.dataset: Dataset = order.dataset()
        try:
            target: Any = target_of(order.request.format)(self.dataset, order.request)
            order.check(self.dataset, target.fingerprint(), target.metadata_digest())
            target.split(order.most)
            self.place = target.place()
            self.place.join(order.run, order.fingerprint)
        except BaseException as error:
            self.dataset.close()
            if isinstance(error, OSError):
                raise _unwritable(error, order.request.target) from error
            raise
        self.arrays: dict[str, ArrayExport] = {array.layout.target.path: array for array in target.exports}
        self.memory = MemoryBudget(LIMITS.export_memory)
        self.buffers = Buffers()
        self.users = 0
        self._told: set[Finding] = set()
        self._lock = threading.Lock()

    def made(self, batch: Batch) -> Answer:
        """Make the objects of a batch; what was made before an error is told too."""
        tally, sink = Tally(), _Sink(self.place, batch.known)
        ended: RefbrowserError | None = None
        try:
            with coding(self.dataset, JobControl()) as (session, token):
                run = ExportRun(
                    session,
                    self.dataset.access,
                    sink,
                    token,
                    self.memory,
                    Path(gettempdir()),
                    tally=tally,
                    skip_bad=self.order.request.skip_bad,
                )
                run.buffers = self.buffers
                self._carry_out(run, batch, token)
        except RefbrowserError as error:
            ended = error
        except OSError as error:
            ended = _unwritable(error, self.order.request.target)
        return Answer(tuple(sink.written), tally=tally, warnings=self._warnings(), error=ended)

    def _carry_out(self, run: ExportRun, batch: Batch, token: CancelToken) -> None:
        try:
            for span in batch.spans:
                for number in range(span.first, span.stop):
                    if not self.place.is_joined:
                        # The export was cancelled, or is over: nobody wants this any more.
                        raise Cancelled
                    carry(run, self.arrays[span.array], ExportTask(span.array, number))
        except BaseException:
            token.cancel()
            raise

    def different(self, entries: tuple[Written, ...]) -> Iterator[str]:
        """Yield the keys of objects that are not what was written."""
        for entry in entries:
            array = self.arrays.get(entry.array)
            if not is_good(self.place, entry, None if array is None else array.coder_for(entry.key)):
                yield entry.key

    def _warnings(self) -> tuple[Finding, ...]:
        with self._lock:
            found = self.dataset.access.memory.warnings
            # Those of objects come before the others, also when they come later.
            new = tuple(each for each in found if each not in self._told)
            self._told.update(new)
            return new


def _unwritable(error: OSError, target: str) -> RefbrowserError:
    message = f"worker {worker_name()} cannot write: {error.strerror or error}"
    return RefbrowserError(ErrorKind.IO, message, Place(path=target))


class _Kept:
    """The orders that are open in this process, by their digests; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self._opened: OrderedDict[str, _Opened] = OrderedDict()

    @contextmanager
    def used(self, digest: str, order: Any) -> Iterator[_Opened]:
        """Give the order of a digest, opened with the first batch of it."""
        opened = self._taken(digest, order)
        try:
            yield opened
        finally:
            self._give_back(opened)

    def _taken(self, digest: str, order: Any) -> _Opened:
        with self._lock:
            opening = self._opening.setdefault(digest, threading.Lock())
        with opening:
            with self._lock:
                opened = self._opened.get(digest)
                if opened is not None:
                    opened.users += 1
                    self._opened.move_to_end(digest)
                    return opened
            data = shared(order)
            if hashlib.sha256(data).hexdigest() != digest:
                raise RefbrowserError(ErrorKind.SOURCE, f"worker {worker_name()} was given another order")
            # Our own words: from the program that this process works for.
            opened = _Opened(pickle.loads(data))
            opened.users = 1
            with self._lock:
                self._opened[digest] = opened
                self._opening.pop(digest, None)
            return opened

    def _give_back(self, opened: _Opened) -> None:
        """Note that a batch does not use an order any more; too many that nobody uses are closed."""
        with self._lock:
            opened.users -= 1
            idle = [digest for digest, each in self._opened.items() if not each.users]
            gone = [self._opened.pop(digest) for digest in idle[: max(0, len(self._opened) - KEPT)]]
        for each in gone:
            each.dataset.close()


_KEPT = _Kept()
