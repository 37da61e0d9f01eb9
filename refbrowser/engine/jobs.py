"""Work off the caller's thread: priorities, cancellation, progress, and the newest request of a view wins."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import Any

from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken

#: A running job tells its progress at most this often, in seconds.
PROGRESS_INTERVAL = 0.02
#: Statuses of finished jobs that are kept for a list of jobs.
KEPT_FINISHED = 200


class Priority(IntEnum):
    """What is worked on first; the smaller number wins."""

    VISIBLE = 0
    POINTER = 1
    NEIGHBOUR = 2
    STATISTICS = 3
    EXPORT = 4


class JobState(StrEnum):
    """Where a job is in its life."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen."""
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


@dataclass(frozen=True, slots=True)
class Job:
    """Description of work: what the list of jobs calls it, how urgent it is, and whose it is.

    A new job with an `owner` cancels the owner's older ones, queued or running; without one it stands alone.
    """

    title: str
    priority: Priority = Priority.VISIBLE
    owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """One job at one moment.

    Attributes
    ----------
    done, total
        Progress in a unit of the job's choice; `total` is None while unknown.
    read_bytes, requests
        What the job has read so far.
    tasks, tasks_total
        Tasks that are done, and all of them, where the job consists of such; else 0.
    started, finished
        Seconds of `time.monotonic`, None before.
    value, error
        The outcome once finished: `error` is the exception of a failed job.
    """

    number: int
    job: Job
    state: JobState = JobState.QUEUED
    done: int = 0
    total: int | None = None
    read_bytes: int = 0
    requests: int = 0
    tasks: int = 0
    tasks_total: int = 0
    note: str = ""
    started: float | None = None
    finished: float | None = None
    value: Any = None
    error: BaseException | None = None


class JobControl:
    """What the function of a job holds: its cancel token, and where it tells its progress."""

    def __init__(
        self, token: CancelToken | None = None, publish: Callable[[dict[str, Any]], None] | None = None
    ) -> None:
        self.token = token if token is not None else CancelToken()
        self._publish = publish
        self._last = 0.0

    def check(self) -> None:
        """Raise `Cancelled` when the job was cancelled."""
        self.token.check()

    def progress(
        self,
        done: int,
        total: int | None = None,
        *,
        read_bytes: int | None = None,
        requests: int | None = None,
        tasks: int | None = None,
        tasks_total: int | None = None,
        note: str | None = None,
    ) -> None:
        """Tell how far the job is; cheap enough to be called for every item."""
        if self._publish is None:
            return
        now = time.monotonic()
        if now - self._last < PROGRESS_INTERVAL and done != total:
            return
        # The first step is told as the beginning is, however soon it comes: the next one may be far.
        self._last = now if self._last else -PROGRESS_INTERVAL
        changes = {
            "done": done,
            "total": total,
            "read_bytes": read_bytes,
            "requests": requests,
            "tasks": tasks,
            "tasks_total": tasks_total,
            "note": note,
        }
        self._publish({name: value for name, value in changes.items() if value is not None})

    def stage(self, note: str) -> None:
        """Tell that another part of the job begins, of which no end is known yet."""
        if self._publish is not None:
            self._last = 0.0
            self._publish({"done": 0, "total": None, "note": note})


