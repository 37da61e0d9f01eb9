"""Formats of the parts of JSON text, and of the jinja strings in it."""

from __future__ import annotations

import re

from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from refbrowser.app.editors.highlighter import JinjaInks
from refbrowser.app.editors.names import Names
from refbrowser.app.editors.text_units import utf16_offsets
from refbrowser.app.widgets import theme
from refbrowser.references.templates.highlight import TokenKind, highlight

NAME, WORD, MARK, BROKEN = "name of a member", "true, false or null", "mark", "broken"
#: Strings do not go over the end of a line; what has no end is broken.
_TOKENS = re.compile(
    r'(?P<string>"(?:[^"\\]|\\.)*")(?P<colon>\s*:)?'
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<word>\b(?:true|false|null|NaN|Infinity)\b)"
    r"|(?P<mark>[{}\[\],:])"
    r'|(?P<broken>"(?:[^"\\]|\\.)*$)'
)


class JsonHighlighter(QSyntaxHighlighter):
    """Names of members are bold; with `set_names` what stands in ``{{ }}`` in texts is coloured too."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._names: Names | None = None
        self._inks = JinjaInks()
        self._formats: dict[str, QTextCharFormat] = {}
        self.use_colors()

    def set_names(self, names: Names) -> None:
        """Set what can be named in the texts."""
        if self._names is None or not names.same(self._names):
            self._names = names
            self.rehighlight()

    def use_colors(self) -> None:
        """Take the colours in force."""
        scheme = theme.colors()
        inks = {
            NAME: scheme.syntax,
            "string": scheme.syntax_text,
            "number": scheme.syntax_number,
            WORD: scheme.accent,
            MARK: scheme.muted,
            BROKEN: scheme.fault,
        }
        self._formats = {}
        for kind, color in inks.items():
            form = QTextCharFormat()
            form.setForeground(QColor(color))
            if kind == NAME:
                form.setFontWeight(QFont.Weight.DemiBold)
            self._formats[kind] = form
        self._inks.use_colors()
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        units = utf16_offsets(text)
        for match in _TOKENS.finditer(text):
            if match["string"] is not None:
                kind = NAME if match["colon"] is not None else "string"
                start, stop = match.span("string")
            else:
                kind = {"word": WORD, "mark": MARK, "broken": BROKEN}.get(match.lastgroup or "", "number")
                start, stop = match.span()
            self.setFormat(units(start), units(stop) - units(start), self._formats[kind])
            if kind == "string" and self._names is not None and "{" in match["string"]:
                self._color_jinja(text, start + 1, stop - 1)

    def _color_jinja(self, line: str, start: int, stop: int) -> None:
        text, units = line[start:stop], utf16_offsets(line)
        assert self._names is not None
        for token in highlight(text):
            form = self._inks.of(token, text, self._names)
            if form is not None and token.kind is not TokenKind.TEXT:
                first, last = units(start + token.start), units(start + token.stop)
                self.setFormat(first, last - first, form)
