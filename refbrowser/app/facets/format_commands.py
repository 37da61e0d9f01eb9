"""What can be done with files of single formats: streams, Awkward 0, and serving datasets as CDM Remote."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.app.shell.tasks import TaskControl

if TYPE_CHECKING:
    from refbrowser.app.commands.copying import CopyCommands
    from refbrowser.app.commands.files import PermissionCommands
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.facets.stream_dialogs import StreamDialog
    from refbrowser.app.facets.tabs import ExpressionsTab, MessagesTab
    from refbrowser.app.shell.frame import Frame
    from refbrowser.app.shell.status_line import StatusLine
    from refbrowser.engine.serve.service import Service


class Serving(QObject):
    """Starts and stops services; only programs of this machine reach them.

    Signals
    -------
    changed()
        Other datasets are offered.
    failed(object, object)
        An `OpenDocument` that could not be offered, and the exception.
    """

    changed = Signal()
    failed = Signal(object, object)

    def __init__(self, documents: Documents, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services: dict[int, Service] = {}
        documents.added.connect(self._added)
        documents.removed.connect(self.stop)

    def url(self, document: OpenDocument) -> str:
        """Return where a document's dataset is offered; empty where it is not."""
        service = self._services.get(document.number)
        return "" if service is None else service.url

    def urls(self) -> list[str]:
        """Return where datasets are offered, in the order in which that began."""
        return [service.url for service in self._services.values()]

    def start(self, document: OpenDocument) -> None:
        """Offer the dataset of a document; `changed` or `failed` tells the end."""
        dataset = document.dataset
        if dataset is None or document.number in self._services:
            return

        def start(_control: TaskControl) -> Service:
            from refbrowser.engine.serve.service import Service

            service = Service(dataset)
            service.start()
            return service

        def started(service: Service) -> None:
            self._services[document.number] = service
            self._offer(document)
            self.changed.emit()

        title = f"Offer {document.title} as CDM Remote"
        document.tasks.run(
            document.owner("serve"), title, start, started, lambda error: self.failed.emit(document, error)
        )

    def stop(self, document: OpenDocument) -> None:
        """Offer the dataset of a document no longer."""
        service = self._services.pop(document.number, None)
        if service is not None:
            service.stop()
            self.changed.emit()

    def _added(self, document: OpenDocument) -> None:
        document.hierarchyChanged.connect(lambda: self._offer(document))

    def _offer(self, document: OpenDocument) -> None:
        """Offer the newest state of a document."""
        service = self._services.get(document.number)
        if service is not None and document.dataset is not None:
            service.offer(document.dataset)


class MessageCommands(CommandGroup):
    """The commands about messages; the view itself is one of the tabs."""

    def __init__(
        self,
        frame: Frame,
        *,
        messages: MessagesTab,
    ) -> None:
        super().__init__(frame)
        self._messages = messages

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.compare_orders)

    def conditions(self) -> dict[str, bool]:
        """Return whether the current document is a stream."""
        document = self._current
        return {"has_messages": document is not None and document.stream.index is not None}

    def compare_orders(self) -> None:
        """Show both byte orders of the current stream side by side."""
        link = self._messages.link
        if link is not None:
            link.compare_orders()


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
        from refbrowser.app.facets.stream_dialogs import AppendDialog

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
        from refbrowser.app.facets.stream_dialogs import CompactDialog

        if self._current is not None:
            self._show(CompactDialog(self._current, self._frame.window()), self._current)

    def repair_stream(self) -> None:
        """Ask where to write what is sound of the current stream, and do it."""
        from refbrowser.app.facets.stream_dialogs import RepairDialog

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
