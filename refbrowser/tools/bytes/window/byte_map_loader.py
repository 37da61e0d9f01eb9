"""Makes byte maps and plans off the GUI thread, the newest request first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.engine.jobs import Priority
from refbrowser.errors import RefbrowserError
from refbrowser.io.plan import AUTOMATIC, PlanChoice
from refbrowser.model.reference import ByteRange, WholeFile
from refbrowser.tools.bytes.report.byte_map import ByteMap, byte_maps
from refbrowser.tools.bytes.report.file_source import FileSource
from refbrowser.tools.bytes.report.live_plan import LivePlan, ViewNeeds
from refbrowser.tools.bytes.report.target_files import TargetFiles, target_files

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.model.selection import Selection
    from refbrowser.tools.bytes.report.byte_runs import Runs

_FILES, _MAP, _NEEDS, _PLAN, _KEY = "byte-files", "byte-map", "byte-needs", "byte-plan", "byte-key"


def file_source(document: OpenDocument) -> FileSource | None:
    """Return where what is known of the files of a document comes from; None before it is read."""
    dataset = document.dataset
    if dataset is None:
        return None
    return FileSource(dataset.document, dataset.hierarchy, dataset.access, dataset.session)


class ByteMapLoader(QObject):
    """What is known of the files of one document, of one of them, and of the view.

    Signals
    -------
    filesFound(), mapFound(), needsFound(), planFound()
        `files`, `shown`, `needs` or the plans are there, or other ones.
    keyFound(str, int)
        A key that was looked up refers to this file, from this byte on.
    failed(object)
        Why there is no map.
    """

    filesFound = Signal()
    mapFound = Signal()
    needsFound = Signal()
    planFound = Signal()
    keyFound = Signal(str, object)
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._works = {what: Latest(self, what) for what in (_FILES, _MAP, _NEEDS, _PLAN, _KEY)}
        self._document: OpenDocument | None = None
        self._reset()

    def _reset(self) -> None:
        self.files: TargetFiles | None = None
        self.url: str | None = None
        self.shown: ByteMap | None = None
        self.needs: ViewNeeds | None = None
        self.used: Runs | None = None
        self.tried: LivePlan | None = None
        self.usual: LivePlan | None = None

    @property
    def is_busy(self) -> bool:
        """Whether anything is being computed."""
        return any(work.is_running for work in self._works.values())

    def set_document(self, document: OpenDocument | None) -> None:
        """Look at another document, or at another state of it."""
        for work in self._works.values():
            work.cancel()
        self._document = document
        self._reset()

    def stop(self) -> None:
        """Compute nothing more."""
        for work in self._works.values():
            work.cancel()

    def find_files(self) -> None:
        """List the files."""
        document = self._document
        source = None if document is None else file_source(document)
        if document is None or source is None:
            return

        def work(control: TaskControl) -> TargetFiles:
            return target_files(source, control.check)

        def done(found: TargetFiles) -> None:
            self.files = found
            self.filesFound.emit()

        self._works[_FILES].run(document, f"List the files of {document.title}", work, done, self.failed.emit)

    def map_file(self, url: str) -> None:
        """Map a file."""
        document = self._document
        source = None if document is None else file_source(document)
        if document is None or source is None:
            return
        if url != self.url:
            self.shown = self.used = self.tried = self.usual = None
        self.url = url

        def work(control: TaskControl) -> ByteMap:
            found: ByteMap | None = None
            for each in byte_maps(source, url, control.check):
                if found is not None:
                    control.send(found)
                found = each
            assert found is not None
            return found

        def done(found: ByteMap) -> None:
            self.shown = found
            self.mapFound.emit()

        self._works[_MAP].run(
            document, f"Map the bytes of {url or document.title}", work, done, self.failed.emit, received=done
        )

    def find_needs(self, document: OpenDocument, node: ArrayNode, selection: Selection) -> None:
        """Find out which bytes a view needs."""
        dataset = document.dataset
        if dataset is None or document is not self._document:
            return
        session, access = dataset.session, dataset.access

        def work(_control: TaskControl) -> ViewNeeds | None:
            try:
                return ViewNeeds.of(session, node, access, selection)
            except RefbrowserError:
                # The plot tells why it cannot be read.
                return None

        def done(found: ViewNeeds | None) -> None:
            self.needs = found
            self.used = self.tried = self.usual = None
            self.needsFound.emit()

        self._works[_NEEDS].run(document, f"Plan the view of {node.path}", work, done)

    def plan(self, choice: PlanChoice) -> None:
        """Plan the view for the file that is shown, as the program does and as is tried."""
        document, needs, url = self._document, self.needs, self.url
        dataset = None if document is None else document.dataset
        if document is None or dataset is None or needs is None or url is None:
            self.planFound.emit()
            return
        session, access = dataset.session, dataset.access

        def work(_control: TaskControl) -> tuple[Runs, LivePlan, LivePlan]:
            usual = LivePlan.of(needs, session, access, url)
            tried = usual if choice == AUTOMATIC else LivePlan.of(needs, session, access, url, choice)
            return needs.used(url), usual, tried

        def done(found: tuple[Runs, LivePlan, LivePlan]) -> None:
            self.used, self.usual, self.tried = found
            self.planFound.emit()

        self._works[_PLAN].run(document, f"Plan the view of {needs.path}", work, done)

    def find_key(self, key: str) -> None:
        """Find out which bytes a key refers to."""
        document = self._document
        dataset = None if document is None else document.dataset
        if document is None or dataset is None:
            return
        state = dataset.document

        def work(_control: TaskControl) -> tuple[str, int] | None:
            try:
                found = state.expansion.reference(key)
            except RefbrowserError:
                return None
            if isinstance(found, ByteRange):
                return found.url, found.offset
            return (found.url, 0) if isinstance(found, WholeFile) else None

        def done(found: tuple[str, int] | None) -> None:
            if found is not None:
                self.keyFound.emit(*found)

        self._works[_KEY].run(
            document, f"Find the bytes of {key[:60]}", work, done, priority=Priority.POINTER
        )
