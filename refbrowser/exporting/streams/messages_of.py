"""Data messages for the values of a variable, wherever these are read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from refbrowser.engine.dataset import Dataset
from refbrowser.exporting.targets.ncstream_plan import Block, BlockReader, Box, VariablePlan, boxes, planned
from refbrowser.exporting.targets.ncstream_writing import in_order
from refbrowser.exporting.targets.options import StreamOptions
from refbrowser.formats.ncstream.definition import DataType
from refbrowser.formats.ncstream.definition_of import StreamedVariable
from refbrowser.formats.ncstream.encoding import Buffer, data_message
from refbrowser.io.cancel import CancelToken

#: Blocks that are read and encoded while others are written.
_AHEAD = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """How the values of one variable are sent.

    Attributes
    ----------
    streamed
        The variable as the stream has it, and the array that its values come from.
    origin
        Where the first element goes, by dimension.
    level
        Of deflate; None for elements that are stored plain.
    checksum
        Tell the CRC-32 of each payload.
    sends_missing
        Send what is missing in the source too, because something else may stand there.
    """

    streamed: StreamedVariable
    origin: tuple[int, ...] = ()
    level: int | None = None
    checksum: bool = True
    sends_missing: bool = False


def messages_of(dataset: Dataset, sending: Sending, token: CancelToken) -> Iterator[list[Buffer]]:
    """Yield the data messages of a variable, each as a list of buffers.

    Raises
    ------
    RefbrowserError
        Values cannot be read, or have no form in a message.
    Cancelled
        `token` was cancelled.
    """
    codec = "none" if sending.level is None else f"zlib:{sending.level}"
    node = sending.streamed.node
    plan = planned(sending.streamed, node, None, StreamOptions(codec=codec))
    reader = BlockReader(dataset.session, dataset.access, plan, token)

    def made(box: Box) -> list[list[Buffer]]:
        block = reader.read(box)
        if block.errors:
            raise block.errors[0]
        return list(_messages(sending, plan, block))

    for messages in in_order(made, boxes(plan.shape, plan.block), _AHEAD, token):
        yield from messages


def _messages(sending: Sending, plan: VariablePlan, block: Block) -> Iterator[list[Buffer]]:
    """Yield the messages for the tiles of a block."""
    variable, path = sending.streamed.variable, sending.streamed.path
    if variable.type is DataType.SEQUENCE:
        yield data_message(path, variable, (), block.values)
        return
    sides = tuple(part.stop - part.start for part in block.box)
    tile = tuple(max(1, min(side, most)) for side, most in zip(plan.tile, sides, strict=True))
    for inside in boxes(sides, tile):
        unit = tuple(part.start // side for part, side in zip(inside, tile, strict=True))
        if plan.leaves_out and not sending.sends_missing and not block.state.stored(unit):
            continue
        index: tuple[Any, ...] = (*inside, ...)
        yield data_message(
            path,
            variable,
            _section(sending, block.box, inside),
            block.values[index],
            level=plan.level if variable.type.dtype is not None else None,
            checksum=sending.checksum,
        )


def _section(sending: Sending, box: Sequence[slice], inside: Sequence[slice]) -> tuple[range, ...]:
    """Return which elements of the variable a tile gives; axes of their own come last."""
    shape = sending.streamed.variable.shape
    origin = sending.origin or (0,) * len(shape)
    taken = [
        range(first + outer.start + part.start, first + outer.start + part.stop)
        for first, outer, part in zip(origin, box, inside, strict=False)
    ]
    return (*taken, *(range(length) for length in shape[len(taken) :]))
