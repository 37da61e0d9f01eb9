"""The inner chunks of the shards of an array as the chunks of an array: a level of the chunk map."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import ShardLayout
from refbrowser.engine.reading.inner_chunks import Table, read_tables, told_by
from refbrowser.errors import RefbrowserError
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.model.values import ChunkManifest

if TYPE_CHECKING:
    from refbrowser.engine.reading.resources import Resources
    from refbrowser.io.access.access import Access

Ints = npt.NDArray[np.int64]

#: Entries of indexes that are kept.
_KEPT = 4_000_000
#: Shards whose indexes are read together.
_TOGETHER = 512


def shard_layout(node: ArrayNode) -> ShardLayout | None:
    """Return how the shards of an array are divided; None where it has none, or where that cannot be said.

    Shards whose axes are in another order than those of the array have no inner chunks of the array.
    """
    if node.error is not None or not node.has_manifest or not isinstance(node.grid, RegularChunkGrid):
        return None
    try:
        layout = CodecPipeline.for_array(node, node.grid.chunk_shape).shard
    except RefbrowserError:
        return None
    return layout if layout is not None and layout.grid.shape == node.grid.chunk_shape else None


class InnerManifest:
    """The inner chunks of an array; indexes of shards are read as they are asked for, and kept.

    Parameters
    ----------
    shards
        The references of the shards.
    """

    def __init__(
        self,
        shards: ChunkManifest,
        grid: RegularChunkGrid,
        layout: ShardLayout,
        session: Resources,
        access: Access,
    ) -> None:
        self._shards, self._layout, self._session, self._access = shards, layout, session, access
        self.grid_shape = grid.grid_shape
        self._tables: dict[tuple[int, ...], Table] = {}

    def shard_of(self, coords: tuple[int, ...]) -> tuple[int, ...]:
        """Return the coordinates of the shard that an inner chunk is in."""
        return tuple(at // count for at, count in zip(coords, self._layout.grid.grid_shape, strict=True))

    def first_in(self, shard: tuple[int, ...]) -> tuple[int, ...]:
        """Return the coordinates of the first inner chunk of a shard."""
        return tuple(at * count for at, count in zip(shard, self._layout.grid.grid_shape, strict=True))

    def key(self, coords: tuple[int, ...]) -> str:
        """Return the key of the shard: inner chunks have none."""
        return self._shards.key(self.shard_of(coords))

    def columns(self, coords: Ints) -> ReferenceColumns:
        """Return the references of inner chunks at `coords`, shape (n, ndim); indexes are read for it."""
        units = self._layout.grid.grid_shape
        shards, sources = np.unique(coords // np.array(units, np.int64), axis=0, return_inverse=True)
        columns = self._shards.columns(shards)
        tables = self._known(shards, columns)
        numbers = np.ravel_multi_index(tuple((coords % np.array(units)).T), units) if units else [0]
        return told_by(columns, sources.reshape(-1), np.asarray(numbers, np.int64), tables)

    def _known(self, shards: Ints, columns: ReferenceColumns) -> dict[int, Table]:
        """Return the index of each shard by its row; those that are not kept are read."""
        places = [tuple(place) for place in shards.tolist()]
        new = [row for row, place in enumerate(places) if place not in self._tables]
        found: dict[int, Table] = {}
        for start in range(0, len(new), _TOGETHER):
            some = np.array(new[start : start + _TOGETHER], np.int64)
            part = self._shards.columns(shards[some])
            read = read_tables(part, self._layout, self._fetch, self._total_of)
            found |= {int(some[row]): self._of_object(table) for row, table in read.items()}
        if len(self._tables) * self._layout.grid.size > _KEPT:
            self._tables.clear()
        kept = {row: self._tables[place] for row, place in enumerate(places) if place in self._tables}
        self._tables |= {places[row]: table for row, table in found.items()}
        return kept | found

    def _of_object(self, table: Table) -> Table:
        """Return that an object that the store does not have holds nothing."""
        if isinstance(table, RefbrowserError) and self._access.is_missing(table):
            return np.full((self._layout.grid.size, 2), (-1, 0), np.int64)
        return table

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return that nothing is known before indexes are read."""
        return np.full(self.grid_shape, ReferenceKind.MISSING, np.uint8)

    def stored(self) -> int | None:
        """Return None: only indexes tell."""
        return None

    def _fetch(self, columns: ReferenceColumns) -> list[bytes | RefbrowserError]:
        return self._session.fetch_all(columns, self._access)

    def _total_of(self, url: str) -> int | None:
        known = self._access.memory.identities.known(self._access.locate(url).url)
        return None if known is None else known.total


def inner_node(node: ArrayNode, session: Resources, access: Access) -> ArrayNode | None:
    """Return an array whose chunks are the inner chunks of its shards; None where it has no shards."""
    layout = shard_layout(node)
    if layout is None:
        return None
    grid = RegularChunkGrid(node.shape, layout.grid.chunk_shape)
    manifest = InnerManifest(node.manifest, grid, layout, session, access)
    return replace(node, values=replace(node.chunks, grid=grid, manifest=manifest))
