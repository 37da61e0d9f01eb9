"""The tab of messages: it is there for streams, and what it shows is made with the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from refbrowser.app.shell.centre import MESSAGES
from refbrowser.app.widgets.parts import one_shot

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.facets.stream.messages_link import MessagesLink
    from refbrowser.app.shell.main_window import MainWindow
    from refbrowser.app.shell.tasks import TaskControl


class MessagesTab(QObject):
    """Keeps the tab in step with the current document of one window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._is_loading = False
        self.link: MessagesLink | None = None
        self._soon = one_shot(self, 0, self._update)
        window.documents.currentChanged.connect(lambda _document: self._soon.start())
        window.documents.added.connect(self._added)
        window.centre.plotMade.connect(lambda _plot: self._soon.start())

    def _added(self, document: OpenDocument) -> None:
        document.documentChanged.connect(lambda: self._changed(document))
        document.savedChanged.connect(lambda: self._changed(document))
        document.hierarchyChanged.connect(lambda: self._described(document))
        document.stream.failed.connect(self._failed)

    def _changed(self, document: OpenDocument) -> None:
        if document is self._window.documents.current:
            self._soon.start()

    def _described(self, document: OpenDocument) -> None:
        if self.link is not None and document.stream.index is not None:
            self.link.go_back(document)

    def _failed(self, error: BaseException) -> None:
        self._window.centre.error_bar.show_error("The stream cannot be shown so", error)
        self._soon.start()

    def _update(self) -> None:
        """Show the messages of the current document, or nothing."""
        window, document = self._window, self._window.documents.current
        if document is not None and not document.is_open and document.error is None:
            # Whether the tab stays is known when the document is read.
            return
        has_messages = document is not None and document.stream.index is not None
        window.centre.show_late_tab(MESSAGES, has_messages)
        if self.link is not None:
            self.link.set_document(document)
        elif has_messages and window.centre.plot is not None and not self._is_loading:
            self._load()

    def _load(self) -> None:
        """Load what is needed on a worker thread; it is made then."""
        self._is_loading = True

        def load(_control: TaskControl) -> None:
            import refbrowser.app.facets.stream.messages_link
            import refbrowser.app.facets.stream.messages_pane  # noqa: F401

        self._window.tasks.run(
            "prepare messages", self._window.tasks.PREPARING, load, lambda _none: self._make()
        )

    def _make(self) -> None:
        from refbrowser.app.facets.stream.as_of_bar import AsOfBar
        from refbrowser.app.facets.stream.byte_order_bar import ByteOrderBar
        from refbrowser.app.facets.stream.messages_link import MessagesLink
        from refbrowser.app.facets.stream.messages_pane import MessagesPane

        window, plot = self._window, self._window.centre.plot
        if plot is None or self.link is not None:
            return
        pane, as_of, order = MessagesPane(plot), AsOfBar(), ByteOrderBar()
        window.centre.add_late(MESSAGES, pane, (as_of, order))
        self.link = MessagesLink(window, plot, pane, as_of, order)
        window.layout_kept.restore_messages(pane)
        self._update()
