"""Shows where the files of documents lie, to move them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.commands.files import PermissionCommands
from refbrowser.app.commands.references import PrefixCommands
from refbrowser.app.workspace.command_group import CommandGroup, by_name

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.dialogs.trust import TrustSheet
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.io.access.access import Want
    from refbrowser.tools.move.window.move_page import MovePage


class MoveCommands(CommandGroup):
    """Shows the page *Files and locations*."""

    actions = (
        ActionSpec(
            "move_files",
            "&Files and locations…",
            shortcut="Ctrl+Shift+H",
            when="is_open",
            tip="Show the hosts, buckets and folders that URLs point to, and update the URLs when files move",
            menu="&Edit",
            after="replace_prefix",
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._connect = workspace.groups[PermissionCommands].connect_origin
        self._begin_prefix = workspace.groups[PrefixCommands].begin
        workspace.show_places = self.show_places

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.move_files)

    def move_files(self) -> None:
        """Show where the files of the document lie, and move them where that is wanted."""
        if self._current is not None:
            self._show_page(self._current)

    def show_places(self, document: OpenDocument, prefix: str) -> None:
        """Show where the files of a document lie, with one of the places chosen."""
        self._show_page(document).look_at(prefix)

    def _show_page(self, document: OpenDocument) -> MovePage:
        from refbrowser.tools.move.window.move_page import MovePage

        page = MovePage(document, self._workspace.documents, self._workspace.window())
        page.permissionWanted.connect(lambda wants: self._ask(page, document, wants))
        page.prefixWanted.connect(lambda old: self._begin_prefix(document, old))
        page.open()
        return page

    def _ask(self, page: MovePage, document: OpenDocument, wants: Sequence[Want]) -> None:
        """Ask over the page for what the test of new places needs."""

        def chosen(sheet: TrustSheet) -> None:
            document.allow(sheet.chosen, always=sheet.always)
            page.take_permission()

        self._workspace.questions.permissions(document, chosen, self._connect, wants, page)
