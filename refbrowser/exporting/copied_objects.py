"""Making objects of stored bytes, which are confirmed and copied undecoded."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import ShardLayout, filled
from refbrowser.engine.reading.fetching import fetch_rows
from refbrowser.engine.reading.inner_chunks import inner_references
from refbrowser.engine.reading.short_blocks import short_blocks, tells_shapes
from refbrowser.engine.reading.wanted_ranges import too_long, without_large
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.exporting.buffers import Buffers
from refbrowser.exporting.chunks import ArrayExport, Coords, ExportRun, unit_numbers
from refbrowser.exporting.objects import Assembled, Assembly, ObjectCoder
from refbrowser.findings.finding import Finding
from refbrowser.io.access.access import Access, Location
from refbrowser.io.access.local_files import open_regular, read_in_passing
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import FileIdentity
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind, placed, without

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access
    from refbrowser.model.values import ChunkManifest


@dataclass(frozen=True, slots=True)
class StoredUnits:
    """The stored chunks of an array, or inner chunks of its shards.

    Attributes
    ----------
    pipeline
        Decodes one; of shards the inner chunks are decoded one by one.
    access
        Takes note of what is odd, but can be decoded.
    """

    node: ArrayNode
    pipeline: CodecPipeline
    access: Access

    @property
    def decoded_size(self) -> int:
        """Bytes of memory that it takes to confirm one."""
        shard = self.pipeline.shard
        pipeline = self.pipeline if shard is None else shard.inner
        assert isinstance(pipeline, CodecPipeline)
        return 0 if pipeline.is_raw else pipeline.decoded_size

    def error(
        self, columns: ReferenceColumns, row: int, key: str, data: bytes | memoryview
    ) -> RefbrowserError | None:
        """Return why the bytes of a row cannot be decoded, in the words in which a read tells it."""
        witness, stored = self.node.chunks.witness, memoryview(data)
        is_range = columns.kind[row] == ReferenceKind.RANGE
        where = (columns.urls[columns.url[row]], int(columns.offset[row])) if is_range else None
        if witness is not None and where is not None:
            finding = witness.check(*where, stored)
            if finding is not None:
                self.access.memory.warn(finding)
        try:
            _decode(self.pipeline, stored)
        except RefbrowserError as error:
            told = witness.fault(*where, stored) if witness is not None and where is not None else None
            found = placed(told or error, columns, row, key, self.node.path)
            if error.kind is not ErrorKind.BUDGET:
                return found
            # A limit of ours, no fault of the chunk.
            self.access.memory.warn(_unconfirmed(found))
        return None

    def look_for_short(self, at: Coords, inner: Coords | None, data: bytes | memoryview) -> None:
        """Warn of what the source's chunk at `at`, or an inner chunk of it, has too little of."""
        if tells_shapes(self.pipeline):
            for finding in short_blocks(self.node, at, self.pipeline, memoryview(data), inner):
                self.access.memory.warn(finding)

    def sound_inner(self, data: bytes | memoryview) -> Iterator[tuple[int, memoryview]]:
        """Yield the inner chunks of a shard that can be decoded, each with its number in C order."""
        shard, stored = self.pipeline.shard, memoryview(data)
        if shard is None:
            return
        try:
            ranges = _inner_ranges(shard, stored)
        except RefbrowserError:
            return
        for number, (offset, size) in enumerate(ranges):
            inner = stored[offset : offset + size]
            try:
                if offset >= 0:
                    shard.inner.decode(inner)
                    yield number, inner
            except RefbrowserError:
                # The first of them was told.
                continue


def _decode(pipeline: CodecPipeline, stored: memoryview) -> None:
    """Decode a chunk; a shard inner chunk by inner chunk, so that only one of them is held.

    Raises
    ------
    RefbrowserError
        It cannot be decoded.
    """
    shard = pipeline.shard
    if shard is None:
        pipeline.decode(stored)
        return
    for offset, size in _inner_ranges(shard, stored):
        if offset >= 0:
            shard.inner.decode(stored[offset : offset + size])


