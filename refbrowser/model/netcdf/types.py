"""The types of the NCZarr data model: atomic, opaque and compound; and those that netCDF-4 has beside them.

To the list of the seed ("Types") ``char``, ``float`` and ``double`` are added, which files in practice have,
and enumerations and rows of their own length, which streams have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np


class AtomicType(StrEnum):
    """The types that need no declaration, by their netCDF names."""

    CHAR = "char"
    BYTE = "byte"
    UBYTE = "ubyte"
    SHORT = "short"
    USHORT = "ushort"
    INT = "int"
    UINT = "uint"
    INT64 = "int64"
    UINT64 = "uint64"
    FLOAT = "float"
    DOUBLE = "double"
    STRING = "string"

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The numpy type of the numbers; None of char and string."""
        return _DTYPES.get(self)

    @property
    def default_fill(self) -> Any:
        """What netCDF reads where nothing was written and no fill value is set."""
        return _DEFAULT_FILLS[self]

    @property
    def is_integer(self) -> bool:
        """Whether its values are integers."""
        return self.dtype is not None and self.dtype.kind in "iu"

    @property
    def is_float(self) -> bool:
        """Whether its values are floating numbers."""
        return self.dtype is not None and self.dtype.kind == "f"


_DTYPES: dict[Any, np.dtype[Any]] = {
    AtomicType.BYTE: np.dtype("i1"),
    AtomicType.UBYTE: np.dtype("u1"),
    AtomicType.SHORT: np.dtype("i2"),
    AtomicType.USHORT: np.dtype("u2"),
    AtomicType.INT: np.dtype("i4"),
    AtomicType.UINT: np.dtype("u4"),
    AtomicType.INT64: np.dtype("i8"),
    AtomicType.UINT64: np.dtype("u8"),
    AtomicType.FLOAT: np.dtype("f4"),
    AtomicType.DOUBLE: np.dtype("f8"),
}

#: The atomic type of each numpy type that is one.
ATOMIC_OF = {dtype: atomic for atomic, dtype in _DTYPES.items()}

#: The atomic types by name.
ATOMIC_BY_NAME = {str(atomic): atomic for atomic in AtomicType}

_DEFAULT_FILLS: dict[AtomicType, Any] = {
    AtomicType.CHAR: "\0",
    AtomicType.BYTE: -127,
    AtomicType.UBYTE: 255,
    AtomicType.SHORT: -32767,
    AtomicType.USHORT: 65535,
    AtomicType.INT: -2147483647,
    AtomicType.UINT: 4294967295,
    AtomicType.INT64: -9223372036854775806,
    AtomicType.UINT64: 18446744073709551614,
    AtomicType.FLOAT: 9.969209968386869e36,
    AtomicType.DOUBLE: 9.969209968386869e36,
    AtomicType.STRING: "",
}


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """Elements of `size` bytes whose meaning is not known."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class EnumType:
    """Integers whose values have names.

    Attributes
    ----------
    base
        The type of the integers.
    names
        Values and their names, in order.
    """

    name: str
    base: AtomicType
    names: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class VlenType:
    """Rows of elements of one type, each row with a length of its own.

    A sequence (CDM) is such a row of a compound type.
    """

    name: str
    elements: NetcdfType


@dataclass(frozen=True, slots=True)
class CompoundField:
    """One field of a compound type: a type repeated over `shape`."""

    name: str
    type: NetcdfType
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CompoundType:
    """Ordered, named fields, like a struct of C."""

    name: str
    fields: tuple[CompoundField, ...]


DeclaredType = OpaqueType | CompoundType | EnumType | VlenType
NetcdfType = AtomicType | DeclaredType
#: What attributes can be of; rows and enumerations are those of fill values only.
AttributeType = AtomicType | OpaqueType | EnumType | VlenType


def type_text(type: NetcdfType) -> str:
    """Return the name of a type for people: ``int``, ``compound point``, ``int(*) row``."""
    if isinstance(type, AtomicType):
        return str(type)
    return f"{_KINDS[type.__class__](type)} {type.name}"


_KINDS: dict[Any, Callable[[Any], str]] = {
    OpaqueType: lambda type: f"opaque({type.size})",
    CompoundType: lambda type: "compound",
    EnumType: lambda type: f"{type.base} enum",
    VlenType: lambda type: f"{type_text(type.elements).strip()}(*)",
}
