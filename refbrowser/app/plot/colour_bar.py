"""The colour bar: what a colour means, and fields for the levels at its ends."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Signal
from PySide6.QtGui import QDoubleValidator, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QPushButton, QVBoxLayout, QWidget

from refbrowser.app import theme
from refbrowser.app.plain_text import one_line
from refbrowser.app.plot.colour_maps import Table
from refbrowser.app.plot.colour_strip import HISTOGRAM, WIDTH, ColourStrip
from refbrowser.engine.views.coordinates import Coordinate
from refbrowser.engine.views.dates import DateScale
from refbrowser.engine.views.histogram import Histogram
from refbrowser.engine.views.levels import Levels

#: A lower bar has no room for Auto.
_LEAST_WITH_AUTO = 170


class ColourBar(QWidget):
    """Strip, fields for both levels, and Auto.

    Signals
    -------
    levelsEdited(object)
        The user set these `Levels`.
    autoRequested()
        Levels are to follow the data again.
    """

    levelsEdited = Signal(object)
    autoRequested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("colourBar")
        self.setFixedWidth(WIDTH)
        self.shows_histogram = False
        self.strip = ColourStrip()
        self.high_field = self._field("upperLevel", "Upper level of the colours")
        self.low_field = self._field("lowerLevel", "Lower level of the colours")
        self.auto = QPushButton("Auto")
        self.auto.setObjectName("autoLevelsButton")
        self.auto.setAutoDefault(False)
        self.auto.setToolTip("Take the levels from the data shown")
        self.auto.setAccessibleName("Levels from the data")
        self.auto.clicked.connect(self._auto_clicked)
        self.strip.levelsDragged.connect(self.levelsEdited)
        self.strip.autoRequested.connect(self.autoRequested)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SMALL, 0, theme.SMALL)
        layout.setSpacing(theme.SMALL + 2)
        layout.addWidget(self.high_field)
        layout.addWidget(self.strip, 1)
        layout.addWidget(self.low_field)
        layout.addWidget(self.auto)
        self.setEnabled(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The colours need what little room there is; the menu Data has the action too.
        self.auto.setVisible(event.size().height() >= _LEAST_WITH_AUTO)

    def set_levels(self, levels: Levels | None) -> None:
        """Show levels."""
        if levels == self.strip.levels:
            return
        self.strip.levels = levels
        self._write_levels()
        self.setEnabled(levels is not None)
        self.strip.update()

    def set_table(self, colours: Table) -> None:
        """Show the colours of a map."""
        if colours is not self.strip.colours:
            self.strip.colours = colours
            self.strip.update()

    def show_histogram(self, shown: bool) -> None:
        """Make room for a histogram, or not."""
        self.shows_histogram = shown
        self.setFixedWidth(WIDTH + (HISTOGRAM if shown else 0))
        if not shown:
            self.strip.set_histogram(None)

    def set_histogram(self, histogram: Histogram | None) -> None:
        """Show how often values occur."""
        self.strip.set_histogram(histogram)

    def set_meaning(self, title: str, dates: DateScale | None) -> None:
        """Show the units beside the strip; `dates` where the numbers are times."""
        if (title, dates) == (self.strip.title, self.strip.scale.dates):
            return
        self.strip.title, self.strip.scale = title, Coordinate(name="value", size=0, dates=dates)
        self.strip.setAccessibleDescription(one_line(title))
        self.strip.update()

    def _write_levels(self) -> None:
        levels = self.strip.levels
        ends = (self.high_field, levels and levels.high), (self.low_field, levels and levels.low)
        for field, value in ends:
            if not field.hasFocus() or not field.isModified():
                field.setText("" if value is None else f"{value:.6g}")
                field.setCursorPosition(0)

    def _field(self, name: str, accessible: str) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName(name)
        field.setAccessibleName(accessible)
        field.setToolTip(accessible)
        validator = QDoubleValidator(field)
        validator.setLocale(QLocale.c())
        field.setValidator(validator)
        field.editingFinished.connect(self._edited)
        return field

    def _edited(self) -> None:
        if not (self.high_field.isModified() or self.low_field.isModified()):
            return
        self.high_field.setModified(False)
        self.low_field.setModified(False)
        try:
            levels = Levels(float(self.low_field.text()), float(self.high_field.text()))
        except ValueError:
            self._write_levels()
            return
        self.levelsEdited.emit(levels)

    def _auto_clicked(self) -> None:
        self.autoRequested.emit()
