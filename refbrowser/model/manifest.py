"""The references of one array in the shape of its chunk grid."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.model.reference import ReferenceColumns


class ChunkManifest(Protocol):
    """Chunk coordinates to references; computed, not stored, for gen rules and key formulas."""

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Number of chunks along each dimension; () for a 0-d array."""
        ...

    def key(self, coords: tuple[int, ...]) -> str:
        """Return the full key of the chunk at `coords`, as it stands in the document."""
        ...

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return the references of the chunks at `coords`, shape (n, ndim), in that order."""
        ...

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk, in the shape of the grid.

        Only for grids whose number of chunks fits memory: the caller checks it.
        """
        ...

    def stored(self) -> int | None:
        """Return how many chunks have a reference, or None where that is not known."""
        ...
