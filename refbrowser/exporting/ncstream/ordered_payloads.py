"""Payloads that are written from first to last: objects, rows of sequences, zlib streams."""

from __future__ import annotations

import zlib
from math import prod
from typing import Any, Protocol

import numpy.typing as npt

from refbrowser.exporting.ncstream.plan import VariablePlan
from refbrowser.formats.ncstream import magics
from refbrowser.formats.ncstream.definition import DataType
from refbrowser.formats.ncstream.dtypes import is_ragged
from refbrowser.formats.ncstream.encoding import (
    DataFacts,
    crc32_of,
    data_head,
    element_bytes,
    object_bytes,
    padded_varint,
    sequence_rows,
    sized_objects,
)
from refbrowser.formats.ncstream.stream_file import StreamFile
from refbrowser.formats.ncstream.varints import write_varint

#: Bytes of a length that is known last: enough for 2**42.
_LENGTH = 6


class OrderedWriter(Protocol):
    """Writes one message."""

    def add(self, values: npt.NDArray[Any]) -> None:
        """Write the next elements."""
        ...

    def finish(self) -> None:
        """End the message."""
        ...


def ordered_writer(file: StreamFile, plan: VariablePlan, *, checksum: bool) -> OrderedWriter:
    """Return what writes the message of a variable."""
    if plan.streamed.variable.type is DataType.SEQUENCE:
        return _Rows(file, plan)
    if plan.level is not None:
        return _Deflated(file, plan, checksum)
    return _Objects(file, plan, checksum)


class _Rows:
    """The rows of a sequence; it has no section and no checksum."""

    def __init__(self, file: StreamFile, plan: VariablePlan) -> None:
        self._file = file
        self._variable = plan.streamed.variable
        facts = DataFacts(path=plan.streamed.path, type=self._variable.type)
        self._message = file.begin(plan.streamed.path, None, [data_head(facts)])

    def add(self, values: npt.NDArray[Any]) -> None:
        """Write the next rows."""
        for data in sequence_rows(self._variable, values):
            self._file.add(self._message, data)

    def finish(self) -> None:
        """Write the end of the sequence."""
        self._file.add(self._message, magics.VEND)
        self._file.end(self._message)


class _Objects:
    """Texts, opaque values or ragged rows behind their number."""

    def __init__(self, file: StreamFile, plan: VariablePlan, checksum: bool) -> None:
        self._file = file
        self._variable = variable = plan.streamed.variable
        self._is_ragged = is_ragged(variable)
        self._sum = 0 if checksum and not self._is_ragged else None
        self._path = plan.streamed.path
        self._start = file.size
        self._message = file.begin(self._path, tuple(map(range, variable.shape)), [self._head()])
        file.add(self._message, write_varint(prod(variable.shape)))

    def _head(self) -> bytes:
        variable = self._variable
        return data_head(
            DataFacts(
                path=self._path,
                type=variable.type,
                section=tuple(map(range, variable.shape)),
                is_ragged=self._is_ragged,
                crc32=self._sum,
            )
        )

    def add(self, values: npt.NDArray[Any]) -> None:
        """Write the next elements."""
        objects = object_bytes(self._variable, values)
        if self._sum is not None:
            for item in objects:
                self._sum = crc32_of(item, self._sum)
        self._file.add(self._message, sized_objects(objects))

    def finish(self) -> None:
        """End the message, and tell its checksum, which takes as many bytes whatever it is."""
        self._file.end(self._message)
        if self._sum is not None:
            self._file.put(self._start, self._head())


class _Deflated:
    """Elements as one zlib stream, whose length is written when it is known."""

    def __init__(self, file: StreamFile, plan: VariablePlan, checksum: bool) -> None:
        assert plan.level is not None
        self._file = file
        self._plan = plan
        self._sum = 0 if checksum else None
        self._packer = zlib.compressobj(plan.level)
        self._start = file.size
        section = tuple(map(range, plan.streamed.variable.shape))
        self._message = file.begin(plan.streamed.path, section, self._head(0))

    def _head(self, length: int) -> list[bytes]:
        variable = self._plan.streamed.variable
        facts = DataFacts(
            path=self._plan.streamed.path,
            type=variable.type,
            section=tuple(map(range, variable.shape)),
            uncompressed=self._plan.size,
            crc32=self._sum,
        )
        return [data_head(facts), padded_varint(length, _LENGTH)]

    def add(self, values: npt.NDArray[Any]) -> None:
        """Write the next elements."""
        self._put(self._packer.compress(element_bytes(self._plan.streamed.variable, values)))

    def finish(self) -> None:
        """End the zlib stream, and tell its length and checksum."""
        self._put(self._packer.flush())
        self._file.end(self._message)
        self._file.put(self._start, b"".join(self._head(self._message.payload_length)))

    def _put(self, data: bytes) -> None:
        if self._sum is not None:
            self._sum = crc32_of(data, self._sum)
        self._file.add(self._message, data)
