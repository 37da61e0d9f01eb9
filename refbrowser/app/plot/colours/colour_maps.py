"""Colour maps: their groups, their colours, those that the user imported, and the list of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QImage, QKeyEvent, QPixmap, QStandardItemModel, QWheelEvent
from PySide6.QtWidgets import QComboBox, QWidget

from refbrowser.views.colours.colour_tables import ColourTable, bytes_of
from refbrowser.views.plot.colouring import COLOURS, NO_VALUE, OTHER, Quantity
from refbrowser.views.words import one_line


class MapGroup(StrEnum):
    """What maps are for, as their list says it. Those of the first four are told apart by everybody."""

    SEQUENTIAL = "Sequential (colour-blind safe)"
    DIVERGING = "Diverging (colour-blind safe)"
    CYCLIC = "Cyclic (colour-blind safe)"
    CATEGORICAL = "Categorical (colour-blind safe)"
    OTHER = "Others"
    IMPORTED = "Imported"


@dataclass(frozen=True, slots=True)
class MapSpec:
    """One colour map.

    Attributes
    ----------
    title
        What the menu calls it.
    group
        What it is for.
    source
        Its name in pyqtgraph; empty where it has colours of its own.
    rgb
        Red, green and blue of as many colours as a table has, one byte each; empty where it has a source.
    """

    title: str
    group: MapGroup
    source: str = ""
    rgb: bytes = b""

    @property
    def diverging(self) -> bool:
        """Whether it has a middle, which stands for zero."""
        return self.group is MapGroup.DIVERGING

    @property
    def tip(self) -> str:
        """What is to be known of it."""
        if self.group is not MapGroup.IMPORTED:
            return str(self.group)
        from refbrowser.views.colours.colour_blindness import are_told_apart

        if are_told_apart(table(self.title)[:COLOURS, :3]):
            return "Imported; its colours are safe for colour-blind readers"
        return "Imported; some of its colours look alike to colour-blind readers"


def _blocks(*colours: int) -> bytes:
    """Return colours, each as many times as the others, as a map has them."""
    rows = np.array([bytes_of(colour) for colour in colours])
    return ColourTable.of("", rows / 255.0).rgb


#: Colours of Okabe and Ito (2008), and those that Tol calls muted: all look different to everybody.
_OKABE_ITO = (0x0072B2, 0xE69F00, 0x009E73, 0xD55E00, 0x56B4E9, 0xCC79A7, 0xF0E442)
_MUTED = (0x88CCEE, 0x44AA99, 0x117733, 0x332288, 0xDDCC77, 0x999933, 0xCC6677, 0x882255, 0xAA4499)
#: All but those of the last group are perceptually uniform; the first is the default.
MAPS = {
    spec.title: spec
    for spec in (
        MapSpec("Viridis", MapGroup.SEQUENTIAL, "viridis"),
        MapSpec("Cividis", MapGroup.SEQUENTIAL, "cividis"),
        MapSpec("Magma", MapGroup.SEQUENTIAL, "magma"),
        MapSpec("Inferno", MapGroup.SEQUENTIAL, "inferno"),
        MapSpec("Plasma", MapGroup.SEQUENTIAL, "plasma"),
        MapSpec("Grey", MapGroup.SEQUENTIAL, "CET-L1"),
        MapSpec("Blue", MapGroup.SEQUENTIAL, "CET-L12"),
        MapSpec("Green", MapGroup.SEQUENTIAL, "CET-L14"),
        MapSpec("Heat", MapGroup.SEQUENTIAL, "CET-L3"),
        MapSpec("Yellow to red", MapGroup.SEQUENTIAL, "CET-L18"),
        MapSpec("Blue–red", MapGroup.DIVERGING, "CET-D1"),
        MapSpec("Green–violet", MapGroup.DIVERGING, "CET-D2"),
        MapSpec("Blue–yellow", MapGroup.DIVERGING, "CET-CBD1"),
        MapSpec("Blue–black–red", MapGroup.DIVERGING, "CET-D4"),
        MapSpec("Cyclic", MapGroup.CYCLIC, "CET-C2"),
        MapSpec("Cyclic, four colours", MapGroup.CYCLIC, "CET-C1"),
        MapSpec("Cyclic, blue–yellow", MapGroup.CYCLIC, "CET-CBC1"),
        MapSpec("Seven colours", MapGroup.CATEGORICAL, rgb=_blocks(*_OKABE_ITO)),
        MapSpec("Nine muted colours", MapGroup.CATEGORICAL, rgb=_blocks(*_MUTED)),
        MapSpec("Terrain", MapGroup.OTHER, "CET-L10"),
        MapSpec("Rainbow", MapGroup.OTHER, "CET-R4"),
        MapSpec("Turbo", MapGroup.OTHER, "turbo"),
    )
}
DEFAULT_MAP = "Viridis"
#: Where the quantity calls for a map of its own kind.
SPECIAL_MAPS = {Quantity.SIGNED: "Blue–red", Quantity.CYCLIC: "Cyclic"}
Table = npt.NDArray[np.uint8]
#: Colours of flags in their order; further ones are these, darker.
_FLAG_COLOURS = (*_OKABE_ITO, *_MUTED)
#: The maps that the user imported, by title.
_imported: dict[str, MapSpec] = {}


def all_maps() -> dict[str, MapSpec]:
    """Return all colour maps by title, those that the user imported last."""
    return {**MAPS, **_imported}


def take_imported(tables: list[ColourTable]) -> None:
    """Let these be the imported maps."""
    _imported.clear()
    for each in tables:
        if each.title not in MAPS:
            _imported[each.title] = MapSpec(each.title, MapGroup.IMPORTED, rgb=each.rgb)


def map_named(title: str) -> MapSpec:
    """Return a colour map; the default one where there is none of that title any more."""
    return MAPS.get(title) or _imported.get(title) or MAPS[DEFAULT_MAP]


def table(title: str, reverse: bool = False) -> Table:
    """Return the colours of a map as RGBA, shape (256, 4); the last is transparent, for no value.

    The same object for the same colours.
    """
    return _table(map_named(title), reverse)


@cache
def _table(spec: MapSpec, reverse: bool) -> Table:
    colours = np.zeros((COLOURS + 1, 4), np.uint8)
    if spec.rgb:
        found = np.full((COLOURS, 4), 255, np.uint8)
        found[:, :3] = np.frombuffer(spec.rgb, np.uint8).reshape(COLOURS, 3)
    else:
        from pyqtgraph import colormap

        found = colormap.get(spec.source).getLookupTable(0.0, 1.0, COLOURS, alpha=True)
    colours[:COLOURS] = found[:: -1 if reverse else 1]
    return colours


@cache
def flag_table(other: str) -> Table:
    """Return the colours of flags as RGBA, shape (256, 4), in the places that `FlagColouring` gives.

    `other` is the colour of values that have no flag, as ``#rrggbb``; the last is transparent, for no value.
    """
    colours = np.full((256, 4), 255, np.uint8)
    base = np.array([bytes_of(colour) for colour in _FLAG_COLOURS])
    for start in range(0, OTHER, len(base)):
        stop = min(start + len(base), OTHER)
        colours[start:stop, :3] = base[: stop - start] * 0.72 ** (start // len(base) % 3)
    colours[OTHER, :3] = [int(other[at : at + 2], 16) for at in (1, 3, 5)]
    colours[NO_VALUE] = 0
    return colours


_IMPORT = "Import colour table…"


def strip(title: str, width: int, height: int) -> QImage:
    """Return the colours of a map from left to right."""
    row = table(title)[np.linspace(0, COLOURS - 1, width).astype(int)]
    pixels = np.ascontiguousarray(np.broadcast_to(row, (height, width, 4)))
    return QImage(pixels.data, width, height, QImage.Format.Format_RGBA8888).copy()


class MapChoice(QComboBox):
    """Chooses a colour map, or has a table imported.

    Signals
    -------
    chosen(str)
        The user chose a map by its title.
    importWanted()
        A colour table of another program is to be imported.
    """

    chosen = Signal(str)
    importWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("colourMapCombo")
        self.setAccessibleName("Colour map")
        self.setToolTip("Colour map")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setIconSize(QSize(48, 12))
        self.setMaxVisibleItems(24)
        #: Whether the list is open, or was when an entry was activated: keys and the wheel import nothing.
        self._is_open = False
        self._chosen = DEFAULT_MAP
        self.activated.connect(self._activated)
        self.fill()

    def fill(self) -> None:
        """Offer the maps that there are now."""
        kept = self._chosen
        self.clear()
        maps = list(all_maps().values())
        for group in MapGroup:
            members = [spec for spec in maps if spec.group is group]
            if members:
                self._add_heading(group)
            for spec in members:
                icon = QIcon(QPixmap.fromImage(strip(spec.title, 48, 12)))
                self.addItem(icon, one_line(spec.title), spec.title)
                self.setItemData(self.count() - 1, spec.tip, Qt.ItemDataRole.ToolTipRole)
        self.insertSeparator(self.count())
        self.addItem(_IMPORT, None)
        self.choose(kept)

    def _add_heading(self, text: str) -> None:
        self.addItem(text, None)
        model = self.model()
        assert isinstance(model, QStandardItemModel)
        item = model.item(self.count() - 1)
        item.setFlags(Qt.ItemFlag.NoItemFlags)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def sizeHint(self) -> QSize:
        # Headings are seen in the list alone, which has its own width.
        size = super().sizeHint()
        titles = (one_line(title) for title in all_maps())
        widest = max(self.fontMetrics().horizontalAdvance(title[:24]) for title in titles)
        return QSize(min(size.width(), widest + self.iconSize().width() + 40), size.height())

    def choose(self, title: str) -> None:
        """Show a map as the chosen one."""
        self._chosen = map_named(title).title
        self.setCurrentIndex(self.findData(self._chosen))

    def showPopup(self) -> None:
        self._is_open = True
        view = self.view()
        view.setMinimumWidth(view.sizeHintForColumn(0) + 32)
        super().showPopup()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._is_open = False
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._is_open = False
        super().wheelEvent(event)

    def _activated(self, row: int) -> None:
        title = self.itemData(row)
        if title is not None:
            self._chosen = title
            self.chosen.emit(title)
            return
        self.choose(self._chosen)
        if self._is_open:
            self.importWanted.emit()
