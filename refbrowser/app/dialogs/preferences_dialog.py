"""The dialog of the preferences: each takes effect as it is changed."""

from __future__ import annotations

from itertools import groupby

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.shell.preferences import PREFERENCES, Preference, Preferences
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import framed, plain_label, push_button

#: Least widths of a label and of a field.
_LABEL, _FIELD = 210, 210


class PreferencesDialog(QDialog):
    """Shows every preference with a widget of its own; there is nothing to apply."""

    def __init__(self, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("preferencesDialog")
        self.setWindowTitle("Preferences")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._preferences = preferences
        self._widgets: dict[str, QCheckBox | QComboBox | QSpinBox] = {}
        whole = QVBoxLayout(self)
        whole.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        whole.setSpacing(theme.MEDIUM)
        body = QWidget()
        layout = QVBoxLayout(body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        for section, group in groupby(PREFERENCES, key=lambda item: item.section):
            title = plain_label(section, wrap=False)
            title.setFont(theme.heading_font(1))
            layout.addWidget(title)
            layout.addLayout(self._form(list(group)))
            layout.addSpacing(theme.MEDIUM)
        note = "Changes take effect at once. All other limits of the program hold for everyone: "
        layout.addWidget(plain_label(f"{note}refbrowser limits lists them.", role="muted"))
        layout.addStretch(1)
        whole.addWidget(framed(body), 1)
        whole.addLayout(self._buttons())
        preferences.changed.connect(self._show)
        for item in PREFERENCES:
            self._show(item.name)
        self.resize(self.sizeHint())

    def _form(self, items: list[Preference]) -> QFormLayout:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.FieldsStayAtSizeHint)
        form.setHorizontalSpacing(theme.HUGE)
        form.setVerticalSpacing(theme.MEDIUM)
        form.setContentsMargins(theme.LARGE, 0, 0, 0)
        for item in items:
            widget = self._widgets[item.name] = self._make(item)
            widget.setObjectName(f"preference_{item.name}")
            widget.setAccessibleName(item.title)
            widget.setAccessibleDescription(item.tip)
            widget.setToolTip(item.tip)
            if isinstance(widget, QCheckBox):
                form.addRow(widget)
            else:
                label = plain_label(item.title, wrap=False)
                label.setBuddy(widget)
                label.setMinimumWidth(_LABEL)
                form.addRow(label, widget)
        return form

    def _make(self, item: Preference) -> QCheckBox | QComboBox | QSpinBox:
        if isinstance(item.default, bool):
            tick = QCheckBox(item.title)
            tick.toggled.connect(lambda on: self._preferences.set(item.name, on))
            return tick
        if isinstance(item.default, int):
            number = QSpinBox()
            number.setRange(item.low, item.high)
            number.setGroupSeparatorShown(True)
            number.setSuffix(f" {item.unit}" if item.unit else "")
            # Not each digit on the way to a number.
            number.setKeyboardTracking(False)
            number.setMinimumWidth(_FIELD)
            number.valueChanged.connect(lambda value: self._preferences.set(item.name, value))
            return number
        choice = QComboBox()
        for value, title in item.choices or _colour_maps():
            choice.addItem(title, value)
        choice.setMinimumWidth(_FIELD)
        choice.currentIndexChanged.connect(
            lambda index: self._preferences.set(item.name, str(choice.itemData(index)))
        )
        return choice

    def _buttons(self) -> QHBoxLayout:
        line = QHBoxLayout()
        restore = push_button(
            "Restore defaults", "preferencesDefaultsButton", self._preferences.restore_defaults
        )
        close = push_button("Close", "preferencesCloseButton", self.close)
        close.setDefault(True)
        line.addWidget(restore)
        line.addStretch(1)
        line.addWidget(close)
        return line

    def _show(self, name: str) -> None:
        """Show the value in force, without setting it again."""
        widget = self._widgets[name]
        widget.blockSignals(True)
        if isinstance(widget, QCheckBox):
            widget.setChecked(self._preferences.is_on(name))
        elif isinstance(widget, QSpinBox):
            widget.setValue(self._preferences.number(name))
        else:
            widget.setCurrentIndex(widget.findData(self._preferences.text(name)))
        widget.blockSignals(False)


def _colour_maps() -> list[tuple[str, str]]:
    """Return the colour maps; the plot's libraries know them."""
    from refbrowser.app.plot.colour_bar import MAPS

    return [(title, title) for title in MAPS]
