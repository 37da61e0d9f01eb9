"""The references of one array of a store: chunks that a listing did not find are missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.io.access.access import chained_url
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.listing import ListedChunks
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.references.content.expansion import Expansion
from refbrowser.references.content.origins import StoreOrigin

#: Chunks whose references are looked at together.
_BLOCK = 65_536
#: Arrays of more chunks are counted by the listing alone: single edited references are not looked for.
COUNTED = 1 << 21


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreManifest(ExpansionManifest):
    """The references of one array; `store` knows what was found in it so far."""

    store: StoreOrigin

    @classmethod
    def of(
        cls,
        expansion: Expansion,
        store: StoreOrigin,
        prefix: str,
        grid: RegularChunkGrid,
        encoding: ChunkKeyEncoding,
    ) -> Self:
        """Return the manifest of an array.

        Raises
        ------
        RefbrowserError
            E_BUDGET: there was no room for references of its chunks.
        """
        if prefix in store.left_out:
            # Without references its chunks would read as missing.
            message = "the references of the array's chunks do not fit into the document"
            advice = "Open the array, or its group, by its own path."
            raise RefbrowserError(ErrorKind.BUDGET, message, advice=advice)
        return cls(expansion, prefix, grid.grid_shape, encoding, store=store)

    @property
    def listed(self) -> ListedChunks | None:
        """The chunks that the store holds; None until it was listed."""
        listing = self.store.facts.listing
        chunks = None if listing is None else listing.chunks.get(self.prefix)
        return chunks if chunks is not None and chunks.grid_shape == self.grid_shape else None

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return the references of the chunks at `coords`, shape (n, ndim), in that order."""
        columns = ExpansionManifest.columns(self, coords)
        listed = self.listed
        if listed is None or not listed.missing:
            return columns
        absent = np.flatnonzero(~listed.has(coords) & (columns.kind == ReferenceKind.WHOLE))
        gone = [row for row in absent.tolist() if self._is_own(columns, row, coords)]
        if not gone:
            return columns
        kind, url = columns.kind.copy(), columns.url.copy()
        kind[gone], url[gone] = ReferenceKind.MISSING, -1
        return replace(columns, kind=kind, url=url)

    def _is_own(self, columns: ReferenceColumns, row: int, coords: npt.NDArray[np.int64]) -> bool:
        """Whether a chunk is still looked for where the store would have it: an edit may lead elsewhere."""
        url, key = columns.urls[columns.url[row]], self.key(tuple(coords[row].tolist()))
        store = self.store
        key = store.folder + key
        return url == (chained_url(key, store.root) if store.container == "zip" else f"{store.root}/{key}")

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk, in the shape of the grid."""
        kinds = ExpansionManifest.kinds(self)
        listed = self.listed
        if listed is None or not listed.missing:
            return kinds
        flat = kinds.reshape(-1)
        for start in range(0, len(flat), _BLOCK):
            numbers = np.arange(start, min(start + _BLOCK, len(flat)))
            coords = np.stack(np.unravel_index(numbers, self.grid_shape), axis=1) if self.grid_shape else None
            rows = np.zeros((1, 0), np.int64) if coords is None else coords.astype(np.int64)
            flat[numbers] = self.columns(rows).kind
        return flat.reshape(self.grid_shape)

    def stored(self) -> int | None:
        """Return how many chunks are stored; None until the store was listed."""
        listed = self.listed
        if listed is None:
            return None
        document = self.expansion.document
        if document.known is not None and not document.templates.values:
            # Nothing was edited: every chunk is referred to, where the store would have it.
            return listed.stored
        referred = ExpansionManifest.stored(self)
        if referred == listed.total > COUNTED or (referred == listed.total and not listed.missing):
            return listed.stored
        if listed.total > COUNTED:
            return None
        return int(np.count_nonzero(self.kinds() != ReferenceKind.MISSING))
