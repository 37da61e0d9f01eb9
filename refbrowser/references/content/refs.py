"""The references of a document as they are now: a table that never changes, and what edits put over it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.references.content.chunk_codes import (
    Group,
    Rows,
    group_of_chunks,
    pack,
    pack_many,
    split_key,
    union_of,
)
from refbrowser.references.content.reference_values import Value, ValueKind, interpret, key_issues
from refbrowser.references.content.table import ODD, ReferenceTable, TableBuilder, TextTable, with_leading
from refbrowser.references.text.document_text import DocumentText
from refbrowser.references.text.json_text import JsonReader

#: Stands for "no reference" where row numbers are expected.
NONE = -1


@dataclass(frozen=True, slots=True)
class Patch:
    """One entry as an edit left it: key and value as JSON text, and what they mean."""

    key: str
    key_text: bytes
    raw: bytes
    value: Value

    @classmethod
    def of(cls, key: str, key_text: bytes, raw: bytes) -> Patch:
        """Return the entry with the value `raw`; its issues are placed from the value's first byte on."""
        value = interpret(JsonReader(raw).value(0), raw)
        about_key = key_issues(key, -1)
        if about_key:
            value = replace(value, kind=ValueKind.FAULT, issues=about_key + value.issues)
        return cls(key, key_text, raw, value)


@dataclass(frozen=True, slots=True)
class OverlayCodes:
    """Entries of one group that are in the overlay: codes rising, and the slot of each."""

    codes: npt.NDArray[np.uint64]
    slots: Rows


