"""The tasks of an export: each makes some objects of one array, by copying their bytes or encoding anew."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.decoding import MemoryBudget
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.blocks import (
    BATCH_BYTES,
    TASK_OBJECTS,
    BlockPlan,
    BlockReader,
    UnequalPlan,
    copy_plan,
    element_size,
    encode_plan,
)
from refbrowser.exporting.buffers import Buffers
from refbrowser.exporting.layout import ArrayLayout, node_key
from refbrowser.exporting.objects import Assembled, Assembly, ObjectCoder
from refbrowser.exporting.request import ExportEstimate, Tally
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ReferenceKind

if TYPE_CHECKING:
    from pathlib import Path

    from refbrowser.engine.session import Session
    from refbrowser.exporting.blocks import BlockState, Box
    from refbrowser.exporting.journal import Written
    from refbrowser.io.access.access import Access


Coords = tuple[int, ...]

#: Shapes of unequal objects whose coders are kept.
_KEPT_CODERS = 1024


@dataclass(frozen=True, slots=True)
class ExportTask:
    """Some objects of one array: plain data, so that it may be carried out anywhere.

    Attributes
    ----------
    array
        Path of the array in the target.
    number
        Of the task in the array's `BlockPlan`.
    """

    array: str
    number: int


class Sink(Protocol):
    """What the objects of an export go to."""

    def has(self, key: str) -> bool:
        """Tell whether an object is there already."""
        ...

    def put(self, array: ArrayExport, key: str, made: Assembled) -> None:
        """Take an object."""
        ...


class Away(Protocol):
    """Those who make objects of arrays elsewhere than in this process, and read them again."""

    def make(self, arrays: list[ArrayExport], run: ExportRun) -> Iterator[tuple[int, int, int]]:
        """Have objects made; yields how many ended, how many batches did, and how many of these there are."""
        ...

    def different(self, entries: list[Written], token: CancelToken) -> Iterator[str]:
        """Have objects read again; yields the keys of those that are not what was written."""
        ...


class BlockSource(Protocol):
    """What gives the blocks of an array in place of its source."""

    def take(self, box: Box) -> tuple[npt.NDArray[Any], BlockState]:
        """Return the elements of a block, and what became of them; it is asked for once."""
        ...


class ArrayExport:
    """One array of an export: how it is laid out, in which blocks, and how its objects are coded.

    Parameters
    ----------
    most
        Objects that a task makes, where smaller ones have the source read as often.
    """

    def __init__(self, layout: ArrayLayout, most: int = TASK_OBJECTS) -> None:
        self.layout = layout
        self.coder = ObjectCoder(layout)
        self._coders = {self.coder.pipeline.shape: self.coder}
        self.plan: BlockPlan | UnequalPlan = (
            copy_plan(layout, most)
            if layout.copied is not None
            else encode_plan(layout, self.coder.unit_shape, most=most)
        )
        #: Set before the first task of an array whose blocks do not come from its source: it goes through an
        #: intermediate store, or is made of another array.
        self.spool: BlockSource | None = None

    def coder_of(self, shape: Coords) -> ObjectCoder:
        """Return how objects are coded that are stored in a shape; equal ones in one way."""
        if self.layout.grid.is_regular:
            return self.coder
        found = self._coders.get(shape)
        if found is None:
            if len(self._coders) >= _KEPT_CODERS:
                self._coders.clear()
            found = self._coders[shape] = ObjectCoder(self.layout, shape)
        return found

    def coder_for(self, key: str) -> ObjectCoder:
        """Return how the object is coded that has a key."""
        layout = self.layout
        if layout.grid.is_regular:
            return self.coder
        start = layout.folder + node_key(layout.target.path, "")
        coords = layout.target.chunk_keys.decode(key.removeprefix(start), layout.grid.ndim)
        assert coords is not None
        return self.coder_of(layout.grid.stored_shape(coords))

    @property
    def is_direct(self) -> bool:
        """Whether each task reads what it needs of the source, and nothing else: anybody can carry it out."""
        return self.spool is None and not self.plan.spooled

    @property
    def spool_bytes(self) -> int:
        """Bytes of the intermediate store."""
        size = prod(self.layout.grid.shape) * element_size(self.layout.source)
        return size if self.plan.spooled else 0

    @property
    def block_bytes(self) -> int:
        """Bytes of one block, and of what is read for it."""
        size = prod(self.plan.sides) * element_size(self.layout.source)
        return size + min(size, BATCH_BYTES)

    def tasks(self) -> Iterator[ExportTask]:
        """Yield the tasks."""
        for number in range(self.plan.tasks.size):
            yield ExportTask(self.layout.target.path, number)

    def keys(self, number: int) -> dict[Coords, str]:
        """Return the keys of the objects of a task by their coordinates."""
        coords = self.plan.coords(number)
        return dict(zip(coords, self.layout.keys(np.array(coords, np.int64)), strict=True))


class ExportRun:
    """What all tasks of a running export share; used by several threads at once.

    Attributes
    ----------
    session
        Reads; its decode pool is the export's own.
    memory
        Of the blocks that are held.
    spool
        A folder for what is needed while the export runs.
    buffers
        Memory for the bytes of chunks and objects.
    """

    def __init__(
        self,
        session: Session,
        access: Access,
        sink: Sink,
        token: CancelToken,
        memory: MemoryBudget,
        spool: Path,
        *,
        tally: Tally,
        skip_bad: bool,
    ) -> None:
        self.session = session
        self.access = access
        self.sink = sink
        self.token = token
        self.memory = memory
        self.spool = spool
        self.tally = tally
        self.skip_bad = skip_bad
        self.buffers = Buffers()
        self._lock = threading.Lock()

    def open_objects(self, array: ArrayExport, number: int) -> dict[Coords, str]:
        """Return the objects of a task that are not there yet."""
        keys = array.keys(number)
        found = {coords: key for coords, key in keys.items() if not self.sink.has(key)}
        self.there(len(keys) - len(found))
        return found

    def there(self, count: int) -> None:
        """Count objects that an earlier run has written."""
        with self._lock:
            self.tally.resumed += count

    def put(self, array: ArrayExport, key: str, made: Assembled) -> None:
        """Give an object to the sink, and count it."""
        self.sink.put(array, key, made)
        with self._lock:
            self.tally.chunks += 1
            self.tally.copied += made.digest is None
            self.tally.written_bytes += made.size

    def missing(self, count: int = 1) -> None:
        """Count objects that are missing in the source, and stay so."""
        with self._lock:
            self.tally.missing += count

    def read(self, size: int, requests: int) -> None:
        """Count what was read."""
        with self._lock:
            self.tally.read_bytes += size
            self.tally.requests += requests

    def bad(self, error: RefbrowserError) -> None:
        """Take note that something cannot be read.

        Raises
        ------
        RefbrowserError
            What was given, unless bad entries are to be left out.
        """
        if not self.skip_bad:
            raise error
        with self._lock:
            self.tally.skipped.append(error)

    def assembly(self, coder: ObjectCoder) -> Assembly:
        """Return an object that is put together from units."""
        return Assembly(coder, self.spool, self.buffers)

    def reader(self, array: ArrayExport) -> BlockReader:
        """Return what reads blocks of an array."""
        return BlockReader(self.session, self.access, array.layout, self.token)


def unit_numbers(coords: npt.NDArray[np.int64], units: Coords) -> npt.NDArray[np.int64]:
    """Return the number of each unit within its object, in C order; `coords` are those of units."""
    if not units:
        return np.zeros(len(coords), np.int64)
    return np.ravel_multi_index(tuple((coords % np.array(units)).T), units).astype(np.int64)


#: Chunks whose references are looked at together.
PAGE = 65_536


def estimated(arrays: Iterable[ArrayExport], token: CancelToken) -> ExportEstimate:
    """Return what writing arrays will cost.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: one of them has more elements than can be counted.
    """
    chunks = missing = source = target = spool = 0
    most_reads = 1.0
    for array in arrays:
        layout = array.layout
        if prod(layout.grid.shape) > LIMITS.elements:
            message = f"the array has more than the {LIMITS.elements} elements that are exported (elements)"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(path=layout.source.path))
        decoded = prod(layout.grid.largest) * element_size(layout.source)
        if not layout.copies_objects:
            # Objects do not coincide: each may be stored, and is written as it is decoded at most.
            reads = 1.0 if array.plan.spooled else array.plan.reads
            chunks, target = chunks + layout.grid.size, target + layout.grid.size * decoded
            source += int(prod(layout.grid.shape) * element_size(layout.source) * reads)
            spool, most_reads = max(spool, array.spool_bytes), max(most_reads, reads)
            continue
        for start in range(0, layout.grid.size, PAGE):
            token.check()
            stop = min(start + PAGE, layout.grid.size)
            coords = layout.source_coords(coords_between(layout, start, stop))
            columns = layout.source.manifest.columns(coords)
            gone = int(np.count_nonzero(columns.kind == ReferenceKind.MISSING))
            unknown = int(np.count_nonzero(columns.kind == ReferenceKind.WHOLE))
            ranges = columns.length[columns.kind == ReferenceKind.RANGE]
            stored = int(ranges.sum()) + unknown * decoded
            inline = sum(map(len, columns.inline.values()))
            chunks, missing = chunks + stop - start - gone, missing + gone
            source, target = source + stored, target + stored + inline
    return ExportEstimate(chunks, missing, source, target, reads=most_reads, spool_bytes=spool)


def coords_between(layout: ArrayLayout, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Return the coordinates of the target's chunks from `start` to `stop` in C order."""
    shape = layout.grid.grid_shape
    if not shape:
        return np.zeros((stop - start, 0), np.int64)
    return np.stack(np.unravel_index(np.arange(start, stop), shape), axis=1).astype(np.int64)
