"""Colours of templates and of JSON while they are typed."""

from __future__ import annotations

import re
from functools import cache

from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from refbrowser.app.widgets import theme
from refbrowser.references.templates.highlight import HighlightToken, TokenKind, highlight
from refbrowser.views.editing.text_marks import Names, utf16_offsets

#: Formats of names, beside those of `TokenKind`.
DIMENSION, TEMPLATE, ARGUMENT, UNKNOWN = "dimension", "template", "argument", "unknown name"
_ARGUMENT = re.compile(r"\s*=(?!=)")
_BOLD = frozenset({DIMENSION, TEMPLATE})
_ITALIC = frozenset({TokenKind.FILTER, TokenKind.COMMENT, ARGUMENT})
_NAMES = frozenset({TokenKind.NAME, TokenKind.CALL})


class JinjaInks:
    """Formats of the parts of a jinja string, in the colours in force."""

    def __init__(self) -> None:
        self._formats: dict[str, QTextCharFormat] = {}

    def use_colors(self) -> None:
        """Take the colours in force."""
        self._formats = _formats(theme.colors())

    def of(self, token: HighlightToken, text: str, names: Names) -> QTextCharFormat | None:
        """Return the format of a token of a text in which `names` can be named."""
        return self._formats.get(_meaning(token, text, names))


class JinjaHighlighter(QSyntaxHighlighter):
    """Colours what stands in ``{{ }}``; dimensions and templates are bold too, unknown names are dotted."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._names = Names()
        self._inks = JinjaInks()
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
        self._inks.use_colors()
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
            form = self._inks.of(token, whole, self._names)
            first, last = offsets(token.start) - start, offsets(token.stop) - start
            if form is not None and last > 0 and first < len(text):
                self.setFormat(max(first, 0), last - max(first, 0), form)
        # What a line holds can change the lines below it: another state makes Qt look at those too.
        self.setCurrentBlockState(hash(whole) & 0x7FFF_FFFF)


def _meaning(token: HighlightToken, text: str, names: Names) -> str:
    if token.kind not in _NAMES:
        return token.kind
    name = text[token.start : token.stop]
    if _ARGUMENT.match(text, token.stop):
        return ARGUMENT
    if name in names.dimensions or names.any_name:
        return DIMENSION
    return TEMPLATE if names.has_template(name) else UNKNOWN


@cache
def _formats(scheme: theme.Colors) -> dict[str, QTextCharFormat]:
    """Return the formats of a scheme; each field takes them more than once when another one is chosen."""
    inks = {
        TokenKind.DELIMITER: scheme.muted,
        TokenKind.OPERATOR: scheme.muted,
        TokenKind.COMMENT: scheme.muted,
        TokenKind.NUMBER: scheme.syntax_number,
        TokenKind.CONSTANT: scheme.syntax_number,
        TokenKind.STRING: scheme.syntax_text,
        TokenKind.KEYWORD: scheme.accent,
        TokenKind.FILTER: scheme.syntax,
        TokenKind.LOCAL: scheme.syntax,
        TokenKind.ERROR: scheme.fault,
        DIMENSION: scheme.syntax,
        TEMPLATE: scheme.changed,
        ARGUMENT: scheme.muted,
        UNKNOWN: scheme.fault,
    }
    return {kind: _format(kind, color) for kind, color in inks.items()}


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
