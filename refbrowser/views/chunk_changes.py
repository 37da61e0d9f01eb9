"""Which chunks of an array refer to something else than they do in another state of the document."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.model.manifest import ChunkManifest
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

if TYPE_CHECKING:
    from refbrowser.references.document.document import ReferenceDocument


class Change(IntEnum):
    """What edits did to a chunk's reference."""

    SAME = 0
    CHANGED = 1
    ADDED = 2
    REMOVED = 3


def manifest_in(manifest: ChunkManifest | None, document: ReferenceDocument) -> ExpansionManifest | None:
    """Return the references that the chunks of an array have in another state of its document."""
    if not isinstance(manifest, ExpansionManifest):
        return None
    return replace(manifest, expansion=document.expansion)


def changes(
    now: ExpansionManifest, before: ExpansionManifest, coords: npt.NDArray[np.int64], here: ReferenceColumns
) -> npt.NDArray[np.uint8]:
    """Return the `Change` of each chunk at `coords`; `here` are its references now."""
    there = before.columns(coords)
    differs = here.kind != there.kind
    ranged = (here.kind == ReferenceKind.RANGE) | (here.kind == ReferenceKind.WHOLE)
    differs |= ranged & ((here.offset != there.offset) | (here.length != there.length))
    rows = np.flatnonzero(ranged & ~differs)
    differs[rows] |= _other_urls(here, there, rows)
    inline = np.flatnonzero((here.kind == ReferenceKind.INLINE) & ~differs)
    for row in inline[~_same_entries(now, before, coords[inline])].tolist():
        differs[row] = here.inline[row] != there.inline[row]
    found = differs.astype(np.uint8)
    found[differs & (there.kind == ReferenceKind.MISSING)] = Change.ADDED
    found[differs & (here.kind == ReferenceKind.MISSING)] = Change.REMOVED
    return found


def _other_urls(
    here: ReferenceColumns, there: ReferenceColumns, rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return which rows have another URL; each pair of URLs is compared once."""
    if not len(rows):
        return np.zeros(0, bool)
    pairs = here.url[rows].astype(np.int64) * len(there.urls) + there.url[rows]
    distinct, numbers = np.unique(pairs, return_inverse=True)
    differs = [
        here.urls[pair // len(there.urls)] != there.urls[pair % len(there.urls)] for pair in distinct.tolist()
    ]
    return np.array(differs, bool)[numbers]


def _same_entries(
    now: ExpansionManifest, before: ExpansionManifest, coords: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return which chunks are certainly the same entry of the text that was read."""
    mine, other = now.expansion.document.refs, before.expansion.document.refs
    if mine.table.text is not other.table.text or not len(coords):
        return np.zeros(len(coords), bool)
    slots = mine.find_chunks(now.prefix, coords, now.encoding)
    same = (slots == other.find_chunks(before.prefix, coords, before.encoding)) & (slots >= 0)
    for refs in (mine, other):
        if refs.replaced:
            same &= ~np.isin(slots, np.fromiter(refs.replaced, np.int64, len(refs.replaced)))
    return same
