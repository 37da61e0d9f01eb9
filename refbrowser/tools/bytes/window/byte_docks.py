"""Byte map and costs in their docks: made when one of them is first seen; they follow the plot and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from refbrowser.app.docks.chunk_map_dock import PlottedDocks

if TYPE_CHECKING:
    from refbrowser.app.frame.centre import Centre
    from refbrowser.app.frame.frame import Frame
    from refbrowser.app.frame.navigation import Navigation
    from refbrowser.app.panes.array_pane import ArrayPane
    from refbrowser.app.widgets.docks import Docks
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.tools.bytes.window.byte_map_pane import ByteMapPane
    from refbrowser.tools.bytes.window.cost_pane import CostPane

BYTES, COST = "byteMapDock", "costDock"


class ByteDocks(PlottedDocks):
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
        super().__init__(frame, centre=centre, docks=docks, navigation=navigation)
        self.bytes: ByteMapPane | None = None
        self.cost: CostPane | None = None
        #: A chunk that is shown once its array is plotted: path and coordinates.
        self._wanted: tuple[str, tuple[int, ...]] | None = None
        self._is_asked = False
        #: The dock that gets the keyboard.
        self._asked_for: str | None = None
        for name in (BYTES, COST):
            docks.follow_sight(name, lambda seen: self._prepare() if seen else None)

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

    def _plot_ready(self) -> None:
        super()._plot_ready()
        if any(map(self._docks.is_seen, (BYTES, COST))):
            self._prepare()

    def _prepare(self) -> None:
        """Load what the panes need on a worker thread, once one of them is seen."""
        if self._plot is None or self._is_asked:
            return
        self._is_asked = True
        modules = ["refbrowser.tools.bytes.window.byte_map_pane", "refbrowser.tools.bytes.window.cost_pane"]
        self._frame.tasks.load("prepare byte map", modules, self._fill)

    def _make(self) -> dict[str, ArrayPane]:
        from refbrowser.tools.bytes.window.byte_map_pane import ByteMapPane
        from refbrowser.tools.bytes.window.cost_pane import CostPane

        self.bytes, self.cost = ByteMapPane(), CostPane()
        self.bytes.keyChosen.connect(self._choose)
        self.bytes.keyOpened.connect(self._navigation.show_key)
        self.bytes.explainWanted.connect(self.explainWanted)
        self.cost.exportWanted.connect(self.exportWanted)
        self._centre.references.keySelected.connect(lambda key, _row: self._follow_key(key))
        return {BYTES: self.bytes, COST: self.cost}

    def _fill(self) -> None:
        super()._fill()
        self._focus()

    def _follow(self) -> ArrayNode | None:
        node, plot = super()._follow(), self._plot
        if node is None or plot is None:
            return node
        wanted, self._wanted = self._wanted, None
        if wanted is not None and wanted[0] == node.path and plot.slice_state() is not None:
            plot.show_chunk(wanted[1])
        return node

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
