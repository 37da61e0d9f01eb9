"""What the headers of a stream say of its dataset, merged: groups, dimensions, variables, types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np


class StreamType(IntEnum):
    """The types of variables, by their numbers on the wire (wire notes, section 2)."""

    CHAR = 0
    BYTE = 1
    SHORT = 2
    INT = 3
    LONG = 4
    FLOAT = 5
    DOUBLE = 6
    STRING = 7
    STRUCTURE = 8
    SEQUENCE = 9
    ENUM1 = 10
    ENUM2 = 11
    ENUM4 = 12
    OPAQUE = 13
    UBYTE = 14
    USHORT = 15
    UINT = 16
    ULONG = 17

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The numpy type of one element in big-endian order; None where elements have no fixed size."""
        return _DTYPES.get(self)

    @property
    def known_dtype(self) -> np.dtype[Any]:
        """That type; asking where elements have no fixed size is an error."""
        return _DTYPES[self]


_DTYPES: dict[Any, np.dtype[Any]] = {
    StreamType.CHAR: np.dtype("S1"),
    StreamType.BYTE: np.dtype("i1"),
    StreamType.SHORT: np.dtype(">i2"),
    StreamType.INT: np.dtype(">i4"),
    StreamType.LONG: np.dtype(">i8"),
    StreamType.FLOAT: np.dtype(">f4"),
    StreamType.DOUBLE: np.dtype(">f8"),
    StreamType.ENUM1: np.dtype("u1"),
    StreamType.ENUM2: np.dtype(">u2"),
    StreamType.ENUM4: np.dtype(">u4"),
    StreamType.UBYTE: np.dtype("u1"),
    StreamType.USHORT: np.dtype(">u2"),
    StreamType.UINT: np.dtype(">u4"),
    StreamType.ULONG: np.dtype(">u8"),
}


#: Signedness aside: the field `unsigned` of older servers does not reach the messages.
_SIGNED: dict[int, int] = {
    StreamType.UBYTE: StreamType.BYTE,
    StreamType.USHORT: StreamType.SHORT,
    StreamType.UINT: StreamType.INT,
    StreamType.ULONG: StreamType.LONG,
}


def family_of(number: int) -> int:
    """Return the number by which types are compared: that of the signed one; other numbers as they are."""
    return _SIGNED.get(number, number)


def type_name(number: int) -> str:
    """Return the name of a type by its number, which may be none."""
    return StreamType(number).name.lower() if number in list(StreamType) else "an unknown type"


@dataclass(frozen=True, slots=True)
class StreamDimension:
    """A dimension of a group, or one of a variable's shape (full copies of shared ones stand there too).

    `name` is empty for an anonymous one; `length` means nothing where `is_vlen`.
    """

    name: str
    length: int
    is_unlimited: bool = False
    is_vlen: bool = False
    is_private: bool = False


@dataclass(frozen=True, slots=True)
class StreamAttribute:
    """An attribute; `values` are Python numbers, or texts where `type` is STRING or CHAR."""

    name: str
    type: StreamType
    values: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamVariable:
    """A variable, or a member of a structure.

    Attributes
    ----------
    name
        Short name.
    type
        Unsigned types where the field `unsigned` of older servers said so.
    attributes
        By name, in order.
    members
        Of a structure or sequence: all variables, then all structures (the order of member numbers).
    immediate
        The values that stood in the header, big endian; None where there were none.
    enum_name
        Name of the enumeration that its values are of.
    """

    name: str
    type: StreamType
    dimensions: tuple[StreamDimension, ...] = ()
    attributes: Mapping[str, StreamAttribute] = field(default_factory=dict)
    members: tuple[StreamVariable, ...] = ()
    immediate: bytes | None = None
    enum_name: str = ""

    @property
    def is_ragged(self) -> bool:
        """Whether its last dimension has a length of its own in each row."""
        return bool(self.dimensions) and self.dimensions[-1].is_vlen

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its dimensions that are not of variable length."""
        return tuple(each.length for each in self.dimensions if not each.is_vlen)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamGroup:
    """A group: what it holds, by name, in order. `enums` has names of values by value."""

    name: str = ""
    dimensions: Mapping[str, StreamDimension] = field(default_factory=dict)
    variables: Mapping[str, StreamVariable] = field(default_factory=dict)
    attributes: Mapping[str, StreamAttribute] = field(default_factory=dict)
    groups: Mapping[str, StreamGroup] = field(default_factory=dict)
    enums: Mapping[str, Mapping[int, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamDefinition:
    """What all headers say together; `location`, `title` and `id` are those of the last one that had any."""

    root: StreamGroup = field(default_factory=StreamGroup)
    location: str = ""
    title: str = ""
    id: str = ""

    def groups(self) -> Iterator[tuple[str, StreamGroup]]:
        """Yield every group with its absolute path, those nearer to the root first."""
        pending = [("/", self.root)]
        while pending:
            path, group = pending.pop(0)
            yield path, group
            pending.extend((f"{path.rstrip('/')}/{name}", below) for name, below in group.groups.items())

    def variables(self) -> Iterator[tuple[str, StreamVariable]]:
        """Yield every variable with its absolute path (``/ocean/temp``), those of the root first."""
        pending = [("/", self.root)]
        while pending:
            path, group = pending.pop(0)
            for name, variable in group.variables.items():
                yield path + name, variable
            pending.extend((f"{path}{name}/", child) for name, child in group.groups.items())
