"""Files on a regular axis of time: where none lies there is a hole, which is told and never closed up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.combination import Combination, Remedy
from refbrowser.exporting.combining.file_positions import mismatch_along
from refbrowser.exporting.combining.mismatches import Mismatch, named
from refbrowser.exporting.combining.placed_axis import PlacedAxis
from refbrowser.exporting.combining.properties import Ints, ScannedSource, Values, short
from refbrowser.exporting.combining.times import target_units
from refbrowser.limits import LIMITS
from refbrowser.model.calendars import DAY, LENGTHS, calendar_dates, start_of
from refbrowser.model.cf import TimeUnits
from refbrowser.model.time_axis import AxisWords, TimeAxis, instant_text, instants_of

#: Differences that are told one by one.
_TOLD = 20
#: How files' times that are not on the axis are taken, as `Combination.accept` says it.
NEAREST, WITHIN = "jitter", "within"
#: Of files by number, the dimension along which their own times have holes, and the places behind these.
Gaps = dict[int, tuple[str, list[int]]]


def on_regular_axes(
    axes: Sequence[PlacedAxis],
    files: Sequence[ScannedSource],
    arrays: Sequence[ArrayOfFiles],
    request: Combination,
) -> tuple[list[PlacedAxis], list[Mismatch], Gaps]:
    """Return the dimensions with those among them regular of which that is asked, and what is wrong with it.

    Files whose own times have holes are not laid; they are to be taken in parts.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: an axis has no times, or its ends are not known; `E_BUDGET`: it is too long.
    """
    words = {each.name: each for each in request.regular_axes()}
    found: list[Mismatch] = []
    gaps: Gaps = {}
    laid = [
        _Laying(axis, words[axis.name], files, arrays, request, gaps).laid(found)
        if axis.name in words and axis.begins is None
        else axis
        for axis in axes
    ]
    return laid, found, gaps


class _Laying:
    """Lays the parts of one dimension on a regular axis."""

    def __init__(
        self,
        axis: PlacedAxis,
        words: AxisWords,
        files: Sequence[ScannedSource],
        arrays: Sequence[ArrayOfFiles],
        request: Combination,
        gaps: Gaps,
    ) -> None:
        self.axis, self.words, self.request, self.gaps = axis, words, request, gaps
        self.sources: list[list[str]] = [[] for _ in axis.lengths]
        for file, part in zip(files, axis.of_file, strict=True):
            if part >= 0:
                self.sources[part].append(file.source)
        coordinate = next((each for each in arrays if each.path == axis.path), None)
        units = TimeUnits.from_attributes(axis.attributes) if axis.is_new else None
        if coordinate is not None and not axis.is_new:
            units = target_units(coordinate.first, request)
        if units is None or axis.values is None:
            raise _usage(f"{quoted(axis.name)} has no times in units that say since when they count")
        self.units, self.values = units, axis.values

    def laid(self, found: list[Mismatch]) -> PlacedAxis:
        """Return the dimension with all its times; parts where no file lies have none of the files."""
        lengths = np.array([len(each) for each in self.values], np.int64)
        self.starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        instants, tolerance = self._instants()
        regular = self.words.axis(self.units.calendar, instants)
        if regular.size * 8 > LIMITS.inlined_members:
            message = f"{regular.size} times of {quoted(self.axis.name)} do not fit into a document"
            raise RefbrowserError(ErrorKind.BUDGET, message, advice="make the axis shorter (inlined_members)")
        places, is_moved = self._positions(regular, instants, tolerance, found)
        del instants
        if places is None or self._collide(places, regular, found):
            return self.axis
        return self._parts(regular, places, is_moved=is_moved, found=found)

    def _instants(self) -> tuple[Ints, int]:
        """Return the instants of all times, part by part, and by how much they may be wrong."""
        values = np.concatenate([*self.values, np.zeros(0, np.int64)][: len(self.values) or 1])
        is_number = values.dtype.kind in "iuf"
        known = instants_of(values, self.units) if is_number and np.isfinite(values).all() else None
        if known is None:
            odd = self._parts_of(~np.isfinite(values)) if is_number else []
            which = named([self.sources[part][0] for part in odd]) if odd else "all files"
            raise _usage(f"times of {quoted(self.axis.name)} are no dates of a calendar: {which}")
        return known

    def _parts_of(self, which: npt.NDArray[np.bool_]) -> list[int]:
        """Return the parts that some of all times are of."""
        there = np.flatnonzero(which)
        return np.unique(np.searchsorted(self.starts, there, side="right") - 1).tolist()

    def _sources_of(self, parts: Sequence[int]) -> list[str]:
        return [source for part in parts for source in self.sources[part]]

    def _positions(
        self, regular: TimeAxis, instants: Ints, tolerance: int, found: list[Mismatch]
    ) -> tuple[Ints | None, bool]:
        """Return where all times lie, and whether these are other times than those of files.

        None is returned where some are not on the axis, which is told.
        """
        takes_nearest, takes_before = (
            self.request.accepts(each, self.axis.name) for each in (NEAREST, WITHIN)
        )
        at, is_exact = regular.positions(instants, tolerance)
        off = ~is_exact
        if takes_nearest and off.any():
            is_behind = regular.instants(at + 1) - instants < instants - regular.instants(at)
            at = np.where(off & is_behind, at + 1, at)
        if off.any() and not (takes_nearest or takes_before):
            self._tell_off(self._parts_of(off), int(instants[np.argmax(off)]), regular, found)
            return None, False
        outside = (at < 0) | (at >= regular.size)
        if outside.any():
            self._tell_outside(self._parts_of(outside), regular, found)
            return None, False
        return at, bool(off.any())

    def _tell_off(self, off: list[int], instant: int, regular: TimeAxis, found: list[Mismatch]) -> None:
        odd, first = self._sources_of(off), instant_text(instant, regular.calendar)
        step = quoted(regular.step.text)
        message = (
            f"{self.axis.name}: times are not on the axis of step {step}, such as {first}, in {named(odd)}"
        )
        remedies = [Remedy("accept", f"{each}:{self.axis.name}") for each in (NEAREST, WITHIN)]
        remedies.append(Remedy("leave_out", odd[0] if len(odd) == 1 else "odd"))
        found.append(mismatch_along("off axis", self.axis.name, message, odd, remedies))

    def _tell_outside(self, outside: list[int], regular: TimeAxis, found: list[Mismatch]) -> None:
        odd = self._sources_of(outside)
        first, last = regular.texts(np.array([0, regular.size - 1]))
        message = f"{self.axis.name}: times lie outside the axis, {first} to {last}, in {named(odd)}"
        remedies = [Remedy("leave_out", odd[0] if len(odd) == 1 else "odd")]
        found.append(mismatch_along("outside", self.axis.name, message, odd, remedies))

    def _collide(self, places: Ints, regular: TimeAxis, found: list[Mismatch]) -> bool:
        """Tell of times that do not follow each other in a file, and of two files at one time.

        Files whose times have holes are noted, to be taken in parts.
        """
        before = len(found)
        steps = np.diff(places, append=0)
        # From the last time of a part to the next one is no step.
        steps[self.starts[1:][np.diff(self.starts) > 0] - 1] = 1
        for part in self._parts_of(steps != 1)[:_TOLD]:
            own = steps[self.starts[part] : self.starts[part + 1]]
            if (own < 1).any():
                odd = self.sources[part]
                message = (
                    f"{self.axis.name}: times of {named(odd)} do not follow each other on the axis of step "
                    f"{quoted(regular.step.text)}"
                )
                remedies = [Remedy("leave_out", odd[0])]
                found.append(mismatch_along("hole", self.axis.name, message, odd, remedies))
        if len(found) > before:
            return True
        self._note_gaps(steps)
        order, firsts, ends = self._order(places)
        for at in np.flatnonzero(firsts[1:] < ends[:-1]).tolist()[:_TOLD]:
            odd = [self.sources[order[at + 1]][0], self.sources[order[at]][0]]
            text = regular.texts(firsts[at + 1 : at + 2])[0]
            message = f"{self.axis.name}: {short(odd[0])} and {short(odd[1])} have the same time {text}"
            remedies = [Remedy("leave_out", each) for each in odd]
            found.append(mismatch_along("double", self.axis.name, message, odd[:1], remedies))
        return len(found) > before or bool(self.gaps)

    def _note_gaps(self, steps: Ints) -> None:
        gaps = {
            part: (np.flatnonzero(steps[self.starts[part] : self.starts[part + 1]] > 1) + 1).tolist()
            for part in self._parts_of(steps > 1)
        }
        if gaps:
            for number, part in enumerate(self.axis.of_file):
                if part in gaps:
                    self.gaps[number] = (self.axis.name, gaps[part])

    def _order(self, places: Ints) -> tuple[list[int], Ints, Ints]:
        """Return the parts that have times as these lie, and where each begins and ends."""
        there = np.flatnonzero(np.diff(self.starts) > 0)
        firsts, ends = places[self.starts[there]], places[self.starts[there + 1] - 1] + 1
        order = np.argsort(firsts, kind="stable")
        return there[order].tolist(), firsts[order], ends[order]

    def _parts(self, regular: TimeAxis, places: Ints, *, is_moved: bool, found: list[Mismatch]) -> PlacedAxis:
        order, firsts, ends = self._order(places)
        pairs = list(zip(firsts.tolist(), (ends - firsts).tolist(), strict=True))
        lengths: list[int] = []
        values: list[Values] = []
        rank: dict[int, int] = {}
        # A document that files are added to has any number of months.
        document = self.axis.of_file[0] if self.request.extends else -1
        of_files = [pair for part, pair in zip(order, pairs, strict=True) if part != document]
        period = _period(regular, of_files)
        end = 0
        for part, (start, length) in [*zip(order, pairs, strict=True), (-1, (regular.size, 0))]:
            for size in _hole_sizes(regular, period, end, start):
                lengths.append(size)
                values.append(self._counted(regular, end, size, found))
                end += size
            if part >= 0:
                rank[part] = len(lengths)
                lengths.append(length)
                own = self.values[part]
                values.append(self._counted(regular, start, length, found) if is_moved else own)
                end = start + length
        dtype = np.result_type(*{each.dtype for each in values}) if values else np.dtype("f8")
        return replace(
            self.axis,
            lengths=lengths,
            of_file=[rank.get(part, -1) for part in self.axis.of_file],
            values=[each.astype(dtype, copy=False) for each in values],
            regular=regular,
            is_moved=is_moved,
        )

    def _counted(self, regular: TimeAxis, start: int, size: int, found: list[Mismatch]) -> Values:
        """Return times of the axis as numbers; tells where those of the files' type cannot say them."""
        dtype = self.values[0].dtype if self.values else np.dtype("f8")
        length, zero = LENGTHS[self.units.unit], start_of(self.units.since, self.units.calendar)
        assert zero is not None
        micros = regular.instants(np.arange(start, start + size)) - zero
        if dtype.kind == "f":
            return (micros.astype(np.longdouble) / length).astype(dtype)
        whole, rest = np.divmod(micros, length)
        limits = np.iinfo(dtype)
        if rest.any() and not any(each.kind == "time units" for each in found):
            units = f"{_finer(regular)} since {self.units.since}"
            message = (
                f"{self.axis.name}: whole {self.units.unit} cannot say the times of the axis of step "
                f"{quoted(regular.step.text)}"
            )
            remedies = [] if self.axis.is_new else [Remedy("time_units", units)]
            found.append(mismatch_along("time units", self.axis.name, message, [], remedies))
        fits = bool(size) and limits.min <= int(whole.min()) and int(whole.max()) <= limits.max
        return whole.astype(dtype) if fits else whole


