"""The references of one array in a reference document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.reference import ReferenceColumns

if TYPE_CHECKING:
    from refbrowser.model.values import ChunkManifest
    from refbrowser.references.content.expansion import Expansion
    from refbrowser.references.rules.layouts import NotDecided


@dataclass(frozen=True, slots=True)
class ExpansionManifest:
    """The references of one array: those of refs, edits and rules combined, the last one counts.

    Parameters
    ----------
    prefix
        What stands before the chunks' own keys: ``temp/``; empty for a root array.
    """

    expansion: Expansion
    prefix: str
    grid_shape: tuple[int, ...]
    encoding: ChunkKeyEncoding

    def key(self, coords: tuple[int, ...]) -> str:
        """Return the full key of the chunk at `coords`."""
        return self.prefix + self.encoding.encode(coords)

    def row(self, coords: tuple[int, ...]) -> int | NotDecided | None:
        """Return the row of the expansion that gives the chunk at `coords`."""
        return self.expansion.find(self.key(coords))

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return the references of the chunks at `coords`, shape (n, ndim), in that order."""
        return self.expansion.chunk_columns(self.prefix, coords, self.encoding)

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk, in the shape of the grid."""
        return self.expansion.chunk_kinds(self.prefix, self.grid_shape, self.encoding)

    def stored(self) -> int | None:
        """Return how many chunks have a reference, or None where that is not known."""
        return self.expansion.stored_chunks(self.prefix, self.grid_shape, self.encoding)


def single_manifests(manifest: ChunkManifest) -> Iterator[ExpansionManifest]:
    """Yield the manifests that a manifest is made of: one for each spelling of its chunk keys."""
    if isinstance(manifest, ExpansionManifest):
        yield manifest
    for each in getattr(manifest, "manifests", ()):
        yield from single_manifests(each)
