"""Where findings stand in the text of a document as it is now (byte, line, column), and the text around."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding, FindingKind
from refbrowser.references.content.content import DocumentContent, Edit, ReferenceText
from refbrowser.references.content.reference_values import Issue
from refbrowser.references.content.scan_texts import text_quotes
from refbrowser.references.content.writer import appended, splices
from refbrowser.references.text.document_text import locate
from refbrowser.references.text.json_text import Node, NodeKind


@dataclass(frozen=True, slots=True)
class Found:
    """One finding before its byte became line and column."""

    severity: Severity
    kind: ErrorKind
    message: str
    pointer: str
    position: int | None
    advice: str = ""
    key: str | None = None
    span: tuple[int, int] | None = None
    rule: int | None = None
    field: str | None = None
    fix: Edit | None = None
    what: FindingKind | None = None
    count: int = 1
    url: str | None = None

    @classmethod
    def of(
        cls,
        kind: FindingKind,
        message: str,
        pointer: str,
        position: int | None,
        advice: str = "",
        *,
        error: ErrorKind | None = None,
        key: str | None = None,
        rule: int | None = None,
        fix: Edit | None = None,
        count: int = 1,
        url: str | None = None,
    ) -> Found:
        """Return a finding of a kind, as bad as those of its kind are."""
        return cls(
            kind.severity, error or kind.error, message, pointer, position, advice, key, rule=rule, fix=fix,
            what=kind, count=count, url=url,
        )  # fmt: skip


def found_error(
    error: RefbrowserError, where: str, position: int | None, what: FindingKind, key: str | None = None
) -> Found:
    """Return an error as the fault that it is; `where` is a JSON pointer."""
    return Found(
        Severity.FAULT, error.kind, error.message, where, position, error.advice, key, error.place.span,
        what=what,
    )  # fmt: skip


def placed(document: DocumentContent, found: Sequence[Found]) -> list[Finding]:
    """Return findings with the lines and columns of their bytes."""
    places = _lines(document, (item.position for item in found))
    return [_finding(item, places, document.name) for item in found]


def _lines(document: DocumentContent, positions: Iterable[int | None]) -> dict[int, tuple[int, int]]:
    """Return line and column of bytes of a document as it is now."""
    wanted = [position for position in positions if position is not None]
    return locate(document.to_chunks(), wanted) if wanted else {}


def _finding(item: Found, places: dict[int, tuple[int, int]], name: str | None) -> Finding:
    line, column = (None, None) if item.position is None else places[item.position]
    place = Place(
        document=name, pointer=item.pointer, line=line, column=column, key=item.key, span=item.span,
        rule=item.rule, field=item.field, url=item.url,
    )  # fmt: skip
    return Finding(
        severity=item.severity, kind=item.kind, message=item.message, place=place, advice=item.advice,
        count=item.count, fix=item.fix, what=item.what,
    )  # fmt: skip


def as_known(document: DocumentContent, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings with places that the user knows.

    In a text that was made here there are none: its keys are those of a store, or name nodes of another file.
    """
    for finding in findings:
        place = finding.place
        if document.is_made and place.pointer is not None:
            known = Place(document=place.document) if place.key is None else document.place_of_key(place.key)
            finding = finding.at(replace(known, rule=place.rule, field=place.field, row=place.row))
        yield finding


