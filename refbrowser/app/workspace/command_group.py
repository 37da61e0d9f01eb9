"""What the commands of one kind have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QObject

from refbrowser.app.actions.action_spec import ActionSpec

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.workspace.frame import Frame


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
