"""Views in one place: the one in front, with a tab for each where that says something."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from refbrowser.app.arrangement.view_tabs import ViewTabs
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.widgets import theme
from refbrowser.views.arrangement.arrangement import Side

#: So much of a group, at each edge, splits it when a tab is dropped there.
_EDGE = 0.25


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

    def show_tabs(self, titles: list[tuple[str, str]], active: PlotPane | None) -> None:
        """Write the title and the tip of each view on its tab; none for no tabs. `active` is marked."""
        self.tabs.setVisible(bool(titles))
        for at, ((title, tip), view) in enumerate(zip(titles, self.views(), strict=False)):
            is_active = view is active
            # A mark beside the colour of the line below it.
            self.tabs.setTabText(at, f"● {title}" if is_active else title)
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