def in_refs(document: DocumentContent, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings about keys with the places that these have in the text, where somebody wrote that."""
    if document.is_made:
        return [*findings]
    positions = positions_of(document)
    slots = [None if each.place.key is None else document.refs.find_slot(each.place.key) for each in findings]
    at = [None if slot is None else positions.entry(slot) for slot in slots]
    places = _lines(document, at)
    result = []
    for finding, position in zip(findings, at, strict=True):
        if position is not None and finding.place.key is not None:
            line, column = places[position]
            where = document.key_pointer(finding.place.key)
            place = replace(finding.place, document=document.name, pointer=where, line=line, column=column)
            finding = finding.at(place)
        result.append(finding)
    return result


def located(document: DocumentContent, of_rules: Sequence[Finding]) -> list[Finding]:
    """Return findings of rules with the document, line and column that their pointers mean."""
    if not of_rules:
        return []
    text = document.written()
    positions = Positions(text)
    places = [_position(text, positions, finding.place) for finding in of_rules]
    found = _lines(text, places)
    result = []
    for finding, position in zip(of_rules, places, strict=True):
        line, column = (None, None) if position is None else found[position]
        place = replace(finding.place, document=document.name, line=line, column=column)
        result.append(replace(finding, place=place))
    return result


def _position(document: ReferenceText, positions: Positions, place: Place) -> int | None:
    """Return the byte of the document that a place in a rule means."""
    if place.pointer is None:
        return None
    node = _at(document.node, place.pointer)
    position = node.start
    if place.span is not None and node.kind is NodeKind.STRING:
        raw = document.outer[node.start : node.stop]
        if raw.isascii() and b"\\" not in raw:
            position += 1 + place.span[0]
    return positions.outer(position)


def position_of(document: ReferenceText, positions: Positions, place: Place) -> int | None:
    """Return the byte of the document, as it is now, that a place means; None where it means none in it."""
    if place.key is not None:
        slot = document.refs.find_slot(place.key)
        return None if slot is None else positions.entry(slot)
    return _position(document, positions, place)


def _at(node: Node, pointer: str) -> Node:
    """Return the value at a JSON pointer, or the nearest one above it that is there."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        inner = node.member(name)
        if inner is None and name.isdecimal() and int(name) < len(node.items):
            inner = node.items[int(name)]
        if inner is None:
            return node
        node = inner
    return node


def _rows_within(
    document: ReferenceText, start: int, stop: int, data: bytes
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where rows begin within a text that becomes another, and by how much each is moved in that."""
    table = document.refs.text_table
    rows = slice(*table.start.searchsorted([start + 1, stop]))
    begins = table.start[rows].astype(np.int64)
    if len(begins) and data:
        # Where URLs of rows that follow each other changed, all else has the same quotes.
        before, after = text_quotes(table.text.read(start, stop)), text_quotes(data)
        if len(before) == len(after):
            return begins, after[before.searchsorted(begins - start)] - (begins - start)
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


class Positions:
    """Bytes of the document as it is now, for what stands in its outer text and for entries of refs."""

    def __init__(self, document: ReferenceText) -> None:
        self._document = document
        starts, growth, last = [np.zeros(0, np.int64)], [np.zeros(1, np.int64)], 0
        total = 0
        for start, stop, data in splices(document.refs, document.span):
            begins, moved = _rows_within(document, start, stop, data)
            starts += (np.array([start]), begins - 1, np.array([stop - 1])[: len(begins)])
            after = total + len(data) - (stop - start)
            growth += (np.array([after]), total + moved, np.array([after])[: len(begins)])
            total, last = after, start
        #: The text of appended entries is the last change, if there are any.
        self._appended = appended(document.refs)
        self._tail = last
        self._starts = np.concatenate(starts)
        self._growth = np.concatenate(growth)
        hole = document.hole
        self._hole = len(document.outer) if hole is None else hole
        start, stop = document.span
        self._region = stop - start + total

    def outer(self, position: int) -> int:
        """Return where a byte of the outer text stands."""
        return position if position < self._hole else position + self._region

    def read(self, position: int) -> int:
        """Return where a byte of refs, as it was read, stands now."""
        moved = self._growth[int(self._starts.searchsorted(position))]
        return position - self._document.span[0] + self._hole + moved

    def entry(self, slot: int) -> int:
        """Return where the key of an entry stands."""
        if slot >= 0:
            return self.read(int(self._document.refs.text_table.start[slot]))
        return self.read(self._tail) + self._appended.starts[-2 - slot]

    def outer_at(self, position: int) -> int | None:
        """Return which byte of the outer text stands at a byte of the document; None in `refs`."""
        if position < self._hole:
            return position
        return position - self._region if position >= self._hole + self._region else None

    def entry_at(self, position: int) -> int | None:
        """Return the slot of the entry that stands at a byte of the document; None outside of entries."""
        refs, first = self._document.refs, self._hole
        if not first <= position < first + self._region:
            return None
        starts = self._appended.starts
        if starts and position >= (begin := self.read(self._tail)) + starts[0]:
            return -1 - bisect_right(starts, position - begin)
        row = bisect_right(range(len(refs.text_table)), position, key=self.entry) - 1
        # Rows that are gone have the place of what follows them.
        while row >= 0 and row in refs.removed:
            row -= 1
        return row if row >= 0 else None

    def issue(self, slot: int, issue: Issue) -> int:
        """Return where an issue of an entry stands."""
        refs = self._document.refs
        patch = refs.patch(slot)
        if patch is None:
            return self.read(issue.position)
        entry = self.entry(slot)
        if issue.position < 0:
            return entry
        between = len(self._appended.between)
        if slot >= 0:
            member = refs.text_table.member(slot)
            between = member.value.start - member.key_stop
        return entry + len(patch.key_text) + between + issue.position


class NoPositions:
    """Of a document that has no text."""

    def outer(self, position: int) -> None:
        """Return that it stands nowhere."""
        return

    def entry(self, slot: int) -> None:
        """Return that it stands nowhere."""
        return

    def issue(self, slot: int, issue: Issue) -> None:
        """Return that it stands nowhere."""
        return


AnyPositions = Positions | NoPositions


def positions_of(document: DocumentContent) -> AnyPositions:
    """Return where the parts of a document stand in its text."""
    # The text of references that were left is made when they are read: nobody has seen its lines.
    if isinstance(document, ReferenceText) and not document.is_unread:
        return Positions(document)
    return NoPositions()
