"""Ranges of chunks held against each other and against their arrays: what is missing, cut, laid twice.

All of it is decided by columns (`ChunkTable`) or, where the chunks are too many, by the algebra of rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.findings.chunk_table import ChunkMarks, ChunkOwner, ChunkTable, Ints
from refbrowser.engine.findings.range_findings import TOLD
from refbrowser.errors import Place, Severity, quoted
from refbrowser.findings.finding import Finding, FindingKind
from refbrowser.findings.kinds import (
    LENGTH_UNDECODABLE,
    MISSING_CHUNKS,
    NOT_DECIDED,
    RANGE_OFF_BY_ONE,
    RANGE_OVERLAP,
    RANGE_REPEATED,
)
from refbrowser.references.content.finding_places import in_refs, located
from refbrowser.references.content.reference_values import LARGEST
from refbrowser.references.rules.integer_expressions import Affine, bounds
from refbrowser.references.rules.lowering import IntegerFragment
from refbrowser.references.rules.rule_search import SearchTime

if TYPE_CHECKING:
    from refbrowser.model.nodes import Hierarchy
    from refbrowser.references.content.content import Edit
    from refbrowser.references.document.document import Document
    from refbrowser.references.rules.gen import GenRule
    from refbrowser.references.rules.rule_rows import RuleColumns

Mask = npt.NDArray[np.bool_]

#: An array of fewer chunks, or that lacks a larger part of them, is not taken for one that was full.
_FEWEST, _LACKING = 4, 4
#: Ranges that meet without a gap before one that does not is taken for cut, and the share of such at most.
_MEETING, _ODD = 4, 20
#: Arrays in which gaps of one byte are held against the others; files and arrays in which beginnings are.
_MOST_ARRAYS, _MOST_PAIRS = 200, 5_000
#: Entries that one fix changes, and rows that are looked at together.
_FIXED, _TOGETHER = 10_000, 131_072


def chunk_findings(
    document: Document, hierarchy: Hierarchy, left: SearchTime, marks: ChunkMarks | None = None
) -> list[Finding]:
    """Return what is odd about the ranges of chunks; nothing is read.

    Parameters
    ----------
    left
        The time that there is.
    marks
        Is told the chunks that the findings are about.
    """
    if document.rules_are_made:
        return []
    table = ChunkTable.of(document, hierarchy, left)
    checks = _Checks(document, table, marks or ChunkMarks())
    found = [*checks.missing(), *checks.lengths(), *checks.neighbours()]
    found += checks.of_large()
    if not table.is_whole:
        found.append(_not_decided(document, "the ranges of all chunks", len(table.owner)))
    plain = [each for each in found if each.place.rule is None]
    of_rules = [each for each in found if each.place.rule is not None]
    return [*in_refs(document, plain), *located(document, of_rules)]


@dataclass(frozen=True, slots=True)
class _Odd:
    """Rows of the table about which one thing is to be told, file by file."""

    kind: FindingKind
    rows: Ints
    #: Offset and length that these should have; None where that is not known.
    meant: tuple[Ints, Ints] | None = None
    #: For each the row that it is held against; None where there is none.
    other: Ints | None = None


class _Checks:
    def __init__(self, document: Document, table: ChunkTable, marks: ChunkMarks) -> None:
        self._document, self._table, self._marks = document, table, marks
        #: Rows whose length alone tells that they are wrong: their neighbours are not blamed.
        self._blamed = np.zeros(len(table.owner), bool)

    # Chunks that are not there

    def missing(self) -> Iterator[Finding]:
        """Yield arrays of which few chunks have no reference."""
        for owner in self._table.owners:
            count, total = len(owner.missing), owner.total
            if not count or total < _FEWEST or count * _LACKING > total:
                continue
            self._marks.add(owner.node.path, MISSING_CHUNKS.code, owner.coords(owner.missing))
            key = owner.key(int(owner.missing[0]))
            yield MISSING_CHUNKS.finding(
                f"{count} of {total} chunks have no reference, the others have one",
                Place(document=self._document.name, key=key, path=owner.node.path),
                advice="give them references, or ignore this if they were never written",
                count=count,
            )

    # Lengths that no chunk has

    def lengths(self) -> Iterator[Finding]:
        """Yield ranges that cannot decode to a chunk of their array by their length."""
        table = self._table
        for owner, rows in self._of_wrong_lengths():
            self._blamed[rows] = True
            if owner.exact is None:
                yield from self._told(_Odd(LENGTH_UNDECODABLE, rows))
                continue
            by_one = np.abs(table.length[rows] - owner.exact) == 1
            yield from self._told(_Odd(LENGTH_UNDECODABLE, rows[~by_one]))
            shifted = rows[by_one]
            if len(shifted):
                meant = self._meant(shifted, owner.exact)
                yield from self._told(_Odd(RANGE_OFF_BY_ONE, shifted, meant))

    def _of_wrong_lengths(self) -> Iterator[tuple[ChunkOwner, Ints]]:
        """Yield arrays with the rows whose length no chunk of theirs has; all are looked at together."""
        table, found = self._table, [np.zeros(0, np.int64)]
        # Of exact ones both are the same.
        most = np.array([min(each.most, LARGEST) for each in table.owners], np.int64)
        least = np.array([each.least for each in table.owners], np.int64)
        for start in range(0, len(table.owner), _TOGETHER):
            length = table.length[start : start + _TOGETHER]
            owner = table.owner[start : start + _TOGETHER]
            wrong = (length >= 0) & ((length < least[owner]) | (length > most[owner]))
            found.append(start + np.flatnonzero(wrong))
        rows = np.concatenate(found)
        if len(rows):
            for some in np.split(rows, np.flatnonzero(np.diff(table.owner[rows])) + 1):
                yield table.owners[table.owner[some[0]]], some

    def _meant(self, rows: Ints, exact: int) -> tuple[Ints, Ints]:
        """Return the ranges that rows cut by one byte should have, as their neighbours tell."""
        table = self._table
        starts = np.full(len(rows), -1, np.int64)
        usual: dict[tuple[int, int], int | None] = {}
        for at, row in enumerate(rows[:_FIXED].tolist()):
            pair = int(table.url[row]), int(table.owner[row])
            if pair not in usual:
                usual[pair] = self._usual(*pair, exact) if len(usual) < _MOST_PAIRS else None
            begin = usual[pair]
            if begin is None:
                continue
            # Where it begins as its neighbours do its end was cut; else its beginning.
            moved = (int(table.offset[row]) - begin) % exact
            if moved in (0, 1, exact - 1):
                starts[at] = int(table.offset[row]) - (moved if moved < 2 else -1)
        return starts, np.full(len(rows), exact, np.int64)

    def _usual(self, url: int, owner: int, exact: int) -> int | None:
        """Return where the chunks of an array begin in a file, modulo their size; None where they do not."""
        table = self._table
        first, last = np.searchsorted(table.owner, [owner, owner + 1])
        own = (table.url[first:last] == url) & ~self._blamed[first:last]
        if not own.any():
            return None
        values, counts = _counted(table.offset[first:last][own] % exact)
        return int(values[counts.argmax()]) if 2 * counts.max() > counts.sum() else None

    # Ranges of one file held against each other

    def neighbours(self) -> Iterator[Finding]:
        """Yield ranges that overlap, that are there twice, or that miss a byte between neighbours."""
        table = self._table
        kept = np.flatnonzero(table.length > 0)
        if len(kept) < 2:
            return
        offset, length, url = table.offset[kept], table.length[kept], table.url[kept]
        order = np.lexsort((length, offset, url))
        rows, offset, length, url = kept[order], offset[order], length[order], url[order]
        # A million of them take 8 MB each time that they are held.
        del kept, order
        stop = offset + length
        together = url[1:] == url[:-1]
        same = together & (offset[1:] == offset[:-1]) & (length[1:] == length[:-1])
        gap = offset[1:] - stop[:-1]
        blamed = self._blamed[rows]
        by_one = together & (np.abs(gap) == 1) & ~blamed[1:] & ~blamed[:-1]
        by_one &= table.owner[rows[1:]] == table.owner[rows[:-1]]
        shifted = self._odd_gaps(np.flatnonzero(by_one), rows, url, gap)
        if len(shifted):
            yield from self._shifted(rows[shifted], rows[shifted + 1])
        at = np.flatnonzero(same) + 1
        if len(at):
            yield from self._told(_Odd(RANGE_REPEATED, rows[at], other=rows[at - 1]))
        if not (together & ~same & (gap < 0)).any():
            return
        overlapping, others = _overlapping(url, offset, stop)
        told = np.zeros(len(rows), bool)
        told[at] = True
        told[shifted + 1] = True
        fresh = ~told[overlapping] & ~blamed[overlapping] & ~blamed[others]
        if fresh.any():
            yield from self._told(_Odd(RANGE_OVERLAP, rows[overlapping[fresh]], other=rows[others[fresh]]))

    def _odd_gaps(self, at: Ints, rows: Ints, url: npt.NDArray[np.int32], gap: Ints) -> Ints:
        """Return which gaps of one byte, or overlaps of one, are odd among those of their array."""
        owner = self._table.owner
        exact = np.array([each.exact is not None for each in self._table.owners], bool)
        arrays = dict.fromkeys(owner[rows[at]].tolist())
        together = url[1:] == url[:-1]
        odd: list[Ints] = []
        for array in [each for each in arrays if not exact[each]][:_MOST_ARRAYS]:
            own = together & (owner[rows[1:]] == array) & (owner[rows[:-1]] == array)
            meeting = int(np.count_nonzero(own & (gap == 0)))
            found = np.flatnonzero(own & (np.abs(gap) == 1))
            if meeting >= _MEETING and len(found) <= max(1, meeting // _ODD):
                odd.append(found)
        return np.sort(np.concatenate(odd)) if odd else np.zeros(0, np.int64)

    def _shifted(self, before: Ints, after: Ints) -> Iterator[Finding]:
        """Yield ranges between which a byte is missing, or that share one, where others of the array meet."""
        yield from self._told(_Odd(RANGE_OFF_BY_ONE, before, other=after))

    # What is told

    def _mark(self, kind: FindingKind, owner: ChunkOwner, rows: Ints) -> None:
        self._marks.add(owner.node.path, kind.code, owner.coords(self._table.number[rows]))

    def _told(self, odd: _Odd) -> Iterator[Finding]:
        """Yield a finding for each array and file; of very many the rest together."""
        table = self._table
        if not len(odd.rows):
            return
        urls, owners = table.url[odd.rows].astype(np.int64), table.owner[odd.rows]
        groups = urls * len(table.owners) + owners
        order = np.argsort(groups, kind="stable")
        cuts = np.flatnonzero(np.diff(groups[order])) + 1
        by_owner = np.argsort(owners, kind="stable")
        for some in np.split(by_owner, np.flatnonzero(np.diff(owners[by_owner])) + 1):
            self._mark(odd.kind, table.owners[owners[some[0]]], odd.rows[some])
        for part in np.split(order, cuts[:TOLD])[:TOLD]:
            yield self._finding(odd, np.sort(part))
        if len(cuts) >= TOLD:
            yield replace(
                self._finding(odd, order[cuts[TOLD - 1] :]),
                message=f"{_BRIEF[odd.kind]}, in {len(cuts) + 1 - TOLD} more files or arrays",
            )

    def _finding(self, odd: _Odd, part: Ints) -> Finding:
        table = self._table
        row = int(odd.rows[part[0]])
        owner = table.owners[table.owner[row]]
        start = int(table.offset[row])
        stop = start + int(table.length[row])
        key = owner.key(int(table.number[row]))
        # Between two ranges a gap may be meant; what is as long as no chunk is cannot be read.
        is_guess = odd.kind is RANGE_OFF_BY_ONE and odd.meant is None
        return odd.kind.finding(
            self._message(odd, part),
            self._place(key, table.urls[table.url[row]], start, stop),
            severity=Severity.WARNING if is_guess else None,
            advice="" if odd.meant is not None else _ADVICE[odd.kind],
            count=len(part),
            fix=self._fix(odd, part),
        )

    def _message(self, odd: _Odd, part: Ints) -> str:
        table = self._table
        row = int(odd.rows[part[0]])
        owner = table.owners[table.owner[row]]
        length = int(table.length[row])
        other = None if odd.other is None else int(odd.other[part[0]])
        if odd.kind is LENGTH_UNDECODABLE:
            wanted = f"exactly {owner.exact}" if owner.exact is not None else (
                f"at most {owner.most}" if length > owner.most else f"at least {owner.least}"
            )  # fmt: skip
            return f"the range has {length} bytes, a stored chunk of the array has {wanted}"
        if odd.kind is RANGE_OFF_BY_ONE and other is None:
            word = "short" if length < (owner.exact or 0) else "long"
            return f"the range is one byte too {word}: it has {length} bytes, a chunk has {owner.exact}"
        assert other is not None
        name = quoted(table.owners[table.owner[other]].key(int(table.number[other])))
        if odd.kind is RANGE_OFF_BY_ONE:
            gap = int(table.offset[other]) - int(table.offset[row]) - length
            what = "there is one byte between the range and" if gap > 0 else "the range shares one byte with"
            return f"{what} that of {name}; the other ranges of the array are adjacent"
        if odd.kind is RANGE_REPEATED:
            return f"the range is also that of {name}"
        return f"the range overlaps that of {name}"

    def _place(self, key: str, url: str, start: int, stop: int) -> Place:
        place = Place(document=self._document.name, key=key, url=url, start=start, stop=stop)
        if self._document.refs.find_slot(key) is not None or not self._document.rules:
            return place
        row = self._document.expansion.find(key)
        if not isinstance(row, int):
            return place
        rule, number = self._document.expansion.origin(row)
        if rule < 0:
            return place
        return replace(place, rule=rule, field="length", row=number, pointer=f"/gen/{rule}/length")

    def _fix(self, odd: _Odd, part: Ints) -> Edit | None:
        """Return the edit that gives ranges their bytes back, where they are known and stand in refs."""
        if odd.meant is None or len(odd.rows) > _FIXED:
            return None
        from refbrowser.references.edits.many_edits import SetReferences

        table, refs = self._table, self._document.refs
        values: list[tuple[str, Any]] = []
        for at in part.tolist():
            row = int(odd.rows[at])
            key = table.owners[table.owner[row]].key(int(table.number[row]))
            slot = refs.find_slot(key)
            if slot is None or odd.meant[0][at] < 0:
                return None
            values.append((key, [refs.value(slot).url, int(odd.meant[0][at]), int(odd.meant[1][at])]))
        return SetReferences(tuple(values))

    # Arrays of too many chunks

    def of_large(self) -> Iterator[Finding]:
        """Yield what algebra tells of arrays whose chunks are too many; what it leaves open is told too."""
        for owner in self._table.large:
            prefix = owner.manifest.prefix
            rules = [rule for rule in self._document.rules if rule.count and rule.may_give(prefix)]
            undecided = False
            for rule in rules:
                columns = rule.columns
                if columns is None or any(each.faults for each in rule.fields.values()):
                    continue
                wrong = _wrong_length(rule, columns, owner)
                if wrong is not None:
                    yield wrong
                undecided = undecided or not _is_apart(columns)
            if undecided:
                what = f"the ranges of the {owner.total} chunks of {quoted(owner.node.path)}"
                yield _not_decided(self._document, what, 0)


def _not_decided(document: Document, what: str, checked: int) -> Finding:
    message = f"whether {what} overlap or are cut is not decided ({checked} checked)"
    return NOT_DECIDED.finding(message, Place(document=document.name), checked=checked)


def _counted(values: Ints) -> tuple[Ints, Ints]:
    """Return distinct values and how often each is there."""
    ordered = np.sort(values)
    firsts = np.flatnonzero(np.append(True, np.diff(ordered) != 0))
    return ordered[firsts], np.diff(np.append(firsts, len(ordered)))


def _overlapping(url: npt.NDArray[np.int32], offset: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Return the rows that begin before an earlier one of their file ends, and that one; sorted by start."""
    # The row that reaches furthest so far in its file: ranks of ends, lifted by file so that they only grow.
    count = len(url)
    order = np.argsort(stop, kind="stable")
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    furthest = np.maximum.accumulate(rank + url.astype(np.int64) * count)
    before = order[(furthest % count)[:-1]]
    in_file = furthest[:-1] // count == url[1:]
    rows = np.flatnonzero(in_file & (stop[before] > offset[1:])) + 1
    return rows, before[rows - 1]


