"""Menus over views: the actions of a widget that fit what is under the pointer, or what is current."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget


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


def separator(widget: QWidget) -> QAction:
    """Add a separator to the actions of a widget."""
    line = QAction(widget)
    line.setSeparator(True)
    widget.addAction(line)
    return line
