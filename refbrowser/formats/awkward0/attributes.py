"""The attributes of what stands for arrays of Awkward 0, and which of them the format keeps for itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.references.text.json_text import read_value

#: What tells how an array is stored: shown among internal members only.
FORMAT_ATTRIBUTES = ("awkward0_name", "awkward0_schema", "awkward_length", "awkward_form")

_Node = TypeVar("_Node", ArrayNode, GroupNode)


class JsonMembers(Mapping[str, Any]):
    """The members of an object, each of which is parsed when it is asked for: most schemas never are.

    Parameters
    ----------
    texts
        JSON of each member; it is known to be right.
    """

    __slots__ = ("_known", "_texts")

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = texts
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = read_value(self._texts[name])[0]
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        return repr(dict(self))

    def part(self, names: Iterable[str]) -> JsonMembers:
        """Return those members alone."""
        return JsonMembers({name: self._texts[name] for name in names})


def with_internal(node: _Node) -> _Node:
    """Return a node with what the format keeps for itself among its internal attributes."""
    attributes = node.attributes
    own = [name for name in FORMAT_ATTRIBUTES if name in attributes]
    if not own:
        return node
    others = {name: attributes[name] for name in attributes if name not in own}
    internal: Mapping[str, Any]
    if isinstance(attributes, JsonMembers):
        internal = attributes if not others else attributes.part(own)
    else:
        internal = {name: attributes[name] for name in own}
    return replace(node, attributes=others, internal_attributes=internal)
