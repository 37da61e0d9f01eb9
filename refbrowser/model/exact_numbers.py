"""Whether numbers stay what they are in another type: large integers are others as floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError

_NUMERIC = frozenset("iufc")


def holds_all(wider: np.dtype[Any], dtype: np.dtype[Any]) -> bool:
    """Tell whether all values of a type are values of another one, whatever the byte orders."""
    wider, dtype = wider.newbyteorder("="), dtype.newbyteorder("=")
    if wider == dtype:
        return True
    if {wider.kind, dtype.kind} <= _NUMERIC:
        # What numpy takes for safe rounds integers of 64 bits.
        is_rounded = dtype.kind in "iu" and dtype.itemsize > 4 and wider.kind in "fc"
        return not is_rounded and np.can_cast(dtype, wider, "safe")
    return wider.kind == dtype.kind and wider.kind in "mM" and np.can_cast(dtype, wider, "safe")


def narrowed(values: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return floating-point numbers in a shorter type, which may be less exact; other values as they are.

    Raises
    ------
    RefbrowserError
        `E_DECODE`: one is beyond the numbers of the type. It would become infinite.
    """
    if values.dtype.kind not in "fc" or dtype.kind not in "fc" or values.dtype.itemsize <= dtype.itemsize:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        made = values.astype(dtype)
    for before, after in ((values.real, made.real), (values.imag, made.imag)):
        lost = np.isinf(after) & ~np.isinf(before)
        if lost.any():
            message = f"the value {before[lost][0]!s} does not fit {dtype.name}"
            raise RefbrowserError(ErrorKind.DECODE, message, advice="awkward0 keeps such numbers")
    return made


def is_exact(values: npt.NDArray[Any], made: npt.NDArray[Any]) -> bool:
    """Tell whether integers that were made floating-point numbers are still the same."""
    if values.dtype.kind not in "iu" or made.dtype.kind not in "fc" or values.dtype.itemsize < 8:
        return True
    back = made.real
    below = back < float(np.iinfo(values.dtype).max)
    return bool(below.all() and (back.astype(values.dtype) == values).all())
