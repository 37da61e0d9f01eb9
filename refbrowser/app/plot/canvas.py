"""The drawing area: axes with coordinates, an image or a line, chunk states, a cross under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from pyqtgraph import InfiniteLine, mkPen
from PySide6.QtCore import QEvent, QMargins, QRectF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QGraphicsRectItem, QWidget

from refbrowser.app.plot.axes_view import AxesView
from refbrowser.app.plot.chunk_states import ChunkStateItem
from refbrowser.app.plot.image_layer import ImageLayer, View
from refbrowser.app.plot.line_layer import LineLayer
from refbrowser.app.plot.patterns import ground_color
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import plain_label
from refbrowser.views.plot.coordinates import AxisScale

#: Around the axes: left, top, right, bottom.
_MARGINS = (2, 10, 26, 2)
#: A side of a picture of fixed proportions is at least so long, in pixels.
_LEAST_SIDE = 80
_MOVES = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}


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
        self.image = ImageLayer(0)
        self.detail = ImageLayer(1)
        self.line = LineLayer()
        self.states = ChunkStateItem()
        #: Dark lines under light ones, so that the cross is seen on every colour.
        self._cross = tuple(InfiniteLine(angle=angle) for angle in (90, 0, 90, 0))
        for item in (self.image.item, self.detail.item, self.line.item, self.states, *self._cross):
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
        self._outline = tuple(QGraphicsRectItem() for _ in range(2))
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

    def set_scales(
        self,
        across: AxisScale,
        upwards: AxisScale,
        across_label: str,
        label: str,
        log: bool = False,
    ) -> None:
        """Show a dimension across, and upwards another one or values, with `log` the logarithms of these."""
        self.across.set_scale(across, across_label)
        self.upwards.set_scale(upwards, label, log)
        self.box.invertX(across.runs_backwards(vertical=False))
        self.box.invertY(upwards.runs_backwards(vertical=True))

    def set_limits(self, across: tuple[float, float], upwards: tuple[float, float] | None) -> None:
        """Hold panning and zooming inside these ranges; None: without limits."""
        least = (across[1] - across[0]) * 1e-9
        limits: dict[str, Any] = {"xMin": across[0], "xMax": across[1], "minXRange": least}
        limits |= {"yMin": None, "yMax": None, "minYRange": None}
        if upwards is not None:
            limits |= {"yMin": upwards[0], "yMax": upwards[1], "minXRange": 1, "minYRange": 1}
        self.box.setLimits(**limits)

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
        box = self.mapFromScene(self.box.sceneBoundingRect()).boundingRect()
        self.message.setGeometry(box.marginsRemoved(QMargins(*[theme.LARGE] * 4)))

    def show_range(self, across: tuple[float, float], upwards: tuple[float, float]) -> None:
        """Make exactly this range visible."""
        self.box.setRange(xRange=across, yRange=upwards, padding=0)

    def view(self) -> View:
        """Return the visible range and its size in device pixels."""
        (left, right), (low, high) = self.box.viewRange()
        ratio = self.devicePixelRatioF()
        return (left, right), (low, high), (int(self.box.width() * ratio), int(self.box.height() * ratio))

    def set_cross(self, position: tuple[float, float] | None) -> None:
        """Show the cursor's cross at a position, or hide it."""
        for item, place in zip(self._cross, (position or (0.0, 0.0)) * 2, strict=True):
            item.setVisible(position is not None)
            item.setPos(place)

    def set_ground(self, part: QRectF | None) -> None:
        """Lay the colour of elements without a value under an image, or nothing."""
        self.ground.setRect(part or QRectF())
        self.ground.setVisible(part is not None)

    def set_outline(self, part: QRectF | None) -> None:
        """Draw a frame around a part of the picture, or none."""
        for frame in self._outline:
            frame.setRect(part or QRectF())
            frame.setVisible(part is not None)

    def outline(self) -> QRectF | None:
        """Return the part of the picture that has a frame, or None."""
        return self._outline[0].rect() if self._outline[0].isVisible() else None

    def _box_resized(self, *_arguments: Any) -> None:
        self._place_message()
        self.viewMoved.emit()

    def _view_changed(self, *_arguments: Any) -> None:
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
        if shift and key in _MOVES:
            across, upwards = _MOVES[key]
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
