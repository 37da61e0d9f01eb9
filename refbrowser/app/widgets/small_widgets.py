"""Small widgets that every pane is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QBrush, QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QToolButton,
    QTreeWidgetItem,
    QWidget,
)

from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.elided_label import LineLabel, WrappedLabel


class IconLabel(QWidget):
    """An icon beside words, in a colour of the scheme that is in force when it is painted."""

    def __init__(self, name: str, role: str, size: int = 18) -> None:
        super().__init__()
        self._name, self._role, self._size = name, role, size
        self.setFixedSize(size, size)

    def paintEvent(self, event: QPaintEvent) -> None:
        color = getattr(theme.colors(), self._role)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, icons.pixmap(self._name, self._size, color, self.devicePixelRatioF()))
        painter.end()


class ThemedItem(QTreeWidgetItem):
    """A row of a list whose colours are those of the scheme that is in force when it is painted."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(texts)
        self._roles: dict[int, str] = {}
        self._icons: dict[int, tuple[str, str]] = {}

    def color(self, column: int, role: str) -> None:
        """Let the text of a column have a colour of the scheme."""
        self._roles[column] = role

    def mark(self, column: int, icon: str, role: str) -> None:
        """Put an icon in a colour of the scheme before the text of a column."""
        self._icons[column] = icon, role

    def data(self, column: int, role: int) -> Any:
        """Return what Qt asks for."""
        if role == Qt.ItemDataRole.ForegroundRole and column in self._roles:
            return QBrush(QColor(getattr(theme.colors(), self._roles[column])))
        if role == Qt.ItemDataRole.DecorationRole and column in self._icons:
            icon, of_scheme = self._icons[column]
            return icons.icon(icon, getattr(theme.colors(), of_scheme))
        return super().data(column, role)


def plain_label(text: str = "", *, role: str = "", wrap: bool = True) -> QLabel:
    """Return a label that shows text as it stands and lets it be selected; it never widens the window."""
    label = WrappedLabel() if wrap else LineLabel()
    label.setText(text)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role:
        label.setProperty("role", role)
    return label


#: What a desktop draws around a window, in pixels, about: at both sides, and above and below.
_FRAME = QSize(16, 40)


def room_for_window(widget: QWidget) -> QSize:
    """Return how large a window can be on the screen that a widget is on."""
    return widget.screen().availableSize() - _FRAME


def resize_within_screen(dialog: QWidget, width: int, height: int) -> None:
    """Give a dialog a size, but none that its screen has no room for: its buttons are to be reached."""
    dialog.resize(QSize(width, height).boundedTo(room_for_window(dialog)))


def push_button(text: str, name: str, clicked: Callable[[], object], *, flat: bool = False) -> QPushButton:
    """Return a named button; screen readers read its text."""
    button = QPushButton(text)
    button.setObjectName(name)
    button.setAccessibleName(text.replace("&", "").rstrip("…"))
    button.setFlat(flat)
    button.setAutoDefault(False)
    button.clicked.connect(lambda _checked=False: clicked())
    return button


def answer_line(*answers: QPushButton, beside: Sequence[QPushButton] = ()) -> QHBoxLayout:
    """Return the buttons below a dialog: those that answer it at the right, others at the left."""
    line = QHBoxLayout()
    line.setSpacing(theme.MEDIUM)
    for button in beside:
        line.addWidget(button)
    line.addStretch(1)
    for button in answers:
        line.addWidget(button)
    return line


def tool_button(name: str, tip: str, text: str = "") -> QToolButton:
    """Return a named button for a tool bar; screen readers read its tool tip."""
    button = QToolButton()
    button.setObjectName(name)
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    return button


def combo_box(name: str, title: str) -> QComboBox:
    """Return a named box of choices that is as wide as they are; the wheel alone gives it no focus."""
    combo = QComboBox()
    combo.setObjectName(name)
    combo.setAccessibleName(title)
    combo.setToolTip(title)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    combo.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return combo


