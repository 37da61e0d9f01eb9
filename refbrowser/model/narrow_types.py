"""Types of a few bits that numpy has not (zarr-extensions, data-types): read as wider ones, with all values.

Their numbers are those of the package ml_dtypes. An array of one has the type of numpy that holds all of its
values, which knows how they are stored: so they are written again.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.loading import to_install
from refbrowser.model.fill_values import parse_fill_value

_PACKAGE = "ml_dtypes"


@dataclass(frozen=True, slots=True)
class NarrowType:
    """A type whose values a wider one of numpy has, too.

    Attributes
    ----------
    name
        In metadata of Zarr v3, and in ml_dtypes.
    wide
        The type of numpy.
    bits
        Of a value; it is stored in whole bytes, whose other bits mean nothing.
    """

    name: str
    wide: str
    bits: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of decoded elements, which knows how they are stored."""
        return np.dtype(self.wide, metadata={"stored": self.name})

    @property
    def stored(self) -> np.dtype[Any]:
        """The type of the whole numbers as which elements are stored."""
        return np.dtype("<u2" if self.bits > 8 else "|u1" if self.is_float else self.wide)

    @property
    def is_float(self) -> bool:
        """Whether values have fractions."""
        return self.wide == "<f4"

    def narrowed(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return values, as nearly as the type has them, as whole numbers."""
        with np.errstate(all="ignore"):
            return values.astype(self._type).view(self.stored)

    def widened(self, stored: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the values of whole numbers."""
        if self.bits < 8:
            stored = stored & stored.dtype.type((1 << self.bits) - 1)
        if self.is_float:
            with np.errstate(all="ignore"):
                return stored.view(self._type).astype(self.wide)
        if self.stored.kind == "u":
            return stored
        # The highest of its bits is the sign.
        spare = np.int8(8 - self.bits)
        return np.right_shift(np.left_shift(stored, spare), spare)

    def fill_value(self, value: Any) -> Any:
        """Return a fill value as metadata spells it, decoded; None where there is none.

        Raises
        ------
        RefbrowserError
            `META`: the type has no such value.
        """
        if self.is_float and isinstance(value, str) and value.startswith("0x"):
            return self.widened(self._in_hex(value))[0]
        wide = parse_fill_value(value, np.dtype(self.wide))
        if wide is None:
            return None
        held = self.widened(self.narrowed(np.full(1, wide)))[0]
        # Floats are rounded; what is none of their numbers is not.
        is_same = (
            np.isfinite(held)
            if np.isfinite(wide) and self.is_float
            else np.array_equal(held, wide, equal_nan=self.is_float)
        )
        if not is_same:
            raise self._no_value(value)
        return held

    def _in_hex(self, value: str) -> npt.NDArray[Any]:
        """Return the whole number whose bytes, the most significant first, are in hex."""
        try:
            data = bytes.fromhex(value[2:])
        except ValueError:
            data = b""
        if len(data) != self.stored.itemsize:
            raise self._no_value(value)
        return np.frombuffer(data, self.stored.newbyteorder(">")).astype(self.stored)

    def _no_value(self, value: Any) -> RefbrowserError:
        return RefbrowserError(
            ErrorKind.META, f"the fill value {quoted(value)} does not fit the type {quoted(self.name)}"
        )

    @property
    def _type(self) -> np.dtype[Any]:
        import ml_dtypes  # Hardly any array needs it.

        return np.dtype(getattr(ml_dtypes, self.name))


_EIGHT = ("e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")
_NARROW = {
    each.name: each
    for each in (
        *(NarrowType(f"int{bits}", "|i1", bits) for bits in (2, 4)),
        *(NarrowType(f"uint{bits}", "|u1", bits) for bits in (2, 4)),
        NarrowType("bfloat16", "<f4", 16),
        *(NarrowType(f"float8_{form}", "<f4", 8) for form in _EIGHT),
        *(NarrowType(f"float6_{form}", "<f4", 6) for form in ("e2m3fn", "e3m2fn")),
        NarrowType("float4_e2m1fn", "<f4", 4),
    )
}


def narrow_type(name: str) -> NarrowType | None:
    """Return the type of a name in metadata of Zarr v3; None where it is another one.

    Raises
    ------
    RefbrowserError
        `META`: it needs a package that is not installed.
    """
    found = _NARROW.get(name)
    if found is not None and find_spec(_PACKAGE) is None:
        raise RefbrowserError(
            ErrorKind.META,
            f"the data type {quoted(name)} needs the package {_PACKAGE}, which is not installed",
            advice=to_install(_PACKAGE),
        )
    return found


def stored_type(dtype: np.dtype[Any] | None) -> NarrowType | None:
    """Return the type as which elements of a type of numpy are stored; None where it is that itself."""
    name = None if dtype is None or dtype.metadata is None else dtype.metadata.get("stored")
    return None if name is None else _NARROW.get(name)
