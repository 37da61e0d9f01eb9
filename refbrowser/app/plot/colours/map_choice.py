"""The list of colour maps, by groups."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QImage, QKeyEvent, QPixmap, QStandardItemModel, QWheelEvent
from PySide6.QtWidgets import QComboBox, QWidget

from refbrowser.app.plot.colours.colour_maps import DEFAULT_MAP, MapGroup, all_maps, map_named, table
from refbrowser.views.plot.colouring import COLOURS
from refbrowser.views.words import one_line

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