#: What is told of ranges beyond those that are listed.
_BRIEF = {
    LENGTH_UNDECODABLE: "ranges of impossible length for a chunk",
    RANGE_OFF_BY_ONE: "ranges that are off by one byte",
    RANGE_OVERLAP: "ranges that overlap",
    RANGE_REPEATED: "duplicate ranges",
}
_ADVICE = {
    LENGTH_UNDECODABLE: (
        "compare offset and length with the file, or the chunk shape and codecs with its metadata"
    ),
    RANGE_OFF_BY_ONE: "one of the two begins a byte too late or ends a byte too early or late",
    RANGE_OVERLAP: "compare both with the file: one of them is wrong, or the file stores both in one place",
    RANGE_REPEATED: "ignore this if both chunks are meant to share the bytes",
}


# What algebra tells of rules


def _wrong_length(rule: GenRule, columns: RuleColumns, owner: ChunkOwner) -> Finding | None:
    """Return that the ranges of a rule have another length than chunks, where all chunks have one."""
    length = columns.integers.get("length")
    if owner.exact is None or not isinstance(length, Affine):
        return None
    reach = bounds(length, columns.space)
    if reach is None or reach == (owner.exact, owner.exact):
        return None
    return LENGTH_UNDECODABLE.finding(
        f"the ranges have {reach[0]} to {reach[1]} bytes, a stored chunk of the array has exactly "
        f"{owner.exact}",
        Place(rule=rule.index, field="length", row=0, pointer=f"/gen/{rule.index}/length"),
        count=rule.count if not length.terms else 1,
    )


