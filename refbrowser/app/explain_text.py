"""The steps of an explanation as a document to read: each with a mark, its lines, bytes and links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import (
    QColor,
    QFont,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextLength,
    QTextTableFormat,
)

from refbrowser.app import theme
from refbrowser.app.plain_text import one_line

if TYPE_CHECKING:
    from refbrowser.engine.explain.explanation import Explanation, HexBlock, Link, Step

#: Scheme of the links inside the document; what follows is their number.
SCHEME = "explain"
#: Bytes in a row of hex, where the view is narrow and where it is wide.
NARROW, WIDE = 8, 16
#: Room of the names of lines, in percent of the view.
_NAMES = 30
_GLYPHS = {"ok": "✓", "warning": "!", "fault": "✕"}


def mark_color(state: str) -> str:
    """Return the colour of the mark of a state, in the theme in force."""
    colors = theme.colors()
    return {"ok": colors.good, "warning": colors.warning, "fault": colors.fault}[state]


class ExplanationText:
    """Writes explanations into a document. All text goes in as plain characters, never as markup.

    Attributes
    ----------
    links
        The links in the document, by the text of their URLs.
    """

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self.links: Mapping[str, Link] = {}

    def write(self, explanation: Explanation, font: QFont, width: int) -> None:
        """Write the steps of an explanation; `width` bytes of hex fit a row."""
        self._document.clear()
        self._document.setDefaultFont(font)
        self._found: dict[str, Link] = {}
        self._font = QFont(font)
        self._font.setWeight(QFont.Weight.DemiBold)
        cursor = QTextCursor(self._document)
        for step in explanation.steps:
            self._step(cursor, step, width)
        self.links = self._found

    # Parts

    def _step(self, cursor: QTextCursor, step: Step, width: int) -> None:
        colors = theme.colors()
        head = QTextBlockFormat()
        head.setBottomMargin(2)
        if cursor.atStart():
            cursor.setBlockFormat(head)
        else:
            head.setTopMargin(theme.LARGE)
            cursor.insertBlock(head)
        cursor.insertText(f"{_GLYPHS[step.state]}  ", _format(mark_color(step.state), self._font))
        cursor.insertText(step.title, _format(colors.text, self._font))
        self._lines(cursor, step)
        for block in step.hexes:
            self._bytes(cursor, block, width)
        self._links(cursor, step)

    def _lines(self, cursor: QTextCursor, step: Step) -> None:
        if not step.lines:
            return
        table = QTextTableFormat()
        table.setBorder(0)
        table.setCellPadding(1)
        table.setCellSpacing(0)
        table.setLeftMargin(theme.LARGE + theme.SMALL)
        table.setColumnWidthConstraints(
            [
                QTextLength(QTextLength.Type.PercentageLength, _NAMES),
                QTextLength(QTextLength.Type.PercentageLength, 100 - _NAMES),
            ]
        )
        colors = theme.colors()
        made = cursor.insertTable(len(step.lines), 2, table)
        for row, line in enumerate(step.lines):
            if not line.name:
                made.mergeCells(row, 0, 1, 2)
            else:
                name = made.cellAt(row, 0).firstCursorPosition()
                name.insertText(one_line(line.name), _format(colors.muted))
            column = 1 if line.name else 0
            text = made.cellAt(row, column).firstCursorPosition()
            text.insertText(one_line(line.text), _format(colors.text))
        cursor.movePosition(QTextCursor.MoveOperation.End)

    def _bytes(self, cursor: QTextCursor, block: HexBlock, width: int) -> None:
        colors = theme.colors()
        shape = QTextBlockFormat()
        shape.setLeftMargin(theme.LARGE + theme.SMALL)
        shape.setTopMargin(theme.SMALL)
        cursor.insertBlock(shape)
        cursor.insertText(block.title, _format(colors.muted))
        shape.setTopMargin(0)
        shape.setNonBreakableLines(True)
        mono = _format(colors.text, theme.mono_font(-1))
        marked = _format(colors.accent, theme.mono_font(-1))
        marked.setFontWeight(QFont.Weight.Bold)
        for row in block.rows(width):
            cursor.insertBlock(shape)
            # Brackets are found before the characters, which may hold brackets themselves.
            hexes, characters = row[: 10 + 3 * width], row[10 + 3 * width :]
            before, opened, rest = hexes.partition("[")
            inside, closed, after = rest.partition("]")
            cursor.insertText(before, mono)
            cursor.insertText(opened + inside + closed, marked)
            cursor.insertText(after + characters, mono)

    def _links(self, cursor: QTextCursor, step: Step) -> None:
        if not step.links:
            return
        shape = QTextBlockFormat()
        shape.setLeftMargin(theme.LARGE + theme.SMALL)
        shape.setTopMargin(2)
        cursor.insertBlock(shape)
        for number, link in enumerate(step.links):
            if number:
                cursor.insertText("     ", _format(theme.colors().muted))
            name = f"{SCHEME}:{len(self._found)}"
            self._found[QUrl(name).toString()] = link
            form = _format(theme.colors().accent)
            form.setAnchor(True)
            form.setAnchorHref(name)
            form.setFontUnderline(True)
            cursor.insertText(one_line(link.title), form)


def _format(color: str, font: QFont | None = None) -> QTextCharFormat:
    form = QTextCharFormat()
    if font is not None:
        form.setFont(font)
    form.setForeground(QColor(color))
    return form
