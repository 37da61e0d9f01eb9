"""The colour maps on offer, and their tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QIcon, QImage, QPixmap

from refbrowser.views.plot.colouring import COLOURS, NO_VALUE, OTHER, Quantity


@dataclass(frozen=True, slots=True)
class MapSpec:
    """One colour map: what the menu calls it, its name in pyqtgraph, and what it is for."""

    title: str
    source: str
    diverging: bool = False


#: Perceptually uniform but for Turbo and the terrain; the first is the default.
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
        MapSpec("Green", "CET-L14"),
        MapSpec("Heat", "CET-L3"),
        MapSpec("Yellow to red", "CET-L18"),
        MapSpec("Terrain", "CET-L10"),
        MapSpec("Rainbow", "CET-R4"),
        MapSpec("Turbo", "turbo"),
        MapSpec("Blue–red", "CET-D1", diverging=True),
        MapSpec("Green–violet", "CET-D2", diverging=True),
        MapSpec("Blue–yellow", "CET-CBD1", diverging=True),
        MapSpec("Blue–black–red", "CET-D4", diverging=True),
        MapSpec("Cyclic", "CET-C2"),
        MapSpec("Cyclic, four colours", "CET-C1"),
    )
}
DEFAULT_MAP = "Viridis"
#: Where the quantity calls for a map of its own kind.
SPECIAL_MAPS = {Quantity.SIGNED: "Blue–red", Quantity.CYCLIC: "Cyclic"}
Table = npt.NDArray[np.uint8]
#: Colours of flags in their order; further ones are these, darker.
_FLAG_COLOURS = (
    *(0x4C86C0, 0xEDA33B, 0x4FA86A, 0xD2505F, 0x8E6CB6, 0xC7B23A, 0x58BCCB, 0xB0677A, 0x7D8F3C, 0xE58FC1),
    *(0x35686E, 0xA4744F, 0x9DBDDB, 0xF6D09E, 0xA6D5B0, 0xE9A6AF, 0xC9B7DF, 0xE5D992, 0xB1E2E8, 0xDBB5BD),
)


@cache
def table(title: str, reverse: bool = False) -> Table:
    """Return the colours of a map as RGBA, shape (256, 4); the last is transparent, for no value."""
    from pyqtgraph import colormap

    found = colormap.get(MAPS[title].source)
    colours = np.zeros((COLOURS + 1, 4), np.uint8)
    colours[:COLOURS] = found.getLookupTable(0.0, 1.0, COLOURS, alpha=True)[:: -1 if reverse else 1]
    return colours


@cache
def flag_table(other: str) -> Table:
    """Return the colours of flags as RGBA, shape (256, 4), in the places that `FlagColouring` gives.

    `other` is the colour of values that have no flag, as ``#rrggbb``; the last is transparent, for no value.
    """
    colours = np.full((256, 4), 255, np.uint8)
    base = np.array([[colour >> shift & 0xFF for shift in (16, 8, 0)] for colour in _FLAG_COLOURS])
    for start in range(0, OTHER, len(base)):
        stop = min(start + len(base), OTHER)
        colours[start:stop, :3] = base[: stop - start] * 0.72 ** (start // len(base) % 3)
    colours[OTHER, :3] = [int(other[at : at + 2], 16) for at in (1, 3, 5)]
    colours[NO_VALUE] = 0
    return colours


def image(title: str, width: int, height: int) -> QImage:
    """Return a map as a strip from left to right."""
    row = table(title)[np.linspace(0, COLOURS - 1, width).astype(int)]
    pixels = np.ascontiguousarray(np.broadcast_to(row, (height, width, 4)))
    return QImage(pixels.data, width, height, QImage.Format.Format_RGBA8888).copy()


def icon(title: str) -> QIcon:
    """Return a map as the icon of a menu entry."""
    return QIcon(QPixmap.fromImage(image(title, 48, 12)))
