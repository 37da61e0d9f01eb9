"""Makes the chunk map off the GUI thread, and finds out all about the chunk under the pointer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl, Tasks
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.engine.jobs import Priority
from refbrowser.engine.reading.chunk_log import ReadState
from refbrowser.views.chunks.chunk_audit import ChunkAudit
from refbrowser.views.chunks.chunk_colouring import ColourBy, ColouredMap, coloured
from refbrowser.views.chunks.chunk_facts import ChunkFacts, chunk_facts, facts_line, stale_of
from refbrowser.views.chunks.chunk_map import ChunkLayout, ChunkMapValues, MapSource, manifest_in
from refbrowser.views.chunks.inner_chunks import InnerManifest

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.engine.audit.audit_result import AuditResult
    from refbrowser.engine.jobs import JobStatus
    from refbrowser.model.nodes import ArrayNode


#: While reads are under way the log is looked at this often, in milliseconds.
PACE = 100
#: What is known so far is shown this often while a map fills, in seconds.
SHOWN = 0.05
#: Titles of this kind of work in the list of jobs.
_TITLE = "Map the chunks of"


def source_of(document: OpenDocument, node: ArrayNode) -> MapSource:
    """Return where the values of a node's chunk map come from."""
    dataset, saved = document.dataset, document.saved_document
    assert dataset is not None
    before = None
    if isinstance(node.manifest, InnerManifest):
        # What was edited, and read, is told of shards.
        return MapSource(node.manifest, locked=dataset.access.memory.locked)
    if saved is not None and saved is not dataset.document:
        before = manifest_in(node.manifest, saved)
    log = dataset.session.chunk_log.of(dataset.access.memory, node.path, len(node.shape))
    return MapSource(node.manifest, before, log, dataset.access.memory.locked)


#: What is computed: the whole map, and the part of it that is looked at more closely.
_WHOLE, _DETAIL = "chunk-map", "chunk-map-detail"


