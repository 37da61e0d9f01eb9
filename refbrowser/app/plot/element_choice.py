"""Which part of the elements of structures and ragged rows is plotted, and how, remembered by array."""

from __future__ import annotations

from refbrowser.app.plot.reader import PlotSource
from refbrowser.model.data_type import RowType
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import Rows
from refbrowser.views.nested.element_parts import part_node, parts_of
from refbrowser.views.plot.interpretation import NUMBER_KINDS

#: How nested values are shown where it is not the way that is chosen first: as charts, or row by row.
CHARTS, ROWS = "charts", "rows"
#: Arrays whose choice is remembered.
_REMEMBERED = 500


class ElementChoice:
    """The choices of one pane."""

    def __init__(self) -> None:
        self._chosen: dict[tuple[str, str], str] = {}

    def names(self, whole: ArrayNode) -> tuple[str, ...]:
        """Return what can be chosen of an array beside what is shown of it first."""
        parts = tuple(part.name for part in parts_of(whole))
        if not isinstance(whole.values, Rows):
            return parts
        if not _begins_as_charts(whole):
            return (CHARTS, *parts)
        return (ROWS, *parts) if isinstance(whole.type, RowType) else parts

    def is_charted(self, document: PlotSource, whole: ArrayNode) -> bool:
        """Whether charts of an array are shown, not its elements."""
        name = self.name(document, whole)
        return (
            name == CHARTS if not isinstance(whole.values, Rows) or not _begins_as_charts(whole) else not name
        )

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


def _begins_as_charts(whole: ArrayNode) -> bool:
    """Whether charts say more of nested values than a line, an image or a list of texts does."""
    from refbrowser.views.nested.nested_numbers import choices_of

    is_number = whole.dtype is not None and whole.dtype.kind in NUMBER_KINDS
    return not is_number and any(choice.is_number or choice.lists for choice in choices_of(whole))


def _key(document: PlotSource, whole: ArrayNode) -> tuple[str, str]:
    return document.owner("plot"), whole.path
