"""Regions as values, and as text: bounds by coordinates, polygons, conditions on values, and what joins them.

``lat 30..60, lon -10..30`` and ``polygon(-10 30, 30 30, 10 60) and /lsm > 0.5 and not > 300`` are regions.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from refbrowser.errors import ErrorKind, RefbrowserError, quoted

#: A longer text is none, nor is one with deeper brackets, or a polygon with more corners.
LENGTH, DEPTH, CORNERS = 64 * 1024, 50, 1_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """What lies between two values of a coordinate, both included; None: without end.

    With `by_index` these are indices, of which the last one is not included.
    """

    name: str
    low: float | None
    high: float | None
    by_index: bool = False

    def __str__(self) -> str:
        sign, dots = ("@", ":") if self.by_index else (" ", "..")
        return f"{_name_text(self.name)}{sign}{_number_text(self.low)}{dots}{_number_text(self.high)}"


@dataclass(frozen=True, slots=True)
class Polygon:
    """What lies within a polygon; where its sides cross, what is within an odd number of turns.

    Attributes
    ----------
    corners
        Longitude and latitude of each, or the coordinates of `names`. The sides are straight lines in these.
    names
        Two coordinates; () for longitude and latitude, or for those of the last dimension and the one before
        it where there are no such.
    by_index
        They are positions: 0 is the middle of the first element.
    """

    corners: tuple[tuple[float, float], ...]
    names: tuple[str, ...] = ()
    by_index: bool = False

    def __str__(self) -> str:
        corners = ", ".join(f"{_number_text(x)} {_number_text(y)}" for x, y in self.corners)
        names = "".join(f" {_name_text(name)}" for name in self.names)
        return f"polygon{names}{'@' if self.by_index else ''}({corners})"


#: How a value is compared.
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """What has values that compare so with a number; `path` is of another array on the same grid."""

    sign: str
    number: float
    path: str = ""

    def __str__(self) -> str:
        return f"{f'{self.path} ' if self.path else ''}{self.sign} {_number_text(self.number)}"


@dataclass(frozen=True, slots=True)
class Both:
    """What is in all of some regions."""

    parts: tuple[Region, ...]

    def __str__(self) -> str:
        if all(isinstance(part, Bounds) for part in self.parts):
            return ", ".join(map(str, self.parts))
        return " and ".join(f"({part})" if isinstance(part, Either) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Either:
    """What is in one of some regions, or more."""

    parts: tuple[Region, ...]

    def __str__(self) -> str:
        return " or ".join(map(str, self.parts))


@dataclass(frozen=True, slots=True)
class Outside:
    """What is not in a region."""

    part: Region

    def __str__(self) -> str:
        is_single = isinstance(self.part, Bounds | Polygon | Condition | Outside)
        return f"not {self.part}" if is_single else f"not ({self.part})"


Region: TypeAlias = Bounds | Polygon | Condition | Both | Either | Outside
#: The whole array.
EVERYWHERE = Both(())


def parsed_region(text: str) -> Region:
    """Return the region that a text says; an empty one is `EVERYWHERE`.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is none.
    """
    if len(text) > LENGTH:
        raise _usage(f"a text of {len(text)} characters is too long for a region")
    return _Parser(text).parsed() if text.strip() else EVERYWHERE


def parts_of(region: Region) -> Iterator[Bounds | Polygon | Condition]:
    """Yield what a region is made of."""
    if isinstance(region, Both | Either):
        for part in region.parts:
            yield from parts_of(part)
    elif isinstance(region, Outside):
        yield from parts_of(region.part)
    else:
        yield region


_NUMBER = r"[-+\N{MINUS SIGN}]?(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_TOKEN = re.compile(
    rf"""\s*(?:(?P<dots>\.\.)|(?P<number>{_NUMBER})|(?P<sign>>=|<=|==|!=|[<>=≥≤≠])
    |(?P<path>/[^\s<>=!≥≤≠(),]+)|"(?P<quoted>[^"]*)"|(?P<word>[^\W\d][\w.\-]*?(?=\.\.|[^\w.\-]|$))
    |(?P<mark>[(),@:]))""",
    re.VERBOSE,
)
_SIGNS = {"=": "==", "≥": ">=", "≤": "<=", "≠": "!="}
_WORDS = ("and", "or", "not", "polygon")
_EXAMPLES = (
    "write bounds as lat 30..60, lon -10..30, corners as polygon(0 40, 9 40, 5 60), values as > 273.15"
)


class _Parser:
    """Reads one text; `or` joins less closely than `and` and the comma, these less closely than `not`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [*self._read(text)]
        self._at = 0
        self._depth = 0

    def _read(self, text: str) -> Iterator[tuple[str, str]]:
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None:
                raise self._fault(f"{quoted(text[at:].strip()[:20])} is not part of a region")
            yield match.lastgroup, match[match.lastgroup]
            at = match.end()

    def parsed(self) -> Region:
        region = self._either()
        if self._at < len(self._tokens):
            raise self._fault(f"{quoted(self._tokens[self._at][1])} comes unexpectedly")
        return region

    def _either(self) -> Region:
        parts = [self._both()]
        while self._takes("word", "or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _both(self) -> Region:
        parts = [self._single()]
        while self._takes("word", "and") or self._takes("mark", ","):
            parts.append(self._single())
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def _single(self) -> Region:
        self._depth += 1
        if self._depth > DEPTH:
            raise self._fault(f"more than {DEPTH} brackets are within each other")
        try:
            if self._takes("word", "not"):
                return Outside(self._single())
            if self._takes("mark", "("):
                region = self._either()
                self._need("mark", ")")
                return region
            if self._takes("word", "polygon"):
                return self._polygon()
            if (sign := self._take("sign")) is not None:
                return Condition(_SIGNS.get(sign, sign), self._number())
            if (path := self._take("path")) is not None:
                return self._of_path(path)
            is_quoted = self._at < len(self._tokens) and self._tokens[self._at][0] == "quoted"
            name = self._name()
            if not name or (name in _WORDS and not is_quoted):
                raise self._fault("a region is missing")
            return self._bounds(name)
        finally:
            self._depth -= 1

    def _of_path(self, path: str) -> Region:
        sign = self._take("sign")
        if sign is None:
            raise self._fault(f"after {quoted(path)} there is no comparison, such as > 0.5")
        return Condition(_SIGNS.get(sign, sign), self._number(), path)

    def _bounds(self, name: str) -> Region:
        by_index = self._takes("mark", "@")
        low = self._number_or_none()
        if not self._takes("mark", ":") if by_index else not self._takes("dots", ".."):
            if low is None:
                raise self._fault(f"after {quoted(name)} there are no bounds, such as 30..60")
            return Bounds(name, low, low + 1 if by_index else low, by_index)
        high = self._number_or_none()
        if low is None and high is None:
            raise self._fault(f"after {quoted(name)} there are no bounds, such as 30..60")
        return Bounds(name, low, high, by_index)

    def _polygon(self) -> Region:
        names = tuple(name for name in (self._name(), self._name()) if name)
        if len(names) == 1:
            raise self._fault("a polygon has the names of two coordinates, or none")
        by_index = self._takes("mark", "@")
        self._need("mark", "(")
        corners: list[tuple[float, float]] = []
        while not corners or self._takes("mark", ","):
            corners.append((self._number(), self._number()))
            if len(corners) > CORNERS:
                raise self._fault(f"a polygon has more than {CORNERS} corners")
        self._need("mark", ")")
        if len(corners) > 1 and corners[0] == corners[-1]:
            corners.pop()
        if len(corners) < 3:
            raise self._fault("a polygon has three corners or more")
        return Polygon(tuple(corners), names, by_index)

    def _name(self) -> str:
        name = self._take("quoted")
        return (self._take("word") or "") if name is None else name

    def _number(self) -> float:
        number = self._number_or_none()
        if number is None:
            raise self._fault("a number is missing")
        return number

    def _number_or_none(self) -> float | None:
        text = self._take("number")
        return None if text is None else float(text.replace("\N{MINUS SIGN}", "-"))

    def _take(self, kind: str) -> str | None:
        if self._at < len(self._tokens) and self._tokens[self._at][0] == kind:
            self._at += 1
            return self._tokens[self._at - 1][1]
        return None

    def _takes(self, kind: str, text: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at] == (kind, text):
            self._at += 1
            return True
        return False

    def _need(self, kind: str, text: str) -> None:
        if not self._takes(kind, text):
            raise self._fault(f"{quoted(text)} is missing")

    def _fault(self, why: str) -> RefbrowserError:
        return _usage(f"{quoted(self._text[:200])} is not a region: {why}", _EXAMPLES)


def _usage(message: str, advice: str = "") -> RefbrowserError:
    return RefbrowserError(ErrorKind.USAGE, message, advice=advice)


def _name_text(name: str) -> str:
    is_plain = re.fullmatch(r"[^\W\d][\w\-]*", name) and name not in _WORDS
    return name if is_plain else f'"{name}"'


def _number_text(number: float | None) -> str:
    return "" if number is None else repr(float(number)).removesuffix(".0")
