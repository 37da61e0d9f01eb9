"""Lines of plots, thicker: their pens are as wide as pixels, of which a figure has more than the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from pyqtgraph import AxisItem, GraphicsObject, PlotCurveItem
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QAbstractGraphicsShapeItem, QGraphicsItem, QGraphicsLineItem, QGraphicsScene

from refbrowser.app.plot.legends import ChunkStateItem
from refbrowser.app.plot.maps.drawn_lines import LinesItem


@contextmanager
def thicker(scene: QGraphicsScene, factor: float) -> Iterator[None]:
    """Draw the lines and points of a scene so many times as thick, to the pixel, while this is in force."""
    undone: list[Callable[[], object]] = []
    for item in scene.items():
        _thicken(item, factor, undone)
        _draw_anew(item)
        if isinstance(item, ChunkStateItem):
            item.magnification = factor
            undone.append(partial(setattr, item, "magnification", 1.0))
        if isinstance(item, GraphicsObject) and hasattr(item, "setExportMode"):
            # Symbols are drawn as shapes then, in the size asked for, not as pictures for the screen.
            item.setExportMode(True, {"antialias": True, "resolutionScale": factor, "painter": None})
            undone.append(partial(item.setExportMode, False))
    try:
        yield
    finally:
        for undo in reversed(undone):
            undo()
        for item in scene.items():
            _draw_anew(item)


@contextmanager
def kept(scene: QGraphicsScene) -> Iterator[None]:
    """Keep pictures of lines that are the same in many frames, while this is in force."""
    items = [item for item in scene.items() if isinstance(item, LinesItem)]
    for item in items:
        item.setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)
    try:
        yield
    finally:
        for item in items:
            item.setCacheMode(QGraphicsItem.CacheMode.NoCache)


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
    if isinstance(item, QAbstractGraphicsShapeItem | QGraphicsLineItem):
        pen = item.pen()
        if pen.isCosmetic():
            item.setPen(_wider(pen, factor))
            undone.append(lambda: item.setPen(pen))
        return
    holders: list[dict[str, Any]] = [vars(item)] if hasattr(item, "__dict__") else []
    if isinstance(item, PlotCurveItem):
        holders.append(item.opts)
    for holder in holders:
        for name, value in list(holder.items()):
            thick = _wider_all(value, factor)
            if thick is not value:
                holder[name] = thick
                undone.append(partial(holder.__setitem__, name, value))


def _draw_anew(item: QGraphicsItem) -> None:
    if isinstance(item, AxisItem):
        # It keeps what it drew.
        item.picture = None


def _wider_all(value: Any, factor: float) -> Any:
    """Return pens that are wider; what is none as it is."""
    if isinstance(value, QPen) and value.isCosmetic():
        return _wider(value, factor)
    if isinstance(value, tuple) and value and all(isinstance(one, QPen) for one in value):
        return tuple(_wider_all(one, factor) for one in value)
    return value


def _wider(pen: QPen, factor: float) -> QPen:
    wider = QPen(pen)
    wider.setWidthF((pen.widthF() or 1.0) * factor)
    wider.setCosmetic(True)
    return wider
