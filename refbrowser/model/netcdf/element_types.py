"""numpy types to types of the data model, the nearest that netCDF has; characters of elements as texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import quoted
from refbrowser.model.data_type import (
    DataType,
    EnumerationType,
    Rows,
    RowType,
    SequenceType,
    enum_name_of,
    names_of,
    rows_of,
)
from refbrowser.model.dtypes import members_of
from refbrowser.model.netcdf.types import (
    ATOMIC_OF,
    AtomicType,
    CompoundField,
    CompoundType,
    EnumType,
    NetcdfType,
    OpaqueType,
    VlenType,
)
from refbrowser.model.nodes import ArrayNode, Flavour, Hierarchy

#: Types that netcdf-c writes for single characters, as NCZarr metadata spells them.
_CHARACTERS = {">S1", "<U1", "char"}

_WIDER = {
    "b": (AtomicType.BYTE, "bool is shown as byte: 0 and 1"),
    "e": (AtomicType.FLOAT, "float16 is shown as float"),
    "g": (AtomicType.DOUBLE, "long double is shown as double"),
}
_COMPLEX = {"F": AtomicType.FLOAT, "D": AtomicType.DOUBLE, "G": AtomicType.DOUBLE}


def element_type(node: ArrayNode, *, fixed_strings: bool) -> tuple[NetcdfType, str | None]:
    """Return the type of an array's elements, and what is to be told about it.

    Types that need a declaration have no name yet, but for enumerations that have one of their own.

    Parameters
    ----------
    node
        Its `dtype` is known.
    fixed_strings
        Single bytes are strings of length 1 unless the metadata names them char, as in NCZarr; else they are
        characters.
    """
    dtype = node.known_dtype
    if isinstance(node.type, SequenceType | RowType | EnumerationType) or node.type.name == "opaque":
        return _of_stream(node.type, dtype)
    if dtype.kind == "S" and dtype.itemsize == 1:
        is_char = not fixed_strings or node.type.name in _CHARACTERS
        return (AtomicType.CHAR if is_char else AtomicType.STRING), None
    if dtype.kind == "U":
        is_char = fixed_strings and node.type.name in _CHARACTERS
        return (AtomicType.CHAR if is_char else AtomicType.STRING), None
    if dtype.kind == "S":
        return AtomicType.STRING, None
    if dtype.kind == "O":
        told = f"elements of type {quoted(node.type.name)} are shown as string"
        return AtomicType.STRING, None if node.type.name == "string" else told
    notes: list[str] = []
    found = _fixed(dtype, notes)
    return found, "; ".join(dict.fromkeys(notes)) or None


def _of_stream(type: DataType, dtype: np.dtype[Any]) -> tuple[NetcdfType, str | None]:
    """Return the type of elements that only streams have."""
    notes: list[str] = []
    elements = type.row_dtype if isinstance(type, RowType) else dtype
    found: NetcdfType
    if type.name == "opaque":
        found = _rows(bytes, notes)
    elif isinstance(type.inner, EnumerationType):
        found = _enumeration(type.inner.enum_name, elements, type.inner.values, notes)
    else:
        found = _fixed(elements, notes)
    if isinstance(type, RowType | SequenceType):
        found = VlenType("", found)
    return found, "; ".join(dict.fromkeys(notes)) or None


def _enumeration(name: str, dtype: np.dtype[Any], names: Mapping[int, str], notes: list[str]) -> NetcdfType:
    base = _plain(dtype, notes)
    if not isinstance(base, AtomicType) or not base.is_integer:
        return base
    return EnumType(name, base, tuple(names.items()))


def _rows(elements: Rows, notes: list[str]) -> NetcdfType:
    """Return the type of objects that hold rows."""
    if elements is str:
        return AtomicType.STRING
    if isinstance(elements, np.dtype):
        return VlenType("", _fixed(elements, notes))
    notes.append("opaque elements of no fixed size are shown as rows of ubyte")
    return VlenType("", AtomicType.UBYTE)


def _fixed(dtype: np.dtype[Any], notes: list[str]) -> NetcdfType:
    """Return the type that a numpy type becomes, where it stands alone or in a structure."""
    if dtype.kind == "O":
        return _rows(rows_of(dtype) or str, notes)
    names = names_of(dtype)
    return _enumeration(enum_name_of(dtype), dtype, names, notes) if names else _plain(dtype, notes)


def _plain(dtype: np.dtype[Any], notes: list[str]) -> NetcdfType:
    """Return the type of fixed size that a numpy type becomes."""
    native = ATOMIC_OF.get(dtype.newbyteorder("="))
    if native is not None:
        return native
    if dtype.char in _WIDER or dtype.kind == "b":
        wider, told = _WIDER["b" if dtype.kind == "b" else dtype.char]
        notes.append(told)
        return wider
    if dtype.kind in "mM":
        notes.append(
            f"{dtype.name} is shown as int64: a count since 1970 in its unit, the lowest is not-a-time"
            if dtype.kind == "M"
            else f"{dtype.name} is shown as int64: a count of its unit"
        )
        return AtomicType.INT64
    if dtype.kind == "c":
        part = _COMPLEX[dtype.char]
        return CompoundType("", (CompoundField("r", part), CompoundField("i", part)))
    if dtype.names is None:
        return OpaqueType("", dtype.itemsize)
    return _compound(dtype, notes)


def _compound(dtype: np.dtype[Any], notes: list[str]) -> CompoundType:
    fields = []
    for name, part in members_of(dtype):
        if part.itemsize == 0:
            notes.append(f"the field {quoted(name)} has no bytes and is not shown")
            continue
        fields.append(_field(name, part, notes))
    return CompoundType("", tuple(fields))


def _field(name: str, dtype: np.dtype[Any], notes: list[str]) -> CompoundField:
    base, shape = dtype.base, tuple(dtype.shape)
    if base.kind == "S":
        # Fields are of fixed size, so text is a row of characters.
        text = () if base.itemsize == 1 else (base.itemsize,)
        return CompoundField(name, AtomicType.CHAR, (*shape, *text))
    if base.kind == "U":
        notes.append(f"the text of field {quoted(name)} is shown as code points")
        return CompoundField(name, AtomicType.UINT, (*shape, base.itemsize // 4))
    return CompoundField(name, _fixed(base, notes), shape)


def is_text(hierarchy: Hierarchy, node: ArrayNode) -> bool:
    """Tell whether the bytes of an array's elements are text: NCZarr and streams say so, Zarr does not."""
    if node.dtype is None or node.dtype.kind != "S":
        return False
    if hierarchy.has_characters:
        return True
    if hierarchy.flavour != Flavour.NCZARR:
        return False
    return element_type(node, fixed_strings=True)[0] in (AtomicType.CHAR, AtomicType.STRING)


def as_texts(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return elements of bytes as texts without the NULs that fill them up.

    What is no UTF-8 (a character that was cut, another encoding) stays bytes.
    """
    texts = np.empty(np.shape(values), object)
    flat = texts.reshape(-1)
    for place, data in enumerate(np.asarray(values).reshape(-1).tolist()):
        flat[place] = _text(data)
    return texts


def _text(data: bytes) -> str | bytes:
    ended = data.split(b"\0", 1)[0]
    try:
        return ended.decode("utf-8")
    except UnicodeDecodeError:
        return data
