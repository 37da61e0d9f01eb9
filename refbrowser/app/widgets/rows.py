"""Rows of an editor's form, with what is said below a field, and a layout that breaks into lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLayout, QLayoutItem, QLineEdit, QSizePolicy, QToolButton, QWidget

from refbrowser.app.widgets import icons, theme
from refbrowser.views.words import one_line

#: Between the thousands of a number; not printable for `one_line`.
THIN_BLANK = "\N{NARROW NO-BREAK SPACE}"
FAULT_GLYPH, WARNING_GLYPH, RESULT_GLYPH = "✕", "!", "→"


class Mend(NamedTuple):
    """What one click does about what is said below a field."""

    title: str
    make: Callable[[], object]


class OutcomeLine(QWidget):
    """A line or more beneath a field: what it yields now, or why it does not; a single line is elided.

    The line keeps its height when it is empty, so that nothing jumps while typing; the glyph tells result,
    warning and fault apart without colour. At its end is a button where there is something that mends it.
    """

    def __init__(self, name: str, parent: QWidget | None = None, *, lines: int = 1) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._lines = lines
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._glyph = ""
        self._text = ""
        self._mend: Mend | None = None
        self._button: QToolButton | None = None

    def text(self) -> str:
        """Return the glyph and the text that are shown."""
        return f"{self._glyph} {self._text}".strip()

    def show_result(self, text: str) -> None:
        """Show what the field yields."""
        self._show(RESULT_GLYPH, text)

    def show_fault(self, text: str, mend: Mend | None = None) -> None:
        """Show why the field yields nothing."""
        self._show(FAULT_GLYPH, text, mend)

    def show_warning(self, text: str, mend: Mend | None = None) -> None:
        """Show what should be looked at."""
        self._show(WARNING_GLYPH, text, mend)

    def clear(self) -> None:
        """Show nothing."""
        self._show("", "")

    def _show(self, glyph: str, text: str, mend: Mend | None = None) -> None:
        self._offer(mend)
        if (glyph, text) != (self._glyph, self._text):
            self._glyph, self._text = glyph, text
            self.setToolTip(theme.plain_tooltip(text))
            self.setAccessibleName(one_line(self.text()))
            self.update()

    def _offer(self, mend: Mend | None) -> None:
        self._mend = mend
        if mend is not None and self._button is None:
            self._button = QToolButton(self)
            self._button.setObjectName(f"{self.objectName()}Fix")
            self._button.setText("Fix")
            # As high as the line.
            self._button.setStyleSheet("QToolButton { padding: 0 4px; }")
            self._button.clicked.connect(self._make)
            self._place_button()
        if mend is not None and self._button is not None:
            self._button.setToolTip(theme.plain_tooltip(mend.title))
            self._button.setAccessibleName(f"Fix: {mend.title}")
        if self._button is not None:
            self._button.setVisible(mend is not None)

    def _make(self) -> None:
        if self._mend is not None:
            self._mend.make()

    def _place_button(self) -> None:
        if self._button is not None:
            width = self._button.sizeHint().width()
            height = self.fontMetrics().lineSpacing() + 2
            self._button.setGeometry(self.width() - width, 0, width, height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_button()

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
        beside = 0 if self._mend is None or self._button is None else self._button.width() + theme.SMALL
        area = self.rect().adjusted(theme.SMALL, 0, -beside, 0)
        upright = Qt.AlignmentFlag.AlignVCenter if self._lines == 1 else Qt.AlignmentFlag.AlignTop
        painter.drawText(area, upright, self._glyph)
        area.setLeft(area.left() + self.fontMetrics().horizontalAdvance("→ ") + theme.SMALL)
        text = one_line(self._text.replace(THIN_BLANK, " "))
        if self._lines > 1:
            # What has no room is left out by whole lines.
            painter.setClipRect(
                area.adjusted(0, 0, 0, self._lines * self.fontMetrics().height() - area.height())
            )
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


class FlowLayout(QLayout):
    """Parts in reading order, each in its own size, wrapped at the width."""

    def __init__(self, parent: QWidget | None = None, spacing: int = 4) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def insert(self, index: int, widget: QWidget) -> None:
        """Put a widget before the one at a position."""
        # Qt makes the item and deletes it: one that is made here would be deleted twice.
        self.addWidget(widget)
        self._items.insert(index, self._items.pop())
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, rect: QRect, *, move: bool) -> int:
        """Return the height that the parts need in the width of `rect`."""
        x, y = rect.x(), rect.y()
        line: list[tuple[QLayoutItem, int]] = []
        for item in self._items:
            if item.isEmpty():
                continue
            width = item.sizeHint().width()
            if line and x + width > rect.right() + 1:
                x, y = rect.x(), y + self._place_line(line, y, move=move) + self.spacing()
                line = []
            line.append((item, x))
            x += width + self.spacing()
        return y + self._place_line(line, y, move=move) - rect.y()

    @staticmethod
    def _place_line(line: list[tuple[QLayoutItem, int]], y: int, *, move: bool) -> int:
        """Put parts beside each other, their middles in line; return the height of the highest."""
        height = max((item.sizeHint().height() for item, _x in line), default=0)
        for item, x in line if move else ():
            size = item.sizeHint()
            item.setGeometry(QRect(QPoint(x, y + (height - size.height()) // 2), size))
        return height