def _finer(regular: TimeAxis) -> str:
    """Return the longest unit in whole numbers of which an axis can be counted."""
    lengths = regular.step.length or DAY, regular.start
    whole = [name for name, each in LENGTHS.items() if not any(length % each for length in lengths)]
    return max(whole, key=lambda name: LENGTHS[name])


def _period(regular: TimeAxis, parts: Sequence[tuple[int, int]]) -> int:
    """Return the months that each file but the first and the last has: 1 or 12; 0 where they have others."""
    inner = parts[1:-1] or parts
    is_whole = (count for count in (1, 12) if all(_is_whole(regular, each, count) for each in inner))
    return next(is_whole, 0)


def _hole_sizes(regular: TimeAxis, period: int, start: int, end: int) -> Iterator[int]:
    """Yield the sizes of the parts of a hole: as long as those of files would be there."""
    if end <= start:
        return
    borders = [end]
    if period:
        periods = _months(regular, np.arange(start, end)) // period
        borders = [*(np.flatnonzero(np.diff(periods)) + start + 1).tolist(), end]
    for border in borders:
        yield border - start
        start = border


def _months(regular: TimeAxis, positions: Ints) -> Ints:
    years, months, _ = calendar_dates(regular.instants(positions) // DAY, regular.calendar)
    return np.asarray(years * 12 + months - 1, np.int64)


def _is_whole(regular: TimeAxis, part: tuple[int, int], count: int) -> bool:
    """Tell whether a part is a whole month, or so many of them that begin together."""
    start, length = part
    before, first, last, behind = (
        int(each) // count
        for each in _months(regular, np.array([start - 1, start, start + length - 1, start + length]))
    )
    return before < first == last < behind


def _usage(message: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.USAGE, message, advice="a regular axis is of times, such as time=::1D")
