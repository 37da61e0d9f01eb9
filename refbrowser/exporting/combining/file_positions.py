"""Where each file lies along each dimension: in order, with gaps, overlaps and doubles named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from math import gcd, prod
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.combination import Combination, NewDimension, Remedy, array_of
from refbrowser.exporting.combining.mismatches import Mismatch, OddValue, named
from refbrowser.exporting.combining.placed_axis import PlacedAxis, axis_within
from refbrowser.exporting.combining.properties import (
    ArrayProperties,
    ScannedSource,
    Values,
    digest_of,
    short,
)
from refbrowser.exporting.combining.stored_forms import stored_form
from refbrowser.exporting.combining.times import counted, target_units, time_of
from refbrowser.exporting.layout import WHO_READS_THEM
from refbrowser.formats.reference_forms import form_of
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_axes import ChunkAxis, RegularAxis, Runs, axis_of
from refbrowser.model.grid import grid_of, sides_text
from refbrowser.words import counted_plain, size_text

#: A distance of more than so many usual steps is a gap.
_WIDE = 1.5
#: Differences of one kind that are told one by one.
_TOLD = 20
#: How often a usual chunk an odd file's may be long.
_FAR = 4
#: Dimensions that are named where one is not there.
_LISTED = 12


def placed_axes(
    files: Sequence[ScannedSource], arrays: Sequence[ArrayOfFiles], request: Combination
) -> tuple[list[PlacedAxis], list[Mismatch]]:
    """Return the dimensions along which files lie, and what is wrong with how they do.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: no file has a dimension, or its coordinates are needed and not there.
    """
    found: list[Mismatch] = []
    axes = [_new_axis(each, files, found) for each in request.new_dimensions()]
    axes += [_Placing(name, files, arrays, request).axis(found) for name in request.concat]
    _doubles(files, arrays, axes, request, found)
    return axes, found


def _new_axis(new: NewDimension, files: Sequence[ScannedSource], found: list[Mismatch]) -> PlacedAxis:
    values, lacking = new.values(files)
    if lacking:
        what = f"the {new.kind} {quoted(new.argument)}"
        found.append(
            mismatch_along(
                "new dimension",
                new.name,
                f"{new.name}: {what} gives no value for {named([each.source for each in lacking])}",
                [each.source for each in lacking],
                [Remedy("leave_out", each.source) for each in lacking[:1]],
            )
        )
        values = list(range(len(files)))
    distinct: dict[Any, int] = {}
    of_file = [distinct.setdefault(value, len(distinct)) for value in values]
    column = array_of(list(distinct))
    return PlacedAxis(
        new.name,
        f"/{new.name}",
        [1] * len(distinct),
        of_file,
        list(column.reshape(-1, 1)),
        is_new=True,
        attributes=new.attributes(files) if files else {},
    )


def no_dimension(name: str, arrays: Iterable[ArrayProperties]) -> RefbrowserError:
    """Return the error of a dimension that no array has: it names those that there are."""
    known = list(dict.fromkeys(each for told in arrays for each in told.dimensions))
    *most, last = [quoted(each) for each in known[:_LISTED]] or ["none"]
    there = f"the dimensions are {', '.join(most)} and {last}" if most else f"the only dimension is {last}"
    meant = get_close_matches(name, known, 1)
    advice = f"did you mean {quoted(meant[0])}?" if meant else "for a new one give --new-dim NAME=FROM"
    message = (
        f"no array of the files has the dimension {quoted(name)}; {there if known else 'they have none'}"
    )
    return RefbrowserError(ErrorKind.USAGE, message, advice=advice)


class _Placing:
    """Places files along a dimension that they have."""

    def __init__(
        self, name: str, files: Sequence[ScannedSource], arrays: Sequence[ArrayOfFiles], request: Combination
    ) -> None:
        self.name, self.files, self.request = name, files, request
        having = [each for each in arrays if any(name in told.dimensions for told in each.told)]
        if not having:
            raise no_dimension(name, [told for array in arrays for told in array.told])
        self.lengths = [-1] * len(files)
        self.sets: list[list[str]] = [[] for _ in files]
        for array in having:
            for number, told in zip(array.files, array.told, strict=True):
                if name in told.dimensions:
                    length = told.shape[told.dimensions.index(name)]
                    if self.lengths[number] not in (-1, length) or told.dimensions.count(name) > 1:
                        raise self._twice(number, array.path)
                    self.lengths[number] = length
                    self.sets[number].append(array.path)
        self.coordinate = next(
            (
                each
                for each in having
                if any(told.dimensions == (name,) == (told.name,) for told in each.told)
            ),
            None,
        )

    def _twice(self, number: int, path: str) -> RefbrowserError:
        message = f"a file has {quoted(self.name)} with two lengths, or twice in one array"
        place = Place(document=self.files[number].source, path=path)
        return RefbrowserError(ErrorKind.META, message, place, f"--leave-out-var {path}")

    def axis(self, found: list[Mismatch]) -> PlacedAxis:
        """Return the dimension with all files on it."""
        values = self._values()
        if values is None:
            return self._by_order()
        if self.request.extends and not self.request.accepts("overlap", self.name) and self.coordinate:
            within = axis_within(self.name, self.coordinate.path, values)
            if within is not None:
                return within
        parts: dict[bytes, int] = {}
        of_file: list[int] = []
        distinct: list[Values] = []
        owners: list[list[int]] = []
        for number, each in enumerate(values):
            if each is None:
                of_file.append(-1)
                continue
            at = parts.setdefault(digest_of(each), len(parts))
            if at == len(distinct):
                distinct.append(each)
                owners.append([])
            of_file.append(at)
            owners[at].append(number)
        # On a regular axis they lie where their times say.
        is_regular = any(each.name == self.name for each in self.request.regular_axes())
        order = [*range(len(distinct))] if is_regular else self._order(distinct, owners, found)
        rank = {at: number for number, at in enumerate(order)}
        assert self.coordinate is not None
        return PlacedAxis(
            self.name,
            self.coordinate.path,
            [len(distinct[at]) for at in order],
            [rank.get(at, -1) for at in of_file],
            [distinct[at] for at in order],
        )

    def _values(self) -> list[Values | None] | None:
        """Return the coordinates of each file, of times in the units of most."""
        if self.coordinate is None:
            return None
        # Accepted units are taken for the same.
        accepted = self.request.accepts("units", self.coordinate.path)
        target = None if accepted else target_units(self.coordinate.first, self.request)
        found: list[Values | None] = [None] * len(self.files)
        for number, told in zip(self.coordinate.files, self.coordinate.told, strict=True):
            values = self.files[number].values.get(told.path)
            if values is None or values.ndim != 1:
                return None
            units = time_of(told)
            if units is not None and target is not None:
                # What cannot be counted alike is told as a difference of units.
                with suppress(RefbrowserError):
                    values = counted(values, told, units, target)
            found[number] = values
        if any(each is None and length >= 0 for each, length in zip(found, self.lengths, strict=True)):
            return None
        return found

    def _by_order(self) -> PlacedAxis:
        """Return the dimension without coordinates: files lie in the order in which they are named."""
        if len(self.request.concat) + len(self.request.new_dims) > 1:
            message = (
                f"files have no coordinates of {quoted(self.name)}, which are needed with other dimensions"
            )
            raise RefbrowserError(ErrorKind.USAGE, message)
        seen: dict[tuple[str, ...], int] = {}
        lengths: list[int] = []
        of_file = []
        for number, length in enumerate(self.lengths):
            if length < 0:
                of_file.append(-1)
                continue
            # With different arrays each set of them is laid out by itself.
            key = tuple(self.sets[number]) if self.request.merge else ()
            at = seen.setdefault(key, 0)
            seen[key] += 1
            if at == len(lengths):
                lengths.append(length)
            elif lengths[at] != length:
                message = f"{quoted(self.files[number].source)} has another length along {quoted(self.name)}"
                raise RefbrowserError(ErrorKind.META, message, Place(document=self.files[number].source))
            of_file.append(at)
        return PlacedAxis(self.name, "", lengths, of_file)

    # Order

    def _order(self, parts: list[Values], owners: list[list[int]], found: list[Mismatch]) -> list[int]:
        """Return the order of parts; tells of gaps, overlaps and disorder."""
        parts = [each.view(np.int64) if each.dtype.kind in "mM" else each for each in parts]
        empty = [at for at, each in enumerate(parts) if not len(each)]
        usual = [at for at in range(len(parts)) if len(parts[at])]
        if any(parts[at].dtype.kind not in "iuf" for at in usual):
            self._twice_among([(parts[at], self.files[owners[at][0]].source) for at in usual], found)
            order = sorted(usual, key=lambda at: str(parts[at][0])) if self.request.sort else usual
            return [*order, *empty]
        low = np.array([float(parts[at].min()) for at in usual])
        high = np.array([float(parts[at].max()) for at in usual])
        falling = self._is_falling([parts[at] for at in usual], low)
        rising = np.lexsort((high, low))
        in_order = rising[::-1] if falling else rising
        given = np.arange(len(usual))
        files = [[self.files[number].source for number in owners[at]] for at in usual]
        self._inside([parts[at] for at in usual], files, falling, found)
        if not self.request.sort and not np.array_equal(in_order, given):
            # Files that come before the one that is named before them.
            ranks = np.empty(len(usual), np.int64)
            ranks[in_order] = given
            early = [at for at in range(1, len(usual)) if ranks[at] < ranks[at - 1]]
            odd = [name for at in early for name in files[at]]
            message = f"{self.name}: files are not in the order of their coordinates: {named(odd)}"
            remedies = [Remedy("sort"), Remedy("accept", f"disorder:{self.name}")]
            found.append(self._told("disorder", message, odd, remedies))
        self._between(rising, low, high, [parts[at] for at in usual], files, found)
        chosen = in_order if self.request.sort else given
        return [*(usual[at] for at in chosen.tolist()), *empty]

    def _twice_among(self, parts: list[tuple[Values, str]], found: list[Mismatch]) -> None:
        """Tell of coordinates that are no numbers, and that several files have."""
        seen: dict[Any, str] = {}
        for part, source in parts:
            texts = part.tolist()
            before = next((seen[each] for each in texts if each in seen), None)
            seen |= dict.fromkeys(texts, source)
            if before is not None and len(found) < _TOLD:
                remedies = [Remedy("leave_out", source), Remedy("leave_out", before)]
                remedies.append(Remedy("accept", f"overlap:{self.name}"))
                message = f"{self.name}: {short(source)} overlaps {short(before)}"
                found.append(self._told("overlap", message, [source], remedies))

    @staticmethod
    def _is_falling(parts: list[Values], low: Any) -> bool:
        inside = [float(each[-1]) < float(each[0]) for each in parts if len(each) > 1]
        if inside:
            return sum(inside) * 2 > len(inside)
        return len(low) > 1 and int((np.diff(low) < 0).sum()) > len(low) // 2

    def _inside(
        self, parts: list[Values], files: list[list[str]], is_falling: bool, found: list[Mismatch]
    ) -> None:
        """Tell of files whose own coordinates are in another order than those of most."""
        odd = []
        for part, names in zip(parts, files, strict=True):
            steps = np.diff(part) if part.dtype.kind != "u" else np.diff(part.astype(np.float64))
            if len(steps) and not (steps < steps[:1] * 0 if is_falling else steps > steps[:1] * 0).all():
                odd += names
        if odd:
            message = (
                f"{self.name}: coordinates within a file are in another order, or occur twice: {named(odd)}"
            )
            found.append(mismatch_along("disorder", self.name, message, odd, [], is_blocking=False))

    def _between(
        self,
        rising: Any,
        low: Any,
        high: Any,
        parts: list[Values],
        files: list[list[str]],
        found: list[Mismatch],
    ) -> None:
        """Tell of gaps and overlaps of neighbours."""
        if len(rising) < 2:
            return
        starts, stops = low[rising], high[rising]
        reach = np.maximum.accumulate(stops)
        distances = starts[1:] - reach[:-1]
        inside = [np.abs(np.diff(each.astype(np.float64))) for each in parts if len(each) > 1]
        steps = np.concatenate(inside) if inside else distances[distances > 0]
        for at in np.flatnonzero(distances <= 0).tolist()[:_TOLD]:
            before = int(np.argmax(stops[: at + 1]))
            odd = [*files[rising[at + 1]], *files[rising[before]]]
            message = f"{self.name}: {short(odd[0])} overlaps {short(odd[-1])}"
            remedies = [Remedy("leave_out", odd[0]), Remedy("leave_out", odd[-1])]
            found.append(
                self._told("overlap", message, odd[:1], [*remedies, Remedy("accept", f"overlap:{self.name}")])
            )
        if not len(steps):
            return
        step = float(np.max(steps) if inside else np.median(steps))
        wide = np.flatnonzero(distances > _WIDE * step).tolist()
        for at in wide[:_TOLD]:
            one, other = files[rising[at]][-1], files[rising[at + 1]][0]
            missing = round(float(distances[at]) / float(np.median(steps))) - 1
            many = counted_plain(missing, "value is", "values are")
            message = f"{self.name}: about {many} missing between {short(one)} and {short(other)}"
            found.append(mismatch_along("gap", self.name, message, [one, other], [], is_blocking=False))
        if len(wide) > _TOLD:
            message = f"{self.name}: there are {len(wide) - _TOLD} more gaps"
            found.append(mismatch_along("gap", self.name, message, [], [], is_blocking=False))

    def _told(self, kind: str, message: str, odd: list[str], remedies: list[Remedy]) -> Mismatch:
        blocks = not self.request.accepts(kind, self.name)
        return mismatch_along(kind, self.name, message, odd, remedies if blocks else [], is_blocking=blocks)


def mismatch_along(
    kind: str, name: str, message: str, odd: list[str], remedies: list[Remedy], *, is_blocking: bool = True
) -> Mismatch:
    """Return a difference in how files lie along a dimension."""
    values = (OddValue(kind, tuple(dict.fromkeys(odd))),) if odd else ()
    return Mismatch(
        kind=kind,
        path=name,
        name=kind,
        message=message,
        odd=values,
        is_blocking=is_blocking,
        remedies=tuple(remedies),
    )


def _doubles(
    files: Sequence[ScannedSource],
    arrays: Sequence[ArrayOfFiles],
    axes: Sequence[PlacedAxis],
    request: Combination,
    found: list[Mismatch],
) -> None:
    """Tell of files that lie at one place with the same arrays, and of places where none lies."""
    if not axes:
        return
    name = axes[-1].name if len(axes) == 1 else " × ".join(axis.name for axis in axes)
    holders: dict[tuple[int, ...], list[int]] = {}
    for number in range(len(files)):
        at = tuple(axis.of_file[number] for axis in axes)
        holders.setdefault(at, []).append(number)
    twice = [numbers for numbers in holders.values() if len(numbers) > 1]
    if twice:
        sets: list[set[str]] = [set() for _ in files]
        for array in arrays:
            if array.role == "placed":
                for number in array.files:
                    sets[number].add(array.path)
        told = 0
        for numbers in twice:
            first = numbers[0]
            for other in numbers[1:]:
                if not (sets[first] & sets[other] or (not sets[first] and not sets[other])):
                    sets[first] |= sets[other]
                    continue
                told += 1
                if told > _TOLD:
                    continue
                one, two = files[first].source, files[other].source
                blocks = not request.accepts("double", name)
                remedies = [
                    Remedy("leave_out", two),
                    Remedy("leave_out", one),
                    Remedy("accept", f"double:{name}"),
                ]
                message = f"{name}: {short(two)} is at the place of {short(one)}"
                found.append(
                    mismatch_along(
                        "double", name, message, [two], remedies if blocks else [], is_blocking=blocks
                    )
                )
    if len(axes) > 1 and not request.merge:
        places = prod(len(axis.lengths) for axis in axes)
        if len(holders) < places:
            message = (
                f"{name}: {places - len(holders)} of {places} places have no file, and read as the fill value"
            )
            found.append(mismatch_along("gap", name, message, [], [], is_blocking=False))


# Chunks


def divide(
    arrays: Sequence[ArrayOfFiles], axes: Sequence[PlacedAxis], request: Combination
) -> list[Mismatch]:
    """Find chunks in which those of all files meet, where they do not do so by themselves.

    A chunk without codecs is a run of rows: parts of it along its first longer side are ranges too.
    """
    found = []
    for array in arrays:
        if array.role != "placed":
            continue
        axis = next((each for each in axes if not each.is_new and each.name in array.first.dimensions), None)
        if request.reencode and len({each.dimensions for each in array.told}) == 1:
            _mark_odd(array, request)
        if axis is not None and axis.begins is not None:
            # The chunks of a document are as they are.
            array.edges, array.has_own = _edges_of(array, axis), request.reencode
            continue
        if axis is None or _meets(array, axis):
            array.has_own = bool(array.odd)
            continue
        rows = _common_rows(array, axis)
        if array.extends and rows and rows != array.first.chunks[array.first.dimensions.index(axis.name)]:
            # The chunks of a document are as they are.
            array.has_own = request.reencode
            continue
        if rows:
            array.divided, array.has_own = rows, bool(array.odd)
            message = (
                f"{array.path}: chunks are divided, so that they meet at file ends: {rows} along {axis.name}"
            )
            found.append(mismatch_along("chunks", array.path, message, [], [], is_blocking=False))
        elif joined := None if _is_parquet(request) else _edges(array, axes, request):
            array.edges, rewritten = joined
            array.has_own = bool(array.odd) or rewritten > 0
            told = ", ".join(
                f"{sides_text(grid_of([each]))} along {name}" for name, each in array.edges.items()
            )
            message = f"{array.path}: chunks have unequal sides, {told}: {WHO_READS_THEM}"
            found.append(mismatch_along("chunks", array.path, message, [], [], is_blocking=False))
            if rewritten and not request.reencode:
                message = (
                    f"{array.path}: the last chunks of files are not filled: they are written again into the "
                    f"document, {size_text(rewritten)} of values"
                )
                found.append(mismatch_along("file ends", array.path, message, [], [], is_blocking=False))
        else:
            # Of the chunks that most files have, those that lie in no file as they are stored are written.
            array.has_own = request.reencode
    return found


def _edges_of(array: ArrayOfFiles, axis: PlacedAxis) -> dict[str, ChunkAxis]:
    """Return the chunks of a document along a dimension, where they are unequal."""
    own = array.first.grid.dimensions[array.first.dimensions.index(axis.name)]
    return {} if own.regular_side is not None else {axis.name: own}


def _is_parquet(request: Combination) -> bool:
    """Tell whether the document is one of the parquet form, which has no array of unequal chunks."""
    return form_of(request.target, request.format) == "refs-parquet"


def _mark_odd(array: ArrayOfFiles, request: Combination) -> None:
    """Note what files say that store an array otherwise than most."""
    told = {id(each): each for each in array.told}
    form = stored_form(array.first, request.concat)
    array.odd = frozenset(
        number for number, each in told.items() if stored_form(each, request.concat) != form
    )


def _edges(
    array: ArrayOfFiles, axes: Sequence[PlacedAxis], request: Combination
) -> tuple[dict[str, ChunkAxis], int] | None:
    """Return the chunks along each dimension where they are those of files one after another.

    None is returned where files differ along other dimensions. Chunks in which files end, but for the last
    one, are stored longer than they are: the bytes that have to be written again of them are told, too.
    """
    first, along = array.first, {axis.name: axis for axis in axes if not axis.is_new}
    if len({(each.form, each.dimensions) for each in array.told if not array.is_odd(each)}) > 1:
        return None
    if array.extends and (first.form != "zarr-v3" or array.files[0] != 0):
        # The metadata of a document stays in its version.
        return None
    own = [(at, name) for at, name in enumerate(first.dimensions) if name not in along]
    grids = {id(each): each.grid for each in array.told}
    alike = {number: grid for number, grid in grids.items() if number not in array.odd}
    if any(len({grid.dimensions[at] for grid in alike.values()}) > 1 for at, _ in own):
        return None
    found: dict[str, ChunkAxis] = {}
    rewritten = 0
    for at, name in enumerate(first.dimensions):
        if name not in along:
            continue
        axis = along[name]
        parts: list[ChunkAxis | None] = [None] * len(axis.lengths)
        # Those that stay as they are stored decide.
        pairs = sorted(zip(array.files, array.told, strict=True), key=lambda each: array.is_odd(each[1]))
        for number, told in pairs:
            mine, part = grids[id(told)].dimensions[at], axis.of_file[number]
            if array.is_odd(told):
                mine = parts[part] or _of_odd(mine, first.grid.dimensions[at].largest)
            if parts[part] not in (None, mine):
                return None
            parts[part] = mine
        joined = _one_after_another(axis, parts)
        if array.extends and (joined.is_padded or axis.of_file[0] != 0):
            return None
        found[name] = joined.between(0, joined.size) if joined.is_padded else joined
        for number, told in pairs:
            part, grid = axis.of_file[number], grids[id(told)]
            if array.is_odd(told):
                continue
            start = joined.chunk_of(axis.starts[part]) if axis.lengths[part] else 0
            end = start + grid.dimensions[at].count - 1
            if grid.size and joined.side(end) != found[name].side(end):
                rest = (
                    prod(each.count * each.largest for each in grid.dimensions) // grid.dimensions[at].count
                )
                rewritten += rest // grid.dimensions[at].largest * joined.extent(end) * max(told.itemsize, 1)
    if rewritten and not (first.itemsize and (request.reencode or rewritten <= LIMITS.inlined_members)):
        return None
    return found, rewritten


def _of_odd(mine: ChunkAxis, usual: int) -> ChunkAxis:
    """Return chunks of an odd file along a dimension: its own, unless they are far longer than usual ones."""
    side = mine.largest if mine.largest <= _FAR * usual else usual
    return RegularAxis(mine.size, max(1, min(side, mine.size)))


def _one_after_another(axis: PlacedAxis, parts: Sequence[ChunkAxis | None]) -> ChunkAxis:
    """Return the chunks of all parts of a dimension; one where no file lies is one chunk."""
    pairs = zip(axis.lengths, parts, strict=True)
    runs = [
        Runs(*np.array([[length], [1], [length]])) if part is None else part.runs
        for length, part in pairs
        if length
    ]
    if not runs:
        return RegularAxis(0, 1)
    sides, counts, extents = (np.concatenate(column) for column in zip(*runs, strict=True))
    return axis_of(axis.size, sides, counts, extents)


def _meets(array: ArrayOfFiles, axis: PlacedAxis) -> bool:
    """Tell whether all files have the same chunks, and each but the last a whole number of them."""
    alike = [each for each in array.told if not array.is_odd(each)]
    are_equal = len({each.chunks for each in alike}) == 1 and not any(each.edges for each in alike)
    may_begin_within = axis.regular is None and not array.odd
    return are_equal and not (_open_ends(array, axis) or (not may_begin_within and _within(array, axis)))


def _common_rows(array: ArrayOfFiles, axis: PlacedAxis) -> int:
    """Return the most rows that all chunks can be divided into; 0 where they cannot be divided."""
    rows = 0
    first = array.first
    for number, each in zip(array.files, array.told, strict=True):
        if array.is_odd(each):
            length, last = each.shape[each.dimensions.index(axis.name)], len(axis.lengths) - 1
            part = axis.of_file[number]
            rows = gcd(rows, axis.starts[part], 0 if part == last else length)
            continue
        if axis.name not in each.dimensions or each.codecs != "[]" or each.order != "C" or not each.itemsize:
            return 0
        if each.edges:
            return 0
        at = each.dimensions.index(axis.name)
        others = [each.chunks[:at] + each.chunks[at + 1 :], first.chunks[:at] + first.chunks[at + 1 :]]
        if others[0] != others[1] or any(side > 1 for side in each.chunks[:at]):
            return 0
        # The last chunk of a file is whole, whatever lies behind its last row.
        # Files that lack the array may lie before it.
        rows = gcd(rows, each.chunks[at], axis.starts[axis.of_file[number]])
        if axis.of_file[number] != len(axis.lengths) - 1:
            rows = gcd(rows, each.shape[at])
    return rows


def _open_ends(array: ArrayOfFiles, axis: PlacedAxis) -> list[int]:
    """Return the files, but for the last one, whose last chunk is not filled."""
    last = len(axis.lengths) - 1
    found = []
    for number, each in zip(array.files, array.told, strict=True):
        if array.is_odd(each):
            continue
        if axis.name in each.dimensions and axis.of_file[number] != last:
            at = each.dimensions.index(axis.name)
            if each.shape[at] % array.first.chunks[at]:
                found.append(number)
    return found


def _within(array: ArrayOfFiles, axis: PlacedAxis) -> list[int]:
    """Return the files that begin within a chunk."""
    starts, side = axis.starts, array.first.chunks[array.first.dimensions.index(axis.name)]
    return [
        number
        for number, each in zip(array.files, array.told, strict=True)
        if starts[max(axis.of_file[number], 0)] % side and not array.is_odd(each)
    ]


def file_ends(
    files: Sequence[ScannedSource], arrays: Sequence[ArrayOfFiles], axes: Sequence[PlacedAxis]
) -> list[Mismatch]:
    """Return the arrays whose chunks do not meet at file ends."""
    found = []
    for array in arrays:
        is_cut = bool(array.divided or array.edges or array.has_own)
        if array.role != "placed" or is_cut or len({each.dimensions for each in array.told}) > 1:
            continue
        for axis in axes:
            if axis.is_new or axis.begins is not None or axis.name not in array.first.dimensions:
                continue
            odd = [files[number].source for number in _open_ends(array, axis)]
            why = "the last one is not filled in"
            if not odd:
                odd = [files[number].source for number in _within(array, axis)]
                why = "after files without the array one begins within a chunk:"
            if odd:
                side = array.first.chunks[array.first.dimensions.index(axis.name)]
                message = (
                    f"{array.path}: chunks of {side} along {axis.name} do not meet at the ends of files: "
                    f"{why} {named(odd)}"
                )
                remedies = [
                    Remedy("reencode"),
                    Remedy("inline_var", array.path),
                    Remedy("leave_out_var", array.path),
                ]
                if len(odd) < len(files) // 2:
                    remedies.insert(0, Remedy("leave_out", odd[0]))
                found.append(mismatch_along("file ends", array.path, message, odd, remedies))
    return found
