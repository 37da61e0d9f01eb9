"""What an element of an array is: a number, a text, bytes, a structure, one of a sequence, a row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.dtypes import type_name

Rows = type[str] | type[bytes] | np.dtype[Any]


def rows_type(elements: Rows) -> np.dtype[Any]:
    """Return the type of objects that are texts, bytes, or rows of elements with a length of their own."""
    return np.dtype("O", metadata={"vlen": elements})


def named_values(dtype: np.dtype[Any], names: Mapping[int, str], name: str = "") -> np.dtype[Any]:
    """Return a type of integers whose values have names; `name` is that of the enumeration."""
    return np.dtype(dtype, metadata={"enum": dict(names), "enum_name": name})


def rows_of(dtype: np.dtype[Any]) -> Rows | None:
    """Return what objects of a type hold, None where it is not known."""
    found = _facts(dtype).get("vlen")
    return found if isinstance(found, np.dtype) or found in (str, bytes) else None


def names_of(dtype: np.dtype[Any]) -> dict[int, str]:
    """Return the names of values of a type of integers; empty where they have none."""
    found = _facts(dtype).get("enum", {})
    return dict(found) if isinstance(found, Mapping) else {}


def enum_name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of the enumeration that values of a type are of; empty where it has none."""
    return str(_facts(dtype).get("enum_name", ""))


def ended_texts(dtype: np.dtype[Any], ending: str) -> np.dtype[Any]:
    """Return a type of texts of a fixed length that end before it.

    Parameters
    ----------
    ending
        ``space``: spaces fill them up; ``null``: they end at a NUL, and whatever follows is not of them.
    """
    return np.dtype(dtype, metadata={"ending": ending})


def endings_in(dtype: np.dtype[Any]) -> set[str]:
    """Return how texts of a type, or in its structures, end before their length does; see `ended_texts`."""
    return {str(_facts(each)["ending"]) for _, each in leaf_fields(dtype) if "ending" in _facts(each)}


def end_texts(values: npt.NDArray[Any], dtype: np.dtype[Any], endings: Collection[str]) -> None:
    """Take off what is behind the ends of texts, in place.

    Parameters
    ----------
    values
        Elements of `dtype`, or what they were copied to; only texts of a fixed length are changed.
    endings
        The ways in which texts end that are looked at.
    """
    base = dtype.base
    if base.names is not None and base.fields is not None:
        for name in base.names if values.dtype.names == base.names else ():
            end_texts(values[name], base.fields[name][0], endings)
        return
    ending = _facts(base).get("ending")
    if ending not in endings or values.dtype.kind != "S" or not values.size:
        return
    if ending == "space":
        values[...] = np.char.rstrip(values, b" ")
        return
    longer = np.char.find(values, b"\0") >= 0
    if longer.any():
        values[longer] = [text.partition(b"\0")[0] for text in values[longer].tolist()]


def leaf_fields(dtype: np.dtype[Any], above: str = "") -> Iterator[tuple[str, np.dtype[Any]]]:
    """Yield the fields of a structure that are none themselves: names joined by points, and their types."""
    base = dtype.base
    if base.names is None or base.fields is None:
        yield above, base
        return
    for name in base.names:
        yield from leaf_fields(base.fields[name][0], f"{above}.{name}" if above else name)


def without_names(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values whose type names none of them, for files that hold no names; objects stay."""
    has_names = any(leaf.metadata for _, leaf in leaf_fields(values.dtype))
    return values.view(_bare_type(values.dtype)) if has_names and not values.dtype.hasobject else values


def _bare_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.subdtype is not None:
        return np.dtype((_bare_type(dtype.base), dtype.shape))
    if dtype.names is None or dtype.fields is None:
        return np.dtype(dtype.str) if dtype.metadata else dtype
    fields = [dtype.fields[name] for name in dtype.names]
    return np.dtype(
        {
            "names": dtype.names,
            "formats": [_bare_type(field[0]) for field in fields],
            "offsets": [field[1] for field in fields],
            "itemsize": dtype.itemsize,
        }
    )


def _facts(dtype: np.dtype[Any]) -> Mapping[str, Any]:
    return dtype.metadata or {}


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

    @property
    def known_dtype(self) -> np.dtype[Any]:
        """The numpy type of the decoded elements; asking a type that is not known is an error."""
        if self.dtype is None:
            raise RefbrowserError(ErrorKind.META, "the type of the elements is not known")
        return self.dtype

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
        return self.elements.known_dtype
