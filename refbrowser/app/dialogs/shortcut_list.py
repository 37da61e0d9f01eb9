"""All keys of the window by where they act, from the actions and what single views add; and their list."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.actions.menus import menus
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import plain_label, resize_within_screen


class Key(NamedTuple):
    """What keys do; `keys` is written as in the table of actions, several parted by a comma and a space."""

    keys: str
    what: str


#: Keys that are no actions of a menu, by where they act.
VIEW_KEYS: dict[str, tuple[Key, ...]] = {
    "In the plot": (
        Key("Left, Right", "Step back and forward along the marked dimension"),
        Key("Up, Down, Alt+Up, Alt+Down", "Mark the previous or next dimension"),
        Key("Home", "Show the whole picture"),
        Key("E", "Explain the element under the cursor"),
        Key("Shift+arrow keys", "Move the cursor by one element"),
        Key("Ctrl+C", "Copy the value under the cursor"),
        Key("Esc", "Hide the cursor; bring back the rest of the window if only the plot shows"),
    ),
    "In the charts beside the plot": (
        Key("Left, Right, PgUp, PgDown", "Move the cursor by one point, or by ten"),
        Key("Home", "Show the whole lines"),
    ),
    "In the chunk map": (
        Key("Return", "Plot the chunk under the cursor, and select its key"),
        Key("E", "Explain the chunk under the cursor"),
        Key("N", "Go to the next chunk like this one"),
        Key("R", "Show all chunks"),
    ),
    "In the byte map": (
        Key("Left, Right", "Go to the previous or next bytes: ranges and gaps"),
        Key("Return, Ctrl+Return", "Select the key of the bytes; show it in References"),
        Key("N, O", "Go to the next bytes of the same array; to the next overlap"),
        Key("Z, R", "Enlarge the bytes under the cursor; show the whole file"),
        Key("+, -", "Make bytes wider, or narrower"),
    ),
    "In the table of values": (
        Key("Ctrl+G", "Go to a row and column, or to the whole index of an element"),
        Key("Ctrl+C", "Copy the selected cells with all their digits"),
        Key("Shift+arrow keys, Ctrl+A", "Select cells"),
        Key("Return", "Show the element in the plot"),
    ),
    "In the nested values": (
        Key("Right, Left", "Unfold, or go to the first value inside; fold, or go to the parent"),
        Key("Return, Space", "Unfold or fold"),
        Key("+, *", "Unfold one more level of the chosen row"),
        Key("-", "Fold"),
        Key("Ctrl+Left, Ctrl+Right", "Scroll sideways"),
        Key("Ctrl+G", "Go to a row"),
        Key("Ctrl+C", "Copy the selected values as JSON"),
    ),
    "In trees and tables": (
        Key("Up, Down, PgUp, PgDown, Home, End", "Move; with Shift select rows"),
        Key("Return", "Edit what is selected, or plot it"),
        Key("Ctrl+C", "Copy the path of a node, a key, or the selected rows"),
    ),
    "In the expressions": (
        Key("Return", "Follow a reference, show the bytes of a blob, or fold"),
        Key("Alt+Left", "Go back to the reference that was followed"),
    ),
    "In the attributes": (
        Key("Return", "Edit the value of the attribute, or go to the variable of a dimension"),
        Key("F2", "Edit the current name or value"),
        Key("Shift+Enter", "Start a new line in a long value"),
        Key("Insert", "Add an attribute"),
        Key("Del", "Remove the attribute"),
    ),
    "In the source": (
        Key("Ctrl+F", "Find"),
        Key("F3, Shift+F3", "Go to the next or previous match"),
        Key("F4", "Edit the text: all of it if it is small, otherwise the part at the cursor"),
        Key("Return", "Go to what stands at the cursor: the key, gen rule, template or array"),
        Key("+, -", "Unfold or fold the list or object at the cursor"),
    ),
    "In the CDL": (
        Key("Ctrl+F", "Find"),
        Key("F3, Shift+F3", "Go to the next or previous match"),
    ),
    "In editors": (
        Key("Ctrl+Return, Ctrl+Enter", "Apply: one step of the history"),
        Key("Ctrl+Space", "Complete a name in a template, also within JSON"),
        Key("Alt+Up, Alt+Down", "Move a dimension of a gen rule"),
        Key("Ctrl+G", "Go to a row or key of the preview"),
        Key("F4, Shift+F4", "Go to the next or previous row of the preview that changes"),
    ),
}


def title_of(spec: ActionSpec) -> str:
    """Return the title of an action without marks."""
    own = spec.title.replace("&", "").rstrip("…")
    return f"{spec.submenu.replace('&', '')}: {own}" if spec.submenu else own


def sections() -> dict[str, tuple[Key, ...]]:
    """Return all keys by menu, then those of single views."""
    found: dict[str, tuple[Key, ...]] = {}
    in_plot = []
    for menu, specs in menus().items():
        keys = []
        for spec in specs:
            if spec is not None and spec.shortcut:
                keys.append(Key(spec.shortcut, title_of(spec)))
            if spec is not None and spec.plot_key:
                in_plot.append(Key(spec.plot_key, title_of(spec)))
        if keys:
            found[menu.replace("&", "")] = tuple(keys)
    for where, keys_of_view in VIEW_KEYS.items():
        found[where] = (*in_plot, *keys_of_view) if where == "In the plot" else keys_of_view
    return found


def as_markdown() -> str:
    """Return all keys as tables in Markdown, a heading each."""
    parts = []
    for where, keys in sections().items():
        rows = "\n".join(f"| {key.what} | {_code(key.keys)} |" for key in keys)
        parts.append(f"## {where}\n\n| action | keys |\n|---|---|\n{rows}\n")
    return "\n".join(parts)


def _code(keys: str) -> str:
    return ", ".join(f"`{key}`" for key in keys.split(", "))


class ShortcutList(QDialog):
    """Every key by where it acts; a field filters them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shortcutDialog")
        self.setWindowTitle("Keyboard shortcuts")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        resize_within_screen(self, 640, 680)
        self._field = QLineEdit()
        self._field.setObjectName("shortcutFilter")
        self._field.setAccessibleName("Filter the shortcuts")
        self._field.setPlaceholderText("Filter by what a key does, or by the key")
        self._field.setClearButtonEnabled(True)
        self._field.textChanged.connect(self._filter)
        self._tree = QTreeWidget()
        self._tree.setObjectName("shortcutList")
        self._tree.setAccessibleName("Keyboard shortcuts")
        self._tree.setHeaderLabels(["Action", "Keys"])
        self._tree.setRootIsDecorated(False)
        self._tree.header().setStretchLastSection(False)
        self._tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._nothing = plain_label("No key does that.", role="muted")
        self._nothing.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.LARGE, theme.LARGE, theme.LARGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self._field)
        layout.addWidget(self._nothing)
        layout.addWidget(self._tree, 1)
        self._fill()

    def rows(self) -> list[tuple[str, str]]:
        """Return what is shown: action and keys."""
        return [
            (item.text(0), item.text(1))
            for section in self._sections()
            for item in _children(section)
            if not item.isHidden()
        ]

    def _fill(self) -> None:
        for where, keys in sections().items():
            section = QTreeWidgetItem([where, ""])
            font = section.font(0)
            font.setBold(True)
            section.setFont(0, font)
            section.setFlags(Qt.ItemFlag.ItemIsEnabled)
            section.setSizeHint(0, QSize(0, theme.ROW + theme.MEDIUM))
            for key in keys:
                row = QTreeWidgetItem([key.what, _native(key.keys)])
                row.setSizeHint(0, QSize(0, theme.ROW))
                section.addChild(row)
            self._tree.addTopLevelItem(section)
        self._tree.expandAll()

    def _filter(self, text: str) -> None:
        wanted = text.casefold().split()
        is_any = False
        for section in self._sections():
            is_seen = False
            for item in _children(section):
                words = f"{section.text(0)} {item.text(0)} {item.text(1)}".casefold()
                item.setHidden(not all(word in words for word in wanted))
                is_seen |= not item.isHidden()
            section.setHidden(not is_seen)
            is_any |= is_seen
        self._nothing.setVisible(not is_any)

    def _sections(self) -> list[QTreeWidgetItem]:
        items = (self._tree.topLevelItem(number) for number in range(self._tree.topLevelItemCount()))
        return [item for item in items if item is not None]


def _children(item: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    children = (item.child(number) for number in range(item.childCount()))
    return [child for child in children if child is not None]


def _native(keys: str) -> str:
    """Return keys as they are written on this system."""
    native = QKeySequence.SequenceFormat.NativeText
    return ", ".join(QKeySequence(key).toString(native) or key for key in keys.split(", "))