@dataclass(frozen=True)
class References:
    """Entries of `refs` in document order, edits included; immutable.

    A *slot* names an entry: the row of the table, or -2, -3... for the entries that were appended.

    Attributes
    ----------
    table
        As it was read.
    replaced
        Row to the entry that stands in its place.
    removed
        Rows that are gone, rising.
    appended
        Entries put at the end, by key.
    """

    table: ReferenceTable
    replaced: Mapping[int, Patch] = field(default_factory=dict)
    removed: Rows = field(default_factory=lambda: np.zeros(0, np.int64))
    appended: Mapping[str, Patch] = field(default_factory=dict)

    @property
    def text_table(self) -> TextTable:
        """The table of a document that has a text."""
        assert isinstance(self.table, TextTable)
        return self.table

    @property
    def at_hand(self) -> References:
        """The entries that are known without reading more: all of them."""
        return self

    @property
    def is_left(self) -> bool:
        """Whether only metadata was read so far (`UnreadReferences`)."""
        return False

    @property
    def by_key(self) -> References:
        """What edits laid over keys whose entries were not read; of the keys that are `gone`, empty texts."""
        return no_references()

    @property
    def gone(self) -> Set[str]:
        """The keys of entries that edits removed without reading them."""
        return frozenset()

    def is_left_at(self, key: str) -> bool:
        """Whether the entry of a key was not read yet: an edit of it is given by `with_keys`."""
        return self.is_left and not is_metadata_key(key)

    def with_keys(self, patches: Mapping[str, Patch | None]) -> References:
        """Return the references with other entries for keys that were left, or with none."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.table) - len(self.removed) + len(self.appended)

    @property
    def is_edited(self) -> bool:
        """Whether anything differs from the table's text."""
        return self.has_overlay or self.table.written is not None

    @property
    def has_overlay(self) -> bool:
        """Whether entries were replaced, removed or appended."""
        return bool(self.replaced or self.appended or len(self.removed))

    # Positions

    @cached_property
    def _gaps(self) -> Rows:
        return self.removed - np.arange(len(self.removed))

    def slot(self, position: int) -> int:
        """Return the slot of the entry at a position in document order.

        Raises
        ------
        IndexError
            There is no such position.
        """
        if not 0 <= position < len(self):
            raise IndexError(position)
        kept = len(self.table) - len(self.removed)
        if position >= kept:
            return -2 - (position - kept)
        if not len(self.removed):
            return position
        return position + int(self._gaps.searchsorted(position, side="right"))

    def slots(self, start: int, stop: int) -> list[int]:
        """Return the slots of the positions from `start` to `stop`."""
        found: list[int] = self.slot_column(start, stop).tolist()
        return found

    def slot_column(self, start: int, stop: int) -> Rows:
        """Return the slots of the positions from `start` to `stop` as a column."""
        kept = len(self.table) - len(self.removed)
        rows = np.arange(start, min(stop, kept), dtype=np.int64)
        if len(self.removed):
            rows += self._gaps.searchsorted(rows, side="right")
        first, last = max(start - kept, 0), min(stop - kept, len(self.appended))
        return np.concatenate([rows, -2 - np.arange(first, last, dtype=np.int64)])

    def position(self, slot: int) -> int:
        """Return the position of a slot."""
        if slot < NONE:
            return len(self.table) - len(self.removed) - 2 - slot
        return slot - int(self.removed.searchsorted(slot)) if len(self.removed) else slot

    @cached_property
    def _appended(self) -> tuple[Patch, ...]:
        return tuple(self.appended.values())

    def patch(self, slot: int) -> Patch | None:
        """Return the entry of the overlay in a slot, or None where the table's row stands."""
        if slot < NONE:
            return self._appended[-2 - slot]
        return self.replaced.get(slot)

    # Keys

    @cached_property
    def _patched(self) -> dict[str, int]:
        slots = {patch.key: row for row, patch in sorted(self.replaced.items())}
        for number, key in enumerate(self.appended):
            slots[key] = -2 - number
        return slots

    def is_patched(self, key: str) -> bool:
        """Return whether an edit gave what stands under a key."""
        return key in self._patched

    def stands(self, row: int) -> bool:
        """Return whether a row of the table is neither removed nor replaced."""
        if row in self.replaced:
            return False
        if not len(self.removed):
            return True
        at = int(self.removed.searchsorted(row))
        return at == len(self.removed) or self.removed[at] != row

    def standing(self) -> npt.NDArray[np.bool_]:
        """Return of each row of the table whether it is neither removed nor replaced."""
        stands = np.ones(len(self.table), bool)
        stands[self.removed] = False
        stands[np.fromiter(self.replaced, np.int64, len(self.replaced))] = False
        return stands

    def edited_slots(self) -> Rows:
        """Return the slots of the entries of the overlay, those that were appended last."""
        rows = np.fromiter(self.replaced, np.int64, len(self.replaced))
        return np.concatenate([rows, -2 - np.arange(len(self.appended), dtype=np.int64)])

    def slots_beside_table(self) -> list[int]:
        """Return the slots of entries whose URL is not in the table: edited ones, and with huge numbers."""
        large = np.flatnonzero((self.table.url == ValueKind.LARGE) & self.standing())
        return [*large.tolist(), *self.edited_slots().tolist()]

    def find_slot(self, key: str) -> int | None:
        """Return the slot of the entry that counts for `key`, or None."""
        if self._patched and key in self._patched:
            return self._patched[key]
        row = self.table.find(key)
        if row is None or not (self.replaced or len(self.removed)):
            return row
        if self.stands(row):
            return row
        for earlier in reversed(self.table.find_all(key)):
            if self.stands(earlier):
                return earlier
        return None

    def find(self, key: str) -> int | None:
        """Return the position of the entry that counts for `key`, or None."""
        slot = self.find_slot(key)
        return None if slot is None else self.position(slot)

    def all_slots(self, key: str) -> list[int]:
        """Return the slots of every entry with `key`, in document order."""
        slots = [row for row in self.table.find_all(key) if self.stands(row)]
        slots += [row for row, patch in self.replaced.items() if patch.key == key]
        slots.sort()
        if key in self.appended:
            slots.append(self._patched[key])
        return slots

    def key_of(self, slot: int) -> str:
        """Return the key of a slot."""
        patch = self.patch(slot)
        return self.table.key(slot) if patch is None else patch.key

    def key(self, position: int) -> str:
        """Return the key at a position."""
        return self.key_of(self.slot(position))

    def keys(self, start: int, stop: int) -> list[str]:
        """Return the keys of the positions from `start` to `stop`."""
        return self.keys_of(self.slots(start, stop))

    def keys_of(self, slots: Sequence[int]) -> list[str]:
        """Return the keys of slots."""
        if not (self.replaced or self.appended):
            return self.table.keys(slots)
        return [self.key_of(slot) for slot in slots]

    def odd_keys(self) -> Iterator[tuple[str, int]]:
        """Yield keys that are no chunk keys with their slots, in document order (metadata among them)."""
        rows = self.table.odd_rows.tolist()
        for row, key in zip(rows, self.table.keys(rows), strict=True):
            if self.stands(row):
                yield key, row
            elif row in self.replaced and not _is_chunk(self.replaced[row].key):
                yield self.replaced[row].key, row
        for row, patch in sorted(self.replaced.items()):
            if not _is_chunk(patch.key) and _is_chunk(self.table.key(row)):
                yield patch.key, row
        for number, key in enumerate(self.appended):
            if not _is_chunk(key):
                yield key, -2 - number

    def edited_odd_keys(self) -> Iterator[str]:
        """Yield keys that entries of the overlay have, and that of each row that is gone and is no chunk."""
        rows = [*self.replaced, *np.intersect1d(self.removed, self.table.odd_rows).tolist()]
        yield from self.table.keys(rows)
        yield from (patch.key for patch in self.replaced.values())
        yield from self.appended

    @cached_property
    def metadata_slots(self) -> Mapping[str, int]:
        """The slot that counts for each key of Zarr metadata, in the order in which the keys come first."""
        found: dict[str, int] = {}
        for key, slot in self.odd_keys():
            if is_metadata_key(key):
                counts = self.find_slot(key) if key in found else slot
                found[key] = slot if counts is None else counts
        return found

    # Chunks

    @cached_property
    def _overlay(self) -> dict[Group, OverlayCodes]:
        """Slots of the overlay by group; those of rows that are gone from their key are `NONE`."""
        found: dict[Group, dict[int, int]] = {}

        def note(key: str, slot: int) -> None:
            parts = split_key(key)
            code = None if parts is None else pack(parts[1])
            if parts is not None and code is not None:
                found.setdefault(parts[0], {})[code] = slot

        # Where no key of the table comes twice, nothing else stands for a row that is gone.
        one_by_one = self.removed.tolist() if len(self.table.duplicates) else []
        for key in self.table.keys([*one_by_one, *self.replaced]):
            note(key, self._slot_or_none(key))
        for key, slot in self._patched.items():
            note(key, slot)
        gone = {} if one_by_one else self._codes_removed()
        result = {}
        for group in dict.fromkeys((*found, *gone)):
            slots = found.get(group, {})
            codes = np.array(list(slots), np.uint64)
            alone = gone.get(group, codes[:0])
            alone = alone[~np.isin(alone, codes)]
            codes = np.concatenate([codes, alone])
            of_codes = np.concatenate([np.array(list(slots.values()), np.int64), np.full(len(alone), NONE)])
            order = np.argsort(codes)
            result[group] = OverlayCodes(codes[order], of_codes[order])
        return result

    def _codes_removed(self) -> dict[Group, npt.NDArray[np.uint64]]:
        """Return the codes of the chunk keys of the rows that are gone, by group."""
        if not len(self.removed):
            return {}
        numbers = self.table.group.of(self.removed)
        codes = self.table.code[self.removed]
        return {
            self.table.groups[number]: codes[numbers == number]
            for number in np.unique(numbers).tolist()
            if number != ODD
        }

    def _slot_or_none(self, key: str) -> int:
        slot = self.find_slot(key)
        return NONE if slot is None else slot

    def find_chunks(self, prefix: str, coords: npt.NDArray[np.int64], encoding: ChunkKeyEncoding) -> Rows:
        """Return the slot of each chunk of an array, or `NONE`; `coords` has shape (n, ndim)."""
        rows = self.table.find_chunks(prefix, coords, encoding)
        if not self.has_overlay:
            return rows
        found = group_of_chunks(prefix, coords.shape[1], encoding)
        if found is None:
            keys = encoding.encode_many(coords, prefix)
            return np.array([self._slot_or_none(key) for key in keys], np.int64)
        group, leading = found
        overlay = self._overlay.get(group)
        if overlay is None:
            return rows
        codes, fit = pack_many(with_leading(coords, leading))
        at = np.minimum(overlay.codes.searchsorted(codes), len(overlay.codes) - 1)
        hit = (overlay.codes[at] == codes) & fit
        rows[hit] = overlay.slots[at[hit]]
        return rows

    def grid_slots(self, prefix: str, grid_shape: tuple[int, ...], encoding: ChunkKeyEncoding) -> Rows:
        """Return the slot of every chunk of a grid, or `NONE`, flat in C order."""
        rows = self.table.grid_rows(prefix, grid_shape, encoding)
        if not self.has_overlay:
            return rows
        found = group_of_chunks(prefix, len(grid_shape), encoding)
        if found is None:
            size = len(rows)
            index = np.unravel_index(np.arange(size), grid_shape) if grid_shape else ()
            coords = np.stack(index, axis=1) if grid_shape else np.zeros((1, 0), np.int64)
            return self.find_chunks(prefix, coords, encoding)
        overlay = self._overlay.get(found[0])
        if overlay is not None:
            from refbrowser.references.content.table import grid_positions

            flat, kept = grid_positions(overlay.codes, found[1], grid_shape)
            rows[flat] = overlay.slots if kept is None else overlay.slots[kept]
        return rows

    # Values

    def value(self, slot: int) -> Value:
        """Return what an entry means, with its faults and warnings."""
        patch = self.patch(slot)
        return self.table.value(slot) if patch is None else patch.value

    def key_text(self, slot: int) -> bytes:
        """Return the JSON text of an entry's key."""
        patch = self.patch(slot)
        return self.table.key_text(slot) if patch is None else patch.key_text

    def value_text(self, slot: int) -> bytes:
        """Return the JSON text of an entry's value."""
        patch = self.patch(slot)
        return self.table.value_text(slot) if patch is None else patch.raw

    def value_beginning(self, slot: int, most: int) -> bytes:
        """Return the JSON text of an entry's value, cut after so many bytes: what is seen of a long one."""
        patch = self.patch(slot)
        return self.table.value_beginning(slot, most) if patch is None else patch.raw[:most]

    # Changes, each giving another value

    def with_patch(self, slot: int, patch: Patch) -> References:
        """Return the references with another entry in a slot."""
        if slot >= 0:
            return replace(self, replaced={**self.replaced, slot: patch})
        entries = list(self._appended)
        entries[-2 - slot] = patch
        return replace(self, appended={entry.key: entry for entry in entries})

    def with_appended(self, patch: Patch) -> References:
        """Return the references with an entry more at the end."""
        return replace(self, appended={**self.appended, patch.key: patch})

    def without(self, slots: Sequence[int] | Rows) -> References:
        """Return the references without some entries."""
        column = np.asarray(slots, np.int64)
        rows = column[column >= 0]
        gone = {self._appended[-2 - slot].key for slot in column[column < NONE].tolist()}
        edited = np.array([*self.replaced], np.int64)
        left = edited[~np.isin(edited, rows)].tolist()
        return replace(
            self,
            replaced={row: self.replaced[row] for row in left},
            removed=union_of(self.removed, rows),
            appended={key: patch for key, patch in self.appended.items() if key not in gone},
        )


def no_references(text: DocumentText | None = None) -> References:
    """Return references without any entry."""
    return References(TableBuilder().finish(text or DocumentText.of(b""), 0))


def _is_chunk(key: str) -> bool:
    parts = split_key(key)
    return parts is not None and pack(parts[1]) is not None


def missing_key(key: str) -> RefbrowserError:
    """Return the error for a key that is not in `refs`."""
    return RefbrowserError(ErrorKind.USAGE, f"there is no reference {quoted(key)} in refs")
