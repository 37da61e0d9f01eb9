"""The grammar of expressions: read into values, which nothing of Python evaluates.

::

    statement  = [NAME "="] comparison
    comparison = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
    sum        = product {("+" | "-") product}
    product    = sign {("*" | "/") sign}
    sign       = {"+" | "-"} power
    power      = atom ["**" sign]
    atom       = NUMBER | CONSTANT | call | array | "(" comparison ")"
    call       = NAME "(" comparison {"," argument} ")"
    array      = [LABEL "::"] PATH ["[" selection "]"]

A path begins with a slash (``/ocean/temp``); a plain name is that of an array of the root. What has other
characters than letters, digits, dots and underscores stands in single or double quotes. A selection is
written as that of ``refbrowser read --select``. Arguments of reductions after the first are names of
dimensions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.expressions.functions import CONSTANTS, ELEMENT_FUNCTIONS, REDUCTIONS
from refbrowser.words import either

#: Characters of an expression, parts of one, and parts within each other.
LONGEST, MOST_PARTS, DEEPEST = 4_096, 256, 40

#: Functions of the grammar itself: what units something has, and is put in; a dimension laid by position.
UNITS, CONVERT, BY_POSITION = "units", "convert", "by_position"
_COMPARISONS = ("<=", ">=", "==", "!=", "<", ">")
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<name>[^\W\d]\w*)
    | (?P<quoted>'[^']*'|"[^"]*")
    | (?P<sign>::|\*\*|<=|>=|==|!=|[-+*/()\[\],<>=])
    )""",
    re.VERBOSE,
)
_PATH = re.compile(r"(?:/[^\W\d][\w.]*)+")


@dataclass(frozen=True, slots=True)
class Number:
    """A number."""

    value: float
    at: int


@dataclass(frozen=True, slots=True)
class NamedArray:
    """An array of a dataset, or what a selection takes of it.

    Attributes
    ----------
    label
        Of its dataset; empty for the one that the expression is about.
    path
        With a slash before it.
    selection
        As it is written; empty for all.
    at
        Where in the text it stands.
    """

    label: str
    path: str
    selection: str = ""
    at: int = 0

    def __str__(self) -> str:
        """Return the array as an expression has it: a path of other characters is quoted."""
        taken = f"[{self.selection}]" if self.selection else ""
        path = self.path if _PATH.fullmatch(self.path) else word_text(self.path)
        return f"{word_text(self.label)}::{path}{taken}" if self.label else f"{path}{taken}"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator between two expressions, or the sign before one."""

    symbol: str
    operands: tuple[Expression, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function of expressions; `words` are the names of dimensions, or the units, that it is told."""

    name: str
    operands: tuple[Expression, ...]
    words: tuple[str, ...]
    at: int


Expression = Number | NamedArray | Operation | Call


class Statement(NamedTuple):
    """An expression, and what it is called; empty where that is not said."""

    name: str
    expression: Expression


def parsed(text: str) -> Statement:
    """Return the expression that a text says.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is none, and where it ceases to be one; or it is too long.
    """
    if len(text) > LONGEST:
        raise usage(text, LONGEST, f"an expression has at most {LONGEST} characters")
    return _Parser(text).statement()


def word_text(word: str) -> str:
    """Return the name of a dimension as an expression has it."""
    quote = '"' if "'" in word else "'"
    return word if word.isidentifier() else f"{quote}{word}{quote}"


def named_arrays(expression: Expression) -> list[NamedArray]:
    """Return the arrays of an expression, in the order in which they stand."""
    if isinstance(expression, NamedArray):
        return [expression]
    if isinstance(expression, Number):
        return []
    return [array for operand in expression.operands for array in named_arrays(operand)]


def unit_words(expression: Expression) -> list[str]:
    """Return the units that an expression names, as they are written, the outermost first."""
    if isinstance(expression, Number | NamedArray):
        return []
    own = expression.words if isinstance(expression, Call) and expression.name in (UNITS, CONVERT) else ()
    return [*own, *(word for operand in expression.operands for word in unit_words(operand))]


def usage(text: str, at: int, message: str, advice: str = "") -> RefbrowserError:
    """Return the error of an expression, which names the character where it is."""
    message = f"{message} (character {at + 1} of {quoted(text)})"
    return RefbrowserError(ErrorKind.USAGE, message, advice=advice)


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


