"""A file as rows of pixels: which part is seen, how many bytes a pixel has, and whose they are."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.tools.bytes.report.byte_map import ByteMap
from refbrowser.tools.bytes.report.byte_runs import Ints, Runs

Classes = npt.NDArray[np.uint8]

#: What is no owner's, by the number in a picture; owners follow in the order of `ByteMap.classes`.
NOTHING, GAP, HEADER, TAIL, UNDECIDED, OVERLAP, PAST = range(7)
FIRST_OWNER = 7
#: A byte is at most so many device independent pixels wide.
WIDEST = 24.0
#: So near to a whole number of pixels a move is one: the rest is what sums of fractions lose.
_NEAR = 0.01


class ByteViewport:
    """Which bytes are seen: they run to the right, row after row, as text does.

    Attributes
    ----------
    width, rows
        Device pixels of a row, and how many rows there are.
    size
        Bytes of the file.
    first
        The byte at the left of the first row; it may be a fraction, and before the file where that is small.
    scale
        Bytes of one pixel.
    ratio
        Device pixels of one device independent pixel.
    """

    def __init__(self) -> None:
        self.width, self.rows, self.size, self.ratio = 1, 1, 0, 1.0
        self.first, self.scale = 0.0, 1.0
        self.is_fitted = True
        #: What is left of a move that was no whole number of pixels.
        self._rest = 0.0

    @property
    def row_bytes(self) -> float:
        """Bytes of one row."""
        return self.width * self.scale

    @property
    def stop(self) -> float:
        """The byte behind the last row."""
        return self.first + self.rows * self.row_bytes

    @property
    def _widest_scale(self) -> float:
        """Bytes of a pixel where all of the file is seen."""
        return max(self.size / (self.width * self.rows), self._narrowest_scale)

    @property
    def _narrowest_scale(self) -> float:
        return 1 / (WIDEST * self.ratio)

    def set_size(self, size: int) -> None:
        """See all of a file of another size."""
        self.size = size
        self.fit()

    def resize(self, width: int, rows: int, ratio: float) -> None:
        """Take another number of pixels; what is at the top left stays there."""
        width, rows = max(width, 1), max(rows, 1)
        if (width, rows, ratio) == (self.width, self.rows, self.ratio):
            return
        self.width, self.rows, self.ratio = width, rows, ratio
        if self.is_fitted:
            self.fit()
        else:
            self._hold()

    def fit(self) -> None:
        """See the whole file."""
        self.scale, self.first, self.is_fitted = self._widest_scale, 0.0, True

    def zoom(self, factor: float, row: int, x: float) -> None:
        """Make bytes wider; what lies at a pixel of a row stays there."""
        byte = self.byte_at(row, x)
        self.scale = self.scale / factor
        self._hold()
        self.first = byte - row * self.row_bytes - x * self.scale
        self._hold()

    def pan(self, down: float, across: float) -> None:
        """Move by rows and pixels: what was seen there is seen so much farther.

        It moves by whole pixels; what is left is added to the next move.
        """
        pixels = down * self.width + across + self._rest
        self._rest = pixels - round(pixels)
        self.first -= round(pixels) * self.scale
        self._hold()

    def look_at(self, byte: float) -> None:
        """Move, by whole pixels, to see a byte in the middle."""
        away = byte - (self.first + self.rows * self.row_bytes / 2)
        self.first += round(away / self.scale) * self.scale
        self._hold()

    def show(self, start: float, stop: float | None = None) -> None:
        """Move as little as is needed to see a byte, and how the extent goes on as far as there is room."""
        last = start if stop is None else max(start, min(stop - 1, start + (self.rows - 1) * self.row_bytes))
        if start < self.first:
            self.first -= ceil((self.first - start) / self.row_bytes) * self.row_bytes
        elif last >= self.stop:
            self.first += ceil((last - self.stop + 1) / self.row_bytes) * self.row_bytes
        self._hold()

    def zoom_to(self, start: int, stop: int) -> None:
        """See an extent in the middle of the rows, with a little around it."""
        size = max(stop - start, 1)
        self.scale = size * 1.5 / (self.width * self.rows)
        self._hold()
        rows = ceil(size / self.row_bytes)
        above = max((self.rows - rows) // 2, 0)
        across = max((self.width - size / self.scale) / 2, 0) if rows == 1 else 0
        self.first = start - above * self.row_bytes - across * self.scale
        self._hold()

    def _hold(self) -> None:
        """Keep within the file."""
        self.scale = min(max(self.scale, self._narrowest_scale), self._widest_scale)
        most = self.size - self.rows * self.row_bytes
        # The last row may have empty pixels behind the end.
        most = ceil(most / self.row_bytes) * self.row_bytes if most > 0 else 0.0
        self.first = min(max(self.first, 0.0), most)
        self.is_fitted = self.scale >= self._widest_scale * (1 - 1e-9)
        if self.is_fitted:
            self.first = 0.0

    def byte_at(self, row: int, x: float) -> float:
        """Return the byte at a pixel of a row."""
        return self.first + row * self.row_bytes + x * self.scale

    def place_of(self, byte: float) -> tuple[int, float]:
        """Return row and pixel of a byte, wherever they are."""
        row, rest = divmod(byte - self.first, self.row_bytes)
        return int(row), rest / self.scale

    def row_parts(self, start: float, stop: float) -> list[tuple[int, float, float]]:
        """Return row, left and right of the parts of an extent that are seen, in pixels."""
        low, high = max(start, self.first), min(stop, self.stop)
        if low >= high:
            return []
        (top, left), (last, right) = self.place_of(low), self.place_of(high)
        if right == 0 and last > top:
            last, right = last - 1, float(self.width)
        if top == last:
            return [(top, left, right)]
        between = [(row, 0.0, float(self.width)) for row in range(top + 1, last)]
        return [(top, left, float(self.width)), *between, (last, 0.0, right)]


class PixelLine(NamedTuple):
    """The pixels of all rows in one line, which goes on before them and behind them.

    Attributes
    ----------
    first
        The byte at the left of pixel number 0.
    scale
        Bytes of one pixel.
    """

    first: float
    scale: float

    def edges(self, start: int, stop: int) -> tuple[Ints, Ints]:
        """Return the first byte of each pixel, and that behind its last one; it has one at least."""
        whole = np.floor(self.first + np.arange(start, stop + 1) * self.scale).astype(np.int64)
        return whole[:-1], np.maximum(whole[1:], whole[:-1] + 1)

    def nearest(self, byte: Ints) -> Ints:
        """Return the number of the pixel whose left is nearest to each byte."""
        return np.floor((byte - self.first) / self.scale + 0.5).astype(np.int64)

    def steps_to(self, viewport: ByteViewport) -> int | None:
        """Return the number of the first pixel that is seen; None where no pixel lies there."""
        steps = (viewport.first - self.first) / self.scale
        is_near = abs(steps - round(steps)) < _NEAR
        return round(steps) if viewport.scale == self.scale and is_near else None


@dataclass(frozen=True, slots=True, eq=False)
class BytePicture:
    """What pixels of a line show; a value.

    Attributes
    ----------
    classes
        Number of what each pixel shows, shape (height, n): a pixel that has bytes of several is divided from
        below by their shares, and nothing that is there has less than one.
    overlaps, used, requested
        Which pixels have bytes that are held twice, that the view needs, and that are requested for it;
        shape (n,).
    """

    classes: Classes
    overlaps: npt.NDArray[np.bool_]
    used: npt.NDArray[np.bool_]
    requested: npt.NDArray[np.bool_]


def picture_of(
    shown: ByteMap, low: Ints, high: Ints, height: int, used: Runs | None, requested: Runs | None
) -> BytePicture:
    """Return what pixels show of a map.

    Parameters
    ----------
    low, high
        The first byte of each pixel, and that behind its last one.
    height
        Pixels of a row of bytes.
    """
    wide = high - low
    free = _free_classes(shown, low)
    numbers: list[int] = []
    heights: list[Ints] = []
    for number, each in enumerate(shown.classes):
        held = _within(each, low, high)
        if held.any():
            share = np.ceil(held * (height / wide) - 0.5).astype(np.int64)
            heights.append(np.where(held > 0, np.maximum(share, 1), 0))
            numbers.append(FIRST_OWNER + number)
    classes = np.broadcast_to(free, (height, len(free)))
    if heights:
        tops = np.cumsum(np.stack(heights), axis=0)
        # Of overlapping ranges the shares are more than there is.
        tops = np.minimum(tops, height).astype(np.uint8)
        which = np.zeros((height, len(free)), np.uint8)
        levels = np.arange(height, dtype=np.uint8)[::-1, None]
        for top in tops:
            which += levels >= top
        lookup = np.array([*numbers, 0], np.uint8)
        classes = lookup.take(which)
        classes = np.where(which == len(numbers), free, classes)
    size = shown.facts.size
    if size is not None and shown.last > size:
        # No byte is there, whatever refers to it.
        is_past = low >= size
        classes = np.where(
            is_past, np.where(classes >= FIRST_OWNER, np.uint8(PAST), np.uint8(NOTHING)), classes
        )
    held_twice = _any_within(shown.overlaps, low, high)
    return BytePicture(classes, held_twice, _any_within(used, low, high), _any_within(requested, low, high))


class _Covering(Protocol):
    def covered(self, edges: Ints) -> Ints: ...


def _within(what: _Covering, low: Ints, high: Ints) -> Ints:
    if (low[1:] == high[:-1]).all():
        edges = what.covered(np.append(low, high[-1:]))
        return edges[1:] - edges[:-1]
    return what.covered(high) - what.covered(low)


def _any_within(runs: Runs | None, low: Ints, high: Ints) -> npt.NDArray[np.bool_]:
    if runs is None or not len(runs):
        return np.zeros(len(low), bool)
    return _within(runs, low, high) > 0


def _free_classes(shown: ByteMap, low: Ints) -> Classes:
    """Return what bytes are that nothing refers to."""
    first, last, size = shown.first, shown.last, shown.facts.size
    found = np.full(len(low), GAP, np.uint8)
    for each in shown.undecided:
        found[(low >= each.low) & (low < (each.high or shown.end))] = UNDECIDED
    found[low < (shown.end if first is None else first)] = HEADER
    found[low >= last] = TAIL if size is not None and first is not None else NOTHING
    if first is None:
        found[:] = GAP
    found[low >= shown.end] = NOTHING
    return found
