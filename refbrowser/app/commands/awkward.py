"""What an Awkward 0 file names, and what the user allows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.commands.group import CommandGroup, by_name

if TYPE_CHECKING:
    from refbrowser.app.facets.tabs import ExpressionsTab
    from refbrowser.app.shell.frame import Frame


class AwkwardCommands(CommandGroup):
    """The commands of the submenu Awkward 0."""

    def __init__(
        self,
        frame: Frame,
        *,
        expressions: ExpressionsTab,
    ) -> None:
        super().__init__(frame)
        self._expressions = expressions
        expressions.safetyWanted.connect(self.safety_report)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.safety_report, self.allow_function)

    def conditions(self) -> dict[str, bool]:
        """Return whether the current document is such a file, and was looked at."""
        document = self._current
        return {"is_awkward": document is not None and document.awkward.rows is not None}

    def safety_report(self) -> None:
        """Show what the current file names, and what was refused."""
        from refbrowser.app.facets.safety_dialogs import SafetyDialog

        document = self._current
        if document is None or document.awkward.rows is None:
            return
        dialog = SafetyDialog(document, document.awkward.rows, self._frame.window())
        dialog.allowWanted.connect(self.allow_function)
        dialog.placeWanted.connect(self._go_to)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def allow_function(self, name: str = "") -> None:
        """Ask which functions are to be allowed in the current file; `name` is ticked beforehand."""
        from refbrowser.app.facets.safety_dialogs import AllowDialog

        document = self._current
        if document is None or document.awkward.rows is None:
            return
        rows = [row for row in document.awkward.rows if row.can_be_allowed]
        dialog = AllowDialog(document, rows, name, self._frame.window())
        dialog.accepted.connect(lambda: document.awkward.allow(dialog.patterns()))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _go_to(self, path: str, number: int) -> None:
        """Show an expression in its tab."""
        document, link = self._current, self._expressions.link
        if document is not None and link is not None:
            link.go_to(document, path, number)
