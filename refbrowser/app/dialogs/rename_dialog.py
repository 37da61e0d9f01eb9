"""Asks for another name of something in the hierarchy; what is typed is checked as it is typed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QLabel, QLineEdit, QVBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import answer_line, plain_label, push_button


class RenameDialog(QDialog):
    """One field, below it why a name cannot be used, and whether something of the same name goes along.

    Parameters
    ----------
    title
        What is renamed.
    name
        As it is called now.
    fault
        Says why a name cannot be used; nothing where it can.
    along
        What has the same name, and can be renamed, too; empty where there is nothing.

    Signals
    -------
    said(str, bool)
        The new name, and whether the other is renamed, too.
    """

    said = Signal(str, bool)

    def __init__(
        self, title: str, name: str, fault: Callable[[str], str], along: str, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("renameDialog")
        self.setWindowTitle("Rename")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._name, self._fault = name, fault
        heading = plain_label(title)
        heading.setFont(theme.heading_font())
        about = plain_label("Only references and metadata change. It is one step, which Undo takes back.")
        about.setProperty("role", "muted")
        self._field = QLineEdit(name)
        self._field.setObjectName("renameField")
        self._field.textChanged.connect(self._check)
        label = QLabel("New &name")
        label.setBuddy(self._field)
        self._along = QCheckBox(along)
        self._along.setObjectName("renameAlong")
        self._along.setChecked(bool(along))
        self._along.setVisible(bool(along))
        self._answer = plain_label("", role="fault")
        self._answer.setObjectName("renameAnswer")
        self._answer.setMinimumHeight(self.fontMetrics().lineSpacing())
        self._take = push_button("Rename", "renameTakeButton", self.accept)
        self._take.setDefault(True)
        cancel = push_button("Cancel", "renameCancelButton", self.reject)
        buttons = answer_line(cancel, self._take)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.MEDIUM)
        for each in (heading, about, label, self._field, self._along, self._answer):
            layout.addWidget(each)
        layout.addLayout(buttons)
        self.resize(520, self.sizeHint().height())
        self._check(name)
        self._field.selectAll()
        self._field.setFocus()

    def _check(self, text: str) -> None:
        fault = "" if text == self._name else self._fault(text)
        self._take.setEnabled(text != self._name and not fault)
        self._answer.setText(fault)

    def accept(self) -> None:
        """Say what was typed, where it can be used."""
        if self._take.isEnabled():
            self.said.emit(self._field.text(), self._along.isChecked())
            super().accept()
