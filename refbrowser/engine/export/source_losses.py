"""What an export loses whatever else the target holds: damage, attributes not read, and their types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from refbrowser.engine.damage import damage_of, damage_text
from refbrowser.engine.export.request import ExportRequest, Loss
from refbrowser.errors import Severity, quoted
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE, typed_attribute
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy, Node

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: Documents of attributes alone, and of their types: a node is read without them.
_DOCUMENTS = (".zattrs", ".nczattrs", ".nczattr")
#: Attributes that a loss names.
_NAMED = 5


def damage(dataset: Dataset, request: ExportRequest) -> Iterator[Loss]:
    """Yield what a damaged source has lost of what is exported: not all of it fails when it is read."""
    for found in damage_of(dataset, request.paths):
        yield Loss(found.place.path or "/", damage_text(found))


def unread_attributes(hierarchy: Hierarchy, nodes: Iterable[Node]) -> Iterator[Loss]:
    """Yield a loss for each node with attributes in a document that could not be read."""
    why: dict[str, str] = {}
    for finding in hierarchy.problems:
        path, _, name = (finding.place.key or "").rpartition("/")
        if name in _DOCUMENTS and finding.severity is Severity.FAULT:
            why.setdefault(f"/{path}", finding.message)
    for node in nodes:
        if isinstance(node, GroupNode) and node.error is not None:
            yield Loss(node.path, f"the metadata of the group cannot be read: {node.error.message}")
        elif node.path in why:
            yield Loss(node.path, f"its attributes cannot be read and are left out: {why[node.path]}")


def untyped_attributes(nodes: Iterable[Node]) -> Iterator[Loss]:
    """Yield one loss for all attributes whose recorded netCDF type is another than JSON tells."""
    found = [name for node in nodes for name in _untyped(node)]
    if found:
        named = ", ".join(found[:_NAMED]) + (", …" if len(found) > _NAMED else "")
        count = "one attribute" if len(found) == 1 else f"{len(found)} attributes"
        yield Loss("/", f"netCDF would read another type of {count}, JSON has none for it: {named}")


def _untyped(node: Node) -> Iterator[str]:
    """Yield the attributes of a node that lose their type, with it."""
    for name, recorded in node.attribute_types.items():
        # The type of a fill value is that of its array.
        if name not in node.attributes or (isinstance(node, ArrayNode) and name == FILL_ATTRIBUTE):
            continue
        value = node.attributes[name]
        kept, _ = typed_attribute(name, value, recorded)
        inferred, _ = typed_attribute(name, value)
        if kept.type is not inferred.type:
            yield f"{quoted(name)} of {quoted(node.path)} ({kept.type})"
