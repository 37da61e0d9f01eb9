"""The message that a stream was cut off within as pieces: what arrived, and the error of the rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Place
from refbrowser.formats.ncstream.arrivals import Stretch, arrived_stretches, lost_sections
from refbrowser.formats.ncstream.byte_order import order_code
from refbrowser.formats.ncstream.definition import StreamVariable
from refbrowser.formats.ncstream.dtypes import element_dtype_of, is_ragged
from refbrowser.formats.ncstream.layouts import Layout, type_fits
from refbrowser.formats.ncstream.messages import MessageTable, Payload, StreamIndex
from refbrowser.formats.ncstream.object_runs import ObjectRun, arrived_run
from refbrowser.model.reference import ByteRange
from refbrowser.model.source import SourcePiece

Values = npt.NDArray[Any]
Slices = tuple[slice, ...]


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
    layout: Layout
    number: int
    little: bool
    section: tuple[range, ...]

    def given(self) -> list[Stretch]:
        """Return what arrived, as boxes."""
        return arrived_stretches(self.section, arrived_elements(self.index.table, self.layout.variable))

    def lost(self) -> list[tuple[range, ...]]:
        """Return what did not arrive, as boxes."""
        return lost_sections(self.section, arrived_elements(self.index.table, self.layout.variable))

    def piece(self, stretch: Stretch, inside: Slices, target: Slices) -> SourcePiece:
        """Return some elements that arrived."""
        table, variable, order = self.index.table, self.layout.variable, order_code(self.little)
        shape = tuple(map(len, stretch.section))
        how = ("ncstream", self.layout.path, str(self.layout.dtype), order)
        if table.payload[self.number] == Payload.VARIABLE:
            run = arrived_run(table, self.number, stretch.first, shape, inside)
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
        start = int(table.payload_offset[self.number]) + stretch.first * dtype.itemsize
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
