"""Builds tables and vectors (persistence notes, section 3)."""

from __future__ import annotations

from typing import Any

from refbrowser.errors import quoted
from refbrowser.formats.awkward0.building_call import Call, wrong
from refbrowser.formats.awkward0.layouts import (
    BrokenLayout,
    Layout,
    ListLayout,
    MaskedLayout,
    NumpyLayout,
    ObjectLayout,
    RecordLayout,
    RegularLayout,
    SliceView,
    VirtualLayout,
)
from refbrowser.formats.awkward0.lengths import length_of
from refbrowser.limits import LIMITS

#: Arguments of the constructors of vectors, which are their fields.
VECTOR_FIELDS = {
    "TVector2Array.from_cartesian": ("x", "y"),
    "TVector3Array.from_cartesian": ("x", "y", "z"),
    "TLorentzVectorArray.from_cartesian": ("x", "y", "z", "t"),
    "TLorentzVectorArray.from_ptetaphim": ("pt", "eta", "phi", "mass"),
}


def table(call: Call) -> RecordLayout:
    """Build ``Table(columns, ...)``: a dict, or arrays that are named by their number; keywords beside."""
    fields: list[tuple[str, Layout]] = []
    if call.has("columns1"):
        number = call.numbers["columns1"]
        meaning = call.meaning("columns1")
        if isinstance(meaning, Layout):
            columns = [meaning, *(call.meanings.layout(each) for each in call.extra)]
            fields += [(str(at), column) for at, column in enumerate(columns)]
        elif call.extra:
            raise wrong(f"{call.name} has columns beside a dict")
        else:
            fields += call.meanings.named_layouts_in(number)
    fields += [(name, call.meanings.layout(number)) for name, number in call.keywords]
    return RecordLayout(**call.common, fields=_unique(call, fields))


def table_from_pairs(call: Call) -> RecordLayout:
    """Build ``Table.frompairs``; `rowstart` only changes labels of rows."""
    call.integer("rowstart", 0)
    return RecordLayout(**call.common, fields=_unique(call, call.named_layouts("pairs")))


def _unique(call: Call, fields: list[tuple[str, Layout]]) -> tuple[tuple[str, Layout], ...]:
    """Return the columns; of equal names the last counts, as in the old library."""
    if any(len(name) > LIMITS.key_length for name, _ in fields):
        raise wrong(f"a column of {call.name} has too long a name")
    return tuple(dict(fields).items())


def table_from_view(call: Call) -> RecordLayout:
    """Build ``Table.fromview``: rows start, start + step... of a table, or those of an index."""
    base = call.layout("base")
    if isinstance(base, BrokenLayout):
        raise base.error
    if not isinstance(base, RecordLayout) or base.view is not None or base.is_jagged:
        raise wrong(f"'base' of {call.name} is not a whole table")
    return RecordLayout(**call.common, fields=base.fields, view=_view(call, length_of(base)))


def _view(call: Call, rows: int | None) -> SliceView | Layout | None:
    meaning = call.meaning("view")
    if isinstance(meaning, Layout):
        return call.flat("view")
    value = call.plain("view", None)
    if value is None:
        return None
    if isinstance(value, list | tuple) and len(value) == 3 and all(type(each) is int for each in value):
        return _slice(call, SliceView(*value), rows)
    raise wrong(f"'view' of {call.name} is neither (start, step, length) nor an array: {quoted(value)}")


def _slice(call: Call, view: SliceView, rows: int | None) -> SliceView:
    last = view.start + view.step * (view.length - 1)
    ends = (view.start, last) if view.length else ()
    if view.length < 0 or (rows is not None and any(not 0 <= end < rows for end in ends)):
        message = f"{view.length} rows from {view.start} in steps of {view.step}"
        raise wrong(f"'view' of {call.name} has {message}, and its table {rows}")
    return view


def table_from_records(call: Call) -> Layout:
    """Build ``Table.fromrec``: a basic array with fields is one of records already."""
    layout = call.layout("recarray")
    if isinstance(layout, BrokenLayout):
        raise layout.error
    if not isinstance(layout, NumpyLayout) or layout.buffer.dtype.names is None:
        raise wrong(f"'recarray' of {call.name} has no fields")
    return layout


def vectors(call: Call) -> RecordLayout:
    """Build arrays of vectors; with jagged arguments they are lists of vectors."""
    names = tuple(call.numbers)
    fields = tuple((name, call.layout(name)) for name in VECTOR_FIELDS[call.name])
    if len(names) != len(fields):
        raise wrong(f"{call.name} has {len(names)} arguments, not {len(fields)}")
    jagged = {_is_jagged(field) for _, field in fields if not isinstance(field, BrokenLayout)}
    if len(jagged) > 1:
        raise wrong(f"some arguments of {call.name} are lists and some are not")
    return RecordLayout(
        **call.common, fields=fields, name=call.name.partition(".")[0], is_jagged=jagged == {True}
    )


def _is_jagged(layout: Any) -> bool:
    while isinstance(layout, MaskedLayout | ObjectLayout | VirtualLayout) and layout.content is not None:
        layout = layout.content
    return isinstance(layout, ListLayout | RegularLayout)
