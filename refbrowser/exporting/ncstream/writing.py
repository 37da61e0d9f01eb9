"""Writing the variables of a stream, one after the other; blocks are read and encoded ahead by threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from refbrowser.errors import RefbrowserError
from refbrowser.exporting.blocks import TASK_BYTES
from refbrowser.exporting.ncstream import geometry
from refbrowser.exporting.ncstream.copied_tiles import CopiedTile, copied_tiles
from refbrowser.exporting.ncstream.geometry import Box
from refbrowser.exporting.ncstream.ordered import in_order
from refbrowser.exporting.ncstream.ordered_payloads import ordered_writer
from refbrowser.exporting.ncstream.plan import VariablePlan, Way
from refbrowser.exporting.ncstream.reading import Block, BlockReader
from refbrowser.exporting.request import Tally
from refbrowser.formats.ncstream.encoding import (
    Buffer,
    DataFacts,
    crc32_of,
    data_head,
    data_message,
    element_bytes,
)
from refbrowser.formats.ncstream.stream_file import StreamFile
from refbrowser.formats.ncstream.varints import write_varint
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access import Access
    from refbrowser.io.cancel import CancelToken

#: Blocks that are read and encoded at once.
AHEAD = 4
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
    Cancelled
        The export was cancelled.
    """
    _WAYS[plan.way](run, plan)


def _blocks(run: StreamRun, plan: VariablePlan) -> Iterator[Block]:
    """Yield the blocks of a variable in order."""
    reader = BlockReader(run.session, run.access, plan, run.token)
    for block in in_order(reader.read, geometry.boxes(plan.shape, plan.block), _ahead(plan), run.token):
        for error in block.errors:
            run.bad(error)
        yield block
        run.step()
    _count(run, reader)


def _count(run: StreamRun, reader: BlockReader) -> None:
    run.tally.read_bytes += reader.read_bytes
    run.tally.requests += reader.requests


def _ahead(plan: VariablePlan) -> int:
    return max(1, min(AHEAD, LIMITS.export_memory // max(1, _TIMES * plan.block_bytes)))


def _room(run: StreamRun, plan: VariablePlan) -> None:
    """Write a message with room for all elements, and fill it block by block."""
    file, variable = run.file, plan.streamed.variable
    dtype = variable.type.dtype
    assert dtype is not None
    facts = _facts(plan, crc32=0 if run.checksum else None)
    head = [data_head(facts), write_varint(plan.size)]
    start = file.size
    message = file.begin(plan.streamed.path, facts.section, head)
    region = file.room(variable.shape, dtype)
    if not geometry.is_run(plan.shape, plan.block):
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
    reader = BlockReader(run.session, run.access, plan, run.token)
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
    reader = BlockReader(run.session, run.access, plan, run.token)
    # One chunk of the source that is bad is not to hide the others of its tile.
    assert plan.streamed.node.grid is not None
    finer = replace(plan, tile=plan.streamed.node.grid.chunk_shape)
    again = BlockReader(run.session, run.access, finer, run.token)

    def made(box: Box) -> list[_Tile | None]:
        block = reader.read(box)
        tiles: list[_Tile | None] = []
        for each in geometry.boxes_within(box, plan.tile):
            tile = _tile(run, plan, block, each)
            if tile is not None and tile.error is not None and run.skip_bad:
                part = again.read(each)
                tiles += [_tile(run, finer, part, one) for one in geometry.boxes_within(each, finer.tile)]
            else:
                tiles.append(tile)
        return tiles

    for tiles in in_order(made, geometry.boxes(plan.shape, plan.block), _ahead(plan), run.token):
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
    reader = BlockReader(run.session, run.access, plan, run.token)
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
    assert variable.type.dtype is not None
    size = geometry.size_of(tile.box) * variable.type.dtype.itemsize
    facts = DataFacts(
        path=plan.streamed.path,
        type=variable.type,
        section=_section(tile.box, plan),
        uncompressed=size,
        crc32=crc32_of(data) if run.checksum else None,
    )
    run.file.whole(plan.streamed.path, facts.section, [data_head(facts), write_varint(len(data))], [data])
    run.tally.chunks += 1
    run.tally.copied += 1


def _facts(plan: VariablePlan, crc32: int | None) -> DataFacts:
    variable = plan.streamed.variable
    section = tuple(map(range, variable.shape))
    return DataFacts(path=plan.streamed.path, type=variable.type, section=section, crc32=crc32)


def _section(box: Box, plan: VariablePlan) -> tuple[range, ...]:
    """Return the section of a box; axes that elements have of their own are whole."""
    own = plan.streamed.variable.shape[len(box) :]
    return (*(range(part.start, part.stop) for part in box), *map(range, own))


_WAYS = {Way.ROOM: _room, Way.ORDERED: _ordered, Way.WHOLE: _whole, Way.TILES: _tiles}
