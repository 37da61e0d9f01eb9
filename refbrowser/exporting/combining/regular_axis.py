"""Files on a regular axis of time: where none lies there is a hole, which is told and never closed up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.combination import Combination, Remedy
from refbrowser.exporting.combining.file_positions import PlacedAxis, mismatch_along
from refbrowser.exporting.combining.mismatches import Mismatch, named
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
        if axis.name in words
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
        instants, tolerance = self._instants()
        whole = np.concatenate([*instants, np.zeros(0, np.int64)])
        regular = self.words.axis(self.units.calendar, whole)
        if regular.size * 8 > LIMITS.inlined_members:
            message = f"{regular.size} times of {quoted(self.axis.name)} do not fit into a document"
            raise RefbrowserError(ErrorKind.BUDGET, message, advice="make the axis shorter (inlined_members)")
        places, is_moved = self._positions(regular, instants, tolerance, found)
        if places is None or self._collide(places, regular, found):
            return self.axis
        return self._parts(regular, places, is_moved=is_moved, found=found)

    def _instants(self) -> tuple[list[Ints], int]:
        told = []
        most = 0
        for part, values in enumerate(self.values):
            known = instants_of(values, self.units) if np.isfinite(_numbers(values)).all() else None
            if known is None:
                which = named(self.sources[part])
                raise _usage(f"times of {quoted(self.axis.name)} are no dates of a calendar: {which}")
            told.append(known[0])
            most = max(most, known[1])
        return told, most

    def _positions(
        self, regular: TimeAxis, instants: list[Ints], tolerance: int, found: list[Mismatch]
    ) -> tuple[list[Ints] | None, bool]:
        """Return where the times of each part lie, and whether these are other ones than the files have.

        None is returned where some are not on the axis, or do not follow each other: that is told.
        """
        takes_nearest, takes_before = (
            self.request.accepts(each, self.axis.name) for each in (NEAREST, WITHIN)
        )
        places, off, outside = [], [], []
        for part, there in enumerate(instants):
            at, is_exact = regular.positions(there, tolerance)
            if not is_exact.all():
                if takes_nearest:
                    behind = regular.instants(at + 1)
                    at = np.where(behind - there < there - regular.instants(at), at + 1, at)
                elif not takes_before:
                    off.append((part, int(there[~is_exact][0])))
            if len(at) and (at.min() < 0 or at.max() >= regular.size):
                outside.append(part)
            places.append(at)
        is_moved = any(
            not np.abs(regular.instants(at) - there).max(initial=0) <= tolerance
            for at, there in zip(places, instants, strict=True)
        )
        if off:
            self._tell_off(off, regular, found)
        if outside:
            self._tell_outside(outside, regular, found)
        return (None if off or outside else places), is_moved

    def _tell_off(self, off: list[tuple[int, int]], regular: TimeAxis, found: list[Mismatch]) -> None:
        odd = [source for part, _ in off for source in self.sources[part]]
        first = instant_text(off[0][1], regular.calendar)
        step = quoted(regular.step.text)
        message = (
            f"{self.axis.name}: times are not on the axis of step {step}, such as {first}, in {named(odd)}"
        )
        remedies = [Remedy("accept", f"{each}:{self.axis.name}") for each in (NEAREST, WITHIN)]
        remedies.append(Remedy("leave_out", odd[0] if len(odd) == 1 else "odd"))
        found.append(mismatch_along("off axis", self.axis.name, message, odd, remedies))

    def _tell_outside(self, outside: list[int], regular: TimeAxis, found: list[Mismatch]) -> None:
        odd = [source for part in outside for source in self.sources[part]]
        first, last = regular.texts(np.array([0, regular.size - 1]))
        message = f"{self.axis.name}: times lie outside the axis, {first} to {last}, in {named(odd)}"
        remedies = [Remedy("leave_out", odd[0] if len(odd) == 1 else "odd")]
        found.append(mismatch_along("outside", self.axis.name, message, odd, remedies))

    def _collide(self, places: list[Ints], regular: TimeAxis, found: list[Mismatch]) -> bool:
        """Tell of times that do not follow each other in a file, and of two files at one time."""
        before = len(found)
        for part, at in enumerate(places):
            steps = np.diff(at)
            if (steps > 1).any() and (steps > 0).all():
                places_behind = (np.flatnonzero(steps > 1) + 1).tolist()
                numbers = (number for number, own in enumerate(self.axis.of_file) if own == part)
                self.gaps |= dict.fromkeys(numbers, (self.axis.name, places_behind))
            elif not (steps == 1).all() and len(found) - before < _TOLD:
                odd = self.sources[part]
                message = (
                    f"{self.axis.name}: times of {named(odd)} do not follow each other on the axis of step "
                    f"{quoted(regular.step.text)}"
                )
                found.append(
                    mismatch_along("hole", self.axis.name, message, odd, [Remedy("leave_out", odd[0])])
                )
        if len(found) > before or self.gaps:
            return True
        order = self._order(places)
        for one, other in pairwise(order):
            if places[other][0] <= places[one][-1] and len(found) - before < _TOLD:
                odd = [self.sources[other][0], self.sources[one][0]]
                text = regular.texts(places[other][:1])[0]
                message = f"{self.axis.name}: {short(odd[0])} and {short(odd[1])} have the same time {text}"
                remedies = [Remedy("leave_out", each) for each in odd]
                found.append(mismatch_along("double", self.axis.name, message, odd[:1], remedies))
        return len(found) > before

    def _order(self, places: list[Ints]) -> list[int]:
        return sorted(
            (part for part, at in enumerate(places) if len(at)), key=lambda part: int(places[part][0])
        )

    def _parts(
        self, regular: TimeAxis, places: list[Ints], *, is_moved: bool, found: list[Mismatch]
    ) -> PlacedAxis:
        order = self._order(places)
        pairs = [(int(places[part][0]), len(places[part])) for part in order]
        lengths: list[int] = []
        values: list[Values] = []
        rank: dict[int, int] = {}
        end = 0
        behind = regular.size
        for part, (start, length) in [*zip(order, pairs, strict=True), (-1, (behind, 0))]:
            for size in _hole_sizes(regular, pairs, end, start):
                lengths.append(size)
                values.append(self._counted(regular, end, size, found))
                end += size
            if part >= 0:
                rank[part] = len(lengths)
                lengths.append(length)
                is_own = not is_moved
                values.append(self.values[part] if is_own else self._counted(regular, start, length, found))
                end = start + length
        dtype = np.result_type(*values) if values else np.dtype("f8")
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


def _numbers(values: Values) -> Values:
    return values if values.dtype.kind in "iuf" else np.full(values.shape, np.nan)


def _finer(regular: TimeAxis) -> str:
    """Return the longest unit in whole numbers of which an axis can be counted."""
    lengths = regular.step.length or DAY, regular.start
    whole = [name for name, each in LENGTHS.items() if not any(length % each for length in lengths)]
    return max(whole, key=lambda name: LENGTHS[name])


def _hole_sizes(regular: TimeAxis, parts: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[int]:
    """Yield the sizes of the parts of a hole: as long as those of files would be there."""
    if end <= start:
        return
    borders = _borders(regular, parts, start, end)
    at = start
    for border in [*borders, end]:
        if border > at:
            yield border - at
            at = border


def _borders(regular: TimeAxis, parts: Sequence[tuple[int, int]], start: int, end: int) -> list[int]:
    """Return where files would meet in a hole whose lengths differ: as whole months or years do."""
    inner = parts[1:-1] or parts
    months = _months(regular, np.arange(start, end))
    for count in (1, 12):
        if all(_is_whole(regular, each, count) for each in inner):
            return (np.flatnonzero(np.diff(months // count)) + start + 1).tolist()
    return []


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
