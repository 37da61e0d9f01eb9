"""What is asked of an explanation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.model.nodes import ArrayNode, Hierarchy

if TYPE_CHECKING:
    from refbrowser.engine.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An element of an array, a key, or a problem.

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
    pending
        What an edit that is not applied would make of the key; empty where there is none.
    problem
        Asked about in the place of an element or a key.
    """

    key: str | None = None
    array: str = ""
    index: tuple[int, ...] = ()
    places: tuple[str, ...] = ()
    decoded: bool = True
    read: bool = True
    seen: Any = None
    pending: str = ""
    problem: Problem | None = None

    def __str__(self) -> str:
        if self.problem is not None:
            return self.problem.where
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
