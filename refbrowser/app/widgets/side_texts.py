"""Texts beside each other: what differs is marked by colour, by a line under it, and by a sign before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPlainTextEdit, QTextEdit, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import plain_label
from refbrowser.views.editing.text_marks import utf16_offsets
from refbrowser.views.side_lines import Sign, first_differing
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.views.side_lines import Lines, SideLine

_STYLES = (QEvent.Type.FontChange, QEvent.Type.StyleChange, QEvent.Type.PaletteChange)
#: Lines before the first one that differs that are seen.
_BEFORE = 2
#: Ground and mark of each sign, by role of the theme.
_ROLES = {
    Sign.CHANGED: ("warning_soft", "warning"),
    Sign.HERE: ("fault_soft", "fault"),
    Sign.THERE: ("accent_soft", "accent"),
}


class SideText(QPlainTextEdit):
    """One side: lines with a sign before each that is another one, or alone.

    Parameters
    ----------
    name
        Of the widget.
    accessible_name
        What screen readers call it.
    """

    def __init__(self, name: str, accessible_name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(accessible_name)
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setFont(theme.mono_font())
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self._lines: Lines = ()
        self._gutter = _Gutter(self)
        self.setViewportMargins(self._gutter.wide(), 0, 0, 0)
        self.updateRequest.connect(lambda _rect, _dy: self._gutter.update())

    def set_lines(self, lines: Lines) -> None:
        """Show lines from shortly before the first one that differs."""
        self._lines = lines
        self.setPlainText("\n".join(one_line(line.text) for line in lines))
        self._mark()
        start = self.document().findBlockByNumber(max(0, first_differing(lines) - _BEFORE))
        self.setTextCursor(QTextCursor(start))
        self.verticalScrollBar().setValue(start.firstLineNumber())
        self._gutter.update()

    def lines(self) -> Lines:
        """Return what is shown."""
        return self._lines

    def sign(self, number: int) -> str:
        """Return the sign before a line."""
        return self._lines[number].sign if number < len(self._lines) else Sign.NONE

    def _mark(self) -> None:
        colors = theme.colors()
        marks: list[QTextEdit.ExtraSelection] = []
        for number, line in enumerate(self._lines):
            if line.sign in _ROLES:
                marks += self._marks_of(number, line, colors)
        self.setExtraSelections(marks)

    def _marks_of(
        self, number: int, line: SideLine, colors: theme.Colors
    ) -> Sequence[QTextEdit.ExtraSelection]:
        ground, mark = (QColor(getattr(colors, role)) for role in _ROLES[line.sign])
        block = self.document().findBlockByNumber(number)
        whole = QTextEdit.ExtraSelection()
        whole.cursor = QTextCursor(block)
        whole.format.setBackground(ground)
        whole.format.setProperty(QTextCharFormat.Property.FullWidthSelection, True)
        found = [whole]
        offset = utf16_offsets(line.text)
        for start, stop in line.spans:
            part = QTextEdit.ExtraSelection()
            part.cursor = QTextCursor(block)
            part.cursor.setPosition(block.position() + offset(start))
            part.cursor.setPosition(block.position() + offset(stop), QTextCursor.MoveMode.KeepAnchor)
            part.format.setBackground(ground.darker(112) if not colors.dark else ground.lighter(150))
            part.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
            part.format.setUnderlineColor(mark)
            found.append(part)
        return found

    def paint_signs(self, painter: QPainter, area: QRect) -> None:
        """Paint the sign of each line that is seen."""
        colors = theme.colors()
        painter.fillRect(area, QColor(colors.raised))
        painter.setFont(self.font())
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= area.bottom():
            sign = self.sign(block.blockNumber())
            height = self.blockBoundingRect(block).height()
            if sign in _ROLES:
                painter.setPen(QColor(getattr(colors, _ROLES[sign][1])))
                place = QRect(0, round(top), area.width(), self.fontMetrics().height())
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, sign)
            top += height
            block = block.next()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        inside = self.contentsRect()
        self._gutter.setGeometry(inside.left(), inside.top(), self._gutter.wide(), inside.height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in _STYLES and hasattr(self, "_gutter"):
            self._mark()


class _Gutter(QWidget):
    """The signs beside the text."""

    def __init__(self, text: SideText) -> None:
        super().__init__(text)
        self._text = text

    def wide(self) -> int:
        """Return its width."""
        return self._text.fontMetrics().horizontalAdvance(Sign.CHANGED) + 2 * theme.SMALL

    def sizeHint(self) -> QSize:
        return QSize(self.wide(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._text.paint_signs(painter, self.rect())
        painter.end()


class SideTexts(QWidget):
    """Texts beside each other that are scrolled together.

    Parameters
    ----------
    name
        Begins the names of its widgets.
    sides
        What the sides are called, two or more.
    """

    def __init__(self, name: str, sides: Sequence[str]) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.MEDIUM)
        grid.setVerticalSpacing(theme.SMALL)
        self._headings: list[QLabel] = []
        self.texts: list[SideText] = []
        for column, side in enumerate(sides):
            heading = plain_label("", wrap=False)
            heading.setObjectName(f"{name}Heading{column}")
            text = SideText(f"{name}Text{column}", side)
            grid.addWidget(heading, 0, column)
            grid.addWidget(text, 1, column)
            grid.setColumnStretch(column, 1)
            self._headings.append(heading)
            self.texts.append(text)
        grid.setRowStretch(1, 1)
        self._is_moving = False
        for text in self.texts:
            text.verticalScrollBar().valueChanged.connect(self._follow)
        self.set_headings(sides)

    def set_headings(self, sides: Sequence[str]) -> None:
        """Call the sides otherwise."""
        for heading, text, side in zip(self._headings, self.texts, sides, strict=True):
            heading.setText(one_line(side))
            text.setAccessibleName(one_line(side))

    def set_lines(self, sides: Sequence[Lines]) -> None:
        """Show other texts."""
        self._is_moving = True
        for text, lines in zip(self.texts, sides, strict=True):
            text.set_lines(lines)
        self._is_moving = False

    def clear(self) -> None:
        """Show nothing."""
        self.set_lines([()] * len(self.texts))

    def _follow(self, value: int) -> None:
        if not self._is_moving:
            self._is_moving = True
            for text in self.texts:
                text.verticalScrollBar().setValue(value)
            self._is_moving = False