def _is_apart(columns: RuleColumns) -> bool:
    """Tell whether arithmetic proves that no two rows of a rule share bytes."""
    if "offset" not in columns.fields:
        return True
    offset, length = columns.integers.get("offset"), columns.integers.get("length")
    if not isinstance(offset, Affine) or not isinstance(length, Affine):
        return False
    reach = bounds(length, columns.space)
    if reach is None:
        return False
    strides = sorted(
        (abs(step) * _step(columns, slot), columns.space.lengths[slot]) for slot, step in offset.terms
    )
    room = reach[1]
    for stride, count in strides:
        if stride < room:
            return False
        room = stride * (count - 1) + room
    return set(range(len(columns.space.lengths))) <= offset.uses | _told_apart(columns)


def _step(columns: RuleColumns, slot: int) -> int:
    """Return the least distance of two values of a dimension; 0 where that is not known."""
    values = columns.space.dimensions[slot].values
    return abs(values.step) if isinstance(values, range) else 0


def _told_apart(columns: RuleColumns) -> frozenset[int]:
    """Return the dimensions of which no two values give the same URL: plain numbers between other text."""
    found: set[int] = set()
    printed = columns.texts.get("url", ())
    for at, each in enumerate(printed):
        if not isinstance(each, IntegerFragment):
            continue
        after = printed[at + 1] if at + 1 < len(printed) else "."
        value = each.value
        is_plain = isinstance(value, Affine) and len(value.terms) == 1
        if is_plain and isinstance(after, str) and after and not after[0].isdigit():
            found |= value.uses
    return frozenset(found)
