"""The chunk map in its dock: made when the plotting library is loaded; it then shows what the plot shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.widgets.parts import one_shot

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.panes.chunk_map_pane import ChunkMapPane
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.shell.centre import Centre
    from refbrowser.app.shell.docks import Docks
    from refbrowser.app.shell.frame import Frame
    from refbrowser.app.shell.navigation import Navigation
    from refbrowser.app.shell.tasks import TaskControl

_DOCK = "chunkMapDock"


class ChunkMapDock(QObject):
    """Keeps the chunk map of one window in step with its plot.

    Signals
    -------
    made(object)
        The pane is there.
    """

    made = Signal(object)

    def __init__(
        self,
        frame: Frame,
        *,
        centre: Centre,
        docks: Docks,
        navigation: Navigation,
    ) -> None:
        super().__init__(frame.window())
        self._frame = frame
        self._centre = centre
        self._docks = docks
        self._navigation = navigation
        self._plot: PlotPane | None = None
        self.pane: ChunkMapPane | None = None
        # The plot is cleared before it shows another array: only what stays is looked at.
        self._soon = one_shot(self, 0, self._follow)
        self._centre.plotMade.connect(self._prepare)

    def _prepare(self, plot: PlotPane) -> None:
        """Load what the map needs on a worker thread: numpy and the engine are there already, most of it."""
        self._plot = plot

        def load(_control: TaskControl) -> None:
            import refbrowser.app.panes.chunk_map_pane  # noqa: F401

        self._frame.tasks.run(
            "prepare chunk map", self._frame.tasks.PREPARING, load, lambda _none: self._make()
        )

    def _make(self) -> None:
        from refbrowser.app.panes.chunk_map_pane import ChunkMapPane

        plot = self._plot
        if plot is None or self.pane is not None:
            return
        pane = self.pane = ChunkMapPane()
        self._docks.fill({_DOCK: pane})
        self._docks.follow_sight(_DOCK, pane.loader.set_awake)
        pane.chunkChosen.connect(self._navigation.show_chunk)
        self.made.emit(pane)
        pane.set_plot(plot)
        plot.arrayChanged.connect(self._soon.start)
        self._frame.documents.currentChanged.connect(pane.leave)
        self._follow()

    def show_anew(self, document: OpenDocument) -> None:
        """Map the chunks again where they are those of this document: more is known of them."""
        plot, pane = self._plot, self.pane
        node = None if plot is None else plot.array()
        if pane is not None and node is not None and pane.shows(document, node.path):
            pane.set_array(document, node)

    def _follow(self) -> None:
        """Show the chunks of the array that is plotted."""
        plot, pane = self._plot, self.pane
        if plot is None or pane is None:
            return
        document, node = self._navigation.plotted_document(), plot.array()
        if document is None or node is None:
            pane.clear()
        elif not pane.shows(document, node.path):
            pane.set_array(document, node)
