"""All metadata of a dataset, parsed, by node: single keys first, then consolidated metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.zarr.metadata_json import parse_object, same_json, warning
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.values import ChunkManifest


class MetadataSource(Protocol):
    """The Zarr metadata of a dataset, by key.

    A key ends in ``.zgroup``, ``.zarray``, ``.zattrs``, ``.zmetadata`` or ``zarr.json``.
    """

    def metadata_keys(self) -> Iterable[str]:
        """Return the metadata keys, in document order, each once."""
        ...

    def value(self, key: str) -> bytes:
        """Return the bytes of a metadata key.

        Raises
        ------
        RefbrowserError
            The entry is faulty, or its bytes are elsewhere and were not read yet (`BLOCKED`).
        """
        ...


@runtime_checkable
class ParsedSource(Protocol):
    """A source that knows what is in some of its documents: they are not parsed again."""

    def parsed(self, key: str) -> Mapping[str, Any] | None:
        """Return the object under a metadata key, which has nothing odd in it; None where it is not known."""
        ...


@runtime_checkable
class DescribedSource(Protocol):
    """A source of which some nodes are known without their metadata: it is not read."""

    def node(self, path: str) -> GroupNode | ArrayNode | None:
        """Return the node at a path (empty for the root); None where its metadata says what it is."""
        ...


#: Makes the manifest of an array from the prefix of its keys (``temp/``, empty for a root array), its grid
#: and the encoding of its chunk keys.
ManifestMaker = Callable[[str, RegularChunkGrid, ChunkKeyEncoding], ChunkManifest]


GROUP_V2, ARRAY_V2, ATTRIBUTES_V2, CONSOLIDATED_V2 = ".zgroup", ".zarray", ".zattrs", ".zmetadata"
NODE_V3 = "zarr.json"
METADATA_NAMES = frozenset({GROUP_V2, ARRAY_V2, ATTRIBUTES_V2, CONSOLIDATED_V2, NODE_V3})

#: Texts that are remembered while a source is read: of at most so many bytes, and so many of them.
_SHARED_SIZE, _SHARED_MOST = 4096, 10_000


@dataclass(slots=True)
class NodeDocuments:
    """What describes one node: the document of each metadata name, or why it cannot be read.

    Attributes
    ----------
    keys
        The keys that it came from, in document order.
    node
        The node itself, where it was described: there are no documents then.
    """

    documents: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    errors: dict[str, RefbrowserError] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    node: GroupNode | ArrayNode | None = None

    def __contains__(self, name: str) -> bool:
        return name in self.documents or name in self.errors


class MetadataReader:
    """Reads a source once; the nodes by path (empty for the root) in document order, and the findings."""

    def __init__(self, source: MetadataSource) -> None:
        self.nodes: dict[str, NodeDocuments] = {}
        self.findings: list[Finding] = []
        self._known: dict[bytes, dict[str, Any]] = {}
        self._told = source.parsed if isinstance(source, ParsedSource) else None
        self._described = source.node if isinstance(source, DescribedSource) else None
        consolidated = []
        for key in source.metadata_keys():
            path, name = split_key(key)
            if not _is_path(path):
                self.findings.append(warning("the key is not the path of a node", key))
            elif name == CONSOLIDATED_V2:
                consolidated.append((path, key))
            else:
                self._read(source, path, name, key)
        for path, key in consolidated:
            self._consolidated_v2(source, path, key)
        for path, node in list(self.nodes.items()):
            self._consolidated_v3(path, node)

    def _read(self, source: MetadataSource, path: str, name: str, key: str) -> None:
        node = self.nodes.get(path)
        if node is None:
            described = None if self._described is None else self._described(path)
            node = self.nodes[path] = NodeDocuments(node=described)
        node.keys.append(key)
        if node.node is not None:
            return
        told = None if self._told is None else self._told(key)
        try:
            node.documents[name] = self._parsed(source.value(key), key) if told is None else told
        except RefbrowserError as error:
            node.errors[name] = located(error, key)

    def _parsed(self, data: bytes, key: str) -> dict[str, Any]:
        """Return the object in metadata; arrays of one kind share a text, which is parsed once."""
        known = self._known.get(data)
        if known is not None:
            return known
        told = len(self.findings)
        value = parse_object(data, key, self.findings.append)
        if len(self.findings) == told and len(data) <= _SHARED_SIZE and len(self._known) < _SHARED_MOST:
            self._known[data] = value
        return value

    def _consolidated_v2(self, source: MetadataSource, path: str, key: str) -> None:
        try:
            document = parse_object(source.value(key), key, self.findings.append)
        except RefbrowserError as error:
            self.findings.append(fault(located(error, key)))
            return
        entries = document.get("metadata")
        if not isinstance(entries, dict):
            self.findings.append(warning("the consolidated metadata has no member 'metadata'", key))
            return
        for entry, value in entries.items():
            inner, name = split_key(entry)
            self._compare(_joined(path, inner), name, value, key, f"/metadata/{_escaped(entry)}")
        for own, node in self.nodes.items():
            for name in node.documents:
                entry = _relative(own, path)
                if entry is not None and name != NODE_V3 and f"{entry}{name}" not in entries:
                    self.findings.append(warning(f"{quoted(f'{entry}{name}')} is not in it", key))

    def _consolidated_v3(self, path: str, node: NodeDocuments) -> None:
        consolidated = node.documents.get(NODE_V3, {}).get("consolidated_metadata")
        entries = consolidated.get("metadata") if isinstance(consolidated, dict) else None
        if not isinstance(entries, dict):
            return
        key = _joined(path, NODE_V3)
        for entry, value in entries.items():
            pointer = f"/consolidated_metadata/metadata/{_escaped(entry)}"
            self._compare(_joined(path, entry), NODE_V3, value, key, pointer)

    def _compare(self, path: str, name: str, value: Any, key: str, pointer: str) -> None:
        """Take an entry of consolidated metadata where the single key is absent, else compare the two."""
        if name not in METADATA_NAMES or not isinstance(value, dict) or not _is_path(path):
            self.findings.append(_at(warning("an entry is not the metadata of a node", key), pointer))
            return
        node = self.nodes.setdefault(path, NodeDocuments())
        if name not in node:
            node.documents[name] = value
            node.keys.append(key)
        elif name in node.documents and not same_json(_plain(node.documents[name]), _plain(value)):
            message = f"differs from {quoted(_joined(path, name))}, which counts"
            self.findings.append(_at(warning(message, key), pointer))


def split_key(key: str) -> tuple[str, str]:
    """Return the path of the node (empty for the root) and the last part of a key."""
    path, _, name = key.rpartition("/")
    return path, name


def fault(error: RefbrowserError) -> Finding:
    """Return an error as a finding."""
    return Finding(
        severity=Severity.FAULT,
        kind=error.kind,
        message=error.message,
        place=error.place,
        advice=error.advice,
    )


def located(error: RefbrowserError, key: str) -> RefbrowserError:
    """Return `error` with the key it belongs to, where it names none."""
    if error.place:
        return error
    return RefbrowserError(error.kind, error.message, Place(key=key), error.advice)


def not_read(error: RefbrowserError) -> bool:
    """Whether the metadata is not broken but elsewhere and not allowed yet."""
    return error.kind is ErrorKind.BLOCKED


def ancestors(path: str) -> Iterator[str]:
    """Yield the paths above `path`, the nearest first, the root (empty) last."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _is_path(path: str) -> bool:
    return path == "" or all(part not in ("", ".", "..") for part in path.split("/"))


def _joined(path: str, name: str) -> str:
    return f"{path}/{name}" if path and name else path or name


def _relative(path: str, above: str) -> str | None:
    """Return the prefix of keys of `path` as seen from `above`; None where it is not below it."""
    if not above:
        return f"{path}/" if path else ""
    if path == above:
        return ""
    return f"{path[len(above) + 1 :]}/" if path.startswith(f"{above}/") else None


def _plain(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document without the consolidated metadata in it, which its copy leaves out."""
    return {name: value for name, value in document.items() if name != "consolidated_metadata"}


def _escaped(part: str) -> str:
    """Return a member's name as part of a JSON pointer (RFC 6901)."""
    return part.replace("~", "~0").replace("/", "~1")


def _at(finding: Finding, pointer: str) -> Finding:
    return Finding(
        severity=finding.severity,
        kind=finding.kind,
        message=finding.message,
        place=Place(key=finding.place.key, pointer=pointer),
    )
