"""A read-only text of any length: it grows a piece at a time, and only what is seen is coloured."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QColor, QResizeEvent, QTextCursor, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from refbrowser.app.editors.text_units import character_offset, utf16_offsets
from refbrowser.app.panes.cdl.highlighter import CdlHighlighter
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import one_shot
from refbrowser.views.cdl_text import Lines

#: Lines that are added at a time.
PIECE = 500
#: Found places beside the one in front that are marked at most.
_MARKED = 500


class TextView(QPlainTextEdit):
    """Shows `Lines`.

    Signals
    -------
    grown()
        More lines are there, or the last one.
    """

    grown = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setProperty("role", "bare")
        self.setFont(theme.mono_font())
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(True)
        self.setTabStopDistance(4 * self.fontMetrics().horizontalAdvance(" "))
        self._lines: Lines | None = None
        self._there = 0
        self._found: Sequence[int] = ()
        self._length = 0
        self._top = 0
        self._highlighter = CdlHighlighter(self.document())
        self._growth = one_shot(self, 0, self._grow)
        self._marks = one_shot(self, 0, self._mark)
        self.verticalScrollBar().valueChanged.connect(lambda _value: self._marks.start())

    def set_lines(self, lines: Lines) -> None:
        """Show another text, from the line on that was at the top."""
        self._top = self.verticalScrollBar().value()
        self._lines, self._there = lines, 0
        self._found = ()
        self._highlighter.forget()
        self.clear()
        self._grow()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    @property
    def is_complete(self) -> bool:
        """Whether all lines are there that are shown."""
        return self._lines is None or self._there >= self._lines.shown

    def _grow(self) -> None:
        self._add(PIECE)
        if self._top and self._there > self._top:
            self.verticalScrollBar().setValue(self._top)
            self._top = 0
        if not self.is_complete:
            self._growth.start()
        self._marks.start()
        self.grown.emit()

    def _add(self, count: int) -> None:
        lines = self._lines
        if lines is None or self.is_complete:
            return
        last = min(lines.shown, self._there + count)
        text = lines.piece(self._there, last)
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(f"\n{text}" if self._there else text)
        self._there = last

    # Found places

    def set_found(self, found: Sequence[int], length: int) -> None:
        """Mark places of so many characters."""
        self._found, self._length = found, length
        self._marks.start()

    def go_to(self, position: int, length: int) -> None:
        """Select characters of the text, in sight."""
        lines = self._lines
        if lines is None or position >= lines.starts[-1]:
            return
        line = lines.place(position)[0]
        if line >= self._there:
            self._add(line + 1 - self._there)
        cursor = self._cursor(position, length)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()
        self._marks.start()

    def position(self) -> int:
        """Return where the cursor stands in the text, at the beginning of what is selected."""
        cursor = self.textCursor()
        block = self.document().findBlock(cursor.selectionStart())
        lines = self._lines
        if lines is None or block.blockNumber() >= lines.shown:
            return 0
        units = cursor.selectionStart() - block.position()
        return lines.starts[block.blockNumber()] + character_offset(block.text(), units)

    def _cursor(self, position: int, length: int) -> QTextCursor:
        assert self._lines is not None
        line, before = self._lines.place(position)
        cursor = QTextCursor(self.document().findBlockByNumber(line))
        cursor.setPosition(cursor.position() + _units(before))
        wanted = self._lines.text[position : position + length]
        cursor.setPosition(cursor.position() + _units(wanted), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _mark(self) -> None:
        """Mark found places in the lines that are seen, and colour these."""
        block = self.firstVisibleBlock()
        first, last = block.blockNumber(), block.blockNumber()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= self.viewport().height():
            self._highlighter.colour(block)
            last = block.blockNumber()
            top += self.blockBoundingRect(block).height()
            block = block.next()
        self.setExtraSelections(self._selections(first, last))

    def _selections(self, first: int, last: int) -> list[QTextEdit.ExtraSelection]:
        lines = self._lines
        if lines is None or not self._found or first >= lines.shown:
            return []
        start, stop = lines.starts[first], lines.starts[min(last + 1, lines.shown)]
        made = []
        at = bisect_left(self._found, start)
        for position in self._found[at : bisect_left(self._found, stop)][:_MARKED]:
            selection = QTextEdit.ExtraSelection()
            selection.cursor = self._cursor(position, self._length)
            selection.format.setBackground(QColor(theme.colors().accent_soft))
            selection.format.setProperty(QTextFormat.Property.FontUnderline, True)
            made.append(selection)
        return made

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._marks.start()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_marks"):
            self._highlighter.use_colors()
            self._marks.start()


def _units(text: str) -> int:
    """Return how long a text is for Qt, which counts in UTF-16."""
    return utf16_offsets(text)(len(text)) if text else 0