def show_progress(bar: QProgressBar, done: int, total: int | None) -> None:
    """Show how much is done; a bar without an end where that is not known.

    All that was counted may be done before the work is: a bar that stands at its end would look like a halt.
    """
    known = bool(total) and done < (total or 0)
    bar.setRange(0, 1000 if known else 0)
    if total and known:
        bar.setValue(done * 1000 // total)


def grow_to_words(dialog: QWidget) -> None:
    """Make a dialog as high as its words need; a window's least size knows nothing of wrapping."""
    dialog.resize(dialog.width(), max(dialog.height(), dialog.heightForWidth(dialog.width())))


def bring_up(window: QWidget) -> None:
    """Show a dialog or a window above all others, with the keyboard."""
    window.show()
    window.raise_()
    # What was dropped comes from a window that has the keyboard.
    window.activateWindow()


def hint_label(text: str) -> QLabel:
    """Return the words of a pane that has nothing to show yet."""
    # Not one that can be selected: what Qt loads for that would take a tenth of the time to the first paint.
    label = WrappedLabel()
    label.setText(text)
    label.setProperty("role", "muted")
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
    return label


class _Held(QWidget):
    """Holds a pane that shares out its height itself: words that wrap in it do not make it higher."""

    def __init__(self, pane: QWidget) -> None:
        super().__init__()
        self._pane = pane
        pane.setParent(self)

    def sizeHint(self) -> QSize:
        return self._pane.sizeHint()

    def minimumSizeHint(self) -> QSize:
        hint, least = self._pane.minimumSizeHint(), self._pane.minimumSize()
        return QSize(least.width() or hint.width(), least.height() or hint.height())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._pane.setGeometry(self.rect())


class _Frame(QScrollArea):
    """Takes any size, and asks for that of what is in it."""

    def sizeHint(self) -> QSize:
        content = self.widget()
        return super().sizeHint() if content is None else content.sizeHint()


def framed(pane: QWidget) -> QScrollArea:
    """Return a frame of any size for a pane: what does not fit at its least size is scrolled to."""
    frame = scrolled(_Held(pane))
    frame.setFocusProxy(pane)
    return frame


def scrolled(content: QWidget) -> QScrollArea:
    """Return a frame of any size for a card: what does not fit, as its words wrap, is scrolled to."""
    area = _Frame()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(content)
    area.setMinimumSize(1, 1)
    return area


def one_shot(owner: QObject, milliseconds: int, work: Callable[[], object]) -> QTimer:
    """Return a timer, not yet started, that does `work` once after each start; it ends with its owner."""
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(work)
    return timer


def pop_up(
    widget: QWidget, place: QPoint, fits: Callable[[QAction], bool] = lambda _action: True
) -> QMenu | None:
    """Show the actions of a widget that fit at a place of the screen; None where there are none.

    Separators at the edges, or next to each other, are left out.
    """
    found: list[QAction] = []
    for action in widget.actions():
        if action.isSeparator() and (not found or found[-1].isSeparator()):
            continue
        if action.isSeparator() or fits(action):
            found.append(action)
    while found and found[-1].isSeparator():
        found.pop()
    if not found:
        return None
    menu = QMenu(widget)
    menu.setObjectName("contextMenu")
    menu.addActions(found)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.popup(place)
    return menu


def pop_up_entries(
    widget: QWidget, name: str, place: QPoint, entries: Iterable[tuple[str, str, Callable[[], object]]]
) -> None:
    """Show a menu at a place of the screen: of each entry its title, its keys or none, and what it does."""
    menu = QMenu(widget)
    menu.setObjectName(name)
    for title, keys, work in entries:
        action = QAction(f"{title}\t{keys}" if keys else title, menu)
        action.triggered.connect(lambda _checked=False, work=work: work())
        menu.addAction(action)
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(place)


def separator(widget: QWidget) -> QAction:
    """Add a separator to the actions of a widget."""
    line = QAction(widget)
    line.setSeparator(True)
    widget.addAction(line)
    return line
