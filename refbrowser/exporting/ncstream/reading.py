"""Reading the blocks of a variable of a stream, and what became of their parts."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.pieces import Piece, PieceState
from refbrowser.engine.source_read import fill_element
from refbrowser.exporting.block_reading import BlockState
from refbrowser.exporting.ncstream.geometry import Box
from refbrowser.exporting.ncstream.plan import VariablePlan
from refbrowser.formats.ncstream.fills import fill_of, put_everywhere
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.errors import RefbrowserError
    from refbrowser.io.access import Access
    from refbrowser.io.cancel import CancelToken


@dataclass(frozen=True, slots=True)
class Block:
    """Some elements of a variable.

    Attributes
    ----------
    box
        Where they are, by the axes that are taken of the source.
    values
        As they are encoded; axes of their own come last.
    state
        Of the tiles in it.
    errors
        Why parts could not be read; these hold the fill value.
    """

    box: Box
    values: npt.NDArray[Any]
    state: BlockState
    errors: list[RefbrowserError] = field(default_factory=list)


class BlockReader:
    """Reads blocks of one variable; used by several threads at once."""

    def __init__(self, session: Session, access: Access, plan: VariablePlan, token: CancelToken) -> None:
        self._session = session
        self._access = access
        self._plan = plan
        self._token = token
        self._lock = threading.Lock()
        self._kept = [axis for axis in range(len(plan.source.shape)) if axis not in plan.selection.dropped]
        self.read_bytes = 0
        self.requests = 0

    def read(self, box: Box) -> Block:
        """Read a block.

        Raises
        ------
        RefbrowserError
            The array is not readable.
        Cancelled
            The export was cancelled.
        """
        state = BlockState(box, self._unit(box))
        failed: list[tuple[tuple[slice, ...], RefbrowserError]] = []

        def ended(piece: Piece) -> None:
            target = tuple(piece.part.target[axis] for axis in self._kept)
            state.note(target, piece.state, piece.error)
            if piece.state is PieceState.FAILED and piece.error is not None:
                failed.append((target, piece.error))

        told: dict[str, int] = {}

        def progress(done: int, total: int, *, read_bytes: int = 0, requests: int = 0) -> None:
            told.update(read_bytes=read_bytes, requests=requests)

        values = self._session.read(
            self._plan.source,
            self._access,
            self._taken(box),
            on_piece=ended,
            cancel=self._token,
            progress=progress,
            export=True,
        )
        with self._lock:
            self.read_bytes += told.get("read_bytes", 0)
            self.requests += told.get("requests", 0)
        return self._block(box, values, state, failed)

    def _block(
        self,
        box: Box,
        values: npt.NDArray[Any],
        state: BlockState,
        failed: list[tuple[tuple[slice, ...], RefbrowserError]],
    ) -> Block:
        streamed = self._plan.streamed
        if not failed:
            return Block(box, self._big_endian(streamed.converted(values), values), state)
        # What could not be read may hold anything, also what cannot be converted.
        for target, _ in failed:
            index: tuple[Any, ...] = (*target, ...)
            values[index] = self._harmless(values.dtype)
        converted = streamed.converted(values)
        if not converted.flags.writeable or converted is values:
            converted = converted.copy()
        for target, _ in failed:
            place: tuple[Any, ...] = (*target, ...)
            put_everywhere(converted[place], fill_of(streamed.variable))
        return Block(box, converted, state, [error for _, error in failed])

    def _harmless(self, dtype: np.dtype[Any]) -> Any:
        """Return an element that can be converted, of the type of the source."""
        if not dtype.hasobject:
            return np.zeros((), dtype)[()]
        return "" if dtype.names is None else fill_element(self._plan.source)

    def _big_endian(self, converted: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return elements in the order in which they are sent: swapped where they lie, no memory is taken."""
        sent = self._plan.streamed.variable.type.dtype
        if converted is not values or sent is None or values.dtype == sent:
            return converted
        if values.dtype.newbyteorder(">") != sent:
            return converted
        return values.byteswap(inplace=True).view(sent)

    def _unit(self, box: Box) -> tuple[int, ...]:
        """Return the sides of the tiles within a block, for what became of each."""
        return tuple(
            max(1, min(side, part.stop - part.start)) for side, part in zip(self._plan.tile, box, strict=True)
        )

    def _taken(self, box: Box) -> Selection:
        axes = list(self._plan.selection.axes)
        for axis, part in zip(self._kept, box, strict=True):
            axes[axis] = axes[axis][part]
        return Selection(tuple(axes), self._plan.selection.dropped)
