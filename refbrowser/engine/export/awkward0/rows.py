"""Reading the rows of one array, in blocks, into what it is written as."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from refbrowser.engine.export.awkward0.arrays import PlannedArray
from refbrowser.engine.export.awkward0.blocks import blocks_of
from refbrowser.engine.export.nested.row_reading import RowReader, RowSource
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.awkward0.writing.feeding import feed
from refbrowser.formats.awkward0.writing.parts import Part


def add_rows(reader: RowReader, array: PlannedArray, part: Part, done: Callable[[], None]) -> None:
    """Add all rows of an array; `done` is called after each block.

    Raises
    ------
    RefbrowserError
        Some cannot be read.
    Cancelled
        The export was cancelled.
    """
    for start, stop in blocks_of(array.source):
        for content in contents(reader, array.source, start, stop):
            feed(part, content)
        done()


def contents(reader: RowReader, source: RowSource, start: int, stop: int) -> Iterator[Any]:
    """Yield rows in order: all together, or some at a time where they are too many to be held.

    Raises
    ------
    RefbrowserError
        Some cannot be read.
    """
    try:
        block = reader.read(source, start, stop)
    except RefbrowserError as error:
        if error.kind is not ErrorKind.BUDGET or stop - start < 2:
            raise
        middle = (start + stop) // 2
        yield from contents(reader, source, start, middle)
        yield from contents(reader, source, middle, stop)
        return
    if block.errors:
        raise block.errors[0]
    yield block.content
