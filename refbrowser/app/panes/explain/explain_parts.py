"""The parts of the explain pane: the verdict, and the steps that lead to it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QResizeEvent, QTextCursor, QTextOption
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QTextBrowser,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.panes.explain.explain_text import mark_color
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.parts import plain_label

_ICONS = {"ok": "done", "warning": "warning", "fault": "fault"}
_STRIPS = {"ok": "pane", "warning": "trustStrip", "fault": "faultStrip"}


class VerdictBox(QFrame):
    """The verdict in large type, with the mark of its state."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = "ok"
        self._most = 10_000
        self._icon = QLabel()
        self._word = plain_label("", wrap=False)
        self._word.setObjectName("explainWord")
        self._text = QTextEdit()
        self._text.setObjectName("explainVerdict")
        self._text.setAccessibleName("Verdict")
        self._text.setReadOnly(True)
        self._text.setTabChangesFocus(True)
        self._text.setFrameShape(QFrame.Shape.NoFrame)
        self._text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._text.document().setDocumentMargin(0)
        self._text.viewport().setAutoFillBackground(False)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.LARGE, theme.LARGE, theme.LARGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(theme.SMALL)
        words.addWidget(self._word)
        words.addWidget(self._text)
        layout.addLayout(words, 1)

    def text(self) -> str:
        """Return the words shown."""
        return self._text.toPlainText()

    def show_verdict(self, word: str, text: str, state: str) -> None:
        """Show a verdict: a word or two, and a sentence."""
        self._state = state
        self._word.setText(word)
        self._text.setPlainText(text)
        self._text.setAccessibleDescription(text)
        self.restyle()

    def limit(self, height: int) -> None:
        """Let the text be so high at most."""
        self._most = height
        self._fit()

    def restyle(self) -> None:
        """Take the colours of the theme and of the state."""
        self.setProperty("role", _STRIPS[self._state])
        self.style().unpolish(self)
        self.style().polish(self)
        color = mark_color(self._state)
        # In the style sheet: a font that is set beside one is forgotten when the widget is first shown.
        self._text.setStyleSheet(f"font-size: {self.font().pointSizeF() + 1:g}pt")
        size = theme.heading_font(1.5).pointSizeF()
        self._word.setStyleSheet(f"color: {color}; font-weight: bold; font-size: {size:g}pt")
        self._icon.setPixmap(icons.pixmap(_ICONS[self._state], 20, color, self.devicePixelRatioF()))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        least = self._text.fontMetrics().lineSpacing() + 2
        needed = int(self._text.document().size().height()) + 2
        self._text.setFixedHeight(max(least, min(needed, max(self._most, least))))


class StepsText(QTextBrowser):
    """The steps; links are reached by Tab, text is selected with the mouse or the keyboard."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("explainText")
        self.setAccessibleName("Steps of the explanation")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.document().setDocumentMargin(theme.SMALL)

    def focus_anchor(self, name: str) -> None:
        """Put the keyboard's mark on the words that have an anchor."""
        block = self.document().begin()
        while block.isValid():
            start = block.begin()
            first = start.fragment() if not start.atEnd() else None
            if first is not None and first.charFormat().anchorHref() == name:
                cursor = QTextCursor(block)
                cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, 1)
                while cursor.charFormat().anchorHref() == name and not cursor.atBlockEnd():
                    cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, 1)
                if cursor.charFormat().anchorHref() != name:
                    cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, 1)
                self.setTextCursor(cursor)
                return
            block = block.next()

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 60)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Load nothing: the text holds no pictures, and must not bring any."""
        return None
