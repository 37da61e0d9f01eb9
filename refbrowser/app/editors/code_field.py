"""Fields of text in a language, highlighted and completed, faults underlined: of a template, of JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, QPoint, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QPlainTextEdit,
    QSizePolicy,
    QTextEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from refbrowser.app.editors.highlighters import JinjaHighlighter, JsonHighlighter
from refbrowser.app.widgets import theme
from refbrowser.references.templates.highlight import ListFolds
from refbrowser.views.editing.text_marks import FaultSpan, Names, character_offset, utf16_offsets
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.references.templates.highlight import Candidate, Completions


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


ROWS_SHOWN = 8
_MOVES = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -ROWS_SHOWN,
    Qt.Key.Key_PageDown: ROWS_SHOWN,
}
_TAKE = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)


class CompletionPopup(QTreeWidget):
    """Names beside the cursor; the field keeps the keyboard and hands its keys on.

    Opened by Ctrl+Space a name is chosen at once and Return or Tab takes it; opened by typing none is, so
    that Tab still leaves the field until Down was pressed.
    """

    def __init__(self, field: CompletedField) -> None:
        super().__init__(field)
        self._field = field
        self._names = Names()
        self._offers: tuple[Candidate, ...] = ()
        self._place = (0, 0)
        self.setObjectName(f"{field.objectName()}Completion")
        self.setAccessibleName("Names that fit here")
        self.setWindowFlags(Qt.WindowType.ToolTip | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.Box)
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.itemClicked.connect(lambda _item: self._take())

    def set_names(self, names: Names) -> None:
        """Set what can be named."""
        self._names = names

    def is_open(self) -> bool:
        """Whether the list is shown."""
        return self.isVisible()

    def offered(self) -> list[str]:
        """Return the names that are shown."""
        return [offer.text for offer in self._offers] if self.isVisible() else []

    def open(self, *, asked: bool) -> None:
        """Show the names that fit at the cursor; a single one is taken at once when the user asked."""
        found = self._fitting()
        self._offers, self._place = found.candidates, (found.start, found.stop)
        word = self._field.shown_text()[found.start : found.stop]
        if not asked and any(offer.text == word for offer in self._offers):
            self._offers = ()
        if asked and len(self._offers) == 1:
            self._insert(self._offers[0])
            self._offers = ()
        if not self._offers:
            self.close()
            return
        chosen = asked or self._row() >= 0
        self._fill()
        if chosen:
            self._choose(0)
        self._move_to_cursor()
        self.show()

    def _fitting(self) -> Completions:
        from refbrowser.references.templates.highlight import Completions, complete
        from refbrowser.references.templates.templates import TemplateSet

        text = self._field.shown_text()
        position = character_offset(text, self._field.textCursor().position())
        part = self._field.jinja_at(position)
        if part is None:
            return Completions(position, position, ())
        begin, jinja = part
        templates = self._names.templates or TemplateSet()
        found = complete(jinja, position - begin, templates, self._names.dimensions)
        return Completions(begin + found.start, begin + found.stop, found.candidates)

    def follow(self, typed: str) -> None:
        """Follow what was typed: narrow an open list, or open one while a name is begun."""
        if self.isVisible() or (typed.isidentifier() and typed.isascii()) or typed == "|":
            self.open(asked=False)

    def take_key(self, event: QKeyEvent) -> bool:
        """Handle a key of the field while the list is open; whether it was one for the list."""
        if not self.isVisible():
            return False
        key = Qt.Key(event.key())
        if key in _MOVES:
            self._choose(max(0, min(self._row() + _MOVES[key], len(self._offers) - 1)))
            return True
        if key == Qt.Key.Key_Escape:
            self.close()
            return True
        if key in _TAKE and self._row() >= 0:
            self._take()
            return True
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End):
            self.close()
        return False

    def _row(self) -> int:
        return self.currentIndex().row()

    def _choose(self, row: int) -> None:
        self.setCurrentIndex(self.model().index(row, 0))

    def _fill(self) -> None:
        self.clear()
        scheme = theme.colors()
        frame = f"1px solid {scheme.muted}"
        self.setStyleSheet(f"CompletionPopup {{ border: {frame}; background: {scheme.raised}; }}")
        for offer in self._offers:
            item = QTreeWidgetItem([offer.text, one_line(offer.detail or offer.kind)])
            item.setFont(0, theme.mono_font())
            item.setForeground(1, QBrush(QColor(scheme.muted)))
            self.addTopLevelItem(item)

    def _move_to_cursor(self) -> None:
        rows = min(len(self._offers), ROWS_SHOWN)
        height = rows * self.sizeHintForRow(0) + 2 * self.frameWidth() + 2
        width = self.sizeHintForColumn(0) + self.sizeHintForColumn(1) + 48
        self.resize(max(200, min(width, 420)), height)
        cursor = self._field.cursorRect()
        corner = self._field.viewport().mapToGlobal(cursor.bottomLeft() + QPoint(0, 6))
        screen = self._field.screen().availableGeometry()
        if corner.y() + height > screen.bottom():
            corner.setY(self._field.viewport().mapToGlobal(cursor.topLeft()).y() - height - 6)
        corner.setX(max(screen.left(), min(corner.x(), screen.right() - self.width())))
        self.move(corner)

    def _take(self) -> None:
        row = self._row()
        self.close()
        if 0 <= row < len(self._offers):
            self._insert(self._offers[row])

    def _insert(self, offer: Candidate) -> None:
        units = utf16_offsets(self._field.shown_text())
        cursor = self._field.textCursor()
        cursor.setPosition(units(self._place[0]))
        cursor.setPosition(units(self._place[1]), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(offer.text)
        self._field.setTextCursor(cursor)


class CompletedField(CodeField):
    """Code with the list of names that fit: Ctrl+Space opens it, and so does a name that is begun."""

    _highlighter: JinjaHighlighter | JsonHighlighter

    def __init__(self, name: str, accessible_name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, accessible_name, parent)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._completion = CompletionPopup(self)

    def set_names(self, names: Names) -> None:
        """Set what can be named in jinja strings, for the highlighting and the completion."""
        self._highlighter.set_names(names)
        self._completion.set_names(names)

    def jinja_at(self, position: int) -> tuple[int, str] | None:
        """Return where the jinja string around a character begins, and the string; None: there is none."""
        raise NotImplementedError

    def _use_colors(self) -> None:
        if hasattr(self, "_highlighter"):
            self._highlighter.use_colors()
            super()._use_colors()

    # Events

    def event(self, event: QEvent) -> bool:
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
            and self._completion.is_open()
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._completion.take_key(event):
            return
        if event.key() == Qt.Key.Key_Space and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._completion.open(asked=True)
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._return_pressed(event)
        else:
            before = self._seen
            super().keyPressEvent(event)
            if self._seen != before:
                self._completion.follow(event.text())

    def _return_pressed(self, event: QKeyEvent) -> None:
        """Leave Return to what is around the field."""
        event.ignore()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._completion.close()


FOLDED_HINT = "A long list is shown as the number of its integers; copied, it is whole."
LINES_SHOWN = 6
"""A value with line breaks grows the field up to this many lines."""


class JinjaField(CompletedField):
    """One line of jinja: Return makes no new line, Tab leaves, Ctrl+Space completes.

    A value that has line breaks keeps them. Long lists of integers are shown folded; what is copied has them
    whole.

    Signals
    -------
    returnPressed()
        Return was pressed in the field.
    """

    returnPressed = Signal()

    def __init__(self, name: str, accessible_name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, accessible_name, parent)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(2)
        self._highlighter = JinjaHighlighter(self.document())
        self._folds = ListFolds()
        self._fit()

    def jinja_at(self, position: int) -> tuple[int, str] | None:
        """Return where the jinja string around a character begins, and the string: here all of the text."""
        return 0, self.shown_text()

    # Long lists, folded

    def shown_text(self) -> str:
        """Return the text with its long lists folded."""
        return raw_text(self.document())

    def _shown(self, text: str) -> str:
        self._folds = ListFolds()
        shown = self._folds.fold(text)
        self.setToolTip("" if shown == text else FOLDED_HINT)
        return shown

    def _meant(self, shown: str) -> str:
        return self._folds.unfold(shown)

    def _shown_place(self, place: int) -> int:
        return self._folds.place(self._seen, place)

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copy the text that is meant."""
        data = super().createMimeDataFromSelection()
        data.setText(self._meant(data.text()))
        return data

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

    def _return_pressed(self, event: QKeyEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
        else:
            self.returnPressed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
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

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert text as one line."""
        lines = source.text().strip("\r\n").splitlines()
        text = " ".join(line.strip() for line in lines) if len(lines) > 1 else "".join(lines)
        shown = self._folds.fold(text)
        if shown != text:
            self.setToolTip(FOLDED_HINT)
        self.insertPlainText(shown)


_STRING = re.compile(r'"(?P<inside>(?:[^"\\\n]|\\.)*)"?')
_INDENT = re.compile(r"[ \t]*")
_OPENING, _CLOSING = ("{", "["), ("}", "]")


class JsonField(CompletedField):
    """JSON as text. Return indents, Tab leaves, Ctrl+Space completes within a jinja string."""

    def __init__(self, name: str, accessible_name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, accessible_name, parent)
        self._has_jinja = False
        self._highlighter = JsonHighlighter(self.document())

    def set_names(self, names: Names) -> None:
        """Take texts for jinja strings in which this can be named."""
        self._has_jinja = True
        super().set_names(names)

    def jinja_at(self, position: int) -> tuple[int, str] | None:
        """Return where the text in quotes around a character begins, and what stands in the quotes."""
        if not self._has_jinja:
            return None
        for match in _STRING.finditer(self.text()):
            if match.start("inside") <= position <= match.end("inside"):
                return match.start("inside"), match["inside"]
        return None

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.averageCharWidth() * 32, metrics.lineSpacing() * 10)

    def minimumSizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.averageCharWidth() * 10, metrics.lineSpacing() * 4)

    # Events

    def _return_pressed(self, event: QKeyEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:  # Apply
            event.ignore()
        else:
            self._new_line()

    def _new_line(self) -> None:
        """Begin a line as deep as this one, deeper after an opening bracket."""
        cursor = self.textCursor()
        line = cursor.block().text()
        before, after = line[: cursor.positionInBlock()].rstrip(), line[cursor.positionInBlock() :].lstrip()
        found = _INDENT.match(line)
        indent = found.group() if found else ""
        opens = before.endswith(_OPENING)
        cursor.beginEditBlock()
        cursor.insertText("\n" + indent + ("  " if opens else ""))
        if opens and after.startswith(_CLOSING):
            position = cursor.position()
            cursor.insertText("\n" + indent)
            cursor.setPosition(position)
        cursor.endEditBlock()
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert plain text."""
        self.insertPlainText(source.text())
