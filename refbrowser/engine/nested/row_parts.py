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
from refbrowser.io.access.access import Access
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
        first, last, step = part.inside[0].indices(grid.regular.chunk_shape[0])
        origin = part.coords[0] * grid.regular.chunk_shape[0]
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


def buffer_parts(values: NestedValues, start: int, stop: int) -> list[BufferPart]:
    """Return what of each buffer rows from `start` to `stop` may need."""
    if start >= stop:
        return []
    return [part for part in values.parts(start, stop) if part.nbytes]


def reference_of(part: BufferPart) -> Reference:
    """Return where the stored bytes of elements are; all of what can only be decoded as a whole."""
    buffer = part.buffer
    if buffer.codecs or isinstance(buffer.reference, Inline):
        return buffer.reference
    start = buffer.offset + part.start * buffer.dtype.itemsize
    base = buffer.reference.offset if isinstance(buffer.reference, ByteRange) else 0
    url = getattr(buffer.reference, "url", "")
    return ByteRange(url, base + start, part.nbytes)
