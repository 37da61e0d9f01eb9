"""How a target is to be written, as the export dialog asks for it: a form of the options of its format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QWidget

from refbrowser.app.editors.option_fields import ChoiceField, Field, field_of
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import plain_label
from refbrowser.exporting.option_fields import ExportOptions, group_of
from refbrowser.formats.format import Written
from refbrowser.formats.option_fields import Kind, Option, declared, usual


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
        return field_of(self, option, widget, usual(self.group, name), f"{called}Level")

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

    def choose(self, values: Mapping[str, Any]) -> None:
        """Fill in some options by their names, as the command line takes them."""
        for name, value in values.items():
            self.fields[name].choose(value)

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
            if isinstance(each, ChoiceField) and each.item().sets:
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
