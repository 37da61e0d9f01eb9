"""Serving datasets as CDM Remote to programs of this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.commands.copying import CopyCommands
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.workspace.command_group import CommandGroup, by_name

if TYPE_CHECKING:
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.wings.ncstream.serving.service import Service


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
            from refbrowser.wings.ncstream.serving.service import Service

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


class ServiceCommands(CommandGroup):
    """The commands of the submenu CDM Remote."""

    actions = (
        ActionSpec(
            "serve",
            "&Serve this dataset",
            submenu="CDM &Remote",
            when="can_serve",
            check="is_served",
            tip="Serve the dataset as CDM Remote to programs on this machine, or stop serving it",
            menu="&Tools",
        ),
        ActionSpec(
            "copy_service",
            "&Copy its address",
            submenu="CDM &Remote",
            when="is_served",
            tip="Copy the URL at which the dataset is served",
            menu="&Tools",
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._copying = workspace.groups[CopyCommands]
        self._status = workspace.status
        self.serving = Serving(self._workspace.documents, self)
        self.serving.changed.connect(self._serving_changed)
        self.serving.failed.connect(self._serving_failed)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.serve, self.copy_service)

    def conditions(self) -> dict[str, bool]:
        """Return what can be done with the current document."""
        document = self._current
        return {
            "can_serve": document is not None and document.dataset is not None,
            "is_served": document is not None and bool(self.serving.url(document)),
        }

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
        self._workspace.update_actions()

    def _serving_failed(self, document: OpenDocument, error: BaseException) -> None:
        self._workspace.show_error(f"{document.title} could not be served", error)
