"""Who owns which bytes of a file: the ranges that entries, rules and layouts of a document refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.found_members import known_ranges, members_of
from refbrowser.errors import RefbrowserError
from refbrowser.formats.expansion_manifest import ExpansionManifest, single_manifests
from refbrowser.io.access.access import is_chained
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.model.reference import ByteRange, ReferenceColumns, ReferenceKind, WholeFile
from refbrowser.model.selection import Selection
from refbrowser.references.content.chunk_codes import BITS, Group, group_of_chunks, unpack_many
from refbrowser.references.content.reference_values import ValueKind
from refbrowser.references.content.table import ODD, TextTable
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.layouts import ChunkLayout, Generated, RangeLayout
from refbrowser.tools.bytes.report.byte_runs import Lattice, LatticeStep, lattices_of, may_lead_to

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access
    from refbrowser.references.document.document import Document

Ints = npt.NDArray[np.int64]
Signed = npt.NDArray[np.signedinteger[Any]]

#: Stands for the text of the document itself, in which inline values lie.
DOCUMENT = ""
#: Chunks, or rows of rules, that are looked at one by one; more are known by arithmetic, or not decided.
LISTED = 1 << 22
#: Rows that are looked at together.
_PAGE = 65_536
#: Keys of no array that are looked up one by one, to know whether a rule replaces them.
_ASKED = 10_000
_LARGEST = (1 << 63) - 1


class OwnerKind(StrEnum):
    """What bytes belong to."""

    ARRAY = "array"
    METADATA = "metadata"
    NO_ARRAY = "no array"


class OwnerName(NamedTuple):
    """What bytes belong to: an array by its path, or what is no array."""

    kind: OwnerKind
    path: str = ""


METADATA = OwnerName(OwnerKind.METADATA)
NO_ARRAY = OwnerName(OwnerKind.NO_ARRAY)


@dataclass(frozen=True, slots=True)
class FileSource:
    """Where what is known of the files of a document comes from."""

    document: Document
    hierarchy: Hierarchy
    access: Access
    session: Session


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Ranges of one file as columns.

    Attributes
    ----------
    start, stop
        Bytes; an empty range has the same twice.
    owner
        Number of an owner.
    source, item
        What gives the key: `FoundRanges.keys[source](item)`.
    """

    start: Ints
    stop: Ints
    owner: npt.NDArray[np.int32]
    source: npt.NDArray[np.int32]
    item: Ints

    def __len__(self) -> int:
        return len(self.start)

    def in_order(self) -> OrderedRanges:
        """Return them by their first byte."""
        if (self.start[1:] >= self.start[:-1]).all():
            return OrderedRanges(self.start, self.stop, self, None)
        order = np.argsort(self.start, kind="stable")
        return OrderedRanges(self.start[order], self.stop[order], self, order)


