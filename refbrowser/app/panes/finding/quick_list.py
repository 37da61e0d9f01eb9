"""A field over a list of answers, near the top of the window: type, go up and down, Enter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QIcon, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QLabel,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import cut_around
from refbrowser.views.words import one_line

_ROW_ROLE = Qt.ItemDataRole.UserRole + 1
_WIDTH, _HEIGHT = 640, 420
#: Distance from the top of the window.
_TOP = 70
_MOVES = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -10,
    Qt.Key.Key_PageDown: 10,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """One row: its text with the letters that were found, what stands at the right, and what it is for."""

    text: str
    detail: str = ""
    places: tuple[int, ...] = ()
    icon: QIcon | None = None
    data: Any = None


class QuickList(QDialog):
    """The dialog; what follows from the text that is typed is for others to say (`set_answers`).

    Signals
    -------
    typed(str)
        The text is another one.
    chosen(object)
        The `Answer` on which Enter was pressed, or that was clicked; the dialog is closed by then.
    """

    typed = Signal(str)
    chosen = Signal(object)

    def __init__(self, name: str, title: str, hint: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowFlag(Qt.WindowType.FramelessWindowHint)
        self.setModal(True)
        self.field = QLineEdit()
        self.field.setObjectName(f"{name}Field")
        self.field.setAccessibleName(title)
        self.field.setPlaceholderText(hint)
        self.field.setMaxLength(4_096)
        self.field.installEventFilter(self)
        self._moved = False
        self._model = _Answers(self)
        self._list = QListView()
        self._list.setObjectName(f"{name}List")
        self._list.setAccessibleName(f"{title}: answers")
        self._list.setModel(self._model)
        self._list.setItemDelegate(_Delegate(self._list))
        self._list.setUniformItemSizes(True)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.clicked.connect(self._take)
        self._list.installEventFilter(self)
        self._words = QLabel()
        self._words.setObjectName(f"{name}Words")
        self._words.setProperty("role", "muted")
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._words.setContentsMargins(theme.MEDIUM, 0, theme.MEDIUM, theme.SMALL)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, theme.SMALL)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self.field)
        layout.addWidget(self._list, 1)
        layout.addWidget(self._words)
        self.field.textChanged.connect(self.typed)
        self.resize(min(_WIDTH, parent.width() - 2 * theme.HUGE), min(_HEIGHT, parent.height() - 2 * _TOP))
        corner = parent.mapToGlobal(parent.rect().topLeft())
        self.move(corner.x() + (parent.width() - self.width()) // 2, corner.y() + _TOP)

    def set_answers(self, answers: Sequence[Answer], words: str = "") -> None:
        """Show answers and words below them; the first one is chosen, or the one that the user went to."""
        before = self.current()
        self._model.set_answers(answers)
        row = next((row for row, answer in enumerate(answers) if before and answer.data == before.data), 0)
        if answers:
            self._choose(row if before is not None and self._moved else 0)
        self._words.setText(words)

    def answers(self) -> list[Answer]:
        """Return the answers shown."""
        return list(self._model.answers)

    def current(self) -> Answer | None:
        """Return the answer that Enter takes."""
        row = self._list.currentIndex().row()
        return self._model.answers[row] if 0 <= row < len(self._model.answers) else None

    def words(self) -> str:
        """Return the words below the answers."""
        return self._words.text()

    # Reactions

    def _choose(self, row: int) -> None:
        index = self._model.index(max(0, min(row, self._model.rowCount() - 1)), 0)
        self._list.setCurrentIndex(index)
        self._list.scrollTo(index)
        answer = self.current()
        self.field.setAccessibleDescription("" if answer is None else f"{answer.text}, {answer.detail}")

    def _take(self, index: QModelIndex | None = None) -> None:
        answer = self.current()
        if answer is not None:
            self.close()
            self.chosen.emit(answer)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setPen(QColor(theme.colors().muted))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key = Qt.Key(event.key())
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._take()
                return True
            if watched is self.field and key in _MOVES:
                self._moved = True
                self._choose(self._list.currentIndex().row() + _MOVES[key])
                return True
            self._moved = False
        return super().eventFilter(watched, event)


class _Answers(QAbstractListModel):
    """The answers as Qt wants them."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.answers: list[Answer] = []

    def set_answers(self, answers: Sequence[Answer]) -> None:
        self.beginResetModel()
        self.answers = list(answers)
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.answers)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        answer = self.answers[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return one_line(answer.text)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{one_line(answer.text)}, {one_line(answer.detail)}"
        return answer if role == _ROW_ROLE else None


class _Delegate(QStyledItemDelegate):
    """Paints an answer: icon, text with the letters that were found in bold, detail at the right."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        scheme = theme.colors()
        answer: Answer = index.data(_ROW_ROLE)
        area = QRect(option.rect)
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(area, QColor(scheme.accent_soft))
            painter.fillRect(QRect(area.left(), area.top(), 3, area.height()), QColor(scheme.accent))
        left = area.left() + theme.LARGE
        if answer.icon is not None:
            answer.icon.paint(painter, QRect(left, area.center().y() - 7, 16, 16))
            left += 16 + theme.MEDIUM
        plain = QFont(option.font)
        metrics = QFontMetrics(plain)
        right = area.right() - theme.LARGE
        if answer.detail:
            most = max(area.width() // 3, 80)
            detail = metrics.elidedText(one_line(answer.detail), Qt.TextElideMode.ElideLeft, most)
            painter.setFont(plain)
            painter.setPen(QColor(scheme.muted))
            box = QRect(left, area.top(), right - left, area.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, detail)
            right -= metrics.horizontalAdvance(detail) + theme.LARGE
        painter.setPen(QColor(scheme.text))
        self._draw_text(painter, answer, plain, QRect(left, area.top(), right - left, area.height()))
        painter.restore()

    @staticmethod
    def _draw_text(painter: QPainter, answer: Answer, plain: QFont, area: QRect) -> None:
        bold = QFont(plain)
        bold.setBold(True)
        text, moved = one_line(answer.text), 0
        if answer.places:
            ends = min(answer.places), max(answer.places) + 1
            text, moved = cut_around(text, *ends, QFontMetrics(bold), area.width())
        marked = {place + moved for place in answer.places}
        runs: list[tuple[str, bool]] = []
        for place, letter in enumerate(text):
            is_marked = place in marked
            if runs and runs[-1][1] == is_marked:
                runs[-1] = (runs[-1][0] + letter, is_marked)
            else:
                runs.append((letter, is_marked))
        left, flags = area.left(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        for run, is_marked in runs:
            font = bold if is_marked else plain
            metrics = QFontMetrics(font)
            room = area.right() - left
            shown = metrics.elidedText(run, Qt.TextElideMode.ElideRight, room)
            painter.setFont(font)
            painter.drawText(QRect(left, area.top(), room, area.height()), flags, shown)
            left += metrics.horizontalAdvance(shown)
            if shown != run or left >= area.right():
                break

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        hint = super().sizeHint(option, index)
        return QSize(hint.width(), max(hint.height(), theme.ROW + theme.SMALL))
