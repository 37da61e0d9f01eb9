"""Nested values made by awkward itself, for tests of what shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import awkward as ak
import numpy as np

from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nested import (
    Buffer,
    BufferPart,
    BufferReader,
    NestedFault,
    NestedRows,
    NestedType,
    TypeKind,
    type_text,
)
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import Inline
from refbrowser.model.values import Rows

_TEXTS = {"string": TypeKind.STRING, "bytestring": TypeKind.BYTES}


def type_of(form: Any) -> NestedType:
    """Return the type of a form of awkward."""
    if form.is_union:
        return NestedType(TypeKind.UNION, items=tuple(map(type_of, form.contents)))
    if form.is_option:
        return NestedType(TypeKind.OPTION, items=(type_of(form.content),))
    if form.is_indexed:
        return type_of(form.content)
    if form.is_record:
        items = tuple(map(type_of, form.contents))
        return NestedType(TypeKind.RECORD, items=items, fields=tuple(form.fields), is_tuple=form.is_tuple)
    if form.is_list and form.parameter("__array__") in _TEXTS:
        return NestedType(_TEXTS[form.parameter("__array__")])
    if form.is_list:
        size = form.size if form.is_regular else None
        return NestedType(TypeKind.LIST, size=size, items=(type_of(form.content),))
    if form.is_unknown:
        return NestedType(TypeKind.EMPTY)
    return NestedType(TypeKind.NUMBER, dtype=np.dtype(form.primitive))


@dataclass
class MadeValues:
    """Rows of an array of awkward; `refuse` raises what is wrong with some of them."""

    array: ak.Array
    faults: tuple[NestedFault, ...] = ()
    refuse: Callable[[int, int], None] = lambda start, stop: None
    read: list[tuple[int, int]] = field(default_factory=list)

    @property
    def type(self) -> NestedType:
        return type_of(self.array.layout.form)

    @property
    def length(self) -> int:
        return len(self.array)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        _form, _length, buffers = ak.to_buffers(self.array)
        return tuple(
            Buffer(Inline(part.tobytes()), part.dtype, len(part), name=name, stored=part.nbytes)
            for name, part in buffers.items()
        )

    def parts(self, start: int, stop: int) -> list[BufferPart]:
        return [BufferPart(buffer, 0, buffer.count) for buffer in self.buffers]

    def turned(self, turns: int) -> MadeValues:
        return self

    def rows(self, start: int, stop: int, reader: BufferReader) -> NestedRows:
        self.read.append((start, stop))
        self.refuse(start, stop)
        return NestedRows(self.array[start:stop].layout, self.faults)


def made_node(array: Any, path: str = "/events", **options: Any) -> ArrayNode:
    """Return an array of nested values."""
    values = MadeValues(array if isinstance(array, ak.Array) else ak.Array(array), **options)
    return ArrayNode(
        path=path,
        shape=(values.length,),
        type=DataType(np.dtype(object), type_text(values.type)),
        dimensions=(None,),
        values=Rows(grid=RegularChunkGrid((values.length,), (max(1, values.length),)), source=values),
    )


def events(count: int = 200) -> ak.Array:
    """Return collisions with a number, a text, an option and lists of particles each."""
    random = np.random.default_rng(4)
    sizes = random.poisson(3, count)
    total = int(sizes.sum())
    particles = ak.zip(
        {
            "pt": np.round(random.exponential(20, total), 3),
            "eta": np.round(random.normal(0, 1.5, total), 3),
            "id": random.integers(-13, 14, total),
        }
    )
    met = ak.mask(ak.Array(np.round(random.exponential(12, count), 3)), random.random(count) > 0.08)
    names = ak.Array([f"run {number // 50}" for number in range(count)])
    parts = {"met": met, "name": names, "particles": ak.unflatten(particles, sizes)}
    return ak.zip(parts, depth_limit=1)
