"""The groups and arrays of a snapshot by path: their metadata, and their references when these are needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.zarr import v3
from refbrowser.formats.zarr.shapes import parse_shape
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.reference import Missing, Reference, ReferenceColumns, ReferenceKind
from refbrowser.references.document.document import Document
from refbrowser.wings.icechunk.changing.change_set import Coords, Metadata, metadata_in, moved_path
from refbrowser.wings.icechunk.reading.opening import IcechunkOrigin
from refbrowser.wings.icechunk.reading.repository import SnapshotNode

#: References that are made into values at a time.
_PAGE = 50_000


def origin_of(document: Document) -> IcechunkOrigin:
    """Return the snapshot that a document was made from.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it was made from something else.
    """
    origin = document.made_from(IcechunkOrigin)
    if origin is None:
        message = "it is not an Icechunk repository"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=document.name or ""))
    return origin


def encoding_of(metadata: Metadata) -> ChunkKeyEncoding:
    """Return how the keys of chunks of an array are spelled."""
    return v3.parse_chunk_keys(metadata.get("chunk_key_encoding") or {"name": "default"})


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A group or array: where it lies now, and how it is stored.

    Attributes
    ----------
    stored
        In the snapshot, by the path that it has there.
    """

    path: str
    metadata: Metadata
    stored: SnapshotNode

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return self.metadata.get("node_type") == "array"

    @property
    def prefix(self) -> str:
        """What the keys of its chunks begin with, in the snapshot."""
        return f"{self.stored.path}/".removeprefix("/")

    @property
    def manifests(self) -> frozenset[str]:
        """Names of the manifests that tell of its chunks: the same ones tell the same."""
        return frozenset(extent.manifest for extent in self.stored.extents)


@dataclass(frozen=True, eq=False)
class SnapshotTree:
    """The nodes of a snapshot that is open, as they lie after some moves.

    Attributes
    ----------
    dataset
        The snapshot; its edits do not count.
    moves
        Old and new paths, one after the other.
    """

    dataset: Dataset
    moves: Sequence[tuple[str, str]] = field(default=())

    @property
    def origin(self) -> IcechunkOrigin:
        """The snapshot."""
        return origin_of(self.dataset.document)

    @cached_property
    def nodes(self) -> Mapping[str, TreeNode]:
        """Groups and arrays by path."""
        found = {}
        for node in self.origin.snapshot.nodes:
            path = moved_path(node.path, self.moves)
            found[path] = TreeNode(path, metadata_in(node.path, node.metadata), node)
        return found

    @cached_property
    def by_id(self) -> Mapping[bytes, TreeNode]:
        """The same by their identifiers, which stay when they are moved."""
        return {node.stored.id: node for node in self.nodes.values()}

    def node(self, path: str) -> TreeNode:
        """Return a node.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is none of that path.
        """
        found = self.nodes.get(path)
        if found is None:
            known = ", ".join(f"/{each}" for each in list(self.nodes)[:20] if each)
            message = f"there is no group or array {quoted(f'/{path}')}"
            raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {known}" if known else "")
        return found

    def moved(self, old: str, new: str) -> SnapshotTree:
        """Return it after one more move.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: nothing is there, or something is at the new place.
        """
        self.node(old)
        parent = new.rpartition("/")[0]
        if not old or not new or new in self.nodes or new.startswith(f"{old}/"):
            message = f"{quoted(f'/{old}')} cannot be renamed to {quoted(f'/{new}')}"
            advice = "that name is taken" if new in self.nodes else ""
            raise RefbrowserError(ErrorKind.USAGE, message, advice=advice)
        if parent and (parent not in self.nodes or self.nodes[parent].is_array):
            raise RefbrowserError(ErrorKind.USAGE, f"there is no group {quoted(f'/{parent}')}")
        return replace(self, moves=(*self.moves, (old, new)))

    def below(self, path: str) -> list[TreeNode]:
        """Return a node and all below it."""
        return [
            node for at, node in self.nodes.items() if at == path or not path or at.startswith(f"{path}/")
        ]

    def references(self, node: TreeNode) -> Iterator[tuple[Coords, Reference]]:
        """Yield the references of an array, whose manifests are read.

        Raises
        ------
        RefbrowserError
            Some of them cannot be read.
        """
        if not node.is_array or not node.stored.extents:
            return
        metadata = node.metadata
        grid = v3.parse_chunk_grid(parse_shape(metadata["shape"]), metadata["chunk_grid"]).grid_shape
        kinds = self.origin.references.kinds(node.prefix, grid)
        if kinds is None:
            kinds = self.dataset.document.expansion.chunk_kinds(node.prefix, grid, encoding_of(metadata))
        stored = np.argwhere(kinds != ReferenceKind.MISSING).reshape(-1, len(grid))
        for start in range(0, len(stored), _PAGE):
            coords = stored[start : start + _PAGE]
            columns = self._columns(node, coords)
            for row, at in enumerate(coords.tolist()):
                yield tuple(at), columns.reference(row)

    def references_at(self, node: TreeNode, coords: Sequence[Coords]) -> dict[Coords, Reference | None]:
        """Return the references of some chunks; None where there is none.

        Raises
        ------
        RefbrowserError
            One of them cannot be read.
        """
        if not node.stored.extents or not coords:
            return dict.fromkeys(coords)
        columns = self._columns(node, np.array(coords, np.int64).reshape(len(coords), -1))
        found = (columns.reference(row) for row in range(len(columns)))
        pairs = zip(coords, found, strict=True)
        return {each: None if isinstance(value, Missing) else value for each, value in pairs}

    def _columns(self, node: TreeNode, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        own = self.origin.references.columns(node.prefix, coords)
        if own is not None:
            return own
        return self.dataset.document.expansion.chunk_columns(node.prefix, coords, encoding_of(node.metadata))
