"""What is drawn over a picture in pixels of the screen, whatever the view is zoomed to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pyqtgraph import GraphicsObject
from pyqtgraph.functions import arrayToQPath
from PySide6.QtCore import QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from refbrowser.app.plot.reader import PictureLoader
from refbrowser.views.overlays.same_grid import slice_on
from refbrowser.views.plot.colouring import decimation, window
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import Picture, have_values
from refbrowser.views.plot.plan import plan_view, sampled_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from refbrowser.app.plot.drawing import Drawing

Floats = npt.NDArray[np.float64]
#: Dark on light, so that they are seen on every colour.
DARK, LIGHT = QColor(16, 21, 29, 235), QColor(255, 255, 255, 130)
#: A text has so much light around it, in pixels.
_AROUND_TEXT = 2.0


class SceneItem(GraphicsObject):
    """Draws in pixels, from the top left of the plot; exported pictures have the same, larger."""

    def __init__(self, drawing: Drawing, z: float) -> None:
        super().__init__()
        self.setZValue(z)
        self._box = drawing.canvas.box
        self._box.addItem(self, ignoreBounds=True)
        self.font = QFont(drawing.canvas.font())
        #: What is on the screen: it is painted once, not again with each picture below it.
        self._painted: QPixmap | None = None

    def boundingRect(self) -> QRectF:
        return QRectF(self.viewRect())

    def viewTransformChanged(self) -> None:
        self.prepareGeometryChange()
        self.draw_anew()

    def draw_anew(self) -> None:
        """Draw something else, or elsewhere in the view."""
        self._painted = None
        self.update()

    def in_pixels(self, places: Floats) -> Floats:
        """Return places of the plot, (..., 2), as pixels of the scene."""
        transform = self.sceneTransform()
        x, y = places[..., 0], places[..., 1]
        across = transform.m11() * x + transform.m21() * y + transform.dx()
        down = transform.m12() * x + transform.m22() * y + transform.dy()
        return np.stack([across, down], axis=-1)

    def area(self) -> QRectF:
        """Return what is seen of the plot, in pixels of the scene."""
        return self._box.mapRectToScene(self._box.rect())

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        to_scene, invertible = self.sceneTransform().inverted()
        if not invertible:
            return
        painter.save()
        painter.setTransform(to_scene * painter.transform())
        if widget is None:
            # Into a file.
            self._paint(painter)
        else:
            area, ratio = self.area(), widget.devicePixelRatioF()
            if self._painted is None or self._painted.devicePixelRatioF() != ratio:
                self._painted = self._on_pixmap(area, ratio)
            painter.drawPixmap(area.topLeft(), self._painted)
        painter.restore()

    def _on_pixmap(self, area: QRectF, ratio: float) -> QPixmap:
        """Return what is drawn in a part of the scene, as a picture for the screen."""
        found = QPixmap((area.size() * ratio).toSize().expandedTo(QSize(1, 1)))
        found.setDevicePixelRatio(ratio)
        found.fill(Qt.GlobalColor.transparent)
        painter = QPainter(found)
        painter.translate(-area.topLeft())
        self._paint(painter)
        painter.end()
        return found

    def _paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font)
        self.paint_pixels(painter)

    def paint_pixels(self, painter: QPainter) -> None:
        """Draw; the painter is in pixels of the scene."""
        raise NotImplementedError


def plot_size(drawing: Drawing) -> tuple[float, float]:
    """Return width and height of the plot in pixels of the scene, whatever their size on the screen."""
    return float(drawing.canvas.box.width()), float(drawing.canvas.box.height())


def path_of(strokes: Floats) -> QPainterPath:
    """Return lines between pairs of pixels, (n, 2, 2), as one path, without doubles where they meet."""
    return arrayToQPath(strokes[..., 0].ravel(), strokes[..., 1].ravel(), connect="pairs")


def draw_path(painter: QPainter, path: QPainterPath, width: float) -> None:
    """Draw lines, dark on light."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for color, more in ((LIGHT, 1.6), (DARK, 0.0)):
        painter.setPen(QPen(color, width + more))
        painter.drawPath(path)


def draw_text(painter: QPainter, text: str, box: QRectF, flags: Any) -> None:
    """Draw a text with light around it."""
    painter.setPen(QColor(255, 255, 255, 200))
    for across in (-_AROUND_TEXT / 2, 0.0, _AROUND_TEXT / 2):
        for down in (-_AROUND_TEXT / 2, 0.0, _AROUND_TEXT / 2):
            painter.drawText(box.translated(across, down), flags, text)
    painter.setPen(DARK)
    painter.drawText(box, flags, text)


def text_size(font: QFont, text: str) -> tuple[float, float]:
    """Return width and height of a text, in pixels."""
    metrics = QFontMetricsF(font)
    return metrics.horizontalAdvance(text), metrics.height()


#: Elements of a whole picture that are looked at.
_WHOLE_MOST = 4_000_000


