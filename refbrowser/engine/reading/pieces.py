"""Reading arrays that are assembled from pieces: which ranges give them, and how they are laid down."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.parts import Parts
from refbrowser.engine.reading.raw_parts import RawSpans, raw_spans
from refbrowser.engine.reading.reader import AT_ONCE, TINY, Batch, Needed, Reader, Reading
from refbrowser.engine.reading.wanted_ranges import LOCAL_SPAN, MOST_SPANS, WHOLE_LIMIT
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import (
    ByteRange,
    Inline,
    Reference,
    ReferenceColumns,
    ReferenceKind,
    WholeFile,
    columns_of,
)
from refbrowser.model.selection import Selection
from refbrowser.model.values import ArraySource, SourcePiece

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access

#: Pieces that are fetched together.
GROUP = 8192
#: Elements of up to so many bytes are read whole where there is something to check in all of them.
CHECKED = 4 * WHOLE_LIMIT


class Cut(NamedTuple):
    """One of the ranges in which some elements of a piece are read."""

    spans: RawSpans
    number: int
    dtype: np.dtype[Any]

    @property
    def gaps(self) -> int:
        """Bytes of it that belong to no selected element."""
        return self.spans.length(self.number) - self.spans.selected_bytes(self.number)


@dataclass(frozen=True, slots=True, eq=False)
class PieceRange:
    """Bytes that are read in one.

    Attributes
    ----------
    pieces
        Positions of those that they give.
    cut
        Where they hold some elements of one piece only: which.
    """

    reference: Reference
    pieces: list[int]
    cut: Cut | None = None


def ranges_of(pieces: Sequence[SourcePiece], access: Access) -> list[PieceRange]:
    """Return what must be read for pieces; those of the same bytes share a range.

    Parameters
    ----------
    access
        Tells whether the bytes are near, so that reading a gap costs less than another range.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: they are more than can be held.
    """
    cost = _span_cost(pieces, access)
    shared: dict[Hashable, PieceRange] = {}
    found: list[PieceRange] = []
    for at, piece in enumerate(pieces):
        cut = _cut(piece, at, cost, MOST_SPANS - len(found))
        if cut is not None:
            found += cut
            continue
        key = (piece.reference, piece.how)
        if key in shared:
            shared[key].pieces.append(at)
        else:
            shared[key] = PieceRange(piece.reference, [at])
            found.append(shared[key])
    return found


def too_large(row: PieceRange, piece: SourcePiece) -> RefbrowserError | None:
    """Return the error of bytes that cannot be read in parts, and are more than any may be."""
    reference = row.reference
    if row.cut is not None or not isinstance(reference, ByteRange):
        return None
    if reference.length <= LIMITS.chunk_size:
        return None
    name = piece.name or "a piece"
    message = f"{name} is {reference.length} bytes; at most {LIMITS.chunk_size} are read whole (chunk_size)"
    return RefbrowserError(ErrorKind.BUDGET, message, replace(piece.place, url=reference.url))


def _span_cost(pieces: Sequence[SourcePiece], access: Access) -> int:
    """Return the cost of a range by where the first one lies; mostly all lie there."""
    for piece in pieces:
        if isinstance(piece.reference, ByteRange | WholeFile):
            try:
                return LOCAL_SPAN if access.locate(piece.reference.url).scheme == "file" else 0
            except RefbrowserError:
                return 0
    return 0


def _cut(piece: SourcePiece, at: int, span_cost: int, most: int) -> list[PieceRange] | None:
    """Return the ranges in which some elements of a piece are read; None where it is read whole."""
    reference, dtype = piece.reference, piece.raw
    if dtype is None or not isinstance(reference, ByteRange) or not prod(piece.shape):
        return None
    counts = [len(range(*part.indices(side))) for part, side in zip(piece.inside, piece.shape, strict=True)]
    size = prod(piece.shape) * dtype.itemsize
    if prod(counts) == prod(piece.shape) and size <= (WHOLE_LIMIT if piece.check is None else CHECKED):
        return None
    spans = raw_spans(piece.shape, dtype.itemsize, tuple(range(len(piece.shape))), piece.inside, span_cost)
    if len(spans) > most:
        message = f"the selection needs more than {MOST_SPANS} ranges of bytes"
        raise RefbrowserError(ErrorKind.BUDGET, message, advice="choose a smaller selection")
    ranges = zip(*(column.tolist() for column in spans.ranges()), strict=True)
    return [
        PieceRange(
            ByteRange(reference.url, reference.offset + offset, length), [at], Cut(spans, number, dtype)
        )
        for number, (offset, length) in enumerate(ranges)
    ]


Box = tuple[slice, ...]
#: Cells that the edges of pieces may cut a part into; where there are more nothing is found out.
_CELLS = 1 << 20


@dataclass(frozen=True, slots=True)
class Layers:
    """What is seen of pieces that are laid down one after the other.

    Attributes
    ----------
    seen
        Positions of those of which anything is seen, in their order.
    is_ordered
        Some of these lie over each other: they must be laid down in their order.
    is_covered
        They leave no element uncovered.
    """

    seen: tuple[int, ...]
    is_ordered: bool
    is_covered: bool


def layers_of(pieces: Sequence[SourcePiece], area: Box) -> Layers:
    """Return what is seen of pieces that lie in `area`.

    Nothing that is said is wrong; where finding out would take long, more is said to be seen, ordered and
    uncovered than is.

    Parameters
    ----------
    area
        Slices without steps.
    """
    if len(pieces) == 1:
        return Layers((0,), False, pieces[0].hides and _is_whole(pieces[0].target, area))
    boxes = [piece.target for piece in pieces]
    cuts = [
        sorted({part.start for part in parts} | {part.stop for part in parts})
        for parts in zip(area, *boxes, strict=True)
    ]
    shape = tuple(len(each) - 1 for each in cuts)
    if prod(shape) > _CELLS:
        return Layers(tuple(range(len(pieces))), True, False)
    return _seen(pieces, [{at: number for number, at in enumerate(each)} for each in cuts], shape)


def _seen(pieces: Sequence[SourcePiece], numbers: list[dict[int, int]], shape: tuple[int, ...]) -> Layers:
    #: Cells that are hidden from what lies below, and those in which anything lies.
    full, used = np.zeros(shape, bool), np.zeros(shape, bool)
    seen = []
    places = set()
    is_ordered = False
    for row in reversed(range(len(pieces))):
        box = pieces[row].target
        cells = tuple(
            slice(number[part.start], number[part.stop]) for number, part in zip(numbers, box, strict=True)
        )
        place = tuple((part.start, part.stop, part.step) for part in box)
        if place in places or full[cells].all():
            continue
        seen.append(row)
        is_ordered = is_ordered or bool(used[cells].any())
        used[cells] = True
        if not pieces[row].hides:
            continue
        places.add(place)
        if all(part.step in (None, 1) for part in box):
            full[cells] = True
    return Layers(tuple(reversed(seen)), is_ordered, bool(full.all()))


def _is_whole(box: Box, area: Box) -> bool:
    return all(
        (part.start, part.stop) == (all_.start, all_.stop) and part.step in (None, 1)
        for part, all_ in zip(box, area, strict=True)
    )


Values = npt.NDArray[Any]


class Canvas:
    """One part, until all of its pieces have come.

    Parameters
    ----------
    number
        Of the part.
    count
        Pieces that are to come.
    is_ordered
        They lie over each other: each waits for those before it.
    ended
        Called once when all have come, with the number and the first error.
    """

    def __init__(
        self,
        number: int,
        count: int,
        is_ordered: bool,
        ended: Callable[[int, RefbrowserError | None], None],
    ) -> None:
        self.number = number
        self.is_ordered = is_ordered
        self._left = count
        self._next = 0
        self._waiting: dict[int, tuple[Values, Values] | None] = {}
        self._ended = ended
        self._error: RefbrowserError | None = None
        self._lock = threading.Lock()

    def put(self, place: int, target: Values, values: Values | None) -> None:
        """Lay down a piece, None where it could not be had: at once, or once those before it have come."""
        if not self.is_ordered:
            if values is not None:
                _lay(target, values)
            return
        with self._lock:
            self._waiting[place] = None if values is None else (target, values)
            self._lay_down()

    def finish(self, error: RefbrowserError | None) -> None:
        """Count a piece that was put, or came to its place; or that could not be had."""
        with self._lock:
            self._left -= 1
            if self._error is None:
                self._error = error
            is_last = not self._left
        if is_last:
            self._ended(self.number, self._error)

    def _lay_down(self) -> None:
        while self._next in self._waiting:
            ready = self._waiting.pop(self._next)
            if ready is not None:
                _lay(*ready)
            self._next += 1


def _lay(target: Values, values: Values) -> None:
    """Copy values to their place; of structures those fields that there are."""
    names = values.dtype.names
    if names is None or names == target.dtype.names:
        target[...] = values
        return
    for name in names:
        target[name][...] = values[name]


@dataclass(slots=True, eq=False)
class Slot:
    """One piece of a canvas.

    Attributes
    ----------
    place
        Its position among the pieces of the canvas that are laid down.
    ranges_left
        Ranges of its bytes that have not come, where it is read in several.
    """

    canvas: Canvas
    place: int
    piece: SourcePiece
    target: Values
    ranges_left: int = 0
    _buffer: Values | None = None
    _failed: RefbrowserError | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, values: Values) -> None:
        """Lay down all values of the piece's bytes, of which those that it takes are used."""
        self.canvas.put(self.place, self.target, values[self.piece.inside] if self.piece.inside else values)

    def ended(self, error: RefbrowserError | None) -> None:
        """Note that the piece was put, or came to its place; or that its bytes failed."""
        if error is not None:
            self.canvas.put(self.place, self.target, None)
        self.canvas.finish(error)

    @property
    def room(self) -> Values:
        """Where ranges of its elements are put: their place, or aside where others lie below them."""
        if not self.canvas.is_ordered:
            return self.target
        with self._lock:
            if self._buffer is None:
                self._buffer = np.empty(self.target.shape, self.piece.raw)
            return self._buffer

    def range_ended(self, error: RefbrowserError | None) -> None:
        """Count one range."""
        with self._lock:
            self.ranges_left -= 1
            self._failed = self._failed or error
            is_last = not self.ranges_left
        if not is_last:
            return
        if self._failed is None and self._buffer is not None:
            self.canvas.put(self.place, self.target, self._buffer)
        self.ended(self._failed)


