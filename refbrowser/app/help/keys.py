"""All keys of the window by where they act, from the table of actions and what single views add."""

from __future__ import annotations

from typing import NamedTuple

from refbrowser.app.actions.menus import MENUS
from refbrowser.app.actions.spec import ActionSpec


class Key(NamedTuple):
    """What keys do; `keys` is written as in the table of actions, several parted by a comma and a space."""

    keys: str
    what: str


#: Keys that are no actions of a menu, by where they act.
VIEW_KEYS: dict[str, tuple[Key, ...]] = {
    "In the plot": (
        Key("Left, Right", "Step back and on along the marked dimension"),
        Key("Up, Down, Alt+Up, Alt+Down", "Mark the dimension before or after"),
        Key("Home", "Show the whole picture"),
        Key("E", "Explain the element under the cursor"),
        Key("Shift+arrow keys", "Move the cursor by one element"),
        Key("Ctrl+C", "Copy the value under the cursor"),
        Key("Esc", "Take the cursor away; bring back the rest of the window where the plot is alone"),
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
    "In the table of values": (
        Key("Ctrl+G", "Go to a row and column, or to the whole index of an element"),
        Key("Ctrl+C", "Copy the selected cells with all their digits"),
        Key("Shift+arrow keys, Ctrl+A", "Select cells"),
        Key("Return", "Show the element in the plot"),
    ),
    "In the nested values": (
        Key("Right, Left", "Unfold, or go to the first value below; fold, or go to what a value is in"),
        Key("Return, Space", "Unfold or fold"),
        Key("+, *", "Unfold one level more of the chosen row"),
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
        Key("F2", "Edit what is current, name or value"),
        Key("Shift+Enter", "Begin a line in a long value"),
        Key("Insert", "Add an attribute"),
        Key("Del", "Remove the attribute"),
    ),
    "In the CDL": (
        Key("Ctrl+F", "Find"),
        Key("F3, Shift+F3", "Go to the next place that was found, or the one before"),
    ),
    "In editors": (
        Key("Ctrl+Return, Ctrl+Enter", "Apply: one step of the history"),
        Key("Ctrl+Space", "Complete a name in a template, also within JSON"),
        Key("Alt+Up, Alt+Down", "Move a dimension of a gen rule"),
        Key("Ctrl+G", "Go to a row or key of the preview"),
        Key("F4, Shift+F4", "Go to the next row of the preview that changes, or the one before"),
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
    for menu, specs in MENUS.items():
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
