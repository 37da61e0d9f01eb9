"""Strips over the tabs: errors that belong to the whole document, and the progress of reading it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QScrollArea, QVBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_kind, error_text
from refbrowser.app.widgets.parts import IconLabel, plain_label, push_button, show_progress
from refbrowser.app.widgets.timers import one_shot
from refbrowser.views.words import one_line, size_text

_CHANGES = (QEvent.Type.LayoutRequest, QEvent.Type.ShowToParent, QEvent.Type.HideToParent)


class BarStack(QScrollArea):
    """The bars over the tabs, one above the other: as high as they are, up to a limit; then they scroll.

    Parameters
    ----------
    bars
        From the top down.
    """

    def __init__(self, bars: Sequence[QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._most = 0
        self._bars: list[QWidget] = []
        self._fitted = one_shot(self, 0, self._fit)
        self._inner = QWidget()
        self._inner.installEventFilter(self)
        self._column = QVBoxLayout(self._inner)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.MEDIUM - 2)
        for bar in bars:
            self.add(bar)
        self.setWidget(self._inner)
        self._fit()

    def add(self, bar: QWidget) -> None:
        """Add a bar below the others."""
        self._bars.append(bar)
        self._column.addWidget(bar)
        bar.installEventFilter(self)

    def limit(self, most: int) -> None:
        """Take so many pixels of height at most."""
        self._most = most
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _CHANGES:
            self._fit()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Not at once: a height that is set within a resize would not be seen.
        self._fitted.start()

    def _fit(self) -> None:
        is_any = any(not bar.isHidden() for bar in self._bars)
        if is_any:
            width = self.viewport().width()
            higher = self._column.heightForWidth(width)
            self.setFixedHeight(min(higher if higher >= 0 else self._inner.sizeHint().height(), self._most))
        self.setVisible(is_any)


class ErrorBar(QFrame):
    """One error that does not stop the rest of the window: retry, copy, dismiss."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("errorBar")
        self.setProperty("role", "faultStrip")
        self._text = plain_label("")
        self._text.setObjectName("errorText")
        self._again: Callable[[], object] | None = None
        self._what = self._copied = ""
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
        self._again, self._what = again, what
        self._retry.setVisible(again is not None)
        self._copied = f"{what}: {error_kind(error)}: {error_text(error)}"
        self._text.setText(f"{what}. {error_text(error)}")
        self.show()

    def settle(self, what: str) -> None:
        """Take away an error whose heading has these words: that is done by now."""
        if what in self._what:
            self.hide()

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
        amount = size_text(done) + (f" of {size_text(total)}" if total else "")
        self._text.setText(f"Reading {one_line(title)}: {amount}")
        show_progress(self._bar, done, total)

    def set_stage(self, title: str, stage: str) -> None:
        """Show what is done when all is read; its end is not known."""
        self._text.setText(f"{stage} of {one_line(title)}")
        self._bar.setRange(0, 0)
