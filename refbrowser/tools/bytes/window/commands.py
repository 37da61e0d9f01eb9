"""Showing the byte map and the costs of reading."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.tools.bytes.window.byte_docks import ByteDocks
from refbrowser.tools.explain.window.commands import ExplainCommands
from refbrowser.tools.export.window.commands import ExportCommands

if TYPE_CHECKING:
    from refbrowser.app.workspace.workspace import Workspace


class ByteCommands(CommandGroup):
    """The commands that show byte map and costs."""

    actions = (
        ActionSpec(
            "show_byte_map",
            "&Byte map",
            shortcut="Ctrl+Shift+B",
            tip="Show which array owns each byte of a file, which bytes the view uses, and how they are "
            "requested",
            menu="&Tools",
            after="show_jobs",
            apart=True,
        ),
        ActionSpec(
            "show_cost",
            "What rea&ding costs",
            tip="Show what it costs to read a map, a series, a profile and the whole array, also with "
            "other chunks",
            menu="&Tools",
            after="show_byte_map",
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.docks = ByteDocks(
            workspace, centre=workspace.centre, docks=workspace.docks, navigation=workspace.navigation
        )
        self.docks.explainWanted.connect(workspace.groups[ExplainCommands].explain_key)
        self.docks.exportWanted.connect(workspace.groups[ExportCommands].export_with_chunks)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.docks.show_byte_map, self.docks.show_cost)
