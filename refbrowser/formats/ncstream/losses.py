"""What damaged messages may have held: it is lost, and is never taken for what was not sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from refbrowser.errors import Severity
from refbrowser.formats.ncstream.data_facts import item_size
from refbrowser.formats.ncstream.messages import Ints, MessageKind, MessageTable, Payload, StreamIndex
from refbrowser.formats.ncstream.tiles import Sections, sections_of
from refbrowser.formats.ncstream.varints import LONGEST
from refbrowser.model.grid import RegularChunkGrid

_DATA = (MessageKind.DATA, MessageKind.DATA_COLUMN)
#: Damaged messages, and chunks, for which it is found out whether all that they held was sent again.
_COMPARED, _CHUNKS = 4096, 1 << 24
#: Longer than any dimension.
_ANY = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Lost:
    """What damaged messages may have held of one variable.

    Attributes
    ----------
    sections
        Of those messages that tell what they were to give.
    rest
        Number of the message for which all that no sound message gives is lost; -1 where it was never sent.
    """

    sections: Sections
    rest: int = -1

    @property
    def is_none(self) -> bool:
        """Whether nothing is lost."""
        return self.rest < 0 and not len(self.sections)

    def is_made_good(self, sides: tuple[int, ...], kept: Sections, shape: tuple[int, ...]) -> bool:
        """Tell whether nothing of it is lost in the end: later messages gave all of it.

        Parameters
        ----------
        kept
            The messages that are chunks of so many elements along each dimension, one a chunk.
        """
        grid = RegularChunkGrid(shape, sides)
        if self.rest >= 0 and len(kept) != grid.size:
            return False
        if not len(self.sections):
            return True
        if len(self.sections) > _COMPARED or grid.size > _CHUNKS:
            return False
        along = np.asarray(sides, np.int64)
        newest = np.full(grid.grid_shape, -1, np.int64)
        newest[tuple((kept.starts // along).T)] = kept.numbers
        first, last = self.sections.starts // along, self.sections.lasts // along
        boxes = zip(first.tolist(), last.tolist(), strict=True)
        return all(
            bool((newest[tuple(slice(low, high + 1) for low, high in zip(*box, strict=True))] > number).all())
            for box, number in zip(boxes, self.sections.numbers.tolist(), strict=True)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What the messages of one variable give, and what is lost of them.

    Attributes
    ----------
    sections
        Of the sound ones that count, and of the one that the stream was cut off within.
    hidden
        Number of the last damaged message that may have given any element: what came before it does not
        count. -1 where there is none.
    """

    sections: Sections
    lost: Lost
    hidden: int


def given_by(
    table: MessageTable, numbers: Ints, shape: tuple[int, ...], spreading: Ints, unlimited: Iterable[int] = ()
) -> Given:
    """Return what messages of one variable give, the damaged ones apart.

    Parameters
    ----------
    numbers
        Of its messages, ascending.
    spreading
        Numbers of the damaged messages that may be about any variable.
    unlimited
        Axes along which a header that was lost may have made it longer.
    """
    cut = -1 if table.cut is None else table.cut
    is_lost = (table.fault[numbers] != 0) & (numbers != cut)
    sound, unfit = sections_of(table, numbers[~is_lost], shape)
    lost, unclear = _within(table, numbers[is_lost], shape, unlimited)
    hidden = cut if cut in unfit else int(unclear.max(initial=-1))
    sound, lost = sound.taken(sound.numbers > hidden), lost.taken(lost.numbers > hidden)
    anything = int(spreading[0]) if len(spreading) else -1
    return Given(sound, Lost(lost, anything if hidden < 0 else hidden), hidden)


def _within(
    table: MessageTable, numbers: Ints, shape: tuple[int, ...], unlimited: Iterable[int]
) -> tuple[Sections, Ints]:
    """Return what messages were to give within a shape, and those of which that is not clear."""
    lengths = np.asarray(shape, np.int64)
    longer = lengths.copy()
    longer[list(unlimited)] = _ANY
    found, unclear = sections_of(table, numbers, tuple(longer.tolist()))
    sizes = np.minimum(found.sizes, -(-(lengths - found.starts) // found.strides))
    inside = replace(found, sizes=sizes, strides=np.where(sizes > 1, found.strides, 1))
    return inside.taken((sizes > 0).all(axis=1)), unclear


def spreading_of(index: StreamIndex) -> Ints:
    """Return the numbers of damaged messages that may have been about any variable, ascending.

    One is about its own variable alone where its framing is sound, or where its bytes are just as many as its
    section takes. All else may have been, or may have hidden, other messages; so may what lies behind a cut
    (the number behind the last message stands for what is not listed).
    """
    table = index.table
    known = {path for path, _ in index.definition.variables()}
    is_known = np.array([*(name in known for name in table.names), False])[table.variable]
    is_open = table.kind == MessageKind.DAMAGED
    is_open |= np.isin(table.kind, _DATA) & (table.fault != 0) & ~is_known
    found = [at for at in np.flatnonzero(is_open).tolist() if not (is_known[at] and _fills(index, at))]
    end = len(table)
    if any(each.number == end and each.severity is Severity.FAULT for each in index.faults):
        found.append(end)
    return np.array(found, np.int64)


def _fills(index: StreamIndex, number: int) -> bool:
    """Tell whether the bytes of a damaged message are those that its section takes, and no more."""
    table, ranges = index.table, index.table.ranges(number) or ()
    size = item_size(int(table.data_type[number]))
    if table.payload[number] != Payload.REGULAR or table.deflated[number] or not size:
        return False
    start, stop = int(table.payload_offset[number]), int(table.stop[number])
    if stop == index.size:
        return False
    more = stop - start - size * prod(map(len, ranges))
    # Where the payload has no length that can be one, it begins with that length.
    return more == 0 if table.payload_length[number] else 0 < more <= LONGEST
