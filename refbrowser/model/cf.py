"""CF conventions: packed values to physical ones, missing values, times, and what flags mean."""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.calendars import dates_of
from refbrowser.model.nodes import ArrayNode

#: Attributes that say how stored values become physical ones.
SCALING = ("scale_factor", "add_offset")
_WORDS = {"nan": np.nan, "infinity": np.inf, "-infinity": -np.inf, "inf": np.inf, "-inf": -np.inf}
_TIME_UNITS = re.compile(r"\s*([A-Za-z]+)\s+since\s+(\S.*?)\s*\Z", re.IGNORECASE)
_UNIT_LENGTH = 200
#: What netCDF libraries write where a variable was defined and nothing was written, by type; bytes have none.
DEFAULT_FILLS = {
    "i2": -32767,
    "u2": 65535,
    "i4": -2147483647,
    "u4": 4294967295,
    "i8": -9223372036854775806,
    "u8": 18446744073709551614,
    "f4": 9.969209968386869e36,
    "f8": 9.969209968386869e36,
}
#: Missing values of an attribute that are taken; arrays have one or two.
_MOST_MISSING = 64
#: Integers beyond it are values of no type.
_LARGEST = 2**100
_TIME_NAMES = {
    **dict.fromkeys(("microsecond", "microseconds", "microsec", "microsecs"), "microseconds"),
    **dict.fromkeys(
        ("millisecond", "milliseconds", "millisec", "millisecs", "msec", "msecs", "ms"), "milliseconds"
    ),
    **dict.fromkeys(("second", "seconds", "sec", "secs", "s"), "seconds"),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), "minutes"),
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "h"), "hours"),
    **dict.fromkeys(("day", "days", "d"), "days"),
    **dict.fromkeys(("month", "months"), "months"),
    **dict.fromkeys(("year", "years", "common_year", "common_years"), "years"),
}


def duration_unit(attributes: Mapping[str, Any]) -> str:
    """Return the unit of numbers that are durations, by its full name; empty where no attribute says so.

    xarray has them as ``timedelta64`` in an attribute ``dtype``, CF as a ``forecast_period``.
    """
    units, type_name = attributes.get("units"), attributes.get("dtype")
    is_told = isinstance(type_name, str) and type_name.startswith("timedelta64")
    if not isinstance(units, str) or not (is_told or attributes.get("standard_name") == "forecast_period"):
        return ""
    return _TIME_NAMES.get(units.strip().lower(), "")