class PieceReading(Reading):
    """How an array that is assembled from pieces is read."""

    def __init__(self, node: ArrayNode, source: ArraySource) -> None:
        super().__init__(node)
        self.source = source

    def batch(self, reader: Reader, parts: Parts, start: int, stop: int) -> PieceBatch:
        """Return what reads the parts from `start` to `stop`."""
        return PieceBatch(self.source, reader, parts, start, stop)

    def needed(self, access: Access, selection: Selection) -> Needed:
        """Return what a selection needs."""
        for error in (self.node.error, self.node.unreadable):
            if error is not None:
                raise error
        self.check_count(selection)
        pieces: list[SourcePiece] = []
        count = missing = faulty = 0
        for part in self.node.grid.parts(selection):
            count += 1
            given = list(self.source.pieces(part))
            missing += not given
            if given:
                seen = [given[at] for at in layers_of(given, part.target).seen]
                readable = [piece for piece in seen if piece.error is None]
                faulty += len(readable) < len(seen)
                pieces += readable
        found = ranges_of(pieces, access)
        fetched = [each for each in found if not isinstance(each.reference, Inline)]
        return Needed(
            columns_of([each.reference for each in fetched]),
            chunks=count,
            missing=missing,
            inline=len(found) - len(fetched),
            faulty=faulty,
            gaps=sum(each.cut.gaps for each in fetched if each.cut is not None),
        )


