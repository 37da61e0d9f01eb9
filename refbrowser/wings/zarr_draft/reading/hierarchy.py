"""Metadata of the v3 drafts to a hierarchy: that of May 2019, the later ones below ``meta/root/``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.zarr.documents import ManifestMaker, MetadataSource, ancestors
from refbrowser.formats.zarr.metadata_json import parse_object, warning
from refbrowser.formats.zarr.shapes import Sides, dimensions_needed
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode, Dimension, GroupNode, Hierarchy, Node
from refbrowser.wings.zarr_draft.reading.draft_arrays import array_node, broken_array
from refbrowser.wings.zarr_draft.reading.draft_keys import (
    ENTRY,
    ChunkSpelling,
    DraftKey,
    NodeKind,
    case_clashes,
    has_key_characters,
    spellings_2019,
)
from refbrowser.wings.zarr_draft.reading.draft_members import (
    Notes,
    attributes_of,
    check_extensions,
    check_format,
)
from refbrowser.wings.zarr_draft.reading.drafts import DRAFT_2019, Draft, draft_2020


class TreeBuilder:
    """Makes nodes from the root to the leaves, and gathers findings.

    Attributes
    ----------
    keys
        Metadata keys with what each describes, in document order; filled by `gather`.
    more_spellings
        Other ways in which the chunk keys of an array may be written, by path.
    refused
        Why the whole store is not opened.
    """

    def __init__(self, source: MetadataSource, manifests: ManifestMaker, draft: Draft) -> None:
        self.source = source
        self.manifests = manifests
        self.draft = draft
        self.keys: dict[str, DraftKey] = {}
        self.more_spellings: dict[str, tuple[ChunkSpelling, ...]] = {}
        self.findings: list[Finding] = []
        self.refused: RefbrowserError | None = None
        self._documents: dict[str, dict[NodeKind, str]] = {}
        #: The paths right below each path, without the leading slash; a dict keeps their order.
        self._children: dict[str, dict[str, None]] = {"": {}}

    def gather(self, entry: str | None = None) -> None:
        """Find out what the metadata keys describe; `entry` is the key of the entry document."""
        for key in self.source.metadata_keys():
            found = self.draft.scheme.parse(key)
            if found is not None:
                self.keys[key] = found
            elif key != entry:
                self.warn("the key belongs to no node, and is ignored", key)

    def warn(self, message: str, key: str) -> None:
        """Report a warning about a key."""
        self.findings.append(warning(message, key))

    def hierarchy(self, format: str) -> Hierarchy:
        """Return the tree."""
        for key, found in self.keys.items():
            self._enter(key, found)
        if not self.keys:
            message = "there is no metadata of the v3 drafts"
            self.findings.append(Finding(severity=Severity.WARNING, kind=ErrorKind.META, message=message))
        root = self._root()
        return Hierarchy(root=root, format=format, flavour=self.draft.flavour, findings=tuple(self.findings))

    def _enter(self, key: str, found: DraftKey) -> None:
        path = found.path[1:]
        if path.count("/") >= LIMITS.group_nesting:
            message = f"groups are nested more than {LIMITS.group_nesting} levels deep"
            error = RefbrowserError(ErrorKind.BUDGET, message, Place(key=key))
            Notes(key, found.path, self.findings.append).fault(error)
            return
        self._documents.setdefault(path, {})[found.kind] = key
        for above in ancestors(path):
            below = self._children.setdefault(above, {})
            if path in below:
                break
            below[path] = None
            path = above

    def _root(self) -> Node:
        if self.refused is not None:
            Notes(self.refused.place.key or "", "/", self.findings.append).fault(self.refused)
            return GroupNode(error=self.refused)
        if NodeKind.ARRAY not in self._documents.get("", {}):
            return self._group("", {})
        array = self._array("")
        if not self._children[""]:
            return array
        self.warn("there are nodes below the root, which is an array", self._documents[""][NodeKind.ARRAY])
        group = self._group("", {})
        return GroupNode(path="/", groups=group.groups, arrays={"": array, **group.arrays})

    def _group(self, path: str, above: Mapping[str, Dimension]) -> GroupNode:
        fields = self._group_fields(path)
        if fields.pop("refused"):
            return GroupNode(path=f"/{path}", **fields)
        members = self._children.get(path, {})
        self._report_clashes(path, members)
        arrays = {
            _name(child): self._array(child)
            for child in members
            if NodeKind.ARRAY in self._documents.get(child, {})
        }
        sides = (Sides(node.path, node.dimensions, node.shape) for node in arrays.values())
        dimensions = dimensions_needed(sides, above, self.findings.append)
        groups = {
            _name(child): self._group(child, {**above, **dimensions})
            for child in members
            if _name(child) not in arrays or child in self._children
        }
        return GroupNode(path=f"/{path}", dimensions=dimensions, groups=groups, arrays=arrays, **fields)

    def _group_fields(self, path: str) -> dict[str, Any]:
        """Return what the document of a group gives, and whether its children are not opened."""
        key = self._documents.get(path, {}).get(NodeKind.GROUP)
        if key is None:
            return {"refused": False}
        notes = Notes(key, f"/{path}", self.findings.append)
        fields: dict[str, Any] = {"metadata_keys": (key,), "refused": False}
        try:
            document = parse_object(self.source.value(key), key, self.findings.append)
            if self.draft.has_format or isinstance(document.get("zarr_format"), str):
                check_format(document.get("zarr_format"))
        except RefbrowserError as error:
            placed = notes.placed(error)
            notes.fault(placed)
            return {**fields, "error": placed}
        fields["attributes"] = attributes_of(document, notes)
        try:
            check_extensions(self.draft.member(document, "extensions", [], notes), notes)
        except RefbrowserError as error:
            placed = notes.placed(error, "extensions")
            notes.fault(placed)
            return {**fields, "error": placed, "refused": True}
        return fields

    def _array(self, path: str) -> ArrayNode:
        key = self._documents[path][NodeKind.ARRAY]
        notes = Notes(key, f"/{path}", self.findings.append)
        if NodeKind.GROUP in self._documents[path]:
            notes.warn("an array and a group have the same path; the array is used")
        if path and path in self._children:
            notes.warn(f"there are nodes below the array {quoted(f'/{path}')}")
        try:
            document = parse_object(self.source.value(key), key, self.findings.append)
        except RefbrowserError as error:
            return broken_array(f"/{path}", error, notes)
        more = self.more_spellings.get(f"/{path}", ())
        return array_node(document, f"/{path}", self.draft, notes, self.manifests, more)

    def _report_clashes(self, path: str, members: Mapping[str, None]) -> None:
        for first, second in case_clashes(map(_name, members)):
            message = f"the names {quoted(first)} and {quoted(second)} differ in case only"
            place = Place(path=f"/{path}")
            self.findings.append(
                Finding(severity=Severity.WARNING, kind=ErrorKind.META, message=message, place=place)
            )


def _name(path: str) -> str:
    return path.rpartition("/")[2]


_ROOT = "/root"


def build_hierarchy(source: MetadataSource, manifests: ManifestMaker, format: str) -> Hierarchy:
    """Return the groups and arrays that the metadata of a store of the draft of 2019 describes.

    Nothing is raised: one broken document is one broken node. A group with an extension that must be
    understood is shown without its children; so is the root.

    Parameters
    ----------
    source
        The metadata.
    manifests
        Makes the manifest of each array.
    format
        Of the dataset, a name as in ``refbrowser export --to``.
    """
    builder = TreeBuilder(source, manifests, DRAFT_2019)
    builder.gather()
    _take_root(builder)
    return builder.hierarchy(format)


def _take_root(builder: TreeBuilder) -> None:
    """Take ``meta/root.*`` as the root document where there is no other, as the edit of June 2019 has it."""
    found = [key for key, node in builder.keys.items() if node.path == _ROOT]
    has_root = any(node.path == "/" for node in builder.keys.values())
    if has_root or not found:
        return
    key = found[0]
    kind = builder.keys[key].kind
    others = [node.path for node in builder.keys.values() if node.path != _ROOT]
    alone = len(found) == 1 and not any(path.startswith(f"{_ROOT}/") for path in others)
    if not alone or (kind is NodeKind.ARRAY and others):
        builder.warn("the node is named root; it is not the root of the store", key)
        return
    builder.warn(f"read as the document of the root; strictly it is a node named root ({key})", key)
    builder.keys[key] = DraftKey("/", kind)
    if kind is NodeKind.ARRAY:
        builder.more_spellings["/"] = spellings_2019(_ROOT, None, 1)


#: The encoding of metadata that is known, JSON, with and without a version of the protocol.
_ENCODINGS = "purl.org/zarr/spec/protocol/core/3.0"


def build_later_hierarchy(source: MetadataSource, manifests: ManifestMaker, format: str) -> Hierarchy:
    """Return the groups and arrays that the metadata of a store of a later draft describes.

    The entry document, ``zarr.json``, may be absent. Parameters and errors are those of
    `build_hierarchy`.
    """
    findings: list[Any] = []
    notes = Notes(ENTRY, "/", findings.append)
    suffix, refused = None, None
    if ENTRY in set(source.metadata_keys()):
        try:
            entry = parse_object(source.value(ENTRY), ENTRY, findings.append)
            suffix = _suffix(entry, notes)
            check_format(entry.get("zarr_format"))
            check_extensions(entry.get("extensions", []), notes)
        except RefbrowserError as error:
            refused = notes.placed(error)
    builder = TreeBuilder(source, manifests, draft_2020(suffix))
    builder.findings += findings
    builder.refused = refused
    builder.gather(entry=ENTRY)
    return builder.hierarchy(format)


def _suffix(entry: dict[str, Any], notes: Notes) -> str | None:
    """Return what metadata keys end in; None where the entry document does not say."""
    encoding = entry.get("metadata_encoding")
    if encoding is not None and not (isinstance(encoding, str) and encoding.endswith(_ENCODINGS)):
        notes.warn(
            f"the metadata encoding {quoted(encoding)} is not known: read as JSON", "metadata_encoding"
        )
    suffix = entry.get("metadata_key_suffix")
    if suffix is None:
        return None
    if not isinstance(suffix, str) or "/" in suffix or not has_key_characters(f"a{suffix}"):
        raise RefbrowserError(
            ErrorKind.META, f"metadata_key_suffix is {quoted(suffix)}, not a suffix of keys"
        )
    return suffix
