"""Where the plot of a nested array is: charts of the numbers and lists in it, made with the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from refbrowser.app.plot.header import PlotHeader

if TYPE_CHECKING:
    from refbrowser.app.facets.nested.charts_pane import ChartsPane
    from refbrowser.app.plot.source import PlotSource
    from refbrowser.model.nodes import ArrayNode


class ChartsPage(QWidget):
    """Charts, whose controls stand in the header.

    Signals
    -------
    said(str)
        What is under the pointer.
    settled()
        Nothing is being read any more.
    trustReviewRequested()
        The user wants to review what the document may read.
    """

    said = Signal(str)
    settled = Signal()
    trustReviewRequested = Signal()

    def __init__(self, header: PlotHeader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._header = header
        self._of: tuple[PlotSource, ArrayNode] | None = None
        self.pane: ChartsPane | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)

    def set_array(self, source: PlotSource, node: ArrayNode) -> None:
        """Show the charts of an array; nothing is read again for the same one."""
        if self._of is None or self._of[0] is not source or self._of[1] is not node:
            self._of = source, node
            self._made().set_array(source, node)

    def clear(self) -> None:
        """Show nothing, and stop reading."""
        self._of = None
        if self.pane is not None:
            self.pane.set_array(None, None)

    def is_settled(self) -> bool:
        """Whether all that is to be plotted is read."""
        return self.pane is None or self.pane.is_settled()

    def drawn_part(self) -> QWidget:
        """Return what a picture of the charts is made of."""
        chart = None if self.pane is None else self.pane.stage.currentWidget()
        return self if chart is None else chart

    def restyle(self) -> None:
        """Take the colours of the theme."""
        if self.pane is not None:
            self.pane.restyle()

    def read_again(self) -> None:
        """Read again what the charts are of."""
        if self.pane is not None:
            self.pane.read_again()

    def _made(self) -> ChartsPane:
        from refbrowser.app.facets.nested.charts_pane import ChartsPane

        if self.pane is None:
            self.pane = ChartsPane()
            self._layout.addWidget(self.pane)
            self._header.add_tools(self.pane.tools)
            self.pane.said.connect(self.said)
            self.pane.settled.connect(self.settled)
            self.pane.trustReviewRequested.connect(self.trustReviewRequested)
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self.setFocusProxy(self.pane.focus_target())
            self._tell_shown()
        return self.pane

    def _tell_shown(self) -> None:
        if self.pane is not None:
            self.pane.set_shown(self.isVisible())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tell_shown()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tell_shown()
