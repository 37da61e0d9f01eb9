"""The only way off the GUI thread: functions run in the engine's job queue, results come back here."""

from __future__ import annotations

import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import Any

import shiboken6
from PySide6.QtCore import QObject, QTimer, Signal

from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.engine.jobs import Job, JobControl, JobHandle, JobQueue, JobState, JobStatus, Priority

logger = logging.getLogger(__name__)

#: The queue is looked at this often while work is under way, in milliseconds.
INTERVAL = 16
#: And once so soon after work began: most of it is short, and is shown in the same frame.
SOON = 4
#: One look takes at most this long, in seconds; what is left waits for the next one.
BUDGET = 0.004


#: Whether another thread may make classes of Qt. Before Python 3.12 the binding keeps what it knows of them
#: in a table without a lock, which the window's thread looks into at each event: a class that is made at the
#: same moment ends the program, now and then.
CLASSES_ELSEWHERE = sys.version_info >= (3, 12)


def _may_make_classes(module: str) -> bool:
    """Tell whether importing a module may make classes of Qt: below `app` nothing knows it."""
    return not module.startswith("refbrowser.") or module.startswith("refbrowser.app.")


class TaskControl(JobControl):
    """What the function of a task holds: cancel token, progress, and `send` for values before its result."""

    def __init__(self, control: JobControl, send: Callable[[Any], None]) -> None:
        super().__init__(control.token)
        self.progress = control.progress  # type: ignore[method-assign]
        self.stage = control.stage  # type: ignore[method-assign]
        self.send = send


@dataclass(slots=True)
class _Callbacks:
    owner: str
    done: Callable[[Any], None] | None
    failed: Callable[[BaseException], None] | None
    received: Callable[[Any], None] | None
    followed: Callable[[JobStatus], None] | None
    ended: bool = False


