"""The rows of an array of Awkward 0, as views and exports read them (`NestedValues`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.nested import Buffer, BufferPart, BufferReader, NestedRows, NestedType, TypeKind
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts import layouts
from refbrowser.wings.awkward0.layouts.layouts import (
    BrokenLayout,
    Layout,
    MaskForm,
    NumpyLayout,
    RecordLayout,
    SliceView,
    length_of,
)
from refbrowser.wings.awkward0.layouts.layouts import parts as parts_of
from refbrowser.wings.awkward0.layouts.types import type_of
from refbrowser.wings.awkward0.rows.contents import READERS
from refbrowser.wings.awkward0.rows.layout_reading import Extent, Marks, Parts, Spot, again, place_of, run
from refbrowser.wings.awkward0.rows.positions import length


@dataclass(frozen=True, eq=False)
class LayoutValues:
    """Rows of a layout, or of one field of its records.

    Attributes
    ----------
    layout
        Of the whole array.
    by_number
        Layout of each expression, for links.
    fields
        Names that lead to the field, through lists and options; empty for the whole.
    marks
        What was summed up of its indexes; all arrays of a file may share it.
    measured
        How many rows there are where only the data tell (`measure`).
    kind
        The type, where that is known.
    turns
        Links that are followed at most, one after the other; None for the limit.
    """

    layout: Layout = field(repr=False)
    by_number: Mapping[int, Layout] = field(repr=False)
    fields: tuple[str, ...] = ()
    marks: Marks = field(default_factory=Marks)
    measured: int | None = None
    kind: NestedType | None = None
    turns: int | None = None

    def field(self, name: str) -> LayoutValues:
        """Return the values of a field of the records, or of those in its lists."""
        fields = (*self.fields, name)
        return replace(self, fields=fields, kind=None)

    def turned(self, turns: int) -> LayoutValues:
        """Return the same rows, in which cycles are followed for no more than so many turns."""
        return replace(self, turns=turns)

    @cached_property
    def type(self) -> NestedType:
        """The type of one row.

        Raises
        ------
        RefbrowserError
            There is no such field.
        """
        if self.kind is not None:
            return self.kind
        kind = type_of(self.layout)
        for name in self.fields:
            kind = _field_type(kind, name)
        return kind

    def linked(self, name: str) -> NestedType:
        """Return the type that links of a name in `type` lead to; it has links itself."""
        return type_of(self.by_number[int(name)])

    @cached_property
    def length(self) -> int:
        """How many rows there are.

        Raises
        ------
        RefbrowserError
            Only the data tell, or nothing does.
        """
        known = length_of(self.layout)
        if isinstance(self.layout, BrokenLayout):
            raise again(self.layout.error)
        if known is None and self.measured is None:
            message = "the schema does not give the number of rows"
            raise RefbrowserError(ErrorKind.SCHEMA, message, place_of(self.layout))
        return self.measured if known is None else known  # type: ignore[return-value]

    def measure(self, reader: BufferReader) -> int:
        """Return how many rows there are, where only the data tell: parents, for example.

        Raises
        ------
        RefbrowserError
            Nothing tells, or it cannot be read.
        """
        return int(run(length(Parts(READERS, self.by_number, self.marks), self.layout), reader))

    @cached_property
    def buffers(self) -> tuple[Buffer, ...]:
        """All that it is made from, in document order, each once."""
        found: dict[int, Buffer] = {}
        seen: set[tuple[int, tuple[str, ...]]] = set()
        pending = [(self.layout, self.fields)]
        while pending:
            layout, fields = pending.pop()
            if (id(layout), fields) in seen:
                continue
            seen.add((id(layout), fields))
            if isinstance(layout, NumpyLayout):
                found.setdefault(id(layout.buffer), layout.buffer)
            pending += reversed(_below(layout, fields))
        return tuple(found.values())

    def parts(self, start: int, stop: int) -> list[BufferPart]:
        """Return what of each buffer rows from `start` to `stop` may need."""
        return _row_parts(self.layout, self.fields, start, stop)

    def rows(self, start: int, stop: int, reader: BufferReader) -> NestedRows:
        """Return the rows from `start` to `stop`; only what these need is read.

        Raises
        ------
        RefbrowserError
            None of them can be read; `E_USAGE`: there are no such rows.
        """
        if not 0 <= start <= stop <= self.length:
            message = f"rows {start} to {stop} are requested, and there are {self.length}"
            raise RefbrowserError(ErrorKind.USAGE, message, place_of(self.layout))
        turns = AWKWARD_LIMITS.awkward_turns if self.turns is None else self.turns
        parts = Parts(READERS, self.by_number, self.marks, turns)
        spot = Spot(fields=self.fields)
        try:
            content = run(parts.content(self.layout, Extent.of(start, stop), spot), reader)
        except RecursionError:
            message = f"rows {start} to {stop} hold lists in lists too deep to be read"
            raise RefbrowserError(ErrorKind.BUDGET, message, place_of(self.layout)) from None
        except MemoryError:
            message = f"there is no memory for rows {start} to {stop}"
            raise RefbrowserError(
                ErrorKind.BUDGET, message, place_of(self.layout), "read fewer rows at a time"
            ) from None
        return NestedRows(content, tuple(parts.faults))


def _below(layout: Layout, fields: tuple[str, ...]) -> list[tuple[Layout, tuple[str, ...]]]:
    """Return the parts of a layout that a field of it needs, with the fields that these need then."""
    if not fields or not isinstance(layout, RecordLayout):
        return [
            (part, fields if role.startswith(("content", "chunk")) else ()) for role, part in parts_of(layout)
        ]
    found: list[tuple[Layout, tuple[str, ...]]] = []
    for role, part in parts_of(layout):
        if role == f"field:{fields[0]}":
            found.append((part, fields[1:]))
        elif not role.startswith("field:"):
            found.append((part, ()))
    return found


def _field_type(kind: NestedType, name: str) -> NestedType:
    if kind.kind in (TypeKind.LIST, TypeKind.OPTION):
        below = _field_type(kind.items[0], name)
        if kind.kind is TypeKind.OPTION and below.kind is TypeKind.OPTION:
            return below
        return replace(kind, items=(below,))
    if kind.kind is TypeKind.RECORD and name in kind.fields:
        return kind.items[kind.fields.index(name)]
    raise RefbrowserError(ErrorKind.SCHEMA, f"there is no field {quoted(name)}")


#: Rows of a layout; None: any of them.
_Rows = tuple[int, int] | None


def _row_parts(whole: Layout, fields: tuple[str, ...], start: int, stop: int) -> list[BufferPart]:
    """Return the elements that rows from `start` to `stop` may need, those of each buffer together.

    What lists, indexes and tags lead to is only known once they were read: all of it is in the answer.
    """
    found: dict[int, BufferPart] = {}
    seen: set[tuple[int, tuple[str, ...], _Rows]] = set()
    pending: list[tuple[Layout, tuple[str, ...], _Rows]] = [(whole, fields, (start, stop))]
    while pending:
        item = layout, names, rows = pending.pop()
        if (id(layout), names, rows) in seen:
            continue
        seen.add((id(layout), names, rows))
        if isinstance(layout, NumpyLayout):
            _add(found, layout, rows)
        pending += reversed(_wanted_below(*item))
    return list(found.values())


def _add(found: dict[int, BufferPart], layout: NumpyLayout, rows: _Rows) -> None:
    buffer = layout.buffer
    first, last = (0, buffer.count) if rows is None else (min(at, buffer.count) for at in rows)
    known = found.get(id(buffer))
    if known is not None:
        first, last = min(first, known.start), max(last, known.stop)
    found[id(buffer)] = BufferPart(buffer, first, last)


def _wanted_below(
    layout: Layout, fields: tuple[str, ...], rows: _Rows
) -> list[tuple[Layout, tuple[str, ...], _Rows]]:
    """Return the layouts right below, with the fields and rows of them that are wanted."""
    wanted = []
    before = 0
    for number, (role, part) in enumerate(parts_of(layout)):
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
        case RecordLayout(), "index":
            return rows
        case RecordLayout(view=None), _:
            return rows
        case RecordLayout(view=SliceView() as view), _:
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
