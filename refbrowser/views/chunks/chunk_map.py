"""The chunks of an array as a map: rows and columns of cells, and what is known of each as columns.

Kind, size, URL, change, and what became of reads; made in steps, for grids of any size.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.findings.chunk_table import coords_of
from refbrowser.engine.reading.chunk_log import ArrayLog, ReadState, marks_of
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.io.access.access import storage_url
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.model.values import ChunkManifest
from refbrowser.views.chunks.chunk_audit import ChunkAudit
from refbrowser.views.plot.slicing import SliceState, dimension_names

if TYPE_CHECKING:
    from refbrowser.io.locks.lock_watch import LockWatch
    from refbrowser.references.document.document import Document


class Change(IntEnum):
    """What edits did to a chunk's reference."""

    SAME = 0
    CHANGED = 1
    ADDED = 2
    REMOVED = 3


def manifest_in(manifest: ChunkManifest | None, document: Document) -> ExpansionManifest | None:
    """Return the references that the chunks of an array have in another state of its document."""
    if not isinstance(manifest, ExpansionManifest):
        return None
    return replace(manifest, expansion=document.expansion)


def changes(
    now: ExpansionManifest, before: ExpansionManifest, coords: npt.NDArray[np.int64], here: ReferenceColumns
) -> npt.NDArray[np.uint8]:
    """Return the `Change` of each chunk at `coords`; `here` are its references now."""
    there = before.columns(coords)
    differs = here.kind != there.kind
    ranged = (here.kind == ReferenceKind.RANGE) | (here.kind == ReferenceKind.WHOLE)
    differs |= ranged & ((here.offset != there.offset) | (here.length != there.length))
    rows = np.flatnonzero(ranged & ~differs)
    differs[rows] |= _other_urls(here, there, rows)
    inline = np.flatnonzero((here.kind == ReferenceKind.INLINE) & ~differs)
    for row in inline[~_same_entries(now, before, coords[inline])].tolist():
        differs[row] = here.inline[row] != there.inline[row]
    found = differs.astype(np.uint8)
    found[differs & (there.kind == ReferenceKind.MISSING)] = Change.ADDED
    found[differs & (here.kind == ReferenceKind.MISSING)] = Change.REMOVED
    return found


