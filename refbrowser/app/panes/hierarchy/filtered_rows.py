"""Which rows of a filtered tree are folded: parts that nobody looks for would hide the next array."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QModelIndex

from refbrowser.app.panes.hierarchy.hierarchy_model import HierarchyModel
from refbrowser.views.hierarchy import ItemKind

_ROOT = QModelIndex()


def without_named_parts(
    model: HierarchyModel, text: str, parent: QModelIndex = _ROOT
) -> Iterator[QModelIndex]:
    """Yield the arrays that have parts of which none has a text in its own name."""
    for index in _below(model, parent):
        item = model.item(index)
        if item is None or item.kind is not ItemKind.ARRAY:
            yield from without_named_parts(model, text, index)
        elif model.rowCount(index) and not _is_named(model, text, index):
            yield index


def _is_named(model: HierarchyModel, text: str, parent: QModelIndex) -> bool:
    """Whether a text is in the name of any row below one."""
    below = _below(model, parent)
    nodes = [item.node for item in map(model.item, below) if item is not None and item.node is not None]
    if any(text in node.name.casefold() for node in nodes):
        return True
    return any(_is_named(model, text, index) for index in below)


def _below(model: HierarchyModel, parent: QModelIndex) -> list[QModelIndex]:
    return [model.index(row, 0, parent) for row in range(model.rowCount(parent))]
