"""Datasets whose arrays are arrays of awkward in memory: nested values without a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nested import Buffer, BufferPart, NestedRows, NestedType, TypeKind
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.model.reference import Inline
from refbrowser.model.values import Rows


def type_of_form(form: Any) -> NestedType:
    """Return the type that a form of awkward is of."""
    if form.parameter("__array__") in ("string", "bytestring"):
        is_text = form.parameter("__array__") == "string"
        return NestedType(TypeKind.STRING if is_text else TypeKind.BYTES)
    if form.is_unknown:
        return NestedType(TypeKind.EMPTY)
    if form.is_numpy:
        found = NestedType(TypeKind.NUMBER, dtype=np.dtype(form.primitive))
        for size in reversed(form.inner_shape):
            found = NestedType(TypeKind.LIST, size=size, items=(found,))
        return found
    if form.is_option:
        return NestedType(TypeKind.OPTION, items=(type_of_form(form.content),))
    if form.is_indexed:
        return type_of_form(form.content)
    if form.is_list:
        size = form.size if form.is_regular else None
        return NestedType(TypeKind.LIST, size=size, items=(type_of_form(form.content),))
    items = tuple(map(type_of_form, form.contents))
    if form.is_union:
        return NestedType(TypeKind.UNION, items=items)
    name = form.parameter("__record__") or ""
    return NestedType(
        TypeKind.RECORD, items=items, fields=tuple(form.fields), name=name, is_tuple=form.is_tuple
    )


class HeldValues:
    """Nested values (`NestedValues`) that are held; `seen` is told the rows of each read."""

    def __init__(
        self,
        array: ak.Array,
        type: NestedType | None = None,
        row_bytes: int = 32,
        seen: Callable[..., Any] | None = None,
    ) -> None:
        self.array = array
        self.type = type_of_form(array.layout.form) if type is None else type
        self.length = len(array)
        size = max(1, self.length * row_bytes)
        self.buffers = (Buffer(Inline(b""), np.dtype("u1"), size),)
        self.seen = seen

    def parts(self, start: int, stop: int) -> list[BufferPart]:
        """Return all that they are made from."""
        return [BufferPart(buffer, 0, buffer.count) for buffer in self.buffers]

    def turned(self, turns: int) -> HeldValues:
        """Return these: they have no cycles."""
        return self

    def rows(self, start: int, stop: int, reader: Any) -> NestedRows:
        """Return some rows."""
        if self.seen is not None:
            found = self.seen(start, stop)
            if found is not None:
                return found
        return NestedRows(self.array[start:stop].layout)


def nested_dataset(folder: Path, arrays: Mapping[str, Any], **attributes: Any) -> Dataset:
    """Return a dataset of nested arrays: arrays of awkward, or `HeldValues`."""
    path = folder / "nothing.json"
    path.write_text(json.dumps({"version": 1, "refs": {".zgroup": '{"zarr_format": 2}'}}))
    opened = refbrowser.open(path)
    nodes = {}
    for name, value in arrays.items():
        values = value if isinstance(value, HeldValues) else HeldValues(value)
        nodes[name] = ArrayNode(
            path=f"/{name}",
            shape=(values.length,),
            type=DataType(np.dtype(object), str(values.array.type.content)),
            dimensions=(None,),
            values=Rows(grid=RegularChunkGrid((values.length,), (max(1, values.length),)), source=values),
            attributes={"note": f"of {name}"},
        )
    root = GroupNode(arrays=nodes, attributes=attributes)
    hierarchy = Hierarchy(root=root, format="refs-v1")
    return Dataset(str(path), opened.document, hierarchy, opened.access, opened.session)


def same(one: ak.Array, other: ak.Array) -> bool:
    """Tell whether two arrays have the same type and values; NaN is itself."""
    # Texts tell what numbers do not: 1 from True, and NaN is as NaN.
    return str(one.type) == str(other.type) and repr(ak.to_list(one)) == repr(ak.to_list(other))
