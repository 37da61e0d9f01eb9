"""A part of a tile being filled: its pieces arrive in any order, and are laid down in theirs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.model.grid import ChunkPart
from refbrowser.model.values import SourcePiece

Values = npt.NDArray[Any]


class Canvas:
    """One part, until all of its pieces have come.

    Parameters
    ----------
    number
        Of the part.
    region
        The view of the result that the part fills.
    count
        Pieces that are to come.
    is_ordered
        They lie over each other: each waits for those before it.
    ended
        Called once when all have come, with the canvas and the first error.
    """

    def __init__(
        self,
        number: int,
        part: ChunkPart,
        region: Values,
        count: int,
        is_ordered: bool,
        ended: Callable[[Canvas, RefbrowserError | None], None],
    ) -> None:
        self.number = number
        self.part = part
        self.region = region
        self.is_ordered = is_ordered
        self._left = count
        self._next = 0
        self._waiting: dict[int, tuple[Values, Values] | None] = {}
        self._ended = ended
        self._error: RefbrowserError | None = None
        self._lock = threading.Lock()

    def put(self, place: int, target: Values, values: Values) -> None:
        """Lay down a piece: at once, or once those before it have come."""
        if not self.is_ordered:
            _lay(target, values)
            self.finish(None)
            return
        with self._lock:
            self._waiting[place] = target, values
            self._lay_down()
        self.finish(None)

    def fail(self, place: int, error: RefbrowserError) -> None:
        """Note that a piece could not be had."""
        if self.is_ordered:
            with self._lock:
                self._waiting[place] = None
                self._lay_down()
        self.finish(error)

    def finish(self, error: RefbrowserError | None) -> None:
        """Count a piece that has come, and lies where it belongs."""
        with self._lock:
            self._left -= 1
            if self._error is None:
                self._error = error
            is_last = not self._left
        if is_last:
            self._ended(self, self._error)

    def _lay_down(self) -> None:
        while self._next in self._waiting:
            ready = self._waiting.pop(self._next)
            if ready is not None:
                _lay(*ready)
            self._next += 1


def _lay(target: Values, values: Values) -> None:
    """Copy values to their place; of structures those fields that there are."""
    names = values.dtype.names
    if names is None or names == target.dtype.names:
        target[...] = values
        return
    for name in names:
        target[name][...] = values[name]


@dataclass(slots=True, eq=False)
class Slot:
    """One piece of a canvas.

    Attributes
    ----------
    place
        Its position among the pieces of the canvas that are laid down.
    spans_left
        Stretches of its bytes that have not come, where it is read in several.
    """

    canvas: Canvas
    place: int
    piece: SourcePiece
    target: Values
    spans_left: int = 0
    _buffer: Values | None = None
    _failed: RefbrowserError | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, values: Values) -> None:
        """Lay down all values of the piece's bytes, of which those that it takes are used."""
        self.canvas.put(self.place, self.target, values[self.piece.inside] if self.piece.inside else values)

    def fail(self, error: RefbrowserError) -> None:
        """Note that its bytes could not be had or decoded."""
        self.canvas.fail(self.place, error)

    @property
    def room(self) -> Values:
        """Where stretches of its elements are put: their place, or aside where others lie below them."""
        if not self.canvas.is_ordered:
            return self.target
        with self._lock:
            if self._buffer is None:
                self._buffer = np.empty(self.target.shape, self.piece.raw)
            return self._buffer

    def span_ended(self, error: RefbrowserError | None) -> None:
        """Count one stretch."""
        with self._lock:
            self.spans_left -= 1
            self._failed = self._failed or error
            is_last = not self.spans_left
        if not is_last:
            return
        if self._failed is not None:
            self.canvas.fail(self.place, self._failed)
        elif self._buffer is not None:
            self.canvas.put(self.place, self.target, self._buffer)
        else:
            self.canvas.finish(None)
