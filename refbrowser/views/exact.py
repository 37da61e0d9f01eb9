"""Values as text for other programs: every digit, a point for decimals, nothing where there is no value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.views.coordinates import Coordinate
from refbrowser.views.interpretation import Interpretation


def exact_texts(shown: Interpretation, values: npt.NDArray[Any]) -> list[list[str]]:
    """Return a block of elements (rows, columns) as texts that give the same elements when they are read.

    With the CF conventions applied, elements that stand for no value are empty and times are ISO 8601.
    """
    if values.ndim > 2 or values.dtype.kind not in "iufc" or not shown.is_number or not shown.decoded:
        return [[exact_text(item) for item in line] for line in values]
    masked = shown.packing.masked(values)
    missing = np.ma.getmaskarray(masked)
    if shown.dates is not None:
        try:
            flat = shown.dates.units.texts(np.where(missing, np.nan, shown.numbers(values)))
            return np.array(flat, object).reshape(values.shape).tolist()
        except RefbrowserError:
            pass  # A calendar that is not known: the numbers as they are.
    plain = shown.packing.decode(values) if shown.packing.is_scaled else masked.data
    return [
        ["" if none else exact_text(item) for item, none in zip(line, line_missing, strict=True)]
        for line, line_missing in zip(plain, missing.tolist(), strict=True)
    ]


def exact_text(value: Any) -> str:
    """Return one element with all its digits."""
    if isinstance(value, np.ndarray):
        return " ".join(exact_text(item) for item in value.ravel())
    if isinstance(value, np.void) and value.dtype.names is not None:
        return " ".join(exact_text(value[name]) for name in value.dtype.names)
    if isinstance(value, np.void):
        return f"0x{value.tobytes().hex()}"
    if isinstance(value, np.datetime64 | np.timedelta64):
        return "" if np.isnat(value) else str(value.astype(np.int64) if value.dtype.kind == "m" else value)
    if isinstance(value, np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.complexfloating):
        return str(value).strip("()")
    if type(value) is bytes:
        return f"0x{value.hex()}" if value else ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace").rstrip("\0")
    return str(value)


def coordinate_text(coordinate: Coordinate, index: int) -> str:
    """Return what an index stands for, without units: a number, a date, a text, or the index itself."""
    if coordinate.texts is not None:
        return coordinate.texts[index]
    if coordinate.values is None:
        return str(index)
    value = coordinate.values[index]
    if coordinate.dates is not None and (date := coordinate.dates.text(float(value))):
        return date.replace(" ", "T")
    # A coordinate of 4-byte floats is held as doubles: its own digits are enough.
    return str(np.float32(value)) if np.float32(value) == value else str(value)


def coordinate_title(coordinate: Coordinate) -> str:
    """Return the name of a dimension, with the units of its coordinate."""
    bare = coordinate.values is None or coordinate.dates is not None or not coordinate.units
    return coordinate.name if bare else f"{coordinate.name} [{coordinate.units}]"
