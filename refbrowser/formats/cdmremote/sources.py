"""The values of a variable that a service of CDM Remote sends, by tile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Place
from refbrowser.formats.cdmremote.answers import Question
from refbrowser.formats.cdmremote.naming import data_url
from refbrowser.formats.ncstream.definition import StreamVariable
from refbrowser.formats.ncstream.elements import is_ragged
from refbrowser.formats.ncstream.options import StreamOptions
from refbrowser.limits import LIMITS
from refbrowser.model.grid import ChunkPart, RegularChunkGrid
from refbrowser.model.reference import ReferenceKind, WholeFile
from refbrowser.model.values import SourcePiece

#: Tiles of so many elements are asked for whole: parts of them cost as many requests as there are parts.
_WHOLE = 1 << 14


def tile_grid(variable: StreamVariable, shape: tuple[int, ...]) -> RegularChunkGrid:
    """Return the tiles in which a variable is asked for: runs of its elements in C order, bounded in size."""
    dtype = variable.type.dtype
    is_plain = dtype is not None and not is_ragged(variable)
    left = LIMITS.remote_tile // dtype.itemsize if is_plain and dtype is not None else LIMITS.remote_objects
    sides = []
    for length in reversed(shape):
        side = max(min(length, left), 1)
        sides.append(side)
        left //= side
    return RegularChunkGrid(shape, tuple(reversed(sides)))


@dataclass(frozen=True, slots=True, eq=False)
class RemoteSource:
    """What a service sends of one variable; only what is wanted of a tile is asked for.

    Attributes
    ----------
    endpoint
        URL of the service.
    path
        Of the variable, absolute, without escapes.
    """

    endpoint: str
    path: str
    variable: StreamVariable
    grid: RegularChunkGrid
    options: StreamOptions

    def pieces(self, part: ChunkPart) -> Iterator[SourcePiece]:
        """Yield the one piece that gives the elements of a part."""
        origin, extent = self.grid.origin(part.coords), self.grid.extent(part.coords)
        if prod(extent) <= _WHOLE:
            section = tuple(range(at, at + side) for at, side in zip(origin, extent, strict=True))
            inside = part.inside
        else:
            section = tuple(
                range(at + taken.start, at + taken.stop, taken.step or 1)
                for at, taken in zip(origin, part.inside, strict=True)
            )
            inside = tuple(slice(len(taken)) for taken in section)
        # All of a variable is asked for by its name alone: every service understands that.
        asked = () if tuple(map(len, section)) == self.grid.shape else section
        url = data_url(self.endpoint, self.path, asked, is_ragged=is_ragged(self.variable))
        question = Question(self.path, self.variable, section, self.options)
        yield SourcePiece(
            reference=WholeFile(url),
            shape=tuple(map(len, section)),
            inside=inside,
            target=part.target,
            decode=question.values,
            name="the answer",
            place=Place(path=self.path, url=url),
            how=(self.options,),
        )

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return that every tile is derived: a service says nothing of what is missing."""
        return np.full(self.grid.grid_shape, ReferenceKind.DERIVED, np.uint8)

    def kinds_at(self, coords: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return the kind of each of some tiles, shape (n, ndim)."""
        return np.full(len(coords), ReferenceKind.DERIVED, np.uint8)

    def stored(self) -> int | None:
        """Return None: what is missing is not known."""
        return None
