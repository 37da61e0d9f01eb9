"""Fill values as Zarr metadata spells them, to numpy scalars."""

from __future__ import annotations

import base64
import binascii
import math
import re
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.dtypes import members_of

_WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf, "+Infinity": np.inf}
#: Some writers have integers as text (Bio-Formats), and zarr-python reads them.
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}\Z")
_HEX = re.compile(r"0x[0-9a-fA-F]+\Z")
_DATE = re.compile(r"[+-]?[0-9]{4,}(-[0-9]{2}){0,2}([T ][0-9:.]{2,18})?Z?\Z")


def parse_fill_value(value: Any, dtype: np.dtype[Any], text_kind: str = "string") -> Any:
    """Return the fill value of an array as a scalar of `dtype`.

    Both versions of the format are read alike, as no spelling means two things: numbers, ``NaN`` and
    ``Infinity``, ``0x`` and the bytes of a float in hex, pairs for complex numbers, text for strings, base64
    or a list of integers for bytes and structures, integers or ``NaT`` for times.

    Parameters
    ----------
    value
        The JSON value; None where there is none.
    dtype
        Of the array.
    text_kind
        Of an array of objects: ``string``, ``bytes``, or ``json`` for any JSON value.

    Returns
    -------
    scalar or None
        None where `value` is None, and for text ``NaN`` in an array of integers, which some writers leave:
        no element can be it.

    Raises
    ------
    RefbrowserError
        `META`: the value does not fit the type.
    """
    if value is None:
        return None
    if dtype.kind in "iu" and (value == "NaN" or value != value):
        return None
    try:
        return _PARSERS[dtype.kind](value, dtype) if dtype.kind != "O" else _object(value, text_kind)
    except (ValueError, TypeError, KeyError, OverflowError, binascii.Error, UnicodeError):
        raise RefbrowserError(
            ErrorKind.META, f"the fill value {quoted(value)} does not fit the type {quoted(dtype)}"
        ) from None


def plain_fill(value: Any) -> Any:
    """Return a fill value as JSON, None where it has no form there.

    NaN and infinities are texts, as are times; complex numbers are pairs.
    """
    if isinstance(value, np.datetime64 | np.timedelta64):
        return str(value)
    plain = value.item() if isinstance(value, np.number | np.bool_) else value
    if isinstance(plain, complex):
        return [plain_fill(plain.real), plain_fill(plain.imag)]
    if isinstance(plain, float) and not math.isfinite(plain):
        return "NaN" if plain != plain else "Infinity" if plain > 0 else "-Infinity"
    return plain if isinstance(plain, bool | int | float | str) else None


def _bool(value: Any, dtype: np.dtype[Any]) -> Any:
    if value not in (0, 1, True, False):
        raise ValueError
    return dtype.type(bool(value))


def _integer(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, bool) or (isinstance(value, str) and _WHOLE.match(value)):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    limits = np.iinfo(dtype)
    if type(value) is not int or not limits.min <= value <= limits.max:
        raise ValueError
    return _scalar(value, dtype)


def _float(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, str):
        if value in _WORDS:
            value = _WORDS[value]
        elif _HEX.match(value):
            return _hexadecimal(value, dtype)
        else:
            value = float(value)
    if not isinstance(value, int | float):
        raise TypeError
    with np.errstate(over="ignore"):
        scalar = _scalar(value, dtype)
    if np.isinf(scalar) and abs(value) != np.inf:
        raise ValueError
    return scalar


def _hexadecimal(value: str, dtype: np.dtype[Any]) -> Any:
    """Return the float whose bytes, the most significant first, are in hex."""
    data = bytes.fromhex(value[2:])
    if len(data) != dtype.itemsize:
        raise ValueError
    return np.frombuffer(data, dtype.newbyteorder(">")).astype(dtype)[0]


def _complex(value: Any, dtype: np.dtype[Any]) -> Any:
    part = np.dtype(f"f{dtype.itemsize // 2}")
    if not isinstance(value, list):
        return _scalar(complex(float(_float(value, part))), dtype)
    real, imaginary = (_float(item, part) for item in value)
    result = np.zeros(1, dtype)
    result.real, result.imag = real, imaginary
    return result[0]


def _bytes(value: Any, dtype: np.dtype[Any]) -> Any:
    return np.frombuffer(_stored(value, dtype), dtype)[0] if dtype.itemsize else np.zeros(1, dtype)[0]


def _void(value: Any, dtype: np.dtype[Any]) -> Any:
    if dtype.names is not None and isinstance(value, dict):
        return _fields([value[name] for name in dtype.names], dtype)
    if dtype.names is not None and isinstance(value, list):
        return _fields(value, dtype)
    return _bytes(value, dtype)


def _fields(values: list[Any], dtype: np.dtype[Any]) -> Any:
    result = np.zeros(1, dtype)
    for (name, part), value in zip(members_of(dtype), values, strict=True):
        result[name] = parse_fill_value(value, part.base)
    return result[0]


def _stored(value: Any, dtype: np.dtype[Any]) -> bytes:
    """Return `value` as the bytes of one element: padded with zeros, never cut."""
    if type(value) is int and value == 0:
        data = b""
    elif isinstance(value, list):
        data = bytes(value)
    elif isinstance(value, str):
        data = base64.b64decode(value, validate=True)
    else:
        raise TypeError
    if len(data) > dtype.itemsize:
        raise ValueError
    return data.ljust(dtype.itemsize, b"\0")


def _text(value: Any, dtype: np.dtype[Any]) -> Any:
    if type(value) is int and value == 0:
        value = ""
    if not isinstance(value, str) or len(value) * 4 > dtype.itemsize:
        raise ValueError
    return np.str_(value)


def _time(value: Any, dtype: np.dtype[Any]) -> Any:
    if value in ("NaT", ""):
        return np.array("NaT", dtype)[()]
    if isinstance(value, str):
        if not _DATE.match(value) or dtype.kind != "M":
            raise ValueError
        return np.array(value.removesuffix("Z"), dtype)[()]
    if dtype.kind == "M" and np.datetime_data(dtype)[0] == "generic":
        # A date without a unit is none; numpy cannot even print it.
        raise ValueError
    return np.array([_integer(value, np.dtype("i8"))]).view(dtype.newbyteorder("="))[0]


def _object(value: Any, text_kind: str) -> Any:
    if text_kind == "json":
        return value
    if type(value) in (int, float) and text_kind == "string":
        # zarr-python 2 writes 0 for text by default, and "0" is what it and later ones read.
        value = str(value)
    elif type(value) is int and value == 0:
        value = ""
    if text_kind == "bytes" and isinstance(value, list):
        # The other form that Zarr v3 has, and the one that zarr-python 3.0 writes.
        return bytes(value)
    if not isinstance(value, str):
        raise TypeError
    return base64.b64decode(value, validate=True) if text_kind == "bytes" else value


def _scalar(value: Any, dtype: np.dtype[Any]) -> Any:
    return np.array(value, dtype)[()]


_PARSERS = {
    "b": _bool,
    "i": _integer,
    "u": _integer,
    "f": _float,
    "c": _complex,
    "S": _bytes,
    "U": _text,
    "V": _void,
    "M": _time,
    "m": _time,
}
