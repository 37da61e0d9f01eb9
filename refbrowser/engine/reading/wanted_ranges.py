"""From the chunks that a selection touches to the ranges that must be read.

A batch is a number of chunk parts. Each of its rows is one range to be decoded: a whole chunk, an
inner chunk of a shard, or a span of an uncompressed chunk.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.reading.raw_parts import RawSpans, raw_spans
from refbrowser.errors import ErrorKind, OversizeError, Place, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.grid import ChunkPart
from refbrowser.model.reference import ReferenceColumns, ReferenceKind, taken

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access

#: An uncompressed chunk up to this many bytes is read in one range when all of it is wanted.
WHOLE_LIMIT = 16 * 1024 * 1024
#: Bytes that a local disk gives in the time that the planning of one more span takes.
LOCAL_SPAN = 128 * 1024
#: Ranges of uncompressed chunks that are planned together, at most.
MOST_SPANS = 10_000_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What must be read for a batch of chunk parts.

    Attributes
    ----------
    pipeline
        Decodes each row.
    parts
        For each row, which elements of the decoded bytes go where in the result.
    owners
        For each row, the position in the batch of the chunk that it belongs to.
    columns
        The references of the rows.
    all_whole
        Every part is known to be a whole chunk.
    spans
        Rows that are a span of an uncompressed chunk: the chunk's spans, and the number of this one.
    fill_value
        Of inner chunks that their shard does not have.
    """

    pipeline: CodecPipeline
    parts: Sequence[ChunkPart]
    owners: Sequence[int]
    columns: ReferenceColumns
    all_whole: bool = False
    spans: Mapping[int, tuple[RawSpans, int]] = field(default_factory=dict)
    fill_value: Any = None

    def decoded_size(self, row: int) -> int:
        """Return the bytes of memory that decoding a row takes."""
        return 0 if row in self.spans else self.pipeline.decoded_size


def rows_of(wanted: Wanted, rows: npt.NDArray[np.int64]) -> Wanted:
    """Return some rows of a batch, none of which is a span."""
    numbers = rows.tolist()
    return replace(
        wanted,
        parts=[wanted.parts[row] for row in numbers],
        owners=[wanted.owners[row] for row in numbers],
        columns=taken(wanted.columns, rows),
    )


def cut_uncompressed(wanted: Wanted, access: Access, kept: Container[int] = ()) -> Wanted:
    """Return the batch with only those bytes of uncompressed chunks that are needed.

    Parameters
    ----------
    access
        Tells whether the chunks are near, so that reading a gap costs less than another span.
    kept
        Rows whose chunks are in memory as a whole: those are left as they are.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: they lie in more ranges than can be held.
    """
    pipeline = wanted.pipeline
    if not pipeline.is_raw or not pipeline.decoded_size:
        return wanted
    large = pipeline.decoded_size > WHOLE_LIMIT
    if not large and wanted.all_whole:
        return wanted
    kinds = wanted.columns.kind
    remote = ((kinds == ReferenceKind.RANGE) | (kinds == ReferenceKind.WHOLE)).tolist()
    cut = [
        remote[row] and (large or not part.whole) and row not in kept for row, part in enumerate(wanted.parts)
    ]
    if not any(cut):
        return wanted
    sources: list[npt.NDArray[np.int64]] = []
    begins: list[npt.NDArray[np.int64]] = []
    sizes: list[npt.NDArray[np.int64]] = []
    spans: dict[int, tuple[RawSpans, int]] = {}
    rows = 0
    parts = list(wanted.parts)
    cost = _span_cost(wanted.columns, cut, access)
    for row, part in enumerate(parts):
        if not cut[row]:
            offsets, lengths = np.full(1, -1, np.int64), np.full(1, -1, np.int64)
        else:
            of_chunk = raw_spans(pipeline.shape, pipeline.dtype.itemsize, pipeline.axes, part.inside, cost)
            if rows + len(of_chunk) > MOST_SPANS:
                message = f"the selection needs more than {MOST_SPANS} ranges of uncompressed bytes"
                raise RefbrowserError(ErrorKind.BUDGET, message, advice="choose a smaller selection")
            offsets, lengths = of_chunk.ranges()
            spans.update((rows + number, (of_chunk, number)) for number in range(len(offsets)))
        sources.append(np.full(len(offsets), row, np.int64))
        begins.append(offsets)
        sizes.append(lengths)
        rows += len(offsets)
    source = np.concatenate(sources)
    columns = _spans_of(
        taken(wanted.columns, source), np.concatenate(begins), np.concatenate(sizes), pipeline.decoded_size
    )
    return replace(
        wanted,
        parts=[parts[row] for row in source.tolist()],
        owners=[wanted.owners[row] for row in source.tolist()],
        columns=columns,
        spans=spans,
    )


