"""The references of one array of which edits changed some, while others are read as they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.references.content.expansion import merged
from refbrowser.references.content.refs import NONE

if TYPE_CHECKING:
    from refbrowser.model.values import ChunkManifest


def edited_manifest(left: ChunkManifest, whole: ExpansionManifest) -> ChunkManifest:
    """Return the references of an array with those that edits gave, where there are any.

    Parameters
    ----------
    left
        Reads references of the array as it was opened.
    whole
        Tells of them by the references of all arrays.
    """
    ndim = len(whole.grid_shape)
    keys = whole.expansion.document.refs.by_key.appended
    own = [key.removeprefix(whole.prefix) for key in keys if key.startswith(whole.prefix)]
    coords = [at for at in (whole.encoding.decode(key, ndim) for key in own) if at is not None]
    inside = [at for at in coords if all(map(int.__lt__, at, whole.grid_shape))]
    if left is whole or not inside:
        return left
    return EditedManifest(
        whole.expansion,
        whole.prefix,
        whole.grid_shape,
        whole.encoding,
        left=left,
        edited=np.array(inside, np.int64).reshape(len(inside), ndim),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedManifest(ExpansionManifest):
    """The references of one array, of which some were edited and the others are not read.

    Attributes
    ----------
    left
        The others.
    edited
        Chunks whose references were edited, shape (n, ndim).
    """

    left: ChunkManifest
    edited: npt.NDArray[np.int64]

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return the references of the chunks at `coords`, shape (n, ndim), in that order."""
        if not self._is_left:
            return ExpansionManifest.columns(self, coords)
        columns = self.left.columns(coords)
        document = self.expansion.document
        refs = document.refs.by_key
        slots = refs.find_chunks(self.prefix, coords, self.encoding)
        at = np.flatnonzero(slots != NONE)
        if not len(at):
            return columns
        gone = [slot for key in document.refs.gone if (slot := refs.find_slot(key)) is not None]
        slots = slots[at]
        slots[np.isin(slots, gone)] = NONE
        return merged(columns, at, document.edited_chunks.columns(slots))

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk, in the shape of the grid."""
        if not self._is_left:
            return ExpansionManifest.kinds(self)
        kinds = self.left.kinds().copy()
        kinds[tuple(self.edited.T)] = self.columns(self.edited).kind
        return kinds

    def stored(self) -> int | None:
        """Return how many chunks have a reference, or None where that is not known."""
        if not self._is_left:
            return ExpansionManifest.stored(self)
        stored = self.left.stored()
        if stored is None:
            return None
        before, now = (each.columns(self.edited).kind for each in (self.left, self))
        return (
            stored + int((now != ReferenceKind.MISSING).sum()) - int((before != ReferenceKind.MISSING).sum())
        )

    @property
    def _is_left(self) -> bool:
        return self.expansion.document.refs.is_left
