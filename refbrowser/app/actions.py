"""Every action of the window, declared once: menus, toolbar and shortcuts are made from this table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QMenuBar, QToolBar, QWidget

from refbrowser.app import icons


class ActionSpec(NamedTuple):
    """One action: its id, title, menu, shortcut, and when it can be used.

    Attributes
    ----------
    name
        The id; the action's `objectName` is ``action_<name>`` and the window's method of that name is called.
    when
        Name of the condition (a key of the mapping given to `Actions.update`); empty for always.
    toolbar
        Short title for the toolbar.
    """

    name: str
    title: str
    menu: str
    shortcut: str = ""
    when: str = ""
    icon: str = ""
    toolbar: str = ""
    tip: str = ""


#: In the order of the menus; None is a separator of the menu named before it.
ACTIONS: tuple[ActionSpec | None, ...] = (
    ActionSpec("open_files", "&Open…", "&File", "Ctrl+O", icon="open", toolbar="Open", tip="Open documents"),
    ActionSpec(
        "open_url",
        "Open &URL…",
        "&File",
        "Ctrl+Shift+O",
        icon="url",
        toolbar="URL",
        tip="Open a document by URL",
    ),
    ActionSpec("open_sample", "Open the &sample", "&File"),
    None,
    ActionSpec(
        "save",
        "&Save",
        "&File",
        "Ctrl+S",
        "can_save",
        "save",
        "Save",
        "Write the pending edits to the document",
    ),
    ActionSpec("save_as", "Save &as…", "&File", "Ctrl+Shift+S", "is_open"),
    ActionSpec(
        "revert",
        "&Revert",
        "&File",
        "",
        "is_dirty",
        "revert",
        "Revert",
        "Go back to the state that was last saved",
    ),
    None,
    ActionSpec(
        "export",
        "&Export…",
        "&File",
        "Ctrl+E",
        "has_hierarchy",
        "export",
        "Export",
        "Write the data in another format",
    ),
    None,
    ActionSpec("close_document", "&Close document", "&File", "Ctrl+W", "has_document"),
    ActionSpec("quit", "&Quit", "&File", "Ctrl+Q"),
    ActionSpec("undo", "&Undo", "&Edit", "Ctrl+Z", "can_undo", "undo", "Undo", "Take back the last edit"),
    ActionSpec("redo", "&Redo", "&Edit", "Ctrl+Shift+Z", "can_redo", "redo", "Redo", "Make the edit again"),
    None,
    ActionSpec(
        "copy_path", "&Copy path", "&Edit", "", "has_document", tip="Copy the document's path and the node"
    ),
    None,
    ActionSpec("add_template", "Add a &template", "&References", "", "is_open"),
    ActionSpec("add_rule", "Add a &gen rule", "&References", "", "is_open"),
    ActionSpec("add_reference", "Add a re&ference", "&References", "", "is_open"),
    None,
    ActionSpec("template_values", "Template &values…", "&References", "", "is_open"),
    ActionSpec("review_trust", "&Permissions…", "&References", "", "is_open", "lock"),
    None,
    ActionSpec("go_to_key", "Go to &key", "&References", "Ctrl+P", "is_open"),
    ActionSpec("find_node", "&Find in the hierarchy", "&View", "Ctrl+F"),
    None,
    ActionSpec("show_plot", "&Plot", "&View", "Ctrl+1"),
    ActionSpec("show_references", "&References", "&View", "Ctrl+2"),
    ActionSpec("show_raw", "Ra&w value", "&View", "Ctrl+3"),
    None,
    ActionSpec("reset_layout", "Reset &layout", "&View", "Ctrl+0"),
    ActionSpec("cancel_newest", "Cancel the &newest job", "&Tools", "Esc", "is_busy"),
    ActionSpec("show_jobs", "Show &jobs", "&Tools"),
    ActionSpec("about", "&About refbrowser", "&Help"),
)
MENUS = ("&File", "&Edit", "&View", "&References", "&Tools", "&Help")
#: The actions of the toolbar in their order; None is a separator.
TOOLBAR = ("open_files", "open_url", None, "save", "revert", None, "undo", "redo", None, "export")


class Actions:
    """The actions of one window."""

    def __init__(self, window: QMainWindow) -> None:
        self._window = window
        self._specs = {spec.name: spec for spec in ACTIONS if spec is not None}
        self._menus: dict[str, QMenu] = {}
        self._actions = {name: self._make(self._specs[name]) for name in TOOLBAR if name is not None}
        self.set_icons()

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def complete(self, callbacks: Mapping[str, Callable[[], object]]) -> None:
        """Make the other actions, fill the menus, and give every action what it does."""
        last = ""
        for spec in ACTIONS:
            if spec is None:
                self._menus[last].addSeparator()
                continue
            last = spec.menu
            action = self._actions.get(spec.name) or self._make(spec)
            self._actions[spec.name] = action
            self._menus[last].addAction(action)
            callback = callbacks[spec.name]
            action.triggered.connect(lambda _checked=False, callback=callback: callback())
        self.set_icons()

    def menu(self, title: str) -> QMenu:
        """Return a menu by its title in the table."""
        return self._menus[title]

    def _make(self, spec: ActionSpec) -> QAction:
        action = QAction(spec.title, self._window)
        action.setObjectName(f"action_{spec.name}")
        action.setShortcut(QKeySequence(spec.shortcut))
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        if spec.toolbar:
            action.setIconText(spec.toolbar)
        plain = spec.title.replace("&", "").rstrip("…")
        shortcut = f" ({spec.shortcut})" if spec.shortcut else ""
        action.setToolTip(f"{spec.tip or plain}{shortcut}")
        action.setEnabled(not spec.when)
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
            if spec is not None and spec.icon and spec.name in self._actions:
                self._actions[spec.name].setIcon(icons.icon(spec.icon))

    def update(self, conditions: Mapping[str, bool]) -> None:
        """Enable each action whose condition holds."""
        for spec in ACTIONS:
            if spec is not None and spec.when:
                self._actions[spec.name].setEnabled(conditions[spec.when])
