"""The bar that says that something a file names was refused."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import IconLabel, plain_label, push_button


class SafetyBar(QFrame):
    """One line over the tabs, until it is dismissed.

    Signals
    -------
    reviewWanted()
        The user wants to see what was refused.
    """

    reviewWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("safetyBar")
        self.setProperty("role", "trustStrip")
        self._dismissed: object = None
        self._file: object = None
        self._text = plain_label("")
        self._text.setObjectName("safetyText")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(IconLabel("lock", "warning"))
        layout.addWidget(self._text, 1)
        layout.addWidget(push_button("Safety report…", "safetyReviewButton", self.reviewWanted.emit))
        layout.addWidget(push_button("Dismiss", "safetyDismissButton", self._dismiss))
        self.hide()

    def show_for(self, file: object, words: str) -> None:
        """Say what of a file was refused; nothing hides the bar."""
        self._file = file
        self._text.setText(words)
        self.setVisible(bool(words) and file is not self._dismissed)

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()

    def _dismiss(self) -> None:
        self._dismissed = self._file
        self.hide()
