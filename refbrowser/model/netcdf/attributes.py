"""Attributes with a netCDF type: the one that the metadata records, else one inferred from the value.

Inferred, as ``nczarr.md`` decides ("Attribute values"): integers are int, or int64 where too large, fractions
double, text char, lists of text string; anything else becomes compact JSON text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from refbrowser.errors import quoted
from refbrowser.model.netcdf.types import ATOMIC_BY_NAME, AtomicType, NetcdfAttribute, Note

#: The attribute that tells what missing elements hold.
FILL_ATTRIBUTE = "_FillValue"

#: What formats keep for themselves among the attributes; it describes what the model shows in other ways.
HIDDEN = frozenset({"_ARRAY_DIMENSIONS", "_NCProperties"})
HIDDEN_PREFIXES = ("_nczarr_", "_NCZARR_")

_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "+Infinity": math.inf}
_INTEGER_RANGES = (
    (AtomicType.INT, -(2**31), 2**31 - 1),
    (AtomicType.INT64, -(2**63), 2**63 - 1),
    (AtomicType.UINT64, 0, 2**64 - 1),
)


def typed_attributes(
    attributes: Mapping[str, Any], recorded: Mapping[str, str]
) -> Iterator[tuple[NetcdfAttribute, Note | None]]:
    """Yield each attribute with its type, and what is to be told about it; the fill value is left out.

    Parameters
    ----------
    attributes
        As in the metadata.
    recorded
        The netCDF types that the metadata records, by the name of the attribute.
    """
    for name, value in attributes.items():
        if name == FILL_ATTRIBUTE or name in HIDDEN or name.startswith(HIDDEN_PREFIXES):
            continue
        yield typed_attribute(name, value, recorded.get(name))


def typed_attribute(
    name: str, value: Any, recorded: str | None = None
) -> tuple[NetcdfAttribute, Note | None]:
    """Return an attribute with its type, and what is to be told about it.

    Parameters
    ----------
    value
        A JSON value.
    recorded
        The name of its netCDF type where the metadata records one.
    """
    if type(value) is str and recorded is None:
        return NetcdfAttribute(name, AtomicType.CHAR, (value,)), None
    told = None
    type_ = ATOMIC_BY_NAME.get(recorded or "")
    if type_ is not None:
        values = values_of_type(value, type_)
        if values is not None:
            return NetcdfAttribute(name, type_, values), None
        told = Note(f"the value {quoted(value)} is not of its recorded type {type_}", name)
    inferred = _inferred(value)
    if inferred is not None:
        return NetcdfAttribute(name, *inferred), told
    text = json_text(value)
    note = Note("netCDF has no type for the value; it is shown as JSON text", name)
    return NetcdfAttribute(name, AtomicType.CHAR, (text,)), told or note


def values_of_type(value: Any, type: AtomicType) -> tuple[Any, ...] | None:
    """Return a JSON value as values of an atomic type; None where it is not of that type."""
    if type is AtomicType.CHAR:
        # netcdf-c stores char text that parses as JSON as that JSON.
        return (value if isinstance(value, str) else json_text(value),)
    items = value if isinstance(value, list) else [value]
    if type is AtomicType.STRING:
        return tuple(items) if all(isinstance(item, str) for item in items) else None
    converted = _integers(items, type) if type.is_integer else _floats(items, type)
    return None if converted is None else tuple(converted)


def json_text(value: Any) -> str:
    """Return a JSON value as compact text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _integers(items: Sequence[Any], type: AtomicType) -> list[int] | None:
    bounds = np.iinfo(type.known_dtype)
    low, high = int(bounds.min), int(bounds.max)
    converted = []
    for item in items:
        if isinstance(item, float) and item.is_integer():
            item = int(item)
        if not isinstance(item, int) or not low <= item <= high:
            return None
        converted.append(int(item))
    return converted


def _floats(items: Sequence[Any], type: AtomicType) -> list[float] | None:
    converted = []
    for item in items:
        number = _WORDS.get(item) if isinstance(item, str) else item
        if not isinstance(number, int | float):
            return None
        try:
            rounded = _rounded(number, type)
        except OverflowError:
            return None
        if math.isinf(rounded) and not math.isinf(number):
            return None
        converted.append(rounded)
    return converted


def _rounded(number: float, type: AtomicType) -> float:
    if type is AtomicType.DOUBLE:
        return float(number)
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def _inferred(value: Any) -> tuple[AtomicType, tuple[Any, ...]] | None:
    """Return type and values of an attribute without a recorded type; None where netCDF has none for it."""
    items = value if isinstance(value, list) else [value]
    kinds = set(map(type, items))
    if not kinds:
        return AtomicType.CHAR, ()
    if kinds == {str}:
        return (AtomicType.STRING if isinstance(value, list) else AtomicType.CHAR), tuple(items)
    if kinds == {int}:
        low, high = min(items), max(items)
        for integer, least, most in _INTEGER_RANGES:
            if least <= low and high <= most:
                return integer, tuple(items)
        return None
    if kinds <= {int, float, str} and kinds != {str}:
        floats = _floats(items, AtomicType.DOUBLE)
        return None if floats is None else (AtomicType.DOUBLE, tuple(floats))
    return None
