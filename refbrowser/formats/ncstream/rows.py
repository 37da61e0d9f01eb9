"""The table of messages while it grows: numbers in flat arrays, no object a message."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.formats.ncstream.faults import FaultCode
from refbrowser.formats.ncstream.messages import MessageKind, MessageTable, Payload

_TYPES: dict[str, Any] = {
    "kind": np.uint8,
    "offset": np.int64,
    "stop": np.int64,
    "variable": np.int32,
    "payload": np.uint8,
    "payload_offset": np.int64,
    "payload_length": np.int64,
    "count": np.int64,
    "data_type": np.int8,
    "byte_order": np.int8,
    "version": np.int32,
    "deflated": np.bool_,
    "uncompressed": np.int64,
    "crc32": np.int64,
    "fault": np.uint8,
    "rank": np.int16,
    "section": np.int64,
}
_WIDTH = len(_TYPES)
_FAULT = list(_TYPES).index("fault")
#: Columns that are places in the file.
_PLACES = [list(_TYPES).index(name) for name in ("offset", "stop", "payload_offset")]


class Row(NamedTuple):
    """One message, in the order of the columns."""

    kind: int
    offset: int
    stop: int
    variable: int = -1
    payload: int = Payload.NONE
    payload_offset: int = 0
    payload_length: int = 0
    objects: int = -1
    data_type: int = -1
    byte_order: int = -1
    version: int = 0
    deflated: int = False
    uncompressed: int = -1
    crc32: int = -1
    fault: int = 0
    rank: int = -1
    section: int = 0


class Rows:
    """Rows of messages, and the ranges of their sections.

    Attributes
    ----------
    ranges
        Start, size and stride of each range, one after the other.
    checkpoints
        By message number.
    """

    def __init__(self) -> None:
        self._values = array("q")
        self.ranges = array("q")
        self.checkpoints: dict[int, tuple[tuple[int, int], ...]] = {}
        self._old_checkpoints: dict[int, Any] = {}

    @classmethod
    def of(cls, table: MessageTable, count: int) -> Rows:
        """Return the first `count` rows of a table, to go on from."""
        rows = cls()
        columns = [getattr(table, name)[:count].astype(np.int64) for name in _TYPES]
        # What definitions say of the data is asked again.
        found = columns[_FAULT]
        found[(table.kind[:count] != MessageKind.DAMAGED) & (found != FaultCode.UNKNOWN_COMPRESSION)] = 0
        rows._values.frombytes(np.stack(columns, axis=1).tobytes() if count else b"")
        used = int(np.max(table.section[:count] + np.maximum(table.rank[:count], 0), initial=0))
        ranges = [column[:used] for column in (table.starts, table.sizes, table.strides)]
        rows.ranges.frombytes(np.stack(ranges, axis=1).astype(np.int64).tobytes())
        rows._old_checkpoints = {
            number: marks for number, marks in table.checkpoints.items() if number < count
        }
        return rows

    def __len__(self) -> int:
        return len(self._values) // _WIDTH

    def add(self, row: Iterable[int]) -> None:
        """Add a `Row`, or the same as a plain tuple."""
        self._values.extend(row)

    def add_many(self, **columns: npt.NDArray[Any]) -> None:
        """Add rows by their columns."""
        self._values.frombytes(
            np.stack([columns[name] for name in _TYPES], axis=1).astype(np.int64).tobytes()
        )

    def repeat(self, count: int) -> None:
        """Add the last row so many times more, of messages of the same length that follow each other."""
        last = np.array(self._values[-_WIDTH:], np.int64)
        step = np.zeros(_WIDTH, np.int64)
        step[_PLACES] = self.last().stop - self.last().offset
        more = last + np.arange(1, count + 1)[:, None] * step
        self._values.frombytes(more.astype(np.int64).tobytes())

    def last(self) -> Row:
        """Return the row that was added last."""
        return Row(*self._values[-_WIDTH:])

    def cut(self, count: int, ranges: int) -> None:
        """Keep the first `count` rows and so many numbers of `ranges`."""
        del self._values[count * _WIDTH :]
        del self.ranges[ranges:]
        for marks in (self.checkpoints, self._old_checkpoints):
            for number in [each for each in marks if each >= count]:
                del marks[number]

    def table(self, names: tuple[str, ...]) -> MessageTable:
        """Return the rows as a table."""
        values = np.array(self._values, np.int64).reshape(-1, _WIDTH)
        ranges = np.array(self.ranges, np.int64).reshape(-1, 3)
        columns: dict[str, Any] = {
            name: values[:, at].astype(kind) for at, (name, kind) in enumerate(_TYPES.items())
        }
        checkpoints = {
            number: np.array(marks, np.int64).reshape(-1, 2) for number, marks in self.checkpoints.items()
        }
        return MessageTable(
            **columns,
            names=names,
            starts=ranges[:, 0].copy(),
            sizes=ranges[:, 1].copy(),
            strides=ranges[:, 2].copy(),
            checkpoints=self._old_checkpoints | checkpoints,
        )


def damaged(offset: int, stop: int, fault: int, facts: Row | None) -> Row:
    """Return the row of bytes that are no sound message; `facts` is what could be told of it."""
    known = Row(0, 0, 0) if facts is None else facts
    return known._replace(kind=MessageKind.DAMAGED, offset=offset, stop=stop, fault=fault)
