"""Array metadata of Zarr v2 (``.zarray``) to the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from refbrowser.codecs.table import held_type
from refbrowser.errors import RefbrowserError, quoted
from refbrowser.formats.zarr.shapes import parse_grid, parse_shape, wrong
from refbrowser.model import dtypes
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.data_type import DataType
from refbrowser.model.fill_values import parse_fill_value
from refbrowser.model.nodes import CodecSpec
from refbrowser.model.values import Chunks

#: Members that the specification asks for and old writers left out, with what their absence means.
_DEFAULTS: Mapping[str, Any] = {"compressor": None, "filters": None, "fill_value": None, "order": "C"}


def array_fields(document: Mapping[str, Any], warn: Callable[[str], None]) -> dict[str, Any]:
    """Return the fields of an `ArrayNode` that a ``.zarray`` gives.

    An unknown type or a fill value that does not fit it gives `unreadable`; what the array's shape hangs on
    is raised.

    Parameters
    ----------
    document
        The parsed metadata.
    warn
        Is given the text of each warning.

    Raises
    ------
    RefbrowserError
        `META`: a member is absent or wrong. `BUDGET`: the array is beyond the limits.
    """
    if document.get("zarr_format") != 2:
        raise wrong("zarr_format", document.get("zarr_format"), "2")
    for name, value in _DEFAULTS.items():
        if name not in document:
            warn(f"member {quoted(name)} is absent; {quoted(value)} is taken")
    shape = parse_shape(document.get("shape"))
    fields: dict[str, Any] = {
        "shape": shape,
        "values": Chunks(
            grid=parse_grid(shape, document.get("chunks")),
            order=_order(document.get("order", "C")),
            codecs=_codecs(document),
            keys=parse_chunk_keys(document.get("dimension_separator", ".")),
        ),
        "format": "zarr-v2",
    }
    return fields | _elements(document, fields["values"].codecs, warn)


def _elements(
    document: Mapping[str, Any], codecs: tuple[CodecSpec, ...], warn: Callable[[str], None]
) -> dict[str, Any]:
    """Return the fields of type and fill value, or why there are none."""
    written = document.get("dtype")
    fields: dict[str, Any] = {"type": DataType(None, written if isinstance(written, str) else str(written))}
    try:
        dtype = dtypes.parse_v2(written)
        first = codecs[0].name if codecs else ""
        fields["type"] = DataType.of(dtype, held_type(first) or "|O" if dtype.hasobject else None)
        fields["fill_value"] = _fill_value(document.get("fill_value"), dtype, first, warn)
    except RefbrowserError as error:
        fields["unreadable"] = error
    return fields


def _fill_value(value: Any, dtype: np.dtype[Any], first_codec: str, warn: Callable[[str], None]) -> Any:
    kind = held_type(first_codec) or "json"
    scalar = parse_fill_value(value, dtype, kind)
    if scalar is None and value is not None:
        warn(f"the fill value {quoted(value)} cannot be of type {quoted(dtype)}; none is used")
    return scalar


def _order(value: Any) -> str:
    if value not in ("C", "F"):
        raise wrong("order", value, "'C' or 'F'")
    return cast(str, value)


def parse_chunk_keys(separator: Any) -> ChunkKeyEncoding:
    """Return how chunk keys are written with a ``dimension_separator``.

    Raises
    ------
    RefbrowserError
        `META`: there is no such separator.
    """
    if separator not in (".", "/"):
        raise wrong("dimension_separator", separator, "'.' or '/'")
    return ChunkKeyEncoding("v2", separator)


def _codecs(document: Mapping[str, Any]) -> tuple[CodecSpec, ...]:
    """Return the filters and the compressor in encoding order."""
    filters, compressor = document.get("filters"), document.get("compressor")
    items = [] if filters is None else filters
    if not isinstance(items, list):
        raise wrong("filters", filters, "a list or null")
    items = items if compressor is None else [*items, compressor]
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("id"), str):
            raise wrong("a codec", item, "an object with an id")
    return tuple(
        CodecSpec(item["id"], {name: value for name, value in item.items() if name != "id"}) for item in items
    )