class MapLoader(QObject):
    """The values of one map, whole and (where that leaves chunks out) of the part that is seen.

    Signals
    -------
    shown(object)
        The `ColouredMap`s to paint, the whole first.
    """

    shown = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document: OpenDocument | None = None
        self._title = self._path = ""
        #: The result of an audit that the map shows.
        self._audited: AuditResult | None = None
        self._audit, self._audit_of = ChunkAudit(), ""
        self.by = ColourBy.STATE
        self.source: MapSource | None = None
        self.whole: ChunkMapValues | None = None
        self._detail: ChunkMapValues | None = None
        self._maps: dict[str, ColouredMap] = {}
        self._is_awake = False
        self._followed: Tasks | None = None
        self._works = {what: Latest(self, what) for what in (_WHOLE, _DETAIL)}
        self._timer = one_shot(self, PACE, self._look)

    @property
    def is_busy(self) -> bool:
        """Whether anything is being computed."""
        return any(work.is_running for work in self._works.values())

    def set_map(self, document: OpenDocument, node: ArrayNode, layout: ChunkLayout) -> None:
        """Show the chunks of an array in a layout."""
        self.clear()
        document.audit.changed.connect(self._audit_changed)
        self._path = node.path
        self._document, self._title = document, f"{_TITLE} {node.path}"
        self._follow_jobs()
        self.source = source_of(document, node)
        self.whole = ChunkMapValues.whole(self.source, layout)
        self._update(_WHOLE, self.whole)

    def set_by(self, by: ColourBy) -> None:
        """Colour by something else."""
        if by is not self.by:
            self.by = by
            self.refresh()

    def clear(self) -> None:
        """Let go of everything."""
        self.stop()
        if self._document is not None:
            self._document.audit.changed.disconnect(self._audit_changed)
        self._document = self.source = self.whole = self._detail = None
        self._maps = {}
        self._follow_jobs()

    def _follow_jobs(self) -> None:
        """Look at what was read whenever a job goes on, while somebody sees it."""
        tasks = None if self._document is None or not self._is_awake else self._document.tasks
        if tasks is self._followed:
            return
        if self._followed is not None:
            self._followed.statusChanged.disconnect(self._jobs_changed)
        if tasks is not None:
            tasks.statusChanged.connect(self._jobs_changed)
        self._followed = tasks

    def stop(self) -> None:
        """Compute nothing more."""
        self._timer.stop()
        for work in self._works.values():
            work.cancel()

    def set_awake(self, awake: bool) -> None:
        """Follow reads, or not while nobody sees the map."""
        if awake and not self._is_awake:
            self._is_awake = True
            self._follow_jobs()
            self.refresh()
        elif not awake:
            self._is_awake = False
            self._follow_jobs()
            self.stop()

    def refresh(self) -> None:
        """Bring the map up to date."""
        if self.whole is not None:
            self._update(_WHOLE, self.whole)
        if self._detail is not None:
            self._update(_DETAIL, self._detail)

    def look_closer(self, rows: range, columns: range) -> None:
        """Look at every chunk of a part of the map, where the whole leaves chunks out."""
        whole = self.whole
        if whole is None or self.source is None or not whole.is_sampled:
            return
        if len(rows) * len(columns) * 4 > whole.size:
            self._drop_detail()
        elif self._detail is None or not self._detail.covers(rows, columns):
            self._drop_detail()
            layout = whole.layout
            part = _widened(rows, layout.rows), _widened(columns, layout.columns)
            self._detail = ChunkMapValues(self.source, layout, *part)
            self._update(_DETAIL, self._detail)

    def _drop_detail(self) -> None:
        if self._detail is not None:
            self._works[_DETAIL].cancel()
            self._detail = None
            if self._maps.pop(_DETAIL, None) is not None:
                self._tell()

    def _update(self, what: str, values: ChunkMapValues) -> None:
        """Fill values as far as they are not, take what is new in the log, and colour them."""
        document, by, path = self._document, self.by, self._path
        if document is None or not self._is_awake:
            return
        result = self._audited = document.audit.result

        def work(control: TaskControl) -> ColouredMap:
            with values.lock:
                if values.audit.result is not result:
                    if self._audit.result is not result or self._audit_of != path:
                        # Of another slice it is the same.
                        self._audit, self._audit_of = ChunkAudit.of(result, path), path
                    values.take_audit(self._audit)
                told = time.monotonic() - SHOWN
                for _ in values.fill(control.check):
                    if time.monotonic() - told >= SHOWN and not values.is_complete:
                        values.take_news()
                        control.send(coloured(values, by))
                        told = time.monotonic()
                values.take_news()
                return coloured(values, by)

        def show(found: ColouredMap) -> None:
            self._maps[what] = found
            self._tell()

        def done(found: ColouredMap) -> None:
            show(found)
            self._audit_changed()

        self._works[what].run(document, self._title, work, done, received=show)

    def _tell(self) -> None:
        self.shown.emit([self._maps[what] for what in self._works if what in self._maps])

    def _audit_changed(self) -> None:
        """Show what an audit found meanwhile, once the map is made of what was found before."""
        document = self._document
        if document is None or not self._is_awake or document.audit.result is self._audited:
            return
        for what, values in ((_WHOLE, self.whole), (_DETAIL, self._detail)):
            if values is not None and not self._works[what].is_running:
                self._update(what, values)

    # Reads

    def _jobs_changed(self, _statuses: list[JobStatus]) -> None:
        if self.whole is not None and not self._timer.isActive():
            self._timer.start()

    def _look(self) -> None:
        """Take what is new in the log; again a little later while anything runs."""
        if not self._is_awake or self._document is None:
            return
        for what, values in ((_WHOLE, self.whole), (_DETAIL, self._detail)):
            if values is not None and values.has_news and not self._works[what].is_running:
                self._update(what, values)
        others = (
            status
            for status in self._document.tasks.statuses()
            if not status.state.finished and status.job.title != self._title
        )
        if any(others):
            self._timer.start()


def _widened(part: range, count: int) -> range:
    """Return a part with half of it more on each side, so that a short pan needs nothing new."""
    more = len(part) // 2
    return range(max(0, part.start - more), min(count, part.stop + more))


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
        self._latest = Latest(self, _OWNER)
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
        self._latest.cancel()
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
        if coords is None or node is None or not node.has_manifest or self._cell is None:
            self.said.emit("")
        elif self.facts is None or whole is None:
            self.said.emit(node.manifest.key(coords))
        else:
            state, seconds = whole.read_at(*self._cell)
            log = whole.source.log
            error = log.error(coords) if state == ReadState.FAILED and log is not None else None
            found = whole.audited_at(*self._cell)
            stale = stale_of(whole.source, self.facts)
            self.said.emit(facts_line(self.facts, state, seconds, error, stale, found))

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
        self._latest.run(document, title, look, found, failed, priority=Priority.POINTER)
