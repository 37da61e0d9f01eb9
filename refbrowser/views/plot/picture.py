"""One read of a slice while it fills: values, and the state of each chunk that is part of it."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.plan import ViewPlan

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access
    from refbrowser.model.reference import ReferenceColumns

#: What is said of values that came from a stale file.
STALE_NAME = "changed since the lock"
#: Errors that are kept with their chunk; more are only counted.
KEPT_ERRORS = 1_000


class ChunkState(IntEnum):
    """What a chunk of a picture shows."""

    PENDING = 0
    DONE = 1
    MISSING = 2
    FAILED = 3
    #: It is not stored, and what it holds is a value to readers of its format (`fill_is_value`).
    FILLED = 4


#: The state of what is made of several chunks is that of the one that comes last here.
_SEVERITY = [ChunkState.PENDING, ChunkState.DONE, ChunkState.FILLED, ChunkState.MISSING, ChunkState.FAILED]
_VALUED = np.array([state in (ChunkState.DONE, ChunkState.FILLED) for state in sorted(ChunkState)])


def have_values(states: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Return which chunks show values: those that came, and those not stored whose fill value is one."""
    return np.asarray(_VALUED[states])


class Picture:
    """The values of one `ViewPlan`, written by workers and read by the view at any time.

    Workers write disjoint parts of `out` and then the chunk's state; a reader looks at the state first, so
    what it takes for done is whole.

    Attributes
    ----------
    plan
        What is read.
    out
        The array that the reader fills, in native byte order, shape of ``plan.selection``.
    values
        The same memory in the order of the axes, ``(y, x)`` or ``(x,)``; the bands of a picture in colour are
        the last one.
    states
        `ChunkState` of each chunk, uint8, one axis per axis of the plot.
    """

    def __init__(self, node: ArrayNode, plan: ViewPlan) -> None:
        self.node = node
        self.plan = plan
        self.out = np.empty(plan.selection.shape, node.known_dtype.newbyteorder("="))
        state = plan.slice
        self.values = state.arranged(self.out)
        dimensions = node.grid.dimensions
        self._dimensions = tuple(dimensions[axis] for axis in state.axes)
        #: Numbers of the chunks touched along each axis, ascending.
        self.chunk_numbers = tuple(
            axis.selected(taken).column() for taken, axis in zip(plan.ranges, self._dimensions, strict=True)
        )
        # As lists: numpy's search leaves the interpreter to others for each chunk that comes, and then waits.
        self._numbers: tuple[list[int], ...] = tuple(numbers.tolist() for numbers in self.chunk_numbers)
        self.states = np.zeros(tuple(len(numbers) for numbers in self.chunk_numbers), np.uint8)
        self.errors: dict[tuple[int, ...], RefbrowserError] = {}
        self.error: BaseException | None = None
        self.finished = False
        self._lock = threading.Lock()
        self._arrived = 0
        #: How many chunks a cell is of: several where bands are in chunks of their own; and those that came.
        self._depth = max(1, plan.chunks // max(1, self.states.size))
        self._came: dict[tuple[int, ...], list[ChunkState]] = {}
        #: Who knows which files are stale, and the references of all chunks.
        self._held: tuple[Access, ReferenceColumns] | None = None
        self._stale: tuple[int, npt.NDArray[np.bool_]] = (0, np.zeros(self.states.shape, bool))

    def hold_against(self, access: Access) -> None:
        """Note of which file each chunk is, before any is read: those of stale files are to be marked."""
        state, shape = self.plan.slice, self.states.shape
        grid = np.indices((*shape, self._depth)).reshape(len(shape) + 1, self.states.size * self._depth)
        at = self.node.grid.chunk_of(state.indices)
        coords = np.tile(np.array(at, np.int64), (grid.shape[1], 1))
        for numbers, axis, cells in zip(self.chunk_numbers, state.axes, grid, strict=False):
            coords[:, axis] = numbers[cells]
        if state.bands is not None:
            coords[:, state.bands.dimension] = grid[-1]
        self._held = access, self.node.manifest.columns(coords)

    @property
    def stale(self) -> npt.NDArray[np.bool_]:
        """Which chunks are of files that are not those of the lock, shaped as `states`."""
        turns = self.stale_turns
        if self._held is not None and turns != self._stale[0]:
            access, columns = self._held
            stale = access.are_stale(columns).reshape(*self.states.shape, self._depth)
            self._stale = turns, np.asarray(stale.any(axis=-1))
        return self._stale[1]

    @property
    def stale_done(self) -> npt.NDArray[np.bool_]:
        """Which of those came with values: these are to be marked, others say already that they have none."""
        return self.stale & (self.states == ChunkState.DONE)

    @property
    def stale_turns(self) -> int:
        """A number that changes whenever `stale` may be something else."""
        locked = None if self._held is None else self._held[0].memory.locked
        return 0 if locked is None else locked.turns

    def is_stale_at(self, position: tuple[int, ...]) -> bool:
        """Tell whether ``values[position]`` is of a file that is not the one of the lock."""
        return bool(self.stale[self._cell(position)])

    @property
    def arrived(self) -> int:
        """How many chunks have come so far; it only grows, so it tells whether anything is new."""
        return self._arrived

    def accept(
        self, coords: tuple[int, ...], state: ChunkState, error: RefbrowserError | None = None
    ) -> None:
        """Note what became of one chunk; its values are in `out` already. Called by workers."""
        cell = tuple(
            bisect_left(numbers, coords[axis])
            for numbers, axis in zip(self._numbers, self.plan.slice.axes, strict=True)
        )
        with self._lock:
            if error is not None and len(self.errors) < KEPT_ERRORS:
                self.errors[cell] = error
            came = self._came.setdefault(cell, [])
            came.append(state)
            if len(came) == self._depth:
                self.states[cell] = max(self._came.pop(cell), key=_SEVERITY.index)
            self._arrived += 1

    def count(self, state: ChunkState) -> int:
        """Return how many chunks are in a state."""
        return int(np.count_nonzero(self.states == state))

    @property
    def has_data(self) -> bool:
        """Whether any chunk shows values."""
        return bool(have_values(self.states).any())

    @property
    def all_done(self) -> bool:
        """Whether every chunk shows values."""
        return bool(have_values(self.states).all())

    @property
    def all_ended(self) -> bool:
        """Whether every chunk came or is missing, and none failed."""
        return bool((have_values(self.states) | (self.states == ChunkState.MISSING)).all())

    def chunk_edges(self, axis: int) -> npt.NDArray[np.float64]:
        """Return the borders between the chunks along an axis of the plot, in indices, cells being centred.

        The first and last are the borders of the picture; with n chunks there are n + 1.
        """
        taken, numbers = self.plan.ranges[axis], self.chunk_numbers[axis]
        inner = self._dimensions[axis].starts(numbers[1:])
        # A border lies between the last value taken of one chunk and the first of the next.
        first = taken.start + -(-(inner - taken.start) // taken.step) * taken.step
        return np.concatenate(
            [[taken.start - taken.step / 2], first - taken.step / 2, [taken[-1] + taken.step / 2]]
        )

    def element_states(
        self, rows: Sequence[npt.NDArray[np.int64]], states: npt.NDArray[np.uint8] | None = None
    ) -> npt.NDArray[np.uint8]:
        """Return the state of the chunk of each value; `rows` are positions in `values` along each axis.

        `states` is an earlier copy of the states; those of now when None.
        """
        return (self.states if states is None else states)[self._cells_of(rows)]

    def element_stale(self, rows: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.bool_]:
        """Return whether each value is of a file that is not the one of the lock, by position as well."""
        return self.stale_done[self._cells_of(rows)]

    def chunk_cells(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Return for each position in `values` along an axis which of the chunks it is in, by `states`."""
        return tuple(
            np.searchsorted(numbers, axis.find(np.arange(taken.start, taken.stop, taken.step)))
            for taken, numbers, axis in zip(
                self.plan.ranges, self.chunk_numbers, self._dimensions, strict=True
            )
        )

    def _cells_of(self, rows: Sequence[npt.NDArray[np.int64]]) -> tuple[npt.NDArray[np.int64], ...]:
        cells = [
            np.searchsorted(numbers, axis.find(taken.start + positions * taken.step))
            for positions, taken, numbers, axis in zip(
                rows, self.plan.ranges, self.chunk_numbers, self._dimensions, strict=True
            )
        ]
        return np.ix_(*cells)

    def cell_span(self, axis: int, first: int, stop: int) -> range:
        """Return the positions in `values` along an axis that belong to the chunks `first` to `stop`."""
        taken, along = self.plan.ranges[axis], self._dimensions[axis]
        numbers = self.chunk_numbers[axis]
        begin = max(0, -(-(along.start(int(numbers[first])) - taken.start) // taken.step))
        end = -(-(along.start(int(numbers[stop - 1]) + 1) - taken.start) // taken.step)
        return range(begin, min(end, len(taken)))

    def position(self, indices: Sequence[int]) -> tuple[int, ...] | None:
        """Return where in `values` the value at (or just before) array indices is, or None outside."""
        found = []
        for index, taken in zip(indices, self.plan.ranges, strict=True):
            position = (index - taken.start + taken.step // 2) // taken.step
            if not 0 <= position < len(taken):
                return None
            found.append(position)
        return tuple(found)

    def has_value_at(self, position: tuple[int, ...]) -> bool:
        """Tell whether ``values[position]`` came, or is what a chunk holds that is not stored."""
        return bool(_VALUED[self.state_at(position)])

    def state_at(self, position: tuple[int, ...]) -> ChunkState:
        """Return the state of the chunk that holds ``values[position]``."""
        return ChunkState(int(self.states[self._cell(position)]))

    def error_at(self, position: tuple[int, ...]) -> RefbrowserError | None:
        """Return why the chunk that holds ``values[position]`` could not be read."""
        return self.errors.get(self._cell(position))

    def _cell(self, position: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(
            int(np.searchsorted(numbers, axis.chunk_of(taken[at])))
            for at, taken, numbers, axis in zip(
                position, self.plan.ranges, self.chunk_numbers, self._dimensions, strict=True
            )
        )

    def chunk_coords(self, indices: Sequence[int]) -> tuple[int, ...]:
        """Return the coordinates of the chunk that holds the value at indices along the axes."""
        full = list(self.plan.slice.indices)
        for axis, index in zip(self.plan.slice.axes, indices, strict=True):
            full[axis] = index
        return self.node.grid.chunk_of(full)

    def sample(self, most: int = 40_000) -> npt.NDArray[Any]:
        """Return at most about `most` of the values that have come, spread evenly, one axis."""
        if not self.values.size:
            return self.values.ravel()
        axes = self.values.shape[: self.states.ndim]
        step = max(1, int((self.values.size / most) ** (1 / max(1, len(axes)))))
        rows = [np.arange(0, size, step, dtype=np.int64) for size in axes]
        taken = self.values[tuple(slice(None, None, step) for _ in rows)]
        if self.all_done:
            return taken.ravel()
        return taken[have_values(self.element_states(rows))].ravel()
