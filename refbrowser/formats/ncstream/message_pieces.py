"""The messages of a variable as pieces: where their bytes are, and how they become values."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Finding, Place, RefbrowserError
from refbrowser.formats.ncstream.byte_order import order_code
from refbrowser.formats.ncstream.dtypes import element_dtype_of, is_ragged
from refbrowser.formats.ncstream.layouts import Layout, type_fits
from refbrowser.formats.ncstream.messages import Payload, StreamFault, StreamIndex
from refbrowser.formats.ncstream.object_runs import ObjectRun, run_of
from refbrowser.formats.ncstream.options import StreamOptions
from refbrowser.formats.ncstream.payload_errors import PayloadError, size_mismatch
from refbrowser.formats.ncstream.witness import checksum_warning
from refbrowser.model.reference import ByteRange
from refbrowser.model.source import SourcePiece

Values = npt.NDArray[Any]
Slices = tuple[slice, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MessagePieces:
    """Makes pieces of the messages of one variable of a stream."""

    index: StreamIndex
    layout: Layout
    options: StreamOptions

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
        from refbrowser.formats.ncstream.payloads import PayloadFacts, decode_listed

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
