"""The command palette: every action that can be used now, found by a few letters of its title."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from refbrowser.app.actions.actions import Actions
from refbrowser.app.actions.menus import MENUS
from refbrowser.app.actions.spec import ActionSpec
from refbrowser.app.finding.quick_list import Answer, QuickList

#: Answers shown at most.
SHOWN = 200
HINT = "Type a few letters of an action, then Enter"


class CommandPalette(QuickList):
    """Lists the actions of a window; Enter carries one out after the palette is gone."""

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__("commandPalette", "Command palette", HINT, parent)
        self._found = [
            (spec, action, _title(spec, action))
            for spec, action in actions.all()
            if action.isEnabled() and spec.name != "command_palette"
        ]
        self.typed.connect(self._search)
        self.chosen.connect(_carry_out)
        self._search("")

    def _search(self, text: str) -> None:
        from refbrowser.engine.views.fuzzy import best

        found = best(text, self._found, lambda item: item[2], SHOWN)
        answers = [
            Answer(title, shortcut_of(spec), matched.places, action.icon(), action)
            for (spec, action, title), matched in found
        ]
        self.set_answers(answers, "" if answers else "No action that can be used now is called so")


def _carry_out(answer: Answer) -> None:
    action: QAction = answer.data
    # Once the keyboard is back where it was before.
    QTimer.singleShot(0, action.trigger)


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
