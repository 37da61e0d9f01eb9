"""Array values as JSON: nested lists, with text for what JSON numbers cannot say."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS

#: Letters of ISO 8601 durations for numpy's units; the smaller ones become decimals of a second.
_DURATION_UNITS = {
    "Y": "P{}Y",
    "M": "P{}M",
    "W": "P{}W",
    "D": "P{}D",
    "h": "PT{}H",
    "m": "PT{}M",
    "s": "PT{}S",
}
_SECOND_DIGITS = {"ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15, "as": 18}


def json_text(array: Any) -> str:
    """Return what `json_values` makes of an array as text; values may be nested as deep as they are.

    Raises
    ------
    RefbrowserError
        As `json_values`.
    """
    try:
        return json.dumps(json_values(array), allow_nan=False)
    except RecursionError:
        return _deep_text(array)


class _Text(str):
    """JSON already."""


def _deep_text(value: Any) -> str:
    """Return values as JSON text where they are nested deeper than Python's stack."""
    parts: list[str] = []
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, np.ndarray) and item.dtype.hasobject and item.ndim:
            item = list(item)
        if isinstance(item, _Text):
            parts.append(item)
        elif isinstance(item, Mapping):
            pending.append(_Text("}"))
            for number, (name, inner) in reversed(list(enumerate(item.items()))):
                pending += (inner, _Text(f"{', ' if number else ''}{json.dumps(str(name))}: "))
            pending.append(_Text("{"))
        elif isinstance(item, list | tuple):
            pending.append(_Text("]"))
            for number, inner in reversed(list(enumerate(item))):
                pending += (inner, _Text(", ")) if number else (inner,)
            pending.append(_Text("["))
        else:
            parts.append(json.dumps(_scalar(item), allow_nan=False))
    return "".join(parts)


def json_values(array: Any) -> Any:
    """Return an array or scalar as nested lists fit for strict JSON.

    NaN and infinities are ``"NaN"``, ``"Infinity"``, ``"-Infinity"``, numbers beyond 1.8e308 text, too;
    complex numbers ``[re, im]``; bytes ``{"hex": ...}``; datetimes and durations ISO 8601 text; structures
    objects.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: empty lists that are far too many.
    """
    values = np.asarray(array)
    if not values.size and (lists := prod(values.shape[: values.shape.index(0)])) > LIMITS.awkward_values:
        # Their elements take no memory, the lists of none do.
        raise RefbrowserError(
            ErrorKind.BUDGET, f"{lists} lists without elements would be written", advice="select fewer"
        )
    if values.dtype.kind in "biu":
        return values.tolist()
    if values.dtype.kind == "f" and values.dtype.itemsize <= 8 and np.isfinite(values).all():
        return values.tolist()
    return _nested(values)


def _nested(values: np.ndarray[Any, Any]) -> Any:
    if values.ndim > 1:
        return [_nested(part) for part in values]
    # Items of an array of objects are objects, not arrays.
    return [_scalar(value) for value in values] if values.ndim else _scalar(values[()])


def _scalar(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        return "NaT" if np.isnat(value) else str(value)
    if isinstance(value, np.timedelta64):
        return duration_text(value)
    if isinstance(value, np.void) and value.dtype.names:
        return {name: json_values(value[name]) for name in value.dtype.names}
    if isinstance(value, np.void):
        return {"hex": value.tobytes().hex()}
    if isinstance(value, np.ndarray):
        return json_values(value)
    if isinstance(value, np.complexfloating):
        return [_number(value.real), _number(value.imag)]
    if isinstance(value, np.floating):
        return _number(value)
    if isinstance(value, np.generic):
        return json_ready(value.item())
    return json_ready(value)


def _number(value: np.floating[Any]) -> Any:
    """Return a number; as text where it is beyond those of readers of JSON."""
    made = float(value)
    return str(value) if math.isinf(made) and not np.isinf(value) else json_ready(made)


def json_ready(value: Any) -> Any:
    """Return a Python value (attributes, a fill value) fit for strict JSON."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, complex):
        return [json_ready(value.real), json_ready(value.imag)]
    if isinstance(value, bytes | bytearray | memoryview):
        return {"hex": bytes(value).hex()}
    if isinstance(value, Mapping):
        return {str(name): json_ready(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return json_values(value)
    return str(value)


def duration_text(value: np.timedelta64) -> str:
    """Return a duration as ISO 8601 text, ``P3D`` or ``PT0.250S``; exact."""
    if np.isnat(value):
        return "NaT"
    unit, step = np.datetime_data(value.dtype)
    count = int(value.astype(np.int64)) * step
    if unit in _DURATION_UNITS:
        return _DURATION_UNITS[unit].format(count)
    if unit in _SECOND_DIGITS:
        digits = _SECOND_DIGITS[unit]
        whole, rest = divmod(abs(count), 10**digits)
        return f"PT{'-' if count < 0 else ''}{whole}.{rest:0{digits}d}S"
    return str(count)