@dataclass(frozen=True, slots=True, eq=False)
class OrderedRanges:
    """Ranges of one file by their first byte.

    Attributes
    ----------
    start, stop
        Bytes, as columns; what else is known of a range is seldom asked for, and stays in its order.
    found
        The ranges as they were found.
    order
        Which of these each one is; None where they were found in order.
    """

    start: Ints
    stop: Ints
    found: Ranges
    order: Ints | None

    def __len__(self) -> int:
        return len(self.start)

    def at(self, rows: Ints) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield first byte and end, owner, source and item of some of them."""
        found, at = self.found, rows if self.order is None else self.order[rows]
        columns = self.start[rows], self.stop[rows], found.owner[at], found.source[at], found.item[at]
        return zip(*(column.tolist() for column in columns), strict=True)

    def by_owner(self, owners: int) -> OwnedColumns:
        """Return the bytes of each of so many owners."""
        owner, start, stop = self.found.owner, self.found.start, self.found.stop
        if not (owner[1:] >= owner[:-1]).all():
            owner = owner if self.order is None else owner[self.order]
            # Numbers of 16 bits are put in order in one go.
            order = np.argsort(owner.astype(np.int16) if owners < 1 << 15 else owner, kind="stable")
            owner, start, stop = owner[order], self.start[order], self.stop[order]
        heads = owner.searchsorted(np.arange(owners + 1, dtype=owner.dtype))
        return OwnedColumns(start, stop, heads)


@dataclass(frozen=True, slots=True, eq=False)
class OwnedColumns:
    """First and last bytes of ranges, those of one owner together: from `heads[n]` to `heads[n + 1]`."""

    start: Ints
    stop: Ints
    heads: npt.NDArray[np.intp]

    def of(self, owners: Sequence[int]) -> tuple[Ints, Ints]:
        """Return the bytes of the ranges of some owners."""
        parts = [slice(self.heads[number], self.heads[number + 1]) for number in owners]
        if len(parts) == 1:
            return self.start[parts[0]], self.stop[parts[0]]
        start, stop = (np.concatenate([column[part] for part in parts]) for column in (self.start, self.stop))
        return start, stop

    def size(self, owner: int) -> int:
        """Return how many bytes an owner has, each counted."""
        start, stop = self.of((owner,))
        return int(np.subtract(stop, start).sum(dtype=np.float64))


@dataclass(frozen=True, slots=True)
class LatticeOf:
    """Ranges of one owner that a rule gives by arithmetic.

    Attributes
    ----------
    fixed
        The position in those dimensions of the rule that no step runs along, by slot.
    """

    lattice: Lattice
    owner: int
    rule: Generated
    fixed: tuple[tuple[int, int], ...] = ()

    def key(self, number: int) -> str | None:
        """Return the key of a range, counted in the order of bytes."""
        rule = self.rule
        if isinstance(rule, RangeLayout):
            return rule.row(number).key
        assert isinstance(rule, GenRule)
        positions = dict(self.fixed)
        for place, step in zip(self.lattice.numbers(number), self.lattice.steps, strict=True):
            positions[step.slot] = step.count - 1 - place if step.is_turned else place
        count = len(rule.space.dimensions)
        return rule.row(rule.space.row(positions.get(slot, 0) for slot in range(count))).key


@dataclass(frozen=True, slots=True)
class Undecided:
    """Ranges that are neither listed nor known by arithmetic; somewhere from `low` to `high`."""

    owner: int
    low: int
    high: int
    rows: int


@dataclass(slots=True)
class FoundRanges:
    """What refers to one file, as far as it was looked for.

    Attributes
    ----------
    owners
        In the order in which they were met.
    whole
        Owner, source and item of each reference to the whole file; the first ones of many.
    whole_count, faulty
        How many there are; and how many ranges no file can have.
    """

    owners: dict[OwnerName, int] = field(default_factory=dict)
    parts: list[Ranges] = field(default_factory=list)
    lattices: list[LatticeOf] = field(default_factory=list)
    undecided: list[Undecided] = field(default_factory=list)
    whole: list[tuple[int, int, int]] = field(default_factory=list)
    whole_count: int = 0
    faulty: int = 0
    keys: list[Callable[[int], str | None]] = field(default_factory=list)

    def number(self, owner: OwnerName) -> int:
        """Return the number of an owner, new or not."""
        return self.owners.setdefault(owner, len(self.owners))

    def add(
        self, owner: npt.NDArray[np.int32] | int, source: int, item: Ints, offset: Signed, length: Signed
    ) -> None:
        """Add references to the file; a length of -1 is all of it."""
        owners = np.broadcast_to(np.asarray(owner, np.int32), item.shape)
        least = length.min(initial=0)
        if least < 0:
            whole = np.flatnonzero(length < 0)
            self.whole_count += len(whole)
            some = whole[: max(0, WHOLE_KEPT - len(self.whole))]
            more = zip(owners[some].tolist(), [source] * len(some), item[some].tolist(), strict=True)
            self.whole.extend(more)
        is_usual = least >= 0 and offset.min(initial=0) >= 0
        if not is_usual or max(offset.max(initial=0), length.max(initial=0)) > _LARGEST // 2:
            offset, length = offset.astype(np.int64, copy=False), length.astype(np.int64, copy=False)
            good = (offset >= 0) & (length >= 0) & (length <= _LARGEST - np.maximum(offset, 0))
            self.faulty += int((~good & (length >= 0)).sum())
            owners, item, offset, length = owners[good], item[good], offset[good], length[good]
        if len(item):
            sources = np.broadcast_to(np.asarray(source, np.int32), item.shape)
            stop = np.add(offset, length, dtype=np.int64)
            self.parts.append(Ranges(offset.astype(np.int64, copy=False), stop, owners, sources, item))

    def listed(self) -> Ranges:
        """Return all listed ranges, as they were found."""
        if len(self.parts) == 1:
            return self.parts[0]
        none = np.zeros(0, np.int64)
        parts = [Ranges(none, none, none.astype(np.int32), none.astype(np.int32), none), *self.parts]
        names = ("start", "stop", "owner", "source", "item")
        return Ranges(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


#: References to whole files that are kept one by one.
WHOLE_KEPT = 1000


class _Owners:
    """The arrays of a hierarchy by the beginning of their keys."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.nodes = [node for node in hierarchy.walk() if isinstance(node, ArrayNode)]
        self.manifests: dict[str, list[ExpansionManifest]] = {}
        self._paths: dict[str, str] = {}
        #: Groups of chunk keys to the arrays in them, with the coordinates that their paths add in front.
        self.groups: dict[Group, list[tuple[tuple[int, ...], int, str]]] = {}
        for node in self.nodes:
            self._paths[node.key_prefix] = self._paths[f"{node.path.strip('/')}/".lstrip("/")] = node.path
            found = list(single_manifests(node.manifest)) if node.has_manifest else []
            self.manifests[node.path] = found
            for each in found:
                self._paths[each.prefix] = node.path
                group = group_of_chunks(each.prefix, len(each.grid_shape), each.encoding)
                if group is not None:
                    entry = (group[1], len(group[1]) + len(each.grid_shape), node.path)
                    self.groups.setdefault(group[0], []).append(entry)

    def above(self, folder: str) -> OwnerName:
        """Return the innermost array that keys in a folder (``a/``) are below."""
        while True:
            path = self._paths.get(folder)
            if path is not None and (folder or path == "/"):
                return OwnerName(OwnerKind.ARRAY, path)
            if not folder:
                return NO_ARRAY
            folder = folder[: folder.rfind("/", 0, -1) + 1]

    def of_key(self, key: str) -> OwnerName:
        """Return what the value of a key belongs to."""
        return METADATA if is_metadata_key(key) else self.above(key[: key.rfind("/") + 1])


