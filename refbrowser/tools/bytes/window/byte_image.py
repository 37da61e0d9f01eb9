"""The image of the rows of a byte map: it moves with what is seen, and is painted only where it is new."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor, QImage

from refbrowser.app.panes.chunk_map_controls import tiles
from refbrowser.app.widgets import theme
from refbrowser.tools.bytes.report.byte_pixels import OVERLAP, BytePicture, PixelLine, picture_of
from refbrowser.views.chunks.chunk_colouring import MapClass
from refbrowser.views.chunks.chunk_pixels import TILE

if TYPE_CHECKING:
    from refbrowser.tools.bytes.report.byte_map import ByteMap
    from refbrowser.tools.bytes.report.byte_pixels import ByteViewport
    from refbrowser.tools.bytes.report.byte_runs import Runs

Colours = npt.NDArray[np.uint32]

#: Device independent pixels of a row, from above: requests, bytes, what the view uses, and free ones between.
REQUESTS, BYTES, USED, BETWEEN = 4, 13, 3, 3
#: Ranges of at least so many pixels have a border; with more ranges than these in sight none has.
_BORDERED, _BORDERS_MOST = 3, 4000
#: What is no owner's, in the order of the numbers of `byte_pixels`.
_FREE_STYLES = ("nothing", "gap", "header", "tail", "undecided", "overlap", "past")


class ByteSubject(NamedTuple):
    """What an image is of.

    Attributes
    ----------
    styles
        One for each class of the map.
    used, requested
        Bytes that the view needs, and that are requested for it.
    """

    shown: ByteMap
    styles: tuple[MapClass, ...]
    used: Runs | None
    requested: Runs | None


class _Look(NamedTuple):
    """What the pixels of an image depend on, beside its subject and its place in the file."""

    colors: theme.Colors
    ratio: float
    width: int
    rows: int
    is_bordered: bool


class Patterns:
    """The colours of what pixels show, by the patterns of classes, which are kept."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] | None = None
        self._tiles = np.zeros(0, np.uint32)

    def coloured(self, picture: BytePicture, styles: tuple[MapClass, ...], first: int) -> Colours:
        """Return the colours of bytes, shape (height, n); patterns begin `first` pixels before them."""
        key = styles, theme.colors()
        if self._key != key:
            free = tuple(MapClass(style) for style in _FREE_STYLES)
            self._key, self._tiles = key, tiles((*free, *styles)).reshape(-1)
        numbers = picture.classes
        high, wide = numbers.shape
        if picture.overlaps.any():
            numbers = np.where(picture.overlaps, np.uint8(OVERLAP), numbers)
        down, across = np.arange(high, dtype=np.int32), np.arange(first, first + wide) % TILE
        places = numbers.astype(np.int32) * (TILE * TILE)
        places += (down % TILE * TILE)[:, None] + across.astype(np.int32)
        return self._tiles.take(places)


