"""The URL of a gen rule of which only some rows move: its text gets a condition on the dimensions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.references.edits.outer_edits import refused
from refbrowser.references.edits.url_texts import url_tokens
from refbrowser.references.rules.dimensions import RowSpace
from refbrowser.references.rules.gen import GenRule

#: Rows of a rule of which each URL is compared, and values of a dimension that a condition lists.
MOST_ROWS, _LISTED = 200_000, 100
_PART = re.compile(r"[^/]*/|[^/]+")


def url_of_some_rows(rule: GenRule, moved: Callable[[str], str]) -> str:
    """Return the text with which the rows of a rule that move lead to their new place, and the others stay.

    Parameters
    ----------
    moved
        Gives what a URL becomes; those that stay are the same.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: no condition on the dimensions says it.
    """
    wrong = (
        f"only some URLs of gen rule {rule.index} begin this way, and no condition on its dimensions "
        "picks them"
    )
    advice = "Change the rule by hand, or move what all of its URLs begin with."
    if rule.count > MOST_ROWS:
        raise refused(f"{wrong}: it has more than {MOST_ROWS} rows", advice)
    urls = rule.rows(0, rule.count).urls
    wanted = [None if url is None else moved(url) for url in urls]
    rows = np.array([row for row, url in enumerate(urls) if url != wanted[row]], np.int64)
    condition = _condition(rule.space, rows) if len(rows) else None
    if condition is None:
        raise refused(wrong, advice)
    first = int(rows[0])
    old, new = urls[first] or "", wanted[first] or ""
    for text in _texts(rule, first, old, new, condition):
        if changed_rule(rule, url=text).rows(0, rule.count).urls == wanted:
            return text
    raise refused(wrong, advice)


def changed_rule(rule: GenRule, **fields: str) -> GenRule:
    """Return a rule with other texts for some of its fields."""
    return GenRule({**rule.members, **fields}, rule.templates, rule.index)


def _condition(space: RowSpace, rows: Any) -> str | None:
    """Return the condition on the dimensions that is true for these rows alone; None where there is none."""
    parts, product = [], 1
    for dimension, column in zip(space.dimensions, space.index_columns(rows), strict=True):
        places = np.unique(column).tolist()
        product *= len(places)
        if len(places) == dimension.length:
            continue
        values = [_literal(dimension.values[place]) for place in places[: _LISTED + 1]]
        if len(values) > _LISTED or None in values:
            return None
        listed = ", ".join(each for each in values if each is not None)
        parts.append(
            f"{dimension.name} == {listed}" if len(values) == 1 else f"{dimension.name} in [{listed}]"
        )
    return " and ".join(parts) if parts and product == len(rows) else None


def _literal(value: Any) -> str | None:
    """Return a number or text as an expression spells it; None where none does."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str) and value.isprintable() and "\\" not in value:
        mark = next((mark for mark in "'\"" if mark not in value), None)
        return None if mark is None else f"{mark}{value}{mark}"
    return None


@dataclass(frozen=True, slots=True)
class _Printed:
    """A part of the text of a URL, and where what it gives at a row begins and ends in the URL."""

    start: int
    text: str
    is_plain: bool
    first: int
    last: int

    @property
    def stop(self) -> int:
        return self.start + len(self.text)


def _texts(rule: GenRule, row: int, old: str, new: str, condition: str) -> Iterator[str]:
    """Yield texts that may lead the rows elsewhere, those that change least first."""
    text = rule.url or ""
    start, stop = _changed(old, new)
    span = _span(_printed(rule, row, text), start, stop)
    if span is not None:
        first, last, begin, end = span
        right = _literal(new[begin : len(new) - (len(old) - end)])
        inner = text[first:last]
        name = re.fullmatch(r"\{\{\s*([^{}\s][^{}]*?)\s*\}\}", inner)
        other = name[1] if name is not None else _literal(inner) if "{" not in inner else None
        if right is not None and other is not None:
            yield f"{text[:first]}{{{{ {right} if {condition} else {other} }}}}{text[last:]}"
    if "{" not in new:
        yield f"{{% if {condition} %}}{new}{{% else %}}{text}{{% endif %}}"


def _changed(old: str, new: str) -> tuple[int, int]:
    """Return where the part of a URL that changes begins and ends: whole names, no slash that stays."""
    one, other = _PART.findall(old), _PART.findall(new)
    room = min(len(one), len(other))
    head = next((at for at in range(room) if one[at] != other[at]), room)
    tail = next((at for at in range(room - head) if one[-1 - at] != other[-1 - at]), room - head)
    start, stop = sum(map(len, one[:head])), len(old) - sum(map(len, one[len(one) - tail :]))
    right = new[start : len(new) - (len(old) - stop)]
    return start, stop - (old[start:stop].endswith("/") and right.endswith("/"))


def _printed(rule: GenRule, row: int, text: str) -> list[_Printed]:
    """Return the parts of the text, as far as they give something at the row."""
    found: list[_Printed] = []
    at = 0
    for token in url_tokens(text):
        shown = (
            token.text if token.is_plain else changed_rule(rule, url=token.text).rows(row, row + 1).urls[0]
        )
        if shown is None:
            break
        found.append(_Printed(token.start, token.text, token.is_plain, at, at + len(shown)))
        at += len(shown)
    return found


def _span(printed: list[_Printed], start: int, stop: int) -> tuple[int, int, int, int] | None:
    """Return the part of the text that gives the part of a URL, and what of the URL it gives then.

    An expression is taken as a whole.
    """
    inside = [each for each in printed if each.first < stop and each.last > start]
    if start == stop:
        # Nothing goes: what comes stands before the part that begins there.
        before = next((each for each in printed if each.first == start), None)
        within = next((each for each in printed if each.is_plain and each.first < start < each.last), None)
        if before is None and within is not None:
            at = within.start + start - within.first
            return at, at, start, start
        if before is not None:
            return before.start, before.start, start, start
        inside = [each for each in printed if each.first < start < each.last]
    if not inside or inside[-1].last < stop:
        return None
    one, last = inside[0], inside[-1]
    first, begin = (one.start + start - one.first, start) if one.is_plain else (one.start, one.first)
    end = (last.start + stop - last.first, stop) if last.is_plain else (last.stop, last.last)
    return first, end[0], begin, end[1]
