"""A field of one jinja string: monospaced, highlighted, completed, its faults underlined."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QTextOption, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from refbrowser.app.editors.code_field import FaultSpan, fault_spans, raw_text, with_line_ends
from refbrowser.app.editors.completed_field import CompletedField
from refbrowser.app.editors.highlighter import JinjaHighlighter
from refbrowser.references.templates.highlight import ListFolds

__all__ = ["FaultSpan", "JinjaField", "fault_spans", "raw_text", "with_line_ends"]

FOLDED_HINT = "A long list is shown as the number of its integers; copied, it is whole."
LINES_SHOWN = 6
"""A value with line breaks grows the field up to this many lines."""


class JinjaField(CompletedField):
    """One line of jinja: Return makes no new line, Tab leaves, Ctrl+Space completes.

    A value that has line breaks keeps them. Long lists of integers are shown folded; what is copied has them
    whole.

    Signals
    -------
    returnPressed()
        Return was pressed in the field.
    """

    returnPressed = Signal()

    def __init__(self, name: str, accessible_name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, accessible_name, parent)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(2)
        self._highlighter = JinjaHighlighter(self.document())
        self._folds = ListFolds()
        self._fit()

    def jinja_at(self, position: int) -> tuple[int, str] | None:
        """Return where the jinja string around a character begins, and the string: here all of the text."""
        return 0, self.shown_text()

    # Long lists, folded

    def shown_text(self) -> str:
        """Return the text with its long lists folded."""
        return raw_text(self.document())

    def _shown(self, text: str) -> str:
        self._folds = ListFolds()
        shown = self._folds.fold(text)
        self.setToolTip("" if shown == text else FOLDED_HINT)
        return shown

    def _meant(self, shown: str) -> str:
        return self._folds.unfold(shown)

    def _shown_place(self, place: int) -> int:
        return self._folds.place(self._seen, place)

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copy the text that is meant."""
        data = super().createMimeDataFromSelection()
        data.setText(self._meant(data.text()))
        return data

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

    def _return_pressed(self, event: QKeyEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
        else:
            self.returnPressed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
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
        text = " ".join(line.strip() for line in lines) if len(lines) > 1 else "".join(lines)
        shown = self._folds.fold(text)
        if shown != text:
            self.setToolTip(FOLDED_HINT)
        self.insertPlainText(shown)
