"""Elements that a library tells: what they are, how its process sends them, values that it reads itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.findings.finding import Finding
from refbrowser.formats.library.process import LibraryFile
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import DataType, RowType, ended_texts, named_values, rows_type
from refbrowser.model.dtypes import type_name
from refbrowser.model.grid import ChunkPart, RegularChunkGrid
from refbrowser.model.reference import Inline, ReferenceKind
from refbrowser.model.values import SourcePiece

#: A type as readers tell it: `hdf5_reader` tells all kinds.
Tree = Mapping[str, Any]
_COUNTS = np.dtype(np.uint32)


def dtype_of(tree: Tree) -> np.dtype[Any]:
    """Return the numpy type of elements; texts, references and rows are objects.

    Raises
    ------
    RefbrowserError
        `E_META`: there is none.
    """
    kind = tree["kind"]
    if kind == "plain":
        dtype = np.dtype(tree["dtype"])
        if "ending" in tree:
            return ended_texts(dtype, tree["ending"])
        return named_values(dtype, dict(tree["names"])) if "names" in tree else dtype
    if kind == "array":
        return np.dtype((dtype_of(tree["of"]), tuple(tree["shape"])))
    if kind == "structure":
        fields = tree["fields"]
        names, formats = [name for name, _, _ in fields], [dtype_of(of) for _, _, of in fields]
        if any(each.hasobject for each in formats) or not is_stored_so(tree):
            return np.dtype(list(zip(names, formats, strict=True)))
        offsets = [offset for _, offset, _ in fields]
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": tree["size"]})
    if kind in ("string", "reference"):
        return rows_type(str)
    if kind == "rows":
        return rows_type(dtype_of(tree["of"]))
    raise RefbrowserError(ErrorKind.META, f"elements of this type cannot be read: {tree.get('name', kind)}")


def data_type_of(tree: Tree) -> DataType:
    """Return what an element is, as the model says it; raises as `dtype_of` does."""
    dtype = dtype_of(tree)
    if tree["kind"] in ("string", "reference"):
        return DataType(dtype, "string")
    if tree["kind"] == "rows":
        elements = data_type_of(tree["of"])
        return RowType(dtype, f"vlen({elements.name})", elements)
    return DataType.of(dtype, type_name(dtype))


def is_stored_so(tree: Tree) -> bool:
    """Tell whether elements are stored as numpy holds them."""
    kind = tree["kind"]
    if kind == "plain":
        return bool(tree["exact"])
    if kind == "array":
        return is_stored_so(tree["of"])
    return kind == "structure" and all(is_stored_so(of) for _, _, of in tree["fields"])


def why_not_stored_so(tree: Tree) -> str:
    """Return why no bytes of the file are the elements; empty where some are."""
    kind = tree["kind"]
    if kind == "string":
        return "its texts have variable length, and are stored elsewhere in the file"
    if kind == "rows":
        return "its elements are rows of variable length, which are stored elsewhere in the file"
    if kind == "reference":
        return "its elements are references to other objects of the file"
    if kind == "plain":
        return "" if tree["exact"] else f"its numbers of {tree['bits']} bits have no numpy type"
    if kind == "array":
        return why_not_stored_so(tree["of"])
    if kind == "structure":
        found = ((name, why_not_stored_so(of)) for name, _, of in tree["fields"])
        return next((f"of its member {name}: {why}" for name, why in found if why), "")
    return f"elements of this type cannot be read: {tree.get('name', kind)}"


class _Cursor:
    """What is left of the bytes of an answer."""

    def __init__(self, data: memoryview) -> None:
        self._data = data

    def take(self, size: int) -> memoryview:
        """Return the next bytes."""
        if size > len(self._data):
            raise RefbrowserError(ErrorKind.DECODE, "the answer has too few bytes")
        taken, self._data = self._data[:size], self._data[size:]
        return taken


def unpacked(tree: Tree, count: int, data: memoryview) -> npt.NDArray[Any]:
    """Return elements as `hdf5_reader` packs them, shape (count,), for arrays in arrays (count, ...).

    Raises
    ------
    RefbrowserError
        `E_DECODE`: they are not so many.
    """
    return _unpacked(tree, count, _Cursor(data))


def _unpacked(tree: Tree, count: int, cursor: _Cursor) -> npt.NDArray[Any]:
    kind = tree["kind"]
    if kind == "plain":
        dtype = dtype_of(tree)
        return np.frombuffer(cursor.take(count * dtype.itemsize), dtype, count)
    if kind == "array":
        shape = tuple(tree["shape"])
        inner = _unpacked(tree["of"], count * prod(shape), cursor)
        return inner.reshape(count, *shape, *inner.shape[1:])
    if kind == "structure":
        made = np.empty(count, dtype_of(tree))
        for name, _, of in tree["fields"]:
            made[name] = _unpacked(of, count, cursor)
        return made
    objects = np.empty(count, dtype_of(tree))
    counts = np.frombuffer(cursor.take(4 * count), _COUNTS).astype(np.int64)
    ends = np.cumsum(counts)
    total = int(ends[-1]) if count else 0
    starts = (ends - counts).tolist()
    if kind == "rows":
        rows = _unpacked(tree["of"], total, cursor)
        for at, (start, stop) in enumerate(zip(starts, ends.tolist(), strict=True)):
            objects[at] = rows[start:stop]
        return objects
    data = bytes(cursor.take(total))
    for at, (start, stop) in enumerate(zip(starts, ends.tolist(), strict=True)):
        objects[at] = data[start:stop].decode("utf-8", "replace")
    return objects


def asked_grid(shape: tuple[int, ...], sides: tuple[int, ...] | None, size: int) -> RegularChunkGrid:
    """Return the boxes in which the library is asked: chunks, or runs of elements of bounded size."""
    if sides is not None and prod(sides) * size <= LIMITS.library_tile:
        return RegularChunkGrid(shape, sides)
    left = max(LIMITS.library_tile // max(size, 1), 1)
    found = []
    for length in reversed(shape if sides is None else tuple(map(min, shape, sides))):
        side = max(min(length, left), 1)
        found.append(side)
        left //= side
    return RegularChunkGrid(shape, tuple(reversed(found)))


@dataclass(frozen=True, slots=True, eq=False)
class LibrarySource:
    """The values of an array that the library reads itself (`ArraySource`).

    Attributes
    ----------
    path
        Absolute, as the file has it: what is no UTF-8 as surrogates.
    tree
        Of its elements; of arrays in arrays that of the elements of these.
    inner
        The shape of such arrays, the last sides of that of the grid.
    look
        Looks at what is to be warned of before values are read; None where nothing is known to look for.
    lost
        Why elements are lost, by the first coordinates of the parts of `grid` that have them.
    """

    file: LibraryFile
    path: str
    tree: Tree
    grid: RegularChunkGrid
    inner: tuple[int, ...] = ()
    look: Callable[[], Finding | None] | None = None
    lost: Mapping[tuple[int, ...], RefbrowserError] = field(default_factory=dict)

    def pieces(self, part: ChunkPart) -> Iterator[SourcePiece]:
        """Yield the one piece that gives the elements of a part."""
        if (error := self._lost_at(part.coords)) is not None:
            yield SourcePiece.lost(error, self.file.called, part.target)
            return
        origin, extent = self.grid.origin(part.coords), self.grid.extent(part.coords)

        def decode(data: memoryview) -> npt.NDArray[Any]:
            return self._read(origin, extent)

        look = self.look
        yield SourcePiece(
            reference=Inline(b""),
            shape=extent,
            inside=part.inside,
            target=part.target,
            decode=decode,
            check=None if look is None else lambda data: look(),
            name=self.file.called,
            place=Place(path=self.path, url=self.file.url),
            how=(self.file.url, self.path, part.coords),
        )

    def _read(self, origin: tuple[int, ...], extent: tuple[int, ...]) -> npt.NDArray[Any]:
        try:
            return _boxes_read([(self, origin, extent)])[0]
        except RefbrowserError as error:
            raise error.at(replace(error.place, path=self.path)) from None

    def request(self, origin: tuple[int, ...], extent: tuple[int, ...]) -> dict[str, Any]:
        """Return what asks for the elements of a box."""
        ndim = len(extent) - len(self.inner)
        box = [[start, start + side] for start, side in zip(origin[:ndim], extent[:ndim], strict=True)]
        return {"path": self.path, "box": box}

    def values(self, origin: tuple[int, ...], extent: tuple[int, ...], data: memoryview) -> npt.NDArray[Any]:
        """Return the elements of a box from what was answered."""
        ndim = len(extent) - len(self.inner)
        whole = unpacked(self.tree, prod(extent[:ndim]) * prod(self.inner), data)
        whole = whole.reshape(extent[:ndim] + self.inner)
        inner = tuple(
            slice(start, start + side) for start, side in zip(origin[ndim:], extent[ndim:], strict=True)
        )
        return whole[(slice(None),) * ndim + inner] if inner else whole

    def _lost_at(self, coords: Sequence[int]) -> RefbrowserError | None:
        return self.lost.get(tuple(coords[: len(next(iter(self.lost)))])) if self.lost else None

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return that every chunk is derived, but those that are lost."""
        found = np.full(self.grid.grid_shape, ReferenceKind.DERIVED, np.uint8)
        for coords in self.lost:
            found[coords] = ReferenceKind.FAULTY
        return found

    def kinds_at(self, coords: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return the kind of each of some chunks, shape (n, ndim)."""
        found = np.full(len(coords), ReferenceKind.DERIVED, np.uint8)
        if self.lost:
            found[[self._lost_at(each) is not None for each in coords.tolist()]] = ReferenceKind.FAULTY
        return found

    def stored(self) -> None:
        """Return None: it is not counted."""


#: A part of an array: what reads it, where it begins, and its sides.
Box: TypeAlias = tuple[LibrarySource, tuple[int, ...], tuple[int, ...]]


def read_boxes(
    boxes: Sequence[Box], token: CancelToken | None = None
) -> list[npt.NDArray[Any] | RefbrowserError]:
    """Return the elements of parts of the arrays of one file, or why they cannot be read.

    One question asks for all of them; where it fails each is asked for alone.
    """
    if not boxes:
        return []
    try:
        return [*_boxes_read(boxes, token)]
    except RefbrowserError as error:
        if len(boxes) == 1:
            return [error]
    return [read_boxes([each], token)[0] for each in boxes]


def _boxes_read(boxes: Sequence[Box], token: CancelToken | None = None) -> list[npt.NDArray[Any]]:
    found: list[npt.NDArray[Any]] = []

    def take(answer: dict[str, Any], data: memoryview) -> None:
        source, origin, extent = boxes[len(found)]
        found.append(source.values(origin, extent, data))

    requests = [source.request(origin, extent) for source, origin, extent in boxes]
    boxes[0][0].file.ask("read", {"each": requests}, take, token)
    return found
