"""The functions of expressions: each element for itself, or over whole dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np

from refbrowser.model.expressions.units import Unit


class UnitRule(Enum):
    """What a function makes of the units of its arguments."""

    SAME = auto()
    ROOT = auto()
    NONE = auto()
    ANGLE = auto()
    TO_ANGLE = auto()
    TO_DEGREES = auto()
    TO_RADIANS = auto()
    SQUARE = auto()


@dataclass(frozen=True, slots=True)
class ElementFunction:
    """A function of elements.

    Attributes
    ----------
    apply
        Of as many arrays as it has arguments, which are broadcast.
    arguments
        How many.
    units
        What its units are.
    """

    apply: Callable[..., Any]
    arguments: int = 1
    units: UnitRule = UnitRule.SAME


def _where(condition: Any, one: Any, other: Any) -> Any:
    """Return what `numpy.where` does; floats are chosen by their bits.

    Where a condition holds here and there, processors guess wrongly which one comes next: that takes
    five times as long.
    """
    dtype = np.result_type(one, other)
    if dtype.kind != "f" or dtype.itemsize > 8:
        return np.where(condition, one, other)
    bits = np.dtype(f"i{dtype.itemsize}")
    first, second = (np.asarray(each, dtype.newbyteorder("=")).view(bits) for each in (one, other))
    # -1 has all bits, in each width of integers.
    held = np.negative(np.asarray(condition, bool).view(np.int8))
    chosen = np.bitwise_and(np.bitwise_xor(first, second), held)
    return np.bitwise_xor(chosen, second, out=chosen if isinstance(chosen, np.ndarray) else None).view(dtype)


#: By the names that numpy has for them.
ELEMENT_FUNCTIONS: Mapping[str, ElementFunction] = {
    "abs": ElementFunction(np.abs),
    "sign": ElementFunction(np.sign, units=UnitRule.NONE),
    "floor": ElementFunction(np.floor),
    "ceil": ElementFunction(np.ceil),
    "round": ElementFunction(np.rint),
    "sqrt": ElementFunction(np.sqrt, units=UnitRule.ROOT),
    "exp": ElementFunction(np.exp, units=UnitRule.NONE),
    "log": ElementFunction(np.log, units=UnitRule.NONE),
    "log10": ElementFunction(np.log10, units=UnitRule.NONE),
    "log2": ElementFunction(np.log2, units=UnitRule.NONE),
    "sin": ElementFunction(np.sin, units=UnitRule.ANGLE),
    "cos": ElementFunction(np.cos, units=UnitRule.ANGLE),
    "tan": ElementFunction(np.tan, units=UnitRule.ANGLE),
    "arcsin": ElementFunction(np.arcsin, units=UnitRule.TO_ANGLE),
    "arccos": ElementFunction(np.arccos, units=UnitRule.TO_ANGLE),
    "arctan": ElementFunction(np.arctan, units=UnitRule.TO_ANGLE),
    "arctan2": ElementFunction(np.arctan2, 2, UnitRule.TO_ANGLE),
    "deg2rad": ElementFunction(np.deg2rad, units=UnitRule.TO_RADIANS),
    "rad2deg": ElementFunction(np.rad2deg, units=UnitRule.TO_DEGREES),
    "hypot": ElementFunction(np.hypot, 2),
    "minimum": ElementFunction(np.minimum, 2),
    "maximum": ElementFunction(np.maximum, 2),
    "real": ElementFunction(np.real),
    "imag": ElementFunction(np.imag),
    "angle": ElementFunction(np.angle, units=UnitRule.TO_ANGLE),
    "isnan": ElementFunction(np.isnan, units=UnitRule.NONE),
    "where": ElementFunction(_where, 3),
}

#: Over dimensions; missing values do not count.
REDUCTIONS: Mapping[str, UnitRule] = {
    "mean": UnitRule.SAME,
    "sum": UnitRule.SAME,
    "min": UnitRule.SAME,
    "max": UnitRule.SAME,
    "std": UnitRule.SAME,
    "var": UnitRule.SQUARE,
    "count": UnitRule.NONE,
}

#: Names of numbers.
CONSTANTS: Mapping[str, float] = {"pi": np.pi, "e": np.e, "nan": np.nan, "inf": np.inf}

_RADIANS = Unit.parsed("radian")
_DEGREES = Unit.parsed("degree")


def unit_after(rule: UnitRule, unit: Unit | None) -> Unit | None:
    """Return the unit of what a function gives; None where that of its argument is not known.

    Angles are radians, as numpy has them.
    """
    match rule:
        case UnitRule.SAME:
            return unit
        case UnitRule.ROOT:
            return None if unit is None else unit.power(0.5)
        case UnitRule.SQUARE:
            return None if unit is None else unit.power(2)
        case UnitRule.TO_ANGLE | UnitRule.TO_RADIANS:
            return _RADIANS
        case UnitRule.TO_DEGREES:
            return _DEGREES
        case _:
            return Unit()
