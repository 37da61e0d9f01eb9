"""Which bytes rows of nested arrays may need: known before anything is read, and never less than is read."""

from __future__ import annotations

from refbrowser.engine.members import known_ranges
from refbrowser.engine.nested.reading import nested_values
from refbrowser.engine.read_plan import ReadPlan
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.awkward0.row_parts import row_parts
from refbrowser.formats.awkward0_rows.layout_values import LayoutValues
from refbrowser.io.access import Access
from refbrowser.io.fetch import Fetcher
from refbrowser.limits import LIMITS
from refbrowser.model.nested import BufferPart, NestedValues
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline, Reference, columns_of
from refbrowser.model.selection import Selection

#: Bytes of a row in memory, at least.
_LEAST = 8


def plan_rows(fetcher: Fetcher, node: ArrayNode, access: Access, selection: Selection) -> ReadPlan:
    """Plan the reading of rows: with all that lists and indexes among them may lead to.

    Raises
    ------
    RefbrowserError
        The array is not readable.
    """
    values = nested_values(node)
    rows = selection.axes[0]
    start, stop = (min(rows[0], rows[-1]), max(rows[0], rows[-1]) + 1) if len(rows) else (0, 0)
    references = [reference_of(part) for part in buffer_parts(values, start, stop)]
    fetched = [each for each in references if not isinstance(each, Inline)]
    ranges = fetcher.plan(known_ranges(columns_of(fetched), access), access)
    return ReadPlan(
        ranges,
        useful_bytes=ranges.useful_bytes,
        wasted_bytes=ranges.wasted_bytes,
        chunks=node.grid.count(selection),
        missing_chunks=0,
        inline_chunks=0,
        faulty_chunks=0,
    )


def rows_question(node: ArrayNode, selection: Selection) -> RefbrowserError | None:
    """Return what to ask before rows are read that are very many, or large; None where they are not.

    A row counts with what the array has for each on average, and what a value takes at least: rows of sparse
    arrays and of lists that overlap take no bytes of a file.
    """
    values = nested_values(node)
    stored = sum(buffer.nbytes for buffer in values.buffers)
    rows = len(selection.axes[0]) if selection.axes else 1
    size = rows * max(_LEAST, stored // max(node.shape[0] if node.shape else 1, 1))
    if size <= LIMITS.awkward_question:
        return None
    message = f"{rows} rows take about {size} bytes and more, more than {LIMITS.awkward_question}"
    return RefbrowserError(
        ErrorKind.BUDGET,
        f"{message} (awkward_question)",
        Place(path=node.path),
        "give --yes to read them all the same, or select fewer",
    )


def buffer_parts(values: NestedValues, start: int, stop: int) -> list[BufferPart]:
    """Return what of each buffer rows from `start` to `stop` may need."""
    if start >= stop:
        return []
    if isinstance(values, LayoutValues):
        found = row_parts(values, start, stop)
    else:
        found = [BufferPart(buffer, 0, buffer.count) for buffer in values.buffers]
    return [part for part in found if part.nbytes]


def reference_of(part: BufferPart) -> Reference:
    """Return where the stored bytes of elements are; all of what can only be decoded as a whole."""
    buffer = part.buffer
    if buffer.codecs or isinstance(buffer.reference, Inline):
        return buffer.reference
    start = buffer.offset + part.start * buffer.dtype.itemsize
    base = buffer.reference.offset if isinstance(buffer.reference, ByteRange) else 0
    url = getattr(buffer.reference, "url", "")
    return ByteRange(url, base + start, part.nbytes)
