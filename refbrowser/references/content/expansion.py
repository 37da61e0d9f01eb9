"""The Version 0 view of a document: its references, then the rows of its gen rules; never expanded."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.model.reference import (
    ByteRange,
    Inline,
    Reference,
    ReferenceColumns,
    ReferenceKind,
    WholeFile,
)
from refbrowser.references.content.chunk_codes import group_of_chunks
from refbrowser.references.content.columns import ReferenceView
from refbrowser.references.content.content import DocumentContent, wrong_member
from refbrowser.references.content.refs import NONE
from refbrowser.references.rules.layouts import Generated, NotDecided
from refbrowser.references.rules.rule_faults import hidden_key
from refbrowser.references.rules.rule_rows import GenRow
from refbrowser.references.text.json_text import NodeKind

_Item = TypeVar("_Item")


class _Layered(Mapping[int, _Item], Generic[_Item]):
    """Rows to values: those of `upper` win, moved to where they stand.

    Parameters
    ----------
    hidden
        Rows of `lower` that are replaced, whatever by.
    places
        Where rows of `upper` stand, to their number.
    """

    def __init__(
        self,
        lower: Mapping[int, _Item],
        hidden: set[int],
        upper: Mapping[int, _Item],
        places: dict[int, int],
    ):
        self._lower, self._hidden = lower, hidden
        #: Rows to what holds their value, and the row there.
        self._places = {row: (upper, number) for row, number in places.items()}
        if isinstance(lower, _Layered):
            # Each of very many rules may add a layer: they are held as one.
            self._lower, self._hidden = lower._lower, lower._hidden | hidden
            kept = {row: place for row, place in lower._places.items() if row not in hidden}
            self._places = kept | self._places

    def __getitem__(self, row: int) -> _Item:
        if row in self._places:
            upper, number = self._places[row]
            return upper[number]
        return self._lower[row]

    def __iter__(self) -> Iterator[int]:
        yield from (row for row in self._lower if row not in self._hidden)
        yield from self._places

    def __len__(self) -> int:
        return sum(1 for _ in self)


def merged(lower: ReferenceColumns, at: npt.NDArray[np.int64], upper: ReferenceColumns) -> ReferenceColumns:
    """Return `lower` with the rows `at` replaced by the rows of `upper`, in that order."""
    if len(at) == len(lower) and (at[1:] > at[:-1]).all():
        return upper

    def layered(
        which: ReferenceKind, below: Mapping[int, _Item], above: Mapping[int, _Item]
    ) -> Mapping[int, _Item]:
        # Of a million rows hardly any is of these kinds: the others are not held one by one.
        mine = np.flatnonzero(upper.kind == which)
        hidden = set(at[lower.kind[at] == which].tolist())
        if not len(mine) and not hidden:
            return below
        return _Layered(below, hidden, above, dict(zip(at[mine].tolist(), mine.tolist(), strict=True)))

    kind, url = lower.kind.copy(), lower.url.copy()
    offset, length = lower.offset.copy(), lower.length.copy()
    kind[at] = upper.kind
    url[at] = np.where(upper.url >= 0, upper.url + len(lower.urls), -1)
    offset[at] = upper.offset
    length[at] = upper.length
    return ReferenceColumns(
        kind, url, offset, length, (*lower.urls, *upper.urls),
        layered(ReferenceKind.INLINE, lower.inline, upper.inline),
        layered(ReferenceKind.FAULTY, lower.faults, upper.faults),
    )  # fmt: skip


_INTEGER = frozenset("-0123456789")
_LAST = chr(0x10FFFF)


class RuleIndex:
    """The numbers of rules by the beginning of their keys.

    Parameters
    ----------
    keys
        What all keys of each rule begin with, and whether an integer follows; None for a rule without keys.
    """

    def __init__(self, keys: Iterable[tuple[str, bool] | None]) -> None:
        self._numbers: dict[str, list[int]] = {}
        self._with_integer: set[int] = set()
        for number, begins in enumerate(keys):
            if begins is None:
                continue
            self._numbers.setdefault(begins[0], []).append(number)
            if begins[1]:
                self._with_integer.add(number)
        self._lengths = sorted({len(prefix) for prefix in self._numbers})
        self._prefixes = sorted(self._numbers)

    def giving(self, key: str) -> list[int]:
        """Return the rules that may give a key, the last one first."""
        found: list[int] = []
        for length in self._lengths:
            if length > len(key):
                break
            numbers = self._numbers.get(key[:length], ())
            if key[length : length + 1] in _INTEGER:
                found += numbers
            else:
                found += [number for number in numbers if number not in self._with_integer]
        found.sort(reverse=True)
        return found

    def below(self, prefix: str) -> list[int]:
        """Return the rules that may give keys with this beginning, in order."""
        start, stop = bisect_left(self._prefixes, prefix), bisect_left(self._prefixes, prefix + _LAST)
        found = {number for each in self._prefixes[start:stop] for number in self._numbers[each]}
        for length in self._lengths:
            if length >= len(prefix):
                break
            found.update(self._numbers.get(prefix[:length], ()))
        return sorted(found)


#: `origin` of a row that stands in refs; else it is the number of a rule.
REFS = -1
#: Rows of a rule that are asked for metadata keys.
_METADATA_ROWS = 10_000
#: Chunks of an array that are counted by looking at each, and at the key of each.
COUNTED, _COUNTED_BY_KEY = 20_000_000, 1_000_000


@dataclass(frozen=True, eq=False)
class Page:
    """Some rows of an expansion as columns, for a table on screen.

    Attributes
    ----------
    start
        Row of the first.
    keys
        None where the key of a generated row could not be made.
    kinds
        `ReferenceKind` of each.
    urls, offsets, lengths
        None where a row has none.
    origins, rows
        `REFS` or the number of the rule, and the row within it.
    errors
        Position in the page to why that row cannot be read.
    """

    start: int
    keys: list[str | None] = field(default_factory=list)
    kinds: list[ReferenceKind] = field(default_factory=list)
    urls: list[str | None] = field(default_factory=list)
    offsets: list[int | None] = field(default_factory=list)
    lengths: list[int | None] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    errors: dict[int, RefbrowserError] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, key: str | None, found: Reference | RefbrowserError, origin: int, row: int) -> None:
        """Add a row."""
        url: str | None = None
        offset: int | None = None
        length: int | None = None
        kind = ReferenceKind.FAULTY
        if isinstance(found, ByteRange):
            kind, url, offset, length = ReferenceKind.RANGE, found.url, found.offset, found.length
        elif isinstance(found, WholeFile):
            kind, url = ReferenceKind.WHOLE, found.url
        elif isinstance(found, Inline):
            kind, length = ReferenceKind.INLINE, len(found.data)
        elif isinstance(found, RefbrowserError):
            self.errors[len(self.keys)] = found
        self.keys.append(key)
        self.kinds.append(kind)
        self.urls.append(url)
        self.offsets.append(offset)
        self.lengths.append(length)
        self.origins.append(origin)
        self.rows.append(row)


class Expansion:
    """Rows and keys of a document as Version 0 would have them; immutable, of any length.

    Rows count over refs in document order and then the rules in order, replaced ones included. Of rows with
    the same key the last one counts.
    """

    def __init__(self, document: DocumentContent) -> None:
        self.document = document
        self._refs = document.refs

    @cached_property
    def _view(self) -> ReferenceView:
        return self.document.view

    @cached_property
    def generated(self) -> Sequence[Generated]:
        """What makes references that are not stored."""
        return self.document.generated

    @cached_property
    def refs_rows(self) -> int:
        """Number of rows that stand in refs."""
        return len(self._refs)

    @cached_property
    def gen_rows(self) -> list[int]:
        """Number of rows of each rule."""
        return [each.count for each in self.generated]

    @cached_property
    def _index(self) -> RuleIndex:
        return RuleIndex(each.key_begins for each in self.generated)

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate(self.gen_rows, initial=self.refs_rows))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._starts[-1]

    def origin(self, row: int) -> tuple[int, int]:
        """Return where a row comes from: `REFS` or the number of a rule, and the row within it.

        Raises
        ------
        IndexError
            There is no such row.
        """
        if not 0 <= row < self.rows:
            raise IndexError(row)
        if row < self.refs_rows:
            return REFS, row
        rule = bisect_right(self._starts, row) - 1
        return rule, row - self._starts[rule]

    def row_of(self, origin: int, row: int) -> int:
        """Return the row of the expansion for a row of refs or of a rule."""
        return row if origin == REFS else self._starts[origin] + row

    # Rows

    def item(self, row: int) -> tuple[str | None, Reference | RefbrowserError]:
        """Return key and reference of a row, or the error of a faulty one."""
        origin, inner = self.origin(row)
        if origin == REFS:
            slot = self._refs.slot(inner)
            return self._refs.key_of(slot), self._of_slot(slot)
        return _of_generated(self.generated[origin].row(inner))

    def key(self, row: int) -> str | None:
        """Return the key of a row, None where it could not be made; no value is read for it."""
        origin, inner = self.origin(row)
        return self._refs.key(inner) if origin == REFS else self.generated[origin].row(inner).key

    def _of_slot(self, slot: int) -> Reference | RefbrowserError:
        try:
            return self._view.reference(slot)
        except RefbrowserError as error:
            return error

    def items(self, start: int, stop: int) -> Page:
        """Return the rows from `start` to `stop`, cut at the ends."""
        start, stop = max(0, start), min(stop, self.rows)
        page = Page(start)
        if start < self.refs_rows:
            slots = self._refs.slots(start, min(stop, self.refs_rows))
            for number, (slot, key) in enumerate(zip(slots, self._refs.keys_of(slots), strict=True)):
                page.add(key, self._of_slot(slot), REFS, start + number)
        for number in range(max(bisect_right(self._starts, start) - 1, 0), len(self.generated)):
            if self._starts[number] >= stop:
                break
            rule = self.generated[number]
            first = max(start - self._starts[number], 0)
            last = min(stop - self._starts[number], rule.count)
            if first < last:
                _add_generated(page, rule, number, first, last)
        return page

    # Keys

    def find(self, key: str) -> int | NotDecided | None:
        """Return the row that counts for `key`: the last one; or None, or that it was not decided."""
        if self._edits_win and self._refs.is_patched(key):
            return self._refs.find(key)
        for number in self._index.giving(key):
            row = self.generated[number].find(key)
            if isinstance(row, NotDecided):
                return row
            if row is not None:
                return self._starts[number] + row
        return self._refs.find(key)

    def reference(self, key: str) -> Reference | NotDecided | None:
        """Return what counts for `key`, None where there is no such key.

        Raises
        ------
        RefbrowserError
            The entry is faulty; or there is none, and a faulty rule or member may have given it.
        """
        if self.document.is_unread or (self._refs.is_left and is_metadata_key(key)):
            return self.document.left_reference(key)
        row = self.find(key)
        if row is None:
            lost = self.lost(key)
            if lost is not None:
                raise lost
        if row is None or isinstance(row, NotDecided):
            return row
        origin, inner = self.origin(row)
        if origin == REFS:
            return self._view.reference(self._refs.slot(inner))
        found = _of_generated(self.generated[origin].row(inner))[1]
        if isinstance(found, RefbrowserError):
            raise found
        return found

    def value(self, key: str) -> bytes | None:
        """Return the bytes of an inline key; None where there is no such key or its bytes are elsewhere.

        Raises
        ------
        RefbrowserError
            The entry is faulty.
        """
        found = self.reference(key)
        return found.data if isinstance(found, Inline) else None

    def metadata_keys(self) -> Iterator[str]:
        """Yield the keys of Zarr metadata, refs first, each once."""
        known = self.document.known
        if known is None:
            yield from self._metadata_keys
        else:
            yield from known.values
            yield from self.document.described
            yield from known.elsewhere

    def metadata_reference(self, key: str) -> Reference | NotDecided | None:
        """Return what counts for one of the metadata keys, as `reference` does; asked for all of them.

        Raises
        ------
        RefbrowserError
            The entry is faulty.
        """
        # Where refs has them is known from the search for the keys.
        slot = self._refs.metadata_slots.get(key)
        if slot is None or self._index.giving(key):
            return self.reference(key)
        return self.document.view_at_hand.reference(slot)

    @cached_property
    def _metadata_keys(self) -> Collection[str]:
        """The keys of Zarr metadata: opening goes through them several times."""
        found = dict.fromkeys(self._refs.metadata_slots)
        for rule in self.document.rules:
            if is_metadata_key(rule.key or ""):
                rows = rule.rows(0, min(rule.count, _METADATA_ROWS))
                found.update(dict.fromkeys(key for key in rows.keys if key is not None))
        return found.keys()

    # What is lost

    @cached_property
    def lost_members(self) -> tuple[RefbrowserError, ...]:
        """Why entries or rules of the document are not among the rows: their member is of the wrong type."""
        wrong = self.document.wrong_members
        return tuple(
            wrong_member(name, wrong[name])
            for name in ("refs", "gen")
            if name in wrong and wrong[name].kind is not NodeKind.NULL
        )

    def lost_rows(self) -> Iterator[RefbrowserError]:
        """Yield why rows that the document should have are not there, and are not counted."""
        yield from self.lost_members
        for rule in self.generated:
            yield from rule.structure_faults

    def lost(self, key: str) -> RefbrowserError | None:
        """Return why a key that is not there may be one that was lost; None where there is no such key."""
        return self._lost(self._index.giving(key))

    def _lost_below(self, prefix: str) -> RefbrowserError | None:
        """Return the same for keys that begin with `prefix`."""
        return self._lost(self._index.below(prefix))

    def _lost(self, rules: Iterable[int]) -> RefbrowserError | None:
        if self.lost_members:
            return self.lost_members[0]
        of_text = self.document.rules
        errors = (hidden_key(of_text[number]) for number in chain(self._without_key, rules) if of_text)
        return next((error for error in errors if error is not None), None)

    @cached_property
    def _without_key(self) -> list[int]:
        """The rules whose key is no text."""
        return [number for number, rule in enumerate(self.generated) if rule.key_begins is None]

    # Chunks

    def chunk_columns(
        self, prefix: str, coords: npt.NDArray[np.int64], encoding: ChunkKeyEncoding
    ) -> ReferenceColumns:
        """Return the references of chunks of an array.

        Parameters
        ----------
        prefix
            What stands before the chunks' own keys: ``temp/``; empty for a root array.
        coords
            Chunk coordinates, shape (n, ndim).
        encoding
            How the array writes its chunk keys.
        """
        slots = self._refs.find_chunks(prefix, coords, encoding)
        stored = columns = self._view.columns(slots)
        for number, rule in self.rules_of(prefix):
            hit, made, undecided = rule.chunks(prefix, coords, encoding)
            if len(hit):
                columns = merged(columns, hit, made)
            if len(undecided):
                columns = merged(columns, undecided, _faulty(_undecided(number), len(undecided)))
        edited = self._edited(slots)
        if len(edited) and columns is not stored:
            columns = merged(columns, edited, self._view.columns(slots[edited]))
        missing = np.flatnonzero(columns.kind == ReferenceKind.MISSING)
        lost = self._lost_below(prefix) if len(missing) else None
        return columns if lost is None else merged(columns, missing, _faulty(lost, len(missing)))

    def stored_slots(
        self, prefix: str, coords: npt.NDArray[np.int64], encoding: ChunkKeyEncoding
    ) -> npt.NDArray[np.int64] | None:
        """Return the slots of chunks whose references stand in refs alone; None where that is not certain.

        Looking up the references of many small arrays is quicker for all their slots together than with
        `chunk_columns` for each.
        """
        if self.rules_of(prefix):
            return None
        slots = self._refs.find_chunks(prefix, coords, encoding)
        return None if NONE in slots and self._lost_below(prefix) is not None else slots

    def rules_giving(
        self, prefix: str, coords: npt.NDArray[np.int64], encoding: ChunkKeyEncoding
    ) -> list[int]:
        """Return the numbers of the rules that give some of these chunks, or may; see `chunk_columns`."""
        if self.document.edits_win:
            return []
        found = ((number, *rule.chunks(prefix, coords, encoding)) for number, rule in self.rules_of(prefix))
        return [number for number, hit, _made, undecided in found if len(hit) or len(undecided)]

    def rules_of(self, prefix: str) -> list[tuple[int, Generated]]:
        """Return what may give chunks of an array, each with its number."""
        rules = ((number, self.generated[number]) for number in self._index.below(prefix))
        return [(number, rule) for number, rule in rules if rule.count and rule.may_give(prefix)]

    @property
    def _edits_win(self) -> bool:
        """Whether what was edited counts before what is made: it does not before rules of a document."""
        return self.document.edits_win and self._refs.has_overlay

    def _edited(self, slots: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the positions of the slots whose entries were edited and count before what is made."""
        if not self._edits_win:
            return np.zeros(0, np.int64)
        replaced = np.array([*self._refs.replaced], np.int64)
        return np.flatnonzero((slots < NONE) | np.isin(slots, replaced))

    def chunk_kinds(
        self, prefix: str, grid_shape: tuple[int, ...], encoding: ChunkKeyEncoding
    ) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk of an array, in the shape of its grid."""
        kinds = self._view.grid_kinds(prefix, grid_shape, encoding)
        rules = self.rules_of(prefix)
        if rules:
            coords, stored = _all_coords(grid_shape), kinds.copy()
            for _, rule in rules:
                made = rule.chunk_kinds(prefix, coords, encoding)
                kinds = np.where(made == ReferenceKind.MISSING, kinds, made)
            if self._edits_win:
                edited = self._edited(self._refs.grid_slots(prefix, grid_shape, encoding))
                kinds[edited] = stored[edited]
        missing = kinds == ReferenceKind.MISSING
        if missing.any() and self._lost_below(prefix) is not None:
            kinds[missing] = ReferenceKind.FAULTY
        return kinds.reshape(grid_shape)

    def stored_chunks(
        self, prefix: str, grid_shape: tuple[int, ...], encoding: ChunkKeyEncoding
    ) -> int | None:
        """Return how many chunks of an array have a reference; None where that is not known.

        The grid may be too large to look, a chunk not be decided, or a faulty rule have lost some.
        """
        size = 1
        for length in grid_shape:
            size *= length
        is_packed = group_of_chunks(prefix, len(grid_shape), encoding) is not None
        if size > (COUNTED if is_packed else _COUNTED_BY_KEY):
            return None
        stored = self._refs.grid_slots(prefix, grid_shape, encoding) != -1
        rules = self.rules_of(prefix)
        if rules:
            coords = _all_coords(grid_shape)
            for _, rule in rules:
                held = rule.holds(prefix, coords, encoding)
                if held is None:
                    return None
                stored |= held
        count = int(stored.sum())
        return count if count == size or self._lost_below(prefix) is None else None

    def to_version0(self, skip_bad: bool = False) -> Iterator[bytes]:
        """Yield the expansion as the text of a Version 0 document; each key once, the last value counts.

        Raises
        ------
        RefbrowserError
            Before the first piece: an entry is faulty, and `skip_bad` is not set.
        """
        from refbrowser.references.content.version0 import Version0

        written = self.document.written()
        return Version0(self if written is self.document else Expansion(written), skip_bad).chunks()


def _of_generated(row: GenRow) -> tuple[str | None, Reference | RefbrowserError]:
    if row.error is not None or row.reference is None:
        return row.key, row.error or RefbrowserError(ErrorKind.TEMPLATE, "the row has no reference")
    return row.key, row.reference


def _add_generated(page: Page, rule: Generated, number: int, first: int, last: int) -> None:
    rows = rule.rows(first, last)
    for at in range(len(rows)):
        found: Reference | RefbrowserError
        if at in rows.faults:
            found = rows.faults[at]
        else:
            url = rows.urls[at] or ""
            offset = None if rows.offsets is None else rows.offsets[at]
            length = None if rows.lengths is None else rows.lengths[at]
            found = WholeFile(url) if offset is None or length is None else ByteRange(url, offset, length)
        page.add(rows.keys[at], found, number, first + at)


def _all_coords(grid_shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    if not grid_shape:
        return np.zeros((1, 0), np.int64)
    size = int(np.prod(grid_shape))
    return np.stack(np.unravel_index(np.arange(size), grid_shape), axis=1).astype(np.int64)


def _undecided(rule: int) -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.BUDGET,
        f"whether gen rule {rule} gives this chunk was not decided within the limit of steps",
        Place(rule=rule, pointer=f"/gen/{rule}/key"),
        f"Write the key so that it can be inverted: {quoted('name/{{i}}.{{j}}')}.",
    )


def _faulty(error: RefbrowserError, count: int) -> ReferenceColumns:
    none = np.full(count, -1, np.int64)
    faults: Mapping[int, RefbrowserError] = dict.fromkeys(range(count), error)
    kind = np.full(count, ReferenceKind.FAULTY, np.uint8)
    return ReferenceColumns(kind, none.astype(np.int32), none, none, (), {}, faults)
