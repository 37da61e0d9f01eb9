"""Asks for the user's own words about a difference; what is typed is checked as it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QVBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import answer_line, plain_label, push_button

if TYPE_CHECKING:
    from refbrowser.tools.make.custom_remedies import CustomRemedy


class CustomRemedyDialog(QDialog):
    """One field, and below it what comes of what is typed there.

    Signals
    -------
    said(object)
        The user wants these `Remedy`s, a tuple.
    """

    said = Signal(object)

    def __init__(self, way: CustomRemedy, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("ownWordsDialog")
        self.setWindowTitle(way.title)
        self._way = way
        heading = plain_label(way.title)
        heading.setFont(theme.heading_font())
        about = plain_label(way.mismatch.message, role="muted")
        self._field = QLineEdit(way.start)
        self._field.setObjectName("ownWordsField")
        self._field.setAccessibleName(way.label)
        self._field.textChanged.connect(self._check)
        label = QLabel(way.label)
        label.setBuddy(self._field)
        self._answer = plain_label("")
        self._answer.setObjectName("ownWordsAnswer")
        self._answer.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self._answer.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._take = push_button(way.verb, "ownWordsTakeButton", self.accept)
        self._take.setDefault(True)
        cancel = push_button("Cancel", "ownWordsCancelButton", self.reject)
        buttons = answer_line(cancel, self._take)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.MEDIUM)
        for each in (heading, about, label, self._field, self._answer):
            layout.addWidget(each)
        layout.addLayout(buttons)
        self.resize(520, self.sizeHint().height())
        self._check(way.start)
        self._field.selectAll()
        self._field.setFocus()

    def _check(self, text: str) -> None:
        answer = self._way.answer(text)
        self._take.setEnabled(answer.is_valid)
        self._answer.setProperty("role", "muted" if answer.is_valid else "fault")
        self._answer.style().unpolish(self._answer)
        self._answer.style().polish(self._answer)
        self._answer.setText(answer.words)

    def accept(self) -> None:
        """Say what was typed, where it is valid."""
        text = self._field.text()
        if self._way.answer(text).is_valid:
            self.said.emit(self._way.remedies(text))
            super().accept()
