"""The rows of one or more arrays, side by side, in blocks that can be held."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.nested.row_reading import RowReader, RowSource


def row_blocks(
    reader: RowReader,
    sources: Sequence[RowSource],
    rows: int,
    size: int,
    bad: Callable[[Sequence[RefbrowserError]], None],
) -> Iterator[tuple[list[Any], int]]:
    """Yield the contents of all arrays for some rows, and how many rows these are, in order.

    Parameters
    ----------
    sources
        All of the same length.
    rows
        To be read together; fewer where these are too many to be held.
    size
        Bytes of a block, about.
    bad
        Told what could not be read; may raise it.

    Raises
    ------
    RefbrowserError
        Something cannot be read at all.
    Cancelled
        The export was cancelled.
    """
    start, length = 0, sources[0].length
    while start < length:
        stop = min(start + rows, length)
        try:
            blocks = [reader.read(source, start, stop) for source in sources]
        except RefbrowserError as error:
            if error.kind is not ErrorKind.BUDGET or stop - start == 1:
                raise
            rows = (stop - start) // 2
            continue
        for block in blocks:
            bad(block.errors)
        yield [block.content for block in blocks], stop - start
        start = stop
        if sum(block.content.nbytes for block in blocks) > 2 * size:
            # Rows differ in length: those that follow are likely as long.
            rows = max(1, rows // 2)
