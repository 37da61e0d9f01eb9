"""A field over the cell of a key, in which the key is edited."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from refbrowser.app.widgets import theme

#: Room for a key, in pixels, where its column is narrower.
WIDTH = 260


class KeyEditor(QLineEdit):
    """A field over one cell. Return accepts, Escape gives up; a text that cannot be a key stays in the field.

    Parameters
    ----------
    mistake
        Returns why a text cannot be the key, or nothing.

    Signals
    -------
    accepted(str)
        The new key.
    typed(object)
        The text as it is typed; None when it was accepted or given up.
    """

    accepted = Signal(str)
    typed = Signal(object)

    def __init__(self, mistake: Callable[[str], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._table = parent
        self.setObjectName("referenceKeyEditor")
        self.setAccessibleName("New key")
        self.setFont(theme.mono_font())
        self._mistake = mistake
        self._reason = QLabel(parent)
        self._reason.setObjectName("referenceKeyMistake")
        self._reason.setTextFormat(Qt.TextFormat.PlainText)
        self._reason.setProperty("role", "fault")
        self._reason.setAutoFillBackground(True)
        self._reason.setMargin(theme.SMALL)
        self._before = ""
        self.textEdited.connect(self._text_typed)
        self.hide()
        self._reason.hide()

    def begin(self, key: str, cell: QRect) -> None:
        """Edit a key over its cell."""
        self._before = key
        self.place(cell)
        self.setText(key)
        self._reason.hide()
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        slash = key.rfind("/")
        self.setSelection(slash + 1, len(key))

    def type_on(self, text: str) -> None:
        """Show what was typed before."""
        self.setText(text)
        self._text_typed(text)

    def _text_typed(self, text: str) -> None:
        self._show_reason()
        self.typed.emit(text)

    def place(self, cell: QRect) -> None:
        """Stand over a cell."""
        room = self._table.width() - cell.left()
        height = max(cell.height(), self.sizeHint().height())
        top = cell.top() - (height - cell.height()) // 2
        self.setGeometry(cell.left(), top, min(max(cell.width(), WIDTH), room), height)
        self._place_reason()

    def _place_reason(self) -> None:
        """Put the reason beneath the field, or above it where there is no room."""
        field, size = self.geometry(), self._reason.sizeHint()
        below = field.bottom() + 1
        fits = below + size.height() <= self._table.height()
        top = below if fits else field.top() - size.height()
        self._reason.setGeometry(field.left(), top, max(size.width(), field.width()), size.height())

    def leave(self) -> None:
        """Hide the field."""
        if self.isVisible():
            had_focus = self.hasFocus()
            self._reason.hide()
            self.hide()
            if had_focus:
                self._table.setFocus(Qt.FocusReason.OtherFocusReason)

    def reason(self) -> str:
        """Return what is shown to be wrong with the text."""
        return self._reason.text() if self._reason.isVisible() else ""

    def _show_reason(self) -> bool:
        """Show what is wrong with the text; whether anything is."""
        text = "" if self.text() == self._before else self._mistake(self.text())
        self._reason.setText(f"✕ {text}")
        self._place_reason()
        self._reason.setVisible(bool(text))
        self._reason.raise_()
        self.setAccessibleDescription(text)
        return bool(text)

    def _accept(self) -> None:
        if self._show_reason():
            return
        text, before = self.text(), self._before
        self.typed.emit(None)
        self.leave()
        if text != before:
            self.accepted.emit(text)

    def event(self, event: QEvent) -> bool:
        own = (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        is_asked = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_asked and event.key() in own:  # type: ignore[attr-defined]
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._accept()
        elif event.key() == Qt.Key.Key_Escape:
            self.typed.emit(None)
            self.leave()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            event.accept()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        # A menu or another window takes the keyboard for a while only.
        passing = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
        if self.isVisible() and event.reason() not in passing:
            self._accept()
