"""Keys, nodes and commands that a few typed letters may mean: quick at a million, bounded at any number."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from refbrowser.references.content.chunk_codes import BITS, Group, unpack_many
from refbrowser.references.content.table import ODD
from refbrowser.references.rules.layouts import Generated

if TYPE_CHECKING:
    from refbrowser.model.nodes import Hierarchy, Node
    from refbrowser.references.document.document import Document


T = TypeVar("T")
#: Characters of a text that are looked at, and of a pattern.
TEXT_LIMIT, PATTERN_LIMIT = 400, 80
_SEPARATORS = " /._-:([{"
_WHOLE, _START, _WORD, _NEXT, _GAP = 60 * 64, 12, 8, 6, 1


@dataclass(frozen=True, slots=True)
class Match:
    """Where a pattern was found in a text.

    Attributes
    ----------
    score
        Higher is better; comparable between texts for the same pattern.
    places
        Positions in the text, rising, one per letter of the pattern (without its spaces).
    """

    score: int
    places: tuple[int, ...]


def match(pattern: str, text: str) -> Match | None:
    """Return how a pattern is found in a text, or None; neither case nor spaces of the pattern matter."""
    wanted = "".join(pattern[:PATTERN_LIMIT].split()).casefold()
    folded = text[:TEXT_LIMIT].casefold()
    if len(folded) != len(text[:TEXT_LIMIT]):
        # A letter that becomes two: positions would not be those of the text.
        folded = text[:TEXT_LIMIT].lower()[:TEXT_LIMIT]
    if not wanted:
        return Match(0, ())
    at = folded.find("".join(pattern.casefold().strip()[:PATTERN_LIMIT]))
    if at >= 0 and " " not in pattern.strip():
        places = tuple(range(at, at + len(wanted)))
        return Match(_score(folded, places) + _WHOLE, places)
    found = _in_order(wanted, folded)
    return None if found is None else Match(_score(folded, found), found)


def _in_order(wanted: str, text: str) -> tuple[int, ...] | None:
    """Return positions of the letters in order: at the beginnings of words where they go on from there."""
    places: list[int] = []
    at = 0
    for index, letter in enumerate(wanted):
        plain = text.find(letter, at)
        if plain < 0:
            return None
        start = _word_start(text, letter, at)
        goes_on = plain == at and index > 0
        rest = wanted[index + 1 :]
        if start is not None and not goes_on and _holds(rest, text, start + 1):
            plain = start
        places.append(plain)
        at = plain + 1
    return tuple(places)


def _word_start(text: str, letter: str, at: int) -> int | None:
    while (at := text.find(letter, at)) >= 0:
        if at == 0 or text[at - 1] in _SEPARATORS:
            return at
        at += 1
    return None


def _holds(letters: str, text: str, at: int) -> bool:
    for letter in letters:
        at = text.find(letter, at) + 1
        if not at:
            return False
    return True


def _score(text: str, places: tuple[int, ...]) -> int:
    score, before = 0, -2
    for place in places:
        if place == 0:
            score += _START
        elif text[place - 1] in _SEPARATORS:
            score += _WORD
        if place == before + 1:
            score += _NEXT
        elif before >= 0:
            score -= min(_GAP * (place - before - 1), 8)
        before = place
    # Of two texts that match alike, the shorter one is meant.
    return score * 256 - min(len(text), 200)


def best(pattern: str, items: Iterable[T], text_of: Callable[[T], str], count: int) -> list[tuple[T, Match]]:
    """Return the items whose text matches best, the best first; in their own order for an empty pattern."""
    found = []
    for number, item in enumerate(items):
        matched = match(pattern, text_of(item))
        if matched is not None:
            found.append((matched.score, -number, item, matched))
    return [
        (item, matched) for _score, _number, item, matched in nlargest(count, found, key=lambda one: one[:2])
    ]


#: Hits at most; of nodes, and of keys that one group or rule gives.
MOST, NODES, EACH = 200, 60, 40
#: Nodes that are looked at, rows of one rule, and seconds in all.
NODES_SEEN, ROWS_SEEN, SECONDS = 100_000, 65_536, 2.0
_PAGE = 4_096
_DIGITS = re.compile(r"[0-9]*\Z")
#: Places of digits that a coordinate has at most.
_LONGEST = 18


class HitKind(StrEnum):
    """What a hit names."""

    ROW = "row"
    NODE = "node"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer.

    Attributes
    ----------
    text
        A key, the path of a group or array, or the number of a row.
    detail
        Where it is.
    places
        Positions in `text` that were typed.
    """

    kind: HitKind
    text: str
    detail: str = ""
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Hits:
    """The answers to one text, best first; `is_whole` says whether everything was looked at."""

    hits: tuple[Hit, ...]
    is_whole: bool


