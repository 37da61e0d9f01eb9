"""Which rows of an array are read together."""

from __future__ import annotations

from collections.abc import Iterator

from refbrowser.exporting.nested.row_reading import RowSource

#: Bytes of the rows that are read together, about.
BLOCK = 32 * 1024 * 1024


def blocks_of(source: RowSource) -> Iterator[tuple[int, int]]:
    """Yield the rows that are read together: first, and the one behind the last."""
    rows = max(1, BLOCK // source.row_bytes)
    if rows > source.unit:
        rows -= rows % source.unit
    for start in range(0, source.length, rows):
        yield start, min(start + rows, source.length)
