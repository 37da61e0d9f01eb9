"""Types of basic arrays as schemas spell them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS

#: What numpy calls types in ``str(dtype)``, and short codes with a byte order; nothing else reaches numpy.
_NAME = re.compile(
    r"(bool_?|u?int(8|16|32|64)?|float(16|32|64|96|128)?|complex(64|128|192|256)?|half|single|double|longdouble)"
    r"|[<>=|]?([?bBhHiIlLqQfdgFDGe]|[iufcb](1|2|4|8|16|32)|[SUV][0-9]{1,9})"
    r"|[<>=]?([mM]8|datetime64|timedelta64)(\[[0-9]{0,9}(Y|M|W|D|h|m|s|ms|us|μs|ns|ps|fs|as)\])?"
)
_OBJECT = re.compile(r"[<>=|]?O[0-9]*|object_?|object(0|8|16)")
_MOST_NESTED = 16


def dtype_of(value: Any) -> np.dtype[Any]:
    """Return the type that JSON describes (serialization text, ``dtype``).

    Raises
    ------
    RefbrowserError
        E_UNSAFE: objects, whose bytes are addresses in memory; E_SCHEMA: it is no type; E_BUDGET: its
        elements are too large.
    """
    dtype = _dtype(value, 1)
    if dtype.base.itemsize > LIMITS.element_size or dtype.itemsize > LIMITS.chunk_size:
        message = f"an element has {dtype.itemsize} bytes, more than are read at once (element_size)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    if dtype.itemsize == 0 and dtype.base.itemsize == 0:
        raise RefbrowserError(ErrorKind.SCHEMA, f"elements of {quoted(value)} have no bytes")
    return dtype


def _dtype(value: Any, depth: int) -> np.dtype[Any]:
    if depth > _MOST_NESTED:
        raise RefbrowserError(ErrorKind.BUDGET, f"a type is nested more than {_MOST_NESTED} times")
    if isinstance(value, str):
        return _named(value)
    if not isinstance(value, list | tuple) or not value:
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(value)} is no type")
    if _is_shape(value[-1]) and len(value) == 2:
        return _shaped(_dtype(value[0], depth + 1), value[-1])
    if isinstance(value[0], list | tuple):
        return _record(value, depth)
    raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(value)} is no type")


def _named(name: str) -> np.dtype[Any]:
    if _OBJECT.fullmatch(name):
        message = f"elements of type {quoted(name)} are addresses of Python objects"
        raise RefbrowserError(
            ErrorKind.UNSAFE, message, advice="They have no meaning outside of their program."
        )
    if _NAME.fullmatch(name) is None:
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(name)} is no type")
    try:
        return np.dtype(name)
    except (TypeError, ValueError):
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(name)} is no type") from None


def _is_shape(value: Any) -> bool:
    sizes = value if isinstance(value, list | tuple) else [value]
    return all(type(size) is int for size in sizes)


def _shaped(base: np.dtype[Any], shape: int | Sequence[int]) -> np.dtype[Any]:
    sizes = tuple(shape) if isinstance(shape, list | tuple) else (shape,)
    if any(size < 0 for size in sizes):
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(sizes)} is no shape")
    if len(sizes) + base.ndim >= LIMITS.rank:
        raise RefbrowserError(ErrorKind.BUDGET, f"a type has {len(sizes)} dimensions, too many (rank)")
    return _made((base, sizes))


def _record(fields: Sequence[Any], depth: int) -> np.dtype[Any]:
    made: list[Any] = []
    if len(fields) > LIMITS.awkward_findings:
        raise RefbrowserError(ErrorKind.BUDGET, f"a type has {len(fields)} fields, too many")
    for field in fields:
        is_field = isinstance(field, list | tuple) and len(field) in (2, 3)
        if not is_field or not isinstance(field[0], str) or not _is_shape(field[2] if len(field) == 3 else 0):
            raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(field)} is no field of a type")
        inner = _dtype(field[1], depth + 1)
        made.append((field[0], inner if len(field) == 2 else _shaped(inner, field[2])))
    return _made(made)


def _made(description: Any) -> np.dtype[Any]:
    try:
        return np.dtype(description)
    except (TypeError, ValueError, OverflowError, MemoryError):
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(description)} is no type") from None
