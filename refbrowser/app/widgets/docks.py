"""The docks around the centre: which there are, where they begin, and their titles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QTabBar,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import framed, hint_label, one_shot
from refbrowser.tools.registry import BUILT_IN
from refbrowser.tools.tool import Dock, Tool


def dock_name(tool: Tool, dock: Dock) -> str:
    """Return the object name of a dock of a tool."""
    return f"{dock.name or tool.name}Dock"


def dock_title(dock: Dock) -> str:
    """Return what the tab of a dock of a tool says."""
    return dock.title.replace("&", "")


_Area = Qt.DockWidgetArea
_LEFT, _RIGHT = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
_BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea
#: Object name, title, area, and the words while there is nothing to show; in the order of their placing.
_OWN = (
    (
        "hierarchyDock",
        "Hierarchy",
        _LEFT,
        "Opened documents appear here, with their groups, arrays and rules.",
    ),
    (
        "attributesDock",
        "Attributes",
        _RIGHT,
        "Attributes and metadata of what is selected in the hierarchy appear here.",
    ),
    (
        "editorDock",
        "Editor",
        _RIGHT,
        "Select a key in References, or an entry of the hierarchy that can be edited, to edit it here.",
    ),
    ("historyDock", "History", _RIGHT, "The edits of the current document appear here."),
    ("chunkMapDock", "Chunk map", _BOTTOM, "The chunks of the selected array appear here."),
    (
        "previewDock",
        "Preview",
        _BOTTOM,
        "The references that an edit would give appear here before it is applied.",
    ),
    ("problemsDock", "Problems", _BOTTOM, "Faults and warnings of the document appear here."),
    ("searchDock", "Search", _BOTTOM, "What is found in the texts of documents appears here."),
    ("jobsDock", "Jobs", _BOTTOM, "Nothing is running. Reading, plotting and exporting show here."),
)


def _with_tools() -> tuple[tuple[str, str, _Area, str], ...]:
    """Return our docks with those of our tools, each behind the one that it names, in its area."""
    docks = list(_OWN)
    for tool in BUILT_IN:
        for dock in tool.docks:
            names = [name for name, *_ in docks]
            at = names.index(f"{dock.after}Dock") if dock.after else len(docks) - 1
            docks.insert(at + 1, (dock_name(tool, dock), dock_title(dock), docks[at][2], dock.hint))
    return tuple(docks)


#: Those of the window and of our tools.
DOCKS = _with_tools()
#: Docks at a side whose contents are cut in a narrow one, the width that they need, in digits of the window's
#: font, and the part of the window that they are given for it at most.
FORMS, FORM_DIGITS, FORM_MOST = ("editorDock", "explainDock"), 43, 0.3
#: Docks that share one place as tabs; the first is in front.
TABBED = (
    ("attributesDock", "explainDock"),
    ("editorDock", "historyDock"),
    tuple(name for name, _title, area, _hint in DOCKS if area is _BOTTOM),
)
#: Docks whose panes are made when they are first seen: until then they show their words.
LATE = ("byteMapDock", "costDock")
#: Windows that are at least so high show attributes and editor above each other, lower ones as tabs; in these
#: the bottom is folded to its tabs at first.
STACKED = 1000
#: Windows that are at least so wide have docks at both sides at first, narrower ones at the left only.
BOTH_SIDES = 1100
#: A dock can be made so narrow and low, in pixels; what does not fit then is cut, wrapped or scrolled.
LEAST = (150, 84)
#: The docks at the sides, and those above and below, take so much of a window that becomes smaller at most.
SIDES_MOST, BOTTOM_MOST = 0.48, 0.4
#: Qt gives a dock so many pixels more or less than it was told, at most.
_ROUNDED = 3
#: The largest size of a widget, in pixels: Qt's own constant has no name in Python.
_NO_LIMIT = (1 << 24) - 1


def hint_of(name: str) -> str:
    """Return the words of a dock that has nothing to show yet."""
    return next(hint for dock, _title, _area, hint in DOCKS if dock == name)


class Docks(QObject):
    """The docks of one window.

    Signals
    -------
    folded()
        The docks at the bottom were folded to their tabs, or unfolded.
    """

    folded = Signal()

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        #: What a dock wants of the window, and what it was given of that, in pixels.
        self._wanted: dict[QDockWidget, tuple[int, int]] = {}
        #: The part of the window that docks had together when they had what they want.
        self._parts: dict[Qt.Orientation, float] = {}
        #: The width of the window for which forms were given theirs; what the user makes of it stays.
        self._formed = 0
        self._titles = one_shot(window, 0, self._show_titles)
        #: Whether nothing but tabs is seen of the bottom, and how high it is otherwise.
        self.is_folded, self._unfolded = False, 0
        self._followers: list[tuple[str, Callable[[bool], None]]] = []
        self._sight = one_shot(window, 0, self._tell_sight)
        self._fold_soon = one_shot(window, 0, lambda: self.fold(is_folded=True))
        self._docks = {name: self._make(name, title, hint) for name, title, _area, hint in DOCKS}
        # The right side keeps its whole height for the editor; the bottom lies under tree and centre.
        window.setCorner(Qt.Corner.BottomRightCorner, _RIGHT)
        window.setCorner(Qt.Corner.BottomLeftCorner, _LEFT)
        window.setDockOptions(
            QMainWindow.DockOption.AnimatedDocks
            | QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.GroupedDragging
        )
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)

    def __getitem__(self, name: str) -> QDockWidget:
        return self._docks[name]

    def all(self) -> list[QDockWidget]:
        """Return the docks in their order."""
        return list(self._docks.values())

    def add(self, name: str, title: str, hint: str) -> QDockWidget:
        """Add a dock of another package behind the others at the bottom; it is not in front."""
        dock = self._docks[name] = self._make(name, title, hint)
        self._put_beside(name, _BOTTOM, TABBED[-1])
        self._hold_heights()
        return dock

    def reset(self) -> None:
        """Put every dock where it begins."""
        right, editors, bottom = TABBED
        is_low, is_narrow = self._window.height() < STACKED, self._window.width() < BOTH_SIDES
        groups = (right + editors, bottom) if is_low or is_narrow else (right, editors, bottom)
        first = {behind: group[0] for group in groups for behind in group[1:]}
        self.fold(is_folded=is_low)
        self._unfolded = self._formed = 0
        for name, _title, area, _hint in DOCKS:
            dock = self._docks[name]
            dock.setFloating(False)
            self._window.addDockWidget(_LEFT if is_narrow and area is _RIGHT else area, dock)
            dock.show()
            # At once: out of several that stand side by side Qt makes a second tab bar, which stays.
            if name in first:
                self._window.tabifyDockWidget(self._docks[first[name]], dock)
        for group in groups:
            self._docks[group[0]].raise_()
        self._show_titles()

    def place_new(self) -> None:
        """Put docks that a layout kept earlier does not know beside those that they share a place with."""
        for name, _title, area, _hint in DOCKS:
            dock = self._docks[name]
            if dock.isFloating() or self._window.dockWidgetArea(dock) != _Area.NoDockWidgetArea:
                continue
            self._put_beside(name, area, next((group for group in TABBED if name in group), (name,)))

    def _put_beside(self, name: str, area: _Area, group: Sequence[str]) -> None:
        """Put a dock into the tabs of its group, where one of these is seen; what is in front stays there."""
        dock, others = self._docks[name], [self._docks[each] for each in group if each != name]
        beside = next((each for each in others if not each.isFloating() and not each.isHidden()), None)
        front = None if beside is None else self._in_front(beside.objectName())
        self._window.addDockWidget(area, dock)
        if beside is not None and front is not None:
            self._window.tabifyDockWidget(beside, dock)
            front.raise_()

    def share_out(self) -> None:
        """Give the docks their first sizes; the window must have its size for that."""
        width, height = self._window.width(), self._window.height()
        tree, attributes, editor = (
            self._docks[f"{name}Dock"] for name in ("hierarchy", "attributes", "editor")
        )
        across, upwards = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        if self._window.dockWidgetArea(attributes) == _LEFT:
            self._window.resizeDocks([tree], [max(200, round(width * 0.26))], across)
            self._window.resizeDocks([tree, attributes], [round(height * 0.45)] * 2, upwards)
        else:
            # Narrow and low: the plot has the room.
            widths = [max(180, round(width * 0.148)), max(240, round(width * 0.195))]
            part = min(1.0, width * SIDES_MOST / sum(widths))
            self._wanted |= {
                dock: (round(each * part), round(each * part))
                for dock, each in zip((tree, attributes), widths, strict=True)
            }
            self._window.resizeDocks([tree, attributes], [round(each * part) for each in widths], across)
            self._window.resizeDocks(
                [attributes, editor], [round(height * 0.38), round(height * 0.5)], upwards
            )
        if not self.is_folded:
            self._window.resizeDocks([self._docks[TABBED[2][0]]], [self._low()], upwards)
        self._hide_stray_bars()

    def fold(self, *, is_folded: bool) -> None:
        """Show nothing but their tabs of the docks at the bottom, or show them again."""
        if is_folded == self.is_folded:
            return
        seen = self._seen_in(_BOTTOM)
        if is_folded and seen is not None:
            self._unfolded = seen.height() + self._tabs_over(seen)
        self.is_folded = is_folded
        self._hold_heights()
        if not is_folded:
            front = next((dock for dock in self._at_bottom() if not dock.visibleRegion().isEmpty()), None)
            lower = [front] if front is not None else self._at_bottom()[:1]
            self._window.resizeDocks(
                lower, [self._unfolded or self._low()] * len(lower), Qt.Orientation.Vertical
            )
        self._sight.start()
        self.folded.emit()

    def look(self) -> list[int]:
        """Return how the docks look, and what each wants of the window, for `set_look`."""
        wishes = (self._wanted.get(dock, (0, 0)) for dock in self._kept())
        look = [int(self.is_folded), self._unfolded, self._formed]
        return [*look, *(size for wish in wishes for size in wish)]

    def set_look(self, look: Sequence[int]) -> None:
        """Look so again."""
        if len(look) != 3 + 2 * len(self._kept()):
            return
        self._wanted = {
            dock: (wanted, given)
            for dock, wanted, given in zip(self._kept(), look[3::2], look[4::2], strict=True)
            if wanted > 0
        }
        self.fold(is_folded=look[0] == 1)
        self._unfolded, self._formed = max(0, look[1]), look[2]

    def _kept(self) -> list[QDockWidget]:
        """Return the docks whose wishes are kept: not those of other packages, which may be gone."""
        return [self._docks[name] for name, *_ in DOCKS]

    def _tabs_over(self, dock: QDockWidget) -> int:
        """Return the height of the tabs over a dock, which Qt counts to what it is told to give it."""
        title = dock.windowTitle()
        bars = (bar for bar in self._bars() if bar.isVisible())
        over = (bar for bar in bars if title in {bar.tabText(at) for at in range(bar.count())})
        return next((bar.height() for bar in over), 0)

    def _low(self) -> int:
        """Return the first height of the bottom."""
        return max(150, round(self._window.height() * 0.22))

    def _at_bottom(self) -> list[QDockWidget]:
        """Return the docks of the group at the bottom that still are there."""
        own = {name for name, *_ in DOCKS} - set(TABBED[2])
        docks = (dock for name, dock in self._docks.items() if name not in own)
        return [
            dock for dock in docks if not dock.isFloating() and self._window.dockWidgetArea(dock) == _BOTTOM
        ]

    def _hold_heights(self) -> None:
        """Let the docks at the bottom have no height while they are folded; elsewhere each has its own."""
        folded = self._at_bottom() if self.is_folded else []
        for dock in self._docks.values():
            frame, is_folded = dock.widget(), dock in folded
            frame.setMinimumHeight(0 if is_folded else LEAST[1])
            frame.setMaximumHeight(0 if is_folded else _NO_LIMIT)

    def _tab_clicked(self, bar: QTabBar, number: int) -> None:
        """Show what is folded where one of its tabs is clicked."""
        titles = {dock.windowTitle() for dock in self._at_bottom()}
        if self.is_folded and number >= 0 and bar.tabText(number) in titles:
            self.fold(is_folded=False)

    def _tab_double_clicked(self, bar: QTabBar, number: int) -> None:
        """Fold the docks one of whose tabs is clicked twice."""
        titles = {dock.windowTitle() for dock in self._at_bottom()}
        if number >= 0 and bar.tabText(number) in titles:
            # Qt tells a click after the second one, too, which would unfold them.
            self._fold_soon.start()

    def _tell_sight(self) -> None:
        for name, tell in self._followers:
            tell(self.is_seen(name))

    def fit(self, before: QSize) -> None:
        """Leave the centre its part of a window of another size; the docks grow again with the window.

        Where the user gave the docks a larger part when the window had the size `before`, they keep that.
        """
        now = self._window.size()
        across, upwards = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self._fit((_LEFT, _RIGHT), across, SIDES_MOST, before.width(), now.width())
        self._fit((_Area.TopDockWidgetArea, _BOTTOM), upwards, BOTTOM_MOST, before.height(), now.height())

    def _fit(
        self, areas: tuple[_Area, _Area], along: Qt.Orientation, most: float, before: int, now: int
    ) -> None:
        """Give docks of two areas, one of each, this part of the window together at most."""
        docks = [dock for area in areas if (dock := self._seen_in(area)) is not None]
        sizes = [_size(dock, along) for dock in docks]
        for dock, size in zip(docks, sizes, strict=True):
            wanted, given = self._wanted.get(dock, (0, 0))
            # Of another size than it was given, but for what Qt rounds, or takes where the centre has no more
            # to give, it was drawn by the user.
            is_squeezed = size < given and self._is_centre_least(along)
            self._wanted[dock] = (wanted if abs(size - given) <= _ROUNDED or is_squeezed else size, given)
        wishes = [self._wanted[dock][0] for dock in docks]
        if wishes == sizes:
            self._parts[along] = sum(wishes) / max(1, before)
        part = min(1.0, max(most, self._parts.get(along, 0.0)) * now / max(1, sum(wishes)))
        # No less than they take: what is more than they were given counts as drawn by the user.
        least = LEAST[0] if along is Qt.Orientation.Horizontal else LEAST[1]
        targets = [max(least, round(wish * part)) for wish in wishes]
        if targets != sizes:
            self._window.resizeDocks(docks, targets, along)
        for dock, wish, target in zip(docks, wishes, targets, strict=True):
            self._wanted[dock] = (wish, target)

    def _is_centre_least(self, along: Qt.Orientation) -> bool:
        centre = self._window.centralWidget()
        if centre is None:
            return False
        room = centre.size() - centre.minimumSize()
        return (room.width() if along is Qt.Orientation.Horizontal else room.height()) <= _ROUNDED

    def _seen_in(self, area: _Area) -> QDockWidget | None:
        """Return the dock of an area that is seen; one of several, and none that floats."""
        for dock in self._docks.values():
            is_there = self._window.dockWidgetArea(dock) == area and not dock.isFloating()
            if is_there and not dock.visibleRegion().isEmpty():
                return dock
        return None

    def _bars(self) -> list[QTabBar]:
        """Return the bars of tabs that Qt made for docks."""
        return self._window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)

    def _hide_stray_bars(self) -> None:
        """Hide bars of tabs that Qt made while docks were put together one by one, and forgot."""
        bars = self._bars()
        used = set()
        for dock in self._docks.values():
            others = self._window.tabifiedDockWidgets(dock)
            titles = {dock.windowTitle(), *(each.windowTitle() for each in others)}
            alike = [bar for bar in bars if titles == {bar.tabText(at) for at in range(bar.count())}]
            is_front = all(each.visibleRegion().isEmpty() for each in others)
            if alike and others and is_front and not dock.isFloating():
                # Of several with these tabs it is the one beside the dock.
                where = dock.geometry().topLeft()
                used.add(min(alike, key=lambda bar: (bar.geometry().bottomLeft() - where).manhattanLength()))
        for bar in bars:
            bar.setVisible(bar in used)

    def show_before(self, name: str, other: str) -> None:
        """Bring a dock to the front where it shares its place with `other`; nothing is moved."""
        if self._docks[other] in self._window.tabifiedDockWidgets(self._docks[name]):
            self._give_width(name)
            self._docks[name].raise_()

    def _give_width(self, name: str) -> None:
        """Make the place of a form that is brought to the front so wide that it is not cut.

        Once for each width of the window: then nothing moves from one click to the next, and what the user
        makes wider or narrower stays.
        """
        whole, shown = self._window.width(), self._in_front(name)
        if name not in FORMS or shown.isFloating() or whole == self._formed:
            return
        self._formed = whole
        needed = FORM_DIGITS * self._window.fontMetrics().horizontalAdvance("0")
        width = min(needed, round(whole * FORM_MOST))
        if shown.width() < width:
            self._window.resizeDocks([shown], [width], Qt.Orientation.Horizontal)

    def show_instead(self, name: str, other: str) -> None:
        """Bring a dock to the front where `other` is the one that is seen in their place."""
        if self.is_seen(other):
            self.show_before(name, other)

    def raise_(self, name: str) -> None:
        """Bring a dock to the front; it is not left folded."""
        if self._docks[name] in self._at_bottom():
            self.fold(is_folded=False)
        self._docks[name].show()
        self._give_width(name)
        self._docks[name].raise_()

    def is_seen(self, name: str) -> bool:
        """Tell whether a dock is in sight: behind a tab, to Qt, it is visible."""
        return not self._docks[name].visibleRegion().isEmpty()

    def follow_sight(self, name: str, tell: Callable[[bool], None]) -> None:
        """Tell whether a dock is in sight, now and when that changes."""
        self._followers.append((name, tell))
        self._docks[name].visibilityChanged.connect(
            lambda is_front: tell(is_front and self._docks[name].widget().maximumHeight() > 0)
        )
        tell(self.is_seen(name))

    def raise_with_height(self, name: str, least: int) -> tuple[int, int] | None:
        """Bring a dock to the front, its place at least so high, but no higher than half of the window.

        Returns its height before, and the one that it was asked to have; None where it stays. The height
        before of docks that were folded is the one that they have without this: nobody saw it yet.
        """
        height = min(least, self._window.height() // 2)
        before = self._in_front(name).height()
        if self.is_folded and self._docks[name] in self._at_bottom():
            before = (self._unfolded or self._low()) - self._tabs_over(self._docks[name])
        self.raise_(name)
        shown = self._in_front(name)
        if shown.isFloating() or before >= height:
            return None
        self._window.resizeDocks([shown], [height], Qt.Orientation.Vertical)
        return before, height

    def give_back(self, name: str, heights: tuple[int, int], given: int) -> None:
        """Give the place of a dock the height before `raise_with_height`, unless somebody changed it since.

        What it was asked to have is that of its tabs as well.
        """
        shown, (before, asked) = self._in_front(name), heights
        if shown.height() == given:
            self._window.resizeDocks([shown], [before + asked - given], Qt.Orientation.Vertical)

    def _in_front(self, name: str) -> QDockWidget:
        """Return the dock that is seen where a dock has its tab."""
        dock = self._docks[name]
        beside = self._window.tabifiedDockWidgets(dock)
        return next((each for each in (dock, *beside) if not each.visibleRegion().isEmpty()), dock)

    def fill(self, contents: Mapping[str, QWidget]) -> None:
        """Put the panes in the place of the words."""
        for name, content in contents.items():
            frame = self._docks[name].widget()
            layout, words = frame.layout(), frame.findChild(QLabel)
            if layout is not None and words is not None:
                layout.removeWidget(words)
                words.deleteLater()
                pane = framed(content)
                layout.addWidget(pane)
                # A layout shows what it is given in a later turn. A window that becomes active before would
                # find nothing to be seen where the keyboard is to go, and give it to the status bar.
                pane.show()

    def _make(self, name: str, title: str, hint: str) -> QDockWidget:
        dock = QDockWidget(title, self._window)
        dock.setObjectName(name)
        dock.setAccessibleName(title)
        frame = QFrame()
        frame.setProperty("role", "pane")
        frame.setMinimumSize(*LEAST)
        dock.setTitleBarWidget(QWidget(dock))
        for changed in (dock.topLevelChanged, dock.dockLocationChanged, dock.visibilityChanged):
            changed.connect(lambda *_: self._titles.start())
        layout = QVBoxLayout(frame)
        layout.setContentsMargins(theme.SMALL, theme.SMALL, theme.SMALL, theme.SMALL)
        # A dock that is behind another one is not seen before its pane is there.
        is_behind = any(name in group[1:] for group in TABBED) or name == "editorDock"
        layout.addWidget(QLabel() if is_behind and name not in LATE else hint_label(hint))
        dock.setWidget(frame)
        return dock

    def _show_titles(self) -> None:
        """Give each dock a title, but none where it has a tab: the tab says it."""
        for dock in self._docks.values():
            tabbed = not dock.isFloating() and bool(self._window.tabifiedDockWidgets(dock))
            if tabbed == isinstance(dock.titleBarWidget(), _Title):
                dock.titleBarWidget().deleteLater()
                dock.setTitleBarWidget(QWidget(dock) if tabbed else _Title(dock))
        # One that was dragged away from the bottom is not folded.
        self._hold_heights()
        for bar in self._bars():
            if bar.objectName() == "dockTabs":
                continue
            # Qt makes these bars, which the keyboard could not reach, and would cut the names on them.
            bar.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            bar.setElideMode(Qt.TextElideMode.ElideNone)
            bar.setUsesScrollButtons(True)
            bar.setObjectName("dockTabs")
            bar.setAccessibleName("Docks in this place")
            bar.tabBarClicked.connect(partial(self._tab_clicked, bar))
            bar.tabBarDoubleClicked.connect(partial(self._tab_double_clicked, bar))
        self._hide_stray_bars()


def _size(dock: QDockWidget, along: Qt.Orientation) -> int:
    return dock.width() if along is Qt.Orientation.Horizontal else dock.height()


class _Title(QWidget):
    """The line over a dock: its name, and how to hide it. Dragging it moves the dock."""

    def __init__(self, dock: QDockWidget) -> None:
        super().__init__(dock)
        title = dock.windowTitle()
        self._close = QToolButton()
        self._close.setObjectName(f"{dock.objectName()}Close")
        self._close.setAccessibleName(f"Hide {title}")
        self._close.setToolTip(f"Hide {title} (View brings it back)")
        self._close.setAutoRaise(True)
        self._close.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._close.setText("×")
        self._close.clicked.connect(dock.close)
        self._name = QLabel(title)
        self._name.setProperty("role", "paneTitle")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.MEDIUM, 2, 2, 2)
        layout.addWidget(self._name, 1)
        layout.addWidget(self._close)
