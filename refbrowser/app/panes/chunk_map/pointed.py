"""The chunk that is pointed at: its facts, looked up off the GUI thread, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.panes.chunk_map.loader import MapLoader
from refbrowser.app.shell.tasks import TaskControl
from refbrowser.app.widgets.parts import one_shot
from refbrowser.engine.chunk_log import ReadState
from refbrowser.engine.jobs import Priority
from refbrowser.views.chunks.chunk_facts import ChunkFacts, chunk_facts, facts_line

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.model.nodes import ArrayNode

#: A chunk is looked up once the pointer has rested so long, in milliseconds.
_REST = 30
_OWNER = "chunk-map-point"


class PointedChunk(QObject):
    """Says what is known of one chunk.

    Signals
    -------
    said(str)
        One line; empty when no chunk is pointed at.
    """

    said = Signal(str)

    def __init__(self, loader: MapLoader, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._loader = loader
        self._document: OpenDocument | None = None
        self._node: ArrayNode | None = None
        self._coords: tuple[int, ...] | None = None
        self._cell: tuple[int, int] | None = None
        self._waits = False
        self.facts: ChunkFacts | None = None
        self._timer = one_shot(self, _REST, self._look_up)

    @property
    def is_busy(self) -> bool:
        """Whether the chunk is still being looked up."""
        return self._waits

    def set_map(self, document: OpenDocument, node: ArrayNode) -> None:
        """Point into another array, or another state of it."""
        self.forget()
        self._document, self._node = document, node

    def forget(self) -> None:
        """Point at nothing."""
        self._timer.stop()
        if self._document is not None:
            self._document.tasks.cancel_owner(self._document.owner(_OWNER))
        self._document = self._node = self._coords = self._cell = self.facts = None
        self._waits = False

    def set_chunk(self, coords: tuple[int, ...] | None, cell: tuple[int, int] | None) -> None:
        """Point at a chunk and its cell."""
        if coords == self._coords:
            return
        self._coords, self._cell, self.facts = coords, cell, None
        self._waits = coords is not None
        if coords is not None:
            self._timer.start()
        self.say()

    def say(self) -> None:
        """Tell what is known now; it may have been read since the last time."""
        coords, node, whole = self._coords, self._node, self._loader.whole
        if coords is None or node is None or node.manifest is None or self._cell is None:
            self.said.emit("")
        elif self.facts is None or whole is None:
            self.said.emit(node.manifest.key(coords))
        else:
            state, seconds = whole.read_at(*self._cell)
            log = whole.source.log
            error = log.error(coords) if state == ReadState.FAILED and log is not None else None
            self.said.emit(facts_line(self.facts, state, seconds, error))

    def _look_up(self) -> None:
        document, node, coords, source = self._document, self._node, self._coords, self._loader.source
        if document is None or node is None or coords is None or source is None:
            self._waits = False
            return

        def look(_control: TaskControl) -> ChunkFacts:
            return chunk_facts(source, node, coords)

        def found(facts: ChunkFacts) -> None:
            self._waits = False
            if facts.coords == self._coords:
                self.facts = facts
                self.say()

        def failed(_error: BaseException) -> None:
            self._waits = False

        title = f"Look up a chunk of {node.path}"
        document.tasks.run(document.owner(_OWNER), title, look, found, failed, priority=Priority.POINTER)
