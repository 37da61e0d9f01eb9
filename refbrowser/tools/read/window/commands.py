"""Computing arrays of those that are open."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.commands.view import HelpCommands
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.model.nodes import ArrayNode


class ComputeCommands(CommandGroup):
    """Shows the sheet that computes."""

    actions = (
        ActionSpec(
            "compute_array",
            "Co&mpute…",
            shortcut="Ctrl+Shift+M",
            when="has_document",
            tip="Compute an array of others by an expression, and open it",
            menu="&Data",
        ),
    )

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.compute_array)

    def compute_array(self) -> None:
        """Show the sheet, with the array that is selected in it."""
        from refbrowser.tools.read.window.compute_sheet import ComputeSheet

        document = self._current
        if document is None or document.dataset is None:
            return
        item = self._workspace.hierarchy.current_item()
        node = item.node if item is not None and item.document is document else None
        sheet = ComputeSheet(document, self._workspace.documents, self._workspace.window())
        sheet.helpWanted.connect(lambda: self._workspace.groups[HelpCommands].manual("computing"))
        sheet.told.connect(self._workspace.say)
        if isinstance(node, ArrayNode):
            sheet.insert("", node.path)
        sheet.open()
