"""The fields of a compound type, those of nested types too, as a flat list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

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
    return rows


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


def _type_name(dtype: np.dtype[Any]) -> str:
    if dtype.names is not None:
        return "compound"
    if dtype.kind == "V":
        return f"opaque({dtype.itemsize})"
    if dtype == np.dtype("S1"):
        return "char"
    if dtype.kind == "S":
        return f"string({dtype.itemsize})"
    atomic = ATOMIC_OF.get(dtype.newbyteorder("="))
    return dtype.name if atomic is None else str(atomic)
