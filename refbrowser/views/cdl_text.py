"""A long text by its lines, where something stands in it, and the words of CDL that are coloured."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

#: Lines and characters that are shown at most; the text itself is kept whole.
LINES_SHOWN = 200_000
CHARACTERS_SHOWN = 16_000_000
#: Places that a search finds at most.
FOUND = 10_000
#: What would end a line, or turn the order of characters, in a view of text: shown as not printable.
_REPLACED = dict.fromkeys(
    [0x0D, 0x85, 0x2028, 0x2029, 0xFDD0, 0xFDD1, *range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd"
)


@dataclass(frozen=True)
class Lines:
    """A text and where its lines begin.

    Attributes
    ----------
    text
        All of it.
    starts
        Where each line begins that is shown.
    """

    text: str
    starts: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> Lines:
        """Return the lines of a text, as many as are shown."""
        starts = [0]
        at = text.find("\n")
        while at >= 0 and len(starts) < LINES_SHOWN and at < CHARACTERS_SHOWN:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        if at < 0 and len(text) <= CHARACTERS_SHOWN:
            starts.append(len(text) + 1)
        return cls(text, tuple(starts))

    @property
    def shown(self) -> int:
        """How many lines are shown."""
        return len(self.starts) - 1

    @cached_property
    def count(self) -> int:
        """How many lines the whole text has."""
        return self.text.count("\n") + 1

    def lines(self, first: int, last: int) -> str:
        """Return the lines from `first` up to `last`, that not included, without the end of the last one."""
        return self.text[self.starts[first] : self.starts[last] - 1].translate(_REPLACED)

    def place(self, position: int) -> tuple[int, str]:
        """Return the number of the line at a position, and what stands before the position in it."""
        line = bisect_right(self.starts, position) - 1
        return line, self.text[self.starts[line] : position]

    def find(self, wanted: str, check: Callable[[], object]) -> tuple[int, ...]:
        """Return where a text stands in what is shown, in either case; `FOUND` places at most."""
        found: list[int] = []
        pattern = re.compile(re.escape(wanted), re.IGNORECASE)
        for match in pattern.finditer(self.text, 0, self.starts[-1]) if wanted else ():
            found.append(match.start())
            if len(found) >= FOUND:
                break
            if len(found) % 1_000 == 0:
                check()
        return tuple(found)


class CdlToken(StrEnum):
    """What a part of a line is."""

    SECTION = "section"
    TYPE = "type"
    TEXT = "text"
    NUMBER = "number"
    COMMENT = "comment"


_TYPES = "byte|char|short|int|long|float|double|ubyte|ushort|uint|int64|uint64|string|compound|opaque|enum"
_TOKENS = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*"?)'
    r"|(?P<comment>//.*)"
    r"|(?P<section>^\s*(?:netcdf|group)\b:?|^\s*(?:types|dimensions|variables|data):)"
    rf"|(?P<type>(?<![\w.:\\-])(?:{_TYPES}|UNLIMITED)(?![\w.:\\=-])(?!\s*=))"
    r"|(?P<number>(?<![\w.\\-])[-+]?(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?"
    r"|NaN|Infinity)(?:[fFbBsS]|[uU]?[lL]{0,2}|U[BbSs])?(?![\w\\]))"
)
#: Of a longer line only the beginning is coloured.
_LONGEST = 20_000


def tokens(line: str) -> Iterator[tuple[int, int, CdlToken]]:
    """Yield start, stop and kind of each part of a line that is no plain name or mark."""
    for match in _TOKENS.finditer(line, 0, _LONGEST):
        yield match.start(), match.end(), CdlToken(match.lastgroup or CdlToken.TEXT)