def _inner_ranges(shard: ShardLayout, stored: memoryview) -> list[tuple[int, int]]:
    start, stop = shard.index_range(len(stored))
    ranges: list[tuple[int, int]] = shard.inner_ranges(stored[start:stop], len(stored)).tolist()
    return ranges


def _unconfirmed(error: RefbrowserError) -> Finding:
    return Finding(
        severity=Severity.WARNING,
        kind=error.kind,
        message=f"an unconfirmed chunk is copied: {error.message}",
        place=error.place,
    )


@dataclass(frozen=True, slots=True)
class LocalRows:
    """References whose bytes are in local files.

    What cannot be read just so is left for the fetcher, which knows the words for every fault.

    Attributes
    ----------
    size_limit
        What is longer is not read.
    buffers
        Give the memory for what is read.
    """

    columns: ReferenceColumns
    access: Access
    size_limit: int
    buffers: Buffers

    def read(self, take: Callable[[int, memoryview], None], token: CancelToken) -> list[int]:
        """Read all that can be, and return the rows that were."""
        done: list[int] = []
        for location, rows in self._files():
            token.check()
            for row, data in self._of_file(location, rows):
                take(row, data)
                done.append(row)
        return done

    def _of_file(self, location: Location, rows: list[int]) -> Iterator[tuple[int, memoryview]]:
        """Yield the bytes of the rows of one file that can be read."""
        with ExitStack() as stack:
            try:
                descriptor, identity = stack.enter_context(open_regular(location.path))
                self.access.memory.identities.confirm(location.url, identity.as_object())
            except RefbrowserError:
                return
            for row in rows:
                try:
                    data = self._read(descriptor, identity, row)
                    same = FileIdentity.of(os.fstat(descriptor)) == identity
                except OSError:
                    continue
                if data is not None and same:
                    yield row, data

    def _read(self, descriptor: int, identity: FileIdentity, row: int) -> memoryview | None:
        """Return the bytes of a row, None where it is not all there."""
        columns = self.columns
        whole = columns.kind[row] == ReferenceKind.WHOLE
        start = 0 if whole else int(columns.offset[row])
        size = identity.size if whole else int(columns.length[row])
        if start < 0 or not 0 <= size <= self.size_limit or start + size > identity.size:
            return None
        data = self.buffers.take(size)
        return data if read_in_passing(descriptor, data, start) == size else None

    def _files(self) -> Iterator[tuple[Location, list[int]]]:
        """Yield each local file that may be read, with the rows that are in it."""
        columns = self.columns
        kinds = (columns.kind == ReferenceKind.RANGE) | (columns.kind == ReferenceKind.WHOLE)
        remote = np.flatnonzero(kinds)
        order = remote[np.argsort(columns.url[remote], kind="stable")]
        cuts = np.flatnonzero(np.diff(columns.url[order])) + 1
        for rows in np.split(order, cuts) if len(order) else ():
            try:
                location = self.access.resolve(columns.urls[columns.url[rows[0]]])
            except RefbrowserError:
                continue
            # Where in its archive a zip member lies only the fetcher finds out.
            if location.origin.scheme == "file" and not location.member:
                yield location, rows.tolist()


Ints = npt.NDArray[np.int64]

#: Bytes up to which a chunk is written where it arrives: cheaper than a hand-over to another thread.
AT_ONCE = 64 * 1024


def copy_task(run: ExportRun, array: ArrayExport, number: int) -> None:
    """Make the objects of a task.

    Raises
    ------
    RefbrowserError
        A chunk cannot be read or written.
    """
    objects = run.open_objects(array, number)
    if not objects:
        return
    run.memory.acquire(array.block_bytes, run.token)
    try:
        assert array.layout.copied is not None
        copier = _ShardCopier if array.layout.copied.into_shards else _ChunkCopier
        copier(run, array, objects).copy()
    finally:
        run.memory.release(array.block_bytes)


