"""The operations of the protocol on a hierarchy in a store (draft of 2019, Protocol operations)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.store_rules import EARLY_DRAFT
from refbrowser.formats.zarr.metadata_json import parse_object
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import Hierarchy
from refbrowser.model.values import NO_MANIFEST
from refbrowser.wings.zarr_draft.protocol.draft_elements import DraftArray
from refbrowser.wings.zarr_draft.protocol.draft_stores import Listing, ListingError, Store
from refbrowser.wings.zarr_draft.reading.draft_arrays import array_node
from refbrowser.wings.zarr_draft.reading.draft_documents import (
    GZIP,
    document_bytes,
    group_document,
    written_codec,
    written_type,
)
from refbrowser.wings.zarr_draft.reading.draft_keys import (
    SCHEME_2019,
    NodeKind,
    is_name,
    joined,
    parts_of,
    spellings_2019,
)
from refbrowser.wings.zarr_draft.reading.draft_members import ZARR_FORMAT, Notes, check_format
from refbrowser.wings.zarr_draft.reading.drafts import DRAFT_2019
from refbrowser.wings.zarr_draft.reading.hierarchy import build_hierarchy

_DOCUMENTED = (NodeKind.ARRAY, NodeKind.GROUP)


class DraftHierarchy:
    """The groups and arrays in a store, by the rules of the draft of May 2019.

    Paths are absolute; ``/`` is the root, and the leading slash of another may be left out. Operations that
    list raise `ListingError` where the store cannot; all raise `RefbrowserError`: `E_USAGE` for what is no
    path, and what the store raises.

    Parameters
    ----------
    store
        A `MemoryStore`, `FolderStore`, `ZipStore` or another `Store`.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    # Create

    def create_group(
        self,
        path: str,
        attributes: Mapping[str, Any] | None = None,
        extensions: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Create a group, or write the document of one that is only implied.

        Groups above it need no document: they are implied.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: the node is there, an array is above it, or a sibling differs in case only. `E_META`:
            the attributes are no JSON.
        """
        document = document_bytes(group_document(attributes or {}, extensions))
        self._check_free(path, NodeKind.GROUP)
        self.store.set(SCHEME_2019.metadata_key(path, NodeKind.GROUP), document)

    def create_array(
        self,
        path: str,
        *,
        shape: Sequence[int],
        data_type: Any,
        chunk_shape: Sequence[int],
        separator: str | None = None,
        memory_layout: str = "C",
        codecs: Sequence[Any] = (GZIP,),
        fill_value: Any = None,
        attributes: Mapping[str, Any] | None = None,
        extensions: Sequence[Mapping[str, Any]] = (),
    ) -> DraftArray:
        """Create an array without any element.

        Parameters
        ----------
        data_type
            A name of the draft (``<f8``), the object of an extension, or a numpy type.
        separator
            Between the numbers in chunk keys: ``.``, ``/``, ``-`` or ``_``; ``.`` when None.
        memory_layout
            ``C`` or ``F``.
        codecs
            In encoding order: objects with the URI as `codec` and the options beside it, or names of known
            codecs.
        fill_value
            As the metadata writes it (``"NaN"``); None for undefined elements.

        Raises
        ------
        RefbrowserError
            As `create_group`; `E_META` too where the document would not be a valid one.
        """
        grid: dict[str, Any] = {"type": "regular", "chunk_shape": list(chunk_shape)}
        if separator is not None:
            grid["separator"] = separator
        document = {
            "zarr_format": ZARR_FORMAT,
            "shape": list(shape),
            "data_type": written_type(data_type),
            "chunk_grid": grid,
            "chunk_memory_layout": memory_layout,
            "chunk_codecs": [written_codec(codec) for codec in codecs],
            "fill_value": fill_value,
            "extensions": list(extensions),
            "attributes": dict(attributes or {}),
        }
        data = document_bytes(document)
        array = self._array(path, parse_object(data, path, _ignore))
        _check_fill_value(document, array)
        self._check_free(path, NodeKind.ARRAY)
        self.store.set(SCHEME_2019.metadata_key(path, NodeKind.ARRAY), data)
        return array

    # Metadata

    def metadata(self, path: str) -> dict[str, Any]:
        """Return the metadata document of a node; that of an array where both are there.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is no such document. `E_JSON`, `E_ENCODING`, `E_META`: it is broken.
        """
        return self._document(path)[1]

    def set_attributes(self, path: str, attributes: Mapping[str, Any]) -> None:
        """Replace the attributes of a node; what else its document holds stays.

        A group that is only implied gets a document.
        """
        if self.kind(path) is NodeKind.IMPLIED:
            self.create_group(path, attributes)
            return
        key, document = self._document(path)
        self.store.set(key, document_bytes({**document, "attributes": dict(attributes)}))

    def array(self, path: str) -> DraftArray:
        """Return an array, for its elements to be retrieved and stored.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is no such array. `E_META`: its metadata is broken, or not all of it is known.
        """
        key = SCHEME_2019.metadata_key(path, NodeKind.ARRAY)
        data = self.store.get(key)
        if data is None:
            raise _absent("array", path)
        return self._array(path, parse_object(data, key, _ignore))

    def __getitem__(self, path: str) -> DraftArray:
        return self.array(path)

    # Discover

    def kind(self, path: str) -> NodeKind | None:
        """Return what a node is, None where there is none.

        A store that cannot list knows no implied groups.
        """
        for kind in _DOCUMENTED:
            if self.store.get(SCHEME_2019.metadata_key(path, kind)) is not None:
                return kind
        try:
            found = self.store.listdir(SCHEME_2019.children_prefix(path))
        except ListingError:
            return None
        return NodeKind.IMPLIED if found.keys or found.prefixes else None

    def exists(self, path: str) -> bool:
        """Whether there is an array or a group, implied ones too."""
        return self.kind(path) is not None

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.exists(path)

    def children(self, path: str = "/") -> dict[str, NodeKind]:
        """Return the children of a group by name, with what each is.

        An array and a group of one name count as the array.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is no such group.
        """
        prefix = SCHEME_2019.children_prefix(path)
        listing = self.store.listdir(prefix)
        if not (listing.keys or listing.prefixes) and self.kind(path) is not NodeKind.GROUP:
            raise _absent("group", path)
        return dict(sorted(_named(listing, prefix).items()))

    def nodes(self) -> dict[str, NodeKind]:
        """Return every node by its path, with what it is; found with one listing."""
        found: dict[str, NodeKind] = {}
        for key in self.store.listpre(SCHEME_2019.children_prefix("/")):
            node = SCHEME_2019.parse(key)
            if node is None:
                continue
            parts = parts_of(node.path)
            for end in range(len(parts)):
                found.setdefault(joined(parts[:end]), NodeKind.IMPLIED)
            if found.get(node.path) is not NodeKind.ARRAY:
                found[node.path] = node.kind
        for kind in reversed(_DOCUMENTED):
            if self.store.get(SCHEME_2019.metadata_key("/", kind)) is not None:
                found["/"] = kind
        return dict(sorted(found.items()))

    def describe(self) -> Hierarchy:
        """Return the hierarchy as the rest of the program shows it, with what was found wrong in it."""
        return build_hierarchy(_StoreMetadata(self.store), _no_manifest, str(EARLY_DRAFT))

    # Delete

    def delete(self, path: str) -> None:
        """Delete an array or group with all that is in it.

        Groups above it that are only implied by it go too: `implied_by` tells which.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is no such node.
        """
        kind = self.kind(path)
        if kind is None:
            raise _absent("node", path)
        if kind is NodeKind.ARRAY:
            self.delete_array(path)
        else:
            self.delete_group(path)

    def delete_array(self, path: str) -> None:
        """Delete an array and its chunks; the metadata first, so that it vanishes at once."""
        meta = SCHEME_2019.metadata_key(path, NodeKind.ARRAY)
        if self.store.get(meta) is None:
            raise _absent("array", path)
        keys = self._chunk_keys(path)
        self.store.delete(meta)
        for key in keys:
            self.store.delete(key)

    def delete_group(self, path: str) -> None:
        """Delete a group with all that is below it: metadata, then chunks, then its own document."""
        own = SCHEME_2019.metadata_key(path, NodeKind.GROUP)
        metadata = self.store.listpre(SCHEME_2019.children_prefix(path))
        if not metadata and self.store.get(own) is None:
            raise _absent("group", path)
        data = self.store.listpre(SCHEME_2019.data_prefix(path))
        for key in (*sorted(metadata), *sorted(data), own):
            self.store.delete(key)

    def implied_by(self, path: str) -> tuple[str, ...]:
        """Return the groups that are there only as this node is in them, the nearest first.

        They vanish with it; `create_group` writes their documents and keeps them.
        """
        parts = parts_of(path)
        found = []
        for end in range(len(parts) - 1, 0, -1):
            above = joined(parts[:end])
            if self.kind(above) is not NodeKind.IMPLIED or len(self.children(above)) > 1:
                break
            found.append(above)
        return tuple(found)

    # What they share

    def _array(self, path: str, document: Mapping[str, Any]) -> DraftArray:
        absolute = joined(parts_of(path))
        notes = Notes(SCHEME_2019.metadata_key(path, NodeKind.ARRAY), absolute, _ignore)
        node = array_node(document, absolute, DRAFT_2019, notes, _no_manifest)
        spellings = spellings_2019(absolute, node.chunk_keys.separator, len(node.shape))
        return DraftArray(self.store, node, spellings)

    def _document(self, path: str) -> tuple[str, dict[str, Any]]:
        for kind in _DOCUMENTED:
            key = SCHEME_2019.metadata_key(path, kind)
            data = self.store.get(key)
            if data is not None:
                document = parse_object(data, key, _ignore)
                check_format(document.get("zarr_format"))
                return key, document
        raise _absent("document of a node", path)

    def _check_free(self, path: str, kind: NodeKind) -> None:
        """Raise E_USAGE where a node of this kind cannot be created."""
        parts = parts_of(path)
        place = Place(path=joined(parts))
        found = self.kind(path)
        if found is not None and (found, kind) != (NodeKind.IMPLIED, NodeKind.GROUP):
            raise RefbrowserError(ErrorKind.USAGE, f"the node exists already: {found}", place)
        for end in range(len(parts)):
            above = joined(parts[:end])
            if self.store.get(SCHEME_2019.metadata_key(above, NodeKind.ARRAY)) is not None:
                message = f"{quoted(above)} is an array: nothing can be below it"
                raise RefbrowserError(ErrorKind.USAGE, message, place)
            self._check_siblings(above, parts[end], place)

    def _check_siblings(self, above: str, name: str, place: Place) -> None:
        prefix = SCHEME_2019.children_prefix(above)
        try:
            siblings = _named(self.store.listdir(prefix), prefix)
        except ListingError:
            return
        for other in siblings:
            if other != name and other.lower() == name.lower():
                message = f"{quoted(other)} and {quoted(name)} differ in case only"
                raise RefbrowserError(ErrorKind.USAGE, message, place, "choose another name")

    def _chunk_keys(self, path: str) -> list[str]:
        """Return the keys of the chunks of an array that is to be deleted."""
        prefix = SCHEME_2019.data_prefix(path)
        # What is below an array, against the rules, has chunks of its own there.
        try:
            below = self.store.listdir(SCHEME_2019.children_prefix(path))
            found = self.store.listpre(prefix)
            if not (below.keys or below.prefixes):
                return [*sorted(found), prefix.removesuffix("/")]
            array = self.array(path)
        except ListingError:
            return list(self.array(path).chunk_keys())
        return [key for key in sorted(found) if array.owns(key)]


def _named(listing: Listing, prefix: str) -> dict[str, NodeKind]:
    """Return the nodes right below a prefix by name; what is no metadata key is no node."""
    found = {
        name: NodeKind.IMPLIED
        for name in (each[len(prefix) : -1] for each in listing.prefixes)
        if is_name(name)
    }
    for key in listing.keys:
        node = SCHEME_2019.parse(key)
        if node is not None:
            name = node.path.rpartition("/")[2]
            if found.get(name) is not NodeKind.ARRAY:
                found[name] = node.kind
    return found


def _check_fill_value(document: Mapping[str, Any], array: DraftArray) -> None:
    """Raise E_META for a fill value that does not fit: readers only report it, and take none."""
    notes = Notes("", array.node.path, _ignore)
    DRAFT_2019.fill_value(document, DRAFT_2019.data_type(document, notes), notes)


def _absent(what: str, path: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.USAGE, f"there is no {what} {quoted(path)}", Place(path=path))


def _ignore(finding: Finding) -> None:
    """Keep a warning for `describe`."""


def _no_manifest(prefix: str, grid: RegularChunkGrid, encoding: ChunkKeyEncoding) -> Any:
    """Make no manifest: elements are read from the store."""
    return NO_MANIFEST


class _StoreMetadata:
    """The metadata of a store as a source of a hierarchy."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def metadata_keys(self) -> Iterator[str]:
        """Yield the root documents, then those of all other nodes."""
        roots = (SCHEME_2019.metadata_key("/", kind) for kind in _DOCUMENTED)
        yield from (key for key in roots if self._store.get(key) is not None)
        yield from sorted(self._store.listpre(SCHEME_2019.children_prefix("/")))

    def value(self, key: str) -> bytes:
        """Return a document."""
        data = self._store.get(key)
        if data is None:
            raise RefbrowserError(ErrorKind.SOURCE, "the key vanished", Place(key=key))
        return data