def _span_cost(columns: ReferenceColumns, cut: list[bool], access: Access) -> int:
    """Return the cost of a span by where the first chunk that is cut lies; mostly all lie there."""
    url = columns.urls[columns.url[cut.index(True)]]
    if access.is_path(url):
        return LOCAL_SPAN
    try:
        place = access.locate(url)
    except RefbrowserError:
        return 0
    return LOCAL_SPAN if place.scheme == "file" else 0


def refuse_large(wanted: Wanted) -> Wanted:
    """Return the batch with an error for chunks that are read whole and said to be larger than any can be."""
    return replace(wanted, columns=without_large(wanted.columns, wanted.pipeline, wanted.spans))


def without_large(
    columns: ReferenceColumns, pipeline: CodecPipeline, spared: Container[int] = ()
) -> ReferenceColumns:
    """Return references of chunks with an error for those that are said to be larger than any chunk can be.

    What a reference says of a length is no better than the file that says it: nothing is planned for, or
    allocated, by it alone.

    Parameters
    ----------
    spared
        Rows that are no whole chunks.
    """
    large = (columns.kind == ReferenceKind.RANGE) & (columns.length > pipeline.stored_most)
    rows = [row for row in np.flatnonzero(large).tolist() if row not in spared]
    if not rows:
        return columns
    kind, faults = columns.kind.copy(), dict(columns.faults)
    kind[rows] = ReferenceKind.FAULTY
    for row in rows:
        faults[row] = _too_large(pipeline, int(columns.length[row]))
    return replace(columns, kind=kind, faults=faults)


def _too_large(pipeline: CodecPipeline, size: int) -> RefbrowserError:
    """Return the error of a stored chunk that a reference says to be of `size` bytes."""
    if size > LIMITS.chunk_size:
        message = f"the chunk is {size} bytes; at most {LIMITS.chunk_size} are read whole (chunk_size)"
        return RefbrowserError(ErrorKind.BUDGET, message)
    return RefbrowserError(ErrorKind.DECODE, f"the chunk is {size} bytes, {_at_most(pipeline)}")


def too_long(pipeline: CodecPipeline, error: RefbrowserError) -> RefbrowserError:
    """Return the error of a chunk that was not read; of one that is too large to be one, why that is so."""
    if not isinstance(error, OversizeError) or pipeline.stored_most >= LIMITS.chunk_size:
        return error
    message = f"{error.message}: it is not a chunk, {_at_most(pipeline)}"
    return RefbrowserError(ErrorKind.DECODE, message, error.place)


def _at_most(pipeline: CodecPipeline) -> str:
    if pipeline.is_raw:
        return f"its shape and type take {pipeline.decoded_size}"
    return f"its shape, type and codecs take {pipeline.stored_most} at most"


def worth_keeping(spans: RawSpans, number: int) -> bool:
    """Whether a span goes to the cache: gaps cost more to copy than to read again."""
    return spans.selected_bytes(number) * 4 >= spans.length(number)


def _spans_of(
    columns: ReferenceColumns,
    begin: npt.NDArray[np.int64],
    size: npt.NDArray[np.int64],
    chunk_size: int,
) -> ReferenceColumns:
    """Return the references of spans within the chunks of `columns`; `begin` is -1 for what stays whole."""
    span = begin >= 0
    ranges = span & (columns.kind == ReferenceKind.RANGE)
    wrong = ranges & (columns.length != chunk_size)
    kind = columns.kind.copy()
    kind[span] = ReferenceKind.RANGE
    kind[wrong] = ReferenceKind.FAULTY
    faults = dict(columns.faults)
    for row in np.flatnonzero(wrong).tolist():
        faults[row] = _wrong_size(columns, row, chunk_size)
    start = np.where(columns.kind == ReferenceKind.WHOLE, 0, columns.offset)
    return replace(
        columns,
        kind=kind,
        offset=np.where(span, start + begin, columns.offset),
        length=np.where(span, size, columns.length),
        faults=faults,
    )


def _wrong_size(columns: ReferenceColumns, row: int, chunk_size: int) -> RefbrowserError:
    offset, length = int(columns.offset[row]), int(columns.length[row])
    return RefbrowserError(
        ErrorKind.DECODE,
        f"the chunk is {length} bytes, its shape and type {chunk_size}",
        Place(url=columns.urls[columns.url[row]], start=offset, stop=offset + length),
    )
