"""The types of awkward's arrays, as this program tells them."""

from __future__ import annotations

from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.nested import NestedType, TypeKind

_TEXTS = {"string": TypeKind.STRING, "bytestring": TypeKind.BYTES}


def type_of_content(content: Any) -> NestedType:
    """Return the type of one element of an ``awkward.contents.Content``."""
    return _type(content.form, 0)


def _type(form: Any, depth: int) -> NestedType:
    if depth > LIMITS.group_nesting:
        raise RefbrowserError(ErrorKind.BUDGET, f"types nested deeper than {LIMITS.group_nesting} levels")
    if form.is_list and form.parameter("__array__") in _TEXTS:
        return NestedType(_TEXTS[form.parameter("__array__")])
    if form.is_numpy:
        return _numbers(np.dtype(form.primitive), tuple(form.inner_shape))
    if form.is_union:
        return NestedType(TypeKind.UNION, items=tuple(_type(each, depth + 1) for each in form.contents))
    if form.is_record:
        items = tuple(_type(each, depth + 1) for each in form.contents)
        name = form.parameter("__record__") or ""
        return NestedType(
            TypeKind.RECORD, items=items, fields=tuple(form.fields), is_tuple=form.is_tuple, name=name
        )
    if form.is_list:
        size = int(form.size) if form.is_regular else None
        return NestedType(TypeKind.LIST, size=size, items=(_type(form.content, depth + 1),))
    if form.is_option:
        return NestedType(TypeKind.OPTION, items=(_type(form.content, depth + 1),))
    if form.is_indexed:
        return _type(form.content, depth + 1)
    if form.is_unknown:
        return NestedType(TypeKind.EMPTY)
    raise RefbrowserError(ErrorKind.SCHEMA, f"there is no form for {quoted(type(form).__name__)}")


def _numbers(dtype: np.dtype[Any], shape: tuple[int, ...]) -> NestedType:
    made = NestedType(TypeKind.NUMBER, dtype=dtype)
    for size in reversed(shape):
        made = NestedType(TypeKind.LIST, size=size, items=(made,))
    return made
