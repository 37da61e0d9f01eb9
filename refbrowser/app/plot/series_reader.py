"""Reads series off the GUI thread, one after the other; a costly one is asked about first."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from refbrowser.app.plot.reader import PlotSource
from refbrowser.app.shell.latest import Latest
from refbrowser.app.shell.tasks import TaskControl
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.picture import Picture
from refbrowser.views.plot.plan import ViewPlan
from refbrowser.views.plot.series import SeriesCost, column_of

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobHandle

#: News are looked for this often, in milliseconds.
PACE = 50
_OWNER = "plot-series"


@dataclass(slots=True, eq=False)
class SeriesRead:
    """One series that is read, was read, or waits.

    Attributes
    ----------
    picture
        Its values; empty before they come.
    cost
        What it takes, where that is asked about.
    is_asked
        Whether it waits for an answer.
    error
        Why nothing of it could be read.
    """

    node: ArrayNode
    plan: ViewPlan
    picture: Picture
    is_allowed: bool = False
    cost: SeriesCost | None = None
    is_asked: bool = False
    error: BaseException | None = field(default=None)

    @property
    def column(self) -> tuple[int, ...]:
        """The column of chunks that it is in."""
        return column_of(self.plan, self.node)


class SeriesReader(QObject):
    """One job at a time, so that series in the same chunks share them.

    Signals
    -------
    changed()
        More has come, or something has ended, or is asked.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._latest = Latest(self, _OWNER)
        self._document: PlotSource | None = None
        self._waiting: deque[SeriesRead] = deque()
        self._handle: JobHandle | None = None
        self._seen = -1
        #: Columns of chunks that were read or allowed: they are in the cache, or were paid for.
        self._known: set[tuple[int, ...]] = set()
        self.current: SeriesRead | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(PACE)
        self._timer.timeout.connect(self._look)

    @property
    def is_reading(self) -> bool:
        """Whether anything is still to come."""
        return self.current is not None or bool(self._waiting)

    def request(
        self, document: PlotSource, node: ArrayNode, plan: ViewPlan, *, allowed: bool = False
    ) -> SeriesRead:
        """Read a series after those that wait; `allowed`: without a question."""
        read = SeriesRead(node, plan, Picture(node, plan), is_allowed=allowed)
        self._document = document
        self._put(read)
        return read

    def allow(self, reads: list[SeriesRead]) -> None:
        """Read what was asked about."""
        for read in reads:
            read.is_allowed, read.is_asked = True, False
            self._put(read)

    def stop(self) -> None:
        """Give up reading; what has come stays."""
        from refbrowser.io.cancel import Cancelled

        self._latest.cancel()
        self._timer.stop()
        for read in (self.current, *self._waiting):
            if read is not None:
                read.picture.finished, read.error = True, Cancelled()
        self._waiting.clear()
        self.current = self._handle = None
        self.changed.emit()

    def forget(self) -> None:
        """Give up reading, and ask again about everything."""
        self.stop()
        self._known.clear()
        self._document = None

    def _put(self, read: SeriesRead) -> None:
        self._waiting.append(read)
        if self.current is None:
            self._next()

    def _next(self) -> None:
        self.current = self._handle = None
        document = self._document
        dataset = None if document is None else document.dataset
        if document is None or dataset is None or not self._waiting:
            self._timer.stop()
            self.changed.emit()
            return
        read = self.current = self._waiting.popleft()
        if read.column in self._known:
            read.is_allowed = True
        session, access = dataset.session, dataset.access.at_once()

        allowed = read.is_allowed

        def work(control: TaskControl) -> SeriesCost | None:
            from refbrowser.views.plot.reading import read_picture
            from refbrowser.views.plot.series import cost_of

            cost = None if allowed else cost_of(session, access, read.node, read.plan)
            if cost is not None and cost.asks:
                return cost
            read_picture(session, access, read.picture, control.token, control.progress)
            return None

        def done(cost: SeriesCost | None) -> None:
            if cost is not None:
                read.cost, read.is_asked = cost, True
            else:
                self._known.add(read.column)
                read.picture.finished = True
            self._next()

        def failed(error: BaseException) -> None:
            read.error, read.picture.finished = error, True
            self._next()

        self._seen = -1
        title = f"Series of {read.node.path}"
        self._handle = self._latest.run(document, title, work, done, failed)
        self._timer.start()
        self.changed.emit()

    def _look(self) -> None:
        read = self.current
        status = None if self._handle is None else self._handle.status
        if status is not None and status.state == "cancelled":
            # In the list of jobs: nobody is called then.
            self.stop()
        elif read is not None and read.picture.arrived != self._seen:
            self._seen = read.picture.arrived
            started = time.monotonic()
            self.changed.emit()
            # Drawing takes a part of the time only, however long a series is.
            self._timer.setInterval(max(PACE, round((time.monotonic() - started) * 3000)))
