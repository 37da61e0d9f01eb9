"""What marks missing values, and what chunks that are not stored hold: two things, one in many formats.

The attribute ``_FillValue`` of a variable marks them: it is always of the variable's type, one value. xarray
and netCDF take the member ``fill_value`` of Zarr v2 for it; that of Zarr v3, and the fill value of a dataset
of HDF5, are just what chunks that are not stored hold.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import quoted
from refbrowser.model.data_type import rows_of
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE, values_of_type
from refbrowser.model.netcdf.types import (
    ATOMIC_OF,
    AtomicType,
    AttributeType,
    CompoundType,
    EnumType,
    NetcdfAttribute,
    NetcdfType,
    Note,
    OpaqueType,
    VlenType,
    type_text,
)
from refbrowser.model.nodes import ArrayNode

#: What is told where just the fill value of an array marks missing values.
ADDED = f"{FILL_ATTRIBUTE} is added: it holds the array's fill value"
#: What is told where the fill value marks no missing values, but has to where the array is written.
TAKEN = "values equal to its fill value will look missing: too many chunks are not stored to write them"
#: Chunks that are not stored are written where what they hold can be told in no other way: so many of them,
#: or as many as are stored.
_MOST_WRITTEN = 10_000


def fill_attribute(node: ArrayNode, type: NetcdfType) -> tuple[NetcdfAttribute | None, Note | None]:
    """Return the attribute that tells what missing elements hold, and what is to be told about it.

    The attribute that the metadata has counts; else it is made from the array's fill value, unless that is
    what netCDF takes by default.
    """
    attributes: Mapping[str, Any] = node.attributes
    told = None
    if FILL_ATTRIBUTE in attributes:
        written = attributes[FILL_ATTRIBUTE]
        value = None if isinstance(type, CompoundType | OpaqueType) else _of_type(written, type)
        if value is not None:
            return NetcdfAttribute(FILL_ATTRIBUTE, type, (value,)), None  # type: ignore[arg-type]
        told = Note(
            f"{quoted(written)} is not a {type_text(type)}, which {FILL_ATTRIBUTE} must be", FILL_ATTRIBUTE
        )
    if node.fill_value is None:
        return None, told
    if isinstance(type, CompoundType):
        return None, told or _note_of_structure(node.fill_value)
    value = _as_decoded(node.fill_value, type)
    plain = type.base if isinstance(type, EnumType) else type
    if value is None or (isinstance(plain, AtomicType) and _is_default(value, plain)):
        return None, told
    return NetcdfAttribute(FILL_ATTRIBUTE, type, (value,)), told


def is_complete(node: ArrayNode) -> bool:
    """Tell whether no chunk is missing, as far as that is known."""
    return node.has_manifest and node.manifest.stored() == node.grid.size


def _is_too_sparse(node: ArrayNode) -> bool:
    """Tell whether too many chunks are known to be missing to write them."""
    stored = node.manifest.stored() if node.has_manifest else None
    return stored is not None and node.grid.size - stored > max(stored, _MOST_WRITTEN)


def mark_of_missing(node: ArrayNode) -> Any:
    """Return the value that marks missing values, as a scalar of the array's type; None where none does.

    The attribute ``_FillValue`` counts only where the fill value itself is no mark. NaN always is one. Of
    structures, and rows of their own length, nobody masks values: their fill value is returned.
    """
    fill, dtype = node.fill_value, node.dtype
    if node.fill_marks or dtype is None or dtype.names is not None or rows_of(dtype) not in (None, str):
        return fill
    if FILL_ATTRIBUTE in node.attributes:
        type = ATOMIC_OF.get(dtype.newbyteorder("="))
        value = None if type is None else _of_type(node.attributes[FILL_ATTRIBUTE], type)
        if value is not None:
            return np.array(value).astype(dtype)[()]
    is_nan = fill is not None and dtype.kind in "fcmM" and fill != fill
    return fill if is_nan else None


def marked(node: ArrayNode, source: ArrayNode) -> tuple[ArrayNode, list[str]]:
    """Return an array for a format that has one place for both, and what that loses.

    Its fill value marks missing values. Where that of the array does not, chunks that are not stored are to
    be written, unless there are too many of them.

    Parameters
    ----------
    source
        Where its chunks are: the array, or what it is a part of.
    """
    mark = mark_of_missing(node)
    if node.fill_value is not None and repr(mark) != repr(node.fill_value) and _is_too_sparse(source):
        return node, [TAKEN]
    return replace(node, fill_value=mark), []


def with_mark_of_v3(node: ArrayNode) -> tuple[ArrayNode, list[str]]:
    """Return an array with the attribute that marks missing values in Zarr v3, and what is told of it.

    xarray spells floating numbers there as base64 of doubles, and refuses others.
    """
    dtype, mark = node.dtype, mark_of_missing(node)
    if mark is None or dtype is None or dtype.kind not in "biuf":
        return node, []
    said = mark_of_missing(replace(node, fill_value=None, fill_marks=False))
    if said is None and (not node.fill_marks or mark != mark):
        return node, []
    spelled = mark.item()
    if dtype.kind == "f":
        spelled = base64.b64encode(struct.pack("<d", spelled)).decode("ascii")
    told = [ADDED] if said is None else []
    if said is not None and said != mark and (said == said or mark == mark):
        told = [f"{FILL_ATTRIBUTE} is changed to {mark}: readers of Zarr v2 go by the array's fill value"]
    return replace(node, attributes={**node.attributes, FILL_ATTRIBUTE: spelled}), told


def _is_default(value: Any, type: AtomicType) -> bool:
    """Tell whether netCDF takes a fill value by default; in NCZarr netcdf-c writes six digits of it."""
    if type.is_float:
        return f"{value:.6g}" == f"{type.default_fill:.6g}"
    return bool(value == type.default_fill)


def _of_type(value: Any, type: AtomicType | EnumType | VlenType) -> Any:
    """Return a JSON value as one value of the type, of rows a tuple; None where it is none."""
    if isinstance(type, EnumType):
        return _as_written(value, type.base)
    if not isinstance(type, VlenType):
        return _as_written(value, type)
    elements = type.elements.base if isinstance(type.elements, EnumType) else type.elements
    return values_of_type(value, elements) if isinstance(elements, AtomicType) else None


def _as_written(value: Any, type: AtomicType) -> Any:
    """Return a JSON value as one value of the type; None where it is none."""
    values = values_of_type(value, type)
    if values is None and type.is_float and isinstance(value, str):
        return _packed_float(value, type)
    if values is None or len(values) != 1:
        return None
    if type is AtomicType.CHAR and len(values[0].encode("utf-8", "replace")) > 1:
        return None
    return values[0]


def _packed_float(text: str, type: AtomicType) -> float | None:
    """Return the number that xarray writes as base64 text in Zarr v3."""
    try:
        number = struct.unpack("<d", base64.b64decode(text, validate=True))[0]
    except (binascii.Error, struct.error, ValueError):
        return None
    values = values_of_type(number, type)
    return None if values is None else values[0]


def _as_decoded(value: Any, type: AttributeType) -> Any:
    """Return the fill value of an array, a numpy scalar or a row, as one value of its netCDF type."""
    if isinstance(type, EnumType):
        return int(value)
    if isinstance(type, VlenType):
        return _row(value, type)
    if isinstance(type, OpaqueType):
        return bytes(value) if any(bytes(value)) else None
    if type is AtomicType.STRING or type is AtomicType.CHAR:
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        return text if isinstance(text, str) and text else None
    if isinstance(value, np.datetime64 | np.timedelta64):
        return int(value.astype("i8"))
    return float(value) if type.is_float else int(value)


def _row(value: Any, type: VlenType) -> tuple[Any, ...] | None:
    """Return the row that is a fill value; None where it is empty, as rows are that nothing is known of."""
    if not isinstance(type.elements, AtomicType | EnumType):
        return None
    return tuple(np.asarray(list(value) if isinstance(value, bytes) else value).reshape(-1).tolist()) or None


def _is_unset(value: npt.NDArray[Any]) -> bool:
    """Tell whether a structure holds nothing but zeros, or what netCDF takes by default for each field."""
    if not value.dtype.hasobject and not any(value.tobytes()):
        return True
    return all(map(_is_unset_leaf, _leaves(value)))


def _leaves(value: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """Yield the fields of a structure that are none themselves."""
    if value.dtype.names is None:
        yield value
        return
    for name in value.dtype.names:
        yield from _leaves(value[name])


def _is_unset_leaf(value: npt.NDArray[Any]) -> bool:
    if value.dtype.kind == "O":
        # Texts, bytes and rows, all of which are empty by default.
        return not any(map(len, value.reshape(-1).tolist()))
    atomic = ATOMIC_OF.get(value.dtype.newbyteorder("="))
    if atomic is None:
        return not any(value.tobytes())
    return all(_is_default(item, atomic) for item in value.reshape(-1).tolist())


def _note_of_structure(value: Any) -> Note | None:
    if _is_unset(np.asarray(value)):
        return None
    message = f"the fill value {quoted(value)} is not shown: an attribute cannot have a compound type"
    return Note(message, FILL_ATTRIBUTE)
