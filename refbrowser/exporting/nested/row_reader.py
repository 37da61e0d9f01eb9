"""Reading rows of any array, as contents of awkward: nested ones as they are, others converted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.nested.plain_rows import TURNS, content_of, row_type
from refbrowser.engine.reading.parts import EndedPart, PartState
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.blocks import element_size, read_shape
from refbrowser.exporting.exporter import coding
from refbrowser.exporting.nested.row_arrays import rows_taken
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import RowType
from refbrowser.model.nested import NestedType, unread
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access


@dataclass(frozen=True, slots=True)
class RowSource:
    """The rows that are taken of an array; of one without dimensions, or of one element, a single row.

    Attributes
    ----------
    type
        Of a row.
    length
        How many there are.
    """

    node: ArrayNode
    selection: Selection | None
    type: NestedType
    length: int

    @classmethod
    def of(cls, node: ArrayNode, selection: Selection | None) -> RowSource:
        """Return the rows of an array.

        Raises
        ------
        RefbrowserError
            The array cannot be read by rows, or not in this order.
        """
        if node.nested is not None:
            return cls(node, selection, row_type(node, node.shape), len(rows_taken(node, selection)))
        if selection is not None and selection.backwards:
            message = "an export keeps the order of elements: steps are positive"
            raise RefbrowserError(ErrorKind.USAGE, message, Place(path=node.path))
        shape = node.shape if selection is None else selection.shape
        return cls(node, selection, row_type(node, shape), shape[0] if shape else 1)

    @property
    def is_single(self) -> bool:
        """Whether it is one value, not a list of rows."""
        return not (self.node.shape if self.selection is None else self.selection.shape)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row in memory, on average."""
        node = self.node
        if node.nested is not None:
            size = sum(buffer.nbytes for buffer in node.nested.buffers)
            return max(1, -(-size // max(1, node.shape[0])))
        shape = node.shape if self.selection is None else self.selection.shape
        return max(1, prod(shape[1:]) * element_size(node))

    @property
    def unit(self) -> int:
        """Rows that are decoded together."""
        node = self.node
        if node.nested is not None or not node.has_grid or not node.shape:
            return 1
        axes = range(len(node.shape)) if self.selection is None else _kept(self.selection)
        return max(1, read_shape(node)[axes[0]]) if axes else 1


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Rows that were read.

    Attributes
    ----------
    content
        What could not be read is missing.
    errors
        Why.
    unread
        Where below the rows it is: paths as those of `NestedFault`.
    """

    content: Any = field(repr=False)
    errors: list[RefbrowserError] = field(default_factory=list)
    unread: tuple[str, ...] = ()


@contextmanager
def row_reader(dataset: Dataset, control: JobControl) -> Iterator[RowReader]:
    """Give what reads rows for an export, until it is cancelled or ended."""
    with coding(dataset, control) as (session, token):
        yield RowReader(session, dataset.access, token)


class RowReader:
    """Reads rows of arrays, one block after the other."""

    def __init__(self, session: Session, access: Access, token: CancelToken) -> None:
        self._session = session
        self._access = access
        self._token = token
        self._lock = threading.Lock()
        self.read_bytes = 0
        self.requests = 0

    def read(self, source: RowSource, start: int, stop: int) -> RowBlock:
        """Read the rows from `start` to `stop` of those that are taken.

        Raises
        ------
        RefbrowserError
            None of them can be read; `BUDGET`: they are too many to be held.
        """
        self._token.check()
        if source.node.nested is not None:
            return self._nested(source, start, stop)
        if (stop - start) * source.row_bytes > LIMITS.chunk_size:
            message = f"{stop - start} rows take {(stop - start) * source.row_bytes} bytes"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(path=source.node.path))
        return self._plain(source, start, stop)

    def _nested(self, source: RowSource, start: int, stop: int) -> RowBlock:
        import awkward

        from refbrowser.engine.nested.python_values import check_shared
        from refbrowser.engine.nested.rows import read_rows

        rows = rows_taken(source.node, source.selection)[start:stop]
        first, last = (rows[0], rows[-1] + 1) if rows else (0, 0)
        # Blobs that can only be decoded as a whole are kept for the blocks that follow.
        packed = any(buffer.codecs for buffer in source.node.rows.buffers)
        whole = last - first == source.node.shape[0]
        try:
            found = read_rows(
                self._session,
                source.node,
                self._access,
                first,
                last,
                self._token,
                export=whole or not packed,
                told=self._tell,
                turns=TURNS,
            )
        except RefbrowserError as error:
            if error.kind is ErrorKind.BUDGET:
                raise
            return RowBlock(unread(len(rows)), [_at(error, source.node, "")], ("",))
        content = found.content
        # Each list of its own is written as such.
        check_shared(content)
        if len(rows) > 1 and rows.step != 1:
            content = awkward.Array(content)[:: rows.step].layout
        # What is written of a type that goes on in itself ends somewhere, as was told.
        faults = [fault for fault in found.faults if not fault.is_cut]
        errors = [_at(fault.error, source.node, fault.path) for fault in faults]
        return RowBlock(content, errors, tuple(fault.path for fault in faults))

    def _tell(self, size: int, requests: int) -> None:
        with self._lock:
            self.read_bytes += size
            self.requests += requests

    def _plain(self, source: RowSource, start: int, stop: int) -> RowBlock:
        node = source.node
        taken = source.selection or Selection.whole(node.shape)
        kept = _kept(taken)
        axes = list(taken.axes)
        if kept:
            axes[kept[0]] = axes[kept[0]][start:stop]
        failed: list[tuple[tuple[slice, ...], RefbrowserError]] = []
        told: dict[str, int] = {}

        def ended(part: EndedPart) -> None:
            if part.state is PartState.FAILED and part.error is not None:
                failed.append((tuple(part.part.target[axis] for axis in kept), part.error))

        def progress(done: int, total: int, *, read_bytes: int = 0, requests: int = 0) -> None:
            told.update(read_bytes=read_bytes, requests=requests)

        values = self._session.read(
            node,
            self._access,
            Selection(tuple(axes), taken.dropped),
            on_part=ended,
            cancel=self._token,
            progress=progress,
            # What is decoded as a whole and needed again is kept.
            export=stop - start >= min(source.unit, source.length),
        )
        self._tell(told.get("read_bytes", 0), told.get("requests", 0))
        rows = values if kept else values.reshape(1)
        if not failed:
            return RowBlock(content_of(rows, source.type))
        missing = np.zeros(rows.shape, bool)
        for target, _ in failed:
            place: tuple[Any, ...] = (*target, ...)
            missing[place] = True
        rows[missing] = _harmless(node, source.type)
        errors = [_at(error, node, "") for _, error in failed]
        return RowBlock(content_of(rows, source.type, missing), errors, ("",))


def _at(error: RefbrowserError, node: ArrayNode, path: str) -> RefbrowserError:
    """Return an error with the array, or the field of it, that it is about."""
    return error.at(replace(error.place, path=f"{node.path}/{path}" if path else node.path))


def _kept(selection: Selection) -> list[int]:
    return [axis for axis in range(len(selection.axes)) if axis not in selection.dropped]


def _harmless(node: ArrayNode, type: NestedType) -> Any:
    """Return an element that can be converted, for those that could not be read."""
    if not isinstance(node.type, RowType) and node.known_dtype.names is None and node.known_dtype.hasobject:
        return ""
    if not node.known_dtype.hasobject:
        return np.zeros((), node.known_dtype)[()]
    return node.fill_element


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
