"""Byte map and costs in their docks: made when one of them is first seen; they follow the plot and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.widgets.parts import one_shot

if TYPE_CHECKING:
    from refbrowser.app.bytes.byte_map_pane import ByteMapPane
    from refbrowser.app.bytes.cost_pane import CostPane
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.shell.centre import Centre
    from refbrowser.app.shell.docks import Docks
    from refbrowser.app.shell.frame import Frame
    from refbrowser.app.shell.navigation import Navigation
    from refbrowser.app.shell.tasks import TaskControl

BYTES, COST = "byteMapDock", "costDock"


class ByteDocks(QObject):
    """Keeps byte map and costs of one window in step with its plot.

    Signals
    -------
    exportWanted(str, str)
        An array is to be exported with chunks of a shape.
    explainWanted(str)
        A key is to be explained.
    """

    exportWanted = Signal(str, str)
    explainWanted = Signal(str)

    def __init__(self, frame: Frame, *, centre: Centre, docks: Docks, navigation: Navigation) -> None:
        super().__init__(frame.window())
        self._frame = frame
        self._centre = centre
        self._docks = docks
        self._navigation = navigation
        self._plot: PlotPane | None = None
        self.bytes: ByteMapPane | None = None
        self.cost: CostPane | None = None
        #: A chunk that is shown once its array is plotted: path and coordinates.
        self._wanted: tuple[str, tuple[int, ...]] | None = None
        self._is_asked = False
        #: The dock that gets the keyboard.
        self._asked_for: str | None = None
        # The plot is cleared before it shows another array: only what stays is looked at.
        self._soon = one_shot(self, 0, self._follow)
        centre.plotMade.connect(self._plot_made)
        for name in (BYTES, COST):
            docks[name].visibilityChanged.connect(lambda seen: self._prepare() if seen else None)

    def show_byte_map(self) -> None:
        """Bring the byte map to the front."""
        self._show(BYTES)

    def show_cost(self) -> None:
        """Bring the costs to the front."""
        self._show(COST)

    def _show(self, name: str) -> None:
        self._docks.raise_(name)
        self._asked_for = name
        self._focus()

    def _focus(self) -> None:
        """Give the keyboard to what was asked for, once it is there."""
        if self.bytes is None or self.cost is None or self._asked_for is None:
            return
        (self.bytes.view if self._asked_for == BYTES else self.cost.grid).setFocus()
        self._asked_for = None

    def _plot_made(self, plot: PlotPane) -> None:
        self._plot = plot
        if any(not self._docks[name].visibleRegion().isEmpty() for name in (BYTES, COST)):
            self._prepare()

    def _prepare(self) -> None:
        """Load what the panes need on a worker thread, once one of them is seen."""
        if self._plot is None or self._is_asked:
            return
        self._is_asked = True

        def load(_control: TaskControl) -> None:
            import refbrowser.app.bytes.byte_map_pane
            import refbrowser.app.bytes.cost_pane  # noqa: F401

        self._frame.tasks.run(
            "prepare byte map", self._frame.tasks.PREPARING, load, lambda _none: self._make()
        )

    def _make(self) -> None:
        from refbrowser.app.bytes.byte_map_pane import ByteMapPane
        from refbrowser.app.bytes.cost_pane import CostPane

        plot = self._plot
        if plot is None or self.bytes is not None:
            return
        self.bytes, self.cost = ByteMapPane(), CostPane()
        self._docks.fill({BYTES: self.bytes, COST: self.cost})
        self.bytes.keyChosen.connect(self._choose)
        self.bytes.keyOpened.connect(self._navigation.show_key)
        self.bytes.explainWanted.connect(self.explainWanted)
        self.cost.exportWanted.connect(self.exportWanted)
        self._centre.references.keySelected.connect(lambda key, _row: self._follow_key(key))
        for pane in (self.bytes, self.cost):
            pane.set_plot(plot)
            self._frame.documents.currentChanged.connect(pane.leave)
        plot.arrayChanged.connect(self._soon.start)
        self._docks.follow_sight(BYTES, self.bytes.set_seen)
        self._docks.follow_sight(COST, self.cost.set_seen)
        self._follow()
        self._focus()

    def _follow(self) -> None:
        """Show what is plotted."""
        plot = self._plot
        if plot is None or self.bytes is None or self.cost is None:
            return
        document, node = self._navigation.plotted_document(), plot.array()
        if document is None or node is None:
            self.bytes.clear()
            self.cost.clear()
            return
        self.bytes.set_array(document, node)
        self.cost.set_array(document, node)
        wanted, self._wanted = self._wanted, None
        if wanted is not None and wanted[0] == node.path and plot.slice_state() is not None:
            plot.show_chunk(wanted[1])

    def _follow_key(self, key: str) -> None:
        if self.bytes is not None:
            self.bytes.follow_key(key)

    def _choose(self, key: str) -> None:
        """Select a key, and plot the chunk that it is."""
        chunk = self._navigation.chunk_of_key(key)
        plotted = self._navigation.plotted()
        if chunk is not None and chunk[0] == plotted:
            self._navigation.show_chunk(chunk[1])
            return
        self._wanted = chunk
        self._navigation.select_key(key)
