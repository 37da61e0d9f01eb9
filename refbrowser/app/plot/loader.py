"""Reads pictures off the GUI thread and hands over what has come, a few times a second; the newest wins."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from refbrowser.app.plot.source import PlotSource
from refbrowser.app.shell.tasks import TaskControl
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.picture import Picture
from refbrowser.views.plot.plan import ViewPlan

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobHandle

#: A new picture takes the place of the old one when it is complete, or after this long, in seconds.
HOLD = 0.12
#: News are looked for this often at first, and at most this seldom, in milliseconds.
QUICKEST, SLOWEST = 5, 250
#: Between two looks at a picture that fills, in milliseconds; longer where drawing it takes long.
PACE = 33
#: The part of the time that drawing may take.
DRAWING_SHARE = 0.3


class PictureLoader(QObject):
    """Holds the picture on the screen and the one that is to replace it.

    Parameters
    ----------
    what
        Names the owner of the reads.
    verb
        Begins their title in the list of jobs.

    Signals
    -------
    shown(object)
        Another `Picture` is on the screen.
    filled()
        More of the picture on the screen has come.
    ended(object)
        The `Picture` on the screen is read, failed or cancelled (its `finished` is set).
    """

    shown = Signal(object)
    filled = Signal()
    ended = Signal(object)

    def __init__(self, what: str, parent: QObject | None = None, verb: str = "Plot") -> None:
        super().__init__(parent)
        self._what, self._verb = what, verb
        self._document: PlotSource | None = None
        self._incoming: Picture | None = None
        self._handle: JobHandle | None = None
        self._since = 0.0
        self._seen = 0
        self._told_end = True
        self.current: Picture | None = None
        #: How long the old picture stays while the new one is not complete, in seconds.
        self.hold = HOLD
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._look)

    @property
    def is_reading(self) -> bool:
        """Whether anything is still to come, or to be told."""
        return self._incoming is not None or not self._told_end

    def request(
        self, document: PlotSource, node: ArrayNode, plan: ViewPlan, *, at_once: bool = False
    ) -> None:
        """Read a plan; what was being read before is given up.

        With `at_once` the picture is shown while it is still empty, else the old one stays for a moment.
        """
        dataset = document.dataset
        if dataset is None:
            return
        picture = Picture(node, plan)
        session, access = dataset.session, dataset.access.at_once()

        def read(control: TaskControl) -> None:
            from refbrowser.views.plot.reading import read_picture

            read_picture(session, access, picture, control.token, control.progress)

        def done(_result: None) -> None:
            picture.finished = True
            self._look_soon()

        def failed(error: BaseException) -> None:
            picture.error = error
            picture.finished = True
            self._look_soon()

        self._document = document
        self._incoming = picture
        self._since = time.monotonic() - (self.hold if at_once else 0.0)
        self._handle = document.tasks.run(
            document.owner(self._what), f"{self._verb} {node.path}", read, done, failed
        )
        self._timer.start(0 if at_once else QUICKEST)

    def stop(self) -> None:
        """Give up reading; what has come stays."""
        if self._document is not None:
            self._document.tasks.cancel_owner(self._document.owner(self._what))
        self._timer.stop()
        self._incoming = self._handle = None
        self._told_end = True
        if self.current is not None:
            self.current.finished = True

    def clear(self) -> None:
        """Give up reading and let go of the picture."""
        self.stop()
        self.current = self._document = None

    def _look_soon(self) -> None:
        self._timer.start(0)

    def _look(self) -> None:
        started = time.monotonic()
        self._note_ends()
        incoming = self._incoming
        if incoming is not None and (incoming.finished or started - self._since >= self.hold):
            self.current, self._incoming = incoming, None
            self._seen, self._told_end = incoming.arrived, False
            self.shown.emit(incoming)
        elif self.current is not None and self.current.arrived != self._seen:
            self._seen = self.current.arrived
            self.filled.emit()
        current = self.current
        if current is not None and current.finished and not self._told_end and current.arrived == self._seen:
            self._told_end = True
            self.ended.emit(current)
        if self.is_reading:
            cost = (time.monotonic() - started) * 1000
            pace = QUICKEST if self._incoming is not None else PACE
            self._timer.start(int(min(SLOWEST, max(pace, cost * (1 / DRAWING_SHARE - 1)))))

    def _note_ends(self) -> None:
        """End a picture whose chunks are all there, and that of a job that the user cancelled.

        The first would else wait for the job's call; the second gets none.
        """
        for picture in (self._incoming, self.current):
            if picture is not None and picture.arrived >= picture.plan.chunks:
                picture.finished = True
        status = self._handle.status if self._handle is not None else None
        if status is not None and status.state == "cancelled":
            from refbrowser.io.cancel import Cancelled

            picture = self._incoming or self.current
            self._handle = None
            if picture is not None and not picture.finished:
                picture.error, picture.finished = Cancelled(), True
