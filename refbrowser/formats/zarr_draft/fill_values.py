"""Fill values in the metadata of the v3 drafts, read and written (draft of 2019, `fill_value`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted

_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def parse_fill_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a fill value as a scalar of a core type; None where it is null, so that elements are undefined.

    Raises
    ------
    RefbrowserError
        `E_META`: it does not fit the type.
    """
    if value is None:
        return None
    try:
        with np.errstate(over="ignore"):
            return np.array(_PARSERS[dtype.kind](value, dtype), dtype)[()]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise RefbrowserError(
            ErrorKind.META, f"the fill value {quoted(value)} does not fit the type {quoted(dtype)}"
        ) from None


def fill_value_json(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a fill value as the metadata writes it.

    Parameters
    ----------
    value
        Anything that casts to `dtype`; None for undefined elements.
    """
    if value is None:
        return None
    scalar = np.array(value, dtype)[()]
    if dtype.kind in "mM":
        return int(scalar.view("i8"))
    if dtype.kind == "c":
        return [_float_json(scalar.real), _float_json(scalar.imag)]
    return _float_json(scalar) if dtype.kind == "f" else scalar.item()


def _float_json(value: Any) -> Any:
    number = float(value)
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _bool(value: Any, dtype: np.dtype[Any]) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _integer(value: Any, dtype: np.dtype[Any]) -> int:
    limits = np.iinfo(dtype)
    if type(value) is not int or not limits.min <= value <= limits.max:
        raise ValueError
    return value


def _float(value: Any, dtype: np.dtype[Any]) -> float:
    if isinstance(value, str):
        return _WORDS[value]
    if type(value) not in (int, float):
        raise TypeError
    number = float(value)
    if math.isfinite(number) and not np.isfinite(np.array(number, dtype)):
        raise OverflowError
    return number


def _complex(value: Any, dtype: np.dtype[Any]) -> complex:
    if not isinstance(value, list) or len(value) != 2:
        raise TypeError
    part = np.dtype(f"f{dtype.itemsize // 2}")
    return complex(_float(value[0], part), _float(value[1], part))


_PARSERS = {"b": _bool, "i": _integer, "u": _integer, "f": _float, "c": _complex}
