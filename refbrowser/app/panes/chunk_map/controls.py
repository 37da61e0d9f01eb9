"""What stands over the map: what it is coloured by, which dimensions are its axes, and the others' chunks."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QSpinBox, QWidget

from refbrowser.app.editors.flow_layout import FlowLayout
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label
from refbrowser.views.chunks.chunk_facts import COLOURINGS
from refbrowser.views.plot.slicing import SliceState
from refbrowser.views.words import count_text, one_line

_LARGEST = 2**31 - 1
_LONGEST_NAME = 20
#: Dimensions that get a field; an array has seldom more.
_FIELDS_MOST = 32


@dataclass(frozen=True, slots=True)
class _Field:
    box: QWidget
    label: QLabel
    field: QSpinBox


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
        self._made: list[_Field] = []
        self._fields: dict[int, _Field] = {}
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
        for dimension, made in self._fields.items():
            made.field.blockSignals(True)
            made.field.setValue(min(state.indices[dimension], _LARGEST))
            made.field.blockSignals(False)

    def set_by(self, by: str) -> None:
        """Show what the colour says."""
        self.by.setCurrentIndex(self.by.findData(by))

    def field(self, dimension: int) -> QSpinBox:
        """Return the field of a dimension that is not on an axis."""
        return self._fields[dimension].field

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
        """Name a field for each dimension beside the axes; the fields of other arrays are used again."""
        state = self._state
        others = [] if state is None else [axis for axis in state.sliders if state.shape[axis] > 1]
        others = others[:_FIELDS_MOST]
        while len(self._made) < len(others):
            self._made.append(self._make_field())
        self._fields = dict(zip(others, self._made, strict=False))
        for number, made in enumerate(self._made):
            made.box.setVisible(number < len(others))
            made.field.setObjectName(f"chunkMapIndex{number}")
        for dimension, made in self._fields.items():
            assert state is not None
            name, last = state.names[dimension], min(state.shape[dimension] - 1, _LARGEST)
            made.label.setText(_shortened(name))
            made.field.setObjectName(f"chunkMapIndex_{name}")
            made.field.setAccessibleName(f"Chunk along {one_line(name)}, 0 to {last}")
            made.field.setToolTip(theme.plain_tooltip(f"Chunk along {name}, 0 to {last}"))
            made.field.blockSignals(True)
            made.field.setRange(0, last)
            made.field.blockSignals(False)
        self.updateGeometry()

    def _make_field(self) -> _Field:
        field = QSpinBox()
        field.setKeyboardTracking(False)
        field.valueChanged.connect(lambda value: self._change_index(field, value))
        box = _labelled("", field)
        self._flow.addWidget(box)
        label = box.findChild(QLabel)
        assert label is not None
        return _Field(box, label, field)

    def _change_index(self, field: QSpinBox, value: int) -> None:
        for dimension, made in self._fields.items():
            if made.field is field:
                self.indexChanged.emit(dimension, value)
                return

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
    return f"{name}, {count_text(columns)} chunks in a row"


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
