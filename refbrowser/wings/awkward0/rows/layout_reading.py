"""Reading rows of layouts: which are wanted, the buffers that many wait for, and what a read shares."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.model.nested import Buffer, BufferPart, BufferReader, NestedFault
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts.layouts import Layout, NumpyLayout, PlainLayout

if TYPE_CHECKING:
    from awkward.contents import Content


Positions = npt.NDArray[np.int64]
#: Rows that lie this close are read as one run.
NEAR = 512
#: Runs of one extent at most: the gaps that are read over grow until there are no more.
MOST_RUNS = 256


@dataclass(frozen=True, eq=False)
class Extent:
    """Runs of rows; what is read of them lies one after the other.

    Attributes
    ----------
    starts, stops
        Of each run, ascending and apart.
    """

    starts: Positions
    stops: Positions

    @classmethod
    def of(cls, start: int, stop: int) -> Extent:
        """Return one run."""
        return cls(np.array([start], np.int64), np.array([stop], np.int64))

    @classmethod
    def covering(cls, starts: Positions, stops: Positions) -> Extent:
        """Return what covers lists from `starts` to `stops` in any order; empty ones aside."""
        filled = stops > starts
        if not filled.any():
            return cls.of(0, 0)
        if not filled.all():
            starts, stops = starts[filled], stops[filled]
        low, high = int(starts.min()), int(stops.max())
        if high - low <= NEAR + int((stops - starts).sum(dtype=np.float64)):
            return cls.of(low, high)
        order = np.argsort(starts, kind="stable")
        starts = starts[order]
        reached = np.maximum.accumulate(stops[order])
        gaps = starts[1:] - reached[:-1]
        near = NEAR
        if np.count_nonzero(gaps > near) >= MOST_RUNS:
            near = max(near, int(np.partition(gaps, -MOST_RUNS)[-MOST_RUNS]))
        cuts = np.flatnonzero(gaps > near)
        return cls(starts[np.append(0, cuts + 1)], reached[np.append(cuts, len(reached) - 1)])

    @classmethod
    def around(cls, positions: Positions) -> Extent:
        """Return what covers single rows in any order."""
        return cls.covering(positions, positions + 1)

    @cached_property
    def size(self) -> int:
        """Rows in all."""
        return int((self.stops - self.starts).sum())

    @property
    def is_single(self) -> bool:
        """Whether it is one run."""
        return len(self.starts) == 1

    @property
    def reach(self) -> int:
        """The row after the last one."""
        return int(self.stops[-1])

    @property
    def runs(self) -> list[tuple[int, int]]:
        """The runs as pairs."""
        return list(zip(self.starts.tolist(), self.stops.tolist(), strict=True))

    def times(self, size: int) -> Extent:
        """Return the rows below, where each of these has `size` of them."""
        return Extent(self.starts * size, self.stops * size)

    def positions(self) -> Positions:
        """Return every row."""
        return np.concatenate([np.arange(start, stop) for start, stop in self.runs])

    def locate(self, rows: npt.NDArray[Any]) -> Positions:
        """Return where each of `rows`, all of them covered, lies in what was read."""
        if self.is_single:
            return rows - self.starts[0]
        before = np.cumsum(self.stops - self.starts) - (self.stops - self.starts)
        run = np.searchsorted(self.starts, rows, "right") - 1
        np.maximum(run, 0, out=run)
        return rows - self.starts[run] + before[run]


class Marks:
    """Arrays of positions by layout, kept up to a number of bytes; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, tuple[object, tuple[npt.NDArray[Any], ...]]] = OrderedDict()
        self._size = 0

    def get(self, layout: object) -> tuple[npt.NDArray[Any], ...] | None:
        """Return what is kept of a layout."""
        with self._lock:
            found = self._kept.get(id(layout))
            if found is None:
                return None
            self._kept.move_to_end(id(layout))
            return found[1]

    def put(self, layout: object, arrays: tuple[npt.NDArray[Any], ...]) -> None:
        """Keep arrays of a layout; those that were not used for the longest time are dropped."""
        size = sum(array.nbytes for array in arrays)
        with self._lock:
            if size > AWKWARD_LIMITS.awkward_marks or id(layout) in self._kept:
                return
            # The layout is held, too: another one must not get its number.
            self._kept[id(layout)] = layout, arrays
            self._size += size
            while self._size > AWKWARD_LIMITS.awkward_marks:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._size -= sum(array.nbytes for array in dropped)