@dataclass(frozen=True, slots=True, eq=False)
class PieceRow:
    """One range of bytes, and the pieces that it gives, all of the same bytes."""

    slots: list[Slot]
    cut: Cut | None

    @property
    def piece(self) -> SourcePiece:
        """What its bytes are."""
        return self.slots[0].piece


@dataclass(frozen=True, slots=True, eq=False)
class PieceRows:
    """The ranges of some pieces (`WantedRows`)."""

    columns: ReferenceColumns
    owners: list[int]
    each: list[PieceRow]


class PieceBatch(Batch[PieceRows]):
    """Parts of a read that are assembled from pieces, planned together."""

    def __init__(self, source: ArraySource, reader: Reader, parts: Parts, start: int, stop: int) -> None:
        super().__init__(reader, parts, start, stop)
        self._source = source
        self._fill = reader.node.fill_element

    def rows(self) -> Iterator[PieceRows]:
        """Yield the ranges of some thousand pieces at a time."""
        self.note(*self.made_parts())
        slots: list[Slot] = []
        for number in range(self.start, self.stop):
            self.reader.token.check()
            slots += self._slots(number)
            if len(slots) >= GROUP:
                yield self._rows(slots)
                slots = []
        if slots:
            yield self._rows(slots)

    def _slots(self, number: int) -> list[Slot]:
        """Return what is to be laid down of a part; one that nothing gives has ended."""
        part = self.parts[number]
        try:
            pieces = list(self._source.pieces(part))
        except RefbrowserError as error:
            self._part_ended(number, error)
            return []
        if not pieces:
            self.part_missing(number, self._fill)
            return []
        layers = layers_of(pieces, part.target)
        if not layers.is_covered:
            self.reader.region(part)[...] = self._fill
        canvas = Canvas(number, len(layers.seen), layers.is_ordered, self._part_ended)
        slots = []
        for place, at in enumerate(layers.seen):
            index: tuple[Any, ...] = (*pieces[at].target, ...)
            slots.append(Slot(canvas, place, pieces[at], self.reader.box[index]))
        return slots

    def _rows(self, slots: list[Slot]) -> PieceRows:
        rows: list[PieceRow] = []
        faults: dict[int, RefbrowserError] = {}
        found = ranges_of([slot.piece for slot in slots], self.reader.access)
        for number, each in enumerate(found):
            of_row = [slots[at] for at in each.pieces]
            if each.cut is not None:
                of_row[0].ranges_left += 1
            elif (error := too_large(each, of_row[0].piece)) is not None:
                faults[number] = error
            rows.append(PieceRow(of_row, each.cut))
        columns = columns_of([each.reference for each in found])
        if faults:
            columns.kind[list(faults)] = ReferenceKind.FAULTY
            columns = replace(columns, faults=faults)
        return PieceRows(columns, [row.slots[0].canvas.number for row in rows], rows)

    def _part_ended(self, number: int, error: RefbrowserError | None) -> None:
        if error is not None:
            place = error.place
            key = place.key or self.reader.manifest.key(self.parts[number].coords)
            error = error.at(replace(place, key=key, path=place.path or self.reader.node.path))
        self.part_ended(number, error)

    def owned(self, rows: PieceRows, numbers: Sequence[int]) -> list[int]:
        """Return the parts that some rows are of; one may be of several."""
        return [slot.canvas.number for row in numbers for slot in rows.each[row].slots]

    def place(self, rows: PieceRows, row: int) -> memoryview | None:
        """Return where the bytes of a row belong in the result, if they lie there as they are stored."""
        if self.reader.keep:
            # What is kept is small: it costs more to find its place than to copy it.
            return None
        each = rows.each[row]
        slot = each.slots[0]
        # To numpy None equals the type of doubles.
        if each.piece.raw is None or each.piece.raw != slot.target.dtype:
            return None
        if len(each.slots) > 1 or slot.canvas.is_ordered:
            return None
        target = slot.target
        if each.cut is not None:
            if each.cut.gaps:
                return None
            target = each.cut.spans.target(each.cut.number, target)
        elif target.shape != each.piece.shape:
            return None
        return target.reshape(-1).view(np.uint8).data if target.flags.c_contiguous else None

    def pieces(self, rows: PieceRows, row: int) -> tuple[list[int], int] | None:
        """Return which bytes of a range are looked at only."""
        cut = rows.each[row].cut
        return None if cut is None else cut.spans.pieces(cut.number)

    def arrived(self, rows: PieceRows, row: int, data: memoryview) -> None:
        """Look at all bytes of a piece where there is something to be checked."""
        each = rows.each[row]
        if each.cut is None and each.piece.check is not None:
            finding = each.piece.check(data)
            if finding is not None:
                self.reader.access.memory.warn(finding)

    def cost(self, rows: PieceRows, row: int, size: int) -> int:
        """Return the bytes of memory that decoding takes in the pool; 0 where it is not worth a hand-over."""
        piece = rows.each[row].piece
        decoded = prod(piece.shape) * self.reader.box.dtype.itemsize
        here = size <= AT_ONCE if piece.raw is not None else max(size, decoded) <= TINY
        return 0 if here else size + min(decoded, LIMITS.chunk_size)

    def lay(self, rows: PieceRows, row: int, data: memoryview, cache_key: Hashable | None) -> None:
        """Decode the bytes of a row, and lay down what they give."""
        each = rows.each[row]
        piece = each.piece
        if each.cut is not None:
            spans, number, dtype = each.cut
            spans.scatter(number, data, dtype, each.slots[0].room)
            return
        self.arrived(rows, row, data)
        values = _values(piece, data)
        if cache_key is not None and not values.dtype.hasobject:
            # A view would keep the whole buffer of its request alive, and be changed with it.
            self.reader.session.cache.put(cache_key, values.copy())
        for slot in each.slots:
            slot.put(values)

    def ended(self, rows: PieceRows, row: int, error: RefbrowserError | None) -> None:
        """Note that the pieces of a row lie in their places, or why they do not."""
        each = rows.each[row]
        if error is not None and not error.place:
            error = error.at(each.piece.place)
        if each.cut is not None:
            each.slots[0].range_ended(error)
            return
        for slot in each.slots:
            slot.ended(error)

    # The cache

    def cache_keys(self, rows: PieceRows, numbers: Sequence[int]) -> dict[int, Hashable]:
        """Return the cache key of each of some rows that may be read and is worth keeping."""
        access, columns = self.reader.access, rows.columns
        keys: dict[int, Hashable] = {}
        for row in numbers:
            each = rows.each[row]
            if each.cut is not None:
                continue
            try:
                url = access.resolve(columns.urls[columns.url[row]]).url
            except RefbrowserError:
                continue
            extent = int(columns.offset[row]), int(columns.length[row])
            keys[row] = (access.scope, url, *extent, each.piece.how, "piece")
        return keys

    def lay_kept(self, rows: PieceRows, row: int, kept: Values) -> None:
        """Lay down what the cache has of a row."""
        for slot in rows.each[row].slots:
            slot.put(kept)


def _values(piece: SourcePiece, data: memoryview) -> Values:
    """Return all values of the bytes of a piece."""
    if piece.raw is None:
        return piece.decode(data)
    size = prod(piece.shape) * piece.raw.itemsize
    if len(data) != size:
        message = f"{len(data)} bytes, shape and type take {size}"
        raise RefbrowserError(ErrorKind.DECODE, message, piece.place)
    return np.frombuffer(data, piece.raw).reshape(piece.shape) if size else np.zeros(piece.shape, piece.raw)
