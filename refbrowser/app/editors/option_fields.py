"""What asks for one option: a field, a tick, a choice; made of what the option declares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QSpinBox, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.rows import named
from refbrowser.exporting.option_fields import offered_codecs
from refbrowser.formats.option_fields import Item, Kind, Option

_KEEP, _SIZE, _SHAPE = "keep", "size", "shape"
_SIDES = ((_KEEP, "As in the source"), (_SIZE, "About this size"), (_SHAPE, "Of this shape"))
_SIZE_HINT, _SHAPE_HINT = "8 MiB", "100,100 (-1: all)"
_SHAPE_TIP = (
    "Chunk shape, for example 100,100; -1 means the whole axis. "
    "For arrays with as many dimensions, the others keep theirs. "
    "The column Chunks of the table is for single arrays"
)


class Field(QObject):
    """What asks for one option.

    Signals
    -------
    changed()
        Something else is chosen or typed.
    """

    changed = Signal()

    def __init__(self, parent: QWidget, option: Option, name: str) -> None:
        super().__init__(parent)
        self.option = option
        self.name = name
        self.widgets: tuple[QWidget, ...] = ()

    def shown(self, *widgets: QWidget) -> None:
        """Take the widgets; what they are for is told on the first."""
        self.widgets = widgets
        if self.option.tip:
            widgets[0].setToolTip(theme.plain_tooltip(self.option.tip))

    def said(self) -> Any:
        """Return what is asked for as the command line takes it; None where nothing is said."""
        raise NotImplementedError

    def set_usable(self, usable: bool) -> None:
        """Let it be used, or not."""
        for widget in self.widgets:
            widget.setEnabled(usable)

    def set_format(self, format: str) -> None:
        """Offer what a format has; of one that has none of these options the name is empty."""

    def choose(self, value: Any) -> None:
        """Fill in a value, as the command line takes it."""
        raise NotImplementedError

    def follow(self, value: Any) -> None:
        """Take note of what the option is that this one follows."""

    def why(self) -> str:
        """Return what is said of what is chosen."""
        return ""


class TextField(Field):
    """A text in a line."""

    def __init__(self, parent: QWidget, option: Option, name: str) -> None:
        super().__init__(parent, option, name)
        self.field = named(QLineEdit(), name, option.title)
        self.field.setPlaceholderText(option.hint)
        self.field.textChanged.connect(lambda _text: self.changed.emit())
        self.shown(self.field)

    def said(self) -> str | None:
        return self.field.text().strip() or None

    def choose(self, value: Any) -> None:
        self.field.setText(str(value))


class NumberField(Field):
    """An integer."""

    def __init__(self, parent: QWidget, option: Option, name: str, value: int) -> None:
        super().__init__(parent, option, name)
        self.field = named(QSpinBox(), name, option.title)
        self.field.setRange(*option.limits)
        self.field.setSuffix(f" {option.unit}" if option.unit else "")
        self.field.setValue(value)
        self.field.valueChanged.connect(lambda _value: self.changed.emit())
        self.shown(self.field)

    def said(self) -> int:
        return self.field.value()

    def choose(self, value: Any) -> None:
        self.field.setValue(int(value))


class TickField(Field):
    """Yes or no."""

    def __init__(self, parent: QWidget, option: Option, name: str, *, ticked: bool) -> None:
        super().__init__(parent, option, name)
        self.box = named(QCheckBox(option.label or option.title), name, option.title)
        self.box.setChecked(ticked)
        self.box.toggled.connect(lambda _on: self.changed.emit())
        self.shown(self.box)

    def said(self) -> bool:
        return self.box.isChecked()

    def choose(self, value: Any) -> None:
        self.box.setChecked(bool(value))

    def follow(self, value: Any) -> None:
        self.box.setChecked(value)


class ChoiceField(Field):
    """One of several values."""

    def __init__(self, parent: QWidget, option: Option, name: str) -> None:
        super().__init__(parent, option, name)
        self.combo = named(QComboBox(), name, option.title)
        self._items: list[Item] = []
        self._offer(each for each in option.items if not each.formats)
        self.combo.currentIndexChanged.connect(lambda _index: self.changed.emit())
        self.shown(self.combo)

    def _offer(self, items: Iterable[Item]) -> None:
        self.combo.clear()
        self._items = list(items)
        for each in self._items:
            self.combo.addItem(each.title, each.text)

    def set_format(self, format: str) -> None:
        if format and any(each.formats for each in self.option.items):
            self._offer(each for each in self.option.items if not each.formats or format in each.formats)

    def item(self) -> Item:
        """Return what is chosen."""
        return self._items[max(0, self.combo.currentIndex())]

    def said(self) -> Any:
        return self.item().text or None

    def choose(self, value: Any) -> None:
        self.combo.setCurrentIndex(self.combo.findData(value))

    def why(self) -> str:
        return self.item().why


class OneOrOwnField(ChoiceField):
    """One of several texts, or one's own."""

    def __init__(self, parent: QWidget, option: Option, name: str) -> None:
        super().__init__(parent, option, name)
        self.combo.setEditable(True)
        self.combo.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.combo.editTextChanged.connect(lambda _text: self.changed.emit())

    def said(self) -> tuple[str, ...] | None:
        typed = self.combo.currentText().strip()
        text = next((each.text for each in self._items if each.title == typed), typed)
        return (text,) if text else None

    def choose(self, value: Any) -> None:
        self.combo.setEditText(str(value))


