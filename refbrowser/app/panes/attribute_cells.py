"""The cells of attributes, their editors, and what is typed comes to, beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QPainter,
    QPalette,
    QResizeEvent,
    QShowEvent,
    QStandardItem,
)
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from refbrowser.app.editors.code_field import raw_text, with_line_ends
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.references.text.typed_values import typed_lines
from refbrowser.views.attributes import PACKING
from refbrowser.views.words import CELL_LIMIT, one_line, plain_lines

if TYPE_CHECKING:
    from refbrowser.views.attributes import Row


Index = QModelIndex | QPersistentModelIndex
NAME, VALUE, TYPE = 0, 1, 2
#: The full value for the clipboard and the tool tip; the name of the attribute that a row is; the path of the
#: node that a row leads to; the type of an attribute and whether the metadata records it.
VALUE_ROLE = Qt.ItemDataRole.UserRole + 1
ATTRIBUTE_ROLE = Qt.ItemDataRole.UserRole + 2
LINK_ROLE = Qt.ItemDataRole.UserRole + 3
TYPE_ROLE = Qt.ItemDataRole.UserRole + 4
#: A refusal is shown so long, in milliseconds.
_SHOWN = 6_000
#: Stands for the name of an attribute that is begun.
NEW = "\0"
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_LEAVE = (*_ENTER, Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
#: Lines that wrapped text shows at least and at most, without scrolling.
_LINES = (3, 16)
#: Room that a cell leaves beside its text, in pixels.
BESIDE_TEXT = 8
#: The column of types is at most so wide, in pixels.
_TYPE_WIDTH = 80
#: Characters of a value that are shown where it is only read; all of them can be copied.
_READ = 200_000


class Beside(QLabel):
    """What a cell comes to while it is typed, or why it cannot be, right below it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("attributeOutcome")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self._leave = one_shot(self, _SHOWN, self.hide)
        self.hide()

    def show_verdict(self, editor: QWidget, fault: str, hint: str) -> None:
        """Show the verdict below an editor, or above it where there is no room."""
        if fault or hint:
            self._show(editor.geometry(), fault, hint)
        else:
            self.hide()

    def show_below(self, area: QRect, fault: str) -> None:
        """Show a refusal below a place for a while."""
        self._show(area, fault, "")
        self._leave.start()

    def _show(self, area: QRect, fault: str, hint: str) -> None:
        parent = self.parentWidget()
        self._leave.stop()
        if parent is None:
            return
        scheme = theme.colors()
        ink, ground = (scheme.fault, scheme.fault_soft) if fault else (scheme.muted, scheme.raised)
        self.setStyleSheet(
            f"color: {ink}; background: {ground}; border: 1px solid {scheme.border}; border-radius: 4px; "
            "padding: 2px 6px;"
        )
        self.setText(f"✕ {fault}" if fault else f"→ {hint}")
        width = parent.width() - 2 * theme.SMALL
        self.setFixedWidth(min(width, max(area.width(), 200)))
        self.adjustSize()
        below = area.bottom() + 2
        if below + self.height() > parent.height():
            below = area.top() - self.height() - 2
        left = min(area.left(), parent.width() - self.width() - theme.SMALL)
        self.move(max(0, left), max(0, below))
        self.show()
        self.raise_()


class LineCell(QLineEdit):
    """The field over a cell whose text fits into a line."""

    def __init__(self, index: Index, parent: QWidget) -> None:
        super().__init__(parent)
        self.index = QPersistentModelIndex(index)
        self.setFrame(False)
        self.setStyleSheet("QLineEdit { border-radius: 0; padding: 0 2px; }")

    def select(self, start: int, stop: int) -> None:
        """Select a part of the text."""
        self.setSelection(start, max(0, stop - start))


