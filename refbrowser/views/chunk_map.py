"""What is known of the chunks on a map, as columns: kind, size, URL, change, and what became of reads.

Everything comes from the references and from the log of reads: nothing is fetched.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.chunk_log import ArrayLog, ReadState, marks_of
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.limits import LIMITS
from refbrowser.model.manifest import ChunkManifest
from refbrowser.model.reference import ReferenceColumns
from refbrowser.views.chunk_changes import changes
from refbrowser.views.chunk_layout import ChunkLayout

#: In `ChunkMapValues.kind` beside `ReferenceKind`: there is no such chunk; it was not looked at yet.
NOTHING, UNKNOWN = 254, 255
#: In `ChunkMapValues.url` beside positions: no URL; one of those that are too many to be told apart.
NO_URL, OTHER_URL = -1, -2
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
    """

    manifest: ChunkManifest
    saved: ExpansionManifest | None = None
    log: ArrayLog | None = None


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
        self.urls: list[str] = []
        self.lock = threading.Lock()
        self.filled = 0
        self._numbers: dict[str, int] = {}
        self._blocks = list(self._make_blocks())
        self._next, self._looked = 0, False
        self._log_position = 0

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
        """Whether the log has entries that were not taken."""
        log = self.source.log
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

    def take_news(self) -> None:
        """Take what became of chunks since the last time; not what was read before an edit changed it."""
        log = self.source.log
        if log is None:
            return
        entries = log.since(self._log_position)
        self._log_position = entries.position
        rows, columns, on_map = self.layout.cells(entries.coords)
        rows, columns = (
            (rows - self.rows.start) // self.rows.step,
            (columns - self.columns.start) // self.columns.step,
        )
        inside = (rows >= 0) & (rows < len(self.rows)) & (columns >= 0) & (columns < len(self.columns))
        kept = np.flatnonzero(on_map)[inside]
        if not len(kept):
            return
        rows, columns = rows[inside], columns[inside]
        same = marks_of(self.source.manifest.columns(entries.coords[kept])) == entries.marks[kept]
        kept, rows, columns = kept[same], rows[same], columns[same]
        # Of several entries of a cell the last one stays.
        self.state[rows, columns] = entries.states[kept]
        timed = ~np.isnan(entries.seconds[kept]) & (entries.states[kept] == ReadState.DONE)
        self.seconds[rows[timed], columns[timed]] = entries.seconds[kept][timed]


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
