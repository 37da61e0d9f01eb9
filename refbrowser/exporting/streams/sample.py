"""Reads some of an array of a stream, to compare what it looks like in either byte order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.jobs import JobControl
from refbrowser.exporting.streams.readings import Order, Readings, readings_of
from refbrowser.formats.ncstream.hierarchy import StreamOrigin
from refbrowser.formats.ncstream.messages import StreamIndex
from refbrowser.formats.ncstream.pieces import arrived_elements
from refbrowser.formats.ncstream.reading import arrived_stretches
from refbrowser.formats.ncstream.stream_layouts import StreamLayout
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: Values that are looked at.
MOST = 1 << 17


def sample_readings(dataset: Dataset, path: str, control: JobControl) -> Readings | None:
    """Return both readings of some of an array; None where its elements have no byte order.

    Raises
    ------
    RefbrowserError
        It cannot be read.
    Cancelled
        The control's token was cancelled.
    """
    node, origin = dataset.hierarchy.find(path), dataset.document.derived
    if not isinstance(node, ArrayNode) or not isinstance(origin, StreamOrigin):
        return None
    layout = origin.layouts.by_path.get(node.path)
    region = _region(origin.index, layout, node)
    taken = tuple(
        slice(of.start + part.start, of.start + part.stop)
        for of, part in zip(region, sample_of([of.stop - of.start for of in region]), strict=True)
    )
    values = dataset.session.read(
        node, dataset.access, Selection.from_index(taken, node.shape), cancel=control.token
    )
    order: Order = "little" if layout is not None and layout.order == "<" else "big"
    return readings_of(path, plain_values(values), order, fill_of(node))


def _region(index: StreamIndex, layout: StreamLayout | None, node: ArrayNode) -> tuple[slice, ...]:
    """Return where a sample is taken: anywhere, or of what arrived where the stream was cut off."""
    cut = index.table.cut
    if layout is not None and cut is not None and cut in layout.sections.numbers:
        section = index.table.ranges(cut) or ()
        found = arrived_stretches(section, arrived_elements(index.table, layout.variable))
        if found:
            return tuple(slice(each.start, each[-1] + 1) for each in found[0].section)
    return tuple(slice(0, length) for length in node.shape)


def sample_of(shape: Sequence[int], most: int = MOST) -> tuple[slice, ...]:
    """Return a block from the middle of an array: whole last dimensions, as far as there is room."""
    room, found = most, list[slice]()
    for length in reversed(shape):
        taken = max(1, min(length, room))
        start = (length - taken) // 2
        found.append(slice(start, start + taken))
        room //= taken
    return tuple(reversed(found))


def plain_values(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the numbers of an array: of rows of their own length all together."""
    if values.dtype != object:
        return values
    rows = [row for row in values.ravel() if isinstance(row, np.ndarray) and len(row)]
    return np.concatenate(rows)[:MOST] if rows else np.zeros(0)


def fill_of(node: ArrayNode) -> Any:
    """Return what elements hold that were never sent; None where that is no number."""
    fill = node.fill_value
    return fill if isinstance(fill, np.number | int | float) else None