class _Copier:
    """Some objects being made of stored units."""

    def __init__(self, run: ExportRun, array: ArrayExport, objects: dict[Coords, str]) -> None:
        self.run = run
        self.array = array
        self.objects = objects

        # What is copied is what the target's codecs decode.
        coder = array.coder
        pipeline = coder.pipeline if array.layout.copies_objects else coder.unit_pipeline
        self.units = StoredUnits(array.layout.source, pipeline, run.access)

    def units_at(self, coords: Coords) -> StoredUnits:
        """Return how the unit of the target at `coords` is stored."""
        grid = self.array.layout.grid
        if grid.is_regular:
            return self.units
        return replace(self.units, pipeline=self.array.coder_of(grid.stored_shape(coords)).pipeline)

    def fetch(self, coords: Ints) -> npt.NDArray[np.bool_]:
        """Fetch the source's units for the target's units at `coords`; returns which are missing."""
        run, layout = self.run, self.array.layout
        manifest = layout.source.manifest
        assert layout.copied is not None
        places = layout.source_coords(coords)
        chunks, inside = places, None
        if layout.copied.from_shards:
            shard = CodecPipeline.for_array(layout.source).shard
            assert shard is not None
            chunks, inside = np.divmod(places, np.array(shard.grid.grid_shape))
            columns = _inner(run, manifest, places, chunks, shard)
        else:
            columns = manifest.columns(places)
        pipeline, referred = self.units.pipeline, columns
        columns = without_large(columns, pipeline)
        queue = run.session.pool.queue(run.token)
        missing = columns.kind == ReferenceKind.MISSING

        def deliver(row: int, data: bytes | memoryview | RefbrowserError) -> None:
            if isinstance(data, RefbrowserError):
                if run.access.is_missing(data):
                    missing[row] = True
                else:
                    run.bad(too_long(pipeline, data))
            elif max(len(data), self.units.decoded_size) <= AT_ONCE:
                confirm(row, data)
            else:
                queue.put(partial(confirm, row, data), len(data) + self.units.decoded_size)

        def confirm(row: int, data: bytes | memoryview) -> None:
            units = self.units_at(tuple(coords[row].tolist()))
            error = units.error(columns, row, key(row), data)
            if error is None:
                units.look_for_short(*place(row), data)
                self.take(row, data)
            else:
                run.bad(error)
                self.take_sound(row, data)
            run.buffers.give(data)

        def place(row: int) -> tuple[Coords, Coords | None]:
            at = tuple(chunks[row].tolist())
            return at, None if inside is None else tuple(inside[row].tolist())

        def key(row: int) -> str:
            return manifest.key(tuple(chunks[row].tolist()))

        for row in np.flatnonzero(columns.kind == ReferenceKind.FAULTY).tolist():
            error = columns.faults[row]
            where = error.place or placed(error, referred, row, key(row), layout.source.path).place
            deliver(row, error.at(where))
        for row in np.flatnonzero(columns.kind == ReferenceKind.INLINE).tolist():
            deliver(row, columns.inline[row])
        read = 0

        def take_local(row: int, data: memoryview) -> None:
            nonlocal read
            read += len(data)
            deliver(row, data)

        local = LocalRows(columns, run.access, pipeline.stored_most, run.buffers)
        here = local.read(take_local, run.token)
        run.read(read, len(here))
        counters = fetch_rows(
            run.session.fetcher,
            without(columns, np.array(here, np.int64)) if here else columns,
            run.access,
            deliver,
            cancel=run.token,
            key=key,
            export=True,
            size_limit=pipeline.stored_most,
        )
        queue.join()
        run.read(counters.bytes, counters.requests)
        return missing

    def copy(self) -> None:
        """Make all objects."""
        raise NotImplementedError

    def take(self, row: int, data: bytes | memoryview) -> None:
        """Take the bytes of one unit of the last fetch."""
        raise NotImplementedError

    def take_sound(self, row: int, data: bytes | memoryview) -> None:
        """Take what is sound of a unit that cannot be decoded whole."""


