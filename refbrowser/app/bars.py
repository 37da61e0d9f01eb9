"""Strips over the tabs: errors that belong to the whole document, and the progress of reading it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QSizePolicy, QWidget

from refbrowser.app import theme
from refbrowser.app.cards import error_kind, error_text
from refbrowser.app.widgets import IconLabel, plain_label, push_button


class ErrorBar(QFrame):
    """One error that does not stop the rest of the window: retry, copy, dismiss."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("errorBar")
        self.setProperty("role", "faultStrip")
        self._text = plain_label("")
        self._text.setObjectName("errorText")
        self._again: Callable[[], object] | None = None
        self._copied = ""
        self._retry = push_button("Try again", "errorBarRetryButton", self._run_again)
        copy = push_button("Copy", "errorBarCopyButton", self._copy)
        dismiss = push_button("Dismiss", "errorBarDismissButton", self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(IconLabel("fault", "fault"))
        layout.addWidget(self._text, 1)
        for button in (self._retry, copy, dismiss):
            layout.addWidget(button)
        self.hide()

    def show_error(self, what: str, error: BaseException, again: Callable[[], object] | None = None) -> None:
        """Show an error until it is dismissed or another one comes."""
        self._again = again
        self._retry.setVisible(again is not None)
        self._copied = f"{what}: {error_kind(error)}: {error_text(error)}"
        self._text.setText(f"{what}. {error_text(error)}")
        self.show()

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()

    def _run_again(self) -> None:
        self.hide()
        if self._again is not None:
            self._again()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._copied)


class ReadingStrip(QFrame):
    """A document is still being read while its first rows are shown: how far, and Cancel."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("readingStrip")
        self._text = plain_label("", role="muted", wrap=False)
        self._bar = QProgressBar()
        self._bar.setAccessibleName("Reading progress")
        self._bar.setTextVisible(False)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.SMALL, theme.MEDIUM, theme.SMALL)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(self._text)
        layout.addWidget(self._bar, 1)
        layout.addWidget(push_button("Cancel", "readingCancelButton", self.cancelled.emit))
        self.hide()

    def set_progress(self, title: str, done: int, total: int | None) -> None:
        """Show how many bytes are read."""
        amount = theme.size_text(done) + (f" of {theme.size_text(total)}" if total else "")
        self._text.setText(f"Reading {title}: {amount}")
        self._bar.setRange(0, 1000 if total else 0)
        if total:
            self._bar.setValue(done * 1000 // total)


class ElidedLabel(QWidget):
    """One line of plain text, cut to the room there is: in its middle, or where `elide` tells."""

    def __init__(
        self,
        name: str,
        parent: QWidget | None = None,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._text = ""
        self._elide = elide
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_text(self, text: str) -> None:
        """Show other text."""
        self._text = text
        self.setAccessibleName(text)
        self.setToolTip(theme.plain_tooltip(text))
        self.update()

    def text(self) -> str:
        """Return the whole text."""
        return self._text

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        shown = self.fontMetrics().elidedText(self._text, self._elide, self.width() - 8)
        painter.setPen(self.palette().placeholderText().color())
        # A path begins at the left, whatever the script of its names.
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.drawText(self.rect().adjusted(4, 0, -4, 0), Qt.AlignmentFlag.AlignVCenter, shown)
        painter.end()
