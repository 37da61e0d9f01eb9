"""A switch between the pages of a pane: buttons side by side, of which one is down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QPushButton, QWidget


class Page(NamedTuple):
    """The button of one page: its object name, its text, and what it does."""

    name: str
    text: str
    tip: str


class PageSwitch(QWidget):
    """One button for each page; the first one is down.

    Signals
    -------
    changed(int)
        The page of that number is wanted.
    """

    changed = Signal(int)

    def __init__(self, pages: Sequence[Page], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for number, page in enumerate(pages):
            button = QPushButton(page.text)
            button.setObjectName(page.name)
            button.setProperty("segment", "last" if number else "first")
            button.setToolTip(page.tip)
            button.setAccessibleName(page.tip)
            button.setCheckable(True)
            button.setAutoDefault(False)
            self._group.addButton(button, number)
            layout.addWidget(button)
        self._group.button(0).setChecked(True)
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
