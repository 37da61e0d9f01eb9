"""The proof of references: whole chunks that they give are compared with what their file gives.

What a file gives is read by the library of its format where there is one, in another process, and else by the
reader of this program.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import filled
from refbrowser.engine.dataset import Array, Dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.library.library_source import LibrarySource, read_boxes
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import end_texts
from refbrowser.model.grid import ChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import Inline, Missing, Reference, ReferenceColumns, ReferenceKind, columns_of

#: Elements that are compared of a chunk that is too large to be compared whole.
_ELEMENTS = 1 << 20
#: Bytes that are compared at a time.
_PAGE = 32 << 20
#: Chunks of an array that are looked at for such as are stored.
_LOOKED = 4096

Values: TypeAlias = npt.NDArray[Any]


@dataclass(slots=True)
class Proof:
    """What was compared.

    Attributes
    ----------
    arrays
        How many the references have.
    compared
        Chunks whose values were those of the file.
    unread
        Chunks that cannot be read of the file either.
    alone
        How many of the compared ones no library has read, only the reader of this program.
    """

    arrays: int = 0
    compared: int = 0
    unread: int = 0
    alone: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """A chunk to be compared, as far as it lies in the array; or the beginning of one.

    Attributes
    ----------
    original
        The array of the file.
    source
        What has the file's library read it; None where there is none.
    reference
        Where its bytes are; None of what is read as others read it: of parts of chunks.
    """

    array: Array
    original: Array
    source: LibrarySource | None
    coords: tuple[int, ...]
    extent: tuple[int, ...]
    reference: Reference | RefbrowserError | None

    @property
    def origin(self) -> tuple[int, ...]:
        """Where it begins in the array."""
        return self.array.node.grid.origin(self.coords)

    @property
    def index(self) -> tuple[slice, ...]:
        """Where it lies in the array."""
        return tuple(slice(start, start + side) for start, side in zip(self.origin, self.extent, strict=True))

    @property
    def size(self) -> int:
        """Bytes of its elements."""
        return prod(self.extent) * self.array.node.known_dtype.itemsize


@dataclass(frozen=True, slots=True)
class Sampling:
    """How much is compared.

    Attributes
    ----------
    chosen
        Yields the coordinates of the chunks of an array that are compared, some at a time.
    largest
        Bytes of a chunk that is compared whole.
    room
        Bytes that are compared of one file, but for its first chunk of each array.
    """

    chosen: Callable[[ArrayNode], Iterator[list[tuple[int, ...]]]]
    largest: int
    room: int


def proved(
    source: Dataset, references: Dataset, token: CancelToken, sampling: Sampling | None = None
) -> Proof:
    """Return what was compared of references and the file that they were made of.

    Parameters
    ----------
    sampling
        How much is compared; `SAMPLE` where nothing is said.

    Raises
    ------
    RefbrowserError
        `E_IO`: they give other values than the file.
    """
    proof = Proof(arrays=len(references.arrays))
    page: list[_Sample] = []
    size = 0
    for sample in _samples(source, references, sampling or SAMPLE):
        page.append(sample)
        size += sample.size
        if size >= _PAGE:
            _prove(references, page, proof, token)
            page, size = [], 0
    _prove(references, page, proof, token)
    return proof


def different(path: str, what: str) -> RefbrowserError:
    """Return the error of references to something else than the file."""
    message = f"verification failed: references were made of {quoted(path)}, but {what}"
    return RefbrowserError(ErrorKind.IO, message, Place(path=path))


# Which chunks are compared


def _samples(source: Dataset, references: Dataset, sampling: Sampling) -> Iterator[_Sample]:
    """Yield what is compared: the first chunk of each array before the second of any."""
    of_arrays = []
    for path, array in references.arrays.items():
        original = source.arrays.get(path)
        if original is None or array.shape != original.shape:
            raise different(path, "the file has no such array")
        if array.node.has_grid and prod(array.shape) > 0:
            of_arrays.append(_of_array(source, original, array, sampling))
    left = sampling.room
    for number, together in enumerate(zip_longest(*of_arrays)):
        for sample in together:
            if sample is None:
                continue
            left -= sample.size
            if left >= 0 or not number:
                yield sample


def _of_array(source: Dataset, original: Array, array: Array, sampling: Sampling) -> Iterator[_Sample]:
    node = array.node
    grid, library = node.grid, _library_of(source, original, node)
    if node.values.encoded is not None and prod(grid.largest) * node.known_dtype.itemsize <= sampling.largest:
        for chosen in sampling.chosen(node):
            columns = node.manifest.columns(np.array(chosen, np.int64).reshape(len(chosen), -1))
            for row, coords in enumerate(chosen):
                yield _Sample(array, original, library, coords, grid.extent(coords), _reference(columns, row))
        return
    for number in dict.fromkeys((0, grid.size - 1, grid.size // 2)):
        at = tuple(int(each) for each in np.unravel_index(number, grid.grid_shape))
        yield _Sample(array, original, library, at, _bounded(grid.extent(at)), None)


def _bounded(extent: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sides of what is compared of a part that may be large."""
    room = _ELEMENTS
    sides: list[int] = []
    for length in reversed(extent):
        sides.insert(0, max(1, min(length, room)))
        room //= sides[0]
    return tuple(sides)


