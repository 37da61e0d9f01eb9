"""Small parts that the editors share: a line for a result or fault, and a row of buttons."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QToolButton, QWidget

from refbrowser.app.widgets import icons, theme
from refbrowser.views.words import one_line

#: Between the thousands of a number; not printable for `one_line`.
THIN_BLANK = "\N{NARROW NO-BREAK SPACE}"
FAULT_GLYPH, WARNING_GLYPH, RESULT_GLYPH = "✕", "!", "→"


class OutcomeLine(QWidget):
    """A line or more beneath a field: what it yields now, or why it does not; a single line is elided.

    The line keeps its height when it is empty, so that nothing jumps while typing; the glyph tells result,
    warning and fault apart without colour.
    """

    def __init__(self, name: str, parent: QWidget | None = None, *, lines: int = 1) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._lines = lines
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._glyph = ""
        self._text = ""

    def text(self) -> str:
        """Return the glyph and the text that are shown."""
        return f"{self._glyph} {self._text}".strip()

    def show_result(self, text: str) -> None:
        """Show what the field yields."""
        self._show(RESULT_GLYPH, text)

    def show_fault(self, text: str) -> None:
        """Show why the field yields nothing."""
        self._show(FAULT_GLYPH, text)

    def show_warning(self, text: str) -> None:
        """Show what should be looked at."""
        self._show(WARNING_GLYPH, text)

    def clear(self) -> None:
        """Show nothing."""
        self._show("", "")

    def _show(self, glyph: str, text: str) -> None:
        if (glyph, text) != (self._glyph, self._text):
            self._glyph, self._text = glyph, text
            self.setToolTip(theme.plain_tooltip(text))
            self.setAccessibleName(one_line(self.text()))
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, self.fontMetrics().lineSpacing() * self._lines + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self.fontMetrics().lineSpacing() * self._lines + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._glyph:
            return
        scheme = theme.colors()
        inks = {FAULT_GLYPH: scheme.fault, WARNING_GLYPH: scheme.warning}
        painter = QPainter(self)
        painter.setPen(QColor(inks.get(self._glyph, scheme.muted)))
        area = self.rect().adjusted(theme.SMALL, 0, 0, 0)
        upright = Qt.AlignmentFlag.AlignVCenter if self._lines == 1 else Qt.AlignmentFlag.AlignTop
        painter.drawText(area, upright, self._glyph)
        area.setLeft(area.left() + self.fontMetrics().horizontalAdvance("→ ") + theme.SMALL)
        text = one_line(self._text.replace(THIN_BLANK, " "))
        if self._lines > 1:
            painter.drawText(area, Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap, text)
            return
        shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, shown)


class TextLine(QLineEdit):
    """A line of text that is applied or reset with its editor."""

    def settle(self) -> None:
        """Forget what was typed: the text as it is was applied."""
        position = self.cursorPosition()
        self.setText(self.text())
        self.setCursorPosition(position)


Named = TypeVar("Named", bound=QWidget)


def named(widget: Named, name: str, accessible_name: str = "") -> Named:
    """Return the widget with its object name, and the name that screen readers say."""
    widget.setObjectName(name)
    widget.setAccessibleName(accessible_name)
    return widget


class IconToolButton(QToolButton):
    """A button with an icon in the colour of the theme's text."""

    def __init__(self, icon: str) -> None:
        super().__init__()
        self._icon = icon
        self.setIconSize(QSize(14, 14))
        self.setIcon(icons.icon(icon))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_icon"):
            self.setIcon(icons.icon(self._icon))


def tool_button(
    name: str, text: str, hint: str, clicked: Callable[[], object], icon: str = ""
) -> QToolButton:
    """Return a button with a short text or an icon; `hint` is its accessible name and tool tip."""
    button: QToolButton = named(IconToolButton(icon) if icon else QToolButton(), name, hint)
    button.setText(text)
    button.setToolTip(hint)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    button.clicked.connect(lambda: clicked())
    return button
