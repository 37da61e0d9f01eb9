"""The fields of a compound type, those of nested types too, as a flat list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refbrowser.model.member_types import enum_name_of, names_of, rows_of
from refbrowser.model.netcdf.types import ATOMIC_OF


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field.

    Attributes
    ----------
    path
        Names from the outermost field, joined by points.
    type
        netCDF's name where it has one.
    words
        Its shape, where it has one, and its bytes.
    """

    path: str
    type: str
    words: str


def fields_of(dtype: np.dtype[Any], limit: int) -> list[FieldRow]:
    """Return the fields of a type in their order, each before what it holds; `limit` and one more at most."""
    rows: list[FieldRow] = []
    _add(rows, dtype, "", 0, limit)
    # Objects are not stored as numpy holds them: places in its memory tell nothing.
    return [replace(row, words=row.words.rpartition(", ")[0]) for row in rows] if dtype.hasobject else rows


def _add(rows: list[FieldRow], dtype: np.dtype[Any], prefix: str, start: int, limit: int) -> None:
    for name in dtype.names or ():
        if len(rows) > limit or dtype.fields is None:
            return
        field, offset = dtype.fields[name][:2]
        base, shape = field.subdtype or (field, ())
        first = start + offset
        last = first + field.itemsize - 1
        where = f"byte {first}" if last == first else f"bytes {first} to {last}"
        sides = "×".join(map(str, shape))
        words = f"{sides} values, {where}" if sides else where
        rows.append(FieldRow(f"{prefix}{name}", _type_name(base), words))
        if base.names is not None:
            _add(rows, base, f"{prefix}{name}.", first, limit)


def _rows_name(dtype: np.dtype[Any]) -> str:
    """Return the name of a type of objects: texts, bytes, rows of their own length."""
    elements = rows_of(dtype)
    if not isinstance(elements, np.dtype):
        return "opaque" if elements is bytes else "string"
    return "sequence" if elements.names is not None else f"{_type_name(elements)}(*)"


def _type_name(dtype: np.dtype[Any]) -> str:
    if dtype.names is not None:
        return "compound"
    if dtype.kind == "O":
        return _rows_name(dtype)
    if names_of(dtype):
        return f"enum {enum_name_of(dtype)}".strip()
    if dtype.kind == "V":
        return f"opaque({dtype.itemsize})"
    if dtype == np.dtype("S1"):
        return "char"
    if dtype.kind == "S":
        return f"string({dtype.itemsize})"
    atomic = ATOMIC_OF.get(dtype.newbyteorder("="))
    return dtype.name if atomic is None else str(atomic)
