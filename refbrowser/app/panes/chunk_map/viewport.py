"""Which part of a chunk map is seen, and how large its cells are; zoom and pan, without any painting."""

from __future__ import annotations

from refbrowser.views.chunk_pixels import Span

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
