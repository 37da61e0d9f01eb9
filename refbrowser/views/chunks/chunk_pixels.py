"""From the cells of a chunk map to pixels: the part in view, and the greatest number of a pixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint32]
#: Side of a pattern, in pixels.
TILE = 8
#: More pixels than these are seen without being marked.
MARKS_MOST = 4_000


@dataclass(frozen=True, slots=True)
class Span:
    """One axis of a view: which cells a run of pixels shows.

    Attributes
    ----------
    start
        Position of the first pixel's edge, in cells; may be negative.
    scale
        Pixels for each cell.
    pixels
        Number of pixels.
    """

    start: float
    scale: float
    pixels: int

    def cells(self, count: int) -> range:
        """Return the cells of an axis of `count` that are seen."""
        first = max(0, int(np.floor(self.start)))
        last = min(count, int(np.ceil(self.start + self.pixels / self.scale)))
        return range(min(first, count), max(last, min(first, count)))

    def edge(self, cell: float) -> float:
        """Return where the lower edge of a cell is, in pixels."""
        return (cell - self.start) * self.scale

    def cell_at(self, pixel: float) -> int:
        """Return the cell at a pixel."""
        return int(np.floor(self.start + pixel / self.scale))


def pooled(
    classes: npt.NDArray[np.uint8], rows: range, columns: range, down: Span, across: Span
) -> npt.NDArray[np.uint8]:
    """Return the number of each pixel, shape (down.pixels, across.pixels).

    Parameters
    ----------
    classes
        Number of each cell; `rows` and `columns` tell which cells of the map these are.
    """
    out = np.zeros((down.pixels, across.pixels), np.uint8)
    tops, low, high = _runs(down, rows)
    lefts, left, right = _runs(across, columns)
    if high <= low or right <= left:
        return out
    first, last = int(lefts[0]), int(_last(across, columns, right - 1)) + 1
    part = _reduced(classes[:, first:last], tops, int(_last(down, rows, high - 1)) + 1, axis=0)
    out[low:high, left:right] = _reduced(part, lefts - first, last - first, axis=1)
    return out


def _runs(span: Span, cells: range) -> tuple[npt.NDArray[np.int64], int, int]:
    """Return the first position in `cells` of each pixel that shows any, and which pixels these are."""
    scale, count = span.scale * cells.step, len(cells)
    start = (span.start - cells.start) / cells.step
    low = max(0, int(np.ceil(-start * scale - 1e-9)))
    high = min(span.pixels, int(np.ceil((count - start) * scale - 1e-9)))
    places = np.floor(start + (np.arange(low, max(low, high)) + 1e-6) / scale).astype(np.int64)
    return np.clip(places, 0, max(0, count - 1)), low, max(low, high)


def _last(span: Span, cells: range, pixel: int) -> int:
    """Return the last position in `cells` that a pixel shows."""
    scale = span.scale * cells.step
    start = (span.start - cells.start) / cells.step
    return int(min(len(cells) - 1, max(0, np.ceil(start + (pixel + 1) / scale - 1e-6) - 1)))


def _reduced(
    part: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], stop: int, axis: int
) -> npt.NDArray[np.uint8]:
    """Return the greatest of each run of cells along an axis; runs end where the next one starts."""
    part = part[:stop] if axis == 0 else part[:, :stop]
    if not len(starts) or not (np.diff(starts, append=stop) > 1).any():
        return part.take(starts, axis=axis)
    found: npt.NDArray[np.uint8] = np.maximum.reduceat(part, starts, axis=axis)
    return found


def painted(numbers: npt.NDArray[np.uint8], patterns: Pixels) -> Pixels:
    """Return the colour of each pixel.

    Parameters
    ----------
    patterns
        Colours as 0xffRRGGBB: a tile for each number, shape (n, TILE, TILE).
    """
    down, across = numbers.shape
    tile = np.arange(down)[:, None] % TILE * TILE + np.arange(across)[None, :] % TILE
    place = numbers.astype(np.uint16) * np.uint16(TILE * TILE)
    place += tile.astype(np.uint16)
    return patterns.reshape(-1)[place]


def mark_few(image: Pixels, numbers: npt.NDArray[np.uint8], colours: Pixels) -> None:
    """Make single pixels that should not be missed larger, where they are few.

    Parameters
    ----------
    numbers
        Number of each pixel.
    colours
        What a mark of each number is painted in; 0 for those that need none. Shape (256,).
    """
    down, across = np.nonzero((colours != 0)[numbers])
    if not len(down) or len(down) > MARKS_MOST:
        return
    found = numbers[down, across]
    # The greatest number last, so that it is seen where marks meet.
    order = np.argsort(found, kind="stable")
    down, across, found = down[order], across[order], found[order]
    for shift_down in (-1, 0, 1):
        for shift_across in (-1, 0, 1):
            row = np.clip(down + shift_down, 0, image.shape[0] - 1)
            column = np.clip(across + shift_across, 0, image.shape[1] - 1)
            image[row, column] = colours[found]


def draw_lines(
    image: Pixels, span: Span, cells: range, other: tuple[int, int], colour: int, axis: int
) -> None:
    """Draw a line of one pixel along the lower edge of each cell, from `other[0]` to `other[1]` pixels."""
    places = np.round((np.arange(cells.start, cells.stop + 1) - span.start) * span.scale).astype(np.int64)
    places = places[(places >= 0) & (places < span.pixels)]
    low, high = max(0, other[0]), max(0, other[1])
    if axis == 0:
        image[places, low:high] = colour
    else:
        image[low:high, places] = colour


#: A cell that fits the view grows up to this many pixels, across and down; zoomed in, to the last.
FIT_ACROSS, FIT_DOWN, LARGEST = 96.0, 56.0, 160.0
#: A cell of a map that fits is at most so many times longer one way than the other, unless it is tiny.
_SLENDER = 4.0
_TINY = 3.0


class Viewport:
    """A window on `rows` times `columns` cells, in device pixels.

    `ratio` is the number of device pixels for each pixel of the layout.
    """

    def __init__(self) -> None:
        self.rows = self.columns = 0
        self.width = self.height = 0
        self.ratio = 1.0
        self.top = self.left = 0.0
        self.down = self.across = 1.0
        self.is_fitted = True

    def state(self) -> tuple[object, ...]:
        """Return what decides on the pixels, as a value."""
        size = (self.rows, self.columns, self.width, self.height)
        return (*size, self.top, self.left, self.down, self.across)

    def set_cells(self, rows: int, columns: int) -> None:
        """Show another map, all of it."""
        self.rows, self.columns = rows, columns
        self.fit()

    def resize(self, width: int, height: int, ratio: float) -> None:
        """Take another size; a map that was seen whole still is."""
        self.width, self.height, self.ratio = width, height, ratio
        if self.is_fitted:
            self.fit()
        else:
            self._hold()

    def spans(self) -> tuple[Span, Span]:
        """Return what is seen, from top to bottom and from left to right."""
        return Span(self.top, self.down, self.height), Span(self.left, self.across, self.width)

    def cell_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return row and column of the cell at a device pixel."""
        down, across = self.spans()
        row, column = down.cell_at(y), across.cell_at(x)
        return (row, column) if 0 <= row < self.rows and 0 <= column < self.columns else None

    def visible(self) -> tuple[range, range]:
        """Return the rows and columns that are seen."""
        down, across = self.spans()
        return down.cells(self.rows), across.cells(self.columns)

    def fit(self) -> None:
        """See the whole map."""
        self.is_fitted = True
        self.top = self.left = 0.0
        self.down, self.across = self._fitting()

    def zoom(self, factor: float, x: float, y: float) -> None:
        """Make cells larger by a factor; what is at a device pixel stays there."""
        least_down, least_across = self._fitting()
        row, column = self.top + y / self.down, self.left + x / self.across
        largest = LARGEST * self.ratio
        self.down = min(max(self.down * factor, least_down), max(largest, least_down))
        self.across = min(max(self.across * factor, least_across), max(largest, least_across))
        self.top, self.left = row - y / self.down, column - x / self.across
        self.is_fitted = self.down <= least_down and self.across <= least_across
        self._hold()

    def pan(self, x: float, y: float) -> None:
        """Move the map by device pixels."""
        self.left -= x / self.across
        self.top -= y / self.down
        self._hold()

    def show_cell(self, row: int, column: int) -> None:
        """Move as little as needed to see a cell."""
        high, wide = self.height / self.down, self.width / self.across
        self.top = min(max(self.top, row + 1 - high), row)
        self.left = min(max(self.left, column + 1 - wide), column)
        self._hold()

    def _fitting(self) -> tuple[float, float]:
        """Return the scales at which the whole map is seen."""
        if not (self.rows and self.columns and self.width and self.height):
            return 1.0, 1.0
        down = min(self.height / self.rows, FIT_DOWN * self.ratio)
        across = min(self.width / self.columns, FIT_ACROSS * self.ratio)
        least = max(min(down, across), _TINY * self.ratio)
        return min(down, least * _SLENDER), min(across, least * _SLENDER)

    def _hold(self) -> None:
        """Keep the map in the window."""
        self.top = max(0.0, min(self.top, self.rows - self.height / self.down))
        self.left = max(0.0, min(self.left, self.columns - self.width / self.across))
