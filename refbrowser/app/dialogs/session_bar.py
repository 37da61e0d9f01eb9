"""The bar that names documents of a session that could not be opened, and offers to find them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import IconLabel, plain_label, push_button
from refbrowser.views.words import one_line
from refbrowser.words import counted_spaced

if TYPE_CHECKING:
    from refbrowser.views.window_states.window_state import DocumentState

#: Documents that are named.
_NAMED = 3


class SessionBar(QFrame):
    """What of a session is missing.

    Signals
    -------
    findWanted(object)
        The user knows where the first of these documents is: the `DocumentState` of each.
    """

    findWanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sessionBar")
        self.setProperty("role", "trustStrip")
        self._missing: tuple[DocumentState, ...] = ()
        self._text = plain_label("")
        self._text.setObjectName("sessionText")
        find = push_button("Find…", "sessionFindButton", lambda: self.findWanted.emit(self._missing))
        find.setToolTip("Choose where the first of them is now; others beside it are found with it")
        dismiss = push_button("Dismiss", "sessionDismissButton", self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(IconLabel("warning", "warning"))
        layout.addWidget(self._text, 1)
        for button in (find, dismiss):
            layout.addWidget(button)
        self._find = find
        self.hide()

    def show_missing(self, states: Sequence[DocumentState]) -> None:
        """Name what is missing."""
        self._missing = tuple(states)
        names = [one_line(os.path.basename(each.path.rstrip("/")) or each.path) for each in states[:_NAMED]]
        more = f" and {len(states) - _NAMED} more" if len(states) > _NAMED else ""
        self._text.setText(
            f"{counted_spaced(len(states), 'document')} of the session could not be opened: "
            f"{', '.join(names)}{more}. All else is as it was."
        )
        self._find.setVisible("://" not in states[0].path)
        self.show()
