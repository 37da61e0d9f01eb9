"""The requests that a selection needs, as a value: to be printed, drawn and tested without a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.reading.found_members import known_ranges
from refbrowser.engine.reading.parts import PartTable
from refbrowser.engine.reading.pieces import layers_of, ranges_of
from refbrowser.engine.reading.wanted import Wanted, cut_uncompressed
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.plan import RangePlan, Request
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import Inline, ReferenceKind, columns_of
from refbrowser.model.selection import Selection
from refbrowser.model.values import Pieces, Rows, SourcePiece

if TYPE_CHECKING:
    from refbrowser.io.access import Access
    from refbrowser.io.fetch import Fetcher


@dataclass(frozen=True, slots=True, eq=False)
class ReadPlan:
    """What reading a selection costs.

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

    @property
    def requests(self) -> list[Request]:
        """The requests, by URL and first byte."""
        return self.ranges.requests()


def plan_selection(fetcher: Fetcher, node: ArrayNode, access: Access, selection: Selection) -> ReadPlan:
    """Plan the reading of a selection; shards are planned whole, because their indexes are not read.

    Raises
    ------
    RefbrowserError
        The array is not readable, or the selection touches too many chunks to plan at once.
    """
    if isinstance(node.values, Pieces):
        return _plan_source(fetcher, node, access, selection)
    pipeline = CodecPipeline.for_array(node)
    _check_count(node, selection)
    parts = PartTable(node.grid, selection)
    count = len(parts)
    columns = node.manifest.columns(parts.coords(0, count))
    all_whole = parts.all_whole(0, count)
    wanted = cut_uncompressed(Wanted(pipeline, parts, range(count), columns, all_whole=all_whole), access)
    planned = known_ranges(wanted.columns, access)
    ranges = fetcher.plan(planned, access)
    absent = (planned.kind == ReferenceKind.MISSING) & (wanted.columns.kind != ReferenceKind.MISSING)
    gaps = _bytes_between_elements(wanted)
    kinds = np.bincount(columns.kind, minlength=len(ReferenceKind))
    return ReadPlan(
        ranges,
        useful_bytes=ranges.useful_bytes - gaps,
        wasted_bytes=ranges.wasted_bytes + gaps,
        chunks=count,
        missing_chunks=int(kinds[ReferenceKind.MISSING])
        + len({wanted.owners[row] for row in np.flatnonzero(absent).tolist()}),
        inline_chunks=int(kinds[ReferenceKind.INLINE]),
        faulty_chunks=int(kinds[ReferenceKind.FAULTY]),
    )


def _check_count(node: ArrayNode, selection: Selection) -> None:
    """Raise E_BUDGET where a selection touches more chunks than are planned at once."""
    count = node.grid.count(selection)
    if count > LIMITS.write_out_question:
        raise RefbrowserError(
            ErrorKind.BUDGET,
            f"the selection of {quoted(node.path)} touches {count} chunks, "
            f"more than {LIMITS.write_out_question} (write_out_question)",
            advice="plan a smaller selection",
        )


def _plan_source(fetcher: Fetcher, node: ArrayNode, access: Access, selection: Selection) -> ReadPlan:
    """Plan the reading of an array whose values are made from any number of ranges of bytes."""
    for error in (node.error, node.unreadable):
        if error is not None:
            raise error
    assert isinstance(node.values, Pieces)
    _check_count(node, selection)
    parts = list(node.grid.parts(selection))
    pieces: list[SourcePiece] = []
    missing = faulty = 0
    for part in parts:
        given = list(node.values.source.pieces(part))
        missing += not given
        if given:
            seen = [given[at] for at in layers_of(given, part.target).seen]
            readable = [piece for piece in seen if piece.error is None]
            faulty += len(readable) < len(seen)
            pieces += readable
    found = ranges_of(pieces, access)
    fetched = [each for each in found if not isinstance(each.reference, Inline)]
    ranges = fetcher.plan(columns_of([each.reference for each in fetched]), access)
    gaps = sum(
        each.spans[0].length(each.spans[1]) - each.spans[0].selected_bytes(each.spans[1])
        for each in fetched
        if each.spans is not None
    )
    return ReadPlan(
        ranges,
        useful_bytes=ranges.useful_bytes - gaps,
        wasted_bytes=ranges.wasted_bytes + gaps,
        chunks=len(parts),
        missing_chunks=missing,
        inline_chunks=len(found) - len(fetched),
        faulty_chunks=faulty,
    )


def size_question(node: ArrayNode) -> RefbrowserError | None:
    """Return what to ask before chunks of an array are decoded whole; None where they are small enough.

    Raises
    ------
    RefbrowserError
        The array is not readable.
    """
    if isinstance(node.values, Pieces | Rows):
        return None
    pipeline = CodecPipeline.for_array(node)
    while pipeline.shard is not None and isinstance(pipeline.shard.inner, CodecPipeline):
        pipeline = pipeline.shard.inner
    if pipeline.is_raw or pipeline.decoded_size <= LIMITS.chunk_question:
        return None
    return RefbrowserError(
        ErrorKind.BUDGET,
        f"a chunk is {pipeline.decoded_size} bytes when decoded, "
        f"more than {LIMITS.chunk_question} (chunk_question)",
        Place(path=node.path),
        "give --yes to decode it all the same",
    )


def _bytes_between_elements(wanted: Wanted) -> int:
    """Return how many bytes within spans belong to no selected element."""
    columns = wanted.columns
    return sum(
        int(columns.length[row]) - spans.selected_bytes(number)
        for row, (spans, number) in wanted.spans.items()
        if columns.kind[row] == ReferenceKind.RANGE
    )
