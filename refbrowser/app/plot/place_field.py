"""The field over a plot in which is typed what of the array is to be seen, by coordinate or index."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from refbrowser.app.widgets import theme

_WIDTH = 240


class PlaceField(QLineEdit):
    """Stands in the place of another widget while something is typed in it.

    Parameters
    ----------
    label
        What it stands for, which is seen at all other times.

    Signals
    -------
    typed(str)
        A selection was typed, as ``--select`` takes it.
    """

    typed = Signal(str)

    def __init__(self, label: QWidget) -> None:
        super().__init__()
        self._label = label
        self.setObjectName("plotPlace")
        self.setAccessibleName("What of the array is to be seen")
        self.setPlaceholderText("time=2003-04, lat=30..60, plev~500")
        self.setFont(theme.mono_font())
        self.setFixedWidth(_WIDTH)
        self.returnPressed.connect(self._typed)
        self.hide()

    def begin(self, text: str) -> None:
        """Take the place of the label, with a text to begin with."""
        self.setText(text)
        self._label.hide()
        self.show()
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def _typed(self) -> None:
        text = self.text().strip()
        self._end()
        if text:
            self.typed.emit(text)

    def _end(self) -> None:
        if self.isVisibleTo(self.parentWidget()):
            self.hide()
            self._label.show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._end()
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._end()
