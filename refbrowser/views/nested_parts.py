"""A part of each row of nested values, as values of their own: the length of a list, a field of a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.engine.nested.elements import elements
from refbrowser.model.nested import Buffer, BufferReader, NestedRows, NestedType, NestedValues, TypeKind
from refbrowser.model.nodes import ArrayNode

if TYPE_CHECKING:
    from refbrowser.views.element_parts import ElementPart


@dataclass(frozen=True, slots=True, eq=False)
class PartValues:
    """Takes a part of what other nested values make (`NestedValues`).

    Attributes
    ----------
    whole, values
        The array whose rows have the part, and what makes them.
    """

    whole: ArrayNode
    values: NestedValues
    part: ElementPart

    @property
    def type(self) -> NestedType:
        """The type of the part."""
        return NestedType(TypeKind.NUMBER, dtype=self.part.dtype)

    @property
    def length(self) -> int:
        """How many rows there are."""
        return self.values.length

    def linked(self, name: str) -> NestedType:
        """Return the type that a link leads to."""
        return self.values.linked(name)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All that the whole rows are made from."""
        return self.values.buffers

    def rows(self, start: int, stop: int, reader: BufferReader) -> NestedRows:
        """Return the part of each row from `start` to `stop`.

        Raises
        ------
        RefbrowserError
            None of the rows can be read, or they are not of the type that was told.
        """
        from awkward.contents import NumpyArray

        assert self.whole.dtype is not None
        found = self.values.rows(start, stop, reader)
        values = elements(self.whole, found.content, self.whole.dtype)
        return NestedRows(NumpyArray(self.part.of(values)), found.faults)
