"""What makes the values of a variable whose messages are no regular chunks: pieces of each chunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import gcd, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Place
from refbrowser.model.grid import ChunkPart, RegularChunkGrid
from refbrowser.model.reference import ByteRange, Inline, ReferenceKind
from refbrowser.model.values import SourcePiece
from refbrowser.wings.ncstream.reading.definition import StreamVariable
from refbrowser.wings.ncstream.reading.elements import element_dtype_of, size_mismatch
from refbrowser.wings.ncstream.reading.messages import StreamIndex
from refbrowser.wings.ncstream.reading.pieces import CutPieces, MessagePieces
from refbrowser.wings.ncstream.reading.reading_options import StreamReading
from refbrowser.wings.ncstream.reading.sections import LeftOut, Sections
from refbrowser.wings.ncstream.reading.stream_layouts import StreamLayout

Ints = npt.NDArray[np.int64]
#: Messages that touch more chunks are looked at one by one for each chunk.
_FEW = 64
#: Chunks of grids that have more cannot be numbered.
_NUMBERED = 2**62


class SectionTable:
    """Finds the sections that touch a chunk.

    Parameters
    ----------
    sections
        Of the messages of a variable.
    grid
        Its chunks.
    """

    def __init__(self, sections: Sections, grid: RegularChunkGrid) -> None:
        self._grid = grid
        sides = np.asarray(grid.chunk_shape, np.int64)
        #: First chunk that each section touches along each axis, and how many from there on.
        self._low = sections.starts // sides
        self._spans = sections.lasts // sides - self._low + 1
        counts = np.ones(len(sections), np.float64)
        for axis in range(grid.ndim):
            counts *= self._spans[:, axis]
        few = counts <= _FEW if grid.size < _NUMBERED else np.zeros(len(sections), bool)
        self._small, self._large = np.flatnonzero(few), np.flatnonzero(~few)

    def rows(self, coords: tuple[int, ...]) -> Ints:
        """Return the rows of the sections that touch a chunk, ascending."""
        at = np.asarray(coords, np.int64).reshape(1, -1)
        low, spans = self._low[self._large], self._spans[self._large]
        large = self._large[((low <= at) & (at < low + spans)).all(axis=1)]
        if not len(self._small):
            return large
        chunks, rows = self._entries
        number = self._number(at)[0]
        first, stop = np.searchsorted(chunks, [number, number + 1])
        return np.sort(np.concatenate([rows[first:stop], large]))

    def touches(self, coords: Ints) -> npt.NDArray[np.bool_]:
        """Tell of each of some chunks, shape (n, ndim), whether any section touches it."""
        found = np.zeros(len(coords), bool)
        if len(self._small):
            chunks, numbers = self._entries[0], self._number(coords)
            at = np.minimum(np.searchsorted(chunks, numbers), len(chunks) - 1)
            found |= chunks[at] == numbers
        for row in self._large.tolist():
            if found.all():
                break
            low = self._low[row]
            found |= ((low <= coords) & (coords < low + self._spans[row])).all(axis=1)
        return found

    def touched(self) -> npt.NDArray[np.bool_]:
        """Return which chunks any section touches, in the shape of the grid: it must fit memory."""
        found = np.zeros(self._grid.grid_shape, bool)
        if len(self._small):
            found.reshape(-1)[self._entries[0]] = True
        for row in self._large.tolist():
            ends = zip(self._low[row].tolist(), self._spans[row].tolist(), strict=True)
            found[tuple(slice(low, low + span) for low, span in ends)] = True
        return found

    def count(self) -> int | None:
        """Return how many chunks are touched; None where that is not known."""
        if self._grid.size <= 1 << 24:
            return int(np.count_nonzero(self.touched()))
        return None if len(self._large) else len(np.unique(self._entries[0]))

    @cached_property
    def _entries(self) -> tuple[Ints, Ints]:
        """The numbers of chunks, ascending, and the row of a small section that touches each."""
        spans = self._spans[self._small]
        totals = spans.prod(axis=1)
        rows = np.repeat(self._small, totals)
        left = np.arange(len(rows)) - np.repeat(np.cumsum(totals) - totals, totals)
        coords = np.empty((len(rows), self._grid.ndim), np.int64)
        for axis in reversed(range(self._grid.ndim)):
            span = self._spans[rows, axis]
            coords[:, axis] = self._low[rows, axis] + left % span
            left = left // span
        chunks = self._number(coords)
        order = np.argsort(chunks, kind="stable")
        return chunks[order], rows[order]

    def _number(self, coords: Ints) -> Ints:
        numbers = np.zeros(len(coords), np.int64)
        for axis, count in enumerate(self._grid.grid_shape):
            numbers = numbers * count + coords[:, axis]
        return numbers


Meeting = tuple[slice, slice]


def meeting(first: range, second: range) -> Meeting | None:
    """Return the positions in both ranges of the numbers that both have; None where there is none.

    Parameters
    ----------
    first, second
        With positive steps.
    """
    if not first or not second:
        return None
    low, high = max(first[0], second[0]), min(first[-1], second[-1])
    if low > high:
        return None
    common = gcd(first.step, second.step)
    if (second.start - first.start) % common:
        return None
    step = first.step // common * second.step
    start = _common(first, second, common)
    start += -(-max(low - start, 0) // step) * step
    if start > high:
        return None
    count = (high - start) // step + 1
    return _positions(first, start, step, count), _positions(second, start, step, count)


def _common(first: range, second: range, common: int) -> int:
    """Return the least number from both starts on that is in both, were they endless."""
    other = second.step // common
    times = 0 if other == 1 else (second.start - first.start) // common * pow(first.step // common, -1, other)
    step = first.step * other
    found = first.start + times % other * first.step
    return found + -(-max(second.start - found, 0) // step) * step


def _positions(numbers: range, start: int, step: int, count: int) -> slice:
    begin = (start - numbers.start) // numbers.step
    by = step // numbers.step if count > 1 else 1
    return slice(begin, begin + (count - 1) * by + 1, by)


Slices = tuple[slice, ...]
#: Bytes that are read as one range, at most.
_LONGEST = 1 << 20
#: Bytes of a message beside its payload that never part a run.
_OVERHEAD = 256


@dataclass(frozen=True, eq=False)
class Combs:
    """The messages of one variable, for a layout that `is_fine`."""

    index: StreamIndex
    layout: StreamLayout

    def runs(self, rows: Ints, taken: range) -> Iterator[Ints]:
        """Yield rows that are read together, of those that give any element `taken` of the first axis."""
        starts, side = self.layout.sections.starts[rows, 0], self._shape[0]
        first = taken.start + -(-np.maximum(starts - taken.start, 0) // taken.step) * taken.step
        rows = rows[(first < starts + side) & (first <= taken[-1])]
        if not len(rows):
            return
        starts, offsets = self.layout.sections.starts[rows, 0], self._offsets[rows]
        gaps = np.diff(offsets)
        breaks = (np.diff(starts) != side) | (gaps > 2 * self._size + _OVERHEAD) | (gaps <= 0)
        # Also where a range would be too long.
        breaks |= np.diff((offsets - offsets[0]) // _LONGEST) != 0
        yield from np.split(rows, np.flatnonzero(breaks) + 1)

    def section(self, run: Ints) -> tuple[range, ...]:
        """Return what a run gives."""
        start = int(self.layout.sections.starts[run[0], 0])
        return range(start, start + len(run) * self._shape[0]), *map(range, self._shape[1:])

    def piece(self, run: Ints, inside: Slices, target: Slices) -> SourcePiece:
        """Return some elements of a run as a piece."""
        offsets = self._offsets[run]
        start, stop = int(offsets[0]), int(offsets[-1]) + self._size
        numbers = self.layout.sections.numbers[run]
        many = len(run) > 1
        return SourcePiece(
            reference=ByteRange(self.index.url, start, stop - start),
            shape=(len(run) * self._shape[0], *self._shape[1:]),
            inside=inside,
            target=target,
            decode=partial(self._decode, offsets - start),
            name=f"messages {numbers[0]} to {numbers[-1]}" if many else f"message {numbers[0]}",
            place=Place(url=self.index.url, start=start, stop=stop, path=self.layout.path),
            how=("ncstream", self.layout.path, str(self.layout.dtype), len(run)),
        )

    def _decode(self, offsets: Ints, data: memoryview) -> npt.NDArray[Any]:
        if len(data) != int(offsets[-1]) + self._size:
            raise size_mismatch(len(data), int(offsets[-1]) + self._size)
        dtype = element_dtype_of(self.layout.variable, self.layout.order)
        pitch = np.diff(offsets)
        shape = (len(offsets) * self._shape[0], *self._shape[1:])
        if not len(pitch) or (pitch == pitch[0]).all():
            step = int(pitch[0]) if len(pitch) else self._size
            whole = np.ndarray((len(offsets), self._size), np.uint8, data, 0, (step, 1))
        else:
            whole = np.frombuffer(data, np.uint8)[offsets[:, None] + np.arange(self._size)]
        return np.ascontiguousarray(whole).reshape(-1).view(dtype).reshape(shape)

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        return tuple(self.layout.sections.sizes[0].tolist())

    @cached_property
    def _size(self) -> int:
        return prod(self._shape) * element_dtype_of(self.layout.variable).itemsize

    @cached_property
    def _offsets(self) -> Ints:
        return self.index.table.payload_offset[self.layout.sections.numbers]


Values = npt.NDArray[Any]
#: Elements of a part, and chunks, that are looked at one by one.
_COUNTED = 1 << 24


@dataclass(frozen=True, eq=False)
class StreamSource:
    """Makes the values of one variable of a stream (`ArraySource`).

    Where messages overlap the later one counts. What a damaged one was to give is lost, unless a later one
    gives it; of the message that the stream was cut off within only what no other message gave.
    """

    index: StreamIndex
    layout: StreamLayout
    options: StreamReading

    def pieces(self, part: ChunkPart) -> list[SourcePiece]:
        """Return what gives the elements of a part, in the order in which it is laid down."""
        layout = self.layout
        taken = tuple(
            range(at * side + inside.start, at * side + inside.stop, inside.step or 1)
            for at, side, inside in zip(part.coords, layout.grid.chunk_shape, part.inside, strict=True)
        )
        found = list(self._laid(part, taken))
        return found if layout.lost is None else _but_hidden(found, part.target)

    def _laid(self, part: ChunkPart, taken: tuple[range, ...]) -> Iterator[SourcePiece]:
        """Yield what gives the elements of a part, and what of it is lost."""
        layout, lost = self.layout, self.layout.lost
        rows = self._table.rows(part.coords)
        is_cut = layout.sections.numbers[rows] == self.index.table.cut
        if lost is not None and lost.rest >= 0:
            yield self._lost(lost.rest, lost.rest_told, part.target)
        for row in rows[is_cut].tolist():
            yield from self._not_arrived(row, taken, part.target)
        if layout.variable.immediate is not None:
            yield from self._immediate(taken, part.target)
        sound, done = rows[~is_cut], 0
        for row in () if lost is None else self._lost_table.rows(part.coords).tolist():
            assert lost is not None
            number = int(lost.sections.numbers[row])
            before = int(np.searchsorted(layout.sections.numbers[sound], number, side="right"))
            yield from self._sound(sound[done:before], taken, part.target)
            done = before
            met = _met(lost.sections.section(row), taken, part.target)
            if met is not None:
                yield self._lost(number, lost.told[row], met[1])
        yield from self._sound(sound[done:], taken, part.target)
        for row in rows[is_cut].tolist():
            yield from self._arrived(row, taken, part.target)

    def _sound(
        self, rows: Ints, taken: tuple[range, ...], target: tuple[slice, ...]
    ) -> Iterator[SourcePiece]:
        """Yield what some sound messages give."""
        if self.layout.is_fine:
            yield from self._runs(rows, taken, target)
            return
        for row in rows.tolist():
            section = self.layout.sections.section(row)
            met = _met(section, taken, target)
            if met is not None:
                yield self._messages.piece(row, tuple(map(len, section)), *met)

    def _lost(self, number: int, told: LeftOut | None, target: tuple[slice, ...]) -> SourcePiece:
        """Return what a message may have held of this variable, damaged or left out by a repair, as lost."""
        if told is not None:
            error = told.error
            place = replace(error.place, url=self.index.url, path=self.layout.path)
            return SourcePiece.lost(error.at(place), "a message that a repair left out", target)
        is_listed = number < len(self.index.table)
        name = f"message {number} (damaged)" if is_listed else "messages that are not listed"
        error = self.index.error_of(number)
        return SourcePiece.lost(error.at(replace(error.place, path=self.layout.path)), name, target)

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return, in the shape of the grid, `ReferenceKind` DERIVED, MISSING or FAULTY of each chunk."""
        if self.layout.variable.immediate is not None:
            return np.full(self.layout.grid.grid_shape, ReferenceKind.DERIVED, np.uint8)
        lost = self._lost_table.touched() if self.layout.lost is not None else None
        return self._kinds(self._table.touched(), lost)

    def stored(self) -> int | None:
        """Return how many chunks are not missing, or None where that is not known."""
        layout = self.layout
        if layout.variable.immediate is not None or (layout.lost is not None and layout.lost.rest >= 0):
            return layout.grid.size
        if layout.lost is None:
            return self._table.count()
        if layout.grid.size > _COUNTED:
            return None
        return int(np.count_nonzero(self.kinds() != ReferenceKind.MISSING))

    def kinds_at(self, coords: Ints) -> npt.NDArray[np.uint8]:
        """Return the kind of each of some chunks, shape (n, ndim)."""
        if self.layout.variable.immediate is not None:
            return np.full(len(coords), ReferenceKind.DERIVED, np.uint8)
        lost = self._lost_table.touches(coords) if self.layout.lost is not None else None
        return self._kinds(self._table.touches(coords), lost)

    def _kinds(
        self, given: npt.NDArray[np.bool_], lost: npt.NDArray[np.bool_] | None
    ) -> npt.NDArray[np.uint8]:
        """Return the kinds of chunks by whether sound and damaged messages give any of them."""
        nothing = np.full(given.shape, ReferenceKind.MISSING, np.uint8)
        if lost is not None and self.layout.lost is not None:
            # Within the reach of strided ones are chunks of which they give nothing.
            is_exact = (self.layout.lost.sections.strides == 1).all()
            nothing[lost] = ReferenceKind.FAULTY if is_exact else ReferenceKind.DERIVED
            if self.layout.lost.rest >= 0:
                nothing[...] = ReferenceKind.FAULTY
        return np.where(given, np.uint8(ReferenceKind.DERIVED), nothing)

    def _arrived(
        self, row: int, taken: tuple[range, ...], target: tuple[slice, ...]
    ) -> Iterator[SourcePiece]:
        """Yield the elements that arrived of the message that the stream was cut off within."""
        cut = self._cut(row)
        for box in cut.given():
            met = _met(box.section, taken, target)
            if met is not None:
                yield cut.piece(box, *met)

    def _not_arrived(
        self, row: int, taken: tuple[range, ...], target: tuple[slice, ...]
    ) -> Iterator[SourcePiece]:
        """Yield the error of the elements of that message that did not arrive."""
        cut = self._cut(row)
        for section in cut.lost():
            met = _met(section, taken, target)
            if met is not None:
                yield cut.missing(met[1])

    def _cut(self, row: int) -> CutPieces:
        sections, little = self.layout.sections, bool(self.layout.little[row])
        number = int(sections.numbers[row])
        return CutPieces(self.index, self.layout, number, little, sections.section(row))

    def _runs(self, rows: Ints, taken: tuple[range, ...], target: tuple[slice, ...]) -> Iterator[SourcePiece]:
        for run in self._combs.runs(rows, taken[0]):
            met = _met(self._combs.section(run), taken, target)
            if met is not None:
                yield self._combs.piece(run, *met)

    @cached_property
    def _combs(self) -> Combs:
        return Combs(self.index, self.layout)

    @cached_property
    def _messages(self) -> MessagePieces:
        return MessagePieces(self.index, self.layout, self.options)

    @cached_property
    def _table(self) -> SectionTable:
        return SectionTable(self.layout.sections, self.layout.grid)

    @cached_property
    def _lost_table(self) -> SectionTable:
        assert self.layout.lost is not None
        return SectionTable(self.layout.lost.sections, self.layout.grid)

    def _immediate(self, taken: tuple[range, ...], target: tuple[slice, ...]) -> Iterator[SourcePiece]:
        variable = self.layout.variable
        data = variable.immediate or b""
        shape = immediate_shape(variable)
        met = _met(tuple(range(side) for side in shape), taken, target)
        if met is not None:
            yield SourcePiece(
                reference=Inline(data),
                shape=shape,
                inside=met[0],
                target=met[1],
                decode=partial(self._decode_immediate, shape),
                raw=None,
                name="the values in the header",
                place=Place(url=self.index.url, path=self.layout.path),
            )

    def _decode_immediate(self, shape: tuple[int, ...], data: memoryview) -> Values:
        from refbrowser.wings.ncstream.reading.payloads import immediate_values

        return immediate_values(self.layout.variable, data, shape)


