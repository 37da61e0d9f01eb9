"""What is taken of files along dimensions, and of files with holes in them: whole chunks."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.exporting.combining.combination import ChunkCut, Combination, DimensionRange
from refbrowser.exporting.combining.file_parts import (
    Border,
    off_borders,
    part_of,
    why_not_cut,
    with_cut_chunks,
)
from refbrowser.exporting.combining.file_positions import (
    PlacedAxis,
    mismatch_along,
    no_dimension,
    placed_axes,
)
from refbrowser.exporting.combining.mismatches import Mismatch, arrays_of
from refbrowser.exporting.combining.properties import ArrayProperties, ScannedSource, Values, short
from refbrowser.exporting.combining.times import target_units, time_of
from refbrowser.model.cf import TimeUnits
from refbrowser.model.time_axis import instant_behind, instant_of, instants_of

#: Why a file is left out of which nothing is taken.
NOT_SELECTED = "not selected"
#: Differences that are told one by one.
_TOLD = 20
#: A part of a file along a dimension.
_Span = tuple[int, int]


def cut_smaller(
    files: Sequence[ScannedSource], request: Combination
) -> tuple[list[ScannedSource], list[Mismatch]]:
    """Return files whose chunks are cut as it is said, and the arrays of which they cannot be.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: those of no array can be cut so, or not those of one that is named.
    """
    told: list[Mismatch] = []
    taken = _taken(files, request) if request.subchunk else set()
    for cut in request.cuts():
        why: dict[str, str] = {}
        plans: dict[tuple[ArrayProperties, ...], dict[int, tuple[str, int]]] = {}
        for file in files:
            if file.arrays not in plans:
                plans[file.arrays] = _cuts(file, cut, taken, why)
        if not any(plans.values()):
            raise _not_cut(cut, why, files)
        told += [
            mismatch_along(
                "chunks", path, f"{path}: chunks stay as they are: {reason}", [], [], is_blocking=False
            )
            for path, reason in why.items()
        ]
        files = [with_cut_chunks(file, plans[file.arrays]) if plans[file.arrays] else file for file in files]
    return list(files), told


def _taken(files: Sequence[ScannedSource], request: Combination) -> set[str]:
    """Return the paths of the arrays that are not left out."""
    arrays = arrays_of(files, replace(request, select=(), axis=(), subchunk=()))
    return {told.path for array in arrays for told in array.groups()}


def _cuts(
    file: ScannedSource, cut: ChunkCut, taken: Container[str], why: dict[str, str]
) -> dict[int, tuple[str, int]]:
    found = {}
    for number, told in enumerate(file.arrays):
        is_meant = not cut.array or cut.array in (told.name, told.path)
        is_referred = told.path in taken and told.path not in file.values
        if is_meant and is_referred and cut.dimension in told.dimensions:
            reason = why_not_cut(told, cut.dimension, cut.side)
            if not reason:
                found[number] = (cut.dimension, cut.side)
            elif cut.array:
                raise _not_cut(cut, {told.path: reason}, [file])
            else:
                why[told.path] = reason
    return found


def _not_cut(cut: ChunkCut, why: Mapping[str, str], files: Sequence[ScannedSource]) -> RefbrowserError:
    if not why:
        return no_dimension(cut.dimension, [told for file in files for told in file.arrays])
    path, reason = next(iter(why.items()))
    message = f"chunks cannot be cut to {cut.side} along {quoted(cut.dimension)}: {path}: {reason}"
    return RefbrowserError(
        ErrorKind.USAGE,
        message,
        advice="chunks are cut without being read; to have others, export to a store",
    )


class _Selecting:
    """Finds what a range takes of each file."""

    def __init__(self, files: Sequence[ScannedSource], taken: DimensionRange, request: Combination) -> None:
        self.files, self.taken, self.request = files, taken, request

    def spans(self) -> list[_Span | None]:
        """Return what is taken of each file; None of one without the dimension.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is no such dimension, or no coordinate tells where dates or values lie.
        """
        name = self.taken.name
        new = {each.name for each in self.request.new_dimensions()}
        if name not in {*self.request.concat, *new}:
            return [self._of_file(file) for file in self.files]
        # Where holes are follows from what is left.
        bare = replace(self.request, select=(), axis=(), subchunk=(), sort=True)
        arrays = arrays_of(self.files, bare)
        axes, _ = placed_axes(self.files, arrays, bare)
        axis = next(each for each in axes if each.name == name)
        units = TimeUnits.from_attributes(axis.attributes)
        coordinate = next((each for each in arrays if each.path == axis.path), None)
        if coordinate is not None:
            units = target_units(coordinate.first, self.request)
        spans = self._of_axis(axis, units)
        return [None if part < 0 else spans[part] for part in axis.of_file]

    def _of_axis(self, axis: PlacedAxis, units: TimeUnits | None) -> list[_Span]:
        if self.taken.positions is None:
            if axis.values is None:
                raise self._no_coordinate()
            return [self._of_values(each, units) for each in axis.values]
        begin, end, _ = self.taken.positions.indices(axis.size)
        return [
            (min(max(begin - start, 0), length), min(max(end - start, 0), length))
            for start, length in zip(axis.starts, axis.lengths, strict=True)
        ]

    def _of_file(self, file: ScannedSource) -> _Span | None:
        name = self.taken.name
        having = [told for told in file.arrays if name in told.dimensions]
        if not having:
            return None
        if self.taken.positions is not None:
            size = having[0].shape[having[0].dimensions.index(name)]
            begin, end, _ = self.taken.positions.indices(size)
            return begin, max(begin, end)
        told = next((each for each in having if each.is_coordinate and each.path in file.values), None)
        if told is None:
            raise self._no_coordinate()
        return self._of_values(file.values[told.path], time_of(told))

    def _of_values(self, values: Values, units: TimeUnits | None) -> _Span:
        inside = self._mask(values, units)
        found = np.flatnonzero(inside)
        if not len(found):
            return 0, 0
        first, last = int(found[0]), int(found[-1])
        if last - first + 1 != len(found):
            message = (
                f"what is taken of {quoted(self.taken.name)} does not lie together: its values have no order"
            )
            raise RefbrowserError(ErrorKind.USAGE, message, advice="say positions: DIM=[A:B]")
        return first, last + 1

    def _mask(self, values: Values, units: TimeUnits | None) -> npt.NDArray[np.bool_]:
        begin, end = self.taken.begin, self.taken.end
        inside = np.ones(values.shape, bool)
        if units is not None:
            known = instants_of(values, units)
            if known is None:
                raise self._no_coordinate()
            instants, tolerance = known
            if begin:
                inside &= instants >= instant_of(_date(begin), units.calendar) - tolerance
            if end:
                inside &= instants < instant_behind(_date(end), units.calendar) - tolerance
            return inside
        if values.dtype.kind not in "iuf":
            raise self._no_coordinate()
        if begin:
            inside &= values >= _number(begin)
        if end:
            inside &= values <= _number(end)
        return inside

    def _no_coordinate(self) -> RefbrowserError:
        message = f"no coordinate says where {quoted(self.taken.name)} has these dates or values"
        return RefbrowserError(ErrorKind.USAGE, message, advice=f"say positions: {self.taken.name}=[A:B]")


def _date(text: str) -> str:
    if not text[:4].isdecimal() or "." in text or "e" in text.lower():
        raise RefbrowserError(ErrorKind.USAGE, f"{quoted(text)} is not a date", advice="for example 2016-01")
    return text


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        message = f"{quoted(text)} is not a number, as the values of the coordinate are"
        raise RefbrowserError(ErrorKind.USAGE, message) from None


def selected(
    files: Sequence[ScannedSource], request: Combination
) -> tuple[list[ScannedSource], list[tuple[str, str]], list[Mismatch]]:
    """Return the parts of files that are taken, files of which nothing is, and what speaks against it.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: nothing is taken, or it is not known where a range lies.
    """
    gone: list[tuple[str, str]] = []
    told: list[Mismatch] = []
    arrays = _taken(files, request) if request.select else set()
    for taken in request.ranges():
        spans = _Selecting(files, taken, request).spans()
        if all(span is None for span in spans):
            raise no_dimension(taken.name, [told for file in files for told in file.arrays])
        parts = []
        for file, span in zip(files, spans, strict=True):
            if span is None:
                parts.append(file)
            elif span[0] >= span[1]:
                gone.append((file.source, NOT_SELECTED))
            else:
                borders = off_borders(file, taken.name, span[:1], arrays)
                told += _within_chunks("select", "the part", file, taken.name, borders)
                parts.append(file if borders else part_of(file, taken.name, *span))
        if not parts:
            message = f"nothing is taken of {quoted(taken.name)}: the files have no such part"
            raise RefbrowserError(ErrorKind.USAGE, message)
        files = parts
    return list(files), gone, told


def without_gaps(
    files: Sequence[ScannedSource], gaps: Mapping[int, tuple[str, Sequence[int]]], request: Combination
) -> tuple[list[ScannedSource], list[Mismatch]]:
    """Return files that are cut where their own times have holes, and those that cannot be.

    Parameters
    ----------
    gaps
        Of files by number, the dimension, and the places before which times are missing.
    """
    parts, told = [], []
    arrays = _taken(files, request)
    for number, file in enumerate(files):
        dimension, places = gaps.get(number, ("", ()))
        borders = off_borders(file, dimension, places, arrays) if places else []
        if borders:
            told += _within_chunks("hole", "what follows a hole", file, dimension, borders)
        if borders or not places:
            parts.append(file)
            continue
        ends = [0, *places, _size(file, dimension)]
        parts += [part_of(file, dimension, *span) for span in pairwise(ends)]
    return parts, told


def _size(file: ScannedSource, dimension: str) -> int:
    return next(
        told.shape[told.dimensions.index(dimension)] for told in file.arrays if dimension in told.dimensions
    )


def _within_chunks(
    kind: str, what: str, file: ScannedSource, dimension: str, borders: Iterable[Border]
) -> list[Mismatch]:
    """Return that something begins within a chunk, with the nearest borders."""
    found = []
    for each in borders:
        place, before, behind = _places_text(file, dimension, (each.place, each.before, each.behind))
        message = (
            f"{each.path}: {what} begins within a chunk, at {dimension} {place} in {short(file.source)}; the "
            f"nearest borders are {before} and {behind}"
        )
        found.append(mismatch_along(kind, each.path, message, [file.source], []))
    return found[:_TOLD]


def _places_text(file: ScannedSource, dimension: str, places: Sequence[int]) -> list[str]:
    """Return places as dates or values of the coordinate; as positions where there is none."""
    told = next((each for each in file.arrays if each.is_coordinate and each.name == dimension), None)
    values = None if told is None else file.values.get(told.path)
    if told is None or values is None:
        return [f"[{place}]" for place in places]
    inside = [place for place in places if place < len(values)]
    units = time_of(told)
    texts: list[Any] = values[inside].tolist() if units is None else units.texts(values[inside])
    named = dict(zip(inside, map(str, texts), strict=True))
    return [named.get(place, "the end") for place in places]
