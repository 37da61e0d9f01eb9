"""What an element of an array is: a number, a text, bytes, a structure, one of a sequence, a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refbrowser.model.dtypes import type_name
from refbrowser.model.member_types import enum_name_of, names_of

_NO_NAMES: Mapping[int, str] = {}


@dataclass(frozen=True, slots=True)
class MemberAttributes:
    """The attributes of one member of a structure; `attribute_types` are as those of `ArrayNode`."""

    attributes: Mapping[str, Any]
    attribute_types: Mapping[str, str] = field(default_factory=dict)


_NO_MEMBERS: Mapping[str, MemberAttributes] = {}


@dataclass(frozen=True, slots=True)
class DataType:
    """The type of elements that are numbers, texts, bytes or opaque, or that nobody knows.

    Attributes
    ----------
    dtype
        The numpy type of the decoded elements, or None when unknown.
    name
        The field's name for the type: the numpy string with byte order where there is one (``<i2``), else
        the name in the metadata (``string``, ``bytes``, ``opaque``), or the type of one row as Awkward writes
        it, where elements are nested.
    """

    dtype: np.dtype[Any] | None = None
    name: str = ""

    @classmethod
    def of(cls, dtype: np.dtype[Any], name: str | None = None) -> DataType:
        """Return the type of elements of a numpy type, which may know the names of its values.

        Parameters
        ----------
        name
            Of the type; None for that of numpy.
        """
        name = type_name(dtype) if name is None else name
        if names := names_of(dtype):
            return EnumerationType(dtype, name, names, enum_name_of(dtype))
        return DataType(dtype, name) if dtype.names is None else StructureType(dtype, name)

    @property
    def inner(self) -> DataType:
        """The type of the elements of a row where elements are rows; else this one."""
        return self

    @property
    def names(self) -> Mapping[int, str]:
        """What values are called; empty where they have no names."""
        inner = self.inner
        return inner.values if isinstance(inner, EnumerationType) else _NO_NAMES

    @property
    def members(self) -> Mapping[str, MemberAttributes]:
        """Attributes of the members of structures that have any, by the members' names joined by points."""
        inner = self.inner
        return inner.said if isinstance(inner, StructureType) else _NO_MEMBERS


#: The type of elements of which nothing is known.
UNKNOWN = DataType()


@dataclass(frozen=True, slots=True)
class EnumerationType(DataType):
    """Integers whose values have names.

    Attributes
    ----------
    values
        Names by value.
    enum_name
        Of the enumeration; empty where it has none.
    """

    values: Mapping[int, str] = field(default_factory=dict)
    enum_name: str = ""


@dataclass(frozen=True, slots=True)
class StructureType(DataType):
    """Structures; `dtype` has the members and their types, and `member_types` what numpy cannot say of them.

    Attributes
    ----------
    said
        Attributes of the members that have any, by the members' names joined by points.
    """

    said: Mapping[str, MemberAttributes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SequenceType(StructureType):
    """Structures along the last dimension of the array, whose number only their data tell."""

    @property
    def structure(self) -> StructureType:
        """The type of one of them."""
        return StructureType(self.dtype, self.name, self.said)


@dataclass(frozen=True, slots=True)
class RowType(DataType):
    """Rows: each element is a 1-d numpy array of its own length (`dtype` is object).

    Attributes
    ----------
    elements
        The type of the elements of a row.
    dimension
        Name of the dimension that has a length of its own in each row; ``*`` where it has none.
    """

    elements: DataType = field(default_factory=DataType)
    dimension: str = "*"

    @property
    def inner(self) -> DataType:
        """The type of the elements of a row."""
        return self.elements

    @property
    def row_dtype(self) -> np.dtype[Any]:
        """The numpy type of the elements of a row."""
        assert self.elements.dtype is not None
        return self.elements.dtype
