"""The Version 0 view of a document: its references, then the rows of its gen rules; never expanded."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
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
from refbrowser.references.document.content import DocumentContent, wrong_member
from refbrowser.references.rules.gen import GenRow, GenRule, NotDecided
from refbrowser.references.rules.rule_faults import hidden_key
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


#: Where plain text ends: an expression, statement or comment begins, or a line, whose end may change.
_END = re.compile(r"\{[{%#]|[\r\n]")
#: A dimension alone: what it prints is an integer.
_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_INTEGER = frozenset("-0123456789")
_LAST = chr(0x10FFFF)


def literal_prefix(text: str) -> str:
    """Return the text that whatever a template prints begins with, as far as that is plain to see."""
    end = _END.search(text)
    # White space before an expression may be taken away by it.
    return text if end is None else text[: end.start()].rstrip()


def _goes_on_with_integer(text: str, prefix: str, dimensions: Collection[str]) -> bool:
    """Return whether all that a template prints goes on with an integer after its literal prefix."""
    name = _NAME.match(text, len(prefix))
    return name is not None and name[1] in dimensions


class RuleIndex:
    """The numbers of rules by the beginning of their keys.

    Parameters
    ----------
    keys
        The key of each rule as it stands in the document, None for a rule without one, which gives no key;
        and the names of its dimensions of integers.
    """

    def __init__(self, keys: Iterable[tuple[str | None, Collection[str]]]) -> None:
        self._numbers: dict[str, list[int]] = {}
        self._with_integer: set[int] = set()
        for number, (key, dimensions) in enumerate(keys):
            if key is None:
                continue
            prefix = literal_prefix(key)
            self._numbers.setdefault(prefix, []).append(number)
            if _goes_on_with_integer(key, prefix, dimensions):
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
#: Chunks of an array that are counted by looking at each.
COUNTED = 20_000_000


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
        self._view = document.view

    @property
    def rules(self) -> tuple[GenRule, ...]:
        """The gen rules."""
        return self.document.rules

    @cached_property
    def refs_rows(self) -> int:
        """Number of rows that stand in refs."""
        return len(self._refs)

    @cached_property
    def gen_rows(self) -> list[int]:
        """Number of rows of each rule."""
        return [rule.count for rule in self.rules]

    @cached_property
    def _index(self) -> RuleIndex:
        return RuleIndex((rule.key, rule.integer_names) for rule in self.rules)

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
        return _of_generated(self.rules[origin].row(inner))

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
        for number in range(max(bisect_right(self._starts, start) - 1, 0), len(self.rules)):
            if self._starts[number] >= stop:
                break
            rule = self.rules[number]
            first = max(start - self._starts[number], 0)
            last = min(stop - self._starts[number], rule.count)
            if first < last:
                _add_generated(page, rule, number, first, last)
        return page

    # Keys

    def find(self, key: str) -> int | NotDecided | None:
        """Return the row that counts for `key`: the last one; or None, or that it was not decided."""
        for number in self._index.giving(key):
            row = self.rules[number].find(key)
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
        found = _of_generated(self.rules[origin].row(inner))[1]
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
        return self._view.reference(slot)

    @cached_property
    def _metadata_keys(self) -> Collection[str]:
        """The keys of Zarr metadata: opening goes through them several times."""
        found = dict.fromkeys(self._refs.metadata_slots)
        for rule in self.rules:
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
        for rule in self.rules:
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
        errors = (hidden_key(self.rules[number]) for number in chain(self._without_key, rules))
        return next((error for error in errors if error is not None), None)

    @cached_property
    def _without_key(self) -> list[int]:
        """The rules whose key is no text."""
        return [number for number, rule in enumerate(self.rules) if rule.key is None]

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
        columns = self._view.columns(self._refs.find_chunks(prefix, coords, encoding))
        for rule in self._rules_of(prefix):
            rows = rule.find_chunks(prefix, coords, encoding)
            hit = np.flatnonzero(rows >= 0)
            if len(hit):
                columns = merged(columns, hit, rule.references(rows[hit]))
            open_ = np.flatnonzero(rows < -1)
            if len(open_):
                columns = merged(columns, open_, _faulty(_undecided(rule), len(open_)))
        missing = np.flatnonzero(columns.kind == ReferenceKind.MISSING)
        lost = self._lost_below(prefix) if len(missing) else None
        return columns if lost is None else merged(columns, missing, _faulty(lost, len(missing)))

    def _rules_of(self, prefix: str) -> list[GenRule]:
        """Return the rules that may give chunks of an array."""
        rules = (self.rules[number] for number in self._index.below(prefix))
        return [rule for rule in rules if rule.count and _may_give(rule, prefix)]

    def chunk_kinds(
        self, prefix: str, grid_shape: tuple[int, ...], encoding: ChunkKeyEncoding
    ) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk of an array, in the shape of its grid."""
        kinds = self._view.grid_kinds(prefix, grid_shape, encoding)
        rules = self._rules_of(prefix)
        if rules:
            coords = _all_coords(grid_shape)
            for rule in rules:
                rows = rule.find_chunks(prefix, coords, encoding)
                hit = rows >= 0
                if hit.any():
                    kinds[hit] = rule.references(rows[hit]).kind
                kinds[rows < -1] = ReferenceKind.FAULTY
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
        if size > COUNTED:
            return None
        stored = self._refs.grid_slots(prefix, grid_shape, encoding) != -1
        rules = self._rules_of(prefix)
        if rules:
            coords = _all_coords(grid_shape)
            for rule in rules:
                rows = rule.find_chunks(prefix, coords, encoding)
                if (rows < -1).any():
                    return None
                stored |= rows >= 0
        count = int(stored.sum())
        return count if count == size or self._lost_below(prefix) is None else None

    def to_version0(self, skip_bad: bool = False) -> Iterator[bytes]:
        """Yield the expansion as the text of a Version 0 document; each key once, the last value counts.

        Raises
        ------
        RefbrowserError
            Before the first piece: an entry is faulty, and `skip_bad` is not set.
        """
        from refbrowser.references.document.version0 import Version0

        return Version0(self, skip_bad).chunks()


