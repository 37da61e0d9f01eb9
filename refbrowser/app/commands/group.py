"""What one action is declared as, and what the commands of one kind have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.shell.frame import Frame


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
    menu
        Of one that a format adds: the menu that it is in, ``&View``, ``&Data`` or ``&Tools``.
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


class CommandGroup(QObject):
    """Commands of one kind; they act on the current document of one window.

    Attributes
    ----------
    actions
        Of a group that a format adds: the actions that it carries out. Those of the window are in `menus`.
    """

    actions: ClassVar[tuple[ActionSpec, ...]] = ()

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame.window())
        self._frame = frame

    @property
    def _current(self) -> OpenDocument | None:
        return self._frame.documents.current

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does, by the action's name."""
        raise NotImplementedError

    def conditions(self) -> dict[str, bool]:
        """Return the conditions that this group's actions name in `when`."""
        return {}


def by_name(*methods: Callable[[], object]) -> dict[str, Callable[[], object]]:
    """Return methods under their own names, for those whose action has the same name."""
    return {method.__name__: method for method in methods}
