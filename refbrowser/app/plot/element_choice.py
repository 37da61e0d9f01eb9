"""Which part of the elements of structures and ragged rows is plotted, remembered by array."""

from __future__ import annotations

from refbrowser.app.plot.source import PlotSource
from refbrowser.engine.views.element_parts import part_node, parts_of
from refbrowser.model.nodes import ArrayNode

#: Arrays whose choice is remembered.
_REMEMBERED = 500


class ElementChoice:
    """The choices of one pane."""

    def __init__(self) -> None:
        self._chosen: dict[tuple[str, str], str] = {}

    def names(self, whole: ArrayNode) -> tuple[str, ...]:
        """Return what can be chosen of an array beside the whole of its elements."""
        return tuple(part.name for part in parts_of(whole))

    def name(self, document: PlotSource, whole: ArrayNode) -> str:
        """Return what is chosen of an array; empty for the whole."""
        name = self._chosen.get(_key(document, whole), "")
        return name if name in self.names(whole) else ""

    def choose(self, document: PlotSource, whole: ArrayNode, name: str) -> None:
        """Choose a part of an array by its name; empty for the whole."""
        self._chosen.pop(_key(document, whole), None)
        self._chosen[_key(document, whole)] = name
        if len(self._chosen) > _REMEMBERED:
            del self._chosen[next(iter(self._chosen))]

    def node(self, document: PlotSource, whole: ArrayNode) -> ArrayNode:
        """Return what is plotted of an array: itself, or the part that is chosen, as an array."""
        name = self.name(document, whole)
        part = next((part for part in parts_of(whole) if name and part.name == name), None)
        return whole if part is None else part_node(whole, part)


def _key(document: PlotSource, whole: ArrayNode) -> tuple[str, str]:
    return document.owner("plot"), whole.path
