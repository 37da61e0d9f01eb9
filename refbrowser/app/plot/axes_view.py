"""What the picture and the small charts are drawn in: a box between two axes, framed while keys act in it."""

from __future__ import annotations

from pyqtgraph import GraphicsLayoutWidget, mkPen
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFocusEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from refbrowser.app.plot.axis import CoordinateAxis
from refbrowser.app.plot.box import PlotBox
from refbrowser.app.widgets import theme


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

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._draw_frame()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._draw_frame()
