"""The pane of series: chart, list of points, the question of cost, and the axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from refbrowser.app.plot.chart_pane import ChartPane
from refbrowser.app.plot.marks import Mark, mark_pixmap
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.parts import hint_label, plain_label, push_button

#: Width of the list: a part of the pane's, at least and at most; with the values from `_ROOMY` on.
_LIST_SHARE, _LIST_LEAST, _LIST_MOST, _ROOMY = 0.42, 130, 300, 200
_VALUE_WIDTH = 84


@dataclass(frozen=True, slots=True)
class PointRow:
    """What the list says of one point."""

    mark: Mark
    place: str
    value: str
    details: str


class SeriesPane(ChartPane):
    """The chart of series with the points that they belong to.

    Signals
    -------
    dimensionChosen(int)
        The series are to run along another dimension.
    removeAsked(int)
        A point is to go.
    clearAsked(), cancelAsked()
        All points are to go; reading is to end.
    answered(bool)
        The series that were asked about are to be read, or not.
    """

    dimensionChosen = Signal(int)
    removeAsked = Signal(int)
    clearAsked = Signal()
    cancelAsked = Signal()
    answered = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("series", "Series", parent)
        self.along = QComboBox()
        self.along.setObjectName("seriesAxisCombo")
        self.along.setAccessibleName("Dimension that the series run along")
        self.along.setToolTip("Dimension that the series run along")
        self.along.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.cancel = push_button("Cancel", "seriesCancelButton", self.cancelAsked.emit)
        self.cancel.hide()
        self.clear = self.tool_button("Clear", "Take all points away")
        self.clear.setText("Clear")
        self.controls.addWidget(self.along)
        self.controls.addWidget(self.cancel)
        self.controls.addWidget(self.clear)
        self._dimensions: tuple[int, ...] = ()
        self._rows: list[tuple[QLabel, ElidedLabel, QLabel, QToolButton]] = []
        self._shown: list[PointRow] = []
        self._question = self._make_question()
        self.strips.addWidget(self._question)
        self._list = self._make_list()
        self.body.addWidget(self._list)
        self.hint = hint_label("")
        self.hint.setObjectName("seriesHint")
        self._pages = QStackedWidget()
        self.body.removeWidget(self.chart)
        self._pages.addWidget(self.hint)
        self._pages.addWidget(self.chart)
        self.body.insertWidget(0, self._pages, 1)
        self.along.activated.connect(lambda row: self.dimensionChosen.emit(self._dimensions[row]))
        self.clear.clicked.connect(lambda _checked=False: self.clearAsked.emit())

    def restyle(self) -> None:
        super().restyle()
        # The base class restyles once before there are any rows.
        for widgets, row in zip(getattr(self, "_rows", ()), getattr(self, "_shown", ()), strict=False):
            widgets[0].setPixmap(mark_pixmap(row.mark))
            widgets[3].setIcon(icons.icon("cancel"))

    def show_hint(self, text: str) -> None:
        """Say in the place of the chart what goes there; nothing: show the chart."""
        self.hint.setText(text)
        self._pages.setCurrentWidget(self.hint if text else self.chart)
        self._list.setVisible(not text)
        for button in (self.copy, self.export, self.clear):
            button.setEnabled(not text)

    def set_dimensions(self, names: Sequence[str], dimensions: tuple[int, ...], chosen: int | None) -> None:
        """Offer dimensions; there is a choice only where there are several."""
        if dimensions != self._dimensions or list(names) != [
            self.along.itemText(row) for row in range(self.along.count())
        ]:
            self._dimensions = dimensions
            self.along.clear()
            self.along.addItems(list(names))
        if chosen in dimensions:
            self.along.setCurrentIndex(dimensions.index(chosen))
        several = len(dimensions) > 1
        self.along.setVisible(several)
        self.title.setText("Series along" if several else f"Series along {names[0]}" if names else "Series")

    def set_points(self, points: Sequence[PointRow]) -> None:
        """List the points."""
        while len(self._rows) < len(points):
            self._add_row(len(self._rows))
        for number, widgets in enumerate(self._rows):
            for widget in widgets:
                widget.setVisible(number < len(points))
        self._fit_list(len(points))
        for number, point in enumerate(points):
            swatch, place, value, remove = self._rows[number]
            if number >= len(self._shown) or self._shown[number].mark != point.mark:
                swatch.setPixmap(mark_pixmap(point.mark))
            swatch.setAccessibleName(point.mark.name)
            place.set_text(point.place)
            value.setText(
                value.fontMetrics().elidedText(point.value, Qt.TextElideMode.ElideRight, _VALUE_WIDTH)
            )
            value.setToolTip(theme.plain_tooltip(point.details))
            remove.setAccessibleName(f"Take away {point.place}")
        self._shown = list(points)

    def _fit_list(self, count: int) -> None:
        width = round(max(_LIST_LEAST, min(_LIST_MOST, self.width() * _LIST_SHARE)))
        self._list.setFixedWidth(width)
        for number, (_swatch, _place, value, _remove) in enumerate(self._rows):
            value.setVisible(number < count and width >= _ROOMY)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_list(len(self._shown))

    def ask(self, text: str) -> None:
        """Ask whether to read; without a text there is nothing to ask."""
        self._words.setText(text)
        self._question.setVisible(bool(text))

    def asks(self) -> str:
        """Return the question, empty where there is none."""
        return "" if self._question.isHidden() else self._words.text()

    def _make_question(self) -> QFrame:
        strip = QFrame()
        strip.setProperty("role", "trustStrip")
        strip.setObjectName("seriesQuestion")
        self._words = plain_label("", wrap=False)
        self._words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        yes = push_button("Read", "seriesReadButton", lambda: self.answered.emit(True))
        no = push_button("Leave out", "seriesLeaveButton", lambda: self.answered.emit(False))
        row = QHBoxLayout(strip)
        row.setContentsMargins(theme.MEDIUM, 1, 1, 1)
        row.addWidget(self._words, 1)
        row.addWidget(yes)
        row.addWidget(no)
        strip.hide()
        return strip

    def _make_list(self) -> QScrollArea:
        inner = QWidget()
        self._grid = QGridLayout(inner)
        self._grid.setContentsMargins(0, theme.SMALL, 0, 0)
        self._grid.setHorizontalSpacing(theme.SMALL)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(1, 1)
        self._grid.setRowStretch(99, 1)
        area = QScrollArea()
        area.setObjectName("seriesPoints")
        area.setAccessibleName("Points whose series are shown")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inner)
        area.viewport().setAutoFillBackground(False)
        inner.setAutoFillBackground(False)
        return area

    def _add_row(self, number: int) -> None:
        swatch, place = QLabel(), ElidedLabel(f"seriesPlace{number}")
        value = plain_label("", role="muted", wrap=False)
        value.setObjectName(f"seriesValue{number}")
        value.setFixedWidth(_VALUE_WIDTH)
        value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        remove = QToolButton()
        remove.setObjectName(f"seriesRemove{number}")
        remove.setToolTip("Take this point away")
        remove.setIcon(icons.icon("cancel"))
        remove.setIconSize(QSize(11, 11))
        remove.setStyleSheet("padding: 2px")
        remove.clicked.connect(lambda _checked=False: self.removeAsked.emit(number))
        for column, widget in enumerate((swatch, place, value, remove)):
            self._grid.addWidget(widget, number, column)
        self._rows.append((swatch, place, value, remove))
