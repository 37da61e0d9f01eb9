"""NCZarr to a hierarchy: Zarr v2 with what its extra members say of dimensions, types and order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from refbrowser.errors import RefbrowserError, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.nczarr.array_dimensions import (
    Axes,
    AxesFinder,
    Declared,
    netcdf_shape,
    parse_dimensions,
)
from refbrowser.formats.nczarr.members import Age, NczarrMembers, NodePart, take_members, typed_attributes
from refbrowser.formats.zarr.documents import (
    ARRAY_V2,
    ATTRIBUTES_V2,
    ManifestMaker,
    MetadataReader,
    MetadataSource,
    NodeDocuments,
)
from refbrowser.formats.zarr.hierarchy import hierarchy_of_documents
from refbrowser.formats.zarr.metadata_json import warning
from refbrowser.model.fill_values import parse_fill_value
from refbrowser.model.nodes import ArrayNode, Flavour, GroupNode, Hierarchy, Node

FILL = "_FillValue"
#: How NCZarr writes char.
CHAR = ">S1"


def build_hierarchy(source: MetadataSource, manifests: ManifestMaker, format: str) -> Hierarchy:
    """Return the groups and arrays that NCZarr metadata describes, of any age; plain Zarr v2 too.

    It is read as the Zarr v2 that it also is, with the shapes, types and fill values that netCDF sees in it.
    Nothing is raised: what is wrong gives findings, as with plain Zarr.

    Parameters
    ----------
    source
        The metadata.
    manifests
        Makes the manifest of each array.
    format
        Of the dataset, a name as in ``refbrowser export --to``.
    """
    reader = MetadataReader(source)
    translation = _Translation(reader)
    plain = hierarchy_of_documents(reader, manifests, format)
    presenter = _Presenter(translation)
    root = presenter.node(plain.root)
    return replace(
        plain,
        root=root,
        flavour=Flavour.NCZARR,
        age=translation.age,
        findings=(*plain.findings, *presenter.findings),
    )


class _Translation:
    """Turns the documents of a dataset into plain Zarr v2 as netCDF sees it; keeps what NCZarr says."""

    def __init__(self, reader: MetadataReader) -> None:
        self._findings = reader.findings
        self.members = {
            path: take_members(path, documents, self._findings.append)
            for path, documents in reader.nodes.items()
        }
        self.declared = Declared({path: self._dimensions(path) for path in self.members})
        self.is_nczarr = any(item.group or item.array or item.superblock for item in self.members.values())
        self._finder = AxesFinder(self.declared)
        #: Nodes of which documents cannot be read, or not yet: what they lack may stand there.
        self.broken = {path for path, documents in reader.nodes.items() if documents.errors}
        self.axes: dict[str, Axes] = {}
        #: Arrays of char; one of strings of length 1 has the same numpy type.
        self.chars: set[str] = set()
        for path, documents in reader.nodes.items():
            if ARRAY_V2 in documents.documents:
                self._translate(path, documents)

    @property
    def age(self) -> str:
        """Which netcdf-c wrote the dataset, for people; empty where nothing tells."""
        root = self.members.get("")
        ages = [item.age for item in (root, *self.members.values()) if item and item.age is not None]
        return ages[0].title if ages else ""

    def _dimensions(self, path: str) -> Mapping[str, Any]:
        part = self.members[path].group
        if part is None:
            return {}
        key = part.key
        return parse_dimensions(part.member("dimensions", "dims"), lambda text: self._warn(text, key))

    def _translate(self, path: str, documents: NodeDocuments) -> None:
        """Change the ``.zarray`` of one array where it means something else to netCDF."""
        members = self.members[path]
        document = dict(documents.documents[ARRAY_V2])
        documents.documents[ARRAY_V2] = document
        key = members.array.key if members.array else f"{path}/{ARRAY_V2}".lstrip("/")
        if members.array is None and self.is_nczarr and path not in self.broken:
            self._warn("the array has no NCZarr metadata: '_nczarr_array' is absent", key)
        shape = netcdf_shape(document, members)
        if shape is not None:
            axes = self._finder.axes(path, shape, members, lambda text: self._warn(text, key))
            self.axes[path] = axes
            if len(shape) < len(document["shape"]):
                document["chunks"] = []
            document["shape"] = list(axes.shape)
        # Until 4.9.0 netcdf-c called its chars, of one byte each, as numpy calls texts of four.
        if document.get("dtype") in ("<U1", ">U1") and members.age in (Age.OBJECTS, Age.UPPER):
            document["dtype"] = CHAR
        if document.get("dtype") == CHAR:
            self.chars.add(path)
        if "fill_value" in document:
            document["fill_value"] = _fill_value(document["fill_value"], document.get("dtype"))

    def _warn(self, message: str, key: str) -> None:
        self._findings.append(warning(message, key))


def _fill_value(value: Any, dtype: Any) -> Any:
    """Return a fill value as plain Zarr reads it: of text the bytes, and no list of one."""
    kind = dtype.lstrip("<>|")[:1] if isinstance(dtype, str) else ""
    if kind in ("b", "i", "u", "f", "S") and isinstance(value, list) and len(value) == 1:
        value = value[0]
    if kind == "S" and isinstance(value, str):
        data = value.encode("utf-8", "replace")
        is_byte = len(data) > 1 and dtype.endswith("S1")
        return list(value.encode("latin-1", "replace") if is_byte else data)
    return value


class _Presenter:
    """Gives the nodes of the plain hierarchy what NCZarr says of them."""

    def __init__(self, translation: _Translation) -> None:
        self._translation = translation
        self.findings: list[Finding] = []

    def node(self, node: Node) -> Node:
        """Return a node, with those below it, as netCDF sees it."""
        return self._array(node) if isinstance(node, ArrayNode) else self._group(node)

    def _group(self, node: GroupNode) -> GroupNode:
        path = node.path[1:]
        members = self._translation.members.get(path, NczarrMembers())
        arrays = {name: self._array(array) for name, array in node.arrays.items()}
        groups = {name: self._group(group) for name, group in node.groups.items()}
        if members.group is not None:
            arrays = self._listed(members.group, "array", ("arrays", "vars"), arrays)
            groups = self._listed(members.group, "group", ("groups",), groups)
        elif self._translation.is_nczarr and path not in self._translation.broken:
            key = _key(node, ATTRIBUTES_V2)
            self._warn("the group has no NCZarr metadata: '_nczarr_group' is absent", key)
        return replace(
            node,
            **self._attributes(node, members),
            arrays=arrays,
            groups=groups,
            dimensions=self._translation.declared.of(path),
            internal_attributes=members.internal,
        )

    def _listed(
        self, part: NodePart, what: str, names: Sequence[str], nodes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the nodes in the order of the group's list, those that it lacks last."""
        listed = part.member(*names)
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            if listed is not None or nodes:
                self._warn(f"the {what}s of the group are {quoted(listed)}, not a list of names", part.key)
            return dict(nodes)
        wanted = dict.fromkeys(listed)
        for name in wanted:
            if name not in nodes:
                self._warn(f"{what} {quoted(name)} is in the list of the group, but does not exist", part.key)
        for name in nodes:
            if name not in wanted:
                message = f"{what} {quoted(name)} is not in the list of the group: netCDF does not show it"
                self._warn(message, part.key)
        return {name: nodes[name] for name in (*wanted, *nodes) if name in nodes}

    def _array(self, node: ArrayNode) -> ArrayNode:
        members = self._translation.members.get(node.path[1:], NczarrMembers())
        axes = self._translation.axes.get(node.path[1:])
        changes: dict[str, Any] = self._attributes(node, members)
        if axes is not None and node.error is None and node.format == "zarr-v2":
            changes |= {"dimensions": axes.names, "dimension_paths": axes.paths}
        if node.path[1:] in self._translation.chars and node.dtype is not None:
            changes["type"] = replace(node.type, name=CHAR)
        node = replace(node, **changes, internal_attributes=members.internal)
        if node.dtype is not None and node.format == "zarr-v2":
            self._check(node, node.dtype)
        return node

    def _attributes(self, node: Node, members: NczarrMembers) -> dict[str, Any]:
        part = members.types
        attributes = dict(node.attributes)
        if isinstance(attributes.get(FILL), list) and len(attributes[FILL]) == 1:
            attributes[FILL] = attributes[FILL][0]
        key = _key(node, ATTRIBUTES_V2)
        values, types = typed_attributes(
            attributes, part.member("types") if part else None, lambda text: self._warn(text, key)
        )
        return {"attributes": values, "attribute_types": types}

    def _check(self, node: ArrayNode, dtype: np.dtype[Any]) -> None:
        """Report what netCDF reads in another way."""
        if node.order == "F" and len(node.shape) > 1:
            message = "the order of elements is 'F', which netCDF ignores: it shows different values"
            self._warn(message, _key(node, ARRAY_V2))
        if FILL not in node.attributes or node.fill_value is None:
            return
        written = node.attributes[FILL]
        try:
            same = _same(parse_fill_value(_fill_value(written, dtype.str), dtype), node.fill_value)
        except RefbrowserError:
            same = False
        if not same:
            message = f"attribute {FILL} is {quoted(written)}, but the fill value {quoted(node.fill_value)}"
            self._warn(f"{message}, which counts", _key(node, ATTRIBUTES_V2))

    def _warn(self, message: str, key: str) -> None:
        self.findings.append(warning(message, key))


def _same(first: Any, second: Any) -> bool:
    return bool(first == second or (first != first and second != second))


def _key(node: Node, name: str) -> str:
    path = node.path[1:]
    return f"{path}/{name}" if path else name
