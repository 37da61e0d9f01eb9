"""What the commands of one kind have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.shell.main_window import MainWindow


class CommandGroup(QObject):
    """Commands of one kind; they act on the current document of one window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    @property
    def _current(self) -> OpenDocument | None:
        return self._window.documents.current

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does, by the action's name."""
        raise NotImplementedError

    def conditions(self) -> dict[str, bool]:
        """Return the conditions that this group's actions name in `when`."""
        return {}


def by_name(*methods: Callable[[], object]) -> dict[str, Callable[[], object]]:
    """Return methods under their own names, for those whose action has the same name."""
    return {method.__name__: method for method in methods}
