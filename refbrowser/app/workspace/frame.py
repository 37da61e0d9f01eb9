"""What the window gives to its parts, so that none of them knows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.comparing.compared_side import ComparedSide
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.dialogs.questions import Questions
    from refbrowser.app.tasks.tasks import Tasks


class Frame(Protocol):
    """What the window around them gives to commands."""

    @property
    def documents(self) -> Documents:
        """What is opened."""

    @property
    def tasks(self) -> Tasks:
        """What runs work off the window's thread."""

    @property
    def questions(self) -> Questions:
        """What asks the user."""

    def open_path(self, path: str, *, options: Mapping[str, Any] | None = None) -> OpenDocument:
        """Open a document or a store, with options of opening by name."""

    def open_recent(self, path: str) -> OpenDocument:
        """Open a document as it was opened last."""

    def open_all(self, paths: Sequence[str]) -> None:
        """Open several documents; the last one is shown."""

    def compare(self, here: ComparedSide, there: ComparedSide) -> None:
        """Show what differs between two sides, in a window of its own."""

    def say(self, words: str) -> None:
        """Show words in the status line for a while."""

    def show_error(self, title: str, error: BaseException, again: Callable[[], object] | None = None) -> None:
        """Show an error over the tabs; `again` tries what failed once more."""

    def update_actions(self) -> None:
        """Enable each action that can be used now."""

    def window(self) -> QWidget:
        """Return the window itself: parent of dialogs."""
