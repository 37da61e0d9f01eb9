"""What the parts of a line of CDL are; no Qt here.

The netCDF Users Guide, "CDL Syntax".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum


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
