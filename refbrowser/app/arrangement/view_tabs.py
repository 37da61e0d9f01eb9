"""The tabs of a group of views: chosen, closed, and dragged within the group, to another one or out."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QTabBar, QWidget

from refbrowser.app.widgets import icons
from refbrowser.app.widgets.small_widgets import tool_button


class ViewTabs(QTabBar):
    """One tab for each view of a group.

    A drag is followed here, not by the desktop's drag and drop: what is under the pointer belongs to this
    program alone, and outside its windows the view gets one of its own.

    Signals
    -------
    dragged(int, object)
        A tab is dragged over a place of the screen (`QPoint`).
    dropped(int, object)
        It was let go there.
    dragEnded()
        The drag is over: it was let go, or given up with Esc.
    closeWanted(int)
        A tab is to be closed.
    menuWanted(int, object)
        The menu of a tab is to be shown at a place of the screen.
    """

    dragged = Signal(int, object)
    dropped = Signal(int, object)
    dragEnded = Signal()
    closeWanted = Signal(int)
    menuWanted = Signal(int, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("viewTabs")
        self.setAccessibleName("Views")
        self.setDocumentMode(True)
        self.setExpanding(False)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu_requested)
        self._pressed: tuple[int, QPoint] | None = None
        self._is_dragging = False

    def add(self, place: int) -> None:
        """Add a tab, with a button that closes it."""
        at = self.insertTab(place, "")
        button = tool_button("closeViewButton", "Close this view")
        button.setIcon(icons.icon("cancel"))
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(lambda _checked=False: self.closeWanted.emit(self._tab_of(button)))
        self.setTabButton(at, QTabBar.ButtonPosition.RightSide, button)

    def _tab_of(self, button: QWidget) -> int:
        side = QTabBar.ButtonPosition.RightSide
        return next(at for at in range(self.count()) if self.tabButton(at, side) is button)

    def restyle(self) -> None:
        """Take the colours of the theme."""
        for at in range(self.count()):
            button = self.tabButton(at, QTabBar.ButtonPosition.RightSide)
            if button is not None:
                button.setIcon(icons.icon("cancel"))  # type: ignore[attr-defined]

    # Dragging

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        at = self.tabAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and at >= 0:
            self._pressed = at, event.globalPosition().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None or not event.buttons() & Qt.MouseButton.LeftButton:
            super().mouseMoveEvent(event)
            return
        place = event.globalPosition().toPoint()
        far = (place - self._pressed[1]).manhattanLength()
        if not self._is_dragging and far >= QApplication.startDragDistance():
            self._is_dragging = True
            self.grabKeyboard()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        if self._is_dragging:
            self.dragged.emit(self._pressed[0], place)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.MiddleButton:
            at = self.tabAt(event.position().toPoint())
            if at >= 0:
                self.closeWanted.emit(at)
            return
        super().mouseReleaseEvent(event)
        pressed, was_dragging = self._pressed, self._is_dragging
        self._end_drag()
        if pressed is not None and was_dragging:
            self.dropped.emit(pressed[0], event.globalPosition().toPoint())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._is_dragging and event.key() == Qt.Key.Key_Escape:
            self._end_drag()
        elif event.key() == Qt.Key.Key_Delete:
            self.closeWanted.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() == Qt.FocusReason.ActiveWindowFocusReason:
            self._end_drag()

    def _end_drag(self) -> None:
        self._pressed = None
        if self._is_dragging:
            self._is_dragging = False
            self.releaseKeyboard()
            self.unsetCursor()
            self.dragEnded.emit()

    def _menu_requested(self, place: QPoint) -> None:
        at = self.tabAt(place)
        at = self.currentIndex() if at < 0 else at
        self.menuWanted.emit(at, self.mapToGlobal(place))
