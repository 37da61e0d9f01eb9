"""The tabs that formats add: each is there for what it shows, and its pane is made for the first of them.

What a pane needs is loaded on a worker thread: a window of another format never pays for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.shell.centre import EXPRESSIONS, MESSAGES, VALUES
from refbrowser.app.widgets.parts import one_shot
from refbrowser.model.values import Rows

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.facets.expressions_link import ExpressionsLink
    from refbrowser.app.facets.host import Host
    from refbrowser.app.facets.messages_link import MessagesLink
    from refbrowser.app.nested.nested_pane import NestedPane
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.shell.tasks import TaskControl


class NestedTab(QObject):
    """Keeps the tab in step with the array that one window shows."""

    def __init__(self, window: Host) -> None:
        super().__init__(window.window())
        self._window = window
        self._is_loading = False
        self.pane: NestedPane | None = None
        self._soon = one_shot(self, 0, self._update)
        window.centre.plotMade.connect(self._plot_made)
        window.documents.currentChanged.connect(lambda _document: self._soon.start())
        window.documents.added.connect(lambda document: document.hierarchyChanged.connect(self._soon.start))

    def read_again(self) -> None:
        """Read again what is shown."""
        if self.pane is not None:
            self.pane.read_again()

    def _plot_made(self, plot: PlotPane) -> None:
        plot.viewChanged.connect(self._soon.start)
        self._soon.start()

    def _update(self) -> None:
        window, plot = self._window, self._window.centre.plot
        node = None if plot is None else plot.whole()
        has_nested = node is not None and isinstance(node.values, Rows)
        # A group or a buffer of the array leaves the tab as it is: what is plotted stays, too.
        window.centre.show_late_tab(VALUES, has_nested)
        window.update_actions()
        # The first nested array of such a file is to be plotted without a pause.
        document = window.documents.current
        is_awkward = document is not None and document.awkward.origin is not None
        if (has_nested or (is_awkward and plot is not None)) and self.pane is None and not self._is_loading:
            self._load()

    def _load(self) -> None:
        """Load what is needed on a worker thread; it is made then."""
        self._is_loading = True

        def load(_control: TaskControl) -> None:
            import refbrowser.app.nested.nested_charts
            import refbrowser.app.nested.nested_pane  # noqa: F401

        self._window.tasks.run(
            "prepare values", self._window.tasks.PREPARING, load, lambda _none: self._make()
        )

    def _make(self) -> None:
        from refbrowser.app.nested.nested_pane import NestedPane

        window, plot = self._window, self._window.centre.plot
        if plot is None or self.pane is not None:
            return
        self.pane = NestedPane(plot)
        window.centre.add_late(VALUES, self.pane)
        self.pane.said.connect(window.say)
        self.pane.failed.connect(window.show_error)
        self.pane.trustReviewRequested.connect(window.review_trust)
        window.layout_kept.restore_columns(self.pane)


class MessagesTab(QObject):
    """Keeps the tab in step with the current document of one window."""

    def __init__(self, window: Host) -> None:
        super().__init__(window.window())
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
        self._window.show_error("The stream cannot be shown so", error)
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
            import refbrowser.app.facets.messages_link
            import refbrowser.app.facets.messages_pane  # noqa: F401

        self._window.tasks.run(
            "prepare messages", self._window.tasks.PREPARING, load, lambda _none: self._make()
        )

    def _make(self) -> None:
        from refbrowser.app.facets.messages_link import AsOfBar, ByteOrderBar, MessagesLink
        from refbrowser.app.facets.messages_pane import MessagesPane

        window, plot = self._window, self._window.centre.plot
        if plot is None or self.link is not None:
            return
        pane, as_of, order = MessagesPane(plot), AsOfBar(), ByteOrderBar()
        window.centre.add_late(MESSAGES, pane, (as_of, order))
        self.link = MessagesLink(window, plot, pane, as_of, order)
        window.layout_kept.restore_look("messagesLook", pane)
        window.layout_kept.restore_columns(pane)
        self._update()


class ExpressionsTab(QObject):
    """Keeps the tab in step with the current document of one window.

    Signals
    -------
    safetyWanted()
        What the file names is to be listed.
    """

    safetyWanted = Signal()

    def __init__(self, window: Host) -> None:
        super().__init__(window.window())
        self._window = window
        self._is_loading = False
        self.link: ExpressionsLink | None = None
        self._soon = one_shot(self, 0, self._update)
        window.documents.currentChanged.connect(lambda _document: self._soon.start())
        window.documents.added.connect(self._added)

    def _added(self, document: OpenDocument) -> None:
        document.documentChanged.connect(lambda: self._changed(document))
        document.hierarchyChanged.connect(lambda: self._changed(document))
        document.awkward.reported.connect(lambda: self._changed(document))

    def _changed(self, document: OpenDocument) -> None:
        if document is self._window.documents.current:
            self._soon.start()

    def _update(self) -> None:
        """Show the expressions of the current document, or nothing."""
        window, document = self._window, self._window.documents.current
        if document is not None and not document.is_open and document.error is None:
            # Whether the tab stays is known when the document is read.
            return
        is_there = document is not None and document.awkward.origin is not None
        window.centre.show_late_tab(EXPRESSIONS, is_there)
        if document is not None:
            document.awkward.look()
        window.update_actions()
        if self.link is not None:
            self.link.set_document(document if is_there else None)
        elif is_there and not self._is_loading:
            self._load()

    def _load(self) -> None:
        """Load what is needed on a worker thread; it is made then."""
        self._is_loading = True

        def load(_control: TaskControl) -> None:
            import refbrowser.app.facets.expressions_link
            import refbrowser.app.facets.expressions_pane  # noqa: F401

        self._window.tasks.run(
            "prepare expressions", self._window.tasks.PREPARING, load, lambda _none: self._make()
        )

    def _make(self) -> None:
        from refbrowser.app.facets.expressions_link import ExpressionsLink, SafetyBar
        from refbrowser.app.facets.expressions_pane import ExpressionsPane

        window = self._window
        if self.link is None:
            pane, bar = ExpressionsPane(), SafetyBar()
            window.centre.add_late(EXPRESSIONS, pane, (bar,))
            self.link = ExpressionsLink(window, pane, bar)
            pane.safetyWanted.connect(self.safetyWanted)
            bar.reviewWanted.connect(self.safetyWanted)
            self._update()
