"""How files store the numbers of an array, and these numbers stored as in another file, exactly or told."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.exporting.combining.properties import ArrayProperties
from refbrowser.model.cf import Packing
from refbrowser.model.fill_values import parse_fill_value

Values = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

#: Attributes that say what stored numbers mean.
PACKING = ("scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned")
#: Rounding of the arithmetic that decodes a number, in units of the last place of its largest term.
_ROUNDING = 4 * np.finfo(np.float64).eps
#: Integers up to this are exact as floats.
_WHOLE = 2**53


def stored_form(told: ArrayProperties, along: Collection[str]) -> tuple[Any, ...]:
    """Return what is the same for arrays whose chunks are stored alike, but for their sides `along` some."""
    axes = zip(told.dimensions, told.chunks, told.grid.dimensions, strict=True)
    sides = tuple(repr(axis) if told.edges else side for name, side, axis in axes if name not in along)
    packing = (told.attribute(name) for name in PACKING)
    return (
        *(told.form, told.dtype, told.byte_order, told.codecs, told.order, told.fill, bool(told.problem)),
        *map(repr, packing),
        sides,
    )


def is_numeric(told: ArrayProperties) -> bool:
    """Tell whether the elements of an array are real numbers."""
    return told.dtype[:1] in "iuf" and told.itemsize > 0


@dataclass(frozen=True, slots=True)
class StoredForm:
    """How numbers are stored: their type, what they mean, and which of them mean none.

    Attributes
    ----------
    missing
        Stored values that mean *no value*, without NaN.
    """

    dtype: np.dtype[Any]
    packing: Packing
    missing: tuple[Any, ...]

    @classmethod
    def of(cls, told: ArrayProperties) -> StoredForm:
        """Return that of an array of real numbers, in the byte order of this machine."""
        dtype = np.dtype(told.dtype)
        attributes = {name: json.loads(text) for name, text in told.attributes}
        fill = parse_fill_value(json.loads(told.fill), dtype)
        packing = Packing.from_attributes(attributes, dtype, fill, fill_marks=told.form == "zarr-v2")
        # The default of netCDF is a number to all other software.
        missing = (each for each in packing.missing if each != packing.default_fill)
        return cls(dtype, packing, tuple(missing))

    @property
    def scaling(self) -> tuple[float, float]:
        """Scale and offset."""
        return self.packing.scale, self.packing.offset

    def mask(self, seen: Values) -> npt.NDArray[np.bool_]:
        """Return where there is no value."""
        found = np.isnan(seen) if seen.dtype.kind == "f" else np.zeros(seen.shape, bool)
        for each in self.missing:
            found |= seen == each
        return found

    def physical(self, seen: Values) -> Floats:
        """Return what stored numbers mean, missing ones included."""
        scale, offset = self.scaling
        with np.errstate(over="ignore", invalid="ignore"):
            return seen.astype(np.float64) * scale + offset

    @property
    def mark(self) -> Any:
        """A stored value that means *no value*; None where there is none."""
        if self.missing:
            return self.missing[0]
        return np.nan if self.packing.stored.kind == "f" else None


@dataclass(slots=True)
class Restoring:
    """Stores numbers of one form in another, and knows what that did to them.

    Attributes
    ----------
    count
        Numbers that were stored.
    rounded
        How many of them changed, beyond the rounding of the arithmetic that decodes them.
    error
        By how much at most.
    lost
        How many have no place in the other form.
    extremes
        The lowest and the highest of these; NaN where what has no place means no value.
    """

    source: StoredForm
    target: StoredForm
    count: int = 0
    rounded: int = 0
    error: float = 0.0
    lost: int = 0
    extremes: tuple[float, float] | None = None

    def stored(self, values: Values) -> Values:
        """Return numbers as the other form stores them; those that have no place there are its zero."""
        seen = self.source.packing.seen(values.astype(self.source.dtype, copy=False))
        mask = self.source.mask(seen)
        found, fits = self._others(seen)
        found = found.astype(self.target.packing.stored, copy=False)
        # A number must not become what means none.
        fits &= ~self.target.mask(found)
        mark = self.target.mark
        self._lose(self.source.physical(seen), ~fits & ~mask)
        if mark is None:
            self._lose(np.full(seen.shape, np.nan), mask)
        else:
            found[mask] = mark
        found[~fits & ~mask] = 0
        self.count += values.size
        self.check(seen, found, fits & ~mask)
        return found.view(self.target.dtype) if found.dtype.itemsize == self.target.dtype.itemsize else found

    def check(self, seen: Values, found: Values, which: npt.NDArray[np.bool_]) -> None:
        """Count numbers that do not mean what they meant: `seen` in the source, and `found` in the target."""
        one, other = self.source.physical(seen[which]), self.target.physical(found[which])
        with np.errstate(invalid="ignore"):
            away = np.abs(one - other)
        away[one == other] = 0
        terms = np.abs(one) + abs(self.source.packing.offset) + abs(self.target.packing.offset)
        is_far = ~(away <= _ROUNDING * terms)
        self.rounded += int(np.count_nonzero(is_far))
        self.error = max(self.error, float(np.max(away[is_far], initial=0)))

    def _others(self, seen: Values) -> tuple[Values, npt.NDArray[np.bool_]]:
        """Return numbers in the other form, and which of them have a place there."""
        kind = self.target.packing.stored
        if self.source.scaling == self.target.scaling:
            return _cast(seen, kind)
        scale, offset = self.target.scaling
        exact = np.ones(seen.shape, bool)
        if seen.dtype.kind in "iu":
            exact = np.abs(seen.astype(np.float64)) <= _WHOLE
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            numbers = (self.source.physical(seen) - offset) / scale
        found, fits = _cast(numbers, kind)
        return found, fits & exact

    def _lose(self, numbers: Floats, which: npt.NDArray[np.bool_]) -> None:
        count = int(np.count_nonzero(which))
        if not count:
            return
        self.lost += count
        lost = numbers[which]
        low, high = self.extremes or (np.inf, -np.inf)
        self.extremes = min(low, float(lost.min())), max(high, float(lost.max()))


def _cast(numbers: Values, kind: np.dtype[Any]) -> tuple[Values, npt.NDArray[np.bool_]]:
    """Return numbers in another type, and which of them it can hold: floats may be rounded there."""
    if kind.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            found = numbers.astype(kind)
        return found, np.isfinite(found) | ~np.isfinite(numbers.astype(np.float64))
    limits = np.iinfo(kind)
    if numbers.dtype.kind in "iu":
        low, high = np.iinfo(numbers.dtype).min, np.iinfo(numbers.dtype).max
        fits = np.ones(numbers.shape, bool)
        if low < limits.min:
            fits &= numbers >= limits.min
        if high > limits.max:
            fits &= numbers <= limits.max
    else:
        with np.errstate(invalid="ignore"):
            # The largest integers are no floats.
            numbers = np.rint(numbers)
            fits = (numbers >= float(limits.min)) & (numbers < float(limits.max) + 1)
    return np.where(fits, numbers, 0).astype(kind), fits
