"""How the variables of a stream are written: in which messages, and how their values are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from math import prod

import numpy as np

from refbrowser.codecs.deflating import Zlib
from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import filled
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.blocks import TASK_BYTES, element_size
from refbrowser.exporting.ncstream import geometry
from refbrowser.exporting.stream_options import StreamOptions
from refbrowser.formats.ncstream.definition import DataType
from refbrowser.formats.ncstream.definition_of import StreamedVariable
from refbrowser.formats.ncstream.dtypes import is_ragged
from refbrowser.formats.ncstream.encoding import payload_of
from refbrowser.formats.ncstream.fills import fill_of
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection


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
        return geometry.count(self.shape, self.block)

    @property
    def messages(self) -> int:
        """Messages that are written, at most."""
        return geometry.count(self.shape, self.tile) if self.way is Way.TILES else 1


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
        return replace(plan, block=geometry.run(shape, unit, _most(shape, unit, size)))
    if plan.way is Way.ROOM:
        sides = geometry.run if plain else geometry.grown
        return replace(plan, block=sides(shape, unit, max(1, TASK_BYTES // size)))
    return plan


def is_made(node: ArrayNode) -> bool:
    """Tell whether the values of an array are made of something else than its chunks."""
    return node.source is not None or node.nested is not None


def _most(shape: tuple[int, ...], unit: tuple[int, ...], size: int) -> int:
    """Return the elements of a block in C order: more where fewer would have chunks decoded again."""
    sides = geometry.run(shape, unit, max(1, TASK_BYTES // size))
    whole = all(
        side % step == 0 or side == length for side, step, length in zip(sides, unit, shape, strict=True)
    )
    return max(1, (TASK_BYTES if whole else LIMITS.export_block) // size)


def _way(streamed: StreamedVariable, options: StreamOptions, level: int | None) -> Way:
    type = streamed.variable.type
    if type is DataType.SEQUENCE:
        return Way.ORDERED
    if not options.is_compatible:
        return Way.TILES
    if type is DataType.STRUCTURE:
        return Way.WHOLE
    return Way.ROOM if _is_regular(streamed) and level is None else Way.ORDERED


def _tiled(
    plan: VariablePlan, pipeline: CodecPipeline | None, options: StreamOptions, unit: tuple[int, ...]
) -> VariablePlan:
    shape, size = plan.shape, element_size(plan.source)
    copied = pipeline is not None and options.codec == "keep" and _is_copied(plan, pipeline)
    if copied:
        assert plan.source.grid is not None
        tile = block = plan.source.grid.chunk_shape
    else:
        tile = geometry.tile(shape, _unit(plan.streamed.node), size, options.tile_size)
        both = tuple(max(one, other) for one, other in zip(tile, unit, strict=True))
        block = geometry.grown(shape, both, max(1, TASK_BYTES // size))
    return replace(plan, tile=tile, block=block, copied=copied, leaves_out=fills_agree(plan.streamed))


def _is_copied(plan: VariablePlan, pipeline: CodecPipeline) -> bool:
    """Tell whether stored chunks are what a message holds: zlib streams of big-endian elements in C order."""
    plain = pipeline.objects is None and pipeline.sharding is None
    in_order = pipeline.axes == tuple(range(len(pipeline.axes)))
    only_zlib = [type(stage.codec) for stage in pipeline.stages] == [Zlib]
    whole = plan.selection == Selection.whole(plan.source.shape)
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
    assert node.grid is not None
    return node.grid.chunk_shape


def fills_agree(streamed: StreamedVariable) -> bool:
    """Tell whether elements that are not sent read as those of missing chunks do."""
    node, variable = streamed.node, streamed.variable
    assert node.dtype is not None
    if variable.type in (DataType.SEQUENCE, DataType.STRUCTURE):
        return False
    held = streamed.converted(filled((1,), node.dtype, node.fill_value))
    sent = np.empty(1, object)
    sent[0] = fill_of(variable)
    if variable.type.dtype is not None and not is_ragged(variable):
        sent = np.full(held.shape, sent[0])
    elif held.shape != (1,):
        return False
    return payload_of(variable, held) == payload_of(variable, sent)
