"""Times that files count from other dates: they are counted alike, to the last bit, or they stop."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looped import looped

import refbrowser
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.combining.plan import Plan
from refbrowser.exporting.combining.times import exactly, units_from

DAYS, HOURS = np.arange(31), np.arange(0, 24 * 28, 6)


def write(path: Path, times: Any, units: str, *, bounds: Any = None, **more: Any) -> None:
    """Write references of times, and of bounds of these, whose bytes stand in them."""
    refs = {".zgroup": '{"zarr_format": 2}'}
    arrays = {"time": (np.asarray(times), ["time"], {"units": units, **more})}
    if bounds is not None:
        arrays["time_bnds"] = (np.asarray(bounds), ["time", "nv"], {})
        arrays["time"][2]["bounds"] = "time_bnds"
    for name, (values, dimensions, attributes) in arrays.items():
        plain = values.astype(values.dtype.newbyteorder("<"))
        told = {"shape": plain.shape, "chunks": plain.shape, "dtype": plain.dtype.str, "zarr_format": 2}
        told |= {"compressor": None, "filters": None, "order": "C", "fill_value": None}
        refs[f"{name}/.zarray"] = json.dumps(told)
        refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dimensions, **attributes})
        key = f"{name}/{'.'.join('0' * plain.ndim)}"
        refs[key] = "base64:" + base64.b64encode(plain.tobytes()).decode()
    path.write_text(json.dumps({"version": 1, "refs": refs}))


def combined(folder: Path, **how: Any) -> tuple[np.ndarray[Any, Any], str, list[str]]:
    """Return the times of all files, their units, and what was told."""
    plans: list[Plan] = []
    refbrowser.combine(
        str(folder / "*.json"), folder / "all", format="refs-v1", concat="time", told=plans.append, **how
    )
    with refbrowser.open(folder / "all") as dataset:
        times = dataset["/time"]
        return times[:], times.attrs["units"], [each.message for each in plans[0].mismatches]


@pytest.mark.slow
@looped(
    "first, second, kind",
    [
        (("days since 2001-01-01", DAYS), ("days since 2001-02-01", DAYS[:28]), "i8"),
        (("days since 2001-01-01", DAYS), ("days since 2001-02-01 00:00:00", DAYS[:28] + 0.5), "f8"),
        (("hours since 2001-01-01", DAYS * 24), ("hours since 2001-02-01", HOURS), "i4"),
        (("hours since 2001-01-01", DAYS * 24), ("days since 2001-02-01", DAYS[:28]), "i8"),
        (("minutes since 1600-02-28", DAYS), ("seconds since 2001-02-01", HOURS * 60), "i8"),
    ],
)
def test_times_of_other_dates_are_counted_alike_and_told(
    first: Any, second: Any, kind: str, tmp_path: Path
) -> None:
    tmp_path.mkdir(exist_ok=True)
    for name, (units, times) in {"a": first, "b": second}.items():
        write(tmp_path / f"{name}.json", np.asarray(times).astype(kind), units, calendar="standard")
    found, units, told = combined(tmp_path)
    assert units == first[0]
    assert found.dtype == np.dtype(kind)
    expected = [
        date
        for each, times in (first, second)
        for date in units_from(each, "standard").dates(np.asarray(times))  # type: ignore[union-attr]
    ]
    assert list(units_from(units, "standard").dates(found)) == expected  # type: ignore[union-attr]
    assert any("1 of 2 files counts its times from another date" in each and units in each for each in told)


@looped(
    "second, more",
    [
        (("days since 2001-02-01", DAYS[:28], "i8"), {"calendar": "noleap"}),
        (("metres", DAYS[:28], "i8"), {}),
        (("hours since 2001-02-01", HOURS, "i8"), {}),
        (("hours since 2001-02-01", HOURS / 7, "f8"), {}),
        (("months since 2001-02-01", DAYS[:28], "i8"), {}),
        (("days since 2001-02-01", DAYS[:28], "i8"), {"scale_factor": 2.0}),
        (("days since 2001-02-01", DAYS[:28], "i8"), {"add_offset": 2.0}),
        (("days since 2001-02-01", DAYS[:28], "i8"), {"missing_value": 40}),
        (("days since 2001-02-01", DAYS[:28], "i8"), {"valid_max": 40}),
    ],
)
def test_what_cannot_be_counted_alike_exactly_stops(
    second: Any, more: dict[str, Any], tmp_path: Path
) -> None:
    tmp_path.mkdir(exist_ok=True)
    write(tmp_path / "a.json", DAYS.astype("i8"), "days since 2001-01-01", **(more if len(more) else {}))
    if "calendar" in more:
        write(tmp_path / "a.json", DAYS.astype("i8"), "days since 2001-01-01", calendar="standard")
    units, times, kind = second
    write(tmp_path / "b.json", np.asarray(times).astype(kind), units, **more)
    plans: list[Plan] = []
    with pytest.raises(RefbrowserError):
        refbrowser.combine(str(tmp_path / "*.json"), tmp_path / "all", concat="time", told=plans.append)
    assert {each.kind for each in plans[0].blocking} & {"units", "calendar"}
    assert not (tmp_path / "all").exists()


@pytest.mark.slow
def test_a_shorter_unit_is_offered_in_which_all_are_exact(tmp_path: Path) -> None:
    write(tmp_path / "a.json", DAYS.astype("i8"), "days since 2001-01-01")
    write(tmp_path / "b.json", HOURS.astype("i8"), "hours since 2001-02-01")
    plans: list[Plan] = []
    with pytest.raises(RefbrowserError):
        refbrowser.combine(str(tmp_path / "?.json"), tmp_path / "all", concat="time", told=plans.append)
    (found,) = plans[0].blocking
    assert (found.remedies[0].kind, found.remedies[0].value) == ("time_units", "hours since 2001-01-01")
    times, units, _ = combined(tmp_path, time_units=found.remedies[0].value)
    assert units == "hours since 2001-01-01"
    assert times.dtype == np.int64
    assert times[31:].tolist() == (31 * 24 + HOURS).tolist()


@pytest.mark.slow
def test_bounds_go_with_their_times_and_stop_where_they_are_not_exact(tmp_path: Path) -> None:
    edges = np.stack([DAYS[:28], DAYS[:28] + 1], axis=1)
    write(tmp_path / "a.json", DAYS[:28].astype("i8"), "days since 2001-02-01", bounds=edges)
    write(tmp_path / "b.json", DAYS[:28].astype("i8"), "days since 2001-03-01", bounds=edges)
    combined(tmp_path)
    with refbrowser.open(tmp_path / "all") as dataset:
        assert (dataset["/time_bnds"][:, 0] == np.arange(56)).all()
        assert dataset["/time_bnds"][:].dtype == np.int64
    (tmp_path / "all").unlink()
    write(tmp_path / "b.json", (DAYS[:28] * 24).astype("i8"), "hours since 2001-03-01", bounds=edges)
    with pytest.raises(RefbrowserError):
        combined(tmp_path)


def test_exactly_is_exact() -> None:
    for unit, since, values, expected in (
        ("days", "2000-01-01", np.array([0.1, np.nan]), None),
        ("days", "2000-01-01", np.array([0.5, np.nan]), [-30.5, np.nan]),
        ("hours", "2000-01-02", np.array([12], "i2"), None),
        ("hours", "2000-01-01", np.array([12.0]), [-30.5]),
        ("days", "0001-01-01", np.array([2**62]), None),
        ("days", "2000-02-01", np.array([127], "i1"), [127]),
        ("days", "2000-03-01", np.array([127], "i1"), [156]),
        ("days", "2000-01-01", np.array([1], "u1"), None),
        ("seconds", "2000-01-01", np.array([], "f4"), []),
    ):
        own, target = units_from(f"{unit} since {since}", None), units_from("days since 2000-02-01", None)
        assert own is not None
        assert target is not None
        found = exactly(values, own, target)
        if expected is None:
            assert found is None, (unit, values)
        else:
            assert found is not None
            assert np.array_equal(found, np.array(expected), equal_nan=True)
            assert found.dtype.kind == values.dtype.kind
