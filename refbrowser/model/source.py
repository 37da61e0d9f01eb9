"""Arrays whose values are not one reference a chunk: made from any number of stretches of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.errors import NOWHERE, Place
from refbrowser.model.grid import ChunkPart
from refbrowser.model.reference import Reference

#: Makes the values of a piece from its bytes, in a shape that fits its target.
#: Raises `RefbrowserError` where they are not what they should be.
DecodePiece = Callable[[memoryview], npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class SourcePiece:
    """A stretch of bytes, and which elements of a part of a tile it gives.

    Attributes
    ----------
    reference
        Where the bytes are; never `Missing`.
    target
        Where the values go, as slices (with steps) of `Selection.box_shape`.
    decode
        Makes them of the bytes.
    is_raw
        The bytes are the values of the target in C order, in the type of the array: they may be read to
        their place without `decode`.
    name
        What gives them, for people: ``message 12``.
    place
        Where errors in the bytes are.
    how
        What the decoding depends on besides the bytes, so that decoded values can be kept.
    """

    reference: Reference
    target: tuple[slice, ...]
    decode: DecodePiece
    is_raw: bool = False
    name: str = ""
    place: Place = NOWHERE
    how: tuple[Any, ...] = field(default=())


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