def _other_urls(
    here: ReferenceColumns, there: ReferenceColumns, rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return which rows have another URL; each pair of URLs is compared once."""
    if not len(rows):
        return np.zeros(0, bool)
    pairs = here.url[rows].astype(np.int64) * len(there.urls) + there.url[rows]
    distinct, numbers = np.unique(pairs, return_inverse=True)
    differs = [
        here.urls[pair // len(there.urls)] != there.urls[pair % len(there.urls)] for pair in distinct.tolist()
    ]
    return np.array(differs, bool)[numbers]


def _same_entries(
    now: ExpansionManifest, before: ExpansionManifest, coords: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return which chunks are certainly the same entry of the text that was read."""
    mine, other = now.expansion.document.refs, before.expansion.document.refs
    if mine.is_left or other.is_left:
        return np.zeros(len(coords), bool)
    if mine.table.origin is not other.table.origin or not len(coords):
        return np.zeros(len(coords), bool)
    slots = mine.find_chunks(now.prefix, coords, now.encoding)
    same = (slots == other.find_chunks(before.prefix, coords, before.encoding)) & (slots >= 0)
    for refs in (mine, other):
        if refs.replaced:
            same &= ~np.isin(slots, np.fromiter(refs.replaced, np.int64, len(refs.replaced)))
    return same


Ints = npt.NDArray[np.int64]

#: So many chunks of one dimension stand in one row; more are wrapped.
ONE_ROW = 48
#: A wrapped map is about so many times wider than high.
_WIDE = 4
#: A dimension with so many times more chunks than the other runs to the right, whatever their order.
_LONG = 4


@dataclass(frozen=True, slots=True)
class ChunkLayout:
    """A map of chunks: two dimensions of the grid, or one that is wrapped into rows like text.

    Attributes
    ----------
    slice
        Axes and indices as of a plot, counted in chunks: `slice.shape` is the grid's.
    columns
        Of the map.
    """

    slice: SliceState
    columns: int

    @classmethod
    def of(cls, state: SliceState) -> ChunkLayout:
        """Return the map of a slice of a grid."""
        if not state.shape:
            return cls(state, 1)
        across = state.shape[state.x]
        return cls(state, across if state.y is not None else wrapped_columns(across))

    @property
    def is_wrapped(self) -> bool:
        """Whether one dimension goes on in the next row."""
        return self.slice.y is None

    @property
    def rows(self) -> int:
        """Of the map."""
        if self.slice.y is not None:
            return self.slice.shape[self.slice.y]
        return ceil(self.size / self.columns) if self.columns else 0

    @property
    def size(self) -> int:
        """Number of chunks on the map."""
        state = self.slice
        across = state.shape[state.x] if state.shape else 1
        return across if state.y is None else across * state.shape[state.y]

    def with_slice(self, state: SliceState) -> ChunkLayout:
        """Return the map of another slice of the same grid."""
        return replace(self, slice=state) if state.axes == self.slice.axes else ChunkLayout.of(state)

    def coords_at(self, row: int, column: int) -> tuple[int, ...] | None:
        """Return the coordinates of the chunk in a cell, or None where there is none."""
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            return None
        state = self.slice
        if not state.shape:
            return ()
        coords = list(state.indices)
        if state.y is not None:
            coords[state.y], coords[state.x] = row, column
            return tuple(coords)
        number = row * self.columns + column
        if number >= state.shape[state.x]:
            return None
        coords[state.x] = number
        return tuple(coords)

    def cell_of(self, coords: Sequence[int]) -> tuple[int, int] | None:
        """Return row and column of a chunk, or None where it is in another slice."""
        state = self.slice
        if len(coords) != len(state.shape) or any(coords[at] != state.indices[at] for at in state.sliders):
            return None
        if not state.shape:
            return 0, 0
        if state.y is not None:
            return coords[state.y], coords[state.x]
        return divmod(coords[state.x], self.columns)

    def coords(self, rows: Ints, columns: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Return the coordinates of the chunks in all cells of rows and columns, in C order, shape (n, ndim).

        The second value tells which cells have a chunk, shape (rows, columns); only those have coordinates.
        """
        state = self.slice
        held = np.ones((len(rows), len(columns)), bool)
        if not state.shape:
            return np.zeros((held.size, 0), np.int64), held
        if state.y is None:
            numbers = rows[:, None] * self.columns + columns[None, :]
            held = numbers < state.shape[state.x]
            found = np.tile(np.array(state.indices, np.int64), (int(held.sum()), 1))
            found[:, state.x] = numbers[held]
            return found, held
        found = np.tile(np.array(state.indices, np.int64), (held.size, 1))
        found[:, state.y] = np.repeat(rows, len(columns))
        found[:, state.x] = np.tile(columns, len(rows))
        return found, held

    def cells(self, coords: Ints) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
        """Return row and column of those chunks that are on the map, and which these are."""
        state = self.slice
        on_map = np.ones(len(coords), bool)
        for axis in state.sliders:
            on_map &= coords[:, axis] == state.indices[axis]
        here = coords[on_map]
        if not state.shape:
            nothing = np.zeros(len(here), np.int64)
            return nothing, nothing, on_map
        if state.y is not None:
            return here[:, state.y], here[:, state.x], on_map
        rows, columns = np.divmod(here[:, state.x], self.columns)
        return rows, columns, on_map

    def boxes(self, parts: Sequence[range]) -> list[tuple[int, int, int, int]]:
        """Return the cells of a part of the grid (a range of chunks for each dimension) as boxes.

        A box is (top, bottom, left, right), ends excluded; there is none where the part is in another slice.
        """
        state = self.slice
        if any(state.indices[axis] not in parts[axis] for axis in state.sliders):
            return []
        if not state.shape:
            return [(0, 1, 0, 1)]
        across = parts[state.x]
        if not len(across):
            return []
        if state.y is not None:
            down = parts[state.y]
            return [(down.start, down.stop, across.start, across.stop)] if len(down) else []
        (top, left), (last, right) = divmod(across.start, self.columns), divmod(across.stop - 1, self.columns)
        if top == last:
            return [(top, top + 1, left, right + 1)]
        boxes = [(top, top + 1, left, self.columns)]
        if last > top + 1:
            boxes.append((top + 1, last, 0, self.columns))
        return [*boxes, (last, last + 1, 0, right + 1)]


def wrapped_columns(count: int) -> int:
    """Return how many chunks of one dimension stand in a row: a round number, so that rows can be counted."""
    if count <= ONE_ROW:
        return max(1, count)
    wanted = (count * _WIDE) ** 0.5
    power = 10
    while True:
        for step in (1, 2, 5):
            if step * power >= wanted:
                return step * power
        power *= 10


def first_chunk_slice(node: ArrayNode, before: SliceState | None = None) -> SliceState:
    """Return the slice of a node's chunk grid to begin with.

    Its axes are the two dimensions with the most chunks, in their order unless one is much longer; a single
    dimension of more than one chunk is wrapped. Where `before` is of the same grid it stays.
    """
    shape, names = node.grid.grid_shape, dimension_names(node)
    if before is not None and before.shape == shape and before.names == names:
        return before
    return long_axes_slice(shape, names, (0,) * len(shape))


def long_axes_slice(shape: tuple[int, ...], names: tuple[str, ...], indices: tuple[int, ...]) -> SliceState:
    """Return the slice of a grid of chunks whose axes are as `first_chunk_slice` chooses them."""
    long = sorted(
        (axis for axis, count in enumerate(shape) if count > 1), key=lambda axis: (shape[axis], axis)
    )
    if len(long) < 2:
        return SliceState(shape, names, long[0] if long else max(0, len(shape) - 1), None, indices)
    y, x = sorted(long[-2:])
    # Neighbours, such as y and x, are known the way they are in the plot; others are not.
    if shape[y] >= (_LONG if x == y + 1 else 2) * shape[x]:
        y, x = x, y
    return SliceState(shape, names, x, y, indices)


def with_axes_of(state: SliceState, plotted: SliceState) -> SliceState:
    """Return a slice of a chunk grid with the axes of the array's plot.

    Along an axis with a single chunk a map would show nothing: then it keeps its own.
    """
    if not plotted.axes or any(state.shape[axis] < 2 for axis in plotted.axes):
        return state
    turned = state.with_x(plotted.x)
    return turned if plotted.y is None else turned.with_y(plotted.y)


#: In `ChunkMapValues.kind` beside `ReferenceKind`: there is no such chunk; it was not looked at yet.
NOTHING, UNKNOWN = 254, 255
#: In `ChunkMapValues.url` beside positions: no URL; one of those that are too many to be told apart.
NO_URL, OTHER_URL = -1, -2
#: In `ChunkMapValues.audited`: it was read; positions of codes begin behind it.
READ_BY_AUDIT, FINDINGS = 1, 2
#: URLs that are told apart.
URLS_KEPT = 1 << 16
#: Chunks that are looked at in one go; between two the work can be cancelled, or shown.
BLOCK = 1 << 15
#: A larger map is first looked at in so many places, to show something at once.
FIRST_LOOK = 1 << 13


@dataclass(frozen=True, slots=True)
class MapSource:
    """Where the values of a map come from.

    Attributes
    ----------
    manifest
        The references as they are now.
    saved
        Those of the saved document; None where nothing is edited.
    log
        What became of reads.
    locked
        Tells which files are not those of the lock.
    """

    manifest: ChunkManifest
    saved: ExpansionManifest | None = None
    log: ArrayLog | None = None
    locked: LockWatch | None = None


def map_steps(layout: ChunkLayout) -> tuple[int, int]:
    """Return of how many rows and columns a map of the whole layout takes one, so that it can be held."""
    down, across = 1, 1
    while ceil(layout.rows / down) * ceil(layout.columns / across) > LIMITS.map_chunks:
        if layout.rows / down >= layout.columns / across:
            down += max(1, down // 8)
        else:
            across += max(1, across // 8)
    return down, across


class ChunkMapValues:
    """Columns of the chunks in some cells of a layout, filled block by block.

    Only one thread at a time may fill or colour it: `lock` is for that.

    Attributes
    ----------
    rows, columns
        Cells of the layout; a step above 1 leaves chunks out.
    kind
        `ReferenceKind`, `NOTHING` or `UNKNOWN`, uint8, shape (rows, columns), as all others.
    length
        Bytes, int64; -1 where that is not known.
    url
        Position in `urls`, `NO_URL` or `OTHER_URL`, int32.
    change
        `Change`, uint8.
    state
        `ReadState`, uint8.
    seconds
        Time to read, float32; NaN where it is not known.
    stale
        Whether each of `urls` is of a file that is not the one of the lock; the last is for `OTHER_URL`.
    audited
        What an audit tells, uint8: 0 nothing, 1 that it was read, from `FINDINGS` on a finding (a position in
        `audit.codes`). Of which chunk files were asked about, `url` tells.
    """

    def __init__(self, source: MapSource, layout: ChunkLayout, rows: range, columns: range) -> None:
        self.source, self.layout = source, layout
        self.rows, self.columns = rows, columns
        shape = (len(rows), len(columns))
        self.kind = np.full(shape, UNKNOWN, np.uint8)
        self.length = np.full(shape, -1, np.int64)
        self.url = np.full(shape, NO_URL, np.int32)
        self.change = np.zeros(shape, np.uint8)
        self.state = np.zeros(shape, np.uint8)
        self.seconds = np.full(shape, np.nan, np.float32)
        self.audited = np.zeros(shape, np.uint8)
        self.audit = ChunkAudit()
        self.urls: list[str] = []
        self.stale = np.zeros(1, bool)
        self.lock = threading.Lock()
        self.filled = 0
        self._numbers: dict[str, int] = {}
        self._blocks = list(self._make_blocks())
        self._next, self._looked = 0, False
        self._log_position = 0
        self._stale_turns = 0

    @classmethod
    def whole(cls, source: MapSource, layout: ChunkLayout) -> ChunkMapValues:
        """Return the empty values of a whole layout, with steps where it is too large to be held."""
        down, across = map_steps(layout)
        return cls(source, layout, range(0, layout.rows, down), range(0, layout.columns, across))

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.kind.size

    @property
    def is_complete(self) -> bool:
        """Whether every cell was looked at."""
        return self.filled >= self.size

    @property
    def is_sampled(self) -> bool:
        """Whether chunks are left out."""
        return self.rows.step > 1 or self.columns.step > 1

    @property
    def has_news(self) -> bool:
        """Whether the log has entries that were not taken, or other files were found to be stale."""
        log, locked = self.source.log, self.source.locked
        if locked is not None and locked.turns != self._stale_turns:
            return True
        return log is not None and log.position != self._log_position

    def covers(self, rows: range, columns: range) -> bool:
        """Whether all cells from the first to the last of rows and columns lie within."""
        return all(
            not part or (mine.start <= part[0] and part[-1] < mine.stop)
            for mine, part in ((self.rows, rows), (self.columns, columns))
        )

    def read_at(self, row: int, column: int) -> tuple[int, float]:
        """Return `ReadState` and seconds of a cell of the layout, as far as they were taken from the log."""
        down, across = (
            (row - self.rows.start) // self.rows.step,
            (column - self.columns.start) // self.columns.step,
        )
        if not (0 <= down < len(self.rows) and 0 <= across < len(self.columns)):
            return ReadState.NONE, float("nan")
        return int(self.state[down, across]), float(self.seconds[down, across])

    # Filling

    def fill(self, check: Callable[[], object]) -> Iterator[None]:
        """Look at every cell that was not looked at yet; yields after each step, to be shown.

        Parameters
        ----------
        check
            Raises where the work is not wanted any more; what was done stays.
        """
        if not self._looked and self.size > 4 * FIRST_LOOK:
            self._first_look()
            self._looked = True
            yield
        while self._next < len(self._blocks):
            check()
            rows, columns = self._blocks[self._next]
            self._look(rows, columns)
            self._next += 1
            self.filled += len(rows) * len(columns)
            yield

    def _make_blocks(self) -> Iterator[tuple[range, range]]:
        down, across = self.kind.shape
        wide = min(max(1, across), BLOCK)
        high = max(1, BLOCK // wide)
        for top in range(0, down, high):
            for left in range(0, across, wide):
                yield range(top, min(top + high, down)), range(left, min(left + wide, across))

    def _first_look(self) -> None:
        """Look at some cells; those around are taken to be alike until they are looked at."""
        down, across = self.kind.shape
        step = ceil((self.size / FIRST_LOOK) ** 0.5)
        steps = [max(1, min(step, down)), max(1, min(step, across))]
        if down < step:
            steps[1] = ceil(self.size / FIRST_LOOK / down)
        elif across < step:
            steps[0] = ceil(self.size / FIRST_LOOK / across)
        rows, columns = range(0, down, steps[0]), range(0, across, steps[1])
        found, held = self._references(rows, columns)
        for target, column, fallback in (
            (self.kind, found.kind, NOTHING),
            (self.length, found.length, -1),
            (self.url, self._numbered(found), NO_URL),
        ):
            sample = np.full(held.shape, fallback, target.dtype)
            sample[held] = column
            wide = np.repeat(np.repeat(sample, steps[0], axis=0), steps[1], axis=1)
            target[...] = wide[:down, :across]

    def _references(self, rows: range, columns: range) -> tuple[ReferenceColumns, npt.NDArray[np.bool_]]:
        coords, held = self.layout.coords(_at(self.rows, rows), _at(self.columns, columns))
        return self.source.manifest.columns(coords), held

    def _look(self, rows: range, columns: range) -> None:
        coords, held = self.layout.coords(_at(self.rows, rows), _at(self.columns, columns))
        found = self.source.manifest.columns(coords)
        block = (slice(rows.start, rows.stop), slice(columns.start, columns.stop))
        _put(self.kind, block, held, found.kind, NOTHING)
        _put(self.length, block, held, found.length, -1)
        _put(self.url, block, held, self._numbered(found), NO_URL)
        if self.source.saved is not None and isinstance(self.source.manifest, ExpansionManifest):
            _put(self.change, block, held, changes(self.source.manifest, self.source.saved, coords, found), 0)

    def _numbered(self, found: ReferenceColumns) -> npt.NDArray[np.int32]:
        """Return the position of each row's URL in `urls`."""
        present, rows = np.unique(found.url, return_inverse=True)
        numbers = np.full(len(present), NO_URL, np.int32)
        for at, number in enumerate(present.tolist()):
            if number < 0:
                continue
            text = found.urls[number]
            known = self._numbers.get(text)
            if known is None and len(self.urls) < URLS_KEPT:
                known = self._numbers[text] = len(self.urls)
                self.urls.append(text)
            numbers[at] = OTHER_URL if known is None else known
        return numbers[rows] if len(rows) else np.zeros(0, np.int32)

    # The log of reads

    def take_audit(self, audit: ChunkAudit) -> None:
        """Take what an audit tells of the chunks."""
        self.audit = audit
        self.audited[...] = 0
        grid = self.layout.slice.shape
        for coords, numbers in (
            (coords_of(audit.read, grid), np.full(len(audit.read), READ_BY_AUDIT, np.uint8)),
            (audit.coords, audit.code + np.uint8(FINDINGS)),
        ):
            if len(coords) and coords.shape[1] == len(grid):
                rows, columns, kept = self._cells(coords)
                # Of several findings of a chunk the last one, the worst, stays.
                self.audited[rows, columns] = numbers[kept]

    def audited_at(self, row: int, column: int) -> str:
        """Return in words what an audit found in a cell of the layout; empty where nothing."""
        down, across = (
            (row - self.rows.start) // self.rows.step,
            (column - self.columns.start) // self.columns.step,
        )
        if not (0 <= down < len(self.rows) and 0 <= across < len(self.columns)):
            return ""
        number = int(self.audited[down, across]) - FINDINGS
        return self.audit.title(number) if 0 <= number < len(self.audit.codes) else ""

    def _cells(self, coords: Ints) -> tuple[Ints, Ints, Ints]:
        """Return positions in the columns of those of the chunks that are among them, and which these are."""
        rows, columns, on_map = self.layout.cells(coords)
        rows, columns = (
            (rows - self.rows.start) // self.rows.step,
            (columns - self.columns.start) // self.columns.step,
        )
        inside = (rows >= 0) & (rows < len(self.rows)) & (columns >= 0) & (columns < len(self.columns))
        return rows[inside], columns[inside], np.flatnonzero(on_map)[inside]

    def take_news(self) -> None:
        """Take what became of chunks since the last time; not what was read before an edit changed it."""
        self._take_stale()
        log = self.source.log
        if log is None:
            return
        entries = log.since(self._log_position)
        self._log_position = entries.position
        rows, columns, kept = self._cells(entries.coords)
        if not len(kept):
            return
        same = marks_of(self.source.manifest.columns(entries.coords[kept])) == entries.marks[kept]
        kept, rows, columns = kept[same], rows[same], columns[same]
        # Of several entries of a cell the last one stays.
        self.state[rows, columns] = entries.states[kept]
        timed = ~np.isnan(entries.seconds[kept]) & (entries.states[kept] == ReadState.DONE)
        self.seconds[rows[timed], columns[timed]] = entries.seconds[kept][timed]

    def _take_stale(self) -> None:
        locked = self.source.locked
        if locked is None:
            return
        self._stale_turns = locked.turns
        stale = locked.stale_urls
        found = [storage_url(url) in stale for url in self.urls] if stale else [False] * len(self.urls)
        # Chunks of files that are not told apart are not shown as right where one of these may be stale.
        rest = len(self.urls) >= URLS_KEPT and bool(stale - {storage_url(url) for url in self.urls})
        self.stale = np.array([*found, rest])


def _at(cells: range, part: range) -> npt.NDArray[np.int64]:
    return cells.start + np.arange(part.start, part.stop, part.step, dtype=np.int64) * cells.step


def _put(
    target: npt.NDArray[Any],
    block: tuple[slice, slice],
    held: npt.NDArray[np.bool_],
    values: npt.NDArray[Any],
    nothing: int,
) -> None:
    if held.all():
        target[block] = values.reshape(held.shape)
    else:
        part = np.full(held.shape, nothing, target.dtype)
        part[held] = values
        target[block] = part
