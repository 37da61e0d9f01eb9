"""Values of attributes by the types that NCZarr records beside them (nczarr, section 3)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from refbrowser.errors import quoted

_TYPE = re.compile(r"(?P<order>[<>|]?)(?P<kind>[iufSUJ])(?P<size>[0-9]{1,9})\Z")
_NUMBERS = {
    "i1": "byte",
    "u1": "ubyte",
    "i2": "short",
    "u2": "ushort",
    "i4": "int",
    "u4": "uint",
    "i8": "int64",
    "u8": "uint64",
    "f4": "float",
    "f8": "double",
}
_CODES = {name: code for code, name in _NUMBERS.items()}
_WORDS = {"NaN": math.nan, "Infinity": math.inf, "+Infinity": math.inf, "-Infinity": -math.inf}


def netcdf_type(written: Any) -> str | None:
    """Return the netCDF type that a dtype stands for, or None where there is none (``|J0``).

    Char is ``>S1``, of old writers ``<U1`` or ``<S1``; ``|S1`` and longer texts are string.
    """
    match = _TYPE.match(written) if isinstance(written, str) else None
    if match is None or match["kind"] == "J":
        return None
    if match["kind"] == "U":
        return "char" if match["size"] == "1" else "string"
    if match["kind"] == "S":
        return "char" if match["size"] == "1" and match["order"] in ("<", ">") else "string"
    return _NUMBERS.get(match["kind"] + match["size"])


def typed_attributes(
    attributes: Mapping[str, Any], types: Any, warn: Callable[[str], None]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the attributes as their types have them, and the netCDF types by name.

    Char text that netcdf-c stored as JSON becomes its text again; ``NaN`` and infinities of numbers become
    floats. What does not fit its type stays as it is, without type.

    Parameters
    ----------
    attributes
        As stored, without internal ones.
    types
        Member ``types``: dtypes by name.
    warn
        Is given the text of each warning.
    """
    recorded: Mapping[str, Any] = {}
    if isinstance(types, dict):
        recorded = types
    elif types is not None:
        warn("'types' of the attributes is not an object")
    values, named = {}, {}
    for name, value in attributes.items():
        values[name] = value
        kind = netcdf_type(recorded.get(name))
        if kind is None:
            continue
        try:
            values[name], named[name] = typed_value(value, kind), kind
        except (ValueError, OverflowError):
            warn(f"attribute {quoted(name)} is {quoted(value)}, which is not of its type {kind}")
    return values, named


def typed_value(value: Any, kind: str) -> Any:
    """Return a stored value as a netCDF type has it.

    Raises
    ------
    ValueError
        It is not of the type.
    """
    if kind == "char":
        return _text(value)
    if kind == "string":
        return [_text(item) for item in value] if isinstance(value, list) else _text(value)
    convert = _float if kind in ("float", "double") else _integer
    if isinstance(value, list):
        return [convert(item, kind) for item in value]
    return convert(value, kind)


def _text(value: Any) -> str:
    """Return a text as it is, and what netcdf-c parsed as JSON as text."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _integer(value: Any, kind: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int:
        raise ValueError
    limits = np.iinfo(_CODES[kind])
    if not limits.min <= value <= limits.max:
        raise ValueError
    return value


def _float(value: Any, kind: str) -> float:
    if isinstance(value, str) and value in _WORDS:
        return _WORDS[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    return float(value)
