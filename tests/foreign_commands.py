"""Commands of a tool of another package."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.workspace.command_group import CommandGroup, by_name


class CountCommands(CommandGroup):
    """One command, in a menu of the window and in that of the table of references."""

    actions = (ActionSpec("count", "Count it", menu="&Tools"),)
    counted = 0

    def table(self) -> dict[str, Callable[[], object]]:
        return by_name(self.count)

    def offer_actions(self) -> None:
        self._workspace.centre.references.table.addAction(self._workspace.actions_["count"])

    def count(self) -> None:
        """Count."""
        self.counted += 1
