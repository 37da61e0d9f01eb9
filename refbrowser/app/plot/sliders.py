"""A slider, a number field and the coordinate's text for every dimension that is not on an axis.

Beside each is what is shown along it: one place, or a statistic over the dimension; then no slider is left
but the range that the statistic is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QStyle,
    QStyleOptionSlider,
    QToolButton,
    QWidget,
)

from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.cards import plain_label
from refbrowser.app.widgets.small_widgets import combo_box
from refbrowser.views.derived.reductions import STATISTICS, AxisReduction
from refbrowser.views.plot.coordinates import Coordinate
from refbrowser.views.plot.slicing import SliceState
from refbrowser.views.words import one_line

#: Rows that are seen at once; more are scrolled.
ROWS_SEEN = 4
_LARGEST = 2**31 - 1
_LEAST_WIDTH = 200
#: The text beside a slider has so much room, in pixels; and less in a list that is narrower than the last.
_TEXT, _TEXT_NARROW, _NARROW = 130, 84, 460
#: There the choice of statistics is its arrow alone; in a list that is narrower still there is none.
_ARROW, _WIDEST, _TINY = 26, 16_777_215, 300
_LONGEST_NAME = 28
#: Columns of the grid.
_AT_NAME, _AT_ALONG, _AT_PLAY, _AT_SLIDER, _AT_FIELD, _AT_TEXT = range(6)
_ONE_PLACE = "one place"


@dataclass(slots=True)
class _Row:
    name: QLabel
    slider: QSlider
    field: QSpinBox
    text: QLabel
    play: QToolButton | None
    along: QComboBox | None

    def widgets(self) -> list[QWidget]:
        """Return them all."""
        always: list[QWidget] = [self.name, self.slider, self.field, self.text]
        return [*always, *(each for each in (self.play, self.along) if each is not None)]


@dataclass(frozen=True, slots=True)
class ReducedAxis:
    """A dimension over which a statistic is shown; `words` say what of it."""

    reduction: AxisReduction
    words: str


class _Slider(QSlider):
    """A slider whose handle comes to where its groove is pressed, and follows from there."""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            option = QStyleOptionSlider()
            self.initStyleOption(option)
            groove, handle = (
                self.style().subControlRect(QStyle.ComplexControl.CC_Slider, option, part, self)
                for part in (QStyle.SubControl.SC_SliderGroove, QStyle.SubControl.SC_SliderHandle)
            )
            if not handle.contains(event.position().toPoint()):
                at = round(event.position().x()) - groove.left() - handle.width() // 2
                span = groove.width() - handle.width()
                self.setValue(QStyle.sliderValueFromPosition(self.minimum(), self.maximum(), at, span))
        super().mousePressEvent(event)


class DimensionSliders(QScrollArea):
    """One row per remaining dimension, aligned in a grid.

    Parameters
    ----------
    prefix
        Of the object names, where there is more than one in a window.
    playable
        Whether each row has a button that plays it, and a choice of what is shown along it.

    Signals
    -------
    indexChanged(int, int)
        The user moved a dimension (its number) to an index.
    playAsked(int)
        The slices along a dimension are to be played, or no longer.
    reductionChosen(str, str, str)
        A statistic over a dimension is to be shown: its name, the statistic (empty for one place), and the
        part of the dimension (empty for all of it).
    """

    indexChanged = Signal(int, int)
    playAsked = Signal(int)
    reductionChosen = Signal(str, str, str)

    def __init__(self, prefix: str = "", parent: QWidget | None = None, *, playable: bool = False) -> None:
        super().__init__(parent)
        self._prefix, self._playable = prefix, playable
        self._playing: int | None = None
        self._is_narrow = self._is_tiny = False
        self.setObjectName(f"{prefix}dimensionSliders")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._inner = QWidget()
        self._inner.installEventFilter(self)
        self._grid = QGridLayout(self._inner)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.LARGE)
        self._grid.setVerticalSpacing(theme.SMALL)
        self._grid.setColumnStretch(_AT_SLIDER, 1)
        self.setWidget(self._inner)
        # The pane's own ground shows through.
        self._inner.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)
        self._rows: dict[int, _Row] = {}
        self._state: SliceState | None = None
        self._coordinates: Sequence[Coordinate] = ()
        self._reduced: Sequence[ReducedAxis] = ()
        self._reduced_widgets: list[QWidget] = []
        self._can_reduce = False
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Rows that became higher, as by another style, would be scrolled.
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def set_slice(self, state: SliceState | None, coordinates: Sequence[Coordinate]) -> None:
        """Show the indices of a slice; rows are made anew only for other dimensions."""
        wanted = () if state is None else state.sliders
        same = (
            self._state is not None
            and state is not None
            and tuple(self._rows) == wanted
            and self._state.shape == state.shape
            and self._state.names == state.names
        )
        self._state, self._coordinates = state, coordinates
        if not same:
            self._make_rows()
        self._fill_rows()
        self.setVisible(bool(wanted) or bool(self._reduced))

    def set_reductions(self, reduced: Sequence[ReducedAxis], *, can_reduce: bool) -> None:
        """Show the statistics over dimensions that the array is of, and whether more can be taken of it."""
        if (self._reduced, self._can_reduce) != (reduced, can_reduce):
            self._reduced, self._can_reduce = reduced, can_reduce
            self._make_rows()
            self._fill_rows()
            self.setVisible(bool(self._rows) or bool(reduced))

    def resizeEvent(self, event: QResizeEvent) -> None:
        narrow = event.size().width() < _NARROW, event.size().width() < _TINY
        if narrow != (self._is_narrow, self._is_tiny):
            self._is_narrow, self._is_tiny = narrow
            for row in self._rows.values():
                # The slider needs the room; what the index stands for is said all the same.
                self._fit_row(row)
            self._fill_rows()
            # What is inside is as wide as its widgets need at least: before it takes the new width.
            self._grid.activate()
        super().resizeEvent(event)

    def _fit_row(self, row: _Row) -> None:
        row.field.setHidden(self._is_narrow)
        row.text.setMinimumWidth(_TEXT_NARROW if self._is_narrow else _TEXT)
        if row.along is not None:
            row.along.setHidden(self._is_tiny)
            wide = row.along.sizeHint().width()
            # Its words are those of one place, which the slider says too.
            row.along.setMinimumWidth(_ARROW if self._is_narrow else wide)
            row.along.setMaximumWidth(_ARROW if self._is_narrow else _WIDEST)
            if row.along.property("bare") != self._is_narrow:
                row.along.setProperty("bare", self._is_narrow)
                row.along.style().unpolish(row.along)
                row.along.style().polish(row.along)

    def row_text(self, dimension: int) -> str:
        """Return the coordinate's text beside a slider."""
        return self._rows[dimension].text.text()

    def step(self, dimension: int, by: int) -> None:
        """Move a slider as the user does."""
        slider = self._rows[dimension].slider
        slider.setValue(slider.value() + by)

    def mark(self, dimension: int | None) -> None:
        """Show which slider the keyboard steps."""
        for number, row in self._rows.items():
            font = row.name.font()
            font.setBold(number == dimension and len(self._rows) > 1)
            row.name.setFont(font)

    def _make_rows(self) -> None:
        for row in self._rows.values():
            for widget in row.widgets():
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
        for widget in self._reduced_widgets:
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._rows, self._reduced_widgets = {}, []
        if self._state is None:
            return
        for place, dimension in enumerate(self._state.sliders):
            self._rows[dimension] = self._make_row(place, dimension)
        for place, reduced in enumerate(self._reduced, len(self._rows)):
            self._make_reduced(place, reduced)
        self.updateGeometry()

    def _make_reduced(self, place: int, reduced: ReducedAxis) -> None:
        """Make the row of a dimension over which a statistic is shown."""
        reduction = reduced.reduction
        name = one_line(reduction.name)
        label = plain_label(_short(name), wrap=False)
        along = self._make_along(reduction.name)
        along.setCurrentIndex(along.findData(reduction.statistic))
        part = QLineEdit(reduction.part)
        part.setObjectName(f"{self._prefix}part_{name}")
        part.setAccessibleName(f"Part of {name} that the {STATISTICS[reduction.statistic]} is over")
        part.setPlaceholderText("all of it, or FROM..TO")
        part.setToolTip(theme.plain_tooltip("By coordinate: 2024-03..2024-05 or 30..60; by index: @0:10"))
        part.returnPressed.connect(
            lambda: self.reductionChosen.emit(reduction.name, reduction.statistic, part.text().strip())
        )
        along.activated.connect(
            lambda row: self.reductionChosen.emit(reduction.name, along.itemData(row), part.text().strip())
        )
        words = plain_label(reduced.words, role="muted", wrap=False)
        label.setBuddy(part)
        self._grid.addWidget(label, place, _AT_NAME)
        self._grid.addWidget(along, place, _AT_ALONG)
        self._grid.addWidget(part, place, _AT_PLAY, 1, _AT_FIELD - _AT_PLAY + 1)
        self._grid.addWidget(words, place, _AT_TEXT)
        self._reduced_widgets += [label, along, part, words]

    def _make_along(self, name: str) -> QComboBox:
        """Make the choice of what is shown along a dimension."""
        along = combo_box(f"{self._prefix}along_{one_line(name)}", f"What is shown along {one_line(name)}")
        along.addItem(_ONE_PLACE, "")
        for statistic, words in STATISTICS.items():
            along.addItem(words, statistic)
        # The slider gives way first: a choice whose words are cut says nothing.
        along.setMinimumWidth(along.sizeHint().width())
        return along

    def _make_row(self, place: int, dimension: int) -> _Row:
        assert self._state is not None
        name = one_line(self._state.names[dimension])
        last = min(self._state.shape[dimension] - 1, _LARGEST)
        label = plain_label(_short(name), wrap=False)
        label.setToolTip(theme.plain_tooltip(name))
        slider = _Slider(Qt.Orientation.Horizontal)
        slider.setObjectName(f"{self._prefix}slider_{name}")
        slider.setAccessibleName(f"Index of {name}")
        slider.setRange(0, last)
        slider.setPageStep(max(1, last // 10))
        field = QSpinBox()
        field.setObjectName(f"{self._prefix}index_{name}")
        field.setAccessibleName(f"Index of {name}, 0 to {last}")
        field.setRange(0, last)
        field.setKeyboardTracking(False)
        field.setFixedWidth(max(64, field.sizeHint().width()))
        text = plain_label("", role="muted", wrap=False)
        label.setBuddy(field)
        for control in (slider, field):
            control.setEnabled(last > 0)
            control.valueChanged.connect(self._moved)
            control.setProperty("dimension", dimension)
        self._grid.addWidget(label, place, _AT_NAME)
        self._grid.addWidget(slider, place, _AT_SLIDER)
        self._grid.addWidget(field, place, _AT_FIELD)
        self._grid.addWidget(text, place, _AT_TEXT)
        play = self._make_play(name, dimension) if self._playable else None
        if play is not None:
            play.setEnabled(last > 0)
            self._grid.addWidget(play, place, _AT_PLAY)
        along = None
        if self._playable and self._can_reduce and last > 0:
            along = self._make_along(self._state.names[dimension])
            own, axis = along, self._state.names[dimension]
            along.activated.connect(lambda row: self._reduce(axis, own, row))
            self._grid.addWidget(along, place, _AT_ALONG)
        for before, after in pairwise([each for each in (along, play, slider, field) if each is not None]):
            QWidget.setTabOrder(before, after)
        row = _Row(label, slider, field, text, play, along)
        self._fit_row(row)
        return row

    def _reduce(self, name: str, along: QComboBox, row: int) -> None:
        if row:
            # Until the statistic is there, one place is shown.
            along.setCurrentIndex(0)
            self.reductionChosen.emit(name, along.itemData(row), "")

    def _make_play(self, name: str, dimension: int) -> QToolButton:
        play = QToolButton()
        play.setObjectName(f"{self._prefix}play_{name}")
        play.clicked.connect(lambda _checked=False: self.playAsked.emit(dimension))
        self._show_play(play, name, is_playing=dimension == self._playing)
        return play

    @staticmethod
    def _show_play(play: QToolButton, name: str, *, is_playing: bool) -> None:
        play.setIcon(icons.icon("pause" if is_playing else "play"))
        name = one_line(name)
        words = f"Pause {name}" if is_playing else f"Play along {name}"
        play.setAccessibleName(words)
        play.setToolTip(theme.plain_tooltip(f"{words} (Space in the plot)"))

    def set_playing(self, dimension: int | None) -> None:
        """Show which dimension is played."""
        self._playing = dimension
        for number, row in self._rows.items():
            if row.play is not None and self._state is not None:
                self._show_play(row.play, self._state.names[number], is_playing=number == dimension)

    def _fill_rows(self) -> None:
        if self._state is None:
            return
        for dimension, row in self._rows.items():
            index = self._state.indices[dimension]
            for widget in (row.slider, row.field):
                widget.blockSignals(True)
                widget.setValue(min(index, _LARGEST))
                widget.blockSignals(False)
            text = self._coordinates[dimension].text(index)
            size = self._state.shape[dimension]
            # Where there is no field, nothing else says the index.
            row.text.setText(text or (f"{index} of {size}" if self._is_narrow else f"of {size}"))
            dates = self._coordinates[dimension].dates
            # Dates of other calendars look like those that everybody uses.
            calendar = f" ({dates.note})" if dates is not None and dates.note else ""
            for told in (row.slider, row.text):
                told.setToolTip(theme.plain_tooltip(f"{text}{calendar}"))

    def _moved(self, value: int) -> None:
        dimension = self.sender().property("dimension")
        if self._state is None or dimension not in self._rows:
            return
        if value != self._state.indices[dimension]:
            self.indexChanged.emit(dimension, value)

    def sizeHint(self) -> QSize:
        count = len(self._rows) + len(self._reduced)
        rows = min(count, ROWS_SEEN)
        inner = self._inner.sizeHint()
        if not rows:
            return QSize(inner.width(), 0)
        each = (inner.height() + theme.SMALL) / count
        return QSize(inner.width(), round(each * rows - theme.SMALL) + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(_LEAST_WIDTH, self.sizeHint().height())


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
