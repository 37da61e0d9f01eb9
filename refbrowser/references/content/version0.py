"""Writes the expansion of a document as one Version 0 object, in portions."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from functools import cached_property
from typing import Protocol

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange, Reference, ReferenceKind, WholeFile
from refbrowser.references.content.content import DocumentContent
from refbrowser.references.content.expansion_faults import LeftOut, expansion_faults
from refbrowser.references.content.reference_values import ValueKind
from refbrowser.references.rules.gen import GenRule

_ROWS = 4096
#: Of more rules it is not tried to prove that their keys differ.
_MOST_RULES = 200
_quote = json.encoder.encode_basestring_ascii


class _Expansion(Protocol):
    """What is asked of an expansion."""

    @property
    def document(self) -> DocumentContent: ...


class Version0:
    """The expansion of a document as text; which rows count is found before anything is written.

    Attributes
    ----------
    left_out
        What it lacks; nothing unless faults are skipped.

    Raises
    ------
    RefbrowserError
        An entry, rule, template or member is faulty, unless these are skipped. E_BUDGET: keys may repeat, and
        there are more than can be compared with each other.
    """

    def __init__(self, expansion: _Expansion, skip_bad: bool = False) -> None:
        self._expansion = expansion
        self._skip_bad = skip_bad
        self._refs = expansion.document.refs
        self.left_out = LeftOut()
        #: Slot of refs to the generated row that replaces it.
        self._replaced: dict[int, tuple[int, int]] = {}
        #: Generated key that comes more than once to the last row that has it.
        self._repeated: dict[str, tuple[int, int]] = {}
        self._urls: dict[str, str] = {}
        self._check_structure()
        self._check_refs()
        self._look_at_rules()

    def _check_structure(self) -> None:
        if self._skip_bad:
            self.left_out = LeftOut.of(self._expansion.document)
            return
        for finding in expansion_faults(self._expansion.document):
            raise finding.error()

    def _check_refs(self) -> None:
        view = self._expansion.document.view
        for slot in self._bad_slots():
            try:
                view.reference(slot)
            except RefbrowserError:
                if not self._skip_bad:
                    raise
                self.left_out.entries += 1

    def _bad_slots(self) -> Iterator[int]:
        document = self._expansion.document
        table = self._refs.table
        rows = np.flatnonzero(table.url == ValueKind.FAULT)
        if document.urls.faults:
            broken = np.flatnonzero(np.isin(table.url, list(document.urls.faults)))
            rows = np.union1d(rows, broken)
        yield from rows[self._refs.standing()[rows]].tolist()
        yield from self._refs.edited_slots().tolist()

    def _look_at_rules(self) -> None:
        hashes = []
        distinct = _are_distinct(self._expansion.document.rules)
        count = sum(rule.count for rule in self._expansion.document.rules)
        if not distinct and count > LIMITS.write_out_compared:
            most = f"more than {LIMITS.write_out_compared} (write_out_compared)"
            raise RefbrowserError(
                ErrorKind.BUDGET,
                f"{count} generated keys, {most}, would be compared with each other: some may repeat",
                Place(document=self._expansion.document.name, pointer="/gen"),
                "give --start and --count, or name each dimension in the keys, with a separator between",
            )
        for number, first, keys, faults in self._generated():
            if faults and not self._skip_bad:
                raise faults[min(faults)]
            self.left_out.rows += len(faults)
            for at, key in enumerate(keys):
                slot = None if key is None or at in faults else self._refs.find_slot(key)
                if slot is not None:
                    self._replaced[slot] = (number, first + at)
            if not distinct:
                hashes.append(np.array([hash(key) for key in keys], np.int64))
        if not hashes:
            return
        sorted_ = np.sort(np.concatenate(hashes))
        again = set(sorted_[1:][sorted_[1:] == sorted_[:-1]].tolist())
        if not again:
            return
        for number, first, keys, faults in self._generated():
            for at, key in enumerate(keys):
                if key is not None and at not in faults and hash(key) in again:
                    self._repeated[key] = (number, first + at)

    def _generated(self) -> Iterator[tuple[int, int, list[str | None], dict[int, RefbrowserError]]]:
        for number, rule in enumerate(self._expansion.document.rules):
            for first in range(0, rule.count, _ROWS):
                rows = rule.rows(first, first + _ROWS)
                yield number, first, rows.keys, dict(rows.faults)

    def chunks(self) -> Iterator[bytes]:
        """Yield the text."""
        before = b"{\n"
        for portion in self._entries():
            yield before + portion
            before = b",\n"
        yield b"{}\n" if before == b"{\n" else b"\n}\n"

    def _entries(self) -> Iterator[bytes]:
        refs = self._refs
        for start in range(0, len(refs), _ROWS):
            lines = self._of_slots(refs.slots(start, start + _ROWS))
            if lines:
                yield b",\n".join(lines)
        for number, first, keys, faults in self._generated():
            lines = self._of_rule(number, first, keys, faults)
            if lines:
                yield b",\n".join(lines)

    def _of_slots(self, slots: list[int]) -> list[bytes]:
        """Return the lines of some entries of refs."""
        columns = self._expansion.document.view.columns(np.array(slots, np.int64))
        kinds, urls = columns.kind.tolist(), columns.url.tolist()
        offsets, lengths = columns.offset.tolist(), columns.length.tolist()
        lines = []
        for at, (slot, key) in enumerate(zip(slots, self._refs.keys_of(slots), strict=True)):
            if (
                kinds[at] == ReferenceKind.RANGE
                and slot not in self._replaced
                and slot not in self._duplicates
            ):
                url = self._spelled(columns.urls[urls[at]])
                lines.append(f"{_quote(key)}: [{url}, {offsets[at]}, {lengths[at]}]".encode("ascii"))
                continue
            line = self._of_slot(slot, key)
            if line is not None:
                lines.append(line)
        return lines

    def _spelled(self, url: str) -> str:
        """Return the JSON text of a URL; neighbours mostly have the same."""
        if url not in self._urls:
            if len(self._urls) > _ROWS:
                self._urls.clear()
            self._urls[url] = _quote(url)
        return self._urls[url]

    def _of_slot(self, slot: int, key: str) -> bytes | None:
        if slot in self._duplicates and self._refs.find_slot(key) != slot:
            return None
        if slot in self._replaced:
            number, row = self._repeated.get(key, self._replaced[slot])
            return _line(key, _generated(self._expansion.document.rules[number], row))
        try:
            reference = self._expansion.document.view.reference(slot)
        except RefbrowserError:
            return None
        if isinstance(reference, ByteRange | WholeFile):
            return _line(key, reference)
        value = self._refs.value(slot)
        text = value.text if value.kind is ValueKind.OBJECT else None
        raw = self._refs.value_text(slot) if text is None else json.dumps(text).encode()
        return _text(key) + b": " + raw

    @cached_property
    def _duplicates(self) -> set[int]:
        return set(self._refs.table.duplicates.tolist())

    def _of_rule(
        self, number: int, first: int, keys: list[str | None], faults: dict[int, RefbrowserError]
    ) -> list[bytes]:
        lines = []
        rule = self._expansion.document.rules[number]
        rows = rule.rows(first, first + len(keys))
        for at, key in enumerate(keys):
            if key is None or at in faults or self._refs.find_slot(key) is not None:
                continue
            if self._repeated.get(key, (number, first + at)) != (number, first + at):
                continue
            offset = None if rows.offsets is None else rows.offsets[at]
            length = None if rows.lengths is None else rows.lengths[at]
            url = rows.urls[at] or ""
            whole = offset is None or length is None
            reference = WholeFile(url) if whole else ByteRange(url, offset or 0, length or 0)
            lines.append(_line(key, reference))
        return lines


def _are_distinct(rules: tuple[GenRule, ...]) -> bool:
    """Whether it is proved that no two generated rows have the same key."""
    some = [rule for rule in rules if rule.count]
    if len(some) > _MOST_RULES or any(rule.pattern is None or not rule.pattern.is_injective for rule in some):
        return False
    return not any(one.may_meet(other) for one, other in itertools.combinations(some, 2))


def _generated(rule: GenRule, row: int) -> Reference:
    found = rule.row(row)
    assert found.reference is not None
    return found.reference


def _text(text: str) -> bytes:
    return json.dumps(text).encode()


def _line(key: str, reference: Reference) -> bytes:
    if isinstance(reference, ByteRange):
        value = json.dumps([reference.url, reference.offset, reference.length])
    else:
        assert isinstance(reference, WholeFile)
        value = json.dumps([reference.url])
    return _text(key) + b": " + value.encode()
