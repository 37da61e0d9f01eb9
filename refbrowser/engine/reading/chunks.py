"""Reading arrays of encoded chunks: bytes arrive, are decoded in the pool and written to their place."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Hashable, Sequence, Set
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import filled
from refbrowser.engine.reading.chunk_log import BatchNotes, marks_of
from refbrowser.engine.reading.decoding import Rests
from refbrowser.engine.reading.fetching import fetch_rows
from refbrowser.engine.reading.parts import EndedPart, PartReader, Parts, PartState, ReadOptions
from refbrowser.engine.reading.shards import ShardMemory, open_shards
from refbrowser.engine.reading.wanted import Wanted, cut_uncompressed, refuse_large, too_long, worth_keeping
from refbrowser.engine.resources import Resources
from refbrowser.errors import RefbrowserError
from refbrowser.model.grid import ChunkPart
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind, placed, taken

if TYPE_CHECKING:
    from refbrowser.io.access import Access

#: Up to this many bytes that need no decoding are copied where they arrive: cheaper than a hand-over.
AT_ONCE = 256 * 1024
#: A chunk of up to this many bytes, decoded, is decoded where it arrives. Python takes longer for it than its
#: codecs do, so more threads gain nothing: they pass the interpreter back and forth (2.5 times the CPU time
#: for 20,000 chunks of 400 bytes), and the window waits behind each of them.
TINY = 4096


class ChunkReader(PartReader):
    """One read of parts of one array whose chunks have one reference each."""

    def __init__(
        self,
        session: Resources,
        node: ArrayNode,
        access: Access,
        box: npt.NDArray[Any],
        options: ReadOptions,
        *,
        total: int,
        keep: bool,
    ) -> None:
        super().__init__(session, node, access, box, options, total=total, keep=keep)
        self.pipeline = CodecPipeline.for_array(node)

    @cached_property
    def how(self) -> tuple[Hashable, ...]:
        """What decoding a chunk depends on."""
        return pipeline_key(self.node)

    def run_batch(self, parts: Parts, start: int, stop: int) -> None:
        """Read the parts from `start` to `stop`."""
        _Batch(self, parts, start, stop).run()

    def fetch_all(self, columns: ReferenceColumns) -> list[bytes | RefbrowserError]:
        """Return the bytes of each row, or why they could not be had."""
        return self.session.fetch_all(
            columns, self.access, token=self.token, export=self.options.export, priority=self.options.priority
        )

    def total_of(self, url: str) -> int | None:
        """Return the size of an object that was read from."""
        known = self.access.memory.identities.known(self.access.locate(url).url)
        return None if known is None else known.total


class _Picked(Sequence[ChunkPart]):
    """Some parts by position."""

    def __init__(self, parts: Parts, numbers: Sequence[int]) -> None:
        self._parts = parts
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, position: Any) -> Any:
        return self._parts[self._numbers[position]]


class _Batch:
    """The chunks of a read that are planned together: some of its parts, which keep their numbers."""

    def __init__(self, reader: ChunkReader, parts: Parts, start: int, stop: int) -> None:
        self.reader = reader
        self.parts = parts
        self.start, self.stop = start, stop
        self.queue = reader.session.pool.queue(reader.token)
        self._rests = Rests()
        self.fill = filled((), reader.pipeline.dtype, reader.node.fill_value)[()]
        self._lock = threading.Lock()
        #: Rows of each chunk that have not ended; None where each chunk has just one.
        self._left: dict[int, int] | None = None
        self._errors: dict[int, RefbrowserError] = {}
        #: Numbers of chunks that are objects of their own, and of those that the store proved not to have.
        self._objects: Set[int] = set()
        self._absent: set[int] = set()
        self._notes: BatchNotes | None = None

    def run(self) -> None:
        """Read every chunk of the batch."""
        try:
            self._run()
        finally:
            if self._notes is not None:
                self._notes.give_up()

    def _run(self) -> None:
        reader = self.reader
        coords = self.parts.coords(self.start, self.stop)
        columns = reader.manifest.columns(coords)
        if reader.access.store is not None:
            self._objects = set((self.start + np.flatnonzero(columns.kind == ReferenceKind.WHOLE)).tolist())
        if reader.log is not None:
            self._notes = BatchNotes(reader.log, coords, marks_of(columns), self.start)
        stored = columns.kind != ReferenceKind.MISSING
        owners: Sequence[int] = range(self.start, self.stop)
        if not stored.all():
            for number in (self.start + np.flatnonzero(~stored)).tolist():
                self._missing(number)
            rows = np.flatnonzero(stored)
            owners = (self.start + rows).tolist()
            columns = taken(columns, rows)
        all_whole = self.parts.all_whole(self.start, self.stop)
        wanted = Wanted(reader.pipeline, _Picked(self.parts, owners), owners, columns, all_whole=all_whole)
        batches = [
            refuse_large(cut_uncompressed(each, self.reader.access, self._kept_rows(each)))
            for each in self._without_shards(wanted)
        ]
        if sum(len(each.owners) for each in batches) > len(owners):
            self._left = Counter(owner for each in batches for owner in each.owners)
        for each in batches:
            self._read(each)
        self.queue.join()

    def _without_shards(self, wanted: Wanted) -> list[Wanted]:
        if wanted.pipeline.shard is None:
            return [wanted]
        reader = self.reader
        how = (*reader.how, wanted.pipeline.shape)
        memory = ShardMemory(reader.session.cache, reader.access, how)
        opened = open_shards(wanted, reader.fetch_all, reader.total_of, memory)
        return [each for one in opened for each in self._opened(one, wanted)]

    def _opened(self, opened: Wanted, shards: Wanted) -> list[Wanted]:
        # A shard that is read whole keeps its pipeline; inner chunks may be shards again.
        return [opened] if opened.pipeline is shards.pipeline else self._without_shards(opened)

    def _read(self, wanted: Wanted) -> None:
        """Fetch and decode the rows of `wanted`."""
        kinds = wanted.columns.kind
        for row in np.flatnonzero(kinds == ReferenceKind.MISSING).tolist():
            self.reader.region(wanted.parts[row])[...] = self.fill
            self._row_ended(wanted, row, None)
        for row in np.flatnonzero(kinds == ReferenceKind.FAULTY).tolist():
            self._row_ended(wanted, row, wanted.columns.faults[row])
        self.reader.check()
        for row in np.flatnonzero(kinds == ReferenceKind.INLINE).tolist():
            self.reader.token.check()
            self._take(wanted, row, memoryview(wanted.columns.inline[row]), None)
        remote = np.flatnonzero((kinds == ReferenceKind.RANGE) | (kinds == ReferenceKind.WHOLE))
        keys: dict[int, Hashable] = {}
        if self.reader.keep:
            keys = self._cache_keys(wanted, remote)
            remote = np.array(
                [row for row in remote.tolist() if not self._from_cache(wanted, row, keys)], int
            )
        if len(remote):
            self._fetch(wanted, remote, keys)

    def _fetch(self, wanted: Wanted, rows: npt.NDArray[np.int64], keys: dict[int, Hashable]) -> None:
        reader, session = self.reader, self.reader.session
        columns = taken(wanted.columns, rows)
        numbers: list[int] = rows.tolist()
        owners = [wanted.owners[row] for row in numbers]
        notes = self._notes
        if notes is not None:
            notes.asked(owners)
        placed: dict[int, memoryview] = {}
        pipeline = wanted.pipeline

        def destination(position: int) -> memoryview | None:
            row = numbers[position]
            view = None if row in keys else self._place(wanted, row)
            if view is not None:
                placed[position] = view
            return view

        def deliver(position: int, data: memoryview | RefbrowserError) -> None:
            row = numbers[position]
            if isinstance(data, RefbrowserError):
                self._row_ended(wanted, row, too_long(pipeline, data))
                reader.check()
                return
            reader.read_bytes += len(data)
            reader.tell()
            if position in placed and data.obj is placed[position].obj:
                self._witnessed(wanted, row, data)
                self._row_ended(wanted, row, None)
            else:
                self._take(wanted, row, data, keys.get(row))

        counters = fetch_rows(
            session.fetcher,
            columns,
            reader.access,
            deliver,
            cancel=reader.token,
            destination=destination,
            key=lambda position: self._key(wanted, numbers[position]),
            export=reader.options.export,
            priority=reader.options.priority,
            size_limit=pipeline.stored_most,
            timed=None
            if notes is None
            else lambda rows, took: notes.took([owners[row] for row in rows], took),
        )
        reader.requests += counters.requests

    def _key(self, wanted: Wanted, row: int) -> str:
        return self.reader.manifest.key(self.parts[wanted.owners[row]].coords)

    def _place(self, wanted: Wanted, row: int) -> memoryview | None:
        """Return where the bytes of a row belong in the result, if they lie there as they are stored."""
        pipeline, region = wanted.pipeline, self.reader.region(wanted.parts[row])
        if region.dtype != pipeline.dtype or not pipeline.is_raw:
            return None
        if row in wanted.spans:
            spans, number = wanted.spans[row]
            if not spans.is_dense(number):
                return None
            target = spans.target(number, region)
        elif wanted.parts[row].whole and wanted.columns.length[row] == pipeline.decoded_size:
            target = region.transpose(pipeline.axes)
        else:
            return None
        return target.reshape(-1).view(np.uint8).data if target.flags.c_contiguous else None

    def _take(self, wanted: Wanted, row: int, data: memoryview, cache_key: Hashable | None) -> None:
        """Decode a row: here, or in the pool where that is worth a hand-over."""
        if len(data) <= _at_once(wanted.pipeline):
            self._decode(wanted, row, data, cache_key)
            self._rests.after_piece()
        else:
            size = len(data) + wanted.decoded_size(row)
            self.queue.put(lambda: self._decode(wanted, row, data, cache_key), size)

    def _decode(self, wanted: Wanted, row: int, data: memoryview, cache_key: Hashable | None) -> None:
        started = time.monotonic()
        try:
            self._witnessed(wanted, row, data)
            if cache_key is None:
                self._write(wanted, row, data)
            elif row in wanted.spans:
                stored = np.array(np.frombuffer(data, np.uint8))
                self.reader.session.cache.put(cache_key, stored)
                self._write(wanted, row, stored)
            else:
                chunk = wanted.pipeline.decode(data)
                # A view would keep the whole buffer of its request alive.
                kept = chunk if not wanted.pipeline.is_raw else chunk.copy("K")
                self._write_chunk(wanted, row, kept)
                self.reader.session.cache.put(cache_key, kept)
        except RefbrowserError as error:
            self._row_ended(wanted, row, self._fault(wanted, row, data) or error)
            if self.reader.error is not None:
                self.reader.token.cancel()
        else:
            if self._notes is not None:
                self._notes.took([wanted.owners[row]], time.monotonic() - started)
            self._row_ended(wanted, row, None)

    def _witnessed(self, wanted: Wanted, row: int, data: memoryview) -> None:
        """Look at the stored bytes of a whole chunk where its file tells more of them."""
        place = self._stored_at(wanted, row)
        if place is not None and self.reader.node.chunks.witness is not None:
            finding = self.reader.node.chunks.witness.check(*place, data)
            if finding is not None:
                self.reader.access.memory.warn(finding)

    def _fault(self, wanted: Wanted, row: int, data: memoryview) -> RefbrowserError | None:
        """Return why bytes cannot be decoded as their file tells it, where it does."""
        place = self._stored_at(wanted, row)
        witness = self.reader.node.chunks.witness
        return None if place is None or witness is None else witness.fault(*place, data)

    def _stored_at(self, wanted: Wanted, row: int) -> tuple[str, int] | None:
        """Return URL and offset of a chunk that is a range and read whole."""
        columns = wanted.columns
        if self.reader.node.chunks.witness is None or row in wanted.spans:
            return None
        if columns.kind[row] != ReferenceKind.RANGE:
            return None
        return columns.urls[columns.url[row]], int(columns.offset[row])

    def _write(self, wanted: Wanted, row: int, data: Any) -> None:
        """Decode the bytes of a row to its place in the result."""
        pipeline, part = wanted.pipeline, wanted.parts[row]
        region = self.reader.region(part)
        if row in wanted.spans:
            spans, number = wanted.spans[row]
            spans.scatter(number, data, pipeline.dtype, region)
        elif part.whole:
            pipeline.decode(data, out=region)
        else:
            region[...] = pipeline.decode(data)[part.inside]

    def _write_chunk(self, wanted: Wanted, row: int, chunk: npt.NDArray[Any]) -> None:
        part = wanted.parts[row]
        self.reader.region(part)[...] = chunk[part.inside]

    # The cache

    def _cache_keys(self, wanted: Wanted, rows: npt.NDArray[np.int64]) -> dict[int, Hashable]:
        """Return the cache key of each row that may be read and is worth keeping.

        Permission is asked before the cache is. Uncompressed bytes of a local file are in the system's cache:
        another copy would cost more than reading them again.
        """
        columns, access = wanted.columns, self.reader.access
        how = (*self.reader.how, wanted.pipeline.shape)
        places: dict[int, str | None] = {}
        keys: dict[int, Hashable] = {}
        for row in rows.tolist():
            if row in wanted.spans and not worth_keeping(*wanted.spans[row]):
                continue
            number = int(columns.url[row])
            if number not in places:
                places[number] = self._kept_place(columns.urls[number], wanted.pipeline)
            if (url := places[number]) is not None:
                span = () if row in wanted.spans else how
                extent = int(columns.offset[row]), int(columns.length[row])
                keys[row] = (access.scope, url, *extent, span)
        return keys

    def _kept_place(self, url: str, pipeline: CodecPipeline) -> str | None:
        """Return the canonical form of a URL whose chunks are kept, or None where they are not."""
        try:
            place = self.reader.access.resolve(url)
        except RefbrowserError:
            return None
        return None if pipeline.is_raw and place.scheme == "file" else place.url

    def _kept_rows(self, wanted: Wanted) -> Set[int]:
        """Return the rows of uncompressed chunks that are in memory whole while only a part is wanted."""
        if not self.reader.keep or not wanted.pipeline.is_raw or wanted.all_whole:
            return set()
        kinds = wanted.columns.kind
        remote = np.flatnonzero((kinds == ReferenceKind.RANGE) | (kinds == ReferenceKind.WHOLE))
        cache = self.reader.session.cache
        return {row for row, key in self._cache_keys(wanted, remote).items() if cache.get(key) is not None}

    def _from_cache(self, wanted: Wanted, row: int, keys: dict[int, Hashable]) -> bool:
        kept = self.reader.session.cache.get(keys[row]) if row in keys else None
        if kept is None:
            return False
        if row in wanted.spans:
            self._write(wanted, row, kept)
        else:
            self._write_chunk(wanted, row, kept)
        self._row_ended(wanted, row, None)
        return True

    # Chunks that have ended

    def _missing(self, position: int) -> None:
        self.reader.region(self.parts[position])[...] = self.fill
        self.reader.ended(EndedPart(self.parts[position], PartState.MISSING))

    def _fill_absent(self, owner: int) -> None:
        """Fill the part of a chunk that the store does not have, once for all rows that were read of it."""
        if owner not in self._absent:
            self._absent.add(owner)
            self.reader.region(self.parts[owner])[...] = self.fill

    def _row_ended(self, wanted: Wanted, row: int, error: RefbrowserError | None) -> None:
        owner = wanted.owners[row]
        if error is not None and owner in self._objects and self.reader.access.is_missing(error):
            self._fill_absent(owner)
            error = None
        if self._left is None:
            failure = None if error is None else self._placed(error, wanted, row)
        else:
            with self._lock:
                self._left[owner] -= 1
                last = not self._left[owner]
                if error is not None and owner not in self._errors:
                    self._errors[owner] = self._placed(error, wanted, row)
                failure = self._errors.get(owner)
            if not last and (error is None or self.reader.options.on_part is not None):
                return
        if self._notes is not None:
            self._notes.ended(owner, failure)
        if failure is None and self.reader.options.on_part is None:
            self.reader.count()
            return
        state = PartState.DONE if failure is None else PartState.FAILED
        if failure is None and owner in self._absent:
            state = PartState.MISSING
        self.reader.ended(EndedPart(self.parts[owner], state, failure))

    def _placed(self, error: RefbrowserError, wanted: Wanted, row: int) -> RefbrowserError:
        return placed(error, wanted.columns, row, self._key(wanted, row), self.reader.node.path)


def _at_once(pipeline: CodecPipeline) -> int:
    """Return how many bytes of a row may be decoded on the thread that they arrive on."""
    if pipeline.is_raw:
        return AT_ONCE
    # Objects are as large as they like, whatever the references to them take.
    return TINY if pipeline.objects is None and pipeline.decoded_size <= TINY else 0


def pipeline_key(node: ArrayNode) -> tuple[Hashable, ...]:
    """Return what decoding a chunk of `node` depends on, as a value."""
    codecs = json.dumps([[codec.name, dict(codec.configuration)] for codec in node.codecs], default=repr)
    shape = node.grid.chunk_shape if node.has_grid else ()
    return (node.format, str(node.dtype), shape, node.order, codecs, repr(node.fill_value))
