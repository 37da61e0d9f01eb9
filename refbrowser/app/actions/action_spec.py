"""What one action is declared as."""

from __future__ import annotations

from enum import Flag, auto
from typing import NamedTuple


class Changed(Flag):
    """What changed: whether an action can be used depends on some of it.

    Attributes
    ----------
    HISTORY
        The steps of the current document.
    SAVED
        What of it is saved, and whether it is being written.
    FORMAT
        What the format of the current document adds to the window.
    FINDINGS
        What is wrong with documents.
    OTHER
        Anything else.
    """

    HISTORY = auto()
    SAVED = auto()
    FORMAT = auto()
    FINDINGS = auto()
    OTHER = auto()
    ALL = HISTORY | SAVED | FORMAT | FINDINGS | OTHER


class ActionSpec(NamedTuple):
    """One action: its id, title, shortcut, and when it can be used.

    Attributes
    ----------
    name
        The id; the action's `objectName` is ``action_<name>`` and the command of that name is called.
    shortcut
        Works everywhere in the window.
    when
        Name of the condition (one of `CommandGroups.conditions`); empty for always.
    toolbar
        Short title for the toolbar.
    tip
        What it does, in a sentence without a full stop.
    menu
        Of one that a format or a tool adds: the menu that it is in, ``&View`` for example.
    after
        Of one that is added: the name of the action that it is put behind; empty for where those of formats
        are.
    apart
        Of one that a tool adds: a separator stands before it.
    submenu
        Title of the submenu that the action is in, for neighbours that share one; empty for the menu itself.
    check
        Name of the condition that ticks the action; empty for one that cannot be ticked.
    plot_key
        Does the same while the plot has the focus, and only then: the menu shows it, the plot acts on it.
    """

    name: str
    title: str
    shortcut: str = ""
    when: str = ""
    icon: str = ""
    toolbar: str = ""
    tip: str = ""
    submenu: str = ""
    check: str = ""
    plot_key: str = ""
    menu: str = ""
    after: str = ""
    apart: bool = False


#: Where a menu has the actions that formats add.
OF_FORMATS = ActionSpec("", "")
