"""Writing the messages of a stream: made in blocks or copied, by threads that work ahead, in order."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.reading.wanted_ranges import too_long, without_large
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.block_sides import Box, box_size, boxes, boxes_within, is_run
from refbrowser.exporting.blocks import TASK_BYTES
from refbrowser.exporting.copied_objects import StoredUnits
from refbrowser.exporting.request import Tally
from refbrowser.exporting.work_ahead import AHEAD, in_order
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ReferenceColumns, ReferenceKind, placed, taken
from refbrowser.wings.ncstream.reading import magics
from refbrowser.wings.ncstream.reading.bytes import write_varint
from refbrowser.wings.ncstream.reading.definition import StreamType
from refbrowser.wings.ncstream.reading.elements import is_ragged
from refbrowser.wings.ncstream.writing.encoding import (
    Buffer,
    EncodedFacts,
    crc32_of,
    data_head,
    data_message,
    element_bytes,
    object_bytes,
    padded_varint,
    sequence_rows,
    sized_objects,
)
from refbrowser.wings.ncstream.writing.stream_file import StreamFile
from refbrowser.wings.ncstream.writing.stream_plan import Block, StreamBlockReader, VariablePlan, Way

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access
    from refbrowser.io.cancel import CancelToken


#: Bytes of a length that is known last: enough for 2**42.
_LENGTH = 6


class OrderedWriter(Protocol):
    """Writes one message."""

    def add(self, values: npt.NDArray[Any]) -> None:
        """Write the next elements."""
        ...

    def finish(self) -> None:
        """End the message."""
        ...


def ordered_writer(file: StreamFile, plan: VariablePlan, *, checksum: bool) -> OrderedWriter:
    """Return what writes the message of a variable."""
    if plan.streamed.variable.type is StreamType.SEQUENCE:
        return _Rows(file, plan)
    if plan.level is not None:
        return _Deflated(file, plan, checksum)
    return _Objects(file, plan, checksum)


class _Rows:
    """The rows of a sequence; it has no section and no checksum."""

    def __init__(self, file: StreamFile, plan: VariablePlan) -> None:
        self._file = file
        self._variable = plan.streamed.variable
        facts = EncodedFacts(path=plan.streamed.path, type=self._variable.type)
        self._message = file.begin(plan.streamed.path, None, [data_head(facts)])

    def add(self, values: npt.NDArray[Any]) -> None:
        """Write the next rows."""
        for data in sequence_rows(self._variable, values):
            self._file.add(self._message, data)

    def finish(self) -> None:
        """Write the end of the sequence."""
        self._file.add(self._message, magics.VEND)
        self._file.end(self._message)


class _Objects:
    """Texts, opaque values or ragged rows behind their number."""

    def __init__(self, file: StreamFile, plan: VariablePlan, checksum: bool) -> None:
        self._file = file
        self._variable = variable = plan.streamed.variable
        self._is_ragged = is_ragged(variable)
        self._sum = 0 if checksum and not self._is_ragged else None
        self._path = plan.streamed.path
        self._start = file.size
        self._message = file.begin(self._path, tuple(map(range, variable.shape)), [self._head()])
        file.add(self._message, write_varint(prod(variable.shape)))

    def _head(self) -> bytes:
        variable = self._variable
        return data_head(
            EncodedFacts(
                path=self._path,
                type=variable.type,
                section=tuple(map(range, variable.shape)),
                is_ragged=self._is_ragged,
                crc32=self._sum,
            )
        )

    def add(self, values: npt.NDArray[Any]) -> None:
        """Write the next elements."""
        objects = object_bytes(self._variable, values)
        if self._sum is not None:
            for item in objects:
                self._sum = crc32_of(item, self._sum)
        self._file.add(self._message, sized_objects(objects))

    def finish(self) -> None:
        """End the message, and tell its checksum, which takes as many bytes whatever it is."""
        self._file.end(self._message)
        if self._sum is not None:
            self._file.put(self._start, self._head())


class _Deflated:
    """Elements as one zlib stream, whose length is written when it is known."""

    def __init__(self, file: StreamFile, plan: VariablePlan, checksum: bool) -> None:
        assert plan.level is not None
        self._file = file
        self._plan = plan
        self._sum = 0 if checksum else None
        self._packer = zlib.compressobj(plan.level)
        self._start = file.size
        section = tuple(map(range, plan.streamed.variable.shape))
        self._message = file.begin(plan.streamed.path, section, self._head(0))

    def _head(self, length: int) -> list[bytes]:
        variable = self._plan.streamed.variable
        facts = EncodedFacts(
            path=self._plan.streamed.path,
            type=variable.type,
            section=tuple(map(range, variable.shape)),
            uncompressed=self._plan.size,
            crc32=self._sum,
        )
        return [data_head(facts), padded_varint(length, _LENGTH)]

    def add(self, values: npt.NDArray[Any]) -> None:
        """Write the next elements."""
        self._put(self._packer.compress(element_bytes(self._plan.streamed.variable, values)))

    def finish(self) -> None:
        """End the zlib stream, and tell its length and checksum."""
        self._put(self._packer.flush())
        self._file.end(self._message)
        self._file.put(self._start, b"".join(self._head(self._message.payload_length)))

    def _put(self, data: bytes) -> None:
        if self._sum is not None:
            self._sum = crc32_of(data, self._sum)
        self._file.add(self._message, data)


#: Chunks whose references are looked at together.
PAGE = 65_536


@dataclass(frozen=True, slots=True)
class CopiedTile:
    """One chunk of the source.

    Attributes
    ----------
    box
        Its elements, cut at the array's edge.
    data
        Its stored bytes, or why they could not be had; None where it is missing, or `is_cut`.
    is_cut
        It reaches over the edge: a message holds less than it does.
    """

    box: Box
    data: bytes | RefbrowserError | None
    is_cut: bool = False


def copied_tiles(run: StreamRun, plan: VariablePlan, most: int) -> Iterator[CopiedTile]:
    """Yield the chunks of an array in C order; at most `most` stored bytes are held, or one chunk."""
    node = plan.source
    grid, manifest = node.grid, node.manifest
    units = StoredUnits(node, CodecPipeline.for_array(node), run.access)
    decoded = prod(grid.regular.chunk_shape) * (node.dtype.itemsize if node.dtype is not None else 1)
    for start in range(0, grid.size, PAGE):
        numbers = np.arange(start, min(start + PAGE, grid.size))
        coords = _coords(numbers, grid.grid_shape)
        columns = manifest.columns(coords)
        cut = np.array([grid.extent(tuple(at)) != grid.regular.chunk_shape for at in coords.tolist()], bool)
        sizes = np.where(columns.kind == ReferenceKind.RANGE, columns.length, decoded)
        sizes = np.where((columns.kind == ReferenceKind.MISSING) | cut, 0, sizes)
        for first, stop in _batches(sizes, most):
            rows = np.arange(first, stop)
            for row, data in zip(
                rows.tolist(), _fetched(run, units, columns, coords, rows, cut), strict=True
            ):
                at = tuple(coords[row].tolist())
                origin, extent = grid.origin(at), grid.extent(at)
                box = tuple(slice(low, low + side) for low, side in zip(origin, extent, strict=True))
                yield CopiedTile(box, data, bool(cut[row]))


def _fetched(
    run: StreamRun,
    units: StoredUnits,
    columns: ReferenceColumns,
    coords: np.ndarray,
    rows: np.ndarray,
    cut: np.ndarray,
) -> list[bytes | RefbrowserError | None]:
    """Return the stored bytes of rows, confirmed; None of those that are missing or cut."""
    found: list[bytes | RefbrowserError | None] = [None] * len(rows)
    wanted = np.flatnonzero(~cut[rows] & (columns.kind[rows] != ReferenceKind.MISSING))
    if not len(wanted):
        return found
    pipeline, manifest = units.pipeline, units.node.manifest
    answers = run.session.fetch_all(
        without_large(taken(columns, rows[wanted]), pipeline),
        run.access,
        token=run.token,
        export=True,
        size_limit=pipeline.stored_most,
    )

    def key(row: int) -> str:
        return manifest.key(tuple(coords[row].tolist()))

    def confirm(place: int, data: bytes) -> None:
        row = int(rows[place])
        found[place] = units.error(columns, row, key(row), data) or data

    queue = run.session.pool.queue(run.token)
    for place, answer in zip(wanted.tolist(), answers, strict=True):
        gone = isinstance(answer, RefbrowserError) and run.access.is_missing(answer)
        if isinstance(answer, RefbrowserError):
            row = int(rows[place])
            error = too_long(pipeline, answer)
            error = error if error.place else placed(error, columns, row, key(row), units.node.path)
            found[place] = None if gone else error
        else:
            run.tally.read_bytes += len(answer)
            queue.put(partial(confirm, place, answer), units.decoded_size)
    queue.join()
    run.tally.requests += len(wanted)
    return found


def _batches(sizes: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Yield runs of rows of at most so many bytes, of one row at least."""
    ends = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        before = int(ends[first - 1]) if first else 0
        stop = max(first + 1, int(np.searchsorted(ends, before + most, "right")))
        yield first, stop
        first = stop


