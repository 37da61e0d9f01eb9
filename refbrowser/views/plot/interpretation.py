"""What stored elements mean: numbers to draw, text to read, exact text, with or without the CF coding."""

from __future__ import annotations

from cmath import phase
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import NotInstalledError, RefbrowserError
from refbrowser.model.cf import DEFAULT_FILLS, Flag, FlagSet, Packing, TimeUnits, duration_unit
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.numbers import DateScale, DurationScale, value_text
from refbrowser.views.plot.coordinates import Coordinate, attribute_text
from refbrowser.views.words import one_line

_OBJECT = np.dtype(object)
#: Kinds of numpy types that a plot can show.
NUMBER_KINDS = "biufcmM"


class Interpretation:
    """How one array's elements are shown.

    Parameters
    ----------
    decoded
        Apply the CF conventions (scale, offset, missing values, times, flags); else elements are shown as
        stored.
    """

    def __init__(self, node: ArrayNode, decoded: bool) -> None:
        self.node = node
        self.decoded = decoded
        dtype = np.dtype("f8") if node.dtype is None else node.dtype.newbyteorder("=")
        coded = Packing(dtype) if node.dtype is None else Packing.of(node)
        flags = FlagSet.from_attributes(node.attributes, dtype, coded) or FlagSet.from_names(node.type.names)
        units = TimeUnits.from_attributes(node.attributes) if self.is_number else None
        plain = replace(Packing.from_attributes({}, dtype), ignored=coded.ignored)
        #: Whether decoding makes a difference, so that it can be switched off.
        self.has_coding = coded != plain or flags is not None or units is not None
        self.packing = coded if decoded else Packing(dtype)
        #: What values or bits stand for, or None.
        self.flags = flags if decoded else None
        if dtype.kind == "M":
            units = TimeUnits("seconds", "1970-01-01", "proleptic_gregorian")
        elif not decoded:
            units = None
        #: How the numbers become dates, for an array of times.
        self.dates = None if units is None else DateScale(units)
        self._is_scaled = coded.is_scaled

    @property
    def is_number(self) -> bool:
        """Whether a line or an image can show the elements."""
        return self.node.dtype is not None and self.node.dtype.kind in NUMBER_KINDS

    @property
    def units(self) -> str:
        """Of the numbers; empty where there are none, or the numbers are dates, flags or packed."""
        if self.dates is not None or self.node.dtype is None or self.flags is not None:
            return ""
        if self.node.dtype.kind == "m":
            return "s"
        if not self.decoded and self._is_scaled:
            return ""
        units = attribute_text(self.node.attributes, "units")
        # A pure number.
        return "" if units == "1" else units

    @property
    def named_values(self) -> list[tuple[float, str]]:
        """Return the numbers that are flags, with their meanings; none where flags are bits."""
        flags = () if self.flags is None else self.flags.flags
        if any(flag.mask is not None for flag in flags):
            return []
        return [(float(flag.value), flag_title(flag)) for flag in flags if flag.value is not None]

    def durations(self, numbers: npt.NDArray[Any]) -> DurationScale | None:
        """Return in which unit numbers are shown that are durations; None for that in which they are."""
        is_shown = self.decoded and self.is_number and self.dates is None
        return DurationScale.of(duration_unit(self.node.attributes), numbers) if is_shown else None

    def numbers(self, raw: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return elements as float32 or float64, NaN where there is no value.

        Complex numbers give their magnitude, dates and time spans seconds.
        """
        if raw.dtype.kind in "mM":
            micros = raw.astype(f"{raw.dtype.kind}8[us]").astype(np.int64)
            return np.where(np.isnat(raw), np.nan, micros / 1e6)
        if raw.dtype.kind == "b":
            return raw.astype(np.float32)
        decoded = self.packing.decode(raw)
        return (
            np.abs(decoded)
            if decoded.dtype.kind == "c"
            else decoded.astype(_float(decoded.dtype), copy=False)
        )

    def text(self, raw: Any) -> str:
        """Return one element as text without units, or why it is no value."""
        if _kind(raw) not in "iufc":
            return value_text(raw)
        if not self.is_missing(raw):
            return value_text(
                self.packing.decode(np.asarray(raw))[()] if self.packing.is_scaled else self.stored(raw)[()]
            )
        stored = self.stored(raw)[()]
        if stored != stored:
            return "no value (NaN)"
        if self.packing.default_fill is not None and stored == self.packing.default_fill:
            return f"no value ({value_text(stored)}, netCDF's default fill: never written)"
        if any(stored == fill for fill in self.packing.missing):
            return f"no value (fill value {value_text(stored)})"
        return f"no value (stored {value_text(stored)} is not valid)"

    def text_with_units(self, raw: Any) -> str:
        """Return one element as text with its units, where it has a value."""
        if self.is_missing(raw) or _kind(raw) in "mM":
            return self.text(raw)
        if self.dates is not None:
            return self.dates.text(float(self.numbers(np.asarray(raw)))) or self.text(raw)
        if _kind(raw) in "iuf":
            number = self.numbers(np.asarray(raw))
            if (scale := self.durations(number)) is not None:
                return scale.text(float(number))
        text = self.text(raw)
        if self.flags is not None:
            return f"{text}: {flags_text(self.flags.held(self.stored(raw)))}"
        told = f"{text} {self.units}" if self.units else text
        if _kind(raw) != "c":
            return told
        whole = complex(self.packing.decode(np.asarray(raw))[()])
        return f"{told} (magnitude {value_text(abs(whole))}, phase {value_text(phase(whole))} rad)"

    def is_missing(self, raw: Any) -> bool:
        """Whether one element stands for no value."""
        return _kind(raw) in "iufc" and bool(self.packing.missing_mask(np.asarray(raw)))

    def never_written(self, raw: npt.NDArray[Any]) -> bool:
        """Whether all elements are what netCDF fills new variables with."""
        default = DEFAULT_FILLS.get(raw.dtype.str[1:])
        if default is None or not raw.size:
            return False
        fill = raw.dtype.type(default)
        # Nearly always the first one tells.
        return bool(raw[(0,) * raw.ndim] == fill) and bool((raw == fill).all())

    def stored(self, raw: Any) -> npt.NDArray[Any]:
        """Return elements with the sign that they are meant with."""
        return self.packing.seen(np.asarray(raw))


def flags_text(flags: Sequence[Flag]) -> str:
    """Return what the flags that hold for one value mean."""
    return " + ".join(flag_title(flag) for flag in flags) if flags else "no flag"


def flag_title(flag: Flag) -> str:
    """Return the meaning of a flag as people write it."""
    return one_line(flag.meaning.replace("_", " ").strip() or flag.meaning)


def _kind(raw: Any) -> str:
    """Return the kind of one element; texts, bytes and ragged rows are objects."""
    return "O" if isinstance(raw, np.ndarray) and raw.ndim else getattr(raw, "dtype", _OBJECT).kind


def _float(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    return np.float32 if dtype.itemsize <= 4 else np.float64


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
        except NotInstalledError:
            raise  # What a file holds does not depend on what is installed.
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
