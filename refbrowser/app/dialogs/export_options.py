"""How a target is to be written, as the export dialog asks for it: a form of the options of its format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLabel, QLineEdit, QSpinBox, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label
from refbrowser.app.widgets.rows import named
from refbrowser.exporting.option_fields import ExportOptions, group_of, offered_codecs
from refbrowser.formats.format import Written
from refbrowser.formats.option_fields import Item, Kind, Option, declared, usual

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

    def follow(self, value: Any) -> None:
        """Take note of what the option is that this one follows."""

    def why(self) -> str:
        """Return what is said of what is chosen."""
        return ""


class _Text(Field):
    def __init__(self, parent: QWidget, option: Option, name: str) -> None:
        super().__init__(parent, option, name)
        self.field = named(QLineEdit(), name, option.title)
        self.field.setPlaceholderText(option.hint)
        self.field.textChanged.connect(lambda _text: self.changed.emit())
        self.shown(self.field)

    def said(self) -> str | None:
        return self.field.text().strip() or None


class _Number(Field):
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


class _Tick(Field):
    def __init__(self, parent: QWidget, option: Option, name: str, *, ticked: bool) -> None:
        super().__init__(parent, option, name)
        self.box = named(QCheckBox(option.label or option.title), name, option.title)
        self.box.setChecked(ticked)
        self.box.toggled.connect(lambda _on: self.changed.emit())
        self.shown(self.box)

    def said(self) -> bool:
        return self.box.isChecked()

    def follow(self, value: Any) -> None:
        self.box.setChecked(value)


class _Choice(Field):
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

    def why(self) -> str:
        return self.item().why


class _OneOrOwn(_Choice):
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


class _Sides(Field):
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

    def _kind_chosen(self) -> None:
        kind = self.kind.currentData()
        self.field.setEnabled(kind != _KEEP and self.kind.isEnabled())
        self.field.setPlaceholderText({_SIZE: _SIZE_HINT, _SHAPE: _SHAPE_HINT}.get(kind, ""))
        self.field.setToolTip(theme.plain_tooltip(_SHAPE_TIP if kind == _SHAPE else ""))
        if kind == _KEEP:
            self.field.clear()
        self.changed.emit()


class _Codec(Field):
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


class OptionsForm(QWidget):
    """The options of one group; those that do not fit are disabled, and a line says why.

    Signals
    -------
    changed()
        Something else is asked for.
    """

    changed = Signal()

    def __init__(self, group: type[ExportOptions], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.group = group
        self.fields = {name: self._field(name, each) for name, each in _asked(group).items()}
        self._form: Written | None = None
        self._labels: list[QLabel] = []
        self._foot = plain_label(group.foot, role="muted")
        self._foot.setObjectName(f"export{group.called}Reasons")
        self._place()
        for each in self.fields.values():
            each.changed.connect(self._changed)
        self._follow()
        self._show_usable()

    def _field(self, name: str, option: Option) -> Field:
        called = f"export{self.group.called}"
        widget = option.widget or called + name.title().replace("_", "")
        match option.kind:
            case Kind.TICK | Kind.EITHER:
                return _Tick(self, option, widget, ticked=bool(usual(self.group, name)))
            case Kind.CHOICE:
                return _Choice(self, option, widget)
            case Kind.TEXTS:
                return _OneOrOwn(self, option, widget)
            case Kind.SIDES:
                return _Sides(self, option, widget)
            case Kind.CODEC:
                return _Codec(self, option, widget, f"{called}Level")
            case Kind.NUMBER:
                return _Number(self, option, widget, int(usual(self.group, name)))
        return _Text(self, option, widget)

    def _place(self) -> None:
        """Lay the fields out in two columns: a label, and one or two widgets that share the room."""
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.MEDIUM)
        grid.setVerticalSpacing(theme.MEDIUM)
        taken = [each.option.place for each in self.fields.values() if each.option.place is not None]
        rows = max((row for row, _ in taken), default=-1) + 1
        free = ((rows + number // 2, number % 2) for number in range(len(self.fields)))
        placed = [(each.option.place or next(free), each) for each in self.fields.values()]
        # In the order in which they are read: so the keyboard goes from one to the next.
        for (row, column), each in sorted(placed, key=lambda one: one[0]):
            rows = max(rows, row + 1)
            self._put(grid, row, 4 * column, each)
        grid.addWidget(self._foot, rows, 1, 1, 6)
        grid.setRowStretch(rows + 1, 1)
        grid.setColumnMinimumWidth(3, theme.LARGE)
        for column in (2, 6):
            grid.setColumnStretch(column, 1)

    def _put(self, grid: QGridLayout, row: int, column: int, field: Field) -> None:
        first, *second = field.widgets
        if not isinstance(first, QCheckBox):
            label = QLabel(field.option.label or field.option.title)
            label.setBuddy(first)
            if not column:
                self._labels.append(label)
            grid.addWidget(label, row, column)
        wide = 6 if field.option.is_wide else 1 if second else 2
        grid.addWidget(first, row, column + 1, 1, wide)
        for each in second:
            grid.addWidget(each, row, column + 2)

    def width_of_labels(self) -> int:
        """Return how wide the first labels are to be."""
        return max((each.sizeHint().width() for each in self._labels), default=0)

    def align(self, width: int) -> None:
        """Make the first labels as wide as those of other forms."""
        for each in self._labels:
            each.setMinimumWidth(width)

    # What is asked for

    def set_format(self, form: Written) -> None:
        """Let those options be used that fit a format."""
        self._form = form
        name = form.name if group_of(form) is self.group else ""
        for each in self.fields.values():
            each.set_format(name)
        self._show_usable()

    def said(self) -> dict[str, Any]:
        """Return what is said of the options that can be used, as the command line takes it."""
        found: dict[str, Any] = {}
        for name, each in self.fields.items():
            value = each.said() if self._is_usable(each) else None
            if isinstance(each, _Choice) and each.item().sets:
                found[each.item().sets] = True
            elif value is not None:
                found[name] = value
        return found

    def _has(self, field: Field) -> bool:
        """Tell whether the format has an option."""
        form = self._form
        return form is None or (group_of(form) is self.group and field.option.has(form.name))

    def _is_usable(self, field: Field) -> bool:
        needs = field.option.needs
        return self._has(field) and (needs is None or self.fields[needs.option].said() == needs.value)

    def _changed(self) -> None:
        self._follow(self.sender())
        self._show_usable()
        self.changed.emit()

    def _follow(self, changed: QObject | None = None) -> None:
        for each in self.fields.values():
            follows = each.option.follows
            if follows is not None and changed in (None, self.fields[follows[0]]):
                each.follow(self.fields[follows[0]].said() == follows[1])

    def _show_usable(self) -> None:
        for each in self.fields.values():
            each.set_usable(self._is_usable(each))
        self._foot.setText(" ".join(self._words()))

    def _words(self) -> list[str]:
        """Return what is said of what is chosen, and why some options cannot be used."""
        form = self._form
        if form is not None and group_of(form) is not self.group:
            return [f"{form.note}."]
        fields = list(self.fields.values())
        lacking = [each.option.otherwise for each in fields if not self._has(each)]
        lacking += [each.option.otherwise for each in fields if self._has(each) and not self._is_usable(each)]
        words = [self.group.foot, *(each.why() for each in fields)]
        words += [f"{each}." for each in dict.fromkeys(lacking) if each]
        return [each for each in words if each]


def _asked(group: type[ExportOptions]) -> dict[str, Option]:
    """Return the options that have a place in the form."""
    options = declared(group)
    return {name: each for name, each in options.items() if each.title and each.kind is not Kind.ARRAYS}


def has_chunks_of_arrays(form: Written) -> bool:
    """Tell whether a format has an option for single arrays."""
    group = group_of(form)
    return group is not None and any(each.kind is Kind.ARRAYS for each in declared(group).values())
