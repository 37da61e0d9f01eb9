"""The colour bar: what a colour means, fields for the levels at its ends, and what these are."""

from __future__ import annotations

from PySide6.QtCore import QLocale, QSize, Signal
from PySide6.QtGui import QDoubleValidator, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QPushButton, QVBoxLayout, QWidget

from refbrowser.app.plot.colour_maps import Table
from refbrowser.app.plot.colour_strip import HISTOGRAM, WIDTH, ColourStrip
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import LineLabel
from refbrowser.views.numbers import DateScale
from refbrowser.views.plot.coordinates import Coordinate
from refbrowser.views.plot.levels import BY_USER, EXTREMES, PERCENTILES, Histogram, Levels
from refbrowser.views.words import one_line

_NAMES = ("Lower level of the colours", "Upper level of the colours")
#: A lower bar, in pixels, has no room for words over and under the fields, and for the button. What the ends
#: are is not told elsewhere; the button has a key and an action.
_LEAST_WITH_WORDS, _LEAST_WITH_AUTO = 145, 185


class ColourBar(QWidget):
    """Strip, fields for both levels with what they are, and a button that takes others from the data.

    Signals
    -------
    levelsEdited(object)
        The user set these `Levels`.
    autoRequested()
        Levels are to follow the data again.
    extremesWanted(bool)
        The least and the greatest value are wanted as ends, or percentiles.
    """

    levelsEdited = Signal(object)
    autoRequested = Signal()
    extremesWanted = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("colourBar")
        self.setFixedWidth(WIDTH)
        self.shows_histogram = False
        self.strip = ColourStrip()
        self.high_field = self._field("upperLevel", _NAMES[1])
        self.low_field = self._field("lowerLevel", _NAMES[0])
        self.high_words, self.low_words = (_words(name) for name in ("upperLevelIs", "lowerLevelIs"))
        self._ends, self._extremes = ("", ""), False
        self.auto = QPushButton()
        self.auto.setObjectName("autoLevelsButton")
        self.auto.setAutoDefault(False)
        self.auto.clicked.connect(self._auto_clicked)
        self.strip.levelsDragged.connect(self.levelsEdited)
        self.strip.autoRequested.connect(self.autoRequested)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SMALL, 0, theme.SMALL)
        layout.setSpacing(theme.SMALL + 2)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        for above, below in ((self.high_words, self.high_field), (self.low_field, self.low_words)):
            end = QVBoxLayout()
            end.setSpacing(1)
            end.addWidget(above)
            end.addWidget(below)
            layout.addLayout(end)
        layout.insertWidget(1, self.strip, 1)
        layout.addWidget(self.auto)
        self.setEnabled(False)
        self._write_ends()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The colours need what little room there is; the menu Data and tool tips have the rest too.
        self.auto.setVisible(event.size().height() >= _LEAST_WITH_AUTO)
        for words in (self.high_words, self.low_words):
            words.setVisible(event.size().height() >= _LEAST_WITH_WORDS)

    def minimumSizeHint(self) -> QSize:
        # Of what is never left out: fields and colours.
        fields = 2 * (self.high_field.minimumSizeHint().height() + theme.MEDIUM)
        return QSize(self.width(), fields + self.strip.minimumSizeHint().height())

    def set_levels(self, levels: Levels | None) -> None:
        """Show levels."""
        if levels == self.strip.levels:
            return
        self.strip.levels = levels
        self._write_levels()
        self.setEnabled(levels is not None)
        self.strip.update()

    def set_ends(self, ends: tuple[str, str], shares: tuple[float, float], *, extremes: bool) -> None:
        """Say what the lower and the upper level are, and which parts of the values lie beyond them."""
        if (ends, extremes) != (self._ends, self._extremes):
            self._ends, self._extremes = ends, extremes
            self._write_ends()
        self.strip.set_beyond(shares)

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

    def _write_ends(self) -> None:
        for words, field, end, name in zip(
            (self.low_words, self.high_words),
            (self.low_field, self.high_field),
            self._ends,
            _NAMES,
            strict=True,
        ):
            words.setText(end)
            field.setToolTip(f"{name}: {end}" if end else name)
        by_user = self._ends == BY_USER
        now, other = (EXTREMES, PERCENTILES) if self._extremes else (PERCENTILES, EXTREMES)
        low, high = now if by_user else other
        text = "Auto" if by_user else "2 to 98 %" if self._extremes else "Min to max"
        tip = f"Take {low} and {high} of the values shown as ends of the colours"
        self.auto.setText(text)
        self.auto.setAccessibleName(tip)
        self.auto.setToolTip(tip if by_user else f"{tip} (M in the plot)")

    def _auto_clicked(self) -> None:
        if self._ends == BY_USER:
            self.autoRequested.emit()
        else:
            self.extremesWanted.emit(not self._extremes)


def _words(name: str) -> LineLabel:
    label = LineLabel()
    label.setObjectName(name)
    label.setProperty("role", "muted")
    return label
