"""What the window gives to the parts that stand around its panes, so that none of them knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.tasks.tasks import Tasks


class Frame(Protocol):
    """The window, as its centre, navigation and docks know it."""

    documents: Documents
    tasks: Tasks

    def say(self, words: str) -> None:
        """Show words in the status line for a while."""

    def window(self) -> QWidget:
        """Return the window itself: parent of dialogs."""
