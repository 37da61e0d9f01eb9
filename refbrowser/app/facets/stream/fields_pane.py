"""What stands beside the table of messages: the one that is chosen, what is wrong with it, its fields."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from refbrowser.app.facets.stream.fields_view import FieldsView
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label, tool_button
from refbrowser.views.words import count_text


class FieldsPane(QWidget):
    """One message; it can be closed.

    Signals
    -------
    closed()
        It is wanted no longer.
    """

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messageFieldsPane")
        self._title = plain_label("", role="paneTitle", wrap=False)
        self.close_button = tool_button("messageFieldsCloseButton", "Close the fields of the message", "×")
        self._note = plain_label("", role="fault")
        self._note.setObjectName("messageNote")
        self.view = FieldsView()
        head = QHBoxLayout()
        head.setSpacing(theme.SMALL)
        head.addWidget(self._title, 1)
        head.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addLayout(head)
        layout.addWidget(self._note)
        layout.addWidget(self.view, 1)
        self.setMinimumWidth(150)
        self.close_button.clicked.connect(lambda _checked=False: self.closed.emit())

    def set_message(self, message: int, note: str) -> None:
        """Say which message it is, and what is wrong with it; empty where nothing is."""
        self._title.setText(f"Message {count_text(message)}")
        self._note.setText(note)
        self._note.setVisible(bool(note))

    def note(self) -> str:
        """Return what is said to be wrong."""
        return self._note.text()
