"""Docks whose panes are about the plotted array: made late, in step with the plot; the chunk map is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.widgets.small_widgets import one_shot

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.frame.centre import Centre
    from refbrowser.app.frame.frame import Frame
    from refbrowser.app.frame.navigation import Navigation
    from refbrowser.app.panes.array_pane import ArrayPane
    from refbrowser.app.panes.chunk_map_pane import ChunkMapPane
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.widgets.docks import Docks
    from refbrowser.model.nodes import ArrayNode

_DOCK = "chunkMapDock"
#: The panes follow the plot after this pause, in milliseconds: the picture comes first.
AFTER_PICTURE = 40


class PlottedDocks(QObject):
    """Keeps some panes of one window in step with its plot; they are made when their modules are loaded."""

    def __init__(self, frame: Frame, *, centre: Centre, docks: Docks, navigation: Navigation) -> None:
        super().__init__(frame.window())
        self._frame = frame
        self._centre = centre
        self._docks = docks
        self._navigation = navigation
        self._plot: PlotPane | None = None
        #: The panes by the names of their docks; none before they are made.
        self._panes: dict[str, ArrayPane] = {}
        # The plot is cleared before it shows another array: only what stays is looked at.
        self._soon = one_shot(self, AFTER_PICTURE, self._follow)
        centre.tableMade.connect(lambda _table: self._plot_ready())
        centre.plotChosen.connect(self._take_plot)

    def _make(self) -> dict[str, ArrayPane]:
        """Make the panes, and connect what is their own."""
        raise NotImplementedError

    def _plot_ready(self) -> None:
        """Take note that arrays can be plotted: the first view is there."""
        self._plot = self._centre.plot

    def _take_plot(self, plot: PlotPane) -> None:
        """Follow another view from now on."""
        if self._panes and self._plot is not None:
            self._plot.arrayChanged.disconnect(self._soon.start)
            plot.arrayChanged.connect(self._soon.start)
            for pane in self._panes.values():
                pane.set_plot(plot)
            self._soon.start()
        self._plot = plot

    def _fill(self) -> None:
        """Put the panes into their docks, and let them follow the plot."""
        plot = self._plot
        if plot is None or self._panes:
            return
        self._panes = self._make()
        self._docks.fill(self._panes)
        for name, pane in self._panes.items():
            pane.set_plot(plot)
            self._frame.documents.currentChanged.connect(pane.leave)
            self._docks.follow_sight(name, pane.set_seen)
        plot.arrayChanged.connect(self._soon.start)
        self._follow()

    def _follow(self) -> ArrayNode | None:
        """Show the array that is plotted, and return it."""
        document = self._navigation.plotted_document()
        node = None if self._plot is None or document is None else self._plot.array()
        for pane in self._panes.values():
            if document is None or node is None:
                pane.clear()
            elif not pane.shows(document, node.path):
                pane.set_array(document, node)
        return node


class ChunkMapDock(PlottedDocks):
    """Keeps the chunk map; it is loaded when the plotting library is.

    Signals
    -------
    made(object)
        The pane is there.
    """

    made = Signal(object)
    pane: ChunkMapPane | None = None

    def _plot_ready(self) -> None:
        super()._plot_ready()
        # Numpy and the engine are there already: most of it.
        self._frame.tasks.load("prepare chunk map", ["refbrowser.app.panes.chunk_map_pane"], self._fill)

    def _make(self) -> dict[str, ArrayPane]:
        from refbrowser.app.panes.chunk_map_pane import ChunkMapPane

        pane = self.pane = ChunkMapPane()
        pane.chunkChosen.connect(self._navigation.show_chunk)
        self.made.emit(pane)
        return {_DOCK: pane}

    def show_anew(self, document: OpenDocument) -> None:
        """Map the chunks again where they are those of this document: more is known of them."""
        plot, pane = self._plot, self.pane
        node = None if plot is None else plot.array()
        if pane is not None and node is not None and pane.shows(document, node.path):
            pane.set_array(document, node)