def found_ranges(
    source: FileSource, url: str, check: Callable[[], object]
) -> Iterator[tuple[FoundRanges, bool]]:
    """Yield what refers to a file, and whether that is all: first the entries of refs.

    Parameters
    ----------
    url
        As the document spells it after rendering; of a zip archive that of the archive; `DOCUMENT` for the
        text of the document itself.
    check
        Raises where the work is not wanted any more.
    """
    search = _Search(source, url, check)
    if url == DOCUMENT:
        search.inline()
        yield search.found, True
        return
    search.entries()
    if search.found.parts and search.has_more:
        yield search.found, False
    search.rules()
    search.others()
    yield search.found, True


class _Search:
    """Looks for what refers to one file."""

    def __init__(self, source: FileSource, url: str, check: Callable[[], object]) -> None:
        self.source, self.url, self.check = source, url, check
        self.found = FoundRanges()
        self.owners = _Owners(source.hierarchy)
        self._document = source.document
        self._refs = source.document.refs
        expansion = source.document.expansion
        self._generated = expansion.generated
        #: The rules that may lead to the file, and which of these may give chunks of arrays that have any.
        self._near = {
            number for number, rule in enumerate(self._generated) if rule.count and may_lead_to(rule, url)
        }
        self._made: dict[str, list[int]] = {}
        for path, manifests in self.owners.manifests.items() if self._generated else ():
            mine = [number for each in manifests for number, _ in expansion.rules_of(each.prefix)]
            if mine:
                self._made[path] = [number for number in dict.fromkeys(mine) if number in self._near]

    @property
    def has_more(self) -> bool:
        """Whether references may come from elsewhere than the entries of refs."""
        return bool(self._made) or bool(self._near)

    # Entries of refs

    def entries(self) -> None:
        """Take the entries of refs, but those of arrays whose rules are looked at chunk by chunk."""
        refs, view, table = self._refs, self._document.view, self._refs.table
        texts = view.urls.texts
        numbers = [number for number, text in enumerate(texts) if text == self.url]
        numbers = [number for number in numbers if number not in view.urls.faults]
        self.found.keys.append(refs.key_of)
        if numbers and len(table):
            is_mine = table.url == numbers[0] if len(numbers) == 1 else np.isin(table.url, numbers)
            rows = self._standing(np.flatnonzero(is_mine))
            some: Ints | slice = slice(None) if len(rows) == len(table) else rows
            self._add_rows(rows, table.offset[some], table.length[some])
        for slot, patch in (
            *refs.replaced.items(),
            *((-2 - number, patch) for number, patch in enumerate(refs.appended.values())),
        ):
            if patch.value.kind is not None:
                continue
            try:
                reference = view.reference(slot)
            except RefbrowserError:
                continue
            owner = self.owners.of_key(patch.key)
            if not isinstance(reference, ByteRange | WholeFile) or reference.url != self.url:
                continue
            if self._is_looked_at(owner) and any(
                self._is_chunk(patch.key, manifest) for manifest in self.owners.manifests[owner.path]
            ):
                continue
            offset, length = getattr(reference, "offset", 0), getattr(reference, "length", -1)
            if max(offset, length) > _LARGEST:
                self.found.faulty += 1
                continue
            one = np.array([slot]), np.array([offset]), np.array([length])
            self.found.add(self.found.number(owner), 0, *one)

    def _standing(self, rows: Ints) -> Ints:
        """Return the rows that count: neither edited, nor given again later."""
        refs = self._refs
        gone = [refs.removed, np.array([*refs.replaced], np.int64), refs.table.duplicates]
        dropped = np.concatenate(gone)
        return rows[~np.isin(rows, dropped)] if len(dropped) else rows

    def _add_rows(self, rows: Ints, offset: Signed, length: Signed) -> None:
        owner = self._owners_of(rows)
        for name, number in list(self.found.owners.items()):
            if self._is_looked_at(name):
                mine = np.flatnonzero(owner == number)
                kept = np.ones(len(rows), bool)
                kept[mine[self._are_chunks(rows[mine], name.path)]] = False
                rows, owner, offset, length = rows[kept], owner[kept], offset[kept], length[kept]
        if self._generated:
            kept = self._counting(rows, owner)
            rows, owner, offset, length = rows[kept], owner[kept], offset[kept], length[kept]
        self.found.add(owner, 0, rows, offset, length)

    def _owners_of(self, rows: Ints) -> npt.NDArray[np.int32]:
        """Return the owner of each of some rows of the table, which rise, by number."""
        table, found = self._refs.table, self.found
        counts, groups = table.group.runs_of(rows)
        owners = np.zeros(len(table.groups), np.int32)
        apart: list[tuple[Ints, npt.NDArray[np.int32]]] = []
        for group in np.flatnonzero(np.bincount(groups)).tolist():
            text = table.groups[group]
            candidates = () if group == ODD else self.owners.groups.get(text, ())
            if group != ODD and not any(leading for leading, _, _ in candidates):
                owners[group] = found.number(self.owners.above(text[0]))
                continue
            mine = np.flatnonzero(np.repeat(groups == group, counts))
            if group == ODD:
                keys = table.keys(rows[mine].tolist())
                numbers = np.array([found.number(self.owners.of_key(key)) for key in keys], np.int32)
            else:
                numbers = self._by_coordinates(table.code[rows[mine]], text, candidates)
            apart.append((mine, numbers))
        owner = np.repeat(owners[groups], counts)
        for mine, numbers in apart:
            owner[mine] = numbers
        return owner

    def _by_coordinates(
        self,
        codes: npt.NDArray[np.uint64],
        group: Group,
        candidates: Sequence[tuple[tuple[int, ...], int, str]],
    ) -> npt.NDArray[np.int32]:
        """Return the owners of keys in whose group arrays have numbers for names."""
        owner = np.full(len(codes), self.found.number(self.owners.above(group[0])), np.int32)
        for leading, size, path in candidates:
            fits = codes >> np.uint64(BITS) == size
            for column, number in zip(unpack_many(codes, size), leading, strict=False):
                fits &= column == number
            owner[fits] = self.found.number(OwnerName(OwnerKind.ARRAY, path))
        return owner

    def _counting(self, rows: Ints, owner: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Return which rows no rule replaces, of those whose keys are no chunks that are looked at."""
        refs, expansion = self._refs, self._document.expansion
        kept = np.ones(len(rows), bool)
        odd = [
            number
            for name, number in self.found.owners.items()
            if name.kind is not OwnerKind.ARRAY or self._is_looked_at(name)
        ]
        mine = np.flatnonzero(np.isin(owner, odd))[:_ASKED]
        for at in mine.tolist():
            slot = int(rows[at])
            kept[at] = expansion.find(refs.key_of(slot)) == refs.position(slot)
        return kept

    def _are_chunks(self, rows: Ints, path: str) -> npt.NDArray[np.bool_]:
        """Return which rows of the table have keys of chunks within the grid of an array."""
        table = self._refs.table
        found = np.zeros(len(rows), bool)
        groups = table.group.of(rows)
        for manifest in self.owners.manifests[path]:
            grid = manifest.grid_shape
            group = group_of_chunks(manifest.prefix, len(grid), manifest.encoding)
            number = None if group is None or group[0] not in table.groups else table.groups.index(group[0])
            mine = np.flatnonzero(groups == number) if number is not None else np.arange(len(rows))
            if group is None or number is None:
                keys = table.keys(rows[mine].tolist())
                found[mine] |= [self._is_chunk(key, manifest) for key in keys]
                continue
            size = len(group[1]) + len(grid)
            codes = table.code[rows[mine]]
            inside = codes >> np.uint64(BITS) == size
            columns = unpack_many(codes, size)
            for column, at in zip(columns, group[1], strict=False):
                inside &= column == at
            for column, length in zip(columns[len(group[1]) :], grid, strict=True):
                inside &= column < length
            found[mine] |= inside
        return found

    def _is_chunk(self, key: str, manifest: ExpansionManifest) -> bool:
        """Tell whether a key is that of a chunk within a grid."""
        if not key.startswith(manifest.prefix):
            return False
        coords = manifest.encoding.decode(key[len(manifest.prefix) :], len(manifest.grid_shape))
        return coords is not None and all(
            at < size for at, size in zip(coords, manifest.grid_shape, strict=True)
        )

    def _is_looked_at(self, owner: OwnerName) -> bool:
        """Whether the chunks of an array are looked at one by one, those that stand in refs among them."""
        if owner.kind is not OwnerKind.ARRAY or owner.path not in self._made:
            return False
        if self._made[owner.path] and self._are_objects(self._made[owner.path]):
            return False
        manifests = self.owners.manifests[owner.path]
        return sum(prod(each.grid_shape) for each in manifests) <= LISTED

    # Rules and layouts

    def rules(self) -> None:
        """Take the chunks of arrays with rules one by one; of larger ones the rules, by arithmetic."""
        with_entries = set(self.found.owners)
        for path, numbers in self._made.items():
            owner = OwnerName(OwnerKind.ARRAY, path)
            if self._is_looked_at(owner):
                if numbers or owner in with_entries:
                    for manifest in self.owners.manifests[path]:
                        self._chunk_by_chunk(manifest, owner)
            elif self._are_objects(numbers):
                for manifest in self.owners.manifests[path]:
                    self._object(manifest, owner, numbers)
            else:
                for number in numbers:
                    self._by_arithmetic(self._generated[number], owner)
        given = {number for numbers in self._made.values() for number in numbers}
        for number in sorted(self._near - given):
            # Of no array: nobody reads what it gives, and yet it refers to the file.
            rule = self._generated[number]
            owner = self.owners.above(rule.static_prefix[: rule.static_prefix.rfind("/") + 1])
            if isinstance(rule, GenRule) and rule.count <= LISTED:
                self._row_by_row(rule, owner)
            else:
                self._by_arithmetic(rule, owner)

    def _are_objects(self, numbers: list[int]) -> bool:
        """Whether these make each chunk an object of its own, so that one of them alone may be the file."""
        rules = [self._generated[number] for number in numbers]
        plain = (isinstance(rule, ChunkLayout) and not isinstance(rule, RangeLayout) for rule in rules)
        return bool(rules) and all(plain) and not any(is_chained(rule.head) for rule in rules)  # type: ignore[attr-defined]

    def _object(self, manifest: ExpansionManifest, owner: OwnerName, numbers: list[int]) -> None:
        """Take the chunk that is the file."""
        grid = manifest.grid_shape
        for number in numbers:
            layout = self._generated[number]
            assert isinstance(layout, ChunkLayout)
            coords = manifest.encoding.decode(self.url[len(layout.head) :], len(grid))
            if coords is None or any(at >= size for at, size in zip(coords, grid, strict=True)):
                continue
            source, key = len(self.found.keys), manifest.key(coords)
            self.found.keys.append({0: key}.get)
            one = np.array([coords], np.int64).reshape(1, len(grid))
            self._take(manifest.columns(one), self.found.number(owner), source, np.zeros(1, np.int64))

    def _chunk_by_chunk(self, manifest: ExpansionManifest, owner: OwnerName) -> None:
        grid, found = manifest.grid_shape, self.found
        size, source = prod(grid), len(found.keys)
        found.keys.append(lambda item: manifest.key(coords_of(item, grid)))
        for first in range(0, size, _PAGE):
            self.check()
            items = np.arange(first, min(first + _PAGE, size))
            coords = np.stack(np.unravel_index(items, grid), axis=1) if grid else np.zeros((1, 0), np.int64)
            self._take(manifest.columns(coords.astype(np.int64)), found.number(owner), source, items)

    def _row_by_row(self, rule: GenRule, owner: OwnerName) -> None:
        source = len(self.found.keys)
        self.found.keys.append(lambda item: rule.row(item).key)
        for first in range(0, rule.count, _PAGE):
            self.check()
            rows = np.arange(first, min(first + _PAGE, rule.count))
            rows = self._counting_rows(rule, rows)
            self._take(rule.references(rows), self.found.number(owner), source, rows)

    def _counting_rows(self, rule: GenRule, rows: Ints) -> Ints:
        """Return the rows of a rule that no later rule replaces."""
        expansion = self._document.expansion
        if len(self._near) < 2 or rule.count > _ASKED:
            return rows
        first = expansion.row_of(rule.index, 0)
        keys = rule.rows(int(rows[0]), int(rows[-1]) + 1).keys
        found = zip(rows.tolist(), keys, strict=True)
        return np.array(
            [row for row, key in found if key is not None and expansion.find(key) == first + row], np.int64
        )

    def _take(self, columns: ReferenceColumns, owner: int, source: int, items: Ints) -> None:
        """Take those of the references that lead to the file."""
        if any(is_chained(text) for text in columns.urls[:1] + columns.urls[-1:]):
            columns = self._with_archives(columns)
        numbers = [number for number, text in enumerate(columns.urls) if text == self.url]
        if not numbers:
            return
        is_mine = columns.url == numbers[0] if len(numbers) == 1 else np.isin(columns.url, numbers)
        is_mine &= (columns.kind == ReferenceKind.RANGE) | (columns.kind == ReferenceKind.WHOLE)
        rows = np.flatnonzero(is_mine)
        length = np.where(columns.kind[rows] == ReferenceKind.WHOLE, -1, columns.length[rows])
        self.found.add(owner, source, items[rows], columns.offset[rows], length)

    def _with_archives(self, columns: ReferenceColumns) -> ReferenceColumns:
        """Return members of archives as their ranges, where those are known."""
        rows = np.flatnonzero(columns.kind == ReferenceKind.WHOLE)
        if self.url not in members_of(columns, rows):
            return columns
        return known_ranges(columns, self.source.access)

    def _by_arithmetic(self, rule: Generated, owner: OwnerName) -> None:
        """Take the ranges of a rule of any size."""
        number, found = self.found.number(owner), self.found
        if isinstance(rule, RangeLayout):
            step = LatticeStep(rule.step, rule.count, 0)
            lattice = Lattice.of(rule.offset, rule.length, [step])
            if lattice is not None:
                found.lattices.append(LatticeOf(lattice, number, rule))
            elif rule.length:
                stop = rule.offset + rule.step * (rule.count - 1) + rule.length
                found.undecided.append(Undecided(number, rule.offset, min(stop, _LARGEST), rule.count))
            return
        if not isinstance(rule, GenRule):
            found.undecided.append(Undecided(number, 0, 0, rule.count))
            return
        made = lattices_of(rule, self.url)
        if isinstance(made, list):
            found.lattices += [LatticeOf(lattice, number, rule, fixed) for lattice, fixed in made]
        else:
            found.undecided.append(Undecided(number, *made, rule.count))

    # What is assembled from pieces

    def others(self) -> None:
        """Take the pieces of arrays whose chunks have no references of their own."""
        source = self.source
        for node in self.owners.nodes:
            owner = OwnerName(OwnerKind.ARRAY, node.path)
            if node.assembled is None or owner in self.found.owners:
                continue
            self.check()
            try:
                needed = source.session.needs(node, source.access, Selection.whole(node.shape))
            except RefbrowserError:
                continue
            grid, number = node.grid.grid_shape, len(self.found.keys)
            self.found.keys.append(_KeyOf(node, grid))
            count = len(needed.columns)
            # Pieces that are of no chunk have no key.
            owners = [-1] * count if needed.owners is None else [*needed.owners]
            items = np.array(owners, np.int64)
            if any(text == self.url for text in needed.columns.urls):
                self._take(needed.columns, self.found.number(owner), number, items)

    # The document itself

    def inline(self) -> None:
        """Take the inline values in the text of the document."""
        table = self._refs.table
        if not isinstance(table, TextTable):
            return
        self.found.keys.append(self._refs.key_of)
        kinds = (ValueKind.TEXT, ValueKind.BASE64, ValueKind.OBJECT)
        rows = self._standing(np.flatnonzero(np.isin(table.url, [int(kind) for kind in kinds])))
        offset, length = table.offset[rows].astype(np.int64), table.length[rows].astype(np.int64)
        self.found.add(self._owners_of(rows), 0, rows, offset, length)


@dataclass(frozen=True, slots=True)
class _KeyOf:
    """Gives the keys of the chunks of an array by their numbers."""

    node: ArrayNode
    grid: tuple[int, ...]

    def __call__(self, item: int) -> str | None:
        if not 0 <= item < prod(self.grid):
            return None
        return self.node.manifest.key(coords_of(item, self.grid))


def coords_of(item: int, grid: tuple[int, ...]) -> tuple[int, ...]:
    """Return the coordinates of a chunk by its number in C order, in grids of any size."""
    found = []
    for size in reversed(grid):
        item, at = divmod(item, size)
        found.append(at)
    return tuple(reversed(found))
