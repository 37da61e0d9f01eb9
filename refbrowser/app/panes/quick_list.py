"""Lists that answer to a few typed letters: the command palette, and Go to key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QAction, QColor, QFont, QFontMetrics, QKeyEvent, QKeySequence, QPainter, QPaintEvent
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

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.actions.actions import Actions
from refbrowser.app.actions.menus import menus
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.elided_label import cut_around
from refbrowser.views.words import one_line
from refbrowser.words import count_text, plural

if TYPE_CHECKING:
    from refbrowser.views.key_search import Hit, Hits


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
    """One row: its text with the letters that were found, what stands at the right, and what it is for.

    `icon` is a name: the icon is drawn in the colours in force. Where there is none its place stays empty.
    """

    text: str
    detail: str = ""
    places: tuple[int, ...] = ()
    icon: str = ""
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
        if answer.icon:
            icons.icon(answer.icon).paint(painter, QRect(left, area.center().y() - 7, 16, 16))
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


#: Answers shown at most.
SHOWN = 200
COMMAND_HINT = "Type a few letters of an action, then Enter"


class CommandPalette(QuickList):
    """Lists the actions of a window; Enter carries one out after the palette is gone.

    Parameters
    ----------
    panes
        Titles of panes, and what brings each to the front.
    """

    def __init__(self, actions: Actions, panes: Mapping[str, Callable[[], None]], parent: QWidget) -> None:
        super().__init__("commandPalette", "Command palette", COMMAND_HINT, parent)
        #: Title, keys, icon, and what is done.
        self._found: list[tuple[str, str, str, Callable[[], object]]] = [
            (_title(spec, action), shortcut_of(spec), spec.icon, action.trigger)
            for spec, action in actions.all()
            if action.isEnabled() and spec.name != "command_palette"
        ]
        self._found += [(f"Pane: {title}", "", "", show) for title, show in panes.items()]
        self.typed.connect(self._search)
        self.chosen.connect(_carry_out)
        self._search("")

    def _search(self, text: str) -> None:
        from refbrowser.views.key_search import best

        found = best(text, self._found, lambda item: item[0], SHOWN)
        answers = [
            Answer(title, keys, matched.places, icon, act) for (title, keys, icon, act), matched in found
        ]
        words = (
            f"No command has this name: {one_line(text)}. Help lists the keys, the manual explains "
            "the commands."
        )
        self.set_answers(answers, "" if answers else words)


def _carry_out(answer: Answer) -> None:
    act: Callable[[], object] = answer.data
    # Once the keyboard is back where it was before.
    QTimer.singleShot(0, act)


def _title(spec: ActionSpec, action: QAction) -> str:
    """Return an action's title behind that of its menu."""
    menu = spec.menu or next(title for title, specs in menus().items() if spec in specs)
    parts = (menu, spec.submenu, spec.title)
    ticked = " ✓" if action.isChecked() else ""
    return ": ".join(part.replace("&", "").rstrip("…") for part in parts if part) + ticked


def shortcut_of(spec: ActionSpec) -> str:
    """Return the keys of an action as they are written on this system; empty where it has none."""
    if spec.plot_key:
        return f"{spec.plot_key} in the plot"
    return QKeySequence(spec.shortcut).toString(QKeySequence.SequenceFormat.NativeText)


KEY_HINT = "Part of a key, a path, coordinates such as temp/12.3, or the number of a row"


class GoToDialog(QuickList):
    """Completes what is typed off the GUI thread; Enter goes there.

    Signals
    -------
    nodeChosen(str), keyChosen(str), rowChosen(object)
        What was chosen: the path of a group or array, a key, the number of a row.
    """

    nodeChosen = Signal(str)
    keyChosen = Signal(str)
    rowChosen = Signal(object)

    def __init__(self, document: OpenDocument, parent: QWidget) -> None:
        super().__init__("goToDialog", f"Go to a key of {one_line(document.title)}", KEY_HINT, parent)
        self._document = document
        self._keys_search = Latest(self, "go to")
        self.typed.connect(self._search)
        self.chosen.connect(self._go)
        self.finished.connect(lambda _code: self._keys_search.cancel())
        # The document may be closed under the dialog.
        document.destroyed.connect(self.close)
        self._search("")

    def _search(self, text: str) -> None:
        state, hierarchy = self._document.document, self._document.hierarchy
        if state is None:
            return

        def search(control: TaskControl) -> Hits:
            from refbrowser.views.key_search import search as search_keys

            return search_keys(state, hierarchy, text, control.check)

        self._keys_search.run(
            self._document, "Search keys", search, lambda hits: self._show(text, hits), self._failed
        )

    def _show(self, text: str, hits: Hits) -> None:
        answers = [Answer(hit.text, hit.detail, hit.places, _icon(hit), hit) for hit in hits.hits]
        count = count_text(len(answers))
        if not answers:
            words = "No match" if hits.is_whole else "The search stopped at its time limit: type more"
        elif hits.is_whole:
            words = f"{count} {plural(len(answers), 'answer')}" if text.strip() else ""
        else:
            words = f"The first {count} answers: type more to find others"
        self.set_answers(answers, words)

    def _failed(self, error: BaseException) -> None:
        self.set_answers([], f"The search failed: {error}")

    def _go(self, answer: Answer) -> None:
        from refbrowser.views.key_search import HitKind

        hit: Hit = answer.data
        if hit.kind is HitKind.NODE:
            self.nodeChosen.emit(hit.text)
        elif hit.kind is HitKind.KEY:
            self.keyChosen.emit(hit.text)
        else:
            self.rowChosen.emit(int(hit.text))


def _icon(hit: Hit) -> str:
    if hit.kind == "node":
        return "group" if hit.detail == "group" else "array"
    return "key" if hit.kind == "key" else "rules"
