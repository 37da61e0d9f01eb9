"""Gen rules whose offsets count from another chunk: told by the ends of their files, and shifted back."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import quoted
from refbrowser.findings.finding import Finding
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.references.rules.integer_expressions import Affine, bounds, combine

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document
    from refbrowser.references.rules.gen import GenRule
    from refbrowser.references.rules.rule_rows import RuleColumns

#: Rows of a rule that are looked at one by one.
MOST_ROWS = 200_000
#: Entries of refs that are held against a file of which bytes are left over, and how often they are.
_HELD, _ASKED = 4_000_000, 50
#: Of so many files of a rule one may have another fault; and files of it that are looked at for room.
_NEARLY, _LOOKED = 4, 8
#: A text that is one expression.
_EXPRESSION = re.compile(r"\A(\{\{[^{}]*[^\s{}+-])(\s*[-+]?\}\})\Z")


def constant_url(rule: GenRule, columns: RuleColumns) -> str | None:
    """Return the URL that all rows have; None where it depends on the row, or is faulty."""
    if rule.fields["url"].faults or columns.slots("url"):
        return None
    found = rule.rows(0, 1)
    return None if 0 in found.faults else found.urls[0]


def affine_end(columns: RuleColumns) -> Affine | None:
    """Return where the range of a row ends, where that is an affine expression."""
    offset, length = (columns.integers.get(name) for name in ("offset", "length"))
    if not isinstance(offset, Affine) or not isinstance(length, Affine):
        return None
    end = combine("+", offset, length)
    return end if isinstance(end, Affine) else None


def extents(columns: ReferenceColumns) -> dict[str, tuple[int, int] | None]:
    """Return where the first range in each file begins and the last one ends; None of one read whole."""
    is_range = columns.kind == ReferenceKind.RANGE
    leads = np.flatnonzero(is_range | (columns.kind == ReferenceKind.WHOLE))
    used, which = np.unique(columns.url[leads], return_inverse=True)
    firsts = np.full(len(used), np.iinfo(np.int64).max)
    lasts = np.zeros(len(used), np.int64)
    np.minimum.at(firsts, which, columns.offset[leads])
    np.maximum.at(lasts, which, columns.offset[leads] + np.maximum(columns.length[leads], 0))
    whole = np.zeros(len(used), bool)
    whole[which[~is_range[leads]]] = True
    return {
        columns.urls[number]: None if is_whole else (first, last)
        for number, first, last, is_whole in zip(
            used.tolist(), firsts.tolist(), lasts.tolist(), whole.tolist(), strict=True
        )
    }


def with_shift(
    found: Finding, rule: GenRule, columns: RuleColumns, ends: tuple[Affine, int], url: str, used: UsedBytes
) -> Finding:
    """Return that ranges of a rule end past the end of its file, with the shift that would explain it.

    Parameters
    ----------
    ends
        Where the range of a row ends, and where the file does.
    """
    place = replace(found.place, url=url)
    lasts, firsts = bounds(ends[0], columns.space), bounds(columns.integers["offset"], columns.space)
    if lasts is None or firsts is None or not 0 < lasts[1] - ends[1] <= firsts[0]:
        return replace(found, place=place)
    less = lasts[1] - ends[1]
    place = replace(place, field="offset", pointer=f"/gen/{rule.index}/offset")
    advice = (
        f"With offsets that are {less} bytes smaller (the first {firsts[0] - less}, not {firsts[0]}) all "
        "ranges would end within the file: either the rule is shifted, or the file lost its "
        f"last {less} bytes"
    )
    fix = None
    before = used.before(firsts[0], url)
    # One chunk past the end, and room for one and no more before the first: a head is smaller than that.
    is_chunk = bounds(columns.integers["length"], columns.space) == (less, less)
    if is_chunk and before is not None and less <= firsts[0] - before < 2 * less:
        fix = taken_back(used.document, rule, less)
    return replace(found, place=place, advice=advice, fix=fix)


class ShiftedFiles:
    """The files of a rule in which all ranges would end with the file, were the offsets a chunk smaller.

    Parameters
    ----------
    size
        Gives the size of a file; None where it is not known.
    """

    def __init__(
        self, rule: GenRule, columns: RuleColumns, used: UsedBytes, size: Callable[[str], int | None]
    ) -> None:
        self._rule, self._used = rule, used
        reaches: dict[str, tuple[int, int, int]] = {}
        for url, reach in used.extents(rule).items():
            end = size(url)
            if reach is not None and end is not None:
                reaches[url] = *reach, end
        self._reaches = reaches
        length = columns.integers.get("length")
        lengths = None if length is None else bounds(length, columns.space)
        self.less = lengths[0] if lengths is not None and lengths[0] == lengths[1] else 0
        self.urls = [
            url for url, (first, last, size) in reaches.items() if 0 < last - size == self.less <= first
        ]
        if (len(reaches) - len(self.urls)) * _NEARLY > len(reaches):
            self.urls = []

    def finding(self, found: Finding) -> Finding:
        """Return what is told of them, of the finding about the first."""
        first = self._reaches[self.urls[0]][0]
        one, name = len(self.urls) == 1, quoted(self.urls[0])
        files = "" if one else f"in {len(self.urls)} files, {name} first, "
        where = f" in {name}" if one else ""
        message = f"{files}the last range{where} ends one chunk ({self.less} bytes) past the end of the file"
        advice = (
            f"With offsets that are {self.less} bytes smaller (the first {first - self.less}, not {first}) "
            f"the last range would end within {'the' if one else 'its'} file: "
        )
        fix = taken_back(self._used.document, self._rule, self.less) if self._has_room() else None
        either = f"either the rule is shifted, or each file lost its last {self.less} bytes"
        place = replace(
            found.place, field="offset", pointer=f"/gen/{self._rule.index}/offset",
            url=self.urls[0] if one else None,
        )  # fmt: skip
        advice += either if fix is None else "the rule is shifted by a chunk, and the fix shifts it back"
        return replace(found, message=message, place=place, advice=advice, fix=fix)

    def _has_room(self) -> bool:
        """Tell whether there is room for one chunk and no more before the first range of each file."""
        step = -(-len(self.urls) // _LOOKED)
        for url in self.urls[::step]:
            first = self._reaches[url][0]
            before = self._used.before(first, url)
            if before is None or not self.less <= first - before < 2 * self.less:
                return False
        return True


class UsedBytes:
    """Which bytes of a file the entries of a document lead to."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._asked = 0
        self._extents: dict[int, dict[str, tuple[int, int] | None]] = {}

    @cached_property
    def _refs(self) -> ReferenceColumns | None:
        refs = self.document.refs
        return self.document.view.columns(refs.slot_column(0, len(refs))) if len(refs) <= _HELD else None

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {} if self._refs is None else {url: at for at, url in enumerate(self._refs.urls)}

    def before(self, start: int, url: str) -> int | None:
        """Return where the last range ends that begins before a byte: 0 where none does, None if unknown."""
        self._asked += 1
        if self._refs is None or self._asked > _ASKED:
            return None
        number, found = self._numbers.get(url, -1), 0
        if number >= 0:
            columns = self._refs
            rows = np.flatnonzero((columns.url == number) & (columns.offset < start))
            if len(rows) and (columns.kind[rows] != ReferenceKind.RANGE).any():
                return None
            found = int((columns.offset[rows] + columns.length[rows]).max(initial=0))
        for rule in self.document.rules:
            if rule.columns is None or not url.startswith(rule.static_origin()):
                continue
            own = constant_url(rule, rule.columns)
            if own is not None and own != url:
                continue
            reach = self._reach(rule, url) if own is None else _reach_of_all(rule, rule.columns)
            if reach is None:
                return None
            found = max(found, reach[1]) if reach[0] < start else found
        return found

    def _reach(self, rule: GenRule, url: str) -> tuple[int, int] | None:
        """Return where the ranges of a rule in one of its files begin and end; None where that is unknown."""
        if rule.count > MOST_ROWS:
            return None
        # One that is not led to has its end before every byte.
        return self.extents(rule).get(url, (0, 0))

    def extents(self, rule: GenRule) -> dict[str, tuple[int, int] | None]:
        """Return where the ranges of a rule in each of its files begin and end; None of one read whole."""
        if rule.index not in self._extents:
            self._extents[rule.index] = extents(rule.references(np.arange(rule.count, dtype=np.int64)))
        return self._extents[rule.index]


