"""The datasets that the window offers as CDM Remote, each until it is stopped or its document is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.shell.tasks import TaskControl

if TYPE_CHECKING:
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument
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
