"""Own chunks: those of the result that no file stores, which are put together of files and encoded anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.combination import Combination, Remedy
from refbrowser.exporting.combining.file_positions import mismatch_along
from refbrowser.exporting.combining.mismatches import Mismatch, named
from refbrowser.exporting.combining.properties import ArrayProperties, Ints, ScannedSource, coords_of
from refbrowser.exporting.combining.stored_forms import Restoring, StoredForm, is_numeric
from refbrowser.limits import LIMITS
from refbrowser.model.cf import SCALING
from refbrowser.model.chunk_axes import ChunkAxis
from refbrowser.model.grid import ChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.words import size_text

Coords = tuple[int, ...]
Mask = npt.NDArray[np.bool_]

#: Elements of a file that are read at once.
_ELEMENTS = 1 << 22
#: Files whose chunks tell how well an array is compressed.
_SAMPLED = 50


@dataclass(frozen=True, slots=True)
class LaidArray:
    """An array of the result, and where the chunks of its files lie in it.

    Attributes
    ----------
    grid
        The chunks of the result.
    starts
        Where each of its files begins in it, an element for each dimension; new dimensions come first.
    """

    array: ArrayOfFiles
    grid: ChunkGrid
    starts: Sequence[Coords]

    @property
    def new(self) -> int:
        """How many dimensions files do not have."""
        return self.grid.ndim - len(self.array.first.shape)

    def kept(self, at: int) -> list[Mask] | None:
        """Return which chunks of a file are those of the result, by dimension; None where all are.

        Parameters
        ----------
        at
            Which of the files of the array.
        """
        told, start = self.array.told[at], self.starts[at][self.new :]
        mine = told.grid.dimensions
        if self.array.is_odd(told):
            return [np.zeros(axis.count, bool) for axis in mine]
        yours = self.grid.dimensions[self.new :]
        found = [_same(*each) for each in zip(mine, yours, start, strict=True)]
        if all(each is None for each in found):
            return None
        return [
            np.ones(axis.count, bool) if each is None else each
            for axis, each in zip(mine, found, strict=True)
        ]

    def own(self, at: int) -> Ints:
        """Return the chunks of the result that lie in a file which does not store them, shape (n, ndim)."""
        kept, told, start = self.kept(at), self.array.told[at], self.starts[at]
        if kept is None or not prod(told.shape):
            return np.zeros((0, self.grid.ndim), np.int64)
        shape = (*(1,) * self.new, *told.shape)
        low = [axis.chunk_of(begin) for axis, begin in zip(self.grid.dimensions, start, strict=True)]
        high = [
            axis.chunk_of(begin + size - 1) + 1
            for axis, begin, size in zip(self.grid.dimensions, start, shape, strict=True)
        ]
        sides = [end - begin for begin, end in zip(low, high, strict=True)]
        there = np.ones(sides, bool)
        for dimension, mask in enumerate([*(np.ones(1, bool),) * self.new, *kept]):
            whole = np.zeros(sides[dimension], bool)
            whole[: len(mask)] = mask[: len(whole)]
            there &= whole.reshape([-1 if each == dimension else 1 for each in range(self.grid.ndim)])
        return np.argwhere(~there).astype(np.int64) + np.array(low, np.int64)

    def numbers(self, coords: Ints) -> Ints:
        """Return the places of chunks in the flat grid."""
        return np.ravel_multi_index(tuple(coords.T), self.grid.grid_shape).astype(np.int64)


def _same(mine: ChunkAxis, yours: ChunkAxis, start: int) -> Mask | None:
    """Return which chunks of a dimension of a file are those of the result; None where all are."""
    side = mine.regular_side
    is_alike = side is not None and side == yours.regular_side and not start % side
    is_filled = is_alike and (not mine.size % mine.largest or start + mine.size == yours.size)
    if is_filled or not mine.count:
        return None
    numbers = np.arange(mine.count)
    there = yours.chunk_of(start) + numbers
    inside = there < yours.count
    there = np.where(inside, there, 0)
    found: Mask = (
        inside
        & (yours.starts(there) == start + mine.starts(numbers))
        & (yours.sides(there) == mine.sides(numbers))
        & (yours.extents(there) == mine.extents(numbers))
    )
    return None if found.all() else found


@dataclass(slots=True)
class OwnCount:
    """How many chunks of an array are its own.

    Attributes
    ----------
    chunks, of
        How many, and of how many.
    elements
        In them.
    """

    chunks: int
    of: int
    elements: int


def off_grid(laid: LaidArray, files: Sequence[ScannedSource]) -> Mismatch | None:
    """Return that files within a document have other chunks than this has there; None where none has."""
    path = laid.array.path
    odd = [files[number].source for of, number in enumerate(laid.array.files) if laid.kept(of) is not None]
    if not odd:
        return None
    message = f"{path}: chunks of {named(odd)} have other borders than those of the document there"
    remedies = [Remedy("reencode"), Remedy("leave_out", odd[0])]
    return mismatch_along("file ends", path, message, odd, remedies)


def counted(laid: LaidArray) -> OwnCount:
    """Return how many chunks of an array are its own; nothing is read."""
    numbers = [laid.numbers(laid.own(at)) for at in range(len(laid.array.files))]
    own = np.unique(np.concatenate(numbers)) if numbers else np.zeros(0, np.int64)
    coords = coords_of(laid.grid.grid_shape, own)
    elements = int(np.prod(laid.grid.extents(coords), axis=1).sum()) if len(own) else 0
    return OwnCount(len(own), laid.grid.size, elements)


# Writing them


@dataclass(slots=True)
class OwnChunks:
    """What became of the chunks of an array that are its own.

    Attributes
    ----------
    path
        Of the array.
    chunks, of
        How many were written, and how many it has.
    size
        Bytes that were written.
    rounded
        Numbers that are others than in their files.
    error
        By how much at most.
    """

    path: str
    chunks: int = 0
    of: int = 0
    size: int = 0
    rounded: int = 0
    error: float = 0.0


@dataclass(slots=True)
class _Making:
    """Puts together the own chunks of one array.

    Attributes
    ----------
    pending
        Chunks of several files, by number, with how many of these are still to come.
    """

    laid: LaidArray
    node: ArrayNode
    take: Callable[[Coords, bytes], None]
    told: OwnChunks
    pending: dict[int, tuple[npt.NDArray[Any], int]] = field(default_factory=dict)
    shares: dict[int, int] = field(default_factory=dict)
    restorings: dict[ArrayProperties, Restoring] = field(default_factory=dict)

    def expect(self) -> None:
        """Find the chunks that several files have a part of."""
        numbers = [self.laid.numbers(self.laid.own(at)) for at in range(len(self.laid.array.files))]
        found, counts = np.unique(np.concatenate(numbers), return_counts=True)
        self.told.of = self.laid.grid.size
        self.shares = dict(zip(found[counts > 1].tolist(), counts[counts > 1].tolist(), strict=True))

    def add(
        self, at: int, coords: Ints, begins: Mapping[str, int], dataset: Dataset, control: JobControl
    ) -> None:
        """Add what one file has of chunks; `begins` is where the part of it that is taken does."""
        told, start = self.laid.array.told[at], np.array(self.laid.starts[at], np.int64)
        source = dataset.hierarchy.find(told.path)
        if not isinstance(source, ArrayNode):
            raise RefbrowserError(
                ErrorKind.META, "the array is gone", Place(path=told.path, document=dataset.path)
            )
        stop = start + np.array((*(1,) * self.laid.new, *told.shape), np.int64)
        for block in _blocks(coords, self.laid.grid, start, stop):
            control.check()
            low = np.maximum(self.laid.grid.origins(block), start)
            high = np.minimum(self.laid.grid.origins(block) + self.laid.grid.extents(block), stop)
            corner = low.min(axis=0)
            first = np.array([begins.get(name, 0) for name in told.dimensions], np.int64)
            ends = zip(
                ((corner - start)[self.laid.new :] + first).tolist(),
                ((high.max(axis=0) - start)[self.laid.new :] + first).tolist(),
                strict=True,
            )
            box = [range(begin, end) for begin, end in ends]
            values = dataset.session.read(source, dataset.access, Selection(tuple(box)), export=True)
            values = self._stored(told, np.asarray(values))
            values = values.reshape((1,) * self.laid.new + values.shape)
            for row, place in enumerate(block):
                part = values[tuple(map(slice, (low[row] - corner).tolist(), (high[row] - corner).tolist()))]
                inner = low[row] - self.laid.grid.origin(tuple(place.tolist()))
                self._part(tuple(place.tolist()), part, tuple(inner.tolist()))

    def _stored(self, told: ArrayProperties, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return elements of a file as those of the result are stored."""
        first = self.laid.array.first
        if not is_numeric(first):
            if values.dtype != self.node.known_dtype:
                message = f"elements of {told.dtype} cannot be written as {first.dtype}"
                raise RefbrowserError(ErrorKind.META, message, Place(path=told.path))
            return values
        found = self.restorings.get(told)
        if found is None:
            found = self.restorings[told] = Restoring(StoredForm.of(told), StoredForm.of(first))
        return found.stored(values)

    def _part(self, coords: Coords, part: npt.NDArray[Any], inner: Coords) -> None:
        number = int(np.ravel_multi_index(coords, self.laid.grid.grid_shape))
        chunk, left = self.pending.pop(number, (None, self.shares.get(number, 1)))
        if chunk is None:
            chunk = np.full(self.laid.grid.stored_shape(coords), self.node.fill_element)
        chunk[tuple(slice(at, at + side) for at, side in zip(inner, part.shape, strict=True))] = part
        if left > 1:
            self.pending[number] = chunk, left - 1
        else:
            self._end(coords, chunk)

    def _end(self, coords: Coords, chunk: npt.NDArray[Any]) -> None:
        """Encode a chunk; one of nothing but the fill value is left out, as writers of Zarr do."""
        if self.node.fill_value is not None:
            fill = np.full(1, self.node.fill_element)
            if chunk.tobytes() == fill.tobytes() * chunk.size:
                return
        pipeline = CodecPipeline.for_array(self.node, chunk.shape)
        data = pipeline.encode(chunk)
        again = pipeline.decode(data)
        if again.tobytes() != chunk.astype(again.dtype, copy=False).tobytes():
            self._check_codecs(chunk, again)
        self.told.chunks += 1
        self.told.size += len(data)
        self.take(coords, data)

    def _check_codecs(self, chunk: npt.NDArray[Any], again: npt.NDArray[Any]) -> None:
        """Note what codecs change that round, or keep texts otherwise."""
        first = self.laid.array.first
        if not is_numeric(first):
            if not np.array_equal(chunk, again):
                message = "its codecs do not give back what is encoded"
                raise RefbrowserError(ErrorKind.META, message, Place(path=first.path))
            return
        form = StoredForm.of(first)
        coded = self.restorings.setdefault(first, Restoring(form, form))
        one, other = (form.packing.seen(each.astype(form.dtype)) for each in (chunk, again))
        coded.check(one, other, ~form.mask(one))

    def end(self) -> OwnChunks:
        """Return what became of them.

        Raises
        ------
        RefbrowserError
            `E_META`: numbers have no place in the form in which most files store them.
        """
        path, first = self.laid.array.path, self.laid.array.first
        lost = [each for each in self.restorings.values() if each.lost]
        if lost:
            count = sum(each.lost for each in lost)
            ends = [end for each in lost for end in each.extremes or ()]
            low, high = min(ends), max(ends)
            what = "missing values" if low != low or high != high else f"from {low:g} to {high:g}"
            message = (
                f"{count} values of {quoted(path)} have no place among those that most files store as "
                f"{first.dtype}{_packing_text(first)}: {what}"
            )
            advice = "keep them in a group of their own: --split eras"
            raise RefbrowserError(ErrorKind.META, message, Place(path=path), advice)
        self.told.rounded = sum(each.rounded for each in self.restorings.values())
        self.told.error = max((each.error for each in self.restorings.values()), default=0.0)
        return self.told


