"""What makes the values of a variable whose messages are no regular chunks: pieces of each tile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Place, RefbrowserError
from refbrowser.formats.ncstream.combs import Combs
from refbrowser.formats.ncstream.cut_pieces import CutPieces
from refbrowser.formats.ncstream.definition import StreamVariable
from refbrowser.formats.ncstream.layouts import Layout
from refbrowser.formats.ncstream.message_pieces import MessagePieces
from refbrowser.formats.ncstream.messages import StreamIndex
from refbrowser.formats.ncstream.options import StreamOptions
from refbrowser.formats.ncstream.ranges import meeting
from refbrowser.formats.ncstream.tile_table import TileTable
from refbrowser.model.grid import ChunkPart
from refbrowser.model.reference import Inline, ReferenceKind
from refbrowser.model.source import SourcePiece

Values = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
#: Elements of a part, and tiles, that are looked at one by one.
_COUNTED = 1 << 24


@dataclass(frozen=True, eq=False)
class StreamSource:
    """Makes the values of one variable of a stream (`ArraySource`).

    Where messages overlap the later one counts. What a damaged one was to give is lost, unless a later one
    gives it; of the message that the stream was cut off within only what no other message gave.
    """

    index: StreamIndex
    layout: Layout
    options: StreamOptions

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
            yield SourcePiece.lost(self._error(lost.rest), self._name(lost.rest), part.target)
        for row in rows[is_cut].tolist():
            yield from self._not_arrived(row, taken, part.target)
        if layout.variable.immediate is not None:
            yield from self._immediate(taken, part.target)
        sound, done = rows[~is_cut], 0
        for row in () if lost is None else self._lost_table.rows(part.coords).tolist():
            assert lost is not None
            number = int(lost.sections.numbers[row])
            before = int(np.searchsorted(layout.sections.numbers[sound], number))
            yield from self._sound(sound[done:before], taken, part.target)
            done = before
            met = _met(lost.sections.section(row), taken, part.target)
            if met is not None:
                yield SourcePiece.lost(self._error(number), self._name(number), met[1])
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

    def _error(self, number: int) -> RefbrowserError:
        """Return why what a message may have held is lost, of this variable."""
        error = self.index.error_of(number)
        return error.at(replace(error.place, path=self.layout.path))

    def _name(self, number: int) -> str:
        if number < len(self.index.table):
            return f"message {number} (damaged)"
        return "messages that are not listed"

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return, in the shape of the grid, `ReferenceKind` DERIVED, MISSING or FAULTY of each tile."""
        if self.layout.variable.immediate is not None:
            return np.full(self.layout.grid.grid_shape, ReferenceKind.DERIVED, np.uint8)
        lost = self._lost_table.touched() if self.layout.lost is not None else None
        return self._kinds(self._table.touched(), lost)

    def stored(self) -> int | None:
        """Return how many tiles are not missing, or None where that is not known."""
        layout = self.layout
        if layout.variable.immediate is not None or (layout.lost is not None and layout.lost.rest >= 0):
            return layout.grid.size
        if layout.lost is None:
            return self._table.count()
        if layout.grid.size > _COUNTED:
            return None
        return int(np.count_nonzero(self.kinds() != ReferenceKind.MISSING))

    def kinds_at(self, coords: Ints) -> npt.NDArray[np.uint8]:
        """Return the kind of each of some tiles, shape (n, ndim)."""
        if self.layout.variable.immediate is not None:
            return np.full(len(coords), ReferenceKind.DERIVED, np.uint8)
        lost = self._lost_table.touches(coords) if self.layout.lost is not None else None
        return self._kinds(self._table.touches(coords), lost)

    def _kinds(
        self, given: npt.NDArray[np.bool_], lost: npt.NDArray[np.bool_] | None
    ) -> npt.NDArray[np.uint8]:
        """Return the kinds of tiles by whether sound and damaged messages give any of them."""
        nothing = np.full(given.shape, ReferenceKind.MISSING, np.uint8)
        if lost is not None and self.layout.lost is not None:
            # Within the reach of strided ones are tiles of which they give nothing.
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
        for stretch in cut.given():
            met = _met(stretch.section, taken, target)
            if met is not None:
                yield cut.piece(stretch, *met)

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
    def _table(self) -> TileTable:
        return TileTable(self.layout.sections, self.layout.grid)

    @cached_property
    def _lost_table(self) -> TileTable:
        assert self.layout.lost is not None
        return TileTable(self.layout.lost.sections, self.layout.grid)

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
        from refbrowser.formats.ncstream.payloads import immediate_values

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
