"""Periods of a regular axis held against times that are there: what is wrong as runs, never expanded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.limits import LIMITS
from refbrowser.model.calendars import DAY, LENGTHS
from refbrowser.model.time_axis import TimeAxis, TimeStep, instant_of
from refbrowser.words import counted, plural, span_text

Ints = npt.NDArray[np.int64]

#: Runs that are told one by one in a sentence.
_TOLD = 8
_MONTH, _YEAR, _DAYS = TimeStep(1, 0, "month"), TimeStep(12, 0, "year"), TimeStep(0, DAY, "day")
_UNITS = {
    (1, 0): "month",
    (12, 0): "year",
    (0, 7 * DAY): "week",
    (0, DAY): "day",
    **{(0, LENGTHS[f"{name}s"]): name for name in ("hour", "minute", "second")},
}


class SlotState(StrEnum):
    """What is wrong with a period."""

    MISSING = "missing"
    LATE = "late"
    INCOMPLETE = "incomplete"
    DOUBLED = "doubled"


class SlotRun(NamedTuple):
    """Periods one after another with which the same is wrong, as positions on the axis.

    `chunks` of `expected` are missing in each of them, where they are incomplete; else both are 0.
    """

    state: SlotState
    first: int
    last: int
    chunks: int = 0
    expected: int = 0

    @property
    def length(self) -> int:
        """Number of periods."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class ExpectedSlots:
    """The periods that are expected.

    Attributes
    ----------
    axis
        All of them; one of open end goes on behind it.
    due
        How many of them are to be there by now.
    is_open
        Whether the axis has no end.
    is_scheduled
        Whether what lacks at the end is late, rather than missing.
    """

    axis: TimeAxis
    due: int
    is_open: bool = False
    is_scheduled: bool = False

    def runs_of_missing(self, there: Ints) -> list[SlotRun]:
        """Return the periods that are due and not among `there`, which rise, each once."""
        there = there[(there >= 0) & (there < self.due)]
        bounds = np.concatenate([[-1], there, [self.due]])
        gaps = np.flatnonzero(np.diff(bounds) > 1)
        runs = [
            SlotRun(SlotState.MISSING, first + 1, behind - 1)
            for first, behind in zip(bounds[gaps].tolist(), bounds[gaps + 1].tolist(), strict=True)
        ]
        if self.is_scheduled and runs and len(there) and runs[-1].last == self.due - 1:
            runs[-1] = runs[-1]._replace(state=SlotState.LATE)
        return runs

    def words(self, count: int) -> str:
        """Return a number of periods that are missing, of all: ``2 of 120 months``."""
        return f"{count:,} of {self.due:,} {plural(self.due, unit_of(self.axis.step))}"


@dataclass(frozen=True, slots=True, eq=False)
class MatchedTimes:
    """Times that are there, held against the periods that are expected.

    Attributes
    ----------
    slots
        Of each time its period; -1 where it is extra.
    there
        Periods that have a time, rising, each once.
    doubled
        Periods with a time too many: rising, each once.
    extra
        Which of the times are extra: outside of the axis, or between its steps.
    """

    slots: Ints
    there: Ints
    doubled: Ints
    extra: Ints


def match_times(expected: ExpectedSlots, instants: Ints, tolerance: int = 0) -> MatchedTimes:
    """Hold times against periods.

    A period has its time where one lies in it. Where most periods have just one, and most of these are the
    very steps of the axis, others are extra, and two in one period are doubled. Where times are finer, as
    days in months, a time that occurs twice is doubled.

    Parameters
    ----------
    instants, tolerance
        As `TimeAxis.positions` has them.
    """
    slots, is_exact = expected.axis.positions(instants, tolerance)
    inside = slots >= 0
    if not expected.is_open:
        inside &= slots < expected.axis.size
    counts = np.unique(slots[inside], return_counts=True)[1]
    is_single = bool(len(counts)) and int(np.median(counts)) == 1
    if is_single and 2 * np.count_nonzero(is_exact & inside) >= np.count_nonzero(inside):
        inside &= is_exact
    slots = np.where(inside, slots, -1)
    there, counts = np.unique(slots[inside], return_counts=True)
    if is_single:
        doubled = there[counts > 1]
    else:
        order = np.argsort(instants, kind="stable")
        again = order[1:][np.diff(instants[order]) <= tolerance]
        doubled = np.unique(slots[again][slots[again] >= 0])
    return MatchedTimes(slots, there, doubled, np.flatnonzero(~inside))


