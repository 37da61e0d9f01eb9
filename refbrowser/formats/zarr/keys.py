"""What a key of a Zarr dataset is: a chunk, metadata of a node, or neither."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.formats.zarr.documents import split_key
from refbrowser.model.metadata_keys import METADATA_NAMES
from refbrowser.model.nodes import ArrayNode, Hierarchy


@dataclass(frozen=True, slots=True)
class ChunkKey:
    """The chunk of `node` at `coords`."""

    node: ArrayNode
    coords: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MetadataKey:
    """Metadata of the node at `path`."""

    path: str


@dataclass(frozen=True, slots=True)
class StrayKey:
    """A key that belongs to no array: below none, or no chunk of `node`, the nearest array above."""

    node: ArrayNode | None


KeyRole = ChunkKey | MetadataKey | StrayKey


class KeyClassifier:
    """Tells what keys are, against one hierarchy."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        nodes = list(hierarchy.walk())
        self._arrays = {
            node.key_prefix.removesuffix("/"): node for node in nodes if isinstance(node, ArrayNode)
        }
        #: In the v3 drafts the path of a node is not that of its metadata.
        self._documents = {
            key: node.path for node in nodes for key in node.metadata_keys if not _is_named(key)
        }

    def classify(self, key: str) -> KeyRole:
        """Return what `key` is."""
        if _is_named(key):
            return MetadataKey(f"/{split_key(key)[0]}")
        if key in self._documents:
            return MetadataKey(self._documents[key])
        nearest = None
        end = len(key)
        while end > 0:
            end = max(key.rfind("/", 0, end), 0)
            node = self._arrays.get(key[:end])
            if node is None:
                continue
            nearest = nearest or node
            coords = _coords(node, key[end + 1 :] if end else key)
            if coords is not None:
                return ChunkKey(node, coords)
        return StrayKey(nearest)


def _is_named(key: str) -> bool:
    """Whether a key is metadata by its last part, and stands below the path of its node."""
    return split_key(key)[1] in METADATA_NAMES


def _coords(node: ArrayNode, text: str) -> tuple[int, ...] | None:
    """Return the coordinates of the chunk with the relative key `text`, or None where there is none."""
    divided = node.values.divided
    if divided is None:
        return None
    named = divided.keyed
    coords = divided.keys.decode(text, named.ndim)
    if coords is None or coords not in named or named is divided.grid:
        return coords if coords in named else None
    # The chunk with the first element of what the key names.
    return divided.grid.chunk_of(named.origin(coords))
