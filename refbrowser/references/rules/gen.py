"""Gen rules (References specification, Version 1) as algebra: counted, viewed, searched, never expanded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.reference import ByteRange, Reference, ReferenceColumns, ReferenceKind, WholeFile
from refbrowser.references.rules.dimensions import INT_ROOM, Int64, RowSpace, member_pointer, parse_dimensions
from refbrowser.references.rules.layouts import FoundChunk, NotDecided, key_begins, no_references
from refbrowser.references.rules.lowering import static_prefix
from refbrowser.references.rules.rule_keys import (
    MISSING,
    UNDECIDED,
    ChunkMatch,
    KeyCase,
    KeyPattern,
    UndecidedError,
    find_rows,
    key_cases,
    match_chunks,
)
from refbrowser.references.rules.rule_rows import (
    FIELDS,
    FieldColumn,
    GenRow,
    GenRows,
    RuleColumns,
    RuleField,
    placed,
    read_field,
    references,
    rule_scope,
)
from refbrowser.references.rules.rule_search import FieldSpace, KeySearch, SearchTime, rule_directories
from refbrowser.references.templates.evaluate import Scope
from refbrowser.references.templates.templates import TemplateSet

#: Rows looked at in vain for one chunk, after which the other chunks are not searched for.
_MOST_CHECKED = 100_000

_Found = TypeVar("_Found")

#: What other software makes of gen rules.
RENDERED_ONLY = (
    "fsspec reads gen rules only with simple_templates=False, and otherwise treats their chunks as missing"
)


def _clashes(names: Iterable[str], templates: TemplateSet) -> Iterator[RefbrowserError]:
    """Yield a fault for each dimension that has the name of a template: its use is not clear."""
    message = "dimension {} has the name of a template"
    for name in names:
        if name in templates.texts:
            yield RefbrowserError(
                ErrorKind.TEMPLATE,
                message.format(quoted(name)),
                Place(field="dimensions", pointer=member_pointer(name)),
                "give one of them another name",
            )


def _row_code(row: int | NotDecided | None) -> int:
    if row is None:
        return MISSING
    return UNDECIDED if isinstance(row, NotDecided) or row >= 2**63 else row


class GenRule:
    """One gen rule: four jinja-str over the cartesian product of its dimensions.

    Making one never raises: what is wrong is listed by `faults`. Immutable, safe to share across threads.

    Parameters
    ----------
    fields
        The rule's members as Python values (unknown ones are left alone).
    templates
        The document's templates.
    index
        Position of the rule in `gen`.

    Attributes
    ----------
    members
        All of its members as Python values; empty where it is no object.
    """

    def __init__(self, fields: Mapping[str, Any], templates: TemplateSet, index: int) -> None:
        self.index = index
        self.templates = templates
        self.is_object = isinstance(fields, Mapping)
        self.members: Mapping[str, Any] = fields if self.is_object else {}
        listed = self.members.get("dimensions")
        found_dimensions, faults = parse_dimensions(listed)
        self.dimension_names = tuple(listed) if isinstance(listed, Mapping) else ()
        self.dimension_faults = tuple(faults)
        self.clashes = tuple(map(self._placed, _clashes(self.dimension_names, templates)))
        self.space = RowSpace(found_dimensions)
        self._searched: dict[str, Any] = {}

    def _placed(self, error: RefbrowserError) -> RefbrowserError:
        pointer = f"/gen/{self.index}{error.place.pointer or ''}"
        return error.at(replace(error.place, rule=self.index, pointer=pointer))

    @property
    def structure_faults(self) -> tuple[RefbrowserError, ...]:
        """Why the rule gives no rows although it should: it is no object, or its dimensions are faulty."""
        if not self.is_object:
            return (self._placed(RefbrowserError(ErrorKind.SCHEMA, "the rule is not an object")),)
        return tuple(map(self._placed, self.dimension_faults))

    @cached_property
    def _scope(self) -> Scope:
        return rule_scope(self.dimension_names, self.templates)

    @cached_property
    def fields(self) -> dict[str, RuleField]:
        """The fields by name, parsed when first asked for; an optional one is absent."""
        found = {name: read_field(name, self.members, self._scope) for name in FIELDS}
        return {name: each for name, each in found.items() if each is not None}

    @property
    def key(self) -> str | None:
        """The text of the field, None where it is absent or not text."""
        return self._text("key")

    @property
    def url(self) -> str | None:
        """The text of the field, None where it is absent or not text."""
        return self._text("url")

    @property
    def offset(self) -> str | None:
        """The text of the field, None where it is absent or not text."""
        return self._text("offset")

    @property
    def length(self) -> str | None:
        """The text of the field, None where it is absent or not text."""
        return self._text("length")

    def _text(self, name: str) -> str | None:
        text = self.members.get(name)
        return text if isinstance(text, str) else None

    @property
    def dimensions(self) -> tuple[tuple[str, range | tuple[Any, ...]], ...]:
        """Names and values of the dimensions that are good, in document order."""
        return tuple((dimension.name, dimension.values) for dimension in self.space.dimensions)

    @property
    def integer_names(self) -> tuple[str, ...]:
        """Names of the good dimensions that are integers throughout."""
        return tuple(each.name for each in self.space.dimensions if not each.has_texts)

    @property
    def key_begins(self) -> tuple[str, bool] | None:
        """What all keys begin with, and whether an integer follows; None where there is no key."""
        return None if self.key is None else key_begins(self.key, self.integer_names)

    @property
    def is_quick(self) -> bool:
        """Whether rows are made as columns."""
        return self.columns is not None

    def may_give(self, prefix: str) -> bool:
        """Return whether keys may start with `prefix`; False is certain."""
        start = self._key_start
        return start is not None and (start.startswith(prefix) or prefix.startswith(start))

    @cached_property
    def _key_start(self) -> str | None:
        """The text of the key before its first expression; None where there is no key."""
        key = self.fields.get("key")
        return None if key is None or key.template is None else key.template.static_prefix

    @cached_property
    def count(self) -> int:
        """Number of rows, which may exceed 2**63; 0 where a dimension is faulty."""
        return 0 if self.dimension_faults else self.space.count

    def __len__(self) -> int:
        return self.count

    @cached_property
    def columns(self) -> RuleColumns | None:
        """The fields as columns; None where there are no rows."""
        return RuleColumns(self.fields, self.space, self._scope, self.index) if self.count else None

    def row(self, row: int) -> GenRow:
        """Return one generated entry, 0 <= row < count.

        Raises
        ------
        IndexError
            There is no such row.
        """
        if not 0 <= row < self.count:
            raise IndexError(row)
        values = self.space.values(row)
        found: dict[str, Any] = {}
        first: RefbrowserError | None = None
        for name, rule_field in self.fields.items():
            try:
                found[name] = rule_field.evaluate(values)
            except RefbrowserError as error:
                first = first or placed(error, self.index, name, row)
        reference: Reference | None = None
        if first is None and "offset" in self.fields:
            reference = ByteRange(found["url"], found["offset"], found["length"])
        elif first is None:
            reference = WholeFile(found["url"])
        return GenRow(row, found.get("key"), reference, first)

    def rows(self, start: int, stop: int) -> GenRows:
        """Return the entries of rows [start, stop), cut at the ends of the rule, as columns."""
        start = max(0, min(start, self.count))
        stop = max(start, min(stop, self.count))
        if self.columns is None or start == stop:
            return GenRows(start, 0, lambda name: FieldColumn([], {}) if name in self.fields else None)
        return self.columns.window(start, stop)

    @cached_property
    def pattern(self) -> KeyPattern | None:
        """The key as a pattern, where it is lowered and there are rows."""
        fragments = self.columns.texts.get("key") if self.columns is not None else None
        return None if fragments is None else KeyPattern(fragments, self.space)

    @cached_property
    def _key_search(self) -> KeySearch | None:
        key = self.fields["key"]
        if self.columns is None or key.compiled is None or key.faults:
            return None
        return KeySearch(key, FieldSpace(self.space, tuple(sorted(self.columns.slots("key")))))

    @cached_property
    def _cases(self) -> tuple[KeyCase, ...] | None:
        """The key as lowered keys over the whole space or parts of it; None where it is not that."""
        if self.pattern is not None:
            return (KeyCase(self.pattern, self.space, tuple(map(range, self.space.lengths))),)
        search = self._key_search
        if search is None or search.field.template is None:
            return None
        return key_cases(search.field.template, self._scope, self.space)

    def find(self, key: str, cancelled: Callable[[], bool] = lambda: False) -> int | NotDecided | None:
        """Return the last row with this key, None where there is none, or that it was not decided.

        By arithmetic where the key is lowered, as a whole or by cases; else by a bounded search, which
        `cancelled` ends.
        """
        if self._cases is None:
            return self._search(key, cancelled)
        try:
            return max((row for case in self._cases if (row := case.find(key)) is not None), default=None)
        except UndecidedError as error:
            return NotDecided(error.rows)

    def _search(self, key: str, cancelled: Callable[[], bool]) -> int | NotDecided | None:
        if self._key_search is None:
            return None
        found, checked = self._key_search.find(key, cancelled)
        return NotDecided(checked) if found is None and checked >= 0 else found

    def find_chunks(self, prefix: str, coords: Int64, encoding: ChunkKeyEncoding) -> Int64:
        """Return the last row with the key of each chunk, -1 where there is none, -2 where not decided.

        Parameters
        ----------
        prefix
            Path of the array with its ``/`` at the end; empty for a root array.
        coords
            Chunk coordinates, shape (n, ndim).
        """
        best = np.full(len(coords), MISSING, dtype=np.int64)
        shared = min(len(prefix), len(self.static_prefix))
        if prefix[:shared] != self.static_prefix[:shared]:
            return best
        for case in self._cases or ():
            match = match_chunks(case.pattern, prefix, coords.shape[1], encoding)
            if match is False:
                continue
            rows = find_rows(case.pattern, match, coords) if isinstance(match, ChunkMatch) else None
            if rows is not None and case.pattern is self.pattern:
                return rows
            if rows is None or self.count > INT_ROOM:
                return self._find_each(prefix, coords, encoding)
            best = np.maximum(best, case.rows(rows))
        return best if self._cases is not None else self._find_each(prefix, coords, encoding)

    def _find_each(self, prefix: str, coords: Int64, encoding: ChunkKeyEncoding) -> Int64:
        rows = np.full(len(coords), UNDECIDED, dtype=np.int64)
        for place, key in enumerate(encoding.encode_many(coords)):
            found = self.find(prefix + key)
            if isinstance(found, NotDecided) and found.rows_checked > _MOST_CHECKED:
                # A search this long for one chunk is not repeated for the others.
                break
            rows[place] = _row_code(found)
        return rows

    def chunks(self, prefix: str, coords: Int64, encoding: ChunkKeyEncoding) -> FoundChunk:
        """Return the references of chunks of an array; `coords` has shape (n, ndim)."""
        rows = self.find_chunks(prefix, coords, encoding)
        hit = np.flatnonzero(rows >= 0)
        columns = self.references(rows[hit]) if len(hit) else no_references()
        return FoundChunk(hit, columns, np.flatnonzero(rows == UNDECIDED))

    def chunk_kinds(self, prefix: str, coords: Int64, encoding: ChunkKeyEncoding) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of chunks: `MISSING` where it has none, `FAULTY` where not decided."""
        rows = self.find_chunks(prefix, coords, encoding)
        kinds = np.full(len(rows), ReferenceKind.MISSING, np.uint8)
        hit = rows >= 0
        if hit.any():
            kinds[hit] = self.references(rows[hit]).kind
        kinds[rows == UNDECIDED] = ReferenceKind.FAULTY
        return kinds

    def holds(self, prefix: str, coords: Int64, encoding: ChunkKeyEncoding) -> npt.NDArray[np.bool_] | None:
        """Return which chunks it has; None where that is not decided."""
        rows = self.find_chunks(prefix, coords, encoding)
        return None if (rows == UNDECIDED).any() else rows >= 0

    def references(self, rows: Int64) -> ReferenceColumns:
        """Return the references of rows (int64, each in [0, count)) as columns, in that order.

        An entry that is faulty, or whose range ends beyond 2**63, is `FAULTY` with its error.
        """
        if self.columns is None:
            return no_references()
        return references(self.columns, rows)

    @cached_property
    def static_prefix(self) -> str:
        """The text that every key begins with."""
        return self._static("key")

    def static_origin(self) -> str:
        """Return the text of the URL up to the first part that depends on a dimension."""
        return self._static("url")

    def _static(self, name: str) -> str:
        template = self.fields[name].template
        return "" if template is None else static_prefix(template, self._scope, self.space)

    def directories(self) -> tuple[str, ...] | None:
        """Return what keys have before their last ``/`` (none: ""), None where that is not bounded."""
        if self.columns is None:
            return ()
        return rule_directories(self.pattern, self.columns, self._key_search)

    def may_meet(self, other: GenRule) -> bool:
        """Tell whether its keys and those of another rule may be in the same folder."""
        mine, theirs = self.static_prefix, other.static_prefix
        if not (mine.startswith(theirs) or theirs.startswith(mine)):
            return False
        folders, others = self.directories(), other.directories()
        return folders is None or others is None or not set(folders).isdisjoint(others)

    def remembered(
        self, name: str, search: Callable[[SearchTime], _Found], left: SearchTime | None = None
    ) -> _Found:
        """Return what a search of the rows finds; it is not made again once it had all the time it needed."""
        if name in self._searched:
            return self._searched[name]
        left = left or SearchTime()
        found = search(left)
        if not left.is_over:
            self._searched[name] = found
        return found
