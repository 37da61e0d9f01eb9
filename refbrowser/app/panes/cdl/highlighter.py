"""Colours of CDL, for the lines that are seen: a text may have hundreds of thousands."""

from __future__ import annotations

from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextBlock, QTextCharFormat, QTextDocument

from refbrowser.app.editors.text_units import utf16_offsets
from refbrowser.app.widgets import theme
from refbrowser.views.cdl_text import CdlToken, tokens


class CdlHighlighter(QSyntaxHighlighter):
    """Colours a line when `colour` is asked for it, not before."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[CdlToken, QTextCharFormat] = {}
        self._done: set[int] = set()
        self._now = -1
        self.use_colors()

    def use_colors(self) -> None:
        """Take the colours in force; lines get them when they are asked for again."""
        scheme = theme.colors()
        inks = {
            CdlToken.SECTION: scheme.text,
            CdlToken.TYPE: scheme.syntax,
            CdlToken.TEXT: scheme.syntax_text,
            CdlToken.NUMBER: scheme.syntax_number,
            CdlToken.COMMENT: scheme.muted,
        }
        for kind, color in inks.items():
            form = self._formats[kind] = QTextCharFormat()
            form.setForeground(QColor(color))
            if kind is CdlToken.SECTION:
                form.setFontWeight(QFont.Weight.Bold)
        self._done.clear()

    def forget(self) -> None:
        """Note that the lines are other ones."""
        self._done.clear()

    def colour(self, block: QTextBlock) -> None:
        """Colour a line, once."""
        number = block.blockNumber()
        if number not in self._done:
            self._done.add(number)
            self._now = number
            self.rehighlightBlock(block)
            self._now = -1

    def highlightBlock(self, text: str) -> None:
        if self.currentBlock().blockNumber() != self._now:
            return
        units = utf16_offsets(text)
        for start, stop, kind in tokens(text):
            self.setFormat(units(start), units(stop) - units(start), self._formats[kind])
