"""Values in other units, as cf-units has them; differences move no zero."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import NotInstalledError, RefbrowserError
from refbrowser.model.expressions import conversions
from refbrowser.model.expressions.conversions import conversion, is_difference, offered_units

cf_units = pytest.importorskip("cf_units")

_PAIRS = [
    ("K", "degC"), ("degC", "K"), ("K", "degF"), ("Pa", "hPa"), ("m s-1", "km h-1"), ("m/s", "knot"),
    ("kg m-2 s-1", "kg m-2 day-1"), ("m s-1", "mm day-1"), ("1e-3", "1"), ("degrees_north", "radian"),
    ("m**2 s**-2", "m2/s2"), ("kg kg-1", "g kg-1"), ("W m-2", "J m-2 day-1"), ("days", "hours"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "target"), _PAIRS)
@given(values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_values_become_what_cf_units_makes_of_them(source: str, target: str, values: list[float]) -> None:
    found = conversion(source, target)
    expected = cf_units.Unit(source).convert(np.array(values), cf_units.Unit(target))
    np.testing.assert_allclose(
        np.array(values) * found.scale + found.offset, expected, rtol=1e-12, atol=1e-9 * abs(found.scale)
    )


def test_factors_are_as_they_are_written() -> None:
    assert conversion("K", "degF").scale == 1.8
    assert conversion("m s-1", "km h-1").scale == 3.6
    assert conversion("%", "1").scale == 0.01
    assert conversion("°C", "K").offset == 273.15


def test_differences_move_no_zero() -> None:
    assert conversion("K", "degF", is_difference=True).offset == 0
    assert is_difference({"units_metadata": "temperature: difference"}, "t")
    assert is_difference({"standard_name": "air_temperature_anomaly"}, "t")
    assert is_difference({}, "t2m_difference")
    assert not is_difference({"long_name": "2 m temperature"}, "t2m")


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        ("K", "m", "'K' does not become 'm': they measure different things"),
        ("nonsense", "K", "UDUNITS does not know the units 'nonsense'"),
        ("", "K", "UDUNITS does not know the units ''"),
        ("days since 2000-01-01", "days", "does not know the units 'days since"),
        ("lg(re 1 mW)", "W", "by no factor"),
        ("K" * 500, "degC", "does not know"),
    ],
)
def test_what_does_not_become_others_is_told(source: str, target: str, words: str) -> None:
    with pytest.raises(RefbrowserError) as caught:
        conversion(source, target)
    assert words in str(caught.value)


def test_all_that_are_offered_are_known() -> None:
    for units in conversions._OFFERED:
        for offered in offered_units(units):
            conversion(units, offered)
    assert "degC" in offered_units("K")
    assert "K" not in offered_units("K")


def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cf_units", None)
    conversions._cf_units.cache_clear()
    conversions._unit.cache_clear()
    with pytest.raises(NotInstalledError) as caught:
        conversion("K", "degC")
    assert "cf-units" in str(caught.value)
    conversions._cf_units.cache_clear()


def test_what_udunits_cannot_read_is_not_written_to_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RefbrowserError):
        conversion("1e400 m", "m")
    assert capfd.readouterr().err == ""
