"""What became of chunks that were asked for lately: state, time to read, error; bounded.

A view asks for what is new since it last asked (`ArrayLog.since`). Entries carry a mark of the reference that
was read, so that what was noted before an edit is not taken for the chunk as it is now.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import AccessMemory
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ReferenceColumns

#: Arrays that are followed; the one that was read longest ago is forgotten first.
ARRAYS_KEPT = 16
#: Errors that are kept for each array.
ERRORS_KEPT = 1_000
_FIRST_ROOM = 256
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64).view(np.int64)


class ReadState(IntEnum):
    """What became of a chunk."""

    NONE = 0
    PENDING = 1
    DONE = 2
    FAILED = 3


@dataclass(frozen=True, slots=True)
class LogEntries:
    """Entries of one array, the oldest first.

    Attributes
    ----------
    coords
        Of the chunks, int64, shape (n, ndim).
    states
        `ReadState` of each, uint8.
    seconds
        Time to read of each, float32; NaN where it was not read from its source (it was cached).
    marks
        `marks_of` the references, int64.
    position
        What to ask `since` for the next time.
    """

    coords: npt.NDArray[np.int64]
    states: npt.NDArray[np.uint8]
    seconds: npt.NDArray[np.float32]
    marks: npt.NDArray[np.int64]
    position: int

    def __len__(self) -> int:
        return len(self.states)


class ArrayLog:
    """The newest entries of one array; may be used from any thread.

    Parameters
    ----------
    turned
        Called when a read failed, or went well where one had failed before, on the thread that read.
    """

    def __init__(
        self, ndim: int, capacity: int = LIMITS.chunk_log, turned: Callable[[], None] = lambda: None
    ) -> None:
        self._turned = turned
        self._capacity = capacity
        self._ndim = ndim
        self._lock = threading.Lock()
        self._count = 0
        room = min(_FIRST_ROOM, capacity)
        self._coords, self._states, self._seconds, self._marks = _columns(room, ndim)
        self._errors: OrderedDict[tuple[int, ...], tuple[int, RefbrowserError]] = OrderedDict()
        #: How many reads failed, or went well where one had failed before; it only grows.
        self.turns = 0

    @property
    def position(self) -> int:
        """How many entries were ever made; it only grows, so it tells whether anything is new."""
        return self._count

    def note(
        self,
        coords: npt.NDArray[np.int64],
        state: ReadState,
        marks: npt.NDArray[np.int64],
        seconds: float | npt.NDArray[np.float32] = float("nan"),
    ) -> None:
        """Note the state of chunks, `coords` of shape (n, ndim)."""
        count = len(coords)
        if count > self._capacity:
            coords, marks, count = coords[-self._capacity :], marks[-self._capacity :], self._capacity
            seconds = seconds[-count:] if isinstance(seconds, np.ndarray) else seconds
        with self._lock:
            if self._count + count > len(self._states) < self._capacity:
                self._make_room(min(self._capacity, 2 * (self._count + count)))
            where = np.arange(self._count, self._count + count) % len(self._states)
            self._coords[where] = coords
            self._states[where] = state
            self._seconds[where] = seconds
            self._marks[where] = marks
            self._count += count

    def note_end(
        self,
        coords: npt.NDArray[np.int64],
        mark: int,
        seconds: float,
        error: RefbrowserError | None = None,
    ) -> None:
        """Note that one chunk was read, or why it could not be; `coords` of shape (ndim,).

        What waits for permission (E_BLOCKED) was not tried: it is noted as if it had never been asked for.
        """
        if error is not None and error.kind is ErrorKind.BLOCKED:
            self.note(coords[None], ReadState.NONE, np.array([mark], np.int64))
            return
        with self._lock:
            if self._count == len(self._states) < self._capacity:
                self._make_room(min(self._capacity, 2 * self._count))
            at = self._count % len(self._states)
            self._coords[at] = coords
            self._states[at] = ReadState.DONE if error is None else ReadState.FAILED
            self._seconds[at] = seconds
            self._marks[at] = mark
            self._count += 1
            if error is not None:
                self._keep_error(tuple(coords.tolist()), mark, error)
            elif not self._errors or self._errors.pop(tuple(coords.tolist()), None) is None:
                return
            self.turns += 1
        self._turned()

    def _keep_error(self, coords: tuple[int, ...], mark: int, error: RefbrowserError) -> None:
        self._errors[coords] = mark, error
        self._errors.move_to_end(coords)
        if len(self._errors) > ERRORS_KEPT:
            self._errors.popitem(last=False)

    def error(self, coords: tuple[int, ...]) -> RefbrowserError | None:
        """Return why a chunk could not be read the last time that it failed, where that is still known."""
        with self._lock:
            _mark, error = self._errors.get(coords, (0, None))
            return error

    def failures(self) -> list[tuple[tuple[int, ...], int, RefbrowserError]]:
        """Return coordinates, mark and error of the chunks that failed, and were not read since."""
        with self._lock:
            return [(coords, mark, error) for coords, (mark, error) in self._errors.items()]

    def since(self, position: int) -> LogEntries:
        """Return the entries made after `position` entries; those that are forgotten are missing."""
        with self._lock:
            first = max(position, self._count - len(self._states), 0)
            where = np.arange(first, self._count) % len(self._states)
            return LogEntries(
                self._coords[where],
                self._states[where],
                self._seconds[where],
                self._marks[where],
                self._count,
            )

    def _make_room(self, size: int) -> None:
        """Make room for `size` entries; only before the first one is overwritten."""
        kept = self._count
        coords, states, seconds, marks = self._coords, self._states, self._seconds, self._marks
        self._coords, self._states, self._seconds, self._marks = _columns(size, self._ndim)
        self._coords[:kept], self._states[:kept] = coords[:kept], states[:kept]
        self._seconds[:kept], self._marks[:kept] = seconds[:kept], marks[:kept]


_Columns = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.float32], npt.NDArray[np.int64]]


def _columns(size: int, ndim: int) -> _Columns:
    return (
        np.zeros((size, ndim), np.int64),
        np.zeros(size, np.uint8),
        np.zeros(size, np.float32),
        np.zeros(size, np.int64),
    )


class ChunkLog:
    """The logs of the arrays that were read lately, for all documents of a session."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arrays: OrderedDict[tuple[AccessMemory, str, int], ArrayLog] = OrderedDict()

    def of(self, document: AccessMemory, path: str, ndim: int) -> ArrayLog:
        """Return the log of an array; `document` tells documents apart, and is told of what fails."""
        key = (document, path, ndim)
        with self._lock:
            log = self._arrays.get(key)
            if log is None:
                log = self._arrays[key] = ArrayLog(ndim, turned=document.news.tell)
                if len(self._arrays) > ARRAYS_KEPT:
                    self._arrays.popitem(last=False)
            self._arrays.move_to_end(key)
            return log

    def arrays(self, document: AccessMemory) -> list[tuple[str, ArrayLog]]:
        """Return path and log of each array of a document that was read lately."""
        with self._lock:
            return [(path, log) for (owner, path, _ndim), log in self._arrays.items() if owner == document]