def _reference(columns: ReferenceColumns, row: int) -> Reference | RefbrowserError:
    try:
        return columns.reference(row)
    except RefbrowserError as error:
        return error


def _library_of(source: Dataset, original: Array, node: ArrayNode) -> LibrarySource | None:
    """Return what has the library of the file read an array; None where there is none."""
    by_library = source.document.by_library(node) or original.node
    found = by_library.values.assembled
    return found if isinstance(found, LibrarySource) and found.grid.shape == node.shape else None


def _some(node: ArrayNode) -> Iterator[list[tuple[int, ...]]]:
    """Yield chunks that are stored, the first, the last, the middle one and one at the edge, and a gap."""
    grid = node.grid
    if not grid.ndim:
        yield [()]
        return
    looked = np.unique(np.linspace(0, grid.size - 1, min(grid.size, _LOOKED)).astype(np.int64))
    coords = np.stack(np.unravel_index(looked, grid.grid_shape), axis=1).astype(np.int64)
    is_missing = node.manifest.columns(coords).kind == ReferenceKind.MISSING
    stored, missing = np.flatnonzero(~is_missing), np.flatnonzero(is_missing)
    found = [tuple(coords[at].tolist()) for at in (*stored[:1], *stored[-1:])]
    found += [edge for edge in (_edge(grid),) if edge is not None]
    found += [tuple(coords[at].tolist()) for at in (*stored[len(stored) // 2 :][:1], *missing[:1])]
    yield list(dict.fromkeys(found))


def _all(node: ArrayNode) -> Iterator[list[tuple[int, ...]]]:
    """Yield all chunks."""
    grid = node.grid
    for start in range(0, grid.size, _LOOKED):
        numbers = np.arange(start, min(start + _LOOKED, grid.size))
        coords = np.stack(np.unravel_index(numbers, grid.grid_shape), axis=1) if grid.ndim else [()]
        yield [tuple(map(int, each)) for each in coords]


#: Some chunks of each array of a file; and all of them.
SAMPLE = Sampling(_some, largest=64 << 20, room=256 << 20)
WHOLE = Sampling(_all, largest=LIMITS.chunk_size, room=sys.maxsize)


def _edge(grid: ChunkGrid) -> tuple[int, ...] | None:
    """Return the first chunk that is cut by the end of the array; None where none is."""
    for axis, along in enumerate(grid.dimensions):
        count = along.count
        if count and along.side(count - 1) > along.extent(count - 1):
            return (*(0,) * axis, count - 1, *(0,) * (grid.ndim - axis - 1))
    return None


# Comparing


def _prove(references: Dataset, page: Sequence[_Sample], proof: Proof, token: CancelToken) -> None:
    """Compare some chunks."""
    found = _given(references, page, token)
    asked = [(each.source, each.origin, each.extent) for each in page if each.source is not None]
    read = iter(read_boxes(asked, token))
    for sample, mine in zip(page, found, strict=True):
        # What lies behind the end of a file may be zeros to its library.
        theirs = next(read) if sample.source is not None else _own(sample)
        if isinstance(mine, RefbrowserError):
            theirs = _own(sample)
        # References give the spaces that fill texts up; what else is not of a text may be taken for it.
        for values in (mine, theirs):
            if not isinstance(values, RefbrowserError):
                end_texts(values, sample.original.node.known_dtype, ("space",))
        if isinstance(theirs, RefbrowserError):
            proof.unread += 1
        elif isinstance(mine, RefbrowserError):
            raise different(sample.array.path, f"a chunk cannot be read: {mine.message}") from mine
        elif not is_same(mine, theirs):
            raise different(sample.array.path, "their values differ from those of the file")
        else:
            proof.compared += 1
            proof.alone += sample.source is None


def _own(sample: _Sample) -> Values | RefbrowserError:
    """Return what this program reads of the file."""
    try:
        return np.asarray(sample.original[sample.index])
    except RefbrowserError as error:
        return error


def _given(
    references: Dataset, page: Sequence[_Sample], token: CancelToken
) -> list[Values | RefbrowserError]:
    """Return what references give of some chunks: those that are whole are read all at once."""
    found: list[Values | RefbrowserError] = [RefbrowserError(ErrorKind.IO, "it was not read")] * len(page)
    wanted: dict[int, Reference] = {}
    pipelines: dict[str, CodecPipeline] = {}
    fetcher, access = references.session.fetcher, references.access

    def take(number: int, data: Any) -> None:
        sample = page[number]
        path = sample.array.path
        try:
            if isinstance(data, RefbrowserError):
                raise data
            if path not in pipelines:
                pipelines[path] = CodecPipeline.for_array(sample.array.node)
            chunk = pipelines[path].decode(data)
            found[number] = chunk[tuple(map(slice, sample.extent))].copy()
        except RefbrowserError as error:
            found[number] = error

    for number, sample in enumerate(page):
        node, reference = sample.array.node, sample.reference
        if reference is None:
            try:
                found[number] = np.asarray(sample.array[sample.index])
            except RefbrowserError as error:
                found[number] = error
        elif isinstance(reference, RefbrowserError):
            found[number] = reference
        elif isinstance(reference, Missing):
            found[number] = filled(sample.extent, node.known_dtype, node.fill_value)
        elif isinstance(reference, Inline):
            take(number, reference.data)
        else:
            wanted[number] = reference

    def fetch(numbers: Sequence[int]) -> None:
        columns = columns_of(wanted[number] for number in numbers)
        plan = fetcher.plan(columns, access)
        fetcher.fetch(plan, access, lambda row, data: take(numbers[row], data), cancel=token, export=True)

    if wanted:
        fetch([*wanted])
        # What is read together fails together.
        for number in [number for number in wanted if isinstance(found[number], RefbrowserError)]:
            fetch([number])
    return found


def is_same(found: Values, expected: Values) -> bool:
    """Tell whether values are the same, bit for bit; what is no number equals another that is none."""
    if found.shape != expected.shape:
        return False
    if found.dtype.hasobject or expected.dtype.hasobject:
        return bool(repr(found.tolist()) == repr(expected.tolist()))
    if expected.dtype.names is not None:
        # What fills up structures is a member in Zarr.
        names = set(expected.dtype.names)
        return names <= set(found.dtype.names or ()) and all(
            is_same(found[name], expected[name]) for name in names
        )
    found, expected = np.ascontiguousarray(found), np.ascontiguousarray(expected.astype(found.dtype))
    if found.tobytes() == expected.tobytes():
        return True
    if found.dtype.kind != "f":
        return False
    differs = (found.reshape(-1, 1).view("u1") != expected.reshape(-1, 1).view("u1")).any(axis=1)
    return bool(np.isnan(found.reshape(-1)[differs]).all() and np.isnan(expected.reshape(-1)[differs]).all())
