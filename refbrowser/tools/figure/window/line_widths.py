"""Lines of plots, thicker: their pens are as wide as pixels, of which a figure has more than the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyqtgraph import AxisItem, GraphicsObject, InfiniteLine, PlotCurveItem, ScatterPlotItem, ViewBox
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QAbstractGraphicsShapeItem, QGraphicsItem, QGraphicsLineItem, QGraphicsScene


@contextmanager
def thicker(scene: QGraphicsScene, factor: float) -> Iterator[None]:
    """Draw the lines and points of a scene so many times as thick, to the pixel, while this is in force."""
    undone: list[Callable[[], object]] = []
    for item in scene.items():
        _thicken(item, factor, undone)
        if isinstance(item, GraphicsObject) and hasattr(item, "setExportMode"):
            # Symbols are drawn as shapes then, in the size asked for, not as pictures for the screen.
            item.setExportMode(True, {"antialias": True, "resolutionScale": factor, "painter": None})
            undone.append(lambda item=item: item.setExportMode(False))  # type: ignore[misc]
    try:
        yield
    finally:
        for undo in reversed(undone):
            undo()


@contextmanager
def unclipped(scene: QGraphicsScene) -> Iterator[None]:
    """Let no item of a scene cut what it or its children draw, while this is in force."""
    cutting = QGraphicsItem.GraphicsItemFlag.ItemClipsToShape
    of_children = QGraphicsItem.GraphicsItemFlag.ItemClipsChildrenToShape
    changed = [(item, item.flags()) for item in scene.items() if item.flags() & (cutting | of_children)]
    for item, flags in changed:
        item.setFlags(flags & ~(cutting | of_children))
    try:
        yield
    finally:
        for item, flags in changed:
            item.setFlags(flags)


def _thicken(item: QGraphicsItem, factor: float, undone: list[Callable[[], object]]) -> None:
    def change(holder: Any, name: str, pen: object, after: Callable[[], object] = lambda: None) -> None:
        if isinstance(pen, QPen) and pen.isCosmetic():
            setattr(holder, name, _wider(pen, factor))
            undone.append(lambda: (setattr(holder, name, pen), after()))
            after()

    if isinstance(item, QAbstractGraphicsShapeItem | QGraphicsLineItem):
        pen = item.pen()
        if pen.isCosmetic():
            item.setPen(_wider(pen, factor))
            undone.append(lambda: item.setPen(pen))
    elif isinstance(item, AxisItem):

        def redraw() -> None:
            item.picture = None

        for name in ("_pen", "_tickPen"):
            change(item, name, getattr(item, name, None), redraw)
    elif isinstance(item, ViewBox):
        border = item.border
        if isinstance(border, QPen):
            item.setBorder(_wider(border, factor))
            undone.append(lambda: item.setBorder(border))
    elif isinstance(item, InfiniteLine):
        change(item, "currentPen", item.currentPen)
    elif isinstance(item, PlotCurveItem):
        pen = item.opts.get("pen")
        if isinstance(pen, QPen):
            item.opts["pen"] = _wider(pen, factor)
            undone.append(lambda: item.opts.__setitem__("pen", pen))
    elif isinstance(item, ScatterPlotItem):
        return


def _wider(pen: QPen, factor: float) -> QPen:
    wider = QPen(pen)
    wider.setWidthF((pen.widthF() or 1.0) * factor)
    wider.setCosmetic(True)
    return wider
