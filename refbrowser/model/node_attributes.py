"""Attributes as programs see them: what a document says, which assigning here would not change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NoReturn

from refbrowser.model.nodes import Node


class Attributes(Mapping[str, Any]):
    """The attributes of a group or array, read-only; lists and objects in them are copies."""

    __slots__ = ("_node",)

    def __init__(self, node: Node) -> None:
        self._node = node

    def __getitem__(self, name: str) -> Any:
        return deepcopy(self._node.attributes[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._node.attributes)

    def __len__(self) -> int:
        return len(self._node.attributes)

    def __repr__(self) -> str:
        return repr(dict(self))

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse what would change them."""
        raise TypeError(
            "attributes are read-only: refbrowser.with_attributes(dataset, "
            f"{self._node.path!r}, {{name: value}}) returns a dataset with other ones, which export writes"
        )

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse
