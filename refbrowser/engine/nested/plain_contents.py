"""Values of numpy as contents of awkward: regular lists, records, texts and rows of their own length."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.model.nested import NestedType, TypeKind

Values = npt.NDArray[Any]


def content_of(values: Values, type: NestedType, missing: npt.NDArray[np.bool_] | None = None) -> Any:
    """Return values as an ``awkward.contents.Content``, one entry for each along the first axis.

    Parameters
    ----------
    values
        Shape ``(rows, ...)``; further axes are the outer lists of `type`.
    type
        Of a row, as `refbrowser.engine.nested.plain_types.row_type` tells it.
    missing
        Which elements could not be read, of the shape of `values`; what these hold may be anything that is
        of the type.
    """
    from awkward.contents import ByteMaskedArray, RegularArray
    from awkward.index import Index8

    inner = type
    for _ in values.shape[1:]:
        inner = inner.items[0]
    content = _flat_content(values.reshape(-1), inner)
    if missing is not None:
        mask = Index8(missing.reshape(-1).astype(np.int8))
        content = ByteMaskedArray(mask, content, valid_when=False)
    for axis in range(values.ndim - 1, 0, -1):
        content = RegularArray(content, values.shape[axis], prod(values.shape[:axis]))
    return content


def _flat_content(values: Values, type: NestedType) -> Any:
    from awkward.contents import NumpyArray, RecordArray

    if type.kind is TypeKind.NUMBER:
        native = values.astype(values.dtype.newbyteorder("="), copy=False)
        return NumpyArray(np.ascontiguousarray(native))
    if type.kind is TypeKind.RECORD:
        fields = [content_of(values[name], each) for name, each in zip(type.fields, type.items, strict=True)]
        return RecordArray(fields, list(type.fields), len(values))
    if type.kind is TypeKind.LIST:
        return _list_content(values, type)
    return text_content(values.tolist(), is_text=type.kind is TypeKind.STRING)


def _list_content(values: Values, type: NestedType) -> Any:
    """Return rows of their own length: arrays in an array of objects."""
    from awkward.contents import ListOffsetArray
    from awkward.index import Index64

    rows = [np.asarray(row).reshape(-1) for row in values]
    flat = np.concatenate(rows) if rows else np.zeros(0, type.items[0].dtype or object)
    content = _flat_content(flat, type.items[0])
    return ListOffsetArray(Index64(offsets_of(map(len, rows), len(rows))), content)


def text_content(values: Iterable[Any], *, is_text: bool) -> Any:
    """Return texts, or bytes, as awkward has them; texts that are bytes are UTF-8 already."""
    from awkward.contents import ListOffsetArray, NumpyArray
    from awkward.index import Index64

    encoded = [_encoded(value) for value in values]
    data = np.frombuffer(b"".join(encoded), np.uint8)
    inner, outer = ("char", "string") if is_text else ("byte", "bytestring")
    return ListOffsetArray(
        Index64(offsets_of(map(len, encoded), len(encoded))),
        NumpyArray(data, parameters={"__array__": inner}),
        parameters={"__array__": outer},
    )


def _encoded(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    return bytes(value)


def offsets_of(lengths: Iterable[int], count: int) -> npt.NDArray[np.int64]:
    """Return where lists begin and end, by their lengths."""
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, count), out=offsets[1:])
    return offsets