class BatchNotes:
    """Notes the chunks of a batch in the log: asked for, read, failed, or given up."""

    def __init__(
        self, log: ArrayLog, coords: npt.NDArray[np.int64], marks: npt.NDArray[np.int64], start: int
    ) -> None:
        self._log, self._coords, self._marks, self._start = log, coords, marks, start
        self._asked = np.zeros(len(coords), bool)
        self._seconds = np.full(len(coords), np.nan, np.float32)

    def asked(self, owners: Sequence[int]) -> None:
        """Note parts (by their numbers) that are asked for."""
        # Not `np.unique`, here and below: it imports masked arrays, which takes as long as a request.
        asked = np.zeros(len(self._asked), bool)
        asked[np.asarray(owners, np.int64) - self._start] = True
        self._asked |= asked
        rows = np.flatnonzero(asked)
        self._log.note(self._coords[rows], ReadState.PENDING, self._marks[rows])

    def took(self, owners: Sequence[int], seconds: float) -> None:
        """Add to the time of parts."""
        for owner in owners:
            before = self._seconds[owner - self._start]
            self._seconds[owner - self._start] = seconds if before != before else before + seconds

    def ended(self, owner: int, error: RefbrowserError | None) -> None:
        """Note that a part has come, or failed."""
        row = owner - self._start
        self._asked[row] = False
        self._log.note_end(self._coords[row], int(self._marks[row]), float(self._seconds[row]), error)

    def give_up(self) -> None:
        """Note that what was asked for and has not come is not read."""
        rows = np.flatnonzero(self._asked)
        if len(rows):
            self._log.note(self._coords[rows], ReadState.NONE, self._marks[rows])


def marks_of(columns: ReferenceColumns) -> npt.NDArray[np.int64]:
    """Return a number for each row that differs where kind, URL, offset or length do (in this process)."""
    urls = columns.urls
    hashes = (hash(urls[number]) if number >= 0 else 0 for number in columns.url.tolist())
    marks = np.fromiter(hashes, np.int64, len(columns))
    marks = marks ^ (columns.offset * _FACTORS[0]) ^ (columns.length * _FACTORS[1])
    return marks + columns.kind