def _coords(numbers: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if not shape:
        return np.zeros((len(numbers), 0), np.int64)
    return np.stack(np.unravel_index(numbers, shape), axis=1).astype(np.int64)


#: Memory that a block takes while it is read, converted and compressed, in blocks.
_TIMES = 3


@dataclass(frozen=True, slots=True)
class StreamRun:
    """What the writing of all variables shares.

    Attributes
    ----------
    step
        Called when a block is done.
    """

    session: Session
    access: Access
    file: StreamFile
    token: CancelToken
    tally: Tally
    checksum: bool
    skip_bad: bool
    step: Callable[[], None]

    def bad(self, error: RefbrowserError) -> None:
        """Take note that something cannot be read.

        Raises
        ------
        RefbrowserError
            What was given, unless bad entries are to be left out.
        """
        if not self.skip_bad:
            raise error
        self.tally.skipped.append(error)


@dataclass(frozen=True, slots=True)
class _Tile:
    """A message that was made ahead: its section, its buffers; or why it has none."""

    section: tuple[range, ...]
    message: list[Buffer]
    error: RefbrowserError | None = None


def write_variable(run: StreamRun, plan: VariablePlan) -> None:
    """Write all messages of one variable.

    Raises
    ------
    RefbrowserError
        Something cannot be read, or has no form in a stream.
    OSError
        The file cannot be written.
    """
    _WAYS[plan.way](run, plan)


def _blocks(run: StreamRun, plan: VariablePlan) -> Iterator[Block]:
    """Yield the blocks of a variable in order."""
    reader = StreamBlockReader(run.session, run.access, plan, run.token)
    for block in in_order(reader.read, boxes(plan.shape, plan.block), _ahead(plan), run.token):
        for error in block.errors:
            run.bad(error)
        yield block
        run.step()
    _count(run, reader)


def _count(run: StreamRun, reader: StreamBlockReader) -> None:
    run.tally.read_bytes += reader.read_bytes
    run.tally.requests += reader.requests


def _ahead(plan: VariablePlan) -> int:
    return max(1, min(AHEAD, LIMITS.export_memory // max(1, _TIMES * plan.block_bytes)))


def _room(run: StreamRun, plan: VariablePlan) -> None:
    """Write a message with room for all elements, and fill it block by block."""
    file, variable = run.file, plan.streamed.variable
    dtype = variable.type.known_dtype
    facts = _facts(plan, crc32=0 if run.checksum else None)
    head = [data_head(facts), write_varint(plan.size)]
    start = file.size
    message = file.begin(plan.streamed.path, facts.section, head)
    region = file.room(variable.shape, dtype)
    if not is_run(plan.shape, plan.block):
        file.allocate()
    for block in _blocks(run, plan):
        own = tuple(slice(0, side) for side in variable.shape[len(block.box) :])
        payload = element_bytes(variable, block.values)
        file.fill(message, region, (*block.box, *own), payload)
    file.end(message)
    if run.checksum:
        # It is known last; the field has the same length whatever it holds.
        facts = _facts(plan, crc32=file.sum_of(message))
        file.put(start, data_head(facts))
    _one_message(run, plan)


def _ordered(run: StreamRun, plan: VariablePlan) -> None:
    """Write a message from its first element to its last."""
    writer = ordered_writer(run.file, plan, checksum=run.checksum)
    for block in _blocks(run, plan):
        writer.add(block.values)
    writer.finish()
    _one_message(run, plan)


def _whole(run: StreamRun, plan: VariablePlan) -> None:
    """Write a message that is made in memory."""
    reader = StreamBlockReader(run.session, run.access, plan, run.token)
    streamed, box = plan.streamed, tuple(slice(0, length) for length in plan.shape)
    block, section = reader.read(box), _section(box, plan)
    for error in block.errors:
        run.bad(error)
    message = data_message(streamed.path, streamed.variable, section, block.values, checksum=run.checksum)
    run.file.whole(streamed.path, section, message[:-1], message[-1:])
    _count(run, reader)
    _one_message(run, plan)
    run.step()


def _one_message(run: StreamRun, plan: VariablePlan) -> None:
    run.tally.chunks += 1
    run.tally.copied += plan.is_as_stored and plan.level is None


def _tiles(run: StreamRun, plan: VariablePlan) -> None:
    """Write a message for each tile."""
    if plan.copied:
        _copied(run, plan)
        return
    reader = StreamBlockReader(run.session, run.access, plan, run.token)
    # One chunk of the source that is bad is not to hide the others of its tile.
    finer = replace(plan, tile=plan.streamed.node.grid.largest)
    again = StreamBlockReader(run.session, run.access, finer, run.token)

    def made(box: Box) -> list[_Tile | None]:
        block = reader.read(box)
        tiles: list[_Tile | None] = []
        for each in boxes_within(box, plan.tile):
            tile = _tile(run, plan, block, each)
            if tile is not None and tile.error is not None and run.skip_bad:
                part = again.read(each)
                tiles += [_tile(run, finer, part, one) for one in boxes_within(each, finer.tile)]
            else:
                tiles.append(tile)
        return tiles

    for tiles in in_order(made, boxes(plan.shape, plan.block), _ahead(plan), run.token):
        for tile in tiles:
            _put(run, plan, tile)
        run.step()
    _count(run, reader)
    _count(run, again)


def _tile(run: StreamRun, plan: VariablePlan, block: Block, box: Box) -> _Tile | None:
    """Return the message of a tile of a block; None where nothing of it is stored."""
    section = _section(box, plan)
    inside = tuple(
        slice(part.start - outer.start, part.stop - outer.start)
        for part, outer in zip(box, block.box, strict=True)
    )
    index: tuple[Any, ...] = (*inside, ...)
    place = tuple(part.start // side for part, side in zip(inside, block.state.unit, strict=True))
    error = block.state.error(place)
    if error is not None:
        return _Tile(section, [], error)
    if plan.leaves_out and not block.state.stored(place):
        return None
    streamed = plan.streamed
    message = data_message(
        streamed.path,
        streamed.variable,
        section,
        block.values[index],
        level=plan.level,
        checksum=run.checksum,
    )
    return _Tile(section, message)


def _put(run: StreamRun, plan: VariablePlan, tile: _Tile | None) -> None:
    if tile is None:
        run.tally.missing += 1
    elif tile.error is not None:
        run.bad(tile.error)
    else:
        run.file.whole(plan.streamed.path, tile.section, tile.message[:-1], tile.message[-1:])
        run.tally.chunks += 1
        run.tally.copied += plan.is_as_stored and plan.level is None


def _copied(run: StreamRun, plan: VariablePlan) -> None:
    """Write tiles whose stored bytes are copied; those at the edge of the array are made anew."""
    reader = StreamBlockReader(run.session, run.access, plan, run.token)
    for tile in copied_tiles(run, plan, TASK_BYTES):
        if isinstance(tile.data, RefbrowserError):
            run.bad(tile.data)
        elif tile.data is not None:
            _put_copied(run, plan, tile, tile.data)
        elif tile.is_cut:
            _put(run, plan, _tile(run, plan, reader.read(tile.box), tile.box))
        else:
            _put(run, plan, None if plan.leaves_out else _tile(run, plan, reader.read(tile.box), tile.box))
        run.step()
    _count(run, reader)


def _put_copied(run: StreamRun, plan: VariablePlan, tile: CopiedTile, data: bytes) -> None:
    variable = plan.streamed.variable
    size = box_size(tile.box) * variable.type.known_dtype.itemsize
    facts = EncodedFacts(
        path=plan.streamed.path,
        type=variable.type,
        section=_section(tile.box, plan),
        uncompressed=size,
        crc32=crc32_of(data) if run.checksum else None,
    )
    run.file.whole(plan.streamed.path, facts.section, [data_head(facts), write_varint(len(data))], [data])
    run.tally.chunks += 1
    run.tally.copied += 1


def _facts(plan: VariablePlan, crc32: int | None) -> EncodedFacts:
    variable = plan.streamed.variable
    section = tuple(map(range, variable.shape))
    return EncodedFacts(path=plan.streamed.path, type=variable.type, section=section, crc32=crc32)


def _section(box: Box, plan: VariablePlan) -> tuple[range, ...]:
    """Return the section of a box; axes that elements have of their own are whole."""
    own = plan.streamed.variable.shape[len(box) :]
    return (*(range(part.start, part.stop) for part in box), *map(range, own))


_WAYS = {Way.ROOM: _room, Way.ORDERED: _ordered, Way.WHOLE: _whole, Way.TILES: _tiles}
