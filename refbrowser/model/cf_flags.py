"""CF flags: what single values, or single bits, of an array stand for (CF conventions, section 3.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.model.cf import Packing, numbers_of

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
