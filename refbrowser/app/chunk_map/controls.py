"""What stands over the map: what it is coloured by, which dimensions are its axes, and the others' chunks."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QSpinBox, QWidget

from refbrowser.app import theme
from refbrowser.app.chunk_map.words import COLOURINGS
from refbrowser.app.editors.flow_layout import FlowLayout
from refbrowser.app.plain_text import one_line
from refbrowser.app.widgets import plain_label
from refbrowser.engine.views.slicing import SliceState

_LARGEST = 2**31 - 1
_LONGEST_NAME = 20
#: Dimensions that get a field; an array has seldom more.
_FIELDS_MOST = 32


class MapControls(QWidget):
    """One line of choices, wrapped where it is narrow.

    Signals
    -------
    byChosen(str)
        Another column of the values is to be the colour.
    downChosen(object), acrossChosen(int)
        A dimension was chosen for an axis; None for down: one dimension, wrapped.
    indexChanged(int, int)
        Another chunk along a dimension that is not on an axis.
    """

    byChosen = Signal(str)
    downChosen = Signal(object)
    acrossChosen = Signal(int)
    indexChanged = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._state: SliceState | None = None
        self.by = _combo("chunkMapColour", "Colour chunks by")
        for name, title in COLOURINGS.items():
            self.by.addItem(title, name)
        self.down = _combo("chunkMapDown", "Dimension that runs down")
        self.across = _combo("chunkMapAcross", "Dimension that runs across")
        self.by.activated.connect(lambda _at: self.byChosen.emit(self.by.currentData()))
        self.down.activated.connect(lambda _at: self._choose_down())
        self.across.activated.connect(lambda _at: self.acrossChosen.emit(self.across.currentData()))
        self.wrapped = plain_label("", role="muted", wrap=False)
        self.wrapped.setObjectName("chunkMapWrapped")
        self._flow = FlowLayout(self, spacing=theme.MEDIUM)
        self._axes = [_labelled("Down", self.down), _labelled("Across", self.across)]
        self._fields: dict[int, tuple[QWidget, QSpinBox]] = {}
        for part in (_labelled("Colour by", self.by), *self._axes, self.wrapped):
            self._flow.addWidget(part)

    def set_slice(self, state: SliceState | None, columns: int = 1) -> None:
        """Show the slice of a chunk grid; fields are made anew only for other dimensions.

        One dimension alone is wrapped into rows of `columns` chunks.
        """
        same = self._state is not None and state is not None and _form(self._state) == _form(state)
        self._state = state
        if not same:
            self._make_choices()
            self._make_fields()
        self.wrapped.setText("" if state is None else _wrapped(state, columns))
        self.wrapped.setVisible(bool(self.wrapped.text()))
        if state is None:
            return
        self.across.setCurrentIndex(self.across.findData(state.x))
        self.down.setCurrentIndex(0 if state.y is None else self.down.findData(state.y))
        for dimension, (_box, field) in self._fields.items():
            field.blockSignals(True)
            field.setValue(min(state.indices[dimension], _LARGEST))
            field.blockSignals(False)

    def set_by(self, by: str) -> None:
        """Show what the colour says."""
        self.by.setCurrentIndex(self.by.findData(by))

    def field(self, dimension: int) -> QSpinBox:
        """Return the field of a dimension that is not on an axis."""
        return self._fields[dimension][1]

    def _make_choices(self) -> None:
        state = self._state
        long = [] if state is None else [axis for axis, count in enumerate(state.shape) if count > 1]
        for combo in (self.down, self.across):
            combo.clear()
        self.down.addItem("wrapped", None)
        for axis in long:
            assert state is not None
            for combo in (self.down, self.across):
                combo.addItem(_shortened(state.names[axis]), axis)
        for box in self._axes:
            box.setVisible(len(long) > 1)

    def _make_fields(self) -> None:
        for box, _field in self._fields.values():
            self._flow.removeWidget(box)
            box.hide()
            box.deleteLater()
        self._fields = {}
        state = self._state
        if state is None:
            return
        for dimension in [axis for axis in state.sliders if state.shape[axis] > 1][:_FIELDS_MOST]:
            last = min(state.shape[dimension] - 1, _LARGEST)
            field = QSpinBox()
            field.setObjectName(f"chunkMapIndex_{state.names[dimension]}")
            field.setAccessibleName(f"Chunk along {one_line(state.names[dimension])}, 0 to {last}")
            field.setToolTip(theme.plain_tooltip(f"Chunk along {state.names[dimension]}, 0 to {last}"))
            field.setRange(0, last)
            field.setKeyboardTracking(False)
            field.valueChanged.connect(
                lambda value, dimension=dimension: self.indexChanged.emit(dimension, value)
            )
            box = _labelled(_shortened(state.names[dimension]), field)
            self._fields[dimension] = (box, field)
            self._flow.addWidget(box)
            box.show()
        self.updateGeometry()

    def _choose_down(self) -> None:
        self.downChosen.emit(self.down.currentData())


def _form(state: SliceState) -> tuple[object, ...]:
    return (state.shape, state.names, state.axes)


def _shortened(name: str) -> str:
    shown = one_line(name)
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 1]}…"


def _wrapped(state: SliceState, columns: int) -> str:
    """Return how the only dimension of a map runs; empty where that is plain."""
    if not state.shape or state.y is not None or state.shape[state.x] < 2:
        return ""
    name = _shortened(state.names[state.x])
    if state.shape[state.x] <= columns:
        return f"Across: {name}"
    return f"{name}, {theme.count_text(columns)} chunks in a row"


def _combo(name: str, title: str) -> QComboBox:
    combo = QComboBox()
    combo.setObjectName(name)
    combo.setAccessibleName(title)
    combo.setToolTip(title)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    combo.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return combo


def _labelled(text: str, control: QWidget) -> QWidget:
    box = QWidget()
    label: QLabel = plain_label(text, role="muted", wrap=False)
    label.setBuddy(control)
    layout = QHBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(theme.SMALL)
    layout.addWidget(label)
    layout.addWidget(control)
    return box
