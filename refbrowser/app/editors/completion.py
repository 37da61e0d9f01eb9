"""The list of names that fit at the cursor of a jinja field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QBrush, QColor, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTreeWidget, QTreeWidgetItem

from refbrowser.app.editors.names import Names
from refbrowser.app.editors.text_units import character_offset, utf16_offsets
from refbrowser.app.widgets import theme
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.editors.completed_field import CompletedField
    from refbrowser.references.templates.highlight import Candidate, Completions

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
