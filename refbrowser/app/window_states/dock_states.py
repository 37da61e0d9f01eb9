"""Where the docks of a window are, told as values and put back: no bytes of Qt come from a file of others."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar

from refbrowser.app.widgets.docks import Docks
from refbrowser.views.window_states.window_state import DockState

_Area = Qt.DockWidgetArea
_AREAS = {
    "left": _Area.LeftDockWidgetArea,
    "right": _Area.RightDockWidgetArea,
    "top": _Area.TopDockWidgetArea,
    "bottom": _Area.BottomDockWidgetArea,
}


def dock_states(window: QMainWindow, docks: Docks) -> tuple[DockState, ...]:
    """Return where all docks are, from left to right and from the top down."""
    order = {dock: number for number, dock in enumerate(docks.all())}
    groups = []
    for dock in docks.all():
        group = sorted([dock, *window.tabifiedDockWidgets(dock)], key=order.__getitem__)
        if group[0] is dock:
            front = next((each for each in group if not each.visibleRegion().isEmpty()), dock)
            groups.append((front.x(), front.y(), order[dock], group))
    groups.sort(key=lambda each: each[:3])
    return tuple(_state(window, dock, group[0]) for *_place, group in groups for dock in group)


def _state(window: QMainWindow, dock: QDockWidget, first: QDockWidget) -> DockState:
    is_seen = not dock.visibleRegion().isEmpty()
    # Of docks that are folded to their tabs none is seen.
    bars = window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    titles = {bar.tabText(bar.currentIndex()) for bar in bars if bar.isVisibleTo(window)}
    is_front = is_seen or dock.windowTitle() in titles
    return DockState(
        dock.objectName(),
        _area(window, dock),
        "" if first is dock else first.objectName(),
        is_shown=not dock.isHidden(),
        is_front=is_front,
        width=dock.width() if is_seen else 0,
        height=dock.height() if is_seen else 0,
    )


def put_back(window: QMainWindow, docks: Docks, states: Sequence[DockState], *, is_folded: bool) -> None:
    """Put the docks that are known where values say, in the order of these; others beside their neighbours.

    With `is_folded` nothing but tabs is seen of those at the bottom.
    """
    if tuple(states) == dock_states(window, docks) and docks.is_folded == is_folded:
        return
    known = {dock.objectName(): dock for dock in docks.all()}
    placed = [(known[state.name], state) for state in states if state.name in known]
    docks.fold(is_folded=False)
    others = [dock for name, dock in known.items() if name not in {state.name for state in states}]
    for dock in others:
        dock.setFloating(False)
        window.removeDockWidget(dock)
    done: set[QDockWidget] = set()
    for dock, state in placed:
        first = known.get(state.behind)
        dock.setFloating(state.area == "floating")
        if state.area != "floating":
            window.addDockWidget(_AREAS[state.area], dock)
        dock.setVisible(state.is_shown)
        if first in done and first is not dock and not first.isFloating() and not dock.isFloating():
            window.tabifyDockWidget(first, dock)
        done.add(dock)
    docks.place_new()
    for dock in others:
        dock.show()
    fronts = [(dock, state) for dock, state in placed if state.is_front]
    for dock, _state in fronts:
        dock.raise_()
    sized = [(dock, state) for dock, state in fronts if state.width and state.height]
    for along, sizes in (
        (Qt.Orientation.Horizontal, [state.width for _dock, state in sized]),
        (Qt.Orientation.Vertical, [state.height for _dock, state in sized]),
    ):
        window.resizeDocks([dock for dock, _state in sized], sizes, along)
    docks.fold(is_folded=is_folded)


def _area(window: QMainWindow, dock: QDockWidget) -> str:
    if dock.isFloating():
        return "floating"
    area = window.dockWidgetArea(dock)
    return next((name for name, each in _AREAS.items() if each == area), "bottom")
