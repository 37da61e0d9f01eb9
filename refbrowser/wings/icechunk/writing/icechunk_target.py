"""Exporting to a branch of an Icechunk repository: references stay references, the rest becomes chunks."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import stat
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError, TargetExistsError, quoted
from refbrowser.exporting.chunks import PAGE, ArrayExport, coords_between
from refbrowser.exporting.folder import partial_of
from refbrowser.exporting.layout import ArrayLayout, node_key
from refbrowser.exporting.objects import Assembled, values_digest
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.request import ExportEstimate, ExportRequest, Loss, Tally
from refbrowser.exporting.targets.store import StoreTarget
from refbrowser.exporting.verify import SAMPLED
from refbrowser.formats.zarr.documents import NODE_V3
from refbrowser.io.access.access import Location
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.io.origins import in_object_store, split_url
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind, with_used_urls
from refbrowser.wings.icechunk.writing.commit_options import CommitOptions
from refbrowser.wings.icechunk.writing.containers import chunk_location, containers_of, held_columns
from refbrowser.wings.icechunk.writing.repository_place import RepositoryPlace, library, told_of

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

Ints = npt.NDArray[Any]

#: Bytes of metadata for one chunk, about.
_ENTRY = 40
#: URLs of which so many are asked for at a time.
_ASKED = 1024
#: Objects of a repository that are read again at a time.
_TOGETHER = 64
#: URLs that one line names.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class _Source:
    """An object that chunks lie in.

    Attributes
    ----------
    location
        As the repository names it.
    size
        Bytes of all of it; None is not known.
    checksum
        Its entity tag, or the time after which it must not have changed; None is not known.
    is_absent
        There is no such object.
    stale
        Why it is not the one that the references were made of.
    """

    location: str
    size: int | None = None
    checksum: str | datetime | None = None
    is_absent: bool = False
    stale: RefbrowserError | None = None


@dataclass(slots=True)
class _Written:
    """What was set of one array.

    Attributes
    ----------
    layout
        Of the array.
    count
        Chunks, references and others.
    sample
        Numbers of chunks, in C order, that are references.
    """

    layout: ArrayLayout
    count: int = 0
    sample: list[int] = field(default_factory=list)


class IcechunkTarget(StoreTarget):
    """A snapshot of an Icechunk repository, on a branch.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the library is not installed; what a store raises.
    """

    written_anew: ClassVar[str] = "a commit is made as a whole: it cannot be resumed"

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        library()
        self._own = request.chosen(CommitOptions)
        self._told: tuple[Loss, ...] = ()
        #: The objects of references as they are spelled, and where these lie; None before somebody looked.
        self._locations: dict[str, Location] | None = None
        self._sources: dict[str, _Source] = {}
        self._virtual: set[str] = set()
        #: How many references were set into each object, by its location.
        self._counts: Counter[str] = Counter()
        self._place: RepositoryPlace | None = None
        super().__init__(dataset, request)

    def store_options(self) -> StoreOptions:
        """Return how arrays are laid out: as they are, but for what is said of packed numbers."""
        return StoreOptions(packing=self._own.packing)

    def _settle(self, groups: list[GroupNode], added: list[ArrayLayout]) -> None:
        super()._settle(groups, added)
        self.losses = (*self.losses, *self._told)
        # What is consolidated no session of Icechunk keeps in step.
        self.metadata = {key: data for key, data in self.metadata.items() if key.endswith(NODE_V3)}

    # Before it starts

    def cost(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost; reads references, no data."""
        if self._locations is None:
            self._survey(token)
        if not in_object_store(self.name):
            # Whoever is asked before it starts is to know.
            self.check_place(self.place())
        found = super().cost(token)
        virtual = [each for each in self.layouts if each.target.path in self._virtual]
        kept = sum(each.grid.size for each in virtual)
        if len(virtual) == len(self.layouts):
            return ExportEstimate(found.chunks, found.missing, 0, kept * _ENTRY)
        return found

    def _survey(self, token: CancelToken) -> None:
        """Find where the chunks of arrays lie, and which of them references can give."""
        self._locations, told = {}, list[Loss]()
        relative = False
        for layout in self.layouts:
            path = layout.source.path
            if not layout.copies_objects:
                told.append(Loss(path, "its chunks are copied: references cannot express them"))
                continue
            found = self._located(layout, token)
            try:
                for place in found.values():
                    chunk_location(place)
            except RefbrowserError as error:
                told.append(Loss(path, f"its chunks are written into the repository: {error.message}"))
                continue
            access = self.dataset.access
            relative |= any(access.is_path(url) and not os.path.isabs(url) for url in found)
            self._virtual.add(layout.target.path)
            self._locations |= found
        if relative:
            told.append(Loss("/", "relative file names become absolute: files and repository must stay put"))
        document = self.dataset.document
        if document.has_keys and document.rules:
            told.append(Loss("/", "rules are written out: each chunk gets its own reference"))
        if document.has_keys and document.templates.templates:
            told.append(Loss("/", "templates are written out: a repository has none"))
        self._told = tuple(told)
        self.losses = (*self.losses, *told)

    def _located(self, layout: ArrayLayout, token: CancelToken) -> dict[str, Location]:
        """Return where the objects lie that chunks of an array are in, by their URLs."""
        found = dict[str, Location]()
        for _, columns in self._pages(layout, token):
            for url in columns.urls:
                if url not in found:
                    found[url] = self.dataset.access.locate(url)
        return found

    def _pages(self, layout: ArrayLayout, token: CancelToken) -> Iterator[tuple[int, ReferenceColumns]]:
        """Yield the references of an array, and the number of the first of each page."""
        for start in range(0, layout.grid.size, PAGE):
            token.check()
            coords = coords_between(layout, start, min(start + PAGE, layout.grid.size))
            columns = layout.source.manifest.columns(layout.source_coords(coords))
            yield start, with_used_urls(held_columns(columns, self.taken_in))

    def why_here(self) -> str:
        """Return why no other processes can work on it."""
        return "a commit is made by one process"

    def questions(self) -> Iterator[RefbrowserError]:
        """Yield the errors of very many chunks that are written, and of large ones."""
        whole, self.layouts = (
            self.layouts,
            [each for each in self.layouts if each.target.path not in self._virtual],
        )
        try:
            yield from super().questions()
        finally:
            self.layouts = whole

    def place(self) -> Any:
        """Return the repository."""
        origin = split_url(self.name).origin
        connection = self.dataset.access.connection(origin)
        if self._place is None:
            self._place = RepositoryPlace(self.name, connection, partial_of(self.name), self._own.branch)
        return self._place

    def room(self, cost: ExportEstimate) -> int:
        """Return the bytes that must be free on the disk."""
        return 0 if in_object_store(self.name) else cost.target_bytes + cost.spool_bytes

    def compared(self, place: Any, control: JobControl) -> Tally | None:
        """Return None: nothing is gone on with."""
        return None

    def fingerprint(self) -> None:  # type: ignore[override]
        """Return None: nothing is gone on with."""
        return

    # Writing

    def write(self, made: Any, tally: Tally, control: JobControl) -> None:
        """Set metadata, references and chunks in a session of the repository."""
        tally.skipped = list(self.skipped)
        self._look_at_sources(control)
        containers = containers_of(
            (place for url, place in (self._locations or {}).items() if not self._sources[url].is_absent),
            self.dataset.access,
        )
        gathered = self.gather(made.partial / "gathered", control)
        session = made.begin(containers)
        with told_of(made.target):
            self._sink = _Sink(session.store)
            self._set_metadata(session, made)
            native = [each for each in self.exports if each.layout.target.path not in self._virtual]
            self._carry_out_some(native, self._sink, made, tally, control)
            gathered.tell(tally)
            self._arrays = [
                self._refer(session, each, tally, control)
                for each in self.layouts
                if each.target.path in self._virtual
            ]
            self._session = made.keep(session, self._own.message or f"refbrowser: {self.dataset.path}")
        self.opened_by = made.opened_by(each.target.path for each in self.layouts)

    def _set_metadata(self, session: Any, made: RepositoryPlace) -> None:
        """Set the metadata of groups and arrays; arrays that are there are replaced by force only."""
        arrays = {node_key(each.target.path, NODE_V3): each.target.path for each in self.layouts}
        for key, data in sorted(self.metadata.items(), key=lambda item: item[0].count("/")):
            there = self._sink.get(key)
            is_array = there is not None and _node(there).get("node_type") == "array"
            path = "/" + key.removesuffix(NODE_V3).strip("/")
            if key in arrays:
                if is_array and not self.request.force:
                    raise _there(path, made, "give --force to replace it")
                if there is not None and not is_array and not (path == "/" and _is_empty(session.store)):
                    raise _there(path, made, "it is a group: choose another repository or branch")
                if there is not None:
                    self._sink.remove(path.strip("/"))
            elif is_array:
                raise _there(path, made, "it is an array: choose another repository or branch")
            elif there is not None and not self.request.force and _node(there).get("attributes"):
                if _node(there).get("attributes") != _node(data).get("attributes"):
                    self.losses = (
                        *self.losses,
                        Loss(path, "the group exists and keeps its attributes (--force replaces them)"),
                    )
                continue
            self._sink.set(key, data)

    def _carry_out_some(
        self,
        arrays: list[ArrayExport],
        sink: _Sink,
        made: RepositoryPlace,
        tally: Tally,
        control: JobControl,
    ) -> None:
        """Write the chunks of arrays that no reference gives."""
        whole, self.exports = self.exports, arrays
        try:
            if arrays:
                self._carry_out(sink, made.spool, tally, control)
        finally:
            self.exports = whole

    def _refer(self, session: Any, layout: ArrayLayout, tally: Tally, control: JobControl) -> _Written:
        """Set the references of an array, page by page."""
        icechunk, path = library(), layout.target.path
        written, total = _Written(layout), layout.grid.size
        every = max(1, total // SAMPLED)
        for start, columns in self._pages(layout, control.token):
            kinds = self._kinds(columns, layout, tally)
            coords = coords_between(layout, start, start + len(columns))
            rows, offsets, lengths = self._ranges(columns, kinds)
            numbers = columns.url[rows]
            sources = [self._sources.get(url) for url in columns.urls]
            if len(rows):
                used = [sources[number] for number in numbers.tolist()]
                made = map(
                    icechunk.VirtualChunkSpec,
                    coords[rows].tolist(),
                    (each.location for each in used if each is not None),
                    offsets.tolist(),
                    lengths.tolist(),
                    (each.checksum if isinstance(each.checksum, str) else None for each in used if each),
                    (each.checksum if isinstance(each.checksum, datetime) else None for each in used if each),
                )
                refused = session.store.set_virtual_refs(path, list(made), validate_containers=True)
                if refused:
                    message = f"Icechunk refuses {len(refused)} references of {quoted(path)}"
                    raise RefbrowserError(ErrorKind.IO, message, Place(path=path))
                for number, count in zip(*np.unique(numbers, return_counts=True), strict=True):
                    self._counts[self._sources[columns.urls[number]].location] += int(count)
                sampled = rows[(rows + start) % every == 0] + start
                written.sample += sampled[: SAMPLED - len(written.sample)].tolist()
            inline = np.flatnonzero(kinds == ReferenceKind.INLINE).tolist()
            for key, row in zip(layout.keys(coords[inline]) if inline else (), inline, strict=True):
                self._sink.set(key, bytes(columns.inline[row]))
            count = len(rows) + len(inline)
            written.count += count
            tally.chunks += count
            tally.copied += count
            tally.missing += int(np.count_nonzero(kinds == ReferenceKind.MISSING))
            control.progress(tally.chunks, None)
        return written

    def _ranges(self, columns: ReferenceColumns, kinds: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the rows that lie in objects, and where: of whole ones all bytes."""
        rows = np.flatnonzero((kinds == ReferenceKind.RANGE) | (kinds == ReferenceKind.WHOLE))
        sources = [self._sources.get(url) for url in columns.urls]
        known = (-1 if each is None or each.size is None else each.size for each in sources)
        sizes, whole = np.array([*known, -1]), kinds[rows] == ReferenceKind.WHOLE
        offsets = np.where(whole, 0, columns.offset[rows])
        return rows, offsets, np.where(whole, sizes[columns.url[rows]], columns.length[rows])

    def _kinds(self, columns: ReferenceColumns, layout: ArrayLayout, tally: Tally) -> Any:
        """Return the kinds of references, with those missing that are of no object of an opened store.

        Raises
        ------
        RefbrowserError
            A reference cannot be read, or the size of its object is not known.
        """
        kinds = columns.kind.copy()
        for row in np.flatnonzero(kinds == ReferenceKind.FAULTY).tolist():
            error = columns.faults[row]
            self._bad(error.at(error.place or Place(path=layout.source.path)), tally)
            kinds[row] = ReferenceKind.MISSING
        for number, url in enumerate(columns.urls):
            stale = self._sources[url].stale
            if stale is not None:
                # With what is recorded of it now, nobody would notice any more.
                self._bad(stale, tally)
                kinds[columns.url == number] = ReferenceKind.MISSING
        whole = np.flatnonzero(kinds == ReferenceKind.WHOLE)
        for number in np.unique(columns.url[whole]).tolist():
            url = columns.urls[number]
            source = self._sources[url]
            rows = whole[columns.url[whole] == number] if source.size is None else ()
            if source.size is None and not source.is_absent:
                message = "the size of the object is not known, and a repository needs it"
                self._bad(RefbrowserError(ErrorKind.SOURCE, message, Place(url=url)), tally)
            if len(rows):
                kinds[rows] = ReferenceKind.MISSING
        return kinds

    def _bad(self, error: RefbrowserError, tally: Tally) -> None:
        if not self.request.skip_bad:
            raise error
        tally.skipped.append(error)

    # Sources

    def _look_at_sources(self, control: JobControl) -> None:
        """Ask each object once for its size and what tells its states apart."""
        unknown: dict[str, RefbrowserError | str] = {}
        remote: list[str] = []
        for number, (url, place) in enumerate((self._locations or {}).items()):
            if not number % _ASKED:
                control.check()
            location = chunk_location(place)
            if place.scheme != "file":
                remote.append(url)
                continue
            try:
                self.dataset.access.check(place)
                found = os.stat(place.path)
                if not stat.S_ISREG(found.st_mode):
                    raise RefbrowserError(ErrorKind.SOURCE, "it is not a file", Place(url=url))
                self._sources[url] = _Source(
                    location,
                    found.st_size,
                    next_second(found.st_mtime),
                    stale=self._stale(place, FileIdentity.of(found).as_object()),
                )
            except FileNotFoundError:
                self._sources[url] = _Source(location, is_absent=self.dataset.access.store is not None)
                unknown[url] = "there is no such file"
            except (OSError, RefbrowserError) as error:
                self._sources[url] = _Source(location)
                unknown[url] = error if isinstance(error, RefbrowserError) else str(error.strerror)
        for start in range(0, len(remote), _ASKED):
            unknown |= self._ask(remote[start : start + _ASKED], control.token)
        told = [url for url in unknown if not (self._sources[url].is_absent or self._sources[url].stale)]
        if told:
            why = unknown[told[0]]
            named = ", ".join(quoted(url) for url in told[:_NAMED])
            what = (
                f"{len(told)} of {len(self._sources)} objects have no checksum, so changes to them go "
                f"unnoticed ({named}): {why.message if isinstance(why, RefbrowserError) else why}"
            )
            self._told = (*self._told, Loss("/", what))
            self.losses = (*self.losses, self._told[-1])

    def _unanswered(self, place: Location, answer: RefbrowserError) -> _Source:
        """Return what is known of an object that did not answer: what was recorded of it, if anything."""
        location, access = chunk_location(place), self.dataset.access
        recorded = access.memory.identities.recorded.get(place.url)
        if access.is_missing(answer) or recorded is None:
            return _Source(location, is_absent=access.is_missing(answer))
        checksum: str | datetime | None = min(recorded.etags, default=None)
        if recorded.modified is not None and checksum is None:
            checksum = datetime.fromtimestamp(recorded.modified, UTC)
        # Who may not ask keeps what was recorded; what was asked and is another object is not written.
        stale = answer if answer.kind is ErrorKind.SOURCE or len(recorded.etags) > 1 else None
        return _Source(location, checksum=checksum, stale=stale)

    def _stale(self, place: Location, seen: ObjectIdentity | None) -> RefbrowserError | None:
        """Return why an object is not the one that was recorded, where it was."""
        recorded = self.dataset.access.memory.identities.recorded.get(place.url)
        try:
            if recorded is not None and seen is not None:
                recorded.check(place.url, seen)
        except RefbrowserError as error:
            return error
        return None

    def _ask(self, urls: list[str], token: CancelToken) -> dict[str, RefbrowserError | str]:
        """Ask for a byte of objects on other machines; returns why some are not known."""
        access, unknown = self.dataset.access, dict[str, RefbrowserError | str]()
        count = len(urls)
        columns = ReferenceColumns(
            np.full(count, ReferenceKind.RANGE, np.uint8),
            np.arange(count, dtype=np.int32),
            np.zeros(count, np.int64),
            np.ones(count, np.int64),
            tuple(urls),
        )
        answers = self.dataset.session.fetch_all(columns, access, token=token, export=True)
        for url, answer in zip(urls, answers, strict=True):
            place = access.locate(url)
            location = chunk_location(place)
            known = access.memory.identities.known(place.url)
            if isinstance(answer, RefbrowserError) and (known is None or known.total is None):
                self._sources[url] = self._unanswered(place, answer)
                if self._sources[url].checksum is None:
                    unknown[url] = answer
                continue
            checksum = None if known is None else _checksum(place.scheme, known)
            self._sources[url] = _Source(location, None if known is None else known.total, checksum)
            if checksum is None:
                unknown[url] = "the server gives neither an ETag nor a time"
        return unknown

    # Reading again

    def verify(self, made: Any, tally: Tally, control: JobControl) -> int:
        """Read the snapshot again: metadata, how many chunks lie where, chunks by hash, a sample by value."""
        with told_of(made.target):
            self._sink.check(self._session.store, control.token)
            if not made.is_remote:
                self._check_references(made, control)
            elif not made.exists:
                self._check_count()
            return len(self._sink.digests) + sum(self._check_sample(each, control) for each in self._arrays)

    def _check_count(self) -> None:
        """Compare how many chunks lie in each object, where no others are in the repository."""
        if Counter(self._session.all_virtual_chunk_locations()) != self._counts:
            raise self._differs("/", "references are elsewhere")

    def _check_references(self, made: RepositoryPlace, control: JobControl) -> None:
        """Compare every reference as our own reader finds it in the files of the repository."""
        request = OpenRequest(made.where, options={"snapshot": made.snapshot})
        with open_dataset(request, JobControl(control.token)) as written:
            for each in self._arrays:
                node = written.hierarchy.find(each.layout.target.path)
                if not isinstance(node, ArrayNode):
                    raise self._differs(each.layout.target.path, "the array does not exist")
                for start, columns in self._pages(each.layout, control.token):
                    kinds = self._kinds(columns, each.layout, Tally())
                    rows, offsets, lengths = self._ranges(columns, kinds)
                    coords = coords_between(each.layout, start, start + len(columns))
                    found = node.manifest.columns(coords)
                    theirs = found.kind[rows]
                    mine = np.array([self._place_of(url) for url in columns.urls], object)
                    other = np.array([written.access.locate(url).url for url in found.urls], object)
                    missing = (kinds == ReferenceKind.MISSING) == (found.kind == ReferenceKind.MISSING)
                    if not (
                        missing.all()
                        and (theirs == ReferenceKind.RANGE).all()
                        and np.array_equal(found.offset[rows], offsets)
                        and np.array_equal(found.length[rows], lengths)
                        and (not len(rows) or (mine[columns.url[rows]] == other[found.url[rows]]).all())
                    ):
                        raise self._differs(each.layout.target.path, "references point elsewhere")

    def _place_of(self, url: str) -> str:
        return "" if self._locations is None or url not in self._locations else self._locations[url].url

    def _check_sample(self, written: _Written, control: JobControl) -> int:
        """Compare some chunks of an array: their bytes are those of the source, and can be decoded."""
        layout, store = written.layout, self._session.store
        export = next(each for each in self.exports if each.layout is layout)
        compared = 0
        numbers = np.array(written.sample, np.int64)
        if not len(numbers):
            return 0
        coords = np.concatenate([coords_between(layout, number, number + 1) for number in numbers.tolist()])
        columns = layout.source.manifest.columns(layout.source_coords(coords))
        answers = self.dataset.session.fetch_all(
            columns, self.dataset.access, token=control.token, export=True
        )
        for key, answer in zip(layout.keys(coords), answers, strict=True):
            control.check()
            if isinstance(answer, RefbrowserError):
                # It was told that there is no checksum.
                continue
            try:
                pipeline = export.coder_for(key).pipeline
                mine = values_digest(pipeline.decode(memoryview(answer)), pipeline.dtype)
            except RefbrowserError as error:
                raise error.at(Place(path=layout.source.path, key=key)) from error
            found = _get(store, key)
            if found is None or values_digest(pipeline.decode(memoryview(found)), pipeline.dtype) != mine:
                raise self._differs(layout.target.path, f"chunk {quoted(key)} differs")
            compared += 1
        return compared

    def _differs(self, path: str, what: str) -> RefbrowserError:
        message = f"verification failed: {what}"
        return RefbrowserError(ErrorKind.IO, message, Place(path=self.name if path == "/" else path))


class _Sink:
    """Takes metadata and chunks for a session, and knows what it was given.

    Attributes
    ----------
    digests
        SHA-256 of what was set, by key.
    """

    def __init__(self, store: Any) -> None:
        self._store = store
        self.digests: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def has(self, key: str) -> bool:
        """Tell that nothing is there of an earlier run."""
        return False

    def put(self, array: ArrayExport, key: str, made: Assembled) -> None:
        """Set a chunk."""
        self.set(key, b"".join(bytes(portion) for portion in made.portions()))

    def set(self, key: str, data: bytes) -> None:
        """Set metadata or a chunk."""
        from zarr.core.sync import sync

        sync(self._store.set(key, _prototype().buffer.from_bytes(data)))
        with self._lock:
            self.digests[key] = _digest(key, data)

    def remove(self, path: str) -> None:
        """Remove a node and what is below it."""
        from zarr.core.sync import sync

        sync(self._store.delete_dir(path))

    def get(self, key: str) -> bytes | None:
        """Return what is there before."""
        return _get(self._store, key)

    def check(self, store: Any, token: CancelToken) -> None:
        """Compare what a snapshot has with what was set.

        Raises
        ------
        RefbrowserError
            `E_IO`: something differs.
        """
        from zarr.core.sync import sync

        keys = list(self.digests)
        for start in range(0, len(keys), _TOGETHER):
            token.check()
            some = keys[start : start + _TOGETHER]
            for key, found in zip(some, sync(_all_of(store, some)), strict=True):
                if found is None or _digest(key, found.to_bytes()) != self.digests[key]:
                    message = f"verification failed: {quoted(key)} differs from what was written"
                    raise RefbrowserError(ErrorKind.IO, message, Place(key=key))


async def _all_of(store: Any, keys: list[str]) -> list[Any]:
    return await asyncio.gather(*(store.get(key, _prototype()) for key in keys))


def _get(store: Any, key: str) -> bytes | None:
    from zarr.core.sync import sync

    found = sync(store.get(key, _prototype()))
    return None if found is None else found.to_bytes()


def _prototype() -> Any:
    from zarr.core.buffer import default_buffer_prototype

    return default_buffer_prototype()


def _digest(key: str, data: bytes) -> bytes:
    """Return the digest of bytes, of metadata that of its values: the library may spell them anew."""
    if key.endswith(NODE_V3):
        data = json.dumps(json.loads(data), sort_keys=True).encode()
    return hashlib.sha256(data).digest()


def _node(data: bytes) -> dict[str, Any]:
    found = json.loads(data)
    return found if isinstance(found, dict) else {}


def _is_empty(store: Any) -> bool:
    """Tell whether a repository has nothing but a root group."""
    from zarr.core.sync import sync

    async def names() -> list[str]:
        return [name async for name in store.list_dir("")]

    return sync(names()) == [NODE_V3]


def _there(path: str, made: RepositoryPlace, advice: str) -> RefbrowserError:
    message = f"{quoted(path)} exists already, on the branch {quoted(made.branch)}"
    return TargetExistsError(ErrorKind.IO, message, Place(path=str(made.target)), advice)


def next_second(seconds: float) -> datetime:
    """Return a time in whole seconds, which is all that a repository keeps, that is not before another."""
    return datetime.fromtimestamp(math.ceil(seconds), UTC)


def _checksum(scheme: str, known: ObjectIdentity) -> str | datetime | None:
    """Return what tells the states of an object apart, as its server compares it.

    A tag where it is one of the content: of http it may be a weak one, which never matches, of gs it is the
    number of a generation.
    """
    if scheme in ("s3", "abfs") and known.etag:
        return known.etag
    if known.modified:
        return _time_of(known.modified)
    return known.etag if scheme == "http" else None


def _time_of(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            return None
    found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return next_second(found.timestamp())
