"""What the filter over the tree says: text of names and titles, and units, dimensions or paths."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from refbrowser.model.nodes import Node

#: ``units:K``, ``dims:time``, ``path:monthly``; a value with blanks is quoted.
_TERM = re.compile(r'(?<!\S)(units|dims|path):("[^"]*"|\S*)', re.IGNORECASE)
#: Of what attributes call a node, so many characters are searched and shown.
_TITLE = 200


@dataclass(frozen=True, slots=True)
class HierarchyFilter:
    """What is looked for; all of it is to hold. Upper and lower case are the same.

    Attributes
    ----------
    text
        Part of a name or title.
    units
        The units of an array, whole.
    dims
        Names of dimensions that an array has.
    path
        Part of the path of a document or of a file.
    """

    text: str = ""
    units: str = ""
    dims: tuple[str, ...] = ()
    path: str = ""

    @classmethod
    def parsed(cls, typed: str) -> HierarchyFilter:
        """Return the filter that somebody typed; a term without a value says nothing yet."""
        said: dict[str, list[str]] = {"units": [], "dims": [], "path": []}
        for name, value in _TERM.findall(typed):
            bare = value.strip('"').strip().casefold()
            if bare:
                said[name.lower()].append(bare)
        text = " ".join(_TERM.sub(" ", typed).split()) if any(said.values()) else typed.strip()
        dims = tuple(name for value in said["dims"] for name in value.split(",") if name)
        last = {name: values[-1] if values else "" for name, values in said.items()}
        return cls(text.casefold(), last["units"], dims, last["path"])

    @property
    def is_empty(self) -> bool:
        """Whether everything is shown."""
        return self == HierarchyFilter()

    @property
    def is_of_arrays(self) -> bool:
        """Whether only arrays can be what is looked for."""
        return bool(self.units or self.dims)

    def finds_path(self, path: str) -> bool:
        """Whether a document at a path may have what is looked for."""
        return self.path in path.casefold()

    def finds_name(self, name: str) -> bool:
        """Whether something that has a name alone is what is looked for."""
        return not self.is_of_arrays and self.text in name.casefold()

    def finds_node(self, node: Node) -> bool:
        """Whether a group or array is what is looked for."""
        if self.text not in searched_text(node).casefold():
            return False
        return not self.is_of_arrays or self._is_alike(node)

    def finds_document(self, path: str, title: str) -> bool:
        """Whether a document is what is looked for itself, whatever is in it."""
        found = self.text in title.casefold() if self.text else bool(self.path)
        return found and not self.is_of_arrays and self.finds_path(path)

    def _is_alike(self, node: Node) -> bool:
        names: Iterable[str | None] = getattr(node, "dimensions", ()) if hasattr(node, "shape") else ()
        folded = {name.casefold() for name in names if name}
        units = node.attributes.get("units")
        is_so = not self.units or (isinstance(units, str) and units.strip().casefold() == self.units)
        return is_so and folded.issuperset(self.dims)


def titles_of(node: Node | None) -> list[str]:
    """Return what the attributes of a node call it."""
    attributes = getattr(node, "attributes", {})
    found = [attributes.get(name) for name in ("long_name", "standard_name", "title")]
    return [title[:_TITLE] for title in found if isinstance(title, str)]


def searched_text(node: Node) -> str:
    """Return a node's path and what its attributes call it: few know the short names of others."""
    return "\n".join([node.path, *titles_of(node)])
