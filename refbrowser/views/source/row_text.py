"""What stands in a row of a text: characters that can be shown, the bytes of each, and how it is coloured."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class TokenKind(StrEnum):
    """What a part of a row is."""

    NAME = "name of a member"
    STRING = "string"
    NUMBER = "number"
    WORD = "true, false or null"
    MARK = "mark"
    BROKEN = "broken"
    HIDDEN = "not printable"


class Token(NamedTuple):
    """Characters of a row that are of one kind."""

    start: int
    stop: int
    kind: TokenKind


_TOKENS = re.compile(
    r'(?P<string>"(?:[^"\\]|\\.)*+")(?P<colon>\s*+:)?'
    r"|(?P<number>-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?)"
    r"|(?P<word>\b(?:true|false|null|NaN|Infinity)\b)"
    r"|(?P<mark>[{}\[\],:])"
    r'|(?P<open>"(?:[^"\\]|\\.)*+\\?$)'
    r"|(?P<broken>[^\s{}\[\],:\"]++)"
)
_REST_OF_STRING = re.compile(r'(?:[^"\\]|\\.)*+(?:"|\\?$)')
_SPACES = re.compile(" +")
_TAB = "    "
_BLANKS = "\r\n\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
#: Characters by which others are meant that cannot be seen: what turns the order of text, above all.
_OPEN, _CLOSE = "⟨", "⟩"


@dataclass(frozen=True, slots=True)
class RowText:
    """One row as it is shown.

    Attributes
    ----------
    text
        Its characters. What cannot be printed, or would turn the order of text, stands as its code in ⟨ ⟩,
        and a byte that is no UTF-8 as its number.
    tokens
        What is coloured in it, in its order.
    offsets
        For each character, and the end, its byte in the row; None where each character is one byte.
    """

    text: str
    tokens: tuple[Token, ...]
    offsets: Sequence[int] | None = None

    def byte_of(self, character: int) -> int:
        """Return at which byte of the row a character begins."""
        if self.offsets is None:
            return max(0, min(character, len(self.text)))
        return self.offsets[max(0, min(character, len(self.offsets) - 1))]

    def character_at(self, byte: int) -> int:
        """Return the character that a byte of the row belongs to."""
        if self.offsets is None:
            return max(0, min(byte, len(self.text)))
        at = max(bisect_right(self.offsets, byte) - 1, 0)
        # Several characters stand for one byte: the first of them.
        while at and self.offsets[at - 1] == self.offsets[at]:
            at -= 1
        return at

    def token_at(self, character: int) -> Token | None:
        """Return what stands at a character."""
        return next((token for token in self.tokens if token.start <= character < token.stop), None)


def row_text(data: bytes, in_string: bool, keeps_space: bool) -> RowText:
    """Return the bytes of a row as they are shown.

    Parameters
    ----------
    in_string
        Whether it begins within a string.
    keeps_space
        Whether space at its beginning and between its values is shown as it is; line ends never are.
    """
    whole = data.rstrip(b"\r\n") if keeps_space else data.rstrip(b" \t\r\n")
    lead = 0 if keeps_space or in_string else len(whole) - len(whole.lstrip(b" \t\r\n"))
    whole = whole[lead:]
    text, offsets = _shown(whole, lead)
    tokens = _tokens(text, in_string)
    if not keeps_space and "  " in text:
        text, offsets = _without_spaces(text, tokens, offsets or range(lead, lead + len(text) + 1))
        tokens = _tokens(text, in_string)
    if offsets is None and lead:
        offsets = range(lead, lead + len(text) + 1)
    hidden = tuple(
        Token(match.start(), match.end(), TokenKind.HIDDEN)
        for match in (_HIDDEN.finditer(text) if _OPEN in text else ())
    )
    return RowText(text, tokens + hidden, offsets)


_HIDDEN = re.compile("⟨(?:U\\+)?[0-9A-F]{2,6}⟩")


def _shown(data: bytes, lead: int) -> tuple[str, Sequence[int] | None]:
    """Return the characters, and the byte of each where that is not its number."""
    if data.isascii():
        text = data.decode("ascii")
        if text.isprintable():
            return text, None
    text = data.decode("utf-8", "surrogateescape")
    shown: list[str] = []
    offsets: list[int] = []
    at = lead
    for character in text:
        code = ord(character)
        is_byte = 0xDC80 <= code <= 0xDCFF
        if is_byte:
            told = f"{_OPEN}{code - 0xDC00:02X}{_CLOSE}"
        elif character.isprintable():
            told = character
        elif character == "\t":
            told = _TAB
        elif character in _BLANKS:
            told = " "
        else:
            told = f"{_OPEN}U+{code:04X}{_CLOSE}"
        shown.append(told)
        offsets += [at] * len(told)
        at += 1 if is_byte else len(character.encode("utf-8"))
    offsets.append(at)
    return "".join(shown), offsets


def _tokens(text: str, in_string: bool) -> tuple[Token, ...]:
    found: list[Token] = []
    at = 0
    if in_string:
        match = _REST_OF_STRING.match(text)
        assert match is not None
        at = match.end()
        found.append(Token(0, at, TokenKind.STRING))
    for match in _TOKENS.finditer(text, at):
        if match["string"] is not None:
            kind = TokenKind.STRING if match["colon"] is None else TokenKind.NAME
            found.append(Token(*match.span("string"), kind))
        else:
            kind = _KINDS[match.lastgroup or "broken"]
            found.append(Token(match.start(), match.end(), kind))
    return tuple(found)


_KINDS = {
    "number": TokenKind.NUMBER,
    "word": TokenKind.WORD,
    "mark": TokenKind.MARK,
    "open": TokenKind.STRING,
    "broken": TokenKind.BROKEN,
}


def _without_spaces(text: str, tokens: Sequence[Token], offsets: Sequence[int]) -> tuple[str, Sequence[int]]:
    """Return the text with one space for each run of them outside of strings."""
    shown: list[str] = []
    kept: list[int] = []
    at = 0
    strings = [token for token in tokens if token.kind in (TokenKind.STRING, TokenKind.NAME)]
    for start, stop in [*((token.start, token.stop) for token in strings), (len(text), len(text))]:
        for match in _SPACES.finditer(text, at, start):
            shown.append(text[at : match.start()] + " ")
            kept += [*offsets[at : match.start()], offsets[match.start()]]
            at = match.end()
        shown.append(text[at:stop])
        kept += offsets[at:stop]
        at = stop
    kept.append(offsets[len(text)])
    return "".join(shown), kept
