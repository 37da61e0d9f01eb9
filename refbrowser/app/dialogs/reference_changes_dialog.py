"""Changes the selected references together; the first of them are shown before and after."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import answer_line, combo_box, plain_label, push_button
from refbrowser.errors import RefbrowserError
from refbrowser.references.edits.reference_changes import (
    AddNumber,
    ChangeReferences,
    ReferenceChange,
    ReplaceText,
    SetNumber,
    SetText,
    WholeFiles,
    values_at,
)
from refbrowser.views.words import one_line
from refbrowser.words import counted_spaced

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document
    from refbrowser.views.references import SelectedRows

STAY, SET, REPLACE, ADD, WHOLE = "stays", "set to", "replace", "add", "whole file"
#: References that are shown before and after.
_SHOWN = 4


class _Row:
    """What becomes of one part of each reference: a choice, and what it needs."""

    def __init__(self, name: str, title: str, choices: tuple[str, ...], grid: QGridLayout, row: int) -> None:
        self.choice: QComboBox = combo_box(f"change{name}Choice", f"What becomes of the {title.lower()}")
        self.choice.addItems(list(choices))
        self.first, self.second = QLineEdit(), QLineEdit()
        for field, part in ((self.first, "Value"), (self.second, "New")):
            field.setObjectName(f"change{name}{part}")
            field.setAccessibleName(f"{title}: {part.lower()}")
            field.setFont(theme.mono_font())
        label = QLabel(title)
        label.setBuddy(self.choice)
        self._by = QLabel("by")
        fields = QHBoxLayout()
        fields.setSpacing(theme.MEDIUM)
        for widget in (self.first, self._by, self.second):
            fields.addWidget(widget)
        grid.addWidget(label, row, 0)
        grid.addWidget(self.choice, row, 1)
        grid.addLayout(fields, row, 2)
        self.show()

    def show(self) -> None:
        """Show the fields that the choice needs."""
        choice = self.choice.currentText()
        self.first.setEnabled(choice not in (STAY, WHOLE))
        self._by.setVisible(choice == REPLACE)
        self.second.setVisible(choice == REPLACE)


class ReferenceChangesDialog(QDialog):
    """A sheet that makes one edit of many references.

    Parameters
    ----------
    state, chosen
        The document, and which of its entries are changed.
    stay
        What of the selection is not; empty where there is nothing.

    Signals
    -------
    wanted(object)
        The `ChangeReferences` to be applied.
    """

    wanted = Signal(object)

    def __init__(self, state: Document, chosen: SelectedRows, stay: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("referenceChangesDialog")
        self.setWindowTitle("Change references together")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._state, self._chosen = state, chosen
        heading = plain_label(f"{counted_spaced(chosen.count, 'reference')}")
        heading.setFont(theme.heading_font())
        about = plain_label(f"It is one step, which Undo takes back. Inline values stay as they are.{stay}")
        about.setProperty("role", "muted")
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.MEDIUM)
        grid.setVerticalSpacing(theme.MEDIUM)
        grid.setColumnStretch(2, 1)
        self._url = _Row("Url", "URL", (STAY, REPLACE, SET), grid, 0)
        self._offset = _Row("Offset", "Offset", (STAY, ADD, SET), grid, 1)
        self._length = _Row("Length", "Length", (STAY, ADD, SET, WHOLE), grid, 2)
        self._preview = QPlainTextEdit()
        self._preview.setObjectName("changePreview")
        self._preview.setAccessibleName("The first references before and after")
        self._preview.setReadOnly(True)
        self._preview.setFont(theme.mono_font())
        self._preview.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._preview.setTabChangesFocus(True)
        self._answer = plain_label("", role="fault")
        self._answer.setObjectName("changeAnswer")
        self._answer.setMinimumHeight(self.fontMetrics().lineSpacing())
        self._take = push_button("Change", "changeTakeButton", self._accept)
        self._take.setDefault(True)
        cancel = push_button("Cancel", "changeCancelButton", self.reject)
        buttons = answer_line(cancel, self._take)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(heading)
        layout.addWidget(about)
        layout.addLayout(grid)
        layout.addWidget(self._preview, 1)
        layout.addWidget(self._answer)
        layout.addLayout(buttons)
        for row in (self._url, self._offset, self._length):
            row.choice.currentTextChanged.connect(self._refresh)
            row.first.textChanged.connect(self._refresh)
            row.second.textChanged.connect(self._refresh)
        self.resize(680, 420)
        self._refresh()

    def _change(self) -> ReferenceChange:
        """Return what the fields say.

        Raises
        ------
        RefbrowserError, ValueError
            One of them does not say anything.
        """
        url: SetText | ReplaceText | None = None
        if self._url.choice.currentText() == SET:
            url = SetText(self._url.first.text())
        elif self._url.choice.currentText() == REPLACE:
            url = ReplaceText(_given("the text to replace", self._url.first), self._url.second.text())
        length: SetNumber | AddNumber | WholeFiles | None = _number("length", self._length)
        if self._length.choice.currentText() == WHOLE:
            length = WholeFiles()
        return ReferenceChange(url, _number("offset", self._offset), length)

    def _refresh(self) -> None:
        for row in (self._url, self._offset, self._length):
            row.show()
        fault, lines = "", []
        values = values_at(self._state, self._chosen.entries, _SHOWN)
        try:
            change = self._change()
            lines = [line for key, value in values for line in _lines(key, value, change.changed(value))]
            is_changed = change != ReferenceChange()
        except (RefbrowserError, ValueError) as error:
            fault, is_changed = getattr(error, "message", str(error)), False
            lines = [line for key, value in values for line in _lines(key, value, value)]
        more = self._chosen.count - len(values)
        self._preview.setPlainText("\n".join(lines + ([f"… and {more:,} more"] if more else [])))
        self._answer.setText(f"✕ {fault}" if fault else "")
        self._take.setEnabled(is_changed)

    def _accept(self) -> None:
        self.wanted.emit(ChangeReferences(self._chosen.entries, self._change()))
        self.accept()


def _given(what: str, field: QLineEdit) -> str:
    if not field.text():
        raise ValueError(f"{what} is not given")
    return field.text()


def _number(name: str, row: _Row) -> SetNumber | AddNumber | None:
    choice = row.choice.currentText()
    if choice not in (ADD, SET):
        return None
    text = row.first.text().strip().replace(",", "").replace("_", "")
    digits = text.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 19):
        raise ValueError(f"{name}: {one_line(row.first.text()) or 'nothing'} is no number of bytes")
    return AddNumber(int(text)) if choice == ADD else SetNumber(int(text))


def _lines(key: str, before: Any, after: Any) -> list[str]:
    """Return the lines that tell of one reference."""
    lines = [one_line(key), f"  {one_line(json.dumps(before, ensure_ascii=False))}"]
    return lines if after == before else [*lines, f"→ {one_line(json.dumps(after, ensure_ascii=False))}"]
