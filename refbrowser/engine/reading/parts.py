"""One read of parts of an array: how it is asked, its parts by number, and what has ended of it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.chunk_log import ArrayLog
from refbrowser.engine.resources import Resources
from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.model.grid import AxisPart, ChunkPart, RegularChunkGrid, part_of
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.model.values import ChunkManifest

if TYPE_CHECKING:
    from refbrowser.io.access import Access


#: Called with chunks done, chunks in all, and bytes read and requests made so far.
Progress = Callable[..., None]


class PartState(StrEnum):
    """What became of a chunk."""

    DONE = "done"
    MISSING = "missing"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class EndedPart:
    """One chunk's part of a read, ended.

    `part.target` is where it lies in `Selection.box` of the result; a missing chunk's part holds the fill
    value, a failed one's is undefined but where `failed` tells.

    Attributes
    ----------
    failed
        Of a failed one: which of its rows could not be read, the others could; None for all.
    """

    part: ChunkPart
    state: PartState
    error: RefbrowserError | None = None
    failed: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read.

    Attributes
    ----------
    on_part
        Told each chunk that has ended, on a worker thread; failures are then told, not raised.
    token
        Ends the read.
    progress
        Called as `progress(done, total, read_bytes=..., requests=...)`, from worker threads.
    export
        Try failing requests longer, and keep nothing in the cache.
    priority
        Lower goes first.
    """

    on_part: Callable[[EndedPart], None] | None = None
    token: CancelToken | None = None
    progress: Progress | None = None
    export: bool = False
    priority: int = 0


Ints = npt.NDArray[np.int64]
#: Parts of one axis that are kept.
_KEPT_PARTS = 65_536


class Parts(Protocol):
    """Parts of chunks by number."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> ChunkPart: ...

    def coords(self, start: int, stop: int) -> Ints:
        """Return the coordinates of the chunks from `start` to `stop`, shape (n, ndim)."""
        ...

    def all_whole(self, start: int, stop: int) -> bool:
        """Tell whether every part from `start` to `stop` is a whole chunk."""
        ...


class PartTable(Sequence[ChunkPart]):
    """The parts that a selection takes, in C order of the chunks; each is made when it is asked for."""

    def __init__(self, grid: RegularChunkGrid, selection: Selection) -> None:
        self._axes = grid.axes(selection)
        self._shape = tuple(axis.count() for axis in self._axes)
        self._count = prod(self._shape)
        #: Parts of each axis by their place: parts that follow each other share most of them.
        self._parts: tuple[dict[int, AxisPart], ...] = tuple({} for _ in self._axes)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < self._count:
            raise IndexError(number)
        parts = []
        for axis in range(len(self._axes) - 1, -1, -1):
            number, place = divmod(number, self._shape[axis])
            part = self._parts[axis].get(place)
            parts.append(self._made(axis, place) if part is None else part)
        parts.reverse()
        return part_of(tuple(parts))

    def coords(self, start: int, stop: int) -> Ints:
        """Return the coordinates of the chunks from `start` to `stop`, shape (n, ndim)."""
        made = np.empty((stop - start, len(self._axes)), np.int64)
        numbers = np.arange(start, stop, dtype=np.int64)
        for axis in range(len(self._axes) - 1, -1, -1):
            numbers, places = np.divmod(numbers, self._shape[axis])
            made[:, axis] = self._axes[axis].column(places)
        return made

    def all_whole(self, start: int, stop: int) -> bool:
        """Tell whether every part from `start` to `stop` is a whole chunk; may be pessimistic."""
        return all(axis.all_whole for axis in self._axes)

    def _made(self, axis: int, place: int) -> AxisPart:
        kept = self._parts[axis]
        if len(kept) >= _KEPT_PARTS:
            kept.clear()
        part = self._axes[axis].part(self._axes[axis].at(place))
        assert part is not None
        kept[place] = part
        return part


#: Chunks that are planned together.
BATCH = 16_384


class PartReader(ABC):
    """One read of parts of one array into one box.

    Parameters
    ----------
    box
        The result with all axes kept (`Selection.box`); parts write at their `target`.
    total
        Number of parts, for the progress.
    keep
        Whether decoded chunks go to the cache.
    """

    def __init__(
        self,
        session: Resources,
        node: ArrayNode,
        access: Access,
        box: npt.NDArray[Any],
        options: ReadOptions,
        *,
        total: int,
        keep: bool,
    ) -> None:
        self.session = session
        self.node = node
        self.manifest: ChunkManifest = node.manifest
        self.access = access
        self.box = box
        self.options = options
        self.keep = keep
        self.total = total
        self.done = 0
        self.read_bytes = 0
        self.requests = 0
        self.error: RefbrowserError | None = None
        self.token = CancelToken()
        #: Where the chunks of this read are noted; those of exports are not.
        self.log: ArrayLog | None = None
        if not options.export:
            ndim = len(self.manifest.grid_shape)
            self.log = session.chunk_log.of(access.memory, node.path, ndim)
        self._lock = threading.Lock()

    def read(self, parts: Parts) -> None:
        """Read all `parts`.

        Raises
        ------
        RefbrowserError
            Without `on_part`: the first chunk that failed.
        Cancelled
            The token of the options was cancelled.
        """
        outer = self.options.token
        forget = outer.on_cancel(self.token.cancel) if outer is not None else None
        try:
            for start in range(0, len(parts), BATCH):
                self.run_batch(parts, start, min(start + BATCH, len(parts)))
        except BaseException as end:
            self.token.cancel()
            if self.error is None or not isinstance(end, Cancelled):
                raise
        finally:
            if forget is not None:
                forget()
        if self.error is not None:
            raise self.error

    @abstractmethod
    def run_batch(self, parts: Parts, start: int, stop: int) -> None:
        """Read the parts from `start` to `stop`; returns when each has ended."""

    def region(self, part: ChunkPart) -> npt.NDArray[Any]:
        """Return the view of the result that a part fills."""
        index: tuple[Any, ...] = (*part.target, ...)
        return self.box[index]

    def ended(self, part: EndedPart) -> None:
        """Tell one chunk; remember the first failure where nobody wants to be told."""
        if self.options.on_part is not None:
            if not self.token.cancelled:
                self.options.on_part(part)
        elif part.state is PartState.FAILED and self.error is None:
            self.error = part.error
        self.count()

    def count(self) -> None:
        """Count one chunk that has ended, where anybody wants to know."""
        if self.options.progress is not None:
            with self._lock:
                self.done += 1
            self.tell()

    def check(self) -> None:
        """Raise `Cancelled` once a chunk has failed and nobody was told."""
        if self.error is not None:
            raise Cancelled

    def tell(self) -> None:
        """Tell the progress."""
        if self.options.progress is not None:
            self.options.progress(self.done, self.total, read_bytes=self.read_bytes, requests=self.requests)
