"""What the picture and the small charts are drawn in: a box between two axes, framed while keys act in it."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from math import ceil, log10
from typing import Any

import numpy as np
import numpy.typing as npt
from pyqtgraph import AxisItem, GraphicsLayoutWidget, ViewBox, mkPen
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QMouseEvent
from PySide6.QtWidgets import QWidget

from refbrowser.app.widgets import theme
from refbrowser.views.numbers import log_ticks
from refbrowser.views.plot.coordinates import AxisScale, plain_coordinate

#: Free space between tick texts, in heights of these.
_GAP = 1.5
_LONGEST_TEXT = 20
#: So many ticks are asked for, at most, where fewer would give but one.
_FEW = 4
_LONGEST_LABEL = 100
#: Left free beside a label, in pixels.
_LABEL_MARGIN = 12
#: Tick texts may reach so far beyond the ends of the axis, in pixels.
_OVERHANG = 40
#: Steps of the room for ticks at the side, in pixels.
_ROOM_STEP = 10
#: Where the keys of the arrows lead: across, and upwards.
ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}


class CoordinateAxis(AxisItem):
    """Ticks at round coordinate values, wherever these lie among the cells or points."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation, maxTickLength=5)
        self.enableAutoSIPrefix(False)
        self.scale_shown: AxisScale | None = AxisScale(plain_coordinate("", 0))
        #: Whether positions are decimal logarithms of plain numbers.
        self.log = False
        self._named = ""
        #: What is written at it in place of the name of its scale; None for that.
        self._renamed: str | None = None
        self._texts: dict[float, str] = {}
        self.setStyle(tickTextOffset=5, autoExpandTextSpace=True, hideOverlappingLabels=_OVERHANG)
        self.restyle()
        self.geometryChanged.connect(self._fit_label)

    @property
    def is_vertical(self) -> bool:
        """Whether it stands at the side."""
        return self.orientation in ("left", "right")

    def restyle(self) -> None:
        """Take colours and fonts of the theme."""
        colors = theme.colors()
        font = theme.font(-0.5)
        self.setTickFont(font)
        self.setTickPen(mkPen(colors.muted))
        self.setTextPen(mkPen(colors.muted))
        self.label.setFont(font)
        self.labelStyle = {"font-size": f"{font.pointSizeF()}pt"}
        self.set_line(colors.border)

    def set_line(self, color: str) -> None:
        """Draw the line of the axis in a colour; the library would give the label the same one."""
        self.setPen(mkPen(color))
        self.labelStyle["color"] = theme.colors().text
        self.setLabel(self.labelText, **self.labelStyle)

    def set_scale(self, scale: AxisScale | None, label: str, log: bool = False) -> None:
        """Show a dimension; None for plain numbers, or with `log` for their decimal logarithms."""
        if (scale, label, log) == (self.scale_shown, self._named, self.log):
            return
        self.scale_shown, self._named, self.log = scale, label, log
        self.setLabel(self._fitted(), **self.labelStyle)
        self.picture = None
        self.update()

    @property
    def named(self) -> str:
        """What is written at it by itself."""
        return " ".join(self._named.split())

    def rename(self, label: str | None) -> None:
        """Write something else at it than the name of its scale, or nothing; None for that name."""
        self._renamed = label
        self._fit_label()

    def _fit_label(self) -> None:
        fitted = self._fitted()
        if fitted != self.labelText:
            self.setLabel(fitted, **self.labelStyle)

    def _fitted(self) -> str:
        """Return the label, cut to the length of the axis so that its units stay."""
        label = " ".join((self._named if self._renamed is None else self._renamed).split())
        name, bracket, units = label.rpartition(" [")
        if not bracket or len(units) > _LONGEST_LABEL // 2:
            name, bracket, units = label, "", ""
        metrics = QFontMetricsF(self.style["tickFont"])
        length = self.size().height() if self.is_vertical else self.size().width()
        room = length - metrics.horizontalAdvance(bracket + units) - _LABEL_MARGIN
        if length > 0:
            name = metrics.elidedText(name, Qt.TextElideMode.ElideRight, max(room, _LABEL_MARGIN))
        # The library shows labels as HTML; names and units come from files.
        return escape(name[:_LONGEST_LABEL] + bracket + units)

    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:
        metrics = QFontMetricsF(self.style["tickFont"])
        if self.log:
            low, high = (10.0 ** max(-300.0, min(300.0, end)) for end in sorted((minVal, maxVal)))
            ticks = log_ticks(low, high, max(2, int(size / (metrics.height() * 2))))
            self._texts = {log10(value): text for value, text in ticks}
            return [(1.0, list(self._texts))]
        if self.scale_shown is None:
            return super().tickValues(minVal, maxVal, size)[:1]
        count = max(2, int(size / (metrics.height() * 2.6 if self.is_vertical else metrics.height() * 4.5)))
        while True:
            ticks = self.scale_shown.ticks(minVal, maxVal, count)
            if len(ticks) < 2 and count < _FEW:
                # One tick tells no scale.
                count += 1
                continue
            if self.is_vertical or count <= 2 or not ticks:
                break
            widest = max(metrics.horizontalAdvance(text) for _, text in ticks) + _GAP * metrics.height()
            if widest * len(ticks) <= size * 1.05:
                break
            fitting = max(2, min(count - 1, int(size / widest)))
            if fitting < _FEW:
                ticks = self.scale_shown.ticks(minVal, maxVal, fitting)
                break
            count = fitting
        self._texts = dict(ticks)
        return [(1.0, [position for position, _text in ticks])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        if self.scale_shown is None and not self.log:
            return [
                text.replace("-", "\N{MINUS SIGN}") for text in super().tickStrings(values, scale, spacing)
            ]
        return [_cut(self._texts.get(value, "")) for value in values]

    def _updateMaxTextSize(self, x: float) -> None:
        """Make room for ticks at the side in steps, by what is shown alone.

        The library keeps the room that they needed earlier, also for a moment while an array was loading, as
        long as it is less than 10 pixels too much: the same view would lie now here, now there.
        """
        if not self.is_vertical:
            super()._updateMaxTextSize(x)
            return
        self.textWidth = ceil(x / _ROOM_STEP) * _ROOM_STEP
        self._updateWidth()

    def tick_texts(self) -> list[str]:
        """Return the texts of the ticks drawn last."""
        return list(self._texts.values())


def points_in_view(places: npt.NDArray[np.float64], low: float, high: float) -> slice:
    """Return the points of a line from one before a view to one after it.

    Parameters
    ----------
    places
        Of the points, shape (n,): they rise or fall.
    low, high
        The ends of the view.
    """
    if len(places) < 2:
        return slice(None)
    if places[0] > places[-1]:
        first = len(places) - int(np.searchsorted(places[::-1], high, "right"))
        last = len(places) - int(np.searchsorted(places[::-1], low, "left"))
    else:
        first = int(np.searchsorted(places, low, "left"))
        last = int(np.searchsorted(places, high, "right"))
    return slice(max(0, first - 1), last + 1)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


#: A rectangle smaller than this, in pixels, was no more than a click.
_LEAST = 6


class PlotBox(ViewBox):
    """A `ViewBox` whose right button zooms to the rectangle that is dragged.

    With Ctrl the left button does what `turned` says, where it says anything.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        #: Is told from where to where in the plot something is dragged.
        self.turned: Callable[[QPointF, QPointF], None] | None = None

    def mouseDragEvent(self, ev: Any, axis: int | None = None) -> None:
        is_turned = ev.button() == Qt.MouseButton.LeftButton and axis is None
        if is_turned and self.turned is not None and ev.modifiers() & Qt.KeyboardModifier.ControlModifier:
            ev.accept()
            self.turned(*(self.childGroup.mapFromParent(place) for place in (ev.lastPos(), ev.pos())))
            return
        if ev.button() != Qt.MouseButton.RightButton or axis is not None:
            super().mouseDragEvent(ev, axis)
            return
        ev.accept()
        start, end = ev.buttonDownPos(ev.button()), ev.pos()
        if not ev.isFinish():
            self.updateScaleBox(start, end)
            return
        self.rbScaleBox.hide()
        dragged = QRectF(start, end).normalized()
        if min(dragged.width(), dragged.height()) >= _LEAST:
            self.setRange(self.childGroup.mapRectFromParent(dragged), padding=0)


class AxesView(GraphicsLayoutWidget):
    """A `PlotBox` with an axis below it and one at its left.

    Parameters
    ----------
    name, title
        Object name and accessible name.
    margins
        Room around the axes, in pixels: left, top, right, bottom.
    """

    def __init__(
        self, name: str, title: str, margins: tuple[int, int, int, int], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.across, self.upwards = CoordinateAxis("bottom"), CoordinateAxis("left")
        self.box = PlotBox(enableMenu=False)
        grid = self.ci
        grid.setContentsMargins(*margins)
        grid.layout.setSpacing(0)
        grid.addItem(self.upwards, 0, 0)
        grid.addItem(self.box, 0, 1)
        grid.addItem(self.across, 1, 1)
        grid.layout.setRowStretchFactor(0, 1)
        grid.layout.setColumnStretchFactor(1, 1)
        for axis in (self.upwards, self.across):
            axis.linkToView(self.box)
            # Ticks that point outwards must not be hidden behind the image.
            axis.setZValue(0.5)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.setBackground(theme.colors().surface)
        self.across.restyle()
        self.upwards.restyle()
        self._draw_frame()

    def _draw_frame(self) -> None:
        """Draw the frame, in the accent colour while keys act here."""
        colors = theme.colors()
        color = colors.accent if self.hasFocus() else colors.border
        self.box.setBorder(mkPen(color))
        self.across.set_line(color)
        self.upwards.set_line(color)

    def position_at(self, place: QPointF) -> tuple[float, float] | None:
        """Return the position in the plot of a place in the scene, or None outside of the axes."""
        if not self.box.sceneBoundingRect().contains(place):
            return None
        found = self.box.mapSceneToView(place)
        return found.x(), found.y()

    def position_of(self, event: QMouseEvent) -> tuple[float, float] | None:
        """Return the position in the plot of the pointer, or None outside of the axes.

        The scene's signal leaves out moves that follow each other closely, the last too.
        """
        return self.position_at(self.mapToScene(event.position().toPoint()))

    def box_rect(self) -> QRect:
        """Return where the box between the axes is, in pixels of this widget."""
        return self.mapFromScene(self.box.sceneBoundingRect()).boundingRect()

    def exact_box(self) -> QRectF:
        """Return the same exactly."""
        to_view = self.viewportTransform()
        return to_view.mapRect(self.box.sceneBoundingRect())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._draw_frame()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._draw_frame()
