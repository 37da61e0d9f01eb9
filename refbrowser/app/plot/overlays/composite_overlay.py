"""Draws three bands as red, green and blue over the picture; the colours are made off the window's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pyqtgraph import ImageItem
from PySide6.QtCore import QRectF

from refbrowser.app.plot.drawing import DrawnOverlay
from refbrowser.app.plot.overlays.scene_item import Floats, OtherField, SeenPart
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.views.overlays.composite import Composite, band_levels, colours_of, proposed
from refbrowser.views.plot.readout import value_at
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.plot.canvas import View
    from refbrowser.app.plot.drawing import Drawing
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.views.plot.levels import Levels

#: Of a band, so many values are looked at for what is dark and bright.
_SAMPLE = 200_000
_COLOURS = ("red", "green", "blue")


class DrawnComposite(DrawnOverlay):
    """Draws three indices of a dimension, or three arrays on the grid, as colours."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__(drawing)
        self.item = ImageItem(axisOrder="row-major")
        # Over the picture and its detail, below lines.
        self.item.setZValue(2.0)
        drawing.canvas.box.addItem(self.item, ignoreBounds=True)
        self._fields = tuple(OtherField(drawing, f"plot-composite-{name}") for name in _COLOURS)
        for field in self._fields:
            field.changed.connect(self._came)
        self._latest = Latest(drawing, "plot-composite")
        self._composite: Composite | None = None
        #: What is dark and bright of each band: it stays while sliders move.
        self._levels: list[Levels] = []
        self._asked: tuple[object, ...] = ()
        self._shown: tuple[object, ...] = ()
        #: The colours of elements, (rows, columns, 4), and the part that they are of.
        self.colours: npt.NDArray[np.uint8] = np.zeros((0, 0, 4), np.uint8)
        self._part: SeenPart | None = None
        self._is_on = False

    @property
    def is_settled(self) -> bool:
        """Whether nothing is still to come."""
        return not self._latest.is_running and not any(field.is_reading for field in self._fields)

    def notes(self) -> list[str]:
        parts = zip(_COLOURS, self._names(), strict=False)
        told = ", ".join(f"{colour} {name}" for colour, name in parts)
        return [told] if told else []

    def value_words(self, element: tuple[int, ...]) -> str:
        parts = []
        for colour, name, field in zip(_COLOURS, self._names(), self._fields, strict=False):
            picture = field.picture
            position = None if picture is None else picture.position(element)
            if picture is not None and field.shown is not None and position is not None:
                parts.append(f"{colour} {name} {value_at(picture, field.shown, position)}")
        return ", ".join(parts)

    def _names(self) -> list[str]:
        """Return what the bands are called; nothing where there are none."""
        drawing, composite = self._drawing, self._composite
        if composite is None or drawing.slice is None:
            return []
        names = [band.rpartition("/")[2] for band in composite.bands]
        if composite.dimension in drawing.slice.names:
            coordinate = drawing.coordinates[drawing.slice.names.index(composite.dimension)]
            words = one_line(composite.dimension)
            names = [coordinate.text(int(band)) or f"{words} {band}" for band in composite.bands]
        return [one_line(name) for name in names]

    def set_slice(self) -> None:
        drawing, before = self._drawing, self._composite
        self._is_on = True
        found = self._composite = proposed(drawing.drawn_slice(), drawing.marks.composite)
        if found != before:
            self._levels = []
        shown = drawing.shown
        for field, band in zip(self._fields, ("", "", "") if found is None else found.bands, strict=True):
            if found is not None and found.dimension and shown is not None:
                field.follow(shown.node.path, {found.dimension: int(band)})
            else:
                field.follow(band)

    def clear(self) -> None:
        self._is_on = False
        self._latest.cancel()
        self._composite = None
        self._levels = []
        for field in self._fields:
            field.drop()
        self._take_away()

    def _take_away(self) -> None:
        self._drawing.bar.setVisible(self._drawing.kind.has_bar)
        self._asked = self._shown = ()
        self._part = None
        self.item.clear()

    def _came(self) -> None:
        if self._is_on:
            self.draw(self._drawing.canvas.view())

    def draw(self, view: View) -> None:
        drawing = self._drawing
        pictures = [field.picture for field in self._fields]
        meanings = [field.shown for field in self._fields]
        there = [(p, s) for p, s in zip(pictures, meanings, strict=True) if p is not None and s is not None]
        if self._composite is None or drawing.source is None or len(there) < 3:
            self._take_away()
            return
        if not all(picture.finished for picture, _shown in there):
            # One with two of its bands of another slice has colours that are none.
            return
        if len({picture.plan.ranges for picture, _shown in there}) > 1:
            self._take_away()
            return
        is_looked_up = drawing.kind.lookup is not None
        parts = [
            SeenPart.whole(picture) if is_looked_up else SeenPart.of(picture, drawing, view[2], 1.0)
            for picture, _shown in there
        ]
        asked = tuple(part.key for part in parts), self._composite
        if asked != self._asked:
            self._asked = asked
            self._make(parts, [shown for _picture, shown in there])
        else:
            self._show()

    def _make(self, parts: list[SeenPart], meanings: list[object]) -> None:
        composite, kept = self._composite, list(self._levels)
        assert composite is not None
        assert self._drawing.source is not None

        def work(_control: TaskControl) -> tuple[npt.NDArray[np.uint8], list[Levels]]:
            bands: list[Floats] = [
                part.numbers(shown)  # type: ignore[arg-type]
                for part, shown in zip(parts, meanings, strict=True)
            ]
            levels = kept
            if not levels:
                samples = [
                    shown.numbers(part.picture.sample(_SAMPLE))  # type: ignore[attr-defined]
                    for part, shown in zip(parts, meanings, strict=True)
                ]
                found = [band_levels(sample, composite.clip) for sample in samples]
                levels = [ends for ends in found if ends is not None]
            if len(levels) < 3:
                return np.zeros((0, 0, 4), np.uint8), []
            return colours_of(bands, levels), levels

        def done(found: tuple[npt.NDArray[np.uint8], list[Levels]]) -> None:
            if self._is_on:
                (self.colours, self._levels), self._part, self._shown = found, parts[0], ()
                self._show()
            self._drawing.overlaySettled.emit()

        def failed(_error: BaseException) -> None:
            self._take_away()
            self._drawing.overlaySettled.emit()

        self._latest.run(self._drawing.source, Tasks.PREPARING, work, done, failed)

    def _show(self) -> None:
        """Draw the colours where the elements are."""
        part, lookup = self._part, self._drawing.kind.lookup
        if part is None or not self.colours.size:
            self.item.clear()
            return
        # Its colours are those of what is below.
        self._drawing.bar.hide()
        shown = id(self.colours), part.key, lookup
        if shown == self._shown:
            return
        self._shown = shown
        if lookup is None:
            self.item.setImage(self.colours, autoLevels=False)
            self.item.setRect(_rect(part))
            return
        ranges = part.picture.plan.ranges
        rows, columns = (
            np.where(places < 0, -1, (places - taken.start) // (taken.step * cells.step))
            for places, taken, cells in zip(
                (lookup.rows, lookup.columns), ranges, (part.rows, part.columns), strict=True
            )
        )
        inside = (rows >= 0) & (columns >= 0) & (rows < len(part.rows)) & (columns < len(part.columns))
        found = self.colours[np.where(inside, rows, 0), np.where(inside, columns, 0)]
        found[~inside] = 0
        (left, right), (low, high) = lookup.view
        self.item.setImage(found, autoLevels=False)
        self.item.setRect(QRectF(left, low, right - left, high - low))


def _rect(part: SeenPart) -> QRectF:
    """Return what elements cover, in indices of the axes; each covers those that are left out behind it."""
    top, height, left, width = (
        float(end)
        for cells, taken in zip((part.rows, part.columns), part.picture.plan.ranges, strict=True)
        for end in (
            taken.start + (cells.start - 0.5) * taken.step,
            len(cells) * cells.step * taken.step,
        )
    )
    return QRectF(left, top, width, height)
