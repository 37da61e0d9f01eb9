"""Reading nested arrays as others are read: chunks of rows, as numpy arrays of the type shown."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.nested.python_values import check_number, edges_of, python_values
from refbrowser.engine.nested.rows import read_rows, unread_error
from refbrowser.engine.reading.chunk_log import BatchNotes, marks_of
from refbrowser.engine.reading.parts import EndedPart, PartReader, Parts, PartState
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.model.data_type import RowType
from refbrowser.model.exact_numbers import is_exact
from refbrowser.model.grid import ChunkPart
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceKind
from refbrowser.model.values import columns_of_kinds


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

    assert node.dtype is not None
    shape = (content.length, *node.shape[1:])
    if not content.length or content.is_unknown:
        return np.zeros(shape, node.dtype)
    if node.dtype.names is not None:
        return _structures(content, node.dtype)
    try:
        values = awkward.to_numpy(content)
        if isinstance(values, np.ma.MaskedArray):
            values = with_missing(values, node.dtype)
        if values.shape != shape or not np.can_cast(values.dtype, node.dtype, "same_kind"):
            raise ValueError(f"shape {values.shape} of {values.dtype}")
        return np.asarray(values.astype(node.dtype, copy=False))
    except (TypeError, ValueError) as error:
        message = f"the rows are not of the type that was told: {quoted(error)}"
        raise RefbrowserError(ErrorKind.DECODE, message, Place(path=node.path)) from None


def _structures(content: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return records of numbers as structures."""
    import awkward

    assert dtype.names is not None
    made = np.empty(content.length, dtype)
    for name in dtype.names:
        made[name] = awkward.to_numpy(content.content(name)[: content.length], allow_missing=False)
    return made


def with_missing(values: np.ma.MaskedArray[Any, Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return numbers with NaN (or NaT) where they are missing."""
    missing = np.ma.getmaskarray(values)
    made = np.asarray(values.data).astype(dtype)
    if not is_exact(values.data[~missing], made[~missing]):
        raise RefbrowserError(
            ErrorKind.DECODE,
            f"an integer beside missing values is too large for {dtype}, in which NaN stands for these",
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


class RowReader(PartReader):
    """One read of tiles of one array that has `NestedValues`."""

    def run_batch(self, parts: Parts, start: int, stop: int) -> None:
        """Read the parts from `start` to `stop`."""
        notes = self._notes(parts, start, stop)
        try:
            for number in range(start, stop):
                self.token.check()
                self.check()
                if notes is not None:
                    notes.asked([number])
                began = time.monotonic()
                error, failed = self._read(parts[number])
                if notes is not None:
                    notes.took([number], time.monotonic() - began)
                    notes.ended(number, error)
                state = PartState.DONE if error is None else PartState.FAILED
                self.ended(EndedPart(parts[number], state, error, failed))
        finally:
            if notes is not None:
                notes.give_up()

    def _notes(self, parts: Parts, start: int, stop: int) -> BatchNotes | None:
        if self.log is None:
            return None
        kinds = np.full(stop - start, ReferenceKind.DERIVED, np.uint8)
        return BatchNotes(self.log, parts.coords(start, stop), marks_of(columns_of_kinds(kinds)), start)

    def _read(self, part: ChunkPart) -> tuple[RefbrowserError | None, npt.NDArray[np.bool_] | None]:
        """Read one tile; returns why it could not be, and which of its rows where others could."""
        grid = self.node.grid
        first, last, step = part.inside[0].indices(grid.chunk_shape[0])
        origin = part.coords[0] * grid.chunk_shape[0]
        stop = min(origin + last, self.node.shape[0])
        try:
            rows = read_rows(
                self.session,
                self.node,
                self.access,
                origin + first,
                stop,
                self.token,
                export=self.options.export,
                priority=self.options.priority,
                told=self._told,
            )
            unread = unread_error(rows, self.node, origin + first, step)
            if unread is not None and (self.options.on_part is None or not self.box.dtype.hasobject):
                return unread, None
            region = self.region(part)
            region[...] = self._values(rows.content, step, part.inside[1:])
        except RefbrowserError as error:
            return error, None
        if unread is None:
            return None, None
        failed = np.zeros(len(region), bool)
        failed[(unread.rows - origin - first) // step] = True
        return unread, failed

    def _values(self, content: Any, step: int, inside: tuple[slice, ...]) -> Any:
        return elements(self.node, content, self.box.dtype)[(slice(None, None, step), *inside)]

    def _told(self, size: int, requests: int) -> None:
        self.read_bytes += size
        self.requests += requests
        self.tell()
