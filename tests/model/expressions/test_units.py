"""Units as they are written: other spellings of one unit are the same, and products have theirs."""

from __future__ import annotations

import pytest

from refbrowser.model.expressions.functions import UnitRule, unit_after
from refbrowser.model.expressions.units import Unit


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("m s-1", "m/s"),
        ("m s-1", "m s**-1"),
        ("m s-1", "m.s^-1"),
        ("kg m-2 s-1", "kg/m2/s"),
        ("m**2 s**-2", "m2 s-2"),
        ("K", "kelvin"),
        ("degC", "degrees_Celsius"),
        ("degrees_north", "degree"),
        ("", "1"),
        ("s s-1", "1"),
    ],
)
def test_spellings_of_one_unit(one: str, other: str) -> None:
    assert Unit.parsed(one) == Unit.parsed(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("K", "degC"),
        ("m", "m2"),
        ("m/s", "m s"),
        ("days since 2000-01-01", "days since 2001-01-01"),
        ("x y!", "x y?"),
    ],
)
def test_other_units(one: str, other: str) -> None:
    assert Unit.parsed(one) != Unit.parsed(other)


def test_products_and_powers() -> None:
    speed = Unit.parsed("m s-1")
    assert str(speed.times(Unit.parsed("s"))) == "m"
    assert str(speed.over(speed)) == ""
    assert speed.power(2) == Unit.parsed("m2 s-2")
    assert speed.power(2).power(0.5) == speed
    assert str(Unit.parsed("m").power(0.5)) == "m^(1/2)"
    assert speed.power(0).is_number


def test_functions_have_units() -> None:
    assert unit_after(UnitRule.ROOT, Unit.parsed("m2 s-2")) == Unit.parsed("m/s")
    assert unit_after(UnitRule.SQUARE, Unit.parsed("K")) == Unit.parsed("K2")
    assert unit_after(UnitRule.NONE, Unit.parsed("K")) == Unit()
    assert unit_after(UnitRule.SAME, None) is None
    assert unit_after(UnitRule.TO_ANGLE, None) == Unit.parsed("radians")