class Tasks(QObject):
    """Runs functions off the GUI thread and calls back on it, a few milliseconds at a time.

    Attributes
    ----------
    is_closed
        Whether nothing can be run any more.

    Signals
    -------
    statusChanged(list)
        The jobs (`JobStatus`) that changed since the last emission, without their values.
    busyChanged(bool)
        Whether any task is still to end: the first one began, or the last one ended.
    failed(object)
        The exception of a task that has no `failed` callback.
    """

    #: Title of work that prepares the program itself: no list of jobs shows it, and nobody cancels it.
    PREPARING = ""

    statusChanged = Signal(list)
    busyChanged = Signal(bool)
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_closed = False
        self._queue: JobQueue | None = None
        self._callbacks: dict[int, _Callbacks] = {}
        self._owners: dict[str, int] = {}
        self._sent: SimpleQueue[tuple[_Callbacks, Any]] = SimpleQueue()
        self._ended: deque[JobStatus] = deque()
        self._told_busy = False
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL)
        self._timer.timeout.connect(self._drain)
        self._soon = one_shot(self, SOON, self._drain)

    def run(
        self,
        owner: str,
        title: str,
        function: Callable[[TaskControl], Any],
        done: Callable[[Any], None] | None = None,
        failed: Callable[[BaseException], None] | None = None,
        *,
        received: Callable[[Any], None] | None = None,
        followed: Callable[[JobStatus], None] | None = None,
        priority: Priority = Priority.VISIBLE,
    ) -> JobHandle:
        """Run `function(control)` on a worker thread; a newer task of the same owner replaces this one.

        Parameters
        ----------
        owner
            Whose work it is, for example ``plot:3``; the older task of that owner is cancelled and none of
            its callbacks is called any more.
        title
            What the list of jobs calls it; `PREPARING` for none.
        done, failed, received
            Called on the GUI thread with the result, with the exception, and with each value that the
            function gave to ``control.send``. A cancelled task calls neither `done` nor `failed`, and as with
            signals, methods of a Qt object that was deleted meanwhile are not called.
        followed
            Called on the GUI thread with each state of the job, that of being cancelled too: how far it is.
        priority
            The smaller goes first.
        """
        callbacks = _Callbacks(owner, done, failed, received, followed)
        self._forget(self._owners.get(owner))
        job = Job(title, priority, owner)
        handle = self._job_queue().submit(
            job,
            lambda control: function(TaskControl(control, lambda value: self._sent.put((callbacks, value)))),
        )
        self._callbacks[handle.number] = callbacks
        self._owners[owner] = handle.number
        # Not started anew: tasks that follow each other quickly would put off what the first one found.
        if not self._timer.isActive():
            self._timer.start()
        if not self._soon.isActive():
            self._soon.start()
        if len(self._callbacks) == 1:
            self._told_busy = True
            self.busyChanged.emit(True)
        return handle

    def load(
        self,
        owner: str,
        modules: Iterable[str],
        done: Callable[[], None],
        failed: Callable[[BaseException], None] | None = None,
    ) -> None:
        """Import modules, which prepares the program, and go on when they are there.

        Parameters
        ----------
        modules
            Gone through on a worker thread, which imports them; those that may make classes of Qt are
            imported between events where another thread must not make any.
        """
        errors: list[Exception] = []

        def work(control: TaskControl) -> None:
            for module in modules:
                control.check()
                if CLASSES_ELSEWHERE or not _may_make_classes(module):
                    import_module(module)
                else:
                    control.send(module)

        def import_here(module: str) -> None:
            try:
                import_module(module)
            except Exception as error:  # noqa: BLE001 - as what is raised on the worker
                errors.append(error)

        def imported(_none: object) -> None:
            if errors:
                (failed or self.failed.emit)(errors[0])
            else:
                done()

        self.run(owner, self.PREPARING, work, imported, failed, received=import_here)

    def cancel(self, number: int) -> None:
        """Cancel one job by its number."""
        if self._queue is not None:
            self._queue.cancel(number)

    def drop(self, number: int) -> None:
        """Cancel one job; none of its callbacks is called any more."""
        self._forget(number)
        self.cancel(number)

    def awaits(self, number: int) -> bool:
        """Tell whether callbacks of a job are still to be called."""
        return number in self._callbacks

    def cancel_owner(self, owner: str) -> None:
        """Cancel an owner's work; none of its callbacks is called any more."""
        self._forget(self._owners.pop(owner, None))
        if self._queue is not None:
            self._queue.cancel_owner(owner)

    def cancel_owners(self, which: Callable[[str], bool]) -> None:
        """Cancel the work of every owner that `which` tells."""
        for owner in [owner for owner in self._owners if which(owner)]:
            self.cancel_owner(owner)

    def statuses(self) -> list[JobStatus]:
        """Return every job that waits, runs or ended lately, oldest first; none that prepares the program."""
        return [] if self._queue is None else _listed(self._queue.statuses())

    def busy(self) -> bool:
        """Tell whether any task is still to end."""
        return bool(self._callbacks)

    def close(self) -> bool:
        """Cancel everything and wait at most 2 s; whether all work has ended."""
        self.is_closed = True
        self._timer.stop()
        self._soon.stop()
        self._callbacks.clear()
        return self._queue is None or self._queue.close(2.0)

    def _job_queue(self) -> JobQueue:
        if self._queue is None:
            self._queue = JobQueue()
        return self._queue

    def _forget(self, number: int | None) -> None:
        callbacks = self._callbacks.pop(number, None) if number is not None else None
        if callbacks is not None:
            callbacks.ended = True

    def _drain(self) -> None:
        stop = time.perf_counter() + BUDGET
        # Ends are taken before values are: what a task sent before its end is then certainly in the queue.
        statuses = [] if self._queue is None else self._queue.drain_events()
        self._ended.extend(status for status in statuses if status.state.finished)
        listed = _listed(statuses)
        if listed:
            self.statusChanged.emit(listed)
        for status in statuses:
            callbacks = self._callbacks.get(status.number)
            if callbacks is not None and callbacks.followed is not None:
                _call(callbacks.followed, status)
        while time.perf_counter() < stop:
            try:
                callbacks, value = self._sent.get_nowait()
            except Empty:
                break
            if callbacks.received is not None and not callbacks.ended:
                _call(callbacks.received, value)
        while self._ended and self._sent.empty():
            self._finish(self._ended.popleft())
            if time.perf_counter() >= stop:
                break
        if not self._callbacks and not self._ended and self._sent.empty() and not self._waiting_jobs():
            self._timer.stop()
        if self._told_busy and not self.busy():
            self._told_busy = False
            self.busyChanged.emit(False)

    def _waiting_jobs(self) -> bool:
        """Tell whether superseded jobs still run, so that the list of jobs sees their end."""
        return self._queue is not None and any(not each.state.finished for each in self._queue.statuses())

    def _finish(self, status: JobStatus) -> None:
        callbacks = self._callbacks.pop(status.number, None)
        if callbacks is None:
            return
        callbacks.ended = True
        if self._owners.get(callbacks.owner) == status.number:
            del self._owners[callbacks.owner]
        if status.state is JobState.DONE and callbacks.done is not None:
            _call(callbacks.done, status.value)
        elif status.state is JobState.FAILED and status.error is not None:
            if callbacks.failed is not None:
                _call(callbacks.failed, status.error)
            else:
                self.failed.emit(status.error)


def _listed(statuses: list[JobStatus]) -> list[JobStatus]:
    return [status for status in statuses if status.job.title != Tasks.PREPARING]


def _call(callback: Callable[[Any], None], value: Any) -> None:
    receiver = getattr(callback, "__self__", None)
    if not isinstance(receiver, QObject) or shiboken6.isValid(receiver):
        callback(value)
