"""What is sought in texts: plain text, whole words, or an expression that cannot run away.

Python's expressions may take exponential time on a text that is made for it, and cannot be stopped. So only
those are taken whose time is bounded: nothing is repeated within a repetition, there are few repetitions, and
the more there are, the less of each text is looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

#: Characters of a pattern.
LONGEST = 200
#: Characters of one text that are looked at, by how many repetitions without an end an expression has.
REACH = (1 << 20, 4_000, 200)
#: Repetitions that end count as none as long as they can be in so many states together.
_FEW = 8
#: States of all of these at most; and what is repeated more often than this for certain, no matter how often.
_STATES, _OFTEN = 1_000, 16
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_PLAIN = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN, codes.CATEGORY, codes.AT, codes.RANGE)


class PatternError(Exception):
    """What is sought is no expression, or one that might take too long; the message says why."""


@dataclass(frozen=True, slots=True)
class SearchPattern:
    """What is sought.

    Attributes
    ----------
    text
        As it was typed.
    any_case
        Whether upper and lower case are the same.
    whole_words
        Whether it counts only where no letter or digit stands beside it.
    is_expression
        Whether the text is a regular expression.
    reach
        Characters of one text that are looked at.
    """

    text: str
    any_case: bool = True
    whole_words: bool = False
    is_expression: bool = False
    reach: int = REACH[0]
    _compiled: re.Pattern[str] = field(default_factory=lambda: re.compile("(?!)"), compare=False)

    @classmethod
    def of(
        cls, text: str, *, any_case: bool = True, whole_words: bool = False, is_expression: bool = False
    ) -> SearchPattern:
        """Return a pattern.

        Raises
        ------
        PatternError
            It is empty, too long, no expression, or one that might take too long.
        """
        if not text:
            raise PatternError("Type what to find.")
        if len(text) > LONGEST:
            raise PatternError(f"At most {LONGEST} characters can be searched for.")
        reach = REACH[_repetitions(text)] if is_expression else REACH[0]
        inner = text if is_expression else re.escape(text)
        whole = rf"(?<!\w)(?:{inner})(?!\w)" if whole_words else inner
        try:
            compiled = re.compile(whole, re.IGNORECASE if any_case else 0)
        except re.error as error:
            raise PatternError(f"This is no expression: {error}.") from None
        if compiled.match(""):
            raise PatternError("This expression is found everywhere, because it also matches empty text.")
        return cls(text, any_case, whole_words, is_expression, reach, compiled)

    def spans(self, text: str, most: int = 8) -> list[tuple[int, int]]:
        """Return where it stands in a text: characters, the first few places."""
        found = []
        for match in self._compiled.finditer(text, 0, self.reach):
            if match.end() > match.start():
                found.append(match.span())
            if len(found) >= most:
                break
        return found

    def places(self, joined: str) -> list[int] | None:
        """Return where it may stand in many texts that are joined; None where each is to be looked at."""
        lowered = joined.lower() if self.any_case else joined
        wanted = self.text.lower() if self.any_case else self.text
        if self.is_expression or len(lowered) != len(joined):
            return None
        found = []
        at = lowered.find(wanted)
        while at >= 0:
            found.append(at)
            at = lowered.find(wanted, at + 1)
        return found


def _repetitions(text: str) -> int:
    """Return how many repetitions without an end an expression has, where its time is bounded."""
    try:
        parsed = parser.parse(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternError(f"This is no expression: {error}.") from None
    count, states = _count(parsed, is_repeated=False)
    count += 0 if states <= _FEW else 1
    if states > _STATES:
        raise PatternError("This might take too long: it has too many choices.")
    if count >= len(REACH):
        raise PatternError("This might take too long: at most two of *, + and {n,} are allowed.")
    return count


def _count(parsed: Any, *, is_repeated: bool) -> tuple[int, int]:
    """Return how many repetitions have no end, and in how many states those that do can be together."""
    count, states = 0, 1
    for code, argument in parsed:
        if code in _PLAIN:
            continue
        if code in _REPEATS:
            least, most, inner = argument
            if is_repeated:
                raise PatternError("This might take too long: something is repeated within a repetition.")
            found = [_count(inner, is_repeated=int(most) > 1)]
            if most == codes.MAXREPEAT or int(most) - int(least) >= _FEW:
                count += 1
            else:
                states *= int(most) - int(least) + 1
            if int(least) > _OFTEN:
                states *= _FEW + 1
        elif code is codes.SUBPATTERN:
            found = [_count(argument[-1], is_repeated=is_repeated)]
        elif code is codes.BRANCH:
            if is_repeated:
                raise PatternError("This might take too long: a choice is repeated.")
            found = [_count(branch, is_repeated=is_repeated) for branch in argument[1]]
            states *= len(argument[1])
        else:
            raise PatternError("Back-references and lookarounds cannot be searched for.")
        count += sum(each for each, _ in found)
        for _, some in found:
            states *= some
    return count, states
