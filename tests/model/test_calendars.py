"""Dates of the usual calendars by Python's own, as by cftime; others, and very old ones, by cftime alone."""

from __future__ import annotations

import random
import sys
from datetime import datetime

import numpy as np
import pytest

from refbrowser.errors import NotInstalledError
from refbrowser.model.calendars import LENGTHS, USUAL, between, dates_of, number_of, start_of
from refbrowser.model.cf import TimeUnits
from refbrowser.views.numbers import DateScale

cftime = pytest.importorskip("cftime")


@pytest.fixture
def no_cftime(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let cftime be missing."""
    monkeypatch.setitem(sys.modules, "cftime", None)
    monkeypatch.setattr("importlib.metadata.requires", lambda _: ['cftime>=1.6; extra == "calendars"'])


def some_since(draw: random.Random) -> str:
    """Return a date as writers have it."""
    year = draw.choice([draw.randint(1, 9999), draw.randint(1500, 1600), draw.randint(1900, 2100)])
    text = f"{year:0{draw.choice([1, 4])}d}-{draw.randint(1, 12)}-{draw.randint(1, 31):02d}"
    if draw.random() < 0.6:
        text += f"{draw.choice(' T')}{draw.randint(0, 24)}:{draw.randint(0, 60):02d}"
        text += draw.choice(["", f":{draw.randint(0, 60)}", ":0.0", ":00.25"])
        text += draw.choice(["", "", "Z", " UTC", " +01:00", "-0530", " -11"])
    return text


def as_cftime_has_them(numbers: np.ndarray, text: str, calendar: str) -> list[str]:
    dates = cftime.num2date(numbers, text, calendar=calendar, only_use_cftime_datetimes=True)
    return [date.isoformat() for date in dates]


def test_dates_are_those_of_cftime() -> None:
    draw, own = random.Random(3), 0
    for _ in range(400):
        since, calendar, unit = some_since(draw), draw.choice(USUAL), draw.choice(list(LENGTHS))
        size = 10 ** draw.uniform(0, 8)
        numbers = np.array([draw.uniform(-size, size) for _ in range(2)]).astype(
            draw.choice(["i8", "f8", "f4"])
        )
        try:
            dates = dates_of(numbers, unit, since, calendar)
        except (ValueError, OverflowError, TypeError):
            assert start_of(since, calendar) is None or size > 1000
            continue
        own += isinstance(dates[0], datetime)
        assert [each.isoformat() for each in dates] == as_cftime_has_them(
            numbers, f"{unit} since {since}", calendar
        )
    assert own > 200


@pytest.mark.parametrize("calendar", USUAL)
def test_numbers_of_dates_are_those_of_cftime(calendar: str) -> None:
    for year, month, day in (
        (1, 1, 1),
        (1500, 2, 28),
        (1582, 10, 4),
        (1582, 10, 15),
        (1900, 3, 1),
        (9999, 12, 31),
    ):
        for since in ("1-1-1 00:00:0.0", "1850-06-01 12:00", "1582-10-04"):
            date = cftime.datetime(year, month, day, calendar=calendar)
            wanted = cftime.date2num(date, f"hours since {since}", calendar)
            assert number_of(year, month, day, "hours", since, calendar) == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize(
    "since", ["1582-10-10", "2001-02-29", "1500-02-30", "2001-13-01", "0-1-1", "2001-1-1 25:00"]
)
def test_what_is_no_date_is_left_to_cftime(since: str) -> None:
    assert start_of(since, "standard") is None
    assert start_of("1500-02-29", "standard") is not None
    assert start_of("1500-02-29", "proleptic_gregorian") is None


def test_dates_of_both_sides_of_the_reform_are_of_one_class() -> None:
    dates = TimeUnits("days", "1582-10-04").dates(np.array([0.0, 1.0, np.nan]))
    assert [None if each is None else each.isoformat()[:10] for each in dates] == [
        "1582-10-04",
        "1582-10-15",
        None,
    ]
    assert type(dates[0]) is type(dates[1])


@pytest.mark.usefixtures("no_cftime")
def test_the_usual_calendars_need_no_cftime() -> None:
    units = TimeUnits("hours", "1-1-1 00:00:0.0")
    assert units.texts(np.array([17522904.0, np.nan])) == ["2000-01-01", ""]
    assert between("1-1-1", "2000-01-01", "standard") == -17522904 * LENGTHS["hours"]
    scale = DateScale(units)
    assert scale.note == ""
    assert scale.ticks(17522904, 17522904 + 24 * 20, 3)[0][1] == "2000-01-01"


@pytest.mark.usefixtures("no_cftime")
@pytest.mark.parametrize(
    "units",
    [TimeUnits("days", "2000-01-01", "noleap"), TimeUnits("days", "1400-01-01"), TimeUnits("days", "2000")],
)
def test_other_dates_say_what_to_install(units: TimeUnits) -> None:
    with pytest.raises(NotInstalledError, match="the Python package cftime") as caught:
        units.dates(np.array([1]))
    assert caught.value.advice == "pip install 'refbrowser[calendars]'"


@pytest.mark.usefixtures("no_cftime")
def test_a_table_shows_numbers_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    scale = DateScale(TimeUnits("days", "2000-01-01", "noleap"))
    monkeypatch.setattr("refbrowser.views.numbers.find_spec", lambda _: None)
    assert scale.note == "noleap calendar: its dates need cftime"
    assert scale.texts(np.array([[1.5, np.nan]])) == [["1.5", ""]]
