"""Reading arrays that are assembled from pieces: they are fetched, decoded and laid down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.chunk_log import BatchNotes, marks_of
from refbrowser.engine.reading.chunks import AT_ONCE, TINY
from refbrowser.engine.reading.decoding import Rests
from refbrowser.engine.reading.fetching import fetch_rows
from refbrowser.engine.reading.parts import EndedPart, PartReader, Parts, PartState
from refbrowser.engine.reading.raw import RawSpans, raw_spans
from refbrowser.engine.reading.wanted import LOCAL_SPAN, MOST_SPANS, WHOLE_LIMIT
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access import Access
from refbrowser.limits import LIMITS
from refbrowser.model.grid import ChunkPart
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline, Reference, ReferenceKind, WholeFile, columns_of
from refbrowser.model.values import ArraySource, Pieces, SourcePiece, columns_of_kinds

#: Elements of up to so many bytes are read whole where there is something to check in all of them.
CHECKED = 4 * WHOLE_LIMIT


@dataclass(frozen=True, slots=True, eq=False)
class PieceRange:
    """Bytes that are read in one.

    Attributes
    ----------
    pieces
        Positions of those that they give.
    spans
        Where they hold some elements of one piece only: all such ranges of that, and the number of this.
    """

    reference: Reference
    pieces: list[int]
    spans: tuple[RawSpans, int] | None = None


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
            shared[key] = PieceRange(piece.reference, [at])
            found.append(shared[key])
    return found


def too_large(row: PieceRange, piece: SourcePiece) -> RefbrowserError | None:
    """Return the error of bytes that cannot be read in parts, and are more than any may be."""
    reference = row.reference
    if row.spans is not None or not isinstance(reference, ByteRange):
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


def _spans(piece: SourcePiece, span_cost: int) -> RawSpans | None:
    """Return the ranges in which some elements of a piece are read; None where it is read whole."""
    if piece.raw is None or not isinstance(piece.reference, ByteRange) or not prod(piece.shape):
        return None
    counts = [len(range(*part.indices(side))) for part, side in zip(piece.inside, piece.shape, strict=True)]
    size = prod(piece.shape) * piece.raw.itemsize
    if prod(counts) == prod(piece.shape) and size <= (WHOLE_LIMIT if piece.check is None else CHECKED):
        return None
    return raw_spans(piece.shape, piece.raw.itemsize, tuple(range(len(piece.shape))), piece.inside, span_cost)


def _cut(piece: SourcePiece, at: int, spans: RawSpans) -> list[PieceRange]:
    reference = piece.reference
    assert isinstance(reference, ByteRange)
    ranges = zip(*(column.tolist() for column in spans.ranges()), strict=True)
    return [
        PieceRange(ByteRange(reference.url, reference.offset + offset, length), [at], (spans, number))
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
    region
        The view of the result that the part fills.
    count
        Pieces that are to come.
    is_ordered
        They lie over each other: each waits for those before it.
    ended
        Called once when all have come, with the canvas and the first error.
    """

    def __init__(
        self,
        number: int,
        part: ChunkPart,
        region: Values,
        count: int,
        is_ordered: bool,
        ended: Callable[[Canvas, RefbrowserError | None], None],
    ) -> None:
        self.number = number
        self.part = part
        self.region = region
        self.is_ordered = is_ordered
        self._left = count
        self._next = 0
        self._waiting: dict[int, tuple[Values, Values] | None] = {}
        self._ended = ended
        self._error: RefbrowserError | None = None
        self._lock = threading.Lock()

    def put(self, place: int, target: Values, values: Values) -> None:
        """Lay down a piece: at once, or once those before it have come."""
        if not self.is_ordered:
            _lay(target, values)
            self.finish(None)
            return
        with self._lock:
            self._waiting[place] = target, values
            self._lay_down()
        self.finish(None)

    def fail(self, place: int, error: RefbrowserError) -> None:
        """Note that a piece could not be had."""
        if self.is_ordered:
            with self._lock:
                self._waiting[place] = None
                self._lay_down()
        self.finish(error)

    def finish(self, error: RefbrowserError | None) -> None:
        """Count a piece that has come, and lies where it belongs."""
        with self._lock:
            self._left -= 1
            if self._error is None:
                self._error = error
            is_last = not self._left
        if is_last:
            self._ended(self, self._error)

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
    spans_left
        Stretches of its bytes that have not come, where it is read in several.
    """

    canvas: Canvas
    place: int
    piece: SourcePiece
    target: Values
    spans_left: int = 0
    _buffer: Values | None = None
    _failed: RefbrowserError | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, values: Values) -> None:
        """Lay down all values of the piece's bytes, of which those that it takes are used."""
        self.canvas.put(self.place, self.target, values[self.piece.inside] if self.piece.inside else values)

    def fail(self, error: RefbrowserError) -> None:
        """Note that its bytes could not be had or decoded."""
        self.canvas.fail(self.place, error)

    @property
    def room(self) -> Values:
        """Where ranges of its elements are put: their place, or aside where others lie below them."""
        if not self.canvas.is_ordered:
            return self.target
        with self._lock:
            if self._buffer is None:
                self._buffer = np.empty(self.target.shape, self.piece.raw)
            return self._buffer

    def span_ended(self, error: RefbrowserError | None) -> None:
        """Count one range."""
        with self._lock:
            self.spans_left -= 1
            self._failed = self._failed or error
            is_last = not self.spans_left
        if not is_last:
            return
        if self._failed is not None:
            self.canvas.fail(self.place, self._failed)
        elif self._buffer is not None:
            self.canvas.put(self.place, self.target, self._buffer)
        else:
            self.canvas.finish(None)


