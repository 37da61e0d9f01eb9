"""Which node of the tree shows what an expression makes, and the other way round; no Qt here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.panes.hierarchy.parts import is_buffer
from refbrowser.formats.awkward0.layouts import ChunkedLayout, RecordLayout
from refbrowser.formats.awkward0.values.layout_values import LayoutValues
from refbrowser.model.nodes import ArrayNode, GroupNode

if TYPE_CHECKING:
    from refbrowser.app.facets.awkward0.expression_graph import ExpressionGraph
    from refbrowser.formats.awkward0.layouts import Layout
    from refbrowser.model.nodes import Hierarchy, Node


def number_of_node(graph: ExpressionGraph, node: Node) -> int | None:
    """Return the expression that makes a node; None where the node is none of the graph's."""
    if node.path == graph.path:
        return 0
    if not node.path.startswith(f"{graph.path}/"):
        return None
    if isinstance(node, GroupNode):
        return None
    if is_buffer(node):
        return next((number for number, name in graph.buffers.items() if name == node.name), None)
    return _number_of_values(node.nested) if isinstance(node.nested, LayoutValues) else None


def _number_of_values(values: LayoutValues) -> int | None:
    """Return the expression that makes the values of a field: what its records have under that name."""
    layout: Layout | None = values.layout
    for name in values.fields:
        while layout is not None and not isinstance(layout, RecordLayout):
            if isinstance(layout, ChunkedLayout):
                layout = next(iter(layout.chunks), None)
            else:
                layout = getattr(layout, "content", None)
        layout = None if layout is None else dict(layout.fields).get(name)
    return None if layout is None else layout.number


def node_of_expression(graph: ExpressionGraph, hierarchy: Hierarchy, number: int) -> ArrayNode | None:
    """Return the array that shows what an expression makes, or gives its bytes to; None where none does."""
    whole = hierarchy.find(graph.path)
    parts = _group_at(hierarchy, graph.path)
    basic = graph.basic_array(number)
    name = "" if basic is None else graph.buffers.get(basic, "")
    if parts is not None and name in parts.arrays:
        return parts.arrays[name]
    if number != 0 and basic is None and parts is not None:
        return next((each for each in _below(parts) if number_of_node(graph, each) == number), None)
    return whole if isinstance(whole, ArrayNode) and 0 in (number, basic) else None


def _below(group: GroupNode) -> list[ArrayNode]:
    found = [array for array in group.arrays.values() if not is_buffer(array)]
    for child in group.groups.values():
        found += _below(child)
    return found


def _group_at(hierarchy: Hierarchy, path: str) -> GroupNode | None:
    """Return the group at a path, also where there is an array of the same path."""
    group = hierarchy.root if isinstance(hierarchy.root, GroupNode) else None
    for part in filter(None, path.split("/")):
        group = None if group is None else group.groups.get(part)
    return group