class WrappedText(QPlainTextEdit):
    """Long text in several lines below its row, as wide as the view; it grows with its text."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._row = QRect()
        self.setFont(theme.mono_font())
        self.setFrameShape(QFrame.Shape.Box)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self._fit())

    def lay_below(self, row: QRect) -> None:
        """Take the place below a row, or as near to it as there is room."""
        self._row = QRect(row)  # that of an option lives no longer than the option
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()  # the style's padding is known now

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()  # the lines are broken anew, and Qt does not tell of that

    def _fit(self) -> None:
        view = self.parentWidget()
        if view is None or self._row.isNull():
            return
        least, most = _LINES
        lines = min(max(least, int(self.document().size().height())), most)
        around = self.height() - self.viewport().height() + 2 * int(self.document().documentMargin())
        line = self.fontMetrics().lineSpacing()
        height = min(lines * line + around + line // 2, view.height())
        top = min(self._row.bottom() + 1, view.height() - height)
        self.setGeometry(0, top, view.width(), height)


class LongCell(WrappedText):
    """The field for a value that is longer than its cell. Enter applies it, Shift+Enter breaks the line."""

    def __init__(self, index: Index, parent: QWidget) -> None:
        super().__init__(parent)
        self.index = QPersistentModelIndex(index)
        self._before = ""
        self.setTabChangesFocus(True)
        self.setToolTip("Enter applies, Shift+Enter starts a new line, Esc cancels")

    def text(self) -> str:
        """Return what is typed, with the line ends that it had."""
        if not self.document().isModified():
            return self._before
        return with_line_ends(raw_text(self.document()), self._before)

    def setText(self, text: str) -> None:
        """Begin with a text."""
        self._before = text
        self.setPlainText(text)
        self.document().setModified(False)

    def select(self, start: int, stop: int) -> None:
        """Select a part of the text."""
        cursor = self.textCursor()
        last = max(0, self.document().characterCount() - 1)
        cursor.setPosition(min(start, last))
        cursor.setPosition(min(max(start, stop), last), cursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENTER:
            self.insertPlainText("\n")  # Qt would put a line separator into the value
            self.ensureCursorVisible()
        else:
            super().keyPressEvent(event)


class WholeText(WrappedText):
    """A long value to be read where it cannot be edited; Enter, Esc or leaving it closes it."""

    def __init__(self, text: str, row: QRect, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("attributeWhole")
        self.setAccessibleName("The whole value")
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setPlainText(plain_lines(text, _READ))
        self.setToolTip("Read only; Esc closes")
        self.lay_below(row)
        self.show()
        self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (*_ENTER, Qt.Key.Key_Escape, Qt.Key.Key_F2):
            self._close()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason):
            self._close()

    def _close(self) -> None:
        view = self.parentWidget()
        if self.isVisible() and view is not None:
            had_keyboard = self.hasFocus()
            self.hide()
            self.deleteLater()
            if had_keyboard:
                view.setFocus()


#: The fields over cells: both have `index`, `text`, `setText`, `selectAll` and `select`.
Cell = LineCell | LongCell


class Typing(Protocol):
    """What takes what is typed in cells.

    Attributes
    ----------
    beside
        Shows what the text in a cell comes to.
    kept
        Returns what was typed for an attribute in a column, and neither taken nor given up.
    """

    beside: Beside
    kept: Callable[[str, int], str | None]

    def open_cell(self) -> Cell | None:
        """Return the field over the cell that is edited."""

    def verdict(self, index: Index, text: str) -> tuple[str, str]:
        """Return why a text cannot stand in a cell, or else what it comes to."""

    def tell_typed(self, index: Index, text: str) -> None:
        """Tell what is typed in a cell."""

    def committed(self, index: QModelIndex, text: str) -> None:
        """Take what was typed in a cell."""


class Cells(QStyledItemDelegate):
    """Editors of the cells of a tree that stay open while what is typed cannot be."""

    def __init__(self, tree: QTreeView, typing: Typing) -> None:
        super().__init__(tree)
        self._tree, self._typing = tree, typing

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        scheme = theme.colors()
        if index.column() == TYPE:
            option.palette.setColor(QPalette.ColorRole.Text, QColor(scheme.muted))
        elif index.column() == NAME and index.data(LINK_ROLE):
            option.palette.setColor(QPalette.ColorRole.Text, QColor(scheme.accent))
            option.font.setUnderline(True)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if index.column() == VALUE:
            option = self._wide(option, index)
        elif index.column() == TYPE and not index.data():
            return  # the value goes on here
        super().paint(painter, option, index)

    def _wide(self, option: QStyleOptionViewItem, index: Index) -> QStyleOptionViewItem:
        wide = QStyleOptionViewItem(option)
        wide.rect = QRect(option.rect.topLeft(), QSize(self._room(index), option.rect.height()))
        return wide

    def _room(self, index: Index) -> int:
        """Return how wide the value of a row may be: where it has no type, as far as that column ends."""
        has_type = index.sibling(index.row(), TYPE).data()
        return self._tree.columnWidth(VALUE) + (0 if has_type else self._tree.columnWidth(TYPE))

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        before = self._typing.open_cell()
        if before is not None:
            # What is typed there and cannot be is kept; it is shown when that cell is edited again.
            self.closeEditor.emit(before, QAbstractItemDelegate.EndEditHint.NoHint)
        line: Cell
        if index.column() == VALUE and self.is_long(index, self._begin_with(index)):
            line = LongCell(index, parent)
            line.textChanged.connect(lambda: self._typed(line))
        else:
            line = LineCell(index, parent)
            line.textEdited.connect(lambda _text: self._typed(line))
        line.setObjectName("attributeCell")
        line.setAccessibleName(
            "Name of the attribute" if index.column() == NAME else "Value of the attribute"
        )
        line.setFont(theme.mono_font())
        return line

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        if isinstance(editor, LongCell):
            editor.lay_below(option.rect)
        else:
            wide = self._wide(option, index) if index.column() == VALUE else option
            super().updateEditorGeometry(editor, wide, index)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(min(size.width(), _TYPE_WIDTH), size.height()) if index.column() == TYPE else size

    def is_long(self, index: Index, text: str) -> bool:
        """Tell whether a text has several lines, or is longer than the cell of a value shows."""
        if len(text) > CELL_LIMIT or len(text.splitlines()) > 1:
            return True
        return self._tree.fontMetrics().horizontalAdvance(text) > self._room(index) - BESIDE_TEXT

    def read_whole(self, index: Index) -> bool:
        """Show the whole value of a row below it, to be read; False where its cell shows all of it."""
        cell = index.sibling(index.row(), VALUE)
        text = typed_lines(str(cell.data(VALUE_ROLE) or ""))
        if not self.is_long(cell, text):
            return False
        self._tree.scrollTo(cell)
        WholeText(text, self._tree.visualRect(cell), self._tree.viewport())
        return True

    def _begin_with(self, index: Index) -> str:
        """Return what stands in the field over a cell when it opens: what was typed before, else the text."""
        kept = self._typing.kept(str(index.sibling(index.row(), NAME).data(ATTRIBUTE_ROLE)), index.column())
        if kept is not None:
            return kept
        if index.column() == VALUE:
            return typed_lines(str(index.data(VALUE_ROLE) or ""))
        text = str(index.data(ATTRIBUTE_ROLE) or "")
        return "" if text == NEW else text

    def _typed(self, line: Cell) -> None:
        if isinstance(line, LineCell) or line.document().isModified():
            self.look(line)
            self._typing.tell_typed(line.index, line.text())

    def look(self, line: Cell) -> str:
        """Show what is typed comes to; return why it cannot be."""
        fault, hint = self._typing.verdict(line.index, line.text())
        self._typing.beside.show_verdict(line, fault, hint)
        line.setAccessibleDescription(fault)
        return fault

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, Cell):
            editor.setText(self._begin_with(index))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: Any, index: Index) -> None:
        if isinstance(editor, Cell):
            self._typing.committed(model.index(index.row(), index.column(), index.parent()), editor.text())

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        if isinstance(editor, Cell) and event.type() == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            breaks = event.modifiers() & Qt.KeyboardModifier.ShiftModifier and event.key() in _ENTER
            if breaks and isinstance(editor, LongCell):
                return False
            if event.key() in _LEAVE and self.look(editor):
                return True  # stays open, with the reason beside it
            if event.key() in _LEAVE:
                self.commitData.emit(editor)
                self.closeEditor.emit(editor, QAbstractItemDelegate.EndEditHint.NoHint)
                return True
        elif isinstance(editor, Cell) and event.type() == QEvent.Type.FocusOut and self.look(editor):
            return False  # stays open too: nothing that is typed is lost
        elif isinstance(editor, LongCell) and event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self.look(editor)  # the verdict stands beside it wherever it grows
        return super().eventFilter(editor, event)


def cells_of(row: Row) -> list[QStandardItem]:
    """Return the cells of a row."""
    name, value, kind = QStandardItem(), QStandardItem(), QStandardItem()
    set_text(name, row.name)
    set_text(value, row.value)
    for cell in (name, value):
        cell.setEditable(row.attribute is not None)
    kind.setEditable(False)
    if row.type:
        is_guess = row.attribute is not None and not row.is_recorded
        kind.setText(f"({one_line(row.type)})" if is_guess else one_line(row.type))
        words = "the metadata has no type: it is inferred from the value" if is_guess else "its type"
        kind.setToolTip(theme.plain_tooltip(f"{row.type}: {words}"))
        # Where the column of types has no room.
        name.setToolTip(theme.plain_tooltip(f"{row.name}\n{row.type}: {words}"))
        name.setData((row.type, row.is_recorded), TYPE_ROLE)
    if row.link:
        name.setData(row.link, LINK_ROLE)
        does = "Have it said by codecs, or by attributes" if row.link == PACKING else f"Go to {row.link}"
        name.setToolTip(theme.plain_tooltip(does))
    name.setData(row.attribute, ATTRIBUTE_ROLE)
    return [name, value, kind]


def set_text(item: QStandardItem, text: str) -> None:
    """Show a text in a cell, and keep it whole."""
    item.setText(one_line(text))
    item.setData(text, VALUE_ROLE)
    item.setToolTip(theme.plain_tooltip(typed_lines(text)))
