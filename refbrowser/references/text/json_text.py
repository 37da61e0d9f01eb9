"""Exact JSON reader: values with the place of each in the text, and errors that say where it breaks.

It reads bytes, because places are bytes and because a document of gigabytes is never decoded as one string.
Integers stay exact, duplicate members are all kept (the last counts), strings may hold lone surrogates (the
caller decides), and ``NaN``, ``Infinity`` and ``-Infinity`` are read and marked.
"""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import dataclass
from enum import Enum
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NoReturn

from refbrowser.errors import ErrorKind, quoted
from refbrowser.limits import LIMITS
from refbrowser.words import plural

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

SPACE = re.compile(rb"[ \t\n\r]*+")
STRING = re.compile(rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"')
_STRING_START = re.compile(rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+')
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*+)(?P<rest>(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)")
_WORDS: tuple[tuple[bytes, Any], ...] = (
    (b"true", True),
    (b"false", False),
    (b"null", None),
    (b"NaN", math.nan),
    (b"Infinity", math.inf),
    (b"-Infinity", -math.inf),
)
_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonError(Exception):
    """The text is not JSON from `position` on, or no document for another reason that `kind` tells."""

    def __init__(
        self,
        position: int,
        message: str,
        advice: str = "",
        kind: ErrorKind = ErrorKind.JSON,
        pointer: str | None = None,
    ) -> None:
        super().__init__(message)
        self.pointer = pointer
        self.position = position
        self.message = message
        self.advice = advice
        self.kind = kind


class SpareCommaFoundError(JsonError):
    """A comma before a closing bracket."""


class Incomplete(Exception):  # noqa: N818  not an error: the caller reads on and asks again
    """The text ends within a value, and there is more of it to come."""


class NodeKind(Enum):
    """What a value is in the text."""

    OBJECT = "an object"
    LIST = "a list"
    STRING = "text"
    INTEGER = "an integer"
    LONG = "an integer of too many digits"
    FRACTION = "a number with a fraction or exponent"
    NOT_FINITE = "not a finite number"
    BOOLEAN = "true or false"
    NULL = "null"


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object: `start` to `key_stop` is the key with its quotes."""

    start: int
    key_stop: int
    key: str
    value: Node


@dataclass(frozen=True, slots=True)
class Node:
    """One value with its place; positions are bytes of the whole text.

    `content` is the Python value of a scalar, the list of members of an object, of items of a list.
    """

    start: int
    stop: int
    kind: NodeKind
    content: Any

    @property
    def members(self) -> list[Member]:
        """Members in the order of the text, all of those with the same name."""
        return self.content if self.kind is NodeKind.OBJECT else []

    @property
    def items(self) -> list[Node]:
        """Items of a list."""
        return self.content if self.kind is NodeKind.LIST else []

    def member(self, key: str) -> Node | None:
        """Return the value that counts for `key`: the last one."""
        found = None
        for member in self.members:
            if member.key == key:
                found = member.value
        return found

    def to_python(self) -> Any:
        """Return the value in Python's types; of duplicate members the last."""
        if self.kind is NodeKind.OBJECT:
            return {member.key: member.value.to_python() for member in self.content}
        if self.kind is NodeKind.LIST:
            return [item.to_python() for item in self.content]
        return self.content


def has_surrogate(text: str) -> bool:
    """Return whether `text` holds a lone surrogate, which no UTF-8 text can."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def skip_space(data: bytes, position: int) -> int:
    """Return where the white space at `position` ends."""
    return SPACE.match(data, position).end()  # type: ignore[union-attr]


class JsonReader:
    """Reads values from a window of text.

    Parameters
    ----------
    data
        The window.
    base
        Position of its first byte in the whole text; every position in results counts from there.
    complete
        Whether the text ends where the window ends; otherwise `Incomplete` is raised there.
    """

    def __init__(self, data: bytes, base: int = 0, complete: bool = True) -> None:
        self.data = data
        self.base = base
        self.complete = complete
        self._left = sys.maxsize

    def bounded_value(self, position: int, depth: int) -> tuple[Node, int]:
        """Return the value at `position` of the window, and of how many values it consists.

        Raises
        ------
        JsonError
            E_BUDGET: of more than `LIMITS.json_values`, each of which takes memory.
        """
        self._left = LIMITS.json_values
        node = self.value(position, depth)
        count, self._left = LIMITS.json_values - self._left, sys.maxsize
        return node, count

    def fail(self, position: int, message: str, advice: str = "") -> JsonError | Incomplete:
        """Return the error at `position` of the window, or `Incomplete` where the window ends there."""
        if position >= len(self.data) and not self.complete:
            return Incomplete()
        if position >= len(self.data):
            message = f"the text ends where {message}"
        return JsonError(self.base + position, message, advice)

    def space(self, position: int) -> int:
        """Return where the white space at `position` of the window ends."""
        return skip_space(self.data, position)

    def string(self, position: int) -> tuple[str, int]:
        """Return the string at `position` of the window, and where it ends."""
        match = STRING.match(self.data, position)
        if match is None:
            raise self._broken_string(position)
        stop = match.end()
        return self.decode_string(position, stop), stop

    def decode_string(self, start: int, stop: int) -> str:
        """Return the string between two positions of the window, quotes included."""
        raw = self.data[start + 1 : stop - 1]
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise JsonError(
                self.base + start + 1 + error.start,
                "the text is not UTF-8",
                "Save the document as UTF-8.",
                ErrorKind.ENCODING,
            ) from None
        if "\\" in text:
            text, _ = scanstring(text + '"', 0, True)
        return text

    def _broken_string(self, position: int) -> JsonError | Incomplete:
        match = _STRING_START.match(self.data, position)
        if match is None:
            return self.fail(position, "text in double quotes is expected")
        at = match.end()
        rest = self.data[at : at + 6]
        if len(rest) < 6 and at + len(rest) == len(self.data) and not self.complete:
            return Incomplete()
        if not rest:
            return JsonError(self.base + position, "text in double quotes does not end")
        if rest[:1] in (b"\n", b"\r"):
            return JsonError(
                self.base + at,
                "text in double quotes does not end on its line",
                "Close it with a double quote, or write the end of the line as \\n.",
            )
        if rest[:1] == b"\\":
            return JsonError(self.base + at, f"{quoted(rest.decode('latin-1'))} is not an escape of JSON")
        return JsonError(
            self.base + at,
            f"text has a control character (code {rest[0]})",
            "Write it as an escape, for example \\n or \\u0000.",
        )

    def value(self, position: int, depth: int = 0) -> Node:
        """Return the value that begins at `position` of the window (white space already skipped)."""
        self._left -= 1
        if self._left < 0:
            message = f"there are more than {LIMITS.json_values} values in one entry"
            raise JsonError(self.base + position, message, kind=ErrorKind.BUDGET)
        first = self.data[position : position + 1]
        if first == b'"':
            text, stop = self.string(position)
            return Node(self.base + position, self.base + stop, NodeKind.STRING, text)
        if first in (b"{", b"["):
            if depth >= LIMITS.json_nesting:
                raise JsonError(
                    self.base + position,
                    f"values are nested more than {LIMITS.json_nesting} levels deep",
                    kind=ErrorKind.BUDGET,
                )
            return self._object(position, depth) if first == b"{" else self._list(position, depth)
        return self._scalar(position)

    def _object(self, position: int, depth: int) -> Node:
        members: list[Member] = []
        at = self.space(position + 1)
        if self.data[at : at + 1] == b"}":
            return Node(self.base + position, self.base + at + 1, NodeKind.OBJECT, members)
        while True:
            member, stop = self.read_member(at, depth + 1)
            members.append(member)
            at, ended = self.after_item(stop, b"}")
            if ended:
                return Node(self.base + position, self.base + at, NodeKind.OBJECT, members)

    def read_member(self, position: int, depth: int = 1) -> tuple[Member, int]:
        """Return the member of an object at `position` of the window, and where its value ends."""
        key, key_stop = self.string(position)
        at = self.colon(key_stop)
        value = self.value(at, depth)
        member = Member(self.base + position, self.base + key_stop, key, value)
        return member, value.stop - self.base

    def colon(self, position: int) -> int:
        """Return where the value after a key begins."""
        at = self.space(position)
        if self.data[at : at + 1] != b":":
            raise self.fail(at, "a colon is expected after the key")
        at = self.space(at + 1)
        if at == len(self.data) and not self.complete:
            raise Incomplete
        return at

    def after_item(self, position: int, closing: bytes) -> tuple[int, bool]:
        """Return where the next item begins, or (end, True) where the closing bracket follows."""
        at = self.space(position)
        found = self.data[at : at + 1]
        if found == closing:
            return at + 1, True
        if found != b",":
            raise self.fail(at, f"a comma or {quoted(closing.decode())} is expected")
        comma = at
        at = self.space(at + 1)
        if self.data[at : at + 1] == closing:
            raise SpareCommaFoundError(
                self.base + at,
                f"there is a comma before the closing {quoted(closing.decode())}",
                f"Remove the comma {at - comma} {plural(at - comma, 'byte')} before it.",
            )
        return at, False

    def _list(self, position: int, depth: int) -> Node:
        items: list[Node] = []
        at = self.space(position + 1)
        if self.data[at : at + 1] == b"]":
            return Node(self.base + position, self.base + at + 1, NodeKind.LIST, items)
        while True:
            item = self.value(at, depth + 1)
            items.append(item)
            at, ended = self.after_item(item.stop - self.base, b"]")
            if ended:
                return Node(self.base + position, self.base + at, NodeKind.LIST, items)

    def _scalar(self, position: int) -> Node:
        match = _NUMBER.match(self.data, position)
        if match is not None:
            return self._number(match)
        rest = self.data[position : position + 10]
        for word, content in _WORDS:
            if rest.startswith(word):
                kind = NodeKind.NULL if content is None else NodeKind.BOOLEAN
                if isinstance(content, float):
                    kind = NodeKind.NOT_FINITE
                return Node(self.base + position, self.base + position + len(word), kind, content)
        if len(rest) < 10 and position + len(rest) == len(self.data) and not self.complete:
            raise Incomplete
        raise self.fail(position, "a value is expected")

    def _number(self, match: re.Match[bytes]) -> Node:
        start, stop = match.span()
        if stop + 2 >= len(self.data) and not self.complete:  # "1.", "1e-": the rest may follow
            raise Incomplete
        raw = match.group()
        if match.group("rest"):
            return Node(self.base + start, self.base + stop, NodeKind.FRACTION, float(raw))
        if len(raw.lstrip(b"-")) > LIMITS.json_digits:
            return Node(self.base + start, self.base + stop, NodeKind.LONG, float(raw))
        return Node(self.base + start, self.base + stop, NodeKind.INTEGER, int(raw))


def parse(data: bytes) -> Node:
    """Return the one value that `data` is.

    Raises
    ------
    JsonError
        It is not JSON, or something follows the value.
    """
    reader = JsonReader(data)
    node = reader.value(reader.space(0))
    rest = reader.space(node.stop)
    if rest != len(data):
        raise JsonError(rest, "there is text after the end of the value")
    return node


def pointer(*parts: str | int) -> str:
    """Return the JSON pointer (RFC 6901) of the member or item at `parts`."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


class _OddError(ValueError):
    """The exact reader must look at this."""


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > LIMITS.json_digits:
        raise _OddError
    return int(text)


def _constant(_name: str) -> NoReturn:
    raise _OddError


_DECODER = json.JSONDecoder(parse_int=_integer, parse_constant=_constant)


def has_too_many_values(data: bytes) -> bool:
    """Whether JSON may hold more values than are kept: each but the first few stands behind a comma."""
    return len(data) > LIMITS.metadata_values < data.count(b",")


def read_value(data: bytes) -> tuple[Any, bool]:
    """Return the value that a JSON text is, and whether it is free of NaN and Infinity.

    Of duplicate members the last counts.

    Raises
    ------
    JsonError
        It is not JSON, something follows the value, or it has too many values.
    """
    if has_too_many_values(data):
        message = f"there are more than {LIMITS.metadata_values} values (metadata_values)"
        raise JsonError(0, message, kind=ErrorKind.BUDGET)
    try:
        value = _DECODER.decode(data.decode())
        if (
            data.count(b"{") + data.count(b"[") <= LIMITS.json_nesting
            or depth_of(value) <= LIMITS.json_nesting
        ):
            return value, True
    except (ValueError, RecursionError):
        pass
    node = parse(data)
    return node.to_python(), not _not_finite(node)


def depth_of(value: Any) -> int:
    """Return how deep lists and objects are nested, without recursion."""
    deepest = 0
    pending = [(value, 1)]
    while pending:
        item, depth = pending.pop()
        if isinstance(item, dict | list):
            deepest = max(deepest, depth)
            inner = item.values() if isinstance(item, dict) else item
            pending.extend((child, depth + 1) for child in inner if isinstance(child, dict | list))
    return deepest


def _not_finite(node: Node) -> bool:
    pending = [node]
    for inner in pending:
        if inner.kind is NodeKind.NOT_FINITE:
            return True
        pending.extend(member.value for member in inner.members)
        pending.extend(inner.items)
    return False
