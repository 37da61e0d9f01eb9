"""Nested rows as buffers that grow block by block, as ``awkward.from_buffers`` takes them.

The buffers of a node have the names of ``awkward.to_buffers``: ``node3-offsets``, nodes counted from the
outside. Offsets go on from where the block before ended, and so do indexes into what is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.exporting.nested.target_types import TargetType
from refbrowser.model.nested import TypeKind

#: Names of the types of awkward's lists of texts, and of what these are made of.
_TEXTS = {TypeKind.STRING: ("string", "char"), TypeKind.BYTES: ("bytestring", "byte")}
_INTEGERS = np.dtype("i8")
#: What the elements of a buffer are; the name of the buffer ends in one of them.
_ROLES: dict[TypeKind, tuple[tuple[str, np.dtype[Any]], ...]] = {
    TypeKind.LIST: (("offsets", _INTEGERS),),
    TypeKind.OPTION: (("index", _INTEGERS),),
    TypeKind.UNION: (("tags", np.dtype("i1")), ("index", _INTEGERS)),
}


@dataclass(frozen=True, slots=True)
class BufferName:
    """A buffer: its name and the type of its elements."""

    name: str
    dtype: np.dtype[Any]


Put = Callable[[BufferName, npt.NDArray[Any]], None]


class GrowingBuffers:
    """The buffers of rows of one type.

    Parameters
    ----------
    put
        Takes the next elements of a buffer, in order; they are not changed afterwards.
    """

    def __init__(self, type: TargetType, put: Put) -> None:
        self._root = _Node(type, count())
        self._put = put
        for node in self._root.walk():
            for name in node.buffers:
                # Offsets begin with that of the first list, also where there is none.
                put(name, np.zeros(int(name.name.endswith("-offsets")), name.dtype))

    @property
    def length(self) -> int:
        """Rows so far."""
        return self._root.length

    @property
    def names(self) -> list[BufferName]:
        """All buffers, outer nodes first."""
        return [name for node in self._root.walk() for name in node.buffers]

    @property
    def form(self) -> Any:
        """The ``awkward.forms.Form`` of the rows."""
        return self._root.form()

    def add(self, content: Any) -> None:
        """Add rows, in the canonical form of the type."""
        self._root.add(content, self._put)


class _Node:
    """One node of a form, and how many entries it has so far."""

    def __init__(self, type: TargetType, numbers: Iterator[int]) -> None:
        self.type = type
        self.length = 0
        # A form of no elements has no buffers, and needs no key.
        self.key = f"node{next(numbers)}"
        self.buffers = [BufferName(f"{self.key}-{role}", dtype) for role, dtype in self._roles()]
        self.below = [_Node(item, numbers) for item in type.items]
        self.text: BufferName | None = None
        if type.kind in _TEXTS:
            self.text_key = f"node{next(numbers)}"
            self.text = BufferName(f"{self.text_key}-data", np.dtype("u1"))
            self.buffers.append(self.text)
        self.text_length = 0

    def _roles(self) -> tuple[tuple[str, np.dtype[Any]], ...]:
        if self.type.kind is TypeKind.NUMBER:
            return (("data", self.type.known_dtype),)
        if self.type.kind is TypeKind.LIST and self.type.size is not None:
            return ()
        return _ROLES.get(TypeKind.LIST if self.type.kind in _TEXTS else self.type.kind, ())

    def walk(self) -> Iterator[_Node]:
        """Yield this node and all below it."""
        yield self
        for node in self.below:
            yield from node.walk()

    def add(self, content: Any, put: Put) -> None:
        """Add entries."""
        _ADD[self.type.kind](self, content, put)
        self.length += content.length

    def number(self, content: Any, put: Put) -> None:
        """Add numbers."""
        put(self.buffers[0], np.asarray(content.data))

    def list(self, content: Any, put: Put) -> None:
        """Add lists."""
        if self.type.size is None:
            put(self.buffers[0], np.asarray(content.offsets)[1:] + self.below[0].length)
        self.below[0].add(content.content, put)

    def string(self, content: Any, put: Put) -> None:
        """Add texts."""
        assert self.text is not None
        put(self.buffers[0], np.asarray(content.offsets)[1:] + self.text_length)
        data = np.asarray(content.content.data)
        put(self.text, data)
        self.text_length += len(data)

    def record(self, content: Any, put: Put) -> None:
        """Add records."""
        for node, part in zip(self.below, content.contents, strict=True):
            node.add(part, put)

    def option(self, content: Any, put: Put) -> None:
        """Add options."""
        index = np.asarray(content.index)
        put(self.buffers[0], np.where(index >= 0, index + self.below[0].length, -1))
        self.below[0].add(content.content, put)

    def union(self, content: Any, put: Put) -> None:
        """Add entries of several types."""
        tags = np.asarray(content.tags)
        starts = np.array([node.length for node in self.below], np.int64)
        put(self.buffers[0], tags)
        put(self.buffers[1], np.asarray(content.index) + starts[tags])
        for node, part in zip(self.below, content.contents, strict=True):
            node.add(part, put)

    def empty(self, content: Any, put: Put) -> None:
        """Add nothing: there are no such elements."""

    def form(self) -> Any:
        """Return the form."""
        from awkward import forms

        below = [node.form() for node in self.below]
        kind, key = self.type.kind, self.key
        if kind is TypeKind.NUMBER:
            return forms.NumpyForm(str(self.type.dtype), form_key=key)
        if kind is TypeKind.LIST:
            if self.type.size is not None:
                return forms.RegularForm(below[0], self.type.size, form_key=key)
            return forms.ListOffsetForm("i64", below[0], form_key=key)
        if kind is TypeKind.OPTION:
            return forms.IndexedOptionForm("i64", below[0], form_key=key)
        if kind is TypeKind.UNION:
            return forms.UnionForm("i8", "i64", below, form_key=key)
        if kind is TypeKind.RECORD:
            fields = None if self.type.is_tuple else list(self.type.fields)
            name = self.type.record_name
            parameters = {"__record__": name} if name else None
            return forms.RecordForm(below, fields, parameters=parameters, form_key=key)
        if kind is TypeKind.EMPTY:
            return forms.EmptyForm(form_key=key)
        outer, inner = _TEXTS[kind]
        data = forms.NumpyForm("uint8", parameters={"__array__": inner}, form_key=self.text_key)
        return forms.ListOffsetForm("i64", data, parameters={"__array__": outer}, form_key=key)


_ADD: dict[TypeKind, Callable[[_Node, Any, Put], None]] = {
    TypeKind.NUMBER: _Node.number,
    TypeKind.LIST: _Node.list,
    TypeKind.RECORD: _Node.record,
    TypeKind.OPTION: _Node.option,
    TypeKind.UNION: _Node.union,
    TypeKind.STRING: _Node.string,
    TypeKind.BYTES: _Node.string,
    TypeKind.EMPTY: _Node.empty,
}
