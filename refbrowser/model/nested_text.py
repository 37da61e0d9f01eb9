"""Types of nested values as Awkward 2 writes them."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from refbrowser.errors import quoted
from refbrowser.limits import LIMITS
from refbrowser.model.nested import NestedType, TypeKind

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
#: Names of records that would be taken for something else.
_NUMBERS = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64", "float128", "complex64", "complex128", "complex256"),
    *("datetime64", "timedelta64"),
)
_RESERVED = frozenset(
    {"unknown", "string", "bytes", "option", "tuple", "struct", "union", "categorical", *_NUMBERS}
)
_TEXTS = {TypeKind.STRING: "string", TypeKind.BYTES: "bytes", TypeKind.EMPTY: "unknown"}


def type_text(kind: NestedType) -> str:
    """Return a type on one line, as ``str(ak.type(array))`` gives it without the length.

    What Awkward has no word for is ``link[...]`` for a cycle and ``unreadable[...]``. Types of shared parts
    can be far longer than they are large: what is too long is cut, and ends with ``…``.
    """
    writing = _Writing()
    try:
        writing.add(kind)
    except _FullError:
        return "".join(writing.pieces)[: LIMITS.awkward_type_text] + "…"
    return "".join(writing.pieces)


class _FullError(Exception):
    """The text is too long."""


class _Writing:
    """Writes a type piece by piece, up to the limit."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._length = 0

    def put(self, text: str) -> None:
        self.pieces.append(text)
        self._length += len(text)
        if self._length > LIMITS.awkward_type_text:
            raise _FullError

    def add(self, kind: NestedType) -> None:
        match kind.kind:
            case TypeKind.LIST:
                self.put("var * " if kind.size is None else f"{kind.size} * ")
                self.add(kind.items[0])
            case TypeKind.OPTION:
                self._option(kind)
            case TypeKind.RECORD:
                self._record(kind)
            case TypeKind.UNION:
                self._between("union[", [(None, item) for item in kind.items], "]")
            case _:
                self.put(_plain_text(kind))

    def _option(self, kind: NestedType) -> None:
        (inner,) = kind.items
        if inner.kind is TypeKind.LIST:
            self._between("option[", [(None, inner)], "]")
        else:
            self.put("?")
            self.add(inner)

    def _between(self, head: str, items: list[tuple[str | None, NestedType]], tail: str) -> None:
        self.put(head)
        for at, (name, item) in enumerate(items):
            self.put(", " if at else "")
            if name is not None:
                self.put(f"{name if _IDENTIFIER.fullmatch(name) else json.dumps(name)}: ")
            self.add(item)
        self.put(tail)

    def _record(self, kind: NestedType) -> None:
        names: tuple[str | None, ...] = (None,) * len(kind.items) if kind.is_tuple else kind.fields
        items = list(zip(names, kind.items, strict=True))
        if kind.name and _IDENTIFIER.fullmatch(kind.name) and kind.name not in _RESERVED:
            self._between(f"{kind.name}[", items, "]")
            return
        head, tail = ("(", ")") if kind.is_tuple else ("{", "}")
        if kind.name:
            before, after = ("tuple[[", "]") if kind.is_tuple else ("struct[{", "}")
            head, tail = before, f'{after}, parameters={{"__record__": {json.dumps(kind.name)}}}]'
        self._between(head, items, tail)


def _plain_text(kind: NestedType) -> str:
    if kind.kind is TypeKind.NUMBER and kind.dtype is not None:
        return number_text(kind.dtype)
    if kind.kind is TypeKind.LINK:
        return f"link[{quoted(kind.name)[1:-1]}]"
    if kind.kind is TypeKind.OPAQUE:
        return f"unreadable[{quoted(kind.name)[1:-1]}]"
    return _TEXTS[kind.kind]


def number_text(dtype: np.dtype[Any]) -> str:
    """Return the name of a type of numbers, without its byte order: ``int64``, ``datetime64[ns]``."""
    return dtype.newbyteorder("=").name
