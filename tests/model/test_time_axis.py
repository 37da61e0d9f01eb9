"""Regular axes of time: words, calendars, positions; held against pandas and cftime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.calendars import KNOWN, calendar_dates, day_numbers
from refbrowser.model.cf import TimeUnits
from refbrowser.model.time_axis import AxisWords, TimeStep, instant_of, instants_of, runs_of

_DAY = 86_400_000_000


def _axis(text: str, calendar: str = "standard", there: list[int] | None = None):
    return AxisWords.parse(text).axis(calendar, None if there is None else np.array(there, np.int64))


@pytest.mark.parametrize("calendar", KNOWN)
def test_days_are_those_of_cftime(calendar):
    cftime = pytest.importorskip("cftime")
    epoch = cftime.datetime(1970, 1, 1, calendar=calendar)
    for year in (1, 4, 100, 1500, 1582, 1900, 1970, 2000, 2016, 2023, 2400):
        for month, day in ((1, 1), (2, 28), (3, 1), (10, 4), (10, 15), (12, 30)):
            number = int(day_numbers(year, month, day, calendar))
            assert number == (cftime.datetime(year, month, day, calendar=calendar) - epoch).days
            assert tuple(map(int, calendar_dates(number, calendar))) == (year, month, day)


@given(number=st.integers(-700_000, 1_000_000), calendar=st.sampled_from(KNOWN))
def test_a_date_has_the_number_that_it_came_from(number, calendar):
    assert int(day_numbers(*calendar_dates(number, calendar), calendar)) == number


@pytest.mark.parametrize(
    ("words", "freq", "last"),
    [
        ("time=2015-01-01:2024-12-31:1D", "D", "2024-12-31"),
        ("time=2015:2024:month", "MS", "2024-12-01"),
        ("time=2015-01-01T06:2015-02:6h", "6h", "2015-02-28T18"),
        ("time=2016-02-15:2017-03-15:P1M", "MS", "2017-03-15"),
        ("time=2000:2003:year", "YS", "2003-01-01"),
    ],
)
def test_times_are_those_of_pandas(words, freq, last):
    pandas = pytest.importorskip("pandas")
    axis = _axis(words)
    begin = pandas.Timestamp(AxisWords.parse(words).begin)
    months = freq == "MS"
    expected = pandas.date_range(
        begin.replace(day=1) if months else begin, pandas.Timestamp(last), freq=freq, unit="us"
    )
    expected = expected + pandas.Timedelta(days=begin.day - 1 if months else 0)
    assert axis.size == len(expected)
    assert axis.instants(np.arange(axis.size)).tolist() == expected.astype(np.int64).tolist()


@given(
    calendar=st.sampled_from(KNOWN),
    step=st.sampled_from(["1D", "6h", "month", "2 months", "year", "7min"]),
    year=st.integers(1, 2300),
    day=st.integers(1, 28),
    count=st.integers(1, 500),
)
def test_positions_and_instants_are_each_others_inverse(calendar, step, year, day, count):
    axis = _axis(f"t={year:04d}-03-{day:02d}:{year:04d}-03-{day:02d}T00:{step}", calendar)
    at = np.arange(count)
    instants = axis.instants(at)
    assert (np.diff(instants) > 0).all()
    positions, exact = axis.positions(instants)
    assert positions.tolist() == at.tolist()
    assert exact.all()
    positions, exact = axis.positions(instants - 1)
    assert positions.tolist() == (at - 1).tolist()
    assert not exact.any()
    positions, exact = axis.positions(instants - 1, tolerance=1)
    assert positions.tolist() == at.tolist()
    assert exact.all()


def test_an_end_is_all_that_it_names():
    assert _axis("t=2016:2016:1D").size == 366
    assert _axis("t=2016:2016:1D", "noleap").size == 365
    assert _axis("t=2016:2016:1D", "360_day").size == 360
    assert _axis("t=2016-02-01:2016-02-01:6h").size == 4
    assert _axis("t=2016-02-01T00:00:2016-02-01T06:00:6h").size == 2


def test_ends_that_are_left_out_are_those_of_what_is_there():
    there = [instant_of(text, "standard") for text in ("2016-01-03", "2016-03-01")]
    axis = _axis("t=::1D", there=there)
    assert (axis.texts([0]), axis.size) == (["2016-01-03"], 59)
    assert _axis("t=2016:2016-12-31:1D").size == 366


def test_months_begin_as_their_times_do_if_these_are_regular():
    dates = ["2016-01-15", "2016-02-15", "2016-04-15"]
    axis = _axis("t=::month", there=[instant_of(each, "standard") for each in dates])
    assert axis.texts([0, 1]) == ["2016-01-15", "2016-02-15"]
    dates = ["2016-01-16", "2016-02-15", "2016-04-16"]
    axis = _axis("t=::month", there=[instant_of(each, "standard") for each in dates])
    assert (axis.texts([0, 1]), axis.size) == (["2016-01", "2016-02"], 4)


def test_what_is_missing_is_told_as_runs():
    axis = _axis("t=2016:2017:month")
    assert axis.runs_text(np.array([3, 12, 13, 14])) == "2016-04, 2017-01 to 2017-03"
    assert axis.runs_text(np.array([0, 2, 4, 5]), most=2) == "2016-01, 2016-03 and 2 more"
    assert list(runs_of(np.zeros(0, np.int64))) == []


@pytest.mark.parametrize(
    "words",
    [
        "time", "time=2015:2016", "time=2015:2016:m", "time=2015:2016:0h", "time=15:16:1D", "=2015:2016:1D",
        "time=2016:2015:1D", "time=2015-02-30:2016:1D", "time=2015-01-31:2016:month", "time=::1D",
        "time=2015-13:2016:1D", "time=2015-01-01T25:2016:1D",
    ],
)  # fmt: skip
def test_what_is_no_axis_is_refused(words):
    with pytest.raises(RefbrowserError) as caught:
        _axis(words)
    assert caught.value.kind is ErrorKind.USAGE


@pytest.mark.parametrize(
    ("text", "months", "length"),
    [("MS", 1, 0), ("P1Y", 12, 0), ("quarter", None, 0), ("PT30M", 0, 1800 * 10**6), ("P2W", 0, 14 * _DAY)],
)
def test_steps_have_the_words_of_pandas_and_iso(text, months, length):
    if months is None:
        with pytest.raises(RefbrowserError):
            TimeStep.parse(text)
        return
    assert (TimeStep.parse(text).months, TimeStep.parse(text).length) == (months, length)


@pytest.mark.parametrize("dtype", ["i4", "i8", "f8"])
def test_numbers_become_instants(dtype):
    units = TimeUnits("hours", "1850-01-01 00:00:00", "noleap")
    found = instants_of(np.arange(0, 9000, 6).astype(dtype), units)
    assert found is not None
    axis = _axis("t=1850-01-01::6h", "noleap", found[0].tolist())
    positions, exact = axis.positions(*found)
    assert exact.all()
    assert positions.tolist() == list(range(1500))


def test_units_of_unequal_length_give_no_instants():
    assert instants_of(np.arange(3), TimeUnits("months", "1850-01-01")) is None
    assert instants_of(np.arange(3), TimeUnits("days", "the beginning")) is None


@pytest.mark.parametrize("text", ["99999999999999999999", "2015-" + "9" * 5000])
def test_numbers_that_are_too_long_are_no_dates(text: str) -> None:
    with pytest.raises(RefbrowserError, match="too long"):
        instant_of(text, "standard")
