"""The drawing area: axes with coordinates, an image or a line, chunk states, a cross under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pyqtgraph import ImageItem, InfiniteLine, PlotDataItem, mkPen
from PySide6.QtCore import QEvent, QMargins, QRectF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QPainterPath, QResizeEvent
from PySide6.QtWidgets import QGraphicsPathItem, QGraphicsRectItem, QWidget

from refbrowser.app.plot.axes.axes_view import ARROWS, AxesView, points_in_view
from refbrowser.app.plot.colours.colour_maps import Table
from refbrowser.app.plot.legends import ChunkStateItem, ground_color
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import plain_label
from refbrowser.model.multiscales.axis_transform import IndexMap
from refbrowser.views.plot.colouring import Colouring, boxes_of, decimation, extremes, window
from refbrowser.views.plot.coordinates import AxisScale
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.levels import FARTHEST, Levels, finite
from refbrowser.views.plot.picture import Picture, have_values

#: Chunks that come at once are coloured box by box up to so many boxes, else all cells around them.
BOXES_MOST = 16
#: The view as index ranges ((low, high) across, (low, high) upwards) and its size in pixels.
View = tuple[tuple[float, float], tuple[float, float], tuple[int, int]]
#: From where to where something reaches along an axis.
Extent = tuple[float, float]


class ImageLayer:
    """One `ImageItem` that shows one picture.

    What is on the screen is a colour table and the position of each cell in it, so that new levels or another
    map need no more than one pass over the cells that are seen, and a chunk that comes one over its own.
    """

    def __init__(self, z: float) -> None:
        self.item = ImageItem(axisOrder="row-major")
        self.item.setZValue(z)
        self.picture: Picture | None = None
        #: Where its rows and columns are drawn, which may be of another level than those of the axes.
        self.rows = self.columns = IndexMap()
        self._drawn: tuple[Any, ...] | None = None
        self._states: npt.NDArray[np.uint8] = np.zeros((0, 0), np.uint8)
        self._windows: tuple[range, range] | None = None
        #: Positions in the colour table that are on the screen, (rows, columns).
        #: Or colours, (rows, columns, 4).
        self.indices: npt.NDArray[np.uint8] = np.zeros((0, 0), np.uint8)

    def set_picture(self, picture: Picture | None) -> None:
        """Show another picture, or nothing."""
        self.picture = picture
        self._drawn = self._windows = None
        if picture is None:
            self.item.clear()
            self.indices = np.zeros((0, 0), np.uint8)

    def draw(
        self, view: View, shown: Interpretation, colouring: Colouring | None, colours: Table | None
    ) -> bool:
        """Bring the item up to date; whether anything was drawn anew.

        Parameters
        ----------
        colouring
            None before there is any data.
        colours
            The table that it gives positions in; None where it gives colours.
        """
        picture = self.picture
        if picture is None or not picture.values.size:
            return False
        windows = self._windows_for(picture, view)
        if colouring is None or not all(map(len, windows)):
            # Nothing but pending, missing and failed chunks; or none of it lies in the view, which is that of
            # the array before as long as the plot is hidden.
            self.item.setVisible(False)
            return False
        cells = (windows, shown, colouring)
        arrived = picture.arrived
        if self._drawn == (cells, id(colours), arrived):
            return False
        if self._drawn is None or self._drawn[0] != cells:
            self.indices = colouring.blank(len(windows[0]), len(windows[1]))
            self._states = np.zeros_like(picture.states)
        self._drawn = (cells, id(colours), arrived)
        self._take_news(picture, windows, shown, colouring)
        levels = None if colours is None else (0, 255)
        self.item.setImage(self.indices, autoLevels=False, levels=levels, lut=colours)
        self.item.setRect(self._rect(picture, *windows))
        self.item.setVisible(True)
        return True

    def _take_news(
        self, picture: Picture, windows: tuple[range, range], shown: Interpretation, colouring: Colouring
    ) -> None:
        """Colour the chunks that have come since the last time."""
        # The states first: what they say is done is then certainly in the values.
        states = picture.states.copy()
        changed = states != self._states
        self._states = states
        if not changed.any():
            return
        boxes = boxes_of(changed)
        if len(boxes) > BOXES_MOST:
            low, high = boxes.min(axis=0), boxes.max(axis=0)
            boxes = np.array([[low[0], high[1], low[2], high[3]]])
        for top, bottom, left, right in boxes.tolist():
            rows, into_rows = _seen(windows[0], picture.cell_span(0, top, bottom))
            columns, into_columns = _seen(windows[1], picture.cell_span(1, left, right))
            if not len(rows) or not len(columns):
                continue
            # Several passes over one copy are quicker than over values that lie far apart.
            block = np.ascontiguousarray(picture.values[_slice(rows), _slice(columns)])
            coloured = colouring.positions(block, shown)
            if not have_values(states[top:bottom, left:right]).all():
                of_elements = picture.element_states([_positions(rows), _positions(columns)], states)
                coloured[~have_values(of_elements)] = colouring.blank(1, 1)[0, 0]
            self.indices[into_rows, into_columns] = coloured

    def _windows_for(self, picture: Picture, view: View) -> tuple[range, range]:
        """Return the rows and columns of `values` to draw; those drawn already while they will do."""
        across, upwards, (width, height) = view
        upwards, across = _inside(upwards, self.rows), _inside(across, self.columns)
        found = []
        for axis, (span, pixels) in enumerate(((upwards, height), (across, width))):
            taken = picture.plan.ranges[axis]
            low, high = sorted(((span[0] - taken.start) / taken.step, (span[1] - taken.start) / taken.step))
            low, high = max(low, 0.0), min(high, float(len(taken)))
            step = decimation(int(max(0.0, high - low)), pixels)
            old = None if self._windows is None else self._windows[axis]
            if old is not None and old.step == step and old.start <= low and high <= old.stop:
                found.append(old)
            else:
                found.append(window(low, high, len(taken), step))
        self._windows = (found[0], found[1])
        return self._windows

    def _rect(self, picture: Picture, rows: range, columns: range) -> QRectF:
        """Return what the cells cover, in indices of the axes; each as wide as what it stands for."""
        top, height = _extent(picture.plan.ranges[0], rows, self.rows)
        left, width = _extent(picture.plan.ranges[1], columns, self.columns)
        return QRectF(left, top, width, height)


def _seen(window: range, span: range) -> tuple[range, slice]:
    """Return the positions of `window` that lie in `span`, and where they are in it."""
    first = max(0, -(-(span.start - window.start) // window.step))
    stop = max(first, min(len(window), -(-(span.stop - window.start) // window.step)))
    return window[first:stop], slice(first, stop)


def _slice(cells: range) -> slice:
    return slice(cells.start, cells.stop, cells.step)


def _positions(cells: range) -> npt.NDArray[np.int64]:
    return np.arange(cells.start, cells.stop, cells.step, dtype=np.int64)


def _extent(taken: range, cells: range, drawn: IndexMap) -> tuple[float, float]:
    start = taken.start + (cells.start - 0.5) * taken.step
    return drawn.position(start), len(cells) * cells.step * taken.step * drawn.scale


def _inside(span: Extent, drawn: IndexMap) -> Extent:
    return drawn.inverse.position(span[0]), drawn.inverse.position(span[1])


#: Lines of at most so many points show each of them.
_MARKED_POINTS = 80


class LineLayer:
    """One line that shows one picture."""

    def __init__(self) -> None:
        self.item = PlotDataItem(connect="finite", antialias=True)
        self.item.setZValue(5)
        self.picture: Picture | None = None
        self._drawn: tuple[Any, ...] | None = None
        #: The numbers of the whole picture, NaN where there is none.
        self.numbers: npt.NDArray[Any] = np.zeros(0)
        #: Where they are drawn: the numbers, or their logarithms.
        self.heights: npt.NDArray[Any] = np.zeros(0)
        self._places: npt.NDArray[np.float64] = np.zeros(0)

    def set_picture(self, picture: Picture | None) -> None:
        """Show another picture, or nothing."""
        self.picture = picture
        self._drawn = None
        if picture is None:
            self.item.clear()
            self.numbers = self.heights = self._places = np.zeros(0)

    def draw(
        self,
        span: tuple[float, float],
        pixels: int,
        shown: Interpretation,
        scale: AxisScale,
        log: bool = False,
    ) -> bool:
        """Bring the item up to date for a view from ``span[0]`` to ``span[1]``; whether it was drawn anew.

        With `log` the heights are decimal logarithms. They run across where the scale is an upright one.
        """
        picture = self.picture
        if picture is None:
            return False
        content = (picture.arrived, shown, scale, log)
        if self._drawn is None or self._drawn[0] != content:
            self._take(picture, shown, scale, log)
        view = points_in_view(self._places, *sorted(span))
        if self._drawn == (content, view, pixels):
            return False
        self._drawn = (content, view, pixels)
        x, y = extremes(self._places[view], self.heights[view], pixels)
        known = np.isfinite(y)
        if not known.any():
            x, y = x[:0], y[:0]
        marked = len(x) <= _MARKED_POINTS
        accent = theme.colors().accent
        self.item.setData(
            *((y, x) if scale.is_upright else (x, y)),
            pen=mkPen(accent, width=1.6),
            symbol="o" if marked else None,
            symbolSize=5,
            symbolBrush=accent,
            symbolPen=None,
        )
        return True

    def value_range(self) -> Levels | None:
        """Return the least and greatest finite height so far, or None where there is none."""
        numbers = self.heights
        if not len(numbers):
            return None
        low, high = float(np.fmin.reduce(numbers)), float(np.fmax.reduce(numbers))
        if not (abs(low) <= FARTHEST and abs(high) <= FARTHEST):
            known = finite(numbers)
            if not len(known):
                return None
            low, high = float(known.min()), float(known.max())
        if low < high:
            return Levels(low, high)
        reach = max(abs(low) * 0.05, 1e-12) if low else 1.0
        return Levels(low - reach, low + reach)

    def _take(self, picture: Picture, shown: Interpretation, scale: AxisScale, log: bool) -> None:
        numbers = shown.numbers(picture.values)
        if not picture.all_done:
            states = picture.element_states([np.arange(len(numbers), dtype=np.int64)])
            numbers[~have_values(states)] = np.nan
        self.numbers = self.heights = numbers
        if log:
            with np.errstate(divide="ignore", invalid="ignore"):
                self.heights = np.where(numbers > 0, np.log10(numbers), np.nan)
        self._places = scale.positions(picture.plan.ranges[0])


class ShownScale(NamedTuple):
    """What an axis shows: a scale, its label, and whether decimal logarithms of its numbers are drawn."""

    scale: AxisScale
    label: str
    log: bool = False


#: Around the axes: left, top, right, bottom.
_MARGINS = (2, 10, 26, 2)
#: A side of a picture of fixed proportions is at least so long, in pixels.
_LEAST_SIDE = 80


#: So much of the view, or of what is drawn where that is less, stays in sight.
_KEPT = 0.2


def _shift(seen: Sequence[float], content: Extent | None) -> float:
    """Return by how much a view has to move so that a part of what is drawn is in it."""
    if content is None:
        return 0.0
    low, high = sorted(seen)
    kept = _KEPT * min(high - low, content[1] - content[0])
    shift = max(0.0, content[0] + kept - high) or min(0.0, content[1] - kept - low)
    return shift if abs(shift) > 1e-6 * (high - low) else 0.0


class PlotCanvas(AxesView):
    """Where a picture is drawn.

    Signals
    -------
    viewMoved()
        The visible range or the size changed.
    pointed(object, object)
        The position (across, upwards) under the pointer, or None, None outside.
    clicked(object, object)
        The position that was clicked.
    cursorMoved(int, int)
        The element cursor is to move by so many cells across and upwards on the screen.
    keyUsed(int)
        A key that the pane has a use for was pressed while the plot had the focus.
    menuRequested(object)
        The menu is to be shown at a place (`QPoint`) of the screen.
    """

    viewMoved = Signal()
    pointed = Signal(object, object)
    clicked = Signal(object, object)
    cursorMoved = Signal(int, int)
    keyUsed = Signal(int)
    menuRequested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("plotView", "Plot", _MARGINS, parent)
        self.setAccessibleDescription(
            "Shift and arrow keys move a cursor over the values; left and right step the slider"
        )
        #: Returns the keys that mean something to the pane while the plot has the focus.
        self.pane_keys: Callable[[], Container[Qt.Key]] = frozenset
        #: Those of them that mean something with Shift, too.
        self.shift_keys: set[Qt.Key] = set()
        #: Whether Shift was held at the last click or key: what is there already is to be kept.
        self.extends = False
        #: Device pixels for each of the view where it is drawn for something else than the screen.
        self.density: float | None = None
        #: Behind the image: a coarser level of the same.
        self.backdrop = ImageLayer(-0.5)
        self.image = ImageLayer(0)
        self.detail = ImageLayer(1)
        self.line = LineLayer()
        self.states = ChunkStateItem()
        #: Dark lines under light ones, so that the cross is seen on every colour.
        self._cross = tuple(InfiniteLine(angle=angle) for angle in (90, 0, 90, 0))
        layers = (self.backdrop, self.image, self.detail, self.line)
        for item in (*(layer.item for layer in layers), self.states, *self._cross):
            self.box.addItem(item, ignoreBounds=True)
        for line in self._cross:
            line.setZValue(20)
            line.hide()
        #: Behind an image: seen where elements have no value.
        self.ground = QGraphicsRectItem()
        self.ground.setZValue(-1)
        self.ground.setPen(mkPen(None))
        self.box.addItem(self.ground, ignoreBounds=True)
        #: A light dashed line over a dark one, as the cross.
        self._outline = tuple(QGraphicsPathItem() for _ in range(2))
        for frame in self._outline:
            self.box.addItem(frame, ignoreBounds=True)
            frame.setZValue(15)
            frame.hide()
        #: Why nothing is seen.
        self.message = plain_label("", role="muted")
        self.message.setObjectName("plotMessage")
        self.message.setParent(self)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.message.hide()
        #: How to see all of it again: shown where there is no way on.
        self.hint = plain_label("R or Home shows all of it", role="muted", wrap=False)
        self.hint.setObjectName("plotHint")
        self.hint.setParent(self)
        self.hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hint.setAutoFillBackground(True)
        self.hint.hide()
        self._content: tuple[Extent | None, Extent | None] = (None, None)
        self._is_moved_back = False
        self._proportions: float | None = None
        self._holds = self._left = False
        self.box.sigRangeChanged.connect(self._view_changed)
        self.box.sigResized.connect(self._box_resized)
        self.scene().sigMouseClicked.connect(self._mouse_clicked)
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        super().restyle()
        for item, color, style in zip(self._cross, "kkww", ("Solid", "Solid", "Dash", "Dash"), strict=True):
            item.setPen(mkPen(color, width=1, style=Qt.PenStyle[f"{style}Line"]))
        for frame, color, style in zip(self._outline, "kw", ("Solid", "Dash"), strict=True):
            frame.setPen(mkPen(color, width=2, style=Qt.PenStyle[f"{style}Line"]))
        self.ground.setBrush(ground_color())
        self.states.restyle()
        self.line.set_picture(self.line.picture)

    def set_scales(self, across: ShownScale, upwards: ShownScale) -> None:
        """Show two dimensions, or one and the values over it."""
        self.across.set_scale(*across)
        self.upwards.set_scale(*upwards)
        self.box.invertX(across.scale.runs_backwards(vertical=False))
        self.box.invertY(upwards.scale.runs_backwards(vertical=True))

    def set_limits(self, across: Extent | None, upwards: Extent | None, cell: float = 1.0) -> None:
        """Hold panning and zooming inside these ranges; None: without limits, as the values of a line are.

        Parameters
        ----------
        cell
            Nearer than this an image is not seen.
        """
        limits: dict[str, float | None] = {}
        for name, extent in (("x", across), ("y", upwards)):
            low, high = (None, None) if extent is None else extent
            least = None if low is None or high is None else (high - low) * 1e-9
            if across is not None and upwards is not None:
                least = cell
            limits |= {f"{name}Min": low, f"{name}Max": high, f"min{name.upper()}Range": least}
        self.box.setLimits(**limits)

    def set_content(self, across: Extent | None, upwards: Extent | None) -> None:
        """Keep a part of what lies in these ranges in sight, however the view is moved; None: whatever."""
        self._content = across, upwards

    def content(self) -> tuple[Extent, Extent]:
        """Return from where to where what is drawn reaches: without an end what is visible."""
        ends = (known or seen for known, seen in zip(self._content, self.view()[:2], strict=True))
        across, upwards = ((min(pair), max(pair)) for pair in ends)
        return across, upwards

    def _keep_in_sight(self) -> None:
        """Bring the view back to where there is something, and say how to see all of it."""
        if self._is_moved_back:
            return
        shifts = [
            _shift(seen, content) for seen, content in zip(self.box.viewRange(), self._content, strict=True)
        ]
        if any(shifts):
            self._is_moved_back = True
            self.box.translateBy(x=shifts[0], y=shifts[1])
            self._is_moved_back = False
            self.hint.adjustSize()
            self.hint.show()
            self._place_message()

    def set_aspect(self, cells: float | None, picture: float = 1.0) -> None:
        """Hold the proportions: a cell is `cells` times as wide as high; None: the picture fills the view.

        `picture` tells how many times as wide as high the whole picture is; the axes are laid around that.
        """
        self._proportions = None if cells is None else picture
        self._fit_margins()
        if cells is None:
            self.box.setAspectLocked(False)
        else:
            self.box.setAspectLocked(True, cells)

    @property
    def margins(self) -> tuple[int, int]:
        """How much is free around the axes at least: across, and upwards, in pixels."""
        return _MARGINS[0] + _MARGINS[2], _MARGINS[1] + _MARGINS[3]

    @property
    def proportions(self) -> float | None:
        """How many times as wide as high the picture is; None where it fills the view."""
        return self._proportions

    def _fit_margins(self) -> None:
        """Leave free, around it, what a picture of fixed proportions does not need."""
        left, top, right, bottom = _MARGINS
        if self._proportions is not None:
            wide = self.width() - left - right - self.upwards.width()
            high = self.height() - top - bottom - self.across.height()
            beside = max(0, int(wide - max(_LEAST_SIDE, high * self._proportions)))
            above = max(0, int(high - max(_LEAST_SIDE, wide / self._proportions)))
            left, right = left + beside // 2, right + beside - beside // 2
            top, bottom = top + above // 2, bottom + above - above // 2
        self.ci.setContentsMargins(left, top, right, bottom)

    def settle(self) -> None:
        """Lay everything out at once, with the room that axes turn out to need when they are drawn."""
        for _pass in range(2):
            self.grab()
            self.ci.layout.activate()
            self._fit_margins()
            self.ci.layout.activate()

    def free_above(self) -> int:
        """Return how much is free above a picture of fixed proportions, in pixels."""
        return max(0, self.box_rect().top() - 2 * _MARGINS[1])

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        if not hasattr(self, "_proportions"):
            super().resizeEvent(event)
            return
        # Before the axes are laid out: margins of a larger view would not let them become smaller.
        self._fit_margins()
        super().resizeEvent(event)

    def set_message(self, text: str) -> None:
        """Say in the middle why nothing is seen, or nothing."""
        if text != self.message.text():
            self.message.setText(text)
            self.message.setVisible(bool(text))
            self._place_message()

    def _place_message(self) -> None:
        inside = self.box_rect().marginsRemoved(QMargins(*[theme.LARGE] * 4))
        self.message.setGeometry(inside)
        self.hint.move(inside.left(), inside.bottom() - self.hint.height())

    def show_range(self, across: tuple[float, float], upwards: tuple[float, float]) -> None:
        """Make exactly this range visible."""
        self.hint.hide()
        self.box.setRange(xRange=across, yRange=upwards, padding=0)

    def view(self) -> View:
        """Return the visible range and its size in device pixels."""
        (left, right), (low, high) = self.box.viewRange()
        ratio = self.density or self.devicePixelRatioF()
        return (left, right), (low, high), (int(self.box.width() * ratio), int(self.box.height() * ratio))

    def sought_view(self) -> View:
        """Return the range that was to be visible, of which `view` is more where proportions are fixed."""
        (left, right), (low, high) = self.box.targetRange()
        return (left, right), (low, high), self.view()[2]

    def set_cross(self, position: tuple[float, float] | None) -> None:
        """Show the cursor's cross at a position, or hide it."""
        for item, place in zip(self._cross, (position or (0.0, 0.0)) * 2, strict=True):
            item.setVisible(position is not None)
            item.setPos(place)

    def set_ground(self, part: QRectF | None) -> None:
        """Lay the colour of elements without a value under an image, or nothing."""
        self.ground.setRect(part or QRectF())
        self.ground.setVisible(part is not None)

    def set_outline(self, part: QPainterPath | None) -> None:
        """Draw a frame around a part of the picture, or none."""
        for frame in self._outline:
            frame.setPath(part or QPainterPath())
            frame.setVisible(part is not None)

    def outline(self) -> QRectF | None:
        """Return the part of the picture that has a frame, or None."""
        return self._outline[0].path().boundingRect() if self._outline[0].isVisible() else None

    def _box_resized(self, *_arguments: Any) -> None:
        self._place_message()
        self.viewMoved.emit()

    def _view_changed(self, *_arguments: Any) -> None:
        self._keep_in_sight()
        self.viewMoved.emit()

    def _mouse_clicked(self, event: Any) -> None:
        position = self.position_at(event.scenePos())
        self.extends = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.double():
            self.keyUsed.emit(int(Qt.Key.Key_R))
        elif event.button() == Qt.MouseButton.RightButton:
            # After the button was let go: dragging with it zooms.
            self.pointed.emit(*(position or (None, None)))
            self.menuRequested.emit(event.screenPos().toPoint())
        elif position is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(*position)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self.menuRequested.emit(self.mapToGlobal(self.viewport().geometry().center()))
        event.accept()

    def hold_pointed(self) -> None:
        """Keep what is pointed at although the pointer goes elsewhere: to a menu."""
        self._holds, self._left = True, False

    def release_pointed(self) -> None:
        """Follow the pointer again."""
        self._holds = False
        if self._left:
            self.pointed.emit(None, None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if not self._holds:
            self.pointed.emit(*(self.position_of(event) or (None, None)))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if self._holds:
            self._left = True
        else:
            self.pointed.emit(None, None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if shift and key in ARROWS:
            across, upwards = ARROWS[key]
            across = -across if self.box.xInverted() else across
            upwards = -upwards if self.box.yInverted() else upwards
            self.cursorMoved.emit(across, upwards)
        elif key in self.pane_keys() and (
            not event.modifiers() & ~Qt.KeyboardModifier.AltModifier or (shift and key in self.shift_keys)
        ):
            self.extends = shift
            self.keyUsed.emit(event.keyCombination().toCombined())
        else:
            event.ignore()
            return
        event.accept()