class ByteImage:
    """Keeps the image of the rows until they, their colours or what is seen change.

    The pixels of all rows are one line, cut at the end of each row: where it is moved by whole pixels, what
    stays in sight is copied.
    """

    def __init__(self, viewport: ByteViewport) -> None:
        self._viewport = viewport
        self._subject: ByteSubject | None = None
        self._look: _Look | None = None
        #: Where pixels are counted from, and the number of the first one that is seen.
        self._line, self._first = PixelLine(0.0, 1.0), 0
        #: What is added to the number of a pixel to find its place in a pattern.
        self._phase = 0
        self._patterns = Patterns()
        #: Of shape (rows, height of a row, width): what is seen, and memory for the next one.
        self._pixels = self._spare = np.zeros((0, 0, 0), np.uint32)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self._subject = None

    def image(self, subject: ByteSubject) -> QImage:
        """Return the image of what is seen; its memory is that of this object until it is asked again."""
        viewport = self._viewport
        look = _Look(
            theme.colors(), viewport.ratio, viewport.width, viewport.rows, self._is_bordered(subject.shown)
        )
        is_same = self._subject is not None and all(map(operator.is_, subject, self._subject))
        is_same = is_same and look == self._look
        steps = self._line.steps_to(viewport) if is_same else None
        self._subject, self._look = subject, look
        if steps is None or abs(steps - self._first) >= viewport.width * viewport.rows:
            self._line, self._first = PixelLine(viewport.first, viewport.scale), 0
            self._phase = round(viewport.first / viewport.scale) % TILE
            self._paint(self._memory(), 0, viewport.rows)
        elif steps != self._first:
            self._move(steps)
        rows, high, wide = self._pixels.shape
        found = QImage(self._pixels.data, wide, rows * high, wide * 4, QImage.Format.Format_RGB32)
        found.setDevicePixelRatio(viewport.ratio)
        return found

    def _is_bordered(self, shown: ByteMap) -> bool:
        """Whether a line is drawn where each range begins: they are wide enough."""
        viewport = self._viewport
        count = shown.count_within(int(viewport.first), int(min(viewport.stop, shown.end)) + 1)
        room = viewport.rows * viewport.width
        return count <= _BORDERS_MOST and count * _BORDERED * viewport.ratio <= room

    # Moving

    def _memory(self) -> Colours:
        """Return memory for another image."""
        viewport = self._viewport
        shape = viewport.rows, round((REQUESTS + BYTES + USED + BETWEEN) * viewport.ratio), viewport.width
        return self._spare if self._spare.shape == shape else np.empty(shape, np.uint32)

    def _move(self, steps: int) -> None:
        """Move the line until pixel number `steps` is the first one."""
        by, self._first = steps - self._first, steps
        old, new = self._pixels, self._memory()
        rows, _, wide = old.shape
        down, across = divmod(by, wide)
        _copy_rows(new[:, :, : wide - across], old[:, :, across:], down)
        _copy_rows(new[:, :, wide - across :], old[:, :, :across], down + 1)
        if by > 0:
            self._paint(new, (rows * wide - by) // wide, rows)
        else:
            self._paint(new, 0, -(by // wide))

    # Painting

    def _paint(self, pixels: Colours, top: int, bottom: int) -> None:
        """Paint some rows, and show these pixels then."""
        _, high, wide = pixels.shape
        line = self._rows(high, top * wide, bottom * wide)
        pixels[top:bottom] = line.reshape(high, -1, wide).swapaxes(0, 1)
        self._spare, self._pixels = self._pixels, pixels

    def _rows(self, high: int, start: int, stop: int) -> Colours:
        """Return the colours of pixels of the line, shape (high, stop - start)."""
        subject, look = self._subject, self._look
        assert subject is not None
        assert look is not None
        colors, thin = look.colors, round(look.ratio)
        top, tall, below = (round(part * look.ratio) for part in (REQUESTS, BYTES, USED))
        # What lies beside them has lines that reach into them.
        first, last = self._first + start - thin, self._first + stop + thin
        low, past = self._line.edges(first, last)
        picture = picture_of(subject.shown, low, past, tall, subject.used, subject.requested)
        found = np.full((high, last - first), QColor(colors.surface).rgb(), np.uint32)
        found[top : top + tall] = self._patterns.coloured(picture, subject.styles, first + self._phase)
        found[: max(top - thin, 1), picture.requested] = QColor(colors.accent).rgb()
        line = top + tall + thin
        found[line : line + below, picture.used] = QColor(colors.changed).rgb()
        if look.is_bordered:
            starts = subject.shown.starts_within(int(low[0]), int(past[-1]) + 1)
            places = self._line.nearest(starts) - first
            places = places[(places >= 0) & (places < last - first)]
            found[top : top + tall, places] = QColor(colors.surface).rgb()
        if picture.overlaps.any():
            _mark_overlaps(found, picture.overlaps, thin, QColor(colors.fault).rgb())
        return found[:, thin : last - first - thin]


def _copy_rows(to: Colours, of: Colours, down: int) -> None:
    """Copy to each row what is so many rows below it, where there are any."""
    if down >= 0:
        to[: max(len(to) - down, 0)] = of[down:]
    else:
        to[-down:] = of[:down]


def _mark_overlaps(pixels: Colours, overlaps: npt.NDArray[np.bool_], line: int, color: int) -> None:
    """Draw a line on both sides of overlaps, over all of a row: they are seen however narrow they are."""
    edges = np.zeros_like(overlaps)
    for shift in range(1, line + 1):
        edges[shift:] |= overlaps[:-shift]
        edges[:-shift] |= overlaps[shift:]
    pixels[:, edges & ~overlaps] = color
    # The band above tells of them too, where bytes are so many that no pattern is seen.
    pixels[: max(REQUESTS * line, 1), edges | overlaps] = color
