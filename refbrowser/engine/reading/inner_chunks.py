"""Where inner chunks are, by the indexes of their shards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.sharding import ShardLayout
from refbrowser.engine.reading.shards import FetchAll, TotalOf, inner_columns, shard_tables
from refbrowser.errors import RefbrowserError
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

Ints = npt.NDArray[np.int64]


def inner_references(
    columns: ReferenceColumns,
    sources: Ints,
    numbers: Ints,
    shard: ShardLayout,
    fetch: FetchAll,
    total_of: TotalOf,
) -> ReferenceColumns:
    """Return the references of inner chunks.

    Parameters
    ----------
    columns
        The references of some shards.
    sources, numbers
        Of each inner chunk: the row of its shard in `columns`, and its number in it, in C order.
    """
    tables = read_tables(columns, shard, fetch, total_of)
    return told_by(columns, sources, numbers, tables)


Table = Ints | RefbrowserError


def read_tables(
    columns: ReferenceColumns, shard: ShardLayout, fetch: FetchAll, total_of: TotalOf
) -> dict[int, Table]:
    """Return offset and length of each inner chunk by the row of its shard, or why they are not known."""
    remote = np.flatnonzero((columns.kind == ReferenceKind.RANGE) | (columns.kind == ReferenceKind.WHOLE))
    tables: dict[int, Table] = {**shard_tables(columns, remote, shard, fetch, total_of)}
    tables |= {row: _inline_table(data, shard) for row, data in columns.inline.items()}
    return tables | dict(columns.faults)


def told_by(
    columns: ReferenceColumns, sources: Ints, numbers: Ints, tables: Mapping[int, Table]
) -> ReferenceColumns:
    """Return the references of inner chunks that tables tell of, as `inner_references` does."""
    extents: list[tuple[int, int]] = []
    faults: dict[int, RefbrowserError] = {}
    inline: dict[int, bytes] = {}
    for row, (source, number) in enumerate(zip(sources.tolist(), numbers.tolist(), strict=True)):
        table = tables.get(source)
        offset, size = -1, 0
        if isinstance(table, RefbrowserError):
            faults[row] = table
        elif table is not None:
            offset, size = table[number].tolist()
        extents.append((offset, size))
        if source in columns.inline and offset >= 0:
            inline[row] = bytes(columns.inline[source][offset : offset + size])
    found = inner_columns(columns, sources.tolist(), extents, faults)
    found.kind[list(inline)] = ReferenceKind.INLINE
    return replace(found, inline=inline)


def _inline_table(data: bytes, shard: ShardLayout) -> Table:
    try:
        start, stop = shard.index_range(len(data))
        return shard.inner_ranges(data[start:stop], len(data))
    except RefbrowserError as error:
        return error
