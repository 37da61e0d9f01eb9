"""Shows what the current document should hold, and what it has of that."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.workspace.command_group import CommandGroup, by_name


class ExpectationCommands(CommandGroup):
    """Shows the sheet of what should be there."""

    actions = (
        ActionSpec(
            "show_expectation",
            "What should be &there…",
            when="has_document",
            tip="Say or learn what the dataset should hold, and show what is missing by variable and date",
            menu="&Tools",
            after="show_audit",
        ),
    )

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.show_expectation)

    def show_expectation(self) -> None:
        """Show the sheet for the current document."""
        from refbrowser.tools.expect.window.expectation_sheet import ExpectationSheet

        if self._current is not None:
            ExpectationSheet(self._current, self._workspace.window()).show()
