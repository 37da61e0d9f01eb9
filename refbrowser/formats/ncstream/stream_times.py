"""Dates and durations as numbers with units (CF conventions, section 4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.formats.ncstream.definition import DataType, StreamAttribute

#: The words of CF for the units of numpy that have a fixed length.
_UNITS = {
    "D": "days",
    "h": "hours",
    "m": "minutes",
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
    "ps": "picoseconds",
    "fs": "femtoseconds",
    "as": "attoseconds",
}
#: Units that are counted in days.
_DATES = ("W", "M", "Y")
#: What numpy holds where there is no time.
_NOT_A_TIME = -(2**63)


@dataclass(frozen=True, slots=True)
class TimeNumbers:
    """How times of one numpy type are written as numbers of eight bytes.

    Attributes
    ----------
    attributes
        That tell what the numbers mean.
    told
        What is not as in the source, in words.
    """

    wanted: np.dtype[Any]
    attributes: tuple[StreamAttribute, ...]
    told: tuple[str, ...]

    def __call__(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return times as numbers."""
        return values.astype(self.wanted).astype("i8")


def time_numbers(dtype: np.dtype[Any]) -> TimeNumbers:
    """Return how times of a numpy type (`datetime64` or `timedelta64`) are written."""
    letter = dtype.kind
    unit, _ = np.datetime_data(dtype)
    # Months and years have no fixed length: dates of them are days, numbers of them stay.
    if unit == "W" or (unit in _DATES and letter == "M"):
        unit = "D"
    named = _UNITS.get(unit)
    if named is None:
        wanted = np.dtype(f"{letter}8" if unit == "generic" else f"{letter}8[{unit}]")
        told = f"{dtype.name} is written as plain numbers: CF has no unit for it"
        return TimeNumbers(wanted, (), (told,))
    wanted = np.dtype(f"{letter}8[{unit}]")
    missing = StreamAttribute("_FillValue", DataType.LONG, (_NOT_A_TIME,))
    if letter == "m":
        told = f"{dtype.name} is written as long with units {named!r}"
        return TimeNumbers(wanted, (_text("units", named), missing), (told,))
    units = f"{named} since 1970-01-01"
    attributes = (_text("units", units), _text("calendar", "proleptic_gregorian"), missing)
    return TimeNumbers(wanted, attributes, (f"{dtype.name} is written as long with units {units!r}",))


def _text(name: str, value: str) -> StreamAttribute:
    return StreamAttribute(name, DataType.STRING, (value,))
