"""All views of one window: tabs, splits and windows of their own, and which of them is active."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtWidgets import QApplication, QSplitter, QVBoxLayout, QWidget

from refbrowser.app.arrangement.apart_window import ApartWindow
from refbrowser.app.arrangement.crossing_slices import CrossingSlices
from refbrowser.app.arrangement.view_group import ViewGroup
from refbrowser.app.arrangement.view_links import ViewLinks
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.limits import LIMITS
from refbrowser.views.arrangement.arrangement import Apart, Arrangement, Side, Split, Tabs
from refbrowser.views.arrangement.linking import Link
from refbrowser.views.words import one_line

#: A lower place, in pixels, is not split into two below each other.
_TWO_HIGH = 640


class ViewArea(QWidget):
    """The views of one window; there is always one, and one is active.

    Signals
    -------
    made(object)
        A new `PlotPane` that shows nothing yet.
    activeChanged(object)
        Another view is the one that commands act on.
    rearranged()
        There are more or fewer views, or they are elsewhere.
    closing(object)
        A view goes; it shows nothing any more.
    apartMade(object)
        An `ApartWindow` that was just made.
    menuWanted(object, object)
        The menu of a view is to be shown at a place of the screen.
    """

    made = Signal(object)
    activeChanged = Signal(object)
    rearranged = Signal()
    closing = Signal(object)
    apartMade = Signal(object)
    menuWanted = Signal(object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("viewArea")
        self._apart: list[ApartWindow] = []
        #: Once, after whatever changed of several views.
        self._title_soon = one_shot(self, 0, self._show_titles)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self._root: QWidget = self._new_group()
        self.links = ViewLinks(self, self)
        self.crossing = CrossingSlices(self)
        self.closing.connect(self.crossing.forget)
        layout.addWidget(self._root)
        self.active = PlotPane()
        self._group_in(self._root).insert(self.active)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._focus_changed)

    def begin(self) -> None:
        """Tell of the first view."""
        self._connect(self.active)
        self.links.changed.connect(self._changed)
        self.crossing.changed.connect(self._changed)
        self.made.emit(self.active)

    # Which there are

    def groups(self) -> list[ViewGroup]:
        """Return the groups: those of the main window, from the top left on, and others."""
        return [*_groups_below(self._root), *(window.group for window in self._apart)]

    def views(self) -> list[PlotPane]:
        """Return the views in the order of groups and tabs."""
        return [view for group in self.groups() for view in group.views()]

    def seen(self) -> list[PlotPane]:
        """Return the views that are in front of their groups."""
        return [group.front() for group in self.groups() if group.views()]

    def is_apart(self, view: PlotPane) -> bool:
        """Whether a view is in a window of its own."""
        return any(view in window.group.views() for window in self._apart)

    def _window_of(self, group: ViewGroup) -> ApartWindow | None:
        """Return the window that a group has for itself; None in the main window."""
        return next((window for window in self._apart if window.group is group), None)

    def can_go_apart(self, view: PlotPane) -> bool:
        """Whether a view can be taken out of the main window: another one stays there."""
        return not self.is_apart(view) and sum(len(group.views()) for group in _groups_below(self._root)) > 1

    @property
    def is_full(self) -> bool:
        """Whether there are as many views as may be."""
        return len(self.views()) >= LIMITS.views

    def _group_of(self, view: PlotPane) -> ViewGroup:
        return next(group for group in self.groups() if view in group.views())

    @staticmethod
    def _group_in(node: QWidget) -> ViewGroup:
        return next(_groups_below(node))

    # The active view

    def activate(self, view: PlotPane) -> None:
        """Let commands act on a view, and bring it to the front."""
        if view not in self.views():
            # It was closed a moment ago.
            return
        self._group_of(view).bring_forward(view)
        if view is self.active:
            return
        self.active = view
        self._show_titles()
        self.activeChanged.emit(view)

    def step(self, by: int) -> None:
        """Activate the view so many places on, with the keyboard in it."""
        views = self.views()
        view = views[(views.index(self.active) + by) % len(views)]
        self.activate(view)
        view.window().activateWindow()
        view.page().setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _focus_changed(self, _old: QWidget | None, now: QWidget | None) -> None:
        view = _view_around(now)
        if view is not None and view is not self.active and view in self.views():
            self.activate(view)

    # Making and closing

    def open(self, side: Side = Side.TAB) -> PlotPane:
        """Make a view beside the active one, or as a tab behind it; it is active, and shows nothing yet."""
        view, group = PlotPane(), self._group_of(self.active)
        self._connect(view)
        if side is Side.TAB:
            group.insert(view, group.views().index(self.active) + 1)
        else:
            beside = self._new_group()
            beside.insert(view)
            self._put_beside(group, beside, side)
        self.made.emit(view)
        self._changed()
        self.activate(view)
        return view

    def show_three(self) -> None:
        """Show the slices across that of the active view: beside it, and below where there is room."""
        first = self.active
        right = self.open(Side.RIGHT)
        self.activate(first)
        is_high = self._group_of(first).height() >= _TWO_HIGH
        below = self.open(Side.BELOW if is_high else Side.RIGHT)
        self.activate(first)
        if not is_high:
            self._share_out(self._group_of(first).parentWidget())
        self.crossing.begin(first, (right, below))

    @staticmethod
    def _share_out(splitter: QWidget | None) -> None:
        """Give all parts of a splitter the same room."""
        if isinstance(splitter, QSplitter):
            splitter.setSizes([max(1, sum(splitter.sizes()) // splitter.count())] * splitter.count())

    def end_three(self) -> None:
        """Show one slice again: that of the active view, where it is one of the three."""
        views = self.crossing.views
        kept = self.active if self.active in views else views[0]
        self.crossing.end()
        for view in views:
            if view is not kept:
                self.close_view(view)

    def close_view(self, view: PlotPane) -> None:
        """Close a view; the only one shows nothing from then on."""
        view.clear()
        if len(self.views()) == 1:
            return
        if not self.is_apart(view) and not self.can_go_apart(view):
            # The main window is never without any.
            self.put_back(self._apart[0].group.front())
        if view is self.active:
            self.activate(self._next_to(view))
        self.closing.emit(view)
        self._take_out(view)
        view.setParent(None)
        view.deleteLater()
        self._changed()

    def close_others(self, kept: PlotPane) -> None:
        """Close all views but one."""
        if self.is_apart(kept):
            self.put_back(kept)
        for view in self.views():
            if view is not kept:
                self.close_view(view)

    def _next_to(self, view: PlotPane) -> PlotPane:
        """Return the view that is active when one goes: its neighbour in the group, else the one before."""
        group, views = self._group_of(view), self.views()
        own = group.views()
        if len(own) > 1:
            at = own.index(view)
            return own[at + 1] if at + 1 < len(own) else own[at - 1]
        return views[views.index(view) - 1]

    def _connect(self, view: PlotPane) -> None:
        view.arrayChanged.connect(self._title_soon.start)
        view.used.connect(lambda: self.activate(view))
        self.links.watch(view)
        self.crossing.watch(view)

    # Moving

    def move_view(self, view: PlotPane, group: ViewGroup, side: Side, place: int | None = None) -> None:
        """Move a view to a place among the tabs of a group, or beside that group."""
        own = self._group_of(view)
        goes_apart = self._window_of(group) is not None and not self.is_apart(view)
        if goes_apart and not self.can_go_apart(view):
            return
        if own is group and len(own.views()) == 1:
            return
        if side is Side.TAB:
            at = len(group.views()) if place is None else place
            if own is group and own.views().index(view) < at:
                at -= 1
            self._take_out(view)
            group.insert(view, min(at, len(group.views())))
        else:
            beside = self._new_group()
            self._put_beside(group, beside, side)
            self._take_out(view)
            beside.insert(view)
        self._changed()
        self.activate(view)

    def move_on(self, by: int) -> None:
        """Move the active view to the next group, or the one before; beside its own where there is none."""
        groups, own = self.groups(), self._group_of(self.active)
        to = groups.index(own) + by
        if 0 <= to < len(groups):
            self.move_view(self.active, groups[to], Side.TAB)
        elif len(own.views()) > 1 and not self.is_apart(self.active):
            self.move_view(self.active, own, Side.RIGHT if by > 0 else Side.LEFT)

    def set_apart(self, view: PlotPane, place: QRect | None = None) -> None:
        """Put a view into a window of its own, which lies at a place of the screen."""
        where = place or QRect(view.mapToGlobal(QPoint(40, 40)), view.size())
        group = self._new_group()
        self._take_out(view)
        group.insert(view)
        self._open_apart(group, where)
        self._changed()
        self.activate(view)

    def put_back(self, view: PlotPane) -> None:
        """Put a view back into the main window, as a tab."""
        self.move_view(view, self._group_in(self._root), Side.TAB)

    def _open_apart(self, group: ViewGroup, place: QRect) -> None:
        window = ApartWindow(group, self.window())
        window.closed.connect(self._apart_closed)
        self._apart.append(window)
        window.place_beside(place)
        self.apartMade.emit(window)
        window.show()

    def _apart_closed(self, window: ApartWindow) -> None:
        if window in self._apart:
            for view in window.group.views():
                self.close_view(view)

    def _take_out(self, view: PlotPane) -> None:
        """Take a view out of its group; a group without any goes, and so does its window."""
        group = self._group_of(view)
        group.take(view)
        if group.views():
            return
        window = self._window_of(group)
        if window is not None:
            self._apart.remove(window)
            window.hide()
            window.deleteLater()
        else:
            self._remove(group)

    # Splitting

    def _new_group(self) -> ViewGroup:
        group = ViewGroup()
        group.chosen.connect(self._tab_chosen)
        group.closeWanted.connect(self.close_view)
        group.menuWanted.connect(self._menu_wanted)
        group.dragged.connect(self._dragged)
        group.dropped.connect(self._dropped)
        group.dragEnded.connect(self._hide_drop)
        return group

    def _put_beside(self, group: ViewGroup, beside: QWidget, side: Side) -> None:
        """Give another group its share of the room, taken from all that are in the same row or column."""
        orientation = Qt.Orientation.Horizontal if side.is_across else Qt.Orientation.Vertical
        window = self._window_of(group)
        if window is not None:
            # A window of its own has one group: the other gets one, too.
            assert isinstance(beside, ViewGroup)
            self._open_apart(beside, window.geometry().translated(60, 40))
            return
        above = group.parentWidget()
        if not isinstance(above, QSplitter) or above.orientation() != orientation:
            above = self._splitter_around(group, orientation)
        at, sizes = above.indexOf(group), above.sizes()
        above.insertWidget(at if side.is_first else at + 1, beside)
        total, share = sum(sizes), sum(sizes) // (len(sizes) + 1)
        sizes = [size * (total - share) // max(1, total) for size in sizes]
        sizes.insert(at if side.is_first else at + 1, share)
        above.setSizes(sizes)
        beside.show()

    def _splitter_around(self, node: QWidget, orientation: Qt.Orientation) -> QSplitter:
        above, size = node.parentWidget(), node.size()
        splitter = _new_splitter(orientation)
        if isinstance(above, QSplitter):
            # Not by `replaceWidget`: what it returns dies with the name that holds it.
            sizes = above.sizes()
            above.insertWidget(above.indexOf(node), splitter)
            splitter.addWidget(node)
            above.setSizes(sizes)
        else:
            self._set_root(splitter)
            splitter.addWidget(node)
        node.show()
        splitter.resize(size)
        splitter.show()
        return splitter

    def _set_root(self, node: QWidget) -> None:
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.removeWidget(self._root)
        self._root = node
        layout.addWidget(node)

    def _remove(self, group: ViewGroup) -> None:
        """Remove an empty group; a splitter with one part left is replaced by it."""
        splitter = group.parentWidget()
        group.hide()
        group.setParent(None)
        group.deleteLater()
        if not isinstance(splitter, QSplitter) or splitter.count() != 1:
            return
        left, above = _parts(splitter)[0], splitter.parentWidget()
        if isinstance(above, QSplitter):
            sizes = above.sizes()
            above.insertWidget(above.indexOf(splitter), left)
            splitter.setParent(None)
            above.setSizes(sizes)
        else:
            self._set_root(left)
            splitter.setParent(None)
        left.show()
        splitter.deleteLater()

    # Tabs

    def _tab_chosen(self, view: PlotPane) -> None:
        self.activate(view)

    def _menu_wanted(self, view: PlotPane, place: QPoint) -> None:
        self.activate(view)
        self.menuWanted.emit(view, place)

    def _changed(self) -> None:
        self._show_titles()
        self.rearranged.emit()

    def _show_titles(self) -> None:
        """Name each view on its tab, where there are several; with one view the window has none."""
        self._title_soon.stop()
        views = self.views()
        names = {view: _name(view) for view in views}
        is_several = len(views) > 1
        for group in self.groups():
            titles = []
            for view in group.views() if is_several else ():
                alike = [each for each in views if names[each] == names[view]]
                is_same = len({id(each.source()) for each in alike}) == 1
                document = _document(view)
                named = names[view] if is_same or not document else f"{names[view]} · {document}"
                titles.append((named, _tip(view)))
            group.show_tabs(titles, self.active, are_linked=self.links.is_on)
            group.tabs.restyle()
        for view in views:
            view.set_among_others(is_several)
        for window in self._apart:
            window.setWindowTitle(f"{names[window.group.front()]} - refbrowser")

    # Dragging

    def _dragged(self, _view: PlotPane, place: QPoint) -> None:
        for group in self.groups():
            found = group.place_of_drop(place) if self._is_hit(group, place) else None
            group.show_drop(None if found is None else found[0])

    def _dropped(self, view: PlotPane, place: QPoint) -> None:
        self._hide_drop()
        for group in self.groups():
            found = group.place_of_drop(place) if self._is_hit(group, place) else None
            if found is not None:
                self.move_view(view, group, *found)
                return
        if not any(window.frameGeometry().contains(place) for window in (self.window(), *self._apart)):
            if self.is_apart(view) and len(self._group_of(view).views()) == 1:
                view.window().move(place - QPoint(60, 12))
            elif self.is_apart(view) or self.can_go_apart(view):
                self.set_apart(view, QRect(place - QPoint(60, 12), view.size()))

    def _is_hit(self, group: ViewGroup, place: QPoint) -> bool:
        """Whether a group is under a place, and no other window of views over it."""
        own = self._window_of(group)
        over = self._apart if own is None else self._apart[self._apart.index(own) + 1 :]
        return not any(window.frameGeometry().contains(place) for window in over)

    def _hide_drop(self) -> None:
        for group in self.groups():
            group.show_drop(None)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_title_soon"):
            self._title_soon.start()

    # As a value

    def arrangement_state(self) -> Arrangement:
        """Return how the views are arranged; they are numbered in the order of `views`."""
        numbers = {view: number for number, view in enumerate(self.views())}
        apart = []
        for window in self._apart:
            place = window.geometry()
            apart.append(
                Apart(
                    _tabs_value(window.group, numbers),
                    (place.left(), place.top(), place.width(), place.height()),
                )
            )
        linked = frozenset(str(link) for link in self.links.linked)
        crossing = tuple(numbers[view] for view in self.crossing.views)
        return Arrangement(_value(self._root, numbers), tuple(apart), numbers[self.active], linked, crossing)

    def restore(self, arrangement: Arrangement) -> list[PlotPane]:
        """Arrange as many views as a value has, and return them by their numbers; they show nothing."""
        self.close_others(self.active)
        first = self.active
        first.clear()
        views = [first]
        for _number in range(1, arrangement.count):
            view = PlotPane()
            self._connect(view)
            views.append(view)
        group = self._group_of(first)
        group.take(first)
        self._remove(group)
        self._set_root(self._node_of(arrangement.root, views))
        for each in arrangement.apart:
            self._open_apart(self._group_with(each.tabs, views), QRect(*each.place))
        for view in views[1:]:
            self.made.emit(view)
        self._changed()
        self.activate(views[arrangement.active])
        if arrangement.crossing:
            self.crossing.take(tuple(views[number] for number in arrangement.crossing))
        self.links.set_linked(frozenset(link for link in Link if link in arrangement.linked))
        return views

    def _node_of(self, node: Tabs | Split, views: list[PlotPane]) -> QWidget:
        if isinstance(node, Tabs):
            return self._group_with(node, views)
        splitter = _new_splitter(Qt.Orientation.Horizontal if node.is_across else Qt.Orientation.Vertical)
        for part in node.parts:
            splitter.addWidget(self._node_of(part, views))
        total = sum(node.shares)
        # Any room that is not known yet is shared out in these parts.
        splitter.setSizes([max(1, round(10_000 * share / total)) for share in node.shares])
        return splitter

    def _group_with(self, tabs: Tabs, views: list[PlotPane]) -> ViewGroup:
        group = self._new_group()
        for number in tabs.views:
            group.insert(views[number])
        group.bring_forward(views[tabs.front])
        return group


def _new_splitter(orientation: Qt.Orientation) -> QSplitter:
    splitter = QSplitter(orientation)
    splitter.setObjectName("viewSplitter")
    splitter.setChildrenCollapsible(False)
    return splitter


def _groups_below(node: QWidget) -> Iterator[ViewGroup]:
    if isinstance(node, ViewGroup):
        yield node
    elif isinstance(node, QSplitter):
        for part in _parts(node):
            yield from _groups_below(part)


def _parts(splitter: QSplitter) -> list[QWidget]:
    found = (splitter.widget(at) for at in range(splitter.count()))
    return [part for part in found if part is not None]


def _view_around(widget: QWidget | None) -> PlotPane | None:
    while widget is not None and not isinstance(widget, PlotPane):
        widget = widget.parentWidget()
    return widget


def _value(node: QWidget, numbers: dict[PlotPane, int]) -> Tabs | Split:
    if isinstance(node, ViewGroup):
        return _tabs_value(node, numbers)
    assert isinstance(node, QSplitter)
    parts = tuple(_value(part, numbers) for part in _parts(node))
    return Split(
        node.orientation() == Qt.Orientation.Horizontal, parts, tuple(max(1.0, size) for size in node.sizes())
    )


def _tabs_value(group: ViewGroup, numbers: dict[PlotPane, int]) -> Tabs:
    return Tabs(tuple(numbers[view] for view in group.views()), numbers[group.front()])


def _name(view: PlotPane) -> str:
    node = view.whole()
    return "Nothing plotted" if node is None else one_line(node.name or node.path)


def _document(view: PlotPane) -> str:
    return one_line(getattr(view.source(), "title", "") or "")


def _tip(view: PlotPane) -> str:
    node = view.whole()
    return "" if node is None else f"{_document(view)}\n{one_line(node.path)}"
