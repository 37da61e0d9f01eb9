"""From the cells of a chunk map to pixels: of cells that share a pixel the greatest number is seen."""

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
