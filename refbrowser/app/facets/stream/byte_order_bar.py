"""Says in which byte order a stream is read where that is in doubt, and offers to compare."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import IconLabel, plain_label, push_button

_RULE = "The messages say little endian, as servers of this kind wrongly do; they are read as big endian."
_CHOSEN = {
    "big": "All numbers are read as big endian, as you chose for this file.",
    "little": "All numbers are read as little endian, as you chose for this file.",
    "flag": "Numbers are read as each message says, as you chose for this file.",
}


class ByteOrderBar(QFrame):
    """One line over the tabs.

    Signals
    -------
    compareWanted()
        Both readings are to be shown side by side.
    """

    compareWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("byteOrderBar")
        self.setProperty("role", "noteStrip")
        self._dismissed: object = None
        self._stream: object = None
        self._text = plain_label("")
        self._text.setObjectName("byteOrderText")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(IconLabel("info", "accent"))
        layout.addWidget(self._text, 1)
        layout.addWidget(push_button("Compare…", "byteOrderCompareButton", self.compareWanted.emit))
        layout.addWidget(push_button("Dismiss", "byteOrderDismissButton", self._dismiss))
        self.hide()

    def set_stream(self, stream: object, *, doubtful: bool, chosen: str | None) -> None:
        """Say how a stream is read; `chosen` is what the user wants, None for the rule."""
        self._stream = stream
        words = _RULE if chosen is None else _CHOSEN[chosen]
        self._text.setText(words)
        self.setVisible(
            stream is not None and (doubtful or chosen is not None) and stream is not self._dismissed
        )

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()

    def _dismiss(self) -> None:
        self._dismissed = self._stream
        self.hide()