def _reach_of_all(rule: GenRule, columns: RuleColumns) -> tuple[int, int] | None:
    """Return bounds of where the ranges of a rule begin and end; None where these are not known."""
    offset, end = columns.integers.get("offset"), affine_end(columns)
    firsts = None if offset is None else bounds(offset, rule.space)
    lasts = None if end is None else bounds(end, rule.space)
    return None if firsts is None or lasts is None else (firsts[0], lasts[1])


def taken_back(document: Document, rule: GenRule, less: int) -> Any:
    """Return the edit that makes all offsets of a rule so much smaller; None where its text cannot say it.

    That the offsets are then the old ones without the shift is proved by algebra.
    """
    from refbrowser.references.edits.edits import Compound
    from refbrowser.references.edits.outer_edits import SetRuleField
    from refbrowser.references.edits.row_moves import changed_rule

    assert rule.columns is not None
    text = _smaller(rule.offset or "", less)
    columns = changed_rule(rule, offset=text).columns
    new = None if columns is None else columns.integers.get("offset")
    if new is None or combine("-", rule.columns.integers["offset"], Affine(less)) != new:
        return None
    title = f"Shift gen rule {rule.index} back by {less} bytes"
    return Compound(title, (SetRuleField(rule.index, "offset", text),))


def _smaller(text: str, less: int) -> str:
    """Return a text that gives what an integer or one expression gives, less a number.

    Sums and products of dimensions, as affine offsets are, bind no less than a difference does.
    """
    if text.isdecimal():
        return str(int(text) - less)
    return _EXPRESSION.sub(rf"\g<1> - {less}\g<2>", text)
