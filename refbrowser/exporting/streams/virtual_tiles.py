"""Which chunks of a regular grid are messages of a stream as they stand there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from refbrowser.formats.ncstream.elements import is_ragged
from refbrowser.formats.ncstream.layouts import Layout, type_fits
from refbrowser.formats.ncstream.messages import MessageTable, Payload, StreamIndex
from refbrowser.formats.ncstream.sources import TileTable
from refbrowser.model.grid import RegularChunkGrid

Ints = npt.NDArray[np.int64]
Coords = tuple[int, ...]
#: Chunks of one array that are listed.
MOST_TILES = 1 << 21


@dataclass(frozen=True, slots=True)
class VirtualTiles:
    """The chunks of one variable.

    Attributes
    ----------
    is_deflated
        Chunks are zlib streams.
    ranges
        Offset and length in the stream, of chunks that are one message there.
    made
        Chunks that must be put together, in C order: elements of several messages, or of a part of one; and
        those of which something may be lost.
    """

    grid: RegularChunkGrid
    is_deflated: bool = False
    ranges: dict[Coords, tuple[int, int]] = field(default_factory=dict)
    made: list[Coords] = field(default_factory=list)


def virtual_tiles(index: StreamIndex, layout: Layout) -> VirtualTiles | None:
    """Return the chunks of a variable; None where they are more than are listed.

    The shape of chunks is that of the messages which give most of the elements.
    """
    sections, table, lost = layout.sections, index.table, layout.lost
    if not len(sections):
        return _of_header(layout)
    grid = RegularChunkGrid(layout.shape, _chunk(sections.sizes))
    sides = np.asarray(grid.chunk_shape, np.int64)
    low, high = sections.starts // sides, sections.lasts // sides
    if float(np.sum(np.prod((high - low + 1).astype(float), axis=1))) > MOST_TILES:
        return None
    is_chunk = (sections.sizes == sides).all(axis=1) & (sections.strides == 1).all(axis=1)
    is_chunk &= (sections.starts % sides == 0).all(axis=1) & _are_elements(table, layout)
    deflated = table.deflated[sections.numbers]
    is_deflated = bool(2 * np.count_nonzero(deflated & is_chunk) > np.count_nonzero(is_chunk))
    is_chunk &= deflated == is_deflated
    # What is lost of a chunk is found out when it is made.
    damaged = None if lost is None else TileTable(lost.sections, grid)
    last: dict[Coords, int] = {}
    for row in range(len(sections)):
        for at in product(*map(range, low[row].tolist(), (high[row] + 1).tolist())):
            last[at] = row
    ranges: dict[Coords, tuple[int, int]] = {}
    made = []
    for at in sorted(last):
        row = last[at]
        if is_chunk[row] and (damaged is None or not len(damaged.rows(at))):
            number = sections.numbers[row]
            ranges[at] = int(table.payload_offset[number]), int(table.payload_length[number])
        else:
            made.append(at)
    if layout.variable.immediate is not None or lost is not None:
        if grid.size > MOST_TILES:
            return None
        made = sorted({*made, *(at for at in _all(grid) if at not in ranges)})
    return VirtualTiles(grid, is_deflated, ranges, made)


def _of_header(layout: Layout) -> VirtualTiles:
    """Return the chunk of a variable for which no message was sent."""
    grid = RegularChunkGrid(layout.shape, tuple(max(side, 1) for side in layout.shape))
    has_values = layout.variable.immediate is not None or layout.lost is not None
    if not has_values or not prod(layout.shape):
        return VirtualTiles(layout.grid)
    return VirtualTiles(grid, made=list(_all(grid)))


def _all(grid: RegularChunkGrid) -> Iterator[Coords]:
    return product(*map(range, grid.grid_shape))


def _chunk(sizes: Ints) -> tuple[int, ...]:
    """Return the size that gives most elements."""
    found, of = np.unique(sizes, axis=0, return_inverse=True)
    elements = np.bincount(of.reshape(-1)) * found.astype(float).prod(axis=1)
    return tuple(found[int(np.argmax(elements))].tolist())


def _are_elements(table: MessageTable, layout: Layout) -> npt.NDArray[np.bool_]:
    """Return which messages are sound blocks of elements in the type and byte order of the array."""
    numbers, variable = layout.sections.numbers, layout.variable
    if variable.type.dtype is None or is_ragged(variable):
        return np.zeros(len(numbers), bool)
    named = table.data_type[numbers]
    fitting = [type for type in np.unique(named).tolist() if type_fits(int(type), variable.type)]
    size = layout.sections.sizes.prod(axis=1) * layout.dtype.itemsize
    good = np.isin(named, fitting) & (table.payload[numbers] == Payload.REGULAR) & (table.fault[numbers] == 0)
    good &= layout.little == (layout.order == "<") if layout.dtype.itemsize > 1 else True
    deflated = table.deflated[numbers]
    return good & (deflated | (table.payload_length[numbers] == size))