class _ChunkCopier(_Copier):
    """Makes chunks: each is one unit."""

    def copy(self) -> None:
        """Make all chunks."""
        self._keys = list(self.objects.values())
        missing = np.flatnonzero(self.fetch(_array(list(self.objects), self.array)))
        if self.array.layout.keeps_missing:
            self.run.missing(len(missing))
        elif len(missing):
            places = list(self.objects)
            fillings: dict[Coords, Assembled] = {}
            for row in missing.tolist():
                coder = self.array.coder_of(self.array.layout.grid.stored_shape(places[row]))
                filling = fillings.get(coder.pipeline.shape)
                if filling is None:
                    fillings = {coder.pipeline.shape: Assembled.of(self._filling(coder))}
                    filling = fillings[coder.pipeline.shape]
                self.run.put(self.array, self._keys[row], filling)

    def _filling(self, coder: ObjectCoder) -> bytes | memoryview:
        """Return a chunk of what missing ones of the source hold: those of the target hold something else."""
        layout = self.array.layout
        source = layout.source
        values = filled(coder.unit_shape, source.known_dtype, source.fill_value)
        return coder.pipeline.encode(layout.converted(values))

    def take(self, row: int, data: bytes | memoryview) -> None:
        """Write a chunk."""
        self.run.put(self.array, self._keys[row], Assembled.of(data))

    def take_sound(self, row: int, data: bytes | memoryview) -> None:
        """Write a shard with those of its inner chunks that can be decoded; of a plain chunk nothing is."""
        if self.units.pipeline.shard is None:
            return
        at = list(self.objects)[row]
        shard = self.run.assembly(self.array.coder_of(self.array.layout.grid.stored_shape(at)))
        try:
            for number, inner in self.units_at(at).sound_inner(data):
                shard.add(number, inner, None)
            if not shard.is_empty:
                self.run.put(self.array, self._keys[row], shard.finish())
        finally:
            shard.discard()


class _ShardCopier(_Copier):
    """Makes shards, one after another, of many units each."""

    def copy(self) -> None:
        """Make all shards."""
        self._lock = threading.Lock()
        coder = self.array.coder
        count = max(1, self.array.block_bytes // max(1, coder.unit_pipeline.decoded_size))
        for at, key in self.objects.items():
            self._shard: Assembly = self.run.assembly(coder)
            try:
                coords = self._inner_coords(at)
                for start in range(0, len(coords), count):
                    page = coords[start : start + count]
                    self._numbers = unit_numbers(page, coder.units)
                    self.fetch(page)
                if self._shard.is_empty:
                    self.run.missing()
                else:
                    self.run.put(self.array, key, self._shard.finish())
            finally:
                self._shard.discard()

    def take(self, row: int, data: bytes | memoryview) -> None:
        """Add an inner chunk to the shard."""
        with self._lock:
            self._shard.add(int(self._numbers[row]), data, None)

    def _inner_coords(self, at: Coords) -> Ints:
        """Return the coordinates of the units of a shard that lie within the array."""
        layout, coder = self.array.layout, self.array.coder
        axes = [
            np.arange(place * count, min((place + 1) * count, -(-length // side)))
            for place, count, length, side in zip(
                at, coder.units, layout.grid.shape, coder.unit_shape, strict=True
            )
        ]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes)).astype(np.int64)


def _array(coords: list[Coords], array: ArrayExport) -> Ints:
    return np.array(coords, np.int64).reshape(len(coords), len(array.layout.grid.shape))


def _inner(
    run: ExportRun, manifest: ChunkManifest, places: Ints, chunks: Ints, shard: ShardLayout
) -> ReferenceColumns:
    """Return the references of inner chunks at `places`, which lie in the shards at `chunks`."""
    distinct, which = np.unique(chunks, axis=0, return_inverse=True)
    which = which.reshape(-1)
    columns = manifest.columns(distinct)

    def fetch(rows: ReferenceColumns) -> list[bytes | RefbrowserError]:
        return run.session.fetch_all(rows, run.access, token=run.token, export=True)

    def total_of(url: str) -> int | None:
        known = run.access.memory.identities.known(run.access.locate(url).url)
        return None if known is None else known.total

    numbers = unit_numbers(places, shard.grid.grid_shape)
    return inner_references(columns, which, numbers, shard, fetch, total_of)
