"""Which gen rules may give a key, told from the plain text that their keys begin with; nothing is parsed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable

#: Where plain text ends: an expression, statement or comment begins, or a line, whose end may change.
_END = re.compile(r"\{[{%#]|[\r\n]")
#: A dimension alone: what it prints is an integer.
_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_INTEGER = frozenset("-0123456789")
_LAST = chr(0x10FFFF)


def literal_prefix(text: str) -> str:
    """Return the text that whatever a template prints begins with, as far as that is plain to see."""
    end = _END.search(text)
    # White space before an expression may be taken away by it.
    return text if end is None else text[: end.start()].rstrip()


def _goes_on_with_integer(text: str, prefix: str, dimensions: Collection[str]) -> bool:
    """Return whether all that a template prints goes on with an integer after its literal prefix."""
    name = _NAME.match(text, len(prefix))
    return name is not None and name[1] in dimensions


class RuleIndex:
    """The numbers of rules by the beginning of their keys.

    Parameters
    ----------
    keys
        The key of each rule as it stands in the document, None for a rule without one, which gives no key;
        and the names of its dimensions of integers.
    """

    def __init__(self, keys: Iterable[tuple[str | None, Collection[str]]]) -> None:
        self._numbers: dict[str, list[int]] = {}
        self._with_integer: set[int] = set()
        for number, (key, dimensions) in enumerate(keys):
            if key is None:
                continue
            prefix = literal_prefix(key)
            self._numbers.setdefault(prefix, []).append(number)
            if _goes_on_with_integer(key, prefix, dimensions):
                self._with_integer.add(number)
        self._lengths = sorted({len(prefix) for prefix in self._numbers})
        self._prefixes = sorted(self._numbers)

    def giving(self, key: str) -> list[int]:
        """Return the rules that may give a key, the last one first."""
        found: list[int] = []
        for length in self._lengths:
            if length > len(key):
                break
            numbers = self._numbers.get(key[:length], ())
            if key[length : length + 1] in _INTEGER:
                found += numbers
            else:
                found += [number for number in numbers if number not in self._with_integer]
        found.sort(reverse=True)
        return found

    def below(self, prefix: str) -> list[int]:
        """Return the rules that may give keys with this beginning, in order."""
        start, stop = bisect_left(self._prefixes, prefix), bisect_left(self._prefixes, prefix + _LAST)
        found = {number for each in self._prefixes[start:stop] for number in self._numbers[each]}
        for length in self._lengths:
            if length >= len(prefix):
                break
            found.update(self._numbers.get(prefix[:length], ()))
        return sorted(found)
