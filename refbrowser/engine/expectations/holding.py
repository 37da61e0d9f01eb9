"""Holding a dataset against what it should hold: what is missing, late, incomplete, doubled and extra."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.engine.expectations.axis_times import AxisTimes, axis_of, coordinate_of, read_times
from refbrowser.engine.expectations.expected_results import ExpectedResult
from refbrowser.engine.expectations.present_chunks import LOOKED, present_chunks
from refbrowser.engine.findings.chunk_table import ChunkMarks, coords_of
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import (
    EXPECTED_DOUBLED,
    EXPECTED_EXTRA,
    EXPECTED_INCOMPLETE,
    EXPECTED_LATE,
    EXPECTED_MISSING,
    EXPECTED_UNDECIDED,
)
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.time_axis import TimeAxis, TimeStep, instant_of
from refbrowser.references.expectations.chunk_sets import ChunkSet, UndecidedSetError
from refbrowser.references.expectations.expectation import Expectation, ExpectedAxis
from refbrowser.references.expectations.slots import (
    ExpectedSlots,
    MatchedTimes,
    SlotRun,
    SlotState,
    joined_runs,
    lacking_words,
    match_times,
    run_words,
    runs_of_rows,
    runs_of_slots,
    unit_of,
)
from refbrowser.words import counted

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl

Ints = npt.NDArray[np.int64]

#: Extra times and files that are told one by one.
_TOLD = 8
_MICROSECOND = TimeStep(0, 1, "microsecond")
_LACKING = {
    SlotState.MISSING: (EXPECTED_MISSING, "missing"),
    SlotState.LATE: (EXPECTED_LATE, "late"),
    SlotState.INCOMPLETE: (EXPECTED_INCOMPLETE, "incomplete"),
}


@dataclass(slots=True)
class Held:
    """What was found so far: marks of chunks, and a result of each variable."""

    marks: ChunkMarks = field(default_factory=ChunkMarks)
    results: list[ExpectedResult] = field(default_factory=list)


def hold_axes(
    dataset: Dataset, expectation: Expectation, held: Held, control: JobControl, now: datetime
) -> Iterator[Finding]:
    """Hold a dataset against times; yield what differs.

    Codes: ``expected-missing``, ``expected-late``, ``expected-incomplete``, ``expected-doubled``,
    ``expected-extra``, and ``expected-undecided`` where something cannot be read or told.
    """
    for axis in expectation.axes:
        if axis.files and not axis.variables:
            continue
        control.check()
        yield from _AxisHolding(dataset, axis, held, control, now).findings()


@dataclass(frozen=True, slots=True, eq=False)
class _ArraySlots:
    """An array held against the periods of its coordinate."""

    node: ArrayNode
    matched: MatchedTimes
    holes: tuple[SlotRun, ...]
    incomplete: tuple[SlotRun, ...]
    undecided: str = ""


class _AxisHolding:
    """Holds the arrays of one axis against the times that are expected."""

    def __init__(
        self, dataset: Dataset, axis: ExpectedAxis, held: Held, control: JobControl, now: datetime
    ) -> None:
        self._dataset, self._axis, self._held, self._control, self._now = dataset, axis, held, control, now
        self._coordinates: dict[str, tuple[AxisTimes, ExpectedSlots, MatchedTimes] | RefbrowserError] = {}

    def findings(self) -> Iterator[Finding]:
        name = self._axis.words.name
        arrays = [
            node for node in self._dataset.hierarchy.walk()
            if isinstance(node, ArrayNode) and name in node.dimensions
        ]  # fmt: skip
        variables = [node for node in arrays if node.name != name] or arrays
        if not self._axis.variables:
            if not arrays:
                yield self._absent(f"no array has the dimension {quoted(name)}", name)
            groups = self._by_name(variables)
        else:
            groups = {}
            for wanted in self._axis.variables:
                named = [node for node in arrays if wanted in (node.name, node.path, node.path.lstrip("/"))]
                if not named:
                    yield self._absent(f"no array {quoted(wanted)} has the dimension {quoted(name)}", wanted)
                groups |= self._by_name(named)
        for some in groups.values():
            yield from self._of_arrays(some)
        for told in self._coordinates.values():
            if not isinstance(told, RefbrowserError):
                yield from self._of_coordinate(*told)

    def _by_name(self, nodes: Iterable[ArrayNode]) -> dict[str, list[ArrayNode]]:
        found: dict[str, list[ArrayNode]] = {}
        for node in nodes:
            found.setdefault(node.name, []).append(node)
        return found

    def _absent(self, message: str, subject: str) -> Finding:
        self._held.results.append(ExpectedResult(subject, expected=1, missing=1, undecided=message))
        return EXPECTED_MISSING.finding(message, Place(document=self._dataset.document.name))

    # Arrays

    def _of_arrays(self, nodes: Sequence[ArrayNode]) -> Iterator[Finding]:
        """Yield what arrays of one name lack: together where each has other times, as those of eras."""
        arrays: list[_ArraySlots] = []
        slots: list[ExpectedSlots] = []
        for node in nodes:
            self._control.check()
            told = self._times_of(node)
            if isinstance(told, RefbrowserError):
                yield self._not_decided(node, told)
                continue
            times, expected, matched = told
            arrays.append(self._array(node, times, matched))
            slots.append(expected)
        if len(arrays) > 1 and _are_apart(arrays) and len({each.axis for each in slots}) == 1:
            yield from self._told(arrays, slots[0])
        else:
            for array, expected in zip(arrays, slots, strict=True):
                yield from self._told([array], expected)

    def _array(self, node: ArrayNode, times: AxisTimes, matched: MatchedTimes) -> _ArraySlots:
        """Hold the chunks of an array against the periods of its times."""
        if not node.has_manifest:
            return _ArraySlots(node, matched, (), ())
        try:
            present = present_chunks(node)
            axis = axis_of(node, self._axis.words.name)
            lacking = ChunkSet.whole(present.grid_shape).tally(axis).less(present.tally(axis))
        except UndecidedSetError:
            why = "which chunks have references is not decided (0 rows checked)"
            return _ArraySlots(node, matched, (), (), why)
        if not lacking.counts.any():
            return _ArraySlots(node, matched, (), ())
        count = present.grid_shape[axis]
        in_row = ChunkSet.whole(present.grid_shape).count // max(count, 1)
        rows = node.grid.dimensions[axis].find(times.at)
        runs = [*runs_of_rows(matched, rows, lacking.at(np.arange(count)), in_row)]
        self._mark(node, present, axis, np.unique(rows[matched.slots >= 0]))
        holes = tuple(run for run in runs if run.state is SlotState.MISSING)
        return _ArraySlots(node, matched, holes, tuple(run for run in runs if run not in holes))

    def _mark(self, node: ArrayNode, present: ChunkSet, axis: int, rows: Ints) -> None:
        """Mark the chunks that are missing in rows which are expected, where the grid is not too large."""
        total = ChunkSet.whole(present.grid_shape).count
        if total > LOOKED:
            return
        missing = np.setdiff1d(np.arange(total), present.numbers, assume_unique=True)
        coords = coords_of(missing, present.grid_shape)
        self._held.marks.add(node.path, EXPECTED_MISSING.code, coords[np.isin(coords[:, axis], rows)])

    def _told(self, arrays: Sequence[_ArraySlots], expected: ExpectedSlots) -> Iterator[Finding]:
        """Yield what arrays lack of the periods that are expected."""
        there = np.unique(np.concatenate([_without(each.matched.there, each.holes) for each in arrays]))
        runs = expected.runs_of_missing(there)
        runs += [run for each in arrays for run in each.incomplete if run.first < expected.due]
        runs = joined_runs(runs)
        first = arrays[0].node
        subject = first.name or first.path
        if len(arrays) == 1 and len(self._same_name(first)) > 1:
            subject = first.path
        missing = sum(run.length for run in runs if run.state in (SlotState.MISSING, SlotState.LATE))
        undecided = next((each.undecided for each in arrays if each.undecided), "")
        doubled = [
            run for each in arrays for run in runs_of_slots(SlotState.DOUBLED, each.matched.doubled)
        ]  # fmt: skip
        self._held.results.append(
            ExpectedResult(
                subject, first.path, expected, tuple(joined_runs([*runs, *doubled])), expected.due, missing,
                extra=sum(len(each.matched.extra) for each in arrays), undecided=undecided,
            )
        )  # fmt: skip
        is_one = len(arrays) == 1
        place = Place(document=self._dataset.document.name, path=first.path if is_one else None)
        who = "" if is_one else f"{subject} in {len(arrays)} groups: "
        if undecided:
            yield EXPECTED_UNDECIDED.finding(undecided, place, checked=0)
        for state, (kind, word) in _LACKING.items():
            some = [run for run in runs if run.state is state]
            count = sum(run.length for run in some)
            if count:
                message = f"{who}{expected.words(count)} {word}: {lacking_words(expected, some)}"
                yield kind.finding(message, place)

    def _same_name(self, node: ArrayNode) -> list[ArrayNode]:
        nodes = self._dataset.hierarchy.walk()
        return [each for each in nodes if isinstance(each, ArrayNode) and each.name == node.name]

    # Coordinates

    def _times_of(self, node: ArrayNode) -> tuple[AxisTimes, ExpectedSlots, MatchedTimes] | RefbrowserError:
        """Return the times of an array and what is expected of them, each coordinate read once."""
        coordinate = coordinate_of(self._dataset.hierarchy, node, self._axis.words.name)
        if coordinate is None:
            name = self._axis.words.name
            message = f"the dimension {quoted(name)} of {quoted(node.path)} has no coordinate of times"
            return RefbrowserError(ErrorKind.META, message, Place(path=node.path))
        if coordinate.path not in self._coordinates:
            try:
                times = read_times(self._dataset, coordinate, self._control.token)
                expected = expected_slots(self._axis, times.calendar, times.instants, self._now)
                matched = match_times(expected, times.instants, times.tolerance)
                self._coordinates[coordinate.path] = times, expected, matched
            except RefbrowserError as error:
                if error.kind is ErrorKind.USAGE:
                    raise
                self._coordinates[coordinate.path] = error
        return self._coordinates[coordinate.path]

    def _not_decided(self, node: ArrayNode, error: RefbrowserError) -> Finding:
        self._held.results.append(ExpectedResult(node.name or node.path, node.path, undecided=error.message))
        return EXPECTED_UNDECIDED.finding(
            error.message, replace(error.place, path=node.path), error=error.kind, advice=error.advice
        )

    def _of_coordinate(
        self, times: AxisTimes, expected: ExpectedSlots, matched: MatchedTimes
    ) -> Iterator[Finding]:
        """Yield which times are there twice, and which are not expected."""
        place = Place(document=self._dataset.document.name, path=times.node.path)
        if len(matched.doubled):
            runs = runs_of_slots(SlotState.DOUBLED, matched.doubled)
            count = counted(len(matched.doubled), unit_of(expected.axis.step))
            message = f"{count} doubled: {run_words(expected.axis, runs)}"
            yield EXPECTED_DOUBLED.finding(message, place)
        if len(matched.extra):
            yield EXPECTED_EXTRA.finding(
                f"{counted(len(matched.extra), 'time')} not expected: {_dates(times, matched.extra)}",
                place,
            )


def expected_slots(axis: ExpectedAxis, calendar: str, there: Ints, now: datetime) -> ExpectedSlots:
    """Return the periods that are expected of an axis by a time.

    A period is due once it is over and, where something may be late, that has passed too.

    Parameters
    ----------
    there
        The instants that are there: the first begins an axis that has no beginning.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: its dates are not in the calendar, or nothing tells where it begins.
    """
    words = axis.words
    until = _instant_of_now(now, calendar) - axis.late_length
    is_open = not words.end
    if is_open and (words.begin or len(there)):
        # It goes on until now, and for one period at least.
        first = instant_of(words.begin, calendar) if words.begin else int(there.min())
        there = np.append(there, max(until, first))
    made = words.axis(calendar, there)
    over = int(made.positions(np.array([until], np.int64))[0][0])
    due = min(max(over, 0), made.size)
    size = max(due, 1) if is_open else made.size
    shown = TimeAxis(made.calendar, made.start, made.step, size)
    return ExpectedSlots(shown, due, is_open, is_open or bool(axis.late))


def _instant_of_now(now: datetime, calendar: str) -> int:
    """Return the instant of a date in a calendar; the last days of a month, where it has none of them."""
    for day in (now.day, 30, 29, 28):
        try:
            return instant_of(f"{now:%Y-%m}-{min(day, now.day):02d}T{now:%H:%M:%S}", calendar)
        except RefbrowserError:
            continue
    raise AssertionError(calendar)


def _are_apart(arrays: Sequence[_ArraySlots]) -> bool:
    """Tell whether no two arrays have a period in common."""
    everything = np.concatenate([each.matched.there for each in arrays])
    return len(np.unique(everything)) == len(everything)


def _without(there: Ints, holes: Sequence[SlotRun]) -> Ints:
    """Return the periods that lie in no hole; holes rise."""
    if not holes:
        return there
    firsts = np.array([run.first for run in holes], np.int64)
    lasts = np.array([run.last for run in holes], np.int64)
    at = np.searchsorted(firsts, there, side="right") - 1
    return there[(at < 0) | (there > lasts[at])]


def _dates(times: AxisTimes, extra: Ints) -> str:
    """Return dates of some times in words."""
    axis = TimeAxis(times.calendar, 0, _MICROSECOND, 0)
    texts = axis.texts(times.instants[extra[:_TOLD]])
    midnight = all(text.endswith("T00:00:00") for text in texts)
    shown = ", ".join(text[:10] if midnight else text for text in texts)
    more = len(extra) - _TOLD
    return f"{shown} and {more:,} more" if more > 0 else shown
