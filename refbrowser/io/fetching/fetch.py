"""Reading the bytes of many references, and of documents: files, servers, object stores behind one call."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.errors import AbsentError, ChangedError, ErrorKind, Place, RefbrowserError, RefusedError
from refbrowser.io.access.access import Access, AccessMemory, Location, is_chained
from refbrowser.io.access.local_files import open_regular, read_exactly
from refbrowser.io.access.segment import Runs, Segment, WholeFile, read_files, read_segments, room_for
from refbrowser.io.access.task import (
    Counters,
    Deliver,
    Destination,
    FetchEvent,
    FetchOptions,
    FetchTask,
    RangesOf,
    RowKey,
    Timed,
    Witness,
)
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.io.locks.lock import SAMPLE
from refbrowser.io.origins import DEFAULT_PORTS, OBJECT_STORES, Origin, scheme_of, server_of
from refbrowser.io.plan import (
    AUTOMATIC,
    LOCAL,
    TO_THE_END,
    Link,
    LinkModels,
    PlanChoice,
    RangePlan,
    plan_ranges,
)
from refbrowser.limits import LIMITS
from refbrowser.model.reference import (
    ByteRange,
    ReferenceColumns,
    ReferenceKind,
    columns_of,
    with_used_urls,
)

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from refbrowser.io.buckets.objects import ObjectReader
    from refbrowser.io.http.client import HttpClient
    from refbrowser.io.locks.lock_watch import LockWatch


_EMPTY = memoryview(b"")
#: The place of segments whose URL leads nowhere: their error tells the URL.
_NOWHERE = Location("", Origin("file"), "")
#: Bytes of one file that a thread reads before another may take over.
_TURN = 16 << 20
#: Up to so many runs, and bytes, of local files are read by the thread that asks: a hand-over takes longer.
_FEW, _SMALL = 8, 1 << 20
#: Seconds that a file takes that the system has in memory, at most.
_QUICK = 250e-6
_FILE_THREADS = min(4, os.cpu_count() or 1)
_OBJECT_THREADS = 32
#: The priority of what rows wait for that have come already.
_FIRST = -1_000


class Fetcher:
    """Reads references for all documents of a session; may be used from any thread.

    Parameters
    ----------
    observer
        Called, on an I/O thread, with what the status bar should tell.
    """

    def __init__(self, observer: Callable[[FetchEvent], None] | None = None) -> None:
        self.counters = Counters()
        self._observer = observer
        self._models = LinkModels()
        self._client: HttpClient | None = None
        self._objects: ObjectReader | None = None
        self._lock = threading.Lock()
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._tasks: set[FetchTask] = set()

    def set_connections(self, most: int) -> None:
        """Use at most so many connections to each host from now on."""
        self._models.set_most(most)

    def link_to(self, origin: str) -> Link:
        """Return what is known of the link to a host, by the text of its origin."""
        return self._models.of(origin).link

    def plan(self, columns: ReferenceColumns, access: Access, choice: PlanChoice = AUTOMATIC) -> RangePlan:
        """Return the plan for reading `columns`, by what is known of the links; reads nothing.

        Parameters
        ----------
        choice
            What to plan in the place of what the links say, to be looked at.
        """
        named = with_used_urls(columns)
        return plan_ranges(named, self.links(named.urls, access, choice))

    def links(self, urls: Iterable[str], access: Access, choice: PlanChoice = AUTOMATIC) -> list[Link]:
        """Return the link to each URL as it is known now."""
        # One state of each link for the whole plan: what is learned meanwhile would part a host in two.
        known: dict[Origin | str, Link] = {}
        chosen: dict[int, Link] = {}
        found = [self._link(url, access, known) for url in urls]
        if choice == AUTOMATIC:
            return found
        return [chosen.setdefault(id(link), choice.link(link)) for link in found]

    def fetch(
        self,
        plan: RangePlan,
        access: Access,
        deliver: Deliver,
        *,
        cancel: CancelToken | None = None,
        destination: Destination | None = None,
        ranges: RangesOf | None = None,
        key: RowKey | None = None,
        export: bool = False,
        priority: int = 0,
        size_limit: int = LIMITS.chunk_size,
        progress: Callable[[int, int | None], None] | None = None,
        witness: Witness | None = None,
        timed: Timed | None = None,
        heads: bool = False,
        beginning: int | None = None,
    ) -> Counters:
        """Read everything in `plan`; returns when each of its rows was delivered.

        Parameters
        ----------
        deliver
            Called for each row once, in this thread, with its bytes as they arrive or with the error. Where
            it is slow no more is asked for. What it raises ends the fetch and is raised here.
        cancel
            Ends the fetch: nothing is delivered or written after `Cancelled` is raised.
        destination
            Asked for where the bytes of a row should be written; used where a request brings just that row.
            The bytes in it are good only once the row is delivered. Called in I/O threads.
        ranges
            Asked for the only bytes of a row that are looked at. Of local files only these may be read,
            and are then delivered, joined.
        key
            Names a row in errors.
        export
            Try longer.
        priority
            Lower goes first, over all fetches of this fetcher.
        size_limit
            Largest whole object in bytes.
        progress
            Called, in I/O threads, with the bytes received and the total (None: not known) of a whole object.
        witness
            Called, in I/O threads, with each try when it has ended.
        timed
            Called, in I/O threads, with rows that are about to be delivered, and how long they took.
        heads
            Ask servers for the state of whole objects only: their rows have no bytes.
        beginning
            Bytes that are read of whole objects, from their begin on: fewer of smaller ones, and all where a
            server gives no part. None for all.

        Raises
        ------
        Cancelled
            `cancel` was cancelled, or the fetcher closed.
        """
        options = FetchOptions(
            destination=destination,
            ranges=ranges,
            export=export,
            priority=priority,
            size_limit=size_limit,
            progress=progress,
            witness=witness,
            timed=timed,
            heads=heads,
            beginning=beginning,
        )
        if access.memory.locked is not None:
            deliver = self._held_against_lock(plan, access, access.memory.locked, deliver, key, cancel)
        return self._run(plan, FetchTask(access, options), deliver, key, cancel)

    def _run(
        self,
        plan: RangePlan,
        task: FetchTask,
        deliver: Deliver,
        key: RowKey | None = None,
        cancel: CancelToken | None = None,
    ) -> Counters:
        with self._lock:
            self._tasks.add(task)
        forget = cancel.on_cancel(task.stop) if cancel is not None else None
        try:
            self._start(plan, task)
            task.take_rows(deliver, key)
        except BaseException:
            task.stop()
            # Buffers may belong to the caller: nothing may be written to them after this call.
            if self._client is not None:
                self._client.drop_stopped()
            task.wait_for_readers()
            raise
        finally:
            if forget is not None:
                forget()
            task.counters.wasted = plan.wasted_bytes
            with self._lock:
                self._tasks.discard(task)
                self.counters.add(task.counters)
        return task.counters

    def _held_against_lock(
        self,
        plan: RangePlan,
        access: Access,
        locked: LockWatch,
        deliver: Deliver,
        key: RowKey | None,
        cancel: CancelToken | None,
    ) -> Deliver:
        """Return `deliver` for rows of which some may be of stale files.

        Where only its bytes tell whether a file is the one of the lock, they are read before the first row of
        it is delivered: those of all files that wait for it by then, together.
        """
        urls: list[str] = []

        def compare(row: int, data: memoryview | RefbrowserError) -> None:
            if locked.is_alert and not isinstance(data, RefbrowserError):
                if locked.has_pending:
                    self._compare_samples(access, locked, cancel)
                if not urls:
                    urls.extend(_places_of_rows(plan, access))
                stale = None if locked.allow else locked.stale_at(urls[row])
                if stale is not None:
                    error = stale.error()
                    data = error if key is None else error.at(replace(error.place, key=key(row)))
            deliver(row, data)

        return compare

    def _compare_samples(self, access: Access, locked: LockWatch, cancel: CancelToken | None) -> None:
        """Read the first and last bytes of the files of which only these tell what they are."""
        with locked.comparing(cancel) as waiting:
            urls = list(waiting)
            ranges = [
                ByteRange(locked.spelling(url), start, min(SAMPLE, size))
                for url in urls
                for size in (waiting[url].size,)
                for start in (0, max(0, size - SAMPLE))
            ]
            found: list[bytes | RefbrowserError] = [b""] * len(ranges)

            def take(row: int, data: memoryview | RefbrowserError) -> None:
                found[row] = data if isinstance(data, RefbrowserError) else bytes(data)

            # Before all others, by threads of its own: those of the rows that wait for it may wait for room.
            task = FetchTask(access, FetchOptions(priority=_FIRST, is_aside=True))
            self._run(self.plan(columns_of(ranges), access), task, take, cancel=cancel)
            for url, head, tail in zip(urls, found[::2], found[1::2], strict=True):
                failures = [each for each in (head, tail) if isinstance(each, RefbrowserError)]
                locked.decide(url, failures[0] if failures else (head, tail))  # type: ignore[arg-type]

    def close(self) -> None:
        """End what is being fetched (`Cancelled` is raised there), close all connections, end the threads."""
        with self._lock:
            tasks = list(self._tasks)
        for task in tasks:
            task.stop()
        if self._client is not None:
            self._client.close()
        with self._lock:
            pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _link(self, url: str, access: Access, links: dict[Origin | str, Link]) -> Link:
        # Most are files of this machine, and there may be a million of them: where they lead is asked later.
        if access.is_path(url):
            return LOCAL
        # So there may be of one server.
        server = None if is_chained(url) else server_of(url)
        if server is not None and server in links:
            return links[server]
        try:
            origin = access.locate(url).origin
        except RefbrowserError:
            return LOCAL
        link = LOCAL if origin.scheme == "file" else links.get(origin)
        if link is None:
            link = links[origin] = self._models.of(str(origin)).link
        if server is not None:
            links[server] = link
        return link

    def _start(self, plan: RangePlan, task: FetchTask) -> None:
        # One more than there are segments, so that the task cannot be done before all is handed out.
        task.expect(plan.segments + 1)
        empty = plan.empty.tolist()
        task.hand_over(empty, [_EMPTY] * len(empty))
        for row, error in plan.faults.items():
            task.hand_over_error(row, error)
        places = self._places(plan, task.access)
        ranks = np.minimum.reduceat(plan.rows, plan.rows_of[:-1]) if plan.segments else plan.rows
        remote: list[tuple[int, Segment]] = []
        local: list[Segment] = []
        stored: list[Segment] = []
        files: deque[WholeFile] = deque()
        runs = Runs(plan)
        for number in np.argsort(ranks, kind="stable").tolist():
            place = places[runs.urls[number]]
            if isinstance(place, RefbrowserError):
                Segment(runs, number, _NOWHERE, task).fail(place)
                continue
            if runs.stops[number] == TO_THE_END and place.scheme == "file":
                files.append((place, runs.rows[runs.rows_of[number] : runs.rows_of[number + 1]]))
                continue
            segment = Segment(runs, number, place, task)
            if place.scheme in DEFAULT_PORTS:
                remote.append((int(ranks[number]), segment))
            elif place.scheme in OBJECT_STORES:
                stored.append(segment)
            else:
                segment.find_ranges()
                local.append(segment)
        if remote:
            self._http().submit(task, remote)
        turns = list(_turns(local))
        is_small = len(turns) <= _FEW and sum(segment.read_size or 0 for segment in local) <= _SMALL
        for turn in turns:
            work = partial(read_segments, *turn)
            if is_small:
                task.read_here(work)
            else:
                task.read_in(self._pool(task.options.pool("file"), _FILE_THREADS), work)
        if files:
            task.read_here(partial(self._read_files, task, files))
        if stored:
            self._read_objects(task, stored)
        task.settle()

    def _places(self, plan: RangePlan, access: Access) -> dict[int, Location | RefbrowserError]:
        places: dict[int, Location | RefbrowserError] = {}
        permitted: Origin | None = None
        for number in dict.fromkeys(plan.segment_url.tolist()):
            url = plan.urls[number]
            try:
                places[number] = place = access.locate(url)
                # Of the files of one folder all have the same.
                if place.origin is not permitted:
                    access.check(place)
                    permitted = place.origin
                if is_chained(url):
                    # Its range in the archive must be known by now: the archive is not the member.
                    raise RefbrowserError(ErrorKind.PROTOCOL, "a zip member is not a file", Place(url=url))
            except RefbrowserError as error:
                places[number] = error
        return places

    def _read_files(self, task: FetchTask, files: deque[WholeFile]) -> None:
        """Read some files here; those that are left where the disk makes them wait by several threads.

        Reading a small file that the system has in memory takes no longer than to hand it to another thread.
        """
        began = time.monotonic()
        count = read_files(files, task)
        if files and time.monotonic() - began < count * _QUICK:
            task.read_here(partial(self._read_files, task, files))
        elif files:
            for _ in range(_FILE_THREADS):
                self._read_files_aside(task, files)

    def _read_files_aside(self, task: FetchTask, files: deque[WholeFile]) -> None:
        def work() -> None:
            task.wait_for_room()
            read_files(files, task)
            if files and task.live:
                self._read_files_aside(task, files)

        task.read_in(self._pool(task.options.pool("file"), _FILE_THREADS), work)

    def _read_objects(self, task: FetchTask, segments: Sequence[Segment]) -> None:
        from refbrowser.io.buckets.objects import ObjectReader

        with self._lock:
            if self._objects is None:
                self._objects = ObjectReader(self._models, self._observer)
        pool = self._pool(task.options.pool("object"), _OBJECT_THREADS)
        for segment in segments:
            for index in range(max(len(segment.requests), 1)):
                task.read_in(pool, partial(self._objects.read, segment, index))

    def _http(self) -> HttpClient:
        # The event loop and TLS take long to import, and local documents need neither.
        from refbrowser.io.http.client import HttpClient

        with self._lock:
            if self._client is None:
                self._client = HttpClient(self._models, self._observer)
            return self._client

    def _pool(self, name: str, threads: int) -> ThreadPoolExecutor:
        with self._lock:
            pool = self._pools.get(name)
            if pool is None:
                # What is small and local is read without one.
                from concurrent.futures import ThreadPoolExecutor

                pool = self._pools[name] = ThreadPoolExecutor(threads, thread_name_prefix=name)
            return pool


def _places_of_rows(plan: RangePlan, access: Access) -> list[str]:
    """Return the canonical URL of each row of a plan; empty of one that is read from nowhere."""
    found = [""] * (int(max(plan.rows.max(initial=-1), plan.empty.max(initial=-1))) + 1)
    canonical: dict[int, str] = {}
    for number, segment in enumerate(plan.segment_url.tolist()):
        if segment not in canonical:
            try:
                canonical[segment] = access.locate(plan.urls[segment]).url
            except RefbrowserError:
                canonical[segment] = ""
        for row in plan.rows[plan.rows_of[number] : plan.rows_of[number + 1]].tolist():
            found[row] = canonical[segment]
    return found


def _turns(segments: Iterable[Segment]) -> Iterator[tuple[Location, list[Segment]]]:
    """Yield runs of segments of one file for a thread to read."""
    turn: list[Segment] = []
    size = 0
    for segment in segments:
        if turn and (size >= _TURN or segment.location != turn[0].location):
            yield turn[0].location, turn
            turn, size = [], 0
        turn.append(segment)
        size += segment.read_size or 0
    if turn:
        yield turn[0].location, turn


#: Called with the bytes read so far, and in all (None: not known).
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class DocumentBytes:
    """The bytes of a document as they were when it was opened.

    Attributes
    ----------
    data
        The bytes, in memory.
    identity
        State of the file or object, to notice changes by others.
    """

    data: memoryview
    identity: FileIdentity | ObjectIdentity


def read_document(
    source: str | os.PathLike[str],
    access: Access,
    *,
    fetcher: Fetcher | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
    size_limit: int = LIMITS.json_size,
) -> DocumentBytes:
    """Return the bytes of the document at a path or URL.

    Parameters
    ----------
    access
        `Access.for_document(source)`, so that naming a document allows its origin.
    fetcher
        Reads URLs; one is made for this call where none is given.
    size_limit
        Largest document in bytes.

    Raises
    ------
    RefbrowserError
        `E_IO`, `E_SOURCE`: it cannot be read; `E_BUDGET`: it is too large; the errors of `Access.resolve`.
    """
    named = os.fspath(source)
    if scheme_of(named) is None:
        return _from_file(os.path.realpath(named), size_limit, progress)
    location = access.resolve(named)
    if location.scheme == "file":
        return _from_file(location.path, size_limit, progress)
    if fetcher is not None:
        return _from_url(named, access, fetcher, progress, cancel, size_limit)
    with Fetcher() as own:
        return _from_url(named, access, own, progress, cancel, size_limit)


def read_beside(
    place: str, access: Access, fetcher: Fetcher, cancel: CancelToken, size_limit: int
) -> DocumentBytes:
    """Return the bytes of a file beside a document at a URL, which need not be there.

    Raises
    ------
    RefbrowserError
        `AbsentError`: there is none; as `read_document`.
    """
    try:
        own = replace(access, memory=AccessMemory())
        return read_document(place, own, fetcher=fetcher, cancel=cancel, size_limit=size_limit)
    except RefusedError as error:
        # Stores that do not let their keys be listed answer 403 where there is none.
        raise AbsentError(error.kind, error.message, error.place) from error


def _from_file(path: str, size_limit: int, progress: Progress | None) -> DocumentBytes:
    with open_regular(path) as (descriptor, identity):
        if identity.size > size_limit:
            message = f"a document of {identity.size} bytes is larger than {size_limit}"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(document=path))
        # Read, not mapped: a map of a file that another process cuts short ends this one.
        data = room_for(identity.size)
        count = read_exactly(descriptor, [data], 0)
        if count != identity.size or FileIdentity.of(os.fstat(descriptor)) != identity:
            message = "the file changed while it was read"
            raise ChangedError(ErrorKind.SOURCE, message, Place(document=path))
    if progress is not None:
        progress(identity.size, identity.size)
    return DocumentBytes(data, identity)


def _from_url(
    url: str,
    access: Access,
    fetcher: Fetcher,
    progress: Progress | None,
    cancel: CancelToken | None,
    size_limit: int,
) -> DocumentBytes:
    columns = ReferenceColumns(
        kind=np.array([ReferenceKind.WHOLE], np.uint8),
        url=np.zeros(1, np.int32),
        offset=np.zeros(1, np.int64),
        length=np.full(1, -1, np.int64),
        urls=(url,),
    )
    found: list[memoryview | RefbrowserError] = []
    fetcher.fetch(
        fetcher.plan(columns, access),
        access,
        lambda row, data: found.append(data),
        cancel=cancel,
        size_limit=size_limit,
        progress=progress,
    )
    data = found[0]
    if isinstance(data, RefbrowserError):
        raise data
    identity = access.memory.identities.known(access.locate(url).url)
    return DocumentBytes(data, identity or ObjectIdentity(len(data)))
