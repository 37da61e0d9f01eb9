"""The switch between the list of messages and the picture of what each gave."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QPushButton, QWidget

LIST, PICTURE = range(2)
_PAGES = (
    ("messagesListButton", "List", "first", "List the messages of the stream"),
    ("messagesPictureButton", "Picture", "last", "Show which message supplied each element of the array"),
)


class PageSwitch(QWidget):
    """Two buttons side by side, of which one is down.

    Signals
    -------
    changed(int)
        `LIST` or `PICTURE` is wanted.
    """

    changed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for page, (name, text, place, tip) in enumerate(_PAGES):
            button = QPushButton(text)
            button.setObjectName(name)
            button.setProperty("segment", place)
            button.setToolTip(tip)
            button.setAccessibleName(tip)
            button.setCheckable(True)
            button.setAutoDefault(False)
            self._group.addButton(button, page)
            layout.addWidget(button)
        self._group.button(LIST).setChecked(True)
        self._group.idToggled.connect(self._toggled)

    def page(self) -> int:
        """Return what is wanted."""
        return self._group.checkedId()

    def set_page(self, page: int) -> None:
        """Press the button of a page."""
        self._group.button(page).setChecked(True)

    def buttons(self) -> list[QAbstractButton]:
        """Return the buttons, left to right."""
        return self._group.buttons()

    def _toggled(self, page: int, down: bool) -> None:
        if down:
            self.changed.emit(page)
