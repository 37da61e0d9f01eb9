"""A field of JSON text over many lines: highlighted, indented, with names completed in its jinja strings."""

from __future__ import annotations

import re

from PySide6.QtCore import QMimeData, QSize, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QWidget

from refbrowser.app.editors.completed_field import CompletedField
from refbrowser.app.editors.json_highlighter import JsonHighlighter
from refbrowser.app.editors.names import Names

_STRING = re.compile(r'"(?P<inside>(?:[^"\\\n]|\\.)*)"?')
_INDENT = re.compile(r"[ \t]*")
_OPENING, _CLOSING = ("{", "["), ("}", "]")


class JsonField(CompletedField):
    """JSON as text. Return indents, Tab leaves, Ctrl+Space completes within a jinja string."""

    def __init__(self, name: str, accessible_name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, accessible_name, parent)
        self._has_jinja = False
        self._highlighter = JsonHighlighter(self.document())

    def set_names(self, names: Names) -> None:
        """Take texts for jinja strings in which this can be named."""
        self._has_jinja = True
        super().set_names(names)

    def jinja_at(self, position: int) -> tuple[int, str] | None:
        """Return where the text in quotes around a character begins, and what stands in the quotes."""
        if not self._has_jinja:
            return None
        for match in _STRING.finditer(self.text()):
            if match.start("inside") <= position <= match.end("inside"):
                return match.start("inside"), match["inside"]
        return None

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.averageCharWidth() * 32, metrics.lineSpacing() * 10)

    def minimumSizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.averageCharWidth() * 10, metrics.lineSpacing() * 4)

    # Events

    def _return_pressed(self, event: QKeyEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:  # Apply
            event.ignore()
        else:
            self._new_line()

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

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert plain text."""
        self.insertPlainText(source.text())
