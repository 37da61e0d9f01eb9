"""What came of holding a dataset against an expectation: of each variable or pattern of files a result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from refbrowser.limits import LIMITS
from refbrowser.references.expectations.slots import (
    ExpectedSlots,
    Period,
    SlotRun,
    SlotState,
    by_year_or_month,
    run_dates,
    run_words,
)


@dataclass(frozen=True, slots=True)
class RowRun:
    """Rows of chunks one after another along an axis that lack as many chunks each, and their dates."""

    first: int
    last: int
    chunks: int
    begin: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class ExpectedResult:
    """What one variable, or one pattern of files, has of what is expected.

    Attributes
    ----------
    subject
        What is held against the expectation, as it is told: ``t2m``, ``data/t2m_{time:%Y-%m}.nc``.
    path
        Of the array; None for files.
    slots
        The periods that are expected; None for chunks of rules.
    runs
        What is wrong with them.
    expected, missing
        Numbers of periods, or of chunks, that are expected by now and that are missing, late ones too.
    rows
        Rows of chunks that are missing, where chunks are expected.
    extra
        How many are there that are not expected.
    undecided
        Why it is not known whether more is missing; empty where it is.
    """

    subject: str
    path: str | None = None
    slots: ExpectedSlots | None = None
    runs: tuple[SlotRun, ...] = ()
    expected: int = 0
    missing: int = 0
    rows: tuple[RowRun, ...] = ()
    extra: int = 0
    undecided: str = ""

    @property
    def lacks(self) -> bool:
        """Whether something that is expected is missing, all or a part of it, or not decided."""
        states = (SlotState.MISSING, SlotState.LATE, SlotState.INCOMPLETE)
        return bool(self.undecided or self.missing or any(run.state in states for run in self.runs))

    def periods(self) -> list[Period]:
        """Return what is expected and lacks in each year or month; none where that is not told by dates."""
        if self.slots is None:
            return []
        lacking = [run for run in self.runs if run.state is not SlotState.DOUBLED]
        return by_year_or_month(self.slots, lacking)

    def words_in(self, period: Period) -> str:
        """Return which of the periods of a year or month lack something."""
        if self.slots is None:
            return ""
        last = period.first + period.expected - 1
        met = (run for run in self.runs if run.state is not SlotState.DOUBLED)
        cut = [
            run._replace(first=max(run.first, period.first), last=min(run.last, last))
            for run in met
            if run.first <= last and run.last >= period.first
        ]
        return run_words(self.slots.axis, cut)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "subject": self.subject,
            "path": self.path,
            "axis": None if self.slots is None else self._axis_json(self.slots),
            "expected": self.expected,
            "missing": self.missing,
            "extra": self.extra,
            "undecided": self.undecided or None,
            "runs": [*islice(self._runs_json(), LIMITS.page_rows)],
        }

    def _axis_json(self, slots: ExpectedSlots) -> dict[str, Any]:
        axis = slots.axis
        whole = SlotRun(SlotState.MISSING, 0, max(slots.due - 1, 0))
        begin, end = run_dates(axis, whole)
        return {"step": axis.step.text, "calendar": axis.calendar, "from": begin, "to": end}

    def _runs_json(self) -> Iterator[dict[str, Any]]:
        for run in self.runs:
            assert self.slots is not None
            begin, end = run_dates(self.slots.axis, run)
            yield {
                "state": str(run.state),
                "from": begin,
                "to": end,
                "count": run.length,
                "chunks": run.chunks or None,
                "of": run.expected or None,
            }
        for row in self.rows:
            yield {
                "state": str(SlotState.MISSING),
                "from": row.begin or str(row.first),
                "to": row.end or str(row.last),
                "count": row.last - row.first + 1,
                "chunks": row.chunks,
                "of": None,
            }
