"""The text of an explanation: the box of its verdict, and its steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QResizeEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextLength,
    QTextOption,
    QTextTableFormat,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QTextBrowser,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.small_widgets import plain_label
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.tools.explain.report.explanation import Explanation, HexBlock, Link, Step


#: Scheme of the links inside the document; what follows is their number.
SCHEME = "explain"
#: Scheme of the headings, which fold their steps; what follows is the step's number.
FOLD = "fold"
#: Bytes in a row of hex, where the view is narrow and where it is wide.
NARROW, WIDE = 8, 16
#: Characters of a word that are shown per byte of a row of hex; of longer ones, URLs mostly, the middle is
#: left out.
_PER_BYTE = 7
#: Characters of a step that is folded.
_SUMMARY = 60
#: A name of a line that is as long as most: the column of names is so wide.
_NAME = "missing_value"
_GLYPHS = {"ok": "✓", "warning": "!", "fault": "✕"}
_OPEN, _FOLDED = "▾", "▸"
_STATE_WORDS = {"ok": "", "warning": " (look here)", "fault": " (failed)"}
_INDENT = theme.LARGE + theme.SMALL


def mark_color(state: str) -> str:
    """Return the colour of the mark of a state, in the theme in force."""
    colors = theme.colors()
    return {"ok": colors.good, "warning": colors.warning, "fault": colors.fault}[state]


def elided(text: str, most: int) -> str:
    """Return a text with its middle left out where it is longer than `most` characters."""
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[-end:]}"


def with_short_words(text: str, most: int) -> str:
    """Return a text without words of more than `most` characters: sentences stay whole, URLs are cut."""
    return " ".join(elided(word, most) for word in text.split(" "))


class ExplanationText:
    """Writes explanations into a view. All text goes in as plain characters, never as markup.

    The view's document is asked for each time: what Qt made must not be kept, Python may take it for deleted.

    Attributes
    ----------
    links
        The links in the document, by the text of their URLs.
    heads
        The numbers of the steps that headings fold, by the text of their URLs.
    """

    def __init__(self, view: QTextEdit) -> None:
        self._view = view
        view.setUndoRedoEnabled(False)
        self.links: Mapping[str, Link] = {}
        self.heads: Mapping[str, int] = {}

    def write(
        self, explanation: Explanation, font: QFont, width: int, folded: Collection[str] = frozenset()
    ) -> None:
        """Write the steps of an explanation.

        Parameters
        ----------
        width
            Bytes of hex that fit a row.
        folded
            Names of the steps of which only the heading is written.
        """
        document = self._view.document()
        document.clear()
        document.setDefaultFont(font)
        self._found: dict[str, Link] = {}
        self._font = QFont(font)
        self._font.setWeight(QFont.Weight.DemiBold)
        self._most = _PER_BYTE * width
        self._names = QFontMetricsF(font).horizontalAdvance(_NAME) + theme.MEDIUM
        cursor = QTextCursor(document)
        # Laid out once, not after each piece of text.
        cursor.beginEditBlock()
        heads: dict[str, int] = {}
        for number, step in enumerate(explanation.steps):
            is_folded = step.name in folded
            name = f"{FOLD}:{number}"
            heads[QUrl(name).toString()] = number
            self._head(cursor, step, name, is_folded)
            if not is_folded:
                self._lines(cursor, step)
                for block in step.hexes:
                    self._bytes(cursor, block, width)
                self._links(cursor, step)
        cursor.endEditBlock()
        self.links, self.heads = self._found, heads

    # Parts

    def _head(self, cursor: QTextCursor, step: Step, name: str, is_folded: bool) -> None:
        colors = theme.colors()
        head = QTextBlockFormat()
        head.setBottomMargin(2)
        if cursor.atStart():
            cursor.setBlockFormat(head)
        else:
            head.setTopMargin(theme.MEDIUM if is_folded else theme.LARGE)
            cursor.insertBlock(head)
        for text, color in (
            (f"{_FOLDED if is_folded else _OPEN} ", colors.muted),
            (f"{_GLYPHS[step.state]} ", mark_color(step.state)),
            (step.title, colors.text),
        ):
            form = _format(color, self._font)
            form.setAnchor(True)
            form.setAnchorHref(name)
            form.setToolTip(("Unfold" if is_folded else "Fold") + _STATE_WORDS[step.state])
            cursor.insertText(text, form)
        if is_folded and step.summary:
            shown = elided(with_short_words(step.summary, _SUMMARY // 2), _SUMMARY)
            self._insert(cursor, f"   {shown}", step.summary, _format(colors.muted))

    def _insert(self, cursor: QTextCursor, shown: str, whole: str, form: QTextCharFormat) -> None:
        """Write one line of foreign text; all of it is in the tool tip where it is cut."""
        shown, whole = one_line(shown), one_line(whole)
        if shown.strip() != whole:
            form.setToolTip(theme.plain_tooltip(whole))
        cursor.insertText(shown, form)

    def _lines(self, cursor: QTextCursor, step: Step) -> None:
        if not step.lines:
            return
        table = QTextTableFormat()
        table.setBorder(0)
        table.setCellPadding(1)
        table.setCellSpacing(0)
        table.setLeftMargin(_INDENT)
        table.setColumnWidthConstraints(
            [
                QTextLength(QTextLength.Type.FixedLength, self._names),
                QTextLength(QTextLength.Type.VariableLength, 0),
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
            self._insert(text, with_short_words(line.text, self._most), line.text, _format(colors.text))
        cursor.movePosition(QTextCursor.MoveOperation.End)

    def _bytes(self, cursor: QTextCursor, block: HexBlock, width: int) -> None:
        colors = theme.colors()
        shape = QTextBlockFormat()
        shape.setLeftMargin(_INDENT)
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
        shape.setLeftMargin(_INDENT)
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


_ICONS = {"ok": "done", "warning": "warning", "fault": "fault"}
_STRIPS = {"ok": "pane", "warning": "trustStrip", "fault": "faultStrip"}


class VerdictBox(QFrame):
    """The verdict in large type, with the mark of its state."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = "ok"
        self._most = 10_000
        self._icon = QLabel()
        self._word = plain_label("", wrap=False)
        self._word.setObjectName("explainWord")
        self._text = QTextEdit()
        self._text.setObjectName("explainVerdict")
        self._text.setAccessibleName("Verdict")
        self._text.setReadOnly(True)
        self._text.setTabChangesFocus(True)
        self._text.setFrameShape(QFrame.Shape.NoFrame)
        self._text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._text.document().setDocumentMargin(0)
        self._text.viewport().setAutoFillBackground(False)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.LARGE, theme.LARGE, theme.LARGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(theme.SMALL)
        words.addWidget(self._word)
        words.addWidget(self._text)
        layout.addLayout(words, 1)

    def text(self) -> str:
        """Return the words shown."""
        return self._text.toPlainText()

    def show_verdict(self, word: str, text: str, state: str) -> None:
        """Show a verdict: a word or two, and a sentence."""
        self._state = state
        self._word.setText(word)
        self._text.setPlainText(text)
        self._text.setAccessibleDescription(text)
        self.restyle()

    def limit(self, height: int) -> None:
        """Let the text be so high at most."""
        self._most = height
        self._fit()

    def restyle(self) -> None:
        """Take the colours of the theme and of the state."""
        self.setProperty("role", _STRIPS[self._state])
        self.style().unpolish(self)
        self.style().polish(self)
        # A frame asks for the width of its border then, and at no other time.
        QApplication.sendEvent(self, QEvent(QEvent.Type.StyleChange))
        color = mark_color(self._state)
        # In the style sheet: a font that is set beside one is forgotten when the widget is first shown.
        self._text.setStyleSheet(f"font-size: {self.font().pointSizeF() + 1:g}pt")
        size = theme.heading_font(1.5).pointSizeF()
        self._word.setStyleSheet(f"color: {color}; font-weight: bold; font-size: {size:g}pt")
        self._icon.setPixmap(icons.pixmap(_ICONS[self._state], 20, color, self.devicePixelRatioF()))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        least = self._text.fontMetrics().lineSpacing() + 2
        needed = int(self._text.document().size().height()) + 2
        self._text.setFixedHeight(max(least, min(needed, max(self._most, least))))


class StepsText(QTextBrowser):
    """The steps; links are reached by Tab, text is selected with the mouse or the keyboard."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("explainText")
        self.setAccessibleName("Steps of the explanation")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.document().setDocumentMargin(theme.SMALL)

    def focus_anchor(self, name: str) -> None:
        """Put the keyboard's mark on the words that have an anchor."""
        block = self.document().begin()
        while block.isValid():
            start = block.begin()
            first = start.fragment() if not start.atEnd() else None
            if first is not None and first.charFormat().anchorHref() == name:
                cursor = QTextCursor(block)
                cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, 1)
                while cursor.charFormat().anchorHref() == name and not cursor.atBlockEnd():
                    cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, 1)
                if cursor.charFormat().anchorHref() != name:
                    cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, 1)
                self.setTextCursor(cursor)
                return
            block = block.next()

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 60)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Load nothing: the text holds no pictures, and must not bring any."""
        return None
