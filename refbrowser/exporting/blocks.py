"""In which blocks the objects of an export are made, so that its source is read as few times as memory lets.

An *object* is a chunk or a shard of the target. A block is a box of elements that is held decoded: some whole
objects, or a part of one where an object is larger than a block may be. A chunk of the source that reaches
into several blocks is read for each of them; the sides of blocks are chosen so that this is rare. Where it
would still be the rule, the elements go through an intermediate store (`refbrowser.exporting.tasks`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import gcd, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import filled
from refbrowser.engine.reading.parts import EndedPart, Parts, PartState, PartTable, ReadOptions
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.codec_names import without_shards
from refbrowser.exporting.layout import ArrayLayout, reads_elements
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_axes import ChunkAxis
from refbrowser.model.grid import ChunkGrid, ChunkPart, RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access
    from refbrowser.io.cancel import CancelToken


#: Bytes of one block, where smaller ones would have the source read as often.
TASK_BYTES = 16 * 1024 * 1024
#: Objects of one block.
TASK_OBJECTS = 4096
#: Chunks of the source are read at most so many times before an intermediate store is used instead.
MOST_READS = 2.0
#: A smaller block is taken where the source is read this much more often, at most.
NEARLY = 1.05
#: Bytes that one element of an array of objects may take, about.
OBJECT_SIZE = 64
#: Blocks along an axis that are looked at to tell how often chunks are read.
_SAMPLED = 100_000
#: Choices that are kept while the axes are put together.
_KEPT = 256

Box = tuple[slice, ...]


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """The blocks of one array.

    Attributes
    ----------
    objects
        Objects of the target.
    sides
        Elements of a block along each axis: a whole number of objects, or of units within one.
    parted
        Objects are larger than a block: each is made of several.
    reads
        How often a chunk of the source is read, on average, if there is no intermediate store.
    spooled
        An intermediate store is used.
    """

    objects: RegularChunkGrid
    sides: tuple[int, ...]
    parted: bool = False
    reads: float = 1.0
    spooled: bool = False

    @property
    def task_sides(self) -> tuple[int, ...]:
        """Elements that a task makes along each axis."""
        return self.objects.chunk_shape if self.parted else self.sides

    @property
    def tasks(self) -> RegularChunkGrid:
        """The elements that each task makes."""
        return RegularChunkGrid(self.objects.shape, self.task_sides)

    def box(self, task: int) -> Box:
        """Return the elements that a task makes, those over the array's edge too."""
        grid = self.tasks
        coords = np.unravel_index(task, grid.grid_shape) if grid.grid_shape else ()
        return tuple(
            slice(int(at) * side, (int(at) + 1) * side)
            for at, side in zip(coords, grid.chunk_shape, strict=True)
        )

    def boxes(self, task: int) -> Iterator[Box]:
        """Yield the blocks of a task, each within the objects of the array."""
        outer = self._clipped(self.box(task))
        axes = [
            [slice(at, min(at + side, whole.stop)) for at in range(whole.start, whole.stop, side)]
            for whole, side in zip(outer, self.sides, strict=True)
        ]
        yield from product(*axes)

    def coords(self, task: int) -> list[tuple[int, ...]]:
        """Return the coordinates of the objects of a task, in C order."""
        outer = self._clipped(self.box(task))
        axes = [
            range(whole.start // side, -(-whole.stop // side))
            for whole, side in zip(outer, self.objects.chunk_shape, strict=True)
        ]
        return list(product(*axes))

    def _clipped(self, box: Box) -> Box:
        """Return a box without the objects that lie over the edge of the array."""
        ends = [
            count * side
            for count, side in zip(self.objects.grid_shape, self.objects.chunk_shape, strict=True)
        ]
        return tuple(slice(part.start, min(part.stop, end)) for part, end in zip(box, ends, strict=True))


@dataclass(frozen=True, slots=True)
class UnequalPlan:
    """The blocks of an array whose objects are of unequal sides: each object is one.

    Attributes
    ----------
    objects
        Objects of the target.
    tasks
        The objects of each task, as chunks of the grid of objects.
    reads
        How often a chunk of the source is read, on average.
    spooled
        There is no intermediate store.
    """

    objects: ChunkGrid
    tasks: RegularChunkGrid
    reads: float = 1.0
    spooled: bool = False

    @property
    def sides(self) -> tuple[int, ...]:
        """Elements of a block along each axis, at most."""
        return self.objects.largest

    task_sides = sides

    def boxes(self, task: int) -> Iterator[Box]:
        """Yield the blocks of a task, those over the array's edge as long as they are stored."""
        for at in self.coords(task):
            yield object_box(self.objects, at)

    def coords(self, task: int) -> list[tuple[int, ...]]:
        """Return the coordinates of the objects of a task, in C order."""
        at = tuple(map(int, np.unravel_index(task, self.tasks.grid_shape)))
        ends = zip(self.tasks.origin(at), self.tasks.extent(at), strict=True)
        return list(product(*(range(start, start + count) for start, count in ends)))


def object_box(grid: ChunkGrid, at: tuple[int, ...]) -> Box:
    """Return the elements of an object, those over the array's edge too."""
    ends = zip(grid.origin(at), grid.stored_shape(at), strict=True)
    return tuple(slice(start, start + side) for start, side in ends)


def unequal_plan(layout: ArrayLayout, most: int = TASK_OBJECTS) -> UnequalPlan:
    """Return the blocks of an array of unequal chunks, at most `most` of them in a task."""
    grid = layout.grid
    axes = [
        _Axis(count * side, side, None) for count, side in zip(grid.grid_shape, grid.largest, strict=True)
    ]
    counts = _grown(axes, [1] * len(axes), element_size(layout.source), most)
    tasks = RegularChunkGrid(grid.grid_shape, tuple(max(count, 1) for count in counts))
    if layout.copied is not None:
        return UnequalPlan(grid, tasks)
    sources = [layout.source.grid.dimensions[axis] for axis in layout.kept_axes]
    selected = [layout.selection.axes[axis] for axis in layout.kept_axes]
    along = zip(grid.dimensions, sources, selected, strict=False)
    return UnequalPlan(grid, tasks, prod(_reads(*each) for each in along))


def _reads(target: ChunkAxis, source: ChunkAxis, taken: range) -> float:
    """Return how often a chunk of the source is read when each of the target is made by itself."""
    chunks = np.arange(min(target.count, _SAMPLED), dtype=np.int64)
    if not len(chunks):
        return 1.0
    starts = target.starts(chunks)
    first = source.find(taken.start + starts * taken.step)
    last = source.find(taken.start + (starts + target.extents(chunks) - 1) * taken.step)
    return float((last - first + 1).sum() / (last[-1] - first[0] + 1))


def copy_plan(layout: ArrayLayout, most: int = TASK_OBJECTS) -> BlockPlan | UnequalPlan:
    """Return the blocks of an array whose stored bytes are copied, of `most` objects each."""
    if not layout.grid.is_regular:
        return unequal_plan(layout, most)
    grid = layout.grid.regular
    axes = [_Axis(size, side, None) for size, side in zip(grid.shape, grid.chunk_shape, strict=True)]
    counts = _grown(axes, [1] * len(axes), element_size(layout.source), most)
    return BlockPlan(grid, _sides(axes, counts))


def encode_plan(
    layout: ArrayLayout,
    unit: tuple[int, ...],
    memory: int = LIMITS.export_block,
    most: int = TASK_OBJECTS,
) -> BlockPlan | UnequalPlan:
    """Return the blocks of an array whose chunks are encoded anew.

    Parameters
    ----------
    unit
        Shape of what is encoded by itself: an inner chunk of a shard, or the whole object.
    memory
        Bytes of a block, where one object (or unit) is not larger.
    most
        Objects of a block, where smaller ones have the source read as often.
    """
    if not layout.grid.is_regular:
        return unequal_plan(layout, most)
    itemsize = element_size(layout.source)
    sources = _source_axes(layout)
    grid = layout.grid.regular
    whole = [_Axis(*axis) for axis in zip(grid.shape, grid.chunk_shape, sources, strict=True)]
    spools = _may_be_spooled(layout.source) and not layout.spreads
    if prod(grid.chunk_shape) * itemsize <= memory or unit == grid.chunk_shape:
        counts, reads = _best(whole, itemsize, memory)
        counts = _grown(whole, counts, itemsize, most)
        return BlockPlan(grid, _sides(whole, counts), False, reads, spools and reads > MOST_READS)
    inner = [_Axis(*axis) for axis in zip(grid.chunk_shape, unit, sources, strict=True)]
    counts, reads = _best(inner, itemsize, memory)
    reads *= prod(axis.reads(1) for axis in whole)
    return BlockPlan(grid, _sides(inner, counts), True, reads, spools and reads > MOST_READS)


def read_cuts(
    layout: ArrayLayout, sides: tuple[int, ...], memory: int = LIMITS.export_block
) -> list[list[int]]:
    """Return where each axis of the target is cut into the boxes by which the source is read once.

    Parameters
    ----------
    sides
        Of the blocks that the boxes are distributed to: boxes are so shaped that they meet few.
    """
    axes = []
    for length, side, source in zip(layout.grid.shape, sides, _source_axes(layout), strict=True):
        unit = 1 if source is None else max(1, source.side // source.taken.step)
        axes.append(_Axis(length, unit, SourceAxis(range(length), side)))
    counts, _ = _best(axes, element_size(layout.source), memory)
    return [
        _aligned_cuts(axis, count, source)
        for axis, count, source in zip(axes, counts, _source_axes(layout), strict=True)
    ]


def _aligned_cuts(axis: _Axis, count: int, source: SourceAxis | None) -> list[int]:
    """Return cuts at every `count` units, at the edges of the source's chunks where the step is 1."""
    step = count * axis.unit
    first = step
    if source is not None and source.taken.step == 1 and source.taken:
        first = step - source.taken.start % source.side
    return [0, *range(max(1, first), axis.size, step), axis.size]


def element_size(node: ArrayNode) -> int:
    """Return the bytes that an element takes in memory, about."""
    if node.dtype is None:
        return 1
    return OBJECT_SIZE if node.dtype.hasobject else max(1, node.dtype.itemsize)


def read_shape(node: ArrayNode) -> tuple[int, ...]:
    """Return the shape of what is decoded by itself when an array is read."""
    if node.is_made:
        return node.grid.largest
    has_shards = CodecPipeline.for_array(node).shard is not None
    found = without_shards(node).grid if has_shards else node.grid
    assert found is not None
    return found.largest


def _may_be_spooled(node: ArrayNode) -> bool:
    """Whether an intermediate store helps: of uncompressed chunks just the wanted bytes are read anyway."""
    return node.dtype is not None and not node.dtype.hasobject and not reads_elements(node)


class SourceAxis(NamedTuple):
    """What is taken of one axis of the source, and the side of its chunks."""

    taken: range
    side: int


def _source_axes(layout: ArrayLayout) -> list[SourceAxis | None]:
    """Return the source's axis for each axis of the target."""
    sides = read_shape(layout.source)
    axes: list[SourceAxis | None] = [
        SourceAxis(layout.selection.axes[axis], sides[axis]) for axis in layout.kept_axes
    ]
    return axes + [None] * (len(layout.grid.shape) - len(axes))


class _Axis:
    """One axis of the target, cut into units, over the chunks of the source."""

    def __init__(self, size: int, unit: int, source: SourceAxis | None) -> None:
        self.size = size
        self.unit = unit
        self.count = max(1, -(-size // unit))
        self.source = source

    def choices(self) -> list[int]:
        """Return numbers of units that a block may have, ascending."""
        found = {1, self.count}
        bases = [1]
        if self.source is not None:
            side = max(1, self.source.side // self.source.taken.step)
            bases.append(side // gcd(side, self.unit))
            bases.append(max(1, side // self.unit))
        for base in bases:
            while base < self.count:
                found.add(base)
                base *= 2
        at = self.count
        while at > 1:
            at = -(-at // 2)
            found.add(at)
        return sorted(found)

    def reads(self, count: int) -> float:
        """Return how often a chunk of the source is read when blocks have `count` units."""
        if self.source is None:
            return 1.0
        taken, side = self.source.taken[: self.size], self.source.side
        if not taken or taken.step >= side:
            return 1.0
        length = min(count * self.unit, len(taken))
        starts = np.arange(min(_SAMPLED, -(-len(taken) // length)), dtype=np.int64) * length
        # In this form no sum can overflow.
        stops = starts + np.minimum(len(taken) - starts, length)
        first, last = taken.start + starts * taken.step, taken.start + (stops - 1) * taken.step
        pairs = int((last // side - first // side + 1).sum())
        distinct = int(last[-1] // side - first[0] // side + 1)
        return pairs / distinct


class _Choice(NamedTuple):
    """Counts of units along the first axes: the elements of such a block, and how often chunks are read."""

    elements: int
    reads: float
    counts: tuple[int, ...]


def _best(axes: list[_Axis], itemsize: int, memory: int) -> tuple[list[int], float]:
    """Return the counts of units along each axis of the blocks, and how often a source chunk is read."""
    most = max(memory // itemsize, prod(axis.unit for axis in axes))
    found = [_Choice(1, 1.0, ())]
    for number, axis in enumerate(axes):
        rest = prod(later.unit for later in axes[number + 1 :])
        more = [
            _Choice(choice.elements * count * axis.unit, choice.reads * reads, (*choice.counts, count))
            for count, reads in ((count, axis.reads(count)) for count in axis.choices())
            for choice in found
        ]
        found = _pareto(choice for choice in more if choice.elements * rest <= most)
    least = min(choice.reads for choice in found)
    chosen = next(choice for choice in found if choice.reads <= least * NEARLY)
    return list(chosen.counts), chosen.reads


def _pareto(choices: Iterable[_Choice]) -> list[_Choice]:
    """Return the choices that no other beats in both size and reads, by size."""
    kept: list[_Choice] = []
    for choice in sorted(choices):
        if not kept or choice.reads < kept[-1].reads:
            kept.append(choice)
    step = -(-len(kept) // _KEPT)
    return kept[::-1][::step][::-1]


def _grown(axes: list[_Axis], counts: list[int], itemsize: int, most: int) -> list[int]:
    """Return counts with more units along the last axes, where blocks are so small that each costs more."""
    counts = list(counts)
    objects = prod(counts)
    size = prod(count * axis.unit for count, axis in zip(counts, axes, strict=True)) * itemsize
    for number in range(len(axes) - 1, -1, -1):
        room = min(TASK_BYTES // max(1, size), most // objects)
        times = min(max(1, room), -(-axes[number].count // counts[number]))
        counts[number] *= times
        size, objects = size * times, objects * times
    return counts


def _sides(axes: list[_Axis], counts: list[int]) -> tuple[int, ...]:
    return tuple(min(count, axis.count) * axis.unit for count, axis in zip(counts, axes, strict=True))


#: Bytes that are fetched and decoded before more is asked for.
BATCH_BYTES = 64 * 1024 * 1024

Values = npt.NDArray[Any]


class BlockState:
    """What became of the source under the units of a block: stored somewhere, missing, or failed."""

    def __init__(self, box: Box, unit: tuple[int, ...]) -> None:
        self.box = box
        self.unit = unit
        shape = [-(-(part.stop - part.start) // side) for part, side in zip(box, unit, strict=True)]
        self._stored = np.zeros(shape, bool)
        self._errors: list[tuple[Box, RefbrowserError]] = []
        self._lock = threading.Lock()

    def note(self, part: Box, state: PartState, error: RefbrowserError | None) -> None:
        """Note the end of some elements, given within the block."""
        units = tuple(
            slice(taken.start // side, -(-taken.stop // side))
            for taken, side in zip(part, self.unit, strict=True)
        )
        if state is PartState.DONE:
            self._stored[units] = True
        elif error is not None:
            with self._lock:
                self._errors.append((units, error))

    def stored(self, unit: tuple[int, ...]) -> bool:
        """Tell whether anything of a unit is stored."""
        return bool(self._stored[unit])

    def error(self, unit: tuple[int, ...]) -> RefbrowserError | None:
        """Return why elements of a unit could not be read."""
        for units, error in self._errors:
            if all(part.start <= at < part.stop for part, at in zip(units, unit, strict=True)):
                return error
        return None


class BlockReader:
    """Reads boxes of the elements that a layout takes of its source; used by several threads at once."""

    def __init__(self, session: Session, access: Access, layout: ArrayLayout, token: CancelToken) -> None:
        self.session = session
        self.access = access
        self.layout = layout
        self.token = token
        self._kept = layout.kept_axes
        self._batch = max(1, BATCH_BYTES // self._part_bytes())
        self._lock = threading.Lock()
        self.read_bytes = 0
        self.requests = 0

    def _part_bytes(self) -> int:
        """Return the bytes in memory that reading a part of a chunk takes."""
        source = self.layout.source
        if reads_elements(source):
            return 1024  # The wanted bytes only, straight to where they belong.
        return max(1, prod(read_shape(source)) * element_size(source))

    def room(self, box: Box) -> Values:
        """Return an array for a box, with the fill value where it lies over the array's edge.

        Axes that the source lacks have length 1: elements are spread along them when they are converted.
        """
        layout = self.layout
        source, shape = layout.source, layout.grid.shape
        kept = len(self._kept)
        sides = [part.stop - part.start if axis < kept else 1 for axis, part in enumerate(box)]
        values = np.empty(sides, source.known_dtype)
        for axis, (part, length) in enumerate(zip(box[:kept], shape, strict=False)):
            if part.stop > length:
                over = (slice(None),) * axis + (slice(max(0, length - part.start), None),)
                values[over] = filled((), source.known_dtype, source.fill_value)[()]
        return values

    def read(self, box: Box, values: Values, states: list[BlockState]) -> None:
        """Read the elements of a box that lie within the array.

        Parameters
        ----------
        values
            Of the box's shape; what lies over the edge is left as it is.
        states
            Of blocks that overlap the box: they are told of each part.
        """
        source, selection = self.layout.source, self._taken(box)
        region = part_of(values, tuple(slice(0, len(selection.axes[axis])) for axis in self._kept))
        whole = region.reshape(selection.box_shape) if region.shape != selection.box_shape else region
        parts = PartTable(source.grid, selection)
        reader = self.session.read_parts(
            source,
            self.access,
            _batches(parts, self._batch),
            whole,
            ReadOptions(on_part=lambda ended: self._tell(ended, box, states), token=self.token, export=True),
            total=len(parts),
        )
        with self._lock:
            self.read_bytes += reader.read_bytes
            self.requests += reader.requests

    def _taken(self, box: Box) -> Selection:
        axes = list(self.layout.selection.axes)
        for axis, part in zip(self._kept, box, strict=False):
            axes[axis] = axes[axis][part]
        return Selection(tuple(axes))

    def _tell(self, ended: EndedPart, box: Box, states: list[BlockState]) -> None:
        target = [ended.part.target[axis] for axis in self._kept]
        added = [slice(0, 1)] * (len(box) - len(target))
        inside = tuple(
            slice(part.start + taken.start, part.start + taken.stop)
            for part, taken in zip(box, [*target, *added], strict=True)
        )
        for state in states:
            common = overlap(inside, state.box)
            if common is not None:
                state.note(within(common, state.box), ended.state, ended.error)


def part_of(values: Values, box: Box) -> Values:
    """Return the view of a box of an array, which is an array for no dimensions too."""
    index: tuple[Any, ...] = (*box, ...)
    return values[index]


def overlap(one: Box, other: Box) -> Box | None:
    """Return the elements that two boxes share, None where there are none."""
    found = tuple(
        slice(max(mine.start, yours.start), min(mine.stop, yours.stop))
        for mine, yours in zip(one, other, strict=True)
    )
    return None if any(part.start >= part.stop for part in found) else found


def within(box: Box, frame: Box) -> Box:
    """Return a box by its place in another one."""
    return tuple(
        slice(part.start - outer.start, part.stop - outer.start)
        for part, outer in zip(box, frame, strict=True)
    )


class _Some:
    """Some of the parts of a table, numbered anew."""

    def __init__(self, parts: Parts, start: int, stop: int) -> None:
        self._parts = parts
        self._start, self._stop = start, stop

    def __len__(self) -> int:
        return self._stop - self._start

    def __getitem__(self, number: int) -> ChunkPart:
        return self._parts[self._start + number]

    def coords(self, start: int, stop: int) -> npt.NDArray[np.int64]:
        """Return the coordinates of the chunks from `start` to `stop`."""
        return self._parts.coords(self._start + start, self._start + stop)

    def all_whole(self, start: int, stop: int) -> bool:
        """Tell whether every part from `start` to `stop` is a whole chunk."""
        return self._parts.all_whole(self._start + start, self._start + stop)


def _batches(parts: Parts, count: int) -> Iterator[Parts]:
    for start in range(0, len(parts), count):
        yield _Some(parts, start, min(start + count, len(parts)))
