"""Opening what a server offers. The dialog loads late."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.commands.files import PermissionCommands
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.app.workspace.workspace import Workspace


class RemoteCommands(CommandGroup):
    """The command that opens a dataset of a service of CDM Remote."""

    actions = (
        ActionSpec(
            "open_remote",
            "Open CDM Re&mote…",
            tip="Open a dataset that a server offers as CDM Remote; only what is shown is requested",
            menu="&File",
            after="open_url",
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._connect = workspace.groups[PermissionCommands].connect_origin

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what the action of this group does."""
        return by_name(self.open_remote)

    def open_remote(self) -> None:
        """Ask for the address of a service, and open its dataset."""
        from refbrowser.wings.ncstream.window.remote_dialog import OpenRemoteDialog

        workspace = self._workspace
        dialog = OpenRemoteDialog(workspace.window())
        workspace.questions.ask_url(dialog, lambda: workspace.open_path(dialog.url()), self._connect)
