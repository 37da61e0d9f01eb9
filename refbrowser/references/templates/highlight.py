"""What an editor of templates shows: coloured spans, and completions at the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from refbrowser.errors import RefbrowserError
from refbrowser.references.templates.constant_lists import find_lists
from refbrowser.references.templates.filters import FILTERS
from refbrowser.references.templates.syntax import lex

if TYPE_CHECKING:
    from refbrowser.references.templates.templates import TemplateSet

_KEYWORDS = frozenset({"set", "if", "else", "elif", "endif", "and", "or", "not", "in", "is", "raw", "endraw"})
_CONSTANTS = frozenset({"true", "false", "none", "True", "False", "None"})
_STATEMENTS = ("if", "elif", "else", "endif", "set")
#: Characters of a list from which it is shown folded.
_FOLDED = 2_000
_OPENING = frozenset({"variable_begin", "block_begin", "raw_begin", "comment_begin"})
_CLOSING = frozenset({"variable_end", "block_end", "raw_end", "comment_end"})


class TokenKind(StrEnum):
    """What a span of a template is, for its colour."""

    TEXT = "text"
    DELIMITER = "delimiter"
    NAME = "name"
    NUMBER = "number"
    STRING = "string"
    OPERATOR = "operator"
    KEYWORD = "keyword"
    CONSTANT = "constant"
    FILTER = "filter"
    CALL = "call"
    #: A name that the text sets.
    LOCAL = "local"
    COMMENT = "comment"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class HighlightToken:
    """A span of a text (characters) and its kind."""

    start: int
    stop: int
    kind: TokenKind


@dataclass(frozen=True, slots=True)
class _Lexeme:
    start: int
    stop: int
    kind: str
    text: str


def highlight(text: str) -> list[HighlightToken]:
    """Return the tokens of a template in order; never raises, what is no token is `ERROR`.

    White space between tokens has no span.
    """
    lexemes = _lexemes(text)
    names = _names_set(lexemes)
    tokens = []
    for number, each in enumerate(lexemes):
        kind = _kind(lexemes, number)
        if kind in (TokenKind.NAME, TokenKind.CALL) and each.start >= names.get(each.text, len(text)):
            kind = TokenKind.LOCAL
        tokens.append(HighlightToken(each.start, each.stop, kind))
    rest = text[tokens[-1].stop if tokens else 0 :].lstrip()
    if rest:
        tokens.append(HighlightToken(len(text) - len(rest), len(text), TokenKind.ERROR))
    return tokens


def _lexemes(text: str) -> list[_Lexeme]:
    found = []
    try:
        for start, stop, kind, value in lex(text):
            if kind != "whitespace" and value:
                found.append(_Lexeme(start, stop, kind, value))
    except RefbrowserError:
        pass
    return found


def _names_set(lexemes: Sequence[_Lexeme]) -> dict[str, int]:
    """Return the names that ``{% set %}`` gives a value, and where it first does."""
    names: dict[str, int] = {}
    for opened, word, name in zip(lexemes, lexemes[1:], lexemes[2:], strict=False):
        if opened.kind == "block_begin" and word.text == "set" and name.kind == "name":
            names.setdefault(name.text, name.start)
    return names


def _kind(lexemes: Sequence[_Lexeme], number: int) -> TokenKind:
    lexeme = lexemes[number]
    if lexeme.kind in _OPENING or lexeme.kind in _CLOSING:
        return TokenKind.DELIMITER
    if lexeme.kind == "name":
        return _name_kind(lexemes, number)
    kinds = {
        "data": TokenKind.TEXT,
        "comment": TokenKind.COMMENT,
        "integer": TokenKind.NUMBER,
        "float": TokenKind.NUMBER,
        "string": TokenKind.STRING,
    }
    return kinds.get(lexeme.kind, TokenKind.OPERATOR)


def _name_kind(lexemes: Sequence[_Lexeme], number: int) -> TokenKind:
    text = lexemes[number].text
    if number and lexemes[number - 1].text == "|":
        return TokenKind.FILTER
    if text in _KEYWORDS:
        return TokenKind.KEYWORD
    if text in _CONSTANTS:
        return TokenKind.CONSTANT
    following = lexemes[number + 1].text if number + 1 < len(lexemes) else ""
    return TokenKind.CALL if following == "(" else TokenKind.NAME


class CandidateKind(StrEnum):
    """What a completion stands for."""

    DIMENSION = "dimension"
    TEMPLATE = "template"
    ARGUMENT = "argument"
    FILTER = "filter"
    STATEMENT = "statement"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One completion: the text to put in, what it is, and a line about it."""

    text: str
    kind: CandidateKind
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Completions:
    """Candidates for the part [start, stop) of a text."""

    start: int
    stop: int
    candidates: tuple[Candidate, ...]


