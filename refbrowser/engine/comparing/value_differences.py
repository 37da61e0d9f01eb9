"""How the values of one array differ: read by blocks on both sides, all of them or some spread over it.

Stored values are compared; physical ones where both sides pack them in another way (scale, offset, sign).
What cannot be read on either side is counted, and never equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from math import prod
from random import Random
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from refbrowser.engine.comparing.differences import ChunkAmounts, ChunkValues, Extreme, ValueComparison
from refbrowser.engine.dataset import Array
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import RefbrowserError
from refbrowser.model.cf import Packing
from refbrowser.model.chunk_axes import ChunkAxis
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

Values: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_]
Box: TypeAlias = tuple[slice, ...]

#: Bytes of elements that are read of each side at a time.
BLOCK = 16 << 20
#: Blocks of an array that a sample reads, and the seed of their choice.
SAMPLED, SEED = 24, 17
#: Rows of nested arrays, and of texts and objects, that are compared together.
_ROWS = 4_096
#: Bytes that an element of no fixed size is taken for.
_OBJECT = 256
#: Errors that are kept.
_ERRORS = 5
#: Chunks that are counted, and those that are told: the ones that differ most.
CHUNKS, CHUNKS_TOLD = 50_000, 100


def compare_values(
    here: Array,
    there: Array,
    control: JobControl,
    *,
    sample: bool,
    first: npt.NDArray[np.int64] | None = None,
) -> ValueComparison:
    """Return how the values of an array differ.

    Parameters
    ----------
    sample
        Read some blocks alone, the same ones each time.
    first
        Coordinates of chunks that a sample looks at before others, shape (n, ndim): those whose references
        differ.
    """
    why = _obstacle(here.node, there.node)
    if why:
        return ValueComparison(why=why)
    return _Values(here, there, control, sample, first).compared()


def _obstacle(here: ArrayNode, there: ArrayNode) -> str:
    for node in (here, there):
        if node.error is not None or node.unreadable is not None or node.dtype is None:
            return f"it cannot be read: {(node.error or node.unreadable or 'its type is not known')!s}"
        if not node.has_grid:
            return "it cannot be read: it is not known how it is divided into chunks"
    if len(here.shape) != len(there.shape):
        return "the arrays differ in their number of dimensions"
    if (here.nested is None) != (there.nested is None):
        return "the elements of one of them are nested"
    kinds = {node.known_dtype.kind for node in (here, there)}
    if len(kinds) > 1 and not kinds <= set("biufc"):
        return "the types cannot be compared"
    return ""


def _are_packed_otherwise(here: Packing, there: Packing) -> bool:
    said = ((each.scale, each.offset, each.stored.kind == "u") for each in (here, there))
    mine, theirs = said
    return mine[:2] != theirs[:2] or (mine[2] != theirs[2] and here.stored.itemsize == there.stored.itemsize)


@dataclass(slots=True, eq=False)
class _Values:
    """The comparison of one array, as it goes on."""

    here: Array
    there: Array
    control: JobControl
    sample: bool
    changed: npt.NDArray[np.int64] | None
    compared_: int = 0
    different: int = 0
    absolute: Extreme | None = None
    relative: Extreme | None = None
    first: Extreme | None = None
    nan: list[int] = field(default_factory=lambda: [0, 0])
    absent: list[int] = field(default_factory=lambda: [0, 0])
    absent_equal: int = 0
    unread: list[int] = field(default_factory=lambda: [0, 0])
    stale: list[int] = field(default_factory=lambda: [0, 0])
    errors: list[RefbrowserError] = field(default_factory=list)
    chunks: dict[tuple[int, ...], ChunkValues] = field(default_factory=dict)
    has_more_chunks: bool = False

    def compared(self) -> ValueComparison:
        shape = tuple(min(pair) for pair in zip(self.here.shape, self.there.shape, strict=True))
        packings = Packing.of(self.here.node), Packing.of(self.there.node)
        decoded = self.here.node.nested is None and _are_packed_otherwise(*packings)
        boxes, total = self._boxes(shape)
        for done, box in enumerate(boxes):
            self.control.check()
            self.control.progress(done, total, note=self.here.path)
            self._block(box, packings if decoded else None)
        self.control.progress(total, total, note=self.here.path)
        return ValueComparison(
            elements=prod(shape),
            compared=self.compared_,
            different=self.different,
            absolute=self.absolute,
            relative=self.relative,
            first=self.first,
            chunks_different=len(self.chunks),
            has_more_chunks=self.has_more_chunks,
            chunks=self._largest_chunks(),
            amounts=self._amounts(),
            nan_here=self.nan[0],
            nan_there=self.nan[1],
            absent_here=self.absent[0],
            absent_there=self.absent[1],
            absent_equal=self.absent_equal,
            unread_here=self.unread[0],
            unread_there=self.unread[1],
            stale_here=self.stale[0],
            stale_there=self.stale[1],
            errors=tuple(self.errors),
            is_sample=self.sample and total < self._grid(shape).size,
            is_decoded=decoded,
        )

    # Blocks

    def _grid(self, shape: tuple[int, ...]) -> RegularChunkGrid:
        """Return the blocks: whole chunks where several fit, parts of one that is too large."""
        node = self.here.node
        sides = [min(side, max(size, 1)) for side, size in zip(node.grid.largest, shape, strict=True)]
        dtype = node.known_dtype
        most = max(BLOCK // (_OBJECT if dtype.hasobject else dtype.itemsize), 1)
        if node.nested is not None or dtype.hasobject:
            most = _ROWS
        for axis in range(len(shape)):
            while prod(sides) > most and sides[axis] > 1:
                sides[axis] = -(-sides[axis] // 2)
        if not self.sample:
            for axis in range(len(shape) - 1, -1, -1):
                times = max(most // max(prod(sides), 1), 1)
                sides[axis] = min(sides[axis] * times, -(-max(shape[axis], 1) // sides[axis]) * sides[axis])
        return RegularChunkGrid(shape, tuple(sides))

    def _boxes(self, shape: tuple[int, ...]) -> tuple[Iterator[Box], int]:
        grid = self._grid(shape)
        count = grid.size
        if not self.sample or count <= SAMPLED:
            return (_box(grid, number) for number in range(count)), count
        chosen = dict.fromkeys((0, count - 1))
        if self.changed is not None and len(self.changed):
            step = max(len(self.changed) // (SAMPLED // 2), 1)
            for origin in self.here.node.grid.origins(self.changed[::step]).tolist():
                at = [
                    min(where // box, most - 1)
                    for where, box, most in zip(origin, grid.chunk_shape, grid.grid_shape, strict=True)
                ]
                if min(at, default=0) >= 0:
                    chosen[int(np.ravel_multi_index(tuple(at), grid.grid_shape))] = None
        chance = Random(SEED)
        while len(chosen) < SAMPLED:
            chosen[chance.randrange(count)] = None
        numbers = sorted(chosen)
        return (_box(grid, number) for number in numbers), len(numbers)

    # One block

    def _block(self, box: Box, packings: tuple[Packing, Packing] | None) -> None:
        if self.here.node.nested is not None:
            self._nested(box)
            return
        sides = []
        for number, array in enumerate((self.here, self.there)):
            values, mask = self._read(array, box, number)
            if packings is not None and values.dtype.kind in "iufc":
                values = packings[number].decode(values)
            sides.append((values, mask))
        (mine, lost), (theirs, lost_there) = sides
        readable = ~(lost | lost_there)
        differs = _different(mine, theirs) & readable
        self.compared_ += int(readable.sum())
        count = int(differs.sum())
        self.different += count
        self._count_absent(box, differs, readable)
        self._count_stale(box, readable)
        if count:
            self._note(mine, theirs, differs, box)

    def _read(self, array: Array, box: Box, number: int) -> tuple[Values, Mask]:
        shape = tuple(each.stop - each.start for each in box)
        try:
            found = array.masked(box, self.control)
        except RefbrowserError as error:
            self._failed([error], number, prod(shape))
            return np.zeros(shape, array.node.known_dtype), np.ones(shape, bool)
        mask: Values = np.ma.getmaskarray(found.values)
        if mask.dtype.names is not None:
            # A mask for each member: what is lost is lost as a whole.
            members = np.ascontiguousarray(mask).view("?").reshape(*shape, -1)
            mask = np.asarray(members.any(axis=-1))
        if found.errors:
            self._failed(list(found.errors), number, int(mask.sum()))
        return np.asarray(found.values.data), mask

    def _failed(self, errors: list[RefbrowserError], number: int, count: int) -> None:
        self.unread[number] += count
        self.errors += errors[: max(_ERRORS - len(self.errors), 0)]

    def _count_absent(self, box: Box, differs: Mask, readable: Mask) -> None:
        masks = [_of_chunks(array.node, box, _are_missing) for array in (self.here, self.there)]
        if masks[0] is None and masks[1] is None:
            return
        mine, theirs = (np.zeros(differs.shape, bool) if mask is None else mask for mask in masks)
        alone = mine & ~theirs & readable, theirs & ~mine & readable
        for number, mask in enumerate(alone):
            self.absent[number] += int(mask.sum())
        self.absent_equal += int(((alone[0] | alone[1]) & ~differs).sum())

    def _count_stale(self, box: Box, readable: Mask) -> None:
        for number, array in enumerate((self.here, self.there)):
            access = array.dataset.access
            mask = None if access.memory.locked is None else _of_chunks(array.node, box, access.are_stale)
            if mask is not None:
                self.stale[number] += int((mask & readable).sum())

    def _note(self, mine: Values, theirs: Values, differs: Mask, box: Box) -> None:
        if self.first is None:
            at = int(np.argmax(differs))
            self.first = self._extreme(0.0, at, mine, theirs, box)
        self._note_chunks(differs, self._note_numbers(mine, theirs, differs, box), box)

    def _note_numbers(self, mine: Values, theirs: Values, differs: Mask, box: Box) -> Values | None:
        """Note the largest differences; return by how much elements differ, None of what is no number."""
        if mine.dtype.kind not in "biufcmM" or theirs.dtype.kind not in "biufcmM":
            return None
        nans = [_is_nan(values) for values in (mine, theirs)]
        self.nan[0] += int((nans[0] & ~nans[1]).sum())
        self.nan[1] += int((nans[1] & ~nans[0]).sum())
        counts = differs & ~nans[0] & ~nans[1]
        if not counts.any():
            return None
        amount, size = _amounts(mine, theirs)
        by = amount = np.where(counts, amount, -1)
        at = int(np.argmax(amount))
        if self.absolute is None or amount.flat[at] > self.absolute.amount:
            self.absolute = self._extreme(float(amount.flat[at]), at, mine, theirs, box)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(counts & (size > 0) & np.isfinite(amount), amount / size, -1)
        at = int(np.argmax(relative))
        if relative.flat[at] >= 0 and (self.relative is None or relative.flat[at] > self.relative.amount):
            self.relative = self._extreme(float(relative.flat[at]), at, mine, theirs, box)
        return by

    # Chunks

    def _note_chunks(self, differs: Mask, amount: Values | None, box: Box) -> None:
        """Count what differs in each chunk of here that a block has something of."""
        dimensions = self.here.node.grid.dimensions
        counts = differs.astype(np.int64)
        for axis, (each, along) in enumerate(zip(box, dimensions, strict=True)):
            chunks = _chunks_in(along, each)
            starts = along.starts(np.arange(chunks.start, chunks.stop)) - each.start
            counts = np.add.reduceat(counts, np.maximum(starts, 0), axis=axis)
        firsts = [along.chunk_of(each.start) for each, along in zip(box, dimensions, strict=True)]
        for cell in np.argwhere(counts).tolist():
            coords = tuple(at + first for at, first in zip(cell, firsts, strict=True))
            if coords not in self.chunks and len(self.chunks) >= CHUNKS:
                self.has_more_chunks = True
                return
            part = tuple(
                slice(max(along.start(at) - each.start, 0), along.start(at + 1) - each.start)
                for at, along, each in zip(coords, dimensions, box, strict=True)
            )
            self._add_chunk(coords, int(counts[tuple(cell)]), differs[part], amount, part, box)

    def _add_chunk(
        self,
        coords: tuple[int, ...],
        count: int,
        differs: Mask,
        amount: Values | None,
        part: Box,
        box: Box,
    ) -> None:
        most = differs if amount is None or amount[part].max() < 0 else amount[part]
        place = np.unravel_index(int(np.argmax(most)), most.shape) if most.ndim else ()
        index = tuple(
            int(at) + each.start + outer.start for at, each, outer in zip(place, part, box, strict=True)
        )
        found = ChunkValues(coords, count, 0.0 if most is differs else float(most[place]), index)
        before = self.chunks.get(coords)
        if before is not None:
            # Of a chunk that is larger than a block.
            larger = max(before, found, key=lambda each: each.amount)
            found = replace(larger, different=before.different + count)
        self.chunks[coords] = found

    def _amounts(self) -> ChunkAmounts | None:
        found = [*self.chunks.values()]
        if not found:
            return None
        return ChunkAmounts(
            self.here.node.grid.grid_shape,
            np.array([each.coords for each in found], np.int64).reshape(len(found), -1),
            np.array([each.amount for each in found], np.float64),
        )

    def _largest_chunks(self) -> tuple[ChunkValues, ...]:
        return tuple(
            nsmallest(
                CHUNKS_TOLD,
                self.chunks.values(),
                key=lambda each: (-each.amount, -each.different, each.coords),
            )
        )

    def _extreme(self, amount: float, at: int, mine: Values, theirs: Values, box: Box) -> Extreme:
        place = np.unravel_index(at, mine.shape) if mine.ndim else ()
        index = tuple(int(where) + each.start for where, each in zip(place, box, strict=True))
        return Extreme(amount, index, str(mine[place]), str(theirs[place]))

    # Rows

    def _nested(self, box: Box) -> None:
        start, stop = (box[0].start, box[0].stop) if box else (0, 1)
        rows: list[list[Any]] = []
        for number, array in enumerate((self.here, self.there)):
            try:
                rows.append(array.to_awkward(start, stop).to_list())
            except RefbrowserError as error:
                self._failed([error], number, stop - start)
        if len(rows) < 2:
            return
        self.compared_ += stop - start
        differs = np.zeros(stop - start, bool)
        for at, (mine, theirs) in enumerate(zip(*rows, strict=True)):
            if not _same_object(mine, theirs):
                differs[at] = True
                if self.first is None:
                    self.first = Extreme(0.0, (start + at,), str(mine), str(theirs))
        self.different += int(differs.sum())
        if len(box) == 1:
            self._note_chunks(differs, None, box)


def _chunks_in(axis: ChunkAxis, part: slice) -> range:
    """Return the chunks that a part of a dimension has something of."""
    return range(axis.chunk_of(part.start), axis.chunk_of(part.stop - 1) + 1)


def _box(grid: RegularChunkGrid, number: int) -> Box:
    coords = np.unravel_index(number, grid.grid_shape) if grid.grid_shape else ()
    return tuple(
        slice(int(at) * side, min((int(at) + 1) * side, size))
        for at, side, size in zip(coords, grid.chunk_shape, grid.shape, strict=True)
    )


def _are_missing(columns: ReferenceColumns) -> Mask:
    return np.asarray(columns.kind == ReferenceKind.MISSING)


def _of_chunks(node: ArrayNode, box: Box, which: Callable[[ReferenceColumns], Mask]) -> Mask | None:
    """Return which elements of a box lie in such chunks; None where none does."""
    if not node.has_manifest:
        return None
    dimensions = node.grid.dimensions
    ranges = [_chunks_in(along, each) for each, along in zip(box, dimensions, strict=True)]
    counts = [len(each) for each in ranges]
    cells = np.indices(counts, np.int64).reshape(len(counts), prod(counts))
    firsts = np.array([each.start for each in ranges], np.int64)
    chosen = which(node.manifest.columns(cells.T + firsts))
    if not chosen.any():
        return None
    mask = chosen.reshape(counts)
    for axis, (each, along, chunks) in enumerate(zip(box, dimensions, ranges, strict=True)):
        low = along.start(chunks.start)
        mask = np.repeat(mask, along.extents(np.arange(chunks.start, chunks.stop)), axis=axis)
        mask = np.take(mask, np.arange(each.start - low, each.stop - low), axis=axis)
    return mask


def _is_nan(values: Values) -> Mask:
    if values.dtype.kind in "mM":
        return np.isnat(values)
    return np.isnan(values) if values.dtype.kind in "fc" else np.zeros(values.shape, bool)


def _different(mine: Values, theirs: Values) -> Mask:
    """Return which elements differ; what is no number equals another that is none."""
    if mine.dtype.names is not None or theirs.dtype.names is not None:
        if mine.dtype.names != theirs.dtype.names or mine.dtype.names is None:
            return np.ones(mine.shape, bool)
        result = np.zeros(mine.shape, bool)
        for name in mine.dtype.names:
            found = _different(mine[name], theirs[name])
            # A member may be an array itself: one element of it is enough.
            result |= found.reshape(*mine.shape, -1).any(axis=-1)
        return result
    if mine.dtype.hasobject or theirs.dtype.hasobject:
        pairs = zip(mine.reshape(-1), theirs.reshape(-1), strict=True)
        return np.array([not _same_object(*pair) for pair in pairs], bool).reshape(mine.shape)
    if mine.dtype.kind == "V" or theirs.dtype.kind == "V":
        if mine.dtype.itemsize != theirs.dtype.itemsize:
            return np.ones(mine.shape, bool)
        raw = [np.ascontiguousarray(each).view("u1").reshape(*each.shape, -1) for each in (mine, theirs)]
        return np.asarray((raw[0] != raw[1]).any(axis=-1))
    return np.asarray((mine != theirs) & ~(_is_nan(mine) & _is_nan(theirs)))


def _same_object(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        mine, theirs = np.asarray(one), np.asarray(other)
        return mine.shape == theirs.shape and not _different(mine, theirs).any()
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same_object(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same_object, one, other))
    return bool(one == other) or (one != one and other != other)


def _amounts(mine: Values, theirs: Values) -> tuple[Values, Values]:
    """Return by how much numbers differ, and the size of the larger ones, exact for 64 bits."""
    wide: type[np.generic] = np.longdouble
    if "c" in mine.dtype.kind + theirs.dtype.kind:
        wide = np.clongdouble
    with np.errstate(over="ignore", invalid="ignore"):
        pair = [_numbers(each).astype(wide) for each in (mine, theirs)]
        amount = np.abs(pair[0] - pair[1])
        size = np.maximum(np.abs(pair[0]), np.abs(pair[1]))
    # Infinities of one sign are the same, and not looked at.
    return np.where(np.isnan(amount), np.inf, amount), size


def _numbers(values: Values) -> Values:
    return values.astype(np.int64) if values.dtype.kind in "mM" else values
