"""Data types of the v3 drafts, and their fill values (draft of 2019, Data types, `fill_value`)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, NotHeldError, RefbrowserError, quoted
from refbrowser.model import dtypes

#: The one data type extension that was drafted for the text of 2019.
DATETIME = "http://purl.org/zarr/spec/protocol/extensions/datetime-dtypes/1.0"
_SIGNED = [f"{order}{kind}" for kind in ("i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16") for order in "<>"]
CORE = frozenset({"bool", "i1", "u1", "<u2", "<u4", "<u8", *_SIGNED})
#: Read with a notice: an oversight of the text, and numpy's spellings of one-byte types.
_TOLERATED = {
    **{name: name for name in (">u2", ">u4", ">u8")},
    "|b1": "bool",
    "|i1": "i1",
    "|u1": "u1",
}
_TIMES = re.compile(r"[<>][mM]8\[(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\]\Z")
#: Extensions of the drafts of 2020: what zarr-python 2 writes, where there was no text to point to.
_LATER = re.compile(
    r"TODO: |https://zarr-specs\.readthedocs\.io/.*/(?:complex-dtypes|datetime)/v1\.0\.html\Z"
    r"|https://purl\.org/zarr/spec/protocol/extensions/"
)


@dataclass(frozen=True, slots=True)
class DraftType:
    """The type of the elements of an array.

    Attributes
    ----------
    name
        As the metadata writes it, for people.
    base
        The core type that fill values are written as, where the type is an extension with a fallback.
    """

    dtype: np.dtype[Any]
    name: str
    base: np.dtype[Any]


def parse_data_type(value: Any, notice: Callable[[str], None]) -> DraftType:
    """Return the type that `data_type` names.

    Parameters
    ----------
    notice
        Is given what is not as the text has it, and which fallback is used.

    Raises
    ------
    RefbrowserError
        `E_META`: the type is not known.
    """
    if isinstance(value, str):
        return _core(value, notice)
    if not isinstance(value, dict) or not isinstance(value.get("extension"), str):
        raise _unknown(value)
    kind, fallback = value.get("type"), value.get("fallback")
    if value["extension"] == DATETIME and isinstance(kind, str) and _TIMES.match(kind):
        return DraftType(np.dtype(kind), kind, np.dtype(f"{kind[0]}i8"))
    if isinstance(fallback, str) and (fallback in CORE or fallback in _TOLERATED):
        notice(f"data type {quoted(kind)} of {quoted(value['extension'])} is not known: read as {fallback}")
        return _core(fallback, notice)
    raise RefbrowserError(
        ErrorKind.META,
        f"data type {quoted(kind)} of {quoted(value['extension'])} is not known and has no fallback",
    )


def parse_later_data_type(value: Any, notice: Callable[[str], None]) -> DraftType:
    """Return the type that `data_type` names in the drafts of 2020 and after; raises as `parse_data_type`."""
    if isinstance(value, str) and value in _TOLERATED:
        return _core(value, lambda text: None)
    extension = value.get("extension") if isinstance(value, dict) else None
    if isinstance(extension, str) and _LATER.match(extension):
        assert isinstance(value, dict)
        dtype = dtypes.parse_v2(value.get("type"))
        return DraftType(dtype, dtypes.type_name(dtype), dtype)
    if isinstance(value, str) and value not in CORE:
        # Names as int32 came with the drafts of 2022.
        dtype = dtypes.parse_v3(value)
        return DraftType(dtype, dtypes.type_name(dtype), dtype)
    return parse_data_type(value, notice)


def _core(name: str, notice: Callable[[str], None]) -> DraftType:
    if name in _TOLERATED:
        notice(f"data type {quoted(name)} is not in the draft: read as in numpy")
    elif name not in CORE:
        raise _unknown(name)
    dtype = np.dtype(name)
    return DraftType(dtype, dtype.str, dtype)


def _unknown(value: Any) -> RefbrowserError:
    return RefbrowserError(ErrorKind.META, f"data type {quoted(value)} is not known")


def data_type_of(dtype: np.dtype[Any]) -> Any:
    """Return `data_type` of the draft of 2019 for a numpy type.

    Raises
    ------
    RefbrowserError
        `E_META`: the draft has no such type.
    """
    name = "bool" if dtype.kind == "b" else dtype.str.removeprefix("|")
    if dtype.fields is None and name in CORE:
        return name
    if _TIMES.match(name):
        return {"extension": DATETIME, "type": name, "fallback": f"{name[0]}i8"}
    raise NotHeldError(ErrorKind.META, f"the v3 draft of 2019 has no data type {quoted(dtype)}")


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
