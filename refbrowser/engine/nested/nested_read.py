"""Reading nested arrays as others are read: tiles of rows, made from any number of buffers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.chunk_log import BatchNotes, marks_of
from refbrowser.engine.nested.elements import elements
from refbrowser.engine.nested.reading import read_rows, unread_error
from refbrowser.engine.part_reader import PartReader
from refbrowser.engine.part_table import Parts
from refbrowser.engine.pieces import Piece, PieceState
from refbrowser.errors import RefbrowserError
from refbrowser.model.grid import ChunkPart
from refbrowser.model.reference import ReferenceKind
from refbrowser.model.values import columns_of_kinds


class NestedPartReader(PartReader):
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
                state = PieceState.DONE if error is None else PieceState.FAILED
                self.ended(Piece(parts[number], state, error, failed))
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
            if unread is not None and (self.options.on_piece is None or not self.box.dtype.hasobject):
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
