"""What is typed to find references, as terms: all of them must hold.

``url:2015 size>10MB -kind:inline`` has three. A word without a field is looked for in keys.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted

#: Characters of a query, and terms in it.
LONGEST, MOST_TERMS = 1_000, 30
#: Bytes of the units that sizes are typed with, by their names in small letters.
UNITS = {
    "": 1,
    "b": 1,
    **{f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)},
    **{letter: 1000**power for power, letter in enumerate("kmgt", 1)},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)},
}


class Field(StrEnum):
    """What a term asks about."""

    KEY = "key"
    URL = "url"
    SIZE = "size"
    OFFSET = "offset"
    KIND = "kind"
    FROM = "from"
    STATE = "state"


#: Other names of fields, as they are typed.
_NAMES = {**{field.value: field for field in Field}, "length": Field.SIZE, "len": Field.SIZE}
#: Words for `ReferenceKind`, in its order.
KINDS = ("missing", "inline", "range", "whole", "fault")
STATES = ("changed", "replaced")


@dataclass(frozen=True)
class TextTerm:
    """A text, somewhere in the key or the URL; with ``*`` and ``?`` all of it has to match.

    Case does not matter.
    """

    field: Field
    text: str

    @property
    def is_pattern(self) -> bool:
        """Whether it has wildcards."""
        return any(mark in self.text for mark in "*?")

    def is_in(self, beginning: str) -> bool:
        """Tell whether all texts are meant that begin so; False: that depends on how they go on."""
        return not self.is_pattern and self.text.casefold() in beginning.casefold()

    @cached_property
    def _line(self) -> re.Pattern[str]:
        """What matches a whole line that is meant, in small letters.

        Parts between ``*`` are taken at the first place and never again, so that no text takes long.
        """
        first, *others = (
            "".join("[^\n]" if letter == "?" else re.escape(letter) for letter in part)
            for part in self.text.casefold().split("*")
        )
        if not others:
            return re.compile(f"^{first}$", re.M)
        *middle, last = others
        passed = "".join(f"(?>[^\n]*?{part})" for part in middle if part)
        return re.compile(f"^{first}{passed}[^\n]*{last}$", re.M)

    def which(self, texts: Sequence[str | None]) -> npt.NDArray[np.bool_]:
        """Return which texts are meant, shape (n,); none that is None."""
        # One search of all of them together is ten times as quick as one search each.
        lines = [(text or "").casefold().replace("\n", "\0") for text in texts]
        joined = "\n".join(lines)
        found = np.zeros(len(texts), bool)
        if self.is_pattern:
            places = [match.start() for match in self._line.finditer(joined)]
        else:
            places = [*_places(self.text.casefold(), joined)]
        starts = np.cumsum([0, *(len(line) + 1 for line in lines)])
        found[np.searchsorted(starts, places, side="right") - 1] = True
        found[[at for at, text in enumerate(texts) if text is None]] = False
        return found


def _places(wanted: str, text: str) -> Iterator[int]:
    """Yield a place in each line of a text that holds what is wanted."""
    at = text.find(wanted)
    while at >= 0:
        yield at
        end = text.find("\n", at)
        at = -1 if end < 0 else text.find(wanted, end + 1)


@dataclass(frozen=True, slots=True)
class NumberTerm:
    """Bytes of a size or an offset, from `low` to `high`, both included; rows that have none do not match."""

    field: Field
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class KindTerm:
    """One of the kinds, by its position in `KINDS`."""

    kind: int


@dataclass(frozen=True, slots=True)
class FromTerm:
    """Where the row comes from: a gen rule by its number, ``None``: any rule, -1: ``refs``."""

    rule: int | None


@dataclass(frozen=True, slots=True)
class StateTerm:
    """``changed`` since the document was saved, or ``replaced`` by a later row with the same key."""

    state: str


Asked = TextTerm | NumberTerm | KindTerm | FromTerm | StateTerm


@dataclass(frozen=True, slots=True)
class Term:
    """One condition, or that it does not hold."""

    asked: Asked
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class ReferenceQuery:
    """Conditions that all hold."""

    terms: tuple[Term, ...]

    def with_term(self, asked: Asked) -> ReferenceQuery:
        """Return the same with one condition more."""
        return ReferenceQuery((*self.terms, Term(asked)))

    @classmethod
    def parse(cls, text: str) -> ReferenceQuery:
        """Read what was typed.

        Raises
        ------
        RefbrowserError
            `E_USAGE`, with the place in the text: a field, a number or a word that there is not.
        """
        if len(text) > LONGEST:
            raise _error(f"it has more than {LONGEST:,} characters", LONGEST)
        terms = tuple(_term(word, at) for word, at in _words(text))
        if len(terms) > MOST_TERMS:
            raise _error(f"it has more than {MOST_TERMS} conditions", len(text))
        return cls(terms)


def _error(message: str, at: int) -> RefbrowserError:
    return RefbrowserError(ErrorKind.USAGE, message, Place(column=at + 1))


def _words(text: str) -> Iterator[tuple[str, int]]:
    """Yield the words of a text, each with its place; between quotation marks none ends."""
    word, begin, is_quoted = "", 0, False
    for at, letter in enumerate(text):
        if letter == '"':
            is_quoted = not is_quoted
        elif letter.isspace() and not is_quoted:
            if word:
                yield word, begin
            word = ""
            continue
        if not word:
            begin = at
        word += letter
    if is_quoted:
        raise _error("the quotation mark is not closed", text.rindex('"'))
    if word:
        yield word, begin


_TERM = re.compile(r"(?P<field>[A-Za-z]+)(?P<sign>:|<=|>=|!=|<|>|=)(?P<value>.*)", re.S)


def _term(word: str, at: int) -> Term:
    is_negated = word.startswith("-") and len(word) > 1
    shown = word[1:] if is_negated else word
    found = _TERM.fullmatch(shown)
    name = "" if found is None else found["field"].lower()
    if found is None or name not in _NAMES:
        if found is not None and found["sign"] != ":" and '"' not in shown:
            raise _error(f"there is no field {quoted(found['field'])}; there are {_listed(Field)}", at)
        return Term(TextTerm(Field.KEY, shown.replace('"', "")), is_negated)
    field, sign, value = _NAMES[name], found["sign"], found["value"].replace('"', "")
    at += is_negated + found.start("value")
    if not value:
        raise _error(f"nothing stands behind {quoted(found['field'] + sign)}", at)
    if field in (Field.SIZE, Field.OFFSET):
        asked, is_other = _number_term(field, sign, value, at)
        return Term(asked, is_negated != is_other)
    if sign not in (":", "=", "!="):
        raise _error(f"{field} is no number: use {quoted(f'{field}:')}", at)
    return Term(_word_term(field, value, at), is_negated != (sign == "!="))


def _number_term(field: Field, sign: str, value: str, at: int) -> tuple[NumberTerm, bool]:
    """Return the numbers that are meant, and whether all others are."""
    if ".." in value:
        low, _, high = value.partition("..")
        least = _bytes(low, at) if low else 0
        most = _bytes(high, at) if high else math.inf
        return NumberTerm(field, least, most), sign == "!="
    number = _bytes(value, at)
    ends = {
        ">": (number + 1, math.inf),
        ">=": (number, math.inf),
        "<": (-math.inf, number - 1),
        "<=": (-math.inf, number),
    }
    return NumberTerm(field, *ends.get(sign, (number, number))), sign == "!="


_NUMBER = re.compile(r"(\d[\d_,]*)(?:\.(\d+))?\s*([a-zA-Z]*)")


def _bytes(text: str, at: int) -> int:
    found = _NUMBER.fullmatch(text)
    unit = None if found is None else UNITS.get(found[3].lower())
    if found is None or unit is None or len(text) > 40:
        raise _error(f"{quoted(text)} is no number of bytes, such as 4096, 10MB or 1GiB", at)
    fraction = found[2] or ""
    digits = re.sub("[_,]", "", found[1]) + fraction
    return int(digits) * unit // 10 ** len(fraction)


def _word_term(field: Field, value: str, at: int) -> Asked:
    word = value.lower()
    if field in (Field.KEY, Field.URL):
        return TextTerm(field, value)
    if field is Field.KIND:
        if word not in KINDS:
            raise _error(f"there is no kind {quoted(value)}; there are {_listed(KINDS)}", at)
        return KindTerm(KINDS.index(word))
    if field is Field.STATE:
        if word not in STATES:
            raise _error(f"there is no state {quoted(value)}; there are {_listed(STATES)}", at)
        return StateTerm(word)
    number = re.fullmatch(r"rule\s*(\d{0,9})", word)
    if word != "refs" and number is None:
        raise _error(f"rows come from refs, rule or rule3, not from {quoted(value)}", at)
    if number is None:
        return FromTerm(-1)
    return FromTerm(int(number[1]) if number[1] else None)


def _listed(words: object) -> str:
    return ", ".join(str(word) for word in words)  # type: ignore[attr-defined]
