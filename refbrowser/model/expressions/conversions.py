"""Values in other units: UDUNITS, which the CF conventions name, says how; the package for it is an extra."""

from __future__ import annotations

import locale
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.loading import load

#: Units that many arrays are shown in; offered where an array's units become them.
_OFFERED = (
    "K", "degC", "degF",
    "Pa", "hPa", "kPa", "bar", "dbar",
    "m s-1", "km h-1", "knot", "mm day-1", "mm h-1",
    "kg m-2 s-1", "kg m-2 h-1", "kg m-2 day-1",
    "m", "km", "cm", "mm", "ft", "inch",
    "m2", "km2", "m3", "km3", "litre", "m3 s-1", "km3 year-1", "1e6 m3 s-1",
    "kg", "g", "t", "kg m-3", "g cm-3", "kg kg-1", "g kg-1",
    "1", "percent", "1e-3", "1e-6", "1e-9",
    "W m-2", "J m-2", "kW h m-2", "J", "kJ",
    "s", "minute", "hour", "day",
    "degree", "radian", "mol m-3", "mmol m-3", "m2 s-2", "m2 s-1", "s-1", "day-1",
)  # fmt: skip
#: Spellings that UDUNITS does not know.
_SPELLINGS = {"psu": "1e-3", "%": "percent", "°C": "degC", "°F": "degF", "°": "degree"}
#: What tells that values are differences of temperatures, which no zero is subtracted from.
_DIFFERENCE = re.compile(r"anomal|difference|\bbias\b|increment|tendency|spread over|standard deviation")
#: Far from zero, so that few digits of a factor are lost beside an offset.
_FAR = float(1 << 20)
_LONGEST = 200
#: UDUNITS has one table for all threads.
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Conversion:
    """How values in units (`source`) become those in others: value * scale + offset."""

    source: str
    units: str
    scale: float
    offset: float


def conversion(source: str, target: str, *, is_difference: bool = False) -> Conversion:
    """Return how values in some units become those in others.

    Parameters
    ----------
    is_difference
        The values are differences, of temperatures say: no zero is moved.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: UDUNITS does not know one of the units, or they are of different things; or the package
        `cf-units` is not installed (`NotInstalledError`).
    """
    one, other = _unit(source), _unit(target)
    if not one.is_convertible(other):
        message = f"{quoted(source)} does not become {quoted(target)}: they measure different things"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=_advice(source))
    offset, middle, far = (float(one.convert(value, other)) for value in (0.0, _FAR / 2, _FAR))
    # As it is written: 1.8, not 1.7999999999999998.
    scale = float(f"{(far - offset) / _FAR:.15g}")
    if not abs(middle - (offset + far) / 2) <= 1e-9 * abs(far - offset):
        message = f"{quoted(source)} becomes {quoted(target)} by no factor: one is a logarithm of the other"
        raise RefbrowserError(ErrorKind.USAGE, message)
    return Conversion(source, target, scale, 0.0 if is_difference else offset)


def offered_units(source: str) -> list[str]:
    """Return units that values can be shown in, besides their own.

    Raises
    ------
    RefbrowserError
        As `conversion` does.
    """
    own = _unit(source)
    return [units for units in _OFFERED if own.is_convertible(other := _unit(units)) and other != own]


def is_difference(attributes: Mapping[str, Any], name: str) -> bool:
    """Whether values are differences, as the metadata of their array tells."""
    if "difference" in str(attributes.get("units_metadata", "")):
        return True
    told = (attributes.get("standard_name"), attributes.get("long_name"), name)
    words = " ; ".join(text for text in told if isinstance(text, str))
    return _DIFFERENCE.search(words.replace("_", " ").lower()) is not None


@cache
def _cf_units() -> Any:
    """Return the package, which fails to load where it cannot set again what Python calls the locale."""
    kept = locale.setlocale(locale.LC_NUMERIC)
    locale.setlocale(locale.LC_NUMERIC, "C")
    try:
        return load("cf_units")
    finally:
        locale.setlocale(locale.LC_NUMERIC, kept)


@lru_cache(256)
def _unit(text: str) -> Any:
    text = text.strip()
    written = _SPELLINGS.get(text, text)
    try:
        if not written or len(written) > _LONGEST or " since " in written:
            raise ValueError
        package = _cf_units()
        # UDUNITS writes what it cannot read, from a file of anybody, to the terminal as it is.
        with _LOCK, package.suppress_errors():
            return package.Unit(written)
    except ValueError:
        message = f"UDUNITS does not know the units {quoted(text)}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="write them as kg m-2 s-1 or degC") from None


def _advice(source: str) -> str:
    offered = offered_units(source)[:8]
    return f"it becomes for example {', '.join(offered)}" if offered else ""
