"""Which bytes rows of nested arrays may need: known before anything is read, and never less than is read."""

from __future__ import annotations

from refbrowser.engine.nested.rows import nested_values
from refbrowser.engine.reading.found_members import known_ranges
from refbrowser.engine.reading.read_plan import ReadPlan
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.awkward0 import layouts
from refbrowser.formats.awkward0.layouts import Layout, MaskForm, SliceView, parts
from refbrowser.formats.awkward0_rows.layout_values import LayoutValues
from refbrowser.io.access import Access
from refbrowser.io.fetch import Fetcher
from refbrowser.limits import LIMITS
from refbrowser.model.nested import BufferPart, NestedValues
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline, Reference, columns_of
from refbrowser.model.selection import Selection

#: Rows of a layout; None: any of them.
_Rows = tuple[int, int] | None


def row_parts(values: LayoutValues, start: int, stop: int) -> list[BufferPart]:
    """Return the elements that rows from `start` to `stop` may need, those of each buffer together.

    What lists, indexes and tags lead to is only known once they were read: all of it is in the answer.
    """
    found: dict[int, BufferPart] = {}
    seen: set[tuple[int, tuple[str, ...], _Rows]] = set()
    pending: list[tuple[Layout, tuple[str, ...], _Rows]] = [(values.layout, values.fields, (start, stop))]
    while pending:
        item = layout, fields, rows = pending.pop()
        if (id(layout), fields, rows) in seen:
            continue
        seen.add((id(layout), fields, rows))
        if isinstance(layout, layouts.NumpyLayout):
            _add(found, layout, rows)
        pending += reversed(_below(*item))
    return list(found.values())


def _add(found: dict[int, BufferPart], layout: layouts.NumpyLayout, rows: _Rows) -> None:
    buffer = layout.buffer
    first, last = (0, buffer.count) if rows is None else (min(at, buffer.count) for at in rows)
    known = found.get(id(buffer))
    if known is not None:
        first, last = min(first, known.start), max(last, known.stop)
    found[id(buffer)] = BufferPart(buffer, first, last)


def _below(
    layout: Layout, fields: tuple[str, ...], rows: _Rows
) -> list[tuple[Layout, tuple[str, ...], _Rows]]:
    """Return the layouts right below, with the fields and rows of them that are wanted."""
    wanted = []
    before = 0
    for number, (role, part) in enumerate(parts(layout)):
        inner = fields if role.startswith(("content", "chunk")) else ()
        if role.startswith("field:"):
            if fields and role != f"field:{fields[0]}":
                continue
            inner = fields[1:]
        below = None if rows is None else _rows_below(layout, role, rows)
        if isinstance(layout, layouts.ChunkedLayout) and rows is not None and layout.sizes:
            size = layout.sizes[number] if number < len(layout.sizes) else 0
            below = max(rows[0] - before, 0), min(rows[1] - before, size)
            before += size
            if below[0] >= below[1]:
                continue
        wanted.append((part, inner, below))
    return wanted


def _rows_below(layout: Layout, role: str, rows: tuple[int, int]) -> _Rows:
    """Return which rows of a part are needed for rows of the whole; None where only reading tells."""
    start, stop = rows
    match layout, role:
        case ((layouts.ListLayout() | layouts.ByteListLayout()), ("starts" | "stops")):
            return rows
        case ((layouts.ListLayout() | layouts.ByteListLayout()), "counts"):
            return 0, stop
        case ((layouts.ListLayout() | layouts.ByteListLayout()), "offsets"):
            return start, stop + 1
        case layouts.RecordLayout(), "index":
            return rows
        case layouts.RecordLayout(view=None), _:
            return rows
        case layouts.RecordLayout(view=SliceView() as view), _:
            ends = (view.start + view.step * start, view.start + view.step * max(stop - 1, start))
            return max(min(ends), 0), max(*ends, 0) + 1
        case layouts.UnionLayout(index=None), "tags":
            return 0, stop
        case layouts.UnionLayout(), ("tags" | "index"):
            return rows
        case layouts.MaskedLayout(form=MaskForm.BITS), "mask":
            return start // 8, -(-stop // 8)
        case layouts.MaskedLayout(), ("mask" | "index"):
            return rows
        case layouts.MaskedLayout(), _:
            return None if layout.form is MaskForm.INDEX else rows
        case ((layouts.IndexedLayout() | layouts.ByteIndexedLayout()), "index"):
            return rows
        case layouts.RegularLayout(), _:
            return start * layout.size, stop * layout.size
        case ((layouts.ObjectLayout() | layouts.VirtualLayout()), _):
            return rows
    return None


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
