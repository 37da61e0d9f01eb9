"""What the colours of flags mean: a list to read, and to choose the only flag that is coloured."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPushButton, QVBoxLayout, QWidget

from refbrowser.app.plot.colour_maps import Table
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import plain_label
from refbrowser.model.cf_flags import Flag, FlagSet
from refbrowser.views.numbers import value_text
from refbrowser.views.plot.colouring import OTHER
from refbrowser.views.plot.interpretation import flag_title

_WIDTH = 216
_SWATCH = 14


class FlagLegend(QWidget):
    """A colour, a meaning and a share for each flag.

    Signals
    -------
    flagChosen(object)
        The number of the only flag to colour, or None for all.
    """

    flagChosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("flagLegend")
        self.setFixedWidth(_WIDTH)
        self._flags: FlagSet | None = None
        self._colours: Table | None = None
        self.heading = plain_label("Flags", role="muted", wrap=False)
        self.list = QListWidget()
        self.list.setObjectName("flagList")
        self.list.setAccessibleName("Flags and their meanings")
        self.list.setToolTip("Choose a flag to colour it alone")
        self.list.setIconSize(QSize(_SWATCH, _SWATCH))
        self.list.setWordWrap(True)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setSpacing(1)
        self.all = QPushButton("All flags")
        self.all.setObjectName("allFlagsButton")
        self.all.setToolTip("Colour all flags again")
        self.all.setEnabled(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SMALL, 0, theme.SMALL)
        layout.setSpacing(theme.SMALL + 2)
        layout.addWidget(self.heading)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.all)
        self.list.itemSelectionChanged.connect(self._selected)
        self.all.clicked.connect(self._all_clicked)

    def set_flags(self, flags: FlagSet | None, colours: Table) -> None:
        """Show other flags, or other colours of them."""
        if flags == self._flags and colours is self._colours:
            return
        anew = flags != self._flags
        self._flags, self._colours = flags, colours
        if anew:
            self._fill()
        for row in range(self.list.count()):
            position = row % OTHER if flags is not None and row < len(flags.flags) else OTHER
            self.list.item(row).setIcon(_swatch(colours[position].tolist()))

    def set_shares(self, shares: Sequence[float]) -> None:
        """Show in which part of the values each flag holds."""
        if self._flags is None:
            return
        for row, (flag, share) in enumerate(zip(self._flags.flags, shares, strict=True)):
            self.list.item(row).setText(f"{flag_title(flag)}  {_share_text(share)}")

    def texts(self) -> list[str]:
        """Return what is listed."""
        return [self.list.item(row).text() for row in range(self.list.count())]

    def _fill(self) -> None:
        self.list.blockSignals(True)
        self.list.clear()
        flags = () if self._flags is None else self._flags.flags
        for flag in flags:
            item = QListWidgetItem(flag_title(flag))
            item.setToolTip(theme.plain_tooltip(f"{flag.meaning}\n{_condition(flag)}"))
            self.list.addItem(item)
        other = QListWidgetItem("none of these")
        other.setFlags(Qt.ItemFlag.ItemIsEnabled)
        self.list.addItem(other)
        self.list.blockSignals(False)
        several = self._flags is not None and not self._flags.exclusive
        self.heading.setText("Flags: the first that holds" if several else "Flags")
        self.all.setEnabled(False)

    def _selected(self) -> None:
        rows = [index.row() for index in self.list.selectedIndexes()]
        self.all.setEnabled(bool(rows))
        self.flagChosen.emit(rows[0] if rows else None)

    def _all_clicked(self) -> None:
        self.list.clearSelection()


def _condition(flag: Flag) -> str:
    if flag.mask is None:
        return f"value {value_text(flag.value)}"
    return f"mask {flag.mask:#x}" + ("" if flag.value is None else f", value {value_text(flag.value)}")


def _share_text(share: float) -> str:
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{share * 100:.3g} %"


def _swatch(rgba: Sequence[int]) -> QIcon:
    picture = QPixmap(_SWATCH * 2, _SWATCH * 2)
    picture.setDevicePixelRatio(2)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(QColor(*rgba))
    painter.setPen(QPen(QColor(theme.colors().muted), 0.8))
    painter.drawRoundedRect(1, 1, _SWATCH - 2, _SWATCH - 2, 2, 2)
    painter.end()
    icon = QIcon()
    # The same when chosen: a tinted sample would be another colour.
    for mode in (QIcon.Mode.Normal, QIcon.Mode.Selected):
        icon.addPixmap(picture, mode)
    return icon
