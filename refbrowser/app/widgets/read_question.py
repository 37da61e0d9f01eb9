"""The strip that asks whether what takes long is to be read."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import plain_label, push_button


class ReadQuestion(QFrame):
    """Hidden while there is nothing to ask.

    Signals
    -------
    answered(bool)
        Whether it is to be read, or left out.
    """

    answered = Signal(bool)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "trustStrip")
        self.setObjectName(f"{name}Question")
        self._words = plain_label("", wrap=False)
        self._words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.MEDIUM, 1, 1, 1)
        row.addWidget(self._words, 1)
        row.addWidget(push_button("Read", f"{name}ReadButton", lambda: self.answered.emit(True)))
        row.addWidget(push_button("Leave out", f"{name}LeaveButton", lambda: self.answered.emit(False)))
        self.hide()

    def ask(self, text: str) -> None:
        """Ask whether to read; without a text there is nothing to ask."""
        self._words.setText(text)
        self.setVisible(bool(text))

    def text(self) -> str:
        """Return the question, empty where there is none."""
        return "" if self.isHidden() else self._words.text()
