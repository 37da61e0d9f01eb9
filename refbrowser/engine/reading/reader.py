"""One read of parts of an array: it is planned, fetched, decoded and delivered, whatever gives the values.

What differs by kind of values is the contract of `Reading` and its `Batch`: which bytes parts need, and how
those that have arrived are placed. `kinds` tells which one fulfils it for an array.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.chunk_log import ArrayLog, BatchNotes, marks_of
from refbrowser.engine.reading.decoding import Rests
from refbrowser.engine.reading.fetching import fetch_rows
from refbrowser.engine.reading.found_members import known_ranges
from refbrowser.engine.reading.garbage_collection import collected_later
from refbrowser.engine.reading.parts import EndedPart, Parts, PartState, ReadOptions
from refbrowser.engine.reading.resources import Resources
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.plan import AUTOMATIC, PlanChoice, RangePlan, Request
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import end_texts, endings_in
from refbrowser.model.grid import ChunkPart
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind, taken, with_used_urls
from refbrowser.model.selection import Selection
from refbrowser.model.values import ChunkManifest, columns_of_kinds

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access
    from refbrowser.io.fetching.fetch import Fetcher

#: Chunks that are planned together.
BATCH = 16_384
#: Rows whose requests are so many objects that the collector would look through the whole program before the
#: first one is sent: that takes as long as the answer.
MANY = 64
#: Up to this many bytes that need no decoding are copied where they arrive: cheaper than a hand-over.
AT_ONCE = 256 * 1024
#: What takes up to this many bytes, decoded, is decoded where it arrives. Python takes longer for it than its
#: codecs do, so more threads gain nothing: they pass the interpreter back and forth (2.5 times the CPU time
#: for 20,000 chunks of 400 bytes), and the window waits behind each of them.
TINY = 4096
_NO_BYTES = memoryview(b"")
#: Looked up once: to ask an enumeration for a member takes as long as to compare a small column.
_RANGE, _WHOLE, _FAULTY, _INLINE, _DERIVED = (
    int(kind)
    for kind in (
        ReferenceKind.RANGE,
        ReferenceKind.WHOLE,
        ReferenceKind.FAULTY,
        ReferenceKind.INLINE,
        ReferenceKind.DERIVED,
    )
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadPlan:
    """What reading a selection costs: to be printed, drawn and tested without a network.

    Attributes
    ----------
    ranges
        The requests, and which bytes of them belong to what.
    useful_bytes, wasted_bytes
        Bytes requested that hold selected elements (or a chunk that must be decoded whole), and the others.
    chunks
        Chunks that the selection touches.
    missing_chunks, inline_chunks, faulty_chunks
        Those of them that need no request.
    """

    ranges: RangePlan
    useful_bytes: int
    wasted_bytes: int
    chunks: int
    missing_chunks: int
    inline_chunks: int
    faulty_chunks: int

    def __str__(self) -> str:
        return (
            f"{self.ranges.request_count} requests, {self.useful_bytes} bytes useful, {self.wasted_bytes} "
            f"wasted, {self.chunks} chunks, {self.missing_chunks} missing"
        )

    def __repr__(self) -> str:
        return f"<refbrowser.ReadPlan {self}>"

    @property
    def requests(self) -> list[Request]:
        """The requests, by URL and first byte."""
        return self.ranges.requests()

    @property
    def seconds(self) -> float:
        """Seconds that it should take by the models of the links."""
        return self.ranges.seconds


@dataclass(frozen=True, slots=True, eq=False)
class Needed:
    """What a selection needs, before it is known how it is requested.

    Attributes
    ----------
    columns
        Where the bytes are, a row for each range.
    owners
        The chunk that each row is of, where one whose object is not there is missing; None where that is a
        fault.
    chunks, missing, inline, faulty
        As those of `ReadPlan`.
    gaps
        Bytes within the rows that belong to no selected element.
    """

    columns: ReferenceColumns
    chunks: int
    owners: Sequence[int] | None = None
    missing: int = 0
    inline: int = 0
    faulty: int = 0
    gaps: int = 0

    def planned(self, fetcher: Fetcher, access: Access, choice: PlanChoice = AUTOMATIC) -> ReadPlan:
        """Return the plan for it; nothing is read."""
        ranges = fetcher.plan(self.columns, access, choice)
        return ReadPlan(
            ranges,
            useful_bytes=ranges.useful_bytes - self.gaps,
            wasted_bytes=ranges.wasted_bytes + self.gaps,
            chunks=self.chunks,
            missing_chunks=self.missing,
            inline_chunks=self.inline,
            faulty_chunks=self.faulty,
        )


class Reading(ABC):
    """How an array is read: what each kind of values fulfils."""

    def __init__(self, node: ArrayNode) -> None:
        self.node = node

    @abstractmethod
    def batch(self, reader: Reader, parts: Parts, start: int, stop: int) -> Batch[Any]:
        """Return what reads the parts from `start` to `stop`."""

    @abstractmethod
    def needed(self, access: Access, selection: Selection) -> Needed:
        """Return what a selection needs; nothing is read.

        Raises
        ------
        RefbrowserError
            The array is not readable, or the selection touches too many chunks to plan at once.
        """

    def chunk_question(self) -> RefbrowserError | None:
        """Return what to ask before chunks are decoded whole; None where they are small enough."""
        return None

    def question(self, selection: Selection) -> RefbrowserError | None:
        """Return what to ask before a selection is read; None where nothing of it is large."""
        return self.chunk_question()

    def known(self, access: Access, selection: Selection) -> Needed:
        """Return what a selection needs, as far as it is known where that lies; nothing is read.

        Members of archives are the ranges that they are where a directory was read.

        Raises
        ------
        RefbrowserError
            As `needed` does.
        """
        needed = self.needed(access, selection)
        columns = with_used_urls(known_ranges(needed.columns, access))
        absent: set[int] = set()
        if needed.owners is not None:
            gone = (columns.kind == ReferenceKind.MISSING) & (needed.columns.kind != ReferenceKind.MISSING)
            absent = {needed.owners[row] for row in np.flatnonzero(gone).tolist()}
        # Members have a URL each, of which nothing is needed any more.
        return replace(needed, columns=columns, missing=needed.missing + len(absent))

    def plan(
        self, fetcher: Fetcher, access: Access, selection: Selection, choice: PlanChoice = AUTOMATIC
    ) -> ReadPlan:
        """Plan the reading of a selection.

        Raises
        ------
        RefbrowserError
            As `needed` does.
        """
        return self.known(access, selection).planned(fetcher, access, choice)

    def check_count(self, selection: Selection) -> None:
        """Raise E_BUDGET where a selection touches more chunks than are planned at once."""
        count = self.node.grid.count(selection)
        if count > LIMITS.write_out_question:
            raise RefbrowserError(
                ErrorKind.BUDGET,
                f"the selection of {quoted(self.node.path)} touches {count} chunks, "
                f"more than {LIMITS.write_out_question} (write_out_question)",
                advice="plan a smaller selection",
            )


class Reader:
    """One read of parts of one array into one box.

    Parameters
    ----------
    box
        The result with all axes kept (`Selection.box`); parts write at their `target`.
    total
        Number of parts, for the progress.
    keep
        Whether decoded values go to the cache.
    """

    def __init__(
        self,
        reading: Reading,
        session: Resources,
        access: Access,
        box: npt.NDArray[Any],
        options: ReadOptions,
        *,
        total: int,
        keep: bool,
    ) -> None:
        self.reading = reading
        self.session = session
        self.node = reading.node
        self.manifest: ChunkManifest = reading.node.manifest
        self.access = access
        self.box = box
        self.options = options
        self.keep = keep
        self.total = total
        self.done = 0
        self.read_bytes = 0
        self.requests = 0
        self.error: RefbrowserError | None = None
        self.token = CancelToken()
        #: Where the chunks of this read are noted; those of exports are not.
        self.log: ArrayLog | None = None
        if not options.export:
            ndim = len(self.manifest.grid_shape)
            self.log = session.chunk_log.of(access.memory, self.node.path, ndim)
        #: How texts end before the length that they are stored in.
        self.endings = endings_in(reading.node.known_dtype)
        self._lock = threading.Lock()

    def read(self, parts: Parts) -> None:
        """Read all `parts`.

        Raises
        ------
        RefbrowserError
            Without `on_part`: the first chunk that failed.
        Cancelled
            The token of the options was cancelled.
        """
        outer = self.options.token
        forget = outer.on_cancel(self.token.cancel) if outer is not None else None
        try:
            for start in range(0, len(parts), BATCH):
                self.reading.batch(self, parts, start, min(start + BATCH, len(parts))).run()
        except BaseException as end:
            self.token.cancel()
            if self.error is None or not isinstance(end, Cancelled):
                raise
        finally:
            if forget is not None:
                forget()
        if self.error is not None:
            raise self.error

    def region(self, part: ChunkPart) -> npt.NDArray[Any]:
        """Return the view of the result that a part fills."""
        index: tuple[Any, ...] = (*part.target, ...)
        return self.box[index]

    def ended(self, part: EndedPart) -> None:
        """Tell one part; remember the first failure where nobody wants to be told."""
        if self.options.on_part is not None:
            if not self.token.cancelled:
                self.options.on_part(part)
        elif part.state is PartState.FAILED and self.error is None:
            self.error = part.error
        self.count()

    def count(self) -> None:
        """Count one part that has ended, where anybody wants to know."""
        if self.options.progress is not None:
            with self._lock:
                self.done += 1
            self.tell()

    def check(self) -> None:
        """Raise `Cancelled` once a part has failed and nobody was told."""
        if self.error is not None:
            raise Cancelled

    def read_more(self, size: int, requests: int) -> None:
        """Add bytes and requests to those that were read."""
        self.read_bytes += size
        self.requests += requests
        self.tell()

    def tell(self) -> None:
        """Tell the progress."""
        if self.options.progress is not None:
            self.options.progress(self.done, self.total, read_bytes=self.read_bytes, requests=self.requests)


class WantedRows(Protocol):
    """What must be read for some parts: each row is a range of bytes to be decoded, or values to be made."""

    @property
    def columns(self) -> ReferenceColumns:
        """Where the bytes are. FAULTY rows are not read; DERIVED ones are made without such bytes."""
        ...

    @property
    def owners(self) -> Sequence[int]:
        """For each row the number of the part that it is of; of several the first."""
        ...


W = TypeVar("W", bound=WantedRows)


class Batch(ABC, Generic[W]):
    """The parts of a read that are planned together; they keep their numbers.

    What a kind of values tells of its rows are the abstract methods.
    """

    def __init__(self, reader: Reader, parts: Parts, start: int, stop: int) -> None:
        self.reader = reader
        self.parts = parts
        self.start, self.stop = start, stop
        self._queue = reader.session.pool.queue(reader.token)
        self._rests = Rests()
        self._notes: BatchNotes | None = None

    # What differs

    @abstractmethod
    def rows(self) -> Iterable[W]:
        """Yield what must be read, some rows at a time; parts that need nothing have ended then."""

    @abstractmethod
    def cost(self, rows: W, row: int, size: int) -> int:
        """Return the bytes of memory that decoding takes in the pool; 0 where it is not worth a hand-over."""

    @abstractmethod
    def lay(self, rows: W, row: int, data: memoryview, cache_key: Hashable | None) -> None:
        """Decode the bytes of a row to their place in the result, and keep them where there is a key.

        Raises
        ------
        RefbrowserError
            They are not what they should be.
        """

    @abstractmethod
    def ended(self, rows: W, row: int, error: RefbrowserError | None) -> None:
        """Note that a row lies in its place, or why it does not; the last one of a part ends that."""

    def size_limit(self, rows: W) -> int:
        """Return the bytes of the longest row that is read."""
        return LIMITS.chunk_size

    def owned(self, rows: W, numbers: Sequence[int]) -> list[int]:
        """Return the parts that some rows are of."""
        return [rows.owners[row] for row in numbers]

    def place(self, rows: W, row: int) -> memoryview | None:
        """Return where the bytes of a row belong in the result, if they lie there as they are stored."""
        return None

    def pieces(self, rows: W, row: int) -> tuple[list[int], int] | None:
        """Return which bytes of a row are looked at only, where they lie far from each other (`RangesOf`)."""
        return None

    def arrived(self, rows: W, row: int, data: memoryview) -> None:
        """Look at bytes that were read to their place."""

    def cache_keys(self, rows: W, numbers: Sequence[int]) -> dict[int, Hashable]:
        """Return the cache key of each of some rows that may be read and is worth keeping.

        Permission is asked before the cache is.
        """
        return {}

    def lay_kept(self, rows: W, row: int, kept: npt.NDArray[Any]) -> None:
        """Put what the cache has of a row to its place."""

    # What is the same for all

    def run(self) -> None:
        """Read every part; returns when each has ended."""
        try:
            for rows in self.rows():
                self._read(rows)
            self._queue.join()
        finally:
            if self._notes is not None:
                self._notes.give_up()

    def note(self, coords: npt.NDArray[np.int64], columns: ReferenceColumns) -> None:
        """Begin to note what becomes of the chunks at `coords`."""
        if self.reader.log is not None:
            self._notes = BatchNotes(self.reader.log, coords, marks_of(columns), self.start)

    def made_parts(self) -> tuple[npt.NDArray[np.int64], ReferenceColumns]:
        """Return the coordinates of parts that have no reference of their own, and columns that say so."""
        kinds = np.full(self.stop - self.start, ReferenceKind.DERIVED, np.uint8)
        return self.parts.coords(self.start, self.stop), columns_of_kinds(kinds)

    def part_missing(self, number: int, fill: Any) -> None:
        """Fill a part that nothing gives, and tell it."""
        part = self.parts[number]
        self.reader.region(part)[...] = fill
        self.reader.ended(EndedPart(part, PartState.MISSING))

    def part_ended(
        self,
        number: int,
        error: RefbrowserError | None,
        *,
        is_missing: bool = False,
        failed: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Note and tell that a part has ended."""
        if self._notes is not None:
            self._notes.ended(number, error)
        reader = self.reader
        if reader.endings and error is None:
            part = self.parts[number]
            end_texts(reader.region(part), reader.node.known_dtype, reader.endings)
        if error is None and reader.options.on_part is None:
            reader.count()
            return
        state = PartState.FAILED if error is not None else PartState.MISSING if is_missing else PartState.DONE
        reader.ended(EndedPart(self.parts[number], state, error, failed))

    def _read(self, rows: W) -> None:
        reader, kinds = self.reader, rows.columns.kind
        remote = np.flatnonzero((kinds == _RANGE) | (kinds == _WHOLE))
        if len(remote) < len(kinds):
            self._read_others(rows)
        reader.check()
        keys: dict[int, Hashable] = {}
        if reader.keep and len(remote):
            keys = self.cache_keys(rows, remote.tolist())
            remote = np.array([row for row in remote.tolist() if not self._from_cache(rows, row, keys)], int)
        if len(remote):
            self._fetch(rows, remote, keys)

    def _read_others(self, rows: W) -> None:
        """Read the rows that need no fetching."""
        reader, columns = self.reader, rows.columns
        for row in np.flatnonzero(columns.kind == _FAULTY).tolist():
            self.ended(rows, row, columns.faults[row])
        reader.check()
        for row in np.flatnonzero(columns.kind == _INLINE).tolist():
            reader.token.check()
            self._take(rows, row, memoryview(columns.inline[row]), None)
        for row in np.flatnonzero(columns.kind == _DERIVED).tolist():
            reader.token.check()
            reader.check()
            if self._notes is not None:
                self._notes.asked([rows.owners[row]])
            self._decode(rows, row, _NO_BYTES, None)

    def _from_cache(self, rows: W, row: int, keys: dict[int, Hashable]) -> bool:
        kept = self.reader.session.cache.get(keys[row]) if row in keys else None
        if kept is None:
            return False
        self.lay_kept(rows, row, kept)
        self.ended(rows, row, None)
        return True

    def _fetch(self, rows: W, remote: npt.NDArray[np.int64], keys: dict[int, Hashable]) -> None:
        reader, session = self.reader, self.reader.session
        numbers: list[int] = remote.tolist()
        notes = self._notes
        if notes is not None:
            notes.asked(self.owned(rows, numbers))
        placed: dict[int, memoryview] = {}

        def destination(position: int) -> memoryview | None:
            row = numbers[position]
            view = None if row in keys else self.place(rows, row)
            if view is not None:
                placed[position] = view
            return view

        def pieces(position: int) -> tuple[list[int], int] | None:
            row = numbers[position]
            return None if row in keys else self.pieces(rows, row)

        until_bytes_come = ExitStack()
        is_waiting = len(numbers) >= MANY

        def deliver(position: int, data: memoryview | RefbrowserError) -> None:
            nonlocal is_waiting
            if is_waiting:
                is_waiting = False
                until_bytes_come.close()
            row = numbers[position]
            if isinstance(data, RefbrowserError):
                self.ended(rows, row, data)
                reader.check()
                return
            reader.read_bytes += len(data)
            reader.tell()
            if position in placed and data.obj is placed[position].obj:
                self.arrived(rows, row, data)
                self.ended(rows, row, None)
            else:
                self._take(rows, row, data, keys.get(row))

        with until_bytes_come:
            if is_waiting:
                until_bytes_come.enter_context(collected_later())
            counters = fetch_rows(
                session.fetcher,
                rows.columns if len(remote) == len(rows.columns) else taken(rows.columns, remote),
                reader.access,
                deliver,
                cancel=reader.token,
                destination=destination if len(keys) < len(numbers) else None,
                ranges=pieces,
                export=reader.options.export,
                priority=reader.options.priority,
                size_limit=self.size_limit(rows),
                timed=None
                if notes is None
                else lambda done, took: notes.took([rows.owners[numbers[at]] for at in done], took),
            )
        reader.requests += counters.requests

    def _take(self, rows: W, row: int, data: memoryview, cache_key: Hashable | None) -> None:
        """Decode a row: here, or in the pool where that is worth a hand-over."""
        cost = self.cost(rows, row, len(data))
        if not cost:
            self._decode(rows, row, data, cache_key)
            self._rests.after_work()
        else:
            self._queue.put(lambda: self._decode(rows, row, data, cache_key), cost)

    def _decode(self, rows: W, row: int, data: memoryview, cache_key: Hashable | None) -> None:
        started = time.monotonic()
        try:
            self.lay(rows, row, data, cache_key)
        except RefbrowserError as error:
            self.ended(rows, row, error)
            if self.reader.error is not None:
                self.reader.token.cancel()
        else:
            if self._notes is not None:
                self._notes.took([rows.owners[row]], time.monotonic() - started)
            self.ended(rows, row, None)
