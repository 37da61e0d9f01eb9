"""Arrays that only streams have, in the words of Zarr v2: values of messages, enumerations, sequences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.table import codec_holding
from refbrowser.errors import quoted
from refbrowser.model.cf_flags import named_flags
from refbrowser.model.dtypes import type_name, with_byte_order
from refbrowser.model.member_types import leaf_fields, names_of
from refbrowser.model.netcdf.types import ATOMIC_OF
from refbrowser.model.nodes import ArrayNode, CodecSpec

#: Bytes of the longest floating and complex numbers that stores have.
_LONGEST = {"f": 8, "c": 16}
#: The attributes of CF that name values.
VALUES, MEANINGS = "flag_values", "flag_meanings"


def stored_form(node: ArrayNode) -> tuple[ArrayNode, list[str]]:
    """Return an array as a store can have it, and what that loses; itself where it is one already.

    Rows of their own length have no such form: `row_dtype` stays.
    """
    losses = []
    if node.enumeration:
        node, told = _with_flags(node)
        losses.append(told)
    if node.is_sequence:
        node = replace(node, is_sequence=False)
        losses.append(f"the sequence is written as an array of its {node.shape[-1]} rows")
    if node.source is not None or node.nested is not None:
        codec = codec_holding(node.type_name)
        codecs = () if codec is None else (CodecSpec(codec),)
        node = replace(
            node, source=None, nested=None, manifest=None, codecs=codecs, order="C", format="zarr-v2"
        )
    return node, losses


def as_double(node: ArrayNode) -> tuple[ArrayNode, list[str]]:
    """Return an array of numbers longer than doubles with these instead, and what that loses."""
    dtype = node.dtype
    if dtype is None or dtype.kind not in _LONGEST or dtype.itemsize <= _LONGEST[dtype.kind]:
        return node, []
    shorter = with_byte_order(np.dtype(f"{dtype.kind}{_LONGEST[dtype.kind]}"), "little")
    with np.errstate(over="ignore"):
        fill = None if node.fill_value is None else shorter.type(node.fill_value)
    told = f"{dtype.name} is written as {shorter.name}, which is less exact"
    losses = [told]
    if fill is not None and np.isinf(fill) and not np.isinf(node.fill_value):
        losses.append(f"the fill value {node.fill_value} is beyond the numbers of {shorter.name}")
        fill = None
    return replace(node, dtype=shorter, type_name=type_name(shorter), fill_value=fill), losses


def names_left_out(dtype: np.dtype[Any] | None) -> list[str]:
    """Return what is told where the names of the values of fields are lost."""
    leaves = () if dtype is None or dtype.names is None else leaf_fields(dtype)
    fields = ", ".join(quoted(path) for path, leaf in leaves if names_of(leaf))
    return [f"names of the values of fields are left out: {fields}"] if fields else []


def reads_elements(node: ArrayNode) -> bool:
    """Tell whether just the wanted elements of a chunk are read, straight to where they belong."""
    return node.source is None and node.nested is None and CodecPipeline.for_array(node).is_raw


def _with_flags(node: ArrayNode) -> tuple[ArrayNode, str]:
    """Return an array of integers with attributes that name its values, as CF has them."""
    plain = replace(node, enumeration={}, enum_name="")
    named = f" {quoted(node.enum_name)}" if node.enum_name else ""
    if not node.attributes.keys().isdisjoint((VALUES, MEANINGS)):
        return plain, f"names of the values of enumeration{named} are left out: {VALUES} is there already"
    dtype = node.dtype if node.row_dtype is None else node.row_dtype
    atomic = None if dtype is None else ATOMIC_OF.get(dtype.newbyteorder("="))
    types = {} if atomic is None else {VALUES: str(atomic)}
    told = f"values of enumeration{named} are integers, {MEANINGS} has their names"
    return (
        replace(
            plain,
            attributes={**node.attributes, **named_flags(node.enumeration)},
            attribute_types={**node.attribute_types, **types},
        ),
        told,
    )
