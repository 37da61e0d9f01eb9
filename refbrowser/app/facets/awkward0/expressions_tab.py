"""The tab of expressions: it is there for Awkward 0 files, and its pane is made for the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from refbrowser.app.shell.centre import EXPRESSIONS
from refbrowser.app.widgets.parts import one_shot

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.facets.awkward0.expressions_link import ExpressionsLink
    from refbrowser.app.shell.main_window import MainWindow
    from refbrowser.app.shell.tasks import TaskControl


class ExpressionsTab(QObject):
    """Keeps the tab in step with the current document of one window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
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
            import refbrowser.app.facets.awkward0.expressions_link
            import refbrowser.app.facets.awkward0.expressions_pane  # noqa: F401

        self._window.tasks.run(
            "prepare expressions", self._window.tasks.PREPARING, load, lambda _none: self._make()
        )

    def _make(self) -> None:
        from refbrowser.app.facets.awkward0.expressions_link import ExpressionsLink
        from refbrowser.app.facets.awkward0.expressions_pane import ExpressionsPane
        from refbrowser.app.facets.awkward0.safety_bar import SafetyBar

        window = self._window
        if self.link is None:
            pane, bar = ExpressionsPane(), SafetyBar()
            window.centre.add_late(EXPRESSIONS, pane, (bar,))
            self.link = ExpressionsLink(window, pane, bar)
            self._update()
