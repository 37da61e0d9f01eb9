"""Arrays whose values are not one reference a chunk: made from any number of stretches of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.errors import NOWHERE, Finding, Place
from refbrowser.model.grid import ChunkPart
from refbrowser.model.reference import Reference

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
    name: str = ""
    place: Place = NOWHERE
    how: tuple[Any, ...] = ()


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

    def stored(self) -> int | None:
        """Return how many tiles are not missing, or None where that is not known."""
        ...
