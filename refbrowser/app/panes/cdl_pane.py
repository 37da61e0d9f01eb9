"""The dataset as CDL: a text of any length, coloured and searched."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QGuiApplication,
    QKeyEvent,
    QResizeEvent,
    QShowEvent,
    QSyntaxHighlighter,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QStackedWidget,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import Card, ErrorCard, centred
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.rows import tool_button
from refbrowser.app.widgets.small_widgets import one_shot, plain_label, push_button
from refbrowser.views.cdl_text import CdlToken, Lines, tokens
from refbrowser.views.editing.text_marks import character_offset, utf16_offsets
from refbrowser.words import count_text, counted_spaced, size_text

if TYPE_CHECKING:
    from refbrowser.views.cdl_text import Lines


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


#: Lines that are added at a time.
PORTION = 500
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
        self._add(PORTION)
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
        text = lines.lines(self._there, last)
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


#: A search begins so long after a keystroke, in milliseconds.
PAUSE = 120
_FIELD = 190
_CONTROL, _SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


class CdlPane(QWidget):
    """Makes the text when it is looked at, and again when the dataset is another one.

    Signals
    -------
    saveWanted()
        The user wants the text in a file.
    """

    saveWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: OpenDocument | None = None
        self._made_of: object = None
        self._writing, self._finding = Latest(self, "cdl"), Latest(self, "cdl find")
        self._lines: Lines | None = None
        self._found: tuple[int, ...] = ()
        self._sought = ""
        self._search = one_shot(self, PAUSE, self._find)
        self.text = TextView()
        self.text.setObjectName("cdlText")
        self.text.setAccessibleName("Dataset as CDL")
        self._card = Card(
            "document", "No dataset yet", "Open a document: its dimensions, types, variables and attributes "
            "appear here as CDL, as ncdump -h writes it and ncgen reads it."
        )  # fmt: skip
        self._error = ErrorCard()
        self._error.retry.connect(self._make)
        self._pages = QStackedWidget()
        self._card_page, self._error_page = centred(self._card), centred(self._error)
        for page in (self._card_page, self._error_page, self.text):
            self._pages.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(self._make_head())
        layout.addWidget(self._pages, 1)
        self._show_state()

    def _make_head(self) -> QHBoxLayout:
        self._title = ElidedLabel("cdlTitle", role="muted", elide=Qt.TextElideMode.ElideMiddle)
        self._title.setMargin(theme.SMALL)
        self.field = QLineEdit()
        self.field.setObjectName("cdlFind")
        self.field.setAccessibleName("Find in the CDL")
        self.field.setPlaceholderText("Find  (Ctrl+F)")
        self.field.setClearButtonEnabled(True)
        self.field.setFixedWidth(_FIELD)
        self.field.textChanged.connect(lambda _text: self._search.start())
        self._count = plain_label("", role="muted", wrap=False)
        self._count.setObjectName("cdlFound")
        self._before = tool_button("cdlFindBefore", "↑", "Previous place (Shift+F3)", lambda: self._step(-1))
        self._next = tool_button("cdlFindNext", "↓", "Next place (F3)", lambda: self._step(1))
        self._copy = push_button("Copy", "cdlCopyButton", self.copy)
        self._save = push_button("Save…", "cdlSaveButton", self.saveWanted.emit)
        head = QHBoxLayout()
        head.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, 0)
        head.setSpacing(theme.MEDIUM)
        head.addWidget(self._title, 1)
        for part in (self._count, self.field, self._before, self._next, self._copy, self._save):
            head.addWidget(part)
        return head

    # What is shown

    def page(self) -> QWidget | None:
        """Return what is in front and takes keys: the text, or why there is none."""
        return self.text if self._pages.currentWidget() is self.text else None

    def set_document(self, document: OpenDocument | None) -> None:
        """Show another document."""
        self._document, self._made_of, self._lines = document, None, None
        self._writing.cancel()
        self._finding.cancel()
        self.refresh()

    def refresh(self) -> None:
        """Make the text anew where the dataset is another one and the view is seen; else when it is."""
        if self.isVisible():
            self._make()
        self._show_state()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def _make(self) -> None:
        document = self._document
        dataset = None if document is None else document.dataset
        if document is None or dataset is None or dataset is self._made_of:
            return
        self._made_of = dataset
        # At once, for the keyboard: the text itself comes a moment later.
        self._pages.setCurrentWidget(self.text)

        def make(control: TaskControl) -> Lines:
            from refbrowser.views.cdl_text import Lines

            return Lines.of(dataset.cdl(token=control.token))

        def made(lines: Lines) -> None:
            self._lines = lines
            self.text.set_lines(lines)
            self._show_state()
            self._find()

        def failed(error: BaseException) -> None:
            self._finding.cancel()
            self._made_of = self._lines = None
            self._error.set_error("The dataset cannot be written as CDL", error)
            self._pages.setCurrentWidget(self._error_page)
            self._show_state()

        self._writing.run(document, f"Write {document.title} as CDL", make, made, failed)

    def _show_state(self) -> None:
        lines = self._lines
        if lines is None:
            self._title.set_text("")
            if self._made_of is None and self._pages.currentWidget() is self.text:
                self.text.clear()
                self._pages.setCurrentWidget(self._card_page)
        else:
            count = counted_spaced(lines.count, "line")
            is_cut = lines.shown < lines.count
            cut = f", the first {count_text(lines.shown)} are shown" if is_cut else ""
            self._title.set_text(f"{count}, {size_text(len(lines.text))}{cut}")
        for part in (self.field, self._copy):
            part.setEnabled(lines is not None)
        self._save.setEnabled(self._document is not None and self._document.dataset is not None)
        self._show_count()

    def copy(self) -> None:
        """Put what is selected on the clipboard, or all of it."""
        if self.text.textCursor().hasSelection():
            self.text.copy()
        elif self._lines is not None:
            QGuiApplication.clipboard().setText(self._lines.text)

    # Finding

    def focus_field(self) -> None:
        """Put the cursor in the field, with what is selected in the text."""
        chosen = self.text.textCursor().selectedText()
        if chosen and len(chosen) < 200 and "\u2029" not in chosen:
            self.field.setText(chosen)
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def _find(self) -> None:
        """Look for what is typed; the first place from the cursor on is selected."""
        self._search.stop()
        document, lines, wanted = self._document, self._lines, self.field.text()
        if document is None or lines is None:
            return

        def find(control: TaskControl) -> tuple[int, ...]:
            return lines.find(wanted, control.check)

        def found(places: tuple[int, ...]) -> None:
            is_new, self._sought, self._found = wanted != self._sought, wanted, places
            self.text.set_found(places, len(wanted))
            if is_new and places:
                self._select(self._place_at(self.text.position()))
            self._show_count()

        self._finding.run(document, "Find in the CDL", find, found)

    def _place_at(self, position: int) -> int:
        """Return the number of the first found place from a position on; the first one after the last."""
        after = (number for number, place in enumerate(self._found) if place >= position)
        return next(after, 0)

    def _step(self, by: int) -> None:
        """Go to the next found place, or the one before."""
        if self._search.isActive() or self.field.text() != self._sought:
            self._find()
            return
        if not self._found:
            return
        position = self.text.position()
        at = self._place_at(position)
        is_here = self._found[at] == position and self.text.textCursor().hasSelection()
        self._select((at + (by if is_here or by < 0 else 0)) % len(self._found))

    def _select(self, number: int) -> None:
        self.text.go_to(self._found[number], len(self._sought))
        self._show_count(number)

    def _show_count(self, number: int | None = None) -> None:
        from refbrowser.views.cdl_text import FOUND

        count = len(self._found) if self._sought and self._lines is not None else 0
        if not self._sought or self._lines is None:
            self._count.setText("")
        elif not count:
            self._count.setText("not found")
        else:
            at = self._place_at(self.text.position()) if number is None else number
            more = "+" if count >= FOUND else ""
            self._count.setText(f"{count_text(at + 1)} of {count_text(count)}{more}")
        for button in (self._before, self._next):
            button.setEnabled(count > 0)

    # Keys

    def event(self, event: QEvent) -> bool:
        is_key = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_key and self._is_own(event):  # type: ignore[arg-type]
            event.accept()  # not the window's action of this key
            return True
        return super().event(event)

    def _is_own(self, event: QKeyEvent) -> bool:
        return _is_find(event) or (event.key() == Qt.Key.Key_Escape and self.field.hasFocus())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_shifted = bool(event.modifiers() & _SHIFT)
        if _is_find(event):
            self.focus_field()
        elif event.key() == Qt.Key.Key_F3 or (
            event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.field.hasFocus()
        ):
            self._step(-1 if is_shifted else 1)
        elif event.key() == Qt.Key.Key_Escape and self.field.hasFocus():
            self.text.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            super().keyPressEvent(event)


def _is_find(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_F and event.modifiers() == _CONTROL
