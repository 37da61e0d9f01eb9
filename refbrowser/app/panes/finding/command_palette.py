"""The command palette: every action that can be used now, and every pane, found by a few letters."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QTimer
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QWidget

from refbrowser.app.actions.actions import Actions
from refbrowser.app.actions.menus import MENUS
from refbrowser.app.commands.group import ActionSpec
from refbrowser.app.panes.finding.quick_list import Answer, QuickList

#: Answers shown at most.
SHOWN = 200
HINT = "Type a few letters of an action, then Enter"


class CommandPalette(QuickList):
    """Lists the actions of a window; Enter carries one out after the palette is gone.

    Parameters
    ----------
    panes
        Titles of panes, and what brings each to the front.
    """

    def __init__(self, actions: Actions, panes: Mapping[str, Callable[[], None]], parent: QWidget) -> None:
        super().__init__("commandPalette", "Command palette", HINT, parent)
        #: Title, keys, icon, and what is done.
        self._found: list[tuple[str, str, QIcon, Callable[[], object]]] = [
            (_title(spec, action), shortcut_of(spec), action.icon(), action.trigger)
            for spec, action in actions.all()
            if action.isEnabled() and spec.name != "command_palette"
        ]
        self._found += [(f"Pane: {title}", "", QIcon(), show) for title, show in panes.items()]
        self.typed.connect(self._search)
        self.chosen.connect(_carry_out)
        self._search("")

    def _search(self, text: str) -> None:
        from refbrowser.views.key_search import best

        found = best(text, self._found, lambda item: item[0], SHOWN)
        answers = [
            Answer(title, keys, matched.places, icon, act) for (title, keys, icon, act), matched in found
        ]
        self.set_answers(answers, "" if answers else "No matching action can be used now")


def _carry_out(answer: Answer) -> None:
    act: Callable[[], object] = answer.data
    # Once the keyboard is back where it was before.
    QTimer.singleShot(0, act)


def _title(spec: ActionSpec, action: QAction) -> str:
    """Return an action's title behind that of its menu."""
    menu = next(title for title, specs in MENUS.items() if spec in specs)
    parts = (menu, spec.submenu, spec.title)
    ticked = " ✓" if action.isChecked() else ""
    return ": ".join(part.replace("&", "").rstrip("…") for part in parts if part) + ticked


def shortcut_of(spec: ActionSpec) -> str:
    """Return the keys of an action as they are written on this system; empty where it has none."""
    if spec.plot_key:
        return f"{spec.plot_key} in the plot"
    return QKeySequence(spec.shortcut).toString(QKeySequence.SequenceFormat.NativeText)
