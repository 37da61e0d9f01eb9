"""The actions of one window, made from their table: menus, toolbar and shortcuts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QMenuBar, QToolBar, QWidget

from refbrowser.app.commands.group import ActionSpec
from refbrowser.app.commands.menus import ACTIONS, MENUS, TOOLBAR
from refbrowser.app.widgets import icons


class Actions:
    """The actions of one window."""

    def __init__(self, window: QMainWindow) -> None:
        self._window = window
        self._specs = {spec.name: spec for spec in ACTIONS}
        self._menus: dict[str, QMenu] = {}
        self._actions = {name: self._make(self._specs[name]) for name in TOOLBAR if name is not None}
        self.set_icons()

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def complete(self, callbacks: Mapping[str, Callable[[], object]]) -> None:
        """Make the other actions, fill the menus, and give every action what it does."""
        for title, specs in MENUS.items():
            for spec in specs:
                if spec is None:
                    self._menus[title].addSeparator()
                else:
                    menu = self._submenu(title, spec.submenu) if spec.submenu else self._menus[title]
                    menu.addAction(self._complete(spec, callbacks[spec.name]))
        self.set_icons()

    def menu(self, title: str) -> QMenu:
        """Return a menu, or a submenu, by its title in the table."""
        return self._menus[title]

    def all(self) -> list[tuple[ActionSpec, QAction]]:
        """Return every action with its declaration, in the order of the menus."""
        return [(spec, self._actions[spec.name]) for spec in ACTIONS if spec.name in self._actions]

    def _submenu(self, title: str, subtitle: str) -> QMenu:
        """Return the submenu of a menu; it is added where its first action would be."""
        if subtitle not in self._menus:
            menu = self._menus[subtitle] = self._menus[title].addMenu(subtitle)
            menu.setObjectName(f"menu_{subtitle.replace('&', '').replace(' ', '_').lower()}")
        return self._menus[subtitle]

    def _complete(self, spec: ActionSpec, callback: Callable[[], object]) -> QAction:
        action = self._actions.get(spec.name) or self._make(spec)
        self._actions[spec.name] = action
        action.triggered.connect(lambda _checked=False: callback())
        return action

    def _make(self, spec: ActionSpec) -> QAction:
        # After a tab a menu shows a key that is no shortcut of the window.
        title = f"{spec.title}\t{spec.plot_key}" if spec.plot_key else spec.title
        action = QAction(title, self._window)
        action.setObjectName(f"action_{spec.name}")
        action.setShortcut(QKeySequence(spec.shortcut))
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        if spec.toolbar:
            action.setIconText(spec.toolbar)
        plain = spec.title.replace("&", "").rstrip("…")
        shortcut = f" ({spec.shortcut})" if spec.shortcut else ""
        if spec.plot_key:
            shortcut = f" ({spec.plot_key} in the plot)"
        action.setToolTip(f"{spec.tip or plain}{shortcut}")
        action.setEnabled(not spec.when)
        action.setCheckable(bool(spec.check))
        self._window.addAction(action)
        return action

    def add_menus(self, bar: QMenuBar) -> None:
        """Add the menus to the bar; `complete` fills them."""
        for title in MENUS:
            menu = self._menus[title] = bar.addMenu(title)
            menu.setObjectName(f"menu_{title.replace('&', '').lower()}")

    def fill_toolbar(self, bar: QToolBar) -> None:
        """Add the actions of the toolbar."""
        for name in TOOLBAR:
            if name is None:
                bar.addSeparator()
                continue
            action = self._actions[name]
            bar.addAction(action)
            button = bar.widgetForAction(action)
            if isinstance(button, QWidget):
                button.setObjectName(f"button_{name}")
                button.setAccessibleName(action.toolTip())

    def set_icons(self) -> None:
        """Draw the icons in the colours in force."""
        for spec in ACTIONS:
            if spec.icon and spec.name in self._actions:
                self._actions[spec.name].setIcon(icons.icon(spec.icon))

    def update(self, conditions: Mapping[str, bool]) -> None:
        """Enable, and tick, each action whose condition holds."""
        for spec in ACTIONS:
            if spec.when:
                self._actions[spec.name].setEnabled(conditions[spec.when])
            if spec.check:
                self._actions[spec.name].setChecked(conditions[spec.check])
