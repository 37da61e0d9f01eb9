"""Draws lines of equal values over a picture, with their names; they are made off the window's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPainterPath

from refbrowser.app.plot.drawing import DrawnOverlay
from refbrowser.app.plot.overlays.scene_item import (
    Floats,
    OtherField,
    SceneItem,
    SeenPart,
    draw_path,
    draw_text,
    path_of,
    plot_size,
    text_size,
)
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.views.overlays.contours import CELL, LineName, line_names, thinned_contours, under_names
from refbrowser.views.plot.levels import LevelKeeper
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.plot.canvas import View
    from refbrowser.app.plot.drawing import Drawing
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.views.plot.interpretation import Interpretation
    from refbrowser.views.plot.picture import Picture

#: Lines of the slice before stay for so long, in milliseconds, until those of the next have come.
_STALE = 400
#: A stroke that is so many times as long as nearly all others goes around a seam.
_AROUND = 20.0
_WIDTH = 1.1


class ContourItem(SceneItem):
    """Lines in strokes, with names."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__(drawing, 4.0)
        small = QFont(self.font)
        small.setPointSizeF(max(6.0, small.pointSizeF() - 1.5))
        self.font = small
        self.strokes: Floats = np.zeros((0, 2, 2))
        self._lines: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self.texts: list[str] = []
        #: The lines in pixels, with gaps where their names are; None before they are laid out.
        self._path: QPainterPath | None = None
        self.names: list[LineName] = []

    def set_lines(self, strokes: Floats, lines: npt.NDArray[np.int64], texts: list[str]) -> None:
        """Show strokes (n, 2, 2) between places of the plot, of lines that are called so."""
        self.strokes, self._lines, self.texts = strokes, lines, texts
        self.draw_anew()

    def draw_anew(self) -> None:
        self._path = None
        super().draw_anew()

    def lay_out(self) -> QPainterPath:
        """Return the lines in pixels, and find where they are named."""
        if self._path is None:
            area = self.area()
            pixels = self.in_pixels(self.strokes)
            inside = pixels - np.array([area.left(), area.top()])
            self.names = line_names(inside, self._lines, (area.width(), area.height()))
            sizes = [text_size(self.font, self.texts[name.line]) for name in self.names]
            rooms = [(width + 6, height - 2) for width, height in sizes]
            self._path = path_of(pixels[~under_names(inside, self.names, rooms)])
        return self._path

    def paint_pixels(self, painter: QPainter) -> None:
        if not len(self.strokes):
            return
        path, area = self.lay_out(), self.area()
        draw_path(painter, path, _WIDTH)
        for name in self.names:
            text = self.texts[name.line]
            width, height = text_size(self.font, text)
            painter.save()
            painter.translate(area.left() + name.x, area.top() + name.y)
            painter.rotate(name.angle)
            box = QRectF(-width / 2 - 2, -height / 2, width + 4, height)
            draw_text(painter, text, box, Qt.AlignmentFlag.AlignCenter)
            painter.restore()


