"""Arrays whose values are not one reference a chunk: made from any number of stretches of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.errors import NOWHERE, Finding, Place, RefbrowserError
from refbrowser.model.grid import ChunkPart
from refbrowser.model.reference import Reference, ReferenceColumns

#: Makes the values of a stretch of bytes, of the shape that the piece tells, in any type that the array's
#: casts from. Raises `RefbrowserError` where they are not what they should be.
DecodePiece = Callable[[memoryview], npt.NDArray[Any]]
#: Looks at the bytes of a whole stretch; returns what is to be warned of, or None.
CheckPiece = Callable[[memoryview], Finding | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePiece:
    """A stretch of bytes, and which of the elements that it holds go where in a part of a tile.

    Attributes
    ----------
    reference
        Where the bytes are; never `Missing`. Pieces of the same `reference` and `how` are read once.
    shape
        Of all values that the bytes hold.
    inside
        Which of them are taken, as slices (with steps) of `shape`.
    target
        Where they go, as slices (with steps) of `Selection.box_shape`.
    decode
        Makes all values of the bytes.
    raw
        Where the bytes are elements of this type in C order: any part of them may be read alone, to its
        place, without `decode`. None where only all of them can be decoded.
    check
        Is given all bytes of the piece, where all of them are read at once.
    hides
        All of its elements are given: nothing is seen of what lies below. Structures may have some of their
        fields only; `decode` then gives values with just these.
    name
        What gives them, for people: ``message 12``.
    place
        Where errors in the bytes are.
    how
        What the decoding depends on besides the bytes, hashable, so that decoded values can be kept.
    """

    reference: Reference
    shape: tuple[int, ...]
    inside: tuple[slice, ...]
    target: tuple[slice, ...]
    decode: DecodePiece
    raw: np.dtype[Any] | None = None
    check: CheckPiece | None = None
    hides: bool = True
    name: str = ""
    place: Place = NOWHERE
    how: tuple[Any, ...] = ()


class ChunkWitness(Protocol):
    """What the file that regular chunks lie in tells of their bytes, beside the references to them."""

    def check(self, url: str, offset: int, data: memoryview) -> Finding | None:
        """Return what is to be warned of in the stored bytes of a chunk, or None."""
        ...

    def fault(self, url: str, offset: int, data: memoryview) -> RefbrowserError | None:
        """Return why the stored bytes of a chunk are not what they should be, in words of the file."""
        ...


class ArraySource(Protocol):
    """What the values of an array are made from, by tile of its (regular) grid.

    The tiles are what is read, counted and drawn together; they need not be how the bytes are stored.
    """

    def pieces(self, part: ChunkPart) -> Iterable[SourcePiece]:
        """Return what gives the elements of a part, in the order in which it is laid down.

        Later pieces replace earlier ones; elements that none gives hold the fill value. None at all: the
        tile is missing.
        """
        ...

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return, in the shape of the grid, `ReferenceKind` DERIVED or MISSING of each tile.

        Only for grids whose number of tiles fits memory: the caller checks it.
        """
        ...

    def kinds_at(self, coords: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return the kind of each of some tiles, shape (n, ndim)."""
        ...

    def stored(self) -> int | None:
        """Return how many tiles are not missing, or None where that is not known."""
        ...


def columns_of_tiles(kinds: npt.NDArray[np.uint8]) -> ReferenceColumns:
    """Return columns that tell the kinds of tiles; there is no reference to any of them."""
    return ReferenceColumns(
        kind=kinds,
        url=np.full(len(kinds), -1, np.int32),
        offset=np.zeros(len(kinds), np.int64),
        length=np.full(len(kinds), -1, np.int64),
        urls=(),
    )


@dataclass(frozen=True, eq=False)
class SourceManifest:
    """Tells of the tiles of a source in the form of references (`ChunkManifest`)."""

    source: ArraySource
    path: str
    grid_shape: tuple[int, ...]

    def key(self, coords: tuple[int, ...]) -> str:
        """Return what a tile is called: as the chunk of Zarr would be."""
        return f"{self.path.strip('/')}/{'.'.join(map(str, coords)) or '0'}"

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return the kinds of the tiles at `coords`."""
        return columns_of_tiles(self.source.kinds_at(coords))

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every tile, in the shape of the grid."""
        return self.source.kinds()

    def stored(self) -> int | None:
        """Return how many tiles are not missing, or None where that is not known."""
        return self.source.stored()
