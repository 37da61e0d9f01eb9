"""What one message gives of a selection, whole or cut off, and in which byte order its numbers are read."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.model.reference import ByteRange
from refbrowser.model.values import SourcePiece
from refbrowser.wings.ncstream.reading.definition import StreamVariable
from refbrowser.wings.ncstream.reading.elements import (
    PayloadError,
    element_dtype_of,
    is_ragged,
    size_mismatch,
)
from refbrowser.wings.ncstream.reading.message_reader import ArrivedBox, arrived_boxes, lost_sections
from refbrowser.wings.ncstream.reading.messages import MessageTable, Payload, StreamFault, StreamIndex
from refbrowser.wings.ncstream.reading.payloads import ObjectRun, arrived_run, run_of
from refbrowser.wings.ncstream.reading.reading_options import StreamReading
from refbrowser.wings.ncstream.reading.stream_layouts import StreamLayout, order_code, type_fits


@dataclass(frozen=True, eq=False)
class StreamWitness:
    """Tells of the messages that are the chunks of one variable (`ChunkWitness`)."""

    index: StreamIndex
    layout: StreamLayout

    def check(self, url: str, offset: int, data: memoryview) -> Finding | None:
        """Return a warning where the checksum of a payload is not that of its message."""
        number = self._number(url, offset) if self._has_checksums else None
        if number is None:
            return None
        expected = int(self.index.table.crc32[number])
        if expected < 0 or (found := zlib.crc32(data)) == expected:
            return None
        return self.index.finding(checksum_warning(self.index, self.layout.path, number, found))

    def fault(self, url: str, offset: int, data: memoryview) -> RefbrowserError | None:
        """Return why a payload cannot be decoded."""
        from refbrowser.wings.ncstream.reading.payloads import PayloadFacts, regular_values

        number = self._number(url, offset)
        if number is None:
            return None
        shape, order = self.layout.grid.chunk_shape, self.layout.order
        try:
            regular_values(
                self.layout.variable,
                PayloadFacts(Payload.REGULAR, shape, order, self.layout.is_deflated),
                data,
            )
        except PayloadError as error:
            fault = StreamFault(
                code=error.code,
                message=error.what,
                number=number,
                offset=int(self.index.table.offset[number]),
                path=self.layout.path,
            )
            return self.index.finding(fault).error()
        return None

    def _number(self, url: str, offset: int) -> int | None:
        """Return the number of the message whose payload begins at an offset; None where none does."""
        offsets = self._offsets
        at = int(np.searchsorted(offsets, offset))
        if url != self.index.url or at == len(offsets) or offsets[at] != offset:
            return None
        return int(self.layout.sections.numbers[at])

    @cached_property
    def _offsets(self) -> npt.NDArray[np.int64]:
        return self.index.table.payload_offset[self.layout.sections.numbers]

    @cached_property
    def _has_checksums(self) -> bool:
        return bool((self.index.table.crc32[self.layout.sections.numbers] >= 0).any())


def checksum_warning(index: StreamIndex, path: str, number: int, found: int) -> StreamFault:
    """Return the warning that the checksum of a payload is another than its message says."""
    expected = int(index.table.crc32[number])
    return StreamFault(
        code="crc32",
        message=f"the checksum of the data is {found:08x}, the message says {expected:08x}",
        number=number,
        offset=int(index.table.offset[number]),
        severity=Severity.WARNING,
        path=path,
    )


Values = npt.NDArray[Any]
Slices = tuple[slice, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MessagePieces:
    """Makes pieces of the messages of one variable of a stream."""

    index: StreamIndex
    layout: StreamLayout
    options: StreamReading

    def piece(self, row: int, shape: tuple[int, ...], inside: Slices, target: Slices) -> SourcePiece:
        """Return the elements `inside` of a message as a piece; of many objects only some are read."""
        number = int(self.layout.sections.numbers[row])
        table = self.index.table
        order = order_code(bool(self.layout.little[row]))
        start, length = int(table.payload_offset[number]), int(table.payload_length[number])
        common: dict[str, Any] = {
            "target": target,
            "name": f"message {number}",
            "place": Place(url=self.index.url, start=start, stop=start + length, path=self.layout.path),
            "hides": table.payload[number] != Payload.STRUCTURE,
        }
        run = None if table.fault[number] else run_of(table, number, shape, inside)
        if run is not None:
            return SourcePiece(
                reference=ByteRange(self.index.url, run.start, run.stop - run.start),
                shape=run.shape,
                inside=run.inside,
                decode=partial(self._decode_run, number, run, order),
                how=(*self._how(run.shape, order), run.skipped),
                **common,
            )
        return SourcePiece(
            reference=ByteRange(self.index.url, start, length),
            shape=shape,
            inside=inside,
            decode=partial(self._decode, number, shape, order),
            raw=self._raw(number, shape, order, length),
            check=None if table.crc32[number] < 0 else partial(self._check, number),
            how=self._how(shape, order),
            **common,
        )

    def _how(self, shape: tuple[int, ...], order: str) -> tuple[Any, ...]:
        return ("ncstream", self.layout.path, str(self.layout.dtype), shape, order)

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
        """Return all values of a message."""
        from refbrowser.wings.ncstream.reading.payloads import PayloadFacts, decode_listed

        table = self.index.table
        payload = Payload(int(table.payload[number]))
        own_order = payload is Payload.COLUMN and self.options.byte_order not in ("big", "little")
        facts = PayloadFacts(payload, shape, "" if own_order else order, bool(table.deflated[number]))
        try:
            self._check_type(number)
            values = decode_listed(self.layout.variable, facts, data)
            if values.shape != shape:
                raise size_mismatch(len(values), prod(shape), "rows")
        except PayloadError as error:
            raise self._fault(number, error) from None
        except RefbrowserError as error:
            raise error.at(Place(url=self.index.url, path=self.layout.path)) from None
        return values

    def _decode_run(self, number: int, run: ObjectRun, order: str, data: memoryview) -> Values:
        """Return the values of some objects of a message."""
        try:
            self._check_type(number)
            return run.values(self.layout.variable, order, data)
        except PayloadError as error:
            raise self._fault(number, error) from None

    def _check_type(self, number: int) -> None:
        """Raise why a message gives no values: it is faulty, or names another type."""
        if self.index.table.fault[number]:
            raise self.index.error_of(number)
        if not self._fits(number):
            named = int(self.index.table.data_type[number])
            what = f"the message has data of type {named}, the variable is {self.layout.variable.type.name}"
            raise PayloadError("type-mismatch", what)

    def _check(self, number: int, data: memoryview) -> Finding | None:
        """Return a warning where the checksum of a whole payload is not that of its message."""
        table = self.index.table
        found = payload_crc32(Payload(int(table.payload[number])), data)
        if found is None or found == int(table.crc32[number]):
            return None
        return self.index.finding(checksum_warning(self.index, self.layout.path, number, found))

    def _fault(self, number: int, error: PayloadError) -> RefbrowserError:
        offset = int(self.index.table.offset[number])
        path = self.layout.path
        fault = StreamFault(code=error.code, message=error.what, number=number, offset=offset, path=path)
        return self.index.finding(fault).error()


def payload_crc32(payload: Payload, data: memoryview) -> int | None:
    """Return the checksum of a payload by the rule of its kind; None where there is none (section 8)."""
    if payload in (Payload.REGULAR, Payload.STRUCTURE):
        return zlib.crc32(data)
    if payload is Payload.VARIABLE:
        from refbrowser.wings.ncstream.reading.elements import read_length
        from refbrowser.wings.ncstream.reading.payloads import split_objects

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


@dataclass(frozen=True, slots=True, eq=False)
class CutPieces:
    """Makes pieces of the message of one variable that the stream was cut off within.

    Parameters
    ----------
    number
        Of the message.
    little
        Whether its numbers are little endian.
    section
        What it was to give.
    """

    index: StreamIndex
    layout: StreamLayout
    number: int
    little: bool
    section: tuple[range, ...]

    def given(self) -> list[ArrivedBox]:
        """Return what arrived, as boxes."""
        return arrived_boxes(self.section, arrived_elements(self.index.table, self.layout.variable))

    def lost(self) -> list[tuple[range, ...]]:
        """Return what did not arrive, as boxes."""
        return lost_sections(self.section, arrived_elements(self.index.table, self.layout.variable))

    def piece(self, box: ArrivedBox, inside: Slices, target: Slices) -> SourcePiece:
        """Return some elements that arrived."""
        table, variable, order = self.index.table, self.layout.variable, order_code(self.little)
        shape = tuple(map(len, box.section))
        how = ("ncstream", self.layout.path, str(self.layout.dtype), order)
        if table.payload[self.number] == Payload.VARIABLE:
            run = arrived_run(table, self.number, box.first, shape, inside)
            return SourcePiece(
                reference=ByteRange(self.index.url, run.start, run.stop - run.start),
                shape=run.shape,
                inside=run.inside,
                target=target,
                decode=partial(self._objects, run, order),
                how=(*how, run.shape, run.skipped),
                name=self._name,
                place=self._place(run.start, run.stop),
            )
        dtype = element_dtype_of(variable, order)
        start = int(table.payload_offset[self.number]) + box.first * dtype.itemsize
        length = prod(shape) * dtype.itemsize
        return SourcePiece(
            reference=ByteRange(self.index.url, start, length),
            shape=shape,
            inside=inside,
            target=target,
            decode=partial(_elements, dtype, shape),
            raw=dtype,
            how=(*how, shape),
            name=self._name,
            place=self._place(start, start + length),
        )

    def missing(self, target: Slices) -> SourcePiece:
        """Return some elements that did not arrive."""
        error = self.index.error_of(self.number)
        return SourcePiece.lost(error, f"{self._name} (did not arrive)", target)

    @property
    def _name(self) -> str:
        return f"message {self.number}"

    def _place(self, start: int, stop: int) -> Place:
        return Place(url=self.index.url, start=start, stop=stop, path=self.layout.path)

    def _objects(self, run: ObjectRun, order: str, data: memoryview) -> Values:
        return run.values(self.layout.variable, order, data)


def arrived_elements(table: MessageTable, variable: StreamVariable) -> int:
    """Return how many elements can be read of the message that a stream was cut off within."""
    number = table.cut
    if number is None or not type_fits(int(table.data_type[number]), variable.type):
        return 0
    has_objects = variable.type.dtype is None or is_ragged(variable)
    wanted = Payload.VARIABLE if has_objects else Payload.REGULAR
    return int(table.count[number]) if table.payload[number] == wanted else 0


def _elements(dtype: np.dtype[Any], shape: tuple[int, ...], data: memoryview) -> Values:
    return np.frombuffer(data, dtype).reshape(shape)
