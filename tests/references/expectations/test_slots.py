"""Periods held against times: by sets of Python, in all calendars, as runs and in words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.model.time_axis import AxisWords, TimeAxis, instant_of
from refbrowser.references.expectations.slots import (
    ExpectedSlots,
    SlotRun,
    SlotState,
    by_year_or_month,
    joined_runs,
    match_times,
    run_words,
    runs_of_rows,
    runs_of_slots,
)


def _axis(text: str, calendar: str = "standard") -> TimeAxis:
    return AxisWords.parse(text).axis(calendar)


def _expected(text: str, calendar: str = "standard") -> ExpectedSlots:
    axis = _axis(text, calendar)
    return ExpectedSlots(axis, axis.size)


MONTHS = _expected("time=2015-01:2024-12:month")


def _flat(runs: list[SlotRun]) -> list[int]:
    return [slot for run in runs for slot in range(run.first, run.last + 1)]


@given(st.sets(st.integers(0, 119)))
def test_what_is_not_there_is_missing(there: set[int]) -> None:
    runs = MONTHS.runs_of_missing(np.array(sorted(there), np.int64))
    assert _flat(runs) == sorted(set(range(120)) - there)
    assert all(one.last + 1 < other.first for one, other in pairwise(runs))


@given(st.sets(st.integers(0, 119)), st.integers(0, 120))
def test_periods_are_counted_by_years(there: set[int], due: int) -> None:
    expected = ExpectedSlots(MONTHS.axis, due)
    runs = expected.runs_of_missing(np.array(sorted(there), np.int64))
    gone = _flat(runs)
    assert by_year_or_month(expected, runs) == [
        (str(2015 + year), min(12, due - 12 * year), sum(slot // 12 == year for slot in gone), 12 * year)
        for year in range(10)
        if due > 12 * year
    ]


def test_what_lacks_at_the_end_of_a_schedule_is_late() -> None:
    expected = ExpectedSlots(MONTHS.axis, 100, is_scheduled=True)
    runs = expected.runs_of_missing(np.array([*range(50), *range(51, 97)]))
    assert runs == [SlotRun(SlotState.MISSING, 50, 50), SlotRun(SlotState.LATE, 97, 99)]
    # Where nothing is there at all, nothing has begun.
    assert expected.runs_of_missing(np.zeros(0, np.int64)) == [SlotRun(SlotState.MISSING, 0, 99)]


def test_days_fill_months_and_two_of_a_day_are_doubled() -> None:
    days = _axis("time=2015-01-01:2015-03-31:D")
    instants = days.instants(np.array([*range(31), *range(59, 90), 60]))
    matched = match_times(MONTHS, instants)
    assert matched.there.tolist() == [0, 2]
    assert matched.doubled.tolist() == [2]
    assert matched.extra.tolist() == []


def test_months_have_one_time_each_wherever_in_them() -> None:
    instants = np.array([instant_of(f"2015-{month:02d}-{day}", "standard") for month, day in
                         [(1, 16), (2, 15), (3, 16), (3, 20), (5, 16)]])  # fmt: skip
    matched = match_times(MONTHS, instants)
    assert (matched.there.tolist(), matched.doubled.tolist()) == ([0, 1, 2, 4], [2])


def test_times_off_the_steps_are_extra() -> None:
    hours = _expected("time=2015-01-01:2015-01-02:6h")
    at = [0, 6, 11, 18, 24, 30, 36, 42, 48, -1]
    start = hours.axis.start
    instants = np.array([start + hour * 3600 * 10**6 for hour in at])
    matched = match_times(hours, instants)
    assert [at[index] for index in matched.extra] == [11, 48, -1]
    assert _flat(hours.runs_of_missing(matched.there)) == [2]


@pytest.mark.parametrize(
    ("calendar", "days"), [("standard", 29), ("noleap", 28), ("all_leap", 29), ("360_day", 30)]
)
def test_february_is_as_long_as_its_calendar_has_it(calendar: str, days: int) -> None:
    hours = _expected("time=2016:2016:hour", calendar)
    first = int(hours.axis.positions(np.array([instant_of("2016-02", calendar)]))[0][0])
    there = np.array([*range(first), *range(first + 24 * days, hours.due)])
    runs = hours.runs_of_missing(there)
    assert run_words(hours.axis, runs) == "2016-02"
    assert hours.words(24 * days) == f"{24 * days} of {hours.due:,} hours"
    (february,) = (each for each in by_year_or_month(hours, runs) if each.wrong)
    assert february[:3] == ("2016-02", 24 * days, 24 * days)


def test_a_billion_seconds_take_no_room() -> None:
    seconds = _expected("time=1990:2021:s")
    assert seconds.due > 10**9
    runs = seconds.runs_of_missing(np.array([10**8, 10**8 + 1, 9 * 10**8]))
    assert [run.length for run in runs] == [10**8, 799_999_998, seconds.due - 9 * 10**8 - 1]


@pytest.mark.parametrize(
    ("axis", "slots", "words"),
    [
        ("time=2015-01:2024-12:month", [26, 79], "2017-03, 2021-08"),
        ("time=2015-01:2024-12:month", [*range(24, 48), 50], "2017 to 2018 (24 months), 2019-03"),
        ("time=2015:2024:year", [1, 2], "2016 to 2017"),
        ("time=2015-01-01:2015-12-31:6h", [4, 5, 6, 7, 9], "2015-01-02 (4 times), 2015-01-03T06:00"),
        ("time=2015-01-01:2015-12-31:D", [*range(59, 90)], "2015-03"),
        ("time=2015-01:2024-12:month", range(0, 20, 2),
         "2015-01, 2015-03, 2015-05, 2015-07, 2015-09, 2015-11, 2016-01, 2016-03 and 2 more"),
    ],
)  # fmt: skip
def test_runs_in_words(axis: str, slots: list[int], words: str) -> None:
    runs = runs_of_slots(SlotState.MISSING, np.array([*slots], np.int64))
    assert run_words(_axis(axis), runs) == words


def test_chunks_that_are_missing_make_periods_incomplete() -> None:
    # 60 days in three rows of 4 chunks: of the second one is missing, of the third all.
    days = _axis("time=2015-01-01:2015-03-01:D")
    matched = match_times(MONTHS, days.instants(np.arange(60)))
    rows = np.arange(60) // 20
    runs = [*runs_of_rows(matched, rows, np.array([0, 1, 4]), 4)]
    assert runs == [
        SlotRun(SlotState.INCOMPLETE, 0, 0, 1, 8),
        SlotRun(SlotState.INCOMPLETE, 1, 1, 5, 8),
        SlotRun(SlotState.MISSING, 2, 2),
    ]
    back = match_times(MONTHS, days.instants(np.arange(60))[::-1])
    assert [*runs_of_rows(back, rows[::-1], np.array([0, 1, 4]), 4)] == runs


def test_runs_of_one_state_that_meet_are_one() -> None:
    gone = SlotState.MISSING
    runs = joined_runs([SlotRun(gone, 3, 4), SlotRun(gone, 0, 2), SlotRun(SlotState.LATE, 5, 6)])
    assert runs == [SlotRun(gone, 0, 4), SlotRun(SlotState.LATE, 5, 6)]
