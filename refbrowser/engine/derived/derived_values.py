"""The values of a derived array as a `Values`: chunks of a grid of its own, each computed when it is read."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from refbrowser.engine.derived.operations import Operation
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.model.values import Values, columns_of_kinds

#: Elements of a chunk, at most.
_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Derived(Values):
    """Chunks that are computed of other arrays.

    Attributes
    ----------
    operation
        What computes them: of as many dimensions as the grid.
    """

    operation: Operation

    @property
    def why(self) -> str:
        """Why no reference gives them."""
        return "it is computed of other arrays"

    @property
    def held(self) -> str:
        """What they are in: nothing."""
        return "no file: they are computed"


@dataclass(frozen=True, slots=True, eq=False)
class DerivedManifest:
    """Tells of chunks that they are made (`ChunkManifest`)."""

    path: str
    grid: RegularChunkGrid

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Number of chunks along each dimension."""
        return self.grid.grid_shape

    def key(self, coords: tuple[int, ...]) -> str:
        """Return what a chunk is called: as one of Zarr would be."""
        return f"{self.path.strip('/')}/{'.'.join(map(str, coords)) or '0'}"

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return that they are made."""
        return columns_of_kinds(np.full(len(coords), ReferenceKind.DERIVED, np.uint8))

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return that all are made."""
        return np.full(self.grid_shape, ReferenceKind.DERIVED, np.uint8)

    def stored(self) -> int:
        """Return the number of all chunks: none is missing."""
        return self.grid.size


def derived_values(path: str, operation: Operation) -> Derived:
    """Return the values that an operation gives, in chunks as those of the arrays that it reads."""
    shape = tuple(operation.sizes.values())
    sides = [max(operation.side(name), 1) for name in operation.sizes]
    for axis, side in enumerate(sides):
        # Outer sides first: what lies together stays so.
        others = prod(sides[:axis]) * prod(sides[axis + 1 :])
        if others * side > _CHUNK:
            sides[axis] = max(_CHUNK // others, 1)
    grid = RegularChunkGrid(shape, tuple(sides))
    return Derived(grid=grid, manifest=DerivedManifest(path, grid), operation=operation)
