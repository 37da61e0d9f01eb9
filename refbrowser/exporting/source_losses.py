"""What an export loses whatever else the target holds: damage, attributes not read, and their types."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.codecs.table import CODECS
from refbrowser.engine.dataset import damage_of, notes_of
from refbrowser.errors import Severity, quoted
from refbrowser.exporting.request import ExportRequest, Loss
from refbrowser.findings.finding import damage_text
from refbrowser.model.fill_values import plain_fill
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE, typed_attribute
from refbrowser.model.netcdf.fill import is_complete, mark_of_missing
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy, Node
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: Documents of attributes alone, and of their types: a node is read without them.
_DOCUMENTS = (".zattrs", ".nczattrs", ".nczattr")


def damage(dataset: Dataset, request: ExportRequest) -> Iterator[Loss]:
    """Yield what a damaged source has lost of what is exported, and what else was noted when it was opened.

    Not all of it fails when it is read.
    """
    lost = damage_of(dataset, request.paths)
    for found in notes_of(dataset, request.paths):
        text = damage_text(found) if found in lost else f"noted in the source: {found.message}"
        yield Loss(found.place.path or "/", text)


def unrecorded(dataset: Dataset) -> Iterator[Loss]:
    """Yield that references do not keep what was recorded of the objects they lead to, if anything was."""
    # Where references are read bit by bit, all of them must be known.
    if dataset.document.refs.table and (count := len(dataset.access.memory.identities.recorded)):
        objects = counted_plain(count, "object")
        what = f"the entity tags or times of change that were recorded of {objects} are left out"
        yield Loss("/", f"{what}: readers of the references cannot notice a replaced object")


def unread_attributes(hierarchy: Hierarchy, nodes: Iterable[Node]) -> Iterator[Loss]:
    """Yield a loss for each node with attributes in a document that could not be read."""
    why: dict[str, str] = {}
    for finding in hierarchy.findings:
        path, _, name = (finding.place.key or "").rpartition("/")
        if name in _DOCUMENTS and finding.severity is Severity.FAULT:
            why.setdefault(f"/{path}", finding.message)
    for node in nodes:
        if isinstance(node, GroupNode) and node.error is not None:
            yield Loss(node.path, f"the metadata of the group cannot be read: {node.error.message}")
        elif node.path in why:
            yield Loss(node.path, f"its attributes cannot be read and are left out: {why[node.path]}")


def lost_in_json(nodes: Iterable[Node]) -> Iterator[Loss]:
    """Yield what targets lose whose description is plain JSON, where netCDF has a place for it.

    These are types of attributes, attributes of members of structures, and dimensions that are unlimited or
    that no array has.

    Parameters
    ----------
    nodes
        All that are written.
    """
    nodes = list(nodes)
    used = {
        dimension
        for node in nodes
        if isinstance(node, ArrayNode)
        for dimension in node.dimension_paths or node.dimensions
    }
    for node in nodes:
        if found := list(_untyped(node)):
            yield Loss(node.path, f"types of attributes are left out, JSON has none: {', '.join(found)}")
        if isinstance(node, GroupNode):
            yield from (Loss(node.path, text) for text in _of_dimensions(node, used))
        elif node.type.members:
            yield Loss(node.path, f"attributes of members are left out: {_of_members(node)}")


def needed_elsewhere(nodes: Iterable[Node]) -> Iterator[Loss]:
    """Yield what other software needs to read arrays of which the stored bytes stay as they are."""
    for node in nodes:
        rows = [CODECS[each.name] for each in getattr(node, "codecs", ()) if each.name in CODECS]
        if rare := [row for row in rows if row.only_decodes and row.package]:
            names = ", ".join(row.name for row in rare)
            yield Loss(node.path, f"other software reads it with the package {rare[0].package} ({names})")


def masked_elsewhere(nodes: Iterable[Node]) -> Iterator[Loss]:
    """Yield the arrays whose fill value other software takes for missing in references, as chunks need it."""
    for node in nodes:
        if isinstance(node, ArrayNode) and not node.fill_marks and node.fill_value is not None:
            is_needed = node.values.encoded is not None and not is_complete(node)
            if is_needed and repr(mark_of_missing(node)) != repr(node.fill_value):
                what = f"other software treats values equal to {node.fill_value} as missing"
                yield Loss(node.path, f"{what}: chunks that are not stored hold it")


def lost_fill(node: ArrayNode) -> Iterator[str]:
    """Yield what is told where a fill value has no form in JSON, and the target has no other place for it."""
    value = node.fill_value
    is_empty = isinstance(value, bytes | np.ndarray) and not len(value)
    if value is not None and not is_empty and plain_fill(value) is None:
        yield f"the fill value {quoted(value)} is left out"


def _of_dimensions(group: GroupNode, used: Collection[str | None]) -> Iterator[str]:
    for dimension in group.dimensions.values():
        path = f"{group.path.rstrip('/')}/{dimension.name}"
        if path not in used and dimension.name not in used:
            yield f"dimension {quoted(dimension.name)} is left out: no array has it"
        elif dimension.unlimited:
            yield f"dimension {quoted(dimension.name)} is no longer unlimited"


def _of_members(node: ArrayNode) -> str:
    said = node.type.members.items()
    return ", ".join(
        f"{quoted(name)} of {quoted(member)}" for member, each in said for name in each.attributes
    )


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
            yield f"{quoted(name)} ({kept.type})"
