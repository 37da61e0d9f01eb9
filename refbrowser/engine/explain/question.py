"""What is asked of an explanation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.model.nodes import ArrayNode, Hierarchy


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An element of an array, or a key.

    Attributes
    ----------
    key
        None where an element is asked about.
    array, index
        Path of the array, and the element's index along each dimension.
    places
        What each index stands for (a date, a latitude), where that is known; empty texts else.
    decoded
        Whether the view shows values under the CF conventions.
    read
        Whether the chunk may be read; else only what is known without it is told.
    seen
        The stored element as a view has it already, a numpy scalar.
    """

    key: str | None = None
    array: str = ""
    index: tuple[int, ...] = ()
    places: tuple[str, ...] = ()
    decoded: bool = True
    read: bool = True
    seen: Any = None

    def __str__(self) -> str:
        if self.key is not None:
            return self.key
        return f"{self.array} [{', '.join(map(str, self.index))}]"

    def node(self, hierarchy: Hierarchy) -> ArrayNode:
        """Return the array of the element that is asked about.

        Raises
        ------
        RefbrowserError
            `USAGE`: there is no such array, or no such element in it.
        """
        node = hierarchy.find(self.array)
        if not isinstance(node, ArrayNode):
            raise RefbrowserError(ErrorKind.USAGE, f"there is no array {quoted(self.array)}")
        if node.error is None:
            inside = all(0 <= at < size for at, size in zip(self.index, node.shape, strict=False))
            if len(self.index) != len(node.shape) or not inside:
                shape = " × ".join(map(str, node.shape)) or "no dimensions"
                message = f"there is no element {list(self.index)}: the shape is {shape}"
                raise RefbrowserError(ErrorKind.USAGE, message, Place(path=node.path))
        return node
