"""Answers to requests for data, to values: one message, of what was asked for and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.formats.ncstream.bytes import MemoryBytes
from refbrowser.formats.ncstream.definition import StreamDefinition, StreamGroup, StreamVariable
from refbrowser.formats.ncstream.layouts import little_endian, order_code
from refbrowser.formats.ncstream.messages import MessageKind, Payload, StreamIndex
from refbrowser.formats.ncstream.options import StreamOptions
from refbrowser.formats.ncstream.payloads import PayloadFacts, decode_payload
from refbrowser.formats.ncstream.walk import walk_stream

Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A section of a variable that a service is asked for.

    Attributes
    ----------
    path
        Absolute, without escapes.
    section
        One range for each dimension that has a length; None of a sequence, of which all is sent.
    """

    path: str
    variable: StreamVariable
    section: tuple[range, ...] | None
    options: StreamOptions

    def values(self, data: memoryview) -> Values:
        """Return the values in an answer, in the shape of the section.

        Raises
        ------
        RefbrowserError
            `E_FORMAT`: it is no message, damaged, or not of what was asked for; `E_SOURCE`: it is an error.
        """
        index = walk_stream(MemoryBytes(data), url="", definition=_defining(self.path, self.variable))
        self._check(index)
        table = index.table
        start = int(table.payload_offset[0])
        facts = PayloadFacts(
            payload=Payload(int(table.payload[0])),
            shape=self._shape(index),
            order=self._order(index),
            deflated=bool(table.deflated[0]),
        )
        return decode_payload(self.variable, facts, data[start : start + int(table.payload_length[0])])

    def _check(self, index: StreamIndex) -> None:
        for fault in index.faults:
            if fault.severity is Severity.FAULT:
                kind = ErrorKind.SOURCE if fault.code == "stream-error" else ErrorKind.FORMAT
                message = f"{fault.code}: {fault.message}"
                raise RefbrowserError(kind, message, Place(path=self.path, start=fault.offset))
        table = index.table
        if len(table) != 1 or table.kind[0] not in (MessageKind.DATA, MessageKind.DATA_COLUMN):
            raise self._wrong(f"{len(table)} messages" if len(table) != 1 else "a message without data")
        name = table.names[table.variable[0]] if table.variable[0] >= 0 else None
        if name != self.path:
            raise self._wrong("data of another variable")

    def _shape(self, index: StreamIndex) -> tuple[int, ...]:
        """Return the shape of the values; what the answer says of its section must be what was asked for."""
        section = self.section
        if section is None:
            return (max(int(index.table.count[0]), 0),)
        answered = index.table.ranges(0)
        if answered is not None and (section or answered) and not _same(answered, section):
            raise self._wrong("another section")
        return tuple(map(len, section))

    def _order(self, index: StreamIndex) -> str:
        if index.table.kind[0] == MessageKind.DATA_COLUMN and self.options.byte_order is None:
            # The columns of members have flags of their own.
            return ""
        first = np.zeros(1, np.int64)
        return order_code(bool(little_endian(index.table, first, self.options)[0]))

    def _wrong(self, what: str) -> RefbrowserError:
        message = f"the service answered with {what}"
        return RefbrowserError(ErrorKind.FORMAT, message, Place(path=self.path))


def _defining(path: str, variable: StreamVariable) -> StreamDefinition:
    """Return a definition of one variable: that of all takes long where there are many."""
    *groups, name = path.strip("/").split("/")
    group = StreamGroup(variables={name: variable})
    for above in reversed(groups):
        group = StreamGroup(groups={above: replace(group, name=above)})
    return StreamDefinition(root=group)


def _same(answered: tuple[range, ...], asked: tuple[range, ...]) -> bool:
    """Tell whether two sections are of the same elements; for a scalar some services send one range of 1."""
    if not asked:
        return all(len(each) == 1 for each in answered)
    # Ranges of the same elements are equal, however their ends are written.
    return answered == asked
