"""What one action of the window is declared as."""

from __future__ import annotations

from typing import NamedTuple


class ActionSpec(NamedTuple):
    """One action: its id, title, shortcut, and when it can be used.

    Attributes
    ----------
    name
        The id; the action's `objectName` is ``action_<name>`` and the command of that name is called.
    shortcut
        Works everywhere in the window.
    when
        Name of the condition (one of `Commands.conditions`); empty for always.
    toolbar
        Short title for the toolbar.
    tip
        What it does, in a sentence without a full stop.
    """

    name: str
    title: str
    shortcut: str = ""
    when: str = ""
    icon: str = ""
    toolbar: str = ""
    tip: str = ""
