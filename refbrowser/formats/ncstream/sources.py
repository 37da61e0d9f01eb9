"""What makes the values of a variable whose messages are no regular chunks: pieces of each tile."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Finding, Place, RefbrowserError
from refbrowser.formats.ncstream.byte_order import StreamOptions, order_code
from refbrowser.formats.ncstream.definition import StreamVariable
from refbrowser.formats.ncstream.dtypes import element_dtype_of, is_ragged
from refbrowser.formats.ncstream.layouts import Layout, type_fits
from refbrowser.formats.ncstream.messages import Payload, StreamFault, StreamIndex
from refbrowser.formats.ncstream.payload_errors import PayloadError, size_mismatch
from refbrowser.formats.ncstream.ranges import meeting
from refbrowser.formats.ncstream.tile_table import TileTable
from refbrowser.formats.ncstream.witness import checksum_warning
from refbrowser.model.grid import ChunkPart
from refbrowser.model.reference import ByteRange, Inline, ReferenceKind
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
        faulty = self.index.table.fault[layout.sections.numbers[rows]] != 0
        for row in [*rows[faulty].tolist(), *rows[~faulty].tolist()]:
            yield from self._message(row, taken, part.target)

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
        whole = self.layout.variable.immediate is not None
        found = [whole or len(self._table.rows(tuple(at))) > 0 for at in coords.tolist()]
        return np.where(found, ReferenceKind.DERIVED, ReferenceKind.MISSING).astype(np.uint8)

    def messages_at(self, coords: tuple[int, ...]) -> list[int]:
        """Return the numbers of the messages that give elements of a tile."""
        return [int(number) for number in self.layout.sections.numbers[self._table.rows(coords)]]

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

    def _message(
        self, row: int, taken: tuple[range, ...], target: tuple[slice, ...]
    ) -> Iterator[SourcePiece]:
        sections = self.layout.sections
        columns = (sections.starts[row], sections.sizes[row], sections.strides[row])
        each = zip(*(column.tolist() for column in columns), strict=True)
        section = tuple(range(start, start + (size - 1) * by + 1, by) for start, size, by in each)
        met = _met(section, taken, target)
        if met is None:
            return
        shape = tuple(map(len, section))
        number = int(sections.numbers[row])
        table = self.index.table
        order = order_code(bool(self.layout.little[row]))
        start, length = int(table.payload_offset[number]), int(table.payload_length[number])
        raw = self._raw(number, shape, order, length)
        yield SourcePiece(
            reference=ByteRange(self.index.url, start, length),
            shape=shape,
            inside=met[0],
            target=met[1],
            decode=partial(self._decode, number, shape, order),
            raw=raw,
            check=None if table.crc32[number] < 0 else partial(self._check, number),
            name=f"message {number}",
            place=Place(url=self.index.url, start=start, stop=start + length, path=self.layout.path),
            hides=table.payload[number] != Payload.STRUCTURE,
            how=("ncstream", self.layout.path, str(self.layout.dtype), shape, order),
        )

    def _raw(self, number: int, shape: tuple[int, ...], order: str, length: int) -> np.dtype[Any] | None:
        """Return the type of elements that can be read one by one; None where they must be decoded."""
        table, variable = self.index.table, self.layout.variable
        if table.payload[number] != Payload.REGULAR or table.deflated[number] or table.fault[number]:
            return None
        if variable.type.dtype is None or is_ragged(variable) or not self._fits(number):
            return None
        dtype = element_dtype_of(variable, order)
        return dtype if length == prod(shape) * dtype.itemsize else None

    def _fits(self, number: int) -> bool:
        return type_fits(int(self.index.table.data_type[number]), self.layout.variable.type)

    def _decode(self, number: int, shape: tuple[int, ...], order: str, data: memoryview) -> Values:
        from refbrowser.formats.ncstream.payloads import PayloadFacts, decode_listed

        table, variable = self.index.table, self.layout.variable
        fault = self.index.fault_of(number)
        if fault is not None:
            raise fault.error(self.index.url)
        payload = Payload(int(table.payload[number]))
        own_order = payload is Payload.COLUMN and self.options.byte_order not in ("big", "little")
        facts = PayloadFacts(payload, shape, "" if own_order else order, bool(table.deflated[number]))
        try:
            if not self._fits(number):
                what = (
                    f"the message has data of type {int(table.data_type[number])}, not {variable.type.name}"
                )
                raise PayloadError("type-mismatch", what)
            values = decode_listed(variable, facts, data)
            if values.shape != shape:
                raise size_mismatch(len(values), prod(shape), "rows")
        except PayloadError as error:
            raise self._fault(number, error) from None
        except RefbrowserError as error:
            raise error.at(Place(url=self.index.url, path=self.layout.path)) from None
        return values

    def _check(self, number: int, data: memoryview) -> Finding | None:
        """Return a warning where the checksum of a whole payload is not that of its message."""
        table = self.index.table
        found = payload_crc32(Payload(int(table.payload[number])), data)
        if found is None or found == int(table.crc32[number]):
            return None
        return checksum_warning(self.index, self.layout.path, number, found).finding(self.index.url)

    def _fault(self, number: int, error: PayloadError) -> RefbrowserError:
        offset = int(self.index.table.offset[number])
        path = self.layout.path
        fault = StreamFault(code=error.code, message=error.what, number=number, offset=offset, path=path)
        return fault.error(self.index.url)


def payload_crc32(payload: Payload, data: memoryview) -> int | None:
    """Return the checksum of a payload by the rule of its kind; None where there is none (section 8)."""
    if payload in (Payload.REGULAR, Payload.STRUCTURE):
        return zlib.crc32(data)
    if payload is Payload.VARIABLE:
        from refbrowser.formats.ncstream.payload_errors import read_length
        from refbrowser.formats.ncstream.payloads import split_objects

        try:
            count, start = read_length(data, 0)
            objects = split_objects(data[start:], count)
        except PayloadError:
            return None
        value = 0
        for each in objects:
            value = zlib.crc32(each, value)
        return value
    return None


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
