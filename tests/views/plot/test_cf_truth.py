"""What a view shows against netCDF4-python, which masks and scales by itself, and cftime."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from view_arrays import node

from refbrowser.views.plot.coordinates import AxisScale
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.reading import made_coordinate

netCDF4 = pytest.importorskip("netCDF4")
cftime = pytest.importorskip("cftime")

RANDOM = np.random.default_rng(0)
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "scale and offset": ("i2", {"scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -999}),
    "negative scale": ("i4", {"scale_factor": -2.0, "_FillValue": 5}),
    "several missing values": ("i2", {"missing_value": [3, 7, -2]}),
    "fill and missing value": ("f4", {"_FillValue": 1.0, "missing_value": 2.0}),
    "valid range": ("i2", {"valid_range": [-3, 6], "scale_factor": 0.5}),
    "valid minimum": ("f8", {"valid_min": -1.5}),
    "valid maximum": ("f4", {"valid_max": 4.0}),
    "valid ends": ("i1", {"valid_min": -4, "valid_max": 4}),
    "unsigned bytes": ("i1", {"_Unsigned": "true", "_FillValue": -1, "scale_factor": 0.5}),
    "unsigned valid range": ("i2", {"_Unsigned": "true", "valid_range": [0, -6], "_FillValue": -1}),
    "nothing": ("f4", {}),
    "never written shorts": ("i2", {}),
    "never written doubles": ("f8", {"scale_factor": 2.0}),
    "flags": ("i1", {"flag_values": [0, 1, 2], "flag_meanings": "a b c", "_FillValue": -1}),
}


def stored_values(dtype: str) -> np.ndarray:
    """Return values around zero, and those that have a meaning somewhere."""
    kind = np.dtype(dtype)
    values = np.arange(-10, 11)
    if kind.kind == "f":
        return np.concatenate([values / 2, [np.nan, 9.969209968386869e36]]).astype(kind)
    special = [-999, -32767, -127] if kind.itemsize > 1 else [-127, 127]
    return np.concatenate([values, special]).astype(kind)


@pytest.mark.parametrize("case", CASES)
def test_masked_and_scaled_as_by_netcdf4(case: str, tmp_path: Path) -> None:
    dtype, attributes = CASES[case]
    stored = stored_values(dtype)
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("n", len(stored))
        fill = attributes.get("_FillValue")
        variable = file.createVariable("a", dtype, ("n",), fill_value=fill)
        variable.set_auto_maskandscale(False)
        for name, value in attributes.items():
            if name != "_FillValue":
                like = dtype if name.startswith(("valid", "missing", "flag_v")) else None
                variable.setncattr(name, value if like is None else np.array(value, like))
        variable[:] = stored
    with netCDF4.Dataset(tmp_path / "a.nc") as file:
        wanted = np.ma.filled(file["a"][:].astype("f8"), np.nan)
    # Attributes as a reference document has them.
    written = json.loads(json.dumps(attributes))
    shown = Interpretation(node((len(stored),), dtype=dtype, **written), decoded=True)
    np.testing.assert_allclose(shown.numbers(stored), wanted, rtol=1e-6, equal_nan=True)
    for value, number in zip(stored, wanted, strict=True):
        assert shown.is_missing(value) == np.isnan(number), value
        assert shown.text(value).startswith("no value") == np.isnan(number)
    raw = Interpretation(node((len(stored),), dtype=dtype, **written), decoded=False)
    np.testing.assert_array_equal(raw.numbers(stored), stored.astype(raw.numbers(stored).dtype))


def test_bytes_have_no_default_fill() -> None:
    """As the users' guide of netCDF says: every byte is a value."""
    shown = Interpretation(node((2,), dtype="i1"), decoded=True)
    assert shown.numbers(np.array([-127, 127], "i1")).tolist() == [-127, 127]


CALENDARS = [
    "standard",
    "gregorian",
    "proleptic_gregorian",
    "julian",
    "noleap",
    "365_day",
    "all_leap",
    "366_day",
    "360_day",
]


@pytest.mark.parametrize("calendar", CALENDARS)
@pytest.mark.parametrize("units", ["days since 1850-01-01", "hours since 1999-12-30 12:00"])
def test_dates_of_a_slider_and_an_axis_as_by_cftime(calendar: str, units: str) -> None:
    numbers = np.sort(RANDOM.integers(0, 60_000, 12)).astype("f8")
    array = node((12,), dtype="f8", path="/time", units=units, calendar=calendar)
    coordinate = made_coordinate("time", array, numbers)
    assert coordinate is not None
    for index, date in enumerate(cftime.num2date(numbers, units, calendar)):
        assert coordinate.text(index).startswith(date.strftime("%Y-%m-%d").lstrip())
        if date.hour:
            assert coordinate.text(index).endswith(date.strftime("%H:%M"))
    ticks = AxisScale(coordinate, by_value=True).ticks(float(numbers[0]), float(numbers[-1]), 6)
    assert len(ticks) >= 2
    for number, text in ticks:
        date = cftime.num2date(number, units, calendar)
        assert date.strftime("%Y-%m-%d").lstrip().startswith(text)
        assert (date.hour, date.minute) == (0, 0)
