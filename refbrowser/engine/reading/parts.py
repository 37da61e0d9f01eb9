"""The parts of a read: how they are asked for, each by its number, and what has become of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.model.grid import AxisPart, ChunkGrid, ChunkPart, part_of
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    pass


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
    passing
        Keep nothing in the cache: nobody asks for these chunks again.
    """

    on_part: Callable[[EndedPart], None] | None = None
    token: CancelToken | None = None
    progress: Progress | None = None
    export: bool = False
    priority: int = 0
    passing: bool = False


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

    def __init__(self, grid: ChunkGrid, selection: Selection) -> None:
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
