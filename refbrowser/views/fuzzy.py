"""Fuzzy search: letters of a pattern in order, anywhere in a text; a score says how well they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import nlargest
from typing import TypeVar

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
