"""A field of JSON text over many lines: highlighted, indented, with names completed in its jinja strings."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from refbrowser.app.editors.code_field import CodeField
from refbrowser.app.editors.completion import CompletionPopup
from refbrowser.app.editors.json_highlighter import JsonHighlighter
from refbrowser.app.editors.names import Names

_STRING = re.compile(r'"(?P<inside>(?:[^"\\\n]|\\.)*)"?')
_INDENT = re.compile(r"[ \t]*")
_OPENING, _CLOSING = ("{", "["), ("}", "]")


class JsonField(CodeField):
    """JSON as text. Return indents, Tab leaves, Ctrl+Space completes within a jinja string."""

    def __init__(self, name: str, accessible_name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, accessible_name, parent)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._has_jinja = False
        self._highlighter = JsonHighlighter(self.document())
        self._completion = CompletionPopup(self)

    def set_names(self, names: Names) -> None:
        """Take texts for jinja strings in which this can be named."""
        self._has_jinja = True
        self._highlighter.set_names(names)
        self._completion.set_names(names)

    def jinja_at(self, position: int) -> tuple[int, str] | None:
        """Return where the text in quotes around a character begins, and what stands in the quotes."""
        if not self._has_jinja:
            return None
        for match in _STRING.finditer(self.text()):
            if match.start("inside") <= position <= match.end("inside"):
                return match.start("inside"), match["inside"]
        return None

    def show_place(self, position: int) -> None:
        """Put the cursor before a character and bring it into view."""
        from refbrowser.app.editors.text_units import utf16_offsets

        cursor = self.textCursor()
        cursor.setPosition(min(utf16_offsets(self.text())(position), self.document().characterCount() - 1))
        self.setTextCursor(cursor)
        self.centerCursor()

    def _use_colors(self) -> None:
        if hasattr(self, "_completion"):
            self._highlighter.use_colors()
            super()._use_colors()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.averageCharWidth() * 32, metrics.lineSpacing() * 10)

    def minimumSizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.averageCharWidth() * 10, metrics.lineSpacing() * 4)

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
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_Space and control:
            self._completion.open(asked=True)
            return
        if event.key() == Qt.Key.Key_Escape:
            event.ignore()
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if control:  # Apply
                event.ignore()
            else:
                self._new_line()
            return
        before = self._seen
        super().keyPressEvent(event)
        if self._seen != before and self._has_jinja:
            self._completion.follow(event.text())

    def _new_line(self) -> None:
        """Begin a line as deep as this one, deeper after an opening bracket."""
        cursor = self.textCursor()
        line = cursor.block().text()
        before, after = line[: cursor.positionInBlock()].rstrip(), line[cursor.positionInBlock() :].lstrip()
        found = _INDENT.match(line)
        indent = found.group() if found else ""
        opens = before.endswith(_OPENING)
        cursor.beginEditBlock()
        cursor.insertText("\n" + indent + ("  " if opens else ""))
        if opens and after.startswith(_CLOSING):
            position = cursor.position()
            cursor.insertText("\n" + indent)
            cursor.setPosition(position)
        cursor.endEditBlock()
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._completion.close()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert plain text."""
        self.insertPlainText(source.text())
