"""Cards: what a pane says when it has nothing to show, waits, or failed; and where errors stay."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.small_widgets import plain_label, push_button, show_progress
from refbrowser.views.words import one_line, plain_lines
from refbrowser.words import size_text

_WIDTH = 520


def error_text(error: BaseException) -> str:
    """Return what happened, where, and what to do about it, for a person to read."""
    from refbrowser.errors import ErrorKind, RefbrowserError

    if isinstance(error, RefbrowserError):
        text = str(error)
        text = text[:1].upper() + text[1:]
        if error.kind is ErrorKind.BLOCKED:
            # The advice is for the command line; in the window there is the sheet.
            return f"{text}.\nReferences > Permissions lists what the document wants to read."
        # What is to be typed in a shell stays as it is.
        is_command = error.advice.startswith("pip ")
        advice = error.advice if is_command else error.advice[:1].upper() + error.advice[1:]
        return f"{text}.\n{advice}" if advice else f"{text}."
    notes = "".join(f"\n{note}." for note in getattr(error, "__notes__", ()))
    return f"{type(error).__name__}: {error}{notes}"


def error_kind(error: BaseException) -> str:
    """Return the kind of an error as the command line writes it."""
    return str(getattr(error, "kind", "internal error"))


class Card(QFrame):
    """A calm box in the middle of a pane: icon, heading, text, buttons."""

    def __init__(self, icon_name: str, heading: str, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.setMaximumWidth(_WIDTH)
        self.setMinimumWidth(280)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._icon_name = icon_name
        self._icon_role = "accent"
        self._icon = QLabel()
        self._heading = plain_label(heading)
        self._heading.setFont(theme.heading_font())
        self._text = plain_label(text, role="muted")
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(theme.MEDIUM)
        self._buttons.addStretch(1)
        head = QHBoxLayout()
        head.setSpacing(theme.LARGE)
        head.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignVCenter)
        head.addWidget(self._heading, 1)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(theme.HUGE, theme.HUGE - 4, theme.HUGE, theme.HUGE - 4)
        self._layout.setSpacing(theme.LARGE)
        self._layout.addLayout(head)
        self._layout.addWidget(self._text)
        self._layout.addLayout(self._buttons)
        self._text.setVisible(bool(text))
        self._draw_icon()

    def set_content(self, icon_name: str, heading: str, text: str, icon_role: str = "accent") -> None:
        """Show other words."""
        icon, self._icon_name, self._icon_role = (self._icon_name, self._icon_role), icon_name, icon_role
        self._heading.setText(one_line(heading))
        self._text.setText(plain_lines(text, theme.TOOLTIP_LIMIT))
        self._text.setVisible(bool(text))
        if icon != (icon_name, icon_role):
            self._draw_icon()

    def heading(self) -> str:
        """Return the heading shown."""
        return self._heading.text()

    def text(self) -> str:
        """Return the text shown."""
        return self._text.text()

    def add_button(
        self, text: str, name: str, clicked: Callable[[], object], *, default: bool = False
    ) -> QPushButton:
        """Add a button at the lower right."""
        button = push_button(text, name, clicked)
        button.setDefault(default)
        self._buttons.addWidget(button)
        return button

    def add_widget(self, widget: QWidget) -> None:
        """Add a widget above the buttons."""
        self._layout.insertWidget(self._layout.count() - 1, widget)

    def changeEvent(self, event: object) -> None:
        super().changeEvent(event)  # type: ignore[arg-type]
        if hasattr(self, "_icon"):
            self._draw_icon()

    def _draw_icon(self) -> None:
        color = getattr(theme.colors(), self._icon_role)
        self._icon.setPixmap(icons.pixmap(self._icon_name, 26, color, self.devicePixelRatioF()))


class ErrorCard(Card):
    """An error where it arose: what, where, advice; retry and copy.

    Signals
    -------
    retry()
        What failed is to be tried again.
    """

    retry = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("fault", "", "", parent)
        self._error: BaseException | None = None
        self._retry = self.add_button("Try again", "errorRetryButton", self.retry.emit)
        self.add_button("Copy", "errorCopyButton", self._copy)

    def set_error(self, heading: str, error: BaseException, *, can_retry: bool = True) -> None:
        """Show an error."""
        self._error = error
        self.set_content("fault", heading, error_text(error), "fault")
        self._retry.setVisible(can_retry)

    def _copy(self) -> None:
        if self._error is not None:
            text = f"{self.heading()}: {error_kind(self._error)}: {error_text(self._error)}"
            QGuiApplication.clipboard().setText(text)


class LoadingCard(Card):
    """Something is being read: how far, and Cancel."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("document", "Opening…", "Reading the document", parent)
        self._bar = QProgressBar()
        self._bar.setObjectName("loadingProgress")
        self._bar.setAccessibleName("Reading progress")
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 0)
        self.add_widget(self._bar)
        self.add_button("Cancel", "loadingCancelButton", self.cancelled.emit)

    def start(self, title: str) -> None:
        """Begin with a document."""
        self.set_content("document", f"Opening {title}", "Reading the document")
        self._bar.setRange(0, 0)

    def set_progress(self, title: str, done: int, total: int | None) -> None:
        """Show how many bytes are read."""
        show_progress(self._bar, done, total)
        text = f"{size_text(done)}{f' of {size_text(total)}' if total else ''} read"
        self.set_content("document", f"Opening {title}", text)

    def set_stage(self, title: str, stage: str) -> None:
        """Show what is done when all is read; its end is not known."""
        self._bar.setRange(0, 0)
        self.set_content("document", f"Opening {title}", stage)


def centred(card: QWidget) -> QWidget:
    """Return a page with a card in its middle."""
    page = QWidget()
    layout = QHBoxLayout(page)
    layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
    layout.addStretch(1)
    # With an alignment the card is as high as its words are at its width, without one as at its narrowest.
    layout.addWidget(card, 100, Qt.AlignmentFlag.AlignVCenter)
    layout.addStretch(1)
    return page
