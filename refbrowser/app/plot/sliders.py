"""A slider, a number field and the coordinate's text for every dimension that is not on an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
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
from refbrowser.views.plot.coordinates import Coordinate
from refbrowser.views.plot.slicing import SliceState
from refbrowser.views.words import one_line

#: Rows that are seen at once; more are scrolled.
ROWS_SEEN = 4
_LARGEST = 2**31 - 1
_LEAST_WIDTH = 200
#: The text beside a slider has so much room, in pixels; and less in a list that is narrower than the last.
_TEXT, _TEXT_NARROW, _NARROW = 130, 84, 380
_LONGEST_NAME = 28


@dataclass(slots=True)
class _Row:
    name: QLabel
    slider: QSlider
    field: QSpinBox
    text: QLabel
    play: QToolButton | None

    def widgets(self) -> list[QWidget]:
        """Return them all."""
        always: list[QWidget] = [self.name, self.slider, self.field, self.text]
        return always if self.play is None else [*always, self.play]


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
        Whether each row has a button that plays it.

    Signals
    -------
    indexChanged(int, int)
        The user moved a dimension (its number) to an index.
    playAsked(int)
        The slices along a dimension are to be played, or no longer.
    """

    indexChanged = Signal(int, int)
    playAsked = Signal(int)

    def __init__(self, prefix: str = "", parent: QWidget | None = None, *, playable: bool = False) -> None:
        super().__init__(parent)
        self._prefix, self._playable = prefix, playable
        self._playing: int | None = None
        self._is_narrow = False
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
        self._grid.setColumnStretch(2, 1)
        self.setWidget(self._inner)
        # The pane's own ground shows through.
        self._inner.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)
        self._rows: dict[int, _Row] = {}
        self._state: SliceState | None = None
        self._coordinates: Sequence[Coordinate] = ()
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
        self.setVisible(bool(wanted))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = event.size().width() < _NARROW
        if is_narrow != self._is_narrow:
            self._is_narrow = is_narrow
            for row in self._rows.values():
                # The slider needs the room; what the index stands for is said all the same.
                row.field.setVisible(not is_narrow)
                row.text.setMinimumWidth(_TEXT_NARROW if is_narrow else _TEXT)

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
        self._rows = {}
        if self._state is None:
            return
        for place, dimension in enumerate(self._state.sliders):
            self._rows[dimension] = self._make_row(place, dimension)
        self.updateGeometry()

    def _make_row(self, place: int, dimension: int) -> _Row:
        assert self._state is not None
        name = one_line(self._state.names[dimension])
        last = min(self._state.shape[dimension] - 1, _LARGEST)
        label = plain_label(
            name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…", wrap=False
        )
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
        text.setMinimumWidth(_TEXT_NARROW if self._is_narrow else _TEXT)
        label.setBuddy(field)
        for control in (slider, field):
            control.setEnabled(last > 0)
            control.valueChanged.connect(self._moved)
            control.setProperty("dimension", dimension)
        self._grid.addWidget(label, place, 0)
        self._grid.addWidget(slider, place, 2)
        self._grid.addWidget(field, place, 3)
        field.setHidden(self._is_narrow)
        self._grid.addWidget(text, place, 4)
        play = self._make_play(name, dimension) if self._playable else None
        if play is not None:
            play.setEnabled(last > 0)
            self._grid.addWidget(play, place, 1)
        return _Row(label, slider, field, text, play)

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
            row.text.setText(text or f"of {self._state.shape[dimension]}")
            row.slider.setToolTip(theme.plain_tooltip(text))

    def _moved(self, value: int) -> None:
        dimension = self.sender().property("dimension")
        if self._state is None or dimension not in self._rows:
            return
        if value != self._state.indices[dimension]:
            self.indexChanged.emit(dimension, value)

    def sizeHint(self) -> QSize:
        rows = min(len(self._rows), ROWS_SEEN)
        inner = self._inner.sizeHint()
        if not rows:
            return QSize(inner.width(), 0)
        each = (inner.height() + theme.SMALL) / len(self._rows)
        return QSize(inner.width(), round(each * rows - theme.SMALL) + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(_LEAST_WIDTH, self.sizeHint().height())
