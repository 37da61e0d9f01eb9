"""What the commands of one kind have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from PySide6.QtCore import QObject

from refbrowser.app.actions.action_spec import ActionSpec, Changed

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.workspace.workspace import Workspace


class CommandGroup(QObject):
    """Commands of one kind; they act on the current document of one window.

    Attributes
    ----------
    actions
        Of a group that a format or a tool adds: the actions that it carries out. Those of the window are in
        `menus`.
    follows
        What its conditions depend on: they are asked when some of it changed.
    """

    actions: ClassVar[tuple[ActionSpec, ...]] = ()
    follows: ClassVar[Changed] = Changed.OTHER

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._workspace = workspace

    @property
    def _current(self) -> OpenDocument | None:
        return self._workspace.documents.current

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does, by the action's name."""
        raise NotImplementedError

    def conditions(self) -> dict[str, bool]:
        """Return the conditions that this group's actions name in `when`."""
        return {}

    def offer_actions(self) -> None:
        """Put actions into the menus of panes, once all actions are there."""


def by_name(*methods: Callable[[], object]) -> dict[str, Callable[[], object]]:
    """Return methods under their own names, for those whose action has the same name."""
    return {method.__name__: method for method in methods}


G = TypeVar("G")


class CommandGroups:
    """The groups of commands of one window, each made when it is first asked for, and all as one table."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._groups: dict[type[Any], CommandGroup] = {}

    def __getitem__(self, kind: type[G]) -> G:
        """Return the group of a kind."""
        if kind not in self._groups:
            made: Any = kind
            self._groups[kind] = made(self._workspace)
        return cast(G, self._groups[kind])

    def all(self) -> list[CommandGroup]:
        """Return those that were asked for."""
        return list(self._groups.values())

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action does, by its name."""
        return {name: command for group in self.all() for name, command in group.table().items()}

    def conditions(self, changed: Changed) -> dict[str, bool]:
        """Return when actions can be used, by the names that they give in `when`: what may be other now."""
        groups = (group for group in self.all() if group.follows & changed)
        return {name: holds for group in groups for name, holds in group.conditions().items()}

    def offer_actions(self) -> None:
        """Put actions into the menus of panes, once all actions are there."""
        for group in self.all():
            group.offer_actions()
