"""What makes the values of a variable whose messages are no regular chunks: pieces of each tile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Place
from refbrowser.formats.ncstream.byte_order import StreamOptions
from refbrowser.formats.ncstream.combs import Combs
from refbrowser.formats.ncstream.cut_pieces import CutPieces
from refbrowser.formats.ncstream.definition import StreamVariable
from refbrowser.formats.ncstream.layouts import Layout
from refbrowser.formats.ncstream.message_pieces import MessagePieces
from refbrowser.formats.ncstream.messages import StreamIndex
from refbrowser.formats.ncstream.ranges import meeting
from refbrowser.formats.ncstream.tile_table import TileTable
from refbrowser.model.grid import ChunkPart
from refbrowser.model.reference import Inline, ReferenceKind
from refbrowser.model.source import SourcePiece

Values = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StreamSource:
    """Makes the values of one variable of a stream (`ArraySource`).

    Where messages overlap the later one counts, but for one that is faulty: what it should have given is
    only unreadable where no other message gave it.
    """

    index: StreamIndex
    layout: Layout
    options: StreamOptions

    def pieces(self, part: ChunkPart) -> Iterator[SourcePiece]:
        """Yield what gives the elements of a part, in the order in which it is laid down."""
        layout = self.layout
        taken = tuple(
            range(at * side + inside.start, at * side + inside.stop, inside.step or 1)
            for at, side, inside in zip(part.coords, layout.grid.chunk_shape, part.inside, strict=True)
        )
        if layout.variable.immediate is not None:
            yield from self._immediate(taken, part.target)
        rows = self._table.rows(part.coords)
        cut = rows[layout.sections.numbers[rows] == self.index.table.cut].tolist()
        for row in cut:
            yield from self._lost(row, taken, part.target)
        faulty = self.index.table.fault[layout.sections.numbers[rows]] != 0
        if layout.is_fine:
            yield from self._runs(rows[~faulty], taken, part.target)
        else:
            for row in [*rows[faulty].tolist(), *rows[~faulty].tolist()]:
                section = self._messages.section(row)
                met = None if row in cut else _met(section, taken, part.target)
                if met is not None:
                    yield self._messages.piece(row, tuple(map(len, section)), *met)
        for row in cut:
            yield from self._arrived(row, taken, part.target)

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return, in the shape of the grid, `ReferenceKind` DERIVED or MISSING of each tile."""
        if self.layout.variable.immediate is not None:
            return np.full(self.layout.grid.grid_shape, ReferenceKind.DERIVED, np.uint8)
        return np.where(self._table.touched(), ReferenceKind.DERIVED, ReferenceKind.MISSING).astype(np.uint8)

    def stored(self) -> int | None:
        """Return how many tiles are not missing, or None where that is not known."""
        if self.layout.variable.immediate is not None:
            return self.layout.grid.size
        return self._table.count()

    def kinds_at(self, coords: Ints) -> npt.NDArray[np.uint8]:
        """Return the kind of each of some tiles, shape (n, ndim)."""
        if self.layout.variable.immediate is not None:
            return np.full(len(coords), ReferenceKind.DERIVED, np.uint8)
        touched = self._table.touches(coords)
        return np.where(touched, ReferenceKind.DERIVED, ReferenceKind.MISSING).astype(np.uint8)

    def _arrived(
        self, row: int, taken: tuple[range, ...], target: tuple[slice, ...]
    ) -> Iterator[SourcePiece]:
        """Yield the elements that arrived of the message that the stream was cut off within."""
        cut = self._cut(row)
        for stretch in cut.given():
            met = _met(stretch.section, taken, target)
            if met is not None:
                yield cut.piece(stretch, *met)

    def _lost(self, row: int, taken: tuple[range, ...], target: tuple[slice, ...]) -> Iterator[SourcePiece]:
        """Yield the error of the elements of that message that did not arrive."""
        cut = self._cut(row)
        for section in cut.lost():
            met = _met(section, taken, target)
            if met is not None:
                yield cut.missing(*met)

    def _cut(self, row: int) -> CutPieces:
        sections, little = self.layout.sections, bool(self.layout.little[row])
        number = int(sections.numbers[row])
        return CutPieces(self.index, self.layout, number, little, self._messages.section(row))

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
