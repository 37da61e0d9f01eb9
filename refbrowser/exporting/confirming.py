"""Confirming stored bytes before they are copied undecoded: what nobody can decode is told, not copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import ShardLayout
from refbrowser.engine.columns import placed
from refbrowser.errors import ErrorKind, Finding, RefbrowserError, Severity
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

if TYPE_CHECKING:
    from refbrowser.io.access import Access


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
        witness, stored = self.node.witness, memoryview(data)
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
        message=f"a chunk is copied that is not confirmed: {error.message}",
        place=error.place,
    )
