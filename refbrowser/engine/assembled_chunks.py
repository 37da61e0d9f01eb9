"""Tiles that are assembled from pieces, as the chunks that the metadata of the document describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from refbrowser.codecs.base import flat_bytes
from refbrowser.codecs.table import object_codec
from refbrowser.engine.source_read import fill_element
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.zarr.keys import ChunkKey, KeyClassifier
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.model.reference import ReferenceKind
from refbrowser.model.selection import Selection
from refbrowser.model.values import Pieces

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access import Access


class AssembledChunks:
    """The chunks of the arrays of a dataset whose values have no references.

    Parameters
    ----------
    session, access
        Read the pieces.
    """

    def __init__(self, hierarchy: Hierarchy, session: Session, access: Access) -> None:
        self._classifier = KeyClassifier(hierarchy)
        self._session = session
        self._access = access

    def find(self, key: str) -> ChunkKey | None:
        """Return the tile that a key names, where anything gives it."""
        role = self._classifier.classify(key)
        if not isinstance(role, ChunkKey) or not isinstance(role.node.values, Pieces):
            return None
        kinds = role.node.values.source.kinds_at(np.array(role.coords, np.int64).reshape(1, -1))
        return None if kinds[0] == ReferenceKind.MISSING else role

    def data(self, chunk: ChunkKey) -> bytes:
        """Return the bytes of a tile: elements in C order, texts as ``vlen-utf8``.

        Raises
        ------
        RefbrowserError
            It cannot be read; `E_META`: Zarr v2 has no form for its elements.
        """
        node = chunk.node
        assert node.dtype is not None
        if node.dtype.names is not None or (node.dtype.hasobject and node.type.name != "string"):
            message = f"Zarr v2 has no form for elements of type {node.type.name}"
            raise RefbrowserError(ErrorKind.META, message, Place(path=node.path))
        tile = np.empty(node.grid.chunk_shape, node.dtype)
        tile[...] = fill_element(node)
        tile[tuple(map(slice, node.grid.extent(chunk.coords)))] = self._values(node, chunk.coords)
        if node.dtype.hasobject:
            return object_codec("vlen-utf8", {}).encode(tile.reshape(-1)).tobytes()
        return flat_bytes(tile).tobytes()

    def _values(
        self, node: ArrayNode, coords: tuple[int, ...]
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
        ends = zip(node.grid.origin(coords), node.grid.extent(coords), strict=True)
        selection = Selection(tuple(range(at, at + side) for at, side in ends))
        return self._session.read(node, self._access, selection)
