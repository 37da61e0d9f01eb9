"""Reading arrays of encoded chunks: which bytes parts of them need, and how these are put to their place."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence, Set
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import filled
from refbrowser.engine.reading.parts import Ints, Parts, PartTable
from refbrowser.engine.reading.reader import AT_ONCE, TINY, Batch, Needed, Reader, Reading
from refbrowser.engine.reading.shards import ShardMemory, open_shards
from refbrowser.engine.reading.short_blocks import short_blocks, tells_shapes
from refbrowser.engine.reading.wanted_ranges import (
    Wanted,
    cut_uncompressed,
    refuse_large,
    rows_of,
    too_long,
    worth_keeping,
)
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.grid import ChunkPart
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind, joined, placed, taken
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access

#: Pipelines of unequal chunks that are kept: there may be as many shapes as chunks.
_KEPT_PIPELINES = 1024


class ChunkReading(Reading):
    """How an array whose chunks have one reference each is read."""

    def __init__(self, node: ArrayNode) -> None:
        super().__init__(node)
        #: Decodes the chunks; of unequal ones the largest.
        self.pipeline = CodecPipeline.for_array(node)
        self._pipelines: dict[tuple[int, ...], CodecPipeline] = {}

    @cached_property
    def how(self) -> tuple[Hashable, ...]:
        """What decoding a chunk depends on, as a value."""
        node = self.node
        codecs = json.dumps([[codec.name, dict(codec.configuration)] for codec in node.codecs], default=repr)
        shape = node.grid.largest if node.has_grid else ()
        return (
            node.format,
            node.type.name,
            str(node.dtype),
            shape,
            node.order,
            codecs,
            repr(node.fill_value),
        )

    def pipeline_of(self, shape: tuple[int, ...]) -> CodecPipeline:
        """Return what decodes chunks that are stored in a shape.

        Raises
        ------
        RefbrowserError
            `META`: the codecs do not fit it.
        """
        found = self._pipelines.get(shape)
        if found is None:
            if len(self._pipelines) >= _KEPT_PIPELINES:
                self._pipelines.clear()
            found = self._pipelines[shape] = CodecPipeline.for_array(self.node, shape)
        return found

    def of_one_shape(self, wanted: Wanted, coords: Ints) -> list[Wanted]:
        """Return rows of whole chunks, those at `coords`, by the shape in which they are stored."""
        grid = self.node.grid
        if grid.is_regular:
            return [wanted]
        found = []
        for shape, rows in grid.by_stored_shape(coords):
            same = rows_of(wanted, rows)
            try:
                found.append(replace(same, pipeline=self.pipeline_of(shape)))
            except RefbrowserError as error:
                faults = dict.fromkeys(range(len(rows)), error)
                kinds = np.full(len(rows), ReferenceKind.FAULTY, np.uint8)
                found.append(replace(same, columns=replace(same.columns, kind=kinds, faults=faults)))
        return found

    def batch(self, reader: Reader, parts: Parts, start: int, stop: int) -> ChunkBatch:
        """Return what reads the parts from `start` to `stop`."""
        return ChunkBatch(self, reader, parts, start, stop)

    def needed(self, access: Access, selection: Selection) -> Needed:
        """Return what a selection needs; shards are planned whole, because their indexes are not read."""
        self.check_count(selection)
        node = self.node
        parts = PartTable(node.grid, selection)
        count = len(parts)
        coords = parts.coords(0, count)
        columns = node.manifest.columns(coords)
        all_whole = parts.all_whole(0, count)
        wanted = Wanted(self.pipeline, parts, range(count), columns, all_whole=all_whole)
        cut = [cut_uncompressed(each, access) for each in self.of_one_shape(wanted, coords)]
        kinds = np.bincount(columns.kind, minlength=len(ReferenceKind))
        return Needed(
            joined([each.columns for each in cut]) if cut else columns,
            chunks=count,
            owners=list(chain.from_iterable(each.owners for each in cut)),
            missing=int(kinds[ReferenceKind.MISSING]),
            inline=int(kinds[ReferenceKind.INLINE]),
            faulty=int(kinds[ReferenceKind.FAULTY]),
            gaps=sum(map(_bytes_between_elements, cut)),
        )

    def chunk_question(self) -> RefbrowserError | None:
        """Return what to ask before chunks are decoded whole; None where they are small enough."""
        pipeline = self.pipeline
        while pipeline.shard is not None and isinstance(pipeline.shard.inner, CodecPipeline):
            pipeline = pipeline.shard.inner
        if pipeline.is_raw or pipeline.decoded_size <= LIMITS.chunk_question:
            return None
        return RefbrowserError(
            ErrorKind.BUDGET,
            f"a chunk is {pipeline.decoded_size} bytes when decoded, "
            f"more than {LIMITS.chunk_question} (chunk_question)",
            Place(path=self.node.path),
            "give --yes to decode it anyway",
        )


def _bytes_between_elements(wanted: Wanted) -> int:
    """Return how many bytes within spans belong to no selected element."""
    columns = wanted.columns
    return sum(
        int(columns.length[row]) - spans.selected_bytes(number)
        for row, (spans, number) in wanted.spans.items()
        if columns.kind[row] == ReferenceKind.RANGE
    )


class _Picked(Sequence[ChunkPart]):
    """Some parts by position."""

    def __init__(self, parts: Parts, numbers: Sequence[int]) -> None:
        self._parts = parts
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, position: Any) -> Any:
        return self._parts[self._numbers[position]]


class ChunkBatch(Batch[Wanted]):
    """Chunks of a read that are planned together."""

    def __init__(self, reading: ChunkReading, reader: Reader, parts: Parts, start: int, stop: int) -> None:
        super().__init__(reader, parts, start, stop)
        self.reading = reading
        self.witness = reading.node.chunks.witness
        self._tells_shapes = tells_shapes(reading.pipeline)
        self.fill = filled((), reading.pipeline.dtype, reading.node.fill_value)[()]
        self._lock = threading.Lock()
        #: Rows of each chunk that have not ended; None where each chunk has just one.
        self._left: dict[int, int] | None = None
        self._errors: dict[int, RefbrowserError] = {}
        #: Numbers of chunks that are objects of their own, and of those that the store proved not to have.
        self._objects: Set[int] = set()
        self._absent: set[int] = set()

    def rows(self) -> Iterator[Wanted]:
        """Yield the chunks that are not missing, spans of uncompressed ones, and inner chunks of shards."""
        reader = self.reader
        coords = self.parts.coords(self.start, self.stop)
        columns = reader.manifest.columns(coords)
        if reader.access.store is not None:
            self._objects = set((self.start + np.flatnonzero(columns.kind == ReferenceKind.WHOLE)).tolist())
        self.note(coords, columns)
        stored = columns.kind != ReferenceKind.MISSING
        owners: Sequence[int] = range(self.start, self.stop)
        if not stored.all():
            for number in (self.start + np.flatnonzero(~stored)).tolist():
                self.part_missing(number, self.fill)
            rows = np.flatnonzero(stored)
            owners = (self.start + rows).tolist()
            columns = taken(columns, rows)
        all_whole = self.parts.all_whole(self.start, self.stop)
        pipeline = self.reading.pipeline
        wanted = Wanted(pipeline, _Picked(self.parts, owners), owners, columns, all_whole=all_whole)
        batches = [
            refuse_large(cut_uncompressed(each, reader.access, self._kept_rows(each)))
            for same in self.reading.of_one_shape(wanted, coords[stored])
            for each in self._without_shards(same)
        ]
        if sum(len(each.owners) for each in batches) > len(owners):
            self._left = Counter(owner for each in batches for owner in each.owners)
        for each in batches:
            # Inner chunks of shards; others were told apart above.
            for row in np.flatnonzero(each.columns.kind == ReferenceKind.MISSING).tolist():
                fill = filled((), each.pipeline.dtype, each.fill_value)[()]
                reader.region(each.parts[row])[...] = fill
                self.ended(each, row, None)
            yield each

    def _without_shards(self, wanted: Wanted) -> list[Wanted]:
        if wanted.pipeline.shard is None:
            return [wanted]
        reader = self.reader
        how = (*self.reading.how, wanted.pipeline.shape)
        memory = ShardMemory(reader.session.cache, reader.access, how)
        opened = open_shards(wanted, self._fetch_all, self._total_of, memory)
        return [each for one in opened for each in self._opened(one, wanted)]

    def _opened(self, opened: Wanted, shards: Wanted) -> list[Wanted]:
        # A shard that is read whole keeps its pipeline; inner chunks may be shards again.
        return [opened] if opened.pipeline is shards.pipeline else self._without_shards(opened)

    def _fetch_all(self, columns: ReferenceColumns) -> list[bytes | RefbrowserError]:
        """Return the bytes of each row, or why they could not be had."""
        reader = self.reader
        return reader.session.fetch_all(
            columns,
            reader.access,
            token=reader.token,
            export=reader.options.export,
            priority=reader.options.priority,
        )

    def _total_of(self, url: str) -> int | None:
        """Return the size of an object that was read from."""
        access = self.reader.access
        known = access.memory.identities.known(access.locate(url).url)
        return None if known is None else known.total

    def size_limit(self, rows: Wanted) -> int:
        """Return the bytes that a chunk takes at most as it is stored."""
        return rows.pipeline.stored_most

    def place(self, rows: Wanted, row: int) -> memoryview | None:
        """Return where the bytes of a row belong in the result, if they lie there as they are stored."""
        pipeline = rows.pipeline
        if not pipeline.is_raw or self.reader.box.dtype != pipeline.dtype:
            return None
        part = rows.parts[row]
        region = self.reader.region(part)
        if row in rows.spans:
            spans, number = rows.spans[row]
            if not spans.is_dense(number):
                return None
            target = spans.target(number, region)
        elif part.whole and rows.columns.length[row] == pipeline.decoded_size:
            target = region.transpose(pipeline.axes)
        else:
            return None
        return target.reshape(-1).view(np.uint8).data if target.flags.c_contiguous else None

    def pieces(self, rows: Wanted, row: int) -> tuple[list[int], int] | None:
        """Return which bytes of a span are looked at only."""
        if row not in rows.spans:
            return None
        spans, number = rows.spans[row]
        return spans.pieces(number)

    def cost(self, rows: Wanted, row: int, size: int) -> int:
        """Return the bytes of memory that decoding takes in the pool; 0 where it is not worth a hand-over."""
        pipeline = rows.pipeline
        if pipeline.is_raw:
            at_once = AT_ONCE
            if row in rows.spans:
                spans, number = rows.spans[row]
                size = spans.selected_bytes(number)
        else:
            # Objects are as large as they like, whatever the references to them take.
            at_once = TINY if pipeline.objects is None and pipeline.decoded_size <= TINY else 0
        return 0 if size <= at_once else size + rows.decoded_size(row)

    def lay(self, rows: Wanted, row: int, data: memoryview, cache_key: Hashable | None) -> None:
        """Decode a row to its place in the result."""
        try:
            self.arrived(rows, row, data)
            if cache_key is None:
                self._write(rows, row, data)
            elif row in rows.spans:
                stored = np.array(np.frombuffer(data, np.uint8))
                self.reader.session.cache.put(cache_key, stored)
                self._write(rows, row, stored)
            else:
                chunk = rows.pipeline.decode(data)
                # A view would keep the whole buffer of its request alive, where that brought more.
                is_alone = not rows.pipeline.is_raw or memoryview(data.obj).nbytes == len(data)
                kept = chunk if is_alone else chunk.copy("K")
                self._write_chunk(rows, row, kept)
                self.reader.session.cache.put(cache_key, kept)
        except RefbrowserError as error:
            fault = self._fault(rows, row, data)
            if fault is None:
                raise
            raise fault from error

    def arrived(self, rows: Wanted, row: int, data: memoryview) -> None:
        """Look at the stored bytes of a whole chunk where its file, or it itself, tells more of them."""
        if self._tells_shapes:
            self._look_for_short(rows, row, data)
        if self.witness is not None and (place := self._stored_at(rows, row)) is not None:
            finding = self.witness.check(*place, data)
            if finding is not None:
                self.reader.access.memory.warn(finding)

    def _look_for_short(self, rows: Wanted, row: int, data: memoryview) -> None:
        """Warn of a chunk, or of inner chunks, that have less than lies in the array."""
        whole = self.reading.pipeline
        if rows.pipeline is whole:
            inner = None
        elif whole.shard is not None and rows.pipeline is whole.shard.inner:
            inner = rows.parts[row].coords
        else:
            return
        coords = self.parts[rows.owners[row]].coords
        for finding in short_blocks(self.reading.node, coords, rows.pipeline, data, inner):
            self.reader.access.memory.warn(finding)

    def _fault(self, rows: Wanted, row: int, data: memoryview) -> RefbrowserError | None:
        """Return why bytes cannot be decoded as their file tells it, where it does."""
        if self.witness is None or (place := self._stored_at(rows, row)) is None:
            return None
        return self.witness.fault(*place, data)

    def _stored_at(self, rows: Wanted, row: int) -> tuple[str, int] | None:
        """Return URL and offset of a chunk that is a range and read whole."""
        columns = rows.columns
        if row in rows.spans or columns.kind[row] != ReferenceKind.RANGE:
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

    def cache_keys(self, rows: Wanted, numbers: Sequence[int]) -> dict[int, Hashable]:
        """Return the cache key of each row that may be read and is worth keeping.

        Permission is asked before the cache is. Uncompressed bytes of a local file are in the system's cache:
        another copy would cost more than reading them again.
        """
        columns, access = rows.columns, self.reader.access
        places: dict[int, str | None] = {}
        keys: dict[int, Hashable] = {}
        for row in numbers:
            url_number = int(columns.url[row])
            if url_number not in places:
                places[url_number] = self._kept_place(columns.urls[url_number], rows.pipeline)
            url = places[url_number]
            if url is None or (row in rows.spans and not worth_keeping(*rows.spans[row])):
                continue
            span = () if row in rows.spans else (*self.reading.how, rows.pipeline.shape)
            extent = int(columns.offset[row]), int(columns.length[row])
            keys[row] = (access.scope, url, *extent, span)
        return keys

    def _kept_place(self, url: str, pipeline: CodecPipeline) -> str | None:
        """Return the canonical form of a URL whose chunks are kept, or None where they are not."""
        access = self.reader.access
        if pipeline.is_raw and access.is_path(url):
            return None
        try:
            place = access.resolve(url)
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
        return {
            row for row, key in self.cache_keys(wanted, remote.tolist()).items() if cache.get(key) is not None
        }

    def lay_kept(self, rows: Wanted, row: int, kept: npt.NDArray[Any]) -> None:
        """Put what the cache has of a row to its place."""
        if row in rows.spans:
            self._write(rows, row, kept)
        else:
            self._write_chunk(rows, row, kept)

    # Chunks that have ended

    def _fill_absent(self, owner: int) -> None:
        """Fill the part of a chunk that the store does not have, once for all rows that were read of it."""
        if owner not in self._absent:
            self._absent.add(owner)
            self.reader.region(self.parts[owner])[...] = self.fill

    def ended(self, rows: Wanted, row: int, error: RefbrowserError | None) -> None:
        """Note that a row lies in its place, or why it does not; the last one of a chunk ends that."""
        owner = rows.owners[row]
        if error is not None:
            error = too_long(rows.pipeline, error)
            if owner in self._objects and self.reader.access.is_missing(error):
                self._fill_absent(owner)
                error = None
        if self._left is None:
            failure = None if error is None else self._placed(error, rows, row)
        else:
            with self._lock:
                self._left[owner] -= 1
                last = not self._left[owner]
                if error is not None and owner not in self._errors:
                    self._errors[owner] = self._placed(error, rows, row)
                failure = self._errors.get(owner)
            if not last and (error is None or self.reader.options.on_part is not None):
                return
        self.part_ended(owner, failure, is_missing=owner in self._absent)

    def _placed(self, error: RefbrowserError, wanted: Wanted, row: int) -> RefbrowserError:
        key = self.reader.manifest.key(self.parts[wanted.owners[row]].coords)
        return placed(error, wanted.columns, row, key, self.reader.node.path)
