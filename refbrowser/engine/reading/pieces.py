"""Reading arrays that are assembled from pieces: they are fetched, decoded and laid down."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.canvases import Canvas, Slot, layers_of
from refbrowser.engine.reading.chunk_log import BatchNotes, marks_of
from refbrowser.engine.reading.chunks import AT_ONCE, TINY
from refbrowser.engine.reading.decoding import Rests
from refbrowser.engine.reading.fetching import fetch_rows
from refbrowser.engine.reading.parts import PartReader, Parts, Piece, PieceState
from refbrowser.engine.reading.raw import RawSpans
from refbrowser.engine.reading.stretches import Stretch, stretches_of, too_large
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.grid import ChunkPart
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline, Reference, ReferenceKind, columns_of
from refbrowser.model.values import ArraySource, Pieces, SourcePiece, columns_of_kinds

Values = npt.NDArray[Any]
#: Pieces that are fetched together.
GROUP = 8192


@dataclass(slots=True, eq=False)
class PieceRow:
    """One stretch of bytes that is fetched.

    Attributes
    ----------
    slots
        The pieces that it gives, all of the same bytes.
    kept
        Under what the decoded values are kept.
    placed
        Where in the result it was asked to be written.
    """

    stretch: Stretch
    slots: list[Slot]
    kept: Hashable | None = None
    placed: memoryview | None = field(default=None, repr=False)

    @property
    def reference(self) -> Reference:
        """Where it is."""
        return self.stretch.reference

    @property
    def spans(self) -> tuple[RawSpans, int] | None:
        """Of which stretches of one piece it is one."""
        return self.stretch.spans

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
            self.reader.ended(Piece(part, PieceState.MISSING))
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
        state = PieceState.DONE if failure is None else PieceState.FAILED
        self.reader.ended(Piece(part, state, failure))

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
            elif (error := too_large(row.stretch, row.piece)) is not None:
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
        for stretch in stretches_of([slot.piece for slot in slots], self.reader.access):
            of_row = [slots[at] for at in stretch.pieces]
            if stretch.spans is not None:
                of_row[0].spans_left += 1
            rows.append(PieceRow(stretch, of_row))
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
