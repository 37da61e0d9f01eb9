"""Zarr metadata to a hierarchy; a bad node is shown with its error and hides nothing else."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.zarr import v2, v3
from refbrowser.formats.zarr.documents import (
    ARRAY_V2,
    ATTRIBUTES_V2,
    GROUP_V2,
    NODE_V3,
    ManifestMaker,
    MetadataReader,
    MetadataSource,
    NodeDocuments,
    ancestors,
    fault,
    located,
    not_read,
)
from refbrowser.formats.zarr.metadata_json import warning
from refbrowser.formats.zarr.shapes import Sides, dimension_paths, dimensions_needed, parse_dimension_names
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode, Dimension, GroupNode, Hierarchy, Node, changed_array
from refbrowser.model.values import Chunks

#: What differs from array to array and says nothing of how it is stored.
_OWN = ("attributes", "dimension_names")
#: Different metadata that is remembered.
_MOST = 10_000


class FieldMemory:
    """Works out fields, and remembers them by the metadata that gives them."""

    def __init__(self) -> None:
        self._known: dict[bytes, Mapping[str, Any]] = {}
        #: The same by object, which is kept: equal texts share one.
        self._seen: dict[tuple[int, bool], tuple[Mapping[str, Any], Mapping[str, Any]]] = {}

    def fields(
        self, document: Mapping[str, Any], is_v3: bool, warn: Callable[[str], None]
    ) -> Mapping[str, Any]:
        """Return the fields of an `ArrayNode` that its metadata gives, its order and readability included.

        Raises
        ------
        RefbrowserError
            `META`, `BUDGET`: it has no shape; nothing can be said of the array.
        """
        seen = self._seen.get((id(document), is_v3))
        if seen is not None:
            return seen[1]
        # Version 2 writes equal values alike, however they are shared.
        key = marshal.dumps([is_v3, {name: document[name] for name in document if name not in _OWN}], 2)
        found = self._known.get(key)
        if found is None:
            warnings: list[str] = []
            found = _worked_out(document, is_v3, warnings.append)
            if not warnings and len(self._known) < _MOST:
                self._known[key] = found
                self._seen[id(document), is_v3] = document, found
            for text in warnings:
                warn(text)
        return found


def _worked_out(document: Mapping[str, Any], is_v3: bool, warn: Callable[[str], None]) -> dict[str, Any]:
    if is_v3:
        v3.is_array(document)
    fields = v3.array_fields(document) if is_v3 else v2.array_fields(document, warn)
    dtype = fields["type"].dtype
    if not is_v3 and not fields["values"].codecs and dtype is not None and not dtype.hasobject:
        # Nothing is asked of a codec, and the order is what the metadata says.
        return fields
    if fields.get("unreadable") is None and fields["values"].encoded is not None:
        try:
            axes = CodecPipeline.for_array(ArrayNode(path="/", **fields)).axes
            if len(axes) > 1 and axes == tuple(reversed(range(len(axes)))):
                fields["values"] = replace(fields["values"], order="F")
        except RefbrowserError as error:
            fields["unreadable"] = error
    return fields


#: The attribute in which xarray and kerchunk keep the names of dimensions.
DIMENSIONS_ATTRIBUTE = "_ARRAY_DIMENSIONS"
_ALSO_A_GROUP = "the node is both an array and a group; the array is used"
#: Of nodes without any metadata.
_NOTHING = NodeDocuments()


def build_hierarchy(source: MetadataSource, manifests: ManifestMaker, format: str) -> Hierarchy:
    """Return the groups and arrays that the metadata of a dataset describes.

    Both versions of the format are read, also side by side; where a node has both, version 3 counts. Groups
    above a node need no metadata. What consolidated metadata holds counts where the single key is absent.
    Nothing is raised: metadata that cannot be read or is wrong gives a node with `error`, or an array with
    `unreadable` where its shape is known, and a finding.

    Parameters
    ----------
    source
        The metadata.
    manifests
        Makes the manifest of each array.
    format
        Of the dataset, a name as in ``refbrowser export --to``.
    """
    return hierarchy_of_documents(MetadataReader(source), manifests, format)


def hierarchy_of_documents(reader: MetadataReader, manifests: ManifestMaker, format: str) -> Hierarchy:
    """Return what `build_hierarchy` does, from metadata that was read already."""
    builder = _Builder(reader, manifests)
    return Hierarchy(root=builder.root(), format=format, findings=tuple(builder.findings))


class _FoundArray(NamedTuple):
    """An array of which all is known but the groups that declare its dimensions."""

    make: Callable[..., ArrayNode]
    fields: Mapping[str, Any]
    sides: Sides

    def node(self, seen: Mapping[str, Dimension], paths: Mapping[str, str]) -> ArrayNode:
        """Return its node; `seen` and `paths` are as those of `dimension_paths`."""
        sides = self.sides
        full = dimension_paths(sides, seen, paths)
        return self.make(**self.fields, dimensions=sides.dimensions, dimension_paths=full)


class _Builder:
    """Makes nodes, from the leaves to the root, and gathers findings."""

    def __init__(self, reader: MetadataReader, manifests: ManifestMaker) -> None:
        self.nodes = reader.nodes
        self.findings = reader.findings
        self.manifests = manifests
        self._memory = FieldMemory()
        #: The paths right below each path; a dict keeps their order.
        self.children: dict[str, dict[str, None]] = {"": {}}
        for path in self.nodes:
            if path.count("/") < LIMITS.group_nesting:
                self._enter(path)
            else:
                message = f"groups are nested more than {LIMITS.group_nesting} levels deep"
                self.findings.append(fault(RefbrowserError(ErrorKind.BUDGET, message, Place(key=path))))

    def _enter(self, path: str) -> None:
        """Note `path` and the groups above it, in document order."""
        for above in ancestors(path):
            below = self.children.setdefault(above, {})
            if path in below:
                break
            below[path] = None
            path = above

    def root(self) -> Node:
        """Return the root."""
        documents = self.nodes.get("", _NOTHING)
        if not self.nodes:
            message = "there is no Zarr metadata: no key belongs to an array"
            self.findings.append(Finding(severity=Severity.WARNING, kind=ErrorKind.META, message=message))
        if not self._is_array("", documents):
            return self._group("", {}, {})
        array = self._array("", documents).node({}, {})
        if not self.children[""]:
            return array
        group = self._group("", {}, {})
        return GroupNode(path="/", groups=group.groups, arrays={"": array, **group.arrays})

    def _is_array(self, path: str, documents: NodeDocuments) -> bool:
        """Whether the metadata of a node is that of an array; a bad leaf counts as one."""
        if documents.node is not None:
            return isinstance(documents.node, ArrayNode)
        if NODE_V3 in documents.documents:
            try:
                return v3.is_array(documents.documents[NODE_V3])
            except RefbrowserError:
                return not self.children.get(path)
        if ARRAY_V2 in documents:
            return True
        return NODE_V3 in documents.errors and GROUP_V2 not in documents and not self.children.get(path)

    def _group(self, path: str, above: Mapping[str, Dimension], paths: Mapping[str, str]) -> GroupNode:
        """Return the group at `path`; the groups above it have dimensions with these full names."""
        documents = self.nodes.get(path, _NOTHING)
        if self._is_array(path, documents):
            documents = _NOTHING  # They are the array's, which shares the path with this group.
        own = self._own_group(path, documents)
        members = self.children.get(path, {})
        found = {}
        for child in members:
            child_documents = self.nodes.get(child, _NOTHING)
            if self._is_array(child, child_documents):
                found[_name(child)] = self._array(child, child_documents)
        sides = (array.sides for array in found.values())
        clashes: list[Finding] = []
        dimensions = dimensions_needed(sides, above, clashes.append)
        seen = {**above, **dimensions} if dimensions else above
        if dimensions:
            paths = {**paths, **{name: f"/{_key(path, name)}" for name in dimensions}}
        arrays = {name: array.node(seen, paths) for name, array in found.items()}
        if clashes:
            from refbrowser.model.multiscales.conventions import level_paths

            # Levels of an image share its dimensions, and have other sizes.
            levels = level_paths(own(dimensions=dimensions, groups={}, arrays=arrays))
            self.findings += [each for each in clashes if each.place.path not in levels]
        groups = {
            _name(child): self._group(child, seen, paths)
            for child in members
            if _name(child) not in arrays or self.children.get(child)
        }
        for name in groups:
            if name in arrays:
                message = f"there are nodes below the array {quoted(arrays[name].path)}"
                self.findings.append(warning(message, groups[name].path[1:]))
        return own(dimensions=dimensions, groups=groups, arrays=arrays)

    def _own_group(self, path: str, documents: NodeDocuments) -> Callable[..., GroupNode]:
        """Return what makes a group of what is in it."""
        keys = tuple(dict.fromkeys(documents.keys))
        if isinstance(documents.node, GroupNode):
            return partial(replace, documents.node, metadata_keys=keys)
        error = documents.errors.get(NODE_V3) or documents.errors.get(GROUP_V2)
        try:
            if NODE_V3 in documents.documents:
                v3.is_array(documents.documents[NODE_V3])
            elif documents.documents.get(GROUP_V2, {}).get("zarr_format", 2) != 2:
                raise RefbrowserError(ErrorKind.META, "zarr_format of the group is not 2")
        except RefbrowserError as wrong:
            error = located(wrong, _key(path, NODE_V3 if NODE_V3 in documents.documents else GROUP_V2))
        self._report(error)
        if error is None and NODE_V3 in documents.documents:
            self._check_group(documents.documents[NODE_V3], _key(path, NODE_V3))
        attributes = self._attributes(path, documents)
        return partial(GroupNode, path=f"/{path}", attributes=attributes, metadata_keys=keys, error=error)

    def _check_group(self, document: Mapping[str, Any], key: str) -> None:
        """Warn of what a group must be understood for: its members can be read all the same."""
        try:
            v3.check_extensions(document, v3.GROUP_MEMBERS)
        except RefbrowserError as error:
            self.findings.append(warning(error.message, key))

    def _attributes(self, path: str, documents: NodeDocuments) -> Mapping[str, Any]:
        if NODE_V3 in documents.documents:
            attributes = documents.documents[NODE_V3].get("attributes", {})
            if isinstance(attributes, dict):
                return attributes
            self.findings.append(warning("the attributes are not an object", _key(path, NODE_V3)))
            return {}
        self._report(documents.errors.get(ATTRIBUTES_V2))
        return documents.documents.get(ATTRIBUTES_V2, {})

    def _array(self, path: str, documents: NodeDocuments) -> _FoundArray:
        if isinstance(documents.node, ArrayNode):
            return self._described_array(path, documents.node, tuple(dict.fromkeys(documents.keys)))
        # Version 3 counts, but where it is broken and version 2 is there.
        is_v3 = NODE_V3 in documents.documents or ARRAY_V2 not in documents
        name = NODE_V3 if is_v3 else ARRAY_V2
        key = _key(path, name)
        if not is_v3:
            self._report(documents.errors.get(NODE_V3))
        if is_v3 and ARRAY_V2 in documents:
            self.findings.append(warning("the array has metadata of both versions; version 3 is used", key))
        elif ARRAY_V2 in documents and GROUP_V2 in documents:
            self.findings.append(warning(_ALSO_A_GROUP, key))
        common: dict[str, Any] = {
            "path": f"/{path}",
            "attributes": self._attributes(path, documents),
            "metadata_keys": tuple(dict.fromkeys(documents.keys)),
            "format": "zarr-v3" if is_v3 else "zarr-v2",
        }
        try:
            if name in documents.errors:
                raise documents.errors[name]
            fields = self._memory.fields(
                documents.documents[name], is_v3, lambda text: self.findings.append(warning(text, key))
            )
        except RefbrowserError as error:
            self._report(located(error, key))
            return _FoundArray(ArrayNode, {**common, "error": located(error, key)}, Sides(path, (), ()))
        names = documents.documents[name].get("dimension_names") if is_v3 else None
        dimensions = self._dimension_names(names, common["attributes"], len(fields["shape"]), key)
        sides = Sides(common["path"], dimensions, fields["shape"])
        return _FoundArray(ArrayNode, {**common, **fields, **self._readable(fields, path, key)}, sides)

    def _described_array(self, path: str, node: ArrayNode, keys: tuple[str, ...]) -> _FoundArray:
        key = _key(path, ARRAY_V2)
        if _key(path, GROUP_V2) in keys:
            self.findings.append(warning(_ALSO_A_GROUP, key))
        changes = self._readable({"unreadable": node.unreadable, "values": node.values}, path, key)
        sides = Sides(node.path, node.dimensions or (None,) * len(node.shape), node.shape)
        return _FoundArray(partial(changed_array, node), {"metadata_keys": keys, **changes}, sides)

    def _dimension_names(
        self, names: Any, attributes: Mapping[str, Any], ndim: int, key: str
    ) -> tuple[str | None, ...]:
        names = attributes.get(DIMENSIONS_ATTRIBUTE) if names is None else names
        try:
            return parse_dimension_names(names, ndim)
        except RefbrowserError as error:
            self.findings.append(warning(error.message, key))
            return (None,) * ndim

    def _readable(self, fields: Mapping[str, Any], path: str, key: str) -> dict[str, Any]:
        """Return the manifest of an array, and why it cannot be read where its codecs are not known."""
        changes: dict[str, Any] = {}
        if fields.get("unreadable") is not None:
            changes["unreadable"] = located(fields["unreadable"], key)
        values = fields["values"].encoded
        if values is not None:
            try:
                manifest = self.manifests(f"{path}/" if path else "", values.grid, values.keys)
                changes["values"] = Chunks(
                    grid=values.grid,
                    manifest=manifest,
                    keys=values.keys,
                    codecs=values.codecs,
                    order=values.order,
                    witness=values.witness,
                )
            except RefbrowserError as error:
                changes["unreadable"] = located(error, key)
        if "unreadable" in changes:
            why: RefbrowserError = changes["unreadable"]
            finding = warning(f"the array cannot be read: {why.message}", key, why.advice)
            self.findings.append(replace(finding, kind=why.kind))
        return changes

    def _report(self, error: RefbrowserError | None) -> None:
        if error is not None and not not_read(error):
            self.findings.append(fault(error))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _key(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name