def immediate_shape(variable: StreamVariable) -> tuple[int, ...]:
    """Return the shape of immediate data: that of the variable, which may have grown since then."""
    shape = variable.shape
    dtype = variable.type.dtype
    if not shape or dtype is None or not variable.dimensions[0].is_unlimited:
        return shape
    row = prod(shape[1:]) * dtype.itemsize
    rows, rest = divmod(len(variable.immediate or b""), row) if row else (shape[0], 0)
    return shape if rest or rows > shape[0] else (rows, *shape[1:])


def _but_hidden(pieces: list[SourcePiece], area: tuple[slice, ...]) -> list[SourcePiece]:
    """Return pieces without the lost ones of which nothing is seen: it fails no read.

    Parameters
    ----------
    area
        That they lie in; slices without steps.
    """
    shape = tuple(part.stop - part.start for part in area)
    if all(piece.error is None for piece in pieces) or prod(shape) > _COUNTED:
        return pieces
    seen = np.full(shape, -1, np.int32)
    for number, piece in enumerate(pieces):
        if piece.hides:
            each = zip(piece.target, area, strict=True)
            within = (slice(at.start - of.start, at.stop - of.start, at.step) for at, of in each)
            place: tuple[Any, ...] = (*within, ...)
            seen[place] = number
    count = np.bincount(seen.reshape(-1) + 1, minlength=len(pieces) + 1)[1:]
    return [piece for piece, left in zip(pieces, count.tolist(), strict=True) if piece.error is None or left]


def _met(
    section: tuple[range, ...], taken: tuple[range, ...], target: tuple[slice, ...]
) -> tuple[tuple[slice, ...], tuple[slice, ...]] | None:
    """Return where a section and the elements that are taken meet: in the section, and in the result."""
    inside, places = [], []
    for of_section, of_part, place in zip(section, taken, target, strict=True):
        met = meeting(of_section, of_part)
        if met is None:
            return None
        inside.append(met[0])
        places.append(slice(place.start + met[1].start, place.start + met[1].stop, met[1].step))
    return tuple(inside), tuple(places)
