"""The tab of nested values: it is there for arrays that have any, and is made with the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from refbrowser.app.shell.centre import VALUES
from refbrowser.app.widgets.parts import one_shot

if TYPE_CHECKING:
    from refbrowser.app.facets.nested.nested_pane import NestedPane
    from refbrowser.app.plot.pane import PlotPane
    from refbrowser.app.shell.main_window import MainWindow
    from refbrowser.app.shell.tasks import TaskControl


class NestedTab(QObject):
    """Keeps the tab in step with the array that one window shows."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._is_loading = False
        self.pane: NestedPane | None = None
        self._soon = one_shot(self, 0, self._update)
        window.centre.plotMade.connect(self._plot_made)
        window.documents.currentChanged.connect(lambda _document: self._soon.start())
        window.documents.added.connect(lambda document: document.hierarchyChanged.connect(self._soon.start))

    def _plot_made(self, plot: PlotPane) -> None:
        plot.viewChanged.connect(self._soon.start)
        self._soon.start()

    def _update(self) -> None:
        window, plot = self._window, self._window.centre.plot
        node = None if plot is None else plot.whole()
        has_nested = node is not None and node.nested is not None
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
            import refbrowser.app.facets.nested.charts_pane
            import refbrowser.app.facets.nested.nested_pane  # noqa: F401

        self._window.tasks.run(
            "prepare values", self._window.tasks.PREPARING, load, lambda _none: self._make()
        )

    def _make(self) -> None:
        from refbrowser.app.facets.nested.nested_pane import NestedPane

        window, plot = self._window, self._window.centre.plot
        if plot is None or self.pane is not None:
            return
        self.pane = NestedPane(plot)
        window.centre.add_late(VALUES, self.pane)
        self.pane.said.connect(window.status.say)
        self.pane.failed.connect(window.centre.error_bar.show_error)
        self.pane.trustReviewRequested.connect(window.commands.permissions.review_trust)
        window.layout_kept.restore_columns(self.pane)
