"""A field of code: monospaced, highlighted, its faults underlined; its text is given back exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QMimeData, Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QWidget

from refbrowser.app.editors.text_units import utf16_offsets
from refbrowser.app.widgets import theme
from refbrowser.errors import RefbrowserError


@dataclass(frozen=True, slots=True)
class FaultSpan:
    """A part of the text that is wrong: characters `start` to `stop`, counted from 0."""

    start: int
    stop: int


class CodeField(QPlainTextEdit):
    """Text that is written in a language; what derives from it highlights it.

    The text that was set is given back exactly until it is changed.

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
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._given = ""
        self._given_raw = ""
        self._seen = ""
        self._faults: tuple[FaultSpan, ...] = ()
        self.textChanged.connect(self._text_changed)

    # The text

    def text(self) -> str:
        """Return the text; exactly the one that was set where nothing was typed since."""
        raw = raw_text(self.document())
        return self._given if raw == self._given_raw else with_line_ends(self._meant(raw), self._given)

    def shown_text(self) -> str:
        """Return the text as it is shown, which positions in the field are about."""
        return self.text()

    def set_text(self, text: str) -> None:
        """Show another text; the field's own undo starts anew."""
        if text == self.text() and self._seen == text:
            return
        self._given, self._given_raw = text, ""
        blocked = self.blockSignals(True)
        self.setPlainText(self._shown(text))
        self.blockSignals(blocked)
        self._given_raw = raw_text(self.document())
        self._text_changed()

    def settle(self) -> None:
        """Forget what was typed: the text as it is was applied, and Undo is of the document again."""
        self.document().clearUndoRedoStacks()

    def show_place(self, position: int) -> None:
        """Put the cursor before a character and bring it into view."""
        cursor = self.textCursor()
        cursor.setPosition(min(utf16_offsets(self.text())(position), self.document().characterCount() - 1))
        self.setTextCursor(cursor)
        self.centerCursor()

    def _text_changed(self) -> None:
        text = self.text()
        if text == self._seen:  # a change of formats alone
            return
        self._seen = text
        self._fit()
        self.edited.emit(text)

    def _shown(self, text: str) -> str:
        """Return what is shown for a text; `_meant` turns it back."""
        return text

    def _meant(self, shown: str) -> str:
        return shown

    def _shown_place(self, place: int) -> int:
        """Return where a character of the text is shown."""
        return place

    def _fit(self) -> None:
        """Take another size for another text, where the field does that."""

    # Marks

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
        shown = self.shown_text() if self._faults else ""
        units, last = utf16_offsets(shown), len(shown)
        for span in self._faults:
            start = max(0, min(self._shown_place(span.start), last - 1))
            stop = max(start, min(max(self._shown_place(span.stop), start + 1), last))
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.document())
            cursor.setPosition(units(start))
            cursor.setPosition(units(stop), QTextCursor.MoveMode.KeepAnchor)
            selection.cursor = cursor
            selection.format = marked
            selections.append(selection)
        self.setExtraSelections(selections)

    def _use_colors(self) -> None:
        """Take the colours in force."""
        self._draw_faults()

    # Events

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange) and hasattr(self, "_faults"):
            self._use_colors()
            self._fit()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Take text; files that are dropped belong to the window."""
        return source.hasText() and not any(url.isLocalFile() for url in source.urls())


def raw_text(document: QTextDocument) -> str:
    """Return the text of a document with every character; `toPlainText` makes no-break spaces blanks."""
    return document.toRawText().replace("\N{PARAGRAPH SEPARATOR}", "\n")


def with_line_ends(text: str, like: str) -> str:
    """Return the text with the line ends of another one; an editor knows line feeds only."""
    return text.replace("\n", "\r\n") if "\r\n" in like else text


def fault_spans(errors: Iterable[RefbrowserError], text: str) -> list[FaultSpan]:
    """Return where in a text the errors are; one that does not say is about all of it."""
    return [FaultSpan(*(error.place.span or (0, len(text)))) for error in errors]
