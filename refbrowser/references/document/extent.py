"""What of a document an edit concerns: the keys whose entries are others, or all of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from refbrowser.model.metadata_keys import is_metadata_key

if TYPE_CHECKING:
    from refbrowser.references.content.refs import Patch, References
    from refbrowser.references.document.document import Document

_Key = TypeVar("_Key")
#: Of more keys none is told apart.
KEYS = 1_000


@dataclass(frozen=True, slots=True)
class Extent:
    """What may be another between two states of a document.

    Attributes
    ----------
    keys
        The keys whose references may be others; None where anything may be.
    """

    keys: frozenset[str] | None = None

    @property
    def is_structure(self) -> bool:
        """Whether groups, arrays, attributes, templates or rules may be others."""
        return self.keys is None or any(map(is_metadata_key, self.keys))

    def concerns(self, paths: Iterable[str]) -> bool:
        """Return whether references of some nodes, or of what is below them, may be others."""
        keys = self.keys
        if keys is None:
            return True
        folders = tuple(f"{path.strip('/')}/".lstrip("/") for path in paths)
        return any(key.startswith(folders) for key in keys)


#: Anything may be another.
EVERYTHING = Extent()


def extent_of(before: Document, after: Document) -> Extent:
    """Return what may be another in a state of a document than in the one before."""
    here, there = after.refs, before.refs
    is_framed = before.frame == after.frame and before.templates.texts == after.templates.texts
    if before.is_made or after.is_made or not is_framed or here.table is not there.table:
        return EVERYTHING
    rows = set(_other(here.replaced, there.replaced))
    if here.removed is not there.removed:
        # Not before: editors come without it.
        import numpy as np

        rows.update(np.setxor1d(here.removed, there.removed)[: KEYS + 1].tolist())
    appended = _other(here.appended, there.appended)
    if len(rows) + len(appended) > KEYS:
        return EVERYTHING
    keys = set(appended)
    if rows:
        keys.update(here.table.keys(sorted(rows)))
        keys.update(key for refs in (here, there) for key in _names(refs, rows))
    return Extent(frozenset(keys))


def _other(here: Mapping[_Key, Patch], there: Mapping[_Key, Patch]) -> list[_Key]:
    """Return the keys of two mappings under which there is another entry."""
    return [key for key in {**here, **there} if here.get(key) is not there.get(key)]


def _names(refs: References, rows: Iterable[int]) -> Iterable[str]:
    """Return the keys of entries that stand in the place of rows."""
    return (refs.replaced[row].key for row in rows if row in refs.replaced)