class SeenPart:
    """The elements of a picture that are looked at for a view: about one for so many pixels.

    Parameters
    ----------
    rows, columns
        Positions in the values of the picture.
    """

    def __init__(self, picture: Picture, rows: range, columns: range) -> None:
        self.picture, self.rows, self.columns = picture, rows, columns
        self.key = (id(picture), rows, columns, picture.arrived)

    @classmethod
    def of(cls, picture: Picture, drawing: Drawing, size: tuple[float, float], cell: float) -> SeenPart:
        """Return the part of a picture for a view of a size, and more around it.

        Parameters
        ----------
        size
            Width and height of the view.
        cell
            An element is to take about so much of them.
        """
        seen = drawing.visible_window()
        found = []
        for taken, part, pixels in zip(picture.plan.ranges, seen, reversed(size), strict=True):
            ends = part.start, max(part.start, part.stop - 1)
            low, high = ((end - taken.start) / taken.step for end in ends)
            step = decimation(int(high - low) + 1, int(pixels / cell))
            found.append(window(low, high, len(taken), step))
        return cls(picture, found[0], found[1])

    @classmethod
    def whole(cls, picture: Picture) -> SeenPart:
        """Return all of a picture, of a large one every second element, and so on."""
        step = 1
        while picture.values.size // (step * step) > _WHOLE_MOST:
            step *= 2
        rows, columns = (range(0, size, step) for size in picture.values.shape)
        return cls(picture, rows, columns)

    def numbers(self, shown: Interpretation) -> Floats:
        """Return the numbers of the elements, (rows, columns), NaN where there is none."""
        picture = self.picture
        states = picture.states.copy()
        parts = self.rows, self.columns
        at = [np.arange(part.start, part.stop, part.step, dtype=np.int64) for part in parts]
        raw = picture.values[
            self.rows.start : self.rows.stop : self.rows.step,
            self.columns.start : self.columns.stop : self.columns.step,
        ]
        numbers = shown.numbers(np.ascontiguousarray(raw)).astype(np.float64)
        numbers[~have_values(picture.element_states(at, states))] = np.nan
        return numbers

    def meets_itself(self, where: Callable[[Floats, Floats], tuple[Floats, Floats]]) -> int:
        """Return after how many columns the first follows on the last on a map; 0 where it does not."""
        taken = self.picture.plan.ranges[1]
        count = len(self.columns) * self.columns.step
        if self.columns.start or count != len(taken) or taken.start or taken.step > 1 or count < 3:
            return 0
        rows = np.linspace(self.rows.start, self.rows[-1], 9) * self.picture.plan.ranges[0].step
        rows += self.picture.plan.ranges[0].start
        first, last, before = (
            np.stack(where(rows, np.full(9, float(place))), axis=-1)
            for place in (-0.49, count - 0.51, count - 1.51)
        )
        away, width = np.hypot(*(first - last).T), np.hypot(*(last - before).T)
        known = np.isfinite(away) & np.isfinite(width) & (width > 0)
        return count if known.any() and bool((away[known] < 0.5 * width[known]).all()) else 0

    def places(self, rows: Floats, columns: Floats) -> tuple[Floats, Floats]:
        """Return fractional positions among the elements as those along the axes of the slice."""
        ranges = self.picture.plan.ranges
        found = []
        for at, part, taken in zip((rows, columns), (self.rows, self.columns), ranges, strict=True):
            found.append(taken.start + (part.start + at * part.step) * taken.step)
        return found[0], found[1]


class OtherField(QObject):
    """The picture of another array that lies on the grid of the one that is drawn, at the same slice.

    Signals
    -------
    changed()
        Another picture is there, or more of it.
    """

    changed = Signal()

    def __init__(self, drawing: Drawing, what: str) -> None:
        super().__init__(drawing)
        self._drawing = drawing
        self._loader = PictureLoader(what, self, "Overlay")
        self._loader.shown.connect(self.changed)
        self._loader.filled.connect(self.changed)
        self._loader.ended.connect(drawing.overlaySettled)
        self._asked: tuple[object, ...] = ()
        self.shown: Interpretation | None = None

    @property
    def picture(self) -> Picture | None:
        """What has come of the newest slice; the one before stays for a moment."""
        return self._loader.current

    @property
    def is_reading(self) -> bool:
        """Whether anything is still to come."""
        return self._loader.is_reading

    def follow(self, path: str, held: Mapping[str, int] | None = None) -> None:
        """Read an array under the slice that is drawn, unless it is here; nothing where it is not there.

        Parameters
        ----------
        held
            Dimensions that are at another index than in that slice, by name.
        """
        drawing = self._drawing
        arrays = () if drawing.shown is None else (drawing.shown.node, *drawing.others())
        node = next((array for array in arrays if array.path == path), None)
        state = None if node is None or drawing.slice is None else slice_on(node, drawing.slice)
        if node is None or state is None or drawing.source is None or drawing.shown is None:
            self.drop()
            return
        for name, index in (held or {}).items():
            state = state.with_index(state.names.index(name), index)
        asked = drawing.source, node, state, drawing.shown.decoded
        if asked == self._asked:
            return
        if self.shown is None or self.shown.node is not node or self.shown.decoded != drawing.shown.decoded:
            self._loader.clear()
            self.shown = Interpretation(node, drawing.shown.decoded)
        self._asked = asked
        plan = plan_view(node, state)
        self._loader.request(drawing.source, node, sampled_plan(node, state) if plan.too_large else plan)

    def drop(self) -> None:
        """Let go of it, and stop reading."""
        self._asked = ()
        self.shown = None
        self._loader.clear()
