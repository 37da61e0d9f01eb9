"""Reading inner chunks of shards alone: first the indexes, which are kept, then what is wanted."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import ShardLayout
from refbrowser.engine.reading.resources import ChunkCache
from refbrowser.engine.reading.wanted_ranges import WHOLE_LIMIT, Wanted, rows_of
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.grid import ChunkPart
from refbrowser.model.reference import ReferenceColumns, ReferenceKind, taken
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access


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


#: Reads the bytes of each row, or tells why they could not be had.
FetchAll = Callable[[ReferenceColumns], list["bytes | RefbrowserError"]]
#: Tells the size of an object that was read from before; None where it is not known.
TotalOf = Callable[[str], "int | None"]


def open_shards(
    shards: Wanted, fetch: FetchAll, total_of: TotalOf, memory: ShardMemory | None = None
) -> list[Wanted]:
    """Return what must be read instead of `shards`: some of them whole, and inner chunks of the others.

    Indexes that `memory` has are not read again.
    """
    layout = shards.pipeline.shard
    assert layout is not None
    assert isinstance(layout.inner, CodecPipeline)
    kinds = shards.columns.kind
    remote = (kinds == ReferenceKind.RANGE) | (kinds == ReferenceKind.WHOLE)
    small = shards.pipeline.decoded_size <= WHOLE_LIMIT
    opened = np.array([not (part.whole and small) for part in shards.parts], bool)
    # One that holds more than its chunks: what others replaced is not read.
    opened |= (kinds == ReferenceKind.RANGE) & (shards.columns.length > shards.pipeline.stored_most)
    opened &= remote
    rows = np.flatnonzero(opened)
    if not len(rows):
        return [shards]
    whole = rows_of(shards, np.flatnonzero(~opened))
    kept = {} if memory is None else _kept_tables(shards.columns, rows, memory)
    others = np.array([row for row in rows.tolist() if row not in kept], np.int64)
    found = shard_tables(shards.columns, others, layout, fetch, total_of)
    for row, index in found.items():
        if memory is not None and not isinstance(index, RefbrowserError):
            memory.put(shards.columns, row, index)
    indexes = {**kept, **found}
    inner = _inner_chunks(shards, rows, indexes, layout, layout.inner)
    return [inner] if not len(whole.parts) else [whole, inner]


def _kept_tables(
    columns: ReferenceColumns, rows: npt.NDArray[np.int64], memory: ShardMemory
) -> dict[int, npt.NDArray[np.int64]]:
    found = ((row, memory.get(columns, row)) for row in rows.tolist())
    return {row: index for row, index in found if index is not None}


def shard_tables(
    columns: ReferenceColumns,
    rows: npt.NDArray[np.int64],
    layout: ShardLayout,
    fetch: FetchAll,
    total_of: TotalOf,
) -> dict[int, npt.NDArray[np.int64] | RefbrowserError]:
    """Return offset and length of every inner chunk in its shard, for the shards at `rows`, or why not."""
    if not len(rows):
        return {}
    sizes = _sizes(columns, rows, fetch, total_of)
    return _indexes(columns, rows, sizes, layout, fetch)


def _sizes(
    columns: ReferenceColumns, rows: npt.NDArray[np.int64], fetch: FetchAll, total_of: TotalOf
) -> dict[int, int | RefbrowserError]:
    """Return the number of bytes of each shard; a whole object tells its own when any of it is read."""
    sizes: dict[int, int | RefbrowserError] = {
        row: int(columns.length[row]) for row in rows.tolist() if columns.kind[row] == ReferenceKind.RANGE
    }
    unknown = [row for row in rows.tolist() if row not in sizes]
    if not unknown:
        return sizes
    first_bytes = replace(
        taken(columns, np.array(unknown, np.int64)),
        kind=np.full(len(unknown), ReferenceKind.RANGE, np.uint8),
        offset=np.zeros(len(unknown), np.int64),
        length=np.ones(len(unknown), np.int64),
    )
    for row, answer in zip(unknown, fetch(first_bytes), strict=True):
        if isinstance(answer, RefbrowserError):
            sizes[row] = answer
        else:
            total = total_of(columns.urls[columns.url[row]])
            sizes[row] = _size_unknown() if total is None else total
    return sizes


def _size_unknown() -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.SOURCE, "the size of the shard is not known, so its index cannot be found"
    )


def _indexes(
    columns: ReferenceColumns,
    rows: npt.NDArray[np.int64],
    sizes: dict[int, int | RefbrowserError],
    layout: ShardLayout,
    fetch: FetchAll,
) -> dict[int, npt.NDArray[np.int64] | RefbrowserError]:
    """Return offset and length of every inner chunk, per shard."""
    outcomes: dict[int, npt.NDArray[np.int64] | RefbrowserError] = {}
    begins: dict[int, int] = {}
    for row in rows.tolist():
        try:
            begins[row] = _index_begin(columns, row, sizes[row], layout)
        except RefbrowserError as error:
            outcomes[row] = error
    asked = list(begins)
    indexes = replace(
        taken(columns, np.array(asked, np.int64)),
        kind=np.full(len(asked), ReferenceKind.RANGE, np.uint8),
        offset=np.array(list(begins.values()), np.int64),
        length=np.full(len(asked), layout.index_size, np.int64),
    )
    for row, answer in zip(asked, fetch(indexes), strict=True):
        size = sizes[row]
        assert isinstance(size, int)
        try:
            if isinstance(answer, RefbrowserError):
                raise answer
            outcomes[row] = layout.inner_ranges(answer, size)
        except RefbrowserError as error:
            outcomes[row] = error
    return outcomes


def _index_begin(
    columns: ReferenceColumns, row: int, size: int | RefbrowserError, layout: ShardLayout
) -> int:
    """Return the first byte of the index of a shard in its object."""
    if isinstance(size, RefbrowserError):
        raise size
    base = int(columns.offset[row]) if columns.kind[row] == ReferenceKind.RANGE else 0
    if base + size > np.iinfo(np.int64).max:
        raise RefbrowserError(ErrorKind.RANGE, "the range is beyond the end of any object")
    return base + layout.index_range(size)[0]


def _inner_chunks(
    shards: Wanted,
    rows: npt.NDArray[np.int64],
    indexes: dict[int, npt.NDArray[np.int64] | RefbrowserError],
    layout: ShardLayout,
    pipeline: CodecPipeline,
) -> Wanted:
    """Return the wanted inner chunks of the shards at `rows`."""
    parts: list[ChunkPart] = []
    sources: list[int] = []
    extents: list[tuple[int, int]] = []
    faults: dict[int, RefbrowserError] = {}
    for row in rows.tolist():
        part, index = shards.parts[row], indexes[row]
        if isinstance(index, RefbrowserError):
            faults[len(parts)] = index
            parts.append(part)
            sources.append(row)
            extents.append((-1, 0))
            continue
        table = index.reshape(*layout.grid.grid_shape, 2)
        for inner in layout.grid.parts(_within(part, shards.pipeline.shape)):
            parts.append(inner._replace(target=_shifted(inner.target, part.target)))
            sources.append(row)
            offset, length = table[inner.coords].tolist()
            extents.append((offset, length))
    owners = [shards.owners[row] for row in sources]
    columns = inner_columns(shards.columns, sources, extents, faults)
    return Wanted(pipeline, parts, owners, columns, fill_value=layout.fill_value)


def _within(part: ChunkPart, shape: tuple[int, ...]) -> Selection:
    return Selection(
        tuple(range(*taken.indices(side)) for taken, side in zip(part.inside, shape, strict=True))
    )


def _shifted(target: tuple[slice, ...], frame: tuple[slice, ...]) -> tuple[slice, ...]:
    """Return `target` within `frame`; leading entries of a frame with more axes stay."""
    more = len(frame) - len(target)
    moved = (
        slice(outer.start + inner.start, outer.start + inner.stop)
        for inner, outer in zip(target, frame[more:], strict=True)
    )
    return (*frame[:more], *moved)


def inner_columns(
    columns: ReferenceColumns,
    sources: list[int],
    extents: list[tuple[int, int]],
    faults: dict[int, RefbrowserError],
) -> ReferenceColumns:
    """Return the references of inner chunks.

    Parameters
    ----------
    sources
        For each the row of its shard in `columns`.
    extents
        For each offset and length in the shard; a negative offset is a missing chunk.
    faults
        Why chunks cannot be read, by number.
    """
    rows = np.array(sources, np.int64)
    inside = np.array(extents, np.int64).reshape(-1, 2)
    base = np.where(columns.kind[rows] == ReferenceKind.RANGE, columns.offset[rows], 0)
    kind = np.where(inside[:, 0] < 0, ReferenceKind.MISSING, ReferenceKind.RANGE).astype(np.uint8)
    kind[list(faults)] = ReferenceKind.FAULTY
    return ReferenceColumns(
        kind, columns.url[rows], base + inside[:, 0], inside[:, 1], columns.urls, faults=faults
    )
