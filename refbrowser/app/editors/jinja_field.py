"""A field of one jinja string: monospaced, highlighted, completed, its faults underlined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QTextEdit, QWidget

from refbrowser.app import theme
from refbrowser.app.editors.completion import CompletionPopup
from refbrowser.app.editors.highlighter import JinjaHighlighter
from refbrowser.app.editors.names import Names
from refbrowser.app.editors.text_units import utf16_offsets
from refbrowser.errors import RefbrowserError

LINES_SHOWN = 6
"""A value with line breaks grows the field up to this many lines."""


@dataclass(frozen=True, slots=True)
class FaultSpan:
    """A part of the text that is wrong: characters `start` to `stop`, counted from 0."""

    start: int
    stop: int


class JinjaField(QPlainTextEdit):
    """One line of jinja: Return makes no new line, Tab leaves, Ctrl+Space completes.

    A value that has line breaks keeps them. The text that was set is given back exactly until it is changed.

    Signals
    -------
    edited(str)
        The text after each change, once for each, also those of `set_text`.
    """

    edited = Signal(str)

    def __init__(self, name: str, accessible_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(accessible_name)
        self.setFont(theme.mono_font())
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(2)
        self._given = ""
        self._given_raw = ""
        self._seen = ""
        self._faults: tuple[FaultSpan, ...] = ()
        self._highlighter = JinjaHighlighter(self.document())
        self._completion = CompletionPopup(self)
        self.textChanged.connect(self._text_changed)
        self._fit()

    # The text

    def text(self) -> str:
        """Return the text; exactly the one that was set where nothing was typed since."""
        raw = self._raw()
        return self._given if raw == self._given_raw else with_line_ends(raw, self._given)

    def set_text(self, text: str) -> None:
        """Show another text; the field's own undo starts anew."""
        if text == self.text() and self._seen == text:
            return
        self._given, self._given_raw = text, ""
        blocked = self.blockSignals(True)
        self.setPlainText(text)
        self.blockSignals(blocked)
        self._given_raw = self._raw()
        self._text_changed()

    def _raw(self) -> str:
        return raw_text(self.document())

    def settle(self) -> None:
        """Forget what was typed: the text as it is was applied, and Undo is of the document again."""
        self.document().clearUndoRedoStacks()

    def _text_changed(self) -> None:
        text = self.text()
        if text == self._seen:  # a change of formats alone
            return
        self._seen = text
        self._fit()
        self.edited.emit(text)

    # Marks

    def set_names(self, names: Names) -> None:
        """Set what can be named here, for the highlighting and the completion."""
        self._highlighter.set_names(names)
        self._completion.set_names(names)

    def fault_spans(self) -> tuple[FaultSpan, ...]:
        """Return the underlined parts."""
        return self._faults

    def set_faults(self, spans: Sequence[FaultSpan], reason: str) -> None:
        """Underline parts of the text, and tell screen readers why."""
        if not spans and not self._faults:
            return
        self._faults = tuple(spans)
        self.setAccessibleDescription(reason)
        self._draw_faults()

    def _draw_faults(self) -> None:
        scheme = theme.colors()
        marked = QTextCharFormat()
        marked.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        marked.setUnderlineColor(QColor(scheme.fault))
        marked.setBackground(QColor(scheme.fault_soft))
        selections = []
        units, last = utf16_offsets(self._seen), len(self._seen)
        for span in self._faults:
            start = max(0, min(span.start, last - 1))
            stop = max(start, min(max(span.stop, start + 1), last))
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.document())
            cursor.setPosition(units(start))
            cursor.setPosition(units(stop), QTextCursor.MoveMode.KeepAnchor)
            selection.cursor = cursor
            selection.format = marked
            selections.append(selection)
        self.setExtraSelections(selections)

    # Size: one line, or as many as the value has

    def _fit(self) -> None:
        lines = max(1, min(self.document().blockCount(), LINES_SHOWN))
        metrics = QFontMetrics(self.font())
        margins = self.contentsMargins()
        frame = margins.top() + margins.bottom() + 2 * int(self.document().documentMargin()) + 2
        height = lines * metrics.lineSpacing() + frame
        if height != self.height() or height != self.minimumHeight():
            self.setFixedHeight(height)

    def sizeHint(self) -> QSize:
        return QSize(QFontMetrics(self.font()).averageCharWidth() * 32, self.minimumHeight())

    def minimumSizeHint(self) -> QSize:
        return QSize(QFontMetrics(self.font()).averageCharWidth() * 10, self.minimumHeight())

    # Events

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange) and hasattr(
            self, "_completion"
        ):
            self._highlighter.use_colors()
            self._draw_faults()
            self._fit()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            key = event.key()
            nothing_here = (
                event.matches(QKeySequence.StandardKey.Undo) and not self.document().isUndoAvailable()
            ) or (event.matches(QKeySequence.StandardKey.Redo) and not self.document().isRedoAvailable())
            if nothing_here:  # leaves the key to the window, which undoes a step of the document
                event.ignore()
                return False
            if key == Qt.Key.Key_Escape and self._completion.is_open():
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._completion.take_key(event):
            return
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_Space and control:
            self._completion.open(asked=True)
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            event.ignore()
            return
        before = self._seen
        super().keyPressEvent(event)
        if self._seen != before:
            self._completion.follow(event.text())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._completion.close()
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            # What Tab selected on the way in; else several fields look chosen at once.
            cursor = self.textCursor()
            cursor.clearSelection()
            self.setTextCursor(cursor)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.ShortcutFocusReason):
            self.selectAll()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Take text; files that are dropped belong to the window."""
        return source.hasText() and not any(url.isLocalFile() for url in source.urls())

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert text as one line."""
        lines = source.text().strip("\r\n").splitlines()
        self.insertPlainText(" ".join(line.strip() for line in lines) if len(lines) > 1 else "".join(lines))


def raw_text(document: QTextDocument) -> str:
    """Return the text of a document with every character; `toPlainText` makes no-break spaces blanks."""
    return document.toRawText().replace("\N{PARAGRAPH SEPARATOR}", "\n")


def with_line_ends(text: str, like: str) -> str:
    """Return the text with the line ends of another one; an editor knows line feeds only."""
    return text.replace("\n", "\r\n") if "\r\n" in like else text


def fault_spans(errors: Iterable[RefbrowserError], text: str) -> list[FaultSpan]:
    """Return where in a text the errors are; one that does not say is about all of it."""
    return [FaultSpan(*(error.place.span or (0, len(text)))) for error in errors]
