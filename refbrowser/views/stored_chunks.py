"""How many chunks of an array are stored, and how many bytes they take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceKind

#: Arrays of more chunks are counted, but their sizes are not added up.
SIZED_CHUNKS = 500_000
_BLOCK = 16_384


@dataclass(frozen=True, slots=True)
class StoredChunks:
    """What is stored of an array.

    Attributes
    ----------
    stored
        Chunks with a reference, out of `total`; None where that is not known.
    size
        Their bytes, as far as the references tell; None where they were not added up.
    files
        Chunks that are whole files, whose size the references do not tell.
    inline
        Chunks that stand in the document and are not counted in `size`.
    assembled
        Tiles that are assembled from messages, whose bytes are not counted.
    lost
        Those of `stored` that cannot be read: their references are faulty, or what gave them is damaged.
    """

    stored: int | None
    total: int
    size: int | None = None
    files: int = 0
    inline: int = 0
    assembled: int = 0
    lost: int = 0


def stored_chunks(node: ArrayNode, check: Callable[[], None]) -> StoredChunks | None:
    """Count the stored chunks of an array; None where it has no chunk grid. `check` raises when cancelled."""
    if node.manifest is None or node.grid is None:
        return None
    stored, total = node.manifest.stored(), node.grid.size
    if total > SIZED_CHUNKS:
        return StoredChunks(stored, total)
    size = files = inline = assembled = lost = 0
    for start in range(0, total, _BLOCK):
        check()
        flat = np.arange(start, min(start + _BLOCK, total), dtype=np.int64)
        shape = node.manifest.grid_shape
        coords = np.stack(np.unravel_index(flat, shape), axis=1) if shape else np.zeros((1, 0), np.int64)
        columns = node.manifest.columns(coords.astype(np.int64))
        known = columns.length >= 0
        size += int(columns.length[known & (columns.kind != ReferenceKind.MISSING)].sum())
        files += int((~known & (columns.kind == ReferenceKind.WHOLE)).sum())
        assembled += int((columns.kind == ReferenceKind.DERIVED).sum())
        lost += int((columns.kind == ReferenceKind.FAULTY).sum())
        inline += int((~known & (columns.kind == ReferenceKind.INLINE)).sum())
    return StoredChunks(stored, total, size, files, inline, assembled, lost)
