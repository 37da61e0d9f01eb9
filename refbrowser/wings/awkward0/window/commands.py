"""What can be done with files of Awkward 0. Its page and dialogs load late."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.wings.awkward0.window.document_awkward import awkward_of

if TYPE_CHECKING:
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.wings.awkward0.window.expressions_link import ExpressionsLink


class AwkwardCommands(CommandGroup):
    """The commands of the submenu Awkward 0: its page carries them out."""

    actions = (
        ActionSpec(
            "safety_report",
            "&Safety report…",
            menu="&Tools",
            submenu="Aw&kward 0",
            when="is_awkward",
            tip="List the functions, pickles and external targets that the file names, and what was refused",
        ),
        ActionSpec(
            "allow_function",
            "&Allow function…",
            menu="&Tools",
            submenu="Aw&kward 0",
            when="is_awkward",
            tip="Allow more entries of the program's own table of functions for this file; never Python",
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.safety_report, self.allow_function)

    def conditions(self) -> dict[str, bool]:
        """Return whether the current document is such a file, and was looked at."""
        known = awkward_of(self._current)
        return {"is_awkward": known is not None and known.rows is not None}

    def safety_report(self) -> None:
        """Show what the current file names, and what was refused."""
        page = self._page()
        if page is not None:
            page.show_report()

    def allow_function(self) -> None:
        """Ask which functions are to be allowed in the current file."""
        page = self._page()
        if page is not None:
            page.ask_for_functions()

    def _page(self) -> ExpressionsLink | None:
        from refbrowser.wings.awkward0.window.expressions_link import ExpressionsLink

        page = self._workspace.pages.get("expressions")
        return page if isinstance(page, ExpressionsLink) else None