class SidesField(Field):
    """A choice between keeping, a size and a shape, with a field for the last two."""

    def __init__(self, parent: QWidget, option: Option, name: str) -> None:
        super().__init__(parent, option, name)
        self.kind = named(QComboBox(), f"{name}Kind", option.title)
        for value, text in _SIDES:
            self.kind.addItem(option.keep or text if value == _KEEP else text, value)
        self.field = named(QLineEdit(), f"{name}Field", f"{option.title}: size or shape")
        self.kind.currentIndexChanged.connect(lambda _index: self._kind_chosen())
        self.field.textChanged.connect(lambda _text: self.changed.emit())
        self.shown(self.kind, self.field)
        self._kind_chosen()

    def set_usable(self, usable: bool) -> None:
        self.kind.setEnabled(usable)
        self.field.setEnabled(usable and self.kind.currentData() != _KEEP)

    def said(self) -> str | None:
        kind, typed = self.kind.currentData(), self.field.text().strip()
        if kind == _KEEP:
            return None
        return f"auto:{typed or '8MiB'}" if kind == _SIZE else typed or "-1"

    def choose(self, value: Any) -> None:
        name, colon, size = str(value).partition(":")
        is_size = bool(colon) and name == "auto"
        self.kind.setCurrentIndex(self.kind.findData(_SIZE if is_size else _SHAPE))
        self.field.setText(size if is_size else str(value))

    def _kind_chosen(self) -> None:
        kind = self.kind.currentData()
        self.field.setEnabled(kind != _KEEP and self.kind.isEnabled())
        self.field.setPlaceholderText({_SIZE: _SIZE_HINT, _SHAPE: _SHAPE_HINT}.get(kind, ""))
        self.field.setToolTip(theme.plain_tooltip(_SHAPE_TIP if kind == _SHAPE else ""))
        if kind == _KEEP:
            self.field.clear()
        self.changed.emit()


class CodecField(Field):
    """A codec of the table, and its level where it has some."""

    def __init__(self, parent: QWidget, option: Option, name: str, level: str) -> None:
        super().__init__(parent, option, name)
        self._codecs = offered_codecs()
        self.codec = named(QComboBox(), name, option.title)
        for each in self._codecs:
            self.codec.addItem(each.title, each.text)
        self.level = named(QSpinBox(), level, "Level of compression")
        self.codec.currentIndexChanged.connect(lambda _index: self._codec_chosen())
        self.level.valueChanged.connect(lambda _value: self.changed.emit())
        self.shown(self.codec, self.level)
        self._codec_chosen()

    def set_format(self, format: str) -> None:
        for row, each in enumerate(self._codecs):
            self._item(row).setEnabled(not row or (bool(format) and each.fits(format)))
        if not self._item(self.codec.currentIndex()).isEnabled():
            self.codec.setCurrentIndex(0)

    def set_usable(self, usable: bool) -> None:
        self.codec.setEnabled(usable)
        self.level.setEnabled(usable and self.level.maximum() > self.level.minimum())

    def said(self) -> str:
        text = str(self.codec.currentData())
        return f"{text}:{self.level.value()}" if self.level.isEnabled() else text

    def choose(self, value: Any) -> None:
        name, _, level = str(value).rpartition(":")
        index = self.codec.findData(value)
        self.codec.setCurrentIndex(self.codec.findData(name) if index < 0 else index)
        if index < 0 and level.isdecimal():
            self.level.setValue(int(level))

    def _item(self, row: int) -> Any:
        return self.codec.model().item(row)  # type: ignore[attr-defined]

    def _codec_chosen(self) -> None:
        levels = self._codecs[self.codec.currentIndex()].levels
        self.level.setEnabled(levels is not None and self.codec.isEnabled())
        self.level.setSpecialValueText("no level" if levels is None else "")
        self.level.setPrefix("" if levels is None else "level ")
        low, high, usual = levels or (0, 0, 0)
        self.level.setRange(low, high)
        self.level.setValue(usual)
        self.changed.emit()


def field_of(parent: QWidget, option: Option, name: str, value: Any, level: str = "") -> Field:
    """Return what asks for an option.

    Parameters
    ----------
    name
        Of its first widget.
    value
        What is usual.
    level
        The name of the widget for the level of a codec.
    """
    match option.kind:
        case Kind.TICK | Kind.EITHER:
            return TickField(parent, option, name, ticked=bool(value))
        case Kind.CHOICE:
            return ChoiceField(parent, option, name)
        case Kind.TEXTS:
            return OneOrOwnField(parent, option, name)
        case Kind.SIDES:
            return SidesField(parent, option, name)
        case Kind.CODEC:
            return CodecField(parent, option, name, level)
        case Kind.NUMBER:
            return NumberField(parent, option, name, int(value))
    return TextField(parent, option, name)
