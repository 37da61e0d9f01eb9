"""How often numbers of a field occur, collected block by block, in bars or a density."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import frexp
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.nested.plain_rows import content_of, row_type
from refbrowser.engine.nested.rows import read_rows, unread_error
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.nested import NestedRows, NestedValues, TypeKind
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.model.selection import Selection
from refbrowser.views.nested.nested_numbers import (
    NO_NUMBERS,
    FieldChoice,
    FieldNumbers,
    dates_of,
    field_numbers,
    joined,
)
from refbrowser.views.numbers import value_text
from refbrowser.views.plot.levels import finite
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl


#: Bars at most; whole numbers of a smaller range have one each.
BARS_MOST = 80


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Counts of numbers.

    Attributes
    ----------
    edges
        One more than there are bars, rising.
    counts
        Of the numbers in each; the upper edge belongs to the last one alone.
    is_whole
        Whether the numbers are whole: a bar is around one or more of them then.
    """

    edges: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    is_whole: bool

    @property
    def total(self) -> int:
        """How many numbers are counted."""
        return int(self.counts.sum())

    def at(self, place: float) -> int | None:
        """Return the bar at a place on the axis."""
        if not len(self.counts) or not self.edges[0] <= place <= self.edges[-1]:
            return None
        return min(int(np.searchsorted(self.edges, place, "right")) - 1, len(self.counts) - 1)

    def ends(self, number: int) -> tuple[float, float]:
        """Return the least and the greatest number that a bar is of."""
        low, high = float(self.edges[number]), float(self.edges[number + 1])
        return (low + 0.5, high - 0.5) if self.is_whole else (low, high)


NO_BARS = Bars(np.zeros(1), np.zeros(0, np.int64), is_whole=False)


@dataclass(frozen=True, slots=True, eq=False)
class Density:
    """Points in cells.

    Attributes
    ----------
    counts
        Of the points in each cell, shape (across, upwards).
    """

    counts: npt.NDArray[np.int64]

    @property
    def shades(self) -> npt.NDArray[np.float64]:
        """From 0 (none) to 1 (most), by the logarithm of the counts: a single point is seen, too."""
        most = self.counts.max(initial=0)
        if not most:
            return np.zeros(self.counts.shape)
        least = 0.25 if most > 1 else 1.0
        shades = least + (1 - least) * np.log(np.maximum(self.counts, 1)) / max(np.log(float(most)), 1e-9)
        return np.where(self.counts > 0, shades, 0.0)


def density(
    across: npt.NDArray[Any],
    upwards: npt.NDArray[Any],
    view: tuple[tuple[float, float], tuple[float, float]],
    cells: tuple[int, int],
) -> Density:
    """Return how many points are in each cell of what is visible; NaN is nowhere."""
    (left, right), (low, high) = view
    inside = (across >= left) & (across < right) & (upwards >= low) & (upwards < high)
    x = ((across[inside] - left) * (cells[0] / (right - left))).astype(np.int64)
    y = ((upwards[inside] - low) * (cells[1] / (high - low))).astype(np.int64)
    flat = np.minimum(x, cells[0] - 1) * cells[1] + np.minimum(y, cells[1] - 1)
    counts = np.bincount(flat, minlength=cells[0] * cells[1])
    return Density(counts.reshape(cells))


def nearest(
    across: npt.NDArray[Any],
    upwards: npt.NDArray[Any],
    place: tuple[float, float],
    reach: tuple[float, float],
) -> int | None:
    """Return the point nearest to a place, None where none is within reach."""
    dx, dy = (across - place[0]) / reach[0], (upwards - place[1]) / reach[1]
    distances = dx * dx + dy * dy
    if not np.any(distances <= 1):
        return None
    return int(np.nanargmin(distances))


#: Bins at most: many more than bars, so that these fit the range whatever it is.
BINS_MOST = 4096
#: Powers of two below this are no normal numbers any more.
_SMALLEST = -1000


