"""Where Tab and F6 go: through the panes that are seen, in the order in which they are read.

Qt itself goes by the order in which widgets were made, and into docks that lie behind others.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QStatusBar, QToolBar, QWidget

#: Panes whose left sides are not further apart than this are in one column, in pixels.
_COLUMN = 24


def move_focus(window: QMainWindow, forward: bool) -> bool:
    """Give the keyboard to the next widget, or the one before; whether there is one."""
    stops = [stop for _, stops in _panes(window) for stop in stops]
    here = QApplication.focusWidget()
    if not stops:
        return False
    if here in stops:
        at = stops.index(here) + (1 if forward else -1)
    else:
        at = _place_in_chain(window, here, stops, forward)
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    stops[at % len(stops)].setFocus(reason)
    return True


def move_to_pane(window: QMainWindow, forward: bool) -> None:
    """Give the keyboard to the next pane, or the one before, where it was in it last."""
    panes, here = _panes(window), QApplication.focusWidget()
    if not panes:
        return
    at = next((number for number, (_, stops) in enumerate(panes) if here in stops), -1 if forward else 0)
    pane, stops = panes[(at + (1 if forward else -1)) % len(panes)]
    last = pane.focusWidget()
    (last if last in stops else stops[0]).setFocus(Qt.FocusReason.OtherFocusReason)


def _place_in_chain(
    window: QMainWindow, here: QWidget | None, stops: Sequence[QWidget], forward: bool
) -> int:
    """Return the stop that follows a widget that is none itself, in the order of Qt."""
    widget = here
    while widget is not None and widget is not window:
        widget = widget.nextInFocusChain() if forward else widget.previousInFocusChain()
        if widget in stops:
            return stops.index(widget)
        if widget is here:
            break
    return 0 if forward else -1


def _focus(widget: QWidget, forward: bool) -> None:
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    widget.setFocus(reason)


def _panes(window: QMainWindow) -> list[tuple[QWidget, list[QWidget]]]:
    """Return each pane with the widgets that Tab goes to in it: column by column, the status bar last."""
    found: dict[QWidget, list[QWidget]] = {}
    widget = window.nextInFocusChain()
    while widget is not window:
        pane = _pane_of(window, widget) if _is_stop(window, widget) else None
        if pane is not None:
            found.setdefault(pane, []).append(widget)
        widget = widget.nextInFocusChain()
    corners = {pane: pane.mapTo(window, QPoint()) for pane in found}
    column, left, places = 0, 0, {}
    for pane in sorted(found, key=lambda pane: corners[pane].x()):
        column += corners[pane].x() > left + _COLUMN
        left = corners[pane].x()
        places[pane] = (isinstance(pane, QStatusBar), column, corners[pane].y())
    return [(pane, found[pane]) for pane in sorted(found, key=places.__getitem__)]


def _pane_of(window: QMainWindow, widget: QWidget) -> QWidget | None:
    """Return the dock, the centre, the bar of tabs or the status bar that a widget is a part of."""
    above: QWidget | None = widget
    while above is not None and above is not window:
        if isinstance(above, QToolBar):
            return None
        if isinstance(above, QDockWidget | QStatusBar) or above.parentWidget() is window:
            return above
        above = above.parentWidget()
    return None


def _is_stop(window: QMainWindow, widget: QWidget) -> bool:
    policy = widget.focusPolicy()
    return (
        bool(policy & Qt.FocusPolicy.TabFocus)
        and widget.isEnabled()
        and widget.isVisible()
        and widget.focusProxy() is None
        and widget.window() is window
        and _is_seen(widget)
    )


def _is_seen(widget: QWidget) -> bool:
    """Whether a widget's pane is not behind another one; what a pane has scrolled away is seen."""
    above: QWidget | None = widget
    while above is not None:
        if isinstance(above, QDockWidget):
            return not above.visibleRegion().isEmpty()
        above = above.parentWidget()
    return True
