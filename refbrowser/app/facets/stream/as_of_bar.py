"""Says that later messages of a stream do not count, while that is so."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import IconLabel, plain_label, push_button
from refbrowser.views.words import count_text


class AsOfBar(QFrame):
    """Says that later messages do not count, while that is so.

    Signals
    -------
    allWanted()
        All messages are to count again.
    """

    allWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("asOfBar")
        self.setProperty("role", "trustStrip")
        self._text = plain_label("")
        self._text.setObjectName("asOfText")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(IconLabel("warning", "warning"))
        layout.addWidget(self._text, 1)
        layout.addWidget(push_button("Show all messages", "asOfAllButton", self.allWanted.emit))
        self.hide()

    def set_last(self, last: int | None, count: int) -> None:
        """Say which message is the last that counts; None hides the bar."""
        self.setVisible(last is not None)
        if last is not None:
            later = count_text(count - 1 - last)
            self._text.setText(
                f"The stream as it was after message {count_text(last)}: "
                f"the {later} later message{'s do' if count - 1 - last != 1 else ' does'} not count."
            )

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()