class _OutOfTimeError(Exception):
    """The search has taken as long as it may."""


def search(
    state: Document,
    hierarchy: Hierarchy | None,
    typed: str,
    check: Callable[[], None] = lambda: None,
    seconds: float = SECONDS,
) -> Hits:
    """Return what a text may mean: a row's number, a node's path (fuzzy), and keys.

    A key is found by its beginning, by any part of the text before its coordinates, and by its coordinates
    from the first one on. No key is made that is not shown.

    Parameters
    ----------
    check
        Called often; raises to end the search.
    """
    text = typed.strip()
    end = time.monotonic() + seconds
    found: dict[tuple[HitKind, str], Hit] = {}

    def beat() -> None:
        check()
        if time.monotonic() > end:
            raise _OutOfTimeError

    is_whole = True
    try:
        for hit in _hits(state, hierarchy, text, beat):
            if hit is None:
                is_whole = False
                continue
            found.setdefault((hit.kind, hit.text), hit)
            if len(found) >= MOST:
                is_whole = False
                break
    except _OutOfTimeError:
        is_whole = False
    return Hits(tuple(found.values()), is_whole)


def _hits(
    state: Document, hierarchy: Hierarchy | None, text: str, beat: Callable[[], None]
) -> Iterator[Hit | None]:
    """Yield hits, the likely ones first; None where a part of the document has more than it gave."""
    if state.is_unread:
        yield from () if hierarchy is None else _nodes(hierarchy, text)
        return
    number = row_number(text)
    if number is not None and number < state.expansion.rows:
        yield Hit(HitKind.ROW, str(number), "row of the Version 0 view", tuple(range(len(str(number)))))
    if text and state.refs.find_slot(text.strip("/")) is not None:
        yield _key_hit(text.strip("/"), text, "refs")
    if hierarchy is not None:
        yield from _nodes(hierarchy, text)
    if text:
        text = text.removeprefix("/")
        yield from _refs_keys(state, text, beat)
        for index, rule in enumerate(state.generated):
            beat()
            yield from _rule_keys(rule, "chunk" if state.rules_are_made else f"rule {index}", text, beat)
        yield from _other_keys(state, text, beat)


def row_number(text: str) -> int | None:
    """Return the number of a row that was typed, also with separators of thousands; else None."""
    digits = text.replace(",", "").replace("_", "").replace(" ", "").removeprefix("#")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 40 else None


def _key_hit(key: str, text: str, detail: str) -> Hit:
    at = key.casefold().find(text.casefold())
    places = tuple(range(at, at + len(text))) if at >= 0 and len(key.casefold()) == len(key) else ()
    return Hit(HitKind.KEY, key, detail, places)


# Nodes


def _nodes(hierarchy: Hierarchy, text: str) -> Iterator[Hit | None]:
    nodes = islice(hierarchy.walk(), NODES_SEEN)
    found = best(text, nodes, lambda node: node.path, NODES)
    for node, matched in found:
        yield Hit(HitKind.NODE, node.path, _node_detail(node), matched.places)
    if len(found) == NODES:
        yield None


def _node_detail(node: Node) -> str:
    shape = getattr(node, "shape", None)
    if shape is None:
        return "group"
    return f"array {' × '.join(map(str, shape))}" if shape else "array, a single value"


# Keys of refs


def _refs_keys(state: Document, text: str, beat: Callable[[], None]) -> Iterator[Hit | None]:
    """Yield keys of chunks: group by group, by the text before the coordinates and by the coordinates."""
    table = state.refs.table
    folded = text.casefold()
    for number, group in enumerate(table.groups):
        if number == ODD:
            continue
        if number % 64 == 0:
            beat()
        rows = table.rows_of(group)
        if rows is None or rows.start == rows.stop:
            continue
        if folded in group[0].casefold():
            chosen = rows.rows()[:EACH] if rows.order is not None else np.arange(rows.start, rows.stop)[:EACH]
        else:
            tail = tail_of(group, folded)
            if tail is None:
                continue
            beat()
            codes = rows.codes(table.code)
            at = np.flatnonzero(starting_with(codes, group[1], tail))[:EACH]
            chosen = at + rows.start if rows.order is None else rows.rows()[at]
        standing = [row for row in chosen.tolist() if state.refs.stands(row)]
        for key in table.keys(standing):
            yield _key_hit(key, text, "refs")
        if len(chosen) == EACH:
            yield None


