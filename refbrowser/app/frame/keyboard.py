"""Where the keyboard goes: Tab and F6 through the panes, the undo keys to a field or to the document.

Tab and F6 go in the order in which panes are read. Qt itself goes by the order in which widgets were made,
and into docks that lie behind others.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QDockWidget,
    QLineEdit,
    QPlainTextEdit,
    QStatusBar,
    QTabBar,
    QTextEdit,
    QToolBar,
    QWidget,
)

_FIELDS = (QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox)
#: Panes whose left sides are not further apart than this are in one column, in pixels.
_COLUMN = 24


def move_focus(window: QWidget, forward: bool) -> bool:
    """Give the keyboard to the next widget, or the one before; whether there is one."""
    stops = [stop for _, stops in _panes(window) for stop in stops]
    here = QApplication.focusWidget()
    if here is None or not here.isVisible() or not here.isEnabled():
        # Nobody pressed Tab: what had the keyboard is gone. The next key must not hide a pane, or be typed.
        stops = [stop for stop in stops if not _hides_pane(stop) and not isinstance(stop, _FIELDS)]
    if not stops:
        return False
    if here in stops:
        at = stops.index(here) + (1 if forward else -1)
    else:
        at = _place_in_chain(window, here, stops, forward)
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    stops[at % len(stops)].setFocus(reason)
    return True


def move_to_pane(window: QWidget, forward: bool) -> None:
    """Give the keyboard to the next pane, or the one before, where it was in it last."""
    panes = [found for found in _panes(window) if not isinstance(found[0], QTabBar)]
    here = QApplication.focusWidget()
    if not panes:
        return
    at = next((number for number, (_, stops) in enumerate(panes) if here in stops), -1 if forward else 0)
    pane, stops = panes[(at + (1 if forward else -1)) % len(panes)]
    last = pane.focusWidget()
    (last if last in stops else stops[0]).setFocus(Qt.FocusReason.OtherFocusReason)


def _place_in_chain(window: QWidget, here: QWidget | None, stops: Sequence[QWidget], forward: bool) -> int:
    """Return the stop that follows a widget that is none itself, in the order of Qt."""
    widget = here
    while widget is not None and widget is not window:
        widget = widget.nextInFocusChain() if forward else widget.previousInFocusChain()
        if widget in stops:
            return stops.index(widget)
        if widget is here:
            break
    return 0 if forward else -1


def _panes(window: QWidget) -> list[tuple[QWidget, list[QWidget]]]:
    """Return each pane with the widgets that Tab goes to in it: column by column, the status bar last."""
    found: dict[QWidget, list[QWidget]] = {}
    panes = window.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    widget: QWidget | None = window.nextInFocusChain()
    while widget is not None and widget is not window:
        pane = _pane_of(panes, widget) if _is_stop(window, widget) else None
        if pane is not None and _is_seen(pane):
            found.setdefault(pane, []).append(widget)
        widget = widget.nextInFocusChain()
    corners = {pane: pane.mapTo(window, QPoint()) for pane in found}
    column, left, places = 0, 0, {}
    for pane in sorted(found, key=lambda pane: corners[pane].x()):
        column += corners[pane].x() > left + _COLUMN
        left = corners[pane].x()
        places[pane] = (isinstance(pane, QStatusBar), column, corners[pane].y())
    return [(pane, found[pane]) for pane in sorted(found, key=places.__getitem__)]


def _pane_of(panes: Sequence[QWidget], widget: QWidget) -> QWidget | None:
    """Return the dock, the centre, the bar of tabs or the status bar that a widget is a part of.

    Its parents are not gone through: when Python forgets a widget that Qt made, such as the stack in a
    `QTabWidget`, what `parentWidget` made its children is taken for deleted, and scroll bars cannot be used.
    """
    for pane in panes:
        if pane is widget or pane.isAncestorOf(widget):
            return None if isinstance(pane, QToolBar) else pane
    return None


def _is_stop(window: QWidget, widget: QWidget) -> bool:
    # Most of a thousand widgets are out of sight, which costs less to ask than flags.
    return (
        widget.isVisible()
        and widget.isEnabled()
        and bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        and widget.focusProxy() is None
        and widget.window() is window
    )


def _hides_pane(widget: QWidget) -> bool:
    """Whether a widget is the button in the title of a dock."""
    title = widget.parentWidget()
    dock = None if title is None else title.parentWidget()
    return isinstance(dock, QDockWidget) and dock.titleBarWidget() is title


def _is_seen(pane: QWidget) -> bool:
    """Whether a pane is not behind another one."""
    return not isinstance(pane, QDockWidget) or not pane.visibleRegion().isEmpty()


class UndoKeys(QObject):
    """Gives the undo keys to the window where a field that has the keyboard has nothing typed to undo.

    Fields of Qt keep these keys for themselves whether or not they have anything to undo.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._field: QWidget | None = None
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._focus_changed)

    def _focus_changed(self, _old: QWidget | None, now: QWidget | None) -> None:
        if self._field is not None:
            self._field.removeEventFilter(self)
            self._field.destroyed.disconnect(self._gone)
            self._field = None
        if isinstance(now, _FIELDS) and self._is_inside(now):
            self._field = now
            now.installEventFilter(self)
            now.destroyed.connect(self._gone)

    def _is_inside(self, widget: QWidget | None) -> bool:
        """Whether a widget is of the window, also in a dock that floats beside it."""
        while widget is not None and widget is not self._window:
            widget = widget.parentWidget()
        return widget is not None

    def _gone(self) -> None:
        self._field = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        is_undo = event.matches(QKeySequence.StandardKey.Undo)
        if not is_undo and not event.matches(QKeySequence.StandardKey.Redo):
            return False
        if _can_undo(watched, is_undo):
            return False
        if is_undo:
            # What was typed and undone in the field lies before the step of the document that goes now.
            _forget(watched)
        event.ignore()
        return True


def _can_undo(field: QObject, is_undo: bool) -> bool:
    """Tell whether something typed in a field can be undone, or redone."""
    if isinstance(field, QAbstractSpinBox):
        field = field.lineEdit()
    if isinstance(field, QLineEdit):
        return field.isUndoAvailable() if is_undo else field.isRedoAvailable()
    if isinstance(field, QPlainTextEdit | QTextEdit):
        document = field.document()
        return document.isUndoAvailable() if is_undo else document.isRedoAvailable()
    return False


def _forget(field: QObject) -> None:
    """Forget what could be typed again."""
    if isinstance(field, QLineEdit) and field.isRedoAvailable():
        position = field.cursorPosition()
        field.setText(field.text())
        field.setCursorPosition(position)
    elif isinstance(field, QPlainTextEdit | QTextEdit):
        field.document().clearUndoRedoStacks()