@dataclass(slots=True, eq=False)
class Tally:
    """Counts of numbers; those that are not finite are left out.

    Attributes
    ----------
    count, total, low, high
        How many there are, their sum, the least and the greatest.
    is_whole
        Whether all are whole numbers.
    exponent
        A bin is 2 to the power of it wide, and begins at a multiple of that.
    first, bins
        Which multiple the first bin begins at, and the counts.
    """

    count: int = 0
    total: float = 0.0
    low: float = np.inf
    high: float = -np.inf
    is_whole: bool = True
    exponent: int = 0
    first: int = 0
    bins: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def add(self, numbers: npt.NDArray[Any]) -> None:
        """Count more numbers."""
        known = finite(numbers)
        if not len(known):
            return
        is_first = not self.count
        self.count += len(known)
        self.total += float(known.sum())
        self.low, self.high = min(self.low, float(known.min())), max(self.high, float(known.max()))
        self.is_whole = self.is_whole and bool(np.all(known == np.floor(known)))
        if is_first:
            self.exponent = self._finest()
        while self.exponent < self._least() or self._reach() > BINS_MOST:
            self._widen()
        self._count(known)

    @property
    def mean(self) -> float:
        """The mean of them."""
        return self.total / self.count if self.count else np.nan

    def copy(self) -> Tally:
        """Return the same counts, to be read while these go on."""
        return replace(self, bins=self.bins.copy())

    def bars(self) -> Bars:
        """Return them as bars, each of as many bins as the others."""
        if not self.count:
            return NO_BARS
        per_bar = max(1, -(-len(self.bins) // BARS_MOST))
        padded = np.append(self.bins, np.zeros(-len(self.bins) % per_bar, np.int64))
        counts = padded.reshape(-1, per_bar).sum(axis=1)
        edges = (self.first + per_bar * np.arange(len(counts) + 1, dtype=np.float64)) * 2.0**self.exponent
        # A bar of whole numbers is around them.
        return Bars(edges - 0.5 if self._is_by_ones else edges, counts, self._is_by_ones)

    @property
    def _is_by_ones(self) -> bool:
        return self.is_whole and self.exponent >= 0 and max(abs(self.low), abs(self.high)) < 2**52

    def _finest(self) -> int:
        """Return the exponent that gives the numbers seen so far about as many bins as there may be."""
        found = _power((self.high - self.low or abs(self.low) or 1.0) / BINS_MOST) + 1
        return max(0, found) if self.is_whole else max(found, self._least())

    def _least(self) -> int:
        """Return the exponent below which places of bins would be no exact numbers, or too many."""
        far = _power(max(abs(self.low), abs(self.high))) - 50
        return max(far, _power((self.high - self.low) / BINS_MOST), _SMALLEST)

    def _place(self, number: float) -> int:
        return int(self._places(np.float64(number)))

    def _places(self, numbers: npt.NDArray[np.float64] | np.float64) -> npt.NDArray[np.int64]:
        """Return in which bins numbers are; one below zero is not at zero, however small its quotient."""
        places = np.floor(numbers / 2.0**self.exponent)
        return np.where(numbers < 0, np.minimum(places, -1), places).astype(np.int64)

    def _reach(self) -> int:
        return self._place(self.high) - self._place(self.low) + 1

    def _widen(self) -> None:
        """Let each bin be two."""
        lead = self.first % 2
        padded = np.concatenate([np.zeros(lead, np.int64), self.bins])
        padded = np.append(padded, np.zeros(len(padded) % 2, np.int64))
        self.bins, self.first = padded.reshape(-1, 2).sum(axis=1), (self.first - lead) // 2
        self.exponent += 1

    def _count(self, known: npt.NDArray[np.float64]) -> None:
        first, size = self._place(self.low), self._reach()
        bins = np.bincount(self._places(known) - first, minlength=size).astype(np.int64)
        if len(self.bins):
            start = self.first - first
            bins[start : start + len(self.bins)] += self.bins
        self.first, self.bins = first, bins


def _power(number: float) -> int:
    """Return the least exponent whose power of two is above a number."""
    return frexp(number)[1] if number > 0 else _SMALLEST


@dataclass(slots=True, eq=False)
class FieldTally:
    """What a field holds in any number of rows, in sums.

    Attributes are as those of `FieldNumbers`.
    """

    values: int = 0
    missing: int = 0
    unreadable: int = 0
    numbers: Tally = field(default_factory=Tally)
    lengths: list[Tally] = field(default_factory=list)

    def add(self, found: FieldNumbers) -> None:
        """Count what a field holds in more rows."""
        self.values += found.values
        self.missing += found.missing
        self.unreadable += found.unreadable
        self.numbers.add(found.numbers)
        while len(self.lengths) < len(found.lengths):
            self.lengths.append(Tally())
        for tally, lengths in zip(self.lengths, found.lengths, strict=False):
            tally.add(lengths)

    def copy(self) -> FieldTally:
        """Return the same sums, to be read while these go on."""
        return replace(self, numbers=self.numbers.copy(), lengths=[each.copy() for each in self.lengths])


def tallied(fields: Sequence[FieldNumbers]) -> list[FieldTally]:
    """Return the sums of what fields hold."""
    tallies = [FieldTally() for _ in fields]
    for tally, found in zip(tallies, fields, strict=True):
        tally.add(found)
    return tallies


#: Values that are read unasked; more when the user wants all.
UNASKED = 200_000
#: Values that are held, to be drawn as points.
HELD = LIMITS.view_points
#: Rows of the first block and of the largest one, and values that a block should have.
FIRST_ROWS, MOST_ROWS, BLOCK_VALUES = 256, 1 << 20, 1 << 18
#: What has come is told so often, in seconds.
PAUSE = 0.3
#: Blocks that cannot be read, after which no more are tried.
FAILURES_MOST = 32
#: Errors that other rows have as well: it is of no use to try fewer.
NOT_OF_ROWS = (ErrorKind.BLOCKED, ErrorKind.SOURCE, ErrorKind.IO, ErrorKind.UNSAFE)


@dataclass(frozen=True, slots=True, eq=False)
class Collected:
    """What fields hold in the first rows of an array.

    Attributes
    ----------
    rows, of_rows
        How many rows were read, and how many there are.
    sums
        For each field that was asked for; of all rows that were read.
    fields
        The numbers themselves, as many as a plot holds.
    point_rows
        Of how many of the rows these are.
    skipped, error
        How many of the rows read could not be, and why the first of them.
    """

    rows: int
    of_rows: int
    sums: Sequence[FieldTally]
    fields: Sequence[FieldNumbers]
    point_rows: int
    skipped: int = 0
    error: RefbrowserError | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all rows are in it."""
        return self.rows == self.of_rows


def node_of(
    hierarchy: Hierarchy | None, node: ArrayNode, path: Sequence[str]
) -> tuple[ArrayNode, tuple[str, ...]]:
    """Return the array to read a field from, and which of its fields it is.

    A field that is an array itself is read from that: nothing else is read then.
    """
    whole = (node, tuple(path))
    if hierarchy is None or node.nested is None or not path or any("/" in name for name in path):
        return whole
    found = hierarchy.find("/".join((node.path.rstrip("/"), *path)))
    if not isinstance(found, ArrayNode) or found.nested is None:
        return whole
    return (found, ()) if found.nested.length == node.nested.length else whole


def collect(
    dataset: Dataset,
    node: ArrayNode,
    choices: Sequence[FieldChoice],
    control: JobControl,
    tell: Callable[[Collected], None],
    most: int | None = None,
) -> Collected:
    """Return what fields hold in as many of the first rows as have `most` values; tell what has come.

    Raises
    ------
    RefbrowserError
        No row can be read.
    """
    return _Collector(dataset, node, choices, control, most).run(tell)


@dataclass(slots=True)
class _Collector:
    dataset: Dataset
    node: ArrayNode
    choices: Sequence[FieldChoice]
    control: JobControl
    most: int | None
    parts: list[Sequence[FieldNumbers]] = field(default_factory=list)
    #: Of all rows, once there are more values than are held.
    sums: list[FieldTally] = field(default_factory=list)
    done: int = 0
    point_rows: int = 0
    count: int = 0
    held: int = 0
    skipped: int = 0
    failures: int = 0
    error: RefbrowserError | None = None

    def run(self, tell: Callable[[Collected], None]) -> Collected:
        length, size, told = self.node.rows.length, FIRST_ROWS, time.monotonic()
        while self.done < length and self.failures < FAILURES_MOST:
            if self.most is not None and self.count >= self.most:
                break
            self.control.check()
            stop = min(length, self.done + size)
            count = self._block(self.done, stop)
            if count is None:
                size = max(1, size // 4)
                continue
            self.done = stop
            self.point_rows = stop if not self.sums else self.point_rows
            self.control.progress(self.done, length)
            size = _next_size(size, count)
            if time.monotonic() - told > PAUSE:
                tell(self._collected(length))
                told = time.monotonic()
        if self.error is not None and not self.count and self.skipped == self.done:
            raise self.error
        return self._collected(length)

    def _collected(self, length: int) -> Collected:
        fields: Sequence[FieldNumbers] = [joined(parts) for parts in zip(*self.parts, strict=True)]
        fields = fields or [NO_NUMBERS for _ in self.choices]
        self.parts = [fields]
        sums = [each.copy() for each in self.sums] or tallied(fields)
        return Collected(self.done, length, sums, fields, self.point_rows, self.skipped, self.error)

    def _take(self, found: Sequence[FieldNumbers], count: int) -> None:
        """Hold numbers as long as there is room, and count the others."""
        self.count += count
        if not self.sums and self.held + count <= HELD:
            self.held += count
            self.parts.append(found)
            return
        if not self.sums:
            held = [joined(parts) for parts in zip(*self.parts, strict=True)] or [NO_NUMBERS for _ in found]
            self.parts, self.sums = [held], tallied(held)
        for tally, each in zip(self.sums, found, strict=True):
            tally.add(each)

    def _block(self, start: int, stop: int) -> int | None:
        """Read rows; returns how many values they have, None where fewer rows are to be tried."""
        dataset, found = self.dataset, []
        try:
            for choice in self.choices:
                node, path = node_of(dataset.hierarchy, choice.node, choice.path)
                found.append(field_numbers(self._rows(node, start, stop), start, path))
        except RefbrowserError as error:
            if stop - start > 1 and error.kind not in NOT_OF_ROWS:
                return None
            self.error = self.error or error
            self.skipped += stop - start
            self.failures += 1
            return 0
        count = max(max(len(each.numbers), each.values, sum(map(len, each.lengths))) for each in found)
        self._take(found, count)
        return count

    def _rows(self, node: ArrayNode, start: int, stop: int) -> NestedRows:
        session, access, token = self.dataset.session, self.dataset.access.at_once(), self.control.token
        if node.nested is not None:
            rows = read_rows(session, node, access, start, stop, token)
            error = unread_error(rows, node, start)
            if error is not None:
                raise error
            return rows
        selection = Selection.from_index(slice(start, stop), node.shape)
        values = session.read(node, access, selection, cancel=token)
        return NestedRows(content_of(values, row_type(node, values.shape)))


def _next_size(size: int, count: int) -> int:
    """Return how many rows the next block has: twice as many while these have few values."""
    if count * 2 <= BLOCK_VALUES:
        return min(size * 2, MOST_ROWS)
    return max(1, size // 2) if count > 2 * BLOCK_VALUES else size


def memory_of(values: NestedValues) -> tuple[int, int | None]:
    """Return how many bytes the buffers of an array are, decoded and stored; None where that is not known."""
    buffers = values.buffers
    stored = [buffer.stored for buffer in buffers]
    known = [size for size in stored if size is not None]
    return sum(buffer.nbytes for buffer in buffers), sum(known) if len(known) == len(stored) else None


def number_facts(choice: FieldChoice, found: FieldTally) -> list[tuple[str, str]]:
    """Return least, greatest and mean of the numbers of a field; nothing where there is none."""
    numbers = found.numbers
    if not numbers.count:
        return []
    dates = dates_of(choice.kind)
    ends = (numbers.low, numbers.high, numbers.mean)
    texts = [value_text(each, 6) if dates is None else dates.text(each) for each in ends]
    facts = list(zip(("Least", "Greatest", "Mean"), texts, strict=True))
    # Of a union others of its values are no numbers at all.
    nans = found.values - numbers.count if choice.kind.kind is TypeKind.NUMBER else 0
    return [*facts, ("Not finite", count_text(nans))] if nans > 0 else facts


def length_facts(found: FieldTally) -> list[tuple[str, str]]:
    """Return how many lists there are on each level, and how long they are."""
    facts = []
    for level, lengths in enumerate(found.lengths):
        of = "" if len(found.lengths) == 1 else f"Level {level + 1} "
        facts.append((f"{of}lists".capitalize(), count_text(lengths.count)))
        if lengths.count:
            low, high = count_text(int(lengths.low)), count_text(int(lengths.high))
            facts.append((f"{of}length".capitalize(), low if low == high else f"{low} to {high}"))
            if low != high:
                facts.append((f"{of}mean length".capitalize(), value_text(lengths.mean, 4)))
    return facts
