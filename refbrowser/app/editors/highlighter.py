"""Formats of the parts of a jinja string."""

from __future__ import annotations

import re

from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from refbrowser.app import theme
from refbrowser.app.editors.names import Names
from refbrowser.app.editors.text_units import utf16_offsets
from refbrowser.references.highlight import HighlightToken, TokenKind, highlight

#: Formats of names, beside those of `TokenKind`.
DIMENSION, TEMPLATE, ARGUMENT, UNKNOWN = "dimension", "template", "argument", "unknown name"
_ARGUMENT = re.compile(r"\s*=(?!=)")
_BOLD = frozenset({DIMENSION, TEMPLATE})
_ITALIC = frozenset({TokenKind.FILTER, TokenKind.COMMENT, ARGUMENT})
_NAMES = frozenset({TokenKind.NAME, TokenKind.CALL})


class JinjaHighlighter(QSyntaxHighlighter):
    """Colours what stands in ``{{ }}``; dimensions and templates are bold too, unknown names are dotted."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._names = Names()
        self._formats: dict[str, QTextCharFormat] = {}
        self._text = ""
        self._tokens: list[HighlightToken] = []
        self.use_colors()

    def set_names(self, names: Names) -> None:
        """Set what can be named."""
        if not names.same(self._names):
            self._names = names
            self._text = ""
            self.rehighlight()

    def use_colors(self) -> None:
        """Take the colours in force."""
        scheme = theme.colors()
        inks = {
            TokenKind.DELIMITER: scheme.muted,
            TokenKind.OPERATOR: scheme.muted,
            TokenKind.COMMENT: scheme.muted,
            TokenKind.NUMBER: scheme.syntax_number,
            TokenKind.CONSTANT: scheme.syntax_number,
            TokenKind.STRING: scheme.syntax_text,
            TokenKind.KEYWORD: scheme.accent,
            TokenKind.FILTER: scheme.syntax,
            TokenKind.ERROR: scheme.fault,
            DIMENSION: scheme.syntax,
            TEMPLATE: scheme.changed,
            ARGUMENT: scheme.muted,
            UNKNOWN: scheme.fault,
        }
        self._formats = {kind: _format(kind, color) for kind, color in inks.items()}
        self._text = ""
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        whole = self.document().toRawText().replace("\N{PARAGRAPH SEPARATOR}", "\n")
        if whole != self._text:
            self._text = whole
            self._tokens = highlight(whole)
        offsets = utf16_offsets(whole)
        start = self.currentBlock().position()
        for token in self._tokens:
            form = self._formats.get(self._meaning(token, whole))
            first, last = offsets(token.start) - start, offsets(token.stop) - start
            if form is not None and last > 0 and first < len(text):
                self.setFormat(max(first, 0), last - max(first, 0), form)
        # What a line holds can change the lines below it: another state makes Qt look at those too.
        self.setCurrentBlockState(hash(whole) & 0x7FFF_FFFF)

    def _meaning(self, token: HighlightToken, text: str) -> str:
        if token.kind not in _NAMES:
            return token.kind
        name = text[token.start : token.stop]
        if _ARGUMENT.match(text, token.stop):
            return ARGUMENT
        if name in self._names.dimensions or self._names.any_name:
            return DIMENSION
        return TEMPLATE if self._names.has_template(name) else UNKNOWN


def _format(kind: str, color: str) -> QTextCharFormat:
    form = QTextCharFormat()
    form.setForeground(QColor(color))
    if kind in _BOLD:
        form.setFontWeight(QFont.Weight.DemiBold)
    form.setFontItalic(kind in _ITALIC)
    if kind == UNKNOWN:
        form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
        form.setUnderlineColor(QColor(color))
    return form
