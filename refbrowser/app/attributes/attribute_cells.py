"""The cells of attributes, their editors, and what is typed comes to, beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPalette, QStandardItem
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QLabel,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from refbrowser.app import theme
from refbrowser.app.plain_text import one_line
from refbrowser.app.timers import one_shot

if TYPE_CHECKING:
    from refbrowser.app.attributes.attribute_rows import Row
    from refbrowser.app.attributes.attributes_tree import AttributesTree

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
_LEAVE = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab, Qt.Key.Key_Backtab)


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


class _Cell(QLineEdit):
    """The field over a cell."""

    def __init__(self, index: Index, parent: QWidget) -> None:
        super().__init__(parent)
        self.index = QPersistentModelIndex(index)


class Cells(QStyledItemDelegate):
    """Editors of cells that stay open while what is typed cannot be."""

    def __init__(self, tree: AttributesTree) -> None:
        super().__init__(tree)
        self._tree = tree

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        scheme = theme.colors()
        if index.column() == TYPE:
            option.palette.setColor(QPalette.ColorRole.Text, QColor(scheme.muted))
        elif index.column() == NAME and index.data(LINK_ROLE):
            option.palette.setColor(QPalette.ColorRole.Text, QColor(scheme.accent))
            option.font.setUnderline(True)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        before = self._tree.open_cell()
        if before is not None:
            # What is typed there and cannot be is kept; it is shown when that cell is edited again.
            self.closeEditor.emit(before, QAbstractItemDelegate.EndEditHint.NoHint)
        line = _Cell(index, parent)
        line.setObjectName("attributeCell")
        line.setAccessibleName(
            "Name of the attribute" if index.column() == NAME else "Value of the attribute"
        )
        line.setFont(theme.mono_font())
        line.setFrame(False)
        line.setStyleSheet("QLineEdit { border-radius: 0; padding: 0 2px; }")
        line.textEdited.connect(lambda text: self._typed(line, text))
        return line

    def _typed(self, line: _Cell, text: str) -> None:
        self.look(line)
        self._tree.tell_typed(line.index, text)

    def look(self, line: QLineEdit) -> str:
        """Show what is typed comes to; return why it cannot be."""
        fault, hint = self._tree.verdict(line.index, line.text()) if isinstance(line, _Cell) else ("", "")
        self._tree.beside.show_verdict(line, fault, hint)
        line.setAccessibleDescription(fault)
        return fault

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, QLineEdit):
            role = VALUE_ROLE if index.column() == VALUE else ATTRIBUTE_ROLE
            text = str(index.data(role) or "")
            kept = self._tree.kept(str(index.sibling(index.row(), NAME).data(ATTRIBUTE_ROLE)), index.column())
            editor.setText(kept if kept is not None else "" if text == NEW else text)
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: Any, index: Index) -> None:
        if isinstance(editor, QLineEdit):
            self._tree.committed(model.index(index.row(), index.column(), index.parent()), editor.text())

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        if isinstance(editor, QLineEdit) and event.type() == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            if event.key() in _LEAVE and self.look(editor):
                return True  # stays open, with the reason beside it
            if event.key() in _LEAVE:
                self.commitData.emit(editor)
                self.closeEditor.emit(editor, QAbstractItemDelegate.EndEditHint.NoHint)
                return True
        elif isinstance(editor, QLineEdit) and event.type() == QEvent.Type.FocusOut and self.look(editor):
            return False  # stays open too: nothing that is typed is lost
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
        words = "the metadata records no type: the value suggests it" if is_guess else "its type"
        kind.setToolTip(theme.plain_tooltip(f"{row.type}: {words}"))
        name.setData((row.type, row.is_recorded), TYPE_ROLE)
    if row.link:
        name.setData(row.link, LINK_ROLE)
        name.setToolTip(theme.plain_tooltip(f"Go to {row.link}"))
    name.setData(row.attribute, ATTRIBUTE_ROLE)
    return [name, value, kind]


def set_text(item: QStandardItem, text: str) -> None:
    """Show a text in a cell, and keep it whole."""
    item.setText(one_line(text))
    item.setData(text, VALUE_ROLE)
    item.setToolTip(theme.plain_tooltip(text))
