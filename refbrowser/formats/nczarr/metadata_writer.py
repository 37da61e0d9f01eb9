"""Metadata of NCZarr as netcdf-c writes it since 4.9.3, and reads back exactly (nczarr, sections 3 and 4)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from refbrowser.formats.nczarr.members import PROPERTIES
from refbrowser.formats.zarr.documents import ARRAY_V2, ATTRIBUTES_V2, GROUP_V2
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.model.netcdf.names import plain_path, split
from refbrowser.model.netcdf.types import (
    AtomicType,
    NetcdfAttribute,
    NetcdfDataset,
    NetcdfGroup,
    NetcdfVariable,
)
from refbrowser.model.nodes import ArrayNode, CodecSpec

CHAR = ">S1"
#: The name that stands for no dimension: of a scalar.
SCALAR = "_scalar_"
_JSON = "|J0"
#: Bytes of texts where nothing else is said; netcdf-c takes longer ones too.
_TEXT_SIZE = 128
_VERSION = "2.0.0"


def metadata_keys(dataset: NetcdfDataset, properties: str, *, array_dimensions: bool) -> dict[str, bytes]:
    """Return every metadata key of a dataset with its text.

    Parameters
    ----------
    dataset
        Every variable has its array, with the type, chunks and codecs that are to be written, in the words
        of Zarr v2, and a name and groups that are parts of its path.
    properties
        What made the dataset, for attribute ``_NCProperties``.
    array_dimensions
        Write ``_ARRAY_DIMENSIONS`` too, which xarray reads.
    """
    keys: dict[str, bytes] = {}
    for parts, group in dataset.walk():
        prefix = "/".join((*parts, ""))
        keys[f"{prefix}{GROUP_V2}"] = _text({"zarr_format": 2})
        keys[f"{prefix}{ATTRIBUTES_V2}"] = _text(_group_attributes(group, "" if parts else properties))
        for variable in group.variables:
            assert variable.node is not None
            keys[f"{prefix}{variable.name}/{ARRAY_V2}"] = _text(_array(variable, variable.node))
            attributes = _array_attributes(variable, variable.node, array_dimensions=array_dimensions)
            keys[f"{prefix}{variable.name}/{ATTRIBUTES_V2}"] = _text(attributes)
    return keys


def stored_value(attribute: NetcdfAttribute) -> Any:
    """Return the values of an attribute as JSON: one value alone, more as a list; char always as text."""
    if attribute.type is AtomicType.CHAR:
        return attribute.values[0] if attribute.values else ""
    items = [_number(value, attribute.type is AtomicType.FLOAT) for value in attribute.values]
    return items[0] if len(items) == 1 else items


def _number(value: Any, is_single: bool) -> Any:
    """Return a value as JSON has it, with all digits that it needs."""
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(f"{value:.9g}") if is_single else value


def _group_attributes(group: NetcdfGroup, properties: str) -> dict[str, Any]:
    own: dict[str, Any] = {
        "_nczarr_group": {
            "dimensions": {
                dimension.name: {"size": dimension.size, "unlimited": 1}
                if dimension.unlimited
                else dimension.size
                for dimension in group.dimensions
            },
            "arrays": [variable.name for variable in group.variables],
            "groups": [below.name for below in group.groups],
        }
    }
    if properties:
        own = {PROPERTIES: properties, "_nczarr_superblock": {"version": _VERSION}, **own}
    return _with_types(group.attributes, own)


def _array_attributes(variable: NetcdfVariable, node: ArrayNode, *, array_dimensions: bool) -> dict[str, Any]:
    references = [plain_path(split(reference.path)) for reference in variable.dimensions]
    array: dict[str, Any] = {"dimension_references": references}
    if not references:
        array["scalar"] = 1
    own: dict[str, Any] = {"_nczarr_array": array | {"storage": "chunked"}}
    if array_dimensions:
        own[DIMENSIONS_ATTRIBUTE] = [reference.name for reference in variable.dimensions] or [SCALAR]
    return _with_types(variable.attributes, own)


def _with_types(attributes: Sequence[NetcdfAttribute], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes, the format's own after the user's, with the types of all."""
    values = {attribute.name: stored_value(attribute) for attribute in attributes}
    types = {attribute.name: _attribute_type(attribute) for attribute in attributes}
    types |= {name: CHAR if name == PROPERTIES else _JSON for name in own if name != DIMENSIONS_ATTRIBUTE}
    return {**values, **own, "_nczarr_attr": {"types": types | {"_nczarr_attr": _JSON}}}


def _attribute_type(attribute: NetcdfAttribute) -> str:
    type = attribute.type
    if type is AtomicType.CHAR:
        return CHAR
    if type is AtomicType.STRING:
        longest = max((len(value.encode()) for value in attribute.values), default=0)
        return f"|S{max(_TEXT_SIZE, longest)}"
    assert isinstance(type, AtomicType)
    return dtype_text(type.known_dtype)


def dtype_text(dtype: np.dtype[Any]) -> str:
    """Return a type as netcdf-c spells it: bytes have a byte order too."""
    return dtype.str.replace("|", "<") if dtype.kind in "iuf" else dtype.str


def _array(variable: NetcdfVariable, node: ArrayNode) -> dict[str, Any]:
    codecs = [_codec(codec, node.known_dtype.itemsize) for codec in node.codecs]
    return {
        "zarr_format": 2,
        "shape": list(node.shape) or [1],
        # Bytes without an order: netCDF reads `<i1` too, zarr-python does not.
        "dtype": CHAR if variable.type is AtomicType.CHAR else node.known_dtype.str,
        "chunks": list(node.grid.regular.chunk_shape) or [1],
        "fill_value": _fill_value(node.fill_value),
        "order": "C",
        "compressor": codecs[-1] if codecs else None,
        "filters": codecs[:-1] or None,
    }


def _codec(codec: CodecSpec, itemsize: int) -> dict[str, Any]:
    configuration = dict(codec.configuration)
    if codec.name == "shuffle" and not configuration.get("elementsize"):
        # netcdf-c leaves it at 0, which numcodecs takes for no shuffle.
        configuration["elementsize"] = itemsize
    return {"id": codec.name, **configuration}


def _fill_value(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return value.decode("latin-1")
    if isinstance(value, np.floating):
        return _number(float(value), value.dtype.itemsize == 4)
    return int(value)


def _text(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8")
