"""Types that schemas tell of virtual arrays (``json2type``; persistence notes, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.awkward0.dtypes import dtype_of
from refbrowser.limits import LIMITS
from refbrowser.model.nested import NestedType, TypeKind

_TEXTS = {"str": TypeKind.STRING, "unicode": TypeKind.STRING, "bytes": TypeKind.BYTES}


@dataclass(frozen=True, slots=True)
class ArrayType:
    """The type of a whole array.

    Attributes
    ----------
    length
        None where it has none, or an unlimited one.
    """

    type: NestedType
    length: int | None = None


def json_type(value: Any) -> ArrayType:
    """Return the type of an array that JSON describes.

    Raises
    ------
    RefbrowserError
        E_SCHEMA: it is no type; E_BUDGET: it is too large.
    """
    reading = _Reading()
    if isinstance(value, Mapping) and "takes" in value and "to" in value:
        takes = value["takes"]
        return ArrayType(reading.type(value["to"], 1), takes if _is_length(takes) else None)
    return ArrayType(reading.type(value, 1))


def _is_length(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LIMITS.elements


class _Reading:
    def __init__(self) -> None:
        self._count = 0

    def type(self, value: Any, depth: int) -> NestedType:
        self._count += 1
        if depth > LIMITS.awkward_depth or self._count > LIMITS.awkward_nodes:
            raise RefbrowserError(ErrorKind.BUDGET, "a type is nested too deep, or too large (awkward_depth)")
        if not isinstance(value, Mapping):
            raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(value)} is no type")
        for key, read in _READING.items():
            if key in value:
                return read(self, value, depth)
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(dict(value))} is no type")

    def items(self, value: Any, depth: int) -> tuple[NestedType, ...]:
        if not isinstance(value, list | tuple):
            raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(value)} are no types")
        return tuple(self.type(each, depth + 1) for each in value)


def _labelled(reading: _Reading, value: Mapping[str, Any], depth: int) -> NestedType:
    return reading.type(value.get("as"), depth + 1)


def _link(_reading: _Reading, value: Mapping[str, Any], _depth: int) -> NestedType:
    return NestedType(TypeKind.LINK, name=str(value["ref"])[: LIMITS.key_length])


def _list(reading: _Reading, value: Mapping[str, Any], depth: int) -> NestedType:
    takes = value["takes"]
    size = takes if _is_length(takes) else None
    return NestedType(TypeKind.LIST, size=size, items=(reading.type(value.get("to"), depth + 1),))


def _record(reading: _Reading, value: Mapping[str, Any], depth: int) -> NestedType:
    fields = value["fields"]
    is_right = isinstance(fields, list | tuple) and all(
        isinstance(field, list | tuple) and len(field) == 2 and isinstance(field[0], str) for field in fields
    )
    if not is_right:
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(fields)} are no fields")
    items = reading.items([field[1] for field in fields], depth)
    return NestedType(TypeKind.RECORD, items=items, fields=tuple(field[0] for field in fields))


def _union(reading: _Reading, value: Mapping[str, Any], depth: int) -> NestedType:
    return NestedType(TypeKind.UNION, items=reading.items(value["possibilities"], depth))


def _option(reading: _Reading, value: Mapping[str, Any], depth: int) -> NestedType:
    return NestedType(TypeKind.OPTION, items=(reading.type(value["type"], depth + 1),))


def _basic(_reading: _Reading, value: Mapping[str, Any], _depth: int) -> NestedType:
    return type_of_dtype(dtype_of(value["dtype"]))


def _made_by(_reading: _Reading, value: Mapping[str, Any], _depth: int) -> NestedType:
    names = value["function"]
    parts = [str(part) for part in names] if isinstance(names, list | tuple) else [str(names)]
    if parts[0] in ("builtins", "__builtin__") and parts[-1] in _TEXTS:
        return NestedType(_TEXTS[parts[-1]])
    return NestedType(TypeKind.OPAQUE, name=".".join(parts)[: LIMITS.key_length])


_READING = {
    "set": _labelled,
    "ref": _link,
    "takes": _list,
    "fields": _record,
    "possibilities": _union,
    "type": _option,
    "dtype": _basic,
    "function": _made_by,
}


def type_of_dtype(dtype: np.dtype[Any]) -> NestedType:
    """Return the type of the elements of a basic array: lists of one size, records, texts, numbers."""
    if dtype.subdtype is not None:
        made = type_of_dtype(dtype.base)
        for size in reversed(dtype.shape):
            made = NestedType(TypeKind.LIST, size=size, items=(made,))
        return made
    if dtype.names is not None and dtype.fields is not None:
        items = tuple(type_of_dtype(dtype.fields[name][0]) for name in dtype.names)
        return NestedType(TypeKind.RECORD, items=items, fields=dtype.names)
    if dtype.kind in "SV":
        return NestedType(TypeKind.BYTES)
    if dtype.kind == "U":
        return NestedType(TypeKind.STRING)
    return NestedType(TypeKind.NUMBER, dtype=dtype)
