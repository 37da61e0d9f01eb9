"""The references of an array whose chunk keys may be written in more than one way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refbrowser.formats.zarr.source import ManifestMaker
from refbrowser.formats.zarr_draft.keys import ChunkSpelling
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.model.values import ChunkManifest
from refbrowser.references.document.expansion import merged


@dataclass(frozen=True, slots=True)
class FirstFoundManifest:
    """The manifests of all spellings: for each chunk, the first that has a reference counts."""

    manifests: tuple[ChunkManifest, ...]

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Number of chunks along each dimension."""
        return self.manifests[0].grid_shape

    def key(self, coords: tuple[int, ...]) -> str:
        """Return the full key of the chunk at `coords`: one that is there, else the usual one."""
        row = np.array([coords], np.int64).reshape(1, len(coords))
        for manifest in self.manifests:
            if manifest.columns(row).kind[0] != ReferenceKind.MISSING:
                return manifest.key(coords)
        return self.manifests[0].key(coords)

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return the references of the chunks at `coords`, shape (n, ndim), in that order."""
        columns = self.manifests[0].columns(coords)
        for manifest in self.manifests[1:]:
            gone = np.flatnonzero(columns.kind == ReferenceKind.MISSING)
            if not len(gone):
                break
            other = manifest.columns(coords[gone])
            if (other.kind != ReferenceKind.MISSING).any():
                columns = merged(columns, gone, other)
        return columns

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk, in the shape of the grid."""
        kinds = self.manifests[0].kinds()
        for manifest in self.manifests[1:]:
            if (kinds != ReferenceKind.MISSING).all():
                break
            kinds = np.where(kinds == ReferenceKind.MISSING, manifest.kinds(), kinds)
        return kinds

    def stored(self) -> int | None:
        """Return how many chunks have a reference, or None where that is not known."""
        counts = [manifest.stored() for manifest in self.manifests]
        found = [count for count in counts if count]
        if len(found) <= 1 and None not in counts:
            return sum(found)
        return None if None in counts else int(np.count_nonzero(self.kinds() != ReferenceKind.MISSING))


def manifest_of(
    spellings: Sequence[ChunkSpelling], grid: RegularChunkGrid, manifests: ManifestMaker
) -> ChunkManifest:
    """Return the manifest of an array with these spellings of its chunk keys."""
    made = tuple(manifests(each.prefix, grid, each.encoding) for each in spellings)
    return made[0] if len(made) == 1 else FirstFoundManifest(made)
