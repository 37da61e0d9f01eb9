"""References that no file can have: an empty URL, a range past 2^63, a range past the end of a local file."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.engine.findings.shifted_rules import (
    MOST_ROWS,
    ShiftedFiles,
    UsedBytes,
    affine_end,
    constant_url,
    with_shift,
)
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import NOT_DECIDED, NUMBER_IMPOSSIBLE, RANGE_PAST_END, URL_EMPTY
from refbrowser.io.origins import scheme_of
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.references.content.finding_places import (
    AnyPositions,
    Found,
    located,
    placed,
    positions_of,
)
from refbrowser.references.content.reference_values import LARGEST, ValueKind
from refbrowser.references.rules.integer_expressions import (
    Affine,
    bounds,
    combine,
    count_below_zero,
    evaluate,
    first_below_zero,
)
from refbrowser.references.rules.rule_search import SearchTime

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access
    from refbrowser.references.document.document import Document
    from refbrowser.references.rules.gen import GenRule
    from refbrowser.references.rules.rule_rows import RuleColumns

#: References of one kind that are listed one by one; the last one has the number of the rest.
TOLD = 50
#: Entries of refs, and rows of rules, that are looked at together.
_PAGE, _ROWS = 65_536, 4096
#: Local files whose size is asked for.
_MOST_FILES = 20_000

_EMPTY = "the URL is empty"


@dataclass(slots=True)
class FileEnds:
    """Where local files end that a document may read without being asked.

    Attributes
    ----------
    sizes
        Of each file that was asked for; None where it is not known.
    """

    access: Access | None
    left: SearchTime
    sizes: dict[str, int | None] = field(default_factory=dict)
    is_over: bool = False

    def end(self, url: str) -> int:
        """Return where a file ends; the end of what any file can have where that is not known."""
        size = self.known(url)
        return LARGEST if size is None else size

    def known(self, url: str) -> int | None:
        """Return the size of a local file, where it is known."""
        if url not in self.sizes:
            if len(self.sizes) >= _MOST_FILES or self.left.is_over:
                self.is_over = True
                return None
            self.sizes[url] = self._size(url)
        return self.sizes[url]

    def _size(self, url: str) -> int | None:
        if self.access is None or scheme_of(url) not in (None, "file"):
            return None
        try:
            location = self.access.resolve(url)
        except RefbrowserError:
            return None
        if location.scheme != "file" or location.member:
            return None
        try:
            found = os.stat(location.path)
        except (OSError, ValueError):
            return None
        return found.st_size if stat.S_ISREG(found.st_mode) else None


def range_findings(document: Document, access: Access | None, left: SearchTime) -> Iterator[Finding]:
    """Yield the references that no file can have; nothing is read, the sizes of local files are asked for.

    Parameters
    ----------
    access
        What the document may read: other files are not looked at. None to look at none.
    left
        The time that there is for rules and files.
    """
    files = FileEnds(access, left)
    yield from placed(document, list(_of_refs(document, files)))
    of_rules: list[Finding] = []
    used = UsedBytes(document)
    for rule in document.rules:
        if rule.columns is not None:
            of_rules += _of_rule(rule, rule.columns, files, used)
    yield from located(document, of_rules)
    if files.is_over:
        looked = f"({len(files.sizes)} files checked)"
        message = f"whether ranges end past the ends of other local files is not decided {looked}"
        yield NOT_DECIDED.finding(message, Place(document=document.name))


def rule_range_findings(document: Document, rule: GenRule, files: FileEnds) -> list[Finding]:
    """Return the rows of a rule that no file can have; the document need not have the rule yet."""
    if rule.columns is None:
        return []
    return list(_of_rule(rule, rule.columns, files, UsedBytes(document)))


# Entries of refs


def _of_refs(document: Document, files: FileEnds) -> Iterator[Found]:
    refs, view = document.refs, document.view
    positions = positions_of(document)
    told: Counter[str] = Counter()
    for start in range(0, len(refs), _PAGE):
        if files.left.cancelled():
            return
        if start and files.left.is_over:
            looked = f"({start} references checked)"
            message = f"whether files can have what other references refer to is not decided {looked}"
            yield Found.of(NOT_DECIDED, message, _where_all(document), None)
            break
        slots = refs.slot_column(start, min(start + _PAGE, len(refs)))
        columns = view.columns(slots)
        odd = _OddRows(columns, files)
        faulty = np.flatnonzero(columns.kind == ReferenceKind.FAULTY).tolist()
        large = [row for row in faulty if _is_large(document, int(slots[row]))]
        for kind, row in odd.first(told):
            url = odd.url(row) if kind == "end" else None
            yield _of_slot(document, positions, int(slots[row]), odd.message(kind, row), kind, url)
        told.update({kind: len(rows) for kind, rows in odd.rows.items()})
        for slot in slots[large[: max(TOLD - told["large"], 0)]].tolist():
            yield _of_slot(document, positions, slot, view.error(slot).message, "large")
        told.update({"large": len(large)} if large else {})
    for kind, count in told.items():
        if count > TOLD:
            message = f"{count - TOLD} more references {_MORE[kind]}"
            yield Found.of(_KINDS[kind], message, _where_all(document), None, count=count - TOLD)


def _where_all(document: Document) -> str:
    return "" if document.version == 0 else "/refs"


#: What is told of references beyond those that are listed.
_MORE = {
    "empty": "have an empty URL",
    "large": "end beyond 2^63",
    "end": "end past the ends of their files",
}


_KINDS = {"empty": URL_EMPTY, "large": NUMBER_IMPOSSIBLE, "end": RANGE_PAST_END}


def _is_large(document: Document, slot: int) -> bool:
    patch = document.refs.patch(slot)
    if patch is not None:
        return patch.value.kind is ValueKind.LARGE
    return int(document.refs.table.url[slot]) == ValueKind.LARGE


def _of_slot(
    document: Document, positions: AnyPositions, slot: int, message: str, kind: str, url: str | None = None
) -> Found:
    key = document.refs.key_of(slot)
    where, at = document.key_pointer(key), positions.entry(slot)
    return Found.of(_KINDS[kind], message, where, at, key=key, url=url)


class _OddRows:
    """The rows of a page of references that no file can have.

    Attributes
    ----------
    rows
        By kind, each rising; empty URLs first, then the kinds in the order of their first rows.
    """

    def __init__(self, columns: ReferenceColumns, files: FileEnds) -> None:
        found = np.flatnonzero((columns.kind == ReferenceKind.RANGE) | (columns.kind == ReferenceKind.WHOLE))
        used, which = np.unique(columns.url[found], return_inverse=True)
        urls = [columns.urls[number] for number in used.tolist()]
        empty = np.array([not url.strip() for url in urls], bool)
        limits = np.array([files.end(url) if url.strip() else LARGEST for url in urls], np.uint64)[which]
        ends = columns.offset[found].astype(np.uint64) + np.maximum(columns.length[found], 0).astype(
            np.uint64
        )
        past = (columns.kind[found] == ReferenceKind.RANGE) & (ends > limits)
        self._columns, self._found, self._ends, self._limits = columns, found, ends, limits
        kinds = {
            "empty": found[empty[which]],
            "large": found[past & (limits == LARGEST)],
            "end": found[past & (limits != LARGEST)],
        }
        there = [(kind, rows) for kind, rows in kinds.items() if len(rows)]
        self.rows = dict(sorted(there, key=lambda item: _rank(item[0], int(item[1][0]))))

    def first(self, told: Mapping[str, int]) -> list[tuple[str, int]]:
        """Return kind and number of the rows that are listed, after so many of each kind were told."""
        listed = [
            (kind, row)
            for kind, rows in self.rows.items()
            for row in rows[: max(TOLD - told[kind], 0)].tolist()
        ]
        return sorted(listed, key=lambda item: _rank(*item))

    def url(self, row: int) -> str:
        """Return the URL of a row."""
        return self._columns.urls[int(self._columns.url[row])]

    def message(self, kind: str, row: int) -> str:
        """Return what is odd about a row."""
        if kind == "empty":
            return _EMPTY
        at = int(self._found.searchsorted(row))
        return past_end_words(int(self._ends[at]), int(self._limits[at]), self.url(row))


def _rank(kind: str, row: int) -> tuple[bool, int]:
    return kind != "empty", row


def past_end_words(end: int, limit: int, url: str) -> str:
    """Return what is wrong with a range that ends past the end of its file."""
    if limit == LARGEST:
        return f"the range ends at byte {end}: no file has more than 2^63 - 1"
    return f"the range ends at byte {end}, past the end of {quoted(url)}, which has {limit} bytes"


# Rows of rules


def _of_rule(rule: GenRule, columns: RuleColumns, files: FileEnds, used: UsedBytes) -> Iterator[Finding]:
    url = constant_url(rule, columns)
    if url is not None and not url.strip():
        yield _finding(rule, "empty", 0, _EMPTY, rule.count)
        return
    end = affine_end(columns)
    if end is not None:
        limit = LARGEST if url is None else files.end(url)
        rest = combine("-", Affine(limit), end)
        assert isinstance(rest, Affine)
        first = first_below_zero(rest, rule.space)
        if first is not None:
            message = past_end_words(evaluate(end, rule.space.values(first)), limit, url or "")
            kind = "large" if limit == LARGEST else "end"
            found = _finding(rule, kind, first, message, count_below_zero(rest, rule.space) or 1)
            yield found if kind != "end" else with_shift(found, rule, columns, (end, limit), url or "", used)
    is_ended = end is not None or "offset" not in rule.fields or _is_bounded(columns)
    static = rule.static_origin()
    is_far = bool(static.strip()) and scheme_of(static) not in (None, "file")
    if any(field.faults for field in rule.fields.values()) or (is_ended and (url is not None or is_far)):
        return
    yield from _looked_at(rule, columns, files, used)


def _is_bounded(columns: RuleColumns) -> bool:
    """Tell whether no range ends beyond 2^63, by the bounds of what is lowered."""
    values = [columns.integers.get(name) for name in ("offset", "length")]
    found = [None if value is None else bounds(value, columns.space) for value in values]
    return all(each is not None for each in found) and sum(each[1] for each in found if each) <= LARGEST


def _looked_at(rule: GenRule, lowered: RuleColumns, files: FileEnds, used: UsedBytes) -> Iterator[Finding]:
    """Look at the first rows of a rule and the last ones."""
    #: By kind and, of ranges past an end, file: the first row, its message, and how many there are.
    groups: dict[tuple[str, str], tuple[int, str, int]] = {}

    def note(kind: str, row: int, message: str, count: int, url: str = "") -> None:
        if len(groups) >= TOLD and (kind, url) not in groups:
            url = ""
        earlier = groups.get((kind, url))
        first = (row, message) if earlier is None else min((row, message), earlier[:2])
        groups[kind, url] = (*first, count + (0 if earlier is None else earlier[2]))

    most = min(rule.count, MOST_ROWS)
    checked = 0
    pages = [range(start, min(start + _ROWS, most)) for start in range(0, most, _ROWS)]
    if most < rule.count < 2**62:
        pages.insert(1, range(max(most, rule.count - _ROWS), rule.count))
    for number, page in enumerate(pages):
        if files.left.cancelled() or (number > 1 and files.left.is_over):
            break
        columns = rule.references(np.arange(page.start, page.stop, dtype=np.int64))
        checked += len(page)
        odd = _OddRows(columns, files)
        for kind, rows in odd.rows.items():
            of_files = columns.url[rows] if kind == "end" else np.zeros(len(rows), np.int32)
            for file in np.unique(of_files).tolist():
                some = rows[of_files == file]
                url = columns.urls[file] if kind == "end" else ""
                note(kind, page.start + int(some[0]), odd.message(kind, int(some[0])), len(some), url)
        for row in np.flatnonzero(columns.kind == ReferenceKind.FAULTY).tolist():
            error = columns.faults[row]
            if error.kind is ErrorKind.RANGE:
                note("large", page.start + row, error.message, 1)
    yield from _told(rule, lowered, groups, files, used)
    if checked < rule.count:
        message = f"whether files can have what the rule refers to is not decided ({checked} rows checked)"
        place = Place(rule=rule.index, field="url", pointer=f"/gen/{rule.index}/url")
        yield NOT_DECIDED.finding(message, place, checked=checked)


def _told(
    rule: GenRule,
    lowered: RuleColumns,
    groups: Mapping[tuple[str, str], tuple[int, str, int]],
    files: FileEnds,
    used: UsedBytes,
) -> Iterator[Finding]:
    """Yield what is odd about rows: what a shift explains as one, else each file by itself."""
    shifted: ShiftedFiles | None = None
    if any(kind == "end" for kind, _ in groups) and rule.count <= MOST_ROWS:
        shifted = ShiftedFiles(rule, lowered, used, files.known)
    explained = () if shifted is None else shifted.urls
    rows = [groups["end", url] for url in explained if ("end", url) in groups]
    if shifted is not None and rows:
        first, message, _ = min(rows)
        yield shifted.finding(_finding(rule, "end", first, message, sum(count for *_, count in rows)))
    for (kind, url), (row, message, count) in groups.items():
        if kind != "end" or url not in explained:
            found = _finding(rule, kind, row, message, count)
            yield replace(found, place=replace(found.place, url=url)) if url else found


def _finding(rule: GenRule, kind: str, row: int, message: str, count: int) -> Finding:
    name = "url" if kind == "empty" else "length"
    place = Place(rule=rule.index, field=name, row=row, pointer=f"/gen/{rule.index}/{name}")
    return _KINDS[kind].finding(message, place, count=count)
