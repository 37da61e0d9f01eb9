"""Following, appending to, compacting and repairing streams of messages; and serving datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.app.shell.serving import Serving

if TYPE_CHECKING:
    from refbrowser.app.commands.copying import CopyCommands
    from refbrowser.app.commands.files import PermissionCommands
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.dialogs.stream_dialogs import StreamDialog
    from refbrowser.app.shell.frame import Frame
    from refbrowser.app.shell.status_line import StatusLine


class StreamCommands(CommandGroup):
    """The commands of the submenus Stream and CDM Remote."""

    def __init__(
        self,
        frame: Frame,
        *,
        permissions: PermissionCommands,
        copying: CopyCommands,
        status: StatusLine,
    ) -> None:
        super().__init__(frame)
        self._permissions = permissions
        self._copying = copying
        self._status = status
        self.serving = Serving(self._frame.documents, self)
        self.serving.changed.connect(self._serving_changed)
        self.serving.failed.connect(self._serving_failed)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        changes = (self.append_stream, self.compact_stream, self.repair_stream, self.follow_stream)
        return by_name(*changes, self.serve, self.copy_service, self.open_remote)

    def conditions(self) -> dict[str, bool]:
        """Return what can be done with the current document."""
        document = self._current
        is_stream = document is not None and document.is_open and document.file.is_stream
        return {
            "is_stream": is_stream,
            "is_stream_read": is_stream or self._is_messages(document),
            "is_following": is_stream and document is not None and document.file.follows,
            "can_serve": document is not None and document.dataset is not None,
            "is_served": document is not None and bool(self.serving.url(document)),
        }

    @staticmethod
    def _is_messages(document: OpenDocument | None) -> bool:
        return document is not None and document.is_open and document.stream.index is not None

    # Changing streams

    def append_stream(self) -> None:
        """Ask what to append to the current stream, and do it."""
        from refbrowser.app.dialogs.stream_dialogs import AppendDialog

        document = self._current
        if document is not None:
            others = [
                each
                for each in self._frame.documents.all()
                if each is not document and each.dataset is not None
            ]
            self._show(AppendDialog(document, others, self._frame.window()), document)

    def compact_stream(self) -> None:
        """Ask where to write the current stream without what was overwritten, and do it."""
        from refbrowser.app.dialogs.stream_dialogs import CompactDialog

        if self._current is not None:
            self._show(CompactDialog(self._current, self._frame.window()), self._current)

    def repair_stream(self) -> None:
        """Ask where to write what is sound of the current stream, and do it."""
        from refbrowser.app.dialogs.stream_dialogs import RepairDialog

        if self._current is not None:
            self._show(RepairDialog(self._current, self._frame.window()), self._current)

    def _show(self, dialog: StreamDialog, document: OpenDocument) -> None:
        def changed(path: str) -> None:
            # Its own file is another one now; the edits that were appended are in it.
            if path == document.path:
                document.reload()

        dialog.changed.connect(changed)
        dialog.openPath.connect(self._frame.open_path)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()

    # Following

    def follow_stream(self) -> None:
        """Read the current stream again whenever it grows, or stop that."""
        if self._current is not None:
            self.set_follows(not self._current.file.follows)

    def set_follows(self, follows: bool) -> None:
        """Follow the current stream as it grows, or tell only that it grew."""
        document = self._current
        if document is None:
            return
        document.file.set_follows(follows)
        words = "is read again whenever it grows" if follows else "is not read again when it grows"
        self._frame.say(f"{document.title} {words}")
        self._frame.update_actions()

    # Serving

    def serve(self) -> None:
        """Offer the current dataset as CDM Remote to programs of this machine, or stop that."""
        document = self._current
        if document is None:
            return
        if self.serving.url(document):
            self.serving.stop(document)
        else:
            self.serving.start(document)

    def copy_service(self) -> None:
        """Copy the address at which the current dataset is offered."""
        url = "" if self._current is None else self.serving.url(self._current)
        if url:
            self._copying.put(url)

    def _serving_changed(self) -> None:
        self._status.show_service(self.serving.urls())
        self._frame.update_actions()

    def _serving_failed(self, document: OpenDocument, error: BaseException) -> None:
        self._frame.show_error(f"{document.title} could not be served", error)

    # CDM Remote

    def open_remote(self) -> None:
        """Ask for the address of a service of CDM Remote, and open its dataset."""
        self._frame.questions.open_remote(self._frame.open_path, self._permissions.connect_origin)
