"""A field of code in which the names of jinja strings are coloured and completed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from refbrowser.app.editors.code_field import CodeField
from refbrowser.app.editors.completion import CompletionPopup
from refbrowser.app.editors.names import Names

if TYPE_CHECKING:
    from refbrowser.app.editors.highlighter import JinjaHighlighter
    from refbrowser.app.editors.json_highlighter import JsonHighlighter


class CompletedField(CodeField):
    """Code with the list of names that fit: Ctrl+Space opens it, and so does a name that is begun."""

    _highlighter: JinjaHighlighter | JsonHighlighter

    def __init__(self, name: str, accessible_name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, accessible_name, parent)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._completion = CompletionPopup(self)

    def set_names(self, names: Names) -> None:
        """Set what can be named in jinja strings, for the highlighting and the completion."""
        self._highlighter.set_names(names)
        self._completion.set_names(names)

    def jinja_at(self, position: int) -> tuple[int, str] | None:
        """Return where the jinja string around a character begins, and the string; None: there is none."""
        raise NotImplementedError

    def _use_colors(self) -> None:
        if hasattr(self, "_highlighter"):
            self._highlighter.use_colors()
            super()._use_colors()

    # Events

    def event(self, event: QEvent) -> bool:
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
            and self._completion.is_open()
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._completion.take_key(event):
            return
        if event.key() == Qt.Key.Key_Space and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._completion.open(asked=True)
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._return_pressed(event)
        else:
            before = self._seen
            super().keyPressEvent(event)
            if self._seen != before:
                self._completion.follow(event.text())

    def _return_pressed(self, event: QKeyEvent) -> None:
        """Leave Return to what is around the field."""
        event.ignore()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._completion.close()