def _of_generated(row: GenRow) -> tuple[str | None, Reference | RefbrowserError]:
    if row.error is not None or row.reference is None:
        return row.key, row.error or RefbrowserError(ErrorKind.TEMPLATE, "the row has no reference")
    return row.key, row.reference


def _add_generated(page: Page, rule: GenRule, number: int, first: int, last: int) -> None:
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


def _may_give(rule: GenRule, prefix: str) -> bool:
    """Return whether a rule may have keys that start with `prefix`; False is certain."""
    key = rule.fields.get("key")
    if key is None or key.template is None:
        return False
    static = key.template.static_prefix
    return static.startswith(prefix) or prefix.startswith(static)


def _all_coords(grid_shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    if not grid_shape:
        return np.zeros((1, 0), np.int64)
    size = int(np.prod(grid_shape))
    return np.stack(np.unravel_index(np.arange(size), grid_shape), axis=1).astype(np.int64)


def _undecided(rule: GenRule) -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.BUDGET,
        f"whether gen rule {rule.index} gives this chunk was not decided within the limit of steps",
        Place(rule=rule.index, pointer=f"/gen/{rule.index}/key"),
        f"Write the key so that it can be inverted: {quoted('name/{{i}}.{{j}}')}.",
    )


def _faulty(error: RefbrowserError, count: int) -> ReferenceColumns:
    none = np.full(count, -1, np.int64)
    faults: Mapping[int, RefbrowserError] = dict.fromkeys(range(count), error)
    kind = np.full(count, ReferenceKind.FAULTY, np.uint8)
    return ReferenceColumns(kind, none.astype(np.int32), none, none, (), {}, faults)
