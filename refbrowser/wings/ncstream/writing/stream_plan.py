"""How each variable of a stream is written: its tiles (messages), and the blocks that are read together."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from enum import Enum
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.deflating import Zlib
from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import filled
from refbrowser.engine.reading.parts import EndedPart, PartState
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.block_sides import Box, Shape, count_boxes, cut_sides, grown_sides, run_sides
from refbrowser.exporting.blocks import TASK_BYTES, BlockState, element_size
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.wings.ncstream.reading.definition import StreamType
from refbrowser.wings.ncstream.reading.elements import fill_of, is_ragged, put_everywhere
from refbrowser.wings.ncstream.writing.definition_of import StreamedVariable
from refbrowser.wings.ncstream.writing.encoding import payload_of
from refbrowser.wings.ncstream.writing.stream_options import StreamOptions

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.errors import RefbrowserError
    from refbrowser.io.access.access import Access
    from refbrowser.io.cancel import CancelToken


#: Smaller chunks of the source are put together into one message.
SMALL_TILE = 256 * 1024


def tile_sides(shape: Shape, chunk: Shape, itemsize: int, size: int) -> Shape:
    """Return the sides of the tiles of an array: the chunks of the source, put together or cut."""
    clipped = tuple(max(1, min(side, length)) for side, length in zip(chunk, shape, strict=True))
    held = prod(clipped) * itemsize
    if held > size:
        return cut_sides(clipped, max(1, size // itemsize))
    if held < SMALL_TILE:
        return grown_sides(shape, clipped, max(1, min(size, SMALL_TILE) // itemsize))
    return clipped


class Way(Enum):
    """How a variable is written."""

    #: One message with room for all elements, which are written as they are read.
    ROOM = "room"
    #: One message, written from its first element to its last.
    ORDERED = "ordered"
    #: One message, made in memory.
    WHOLE = "whole"
    #: One message for each tile.
    TILES = "tiles"


@dataclass(frozen=True, slots=True, kw_only=True)
class VariablePlan:
    """How one variable is written.

    Attributes
    ----------
    source, selection
        Where its values come from; `streamed.node` has the axes that are taken.
    tile
        Sides of the elements of one message.
    block
        Sides of what is read together: whole tiles, or parts of one.
    level
        Of deflate; None for elements that are stored plain.
    copied
        Whole chunks are copied as they are stored: they are zlib streams of elements as a message has them.
    is_as_stored
        The bytes of the source are those of the elements as a message has them.
    leaves_out
        What is missing in the source need not be sent: it reads as the same.
    """

    streamed: StreamedVariable
    source: ArrayNode
    selection: Selection
    way: Way
    tile: tuple[int, ...]
    block: tuple[int, ...]
    level: int | None = None
    copied: bool = False
    is_as_stored: bool = False
    leaves_out: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """Of what is taken of the source."""
        return self.streamed.node.shape

    @property
    def block_bytes(self) -> int:
        """Memory that one block takes."""
        return prod(self.block) * element_size(self.source)

    @property
    def size(self) -> int:
        """Bytes of all elements, about."""
        return prod(self.streamed.variable.shape) * _itemsize(self.streamed)

    @property
    def steps(self) -> int:
        """Blocks to be read."""
        return count_boxes(self.shape, self.block)

    @property
    def messages(self) -> int:
        """Messages that are written, at most."""
        return count_boxes(self.shape, self.tile) if self.way is Way.TILES else 1


def planned(
    streamed: StreamedVariable, source: ArrayNode, selection: Selection | None, options: StreamOptions
) -> VariablePlan:
    """Return how a variable is written.

    Raises
    ------
    RefbrowserError
        `BUDGET`: it has no room in one message, as the profile asks for.
    """
    taken = selection or Selection.whole(source.shape)
    pipeline = None if is_made(source) else CodecPipeline.for_array(source)
    plain = pipeline is not None and pipeline.is_raw
    shape, size = streamed.node.shape, element_size(source)
    whole = tuple(max(1, length) for length in shape)
    unit = (1,) * len(shape) if plain else _unit(streamed.node)
    level = options.level(is_compressed=pipeline is not None and bool(pipeline.stages))
    if _is_regular(streamed):
        level = level if prod(streamed.variable.shape) * _itemsize(streamed) else None
    else:
        level = None
    plan = VariablePlan(
        streamed=streamed,
        source=source,
        selection=taken,
        way=_way(streamed, options, level),
        tile=whole,
        block=whole,
        level=level,
        is_as_stored=plain and streamed.convert is None and _is_as_sent(streamed),
    )
    if plan.way is Way.TILES:
        return _tiled(plan, pipeline, options, unit)
    if plan.way is Way.WHOLE and plan.size > LIMITS.chunk_size:
        message = f"the structures have {plan.size} bytes, one message has at most {LIMITS.chunk_size}"
        advice = "choose the full profile, which writes several messages"
        raise RefbrowserError(ErrorKind.BUDGET, message, Place(path=source.path), advice)
    if plan.way is Way.ORDERED:
        return replace(plan, block=run_sides(shape, unit, _most(shape, unit, size)))
    if plan.way is Way.ROOM:
        sides = run_sides if plain else grown_sides
        return replace(plan, block=sides(shape, unit, max(1, TASK_BYTES // size)))
    return plan


def is_made(node: ArrayNode) -> bool:
    """Tell whether the values of an array are made of something else than its chunks."""
    return node.is_made


def _most(shape: tuple[int, ...], unit: tuple[int, ...], size: int) -> int:
    """Return the elements of a block in C order: more where fewer would have chunks decoded again."""
    sides = run_sides(shape, unit, max(1, TASK_BYTES // size))
    whole = all(
        side % step == 0 or side == length for side, step, length in zip(sides, unit, shape, strict=True)
    )
    return max(1, (TASK_BYTES if whole else LIMITS.export_block) // size)


def _way(streamed: StreamedVariable, options: StreamOptions, level: int | None) -> Way:
    type = streamed.variable.type
    if type is StreamType.SEQUENCE:
        return Way.ORDERED
    if not options.is_compatible:
        return Way.TILES
    if type is StreamType.STRUCTURE:
        return Way.WHOLE
    return Way.ROOM if _is_regular(streamed) and level is None else Way.ORDERED


def _tiled(
    plan: VariablePlan, pipeline: CodecPipeline | None, options: StreamOptions, unit: tuple[int, ...]
) -> VariablePlan:
    shape, size = plan.shape, element_size(plan.source)
    copied = pipeline is not None and options.codec == "keep" and _is_copied(plan, pipeline)
    if copied:
        tile = block = plan.source.grid.regular.chunk_shape
    else:
        tile = tile_sides(shape, _unit(plan.streamed.node), size, options.tile_size)
        both = tuple(max(one, other) for one, other in zip(tile, unit, strict=True))
        block = grown_sides(shape, both, max(1, TASK_BYTES // size))
    return replace(plan, tile=tile, block=block, copied=copied, leaves_out=fills_agree(plan.streamed))


def _is_copied(plan: VariablePlan, pipeline: CodecPipeline) -> bool:
    """Tell whether stored chunks are what a message holds: zlib streams of big-endian elements in C order."""
    plain = pipeline.objects is None and pipeline.sharding is None
    in_order = pipeline.axes == tuple(range(len(pipeline.axes)))
    only_zlib = [type(stage.codec) for stage in pipeline.stages] == [Zlib]
    whole = plan.source.grid.is_regular and plan.selection == Selection.whole(plan.source.shape)
    small = pipeline.decoded_size <= LIMITS.chunk_size
    own = plan.streamed.convert is None and _is_as_sent(plan.streamed)
    return plain and in_order and only_zlib and whole and small and own


def _is_as_sent(streamed: StreamedVariable) -> bool:
    """Tell whether elements in memory are those of a message: regular and big endian."""
    sent, held = streamed.variable.type.dtype, streamed.node.dtype
    return _is_regular(streamed) and sent is not None and held is not None and sent == held


def _is_regular(streamed: StreamedVariable) -> bool:
    return streamed.variable.type.dtype is not None and not is_ragged(streamed.variable)


def _itemsize(streamed: StreamedVariable) -> int:
    dtype = streamed.variable.type.dtype
    return dtype.itemsize if dtype is not None and _is_regular(streamed) else element_size(streamed.node)


def _unit(node: ArrayNode) -> tuple[int, ...]:
    """Return the sides of what is decoded together."""
    return node.grid.largest


def fills_agree(streamed: StreamedVariable) -> bool:
    """Tell whether elements that are not sent read as those of missing chunks do."""
    node, variable = streamed.node, streamed.variable
    if variable.type in (StreamType.SEQUENCE, StreamType.STRUCTURE):
        return False
    held = streamed.converted(filled((1,), node.known_dtype, node.fill_value))
    sent = np.empty(1, object)
    sent[0] = fill_of(variable)
    if variable.type.dtype is not None and not is_ragged(variable):
        sent = np.full(held.shape, sent[0])
    elif held.shape != (1,):
        return False
    return payload_of(variable, held) == payload_of(variable, sent)


@dataclass(frozen=True, slots=True)
class Block:
    """Some elements of a variable.

    Attributes
    ----------
    box
        Where they are, by the axes that are taken of the source.
    values
        As they are encoded; axes of their own come last.
    state
        Of the tiles in it.
    errors
        Why parts could not be read; these hold the fill value.
    """

    box: Box
    values: npt.NDArray[Any]
    state: BlockState
    errors: list[RefbrowserError] = field(default_factory=list)


class StreamBlockReader:
    """Reads blocks of one variable; used by several threads at once."""

    def __init__(self, session: Session, access: Access, plan: VariablePlan, token: CancelToken) -> None:
        self._session = session
        self._access = access
        self._plan = plan
        self._token = token
        self._lock = threading.Lock()
        self._kept = [axis for axis in range(len(plan.source.shape)) if axis not in plan.selection.dropped]
        self.read_bytes = 0
        self.requests = 0

    def read(self, box: Box) -> Block:
        """Read a block.

        Raises
        ------
        RefbrowserError
            The array is not readable.
        """
        state = BlockState(box, self._unit(box))
        failed: list[tuple[tuple[slice, ...], RefbrowserError]] = []

        def ended(part: EndedPart) -> None:
            target = tuple(part.part.target[axis] for axis in self._kept)
            state.note(target, part.state, part.error)
            if part.state is PartState.FAILED and part.error is not None:
                failed.append((target, part.error))

        told: dict[str, int] = {}

        def progress(done: int, total: int, *, read_bytes: int = 0, requests: int = 0) -> None:
            told.update(read_bytes=read_bytes, requests=requests)

        values = self._session.read(
            self._plan.source,
            self._access,
            self._taken(box),
            on_part=ended,
            cancel=self._token,
            progress=progress,
            export=True,
        )
        with self._lock:
            self.read_bytes += told.get("read_bytes", 0)
            self.requests += told.get("requests", 0)
        return self._block(box, values, state, failed)

    def _block(
        self,
        box: Box,
        values: npt.NDArray[Any],
        state: BlockState,
        failed: list[tuple[tuple[slice, ...], RefbrowserError]],
    ) -> Block:
        streamed = self._plan.streamed
        if not failed:
            return Block(box, self._big_endian(streamed.converted(values), values), state)
        # What could not be read may hold anything, also what cannot be converted.
        for target, _ in failed:
            index: tuple[Any, ...] = (*target, ...)
            values[index] = self._harmless(values.dtype)
        converted = streamed.converted(values)
        if not converted.flags.writeable or converted is values:
            converted = converted.copy()
        for target, _ in failed:
            place: tuple[Any, ...] = (*target, ...)
            put_everywhere(converted[place], fill_of(streamed.variable))
        return Block(box, converted, state, [error for _, error in failed])

    def _harmless(self, dtype: np.dtype[Any]) -> Any:
        """Return an element that can be converted, of the type of the source."""
        if not dtype.hasobject:
            return np.zeros((), dtype)[()]
        return "" if dtype.names is None else self._plan.source.fill_element

    def _big_endian(self, converted: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return elements in the order in which they are sent: swapped where they lie, no memory is taken."""
        sent = self._plan.streamed.variable.type.dtype
        if converted is not values or sent is None or values.dtype == sent:
            return converted
        if values.dtype.newbyteorder(">") != sent:
            return converted
        return values.byteswap(inplace=True).view(sent)

    def _unit(self, box: Box) -> tuple[int, ...]:
        """Return the sides of the tiles within a block, for what became of each."""
        return tuple(
            max(1, min(side, part.stop - part.start)) for side, part in zip(self._plan.tile, box, strict=True)
        )

    def _taken(self, box: Box) -> Selection:
        axes = list(self._plan.selection.axes)
        for axis, part in zip(self._kept, box, strict=True):
            axes[axis] = axes[axis][part]
        return Selection(tuple(axes), self._plan.selection.dropped)
