"""Types of attributes: those that metadata records, those that values suggest, and values typed in a type."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.netcdf.types import AtomicType
from refbrowser.references.text.typed_values import typed_value

_WORDS = {
    "nan": "NaN",
    "infinity": "Infinity",
    "-infinity": "-Infinity",
    "inf": "Infinity",
    "-inf": "-Infinity",
}
#: The types that are offered, in this order.
TYPES = tuple(map(str, AtomicType))
#: Those that JSON alone tells from each other.
JSON_TYPES = ("char", "int", "double")
#: Characters of a value that are quoted.
_QUOTED = 40
#: What is none of them: objects, true and false, null, lists of different things.
OTHER = "json"


@dataclass(frozen=True, slots=True)
class AttributeType:
    """The type of an attribute, and whether the metadata records it or the value suggests it."""

    name: str
    recorded: bool = False

    def __str__(self) -> str:
        return self.name if self.recorded else f"({self.name})"


def type_of(types: Mapping[str, str], name: str, value: Any) -> AttributeType:
    """Return the type of an attribute: as recorded in `types`, else as its value suggests."""
    recorded = types.get(name)
    return AttributeType(suggested(value)) if recorded is None else AttributeType(recorded, True)


def suggested(value: Any) -> str:
    """Return the type that netCDF gives a value whose type nothing records; `OTHER` where none fits."""
    items = value if isinstance(value, list) and value else [value]
    if all(isinstance(item, str) for item in items):
        return "string" if isinstance(value, list) and len(value) > 1 else "char"
    if not all(isinstance(item, int | float) and not isinstance(item, bool) for item in items):
        return OTHER
    if any(isinstance(item, float) for item in items):
        return "double"
    for atomic in (AtomicType.INT, AtomicType.INT64, AtomicType.UINT64):
        limits = np.iinfo(str(atomic.dtype))
        if all(limits.min <= item <= limits.max for item in items):
            return atomic
    return OTHER


def value_in(type_name: str, text: str) -> Any:
    """Return the JSON value that a typed line stands for in a type.

    Text needs no quotes; several values are a JSON list.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such value of this type.
    """
    if type_name == "char":
        return _text(text)
    if type_name == "string":
        value = _quiet(text)
        is_list = isinstance(value, list) and value and all(isinstance(item, str) for item in value)
        return value if is_list else _text(text)
    value = typed_value(text)
    if type_name not in TYPES:
        return value
    convert = _converter(AtomicType(type_name))
    if not isinstance(value, list):
        return convert(value)
    if not value:
        raise _misfit(type_name, "there is no value")
    return [convert(item) for item in value]


def value_as(type_name: str, value: Any) -> Any:
    """Return a value in another type.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the type cannot hold it.
    """
    if isinstance(value, str):
        return value_in(type_name, json.dumps(value) if type_name in ("char", "string") else value)
    if type_name in ("char", "string") and isinstance(value, list) and all(isinstance(v, str) for v in value):
        if type_name == "string" or len(value) == 1:
            return value if type_name == "string" else value[0]
        raise _misfit(type_name, f"there are {len(value)} values; char is one text")
    return value_in(type_name, json.dumps(value, ensure_ascii=False, default=str))


def _text(text: str) -> str:
    value = _quiet(text)
    return value if isinstance(value, str) else text


def _quiet(text: str) -> Any:
    try:
        return typed_value(text)
    except RefbrowserError:
        return text


def _converter(atomic: AtomicType) -> Callable[[Any], Any]:
    if atomic.is_integer:
        return lambda value: _whole(atomic, value)
    return lambda value: _floating(atomic, value)


def _whole(atomic: AtomicType, value: Any) -> int:
    limits = np.iinfo(str(atomic.dtype))
    number = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(number, bool) or not isinstance(number, int):
        raise _misfit(atomic, f"{quoted(value, _QUOTED)} is no whole number")
    if not limits.min <= number <= limits.max:
        raise _misfit(atomic, f"{quoted(value, _QUOTED)} is not from {limits.min} to {limits.max}")
    return number


def _floating(atomic: AtomicType, value: Any) -> float | str:
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _misfit(atomic, f"{quoted(value, _QUOTED)} is no number")
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if abs(value) > float(np.finfo(str(atomic.dtype)).max):
        raise _misfit(atomic, f"{quoted(value, _QUOTED)} is too large")
    return float(value)


def _misfit(type_name: str, why: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.USAGE, f"the attribute is of type {type_name}: {why}")


def count_words(type_name: str, value: Any) -> str:
    """Return type and number of values, as ``3 values of type int``."""
    if not isinstance(value, list) or len(value) == 1:
        return type_name
    return f"{len(value)} values of type {type_name}"


def offered(recorded: bool) -> Iterable[str]:
    """Return the types that an attribute can be changed to: all where they are recorded."""
    return TYPES if recorded else JSON_TYPES