class DrawnContours(DrawnOverlay):
    """Draws lines of the field that is shown, or of another one on its grid."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__(drawing)
        self.item = ContourItem(drawing)
        self._latest = Latest(drawing, "plot-contours")
        self._other = OtherField(drawing, "plot-contours-of")
        self._other.changed.connect(self._other_came)
        #: Levels of the other field, which stay while they suit it.
        self._keeper = LevelKeeper()
        self._stale = one_shot(drawing, _STALE, self._give_up)
        self._asked: tuple[object, ...] = ()
        self._is_on = False

    @property
    def is_settled(self) -> bool:
        """Whether nothing is still to come."""
        return not self._latest.is_running and not self._other.is_reading

    def notes(self) -> list[str]:
        # Those of what is shown need no words.
        other = self._other.shown
        if other is None:
            return []
        name = one_line(other.node.name)
        return [f"contours of {name} [{one_line(other.units)}]" if other.units else f"contours of {name}"]

    def set_slice(self) -> None:
        self._is_on = True
        before = self._other.shown
        self._other.follow(self._drawing.marks.contours_of)
        if before is None or self._other.shown is not before:
            self._keeper.forget()

    def clear(self) -> None:
        self._is_on = False
        self._latest.cancel()
        self._stale.stop()
        self._other.drop()
        self._asked = ()
        self._show(np.zeros((0, 2, 2)), np.zeros(0, np.int64), [])

    def _show(self, strokes: Floats, lines: npt.NDArray[np.int64], texts: list[str]) -> None:
        self.item.set_lines(strokes, lines, texts)

    def _other_came(self) -> None:
        if self._is_on:
            self.draw(self._drawing.canvas.view())

    def draw(self, view: View) -> None:
        part = self._part()
        source, shown = self._drawing.source, self._other.shown or self._drawing.shown
        if part is None or source is None or shown is None:
            self.clear_lines()
            return
        at = self._values(part.picture, shown)
        asked = (part.key, at, shown, self._drawing.kind.place_key)
        if asked == self._asked:
            return
        self._asked = asked
        if not at:
            self.clear_lines()
            return
        self._make(part, shown, at)

    def clear_lines(self) -> None:
        """Show no lines while there is no field."""
        self._latest.cancel()
        self._stale.stop()
        if len(self.item.strokes):
            self._show(np.zeros((0, 2, 2)), np.zeros(0, np.int64), [])

    def _give_up(self) -> None:
        if self._latest.is_running:
            # They are of another slice: they are not to be taken for those of this one.
            self._show(np.zeros((0, 2, 2)), np.zeros(0, np.int64), [])

    def _part(self) -> SeenPart | None:
        drawing = self._drawing
        picture: Picture | None
        if drawing.marks.contours_of:
            picture = self._other.picture
        else:
            detail = drawing.detail
            covers = detail is not None and detail.finished and detail.plan.covers(drawing.visible_window())
            picture = detail if covers else drawing.base
        if picture is None or not picture.has_data or min(picture.values.shape) < 2:
            return None
        return SeenPart.of(picture, drawing, plot_size(drawing), CELL)

    def _values(self, picture: Picture, shown: Interpretation) -> tuple[float, ...]:
        """Return the values at which there are lines."""
        keeper = self._drawing.keeper
        if self._drawing.marks.contours_of:
            keeper = self._keeper
            keeper.take(shown.numbers(picture.sample()), picture.finished)
        if keeper.levels is None:
            return self._drawing.marks.spacing.values
        return self._drawing.marks.spacing.between(keeper.levels, keeper.edges)

    def _make(self, part: SeenPart, shown: Interpretation, at: tuple[float, ...]) -> None:
        where = self._drawing.kind.where
        assert self._drawing.source is not None

        def work(_control: TaskControl) -> tuple[Floats, npt.NDArray[np.int64], list[str]]:
            numbers, count = part.numbers(shown), part.meets_itself(where)
            if count:
                # Lines go on from the last meridian to the first.
                numbers = np.concatenate([numbers, numbers[:, :1]], axis=1)
            found = thinned_contours(numbers, at)
            rows, columns = part.places(found.strokes[..., 0], found.strokes[..., 1])
            if count:
                columns = np.where(columns > count - 0.5, columns - count, columns)
            strokes = np.stack(where(rows, columns), axis=-1)
            lengths = np.hypot(*(strokes[:, 1] - strokes[:, 0]).T)
            kept = np.isfinite(lengths)
            if kept.any():
                kept &= lengths <= _AROUND * float(np.quantile(lengths[kept], 0.9)) + 1e-300
            return strokes[kept], found.lines[kept], found.texts

        def done(found: tuple[Floats, npt.NDArray[np.int64], list[str]]) -> None:
            self._stale.stop()
            if self._is_on:
                self._show(*found)
                self._drawing.overlaySettled.emit()

        def failed(_error: BaseException) -> None:
            self.clear_lines()
            self._drawing.overlaySettled.emit()

        if not self._stale.isActive():
            self._stale.start()
        self._latest.run(self._drawing.source, Tasks.PREPARING, work, done, failed)
