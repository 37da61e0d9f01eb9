"""Two texts side by side: lines that stand beside each other, and which parts of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from refbrowser.errors import RefbrowserError
from refbrowser.references.text.typed_values import first_difference, laid_out, parsed

#: Lines of which the best alignment is looked for; of more the same ones at both ends are alone found.
ALIGNED = 1_500
#: Characters of a line in which the parts that differ are looked for one by one.
LOOKED = 400
#: Lines, and characters of one, that are shown; what differs is among them.
SHOWN_LINES, SHOWN = 5_000, 20_000
#: Fewer characters that are the same between two parts that differ do not part them.
_BETWEEN = 4
#: Characters before the place where long texts part.
_LEAD = 80


class Sign:
    """What stands before a line: the same, other on both sides, here or there alone, none beside it."""

    SAME, CHANGED, HERE, THERE, NONE = " ", "≠", "−", "+", ""


@dataclass(frozen=True, slots=True)
class SideLine:
    """A line of one side; `spans` are the parts that differ, as pairs of start and end."""

    sign: str
    text: str = ""
    spans: tuple[tuple[int, int], ...] = ()


Lines = tuple[SideLine, ...]


def side_lines(here: str, there: str, *, both: bool) -> tuple[Lines, Lines]:
    """Return two texts as lines beside each other, as many on both sides.

    Objects of JSON are laid out, a member a line. Of long texts that is left out which both have in common at
    the beginning.

    Parameters
    ----------
    both
        Whether it is on both sides; else one of the texts is empty.
    """
    if not both:
        sign = Sign.HERE if here else Sign.THERE
        lines = _cut([SideLine(sign, _short(line)) for line in _lines_of(here or there)])
        absent = (SideLine(Sign.NONE, "(not there)"), *(SideLine(Sign.NONE) for _ in lines[1:]))
        return (lines, absent) if here else (absent, lines)
    mine, theirs = _lines_of(here), _lines_of(there)
    pairs = list(_aligned(mine, theirs))
    start = next((at for at, pair in enumerate(pairs) if pair[0] != pair[1]), 0)
    if len(pairs) > SHOWN_LINES:
        pairs = pairs[max(0, start - 2) :]
    sides = [_paired(*pair) for pair in pairs[:SHOWN_LINES]]
    left, right = tuple(one for one, _ in sides), tuple(other for _, other in sides)
    return (left, right) if len(pairs) <= SHOWN_LINES else (_cut(left), _cut(right))


def first_differing(lines: Sequence[SideLine]) -> int:
    """Return the number of the first line that differs."""
    return next((at for at, line in enumerate(lines) if line.sign != Sign.SAME), 0)


def _lines_of(text: str) -> list[str]:
    if text.startswith("{") and 40 < len(text) <= 10 * SHOWN:
        try:
            return laid_out(parsed(text)).splitlines()
        except RefbrowserError:
            pass
    return text.splitlines() or [""]


def _cut(lines: Sequence[SideLine]) -> Lines:
    if len(lines) < SHOWN_LINES:
        return tuple(lines)
    return (*lines[: SHOWN_LINES - 1], SideLine(Sign.SAME, "… and more lines: copy to get all of them"))


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… and {len(text) - SHOWN:,} more characters"


def _aligned(mine: list[str], theirs: list[str]) -> Iterator[tuple[str | None, str | None]]:
    """Yield lines that stand beside each other; None where there is none."""
    if max(len(mine), len(theirs)) > ALIGNED:
        start = next((at for at, pair in enumerate(zip_longest(mine, theirs)) if pair[0] != pair[1]), 0)
        yield from zip(mine[:start], theirs[:start], strict=True)
        yield from zip_longest(mine[start:], theirs[start:])
        return
    for tag, a, b, c, d in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from zip(mine[a:b], theirs[c:d], strict=True)
        else:
            yield from zip_longest(mine[a:b], theirs[c:d])


def _paired(here: str | None, there: str | None) -> tuple[SideLine, SideLine]:
    if here is None or there is None:
        one = SideLine(Sign.NONE) if here is None else SideLine(Sign.HERE, _short(here))
        other = SideLine(Sign.NONE) if there is None else SideLine(Sign.THERE, _short(there))
        return one, other
    if here == there:
        return SideLine(Sign.SAME, _short(here)), SideLine(Sign.SAME, _short(there))
    start = first_difference(here, there) - _LEAD
    if max(len(here), len(there)) > LOOKED and start > _LEAD:
        here, there = f"…{here[start:]}", f"…{there[start:]}"
    here, there = _short(here), _short(there)
    spans = _spans(here, there)
    return SideLine(Sign.CHANGED, here, spans[0]), SideLine(Sign.CHANGED, there, spans[1])


Spans = tuple[tuple[int, int], ...]


def _spans(here: str, there: str) -> tuple[Spans, Spans]:
    """Return the parts of two lines that differ."""
    if max(len(here), len(there)) > LOOKED:
        start = first_difference(here, there)
        end = first_difference(here[start:][::-1], there[start:][::-1])
        return ((start, len(here) - end),), ((start, len(there) - end),)
    found: list[tuple[int, int, int, int]] = []
    for tag, a, b, c, d in SequenceMatcher(None, here, there, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if found and a - found[-1][1] < _BETWEEN:
            # What is the same between them is there by chance.
            a, c = found.pop()[::2]
        found.append((a, b, c, d))
    return tuple((a, b) for a, b, _, _ in found if b > a), tuple((c, d) for _, _, c, d in found if d > c)
