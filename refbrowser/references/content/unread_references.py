"""References of which metadata alone was read: edits lie over its entries, those of chunks over keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.references.content.chunk_codes import Rows
from refbrowser.references.content.deferred_tables import Deferred
from refbrowser.references.content.reference_values import Value
from refbrowser.references.content.refs import NONE, Patch, References, no_references
from refbrowser.references.content.table import ReferenceTable

_NOTHING: Mapping[str, Patch | None] = {}
#: What edits are as rows of the table, which is read to tell them.
_OVERLAY = ("replaced", "removed", "appended")


class UnreadReferences(References):
    """Entries of a table that is read when somebody asks for more than metadata.

    Edits of metadata, and of chunks by their keys, leave it unread; as rows of the table they are told when
    it is read (`settled`). What is made of the columns is plain `References`.

    Attributes
    ----------
    table
        Its first rows are those of `at_hand`, with all metadata.
    chunks
        What edits gave other keys, the entry or None where it is gone.
    """

    chunks: Mapping[str, Patch | None]
    _metadata: References

    def __new__(cls, *columns: Any, **named: Any) -> Any:
        """Return plain references: those that were not read are made by `of`."""
        return References(*columns, **named)

    @classmethod
    def of(
        cls,
        table: ReferenceTable,
        metadata: References,
        chunks: Mapping[str, Patch | None] = _NOTHING,
    ) -> Self:
        """Return the references of a `Deferred` table that begins with the rows of metadata."""
        refs = object.__new__(cls)
        refs.__dict__.update(table=table, _metadata=metadata, chunks=chunks)
        return refs

    def __getattr__(self, name: str) -> Any:
        # Only of what is not set: the overlay.
        if name not in _OVERLAY:
            raise AttributeError(name)
        return getattr(self.settled, name)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    @property
    def at_hand(self) -> References:
        """The entries that are known without reading more: metadata, with its edits."""
        return self._metadata

    @property
    def is_left(self) -> bool:
        """Whether the table was not read yet."""
        return isinstance(self.table, Deferred) and not self.table.is_read

    @cached_property
    def by_key(self) -> References:
        """What edits laid over keys whose entries were not read; of the keys that are `gone`, empty texts."""
        patches = {key: patch or Patch.of(key, b'""', b'""') for key, patch in self.chunks.items()}
        return replace(no_references(), appended=patches)

    @cached_property
    def gone(self) -> Set[str]:
        """The keys of entries that edits removed without reading them."""
        return {key for key, patch in self.chunks.items() if patch is None}

    @cached_property
    def settled(self) -> References:
        """The same with edits as rows of the table, which is read for it."""
        refs = References(
            self.table, self._metadata.replaced, self._metadata.removed, self._metadata.appended
        )
        if not self.chunks:
            return refs
        gone: list[int] = []
        replaced, appended = dict(refs.replaced), dict(refs.appended)
        for key, patch in self.chunks.items():
            slots = refs.table.find_all(key)
            if patch is None:
                gone += slots
            elif slots:
                replaced[slots[-1]] = Patch(key, refs.table.key_text(slots[-1]), patch.raw, patch.value)
            else:
                appended[key] = patch
        return References(refs.table, replaced, refs.removed, appended).without(gone)

    @property
    def is_edited(self) -> bool:
        """Whether anything was edited."""
        return bool(self.chunks) or self._metadata.is_edited

    @property
    def has_overlay(self) -> bool:
        """Whether entries were replaced, removed or appended."""
        return bool(self.chunks) or self._metadata.has_overlay

    # Keys

    def _of_key(self, key: str) -> References:
        return self._metadata if is_metadata_key(key) else self.settled

    def _of_slot(self, slot: int) -> References:
        return self._metadata if self._is_at_hand(slot) else self.settled

    def _is_at_hand(self, slot: int) -> bool:
        metadata = self._metadata
        return -2 - len(metadata.appended) < slot < NONE or 0 <= slot < len(metadata.table)

    def is_patched(self, key: str) -> bool:
        """Return whether an edit gave what stands under a key."""
        return self._of_key(key).is_patched(key)

    def find_slot(self, key: str) -> int | None:
        """Return the slot of the entry that counts for `key`, or None."""
        return self._of_key(key).find_slot(key)

    def all_slots(self, key: str) -> list[int]:
        """Return the slots of every entry with `key`, in document order."""
        return self._of_key(key).all_slots(key)

    def patch(self, slot: int) -> Patch | None:
        """Return the entry of the overlay in a slot, or None where the table's row stands."""
        return self._of_slot(slot).patch(slot)

    def key_of(self, slot: int) -> str:
        """Return the key of a slot."""
        return self._of_slot(slot).key_of(slot)

    def value(self, slot: int) -> Value:
        """Return what an entry means, with its faults and warnings."""
        return self._of_slot(slot).value(slot)

    def key_text(self, slot: int) -> bytes:
        """Return the JSON text of an entry's key."""
        return self._of_slot(slot).key_text(slot)

    def value_text(self, slot: int) -> bytes:
        """Return the JSON text of an entry's value."""
        return self._of_slot(slot).value_text(slot)

    def value_beginning(self, slot: int, most: int) -> bytes:
        """Return the JSON text of an entry's value, cut after so many bytes."""
        return self._of_slot(slot).value_beginning(slot, most)

    def edited_odd_keys(self) -> Iterator[str]:
        """Yield keys that edits gave, and those that are gone."""
        yield from self._metadata.edited_odd_keys()
        yield from self.chunks

    @property
    def metadata_slots(self) -> Mapping[str, int]:
        """The slot that counts for each key of Zarr metadata, in the order in which the keys come first."""
        return self._metadata.metadata_slots

    # Changes, each giving another value

    def with_keys(self, patches: Mapping[str, Patch | None]) -> References:
        """Return the references with other entries for keys that are not those of metadata, or with none."""
        return UnreadReferences.of(self.table, self._metadata, {**self.chunks, **patches})

    def with_patch(self, slot: int, patch: Patch) -> References:
        """Return the references with another entry in a slot."""
        if self._is_at_hand(slot) and is_metadata_key(patch.key):
            return self._with(self._metadata.with_patch(slot, patch))
        return self.settled.with_patch(slot, patch)

    def with_appended(self, patch: Patch) -> References:
        """Return the references with an entry more at the end."""
        if is_metadata_key(patch.key):
            return self._with(self._metadata.with_appended(patch))
        return self.settled.with_appended(patch)

    def without(self, slots: Sequence[int] | Rows) -> References:
        """Return the references without some entries."""
        if all(map(self._is_at_hand, np.asarray(slots, np.int64).tolist())):
            return self._with(self._metadata.without(slots))
        return self.settled.without(slots)

    def _with(self, metadata: References) -> References:
        return UnreadReferences.of(self.table, metadata, self.chunks)


def changed_by_key(here: References, there: References) -> list[str] | None:
    """Return the keys under which edits left another entry; None where only the table tells them.

    Parameters
    ----------
    here, there
        States of the references of one document.
    """
    if here is there:
        return []
    if not (isinstance(here, UnreadReferences) and isinstance(there, UnreadReferences)):
        return None
    if here.table is not there.table:
        return None
    mine, theirs = here.at_hand, there.at_hand
    touched = dict.fromkeys((*mine.edited_odd_keys(), *theirs.edited_odd_keys()))
    found = [key for key in touched if _text_of(mine, key) != _text_of(theirs, key)]
    for key in dict.fromkeys((*here.chunks, *there.chunks)):
        one, other = (_edit_text(refs, key) for refs in (here, there))
        if one != other:
            found.append(key)
    return found


def _edit_text(refs: UnreadReferences, key: str) -> bytes | str | None:
    """Return the text that an edit gave a key, None where it is gone; a word where none did."""
    patch = refs.chunks.get(key)
    return patch.raw if patch is not None else None if key in refs.chunks else "as it was"


def _text_of(refs: References, key: str) -> bytes | None:
    slot = refs.find_slot(key)
    return None if slot is None else refs.value_text(slot)
