"""Pieces laid over each other in a part of a chunk: which are seen, and how they are put in their order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.model.grid import ChunkPart
from refbrowser.model.values import SourcePiece

Box = tuple[slice, ...]
#: Cells that the edges of pieces may cut a part into; where there are more nothing is found out.
_CELLS = 1 << 20


@dataclass(frozen=True, slots=True)
class Layers:
    """What is seen of pieces that are laid down one after the other.

    Attributes
    ----------
    seen
        Positions of those of which anything is seen, in their order.
    is_ordered
        Some of these lie over each other: they must be laid down in their order.
    is_covered
        They leave no element uncovered.
    """

    seen: tuple[int, ...]
    is_ordered: bool
    is_covered: bool


def layers_of(pieces: Sequence[SourcePiece], area: Box) -> Layers:
    """Return what is seen of pieces that lie in `area`.

    Nothing that is said is wrong; where finding out would take long, more is said to be seen, ordered and
    uncovered than is.

    Parameters
    ----------
    area
        Slices without steps.
    """
    if len(pieces) == 1:
        return Layers((0,), False, pieces[0].hides and _is_whole(pieces[0].target, area))
    boxes = [piece.target for piece in pieces]
    cuts = [
        sorted({part.start for part in parts} | {part.stop for part in parts})
        for parts in zip(area, *boxes, strict=True)
    ]
    shape = tuple(len(each) - 1 for each in cuts)
    if prod(shape) > _CELLS:
        return Layers(tuple(range(len(pieces))), True, False)
    return _seen(pieces, [{at: number for number, at in enumerate(each)} for each in cuts], shape)


def _seen(pieces: Sequence[SourcePiece], numbers: list[dict[int, int]], shape: tuple[int, ...]) -> Layers:
    #: Cells that are hidden from what lies below, and those in which anything lies.
    full, used = np.zeros(shape, bool), np.zeros(shape, bool)
    seen = []
    places = set()
    is_ordered = False
    for row in reversed(range(len(pieces))):
        box = pieces[row].target
        cells = tuple(
            slice(number[part.start], number[part.stop]) for number, part in zip(numbers, box, strict=True)
        )
        place = tuple((part.start, part.stop, part.step) for part in box)
        if place in places or full[cells].all():
            continue
        seen.append(row)
        is_ordered = is_ordered or bool(used[cells].any())
        used[cells] = True
        if not pieces[row].hides:
            continue
        places.add(place)
        if all(part.step in (None, 1) for part in box):
            full[cells] = True
    return Layers(tuple(reversed(seen)), is_ordered, bool(full.all()))


def _is_whole(box: Box, area: Box) -> bool:
    return all(
        (part.start, part.stop) == (all_.start, all_.stop) and part.step in (None, 1)
        for part, all_ in zip(box, area, strict=True)
    )


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
