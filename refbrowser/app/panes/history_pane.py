"""The history pane: every state of the document that is shown; a click goes there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QStackedWidget, QVBoxLayout, QWidget

from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.docks import hint_of
from refbrowser.app.widgets.small_widgets import hint_label, plain_label
from refbrowser.views.words import one_line
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument

Index = QModelIndex | QPersistentModelIndex
FIRST = "Opened"


class HistoryModel(QAbstractListModel):
    """A row for each state: that before all edits, then one for each edit, undone ones too."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._titles: list[str] = []
        self.position = 0
        self.saved: int | None = None

    def set_states(self, titles: list[str], position: int, saved: int | None) -> None:
        """Show other states."""
        is_same = titles == self._titles
        if not is_same:
            self.beginResetModel()
        self._titles, self.position, self.saved = titles, position, saved
        if not is_same:
            self.endResetModel()
        elif titles:
            self.dataChanged.emit(self.index(0), self.index(len(titles) - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._titles)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = index.row()
        if not 0 <= row < len(self._titles):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            saved = "  (saved)" if row == self.saved else ""
            return f"{one_line(self._titles[row])}{saved}"
        if role == Qt.ItemDataRole.DecorationRole:
            return icons.icon(self._icon(row), self._color(row))
        if role == Qt.ItemDataRole.ForegroundRole:
            return QColor(self._color(row))
        if role == Qt.ItemDataRole.FontRole:
            font = QFont()
            font.setBold(row == self.position)
            font.setItalic(row > self.position)
            return font
        if role == Qt.ItemDataRole.ToolTipRole:
            return theme.plain_tooltip(f"{self._titles[row]}\n{self._state(row)}")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{one_line(self._titles[row])}, {self._state(row)}"
        return None

    def _icon(self, row: int) -> str:
        if row == self.saved:
            return "save"
        return "redo" if row > self.position else "document" if row == 0 else "done"

    def _color(self, row: int) -> str:
        return theme.colors().muted if row > self.position else theme.colors().text

    def _state(self, row: int) -> str:
        """Return what a state is, for those who do not see weight and colour."""
        words = ["now" if row == self.position else "undone" if row > self.position else "made"]
        return ", ".join(words + (["saved"] if row == self.saved else []))


class HistoryPane(QWidget):
    """The list of states with the number of pending edits over it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: OpenDocument | None = None
        self._is_seen = False
        self.model = HistoryModel(self)
        self._list = _List()
        self._list.setModel(self.model)
        self._list.clicked.connect(self._go)
        self._list.entered_return.connect(self._go)
        self._count = plain_label("", role="muted")
        self._count.setObjectName("historyCount")
        self._count.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, 0)
        self._pages = QStackedWidget()
        self._pages.addWidget(hint_label(hint_of("historyDock")))
        self._pages.addWidget(self._list)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self._count)
        layout.addWidget(self._pages, 1)
        self.setFocusProxy(self._list)
        self.refresh()

    def set_document(self, document: OpenDocument | None) -> None:
        """Show the history of another document."""
        is_seen = self._is_seen
        self.set_seen(False)
        self._document = document
        self.set_seen(is_seen)

    def set_seen(self, is_seen: bool) -> None:
        """Follow the history as long as somebody sees it."""
        if is_seen == self._is_seen:
            return
        self._is_seen = is_seen
        if is_seen:
            self.refresh()
        if self._document is not None and is_seen:
            self._document.savedChanged.connect(self.refresh)
        elif self._document is not None:
            self._document.savedChanged.disconnect(self.refresh)

    def refresh(self) -> None:
        """Show the newest states."""
        document = self._document
        history = None if document is None else document.history
        if document is None or history is None:
            self.model.set_states([], 0, None)
            self._count.hide()
            self._pages.setCurrentIndex(0)
            return
        before = self.model.position
        self.model.set_states([FIRST, *history.entries], history.position, history.saved_position)
        self._count.setText(self._words(document))
        self._count.show()
        self._pages.setCurrentWidget(self._list)
        if before != history.position or self._list.currentIndex().row() < 0:
            current = self.model.index(history.position)
            self._list.setCurrentIndex(current)
            self._list.scrollTo(current)

    @staticmethod
    def _words(document: OpenDocument) -> str:
        history = document.history
        assert history is not None
        words = pending_words(document)
        if history.saved_position is None:
            return f"{words}; the saved state is not in this list"
        return words[:1].upper() + words[1:]

    def _go(self, index: QModelIndex) -> None:
        if self._document is not None and index.isValid():
            self._document.go_to(index.row())


class _List(QListView):
    """The list itself."""

    entered_return = Signal(QModelIndex)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("historyView")
        self.setAccessibleName("History of edits")
        self.setUniformItemSizes(True)
        self.setIconSize(QSize(16, 16))
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.entered_return.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)


def pending_words(document: OpenDocument) -> str:
    """Return what of a document is not saved, and what is typed in an editor and not applied."""
    count, typed = document.pending_count, document.draft_count
    parts = []
    if document.is_dirty:
        parts.append("not saved yet" if document.is_new else counted_plain(count, "unsaved edit"))
    if typed:
        parts.append(f"{counted_plain(typed, 'edit')} not applied")
    # What is computed is in no file, and nothing of it would be lost.
    return f"* {', '.join(parts)}" if parts else "computed" if document.is_new else "saved"
