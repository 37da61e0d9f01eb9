"""The colour bar: what a colour means, and fields for the levels at its ends."""

from __future__ import annotations

from PySide6.QtCore import QLocale, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QDoubleValidator, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLineEdit, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from refbrowser.app import theme
from refbrowser.app.plot import colour_maps
from refbrowser.engine.views.coordinates import Coordinate
from refbrowser.engine.views.dates import DateScale
from refbrowser.engine.views.levels import Levels

_BAR = 18
_WIDTH = 108


class ColourStrip(QWidget):
    """The colours from the lower to the upper level, with ticks and the units beside."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("colourStrip")
        self.setAccessibleName("Colour bar")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.levels: Levels | None = None
        self.title = ""
        self.scale = Coordinate(name="", size=0)
        self.map_title = colour_maps.DEFAULT_MAP

    def ticks(self) -> list[tuple[float, str]]:
        """Return the values that are marked, as (value, text)."""
        if self.levels is None:
            return []
        count = max(2, int(self.height() / (self.fontMetrics().height() * 2.4)))
        return self.scale.value_ticks(self.levels.low, self.levels.high, count)

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH, 160)

    def minimumSizeHint(self) -> QSize:
        return QSize(_WIDTH, 60)

    def paintEvent(self, event: QPaintEvent) -> None:
        colors = theme.colors()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bar = QRectF(1, 1, _BAR, self.height() - 2)
        if self.levels is None:
            painter.setPen(QPen(QColor(colors.border)))
            painter.drawRect(bar)
            return
        strip = colour_maps.image(self.map_title, max(2, int(bar.height())), 1)
        painter.save()
        painter.translate(bar.left(), bar.bottom())
        painter.rotate(-90)
        painter.drawImage(QRectF(0, 0, bar.height(), bar.width()), strip)
        painter.restore()
        painter.setPen(QPen(QColor(colors.border)))
        painter.drawRect(bar)
        right = self._draw_ticks(painter, bar)
        self._draw_title(painter, right)

    def _draw_ticks(self, painter: QPainter, bar: QRectF) -> float:
        assert self.levels is not None
        metrics = self.fontMetrics()
        span = self.levels.high - self.levels.low
        muted = QColor(theme.colors().muted)
        right = bar.right()
        for value, text in self.ticks():
            y = bar.bottom() - (value - self.levels.low) / span * bar.height()
            painter.setPen(muted)
            painter.drawLine(QPointF(bar.right() + 1, y), QPointF(bar.right() + 5, y))
            height = metrics.height()
            top = min(max(y - height / 2, 0.0), self.height() - height)
            width = metrics.horizontalAdvance(text)
            painter.drawText(
                QRectF(bar.right() + 8, top, width + 2, height), Qt.AlignmentFlag.AlignLeft, text
            )
            right = max(right, bar.right() + 8 + width)
        return right

    def _draw_title(self, painter: QPainter, left: float) -> None:
        if not self.title:
            return
        metrics = self.fontMetrics()
        painter.setPen(QColor(theme.colors().text))
        place = min(left + 4, self.width() - metrics.height() - 1)
        text = metrics.elidedText(self.title, Qt.TextElideMode.ElideRight, self.height() - 4)
        painter.translate(place, self.height())
        painter.rotate(-90)
        painter.drawText(QRectF(0, 0, self.height(), metrics.height()), Qt.AlignmentFlag.AlignCenter, text)


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
        self.setFixedWidth(_WIDTH)
        self.strip = ColourStrip()
        self.high_field = self._field("upperLevel", "Upper level of the colours")
        self.low_field = self._field("lowerLevel", "Lower level of the colours")
        self.auto = QPushButton("Auto")
        self.auto.setObjectName("autoLevelsButton")
        self.auto.setAutoDefault(False)
        self.auto.setToolTip("Take the levels from the data shown")
        self.auto.setAccessibleName("Levels from the data")
        self.auto.clicked.connect(self._auto_clicked)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SMALL, 0, theme.SMALL)
        layout.setSpacing(theme.SMALL + 2)
        layout.addWidget(self.high_field)
        layout.addWidget(self.strip, 1)
        layout.addWidget(self.low_field)
        layout.addWidget(self.auto)
        self.setEnabled(False)

    def set_levels(self, levels: Levels | None) -> None:
        """Show levels."""
        if levels == self.strip.levels:
            return
        self.strip.levels = levels
        self._write_levels()
        self.setEnabled(levels is not None)
        self.strip.update()

    def set_map(self, title: str) -> None:
        """Show a colour map."""
        if title != self.strip.map_title:
            self.strip.map_title = title
            self.strip.update()

    def set_meaning(self, title: str, dates: DateScale | None) -> None:
        """Show the units beside the strip; `dates` where the numbers are times."""
        if (title, dates) == (self.strip.title, self.strip.scale.dates):
            return
        self.strip.title, self.strip.scale = title, Coordinate(name="value", size=0, dates=dates)
        self.strip.setAccessibleDescription(title)
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
