"""Views in one place: the one in front, with a tab for each where that says something."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QIcon,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QApplication, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.small_widgets import tool_button
from refbrowser.views.arrangement.arrangement import Side

#: So much of a group, at each edge, splits it when a tab is dropped there.
_EDGE = 0.25


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

    def tabSizeHint(self, index: int) -> QSize:
        """Leave room for a bold title: that of the active view is one."""
        size, text = super().tabSizeHint(index), self.tabText(index)
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        more = QFontMetrics(bold).horizontalAdvance(text) - self.fontMetrics().horizontalAdvance(text)
        return QSize(size.width() + max(0, more), size.height())

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


class DropMark(QWidget):
    """Shows where a view will be when its tab is let go."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("viewDropMark")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        accent = QColor(theme.colors().accent)
        painter.setPen(QPen(accent, 3, Qt.PenStyle.DashLine))
        accent.setAlpha(60)
        painter.setBrush(accent)
        painter.drawRect(self.rect().adjusted(2, 2, -2, -2))
        painter.end()


class ViewGroup(QWidget):
    """Some views, of which one is in front.

    Signals
    -------
    chosen(object)
        The view that came to the front because the user chose its tab.
    closeWanted(object), menuWanted(object, object)
        A view is to be closed; its menu is to be shown at a place of the screen.
    dragged(object, object), dropped(object, object), dragEnded()
        A view is dragged by its tab over a place of the screen, was let go there, and is dragged no more.
    """

    chosen = Signal(object)
    closeWanted = Signal(object)
    menuWanted = Signal(object, object)
    dragged = Signal(object, object)
    dropped = Signal(object, object)
    dragEnded = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("viewGroup")
        self.tabs = ViewTabs()
        self._stack = QStackedWidget()
        self._mark = DropMark(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.tabs)
        layout.addWidget(self._stack, 1)
        tabs = self.tabs
        tabs.hide()
        tabs.currentChanged.connect(self._tab_chosen)
        tabs.tabBarClicked.connect(self._tab_clicked)
        tabs.closeWanted.connect(lambda at: self.closeWanted.emit(self.views()[at]))
        tabs.menuWanted.connect(lambda at, place: self.menuWanted.emit(self.views()[at], place))
        tabs.dragged.connect(lambda at, place: self.dragged.emit(self.views()[at], place))
        tabs.dropped.connect(lambda at, place: self.dropped.emit(self.views()[at], place))
        tabs.dragEnded.connect(self.dragEnded)

    # Views

    def views(self) -> list[PlotPane]:
        """Return the views in the order of their tabs."""
        found = (self._stack.widget(at) for at in range(self._stack.count()))
        return [view for view in found if isinstance(view, PlotPane)]

    def front(self) -> PlotPane:
        """Return the view in front."""
        return self.views()[self._stack.currentIndex()]

    def insert(self, view: PlotPane, place: int | None = None) -> None:
        """Take a view, and bring it to the front; `place` is that of its tab, None for the last."""
        place = self._stack.count() if place is None else place
        self.tabs.blockSignals(True)
        self._stack.insertWidget(place, view)
        self.tabs.add(place)
        self.tabs.blockSignals(False)
        self.bring_forward(view)

    def take(self, view: PlotPane) -> None:
        """Let go of a view."""
        place = self.views().index(view)
        self.tabs.blockSignals(True)
        self._stack.removeWidget(view)
        self.tabs.removeTab(place)
        if self._stack.count():
            self.tabs.setCurrentIndex(self._stack.currentIndex())
        self.tabs.blockSignals(False)

    def bring_forward(self, view: PlotPane) -> None:
        """Bring a view to the front."""
        self._stack.setCurrentWidget(view)
        self.tabs.blockSignals(True)
        self.tabs.setCurrentIndex(self._stack.currentIndex())
        self.tabs.blockSignals(False)

    def show_tabs(self, titles: list[tuple[str, str]], active: PlotPane | None, *, are_linked: bool) -> None:
        """Write the title and the tip of each view on its tab; none for no tabs. `active` is marked."""
        mark = icons.icon("linked") if are_linked else QIcon()
        self.tabs.setVisible(bool(titles))
        for at, ((title, tip), view) in enumerate(zip(titles, self.views(), strict=False)):
            is_active = view is active
            # A mark beside the colour of the line below it.
            self.tabs.setTabText(at, f"● {title}" if is_active else title)
            self.tabs.setTabIcon(at, mark)
            self.tabs.setTabToolTip(at, theme.plain_tooltip(tip))
            self.tabs.setAccessibleTabName(at, f"{title}, active view" if is_active else title)
        is_active = bool(titles) and active in self.views()
        if self.tabs.property("active") != is_active:
            self.tabs.setProperty("active", is_active)
            self.tabs.style().unpolish(self.tabs)
            self.tabs.style().polish(self.tabs)

    def _tab_chosen(self, at: int) -> None:
        if 0 <= at < self._stack.count():
            self._stack.setCurrentIndex(at)
            self.chosen.emit(self.front())

    def _tab_clicked(self, at: int) -> None:
        if at >= 0 and at == self._stack.currentIndex():
            # Its group becomes the active one.
            self.chosen.emit(self.front())

    # Dropping

    def place_of_drop(self, place: QPoint) -> tuple[Side, int] | None:
        """Return where a view that is let go at a place of the screen will be, and its tab; None outside."""
        inside = self.mapFromGlobal(place)
        if not self.rect().contains(inside):
            return None
        tabs = self.tabs
        if tabs.isVisible() and tabs.geometry().contains(inside):
            at = tabs.tabAt(tabs.mapFromGlobal(place))
            return Side.TAB, len(self.views()) if at < 0 else at
        body = self._stack.geometry()
        across = (inside.x() - body.left()) / max(1, body.width())
        down = (inside.y() - body.top()) / max(1, body.height())
        nearest = min(
            (across, Side.LEFT), (1 - across, Side.RIGHT), (down, Side.ABOVE), (1 - down, Side.BELOW)
        )
        return (nearest[1] if nearest[0] < _EDGE else Side.TAB), len(self.views())

    def show_drop(self, side: Side | None) -> None:
        """Show where a view would be put; None hides it."""
        self._mark.setVisible(side is not None)
        if side is None:
            return
        body = QRect(self._stack.geometry())
        if side.is_across:
            half = body.width() // 2
            body.setWidth(half)
            body.translate(0 if side.is_first else half, 0)
        elif side is not Side.TAB:
            half = body.height() // 2
            body.setHeight(half)
            body.translate(0, 0 if side.is_first else half)
        self._mark.setGeometry(body)
        self._mark.raise_()
