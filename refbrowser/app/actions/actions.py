"""The actions of one window, made from their table: menus, toolbar and shortcuts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDockWidget, QMainWindow, QMenu, QMenuBar, QToolBar, QWidget

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.actions.menus import TITLES, TOOLBAR, WINDOW_ACTIONS, actions, menus
from refbrowser.app.widgets import icons


class Actions:
    """The actions of one window."""

    def __init__(self, window: QMainWindow) -> None:
        self._window = window
        self._specs = {spec.name: spec for spec in WINDOW_ACTIONS}
        self._menus: dict[str, QMenu] = {}
        #: The last action in each menu of those that formats, and tools that name no place, add.
        self._last: dict[str, QAction] = {}
        self._actions = {name: self._make(self._specs[name]) for name in TOOLBAR if name is not None}
        self.set_icons()

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def complete(self, callbacks: Mapping[str, Callable[[], object]]) -> None:
        """Make the other actions, fill the menus, and give every action what it does."""
        self._specs = {spec.name: spec for spec in actions()}
        for title, specs in menus().items():
            for spec in specs:
                if spec is None:
                    self._menus[title].addSeparator()
                else:
                    self._put(title, spec, callbacks[spec.name], None)
        self.set_icons()

    def add_panes(self, docks: Sequence[QDockWidget]) -> None:
        """Add the actions that show and hide docks to their submenu."""
        for dock in docks:
            action = dock.toggleViewAction()
            action.setObjectName(f"action_toggle_{dock.objectName()}")
            self._submenu("&View", "Pan&es", None).addAction(action)

    def add(self, specs: Sequence[ActionSpec], callbacks: Mapping[str, Callable[[], object]]) -> None:
        """Add the actions of a further format or tool, behind those of the others."""
        for spec in specs:
            if spec.name in self._actions:
                raise ValueError(f"there is an action {spec.name} already")
            if spec.shortcut in {each.shortcut for each in self._specs.values()}:
                # Two actions of one key would both be without it.
                spec = spec._replace(shortcut="")
            self._specs[spec.name] = spec
            following = dict(pairwise(self._menus[spec.menu].actions()))
            before = following.get(self._last[spec.menu]) if spec.menu in self._last else None
            self._put(spec.menu, spec, callbacks[spec.name], before)

    def _put(
        self, title: str, spec: ActionSpec, callback: Callable[[], object], before: QAction | None
    ) -> None:
        """Put an action into a menu, to its end where it comes before none."""
        menu = self._menus[title]
        action = self._complete(spec, callback)
        if spec.submenu:
            menu = self._submenu(title, spec.submenu, before)
            menu.addAction(action)
            action = menu.menuAction()
        else:
            menu.insertAction(before, action) if before else menu.addAction(action)
        if spec.menu and not spec.after:
            self._last[title] = action

    def menu(self, title: str) -> QMenu:
        """Return a menu, or a submenu, by its title in the table."""
        return self._menus[title]

    def all(self) -> list[tuple[ActionSpec, QAction]]:
        """Return every action with its declaration, in the order of the menus."""
        return [(spec, self._actions[name]) for name, spec in self._specs.items() if name in self._actions]

    def _submenu(self, title: str, subtitle: str, before: QAction | None) -> QMenu:
        """Return the submenu of a menu; it is added where its first action would be."""
        if subtitle not in self._menus:
            menu = self._menus[subtitle] = QMenu(subtitle, self._menus[title])
            self._menus[title].insertMenu(before, menu) if before else self._menus[title].addMenu(menu)
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
        for title in TITLES:
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
        for spec in self._specs.values():
            if spec.icon and spec.name in self._actions:
                self._actions[spec.name].setIcon(icons.icon(spec.icon))

    def update(self, conditions: Mapping[str, bool]) -> None:
        """Enable, and tick, each action whose condition holds; those of which nothing is told stay."""
        for spec in self._specs.values():
            if spec.when in conditions:
                self._actions[spec.name].setEnabled(conditions[spec.when])
            if spec.check in conditions:
                self._actions[spec.name].setChecked(conditions[spec.check])
