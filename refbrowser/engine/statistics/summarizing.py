"""Statistics of parts of an array: blocks of chunks are read, and counted while the next ones are read.

What could not be read, and what is not stored, is counted, and never taken for a value.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.parts import EndedPart, PartState
from refbrowser.engine.statistics.blocks import Box, blocks_of
from refbrowser.engine.statistics.distribution import Distribution
from refbrowser.engine.statistics.moments import Extremes, Floats, Moments
from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.model.cf import fill_is_value
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access

Mask = npt.NDArray[np.bool_]

#: Elements that are counted together: they are to stay in a processor's cache.
TRACT = 1 << 17
#: Threads that count.
THREADS = 2
#: Errors that are kept.
ERRORS = 5
#: Between two reports of what is known so far, in seconds.
PACE = 0.3


class Cells(Protocol):
    """Which elements count, and how much each weighs."""

    def inside(self, box: Box, numbers: Floats, lost: Mask | None) -> tuple[Mask | None, Mask | None]:
        """Return which elements of a box count, and which are lost; arrays that broadcast to the box.

        Parameters
        ----------
        numbers
            The values, NaN where there are none.
        lost
            Which of them are not known, None for none.

        Returns
        -------
        inside
            None for all. Of what is lost those count that may do so.
        lost
            As given, with what is not known to count because something else could not be read.
        """
        ...

    def weights(self, box: Box) -> Floats | None:
        """Return the weights, an array that broadcasts to the box; None where all weigh the same."""
        ...


@dataclass(frozen=True, slots=True)
class ExtremeValue:
    """The least or the greatest value, and its index in the array: the first one in C order."""

    value: float
    index: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Summary:
    """What is known of the values.

    Attributes
    ----------
    elements
        That count, known or not.
    valid, missing
        Those with a value, and those stored as missing.
    not_stored, failed
        Those in chunks that are not stored, and in chunks that could not be read.
    filled
        Those of `valid` that are not stored, and have the fill value as their value.
    chunks, chunks_failed
        That were read, and of these those that could not be.
    moments, weighted, extremes
        Of each group; `weighted` is None where all weigh the same.
    lost_in
        How many elements of each group are not known.
    least, greatest
        None where there is no value.
    errors
        The first reasons.
    """

    groups: int
    distribution: Distribution
    elements: int = 0
    valid: int = 0
    missing: int = 0
    not_stored: int = 0
    failed: int = 0
    filled: int = 0
    chunks: int = 0
    chunks_failed: int = 0
    weighted: Moments | None = None
    least: ExtremeValue | None = None
    greatest: ExtremeValue | None = None
    errors: list[RefbrowserError] = field(default_factory=list)
    moments: Moments = field(init=False)
    extremes: Extremes = field(init=False)
    lost_in: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.moments = Moments.none(self.groups)
        self.extremes = Extremes.none(self.groups)
        self.lost_in = np.zeros(self.groups, np.int64)

    def take(self, part: _Counted) -> None:
        """Take what was counted of a tract."""
        where = part.groups
        for name in ("elements", "valid", "missing", "not_stored", "failed", "filled"):
            setattr(self, name, getattr(self, name) + getattr(part, name))
        self.moments.at(where).add(part.moments)
        if part.weighted is not None:
            if self.weighted is None:
                self.weighted = Moments.none(self.groups)
            self.weighted.at(where).add(part.weighted)
        low, high = self.extremes.low, self.extremes.high
        low[where] = np.fmin(low[where], part.extremes.low)
        high[where] = np.fmax(high[where], part.extremes.high)
        self.lost_in[where] += part.lost_in
        self.least = _first(self.least, part.least, 1)
        self.greatest = _first(self.greatest, part.greatest, -1)
        if part.values is not None:
            self.distribution.add(part.values)


def _first(one: ExtremeValue | None, other: ExtremeValue | None, sign: int) -> ExtremeValue | None:
    """Return the lesser extreme (with -1 the greater one); of equal ones that which comes first."""
    known = [each for each in (one, other) if each is not None]
    return min(known, key=lambda each: (sign * each.value, each.index), default=None)


@dataclass(slots=True, eq=False)
class _Counted:
    """What was counted of one tract."""

    groups: slice
    moments: Moments
    extremes: Extremes
    lost_in: npt.NDArray[np.int64]
    elements: int = 0
    valid: int = 0
    missing: int = 0
    not_stored: int = 0
    failed: int = 0
    filled: int = 0
    weighted: Moments | None = None
    least: ExtremeValue | None = None
    greatest: ExtremeValue | None = None
    values: Floats | None = None


@dataclass(slots=True, eq=False)
class _Block:
    """A block that was read: its stored elements, and which of them are none."""

    box: Box
    raw: npt.NDArray[Any]
    failed: Mask | None = None
    absent: Mask | None = None
    filled: int = 0
    chunks: int = 0
    chunks_failed: int = 0
    errors: list[RefbrowserError] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Summarizing:
    """One pass over parts of an array.

    Attributes
    ----------
    boxes
        Indices along each dimension, steps of 1; no element is in two of them.
    numbers
        Makes float64 of stored elements, NaN where they have no value; a new array.
    cells
        Which elements count.
    groups
        The indices along `along` that are groups; one where that is None.
    only
        The only values that occur, where that is known: see `Distribution`.
    along
        The dimension whose indices are groups; None: there is one group.
    """

    session: Session
    access: Access
    node: ArrayNode
    boxes: Sequence[Box]
    numbers: Callable[[npt.NDArray[Any]], Floats]
    cells: Cells
    groups: range = range(1)
    only: Floats | None = None
    along: int | None = None

    def run(
        self,
        cancel: CancelToken,
        progress: Callable[..., None] | None = None,
        told: Callable[[Summary], None] | None = None,
    ) -> Summary:
        """Read and count.

        Parameters
        ----------
        told
            Given what is known so far, now and then.

        Raises
        ------
        RefbrowserError
            Nothing of the array can be read; chunks that fail alone are counted.
        """
        summary = Summary(len(self.groups), Distribution(self.only))
        total, looked = sum(self.node.grid.count(Selection(box)) for box in self.boxes), time.monotonic()
        with ThreadPoolExecutor(THREADS, "statistics") as threads:
            waiting: list[Future[_Counted]] = []
            for block in self._blocks(cancel):
                # What was counted while this block was read.
                self._take(summary, waiting, cancel)
                summary.chunks += block.chunks
                summary.chunks_failed += block.chunks_failed
                summary.filled += block.filled
                summary.errors += block.errors[: max(0, ERRORS - len(summary.errors))]
                waiting = [
                    threads.submit(self._count, block, tract, summary)
                    for tract in _tracts(block.box, self.along)
                ]
                if progress is not None:
                    progress(min(summary.chunks, total), total)
                if told is not None and time.monotonic() - looked > PACE:
                    looked = time.monotonic()
                    told(summary)
            self._take(summary, waiting, cancel)
        return summary

    def _take(self, summary: Summary, waiting: list[Future[_Counted]], cancel: CancelToken) -> None:
        for future in waiting:
            cancel.check()
            summary.take(future.result())

    # Reading

    def _blocks(self, cancel: CancelToken) -> Iterator[_Block]:
        # One block is read while the one before it is counted: to take new memory for each costs more than
        # to count it.
        memory = [np.zeros(0, np.uint8)] * 2
        boxes = (box for whole in self.boxes for box in blocks_of(self.node, whole))
        for number, box in enumerate(boxes):
            cancel.check()
            size = prod(map(len, box)) * self.node.known_dtype.itemsize
            if size > memory[number % 2].size:
                memory[number % 2] = np.empty(size, np.uint8)
            yield self._read(box, memory[number % 2][:size], cancel)

    def _read(self, box: Box, memory: npt.NDArray[np.uint8], cancel: CancelToken) -> _Block:
        node, selection = self.node, Selection(box)
        raw = memory.view(node.known_dtype.newbyteorder("=")).reshape(selection.shape)
        ended: list[EndedPart] = []
        is_value = fill_is_value(node)

        def note(part: EndedPart) -> None:
            if part.state is not PartState.DONE:
                ended.append(part)

        self.session.read(node, self.access, selection, out=raw, on_part=note, cancel=cancel, passing=True)
        block = _Block(box, raw, chunks=node.grid.count(selection))
        for part in ended:
            place: tuple[Any, ...] = (*part.part.target, ...)
            if part.state is PartState.MISSING and is_value:
                block.filled += raw[place].size
                continue
            name = "absent" if part.state is PartState.MISSING else "failed"
            mask = getattr(block, name)
            if mask is None:
                mask = np.zeros(raw.shape, bool)
                setattr(block, name, mask)
            rows = part.failed
            mask[place] = True if rows is None else rows.reshape(-1, *(1,) * (raw.ndim - 1))
            if part.state is PartState.FAILED:
                block.chunks_failed += 1
                if part.error is not None:
                    block.errors.append(part.error)
        return block

    # Counting

    def _count(self, block: _Block, box: Box, summary: Summary) -> _Counted:
        place = tuple(
            slice(part.start - whole.start, part.stop - whole.start)
            for part, whole in zip(box, block.box, strict=True)
        )
        numbers = self.numbers(block.raw[place])
        absent, failed = (None if each is None else each[place] for each in (block.absent, block.failed))
        lost = absent if failed is None else failed if absent is None else failed | absent
        if lost is not None:
            numbers[lost] = np.nan
        inside, lost_here = self.cells.inside(box, numbers, lost)
        weights = self.cells.weights(box)
        groups = slice(0, 1)
        if self.along is not None:
            groups = slice(
                box[self.along].start - self.groups.start, box[self.along].stop - self.groups.start
            )
        flat = _Flat(box, self.along)
        counted = _Counted(
            groups, Moments.none(0), Extremes.none(0), np.zeros(groups.stop - groups.start, np.int64)
        )
        if lost_here is not None:
            unknown = np.broadcast_to(lost_here, numbers.shape)
            if lost_here is not lost:
                numbers[unknown] = np.nan
            _count_lost(counted, flat, unknown if inside is None else unknown & inside, absent)
        rows, weighed, places = flat.of(numbers), None if weights is None else flat.like(weights), None
        if inside is None:
            counted.elements = numbers.size
        else:
            within = flat.like(inside)
            counted.elements = int(within.sum()) * (1 if len(within) == len(rows) else len(rows))
            if len(within) == 1:
                places = np.flatnonzero(within[0])
                rows = rows[:, places]
                weighed = None if weighed is None else weighed[:, places]
            else:
                rows = np.where(within, rows, np.nan)
        if len(rows) == 1 and np.isnan(rows.min(initial=np.inf)):
            # What is left is counted without another look at what is no number.
            known = np.flatnonzero(~np.isnan(rows[0]))
            rows, places = rows[:, known], known if places is None else places[known]
            weighed = None if weighed is None else weighed[:, known]
        self._count_rows(counted, rows, weighed, summary)
        unknown_count = counted.not_stored + counted.failed
        counted.missing = counted.elements - counted.valid - unknown_count
        self._find_extremes(counted, rows, places, flat, summary)
        return counted

    def _count_rows(self, counted: _Counted, rows: Floats, weighed: Floats | None, summary: Summary) -> None:
        with np.errstate(invalid="ignore", over="ignore"):
            counted.moments = Moments.of(rows)
            counted.extremes = Extremes.of(rows)
            if weighed is not None:
                counted.weighted = Moments.of(rows, weighed)
        counted.valid = int(counted.moments.weight.sum())
        values = rows.ravel()
        if counted.valid != values.size:
            values = values[~np.isnan(values)]
        if summary.distribution.is_full:
            low, high = counted.extremes.low.min(), counted.extremes.high.max()
            summary.distribution.add(values, (float(low), float(high)))
        else:
            counted.values = values

    def _find_extremes(
        self,
        counted: _Counted,
        rows: Floats,
        places: npt.NDArray[np.int64] | None,
        flat: _Flat,
        summary: Summary,
    ) -> None:
        """Find where the extremes are, unless others are known that are as far out already."""
        if not counted.valid:
            return
        low, high = np.nanmin(counted.extremes.low), np.nanmax(counted.extremes.high)
        if _comes_first(summary.least, low, flat.box, 1):
            counted.least = ExtremeValue(float(low), flat.index(rows == low, places))
        if _comes_first(summary.greatest, high, flat.box, -1):
            counted.greatest = ExtremeValue(float(high), flat.index(rows == high, places))


def _comes_first(known: ExtremeValue | None, value: float, box: Box, sign: int) -> bool:
    """Return whether the extreme of a box may be less (with -1 greater) than the known one, or before it."""
    if known is None or sign * value < sign * known.value:
        return True
    # Many arrays have the same least value, such as 0, nearly everywhere.
    return value == known.value and tuple(part.start for part in box) < known.index


def _count_lost(counted: _Counted, flat: _Flat, unknown: Mask, absent: Mask | None) -> None:
    """Count elements of a region that are not known: not stored, or in chunks that could not be read."""
    not_stored = 0 if absent is None else int(np.count_nonzero(unknown & absent))
    lost_in = flat.of(unknown).sum(axis=1)
    counted.lost_in += lost_in
    counted.not_stored, counted.failed = not_stored, int(lost_in.sum()) - not_stored


@dataclass(frozen=True, slots=True)
class _Flat:
    """How a box is laid out as rows: a row for each group, in C order."""

    box: Box
    along: int | None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.box))

    def of(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the values of the box as rows."""
        if self.along is None:
            return values.reshape(1, -1)
        return np.moveaxis(values, self.along, 0).reshape(len(self.box[self.along]), -1)

    def like(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what broadcasts to the box as rows: one where all groups have the same."""
        if self.along is None or values.shape[self.along] != 1:
            return self.of(np.broadcast_to(values, self.shape))
        shape = (*self.shape[: self.along], 1, *self.shape[self.along + 1 :])
        return np.moveaxis(np.broadcast_to(values, shape), self.along, 0).reshape(1, -1)

    def index(self, found: Mask, places: npt.NDArray[np.int64] | None) -> tuple[int, ...]:
        """Return the first index of the array at which something was found."""
        # One row is in C order: its first one is it.
        rows, columns = np.nonzero(found) if len(found) > 1 else (np.zeros(1, int), found.argmax(1))
        if places is not None:
            columns = places[columns]
        along = self.along
        if along is None:
            at = np.unravel_index(columns, self.shape)
        else:
            rest = (*self.shape[:along], *self.shape[along + 1 :])
            others = list(np.unravel_index(columns, rest)) if rest else []
            at = (*others[:along], rows, *others[along:])
        indices = np.stack(at) if at else np.zeros((0, 1), np.int64)
        first = np.lexsort(indices[::-1])[0] if len(indices) else 0
        return tuple(int(each) + part.start for each, part in zip(indices[:, first], self.box, strict=True))


def _tracts(box: Box, along: int | None) -> Iterator[Box]:
    """Yield what is counted together."""
    sides = [len(part) for part in box]
    # The dimension of groups last: each has its means once.
    order = [axis for axis in range(len(sides)) if axis != along]
    for axis in (*order, *(() if along is None else (along,))):
        while prod(sides) > TRACT and sides[axis] > 1:
            sides[axis] = -(-sides[axis] // 2)
    pieces = (
        [range(at, min(at + side, part.stop)) for at in range(part.start, part.stop, side)]
        for part, side in zip(box, sides, strict=True)
    )
    return itertools.product(*pieces)
