"""What can be done with streams. Their page and dialogs load late."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.wings.ncstream.window.document_stream import stream_of

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.wings.ncstream.window.stream_dialogs import StreamDialog


class StreamCommands(CommandGroup):
    """The commands of the submenu Stream, and the choice of the byte order."""

    actions = (
        ActionSpec(
            "compare_orders",
            "&Byte order…",
            menu="&Data",
            when="has_messages",
            tip="Compare both byte orders of a stream's numbers, and choose one for this file",
        ),
        ActionSpec(
            "append_stream",
            "&Append…",
            menu="&Tools",
            submenu="&Stream",
            when="is_stream",
            tip="Append values, or edits of attributes, after the last message of the stream",
        ),
        ActionSpec(
            "compact_stream",
            "&Compact…",
            menu="&Tools",
            submenu="&Stream",
            when="is_stream_read",
            tip="Rewrite the stream without messages that later ones replaced",
        ),
        ActionSpec(
            "repair_stream",
            "&Repair…",
            menu="&Tools",
            submenu="&Stream",
            when="is_stream_read",
            tip="Write the sound messages of a damaged stream, and report what is lost",
        ),
        ActionSpec(
            "follow_stream",
            "&Follow",
            menu="&Tools",
            submenu="&Stream",
            when="is_stream",
            check="is_following",
            tip="Read the stream again whenever it grows; slice and zoom stay",
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        changes = (self.append_stream, self.compact_stream, self.repair_stream, self.follow_stream)
        return by_name(self.compare_orders, *changes)

    def conditions(self) -> dict[str, bool]:
        """Return what can be done with the current document."""
        document, stream = self._current, stream_of(self._current)
        is_file = document is not None and stream is not None and document.is_open and document.file.grows
        return {
            "is_stream": is_file,
            "is_stream_read": document is not None and stream is not None and document.is_open,
            "is_following": is_file and document is not None and document.file.follows,
        }

    def compare_orders(self) -> None:
        """Show both byte orders of the current stream side by side."""
        from refbrowser.wings.ncstream.window.messages_link import MessagesLink

        page = self._workspace.pages.get("messages")
        if isinstance(page, MessagesLink):
            page.compare_orders()

    def append_stream(self) -> None:
        """Ask what to append to the current stream, and do it."""
        from refbrowser.wings.ncstream.window.stream_dialogs import AppendDialog

        document = self._current
        if document is not None:
            others = [
                each
                for each in self._workspace.documents.all()
                if each is not document and each.dataset is not None
            ]
            self._show(AppendDialog(document, others, self._workspace.window()), document)

    def compact_stream(self) -> None:
        """Ask where to write the current stream without what was overwritten, and do it."""
        from refbrowser.wings.ncstream.window.stream_dialogs import CompactDialog

        if self._current is not None:
            self._show(CompactDialog(self._current, self._workspace.window()), self._current)

    def repair_stream(self) -> None:
        """Ask where to write what is sound of the current stream, and do it."""
        from refbrowser.wings.ncstream.window.stream_dialogs import RepairDialog

        if self._current is not None:
            self._show(RepairDialog(self._current, self._workspace.window()), self._current)

    def _show(self, dialog: StreamDialog, document: OpenDocument) -> None:
        def changed(path: str) -> None:
            # Its own file is another one now; the edits that were appended are in it.
            if path == document.path:
                document.reload()

        dialog.changed.connect(changed)
        dialog.openPath.connect(self._workspace.open_path)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()

    def follow_stream(self) -> None:
        """Read the current stream again whenever it grows, or stop that."""
        if self._current is not None:
            self._current.file.set_follows(not self._current.file.follows)
