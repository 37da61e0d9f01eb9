"""Units as they are written, so that unlike ones are not added: their products and powers, no conversion.

The forms are those of UDUNITS (``kg m-2 s-1``, ``m/s``, ``W m**-2``, ``K^2``); any other text is one unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

#: Longer texts are one unit.
_LONGEST = 200
_POWER = re.compile(r"([^\W\d_%°µ][^\W\d]*|%|°[A-Za-z]*|µ[A-Za-z]+)(?:\*\*|\^)?([+-]?\d{1,2})?\Z")
_ONE = {"", "1", "dimensionless", "unitless"}
_SPELLINGS = {
    "K": "kelvin degK degrees_kelvin",
    "degC": "celsius Celsius degree_Celsius degrees_Celsius degrees_celsius degree_C degreeC °C",
    "m": "metre meter metres meters",
    "s": "second seconds sec",
    "minute": "minutes min",
    "hour": "hours hr h",
    "day": "days d",
    "kg": "kilogram kilograms",
    "Pa": "pascal pascals Pascal",
    "W": "watt watts",
    "J": "joule joules",
    "%": "percent",
    "radian": "radians rad",
    "degree": "degrees deg ° degree_north degrees_north degree_N degrees_N "
    "degree_east degrees_east degree_E degrees_E",
}
_SYNONYMS = {spelling: name for name, spellings in _SPELLINGS.items() for spelling in spellings.split()}


@dataclass(frozen=True, slots=True)
class Unit:
    """A product of powers of units; that of nothing is a plain number.

    Attributes
    ----------
    powers
        By the name of each unit, never zero.
    """

    powers: Mapping[str, Fraction] = field(default_factory=dict)

    @classmethod
    def parsed(cls, text: str) -> Unit:
        """Return the unit that a text says; one that is not understood is a unit of its own."""
        text = text.strip()
        if text in _ONE:
            return cls()
        if len(text) > _LONGEST or " since " in text:
            return cls({text: Fraction(1)})
        found = cls()
        over = False
        for part in re.findall(r"/|[^\s/.*·]+(?:\*\*[+-]?\d+)?", text):
            if part == "/":
                over = True
                continue
            if part in _ONE:
                continue
            match = _POWER.match(part)
            if match is None:
                return cls({text: Fraction(1)})
            unit = cls({_SYNONYMS.get(match[1], match[1]): Fraction(1)}).power(int(match[2] or 1))
            found = found.over(unit) if over else found.times(unit)
            over = False
        return found

    @property
    def is_number(self) -> bool:
        """Whether it is that of a plain number."""
        return not self.powers

    @property
    def is_degrees(self) -> bool:
        """Whether it is that of an angle in degrees."""
        return dict(self.powers) == {"degree": 1}

    def times(self, other: Unit) -> Unit:
        """Return the unit of a product."""
        sums = dict(self.powers)
        for name, power in other.powers.items():
            sums[name] = sums.get(name, Fraction(0)) + power
        return Unit({name: power for name, power in sums.items() if power})

    def over(self, other: Unit) -> Unit:
        """Return the unit of a quotient."""
        return self.times(other.power(-1))

    def power(self, exponent: float) -> Unit:
        """Return the unit of a power."""
        by = Fraction(exponent).limit_denominator(12)
        return Unit({name: power * by for name, power in self.powers.items() if by})

    def __str__(self) -> str:
        return " ".join(
            name if power == 1 else f"{name}{power}" if power.denominator == 1 else f"{name}^({power})"
            for name, power in self.powers.items()
        )