def _packing_text(told: ArrayProperties) -> str:
    scaling = [(name, told.attribute(name)) for name in SCALING]
    said = [f"{name} {value:g}" for name, value in scaling if isinstance(value, int | float)]
    return f" with {', '.join(said)}" if said else ""


def _blocks(coords: Ints, grid: ChunkGrid, start: Ints, stop: Ints) -> Iterator[Ints]:
    """Yield chunks that lie together, so few at a time that what surrounds them can be read at once."""
    low = np.maximum(grid.origins(coords), start)
    high = np.minimum(grid.origins(coords) + grid.extents(coords), stop)
    begin, corner, end = 0, None, None
    for row in range(len(coords)):
        wider = low[row] if corner is None else np.minimum(corner, low[row])
        longer = high[row] if end is None else np.maximum(end, high[row])
        if row > begin and prod((longer - wider).tolist()) > _ELEMENTS:
            yield coords[begin:row]
            begin, wider, longer = row, low[row], high[row]
        corner, end = wider, longer
    if len(coords):
        yield coords[begin:]


def make_own(
    arrays: Iterable[tuple[LaidArray, ArrayNode]],
    files: Sequence[ScannedSource],
    opening: Callable[[str], OpenRequest],
    take: Callable[[str, Coords, bytes], None],
    control: JobControl,
) -> list[OwnChunks]:
    """Put together and encode the own chunks of arrays; each file is opened once.

    Parameters
    ----------
    arrays
        With the node that says how chunks are encoded.
    take
        Takes each chunk: the path of its array, its place, its bytes.

    Raises
    ------
    RefbrowserError
        A file cannot be read, an array cannot be encoded, or numbers have no place in it.
    """
    makings = []
    for laid, node in arrays:
        path = laid.array.path
        makings.append(_Making(laid, node, _taker(take, path), OwnChunks(path)))
    for each in makings:
        each.expect()
    for number, file in enumerate(files):
        control.progress(number, len(files), note=file.name)
        wanted = []
        for each in makings:
            at = each.laid.array.at(number)
            coords = None if at is None else each.laid.own(at)
            if at is not None and coords is not None and len(coords):
                wanted.append((each, at, coords))
        if not wanted:
            continue
        control.check()
        with open_dataset(opening(file.source)) as dataset:
            for each, at, coords in wanted:
                each.add(at, coords, file.begins, dataset, control)
    return [each.end() for each in makings]


