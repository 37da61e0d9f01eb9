"""A field of one jinja string: monospaced, highlighted, completed, its faults underlined."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QTextOption, QWheelEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from refbrowser.app.editors.code_field import CodeField, FaultSpan, fault_spans, raw_text, with_line_ends
from refbrowser.app.editors.completion import CompletionPopup
from refbrowser.app.editors.highlighter import JinjaHighlighter
from refbrowser.app.editors.names import Names

__all__ = ["FaultSpan", "JinjaField", "fault_spans", "raw_text", "with_line_ends"]

LINES_SHOWN = 6
"""A value with line breaks grows the field up to this many lines."""


class JinjaField(CodeField):
    """One line of jinja: Return makes no new line, Tab leaves, Ctrl+Space completes.

    A value that has line breaks keeps them.
    """

    def __init__(self, name: str, accessible_name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, accessible_name, parent)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(2)
        self._highlighter = JinjaHighlighter(self.document())
        self._completion = CompletionPopup(self)
        self._fit()

    def set_names(self, names: Names) -> None:
        """Set what can be named here, for the highlighting and the completion."""
        self._highlighter.set_names(names)
        self._completion.set_names(names)

    def jinja_at(self, position: int) -> tuple[int, str] | None:
        """Return where the jinja string around a character begins, and the string: here all of the text."""
        return 0, self.text()

    def _use_colors(self) -> None:
        if hasattr(self, "_completion"):
            self._highlighter.use_colors()
            super()._use_colors()

    # Size: one line, or as many as the value has

    def _fit(self) -> None:
        lines = max(1, min(self.document().blockCount(), LINES_SHOWN))
        metrics = QFontMetrics(self.font())
        margins = self.contentsMargins()
        frame = margins.top() + margins.bottom() + 2 * int(self.document().documentMargin()) + 2
        height = lines * metrics.lineSpacing() + frame
        if height != self.height() or height != self.minimumHeight():
            self.setFixedHeight(height)

    def sizeHint(self) -> QSize:
        return QSize(QFontMetrics(self.font()).averageCharWidth() * 32, self.minimumHeight())

    def minimumSizeHint(self) -> QSize:
        return QSize(QFontMetrics(self.font()).averageCharWidth() * 10, self.minimumHeight())

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
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            event.ignore()
            return
        before = self._seen
        super().keyPressEvent(event)
        if self._seen != before:
            self._completion.follow(event.text())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._completion.close()
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            # What Tab selected on the way in; else several fields look chosen at once.
            cursor = self.textCursor()
            cursor.clearSelection()
            self.setTextCursor(cursor)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.ShortcutFocusReason):
            self.selectAll()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert text as one line."""
        lines = source.text().strip("\r\n").splitlines()
        self.insertPlainText(" ".join(line.strip() for line in lines) if len(lines) > 1 else "".join(lines))
