"""Some of the objects of a long message: those between two checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.formats.ncstream import magics
from refbrowser.formats.ncstream.definition import DataType, StreamVariable
from refbrowser.formats.ncstream.messages import MessageTable, Payload
from refbrowser.formats.ncstream.payload_errors import size_mismatch

Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class ObjectRun:
    """Objects that follow each other: whole rows along the first dimension of their message.

    Attributes
    ----------
    start, stop
        Bytes of the file from the checkpoint before the first one to that behind the last one.
    skipped
        Objects between the checkpoint and the first one.
    shape
        Of those that are wanted.
    inside
        Which of these are taken.
    is_last
        The bytes reach up to the end of the message.
    """

    start: int
    stop: int
    skipped: int
    shape: tuple[int, ...]
    inside: tuple[slice, ...]
    is_last: bool

    def values(self, variable: StreamVariable, order: str, data: memoryview) -> Values:
        """Return the values of the run from its bytes.

        Raises
        ------
        PayloadError
            They are not what they should be.
        """
        from refbrowser.formats.ncstream.payloads import objects_as_values, split_objects
        from refbrowser.formats.ncstream.structures import sequence_rows

        last = self.skipped + prod(self.shape)
        if variable.type is DataType.SEQUENCE:
            rows = sequence_rows(
                variable, memoryview(bytes(data).removesuffix(magics.VEND) + magics.VEND), order
            )
            if len(rows) < last:
                raise size_mismatch(len(rows), last, "rows")
            return rows[self.skipped : last]
        objects = split_objects(data, last)[self.skipped :]
        return objects_as_values(variable, objects, order).reshape(self.shape)


def run_of(
    table: MessageTable, number: int, shape: tuple[int, ...], inside: tuple[slice, ...]
) -> ObjectRun | None:
    """Return the run of objects that holds some elements of a message; None where it is read whole."""
    marks = table.checkpoints.get(number)
    payload = table.payload[number]
    if marks is None or len(marks) < 2 or not shape or table.deflated[number]:
        return None
    if payload not in (Payload.VARIABLE, Payload.SEQUENCE):
        return None
    first, last = inside[0].start, inside[0].stop
    each = prod(shape[1:])
    before, behind = _marks_around(marks, first * each, last * each)
    if before == 0 and behind == len(marks):
        return None
    end = int(table.payload_offset[number] + table.payload_length[number])
    return ObjectRun(
        start=int(marks[before, 1]),
        stop=int(marks[behind, 1]) if behind < len(marks) else end,
        skipped=first * each - int(marks[before, 0]),
        shape=(last - first, *shape[1:]),
        inside=(slice(0, last - first, inside[0].step), *inside[1:]),
        is_last=behind == len(marks),
    )


def arrived_run(
    table: MessageTable, number: int, start: int, shape: tuple[int, ...], inside: tuple[slice, ...]
) -> ObjectRun:
    """Return the run that holds some elements of a message that the stream was cut off within.

    Parameters
    ----------
    start
        Number of the first of the objects that `shape` has; they follow each other.
    """
    end = int(table.payload_offset[number] + table.payload_length[number])
    marks = table.checkpoints.get(number)
    if marks is None:
        marks = np.array([[0, int(table.payload_offset[number])]])
    axis = next((at for at, length in enumerate(shape) if length > 1), len(shape) - 1)
    taken, each = inside[axis], prod(shape[axis + 1 :])
    first, last = start + taken.start * each, start + taken.stop * each
    before, behind = _marks_around(marks, first, last)
    length = taken.stop - taken.start
    return ObjectRun(
        start=int(marks[before, 1]),
        stop=int(marks[behind, 1]) if behind < len(marks) else end,
        skipped=first - int(marks[before, 0]),
        shape=(*shape[:axis], length, *shape[axis + 1 :]),
        inside=(*inside[:axis], slice(0, length, taken.step), *inside[axis + 1 :]),
        is_last=behind == len(marks),
    )


def _marks_around(marks: npt.NDArray[np.int64], first: int, last: int) -> tuple[int, int]:
    """Return the rows of the checkpoints before the object `first`, and not before the object `last`."""
    before = max(int(np.searchsorted(marks[:, 0], first, "right")) - 1, 0)
    return before, int(np.searchsorted(marks[:, 0], last))
