"""Reading nested arrays as others are read: chunks of rows, as numpy arrays of the type shown.

Which bytes rows may need is known before anything is read, and is never less than is read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.nested.python_values import check_number, edges_of, python_values
from refbrowser.engine.nested.rows import nested_values, read_rows, unread_error
from refbrowser.engine.reading.parts import Parts
from refbrowser.engine.reading.reader import Batch, Needed, Reader, Reading
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.awkward0 import layouts
from refbrowser.formats.awkward0.layouts import Layout, MaskForm, SliceView, parts
from refbrowser.formats.awkward0_rows.layout_values import LayoutValues
from refbrowser.io.access import Access
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import RowType
from refbrowser.model.dtypes import members_of
from refbrowser.model.exact_numbers import is_exact
from refbrowser.model.nested import BufferPart, NestedValues
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import (
    ByteRange,
    Inline,
    Reference,
    ReferenceColumns,
    columns_of,
)
from refbrowser.model.selection import Selection


def elements(node: ArrayNode, content: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return rows as an array, shape ``(rows, *node.shape[1:])``.

    Numbers that may be missing are NaN or NaT; in an array of objects they are None. Lists of numbers of a
    length of their own are arrays, and all else are Python values.

    Parameters
    ----------
    dtype
        That of the node, or object where the node has one dimension.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: written out they are too many; `E_DECODE`: they are not of the type that was told.
    """
    if not dtype.hasobject:
        return _plain(node, content)
    values = rows_of(content) if isinstance(node.type, RowType) else None
    if values is None:
        values = python_values(content)
    else:
        check_number(content)
    made = np.empty(len(values), object)
    for at, value in enumerate(values):
        made[at] = value
    return made


def _plain(node: ArrayNode, content: Any) -> npt.NDArray[Any]:
    import awkward

    dtype = node.known_dtype
    shape = (content.length, *node.shape[1:])
    if not content.length or content.is_unknown:
        return np.zeros(shape, dtype)
    if dtype.names is not None:
        return _structures(content, dtype)
    try:
        values = awkward.to_numpy(content)
        if isinstance(values, np.ma.MaskedArray):
            values = with_missing(values, dtype)
        if values.shape != shape or not np.can_cast(values.dtype, dtype, "same_kind"):
            raise ValueError(f"shape {values.shape} of {values.dtype}")
        return np.asarray(values.astype(dtype, copy=False))
    except (TypeError, ValueError) as error:
        message = f"the rows are not of the declared type: {quoted(error)}"
        raise RefbrowserError(ErrorKind.DECODE, message, Place(path=node.path)) from None


def _structures(content: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return records of numbers as structures."""
    import awkward

    made = np.empty(content.length, dtype)
    for name, _ in members_of(dtype):
        made[name] = awkward.to_numpy(content.content(name)[: content.length], allow_missing=False)
    return made


def with_missing(values: np.ma.MaskedArray[Any, Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return numbers with NaN (or NaT) where they are missing."""
    missing = np.ma.getmaskarray(values)
    made = np.asarray(values.data).astype(dtype)
    if not is_exact(values.data[~missing], made[~missing]):
        raise RefbrowserError(
            ErrorKind.DECODE,
            f"an integer beside missing values is too large for {dtype}, which marks them by NaN",
            advice="values as --json and the tab Values have no such limit",
        )
    if missing.any():
        made[missing] = np.array("NaT", dtype) if dtype.kind in "mM" else np.nan
    return made


def rows_of(content: Any) -> list[npt.NDArray[Any]] | None:
    """Return lists of numbers as one array each; None where they are something else."""
    if not content.is_list or not (content.content.is_numpy or content.content.is_unknown):
        return None
    data = np.asarray(content.content.data) if content.content.is_numpy else np.zeros(0)
    if data.ndim != 1:
        return None
    starts, stops = edges_of(content)
    return [data[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]


#: Bytes of a row in memory, at least.
_LEAST = 8


class RowReading(Reading):
    """How an array whose elements are nested is read."""

    def batch(self, reader: Reader, parts: Parts, start: int, stop: int) -> RowBatch:
        """Return what reads the parts from `start` to `stop`."""
        return RowBatch(reader, parts, start, stop)

    def needed(self, access: Access, selection: Selection) -> Needed:
        """Return what rows need: with all that lists and indexes among them may lead to."""
        values = nested_values(self.node)
        rows = selection.axes[0]
        start, stop = (min(rows[0], rows[-1]), max(rows[0], rows[-1]) + 1) if len(rows) else (0, 0)
        references = [reference_of(part) for part in buffer_parts(values, start, stop)]
        fetched = [each for each in references if not isinstance(each, Inline)]
        return Needed(columns_of(fetched), chunks=self.node.grid.count(selection))

    def question(self, selection: Selection) -> RefbrowserError | None:
        """Return what to ask before rows are read that are very many, or large; None where they are not.

        A row counts with what the array has for each on average, and what a value takes at least: rows of
        sparse arrays and of lists that overlap take no bytes of a file.
        """
        node, values = self.node, nested_values(self.node)
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
            "give --yes to read them anyway, or select fewer",
        )


@dataclass(frozen=True, slots=True, eq=False)
class MadeRows:
    """Parts whose values are made from buffers: which bytes, only reading tells (`WantedRows`)."""

    columns: ReferenceColumns
    owners: range


class RowBatch(Batch[MadeRows]):
    """Parts of a read whose elements are nested."""

    def __init__(self, reader: Reader, parts: Parts, start: int, stop: int) -> None:
        super().__init__(reader, parts, start, stop)
        #: Which rows of parts could not be read, where others could.
        self._failed: dict[int, npt.NDArray[np.bool_]] = {}

    def rows(self) -> Iterator[MadeRows]:
        """Yield the parts; each is made with as many requests as its lists and indexes need."""
        coords, columns = self.made_parts()
        self.note(coords, columns)
        yield MadeRows(columns, range(self.start, self.stop))

    def cost(self, rows: MadeRows, row: int, size: int) -> int:
        """Return 0: buffers are decoded in the pool, and rows are made here."""
        return 0

    def lay(self, rows: MadeRows, row: int, data: memoryview, cache_key: Hashable | None) -> None:
        """Read the rows of a part, and put them to their place."""
        reader, number = self.reader, rows.owners[row]
        part = self.parts[number]
        grid = reader.node.grid
        first, last, step = part.inside[0].indices(grid.chunk_shape[0])
        origin = part.coords[0] * grid.chunk_shape[0]
        read = read_rows(
            reader.session,
            reader.node,
            reader.access,
            origin + first,
            min(origin + last, reader.node.shape[0]),
            reader.token,
            export=reader.options.export,
            priority=reader.options.priority,
            told=reader.read_more,
        )
        dtype = reader.box.dtype
        unread = unread_error(read, reader.node, origin + first, step)
        if unread is not None and (reader.options.on_part is None or not dtype.hasobject):
            raise unread
        region = reader.region(part)
        index: tuple[slice, ...] = (slice(None, None, step), *part.inside[1:])
        region[...] = elements(reader.node, read.content, dtype)[index]
        if unread is not None:
            failed = np.zeros(len(region), bool)
            failed[(unread.rows - origin - first) // step] = True
            self._failed[number] = failed
            raise unread

    def ended(self, rows: MadeRows, row: int, error: RefbrowserError | None) -> None:
        """End the part."""
        number = rows.owners[row]
        self.part_ended(number, error, failed=self._failed.pop(number, None))


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
