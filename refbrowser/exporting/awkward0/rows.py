"""Reading the rows of one array, in blocks, into what it is written as."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.awkward0.arrays import PlannedArray
from refbrowser.exporting.awkward0.blocks import blocks_of
from refbrowser.exporting.nested.row_reading import RowBlock, RowReader, RowSource
from refbrowser.formats.awkward0.writing.feeding import feed
from refbrowser.formats.awkward0.writing.parts import Part

#: Takes note of what cannot be read, or raises it.
TakeBad = Callable[[RefbrowserError], None]


class NoRoomError(Exception):
    """Fields are missing where a type has no room for missing ones; `paths` tell where (`NestedFault`)."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        super().__init__(paths)
        self.paths = paths


def add_rows(
    reader: RowReader, array: PlannedArray, part: Part, done: Callable[[], None], bad: TakeBad
) -> None:
    """Add all rows of an array; `done` is called after each block.

    What cannot be read of rows is missing in them, where `bad` does not raise and the type has room for it.

    Raises
    ------
    NoRoomError
        Fields of rows are missing, and the type has no room for that.
    RefbrowserError
        Some cannot be read.
    Cancelled
        The export was cancelled.
    """
    for start, stop in blocks_of(array.source):
        for block in row_blocks(reader, array.source, start, stop):
            for error in block.errors:
                bad(error)
            try:
                feed(part, block.content)
            except RefbrowserError as error:
                # An array of which rows cannot be read is left out, a field is missing in its rows.
                if block.unread and all(block.unread):
                    raise NoRoomError(block.unread) from error
                raise (block.errors or [error])[0] from error
        done()


def row_blocks(reader: RowReader, source: RowSource, start: int, stop: int) -> Iterator[RowBlock]:
    """Yield rows in order: all together, or some at a time where they are too many to be held.

    Raises
    ------
    RefbrowserError
        None of some can be read.
    """
    try:
        block = reader.read(source, start, stop)
    except RefbrowserError as error:
        if error.kind is not ErrorKind.BUDGET or stop - start < 2:
            raise
        middle = (start + stop) // 2
        yield from row_blocks(reader, source, start, middle)
        yield from row_blocks(reader, source, middle, stop)
        return
    yield block