class _Parser:
    """Reads an expression from left to right; a slash is a path where an operand is expected."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self._parts = self._depth = 0

    def statement(self) -> Statement:
        named = re.match(r"\s*([^\W\d]\w*)\s*=(?!=)", self.text)
        if named is not None:
            self.at = named.end()
        expression = self.comparison()
        token = self._peek()
        if token is not None:
            raise self._wrong(token, "expected an operator")
        return Statement(named[1] if named is not None else "", expression)

    def comparison(self) -> Expression:
        self._depth += 1
        if self._depth > DEEPEST:
            raise usage(self.text, self.at, f"more than {DEEPEST} parts within each other")
        left = self._sum()
        token = self._taken(*_COMPARISONS)
        if token is not None:
            left = self._counted(Operation(token.text, (left, self._sum()), token.at))
        self._depth -= 1
        return left

    def _sum(self) -> Expression:
        left = self._product()
        while (token := self._taken("+", "-")) is not None:
            left = self._counted(Operation(token.text, (left, self._product()), token.at))
        return left

    def _product(self) -> Expression:
        left = self._signed()
        while (token := self._taken("*", "/")) is not None:
            left = self._counted(Operation(token.text, (left, self._signed()), token.at))
        return left

    def _signed(self) -> Expression:
        signs = []
        while (token := self._taken("+", "-")) is not None:
            signs.append(token)
        value = self._power()
        for token in reversed(signs):
            if token.text == "-":
                value = self._counted(Operation("-", (value,), token.at))
        return value

    def _power(self) -> Expression:
        base = self._atom()
        token = self._taken("**")
        if token is None:
            return base
        self._depth += 1
        if self._depth > DEEPEST:
            raise usage(self.text, self.at, f"more than {DEEPEST} parts within each other")
        power = self._counted(Operation("**", (base, self._signed()), token.at))
        self._depth -= 1
        return power

    def _atom(self) -> Expression:
        token = self._peek()
        if token is None:
            raise usage(self.text, len(self.text), "an array, a number or a function is missing here")
        if token.text == "/":
            return self._array("", token.at)
        if token.text == "(":
            self._next()
            inner = self.comparison()
            self._expect(")")
            return inner
        if token.kind == "number":
            self._next()
            return self._counted(Number(float(token.text), token.at))
        if token.kind == "quoted":
            self._next()
            if self._taken("::") is not None:
                return self._array(token.text[1:-1], token.at)
            return self._selected("", _slashed(token.text[1:-1]), token.at)
        if token.kind == "name":
            return self._named(token)
        raise self._wrong(token, "expected an array, a number or a function")

    def _named(self, token: _Token) -> Expression:
        self._next()
        after = self._peek()
        if after is not None and after.text == "(":
            return self._call(token)
        if self._taken("::") is not None:
            return self._array(token.text, token.at)
        if token.text in CONSTANTS and (after is None or after.text != "["):
            return self._counted(Number(CONSTANTS[token.text], token.at))
        return self._selected("", f"/{token.text}", token.at)

    def _array(self, label: str, at: int) -> NamedArray:
        """Return the array whose path follows."""
        start = re.compile(r"\s*").match(self.text, self.at)
        assert start is not None
        path = _PATH.match(self.text, start.end())
        if path is not None:
            self.at = path.end()
            return self._selected(label, path[0], at)
        token = self._next()
        if token is not None and token.kind in ("quoted", "name"):
            text = token.text[1:-1] if token.kind == "quoted" else token.text
            return self._selected(label, _slashed(text), at)
        raise usage(
            self.text, start.end(), "expected the path of an array", "quote a path of other characters"
        )

    def _selected(self, label: str, path: str, at: int) -> NamedArray:
        array = NamedArray(label, path, "", at)
        if self._taken("[") is not None:
            end = self.text.find("]", self.at)
            if end < 0:
                raise usage(self.text, len(self.text), "the selection has no end", "close it with ]")
            array = NamedArray(label, path, self.text[self.at : end].strip(), at)
            self.at = end + 1
        self._count()
        return array

    def _call(self, token: _Token) -> Expression:
        name = token.text
        known = (*ELEMENT_FUNCTIONS, *REDUCTIONS, UNITS, CONVERT, BY_POSITION)
        if name not in known:
            near = [each for each in known if each.startswith(name[:2])]
            advice = f"there is {either(near)}" if near else f"there are {', '.join(known)}"
            raise usage(self.text, token.at, f"there is no function {quoted(name)}", advice)
        self._expect("(")
        operands = [self.comparison()]
        words: list[str] = []
        takes_words = name not in ELEMENT_FUNCTIONS
        while self._taken(",") is not None:
            if takes_words:
                words.append(self._word())
            else:
                operands.append(self.comparison())
        self._expect(")")
        self._check(token, len(operands), len(words))
        return self._counted(Call(name, tuple(operands), tuple(words), token.at))

    def _check(self, token: _Token, operands: int, words: int) -> None:
        function = ELEMENT_FUNCTIONS.get(token.text)
        if function is not None and operands != function.arguments:
            message = f"{token.text} has {function.arguments} arguments, not {operands}"
            raise usage(self.text, token.at, message)
        if token.text == UNITS and words != 1:
            raise usage(self.text, token.at, "units has an array and the units it is in", "units(/t, 'K')")
        if token.text == CONVERT and words != 1:
            message = "convert has an array and the units it becomes"
            raise usage(self.text, token.at, message, "convert(/t, 'degC')")
        if token.text == BY_POSITION and not words:
            raise usage(self.text, token.at, "by_position names dimensions", "by_position(/t, time)")

    def _word(self) -> str:
        token = self._next()
        if token is not None and token.kind == "name":
            return token.text
        if token is not None and token.kind == "quoted":
            return token.text[1:-1]
        at = len(self.text) if token is None else token.at
        raise usage(self.text, at, "expected the name of a dimension, or text in quotes")

    def _peek(self) -> _Token | None:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            rest = self.text[self.at :].lstrip()
            if not rest:
                return None
            at = len(self.text) - len(rest)
            raise usage(self.text, at, f"{quoted(rest[0])} is nothing that an expression has")
        kind = match.lastgroup or ""
        return _Token(kind, match[kind], match.start(kind))

    def _next(self) -> _Token | None:
        token = self._peek()
        if token is not None:
            self.at = token.at + len(token.text)
        return token

    def _taken(self, *texts: str) -> _Token | None:
        token = self._peek()
        if token is None or token.kind != "sign" or token.text not in texts:
            return None
        return self._next()

    def _expect(self, text: str) -> None:
        if self._taken(text) is None:
            token = self._peek()
            at = len(self.text) if token is None else token.at
            raise usage(self.text, at, f"expected {quoted(text)}")

    def _counted(self, expression: Expression) -> Expression:
        self._count()
        return expression

    def _count(self) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise usage(self.text, self.at, f"an expression has at most {MOST_PARTS} parts")

    def _wrong(self, token: _Token, message: str) -> RefbrowserError:
        return usage(self.text, token.at, f"{message}, not {quoted(token.text)}")


def _slashed(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"