@dataclass(frozen=True, slots=True)
class Packing:
    """How stored values of one array stand for physical ones.

    Attributes
    ----------
    stored
        Type in which stored values are read: of the other sign than the array's where `_Unsigned` says so.
    missing
        Stored values that mean *no value*, as scalars of `stored`.
    valid_min, valid_max
        Bounds outside of which a value is missing; None for no bound.
    bounds_are_physical
        The bounds are compared with physical values, not with stored ones.
    scale, offset
        Physical value = stored value * scale + offset.
    ignored
        Names of attributes that cannot be used: of the wrong kind, or not values of the type.
    default_fill
        The one of `missing` that no attribute tells: the default of netCDF, for values never written.
    """

    stored: np.dtype[Any]
    missing: tuple[Any, ...] = ()
    valid_min: Any = None
    valid_max: Any = None
    bounds_are_physical: bool = False
    scale: float = 1.0
    offset: float = 0.0
    ignored: tuple[str, ...] = ()
    default_fill: Any = None

    @classmethod
    def of(cls, node: ArrayNode) -> Packing:
        """Return the packing of an array, whose type is known: the one rule for what is missing in it.

        The fill value of the metadata is a missing value only where readers of the format take it for one
        (`ArrayNode.fill_marks`).
        """
        return cls.from_attributes(
            node.attributes,
            node.known_dtype.newbyteorder("="),
            node.fill_value,
            fill_marks=node.fill_marks,
        )

    @classmethod
    def from_attributes(
        cls,
        attributes: Mapping[str, Any],
        dtype: np.dtype[Any],
        fill_value: Any = None,
        *,
        fill_marks: bool = True,
    ) -> Packing:
        """Return the packing that the attributes of an array give.

        Parameters
        ----------
        attributes
            Of the array.
        dtype
            Of its stored values.
        fill_value
            Of the array's metadata, or None. Where it and `_FillValue` say nothing else, the default fill of
            netCDF counts, as its users' guide says.
        fill_marks
            The fill value is a missing value, and wins over the attribute `_FillValue`, as xarray reads
            Zarr v2. Else only attributes say what is missing: `_FillValue` and `missing_value`.

        Notes
        -----
        `valid_range` wins over `valid_min` and `valid_max`. Bounds of packed integers are stored values, as
        the CF conventions say, unless one of them is not an integer.
        """
        if dtype.kind not in "iufc":
            return cls(dtype)
        ignored: list[str] = []
        stored = _stored_type(attributes.get("_Unsigned"), dtype)
        fill = _in_type(fill_value, dtype, stored)
        missing = _missing(attributes, dtype, stored, fill if fill_marks else None, ignored)
        default = None
        if "_FillValue" not in attributes and not (fill_marks and fill_value is not None):
            default = _in_type(DEFAULT_FILLS.get(dtype.str[1:]), dtype, stored)
            # In netCDF-4 it is the fill value of the dataset, too.
            default = default if fill_value is None or fill == default else None
            missing = missing if default is None or default in missing else (*missing, default)
        low, high = _bounds(attributes, ignored)
        physical = stored.kind in "iu" and any(item != int(item) for item in (low, high) if _finite(item))
        if not physical and stored.kind in "iu":
            low, high = (_in_type(item, dtype, stored) for item in (low, high))
        scale = _number(attributes, "scale_factor", 1.0, ignored)
        offset = _number(attributes, "add_offset", 0.0, ignored)
        return cls(stored, missing, low, high, physical, scale, offset, tuple(ignored), default)

    @property
    def is_scaled(self) -> bool:
        """Whether physical values differ from stored ones."""
        return self.scale != 1.0 or self.offset != 0.0

    def missing_mask(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return True where a stored value is missing, NaN or out of bounds."""
        seen = self.seen(values)
        mask = np.isnan(seen) if seen.dtype.kind in "fc" else np.zeros(seen.shape, bool)
        for value in self.missing:
            mask |= seen == value
        if seen.dtype.kind == "c":
            return mask
        compared = self._physical(seen) if self.bounds_are_physical else seen
        with np.errstate(invalid="ignore"):
            if self.valid_min is not None:
                mask |= compared < self.valid_min
            if self.valid_max is not None:
                mask |= compared > self.valid_max
        return mask

    def decode(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return physical values with NaN where they are missing.

        Numbers give float64, or float32 where they are floats of at most 4 bytes that are not scaled;
        complex numbers stay complex. What is no number is returned as it is.
        """
        if values.dtype.kind not in "iufc":
            return values
        mask = self.missing_mask(values)
        result = self._physical(self.seen(values))
        if mask.any():
            result[mask] = np.nan
        return result

    def decode_own(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what `decode` does of values that nobody else has: these may be changed in place."""
        is_result = values.dtype in (np.float32, np.float64) and values.dtype.isnative and not self.is_scaled
        if not is_result or self.valid_min is not None or self.valid_max is not None:
            return self.decode(values)
        for missing in self.missing:
            mask = values == missing
            if mask.any():
                values[mask] = np.nan
        return values

    def masked(self, values: npt.NDArray[Any]) -> np.ma.MaskedArray[Any, Any]:
        """Return stored values, not scaled, masked where they are missing."""
        if values.dtype.kind not in "iufc":
            return np.ma.MaskedArray(values)
        return np.ma.MaskedArray(self.seen(values), self.missing_mask(values))

    def seen(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return stored values with the sign that they are meant with."""
        if values.dtype.kind in "iu" and values.dtype.kind != self.stored.kind:
            return values.view(values.dtype.str.replace(values.dtype.kind, self.stored.kind))
        return values

    def _physical(self, seen: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return new floats: scaled, not masked."""
        if seen.dtype.kind == "c":
            return seen * self.scale + self.offset
        small = seen.dtype.kind == "f" and seen.dtype.itemsize <= 4 and not self.is_scaled
        result: npt.NDArray[Any] = seen.astype(np.float32 if small else np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.scale != 1.0:
                result *= self.scale
            if self.offset != 0.0:
                result += self.offset
        return result


def decode(
    values: npt.NDArray[Any], attributes: Mapping[str, Any], fill_value: Any = None
) -> npt.NDArray[Any]:
    """Return physical values with NaN where they are missing; see `Packing`."""
    return Packing.from_attributes(attributes, values.dtype, fill_value).decode(values)


def fill_is_value(node: ArrayNode) -> bool:
    """Tell whether readers take what a chunk holds that is not stored for values, not for missing ones.

    So it is in Zarr v3 and HDF5, whose writers leave out chunks of nothing but the fill value, unless an
    attribute says that the fill value stands for no data.
    """
    if node.fill_value is None or node.fill_marks or node.dtype is None:
        return False
    if node.dtype.kind not in "iufc":
        return True
    return not Packing.of(node).missing_mask(np.asarray(node.fill_value).astype(node.dtype.newbyteorder("=")))


def _stored_type(unsigned: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    word = str(unsigned).lower()
    if dtype.kind == "i" and word == "true":
        return np.dtype(dtype.str.replace("i", "u"))
    if dtype.kind == "u" and word == "false":
        return np.dtype(dtype.str.replace("u", "i"))
    return dtype


def _missing(
    attributes: Mapping[str, Any],
    dtype: np.dtype[Any],
    stored: np.dtype[Any],
    mark: Any,
    ignored: list[str],
) -> tuple[Any, ...]:
    """Return the values that mean *no value*, without NaN, which always does."""
    fills = _values_of("_FillValue", attributes, dtype, stored, ignored)
    fills = fills if mark is None else [mark]
    found = fills + _values_of("missing_value", attributes, dtype, stored, ignored)
    return tuple(dict.fromkeys(value for value in found if value == value))


def _values_of(
    name: str, attributes: Mapping[str, Any], dtype: np.dtype[Any], stored: np.dtype[Any], ignored: list[str]
) -> list[Any]:
    """Return the first values in an attribute that are values of the array's type."""
    written = attributes.get(name)
    items = written if isinstance(written, list) else [] if written is None else [written]
    found = []
    if len(items) > _MOST_MISSING:
        # Each costs a comparison with all elements.
        ignored.append(name)
    for item in items[:_MOST_MISSING]:
        number = parsed_number(item)
        value = None if number is None else _in_type(number, dtype, stored)
        if value is not None:
            found.append(value)
        elif number is None or number == number:
            ignored.append(name)
    return found


def numbers_of(written: Any, dtype: np.dtype[Any], stored: np.dtype[Any]) -> list[Any]:
    """Return the values in an attribute as scalars of `stored`; None for what is no value of the type."""
    items = written if isinstance(written, list) else [] if written is None else [written]
    numbers = (parsed_number(item) for item in items)
    return [
        None if number is None or number != number else _in_type(number, dtype, stored) for number in numbers
    ]


def parsed_number(item: Any) -> Any:
    """Return a number from JSON: itself, its text, or the base64 of a double as xarray writes it in v3.

    None of what is no number.
    """
    if isinstance(item, bool):
        return None
    if isinstance(item, int):
        return item if abs(item) < _LARGEST else None
    if isinstance(item, float):
        return item
    if not isinstance(item, str) or len(item) > _UNIT_LENGTH:
        return None
    word = item.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    try:
        return parsed_number(int(word)) if word.lstrip("+-").isdecimal() else float(word)
    except ValueError:
        pass
    try:
        data = base64.b64decode(item, validate=True)
    except (binascii.Error, ValueError):
        return None
    return struct.unpack("<d", data)[0] if len(data) == 8 else None


def _in_type(value: Any, dtype: np.dtype[Any], stored: np.dtype[Any]) -> Any:
    """Return `value` as a scalar of `stored`; None where it is no value of the array's type."""
    if value is None:
        return None
    if stored.kind not in "iu":
        with np.errstate(over="ignore"):
            return np.array(value, stored)[()]
    if not _finite(value) or value != int(value):
        return None
    value = int(value)
    for kind in (stored, dtype):
        limits = np.iinfo(kind)
        if limits.min <= value <= limits.max:
            # The same bits, read with the sign that is meant.
            return np.array(value, kind).view(stored)[()]
    return None


def _finite(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _bounds(attributes: Mapping[str, Any], ignored: list[str]) -> tuple[Any, Any]:
    """Return the smallest and the largest valid value; None for no bound."""
    written = attributes.get("valid_range")
    if written is not None:
        pair = [parsed_number(item) for item in written] if isinstance(written, list) else []
        if len(pair) == 2 and None not in pair:
            return pair[0], pair[1]
        ignored.append("valid_range")
    return _bound(attributes, "valid_min", ignored), _bound(attributes, "valid_max", ignored)


def _bound(attributes: Mapping[str, Any], name: str, ignored: list[str]) -> Any:
    written = attributes.get(name)
    if written is None:
        return None
    number = parsed_number(_only(written))
    if number is None:
        ignored.append(name)
    return number


def _number(attributes: Mapping[str, Any], name: str, default: float, ignored: list[str]) -> float:
    written = attributes.get(name)
    if written is None:
        return default
    number = parsed_number(_only(written))
    if not _finite(number):
        ignored.append(name)
        return default
    return float(number)


def _only(written: Any) -> Any:
    """Return the item of a list of one, which some writers make of a number."""
    return written[0] if isinstance(written, list) and len(written) == 1 else written


@dataclass(frozen=True, slots=True)
class TimeUnits:
    """A unit of time since a date in a calendar.

    Attributes
    ----------
    unit
        ``days``, ``hours``...
    since
        The date as it is written.
    calendar
        A name of the CF conventions; ``standard`` where none is given.
    """

    unit: str
    since: str
    calendar: str = "standard"

    @classmethod
    def from_attributes(cls, attributes: Mapping[str, Any]) -> TimeUnits | None:
        """Return what `units` and `calendar` say, or None where the array holds no times."""
        units, calendar = attributes.get("units"), attributes.get("calendar")
        if not isinstance(units, str) or len(units) > _UNIT_LENGTH:
            return None
        match = _TIME_UNITS.match(units)
        if match is None or match[1].lower() not in _TIME_NAMES:
            return None
        named = isinstance(calendar, str) and 0 < len(calendar) <= _UNIT_LENGTH
        return cls(_TIME_NAMES[match[1].lower()], match[2], str(calendar).lower() if named else "standard")

    def __str__(self) -> str:
        return f"{self.unit} since {self.since}"

    def dates(self, values: npt.NDArray[Any]) -> npt.NDArray[np.object_]:
        """Return the date of each number; None where it is not finite.

        They are all `datetime.datetime`, or all `cftime.datetime`.

        Raises
        ------
        RefbrowserError
            `META`: the calendar or date is not known, or a date is beyond what the calendar can hold. Also
            where dates take cftime, which is not installed.
        """
        numbers = np.asarray(values)
        result = np.full(numbers.shape, None, object)
        there = np.isfinite(numbers)
        if not there.any():
            return result
        try:
            result[there] = dates_of(numbers[there], self.unit, self.since, self.calendar)
        except (ValueError, OverflowError, TypeError) as error:
            raise RefbrowserError(
                ErrorKind.META,
                f"{quoted(self)} in the calendar {quoted(self.calendar)} gives no dates: {quoted(error)}",
            ) from None
        return result

    def texts(self, values: npt.NDArray[Any]) -> list[str]:
        """Return the date of each number (flattened) as ISO 8601 text; empty where it is not finite.

        Midnights are written without a time where all are midnights. Raises as `dates` does.
        """
        dates = self.dates(values).reshape(-1)
        whole_days = all(map(_is_midnight, dates))
        return ["" if date is None else _iso(date, whole_days) for date in dates]


def _iso(date: Any, is_day: bool) -> str:
    day = f"{date.year:04d}-{date.month:02d}-{date.day:02d}"
    return day if is_day else f"{day}T{date.hour:02d}:{date.minute:02d}:{date.second:02d}"


def _is_midnight(date: Any) -> bool:
    return date is None or (date.hour, date.minute, date.second, date.microsecond) == (0, 0, 0, 0)


#: More meanings than this are not taken.
MEANINGS_MOST = 1_000
_MEANINGS_LENGTH = 100_000


@dataclass(frozen=True, slots=True)
class Flag:
    """One condition and its name.

    It holds for a stored value where ``value & mask == value_`` (`value` given) or ``value & mask != 0``;
    without a mask, where the value is the same.
    """

    meaning: str
    value: Any = None
    mask: int | None = None

    def holds(self, stored: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return where the condition holds; `stored` has the sign that it is meant with."""
        if self.mask is None:
            return np.asarray(stored == self.value)
        bits = stored & np.asarray(self.mask, stored.dtype)
        return np.asarray(bits != 0 if self.value is None else bits == self.value)


@dataclass(frozen=True, slots=True)
class FlagSet:
    """The flags of one array.

    Attributes
    ----------
    exclusive
        At most one of them holds for a value: they are names of values, not of bits.
    """

    flags: tuple[Flag, ...]
    exclusive: bool

    @classmethod
    def from_attributes(
        cls, attributes: Mapping[str, Any], dtype: np.dtype[Any], packing: Packing
    ) -> FlagSet | None:
        """Return the flags that the attributes of an array tell, or None where they tell none.

        Where there are more values than meanings (or fewer), those without a partner are left out.
        """
        meanings = _meanings(attributes.get("flag_meanings"))
        if not meanings or dtype.kind not in "iuf" or packing.is_scaled:
            return None
        values = numbers_of(attributes.get("flag_values"), dtype, packing.stored)
        masks = numbers_of(attributes.get("flag_masks"), dtype, packing.stored) if dtype.kind in "iu" else []
        if masks:
            pairs = zip(meanings, masks, values or [None] * len(masks), strict=False)
            flags = tuple(
                Flag(meaning, None if value is None else int(value), int(mask))
                for meaning, mask, value in pairs
                if mask is not None and (value is not None or not values)
            )
            exclusive = bool(values) and len({flag.mask for flag in flags}) == 1
        else:
            pairs_of_values = zip(meanings, values, strict=False)
            flags = tuple(Flag(meaning, value) for meaning, value in pairs_of_values if value is not None)
            exclusive = True
        return cls(flags, exclusive) if flags else None

    @classmethod
    def from_names(cls, names: Mapping[int, str]) -> FlagSet | None:
        """Return the values of an enumeration as flags, or None where it has none."""
        flags = tuple(Flag(name, value) for value, name in islice(names.items(), MEANINGS_MOST))
        return cls(flags, True) if flags else None

    def held(self, stored: Any) -> tuple[Flag, ...]:
        """Return the flags that hold for one stored value."""
        one = np.asarray(stored)
        return tuple(flag for flag in self.flags if bool(flag.holds(one)))

    def numbers(self, stored: npt.NDArray[Any]) -> npt.NDArray[np.int16]:
        """Return the number of the first flag that holds for each value, -1 where none does."""
        if stored.dtype.kind in "iu" and stored.dtype.itemsize <= 2:
            unsigned = stored.view(f"u{stored.dtype.itemsize}")
            found: npt.NDArray[np.int16] = _lookup(self, stored.dtype.newbyteorder("="))[unsigned]
            return found
        return self._compared(stored)

    def _compared(self, stored: npt.NDArray[Any]) -> npt.NDArray[np.int16]:
        result = np.full(stored.shape, -1, np.int16)
        for number in range(len(self.flags) - 1, -1, -1):
            result[self.flags[number].holds(stored)] = number
        return result


@lru_cache(maxsize=8)
def _lookup(flags: FlagSet, dtype: np.dtype[Any]) -> npt.NDArray[np.int16]:
    """Return the number of the first flag of every value that a small type has, by its bits."""
    every = np.arange(1 << (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}").view(dtype)
    return flags._compared(every)


def _meanings(written: Any) -> list[str]:
    """Return the names in `flag_meanings`: words between blanks, or a list of them."""
    if isinstance(written, str) and len(written) <= _MEANINGS_LENGTH:
        return written.replace(",", " ").split()[:MEANINGS_MOST]
    if isinstance(written, list):
        return [str(item)[:200] for item in written[:MEANINGS_MOST]]
    return []


def named_flags(names: Mapping[int, str]) -> dict[str, Any]:
    """Return the attributes that name values; blanks in names become underscores."""
    words = ("_".join(name.split()) or "_" for name in names.values())
    return {"flag_values": list(names), "flag_meanings": " ".join(words)}
