"""The colour maps on offer, and their tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QIcon, QImage, QPixmap

from refbrowser.engine.views.painting import COLOURS


@dataclass(frozen=True, slots=True)
class MapSpec:
    """One colour map: what the menu calls it, its name in pyqtgraph, and what it is for."""

    title: str
    source: str
    diverging: bool = False


#: All perceptually uniform; the first is the default.
MAPS = {
    spec.title: spec
    for spec in (
        MapSpec("Viridis", "viridis"),
        MapSpec("Cividis", "cividis"),
        MapSpec("Magma", "magma"),
        MapSpec("Inferno", "inferno"),
        MapSpec("Plasma", "plasma"),
        MapSpec("Grey", "CET-L1"),
        MapSpec("Blue", "CET-L12"),
        MapSpec("Terrain", "CET-L10"),
        MapSpec("Rainbow", "CET-R4"),
        MapSpec("Blue–red, diverging", "CET-D1", diverging=True),
        MapSpec("Green–violet, diverging", "CET-D2", diverging=True),
        MapSpec("Cyclic", "CET-C2"),
    )
}
DEFAULT_MAP = "Viridis"


@cache
def table(title: str) -> npt.NDArray[np.uint8]:
    """Return the colours of a map as RGBA, shape (256, 4); the last is transparent, for no value."""
    from pyqtgraph import colormap

    found = colormap.get(MAPS[title].source)
    colours = np.zeros((COLOURS + 1, 4), np.uint8)
    colours[:COLOURS] = found.getLookupTable(0.0, 1.0, COLOURS, alpha=True)
    return colours


def image(title: str, width: int, height: int) -> QImage:
    """Return a map as a strip from left to right."""
    row = table(title)[np.linspace(0, COLOURS - 1, width).astype(int)]
    pixels = np.ascontiguousarray(np.broadcast_to(row, (height, width, 4)))
    return QImage(pixels.data, width, height, QImage.Format.Format_RGBA8888).copy()


def icon(title: str) -> QIcon:
    """Return a map as the icon of a menu entry."""
    return QIcon(QPixmap.fromImage(image(title, 48, 12)))
