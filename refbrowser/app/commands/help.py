"""What helps."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.commands.group import CommandGroup, by_name


class HelpCommands(CommandGroup):
    """The commands of the menu Help."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.about)

    def about(self) -> None:
        """Show the versions of the program and of what it stands on."""
        from refbrowser.app.controller.work import versions

        self._window.questions.about(versions())
