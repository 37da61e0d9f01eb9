"""What Data and DataCol messages say of their data: variable, section, type, codec."""

from __future__ import annotations

import re
from array import array
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from refbrowser.formats.ncstream.definition import DataType, StreamDefinition, StreamVariable
from refbrowser.formats.ncstream.faults import FaultCode, FramingError
from refbrowser.formats.ncstream.messages import ByteOrder, Payload
from refbrowser.formats.ncstream.schema import DATA, DATA_COLUMN, DATA_PRACTICE, text_of

#: Numbers of a range beyond this are none that an array can have; some readers write 2^64-1 for `*`.
_MOST = (1 << 62) - 1
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
#: Field 7 as a bool that is true.
_VDATA = b"\x38\x01"
_PAYLOADS = {
    DataType.STRING: Payload.VARIABLE,
    DataType.OPAQUE: Payload.VARIABLE,
    DataType.STRUCTURE: Payload.STRUCTURE,
    DataType.SEQUENCE: Payload.SEQUENCE,
}
_DEFLATE = 1


class Facts(NamedTuple):
    """What stands in a message itself, before its payload."""

    variable: int
    payload: int
    data_type: int
    byte_order: int
    version: int
    deflated: bool
    uncompressed: int
    crc32: int
    fault: int
    rank: int
    section: int


class _Target(NamedTuple):
    """The variable that a name stands for."""

    number: int
    variable: StreamVariable | None
    is_ragged: bool
    fixed_rank: int


class DataFacts:
    """Reads the messages of one stream; variables are numbered as they come.

    Parameters
    ----------
    names
        Paths that are numbered already.
    ranges
        Where the ranges of sections are put, three numbers each.
    """

    def __init__(self, names: tuple[str, ...], ranges: array[int]) -> None:
        self._numbers = {name: number for number, name in enumerate(names)}
        self._ranges = ranges
        self._variables: dict[str, StreamVariable] = {}
        self._targets: dict[str | bytes, _Target] = {}
        self._undefined: set[int] = set()

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def names(self) -> tuple[str, ...]:
        """Paths of all variables that messages are of."""
        return tuple(self._numbers)

    def is_undefined(self, variable: int) -> bool:
        """Return whether no header so far defines the variable of a number."""
        return variable in self._undefined

    def define(self, definition: StreamDefinition) -> None:
        """Take what the headers say by now."""
        self._variables = dict(definition.variables())
        self._targets.clear()

    def forget(self, count: int) -> None:
        """Keep the first `count` names: the others were read of what is no message."""
        while len(self._numbers) > count:
            self._undefined.discard(self._numbers.popitem()[1])
        self._targets.clear()

    def data(self, message: bytes) -> Facts:
        """Return what a Data message says (wire notes, section 2).

        Raises
        ------
        FramingError
            It is no such message.
        """
        data = parsed(DATA, message)
        name = data.varName
        target = self._targets.get(name) or self._target(name)
        section, rank = len(self._ranges) // 3, -1
        if data.HasField("section"):
            rank = self._section(data.section.range, target)
        data_type, compress = data.dataType, data.compress
        payload = _PAYLOADS.get(data_type, Payload.REGULAR)
        if payload == Payload.REGULAR and (target.is_ragged or _is_vdata(message)):
            payload = Payload.VARIABLE
        return Facts(
            target.number,
            payload,
            data_type if 0 <= data_type <= DataType.ULONG else -1,
            int(data.bigend) if data.HasField("bigend") else ByteOrder.ABSENT,
            data.version & 0x7FFFFFFF,
            compress == _DEFLATE,
            data.uncompressedSize if data.HasField("uncompressedSize") else -1,
            data.crc32 if data.HasField("crc32") else -1,
            FaultCode.UNKNOWN_COMPRESSION if compress not in (0, _DEFLATE) else FaultCode.NONE,
            rank,
            section,
        )

    def column(self, message: bytes) -> Facts:
        """Return what a DataCol message says.

        Raises
        ------
        FramingError
            It is no such message.
        """
        data = parsed(DATA_COLUMN, message)
        target = self._targets.get(data.name) or self._target(data.name)
        section, rank = len(self._ranges) // 3, -1
        if data.HasField("section"):
            rank = self._section(data.section.range, target)
        return Facts(
            variable=target.number,
            payload=Payload.COLUMN,
            data_type=data.dataType if 0 <= data.dataType <= DataType.ULONG else -1,
            byte_order=int(data.bigend) if data.HasField("bigend") else ByteOrder.ABSENT,
            version=data.version & 0x7FFFFFFF,
            deflated=False,
            uncompressed=-1,
            crc32=-1,
            fault=FaultCode.NONE,
            rank=rank,
            section=section,
        )

    def _target(self, name: str | bytes) -> _Target:
        path = "/" + _ESCAPED.sub(r"\1", text_of(name).removeprefix("/"))
        variable = self._variables.get(path)
        number = self._numbers.setdefault(path, len(self._numbers))
        (self._undefined.add if variable is None else self._undefined.discard)(number)
        is_ragged = variable is not None and variable.is_ragged
        rank = len(variable.shape) if variable is not None else -1
        target = self._targets[name] = _Target(number, variable, is_ragged, rank)
        return target

    def _section(self, ranges: Any, target: _Target) -> int:
        """Add the ranges of a section, without that of a dimension of variable length; return how many."""
        rank = len(ranges)
        if rank and (target.is_ragged or target.variable is None):
            # Practice writes a further range for it, of a size that no dimension has.
            further = rank == target.fixed_rank + 1 if target.is_ragged else ranges[-1].size > _MOST
            if further:
                ranges, rank = ranges[:-1], rank - 1
        add = self._ranges.extend
        for each in ranges:
            start, size, stride = each.start, each.size, each.stride or 1
            if (start | size | stride) > _MOST:
                start, size, stride = min(start, _MOST), min(size, _MOST), min(stride, _MOST)
            add((start, size, stride))
        return rank


def parsed(kind: Any, message: bytes, stop: int | None = None) -> Any:
    """Return a protobuf message of a class.

    Parameters
    ----------
    stop
        Where the next message should be, of the error.

    Raises
    ------
    FramingError
        It does not parse.
    """
    try:
        return kind.FromString(message)
    except DecodeError:
        text = f"{kind.DESCRIPTOR.name} is expected, which is no protobuf message here"
        raise FramingError(FaultCode.BAD_PROTOBUF, text, stop=stop) from None


def item_size(data_type: int) -> int:
    """Return the bytes of one element; 0 where elements have no fixed size."""
    dtype = DataType(data_type).dtype if data_type >= 0 else None
    return 0 if dtype is None else dtype.itemsize


def _is_vdata(message: bytes) -> bool:
    """Return whether a Data message says that its payload is vlenData, as servers do."""
    return _VDATA in message and DATA_PRACTICE.FromString(message).vdata