def runs_of_rows(matched: MatchedTimes, rows: Ints, missing: Ints, expected_in_row: int) -> Iterator[SlotRun]:
    """Yield periods of which chunks are missing, all or some, though their times are there.

    Parameters
    ----------
    rows
        Of each time the row of chunks that it lies in.
    missing
        Of each row how many chunks are missing.
    expected_in_row
        How many each should have.
    """
    kept = matched.slots >= 0
    slots, rows = matched.slots[kept], rows[kept]
    if not len(slots) or not missing.any():
        return
    falls = (np.diff(slots) < 0).any()
    pairs = np.unique(np.stack([slots, rows]), axis=1) if falls else _changes(slots, rows)
    there, where = np.unique(pairs[0], return_inverse=True)
    lacking = np.zeros(len(there), np.int64)
    np.add.at(lacking, where, missing[pairs[1]])
    whole = np.bincount(where, minlength=len(there)) * expected_in_row
    for first, last in _alike(there, lacking, whole):
        gone, total = int(lacking[first]), int(whole[first])
        if gone:
            state = SlotState.MISSING if gone == total else SlotState.INCOMPLETE
            chunks = (0, 0) if gone == total else (gone, total)
            yield SlotRun(state, int(there[first]), int(there[last]), *chunks)


def _changes(slots: Ints, rows: Ints) -> Ints:
    """Return each pair of a slot and a row once, of pairs that rise."""
    new = np.append(True, (np.diff(slots) != 0) | (np.diff(rows) != 0))
    return np.stack([slots[new], rows[new]])


def _alike(there: Ints, lacking: Ints, whole: Ints) -> Iterator[tuple[int, int]]:
    """Yield first and last index of periods that follow each other and lack alike."""
    is_gone = lacking == whole
    alike = (np.diff(lacking) == 0) & (np.diff(whole) == 0) | is_gone[1:] & is_gone[:-1]
    same = (np.diff(there) == 1) & alike
    breaks = np.flatnonzero(~same)
    firsts, lasts = np.append(0, breaks + 1), np.append(breaks, len(there) - 1)
    yield from zip(firsts.tolist(), lasts.tolist(), strict=True)


def runs_of_slots(state: SlotState, slots: Ints) -> list[SlotRun]:
    """Return rising periods as runs."""
    if not len(slots):
        return []
    breaks = np.flatnonzero(np.diff(slots) != 1)
    firsts, lasts = slots[np.append(0, breaks + 1)], slots[np.append(breaks, len(slots) - 1)]
    return [SlotRun(state, first, last) for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)]


def joined_runs(runs: Iterable[SlotRun]) -> list[SlotRun]:
    """Return runs in their order, those of one state that meet as one."""
    found: list[SlotRun] = []
    for run in sorted(runs, key=lambda run: (run.first, run.last)):
        last = found[-1] if found else None
        if last is not None and run == last._replace(first=last.last + 1, last=run.last):
            found[-1] = last._replace(last=run.last)
        else:
            found.append(run)
    return found


# Words


def unit_of(step: TimeStep) -> str:
    """Return what a period is called: ``month``; of several hours or months ``time``."""
    return _UNITS.get((step.months, step.length), "time")


def run_words(axis: TimeAxis, runs: Sequence[SlotRun]) -> str:
    """Return runs of periods in words: ``2017-03, 2019-01 to 2019-04 and 12 more``."""
    if len(runs) == 1 and not runs[0].expected:
        # How many there are is said before.
        begin, end = run_dates(axis, runs[0])
        return span_text(begin, end)
    words = [one_run_words(axis, run) for run in runs[:_TOLD]]
    more = sum(run.length for run in runs[_TOLD:])
    return ", ".join(words) + (f" and {more:,} more" if more else "")


def one_run_words(axis: TimeAxis, run: SlotRun) -> str:
    """Return a run in words, by years, months or days where these are whole: ``2015-03 (744 hours)``."""
    begin, end = run_dates(axis, run)
    words = span_text(begin, end)
    if run.length == 1:
        return words + (f" ({run.chunks:,} of {run.expected:,} chunks)" if run.expected else "")
    parts = [counted(run.length, unit_of(axis.step))]
    if run.expected:
        parts.append(f"{run.chunks:,} of {run.expected:,} chunks each")
    return f"{words} ({', '.join(parts)})" if parts else words