class JobHandle:
    """A submitted job, as its submitter sees it."""

    def __init__(self, queue: JobQueue, number: int, token: CancelToken) -> None:
        self._queue = queue
        self.number = number
        self.token = token
        # The command line only tells of its progress: it queues no jobs, and need not load what that takes.
        from concurrent.futures import Future

        self.future: Future[Any] = Future()

    @property
    def status(self) -> JobStatus | None:
        """The newest status; None once it has fallen out of the queue's memory."""
        return self._queue.status(self.number)

    def cancel(self) -> None:
        """Ask the job to stop; a queued one never starts."""
        self._queue.cancel(self.number)

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the job and return its value.

        Raises
        ------
        Cancelled
            The job was cancelled or superseded.
        TimeoutError
            It is not finished after `timeout` seconds.
        """
        return self.future.result(timeout)


@dataclass(slots=True)
class _Entry:
    handle: JobHandle
    function: Callable[[JobControl], Any]


class JobQueue:
    """Runs jobs on a few threads, the most urgent first.

    Exports and other long work never take every thread: at least one is left for what is on the screen.
    Observers poll `drain_events`; nothing is called on their threads.

    Parameters
    ----------
    threads
        At most this many jobs run at once. Jobs mostly wait for bytes; decoding has its own pool.
    """

    def __init__(self, threads: int = 6) -> None:
        if threads < 2:
            raise ValueError("a job queue needs two threads, so that an export cannot block a view")
        self._threads = threads
        self._changed = threading.Condition()
        self._waiting: list[tuple[int, int, _Entry]] = []
        self._numbers = itertools.count(1)
        self._statuses: OrderedDict[int, JobStatus] = OrderedDict()
        self._handles: dict[int, JobHandle] = {}
        self._events: OrderedDict[int, JobStatus] = OrderedDict()
        self._workers = 0
        self._idle = 0
        self._running_exports = 0
        self._closed = False

    def submit(self, job: Job, function: Callable[[JobControl], Any]) -> JobHandle:
        """Queue `function(control)`; older jobs of the same owner are cancelled."""
        with self._changed:
            if self._closed:
                raise RuntimeError("the job queue is closed")
            number = next(self._numbers)
            handle = JobHandle(self, number, CancelToken())
            self._cancel_owner(job.owner)
            self._handles[number] = handle
            self._set(JobStatus(number=number, job=job))
            heapq.heappush(self._waiting, (job.priority, number, _Entry(handle, function)))
            if len(self._waiting) > self._idle and self._workers < self._threads:
                self._workers += 1
                threading.Thread(target=self._work, name=f"job-{self._workers}", daemon=True).start()
            self._changed.notify()
        return handle

    def cancel(self, number: int) -> None:
        """Cancel one job; nothing happens when it is finished or unknown."""
        with self._changed:
            self._cancel(number)

    def cancel_owner(self, owner: str) -> None:
        """Cancel every job of an owner, for example of a closed view."""
        with self._changed:
            self._cancel_owner(owner)

    def status(self, number: int) -> JobStatus | None:
        """Return the newest status of a job, or None when it is no longer remembered."""
        with self._changed:
            return self._statuses.get(number)

    def statuses(self) -> list[JobStatus]:
        """Return every job that is queued, running or lately finished, oldest first."""
        with self._changed:
            return list(self._statuses.values())

    def drain_events(self) -> list[JobStatus]:
        """Return the jobs whose status changed since the last call: each once, with its newest status."""
        with self._changed:
            events = list(self._events.values())
            self._events.clear()
        return events

    def close(self, timeout: float = 2.0) -> bool:
        """Cancel everything, wait at most `timeout` seconds, and tell whether all jobs have ended."""
        deadline = time.monotonic() + timeout
        with self._changed:
            self._closed = True
            for number in list(self._handles):
                self._cancel(number)
            self._changed.notify_all()
            while self._workers:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
        return True

    # Everything below is called with the lock held, except `_work` and `_run`.

    def _set(self, status: JobStatus) -> None:
        # A value may be a large array: only the event and the submitter's handle keep it.
        self._statuses[status.number] = replace(status, value=None)
        self._events[status.number] = status
        if status.state.finished:
            self._handles.pop(status.number, None)
            self._forget_old()

    def _forget_old(self) -> None:
        finished = [number for number, status in self._statuses.items() if status.state.finished]
        for number in finished[:-KEPT_FINISHED]:
            del self._statuses[number]

    def _cancel_owner(self, owner: str | None) -> None:
        if owner is None:
            return
        for number in [number for number in self._handles if self._statuses[number].job.owner == owner]:
            self._cancel(number)

    def _cancel(self, number: int) -> None:
        handle = self._handles.get(number)
        if handle is None:
            return
        handle.token.cancel()
        status = self._statuses[number]
        if status.state is JobState.QUEUED:
            self._waiting = [entry for entry in self._waiting if entry[1] != number]
            heapq.heapify(self._waiting)
            self._finish(handle, JobState.CANCELLED, error=Cancelled())

    def _finish(
        self, handle: JobHandle, state: JobState, *, value: Any = None, error: BaseException | None = None
    ) -> None:
        status = self._statuses[handle.number]
        self._set(replace(status, state=state, value=value, error=error, finished=time.monotonic()))
        if error is None:
            handle.future.set_result(value)
        else:
            handle.future.set_exception(error)

    def _next(self) -> _Entry | None:
        """Return the most urgent job that may start now."""
        if not self._waiting:
            return None
        if self._waiting[0][0] >= Priority.EXPORT and self._running_exports >= self._threads - 1:
            return None
        return heapq.heappop(self._waiting)[2]

    def _work(self) -> None:
        while True:
            with self._changed:
                while (entry := self._next()) is None:
                    if self._closed:
                        self._workers -= 1
                        self._changed.notify_all()
                        return
                    self._idle += 1
                    self._changed.wait()
                    self._idle -= 1
                number = entry.handle.number
                status = replace(self._statuses[number], state=JobState.RUNNING, started=time.monotonic())
                long = status.job.priority >= Priority.EXPORT
                self._running_exports += long
                self._set(status)
            self._run(entry)
            with self._changed:
                self._running_exports -= long
                self._changed.notify()

    def _run(self, entry: _Entry) -> None:
        handle = entry.handle
        control = JobControl(handle.token, lambda changes: self._publish(handle.number, changes))
        value: Any = None
        error: BaseException | None = None
        try:
            value = entry.function(control)
            state = JobState.DONE
        except Cancelled as outcome:
            state, error = JobState.CANCELLED, outcome
        except BaseException as outcome:
            import logging  # Where the command line starts nothing is logged.

            level = logging.DEBUG if isinstance(outcome, RefbrowserError) else logging.ERROR
            logging.getLogger(__name__).log(level, "job %d failed", handle.number, exc_info=True)
            state, error = JobState.FAILED, outcome
        if error is not None:
            # The frames of a traceback would keep the job's arrays alive as long as the status is.
            error = error.with_traceback(None)
        with self._changed:
            self._finish(handle, state, value=value, error=error)

    def _publish(self, number: int, changes: dict[str, Any]) -> None:
        with self._changed:
            status = self._statuses[number]
            if status.state is JobState.RUNNING:
                self._set(replace(status, **changes))
