"""Commas before closing brackets, which JSON does not have and people write: taken out of a text."""

from __future__ import annotations

import re

#: A string, which is passed over whole; or a comma that only space parts from a closing bracket.
_STRING_OR_COMMA = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|,(?=[ \t\r\n]*[\]}])', re.DOTALL)


def without_spare_commas(text: bytes) -> bytes:
    """Return a JSON text without the commas before its closing brackets; all else stays, byte by byte."""
    return _STRING_OR_COMMA.sub(lambda found: b"" if found[0] == b"," else found[0], text)
