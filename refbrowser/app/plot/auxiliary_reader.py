"""The auxiliary coordinates of the picture on the screen, read once it is there."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from refbrowser.app.plot import background
from refbrowser.app.plot.source import PlotSource
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.plan import ViewPlan
from refbrowser.views.plot.reading import Auxiliary, AuxiliaryNode, auxiliary_nodes


class AuxiliaryReader(QObject):
    """Holds what was read last.

    Signals
    -------
    came()
        `found` is another one.
    """

    came = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.found: tuple[Auxiliary, ...] = ()
        self._read_for: object = None

    def clear(self) -> None:
        """Let go of everything."""
        self.found, self._read_for = (), None

    def read(self, document: PlotSource, node: ArrayNode, plan: ViewPlan) -> None:
        """Read the auxiliary coordinates of what a plan reads, unless they are here."""
        assert document.hierarchy is not None
        nodes = auxiliary_nodes(document.hierarchy, node)
        wanted = (nodes, plan.ranges, plan.slice.axes, _other_indices(nodes, plan))
        if wanted == self._read_for:
            return
        self._read_for = wanted
        if nodes:
            background.read_auxiliary(document, nodes, plan, self._came)
        elif self.found:
            self._came(())

    def _came(self, found: tuple[Auxiliary, ...]) -> None:
        self.found = found
        self.came.emit()


def _other_indices(nodes: tuple[AuxiliaryNode, ...], plan: ViewPlan) -> dict[int, int]:
    """Return the place of the slice along the dimensions of the coordinates that are on no axis."""
    used = {dimension for each in nodes for dimension in each.dimensions}
    return {dimension: plan.slice.indices[dimension] for dimension in used - set(plan.slice.axes)}
