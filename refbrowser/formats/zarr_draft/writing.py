"""Metadata documents of the v3 draft of 2019 as they are written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.zarr_draft.codecs import BASE, codecs_json, draft_options
from refbrowser.formats.zarr_draft.data_types import CORE, data_type_of
from refbrowser.formats.zarr_draft.fill_values import fill_value_json
from refbrowser.formats.zarr_draft.members import ZARR_FORMAT
from refbrowser.model.nodes import ArrayNode

#: The only codec that is written where nothing else is said.
GZIP: Mapping[str, Any] = {"codec": f"{BASE}gzip", "level": 1}


def group_document(attributes: Mapping[str, Any], extensions: Sequence[Any] = ()) -> dict[str, Any]:
    """Return the metadata of a group."""
    return {"zarr_format": ZARR_FORMAT, "extensions": list(extensions), "attributes": dict(attributes)}


def array_document(node: ArrayNode) -> dict[str, Any]:
    """Return the metadata of an array as the model has it.

    Raises
    ------
    RefbrowserError
        `E_META`: the draft has no such type or codec.
    """
    assert node.dtype is not None
    grid: dict[str, Any] = {"type": "regular", "chunk_shape": list(node.grid.chunk_shape)}
    if node.chunk_keys.separator != ".":
        grid["separator"] = node.chunk_keys.separator
    return {
        "zarr_format": ZARR_FORMAT,
        "shape": list(node.shape),
        "data_type": data_type_of(node.dtype),
        "chunk_grid": grid,
        "chunk_memory_layout": node.order,
        "chunk_codecs": codecs_json(node.codecs),
        "fill_value": fill_value_json(node.fill_value, node.dtype),
        "extensions": [],
        "attributes": dict(node.attributes),
    }


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """Return a document as its key holds it: strict JSON.

    Raises
    ------
    RefbrowserError
        `E_META`: something in it is not JSON, a NaN among it.
    """
    try:
        return json.dumps(document, indent=4, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise RefbrowserError(
            ErrorKind.META,
            f"the metadata cannot be written as JSON: {quoted(error)}",
            advice="numbers are finite in JSON; write NaN and infinities as text",
        ) from None


def written_type(value: Any) -> Any:
    """Return `data_type` for what a program names: a name of the draft, an extension, or a numpy type.

    Raises
    ------
    RefbrowserError
        `E_META`: the draft has no such type.
    """
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str) and value in CORE:
        return value
    try:
        dtype = np.dtype(value)
    except TypeError:
        raise RefbrowserError(ErrorKind.META, f"{quoted(value)} is not a type") from None
    return data_type_of(dtype)


def written_codec(value: Any) -> dict[str, Any]:
    """Return a codec as the metadata writes it, from its object or the name of a known one."""
    if isinstance(value, str) and draft_options(value) is not None:
        return {"codec": BASE + value}
    return dict(value)
