from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from view_arrays import node

from refbrowser.views.plot.interpretation import Interpretation

PACKED = node((3,), dtype=">i2", units="K", scale_factor=0.5, add_offset=100.0, _FillValue=-99, valid_max=50)


def test_packed_numbers_are_decoded_or_not() -> None:
    raw = np.array([10, -99, 60], ">i2")
    shown = Interpretation(PACKED, decoded=True)
    assert shown.has_coding
    np.testing.assert_array_equal(shown.numbers(raw), [105, np.nan, np.nan])
    assert shown.text_with_units(raw[0]) == "105 K"
    assert shown.text_with_units(raw[1]) == "no value (fill value −99)"
    assert shown.text_with_units(raw[2]) == "no value (stored 60 is not valid)"
    stored = Interpretation(PACKED, decoded=False)
    assert stored.has_coding
    np.testing.assert_array_equal(stored.numbers(raw), [10, -99, 60])
    assert stored.text_with_units(raw[0]) == "10"
    assert stored.units == ""


def test_plain_numbers_have_nothing_to_decode() -> None:
    plain = node((3,), units="m")
    assert not Interpretation(plain, decoded=True).has_coding
    assert Interpretation(plain, decoded=False).units == "m"
    assert Interpretation(plain, decoded=True).text(np.float32("nan")) == "no value (NaN)"


def test_large_integers_are_told_exactly() -> None:
    exact = np.int64(2**60 + 1)
    assert Interpretation(node((1,), dtype="<i8"), decoded=True).text(exact) == str(2**60 + 1)


def test_unsigned_numbers_in_signed_storage() -> None:
    array = node((2,), dtype="<i2", _Unsigned="true", _FillValue=-1)
    shown = Interpretation(array, decoded=True)
    raw = np.array([-2, -1], "<i2")
    np.testing.assert_array_equal(shown.numbers(raw), [65534, np.nan])
    assert shown.text(raw[0]) == "65534"
    assert Interpretation(array, decoded=False).text(raw[0]) == "−2"


def test_times_are_dates() -> None:
    array = node((2,), dtype="<f8", units="hours since 2000-02-28", calendar="noleap")
    shown = Interpretation(array, decoded=True)
    assert shown.text_with_units(np.float64(24)) == "2000-03-01"
    assert shown.text_with_units(np.float64(25.5)) == "2000-03-01 01:30"
    assert shown.units == ""
    assert Interpretation(array, decoded=False).text_with_units(np.float64(24)) == "24 hours since 2000-02-28"


@pytest.mark.parametrize(
    ("raw", "numbers"),
    [
        (np.array([True, False]), [1, 0]),
        (np.array([3 + 4j, 0]), [5, 0]),
        (np.array(["1970-01-03", "NaT"], "M8[D]"), [2 * 86400, np.nan]),
        (np.array([7, "NaT"], "m8[s]"), [7, np.nan]),
    ],
)
def test_every_kind_gives_numbers(raw: np.ndarray, numbers: list[float]) -> None:
    shown = Interpretation(node((2,), dtype=raw.dtype.str), decoded=True)
    assert shown.is_number
    np.testing.assert_array_equal(shown.numbers(raw), numbers)
    assert all(shown.text_with_units(item) for item in raw)


def test_texts_and_structures_are_no_numbers() -> None:
    for dtype in ("<U5", "|S5", "|O"):
        assert not Interpretation(node((2,), dtype=dtype), decoded=True).is_number


def test_what_was_never_written_is_known() -> None:
    shown = Interpretation(node((2,)), decoded=True)
    fill = np.float32(9.969209968386869e36)
    assert shown.never_written(np.array([fill, fill]))
    assert not shown.never_written(np.array([fill, 1], np.float32))
    assert not shown.never_written(np.array([], np.float32))
    assert not shown.never_written(np.array([True]))


@pytest.mark.parametrize(
    "attributes", [{"dtype": "timedelta64[us]"}, {"standard_name": "forecast_period"}, {}]
)
def test_durations_are_told_in_a_unit_that_people_read(attributes: dict[str, str]) -> None:
    array = replace(node((1,), dtype="<f8"), attributes={"units": "seconds", **attributes})
    for value, text in ((1296000.0, "15 days"), (21600.0, "6 hours"), (np.nan, "no value (NaN)")):
        told = text if attributes or value != value else f"{value:.0f} seconds"
        assert Interpretation(array, decoded=True).text_with_units(np.float64(value)) == told
    assert Interpretation(array, decoded=False).text_with_units(np.float64(21600.0)) == "21600 seconds"