def run_dates(axis: TimeAxis, run: SlotRun) -> tuple[str, str]:
    """Return the first and the last date of a run, as short as they say it."""
    begin, behind = axis.instants(np.array([run.first, run.last + 1], np.int64)).tolist()
    if run.length > 1:
        # Of months as of years; of shorter steps as months, or days.
        steps = [] if axis.step.months >= _YEAR.months else [_YEAR]
        steps += [] if axis.step.months else [_MONTH]
        steps += [_DAYS] if not axis.step.months and axis.step.length < DAY else []
        for step in steps:
            coarse = _enclosing(axis, step)
            at, is_exact = coarse.positions(np.array([begin, behind], np.int64))
            if is_exact.all():
                cut = {12: 4, 1: 7}.get(step.months, 10)
                first, last = coarse.texts(np.array([at[0], at[1] - 1]))
                return first[:cut], last[:cut]
    texts = axis.texts(np.array([run.first, run.last], np.int64))
    if not axis.step.months % 12 and axis.step.months and all(text.endswith("-01") for text in texts):
        return texts[0][:4], texts[1][:4]
    first, last = (text.removesuffix(":00") if len(text) == 19 else text for text in texts)
    return first, last


def _enclosing(axis: TimeAxis, step: TimeStep) -> TimeAxis:
    """Return the years, months or days that begin at or before an axis."""
    text = axis.texts(np.zeros(1, np.int64))[0]
    cut = {12: 4, 1: 7}.get(step.months, 10)
    return TimeAxis(axis.calendar, instant_of(text[:cut], axis.calendar), step, 0)


def lacking_words(expected: ExpectedSlots, runs: Sequence[SlotRun]) -> str:
    """Return runs in words; where they are many, how much of each year or month: ``2015-03 (30 of 31)``."""
    if len(runs) <= _TOLD:
        return run_words(expected.axis, runs)
    wrong = [period for period in by_year_or_month(expected, runs) if period.wrong]
    if not wrong:
        return run_words(expected.axis, runs)
    words = [f"{period.text} ({period.wrong:,} of {period.expected:,})" for period in wrong[:_TOLD]]
    more = counted(len(wrong) - _TOLD, "more year" if expected.axis.step.months else "more month")
    return ", ".join(words) + (f" and {more}" if len(wrong) > _TOLD else "")


class Period(NamedTuple):
    """Some periods together, as a year of months: how many are expected and wrong, and the first of them."""

    text: str
    expected: int
    wrong: int
    first: int


def by_year_or_month(expected: ExpectedSlots, runs: Sequence[SlotRun]) -> list[Period]:
    """Return what is expected and wrong in each year, or, where steps are days or less, in each month.

    None at all where they would be too many.
    """
    axis = expected.axis
    coarse = _enclosing(axis, _YEAR if axis.step.months else _MONTH)
    if not expected.due:
        return []
    end = axis.instants(np.array([expected.due - 1], np.int64))
    count = int(coarse.positions(end)[0][0]) + 1
    if count > LIMITS.expect_runs:
        return []
    begins = coarse.instants(np.arange(count + 1, dtype=np.int64))
    bounds = np.clip(axis.positions(begins - 1)[0] + 1, 0, expected.due)
    # How many periods are wrong before each bound.
    firsts = np.array([run.first for run in runs], np.int64)
    behind = np.array([run.last + 1 for run in runs], np.int64)
    order = np.argsort(firsts)
    firsts, behind = firsts[order], behind[order]
    sums = np.concatenate([[0], np.cumsum(behind - firsts)])
    at = np.searchsorted(firsts, bounds, side="right")
    over = np.where(at > 0, np.maximum(behind[at - 1] - bounds, 0), 0) if len(runs) else np.zeros_like(bounds)
    before = sums[at] - over
    texts = coarse.texts(np.arange(count, dtype=np.int64))
    cut = 4 if axis.step.months else 7
    sizes, wrong = np.diff(bounds).tolist(), np.diff(before).tolist()
    return [
        Period(text[:cut], size, lacking, first)
        for text, size, lacking, first in zip(texts, sizes, wrong, bounds[:-1].tolist(), strict=True)
        if size
    ]
