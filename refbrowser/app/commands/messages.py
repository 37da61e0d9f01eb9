"""The messages of a stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.commands.group import CommandGroup, by_name

if TYPE_CHECKING:
    from refbrowser.app.facets.tabs import MessagesTab
    from refbrowser.app.shell.frame import Frame


class MessageCommands(CommandGroup):
    """The commands about messages; the view itself is one of the tabs."""

    def __init__(
        self,
        frame: Frame,
        *,
        messages: MessagesTab,
    ) -> None:
        super().__init__(frame)
        self._messages = messages

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.compare_orders)

    def conditions(self) -> dict[str, bool]:
        """Return whether the current document is a stream."""
        document = self._current
        return {"has_messages": document is not None and document.stream.index is not None}

    def compare_orders(self) -> None:
        """Show both byte orders of the current stream side by side."""
        link = self._messages.link
        if link is not None:
            link.compare_orders()
