"""An opened stream as a reference document that other software reads.

What is one message stays a reference into the stream. The rest (short last chunks, those of several messages,
texts, structures) is written into the document, as that of other files.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.exporting.request import Loss
from refbrowser.exporting.saving.virtual_arrays import (
    MOST_CHUNKS,
    Coords,
    VirtualChunks,
    VirtualWriting,
    all_chunks,
)
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange
from refbrowser.references.document.document import Document
from refbrowser.wings.ncstream.reading.elements import is_ragged
from refbrowser.wings.ncstream.reading.hierarchy import StreamOrigin
from refbrowser.wings.ncstream.reading.messages import MessageTable, Payload, StreamIndex
from refbrowser.wings.ncstream.reading.sources import SectionTable
from refbrowser.wings.ncstream.reading.stream_layouts import StreamLayout, type_fits

Ints = npt.NDArray[np.int64]


def virtual_document(dataset: Dataset, control: JobControl) -> tuple[Document, list[Loss]]:
    """Return the document of a stream, with references and values alone.

    Raises
    ------
    RefbrowserError
        An entry is faulty.
    """
    return _StreamWriting(dataset, control).written()


@dataclass(slots=True)
class _StreamWriting(VirtualWriting):
    """Has chunks that are one message stay references."""

    def chunks(self, node: ArrayNode) -> VirtualChunks | None:
        """Return the chunks of an array; None where they are too many.

        Those of structures are all made: xarray knows no fill value of theirs.
        """
        origin = self.dataset.document.made_from(StreamOrigin)
        if origin is None or node.known_dtype.names is not None:
            return VirtualWriting.chunks(self, node)
        return virtual_chunks(origin.path, origin.index, origin.layouts.by_path[node.path])


def virtual_chunks(url: str, index: StreamIndex, layout: StreamLayout) -> VirtualChunks | None:
    """Return the chunks of a variable; None where they are more than are listed.

    The shape of chunks is that of the messages which give most of the elements.
    """
    sections, table, lost = layout.sections, index.table, layout.lost
    if not len(sections):
        return _of_header(layout)
    grid = RegularChunkGrid(layout.shape, _chunk(sections.sizes))
    sides = np.asarray(grid.chunk_shape, np.int64)
    low, high = sections.starts // sides, sections.lasts // sides
    if float(np.sum(np.prod((high - low + 1).astype(float), axis=1))) > MOST_CHUNKS:
        return None
    is_chunk = (sections.sizes == sides).all(axis=1) & (sections.strides == 1).all(axis=1)
    is_chunk &= (sections.starts % sides == 0).all(axis=1) & _are_elements(table, layout)
    deflated = table.deflated[sections.numbers]
    is_deflated = bool(2 * np.count_nonzero(deflated & is_chunk) > np.count_nonzero(is_chunk))
    is_chunk &= deflated == is_deflated
    # What is lost of a chunk is found out when it is made.
    damaged = None if lost is None else SectionTable(lost.sections, grid)
    last: dict[Coords, int] = {}
    for row in range(len(sections)):
        for at in product(*map(range, low[row].tolist(), (high[row] + 1).tolist())):
            last[at] = row
    ranges: dict[Coords, ByteRange] = {}
    made = []
    for at in sorted(last):
        row = last[at]
        if is_chunk[row] and (damaged is None or not len(damaged.rows(at))):
            number = sections.numbers[row]
            offset, length = int(table.payload_offset[number]), int(table.payload_length[number])
            ranges[at] = ByteRange(url, offset, length)
        else:
            made.append(at)
    if layout.variable.immediate is not None or lost is not None:
        if grid.size > MOST_CHUNKS:
            return None
        made = sorted({*made, *(at for at in all_chunks(grid) if at not in ranges)})
    return VirtualChunks(grid, is_deflated, ranges, made)


def _of_header(layout: StreamLayout) -> VirtualChunks:
    """Return the chunk of a variable for which no message was sent."""
    grid = RegularChunkGrid(layout.shape, tuple(max(side, 1) for side in layout.shape))
    has_values = layout.variable.immediate is not None or layout.lost is not None
    if not has_values or not prod(layout.shape):
        return VirtualChunks(layout.grid)
    return VirtualChunks(grid, made=list(all_chunks(grid)))


def _chunk(sizes: Ints) -> tuple[int, ...]:
    """Return the size that gives most elements."""
    found, of = np.unique(sizes, axis=0, return_inverse=True)
    elements = np.bincount(of.reshape(-1)) * found.astype(float).prod(axis=1)
    return tuple(found[int(np.argmax(elements))].tolist())


def _are_elements(table: MessageTable, layout: StreamLayout) -> npt.NDArray[np.bool_]:
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
