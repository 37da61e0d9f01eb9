"""Indexes of shards that were read before: a second slice of a shard reads its inner chunks alone."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.engine.chunk_cache import ChunkCache
from refbrowser.errors import RefbrowserError
from refbrowser.model.reference import ReferenceColumns

if TYPE_CHECKING:
    from refbrowser.io.access import Access

#: Offset and length of each inner chunk.
Index = npt.NDArray[np.int64]


class ShardMemory:
    """The indexes of the shards of one read, in the cache that all reads share.

    That a shard is still the object whose index is kept is found when its inner chunks are read: an object
    that changed is an error there.

    Parameters
    ----------
    how
        What decoding an index depends on.
    """

    def __init__(self, cache: ChunkCache, access: Access, how: Hashable) -> None:
        self._cache = cache
        self._access = access
        self._how = how

    def get(self, columns: ReferenceColumns, row: int) -> Index | None:
        """Return the index of the shard at `row`, or None where it must be read."""
        key = self._key(columns, row)
        return None if key is None else self._cache.get(key)  # type: ignore[return-value]

    def put(self, columns: ReferenceColumns, row: int, index: Index) -> None:
        """Keep the index of the shard at `row`."""
        key = self._key(columns, row)
        if key is not None:
            self._cache.put(key, index)

    def _key(self, columns: ReferenceColumns, row: int) -> Hashable | None:
        """Return the key of a shard that may be read: permission is asked before the cache is."""
        try:
            url = self._access.resolve(columns.urls[columns.url[row]]).url
        except RefbrowserError:
            return None
        extent = int(columns.kind[row]), int(columns.offset[row]), int(columns.length[row])
        return (self._access.scope, "index", url, *extent, self._how)