Step = Coroutine[Any, Any, Any]
#: What awkward raises of contents that do not fit into each other.
_UNFIT = (ArithmeticError, AssertionError, LookupError, NotImplementedError, TypeError, ValueError)


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """Asks for elements of a buffer; `await` gives them, run after run."""

    buffer: Buffer
    runs: Sequence[tuple[int, int]]

    def __await__(self) -> Generator[Elements, npt.NDArray[Any], npt.NDArray[Any]]:
        return (yield self)


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Asks for the results of several coroutines; one that fails gives its error."""

    steps: Sequence[Step]

    def __await__(self) -> Generator[Together, list[Any], list[Any]]:
        return (yield self)


async def all_of(*steps: Step) -> list[Any]:
    """Return the results of coroutines that go on side by side.

    Raises
    ------
    RefbrowserError
        Of the first that failed.
    """
    results = await Together(steps)
    for result in results:
        if isinstance(result, RefbrowserError):
            raise result
    return results


@dataclass(slots=True, eq=False)
class _Task:
    """A coroutine that was started, and whom its result is for."""

    step: Step
    above: _Task | None = None
    place: int = 0
    waits_for: int = 0
    results: list[Any] = field(default_factory=list)
    value: Any = None


def run(step: Step, reader: BufferReader) -> Any:
    """Return the result of a coroutine.

    Raises
    ------
    RefbrowserError, Cancelled
        As the coroutine or the reader.
    """
    first = _Task(step)
    tasks = [first]
    ready, waiting = [first], list[tuple[_Task, Elements]]()
    try:
        while True:
            while ready:
                task = ready.pop()
                asked = _next(task)
                if isinstance(asked, Elements):
                    waiting.append((task, asked))
                elif isinstance(asked, Together):
                    below = [_Task(each, task, place) for place, each in enumerate(asked.steps)]
                    task.waits_for, task.results = len(below), [None] * len(below)
                    task.value = task.results
                    tasks += below
                    ready += reversed(below) if below else [task]
                elif task.above is None:
                    if isinstance(task.value, RefbrowserError):
                        raise task.value
                    return task.value
                else:
                    above = task.above
                    above.results[task.place] = task.value
                    above.waits_for -= 1
                    if not above.waits_for:
                        ready.append(above)
            _read(waiting, reader)
            ready = [task for task, _ in reversed(waiting)]
            waiting = []
    finally:
        for task in tasks:
            task.step.close()


def _next(task: _Task) -> Any:
    """Go on with a task; returns what it asks for, or None where it has ended."""
    value, task.value = task.value, None
    try:
        if isinstance(value, RefbrowserError):
            return task.step.throw(value)
        return task.step.send(value)
    except StopIteration as end:
        task.value = end.value
    except RefbrowserError as error:
        task.value = error
    except _UNFIT as error:
        message = f"values of this kind cannot be held: {quoted(error)}"
        task.value = RefbrowserError(ErrorKind.SCHEMA, message)
    return None


def _read(waiting: Sequence[tuple[_Task, Elements]], reader: BufferReader) -> None:
    """Give each task what it waits for."""
    parts = [BufferPart(asked.buffer, *run) for _, asked in waiting for run in asked.runs]
    answers = iter(reader.read_all(parts))
    for task, asked in waiting:
        found: list[Any] = [next(answers) for _ in asked.runs]
        failed = next((each for each in found if isinstance(each, RefbrowserError)), None)
        task.value = failed or (found[0] if len(found) == 1 else np.concatenate(found))


#: Items of an index that are looked at together.
BLOCK = 1 << 20
#: Makes rows of one kind of layout: the read, the layout, the rows, and where.
Reader = Callable[["Parts", Any, Extent, "Spot"], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Spot:
    """Where in the values a layout is read.

    Attributes
    ----------
    path
        Fields and possibilities of unions above.
    fields
        Names of fields that alone are wanted of the records below, the next one first.
    turns
        Links that were followed on the way.
    depth
        Layouts above, from the last link on.
    """

    path: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    turns: int = 0
    depth: int = 0

    def below(self) -> Spot:
        """Return the spot one level further down."""
        return replace(self, depth=self.depth + 1)

    def named(self, name: str) -> Spot:
        """Return the spot of a field or possibility."""
        return replace(self, path=(*self.path, name), depth=self.depth + 1)

    def chosen(self) -> Spot:
        """Return the spot of the field that alone is wanted."""
        return replace(self, fields=self.fields[1:], depth=self.depth + 1)

    def turned(self) -> Spot:
        """Return the spot behind a link."""
        return replace(self, turns=self.turns + 1, depth=0)


@dataclass(slots=True, eq=False)
class Parts:
    """One read of rows.

    Attributes
    ----------
    readers
        What reads each kind of layout.
    by_number
        Layout of each expression, for links.
    marks
        Positions that were summed up before.
    turns
        Links that are followed at most, one after the other.
    faults
        What could not be read, so far.
    """

    readers: Mapping[type[Layout], Reader]
    by_number: Mapping[int, Layout]
    marks: Marks
    turns: int = AWKWARD_LIMITS.awkward_turns
    faults: list[NestedFault] = field(default_factory=list)
    _visits: int = 0
    _bytes: int = 0

    async def content(self, layout: Layout, extent: Extent, spot: Spot) -> Content:
        """Return rows of a layout, one entry for each row of `extent`.

        Raises
        ------
        RefbrowserError
            They cannot be read.
        """
        self._visit(layout, spot)
        return await self.readers[type(layout)](self, layout, extent, spot)

    def _visit(self, layout: Layout, spot: Spot) -> None:
        self._visits += 1
        if self._visits > AWKWARD_LIMITS.awkward_visits:
            message = f"more than {AWKWARD_LIMITS.awkward_visits} nodes would be read"
            raise RefbrowserError(ErrorKind.BUDGET, message, place_of(layout))
        if spot.depth > AWKWARD_LIMITS.awkward_depth:
            message = f"values nested more than {AWKWARD_LIMITS.awkward_depth} deep are not read"
            raise RefbrowserError(ErrorKind.BUDGET, message, place_of(layout))

    def note(self, spot: Spot, error: RefbrowserError) -> None:
        """Remember that values cannot be read."""
        if len(self.faults) < AWKWARD_LIMITS.awkward_faults:
            self.faults.append(NestedFault("/".join(spot.path), again(error)))

    async def elements(self, layout: NumpyLayout, extent: Extent) -> npt.NDArray[Any]:
        """Return elements of a basic array.

        Raises
        ------
        RefbrowserError
            `E_BUDGET`: too many bytes would be read; or as the reader.
        """
        buffer = layout.buffer
        if not extent.size:
            return np.empty((0, *buffer.dtype.shape), buffer.dtype.base)
        if extent.reach > buffer.count:
            raise beyond(layout, extent.reach, buffer.count)
        self.hold(layout, extent.size * buffer.dtype.itemsize)
        return await Elements(buffer, extent.runs)

    def hold(self, layout: Layout, size: int) -> None:
        """Note that bytes are going to be held for the rows.

        Raises
        ------
        RefbrowserError
            `E_BUDGET`: they are too many.
        """
        self._bytes += size
        if self._bytes > AWKWARD_LIMITS.awkward_rows:
            self._bytes -= size
            message = f"more than {AWKWARD_LIMITS.awkward_rows} bytes would be read together"
            raise RefbrowserError(ErrorKind.BUDGET, message, place_of(layout), "read fewer rows at a time")

    async def integers(self, layout: Layout, extent: Extent) -> Positions:
        """Return items of a layout of integers, native 64 bit; of more than one dimension as they are.

        Raises
        ------
        RefbrowserError
            `E_SCHEMA`: they are not integers, or too large for any position.
        """
        if isinstance(layout, NumpyLayout):
            values = await self.elements(layout, extent)
        elif isinstance(layout, PlainLayout):
            values = _plain_integers(layout)[extent.positions()]
        else:
            values = _as_numpy(layout, await self.content(layout, extent, Spot()))
        if values.dtype.kind not in "iu":
            raise wrong(layout, f"integers are expected, not {values.dtype}")
        is_long = values.dtype.kind == "u" and values.dtype.itemsize == 8 and len(values) > 0
        if is_long and int(values.max()) > np.iinfo(np.int64).max:
            raise wrong(layout, "a position is beyond any length")
        return values.astype(np.int64, copy=False)

    async def looked_at(self, index: Layout, start: int, stop: int) -> Positions:
        """Return items of an index that are only looked at: they do not count as read for the rows."""
        return await Parts(self.readers, self.by_number, self.marks).flat(index, Extent.of(start, stop))

    async def flat(self, layout: Layout, items: Extent) -> Positions:
        """Return items, counted over all dimensions, of a layout of integers."""
        if not isinstance(layout, NumpyLayout) or not layout.buffer.dtype.shape:
            return await self.integers(layout, items)
        size = prod(layout.buffer.dtype.shape)
        if not size:
            return np.zeros(0, np.int64)
        if (items.starts % size).any() or (items.stops % size).any():
            raise wrong(layout, "the shapes of indexes differ")
        rows = Extent(items.starts // size, items.stops // size)
        return (await self.integers(layout, rows)).reshape(-1)


def items_of(index: Layout) -> int:
    """Return the items of one row of an index."""
    return prod(index.buffer.dtype.shape) if isinstance(index, NumpyLayout) else 1


def outer_shape(index: Layout, extent: Extent) -> tuple[tuple[int, ...], Extent]:
    """Return the shape of one row of an index, and which items over all its dimensions some rows take."""
    inner = index.buffer.dtype.shape if isinstance(index, NumpyLayout) else ()
    return inner, extent.times(prod(inner))


def _plain_integers(layout: PlainLayout) -> npt.NDArray[Any]:
    values = layout.value
    if not isinstance(values, list | tuple) or not all(type(value) is int for value in values):
        raise wrong(layout, "a list of integers is expected")
    try:
        return np.array(values, np.int64)
    except OverflowError:
        raise wrong(layout, "a position is beyond any length") from None


def _as_numpy(layout: Layout, values: Any) -> npt.NDArray[Any]:
    import awkward

    try:
        return np.asarray(awkward.to_numpy(values, allow_missing=False))
    except (ValueError, TypeError):
        raise wrong(layout, "integers are expected") from None


def place_of(layout: Layout) -> Place:
    """Return where a layout is."""
    return layout.buffer.place if isinstance(layout, NumpyLayout) else Place(field=layout.key)


def again(error: RefbrowserError) -> RefbrowserError:
    """Return an error that was raised before, free of what it held then."""
    return error.at(error.place)


def wrong(layout: Layout, message: str) -> RefbrowserError:
    """Return the error that a layout does not hold what it must."""
    name = f"{layout.function}: " if layout.function else ""
    return RefbrowserError(ErrorKind.SCHEMA, f"{name}{message}", place_of(layout))


def beyond(layout: Layout, reach: int, length: int) -> RefbrowserError:
    """Return the error that something points to a row that is not there."""
    name = layout.function or layout.key
    message = f"row {reach - 1} of {name} is requested, and its length is {length}"
    return RefbrowserError(ErrorKind.SCHEMA, message, place_of(layout))