def _taker(take: Callable[[str, Coords, bytes], None], path: str) -> Callable[[Coords, bytes], None]:
    def taken(coords: Coords, data: bytes) -> None:
        take(path, coords, data)

    return taken


# What is told of them


def own_note(laid: LaidArray, files: Sequence[ScannedSource]) -> tuple[Mismatch, int]:
    """Return what is told of an array with own chunks before they are made, and their bytes, about."""
    array, found = laid.array, counted(laid)
    size = round(found.elements * (_per_element(laid, files) or array.first.itemsize))
    is_all = found.chunks == found.of
    many = f"all {found.of:,}" if is_all else f"{found.chunks:,} of {found.of:,}"
    rest = "" if is_all else "; the others stay references"
    odd = sum(map(array.is_odd, array.told))
    what = f"{odd} of {len(array.files)} files are stored otherwise" if odd else "chunks of files do not meet"
    message = f"{array.path}: {what}: {many} chunks become own chunks, about {size_text(size)}{rest}"
    return Mismatch(
        kind="own chunks", path=array.path, name="own chunks", message=message, is_blocking=False
    ), size


def _per_element(laid: LaidArray, files: Sequence[ScannedSource]) -> float:
    """Return the stored bytes of an element in files that store it as most do; 0 where that is not known."""
    size = elements = 0
    array = laid.array
    step = max(1, len(array.files) // _SAMPLED)
    for number, told, at in list(zip(array.files, array.told, array.numbers, strict=True))[::step]:
        if array.is_odd(told):
            continue
        chunks = files[number].chunks
        begin = sum(chunks.counts[:at])
        lengths = chunks.length[begin : begin + chunks.counts[at]]
        known = lengths[lengths > 0]
        size += int(known.sum())
        elements += len(known) * prod(told.chunks)
    return size / elements if elements else 0.0


def size_question(size: int) -> RefbrowserError | None:
    """Return the error of many own chunks, which a no becomes; None of few."""
    if size <= LIMITS.own_chunks_question:
        return None
    message = (
        f"about {size_text(size)} of own chunks would be written, more than "
        f"{size_text(LIMITS.own_chunks_question)} (own_chunks_question)"
    )
    return RefbrowserError(ErrorKind.BUDGET, message, advice="give --yes, or --split eras, which writes none")


def check_rounded(own: OwnChunks, request: Combination) -> None:
    """Raise `E_META` where numbers are others than in their files, and nobody accepted that."""
    if not own.rounded or request.accepts("rounding", own.path):
        return
    name = own.path.rpartition("/")[2]
    message = (
        f"{own.rounded:,} values of {quoted(own.path)} would be rounded when they are stored as in most "
        f"files, by {own.error:.3g} at most"
    )
    advice = (
        f"--split eras keeps them as they are, in a group of their own; --accept rounding:{name} rounds them"
    )
    raise RefbrowserError(ErrorKind.META, message, Place(path=own.path), advice)


def own_lines(found: Sequence[OwnChunks]) -> Iterator[str]:
    """Yield what became of own chunks."""
    for each in found:
        values = f"values rounded by {each.error:.3g} at most" if each.rounded else "all values are the same"
        chunks = f"{each.chunks:,} of {each.of:,} chunks are own chunks, {size_text(each.size)}"
        yield f"{each.path}: {chunks}; {values}"
