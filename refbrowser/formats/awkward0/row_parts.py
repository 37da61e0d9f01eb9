"""What of each buffer rows may need, as far as that is known before anything is read."""

from __future__ import annotations

from refbrowser.formats.awkward0 import layouts
from refbrowser.formats.awkward0.layouts import Layout, MaskForm, SliceView, parts
from refbrowser.formats.awkward0_rows.layout_values import LayoutValues
from refbrowser.model.nested import BufferPart

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
