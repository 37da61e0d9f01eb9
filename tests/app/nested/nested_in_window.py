"""The pane of nested values without the rest of the window, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal
from pytestqt.qtbot import QtBot

from refbrowser.app.nested.nested_pane import NestedPane
from refbrowser.app.plot.nested_charts import ChartsPane
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.io.access.access import Access
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy

Show = Callable[..., NestedPane]
ShowCharts = Callable[..., ChartsPane]


class Dataset:
    """What rows are made from that need no bytes."""

    def __init__(self, hierarchy: Hierarchy | None) -> None:
        self.session, self.access = None, Access("/", from_network=False)
        self.hierarchy = hierarchy


class Source(QObject):
    """An opened document, as far as the pane needs one."""

    hierarchyChanged = Signal()

    def __init__(self, tasks: Tasks) -> None:
        super().__init__(tasks)
        self.tasks = tasks
        self.hierarchy: Hierarchy | None = None
        self.dataset: Any = Dataset(None)

    def owner(self, what: str) -> str:
        return f"{what}:1"


class Plot(QObject):
    """The plot that the pane follows."""

    viewChanged = Signal()

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._source = source
        self._node: ArrayNode | None = None

    def whole(self) -> ArrayNode | None:
        return self._node

    def source(self) -> Source:
        return self._source

    def show(self, node: ArrayNode | None, *beside: ArrayNode) -> None:
        """Select an array; `beside` are others of its group."""
        arrays = {each.name: each for each in (node, *beside) if each is not None}
        self._source.hierarchy = Hierarchy(root=GroupNode(arrays=arrays), format="awkward0")
        self._source.dataset = Dataset(self._source.hierarchy)
        self._node = node
        self.viewChanged.emit()


def rest(pane: NestedPane | ChartsPane, qtbot: QtBot) -> None:
    """Wait until a pane has read what it wants."""
    for _ in range(2):
        # What is painted then may want more.
        qtbot.wait(5)
        qtbot.waitUntil(pane.is_settled)