#: Pieces that are fetched together.
GROUP = 8192


@dataclass(slots=True, eq=False)
class PieceRow:
    """One range of bytes that is fetched.

    Attributes
    ----------
    slots
        The pieces that it gives, all of the same bytes.
    kept
        Under what the decoded values are kept.
    placed
        Where in the result it was asked to be written.
    """

    found: PieceRange
    slots: list[Slot]
    kept: Hashable | None = None
    placed: memoryview | None = field(default=None, repr=False)

    @property
    def reference(self) -> Reference:
        """Where it is."""
        return self.found.reference

    @property
    def spans(self) -> tuple[RawSpans, int] | None:
        """Of which ranges of one piece it is one."""
        return self.found.spans

    @property
    def piece(self) -> SourcePiece:
        """What its bytes are."""
        return self.slots[0].piece


class PieceReader(PartReader):
    """One read of parts of one array whose values are `Pieces`."""

    @cached_property
    def source(self) -> ArraySource:
        """What makes the values."""
        assert isinstance(self.node.values, Pieces)
        return self.node.values.source

    def run_batch(self, parts: Parts, start: int, stop: int) -> None:
        """Read the parts from `start` to `stop`."""
        _PieceBatch(self, parts, start, stop).run()


class _PieceBatch:
    """The parts of a read that are planned together; they keep their numbers."""

    def __init__(self, reader: PieceReader, parts: Parts, start: int, stop: int) -> None:
        self.reader = reader
        self.parts = parts
        self.start, self.stop = start, stop
        self.queue = reader.session.pool.queue(reader.token)
        self._rests = Rests()
        self._fill = fill_element(reader.node)
        self._notes: BatchNotes | None = None
        if reader.log is not None:
            coords = parts.coords(start, stop)
            kinds = np.full(stop - start, ReferenceKind.DERIVED, np.uint8)
            self._notes = BatchNotes(reader.log, coords, marks_of(columns_of_kinds(kinds)), start)

    def run(self) -> None:
        """Read every part."""
        try:
            slots: list[Slot] = []
            for number in range(self.start, self.stop):
                self.reader.token.check()
                slots += self._slots(number)
                if len(slots) >= GROUP:
                    self._read(slots)
                    slots = []
            self._read(slots)
            self.queue.join()
        finally:
            if self._notes is not None:
                self._notes.give_up()

    def _slots(self, number: int) -> list[Slot]:
        """Return what is to be laid down of a part; one that nothing gives has ended."""
        part = self.parts[number]
        try:
            pieces = list(self.reader.source.pieces(part))
        except RefbrowserError as error:
            self._part_ended(number, part, error)
            return []
        region = self.reader.region(part)
        if not pieces:
            region[...] = self._fill
            self.reader.ended(EndedPart(part, PartState.MISSING))
            return []
        layers = layers_of(pieces, part.target)
        if not layers.is_covered:
            region[...] = self._fill
        canvas = Canvas(number, part, region, len(layers.seen), layers.is_ordered, self._ended)
        slots = []
        for place, at in enumerate(layers.seen):
            index: tuple[Any, ...] = (*pieces[at].target, ...)
            slots.append(Slot(canvas, place, pieces[at], self.reader.box[index]))
        return slots

    def _ended(self, canvas: Canvas, error: RefbrowserError | None) -> None:
        self._part_ended(canvas.number, canvas.part, error)

    def _part_ended(self, number: int, part: ChunkPart, error: RefbrowserError | None) -> None:
        failure = None if error is None else self._placed(error, part)
        if self._notes is not None:
            self._notes.ended(number, failure)
        state = PartState.DONE if failure is None else PartState.FAILED
        self.reader.ended(EndedPart(part, state, failure))

    def _placed(self, error: RefbrowserError, part: ChunkPart) -> RefbrowserError:
        place = error.place
        key = place.key or self.reader.manifest.key(part.coords)
        return error.at(replace(place, key=key, path=place.path or self.reader.node.path))

    # Bytes

    def _read(self, slots: list[Slot]) -> None:
        if self._notes is not None and slots:
            self._notes.asked([slot.canvas.number for slot in slots])
        asked = []
        for row in self._rows(slots):
            self.reader.token.check()
            self.reader.check()
            if isinstance(row.reference, Inline):
                self._take(row, memoryview(row.reference.data))
            elif (error := too_large(row.found, row.piece)) is not None:
                self._failed(row, error)
            elif not self._from_cache(row):
                asked.append(row)
        if asked:
            self._fetch(asked)

    def _fetch(self, rows: list[PieceRow]) -> None:
        reader = self.reader

        def destination(position: int) -> memoryview | None:
            row = rows[position]
            row.placed = self._place(row)
            return row.placed

        def deliver(position: int, data: memoryview | RefbrowserError) -> None:
            row = rows[position]
            if isinstance(data, RefbrowserError):
                self._failed(row, data)
                reader.check()
                return
            reader.read_bytes += len(data)
            reader.tell()
            if row.placed is not None and data.obj is row.placed.obj:
                self._checked(row, data)
                self._row_in_place(row)
            else:
                self._take(row, data)

        notes = self._notes
        counters = fetch_rows(
            reader.session.fetcher,
            columns_of([row.reference for row in rows]),
            reader.access,
            deliver,
            cancel=reader.token,
            destination=None if reader.keep else destination,
            key=lambda position: reader.manifest.key(rows[position].slots[0].canvas.part.coords),
            export=reader.options.export,
            priority=reader.options.priority,
            timed=None
            if notes is None
            else lambda done, took: notes.took([rows[at].slots[0].canvas.number for at in done], took),
        )
        reader.requests += counters.requests

    def _rows(self, slots: list[Slot]) -> list[PieceRow]:
        rows = []
        for found in ranges_of([slot.piece for slot in slots], self.reader.access):
            of_row = [slots[at] for at in found.pieces]
            if found.spans is not None:
                of_row[0].spans_left += 1
            rows.append(PieceRow(found, of_row))
        return rows

    def _place(self, row: PieceRow) -> memoryview | None:
        """Return where the bytes of a row belong in the result, if they lie there as they are stored."""
        slot = row.slots[0]
        # To numpy None equals the type of doubles.
        if row.piece.raw is None or row.piece.raw != slot.target.dtype:
            return None
        if len(row.slots) > 1 or slot.canvas.is_ordered:
            return None
        target = slot.target
        if row.spans is not None:
            spans, number = row.spans
            if not spans.is_dense(number):
                return None
            target = spans.target(number, target)
        elif target.shape != row.piece.shape:
            return None
        return target.reshape(-1).view(np.uint8).data if target.flags.c_contiguous else None

    def _row_in_place(self, row: PieceRow) -> None:
        slot = row.slots[0]
        if row.spans is None:
            slot.canvas.finish(None)
        else:
            slot.span_ended(None)

    def _take(self, row: PieceRow, data: memoryview) -> None:
        """Decode a row: here, or in the pool where that is worth a hand-over."""
        piece = row.piece
        size = prod(piece.shape) * self.reader.box.dtype.itemsize
        here = len(data) <= AT_ONCE if piece.raw is not None else max(len(data), size) <= TINY
        if here:
            self._decode(row, data)
            self._rests.after_piece()
        else:
            self.queue.put(lambda: self._decode(row, data), len(data) + min(size, LIMITS.chunk_size))

    def _decode(self, row: PieceRow, data: memoryview) -> None:
        started = time.monotonic()
        try:
            if row.spans is not None:
                self._scatter(row, data)
            else:
                self._checked(row, data)
                values = _values(row.piece, data)
                self._keep(row, values)
                for slot in row.slots:
                    slot.put(values)
        except RefbrowserError as error:
            self._failed(row, error)
        if self._notes is not None:
            self._notes.took([row.slots[0].canvas.number], time.monotonic() - started)

    def _scatter(self, row: PieceRow, data: memoryview) -> None:
        assert row.spans is not None
        assert row.piece.raw is not None
        spans, number = row.spans
        slot = row.slots[0]
        spans.scatter(number, data, row.piece.raw, slot.room)
        slot.span_ended(None)

    def _checked(self, row: PieceRow, data: memoryview) -> None:
        """Look at all bytes of a piece where there is something to be checked."""
        if row.spans is None and row.piece.check is not None:
            finding = row.piece.check(data)
            if finding is not None:
                self.reader.access.memory.warn(finding)

    def _failed(self, row: PieceRow, error: RefbrowserError) -> None:
        place = row.piece.place
        if not error.place:
            error = error.at(place)
        for slot in row.slots:
            if row.spans is None:
                slot.fail(error)
            else:
                slot.span_ended(error)
        if self.reader.error is not None:
            self.reader.token.cancel()

    # The cache

    def _key(self, row: PieceRow) -> Hashable | None:
        """Return the cache key of a row that may be read; permission is asked before the cache is."""
        reference = row.reference
        if not self.reader.keep or row.spans is not None or isinstance(reference, Inline):
            return None
        url = getattr(reference, "url", "")
        try:
            url = self.reader.access.resolve(url).url
        except RefbrowserError:
            return None
        extent = (reference.offset, reference.length) if isinstance(reference, ByteRange) else (0, -1)
        return (self.reader.access.scope, url, *extent, row.piece.how, "piece")

    def _from_cache(self, row: PieceRow) -> bool:
        row.kept = self._key(row)
        kept = None if row.kept is None else self.reader.session.cache.get(row.kept)
        if kept is None:
            return False
        for slot in row.slots:
            slot.put(kept)
        return True

    def _keep(self, row: PieceRow, values: Values) -> None:
        if row.kept is not None and not values.dtype.hasobject:
            # A view would keep the whole buffer of its request alive, and be changed with it.
            self.reader.session.cache.put(row.kept, values.copy())


def _values(piece: SourcePiece, data: memoryview) -> Values:
    """Return all values of the bytes of a piece."""
    if piece.raw is None:
        return piece.decode(data)
    size = prod(piece.shape) * piece.raw.itemsize
    if len(data) != size:
        message = f"{len(data)} bytes, shape and type take {size}"
        raise RefbrowserError(ErrorKind.DECODE, message, piece.place)
    return np.frombuffer(data, piece.raw).reshape(piece.shape) if size else np.zeros(piece.shape, piece.raw)


def fill_element(node: ArrayNode) -> Any:
    """Return what is assigned to elements that nothing gives; a row of its own length is one element."""
    assert node.dtype is not None
    if node.fill_value is None:
        return np.zeros((), node.dtype)
    element = np.empty((), node.dtype)
    element[()] = node.fill_value
    return element
