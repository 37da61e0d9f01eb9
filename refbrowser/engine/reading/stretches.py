"""From the pieces that a selection needs to the stretches of bytes that are read."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import prod

from refbrowser.engine.reading.raw import RawSpans, raw_spans
from refbrowser.engine.reading.wanted import LOCAL_SPAN, MOST_SPANS, WHOLE_LIMIT
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access import Access
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange, Reference, WholeFile
from refbrowser.model.values import SourcePiece

#: Elements of up to so many bytes are read whole where there is something to check in all of them.
CHECKED = 4 * WHOLE_LIMIT


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Bytes that are read in one.

    Attributes
    ----------
    pieces
        Positions of those that they give.
    spans
        Where they hold some elements of one piece only: all such stretches of that, and the number of this.
    """

    reference: Reference
    pieces: list[int]
    spans: tuple[RawSpans, int] | None = None


def stretches_of(pieces: Sequence[SourcePiece], access: Access) -> list[Stretch]:
    """Return what must be read for pieces; those of the same bytes share a stretch.

    Parameters
    ----------
    access
        Tells whether the bytes are near, so that reading a gap costs less than another stretch.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: they are more than can be held.
    """
    cost = _span_cost(pieces, access)
    shared: dict[Hashable, Stretch] = {}
    found: list[Stretch] = []
    for at, piece in enumerate(pieces):
        spans = _spans(piece, cost)
        if spans is not None:
            if len(found) + len(spans) > MOST_SPANS:
                message = f"the selection needs more than {MOST_SPANS} stretches of bytes"
                raise RefbrowserError(ErrorKind.BUDGET, message, advice="choose a smaller selection")
            found += _cut(piece, at, spans)
            continue
        key = (piece.reference, piece.how)
        if key in shared:
            shared[key].pieces.append(at)
        else:
            shared[key] = Stretch(piece.reference, [at])
            found.append(shared[key])
    return found


def too_large(stretch: Stretch, piece: SourcePiece) -> RefbrowserError | None:
    """Return the error of bytes that cannot be read in parts, and are more than any may be."""
    reference = stretch.reference
    if stretch.spans is not None or not isinstance(reference, ByteRange):
        return None
    if reference.length <= LIMITS.chunk_size:
        return None
    name = piece.name or "a piece"
    message = f"{name} is {reference.length} bytes; at most {LIMITS.chunk_size} are read whole (chunk_size)"
    return RefbrowserError(ErrorKind.BUDGET, message, replace(piece.place, url=reference.url))


def _span_cost(pieces: Sequence[SourcePiece], access: Access) -> int:
    """Return the cost of a stretch by where the first one lies; mostly all lie there."""
    for piece in pieces:
        if isinstance(piece.reference, ByteRange | WholeFile):
            try:
                return LOCAL_SPAN if access.locate(piece.reference.url).scheme == "file" else 0
            except RefbrowserError:
                return 0
    return 0


def _spans(piece: SourcePiece, span_cost: int) -> RawSpans | None:
    """Return the stretches in which some elements of a piece are read; None where it is read whole."""
    if piece.raw is None or not isinstance(piece.reference, ByteRange) or not prod(piece.shape):
        return None
    counts = [len(range(*part.indices(side))) for part, side in zip(piece.inside, piece.shape, strict=True)]
    size = prod(piece.shape) * piece.raw.itemsize
    if prod(counts) == prod(piece.shape) and size <= (WHOLE_LIMIT if piece.check is None else CHECKED):
        return None
    return raw_spans(piece.shape, piece.raw.itemsize, tuple(range(len(piece.shape))), piece.inside, span_cost)


def _cut(piece: SourcePiece, at: int, spans: RawSpans) -> list[Stretch]:
    reference = piece.reference
    assert isinstance(reference, ByteRange)
    ranges = zip(*(column.tolist() for column in spans.ranges()), strict=True)
    return [
        Stretch(ByteRange(reference.url, reference.offset + offset, length), [at], (spans, number))
        for number, (offset, length) in enumerate(ranges)
    ]