def complete(text: str, cursor: int, templates: TemplateSet, dimensions: Iterable[str] = ()) -> Completions:
    """Return what can stand at the cursor: names and arguments in an expression, filters after ``|``.

    The part that is replaced is the word that the cursor is in.
    """
    before = _lexemes(text[:cursor])
    nothing = Completions(cursor, cursor, ())
    if text[before[-1].stop if before else 0 : cursor].strip():
        return nothing
    opened = next((each for each in reversed(before) if each.kind in _OPENING | _CLOSING), None)
    if opened is None or opened.kind not in ("variable_begin", "block_begin"):
        return nothing
    start = cursor
    if before[-1].kind in ("name", "integer", "float", "string") and before[-1].stop == cursor:
        if before[-1].kind != "name":
            return nothing
        start = before.pop().start
    stop = cursor
    while stop < len(text) and (text[stop].isalnum() or text[stop] == "_"):
        stop += 1
    word = text[start:cursor]
    candidates = [
        each for each in _candidates(before, opened, templates, dimensions) if each.text.startswith(word)
    ]
    return Completions(start, stop, tuple(candidates))


def _candidates(
    before: Sequence[_Lexeme], opened: _Lexeme, templates: TemplateSet, dimensions: Iterable[str]
) -> list[Candidate]:
    last = before[-1]
    if last.text == "|":
        return [Candidate(name, CandidateKind.FILTER, each.title) for name, each in sorted(FILTERS.items())]
    if last is opened and opened.kind == "block_begin":
        return [Candidate(name, CandidateKind.STATEMENT) for name in _STATEMENTS]
    if last.text == "set" or (
        last.kind in ("name", "integer", "float", "string") and last.text not in _KEYWORDS
    ):
        return []
    if last.text in (")", "]", "}", "."):
        return []
    found = [] if last.text not in ("(", ",") else _arguments(before, templates)
    ended = [each for each in before if each.start < opened.start]
    found += [Candidate(name, CandidateKind.LOCAL, "set in this text") for name in _names_set(ended)]
    found += [Candidate(name, CandidateKind.DIMENSION, "dimension") for name in dimensions]
    for name, template in templates.scope.templates.items():
        if template.needed:
            detail = f"template of {', '.join(template.needed)}"
            found.append(Candidate(f"{name}(", CandidateKind.TEMPLATE, detail))
        else:
            found.append(Candidate(name, CandidateKind.TEMPLATE, template.text[:60]))
    return found


def _arguments(before: Sequence[_Lexeme], templates: TemplateSet) -> list[Candidate]:
    """Return the arguments of the call that the end of the lexemes is in, without those already given."""
    depth = 0
    given = set()
    for number in range(len(before) - 1, 0, -1):
        text = before[number].text
        if text in (")", "]", "}"):
            depth += 1
        elif text in ("(", "[", "{"):
            depth -= 1
            if depth < 0:
                template = templates.scope.templates.get(before[number - 1].text) if text == "(" else None
                names = template.parameters if template is not None else ()
                return [Candidate(f"{name}=", CandidateKind.ARGUMENT) for name in names if name not in given]
        elif depth == 0 and text == "=":
            given.add(before[number - 1].text)
    return []


class ListFolds:
    """Long lists of integers in a text, shown as how many there are, in quotation marks.

    A line of hundreds of thousands of characters takes a field of text a quarter of a second at each key.
    """

    def __init__(self) -> None:
        self._items: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """Return the text as it is shown."""
        parts = []
        position = 0
        for start, stop, shown in self._folds(text):
            parts += [text[position:start], shown]
            position = stop
        return "".join([*parts, text[position:]])

    def unfold(self, shown: str) -> str:
        """Return the text that is shown so."""
        for fold, items in self._items.items():
            shown = shown.replace(fold, items)
        return shown

    def place(self, text: str, place: int) -> int:
        """Return where a character of the text is shown; of a folded list that is where it begins."""
        moved = 0
        for start, stop, shown in self._folds(text):
            if place >= stop:
                moved += len(shown) - (stop - start)
            elif place > start:
                return start + moved
        return place + moved

    def _folds(self, text: str) -> list[tuple[int, int, str]]:
        cuts = find_lists(text) if len(text) > _FOLDED else []
        return [
            (cut.start, cut.stop, self._fold(text[cut.start : cut.stop], len(cut.items)))
            for cut in cuts
            if cut.stop - cut.start > _FOLDED
        ]

    def _fold(self, items: str, count: int) -> str:
        shown, number = f'"{count:,} integers"', 1
        while self._items.setdefault(shown, items) != items:
            # Another list of as many.
            number += 1
            shown = f'"{count:,} integers ({number})"'
        return shown
