"""The text of a URL as plain parts and expressions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from refbrowser.references.templates.syntax import lex

#: The kinds of tokens that begin and end an expression; any other that is not text is no part of a URL alone.
_BEGIN, _END, _TEXT = "variable_begin", "variable_end", "data"
#: A template alone, or called: what it prints begins as its text does.
LEADING = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*(?:\([^(){}]*\)\s*)?\}\}")


@dataclass(frozen=True, slots=True)
class UrlToken:
    """A part of the text of a URL: plain text, or one expression; `start` is where it stands in the text."""

    start: int
    text: str
    is_plain: bool


def url_tokens(text: str) -> list[UrlToken]:
    """Return the plain texts and expressions that a text begins with, up to the first statement or comment.

    Raises
    ------
    RefbrowserError
        `E_TEMPLATE`: it is no template.
    """
    if "{" not in text:
        return [UrlToken(0, text, True)]
    match = LEADING.match(text)
    if match is not None and "{" not in text[match.end() :]:
        # As nearly all are: the lexer takes ten times as long.
        return [UrlToken(0, match[0], False), UrlToken(match.end(), text[match.end() :], True)]
    tokens: list[UrlToken] = []
    opened = -1
    for start, stop, kind, part in lex(text):
        if kind == _BEGIN:
            opened = start
        elif kind == _END and opened >= 0:
            tokens.append(UrlToken(opened, text[opened:stop], False))
            opened = -1
        elif kind == _TEXT:
            tokens.append(UrlToken(start, part, True))
        elif opened < 0:
            break
    return tokens