def tail_of(group: Group, text: str) -> str | None:
    """Return the part of a text that may begin coordinates, behind the group's own text, or None."""
    prefix = group[0].casefold()
    tail = re.search(r"[0-9./]*\Z", text)
    start = 0 if tail is None else tail.start()
    for cut in range(start, len(text) + 1):
        rest = text[cut:]
        if prefix.endswith(text[:cut]) and rest and set(rest) <= set(f"0123456789{group[1]}"):
            return rest
    return None


def starting_with(codes: npt.NDArray[np.uint64], separator: str, tail: str) -> npt.NDArray[np.bool_]:
    """Return which packed coordinates are written with `tail` as their beginning."""
    *whole, last = tail.split(separator)
    result = np.zeros(len(codes), bool)
    if any(not part.isdigit() or (len(part) > 1 and part[0] == "0") for part in whole):
        return result
    if not _DIGITS.match(last) or max(map(len, (*whole, last))) > _LONGEST:
        return result
    dimensions = codes >> np.uint64(BITS)
    for ndim in np.unique(dimensions).tolist():
        if len(whole) >= ndim:
            continue
        which = dimensions == ndim
        columns = unpack_many(codes[which], int(ndim))
        fits = np.ones(len(columns[0]), bool)
        for part, column in zip(whole, columns, strict=False):
            fits &= column == int(part)
        if last:
            fits &= _begins(columns[len(whole)], last)
        result[which] = fits
    return result


def _begins(column: npt.NDArray[np.int64], digits: str) -> npt.NDArray[np.bool_]:
    """Return which numbers are written with these digits as their beginning."""
    first = int(digits)
    result = column == first
    if digits[0] == "0":
        return result if len(digits) == 1 else np.zeros(len(column), bool)
    most = int(column.max()) if len(column) else 0
    scale = 10
    while first * scale <= most:
        result |= (column >= first * scale) & (column < (first + 1) * scale)
        scale *= 10
    return result


def _other_keys(state: Document, text: str, beat: Callable[[], None]) -> Iterator[Hit]:
    """Yield keys that are no chunks of the table: metadata, odd names, and what was edited."""
    refs, folded = state.refs, text.casefold()
    edited = [*(patch.key for patch in refs.replaced.values()), *refs.appended]
    for number, key in enumerate(edited):
        if number % 256 == 0:
            beat()
        if folded in key.casefold():
            yield _key_hit(key, text, "refs")
    for number, (key, _slot) in enumerate(refs.odd_keys()):
        if number % 256 == 0:
            beat()
        if folded in key.casefold():
            yield _key_hit(key, text, "refs")


# Keys of rules


def _rule_keys(rule: Generated, detail: str, text: str, beat: Callable[[], None]) -> Iterator[Hit | None]:
    """Yield keys of one rule: its first ones where its own text is meant, else those of its first rows."""
    if not rule.count:
        return
    fixed, folded = rule.static_prefix.casefold(), text.casefold()
    if folded in fixed:
        for key in rule.rows(0, min(EACH, rule.count)).keys:
            if key is not None:
                yield _key_hit(key, text, detail)
        if rule.count > EACH:
            yield None
        return
    if not (folded.startswith(fixed) or any(fixed.endswith(folded[:cut]) for cut in range(1, len(folded)))):
        return
    if rule.is_quick:
        row = rule.find(text)
        if isinstance(row, int):
            yield _key_hit(text, text, detail)
    given = 0
    for start in range(0, min(rule.count, ROWS_SEEN), _PAGE):
        beat()
        for key in rule.rows(start, min(start + _PAGE, rule.count)).keys:
            if key is not None and folded in key.casefold():
                yield _key_hit(key, text, detail)
                given += 1
                if given >= EACH:
                    yield None
                    return
        if not rule.is_quick:
            # Each row costs a hundred times as much: the first page has to do.
            break
    if rule.count > (ROWS_SEEN if rule.is_quick else _PAGE):
        yield None
