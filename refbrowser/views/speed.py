"""How fast a job goes, and how long it will still take: by what it told in the last seconds."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced, size_text, time_text

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobStatus

#: Between what is told of one job.
SEPARATOR = " · "
#: What was told so many seconds ago counts no more, unless nothing advanced since.
WINDOW = 20.0
#: Of what is told more often than this, in seconds, the newest counts.
BETWEEN = 0.5
#: So much of what was told is kept at most, however long nothing advances.
KEPT = 1000
#: Nothing is foretold before a job was watched so long, in seconds.
SETTLED = 2.0


class _Told(NamedTuple):
    when: float
    done: int
    read_bytes: int
    tasks: int


class Speed:
    """Follows one job. Part of it that begins to count anew is followed anew."""

    def __init__(self) -> None:
        self._total: int | None = None
        self._told: deque[_Told] = deque(maxlen=KEPT)

    def take(self, status: JobStatus, now: float) -> None:
        """Take note of how far the job is at a moment, in seconds of `time.monotonic`."""
        told, seen = _Told(now, status.done, status.read_bytes, status.tasks), self._told
        if status.total != self._total or (seen and told.done < seen[-1].done):
            seen.clear()
            self._total = status.total
        if len(seen) > 1 and now - seen[-2].when < BETWEEN:
            seen.pop()
        seen.append(told)
        while len(seen) > 2 and now - seen[1].when >= WINDOW and seen[1].done < told.done:
            seen.popleft()

    @property
    def rate(self) -> float:
        """How many of what is counted are done in a second."""
        return self._rate(self._told[-1].done - self._told[0].done) if self._told else 0.0

    @property
    def read_rate(self) -> float:
        """Bytes read in a second."""
        return self._rate(self._told[-1].read_bytes - self._told[0].read_bytes) if self._told else 0.0

    @property
    def task_rate(self) -> float:
        """Tasks done in a second."""
        return self._rate(self._told[-1].tasks - self._told[0].tasks) if self._told else 0.0

    @property
    def left(self) -> float | None:
        """Seconds until all that is counted is done; None where that cannot be told, or not yet."""
        if not self._told or not self._total or self._seconds < SETTLED:
            return None
        advance = self._told[-1].done - self._told[0].done
        open_ = self._total - self._told[-1].done
        return open_ * self._seconds / advance if advance > 0 and open_ > 0 else None

    @property
    def _seconds(self) -> float:
        return self._told[-1].when - self._told[0].when

    def _rate(self, amount: int) -> float:
        return amount / self._seconds if self._seconds >= BETWEEN else 0.0


def speed_words(speed: Speed) -> list[str]:
    """Return how long a job still takes, and how fast it goes; what is not known is left out."""
    words = []
    if speed.left is not None:
        words.append(left_text(speed.left))
    if speed.read_rate >= 1:
        words.append(f"{size_text(round(speed.read_rate))}/s")
    elif speed.task_rate > 0:
        words.append(f"{speed.task_rate:.3g} tasks/s")
    return words


def job_words(status: JobStatus, share: float | None, speed: Speed, now: float) -> list[str]:
    """Return what is told of a job beside its title and state, what matters most first.

    Parameters
    ----------
    share
        How much of it is done, 0 to 1; None where that is not known.
    """
    ended = status.state.finished
    words = [one_line(str(status.error))] if status.state == "failed" and status.error is not None else []
    words += [f"{share:.0%}"] if share is not None and status.state != "done" else []
    if status.note and status.state != "done":
        words.append(one_line(status.note))
    elif status.total and status.done >= status.total and not ended:
        # What was written is read again, or gets its name.
        words.append("finishing")
    words += [] if ended else speed_words(speed)
    if status.tasks_total:
        of_all = f"{count_text(status.tasks)} of {count_text(status.tasks_total)} tasks"
        words.append(f"{count_text(status.tasks)} tasks" if status.state == "done" else of_all)
    if status.read_bytes:
        in_requests = f" in {counted_spaced(status.requests, 'request')}" if status.requests else ""
        words.append(f"{size_text(status.read_bytes)} read{in_requests}")
    if status.started is not None:
        took = time_text((status.finished or now) - status.started)
        words.append(f"took {took}" if ended else f"{took} so far")
    return words


def left_text(seconds: float) -> str:
    """Return in words how long something still takes: no more exactly than it can be told."""
    if seconds < 60:
        return f"{max(5, -(-round(seconds) // 5) * 5)} s left"
    return f"{time_text(-(-round(seconds) // 60) * 60)} left"
